"""Repeat every claim of the book under other seeds: `python -m companion.page.claims 101 102 103`.

Each chapter is executed once for each seed, which is written into its set-up cell; what the cells
tagged `claim` print, and whether their assertions hold, goes to `benchmarks/claims.md`.
"""

import copy
import sys
from pathlib import Path

import nbformat
import torch

from companion.page.execute import Run, cell_timeout, chapters, execute

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
    """{id: (what the cell printed, its error or "")} for every executed cell tagged `claim`."""
    found = {}
    for cell in notebook.cells:
        if "claim" in cell.metadata.get("tags", []):
            printed = [output.text for output in cell.outputs if output.get("name") == "stdout"]
            errors = [f"{o.ename}: {o.evalue}" for o in cell.outputs if o.output_type == "error"]
            found[cell.id] = "".join(printed).strip(), "; ".join(errors)
    return found


def report(name: str, runs: dict[int, Run]) -> tuple[str, int]:
    """One chapter's section of the table, and the number of claims in it that failed."""
    by_seed = {seed: outcomes(run.notebook) for seed, run in runs.items()}
    lines, failures = [f"## {name}", ""], 0
    for identity in next(iter(by_seed.values())):
        lines += [f"Cell `{identity}`", "", "| seed | holds | printed |", "|---|---|---|"]
        for seed, found in by_seed.items():
            printed, error = found[identity]
            failures += bool(error)
            text = "\n".join(filter(None, [printed, error])).replace("|", r"\|")
            lines.append(
                f"| {seed} | {'no' if error else 'yes'} | {'<br>'.join(text.splitlines())} |"
            )
        lines.append("")
    return "\n".join(lines), failures


def main(root: Path, seeds: list[int]) -> int:
    """Write `benchmarks/claims.md`; returns 1 if a claim failed under one of the seeds."""
    words = " ".join(map(str, seeds))
    head = (
        "# The book's claims under other seeds\n\n"
        f'Made by `make claims SEEDS="{words}"` with torch {torch.__version__}: what every cell '
        "tagged `claim` printed, and whether its assertions held.\n"
    )
    sections, failures = [head], 0
    for path in chapters(root):
        notebook = nbformat.read(path, as_version=4)
        runs = {}
        for seed in seeds:
            print(f"executing {path.name} under seed {seed} ...", flush=True)
            changed = at_seed(notebook, seed)
            timeout = cell_timeout(root)
            runs[seed] = execute(path, timeout=timeout, allow_errors=True, notebook=changed)
        section, failed = report(path.relative_to(root).as_posix(), runs)
        sections.append(section)
        failures += failed
    (root / "benchmarks").mkdir(exist_ok=True)
    (root / "benchmarks" / "claims.md").write_text("\n".join(sections), "utf8")
    print(f"{failures} claims failed; the table is in benchmarks/claims.md")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(Path.cwd(), [int(word) for word in sys.argv[1:]]))
