"""Sphinx extension: what makes the book's pages complete without a kernel, a server or a network.

It executes what has changed and puts the outputs on the pages, fills the reference pages and the
one of the checks, gives every code cell an address, publishes the live figures as a classic script
for each page, the encoder that one of them loads and the colours of the concepts, copies MathJax
into the site, and takes out of the finished pages what would ask outside addresses, weigh down a
page or mislead a screen reader.
"""

import json
import os
import re
import shutil
import warnings
from collections.abc import Callable
from functools import cache
from importlib.metadata import files
from pathlib import Path
from typing import NamedTuple

import nbformat
from docutils import nodes
from sphinx.addnodes import desc_signature
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.search.en import SearchEnglish
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

import companion
from book._press import execute, found, plain
from book._press.assets import COLOURS, SCRIPT, write_assets
from book._press.captions import with_captions
from book._press.cards import (
    with_cards,
    with_claims,
    with_measured,
    with_numbers,
    with_sayings,
)
from book._press.claims import read_rows
from book._press.contents import page_source, table_of_contents
from book._press.folds import veil, with_folds
from book._press.icons import keep_icons
from book._press.path import chapters_of, here, with_chapters, with_sections
from book._press.plan import with_times
from book._press.questions import with_questions
from book._press.reference import escape_docstring, with_reference
from book._press.strength import with_mistakes
from book.page import live

LOGGER = logging.getLogger(__name__)

# Of the 24 MB of MathJax 3.2.2 what a page loads (`mathjax3_config` in _config.yml), and the fonts.
# Its menu weighs as much as all of these scripts, and asks an outside address for more.
MATHJAX = re.compile(
    r"static/mathjax/((?:startup|core|input/tex-base|input/tex/extensions/ams|output/chtml"
    r"|output/chtml/fonts/tex|a11y/assistive-mml)\.js|output/chtml/fonts/woff-v2/.+\.woff)$"
)

ICON = re.compile(r"\bfa-[\w-]+")

AFTER_CHAPTERS = "book/summary"  # where the last chapter leads

NO_QUOTES_FROM_DISK = (
    "if (location.protocol === 'file:') DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;"
)


def _without_list(signature: str) -> str:
    """A signature with its arguments in plain blocks, where they stood in a <dl> of <dd> alone."""
    signature = signature.replace("<dl>", '<div class="arguments">').replace("</dl>", "</div>")
    return signature.replace("<dd>", "<div>").replace("</dd>", "</div>")


class Edit(NamedTuple):
    """A change of what the theme and its extensions write.

    Args:
        name: of the edit, on the last line of every page on which it has changed something.
        where: what every page that it applies to contains, whatever the theme looks like.
        pattern: what it changes.
        replacement: of the pattern.
    """

    name: str
    where: str
    pattern: re.Pattern
    replacement: str | Callable[[re.Match], str]


EVERYWHERE = "</html>"
PAGE_EDITS = [
    # 1.5 MB that block rendering; the icons come from the theme's fonts.
    Edit(
        "icons-script",
        EVERYWHERE,
        re.compile(r'\s*<script[^>]*src="[^"]*/fontawesome\.js[^"]*"[^>]*></script>'),
        "",
    ),
    # A font of 118 kB for this one sign, where the other icons' font has one that will do.
    Edit(
        "repository-icon",
        EVERYWHERE,
        re.compile(r'<i class="fab fa-github">'),
        '<i class="fas fa-code-branch">',
    ),
    # Labels that differ from the text that a sighted reader sees.
    Edit(
        "search-label",
        EVERYWHERE,
        re.compile(r'(<button class="[^"]*search-button-field[^>]*?) aria-label="Search"'),
        r"\1",
    ),
    Edit(
        "theme-label",
        EVERYWHERE,
        re.compile(r'(<button[^>]*theme-switch-button[^>]*?) aria-label="[^"]*"'),
        r"\1",
    ),
    Edit(
        "fold-label",
        "tag_hide-input",
        re.compile(r'<summary aria-label="Toggle hidden content">'),
        "<summary>",
    ),
    # The arrow in the side bar that shows the pages below one has no name.
    Edit(
        "arrow-label",
        "toctree-l2",
        re.compile(
            r'(<a class="(?:current )?reference internal"[^>]*>([^<]*)</a><details[^>]*>)<summary>'
        ),
        r'\1<summary aria-label="Pages below \2">',
    ),
    # A wide formula scrolls, by the keyboard too.
    Edit(
        "formula-focus",
        r"\[",
        re.compile(r'<div class="math notranslate nohighlight"(?! tabindex)'),
        r'\g<0> tabindex="0"',
    ),
    # Sphinx lists the arguments of a long signature as definitions of nothing.
    Edit(
        "arguments",
        "sig-param",
        re.compile(r'<dt class="sig[^>]*>.*?</dt>', re.S),
        lambda signature: _without_list(signature[0]),
    ),
]
EDITED = re.compile(r"\n<!-- edited: ([\w -]*) -->\n\Z")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Called by Sphinx: connect the steps below to the build's events."""
    # sphinx_external_toc looks at every object in memory, torch's deprecated ones too.
    warnings.filterwarnings("ignore", "`torch.distributed.reduce_op`", FutureWarning)
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.add_config_value("notebook_outputs", {}, "env")  # other outputs: every page is read again
    app.connect("config-inited", _use_every_core)
    app.connect("config-inited", _execute)
    app.connect("config-inited", _order_results)
    app.connect("config-inited", _lighten, priority=900)  # after those that it overrules
    app.add_search_language(Questions)
    app.connect("env-before-read-docs", _write_once)
    app.connect("source-read", _complete_source)
    # Before napoleon, which turns "Args:" and its like into reStructuredText.
    app.connect("autodoc-process-docstring", _escape_docstring, priority=400)
    app.connect("doctree-read", _give_addresses)
    app.connect("doctree-read", lambda app, page: veil(page))
    app.connect("html-page-context", _say_where)
    app.connect("html-page-context", found.say_what)
    app.connect("build-finished", found.write)  # before its pages get the edits
    app.connect("build-finished", _finish_site)
    app.connect("build-finished", _write_plain)
    app.add_js_file(SCRIPT, loading_method="defer")
    app.add_css_file(COLOURS)
    # Search results quote the pages that they found by fetching them: no browser does it on file://.
    app.add_js_file(None, body=NO_QUOTES_FROM_DISK)
    return {"version": companion.__version__, "parallel_read_safe": True}


