"""A small assignment, and what students make of it: right, wrong and hostile."""

import re
import shutil
from inspect import getsource
from pathlib import Path
from types import ModuleType

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book._grading.student import SOLUTIONS

CHAPTER = "small"
SPLIT = """\
def split_heads(x, num_heads):
    B, T, d = x.shape
    return x.view(B, T, num_heads, d // num_heads).transpose(1, 2)"""
ATTENTION = """\
import numpy as np

def attention(query, key, value):
    scores = query @ key.T / np.sqrt(query.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value"""
CHECK = """\
from book.{chapter} import checks

verdict = checks.{check}
### BEGIN HIDDEN TESTS
verdict.require()
### END HIDDEN TESTS
verdict"""


def _cell(kind, name: str, source: str, **known) -> NotebookNode:
    known = {"solution": False, "grade": False, "locked": False, "task": False} | known
    return kind(
        source, id=name, metadata={"nbgrader": {"grade_id": name, "schema_version": 3, **known}}
    )


def _solution(source: str) -> str:
    first, _, rest = source.partition("):\n")
    return f"{first}):\n    ### BEGIN SOLUTION\n{rest}\n    ### END SOLUTION"


def solutions() -> NotebookNode:
    """Two exercises in code, of 2 and 3 points, and one in words, of 1."""
    cells = [new_markdown_cell("# Solutions: Small", id="title")]
    cells.append(new_code_cell("print('set up')", id="set-up"))
    for name, source, chapter, check, points in (
        ("attention", ATTENTION, "self_attention", "attention(attention)", 2),
        ("split", SPLIT, "multi_head_attention", "split_heads(split_heads)", 3),
    ):
        cells.append(_cell(new_code_cell, f"{name}-answer", _solution(source), solution=True))
        check = CHECK.format(chapter=chapter, check=check)
        cells.append(
            _cell(new_code_cell, f"{name}-check", check, grade=True, locked=True, points=points)
        )
    cells.append(
        _cell(new_markdown_cell, "why-answer", "Because.", grade=True, solution=True, points=1)
    )
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return new_notebook(cells=cells, metadata=kernel)


def repository(folder: Path, notebook: NotebookNode | None = None) -> Path:
    """A folder with the exercises of one chapter, where the book's repository has them."""
    chapter = folder / "book" / CHAPTER
    chapter.mkdir(parents=True)
    (chapter / "chapter.toml").touch()
    shutil.copy(Path(__file__).parents[3] / "AGENTS.md", folder)
    nbformat.write(notebook or solutions(), chapter / f"{CHAPTER}{SOLUTIONS}")
    return folder


def handed_in(release: NotebookNode, *, attention="", split="", why="", first="") -> NotebookNode:
    """The release with these answers in it; `first` is a cell of the student's own."""
    notebook = nbformat.from_dict(release)
    for cell in notebook.cells:
        answers = {"attention-answer": attention, "split-answer": split, "why-answer": why}
        cell.source = answers.get(cell.id) or cell.source
    if first:
        notebook.cells.insert(1, new_code_cell(first, id="own"))
    return notebook


def learners_own(answers: ModuleType) -> str:
    """A module of answers as a learner would have written it: without what marks them."""
    text = re.sub(
        r"^@(right|wrong)\(.*?\)\n(?=@|def|class)", "", getsource(answers), flags=re.M | re.S
    )
    text = re.sub(
        r"^from (book\.\w+\.checks|tests\.book\.answers) import (\([^)]*\)|.*)",
        "",
        text,
        flags=re.M,
    )
    text = re.sub(r"\b(right|wrong)\((\w+)(?=[,)])", r"\1('\2'", text)  # called, not a decorator
    return f"right = wrong = lambda *_: lambda answer: answer\n{text}"
