"""What every notebook must hold to, so that it reads the same wherever it is opened."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import nbformat
import pytest
import yaml

from book._grading.student import EXERCISES
from book._press.chapter import files
from book._press.claims import BOUNDS, claiming, problems, read_rows
from book._press.execute import chapters, notebooks
from book._press.folds import FOLDED
from book._press.publish import BRANCH
from tests.book.exercises import ROOT

URL = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["repository"]["url"]
SET_UP = """\
try:
    import book.page{module}
except ImportError:
    %pip install --quiet "transformer-companion[{extras}] @ git+{url}"
from book.page import setup; seed, device = setup(seed=0)"""

# MyST's block and inline syntax, which Colab, JupyterLab and GitHub show raw.
MYST = re.compile(r"^:::+\s*\{?\w|^```+\{|^\(\S+\)=\s*$|\{[a-z][\w:.-]*\}`", re.M)
LONGEST = 2500  # words of a chapter, the parts of a formula and of an address among them
CHAPTERS = chapters(ROOT)


def tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def complaints(notebook) -> Iterator[str]:
    """What any notebook must not be."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    source = re.sub(r"@[0-9a-f]{40}(?=\"$)", "", code[0].source, flags=re.M)  # where published
    expected = [
        SET_UP.format(url=URL, module=module, extras=extras)
        for module, extras in (("", "book"), (", transformers", "book,transformers"))
    ]
    if source not in expected:
        yield f"its first code cell does not set it up from the public address: {source}"
    for cell in code[1:]:
        if "pip install" in cell.source or re.search(r"\bsetup\(", cell.source):
            yield f"a later cell installs or sets up: {cell.source}"
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and MYST.findall(cell.source):
            yield f"this is no plain CommonMark: {cell.source}"
        if re.search(r"\b(last|previous) chapter\b", cell.source):
            yield f"a chapter is called by its title; the one before may change: {cell.source}"
    for cell in code:
        if "keep_output" in tags(cell):
            if not cell.outputs or cell.execution_count is None:
                yield (
                    "an output is to be kept, and there is none; `make outputs CHAPTER=...` "
                    f"writes it: {cell.source}"
                )
        elif cell.outputs:
            yield f"an output is not stripped: {cell.source}"
        if "raises-exception" in tags(cell):  # nbval lets it pass whether or not it raises
            yield f"a cell excuses an error: {cell.source}"
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        form = cell.metadata.get("cellView") == "form"
        if not (hidden == form == bool(FOLDED & {*tags(cell)})):
            yield f"what folds in the book, and nothing else, is a form in Colab: {cell.source}"
        if len(cell.source.splitlines()) > 30:
            yield f"a cell has more than 30 lines: {cell.source}"
    if len({cell.id for cell in notebook.cells}) < len(notebook.cells):
        yield "two cells have the same id"
    if (notebook.nbformat, notebook.nbformat_minor) != (4, 5):
        yield "it is not in format 4.5, in which cells have ids"
    if notebook.metadata.kernelspec.name != "python3":
        yield "its kernel is not any Python"
    if unknown := set(notebook.metadata) - {"kernelspec", "language_info"}:
        yield f"its metadata has {unknown}"