def _use_every_core(app: Sphinx, config: Config) -> None:
    """Read pages, and write them, in as many processes as there are cores."""
    app.parallel = os.cpu_count()  # Jupyter Book has no option for it
    # Two that Jupyter Book adds do not say whether they bear it: they work before and after.
    for name in ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex"):
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = True


class Questions(SearchEnglish):
    """Sphinx's English, in which the words that make a question are not looked for."""

    stopwords = SearchEnglish.stopwords | set(
        "how many much what which why when where who do does did can could should would i my me "
        "we our you your am were has have had from about per vs than between need needed".split()
    )


def _execute(app: Sphinx, config: Config) -> None:
    """Execute what has changed; remember the pages, and which file holds the outputs of each."""
    root = Path(app.srcdir)
    records = execute.records_of(root)
    if execute.complete(root, records):
        raise ExtensionError("a notebook failed, or was stopped: see above")
    config.external_toc_path = str(table_of_contents(root))
    config.notebook_outputs = {record.name: str(record.file) for record in records}


def _order_results(app: Sphinx, config: Config) -> None:
    """Search results come in the order of `scorer.js`; Sphinx looks for it from where it runs."""
    config.html_search_scorer = str(Path(__file__).with_name("scorer.js"))


def _lighten(app: Sphinx, config: Config) -> None:
    """Set what the YAML cannot set alone, or what other extensions would set again."""
    config.html_theme_options["collapse_navbar"] = True  # pages below one chapter, not below all
    config.numfig = False  # captions.py numbers the plots; Sphinx would read every page once more


def _write_once(app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Write the Markdown of all pages, before processes are forked that each would."""
    for page in env.found_docs:
        path = Path(env.doc2path(page))
        if path.suffix == ".md":
            _written(app, path.read_text("utf8"))


def _complete_source(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the outputs into a notebook, and what is written from the code into other pages."""
    path = Path(app.env.doc2path(page))
    if path.suffix == ".md":
        source[0] = _written(app, source[0])
    elif notebook := _with_outputs(app, path, source[0]):
        with_folds(notebook["cells"])
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        with_captions(code)
        with_cards(code, read_rows(path))
        source[0] = json.dumps(notebook)


def _with_outputs(app: Sphinx, path: Path, text: str) -> dict | None:
    """The notebook with its outputs; None if it is not one of those that are executed."""
    file = app.config.notebook_outputs.get(path.relative_to(app.srcdir).as_posix())
    if file is None:
        return None
    notebook = json.loads(page_source(text, path.suffix))
    kept = json.loads(Path(file).read_text("utf8"))
    notebook["metadata"] = kept["metadata"]
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell, outputs in zip(cells, kept["outputs"], strict=True):
        cell["outputs"] = outputs
    return notebook


@cache  # a page is read and, for programs that read, written
def _written(app: Sphinx, text: str) -> str:
    """The Markdown of a page with what is written from code and claims."""
    root = Path(app.srcdir)
    text = with_chapters(page_source(text, ".md"), root, app.config.notebook_outputs)
    text = with_questions(with_sections(text, root), root)
    text = with_claims(text, root, app.config.notebook_outputs)
    text = with_measured(with_numbers(with_sayings(text, root), root), root)
    text = with_times(text, root)
    return with_mistakes(with_reference(text), root)


def _write_plain(app: Sphinx, exception: Exception | None) -> None:
    """Every page as Markdown beside it, and `llms.txt`, for programs that read."""
    if exception is not None or app.builder.format != "html":
        return
    site, root = Path(app.outdir), Path(app.srcdir)
    for page in app.env.found_docs:
        path = Path(app.env.doc2path(page))
        if path.suffix == ".md":
            text = plain.reference(_written(app, path.read_text("utf8")))
        elif notebook := _with_outputs(app, path, path.read_text("utf8")):
            text = plain.chapter(notebook, read_rows(path))
        else:
            continue
        target = site / f"{page}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf8")
    index = Path(app.env.doc2path(app.config.root_doc)).read_text("utf8")
    says = {f"book/{c.name}/{c.name}": c.question for c in chapters_of(index, root)}
    if opening := re.search(r"^# .+?\n\n(.+?)\n\n", index, re.M | re.S):
        says[app.config.root_doc] = opening[1]
    titles = {page: title.astext() for page, title in app.env.titles.items()}
    toc = Path(app.config.external_toc_path)
    text = plain.contents(toc, app.config.html_title or app.config.project, titles, says)
    (site / "llms.txt").write_text(text, "utf8")
    shutil.copy(Path(__file__).parents[2] / "AGENTS.md", site)


