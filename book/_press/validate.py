"""Run the book's notebooks under nbval, and keep their outputs for the pages.

`python -m book._press.validate`, in the repository's root, copies each notebook of `_toc.yml` whose
outputs are not kept yet into an empty folder of its own and has pytest run it
there, the longest first, on as many kernels as there are cores. If all cells pass, the
outputs are kept where `book._press.execute` keeps them, and no notebook is executed again.

pytest also loads this module as a plugin, which records the messages between nbval and the kernel:
nbval's own record of a cell has all printed text before the first figure.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest
from jupyter_client.provisioning import local_provisioner
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete

from book._press.execute import (
    PEAK_MEMORY,
    Patient,
    Record,
    Run,
    cell_timeout,
    longest_first,
    records_of,
    sockets,
)

KEEP = "--keep-outputs"
RECORDING = pytest.StashKey["Recording"]()


class Recording:
    """The outputs of one notebook (nbval's IPyNbFile) while it runs, made by nbclient."""

    def __init__(self, file: pytest.File, root: Path) -> None:
        copy = file.path.relative_to(file.config.rootpath)  # book/one/one/one.ipynb
        self.record = Record.of(root, root / copy.parent.with_suffix(".ipynb"))
        self.start, self.passed = time.perf_counter(), 0
        self.notebook = nbformat.read(file.path, as_version=4)
        cells = enumerate(self.notebook.cells)
        self.code = [index for index, cell in cells if cell.cell_type == "code"]
        self.client = NotebookClient(self.notebook, store_widget_state=False, record_timing=False)
        self.client.reset_execution_trackers()
        self.file, file.get_kernel_message = file, self.get_kernel_message

    def begin(self, index: int) -> None:
        """The messages of the next request belong to this cell of the notebook."""
        self.index, self.request = index, None
        self.notebook.cells[index].outputs = []
        self.client.clear_before_next_output = False

    def get_kernel_message(self, timeout: float | None = None) -> dict:
        """The next message, as nbval's method of this name; that formats each for a log first."""
        message = self.file.kernel.kc.get_iopub_msg(timeout=timeout)
        parent = message["parent_header"].get("msg_id")
        if message["msg_type"] == "execute_input":
            self.request = parent
        if parent == self.request:
            with suppress(CellExecutionComplete):  # nbclient's way to say that the cell is done
                cell = self.notebook.cells[self.index]
                self.client.process_message(message, cell, self.index)
        return message

    def keep(self, timeout: float) -> None:
        """Write the outputs, with the time since the kernel's start and its peak memory."""
        probe = nbformat.v4.new_code_cell(PEAK_MEMORY)
        self.notebook.cells.append(probe)
        self.begin(len(self.notebook.cells) - 1)
        request = self.file.kernel.execute_cell_input(probe.source, allow_stdin=False)
        while True:
            message = self.get_kernel_message(timeout)
            idle = message["content"].get("execution_state") == "idle"
            if idle and message["parent_header"].get("msg_id") == request:
                break
        self.notebook.cells.pop()
        seconds = time.perf_counter() - self.start
        if Record.of(self.record.root, self.record.path) != self.record:
            pytest.fail(
                f"{self.record.path}: it, or what it imports, changed while it was executed"
            )
        self.record.write(Run(self.notebook, seconds, float(probe.outputs[0].text)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(KEEP, type=Path, metavar="ROOT", help="keep the notebooks' outputs there")


def pytest_configure() -> None:
    import nbval.kernel  # not above: pytest wants to load its plugins itself

    # nbval reads no message before the cell is done.
    nbval.kernel.KernelManager = lambda **settings: Patient(**sockets(), **settings)
    if sys.platform == "linux":  # macOS's own libraries do not survive a fork
        from book._press.forked import launch

        local_provisioner.launch_kernel = launch


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    stash = item.parent.stash  # every item is a cell, and its parent the notebook
    if RECORDING not in stash:
        stash[RECORDING] = Recording(item.parent, item.config.getoption(KEEP))
    stash[RECORDING].begin(stash[RECORDING].code[item.cell_num])
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    yield  # which raises what the cell raises
    recording = item.parent.stash[RECORDING]
    recording.passed += 1
    if recording.passed == len(recording.code):
        recording.keep(item.output_timeout)


def main(root: Path) -> int:
    """Run what is not kept of the book in `root`; returns pytest's exit status."""
    records = records_of(root)
    missing = longest_first(record for record in records if not record.file.exists())
    print(f"{len(missing)} of {len(records)} notebooks have to run", flush=True)
    if not missing:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        copies = []
        for record in missing:
            alone = Path(folder) / Path(record.name).with_suffix("")
            alone.mkdir(parents=True)
            copies.append(shutil.copy(record.path, alone))
        return pytest.main(
            [
                *("-p", __spec__.name, KEEP, str(root), "-p", "no:cacheprovider"),
                *("--nbval-lax", "--nbval-current-env"),
                f"--nbval-cell-timeout={cell_timeout(root)}",
                *("-n", str(os.cpu_count()), "--dist", "loadfile", "--no-loadscope-reorder"),
                *("--rootdir", folder, *copies),
            ]
        )


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
