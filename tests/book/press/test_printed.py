"""The book as PDF and as EPUB, of some of its pages."""

import re
import zipfile
from pathlib import Path
from xml.dom import minidom

import pytest
from sphinx_external_toc.parsing import parse_toc_yaml

from book._press.printed import FIT, articles, whole_book, write_epub, write_pdf

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[3]

CHAPTER = "book/self_attention/self_attention"
CHAPTER_FILE = "book/book-self_attention-self_attention.xhtml"  # of the EPUB

# Where links within the document lead that is not there.
LOST = """[...document.querySelectorAll("article a[href^='#']")]
  .map((link) => link.getAttribute("href").slice(1))
  .filter((id) => document.getElementById(decodeURIComponent(id)) === null)"""

PAGES = [
    "book/index",
    CHAPTER,
    "book/self_attention/self_attention_exercises",
    "book/notation",
    "book/glossary",
    "book/api/index",
    "book/api/kernels",
    "book/checking/strength",
]


@pytest.fixture(scope="module")
def epub(browser, site, tmp_path_factory):
    """The files of the EPUB, by name."""
    path = tmp_path_factory.mktemp("epub") / "book.epub"
    toc = parse_toc_yaml(ROOT / "_toc.yml")
    write_epub(browser, site, toc, PAGES, path, "A & B", "somebody")
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].filename == "mimetype"
        assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_contents_of_the_epub_have_the_levels_of_the_book(epub):
    (nav,) = elements(epub["book/nav.xhtml"], "nav")
    (top,) = [node for node in nav.childNodes if node.nodeName == "ol"]
    front, *parts = top.childNodes
    assert front.firstChild.getAttribute("href") == "book-index.xhtml"
    assert len(parts) >= 3
    for part in parts:
        caption, pages = part.childNodes
        assert caption.nodeName == "span" and caption.firstChild.data
        assert {page.firstChild.nodeName for page in pages.childNodes} == {"a"}
    for page, below in (
        ("self_attention-self_attention", "self_attention-self_attention_exercises"),
        ("api-index", "api-kernels"),
    ):
        (entry,) = [
            link.parentNode
            for link in elements(epub["book/nav.xhtml"], "a")
            if link.getAttribute("href") == f"book-{page}.xhtml"
        ]
        (inner,) = entry.getElementsByTagName("li")
        assert inner.firstChild.getAttribute("href") == f"book-{below}.xhtml"
    listed = [link.getAttribute("href") for link in elements(epub["book/nav.xhtml"], "a")]
    assert sorted(listed) == sorted(f"{name.replace('/', '-')}.xhtml" for name in PAGES)


def elements(content, tag):
    return minidom.parseString(content).getElementsByTagName(tag)


def test_every_file_of_the_epub_is_well_formed_and_listed(epub):
    package = epub["book/content.opf"]
    listed = {item.getAttribute("href") for item in elements(package, "item")}
    assert {f"book/{name}" for name in listed} == epub.keys() - {
        "mimetype",
        "META-INF/container.xml",
        "book/content.opf",
    }
    order = [item.getAttribute("idref") for item in elements(package, "itemref")]
    assert order == [f"item-{page.replace('/', '-')}.xhtml" for page in PAGES]
    for name in listed:
        if name.endswith(".xhtml"):
            minidom.parseString(epub[f"book/{name}"])


def test_links_in_the_epub_lead_to_places_in_it(epub):
    places = {
        name.removeprefix("book/"): set(re.findall(r'\bid="([^"]+)"', content.decode()))
        for name, content in epub.items()
        if name.endswith(".xhtml")
    }
    inner = 0
    for content in (epub[name] for name in epub if name.endswith(".xhtml")):
        for link in elements(content, "a"):
            page, _, place = link.getAttribute("href").partition("#")
            if page.startswith("http") or not page:
                continue
            assert page in places
            assert not place or place in places[page], f"{page}#{place}"
            inner += 1
    assert inner > len(PAGES)


def test_formulas_in_the_epub_are_mathml_and_nothing_runs(epub):
    text = epub["book/book-notation.xhtml"].decode()
    assert len(elements(text, "math")) > 10
    assert r"\(" not in text and r"\[" not in text
    for name in epub:
        assert b"<script" not in epub[name] and b"<button" not in epub[name]


def test_formulas_that_stand_side_by_side_get_a_line_each(epub):
    text = epub[CHAPTER_FILE].decode()
    shown = [m for m in elements(text, "math") if m.getAttribute("display") == "block"]
    letters = ["".join(i.firstChild.data for i in m.getElementsByTagName("mi")) for m in shown]
    assert letters.count("QXWQ") == letters.count("KXWK") == letters.count("VXWV") == 1


