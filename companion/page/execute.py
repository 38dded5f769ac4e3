"""Execute the book's notebooks, one after another, into a cache that belongs to this very code.

`python -m companion.page.execute`, in the repository's root, runs every notebook of `_toc.yml` that
the cache does not hold yet, and writes what each took to `_build/chapters.txt`. The cache is a
jupyter-cache in a folder named after everything that an output depends on besides the notebook
itself, so that the outputs of other code can never be shown; `companion.page.sphinx_ext` points the
book there.
"""

import hashlib
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import yaml
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from sphinx_external_toc.parsing import parse_toc_yaml

# The kernel is asked for its own peak, after the last cell. Linux has it in kilobytes (ru_maxrss
# would count the process that started the kernel, if that was larger), macOS counts bytes.
PEAK_MEMORY = """\
import pathlib, re, resource
status = pathlib.Path("/proc/self/status")
if status.exists():
    print(int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) / 2**10)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
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
    """The notebooks that `root`/_toc.yml names, in its order.

    Raises:
        FileNotFoundError: there is no `_toc.yml` in `root`, or it names a page that does not exist.
    """
    pages = [_source(root, name) for name in parse_toc_yaml(root / "_toc.yml")]
    return [page for page in pages if page.suffix == ".ipynb"]


def chapters(root: Path) -> list[Path]:
    """The notebooks of `_toc.yml` that are chapters: all but those in a folder `exercises`."""
    pages = notebooks(root)
    return [page for page in pages if "exercises" not in page.relative_to(root).parts]


def _source(root: Path, name: str) -> Path:
    for suffix in ("", ".ipynb", ".md"):
        if (page := root / f"{name}{suffix}").is_file():
            return page
    raise FileNotFoundError(f"_toc.yml names {name}, but there is no {name}.ipynb and no {name}.md")


def cache_folder(root: Path) -> Path:
    """`root`/_build/cache/<hash over companion/, requirements.txt and the version of Python>."""
    digest = hashlib.sha256(platform.python_version().encode())
    for path in [root / "requirements.txt", *_package_files(root / "companion")]:
        digest.update(f"\0{path.relative_to(root).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return root / "_build" / "cache" / digest.hexdigest()[:16]


def _package_files(package: Path) -> Iterator[Path]:
    for path in sorted(package.rglob("*")):
        parts = path.relative_to(package).parts
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in parts):
            yield path


def cell_timeout(root: Path) -> int:
    """Seconds that one cell may take, from `_config.yml`, so that every way to execute agrees."""
    return yaml.safe_load((root / "_config.yml").read_text("utf8"))["execute"]["timeout"]


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
        allow_errors=allow_errors,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],  # else each kernel warns that loopback is plain text
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,  # it would change the cells' metadata, and so the cache's key
        store_widget_state=False,  # no page uses it, and it repeats every figure's script
        on_cell_start=lambda cell, cell_index: last.append((cell_index, cell)),
    )
    probe = nbformat.v4.new_code_cell(PEAK_MEMORY)
    notebook.cells.append(probe)
    start = time.perf_counter()
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise ChapterError(_message(path, *last[-1], error)) from error
    notebook.cells.pop()
    return Run(notebook, time.perf_counter() - start, float(probe.outputs[0].text))


def _message(path: Path, index: int, cell: nbformat.NotebookNode, error: Exception) -> str:
    if isinstance(error, CellExecutionError):
        short = f"{error.ename}: {error.evalue}"
    else:
        short = type(error).__name__
    return f"{path}: cell {index + 1} (id {cell.get('id')}) failed with {short}\n{error}"


def main(root: Path) -> int:
    """Execute what the cache lacks; returns 1 if a notebook failed, with each failure on stderr."""
    folder = cache_folder(root)
    for old in folder.parent.glob("*"):
        if old != folder:
            shutil.rmtree(old)
    cache = get_cache(str(folder))
    rows, failures = [], []
    for path in notebooks(root):
        name = path.relative_to(root).as_posix()
        try:
            record = cache.match_cache_notebook(nbformat.read(path, as_version=4))
        except KeyError:
            print(f"executing {name} ...", flush=True)
            try:
                run = execute(path, timeout=cell_timeout(root))
            except ChapterError as error:
                failures.append(str(error))
                continue
            data = {"execution_seconds": run.seconds, "peak_mb": run.peak_mb}
            bundle = CacheBundleIn(run.notebook, str(path), data=data)
            record = cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        rows.append((name, record.data["execution_seconds"], record.data.get("peak_mb")))
    (root / "_build" / "chapters.txt").write_text(table(rows), "utf8")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def table(rows: list[tuple[str, float, float | None]]) -> str:
    """What each notebook took when it was executed: name, seconds, peak memory in MiB or None."""
    lines = [f"{'notebook':52} {'seconds':>8} {'peak MiB':>9}"]
    for name, seconds, peak in rows:
        lines.append(f"{name:52} {seconds:8.1f} {'–' if peak is None else f'{peak:.0f}':>9}")
    lines.append(f"{'together':52} {sum(row[1] for row in rows):8.1f}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
