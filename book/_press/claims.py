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
import sys
from functools import cache
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

from book._press.execute import cell_timeout, code_of, execute, kernels, notebooks
from book.page.claims import MIMETYPE, Claim

OWN_SEED = "setup(seed=0)"
ENOUGH = 5  # seeds that a claim must hold for
WORDS = {"because", "along", "computed", "unit"}  # what a prediction says beside its answer
BOUNDS = ("above", "below", "near", "within")


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

    The words of claims and guesses, the bounds, a plot's text and the imports measure nothing:
    sentences and bounds are compared with the numbers, and the tests hold the names.
    """
    code = [_measuring(source) for source in code_of(notebook)]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()[:16]


@cache  # pages ask for the same cells' claims hundreds of times
def _measuring(source: str) -> str:
    return ast.unparse(Measuring().visit(_parsed(source)))


def _parsed(source: str) -> ast.Module:
    return ast.parse(TransformerManager().transform_cell(source))


class Measuring(ast.NodeTransformer):
    """Leaves out of a cell what measures nothing."""

    def visit_Import(self, node):
        return None

    visit_ImportFrom = visit_Import

    def visit_Call(self, node):
        name = getattr(node.func, "id", None)
        left_out = {"alt"}
        if name == "claim":
            node.args, node.keywords = node.args[1:], []
        elif name == "prediction_figure":
            node.args, left_out = node.args[1:], left_out | WORDS
        node.keywords = [word for word in node.keywords if word.arg not in left_out]
        return self.generic_visit(node)

    def visit_JoinedStr(self, node):
        """An f-string as a call on its parts: Python 3.12 writes one out with other quotes."""
        return ast.Call(ast.Name("f"), [self.visit(part) for part in node.values], [])

    def visit_FormattedValue(self, node):
        parts = [node.value, ast.Constant(node.conversion), node.format_spec]
        return ast.Tuple([self.visit(part) for part in parts if part], ast.Load())


def claimed(notebook: nbformat.NotebookNode) -> dict[str, dict]:
    """The notebook's claims, read without running it: each sentence, and what is said beside it.

    That are its bounds, as for `claim`, and what is "drawn" anew or "stored".

    Raises:
        ValueError: a sentence is no plain string, what is said beside it is no constant, or a
            sentence stands in two claims.
    """
    found = {}
    for cell in _code_cells(notebook):
        for sentence, said in _claims_of(cell.source):
            if sentence in found:
                raise ValueError(f"two claims have the sentence {sentence!r}")
            found[sentence] = dict(said)
    return found


@cache
def _claims_of(source: str) -> list[tuple[str, dict]]:
    found = []
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "claim":
            sentence = node.args[0] if node.args else None
            if not isinstance(sentence, ast.Constant) or not isinstance(sentence.value, str):
                raise ValueError(f"the sentence of a claim is no plain string:\n{source}")
            try:
                said = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
            except ValueError as error:
                raise ValueError(
                    f"what is said beside the claim {sentence.value!r} is no constant"
                ) from error
            found.append((sentence.value, said))
    return found


def is_moved(rows: list[dict]) -> bool:
    """Whether the seeds gave a claim different numbers."""
    return len({float(row["value"]) for row in rows}) > 1


def data_file(path: Path) -> Path:
    """Where the rows of the claims of the chapter at `path` are."""
    return path.with_name("claims.json")


def read_rows(path: Path) -> list[dict]:
    """What other seeds measured with the chapter's code as it is now: claim, seed, value, held.

    No rows where there is no file, and none of those that other code has measured. A claim is known
    by its place among the chapter's, so that its sentence and its bound can be put another way.
    """
    file = data_file(path)
    if not file.exists():
        return []
    return [*_rows(path.read_text("utf8"), file.read_text("utf8"))]


@cache  # many pages ask for the same chapter's
def _rows(text: str, measured: str) -> list[dict]:
    notebook = nbformat.reads(text, as_version=4)
    code, made = code_hash(notebook), claimed(notebook)
    rows = [row for row in json.loads(measured) if row["code"] == code]
    old = dict.fromkeys(row["claim"] for row in rows)
    if len(old) == len(made):
        now = dict(zip(old, made, strict=True))
        rows = [row | {"claim": now[row["claim"]]} for row in rows]
    return [row | {"held": _held(row, made)} for row in rows]


def _held(row: dict, made: dict[str, dict]) -> bool:
    if row["claim"] not in made:
        return row["held"]
    bound = {name: limit for name, limit in made[row["claim"]].items() if name in BOUNDS}
    return Claim(row["claim"], float(row["value"]), bound).held


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
    if current and current != rows:
        found.append(f"sentences or bounds have changed: {again}, which runs nothing for that")
    for sentence, said in made.items():
        of_claim = [row for row in current if row["claim"] == sentence]
        seeds = {row["seed"] for row in of_claim}
        if len(seeds) < ENOUGH or len(seeds) < len(of_claim):
            found.append(f"{sentence!r}: {len(seeds)} seeds of {ENOUGH}: {again}")
        for row in of_claim:
            if not row["held"]:
                found.append(f"{sentence!r}: seed {row['seed']} gave {row['value']}")
        if of_claim and not is_moved(of_claim):
            all_or_none = float(of_claim[0]["value"]) in (0, 1) or said.get("within") == 0
            if "drawn" in said and not all_or_none:
                found.append(f"{sentence!r}: nothing is drawn anew, every seed gives the same")
        elif "stored" in said and is_moved(of_claim):
            found.append(f"{sentence!r}: it is not stored, seeds give different numbers")
    return found


def ranges(path: Path) -> list[str]:
    """What the seeds gave each claim of the chapter at `path`, a line each."""
    found, rows = [], read_rows(path)
    for sentence, said in claimed(nbformat.read(path, as_version=4)).items():
        values = [float(row["value"]) for row in rows if row["claim"] == sentence]
        bound = ", ".join(f"{name} {said[name]:g}" for name in BOUNDS if name in said)
        if values:
            found.append(f"{min(values):.3g} to {max(values):.3g} ({bound}): {sentence}")
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
        rows, made = read_rows(path), list(claimed(nbformat.read(path, as_version=4)))
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
                    rows.sort(key=lambda row: made.index(row["claim"]))  # a failed cell's are few
                except RuntimeError as error:
                    failed = True
                    print(error, file=sys.stderr)
                    continue
                write_rows(path, rows)  # after each, so that nothing is lost
                print(f"{path.stem}: seed {seed} done", flush=True)
        if rows:
            write_rows(path, rows)  # also where sentences or bounds alone have changed
        if chapter:
            print(*ranges(path), sep="\n")
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
