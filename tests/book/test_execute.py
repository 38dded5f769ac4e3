"""The execution of chapters, on tiny books: what fails, what is repeated and what is not."""

import nbformat
import pytest

from companion.page.execute import cache_folder, chapters, execute, main, notebooks

CONFIG = "execute: {timeout: 20}\n"
COUNTING = "with open('runs', 'a') as file: file.write('x')"


def write_notebook(path, *sources):
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(notebook, path)


@pytest.fixture
def book(tmp_path):
    """A book of one chapter, which notes in the file `runs` each time that it is executed."""
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: intro\nchapters: [file: one]\n")
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "requirements.txt").write_text("torch==2.13.0\n")
    (tmp_path / "intro.md").write_text("# A book\n")
    (tmp_path / "companion").mkdir()
    (tmp_path / "companion" / "part.py").write_text("x = 1\n")
    write_notebook(tmp_path / "one.ipynb", COUNTING)
    return tmp_path


def runs(book):
    return len((book / "runs").read_text())


def test_notebooks_are_those_of_the_table_of_contents_and_exercises_no_chapters(book):
    toc = (
        "root: intro\nchapters: [file: one, {file: exercises/one, sections: [file: exercises/two]}]"
    )
    (book / "_toc.yml").write_text(f"format: jb-book\n{toc}\n")
    (book / "exercises").mkdir()
    for name in ("stray", "exercises/one", "exercises/two"):
        write_notebook(book / f"{name}.ipynb", "1 / 0")
    assert notebooks(book) == [
        book / f"{n}.ipynb" for n in ("one", "exercises/one", "exercises/two")
    ]
    assert chapters(book) == [book / "one.ipynb"]


def test_a_missing_page_is_named(book):
    (book / "one.ipynb").unlink()
    with pytest.raises(FileNotFoundError, match=r"no one\.ipynb and no one\.md"):
        notebooks(book)


def test_an_unchanged_chapter_is_not_executed_again(book):
    assert main(book) == main(book) == 0
    assert runs(book) == 1
    assert "one.ipynb" in (book / "_build" / "chapters.txt").read_text("utf8")


@pytest.mark.parametrize("changed", ["requirements.txt", "companion/part.py", "companion/new.js"])
def test_other_code_means_other_outputs_and_the_old_ones_are_gone(book, changed):
    main(book)
    before = cache_folder(book)
    (book / changed).write_text("# changed\n")
    assert main(book) == 0
    assert runs(book) == 2
    assert cache_folder(book) != before
    assert list((book / "_build" / "cache").iterdir()) == [cache_folder(book)]


def test_byte_code_is_no_change(book):
    before = cache_folder(book)
    (book / "companion" / "__pycache__").mkdir()
    (book / "companion" / "__pycache__" / "part.pyc").write_bytes(b"\0")
    assert cache_folder(book) == before


def test_a_changed_cell_is_executed_again(book):
    main(book)
    write_notebook(book / "one.ipynb", COUNTING, "print('more')")
    main(book)
    assert runs(book) == 2


def test_a_failing_cell_is_named_and_the_other_chapters_still_run(book, capsys):
    toc = "format: jb-book\nroot: intro\nchapters: [file: bad, file: one]\n"
    (book / "_toc.yml").write_text(toc)
    write_notebook(book / "bad.ipynb", "x = 1", "assert x == 2, f'x is {x}'", "print('never')")
    assert main(book) == 1
    message = capsys.readouterr().err
    identity = nbformat.read(book / "bad.ipynb", as_version=4).cells[1].id
    assert f"bad.ipynb: cell 2 (id {identity}) failed with AssertionError: x is 1" in message
    assert runs(book) == 1
    assert main(book) == 1, "a failure must never count as done"


def test_a_cell_that_takes_too_long_is_named(book, capsys):
    (book / "_config.yml").write_text("execute: {timeout: 1}\n")
    write_notebook(book / "one.ipynb", "import time; time.sleep(60)")
    assert main(book) == 1
    assert "cell 1" in (message := capsys.readouterr().err)
    assert "CellTimeoutError" in message


def test_a_kernel_that_dies_is_named(book, capsys):
    write_notebook(book / "one.ipynb", "print('here')", "import os; os._exit(1)")
    assert main(book) == 1
    assert "cell 2" in (message := capsys.readouterr().err)
    assert "DeadKernelError" in message


def test_peak_memory_is_the_kernels(book):
    ballast = bytearray(2**30)  # of this process, which starts the kernel
    write_notebook(book / "one.ipynb", "x = bytearray(2**28)", "del x", "print('small again')")
    run = execute(book / "one.ipynb", timeout=20)
    assert len(ballast) / 2**20 > 600 > run.peak_mb > 256
    assert [cell.source for cell in run.notebook.cells][-1] == "print('small again')"
