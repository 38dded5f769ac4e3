"""The Sphinx extension, on a tiny book built with this repository's own configuration."""

import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import nbformat
import pytest
import yaml
from fontTools.ttLib import TTFont
from matplotlib import image

import companion.generation
from book._press import assets, sphinx_ext
from book._press.sphinx_ext import EDITED, PAGE_EDITS, edits_of, finished
from book.page import colours, live
from book.page.claims import MIMETYPE
from tests.book.press.building import build

ROOT = Path(__file__).parents[3]

INTRO = """\
# A book

With a formula, $x^2$, a link to [the answer](one/one.ipynb#cell-answer) and one to
[a function](api.md#companion.generation.generate).

$$x^2$$

- [One](one/one.ipynb)
- [Two](two/two.ipynb)
"""

CLAIM = f"""\
from IPython.display import display
def claim(sentence, value, **bound):
    data = dict(sentence=sentence, value=value, held=True, bound=bound, repeated=dict())
    display({{"text/plain": "one" + " line", {MIMETYPE!r}: data}}, raw=True)
claim("The answer is *large*.", answer, above=40)"""


CHAPTER, PAGE = "book/one/one.ipynb", "book/one/one.html"

FIGURE = """\
from IPython.display import HTML
script = '<script type="application/json">{}</script>'
HTML(f'<div class="companion-live" data-figure="{NAME}">{script}</div>')"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book of a page and a chapter, in a repository of its own."""
    book = tmp_path_factory.mktemp("book")
    shutil.copy(ROOT / "_config.yml", book)
    shutil.copytree(ROOT / "book" / "_assets", book / "book" / "_assets")
    (book / "requirements.txt").write_text("torch==2.13.0\n")
    (book / "companion").mkdir()
    (book / "companion" / "__init__.py").touch()
    (book / "companion" / "answer.py").write_text("answer = 42\n")
    (book / "_toc.yml").write_text(
        "format: jb-book\nroot: book/intro\n"
        "chapters:\n"
        "- file: book/one/one\n"
        "  sections: [file: book/one/one_exercises, file: book/one/one_solutions, file: book/api]\n"
        "- {file: book/two/two}\n"
    )
    (book / "book" / "intro.md").write_text(INTRO)
    (book / "book" / "api.md").write_text("# API\n\n<!-- reference: companion.generation -->\n")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_markdown_cell("# One\n\n<details><summary>Hint</summary>Yes</details>"),
        nbformat.v4.new_code_cell(
            "import sys; sys.path.insert(0, '../..')\n"
            "from companion.answer import answer\nprint('the answer is', answer)",
            id="answer",
        ),
        nbformat.v4.new_code_cell("import ipywidgets; ipywidgets.IntSlider()"),
        nbformat.v4.new_code_cell("hidden = 1", metadata={"tags": ["hide-input"]}),
        nbformat.v4.new_code_cell(CLAIM, metadata={"tags": ["claim"]}),
        nbformat.v4.new_code_cell(
            FIGURE.replace("{NAME}", "prediction"), metadata={"tags": ["hide-input"]}
        ),
        nbformat.v4.new_markdown_cell("It is 42.\n\n## Next\n\nDone."),
        nbformat.v4.new_code_cell(FIGURE.replace("{NAME}", "quiz")),
    ]
    for name, stage in (("one", "self"), ("two", "out")):
        (book / "book" / name).mkdir()
        (book / "book" / name / "chapter.toml").write_text(
            f'question = "Why?"\nstages = ["{stage}"]\ndoors = ["{stage}"]\n'
        )
    nbformat.write(notebook, book / CHAPTER)
    small = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Two")])
    nbformat.write(small, book / "book" / "two" / "two.ipynb")
    (book / "book" / "one" / "one_exercises.md").write_text("# Exercises\n")
    (book / "book" / "one" / "one_solutions.md").write_text("# Solutions\n")
    return book


@pytest.fixture(scope="module")
def site(book):
    status, printed = build(book, "--keep-going")
    assert status == 0, printed
    return book / "_build" / "html"


def test_a_claim_is_a_line_that_opens_on_its_code(site):
    page = (site / PAGE).read_text("utf8")
    line, behind = page[page.index('<details class="claim">') :].split("</summary>", 1)
    assert "The answer is <em>large</em>." in line
    assert "not yet measured under other seeds" in line
    assert "one line" not in page
    assert ">hidden</span>" in behind.partition("</details>")[0]  # the fold before it


def test_what_follows_a_question_is_veiled_up_to_the_next_heading(site):
    page = (site / PAGE).read_text("utf8")
    before, rest = page.split('<details class="veiled">')
    veiled, after = rest.split("<h2>Next")
    assert 'data-figure="prediction"' in before
    assert "It is 42." in veiled and veiled.rstrip().count("</details>") == 1
    assert "Done." in after


