"""nbval's run of the book keeps what the press would have kept, and does not repeat it."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from book._press.execute import Record, execute
from book._press.validate import main

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[3]
SHOWING = (
    """\
from IPython.display import HTML, clear_output, display
with open('runs', 'a') as file: file.write('x')
print('before'); display(HTML('<b>between</b>')); print('after')""",
    "shown = display(HTML('old'), display_id=True); shown.update(HTML('new'))",
    "print('gone'); clear_output(); print('stays')",
    "shown = display(0, display_id=True)\nfor i in range(6000): shown.update(i)  # a long bar",
    "import sys; print('told', file=sys.stderr)",
    "import os; print(sys.path, os.getpgrp() == os.getpid())",
    "import matplotlib; matplotlib.get_backend()",
    "{'a': 1}",
)


def write(path, *sources, reference=""):
    cells = [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    if reference:
        cells[0].outputs = [nbformat.v4.new_output("stream", name="stdout", text=reference)]
        cells[0].metadata.tags, cells[0].execution_count = ["nbval-check-output"], 1
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book of four chapters: two pass, a cell of one fails, one differs from its reference."""
    root = tmp_path_factory.mktemp("book")
    pages = "{file: part/showing}, {file: part/warm}, {file: part/failing}, {file: part/differing}"
    (root / "_toc.yml").write_text(f"format: jb-book\nroot: intro\nchapters: [{pages}]\n")
    (root / "_config.yml").write_text("execute: {timeout: 20}\n")
    (root / "requirements.txt").write_text("torch==2.13.0\n")
    (root / "intro.md").write_text("# A book\n")
    for folder in ("companion", "part"):
        (root / folder).mkdir()
    (root / "companion" / "__init__.py").write_text("")
    write(root / "part" / "showing.ipynb", *SHOWING)
    write(root / "part" / "warm.ipynb", "import sys; 'torch._dynamo' in sys.modules")
    write(root / "part" / "failing.ipynb", "print(1)", "1 / 0", "print(2)")
    write(root / "part" / "differing.ipynb", "print(1)", reference="2\n")
    return root


@pytest.fixture(scope="module")
def told(book):
    """What is printed when the book is validated."""
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    # As on a machine with one core: each process of pytest's imports all once more.
    code = "import os, runpy; os.cpu_count = lambda: 1; runpy.run_module({!r}, None, {!r}, True)"
    command = [sys.executable, "-c", code.format("book._press.validate", "__main__")]
    run = subprocess.run(command, cwd=book, env=environment, capture_output=True, text=True)
    assert run.returncode == 1, run.stdout + run.stderr
    return run.stdout


def kept(book, name):
    return Record.of(book, book / "part" / f"{name}.ipynb")


def without_counts(outputs):
    """nbval asks the kernel not to count its cells."""
    return [[{**output, "execution_count": 0} for output in cell] for cell in outputs]


def test_the_outputs_kept_are_those_of_the_press(book, told, monkeypatch):
    assert "4 of 4 notebooks have to run" in told
    assert "2 failed, 11 passed" in told
    assert not (book / "part" / "runs").exists()  # it ran on its copy
    record = kept(book, "showing").read()
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # as for what was told
    run = execute(book / "part" / "showing.ipynb", timeout=20)
    expected = [cell.outputs for cell in run.notebook.cells]
    assert without_counts(record["outputs"]) == without_counts(expected)
    assert record["seconds"] > 0
    assert record["peak_mb"] > 20


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each kernel imports for itself")
def test_a_kernel_begins_with_what_all_import(book, told):
    [[output]] = kept(book, "warm").read()["outputs"]
    assert output["data"]["text/plain"] == "True"


def test_a_notebook_with_a_cell_that_fails_is_not_kept(book, told):
    assert "ZeroDivisionError" in told
    assert not kept(book, "failing").file.exists()


def test_a_notebook_whose_checked_output_differs_is_not_kept(book, told):
    assert "Cell outputs differ" in told
    assert not kept(book, "differing").file.exists()


def test_what_is_kept_is_not_run_again(book, told, tmp_path, capfd):
    again = shutil.copytree(book, tmp_path / "again")
    toc = again / "_toc.yml"
    toc.write_text(toc.read_text().replace(", {file: part/failing}, {file: part/differing}", ""))
    assert main(again) == 0
    assert capfd.readouterr().out == "0 of 2 notebooks have to run\n"
