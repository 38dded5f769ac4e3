"""Execute the book's notebooks, on as many kernels as there are cores, and keep their outputs.

`python -m book._press.execute`, in the repository's root, runs every notebook of `_toc.yml` whose
outputs are not kept yet, the longest first, and writes the time of each to `_build/chapters.txt`.
Outputs are kept in `_build/executed/<notebook>/<key>.json`. The key is a hash of everything they
depend on (`output_key`), so that outputs of other code are never shown; the last few are
kept, so that going back to another branch costs nothing. `book._press.sphinx_ext` puts them on
the pages.
"""

import asyncio
import hashlib
import json
import os
import platform
import re
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
import yaml
import zmq
from jupyter_client import AsyncKernelManager, KernelClient, KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from sphinx_external_toc.parsing import parse_toc_yaml
from traitlets.config import Config

from book._press.contents import table_of_contents
from book._press.imports import dependencies, read_notebook
from book._press.publish import with_placeholder

# Names of notebooks that are no chapters: exercises, pages to diagnose, pages to look things up in.
TO_DO = re.compile(r"_(exercises|solutions)$|^debug_|^is_this_normal$")
KEPT = 3  # runs of a notebook, so that two branches and a trial cost nothing
SOCKETS = tempfile.TemporaryDirectory(prefix="kernels-")

# The kernel is asked for its own peak, after the last cell. Linux has it in kilobytes (ru_maxrss
# would count the process that started the kernel, if that was larger), macOS counts bytes, Windows
# has no such module.
PEAK_MEMORY = """\
import importlib.util, pathlib, re
status = pathlib.Path("/proc/self/status")
if status.exists():
    print(int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) / 2**10)
elif importlib.util.find_spec("resource"):
    import resource
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
else:
    print("nan")
"""


class ChapterError(Exception):
    """A cell failed; the message names the notebook, the cell and the error."""


@dataclass(frozen=True)
class Run:
    """An executed notebook, the seconds it took with its kernel's start, its peak memory in MiB."""

    notebook: nbformat.NotebookNode
    seconds: float
    peak_mb: float


def notebooks(root: Path) -> list[Path]:
    """The notebooks that `root`/_toc.yml names, in its order, those that the book is to have.

    Raises:
        FileNotFoundError: there is no `_toc.yml` in `root`, or it names a page that does not exist.
    """
    pages = [_source(root, name) for name in parse_toc_yaml(table_of_contents(root))]
    return [page for page in pages if page.suffix == ".ipynb"]


def chapters(root: Path) -> list[Path]:
    """The notebooks of `_toc.yml` that explain: all but those of exercises and their solutions."""
    return [page for page in notebooks(root) if not TO_DO.search(page.stem)]


def _source(root: Path, name: str) -> Path:
    for suffix in ("", ".ipynb", ".md"):
        if (page := root / f"{name}{suffix}").is_file():
            return page
    raise FileNotFoundError(f"_toc.yml names {name}, but there is no {name}.ipynb and no {name}.md")


def code_of(notebook: nbformat.NotebookNode) -> list[str]:
    """The source of each code cell, wherever the notebook is published: with no real address."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [with_placeholder(cell.source) for cell in cells]


def output_key(root: Path, path: Path) -> str:
    """Everything that the outputs of the notebook at `path` depend on, in 16 hexadecimal digits.

    That is its code, what it imports of both packages (`imports.dependencies`), the pinned
    environment and Python, and how it is executed.
    """
    notebook = nbformat.read(path, as_version=4)
    return key(root, [HOW, *code_of(notebook)], dependencies(read_notebook(notebook), root))


def key(root: Path, texts: list[str], files: Iterable[Path]) -> str:
    """Some texts, some files, the pinned environment and Python, in 16 hexadecimal digits."""
    digest = hashlib.sha256(platform.python_version().encode())
    lines = (root / "requirements.txt").read_text("utf8").splitlines()
    # What is indented says where a pin comes from and what its files hash to.
    pins = sorted(line.rstrip(" \\") for line in lines if line and line[0] not in " #")
    digest.update(json.dumps([texts, pins]).encode())
    for file in sorted(files):
        digest.update(f"\0{file.relative_to(root).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def keep(file: Path, content: dict) -> None:
    """Write a file of results, whole or not at all, and leave the last few of its folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = file.with_suffix(".part")  # a run that is interrupted leaves no half a file
    whole.write_text(json.dumps(content, ensure_ascii=False), "utf8")
    whole.replace(file)
    for old in _last(file.parent)[KEPT:]:
        old.unlink()


