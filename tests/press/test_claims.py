"""Claims under other seeds, on a tiny chapter whose claim holds for even seeds only."""

import nbformat
import pytest

from book._press.claims import at_seed, main


@pytest.fixture
def book(tmp_path):
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: intro\nchapters: [file: one]\n")
    (tmp_path / "_config.yml").write_text("execute: {timeout: 20}\n")
    (tmp_path / "intro.md").write_text("# A book\n")
    notebook = nbformat.v4.new_notebook()
    claim = "print(f'rest | {seed % 2}')\nassert seed % 2 == 0, 'odd'"
    notebook.cells = [
        nbformat.v4.new_code_cell("def setup(seed):\n    return seed"),
        nbformat.v4.new_code_cell("seed = setup(seed=0)"),
        nbformat.v4.new_code_cell(claim, id="parity", metadata={"tags": ["claim"]}),
        nbformat.v4.new_code_cell("print('goes on')", id="last", metadata={"tags": ["claim"]}),
        nbformat.v4.new_code_cell("print('no claim')"),
    ]
    nbformat.write(notebook, tmp_path / "one.ipynb")
    return tmp_path


def test_every_claim_is_tabulated_under_every_seed(book):
    assert main(book, [102, 103]) == 1
    table = (book / "benchmarks" / "claims" / "one.md").read_text("utf8")
    assert "| 102 | yes | rest \\| 0 |" in table
    assert "| 103 | no | rest \\| 1<br>AssertionError: odd |" in table
    assert table.count("| yes | goes on |") == 2
    assert "no claim" not in table


def test_claims_that_hold_pass(book):
    assert main(book, [104]) == 0


def test_a_cell_that_fails_counts_even_if_it_claims_nothing(book):
    notebook = nbformat.read(book / "one.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("1 / (seed - 104)", id="plain"))
    nbformat.write(notebook, book / "one.ipynb")
    assert main(book, [102, 104]) == 1
    table = (book / "benchmarks" / "claims" / "one.md").read_text("utf8")
    assert "Cell `plain`" in table and "| 104 | no | ZeroDivisionError: division by zero |" in table


def test_one_chapter_alone_or_an_error_that_lists_them(book):
    assert main(book, [104], "one") == 0
    with pytest.raises(ValueError, match="no chapter 'two'; there are one"):
        main(book, [104], "two")


def test_a_chapter_without_the_seed_is_refused(book):
    notebook = nbformat.read(book / "one.ipynb", as_version=4)
    notebook.cells.pop(1)
    with pytest.raises(ValueError, match="stands 0 times"):
        at_seed(notebook, 1)
