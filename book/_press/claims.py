"""Repeat the book's claims under other seeds: `python -m book._press.claims 301 302 303`.

Each chapter is executed once for each seed, which is written into its set-up cell. What its claims
measured goes to `claims.json` in the chapter's folder, a row for each claim and seed, with a hash
of the code that measured it. Rows of the same code are kept, so that a run can be interrupted and
goes on; rows of other code are dropped. The pages and `book/claims.md` are drawn from these files.
"""

import argparse
import ast
import copy
import hashlib
import json
import re
import sys
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

from book._press.execute import cell_timeout, code_of, execute, kernels, notebooks
from book.page.claims import MIMETYPE

OWN_SEED = "setup(seed=0)"
ENOUGH = 5  # seeds that a claim must hold for
# What stands last in a prediction or a claim and measures nothing.
BESIDE = re.compile(r',\s*(?:(?:along|drawn|stored)="[^"]*"|computed=True)(?=,?\s*\))')


def at_seed(notebook: nbformat.NotebookNode, seed: int) -> nbformat.NotebookNode:
    """A copy of the notebook whose set-up cell sets `seed`.

    Raises:
        ValueError: the code does not hold `setup(seed=0)` exactly once.
    """
    notebook = copy.deepcopy(notebook)
    cells = _code_cells(notebook)
    found = sum(cell.source.count(OWN_SEED) for cell in cells)
    if found != 1:
        raise ValueError(f"{OWN_SEED} stands {found} times in the notebook; it must stand once")
    for cell in cells:
        cell.source = cell.source.replace(OWN_SEED, f"setup(seed={seed})")
    return notebook


def _code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def code_hash(notebook: nbformat.NotebookNode) -> str:
    """What the notebook's code cells measure, in 16 hexadecimal digits.

    An import that changes what a name means is no other measurement: the tests hold the names. Nor
    are the words that stand last in a prediction or a claim.
    """
    code = [_without_imports(_without_labels(source)) for source in code_of(notebook)]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()[:16]


def _without_imports(source: str) -> str:
    """A cell's Python without its import statements, wherever they stand."""
    source = TransformerManager().transform_cell(source)
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return "\n".join(filter(str.strip, lines))


def _without_labels(source: str) -> str:
    """A cell without what its predictions and claims say of their truth in words."""
    before = None
    while before != source:
        before, source = source, BESIDE.sub("", source)
    return source


