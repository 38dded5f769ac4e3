# What Jupyter Book makes of _config.yml, so that plain Sphinx can build the book without it. A test
# holds the two together; `jupyter-book config sphinx .` writes it anew.
add_module_names = False
author = "The authors of transformer-companion"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
comments_config = {"hypothesis": False, "utterances": False}
copyright = "2026"
exclude_patterns = [
    "**.ipynb_checkpoints",
    "*.md",
    ".*",
    ".DS_Store",
    "Thumbs.db",
    "_build",
    "benchmarks",
    "book/_press",
    "companion",
    "tests",
]
extensions = [
    "book._press.sphinx_ext",
    "sphinx_comments",
    "sphinx_togglebutton",
    "sphinx_copybutton",
    "sphinx_design",
    "myst_nb",
    "jupyter_book",
    "sphinx_external_toc",
    "sphinx_book_theme",
    "sphinx_jupyterbook_latex",
    "sphinx_multitoc_numbering",
]
external_toc_exclude_missing = True
external_toc_path = "_toc.yml"
html_baseurl = "https://OWNER.github.io/transformer-companion/"
html_context = {"default_mode": "auto"}
html_css_files = ["book.css"]
html_favicon = "book/_assets/favicon.svg"
html_js_files = [["page.js", {"defer": "defer"}]]
html_logo = ""
html_sourcelink_suffix = ""
html_static_path = ["book/_assets"]
html_theme = "sphinx_book_theme"
html_theme_options = {
    "search_bar_text": "Search this book...",
    "launch_buttons": {
        "notebook_interface": "classic",
        "binderhub_url": "",
        "jupyterhub_url": "",
        "thebe": False,
        "colab_url": "https://colab.research.google.com",
        "deepnote_url": "",
    },
    "path_to_docs": "",
    "repository_url": "https://github.com/OWNER/transformer-companion",
    "repository_branch": "main",
    "extra_footer": (
        '<p>Text and pictures: <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>'
        ". You may share, translate and adapt them if you give credit, link the licence and say "
        "what you changed. Code: BSD 3-Clause license.</p>"
    ),
    "home_page_in_toc": True,
    "announcement": "",
    "analytics": {
        "google_analytics_id": "",
        "plausible_analytics_domain": "",
        "plausible_analytics_url": "https://plausible.io/js/script.js",
    },
    "use_repository_button": True,
    "use_edit_page_button": False,
    "use_issues_button": True,
}
html_title = "The Transformer, measured"
latex_engine = "pdflatex"
mathjax3_config = {
    "loader": {"load": ["input/tex-base", "[tex]/ams", "output/chtml", "a11y/assistive-mml"]},
    "tex": {"packages": {"[+]": ["ams"]}},
}
mathjax_path = "mathjax/startup.js"
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "tasklist"]
myst_heading_anchors = 3
myst_url_schemes = ["mailto", "http", "https"]
napoleon_use_ivar = True
nb_code_prompt_hide = "Hide the code"
nb_code_prompt_show = "Show the code"
nb_execution_allow_errors = False
nb_execution_cache_path = ""
nb_execution_excludepatterns = []
nb_execution_in_temp = False
nb_execution_mode = "off"
nb_execution_timeout = 600
nb_ipywidgets_js = {}
nb_merge_streams = True
nb_mime_priority_overrides = [["html", "text/html", 5]]
nb_output_stderr = "show"
nb_render_markdown_format = "myst"
nitpick_ignore_regex = [["py:.*", ".*"]]
numfig = True
pygments_style = "sphinx"
python_maximum_signature_line_length = 60
python_use_unqualified_type_names = True
suppress_warnings = ["myst.domains"]
use_jupyterbook_latex = True
use_multitoc_numbering = True