def test_next_and_previous_lead_from_chapter_to_chapter(site):
    page = (site / PAGE).read_text("utf8")
    assert re.findall(r'class="(left|right)-(?:prev|next)"\s+href="([^"]+)"', page) == [
        ("left", "../intro.html"),
        ("right", "../two/two.html"),
    ]
    page = (site / "book" / "one" / "one_exercises.html").read_text("utf8")
    assert re.findall(r'class="(left|right)-(?:prev|next)"\s+href="([^"]+)"', page) == [
        ("left", "one.html"),
        ("right", "../two/two.html"),
    ]
    behind = (site / "book" / "api.html").read_text("utf8")  # no chapter's page
    assert re.findall(r'class="left-prev"\s+href="([^"]+)"', behind) == ["one/one.html"]


def test_a_chapter_says_above_its_title_where_it_is(site):
    page = (site / PAGE).read_text("utf8")
    article = page[page.index("<article") :]
    assert article.index('<nav class="here"') < article.index("<h1>One")
    assert page.count('href="../one/one.html" aria-label="self-attention: One"') == 2
    for other in ("intro", "api"):
        assert 'class="here"' not in (site / "book" / f"{other}.html").read_text("utf8")


def test_a_page_loads_the_script_of_the_figures_that_it_has(site):
    [script] = (site / "_static").glob("companion-figures*.js")
    assert script.read_text("utf8") == live.bundle(["prediction", "quiz"])
    assert f'"../../_static/{script.name}"' in (site / PAGE).read_text("utf8")
    assert "companion-figures" not in (site / "book" / "intro.html").read_text("utf8")


def test_of_the_icons_the_site_has_those_that_it_shows(site):
    theme = (site / "_static" / "styles" / "pydata-sphinx-theme.css").read_text("utf8")
    rules = re.findall(r"\.fa-([\w-]+):before", theme)
    assert {"bars", "moon"} <= {*rules} and len(rules) < 80
    fonts = site / "_static" / "vendor" / "fontawesome" / "webfonts"
    assert sorted(file.name for file in fonts.iterdir()) == [
        "fa-regular-400.ttf",
        "fa-solid-900.ttf",
    ]
    bars = int(re.search(r'\.fa-bars[^{]*\{content:"\\(\w+)"', theme)[1], 16)
    font = fonts / "fa-solid-900.ttf"
    assert bars in TTFont(font).getBestCmap() and font.stat().st_size < 20_000


def test_search_has_the_order_of_the_press(site):
    script = (site / "_static" / "language_data.js").read_text("utf8")
    assert (ROOT / "book" / "_press" / "scorer.js").read_text("utf8") in script


def test_the_colours_of_the_concepts_are_in_every_page(site):
    css = (site / "_static" / "companion-colours.css").read_text("utf8")
    for scheme in ("light", "dark"):
        assert colours.properties()[scheme] in css
    assert "companion-colours.css" in (site / "book" / "intro.html").read_text("utf8")


def test_the_reference_shows_signatures_and_docstrings(site):
    page = (site / "book" / "api.html").read_text("utf8")
    for name in companion.generation.__all__:
        assert f'id="companion.generation.{name}"' in page
    assert "in eval mode and without gradients" in page
    assert '<span class="n"><span class="pre">max_new_tokens</span></span>' in page


def test_every_page_is_markdown_too_and_llms_txt_leads_to_it(site):
    contents = (site / "llms.txt").read_text("utf8")
    assert contents.startswith("# The Transformer, measured\n\n> With a formula, $x^2$,")
    assert "- [One](book/one/one.md): Why?\n- [Exercises](book/one/one_exercises.md)\n" in contents
    assert "_solutions" not in contents  # a tutor comes by here
    agents, *pages = re.findall(r"\]\((.+?\.md)\)", contents)
    rules = (site / agents).read_text("utf8")
    assert "do not write the answer" in rules
    assert yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["html"]["baseurl"] in rules
    for page in pages:
        assert (site / page).with_suffix(".html").exists() and (site / page).exists(), page
    chapter = (site / PAGE).with_suffix(".md").read_text("utf8")
    assert "```text\nthe answer is 42\n```" in chapter
    assert "> **Claim.** The answer is *large*. Measured 42; must be above 40; not yet" in chapter
    assert '<div class="companion-live" data-figure="quiz"></div>' in chapter
    assert "[the answer](one/one.md#cell-answer)" in (site / "book/intro.md").read_text("utf8")
    reference = (site / "book/api.md").read_text("utf8")
    assert "### `generate(model" in reference and "Raises:" in reference


