"""The strip above a chapter and the cards of the index, against the table of contents."""

import json
import re
from pathlib import Path
from xml.dom import minidom

import nbformat
import pytest
import yaml

from book._press.execute import chapters
from book._press.path import (
    CHAPTERS,
    DOORS,
    NAMED,
    NAMES,
    SMALL,
    Chapter,
    chapters_of,
    here,
    reading_minutes,
    with_chapters,
)

ROOT = Path(__file__).parents[2]
INDEX = (ROOT / "book" / "index.md").read_text("utf8")
LISTED = chapters_of(INDEX)
PAGE = """\
# A book

<!-- translator: full_model -->

### A part

| chapter | the question |
|---|---|
{}

Text.
"""


def title_of(name: str) -> str:
    notebook = nbformat.read(ROOT / "book" / f"{name}.ipynb", as_version=4)
    return notebook.cells[0].source.partition("\n")[0].removeprefix("# ")


def test_the_index_has_the_parts_and_chapters_of_the_table_of_contents():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))["parts"]
    parts = [part for part in parts if part["caption"] not in ("Reference", "For instructors")]
    assert re.findall(r"(?m)^### (.+)$", INDEX) == [part["caption"] for part in parts]
    files = [chapter["file"] for part in parts for chapter in part["chapters"]]
    files = [file for file in files if not file.startswith("book/exercises/")]
    listed = [f"book/{chapter.name}" for chapter in LISTED]
    assert listed == files, "book/index.md has other chapters, or another order, than _toc.yml"


def test_a_chapter_has_the_same_title_on_the_index():
    assert {chapter.name: chapter.title for chapter in LISTED} == {
        chapter.name: title_of(chapter.name) for chapter in LISTED
    }


def test_every_chapter_is_about_some_stages_and_every_stage_leads_to_one():
    names = {path.stem for path in chapters(ROOT)} - {"notation"}
    assert CHAPTERS.keys() == names, "CHAPTERS of book/_press/path.py names other chapters"
    assert set(DOORS.values()) <= names
    stages = {stage for lit in CHAPTERS.values() for stage in lit}
    assert stages == NAMES.keys()
    assert NAMED.keys() == SMALL.keys() == NAMES.keys() - {"loop"}


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_strip_lights_what_the_chapter_is_about_and_links_to_the_stages_chapters(name):
    strip = minidom.parseString(here(name, LISTED))
    number = [chapter.name for chapter in LISTED].index(name) + 1
    (said,) = strip.getElementsByTagName("p")
    assert said.firstChild.data == f"You are here, {number} of {len(LISTED)}: "
    lit = [NAMES[stage] for stage in CHAPTERS[name] if stage != "loop"]
    for drawing in strip.getElementsByTagName("svg"):
        links = drawing.getElementsByTagName("a")
        assert {link.getAttribute("href") for link in links} <= {f"{n}.html" for n in CHAPTERS}
        labels = [
            link.getAttribute("aria-label").partition(":")[0]
            for link in links
            if link.getAttribute("aria-current") == "true"
        ]
        assert sorted(labels) == sorted(lit)
        way_back = [path.getAttribute("class") for path in drawing.getElementsByTagName("path")]
        assert ("rail lit" in way_back) == ("loop" in CHAPTERS[name])
        about = drawing.getAttribute("aria-label")
        assert all(word in about for word in lit)


def test_a_stage_of_the_strip_is_named_by_what_one_sees():
    strip = minidom.parseString(here("embeddings", LISTED))
    texts = strip.getElementsByTagName("text")
    assert len(texts) == len(NAMED)
    for text in texts:
        assert text.parentNode.getAttribute("aria-label").startswith(text.firstChild.data + ": ")


def test_reading_time_counts_words_and_the_code_that_is_open():
    code, prose = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    cells = [prose("word " * 2000), code("x = 1\n" * 150)]
    assert reading_minutes(nbformat.v4.new_notebook(cells=cells)) == 20
    for tag in ("hide-input", "claim"):
        cells[1].metadata["tags"] = [tag]
        assert reading_minutes(nbformat.v4.new_notebook(cells=cells)) == 10


def test_a_card_has_both_times_and_the_scene_the_chapters_own_weights(tmp_path):
    state = {"data": {"examples": ["a cat"], "num_layers": 2, "weights": 7}, "value": {}}
    figure = (
        '<div class="companion-live" data-figure="translation"><script type="application/json">'
        f"{json.dumps(state)}</script><table><td>1.0</td></table></div>"
    )
    (tmp_path / "book").mkdir()
    outputs = {}
    for name in CHAPTERS:
        cells = [nbformat.v4.new_markdown_cell("word " * 3000)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "book" / f"{name}.ipynb")
        kept = {"outputs": [[{"data": {"text/html": figure}}]], "seconds": 130}
        (tmp_path / f"{name}.json").write_text(json.dumps(kept))
        outputs[f"book/{name}.ipynb"] = str(tmp_path / f"{name}.json")
    rows = "\n".join(f"| [{name}]({name}.ipynb) | Why? |" for name in CHAPTERS)
    page = with_chapters(PAGE.format(rows), tmp_path, outputs)
    assert page.count("read 15 min · run 2 min") == len(CHAPTERS)
    assert page.startswith("# A book") and page.endswith("\n\nText.\n") and "|" not in page
    scene = re.search(r'data-figure="translator">.*?>(.*?)</script>(.*)</div>', page)
    data = json.loads(scene[1])["data"]
    assert data["weights"] == 7
    assert data["doors"]["self"] == {
        "href": "self_attention.html", "title": "self_attention", "question": "Why?"
    }  # fmt: skip
    assert scene[2] == "<table><td>1.0</td></table>"


def test_another_page_stays_as_it_is(tmp_path):
    page = "| a | b |\n|---|---|\n| [x](x.ipynb) | y |\n"
    assert with_chapters(page, tmp_path, {}) == page


def test_a_chapter_without_a_translator_cannot_lend_it(tmp_path):
    (tmp_path / "one.json").write_text('{"outputs": [[]], "seconds": 1}')
    page = "<!-- translator: one -->\n"
    with pytest.raises(ValueError, match="shows none"):
        with_chapters(page, tmp_path, {"book/one.ipynb": str(tmp_path / "one.json")})


def test_the_index_is_read_row_by_row():
    row = "| [A & B](a_b.ipynb) | What, and why? |"
    assert chapters_of(row) == [Chapter("a_b", "A & B", "What, and why?")]