def test_pictures_of_the_epub_are_files(epub):
    text = epub[CHAPTER_FILE].decode()
    plots = [picture.getAttribute("src") for picture in elements(text, "img")]
    assert len(plots) > 1 and len(set(plots)) == len(plots)
    for plot in plots:
        assert plot.endswith(".svg")
        assert elements(epub[f"book/{plot}"], "svg")


def test_every_definition_in_the_epub_has_a_term_before_it(epub):
    lists = elements(epub["book/book-api-kernels.xhtml"], "dl")
    assert lists
    for each in lists:
        first = next(node for node in each.childNodes if node.nodeType == node.ELEMENT_NODE)
        assert first.tagName == "dt"


def test_folded_code_stands_open_with_nothing_to_press(epub, site):
    built = (site / f"{CHAPTER}.html").read_text("utf8")
    page = epub[CHAPTER_FILE].decode()
    assert page.count("cell_input") == built.count("cell_input") > 10
    fold = '<p class="collapsed admonition-title">Code'
    assert fold in built and fold not in page


def test_a_live_figure_says_that_it_is_live_elsewhere(epub, browser, site):
    source = (site / f"{CHAPTER}.html").read_text("utf8")
    figures = re.findall(r'class="companion-live" data-figure="(\w+)"', source)
    quizzes = figures.count("quiz")
    live = len(figures) - quizzes
    assert live > quizzes == 1
    text = epub[CHAPTER_FILE].decode()
    assert text.count("companion-live") == live + quizzes
    assert text.count("the numbers with which it begins") == live
    [paper] = articles(browser, site, [CHAPTER], "pdf")
    assert paper.text.count("Here it stands still") == live
    assert paper.text.count("data-figure=") == live


def test_what_announces_the_next_part_stays_with_it(browser, site):
    [page] = articles(browser, site, [f"{CHAPTER}_exercises"], "pdf")
    exercises = len(re.findall(r"<h2>\d+\. ", page.text))
    kept = re.findall(r'<p class="with-next">(?:<[^>]*>)*(\w+)', page.text)
    assert kept.count("Solution") == exercises > 3
    assert kept.count("Coding") + kept.count("Reasoning") + kept.count("Open") == exercises


def test_only_a_long_listing_may_be_parted(browser, site):
    [page] = articles(browser, site, [CHAPTER], "pdf")
    listings = re.findall(r'<pre( class="long")?>(.*?)</pre>', page.text, re.S)
    assert {bool(long) for long, _ in listings} == {True, False}
    for long, text in listings:
        assert bool(long) == (text.strip().count("\n") >= 20)


def test_a_formula_keeps_its_full_stop(browser, site):
    [page] = articles(browser, site, ["book/notation"], "pdf")
    parted = re.findall(r"\)</span>[.,;:?)]", page.text)
    kept = re.findall(r"\)</span>[.,;:?)]+</span>", page.text)
    assert kept and len(parted) == len(kept)


def test_no_formula_is_wider_than_the_paper(browser, site):
    page = browser.new_page(viewport={"width": 420, "height": 800})
    page.goto((site / "book/multi_head_attention/multi_head_attention.html").as_uri())
    page.evaluate("window.MathJax.startup.promise.then(() => null)")
    too_wide = """[...document.querySelectorAll('mjx-container[display="true"]')].filter(
        (formula) => formula.scrollWidth > formula.clientWidth).length"""
    assert page.evaluate(too_wide) > 0
    page.evaluate(FIT)
    assert page.evaluate(too_wide) == 0
    page.close()


def test_on_paper_every_live_figure_is_drawn_and_every_link_leads_somewhere(browser, site):
    """The figures of all pages: each page of the site has a script with its own alone."""
    with whole_book(browser, site, PAGES) as page:
        drawn = page.locator(".companion-live[data-figure]")
        names = drawn.evaluate_all("all => all.map((figure) => figure.dataset.figure)")
        assert {"translator", "word"} <= {*names}
        assert drawn.locator("> script, > table, > [role=alert]").count() == 0
        assert page.evaluate(LOST) == []
    assert not (site / "book" / "_whole.html").exists()


def test_the_pdf_is_one_tagged_document_with_an_outline(browser, site, tmp_path):
    path = tmp_path / "book.pdf"
    write_pdf(browser, site, PAGES, path)
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/StructTreeRoot" in content and b"/Outlines" in content
    assert b"/Title (Notation and conventions)" in content  # once: the heading begins a page
    assert content.count(b"/Title (The Transformer, measured)") == 2  # document, page
    # A link from one page of the site to another is now one within the document.
    assert b"/book-notation" in content and b"file://" not in content
    assert not (site / "book" / "_whole.html").exists()