def head_of(page: Path) -> tuple[dict[str, str], dict]:
    """The named tags of a page, and what it says to search engines."""
    text = page.read_text("utf8")
    tags = re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)" />', text)
    (said,) = re.findall(r'<script type="application/ld\+json">(.+?)</script>', text)
    return dict(tags), json.loads(said)


def test_a_search_engine_and_a_shared_link_are_told_what_a_page_is(site):
    base = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["html"]["baseurl"]
    tags, said = head_of(site / PAGE)
    assert tags["description"] == tags["og:description"] == said["description"] == "Why?"
    assert tags["og:title"] == tags["citation_title"] == said["name"] == "One"
    assert tags["og:url"] == tags["citation_public_url"] == said["url"] == f"{base}{PAGE}"
    assert said["isPartOf"] == {"@type": "Book", "name": "A book", "url": f"{base}book/intro.html"}
    tags, said = head_of(site / "book" / "api.html")  # of no chapter
    assert tags["description"].startswith("What this page lists is the public contract")
    assert tags["og:image"] == f"{base}_static/previews/book.png"
    tags, said = head_of(site / "book" / "one" / "one_exercises.html")  # without a paragraph
    assert "description" not in tags and "description" not in said
    for page in ("book/intro.html", "index.html"):  # the address of the book, and where it leads
        tags, said = head_of(site / page)
        assert said["@type"] == "Book" and "isPartOf" not in said
        assert tags["description"].startswith("With a formula,")


def test_every_page_has_a_picture_that_is_there_and_of_the_size_that_it_says(site):
    base = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["html"]["baseurl"]
    for page, of in (("one/one", "one"), ("one/one_exercises", "one"), ("intro", "book")):
        tags, said = head_of(site / "book" / f"{page}.html")
        assert tags["og:image"] == said["image"] == f"{base}_static/previews/{of}.png"
        pixels = image.imread(site / tags["og:image"].removeprefix(base))
        assert pixels.shape[:2] == (int(tags["og:image:height"]), int(tags["og:image:width"]))
    one, two, book = (site / "_static" / "previews" / f"{n}.png" for n in ("one", "two", "book"))
    assert len({one.read_bytes(), two.read_bytes(), book.read_bytes()}) == 3