def complaints_of_a_chapter(notebook) -> Iterator[str]:
    """What a chapter must be, beyond any notebook."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    checked = [cell for cell in code if "nbval-check-output" in tags(cell)]
    if len(checked) < 2 or not all("keep_output" in tags(cell) for cell in checked):
        yield "two cells need the tags keep_output and nbval-check-output"
    if not any("claim" in tags(cell) for cell in code):
        yield "no cell has the tag claim"
    for cell in code:
        makes_one = re.search(r"^\s*claim\(", cell.source, re.M) is not None
        if makes_one != ("claim" in tags(cell)):
            yield f"the tag claim and a claim do not go together: {cell.source}"
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    words = sum(len(re.findall(r"\w+", text)) for text in texts)
    if words > LONGEST:
        yield f"{words} words are not read in one sitting; at most {LONGEST}"


def left_to_write(root: Path, name: str) -> list[str]:
    """What `make chapter` has left to the author, in the order in which it is done."""
    order = [root / at for at in files(name)]
    kinds = (".toml", ".ipynb", ".py", ".js")
    found = [file for at in ("book", "tests/book") for file in (root / at / name).rglob("*.*")]
    found = [file for file in found if file.suffix in kinds and EXERCISES not in file.name]
    found.sort(key=lambda file: (order.index(file) if file in order else len(order), file))
    texts = {file.relative_to(root).as_posix(): file.read_text("utf8") for file in found}
    for at in texts:
        if at.endswith(".ipynb"):
            cells = nbformat.reads(texts[at], as_version=4).cells
            texts[at] = "\n".join(cell.source for cell in cells)
    findings = (root / "book/findings.md").read_text("utf8").splitlines()
    texts["book/findings.md"] = "\n".join(line for line in findings if f"({name}/" in line)
    # What is to be written, up to its first full stop, over one more line of a comment.
    part = r"(?:[^.\n]|\.\S)+"
    what = re.compile(rf"TO WRITE: ({part}(?:\n(?:#|//) {part})?)")
    left = [(at, text.splitlines()) for at in texts for text in what.findall(texts[at])]
    return [f"{at}: {' '.join(line.lstrip('#/ ') for line in lines)}" for at, lines in left]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_nothing_of_a_new_chapter_is_left_to_write(path):
    left = left_to_write(ROOT, path.stem)
    assert not left, "\n".join(["what is left to write, in this order:", *left])


@pytest.mark.parametrize("path", notebooks(ROOT), ids=lambda path: path.stem)
def test_a_notebook_is_as_the_book_needs_it(path):
    notebook = nbformat.read(path, as_version=4)
    found = [*complaints(notebook)]
    if path in CHAPTERS:
        found += complaints_of_a_chapter(notebook)
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda n: n.cells[0].update(source="{ref}`x`"), "no plain CommonMark"),
        (lambda n: n.cells[0].update(source="As in the last chapter"), "called by its title"),
        (lambda n: n.cells[-1].update(id=n.cells[0].id), "the same id"),
        (lambda n: last_code(n).update(source="1\n" * 31), "more than 30 lines"),
        (lambda n: last_code(n).update(source="setup(1)"), "installs or sets up"),
        (lambda n: last_code(n).metadata.update(tags=["raises-exception"]), "excuses an error"),
        (lambda n: last_code(n).metadata.update(tags=["claim"]), "do not go together"),
        (lambda n: last_code(n).metadata.update(cellView="code"), "is a form in Colab"),
        (lambda n: last_code(n).metadata.update(jupyter={}), "is a form in Colab"),
        (lambda n: last_code(n).metadata.update(tags=[]), "is a form in Colab"),
        (lambda n: last_code(n).metadata.update(tags=["keep_output"]), "there is none"),
        (lambda n: n.cells[0].update(source="word " * LONGEST), "one sitting"),
        (lambda n: n.metadata.update(widgets={}), "its metadata has"),
    ],
)
def test_what_is_wrong_with_a_notebook_is_said(change, complaint):
    notebook = nbformat.read(CHAPTERS[0], as_version=4)
    change(notebook)
    found = [*complaints(notebook), *complaints_of_a_chapter(notebook)]
    assert [text for text in found if complaint in text]


def test_what_is_called_the_next_chapter_comes_next():
    following = {path: after.parent.name for path, after in pairwise(CHAPTERS)}
    for path in CHAPTERS:
        text = path.read_text("utf8")
        for name in re.findall(r"\[(?:the |The )?next chapter\]\(\.\./(\w+)/", text):
            assert name == following[path], path


def last_code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"][-1]


def test_the_table_of_contents_names_every_notebook():
    assert set(notebooks(ROOT)) == set(ROOT.glob("book/**/*.ipynb"))


def test_the_public_address_is_one_that_the_launch_buttons_understand():
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
    repository = config["repository"]
    assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", repository["url"])
    assert repository["branch"] in ("main", BRANCH)
    # The notebooks' paths start at the repository's root, where _config.yml is.
    assert repository["path_to_book"] == ""
    assert config["launch_buttons"]["colab_url"] == "https://colab.research.google.com"


def test_stripping_before_a_commit_leaves_every_notebook_as_it_is():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf8"))["repos"]
    named = {hook["id"]: hook for repository in hooks for hook in repository["hooks"]}
    words = named["nbstripout"]["entry"].split()[1:]
    command = [Path(sys.executable).with_name("nbstripout"), *words, "--verify", *notebooks(ROOT)]
    stripped = subprocess.run(command, capture_output=True, text=True)
    assert stripped.returncode == 0, stripped.stdout


@pytest.mark.parametrize("path", claiming(ROOT), ids=lambda path: path.stem)
def test_every_claim_holds_for_other_seeds(path):
    assert problems(path) == []


# Two that are to be measured again, or dropped; nothing is to be added.
COIN_TOSSES = {
    "The first block adds more to the sense of a homonym than all blocks above it (its gain in "
    "accuracy, minus theirs).",
}


def ties(notebook) -> Iterator[tuple[str, float]]:
    """The claims whose bound is no difference at all, each with the side that it is to be on."""
    code = (cell.source for cell in notebook.cells if "claim" in tags(cell))
    calls = (node for source in code for node in ast.walk(ast.parse(source)))
    for call in calls:
        if isinstance(call, ast.Call) and getattr(call.func, "id", None) == "claim":
            words = (word for word in call.keywords if word.arg in BOUNDS)
            bounds = {word.arg: ast.unparse(word.value) for word in words}
            for side, name in ((1, "above"), (-1, "below")):
                if bounds.get(name) == "0" and len(bounds) == 1:
                    yield call.args[0].value, side


def test_no_claim_is_a_coin_toss():
    """A bound of 0 is what chance reaches: no seed may come near it, against the others."""
    found, near = 0, set()
    for path in CHAPTERS:
        rows = read_rows(path)
        for sentence, side in ties(nbformat.read(path, as_version=4)):
            values = [side * float(row["value"]) for row in rows if row["claim"] == sentence]
            found += 1
            if values and min(values) < 0.1 * median(values):
                near.add(sentence)
    assert found > 5
    assert near <= COIN_TOSSES
