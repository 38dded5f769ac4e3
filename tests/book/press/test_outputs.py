"""The outputs that a notebook keeps, on a tiny one."""

import nbformat
import pytest

from book._press.execute import ChapterError
from book._press.outputs import write_outputs


@pytest.fixture
def book(tmp_path):
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: intro\nchapters: [file: one]\n")
    (tmp_path / "_config.yml").write_text("execute: {timeout: 60}\n")
    (tmp_path / "intro.md").write_text("# A book\n")
    notebook = nbformat.v4.new_notebook(metadata={"ours": True})
    notebook.cells = [
        nbformat.v4.new_markdown_cell("A remark."),
        nbformat.v4.new_code_cell("print(1)"),
        nbformat.v4.new_code_cell("print(2)", metadata={"tags": ["keep_output"]}),
    ]
    nbformat.write(notebook, tmp_path / "one.ipynb")
    return tmp_path


def test_a_cell_that_keeps_its_output_gets_it_and_no_other(book):
    before = nbformat.read(book / "one.ipynb", as_version=4)
    assert write_outputs(book, "one") == 1
    after = nbformat.read(book / "one.ipynb", as_version=4)
    _, other, kept = after.cells
    assert other == before.cells[1]
    assert (kept.outputs[0].text, kept.execution_count) == ("2\n", 2)
    assert after.metadata == before.metadata
    assert [cell.id for cell in after.cells] == [cell.id for cell in before.cells]


def test_a_cell_that_fails_leaves_the_file_as_it_was(book):
    notebook = nbformat.read(book / "one.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("1 / 0"))
    nbformat.write(notebook, book / "one.ipynb")
    before = (book / "one.ipynb").read_bytes()
    with pytest.raises(ChapterError, match="division by zero"):
        write_outputs(book, "one")
    assert (book / "one.ipynb").read_bytes() == before


def test_a_notebook_that_is_not_there_is_told_of(book):
    with pytest.raises(ValueError, match="no notebook 'two'; there are one"):
        write_outputs(book, "two")
