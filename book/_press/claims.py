"""Repeat every claim of the book under other seeds: `python -m book._press.claims 101 102 103`.

Each chapter is executed once for each seed, which is written into its set-up cell; what the cells
tagged `claim` print, and whether their assertions hold, goes to `benchmarks/claims/<chapter>.md`.
"""

import argparse
import copy
import sys
from pathlib import Path

import nbformat
import torch

from book._press.execute import Run, cell_timeout, chapters, execute

OWN_SEED = "setup(seed=0)"


def at_seed(notebook: nbformat.NotebookNode, seed: int) -> nbformat.NotebookNode:
    """A copy of the notebook whose set-up cell sets `seed`.

    Raises:
        ValueError: the code does not hold `setup(seed=0)` exactly once.
    """
    notebook = copy.deepcopy(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    found = sum(cell.source.count(OWN_SEED) for cell in cells)
    if found != 1:
        raise ValueError(f"{OWN_SEED} stands {found} times in the notebook; it must stand once")
    for cell in cells:
        cell.source = cell.source.replace(OWN_SEED, f"setup(seed={seed})")
    return notebook


def outcomes(notebook: nbformat.NotebookNode) -> dict[str, tuple[str, str]]:
    """{id: (what the cell printed, its error or "")} for every cell that claims or that failed."""
    found = {}
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        errors = [f"{o.ename}: {o.evalue}" for o in outputs if o.output_type == "error"]
        if "claim" in cell.metadata.get("tags", []) or errors:
            printed = [output.text for output in outputs if output.get("name") == "stdout"]
            found[cell.id] = "".join(printed).strip(), "; ".join(errors)
    return found


def report(name: str, runs: dict[int, Run]) -> tuple[str, int]:
    """One chapter's table, and the number of cells in it that failed."""
    by_seed = {seed: outcomes(run.notebook) for seed, run in runs.items()}
    words = " ".join(map(str, runs))
    lines = [
        f"# {name}: its claims under other seeds",
        "",
        f'Made by `make claims CHAPTER={name} SEEDS="{words}"` with torch {torch.__version__}: '
        "what every cell tagged `claim` printed, and whether its assertions held.",
        "",
    ]
    failures = 0
    for identity in dict.fromkeys(identity for found in by_seed.values() for identity in found):
        lines += [f"Cell `{identity}`", "", "| seed | holds | printed |", "|---|---|---|"]
        for seed, found in by_seed.items():
            if identity not in found:  # no claim, and it failed under another seed only
                continue
            printed, error = found[identity]
            failures += bool(error)
            text = "\n".join(filter(None, [printed, error])).replace("|", r"\|")
            lines.append(
                f"| {seed} | {'no' if error else 'yes'} | {'<br>'.join(text.splitlines())} |"
            )
        lines.append("")
    return "\n".join(lines), failures


def main(root: Path, seeds: list[int], chapter: str | None = None) -> int:
    """Write `benchmarks/claims/<chapter>.md` for one chapter or all; returns 1 if a cell failed.

    Raises:
        ValueError: there is no such chapter.
    """
    paths = [path for path in chapters(root) if chapter in (None, path.stem)]
    if not paths:
        names = ", ".join(path.stem for path in chapters(root))
        raise ValueError(f"no chapter {chapter!r}; there are {names}")
    folder = root / "benchmarks" / "claims"
    folder.mkdir(parents=True, exist_ok=True)
    failures = 0
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        runs = {}
        for seed in seeds:
            print(f"executing {path.name} under seed {seed} ...", flush=True)
            changed = at_seed(notebook, seed)
            timeout = cell_timeout(root)
            runs[seed] = execute(path, timeout=timeout, allow_errors=True, notebook=changed)
        table, failed = report(path.stem, runs)
        (folder / f"{path.stem}.md").write_text(table, "utf8")
        failures += failed
    print(f"{failures} cells failed; the tables are in benchmarks/claims")
    return 1 if failures else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Repeat the book's claims under other seeds.")
    parser.add_argument("seeds", type=int, nargs="+", help="one run of the chapter for each")
    parser.add_argument("--chapter", help="the name of one notebook, without .ipynb")
    arguments = parser.parse_args()
    sys.exit(main(Path.cwd(), arguments.seeds, arguments.chapter))