def _last(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)


@dataclass(frozen=True)
class Record:
    """The file that holds, or will hold, the outputs of one notebook as it is now."""

    root: Path
    path: Path
    file: Path

    @classmethod
    def of(cls, root: Path, path: Path) -> "Record":
        """The place for the outputs of the notebook at `path`."""
        folder = root / "_build" / "executed" / path.relative_to(root).with_suffix("")
        return cls(root, path, folder / f"{output_key(root, path)}.json")

    @property
    def name(self) -> str:
        return self.path.relative_to(self.root).as_posix()

    def read(self) -> dict:
        """{"outputs": those of each code cell, "metadata", "seconds", "peak_mb"}.

        Raises:
            FileNotFoundError: the notebook has not been executed as it is now.
        """
        return json.loads(self.file.read_text("utf8"))

    def write(self, run: Run) -> None:
        """Keep the outputs, and beside them those of the last few runs only."""
        cells = [cell for cell in run.notebook.cells if cell.cell_type == "code"]
        content = {
            "outputs": [cell.outputs for cell in cells],
            "metadata": run.notebook.metadata,  # the kernel's, with the language of the cells
            "seconds": run.seconds,
            "peak_mb": run.peak_mb,
        }
        keep(self.file, content)

    def expected_seconds(self) -> float | None:
        """What the last run of the notebook took, of whatever code; None if there was none."""
        files = _last(self.file.parent)
        return json.loads(files[0].read_text("utf8"))["seconds"] if files else None


def longest_first(records: Iterable[Record]) -> list[Record]:
    """In the order in which they are executed: the longest first, as long as they took last.

    Those that nobody has timed yet begin, and of these the ones with most to read.
    """

    def length(record: Record) -> tuple[bool, float]:
        seconds = record.expected_seconds()
        return (True, record.path.stat().st_size) if seconds is None else (False, seconds)

    return sorted(records, key=length, reverse=True)


def cell_timeout(root: Path) -> int:
    """Seconds that one cell may take, from `_config.yml`, so that every way to execute agrees."""
    return yaml.safe_load((root / "_config.yml").read_text("utf8"))["execute"]["timeout"]


def sockets() -> dict[str, str]:
    """Settings of a kernel's manager: its sockets are files.

    TCP ports are bound a second after they were found free. By then another kernel may have one of
    them, and the second kernel dies. Windows has no other sockets.
    """
    if sys.platform == "win32":
        return {}
    return {"transport": "ipc", "connection_file": f"{SOCKETS.name}/{uuid.uuid4().hex}.json"}


class Patient(KernelManager):
    """Loses no message, however many a cell sends and however late they are read.

    A socket drops what comes after a thousand, and a progress bar sends twenty a second.
    """

    def client(self, **options) -> KernelClient:
        client = super().client(**options)
        client.context.setsockopt(zmq.RCVHWM, 0)  # no limit
        return client


class AsyncPatient(Patient, AsyncKernelManager):
    """The same where each notebook has an event loop."""


def execute(path: Path, *, timeout: int, allow_errors: bool = False, notebook=None) -> Run:
    """Run the notebook at `path` (or `notebook` in its place) on a fresh kernel, in its own folder.

    Raises:
        ChapterError: a cell raised, took more than `timeout` seconds or lost its kernel, and not
            `allow_errors`.
    """
    notebook = notebook or nbformat.read(path, as_version=4)
    last = []
    client = NotebookClient(
        notebook,
        timeout=timeout,
        iopub_timeout=timeout,  # else what is not read four seconds after a cell's end is dropped
        allow_errors=allow_errors,
        kernel_manager_class=AsyncPatient,
        kernel_name="python3",
        config=Config(ConnectionFileMixin=sockets()),
        extra_arguments=["--log-level=ERROR"],  # else each kernel warns that loopback is plain text
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        store_widget_state=False,  # no page uses it, and it repeats every figure's script
        on_cell_start=lambda cell, cell_index: last.append((cell_index, cell)),
    )
    probe = nbformat.v4.new_code_cell(PEAK_MEMORY)
    notebook.cells.append(probe)
    start = time.perf_counter()
    try:
        # The kernels share the cores, and each thread that waits for one needs a loop of its own.
        asyncio.run(client.async_execute(env={"OMP_NUM_THREADS": "1"} | os.environ))
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise ChapterError(_message(path, *last[-1], error)) from error
    notebook.cells.pop()
    return Run(notebook, time.perf_counter() - start, float(probe.outputs[0].text))


