"""The book as PDF and as EPUB, of three of its pages."""

import re
import zipfile
from xml.dom import minidom

import pytest

from companion.page.printed import write_epub, write_pdf

pytestmark = pytest.mark.browser

PAGES = ["book/index", "book/notation", "book/glossary"]


@pytest.fixture(scope="module")
def epub(browser, site, tmp_path_factory):
    """The files of the EPUB, by name."""
    path = tmp_path_factory.mktemp("epub") / "book.epub"
    write_epub(browser, site, PAGES, path, "A & B", "somebody")
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[0].filename == "mimetype"
        assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED
        return {name: archive.read(name) for name in archive.namelist()}


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


def test_the_pdf_is_one_tagged_document_with_an_outline(browser, site, tmp_path):
    path = tmp_path / "book.pdf"
    write_pdf(browser, site, PAGES, path)
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/StructTreeRoot" in content and b"/Outlines" in content
    # A link from one page of the site to another is now one within the document.
    assert b"/book-notation" in content and b"file://" not in content
    assert not (site / "book" / "_whole.html").exists()
