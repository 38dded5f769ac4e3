"""A book without its solutions: what is left out, on a tiny book built with and without them."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from sphinx_external_toc.parsing import parse_toc_yaml

from book._press.contents import page_source, table_of_contents
from book._press.execute import notebooks
from tests.book.press.building import build

ROOT = Path(__file__).parents[3]
TOC = """\
format: jb-book
root: book/index
parts:
  - caption: The idea
    chapters:
      - file: book/one/one
        sections:
          - file: book/one/one_exercises
            sections:
              - file: book/one/one_solutions
                title: Solutions
      - file: book/two/two_exercises
        sections:
          - file: book/two/two_solutions
          - file: book/more
"""
INDEX = """\
# A book

Do [the exercise](one/one_exercises.ipynb#1-add).
Then see [how we did it](one/one_solutions.ipynb#1-add).
"""


@pytest.fixture
def without(monkeypatch):
    monkeypatch.setenv("SOLUTIONS", "no")


def write_pages(book, *names):
    for name in names:
        (book / "book" / name).parent.mkdir(parents=True, exist_ok=True)
        notebook = nbformat.v4.new_notebook()
        if "solutions" in name:
            text = "# Solutions\n\n## 1. Add\n\nIt is fortytwo."
        elif name == "one/one":
            text = "# A chapter"
        else:
            text = "# Exercises\n\n## 1. Add\n\n[Solution](one_solutions.ipynb#1-add)"
        notebook.cells = [nbformat.v4.new_markdown_cell(text)]
        nbformat.write(notebook, book / "book" / f"{name}.ipynb")


@pytest.fixture
def book(tmp_path):
    (tmp_path / "_toc.yml").write_text(TOC)
    write_pages(
        tmp_path, "one/one", "one/one_exercises", "one/one_solutions", "two/two_exercises", "more",
        "two/two_solutions",
    )  # fmt: skip
    (tmp_path / "book" / "index.md").write_text(INDEX)
    return tmp_path


def test_all_pages_are_named_unless_something_else_is_said(book):
    assert table_of_contents(book) == book / "_toc.yml"
    assert len(notebooks(book)) == 6


def test_without_them_no_page_of_solutions_is_named(book, without):
    pages = parse_toc_yaml(table_of_contents(book))
    one, two = "book/one/one_exercises", "book/two/two_exercises"
    assert list(pages) == ["book/index", "book/one/one", one, two, "book/more"]
    assert pages["book/one/one"].child_files() == [one]
    assert pages[one].child_files() == []
    assert pages[two].child_files() == ["book/more"]
    names = [path.stem for path in notebooks(book)]
    assert names == ["one", "one_exercises", "two_exercises", "more"]


def test_lines_that_link_to_a_solution_are_left_out_and_no_others(without):
    text = "a [b](../one/one_solutions.ipynb)\none_solutions.ipynb [c](solutions.md)\n"
    assert page_source(text, ".md") == "one_solutions.ipynb [c](solutions.md)\n"
    code, prose = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    cells = [
        code("x = '[a](one_solutions.ipynb)'"),
        prose("Text\n\n[Solution](one_solutions.ipynb#1-add)"),
    ]
    notebook = json.loads(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
    kept = json.loads(page_source(json.dumps(notebook), ".ipynb"))
    assert kept["cells"][0] == notebook["cells"][0]
    assert kept["cells"][1]["source"] == "Text\n\n"


def test_with_them_nothing_changes():
    assert page_source("[a](b_solutions.ipynb)", ".md") == "[a](b_solutions.ipynb)"


def test_another_word_is_refused(book, monkeypatch):
    monkeypatch.setenv("SOLUTIONS", "No")
    with pytest.raises(ValueError, match="SOLUTIONS is 'No'; it must be yes or no"):
        notebooks(book)


@pytest.mark.long
def test_a_site_without_them_says_nothing_of_them(book, monkeypatch):
    """Built over one that has them, with every dangling link an error."""
    toc = TOC[: TOC.index("      - file: book/two/two_exercises")]
    (book / "_toc.yml").write_text(toc)
    shutil.copy(ROOT / "_config.yml", book)
    shutil.copytree(ROOT / "book" / "_assets", book / "book" / "_assets")
    (book / "requirements.txt").write_text("torch==2.13.0\n")
    (book / "companion").mkdir()
    site = book / "_build" / "html"
    for said in ("yes", "no"):
        monkeypatch.setenv("SOLUTIONS", said)
        shutil.rmtree(site, ignore_errors=True)
        status, printed = build(book)
        assert status == 0, printed
        files = [path for path in site.rglob("*") if path.is_file()]
        texts = [path.read_bytes() for path in files if path.suffix not in (".woff", ".ttf")]
        assert any(b"fortytwo" in text for text in texts) == (said == "yes")
        assert any(b"one_solutions" in text for text in texts) == (said == "yes")
    assert "Do <a" in (site / "book" / "index.html").read_text("utf8")