def test_the_site_lists_its_pages_and_a_lost_reader_is_led_back(site):
    base = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["html"]["baseurl"]
    tree = ElementTree.parse(site / "sitemap.xml")
    listed = [place.text for place in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert f"{base}{PAGE}" in listed and not [page for page in listed if "_solutions" in page]
    assert all((site / page.removeprefix(base)).is_file() for page in listed)
    assert f"Sitemap: {base}sitemap.xml" in (site / "robots.txt").read_text("utf8")
    lost = re.findall(r'<a href="([^"]+)"', (site / "404.html").read_text("utf8"))
    # it is shown at any address, so that no link may begin at its own
    assert lost and all(to.startswith(base) for to in lost)
    assert all((site / to.removeprefix(base)).is_file() for to in lost)


def test_links_lead_to_a_cell_and_to_a_name(site):
    intro = (site / "book" / "intro.html").read_text("utf8")
    assert 'href="one/one.html#cell-answer"' in intro
    assert 'href="api.html#companion.generation.generate"' in intro
    chapter = (site / PAGE).read_text("utf8")
    cell = re.search(r'<div class="cell[^>]* id="cell-answer">.*?</div>', chapter, re.S)
    assert "companion.answer" in cell[0]


def test_mathjax_is_in_the_site_and_only_what_a_page_loads(site):
    folder = site / "_static" / "mathjax"
    assert "3.2.2" in (folder / "core.js").read_text("utf8")
    assert len(list((folder / "output/chtml/fonts/woff-v2").glob("*.woff"))) == 23
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 1.2e6
    assert '"../_static/mathjax/startup.js"' in (site / "book" / "intro.html").read_text("utf8")


@pytest.mark.parametrize(
    "unwanted",
    [
        "fontawesome.js",
        "fab fa-github",
        "jupyter.widget-state",
        'search-button-field[^>]*aria-label="Search"',
        "theme-switch-button[^>]*aria-label",
        'aria-label="Toggle hidden content"',
        "(src|href)=[^>]*(jsdelivr|unpkg|cloudflare)",
    ],
)
def test_pages_are_rid_of(site, unwanted):
    for page in site.rglob("*.html"):
        assert not re.search(unwanted, page.read_text("utf8")), page


# Elsewhere the side bar does not show them.
@pytest.mark.parametrize(("page", "count"), [("intro", 0), ("one/one", 1), ("api", 1)])
def test_what_opens_the_pages_below_one_has_a_name(site, page, count):
    page = (site / "book" / f"{page}.html").read_text("utf8")
    page = page.partition("<article")[0]
    summaries = re.findall(r"<summary([^>]*)>(.*?)</summary>", page, re.S)
    assert [attributes for attributes, _ in summaries] == [' aria-label="Pages below One"'] * count


def test_every_definition_has_a_term(site):
    page = (site / "book" / "api.html").read_text("utf8")
    inside = re.findall(r"<dl[^>]*>\s*<(\w+)", page)
    assert set(inside) == {"dt"}
    assert '<div class="arguments">' in page


def test_scripts_and_sheets_are_brought_into_a_site_that_stays(book, site):
    pages = {page: page.read_text("utf8") for page in site.rglob("*.html")}
    [script] = (site / "_static").glob("companion-figures*.js")
    old = script.rename(script.with_name("companion-figures-00000000.js"))
    one = site / PAGE
    one.write_text(pages[one].replace(script.name, old.name), "utf8")
    (book / "book" / "_assets" / "book.css").write_text("p { color: red }\n")
    assets.main(book)
    assert (site / "_static" / "book.css").read_text() == "p { color: red }\n"
    assert script.exists() and not old.exists()
    sheet = re.compile(r"book\.css\?v=\w+")
    for page, before in pages.items():
        after = page.read_text("utf8")
        assert sheet.sub("", after) == sheet.sub("", before), page
        assert not sheet.findall(after) or sheet.findall(after) != sheet.findall(before), page


def test_to_finish_a_page_twice_is_to_finish_it_once(site):
    pages = [page.read_text("utf8") for page in site.rglob("*.html")]
    packed = f'"float16": "{"A" * 64}"'
    pages += ['<div class="math notranslate nohighlight">', f"{packed}, {packed}"]
    for page in map(finished, pages):
        assert finished(page) == page


@pytest.fixture
def finish_again(site, tmp_path, monkeypatch):
    """Finishes a copy of the site whose pages go through a function; the warnings."""

    def finish(change: Callable[[Path, str], str]) -> list[str]:
        copy = shutil.copytree(site, tmp_path / "site")
        for page in copy.rglob("*.html"):
            page.write_text(change(page, page.read_text("utf8")), "utf8")
        warned = []
        logger = SimpleNamespace(warning=lambda message, name: warned.append(name))
        monkeypatch.setattr(sphinx_ext, "LOGGER", logger)
        builder = SimpleNamespace(format="html")
        sphinx_ext._finish_site(SimpleNamespace(builder=builder, outdir=copy), None)
        return warned

    return finish


def test_every_edit_finds_something_to_edit(site):
    pages = [page.read_text("utf8") for page in site.rglob("*.html")]
    for edit in PAGE_EDITS:
        assert [page for page in pages if edit.name in edits_of(page)], edit.name
        assert [page for page in pages if edit.where in page], edit.name


def test_an_edit_that_finds_nothing_any_more_is_a_warning(finish_again):
    """As after a change of the theme: the pages are what they are, and nothing was edited."""
    names = sorted(edit.name for edit in PAGE_EDITS)
    assert finish_again(lambda page, text: EDITED.sub("", text)) == names


def test_a_page_that_sphinx_left_alone_counts_as_edited(finish_again):
    """It has its edits, and says so; on the others, here, nothing was found."""
    warned = finish_again(lambda page, text: text if page.stem == "one" else EDITED.sub("", text))
    assert warned == ["arguments", "formula-focus"]


def test_outputs_of_other_code_are_never_shown(book, site):
    assert "the answer is 42" in (site / PAGE).read_text("utf8")
    (book / "companion" / "answer.py").write_text("answer = 43\n")
    assert build(book, "--keep-going")[0] == 0
    text = (site / PAGE).read_text("utf8")
    assert "the answer is 43" in text
    assert "the answer is 42" not in text


def test_a_failing_cell_fails_the_build_and_names_the_chapter(book, site):
    notebook = nbformat.read(book / CHAPTER, as_version=4)
    notebook.cells[1].source = "1 / 0"
    nbformat.write(notebook, book / CHAPTER)
    status, printed = build(book, "--keep-going")
    assert status != 0
    assert "one.ipynb" in printed and "ZeroDivisionError" in printed


def test_plain_sphinx_has_the_configuration_that_jupyter_book_makes(tmp_path):
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, tmp_path)
    command = [Path(sys.executable).with_name("jupyter-book"), "config", "sphinx", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    made, kept = (runpy.run_path(folder / "conf.py") for folder in (tmp_path, ROOT / ".ci"))
    assert {name: kept[name] for name in kept if not name.startswith("__")} == {
        name: made[name] for name in made if not name.startswith("__")
    }