HOW = "OMP_NUM_THREADS=1"  # of how cells are run, what can change an output; a new way, a new text


def _message(path: Path, index: int, cell: nbformat.NotebookNode, error: Exception) -> str:
    if isinstance(error, CellExecutionError):
        short = f"{error.ename}: {error.evalue}"
    else:
        short = type(error).__name__
    return f"{path}: cell {index + 1} (id {cell.get('id')}) failed with {short}\n{error}"


@contextmanager
def kernels() -> Iterator[Callable[..., Future]]:
    """A `submit` for work that runs on kernels, side by side; a KeyboardInterrupt stops them."""
    name = "kernels"
    with ThreadPoolExecutor(os.cpu_count(), thread_name_prefix=name) as pool:
        try:
            yield pool.submit
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            while any(thread.name.startswith(name) for thread in threading.enumerate()):
                for kernel in psutil.Process().children(recursive=True):  # threads end with them
                    with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                        kernel.kill()
                time.sleep(0.1)
            raise


def execute_all(records: list[Record], timeout: int) -> list[str]:
    """Execute notebooks side by side and keep their outputs; say what begins and what is done.

    Args:
        records: where the outputs go, in the order of execution.
        timeout: seconds that one cell may take.

    Returns:
        What failed: notebook, cell and error.

    Raises:
        KeyboardInterrupt: the kernels are stopped; what was finished is kept.
    """
    done, failures = 0, []
    with kernels() as submit:
        futures = {submit(_execute_and_keep, record, timeout): record for record in records}
        for future in as_completed(futures):
            done += 1
            name = futures[future].name
            try:
                told = f"{future.result():.0f} s"
            except ChapterError as error:
                failures.append(str(error))
                told = "failed"
            _say(f"[{done}/{len(records)}] {name}: {told}")
    return failures


def _execute_and_keep(record: Record, timeout: int) -> float:
    _say(f"executing {record.name} ...")
    run = execute(record.path, timeout=timeout)
    if Record.of(record.root, record.path) != record:
        raise ChapterError(f"{record.path}: it, or what it imports, changed while it was executed")
    record.write(run)
    return run.seconds


def _say(line: str) -> None:
    print(f"{line}\n", end="", flush=True)  # at once, since other threads write, too


def records_of(root: Path) -> list[Record]:
    """The place for the outputs of every notebook of the book, as it is now."""
    return [Record.of(root, path) for path in notebooks(root)]


def complete(root: Path, records: list[Record]) -> int:
    """Execute what is not kept; returns 1 if a notebook failed, with each failure on stderr."""
    for record in records:
        if record.file.exists():
            record.file.touch()  # used now, so one of the last few
    missing = longest_first(record for record in records if not record.file.exists())
    try:
        failures = execute_all(missing, cell_timeout(root))
    except KeyboardInterrupt:
        print("stopped; what was finished is kept", file=sys.stderr)
        return 130
    rows = []
    for record in records:
        if record.file.exists():
            kept = record.read()
            rows.append((record.name, kept["seconds"], kept["peak_mb"]))
    (root / "_build").mkdir(exist_ok=True)
    (root / "_build" / "chapters.txt").write_text(table(rows), "utf8")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def table(rows: list[tuple[str, float, float]]) -> str:
    """What each notebook took when it was executed: name, seconds, peak memory in MiB."""
    width = max(len(name) for name, *_ in [("together",), *rows])
    lines = [f"{'notebook':{width}} {'seconds':>8} {'peak MiB':>9}"]
    for name, seconds, peak in rows:
        lines.append(f"{name:{width}} {seconds:8.1f} {peak:9.0f}")
    lines.append(f"{'together':{width}} {sum(row[1] for row in rows):8.1f}")
    return "\n".join(lines) + "\n"


def main(root: Path) -> int:
    """The command."""
    return complete(root, records_of(root))


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
