"""The execution of chapters, on tiny books: what fails, what is repeated and what is not."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import psutil
import pytest
from nbclient import NotebookClient

from book._press.execute import (
    KEPT,
    PEAK_MEMORY,
    Record,
    Run,
    chapters,
    execute,
    kernels,
    longest_first,
    main,
    notebooks,
    table,
)

CONFIG = "execute: {timeout: 20}\n"
COUNTING = """\
import sys; sys.path.insert(0, '.')
from companion import part
with open('runs', 'a') as file: file.write('x')"""
ROOT = Path(__file__).parents[3]


def toc(*names):
    pages = ", ".join(f"file: {name}" for name in names)
    return f"format: jb-book\nroot: intro\nchapters: [{pages}]\n"


def write_notebook(path, *sources):
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(notebook, path)


@pytest.fixture
def book(tmp_path):
    """A book of one chapter, which notes in the file `runs` each time that it is executed."""
    (tmp_path / "_toc.yml").write_text(toc("one"))
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "requirements.txt").write_text("torch==2.13.0\n")
    (tmp_path / "intro.md").write_text("# A book\n")
    (tmp_path / "companion").mkdir()
    modules = {"__init__": "", "part": "from . import below", "below": "", "other": ""}
    for name, text in modules.items():
        (tmp_path / "companion" / f"{name}.py").write_text(text)
    write_notebook(tmp_path / "one.ipynb", COUNTING)
    return tmp_path


def runs(book):
    return len((book / "runs").read_text())


def test_notebooks_are_those_of_the_table_of_contents_and_exercises_no_chapters(book):
    below = "sections: [{file: two/two_exercises, sections: [file: two/two_solutions]}]"
    pages = f"chapters: [file: one, {{file: two/two, {below}}}, file: runs/debug_two]"
    (book / "_toc.yml").write_text(f"format: jb-book\nroot: intro\n{pages}\n")
    (book / "two").mkdir()
    (book / "runs").mkdir()
    named = ("one", "two/two", "two/two_exercises", "two/two_solutions", "runs/debug_two")
    for name in ("stray", *named[1:]):
        write_notebook(book / f"{name}.ipynb", "1 / 0")
    assert notebooks(book) == [book / f"{name}.ipynb" for name in named]
    assert chapters(book) == [book / "one.ipynb", book / "two" / "two.ipynb"]


def test_a_missing_page_is_named(book):
    (book / "one.ipynb").unlink()
    with pytest.raises(FileNotFoundError, match=r"no one\.ipynb and no one\.md"):
        notebooks(book)


def outputs(book):
    """The text that the chapter shows."""
    cells = Record.of(book, book / "one.ipynb").read()["outputs"]
    return "".join(output["text"] for cell in cells for output in cell)


@pytest.mark.long
def test_a_chapter_is_executed_again_when_its_code_or_what_it_imports_changes(book):
    def change(name, text):
        (book / name).parent.mkdir(parents=True, exist_ok=True)
        with (book / name).open("a") as file:
            file.write(text)
        assert main(book) == 0

    assert main(book) == main(book) == 0
    assert "one.ipynb" in (book / "_build" / "chapters.txt").read_text("utf8")
    for name in ("companion/other.py", "companion/figure.js", "requirements.txt"):
        change(name, "# changed\n")
    change("book/one/checks.py", "# changed\n")
    change("book/_press/execute.py", "# changed\n")
    notebook = nbformat.read(book / "one.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell("More"))
    nbformat.write(notebook, book / "one.ipynb")
    assert main(book) == 0
    assert runs(book) == 1
    change("requirements.txt", "numpy==2.4.6\n")
    assert runs(book) == 2
    change("companion/part.py", "\n# changed\n")
    assert runs(book) == 3
    change("companion/below.py", "\n# changed\n")  # imported by part.py alone
    assert runs(book) == 4
    write_notebook(book / "one.ipynb", COUNTING, "print('more')")
    assert main(book) == 0
    assert runs(book) == 5


def test_the_table_of_times_has_a_column_for_every_name():
    long = "book/running_a_language_model/running_a_language_model_exercises.ipynb"
    lines = table([(long, 61.5, 900.0), ("one.ipynb", 1.0, 99.0)]).splitlines()
    assert len({len(line) for line in lines[:-1]}) == 1
    assert lines[1].startswith(f"{long} ") and lines[-1].split() == ["together", "62.5"]


@pytest.mark.long
def test_going_back_costs_nothing_and_old_outputs_go(book):
    part = book / "companion" / "part.py"
    for version in range(KEPT):
        part.write_text(f"x = {version}\n")
        main(book)
        os.utime(Record.of(book, book / "one.ipynb").file, (version, version))
    part.write_text("x = 0\n")
    assert main(book) == 0
    assert runs(book) == KEPT  # and 0 was used now
    part.write_text("x = 'new'\n")
    main(book)
    assert len(list((book / "_build" / "executed" / "one").iterdir())) == KEPT
    part.write_text("x = 0\n")
    main(book)
    assert runs(book) == KEPT + 1
    part.write_text("x = 1\n")  # not used for longest
    main(book)
    assert runs(book) == KEPT + 2


def test_outputs_are_those_of_the_code_as_it_is(book):
    write_notebook(book / "one.ipynb", COUNTING, "from companion.other import x; print('x is', x)")
    for x in (1, 22):  # one that Python would notice within a second: of another size
        (book / "companion" / "other.py").write_text(f"x = {x}\n")
        main(book)
        assert outputs(book) == f"x is {x}\n"


def test_outputs_of_code_that_changed_meanwhile_are_not_kept(book, capsys):
    write_notebook(book / "one.ipynb", COUNTING, "open('companion/part.py', 'a').write('#')")
    assert main(book) == 1
    assert "changed while it was executed" in capsys.readouterr().err
    assert not list((book / "_build").rglob("*.json"))


def test_the_longest_comes_first_as_far_as_it_is_known(book):
    names = ("short", "long", "new", "newest")
    (book / "_toc.yml").write_text(toc(*names))
    write_notebook(book / "short.ipynb", "1")
    write_notebook(book / "long.ipynb", "2")
    write_notebook(book / "new.ipynb", "# much to read " * 99)
    write_notebook(book / "newest.ipynb", "1")
    pages = [book / f"{name}.ipynb" for name in names]
    for path, seconds in zip(pages, (2.0, 3.0), strict=False):
        Record.of(book, path).write(Run(nbformat.read(path, as_version=4), seconds, 100.0))
    with (book / "requirements.txt").open("a") as file:
        file.write("numpy==2.4.6\n")  # all outputs are those of another environment now
    order = longest_first(Record.of(book, path) for path in pages)
    assert [record.path.stem for record in order] == ["new", "newest", "long", "short"]


def test_notebooks_run_side_by_side_and_say_how_far_they_are(book, capsys, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    (book / "_toc.yml").write_text(toc("one", "two"))
    for me, other in (("one", "two"), ("two", "one")):  # each waits for the other
        waiting = f"while not os.path.exists('{other}.here'): time.sleep(0.01)"
        write_notebook(book / f"{me}.ipynb", f"import os, time; open('{me}.here', 'w')", waiting)
    assert main(book) == 0
    told = capsys.readouterr().out
    assert "executing one.ipynb ..." in told and "executing two.ipynb ..." in told
    assert "[1/2] " in told and "[2/2] " in told


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has ports alone")
def test_a_kernel_takes_no_port_that_another_may_have(book):
    asking = "from ipykernel.connect import get_connection_info as get; print(get(unpack=True))"
    write_notebook(book / "one.ipynb", asking)
    run = execute(book / "one.ipynb", timeout=20)
    assert "'transport': 'ipc'" in run.notebook.cells[0].outputs[0].text


@pytest.mark.long
def test_no_message_is_lost_to_a_press_that_reads_slowly(book, monkeypatch):
    read = NotebookClient.process_message

    def slowly(*arguments):
        time.sleep(0.001)  # 5 s in all, and the cell is done long before
        return read(*arguments)

    monkeypatch.setattr(NotebookClient, "process_message", slowly)
    bar = "shown = display(0, display_id=True)\nfor i in range(5000): shown.update(i)"
    write_notebook(book / "one.ipynb", bar)
    [cell] = execute(book / "one.ipynb", timeout=60).notebook.cells
    assert cell.outputs[0].data["text/plain"] == "4999"


@pytest.mark.long
def test_an_interruption_stops_the_kernels_and_keeps_what_is_finished(book):
    (book / "_toc.yml").write_text(toc("one", "two"))
    # "one" may take its time; a dead kernel that nbclient overlooks ends by then.
    (book / "_config.yml").write_text("execute: {timeout: 60}\n")
    slow = "open('pid', 'w').write(str(os.getpid())); open('here', 'w'); time.sleep(200)"
    write_notebook(book / "two.ipynb", "import os, time", slow)
    command = [sys.executable, "-m", "book._press.execute"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job behind `&` ignores it
    run = subprocess.Popen(command, cwd=book, env=environment, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, before)
    until = time.monotonic() + 60
    first = Record.of(book, book / "one.ipynb")
    while not (first.file.exists() and (book / "here").exists()):
        assert time.monotonic() < until and run.poll() is None
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=90)
    assert run.returncode == 130, told
    assert told == "stopped; what was finished is kept\n"
    kernel = int((book / "pid").read_text())
    assert not psutil.pid_exists(kernel) or psutil.Process(kernel).status() == psutil.STATUS_ZOMBIE
    assert first.file.exists()
    assert not Record.of(book, book / "two.ipynb").file.exists()


def test_an_interruption_in_the_midst_of_a_submission_stops_what_was_submitted(monkeypatch):
    def interrupted(pool, *work):
        submit(pool, *work)
        raise KeyboardInterrupt  # before anybody has the future

    submit = ThreadPoolExecutor.submit
    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), kernels() as work:
        work(subprocess.run, ["sleep", "20"])
    assert time.monotonic() - start < 10


def test_an_interruption_survives_a_kernel_that_ends_by_itself(monkeypatch):
    def gone(process):
        process.send_signal(signal.SIGKILL)
        raise psutil.NoSuchProcess(process.pid)

    monkeypatch.setattr(psutil.Process, "kill", gone)
    with pytest.raises(KeyboardInterrupt), kernels() as work:
        work(subprocess.run, ["sleep", "20"])
        raise KeyboardInterrupt


@pytest.mark.long
def test_a_failing_cell_is_named_and_the_other_chapters_still_run(book, capsys):
    (book / "_toc.yml").write_text(toc("bad", "one"))
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


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", lambda megabytes: megabytes > 5),
        ("/proc/self/status", "/nowhere", lambda megabytes: megabytes > 0),  # as on macOS
        ('find_spec("resource")', "sys.flags.debug", lambda megabytes: megabytes != megabytes),
    ],
)
def test_the_peak_of_memory_is_asked_for_on_every_system(before, after, expected):
    code = "import sys\n" + PEAK_MEMORY.replace(before, after)
    if after.startswith("sys"):  # Windows has neither
        code = code.replace("importlib.util.sys", "sys").replace("/proc/self/status", "/nowhere")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert expected(float(done.stdout))
