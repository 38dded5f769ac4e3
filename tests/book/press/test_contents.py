"""A book without its solutions: what is left out, on a tiny book built with and without them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from sphinx_external_toc.parsing import parse_toc_yaml

from book._press.contents import page_source, table_of_contents
from book._press.execute import notebooks

ROOT = Path(__file__).parents[2]
TOC = """\
format: jb-book
root: book/index
parts:
  - caption: The idea
    chapters:
      - file: book/chapter
        sections:
          - file: book/exercises/one
            sections:
              - file: book/exercises/solutions/one
                title: Solutions
      - file: book/exercises/two
        sections:
          - file: book/exercises/solutions/two
          - file: book/more
"""
INDEX = """\
# A book

Do [the exercise](exercises/one.ipynb#1-add).
Then see [how we did it](exercises/solutions/one.ipynb#1-add).
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
        elif name == "chapter":
            text = "# A chapter"
        else:
            text = "# Exercises\n\n## 1. Add\n\n[Solution](solutions/one.ipynb#1-add)"
        notebook.cells = [nbformat.v4.new_markdown_cell(text)]
        nbformat.write(notebook, book / "book" / f"{name}.ipynb")


@pytest.fixture
def book(tmp_path):
    (tmp_path / "_toc.yml").write_text(TOC)
    write_pages(
        tmp_path, "chapter", "exercises/one", "exercises/solutions/one", "exercises/two", "more",
        "exercises/solutions/two",
    )  # fmt: skip
    (tmp_path / "book" / "index.md").write_text(INDEX)
    return tmp_path


def test_all_pages_are_named_unless_something_else_is_said(book):
    assert table_of_contents(book) == book / "_toc.yml"
    assert len(notebooks(book)) == 6


def test_without_them_no_page_of_solutions_is_named(book, without):
    pages = parse_toc_yaml(table_of_contents(book))
    exercises = ["book/exercises/one", "book/exercises/two"]
    assert list(pages) == ["book/index", "book/chapter", *exercises, "book/more"]
    assert pages["book/chapter"].child_files() == exercises[:1]
    assert pages["book/exercises/one"].child_files() == []
    assert pages["book/exercises/two"].child_files() == ["book/more"]
    assert [path.stem for path in notebooks(book)] == ["chapter", "one", "two", "more"]


def test_lines_that_link_to_a_solution_are_left_out_and_no_others(without):
    text = "a [b](../exercises/solutions/one.ipynb)\nsolutions/ [c](resolutions/d.md)\n"
    assert page_source(text, ".md") == "solutions/ [c](resolutions/d.md)\n"
    code, prose = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    cells = [code("x = '[a](solutions/b)'"), prose("Text\n\n[Solution](solutions/one.ipynb)")]
    notebook = json.loads(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))
    kept = json.loads(page_source(json.dumps(notebook), ".ipynb"))
    assert kept["cells"][0] == notebook["cells"][0]
    assert kept["cells"][1]["source"] == "Text\n\n"


def test_with_them_nothing_changes():
    assert page_source("[a](solutions/b.ipynb)", ".md") == "[a](solutions/b.ipynb)"


def test_another_word_is_refused(book, monkeypatch):
    monkeypatch.setenv("SOLUTIONS", "No")
    with pytest.raises(ValueError, match="SOLUTIONS is 'No'; it must be yes or no"):
        notebooks(book)


def test_a_site_without_them_says_nothing_of_them(book):
    """Built over one that has them, with every dangling link an error."""
    toc = TOC[: TOC.index("      - file: book/exercises/two")]
    (book / "_toc.yml").write_text(toc)
    shutil.copy(ROOT / "_config.yml", book)
    shutil.copytree(ROOT / "book" / "_assets", book / "book" / "_assets")
    (book / "requirements.txt").write_text("torch==2.13.0\n")
    (book / "companion").mkdir()
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "-n"]
    site = book / "_build" / "html"
    for said in ("yes", "no"):
        environment = os.environ | {"PYTHONPATH": str(ROOT), "SOLUTIONS": said}
        shutil.rmtree(site, ignore_errors=True)
        done = subprocess.run(command, cwd=book, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        files = [path for path in site.rglob("*") if path.is_file()]
        texts = [path.read_bytes() for path in files if path.suffix not in (".woff", ".ttf")]
        assert any(b"fortytwo" in text for text in texts) == (said == "yes")
        assert any(b"solutions/one" in text for text in texts) == (said == "yes")
    assert "Do <a" in (site / "book" / "index.html").read_text("utf8")
