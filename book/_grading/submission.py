"""What students have handed in: files of any content, and the notebooks made of them."""

import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.utils import is_grade, is_locked, is_solution

from book._grading import harmless

STUDENT = re.compile(r"\w[\w.@-]*")
LARGEST = 20 * 2**20  # bytes of a notebook


def submissions(folder: Path, chapter: str) -> dict[str, Path]:
    """Who has handed in which file; ValueError if there is none, or no student has such a name."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder; SUBMISSIONS=... names one")
    folder = folder.resolve()
    found = {path.stem: path for path in folder.glob("*.ipynb")}
    for name in (f"{chapter}.ipynb", f"{chapter}_exercises.ipynb"):  # as the book calls it
        inner = {path.parent.name: path for path in folder.glob(f"*/{name}")}
        if twice := found.keys() & inner.keys():
            raise ValueError(f"two submissions of {', '.join(sorted(twice))}: leave one of each")
        found |= inner
    if not found:
        raise ValueError(f"no <student>.ipynb and no <student>/{chapter}.ipynb in {folder}")
    if odd := [name for name in found if not STUDENT.fullmatch(name)]:
        raise ValueError(f"{odd} cannot be names of students: use letters, digits, _ . @ and -")
    return dict(sorted(found.items()))


def content_of(path: Path) -> bytes:
    """What is in a file that somebody has sent; ValueError if it is none, a link, or too large."""
    if path.resolve() != path.absolute() or not path.is_file():
        raise ValueError("not a file of its own: a link, a folder or something else")
    if (size := path.stat().st_size) > LARGEST:
        raise ValueError(f"{size} bytes are too much; at most {LARGEST}")
    return path.read_bytes()


def read(path: Path) -> NotebookNode:
    """A notebook that somebody has sent; ValueError if it is none."""
    content = content_of(path)
    try:
        notebook = nbformat.reads(content.decode("utf8"), as_version=4)
        nbformat.validate(notebook)
        nbformat.writes(notebook).encode("utf8")  # halves of letters fit in no file
    except Exception as error:  # a file of any content may make the parser raise anything
        raise ValueError(f"not a notebook: {type(error).__name__}: {error}"[:300]) from error
    return notebook


def restored(release: NotebookNode, submission: NotebookNode) -> NotebookNode:
    """The submission as it should have come: answers and own cells the student's, all else ours.

    Of a cell that nbgrader knows, only the text of an answer is the student's; own cells stay
    behind the one that they follow. What else a submission says of its cells (points, what is
    graded) is left behind.
    """
    ours = {_name(cell): cell for cell in release.cells if _name(cell)}
    theirs, own, place = {}, {"": []}, ""
    for cell in submission.cells:
        name = _name(cell)
        if name in ours and name not in theirs:
            theirs[name], own[name], place = cell, [], name
        elif cell.cell_type != "raw":
            new = new_code_cell if cell.cell_type == "code" else new_markdown_cell
            own[place].append(_filled(new(), cell))
    cells = own[""]
    for name, cell in ours.items():
        cell = nbformat.from_dict(cell)
        if name in theirs:
            cells += [_filled(cell, theirs[name]) if is_solution(cell) else cell, *own[name]]
        elif is_grade(cell) or is_locked(cell):
            cells.append(cell)
    for i, cell in enumerate(cells):
        cell.id = f"cell-{i}"
    return new_notebook(cells=cells, metadata=release.metadata)


def _name(cell: NotebookNode) -> str:
    """The name by which nbgrader knows a cell, if it does."""
    known = cell.metadata.get("nbgrader")
    return str(known.get("grade_id", "")) if isinstance(known, dict) else ""


def _filled(cell: NotebookNode, theirs: NotebookNode) -> NotebookNode:
    """The cell with what the student has written, without scripts."""
    cell.source = theirs.source
    if cell.cell_type == "markdown":
        cell.attachments = harmless.pictures(theirs.get("attachments", {}))
        cell.source = harmless.markdown(theirs.source, cell.attachments)
    return cell