def claimed(notebook: nbformat.NotebookNode) -> dict[str, dict[str, str]]:
    """The notebook's claims, read without running it: each sentence, and what it says is repeated.

    Raises:
        ValueError: a sentence, or what is drawn or stored, is no plain string; or a sentence stands
            in two claims.
    """
    found = {}
    for cell in _code_cells(notebook):
        for node in ast.walk(ast.parse(TransformerManager().transform_cell(cell.source))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "claim":
                sentence = node.args[0] if node.args else None
                if not isinstance(sentence, ast.Constant) or not isinstance(sentence.value, str):
                    raise ValueError(f"the sentence of a claim is no plain string:\n{cell.source}")
                if sentence.value in found:
                    raise ValueError(f"two claims have the sentence {sentence.value!r}")
                found[sentence.value] = _repeated(node, sentence.value)
    return found


def _repeated(call: ast.Call, sentence: str) -> dict[str, str]:
    said = {word.arg: word.value for word in call.keywords if word.arg in ("drawn", "stored")}
    for name, words in said.items():
        if not isinstance(words, ast.Constant) or not isinstance(words.value, str):
            raise ValueError(f"what is {name} of the claim {sentence!r} is no plain string")
    return {name: words.value for name, words in said.items()}


def is_moved(rows: list[dict]) -> bool:
    """Whether the seeds gave a claim different numbers."""
    return len({float(row["value"]) for row in rows}) > 1


def data_file(path: Path) -> Path:
    """Where the rows of the claims of the chapter at `path` are."""
    return path.with_name("claims.json")


def read_rows(path: Path) -> list[dict]:
    """What other seeds measured with the chapter's code as it is now: claim, seed, value, held.

    No rows where there is no file, and none of those that other code has measured.
    """
    file = data_file(path)
    if not file.exists():
        return []
    code = code_hash(nbformat.read(path, as_version=4))
    return [row for row in json.loads(file.read_text("utf8")) if row["code"] == code]


def problems(path: Path) -> list[str]:
    """What keeps the claims of the chapter at `path` from standing, a line each."""
    made = claimed(nbformat.read(path, as_version=4))
    file = data_file(path)
    rows = json.loads(file.read_text("utf8")) if file.exists() else []
    current = read_rows(path)
    again = f"run `make claims CHAPTER={path.stem}`"
    found = []
    if len(current) < len(rows):
        found.append(f"{len(rows) - len(current)} rows were measured by other code: {again}")
    for sentence, repeated in made.items():
        of_claim = [row for row in current if row["claim"] == sentence]
        seeds = {row["seed"] for row in of_claim}
        if len(seeds) < ENOUGH or len(seeds) < len(of_claim):
            found.append(f"{sentence!r}: {len(seeds)} seeds of {ENOUGH}: {again}")
        for row in of_claim:
            if not row["held"]:
                found.append(f"{sentence!r}: seed {row['seed']} gave {row['value']}")
        if of_claim and not is_moved(of_claim) and float(of_claim[0]["value"]) not in (0, 1):
            if "drawn" in repeated:  # none and all may be the same for every draw
                found.append(f"{sentence!r}: nothing is drawn anew, every seed gives the same")
        elif "stored" in repeated and is_moved(of_claim):
            found.append(f"{sentence!r}: it is not stored, seeds give different numbers")
    for sentence in sorted({row["claim"] for row in current} - set(made)):
        found.append(f"{sentence!r}: measured, but claimed nowhere")
    return found


def measure(root: Path, path: Path, seed: int) -> list[dict]:
    """Execute the chapter under a seed; the rows of its claims, in their order.

    A claim that fails ends its cell only. A claim that was not reached has no row.

    Raises:
        RuntimeError: a cell failed with another error than a claim's.
    """
    notebook = nbformat.read(path, as_version=4)
    code = code_hash(notebook)
    changed = at_seed(notebook, seed)
    run = execute(path, timeout=cell_timeout(root), allow_errors=True, notebook=changed)
    rows = []
    for cell in _code_cells(run.notebook):
        made = [
            output.data[MIMETYPE] for output in cell.outputs if MIMETYPE in output.get("data", {})
        ]
        errors = [output for output in cell.outputs if output.output_type == "error"]
        if errors and all(claim["held"] for claim in made):
            text = f"{errors[0].ename}: {errors[0].evalue}"
            raise RuntimeError(f"{path.name} under seed {seed}, cell {cell.id}: {text}")
        for claim in made:
            row = {"claim": claim["sentence"], "seed": seed, "value": claim["value"]}
            rows.append(row | {"held": claim["held"], "code": code})
    return rows


def claiming(root: Path) -> list[Path]:
    """The notebooks of `_toc.yml` that make claims."""
    return [path for path in notebooks(root) if claimed(nbformat.read(path, as_version=4))]


def write_rows(path: Path, rows: list[dict]) -> None:
    """Write a chapter's rows, those of one claim together, a line each."""
    order = {sentence: at for at, sentence in enumerate(dict.fromkeys(r["claim"] for r in rows))}
    rows = sorted(rows, key=lambda row: (order[row["claim"]], row["seed"]))
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    data_file(path).write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf8")


def main(root: Path, seeds: list[int], chapter: str | None = None) -> int:
    """Measure what is missing of one chapter or of all; returns 1 if a claim does not stand.

    Raises:
        ValueError: there is no such chapter.
    """
    paths = [path for path in claiming(root) if chapter in (None, path.stem)]
    if not paths:
        names = ", ".join(path.stem for path in claiming(root))
        raise ValueError(f"no chapter {chapter!r}; there are {names}")
    failed = False
    for path in paths:
        rows = read_rows(path)
        missing = [seed for seed in seeds if seed not in {row["seed"] for row in rows}]
        print(
            f"{path.stem}: {len(seeds) - len(missing)} seeds kept, {len(missing)} to run",
            flush=True,
        )
        with kernels() as submit:
            running = [submit(measure, root, path, seed) for seed in missing]
            for seed, future in zip(missing, running, strict=True):
                try:
                    rows += future.result()
                except RuntimeError as error:
                    failed = True
                    print(error, file=sys.stderr)
                    continue
                write_rows(path, rows)  # after each, so that nothing is lost
                print(f"{path.stem}: seed {seed} done", flush=True)
        for problem in problems(path):
            failed = True
            print(f"{path.stem}: {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Repeat the book's claims under other seeds.")
    parser.add_argument("seeds", type=int, nargs="+", help="one run of the chapter for each")
    parser.add_argument("--chapter", help="the name of one notebook, without .ipynb")
    arguments = parser.parse_args()
    sys.exit(main(Path.cwd(), arguments.seeds, arguments.chapter))
