"""What students have handed in: files of any content, and the notebooks made of them."""

import re
import unicodedata
from collections import Counter
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.utils import is_grade, is_locked, is_solution

from book._grading import harmless

NO_NAME = set("/\\*?[]")  # nbgrader looks for students by patterns
LARGEST = 20 * 2**20  # bytes of a notebook
# What Moodle and Canvas make of a name: "Ann Smith_123456_assignsubmission_file", with a new number
# for each assignment, and "smithann_LATE_123_456_self_attention", where 123 is always hers.
MOODLE = re.compile(r"_\d+_assignsubmission_.*")
CANVAS = r"^(\w+?)(?:_LATE)?_(\d+)_\d+_{}.*"


def submissions(folder: Path, chapter: str) -> tuple[dict[str, Path], dict[str, str]]:
    """Who has handed in which file, and which names were not taken, with why.

    A name may be in any script, with spaces, apostrophes and plus signs. It is taken in Unicode's
    composed form, since macOS takes letters and their accents apart. What Moodle and Canvas add to
    it is taken off, but for the number by which Canvas knows the student.

    Raises:
        ValueError: there is no submission.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder; SUBMISSIONS=... names one")
    folder = folder.resolve()
    handed_in = [(path.stem, path) for path in sorted(folder.glob("*.ipynb"))]
    usual = {f"{chapter}.ipynb", f"{chapter}_exercises.ipynb"}  # the latter as the book calls it
    found, refused = {}, {}
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        inside = sorted(place.glob("*.ipynb"))
        named = [path for path in inside if path.name in usual]
        if named or (len(inside) == 1 and not place.name.startswith(".")):  # a browser adds " (1)"
            handed_in += [(place.name, path) for path in named or inside]
        elif len(inside) > 1:
            refused[place.name] = f"several notebooks, and none is called {chapter}.ipynb"
    if not handed_in and not refused:
        raise ValueError(f"no <student>.ipynb and no <student>/{chapter}.ipynb in {folder}")
    same = Counter(MOODLE.sub("", name) for name, _ in handed_in)
    for name, path in handed_in:
        if same[short := MOODLE.sub("", name)] == 1:  # else there are two of that name
            name = short
        name = re.sub(CANVAS.format(chapter), r"\1_\2", unicodedata.normalize("NFC", name))
        if not name.isprintable() or NO_NAME & set(name) or name.startswith((".", "-")):
            refused[name] = (
                "no name that nbgrader can keep: rename it without * ? [ ] or a first . -"
            )
        elif name in found or name in refused:
            found.pop(name, None)
            refused[name] = f"two submissions of {name}: leave one of each"
        else:
            found[name] = path
    return dict(sorted(found.items())), refused


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
        for cell in notebook.cells:  # what is read of them below; the rest of a schema is left out
            if not isinstance(cell.source, str) or not isinstance(cell.metadata, dict):
                raise TypeError("a cell without text or metadata")
            cell.source.encode("utf8")  # halves of letters fit in no file
    except Exception as error:  # a file of any content may make the parser raise anything
        raise ValueError(f"not a notebook: {type(error).__name__}: {error}"[:300]) from error
    return notebook


def restored(release: NotebookNode, submission: NotebookNode) -> NotebookNode:
    """The submission as it should have come: answers and own cells the student's, all else ours.

    Of a cell that nbgrader knows, only the text of an answer is the student's; own cells stay
    behind the one that they follow. Where the place for words is as it was, and an own cell with
    words follows it, they are the answer. What else a submission says of its cells (points, what is
    graded) is left behind.

    Raises:
        ValueError: it has cells of an assignment, and none of this one.
    """
    ours = {_name(cell): cell for cell in release.cells if _name(cell)}
    known = {_name(cell) for cell in submission.cells} - {""}
    if known and not known & {*ours}:
        raise ValueError("it is the notebook of another chapter")
    theirs, own, place = {}, {"": []}, ""
    for cell in submission.cells:
        name = _name(cell)
        if name in ours and name not in theirs:
            theirs[name], own[name], place = cell, [], name
        elif cell.cell_type != "raw":
            new = new_code_cell if cell.cell_type == "code" else new_markdown_cell
            own[place].append(_filled(new(), cell))
    cells, given = own[""], {"", *map(_first_line, release.cells)}
    for name, cell in ours.items():
        cell = nbformat.from_dict(cell)
        if name in theirs:
            untouched = theirs[name].source.strip() == cell.source.strip()
            if is_solution(cell):
                cell = _filled(cell, theirs[name])
            if is_solution(cell) and is_grade(cell) and untouched:
                below = (x for x in own[name] if x.cell_type == "markdown")
                if words := next((x for x in below if _first_line(x) not in given), None):
                    own[name].remove(words)
                    cell.source, cell.attachments = words.source, words.attachments
            cells += [cell, *own[name]]
        elif is_grade(cell) or is_locked(cell):
            cells.append(cell)
    for i, cell in enumerate(cells):
        cell.id = f"cell-{i}"
    return new_notebook(cells=cells, metadata=release.metadata)


def _name(cell: NotebookNode) -> str:
    """The name by which nbgrader knows a cell, if it does."""
    known = cell.metadata.get("nbgrader")
    return str(known.get("grade_id", "")) if isinstance(known, dict) else ""


def _first_line(cell: NotebookNode) -> str:
    """What tells a text of ours from a student's: the rest of it may have other links."""
    return cell.source.strip().partition("\n")[0]


def _filled(cell: NotebookNode, theirs: NotebookNode) -> NotebookNode:
    """The cell with what the student has written, without scripts."""
    cell.source = theirs.source
    if cell.cell_type == "markdown":
        cell.attachments = harmless.pictures(theirs.get("attachments", {}))
        cell.source = harmless.markdown(theirs.source, cell.attachments)
    return cell