def _escape_docstring(app: Sphinx, what, name, thing, options, lines: list[str]) -> None:
    lines[:] = escape_docstring(lines)


def _give_addresses(app: Sphinx, page: nodes.document) -> None:
    """Let links lead to a code cell, `chapter.ipynb#cell-<id>`, and to a documented name.

    A name's address is `api/nn.md#companion.nn.causal_mask`. MyST knows headings only.
    """
    path = Path(app.env.doc2path(app.env.docname))
    addresses = [name for node in page.findall(desc_signature) for name in node["ids"]]
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        for node in page.findall(nodes.container):
            if node.get("nb_element") == "cell_code":
                node["ids"].append(f"cell-{cells[node['cell_index']].id}")
                addresses += node["ids"]
    known = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    known.update((address, (None, address, address)) for address in addresses)


def _say_where(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Put the strip "you are here" above a chapter's title; let Next lead to the next chapter.

    Exercises and solutions lie between a chapter and the next one in the table of contents. They
    are reached from their chapter, and lead on from it.
    """
    index = Path(app.env.doc2path(app.config.root_doc)).read_text("utf8")
    chapters = chapters_of(index, Path(app.srcdir))
    path = [app.config.root_doc, *(f"book/{c.name}/{c.name}" for c in chapters), AFTER_CHAPTERS]

    def lead(name: str, to: str) -> None:
        if to in app.env.titles:
            link = app.builder.get_relative_uri(page, to)
            title = app.builder.render_partial(app.env.titles[to])["title"]
            context[name] = {"link": link, "title": title}

    _, before, _ = app.builder.relations.get(page, (None, None, None))
    for at, chapter in enumerate(chapters, 1):
        folder = f"book/{chapter.name}/"
        if page.startswith(folder):
            is_chapter = page == path[at]
            if is_chapter:
                context["body"] = here(chapter.name, chapters) + context["body"]
            lead("prev", path[at - is_chapter])
            lead("next", path[at + 1])
        elif before and before.startswith(folder):  # a page behind its exercises
            lead("prev", path[at])


def finished(page: str) -> str:
    """A page with the edits; its last line names those that have changed it.

    One that has them, since Sphinx left it as it was, stays the same.
    """
    done = edits_of(page)
    page = EDITED.sub("", page)
    for edit in PAGE_EDITS:
        before, page = page, edit.pattern.sub(edit.replacement, page)
        if page != before:
            done.add(edit.name)
    return f"{live.without_repetition(page)}\n<!-- edited: {' '.join(sorted(done))} -->\n"


def edits_of(page: str) -> set[str]:
    """The names of the edits that have changed a finished page."""
    last = EDITED.search(page)
    return {*last[1].split()} if last else set()


def _finish_site(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for source in (site / "_sources").rglob("*.*"):
        if source.suffix in (".md", ".ipynb"):
            source.write_text(page_source(source.read_text("utf8"), source.suffix), "utf8")
    static = site / "_static"
    for file in files("sphinx-mathjax-offline"):
        if needed := MATHJAX.search(file.as_posix()):
            target = static / "mathjax" / needed[1]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.locate(), target)
    icons, due, done = set(), set(), set()
    for page in site.rglob("*.html"):
        before = page.read_text("utf8")
        text = finished(before)
        if text != before:
            page.write_text(text, "utf8")
        icons |= {*ICON.findall(text)}
        due |= {edit.name for edit in PAGE_EDITS if edit.where in text}
        done |= edits_of(text)
    for script in (static / "scripts").glob("*-theme.js"):
        icons |= {*ICON.findall(script.read_text("utf8"))}
    keep_icons(static, icons)
    write_assets(site)
    for name in sorted(due - done):
        LOGGER.warning("the edit %r (book/_press/sphinx_ext.py) changes no page any more", name)
