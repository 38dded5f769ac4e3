"""What students have handed in: files of any content, and the notebooks made of them."""

import ast
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from textwrap import indent

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.utils import is_grade, is_solution

from book._grading import harmless
from book._grading.assignment import INSTALLED, SOLUTION
from book._grading.flags import parsed

NO_NAME = set("/\\*?[]")  # nbgrader looks for students by patterns
NOT_FIRST = set("-=+@")  # to a program it begins an option, to a spreadsheet a formula
LARGEST = 20 * 2**20  # bytes of a notebook
# What Moodle and Canvas make of a name: "Ann Smith_123456_assignsubmission_file", with a new number
# for each assignment, and "smithann_LATE_123_456_self_attention", where 123 is always hers.
MOODLE = re.compile(r"_\d+_assignsubmission_.*")
CANVAS = r"^(\w+?)(?:_LATE)?_(\d+)_\d+_{}.*"
ARCHIVES = {".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar"}
ADDRESS = re.compile(r"(?<=\]\()[^)]*")
HEADING = re.compile(r"#+ (.+)")
ELSEWHERE = "*Nothing stands here. Words from elsewhere in the notebook:*"


def submissions(folder: Path, chapter: str) -> tuple[dict[str, list[Path]], dict[str, str]]:
    """Who has handed in which files, the newest first; which entries were not taken, and why.

    Each entry of the folder is in one of the two, but for hidden ones. A name may be in any script,
    with spaces, apostrophes and plus signs. It is taken in Unicode's composed form, since macOS
    takes letters and their accents apart. What Moodle and Canvas add to it is taken off, but for
    the number by which Canvas knows the student.

    Raises:
        ValueError: the folder is none, or empty.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder; SUBMISSIONS=... names one")
    entries, found, refused = {}, defaultdict(list), {}
    for entry in sorted(folder.resolve().iterdir()):
        if not _is_hidden(entry.name):
            files = sorted(_files(entry)) if entry.is_dir() else [entry]
            if any(map(is_notebook, files)):
                entries[entry] = files
            else:
                refused[entry.name] = _no_notebook(files)
    if not entries and not refused:
        raise ValueError(f"no <student>.ipynb and no <student>/{chapter}.ipynb in {folder}")
    names = {entry: entry.name if entry.is_dir() else entry.stem for entry in entries}
    same = Counter(MOODLE.sub("", name) for name in names.values())
    for entry, name in names.items():
        if same[short := MOODLE.sub("", name)] == 1:  # else there are two of that name
            name = short
        name = re.sub(CANVAS.format(chapter), r"\1_\2", unicodedata.normalize("NFC", name)).strip()
        bad = [x for x in name if x in NO_NAME or not x.isprintable()]
        if bad := bad or [x for x in name[:1] if x in NOT_FIRST]:
            what = unicodedata.name(bad[0], f"U+{ord(bad[0]):04X}")
            refused[entry.name] = f"no name may have {what} there: rename it"
        else:
            found[name] += entries[entry]
    for files in found.values():  # where the times are the same, a browser's "(1)" is later
        files.sort(key=lambda path: (path.lstat().st_mtime, len(path.name), path), reverse=True)
    return dict(sorted(found.items())), refused


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _files(folder: Path) -> Iterator[Path]:
    """The files in a folder and those below it, but for hidden ones and what was handed out."""
    for path in folder.rglob("*"):
        hidden = any(map(_is_hidden, path.relative_to(folder).parts))
        if not hidden and not path.is_dir() and path.name != "AGENTS.md":
            yield path


def is_notebook(path: Path) -> bool:
    """Whether it is called one."""
    return path.suffix.lower() == ".ipynb"


def _no_notebook(files: list[Path]) -> str:
    """What to do with an entry in which there is no notebook."""
    if any(path.suffix.lower() in ARCHIVES for path in files):
        return "an archive: unpack it there, and run this again"
    names = ", ".join(path.name for path in files)
    return f"{names} is no notebook: ask for the .ipynb" if names else "it is empty"


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


def restored(release: NotebookNode, submission: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """The submission as it should have come, and remarks on how it came.

    It is the release with the student's answers in their places, and her own cells behind those of
    ours that they follow. What else a submission says of its cells (points, what is graded) is left
    behind. An empty place for words is filled with what stands below the same heading, or else with
    all words of her own that there are: nothing that may be an answer gets its 0 unread.

    Raises:
        ValueError: it has cells of an assignment, and none of this one.
    """
    theirs, own = _matched(release.cells, submission.cells)
    named = [i for i in theirs if _name(release.cells[i])]
    lost = [i for i in named if _name(theirs[i]) != _name(release.cells[i])]
    if lost == named and not any(release.cells[i].cell_type == "code" for i in lost):
        if any(map(_name, submission.cells)):
            raise ValueError("none of its cells is of this assignment; is it of another chapter?")
        remarks = ["none of its cells is of this assignment; the checks ran behind them"]
    else:
        remarks = [f"{len(lost)} cells without their names were known by their text"] * bool(lost)
    remarks += _find_words(release.cells, theirs, own)
    heading, cells = "", own[-1]
    for i, ours in enumerate(release.cells):
        cell = nbformat.from_dict(ours)
        if _is_heading(cell):
            heading = HEADING.match(cell.source)[1]
        if is_grade(cell):
            cell.metadata.exercise = heading
        if i in theirs and (is_solution(cell) or not _name(cell)):
            cell = _filled(cell, theirs[i])
        if i in theirs or not is_solution(cell) or is_grade(cell):
            cells.append(cell)
        cells += own[i]
    for i, cell in enumerate(cells):
        cell.id = f"cell-{i}"
    return new_notebook(cells=cells, metadata=release.metadata), remarks


def _matched(
    ours: list[NotebookNode], submitted: list[NotebookNode]
) -> tuple[dict[int, NotebookNode], dict[int, list[NotebookNode]]]:
    """By the index of a cell of ours, what came of it, and the student's own cells behind it.

    A cell is known by its name, or else by its text, its id or its heading. A copy of one of ours
    is nobody's.
    """
    names = {_name(cell): i for i, cell in enumerate(ours) if _name(cell)}
    ids = {cell.id: i for i, cell in enumerate(ours)}
    headings = {_text(x.source).partition("\n")[0]: i for i, x in enumerate(ours) if _is_heading(x)}
    texts = {}
    for i, cell in enumerate(ours):
        texts.setdefault(_text(cell.source), []).append(i)
    first = {names.get(_name(cell)): k for k, cell in reversed([*enumerate(submitted)])}
    theirs, own, here = {}, defaultdict(list), -1
    for k, cell in enumerate(submitted):
        text, i = _text(cell.source), names.get(_name(cell))
        if i is None:
            same = texts.get(text, [])
            known = [*(i for i in same if i > here), *same, ids.get(cell.get("id"))]
            if cell.cell_type != "code":
                known.append(headings.get(text.partition("\n")[0]))
            i = next(
                (i for i in known if i is not None and i not in theirs and i not in first), None
            )
        elif first[i] != k:
            i = None
        if i is None:
            if text and text not in texts:
                own[here].append(_own(cell, cell.source))
            continue
        theirs[i], here = cell, i
        if is_solution(ours[i]) or "words" in ours[i].metadata.get("tags", []):
            continue
        given = {_text(line) for line in ours[i].source.splitlines()}
        lines = [line for line in cell.source.splitlines() if not line or _text(line) not in given]
        added = _own(cell, "\n".join(lines).strip())
        if ours[i].cell_type != "code" or not _is_code(added):
            own[i] += [added] if added.source else []
            theirs[i] = cell if _name(ours[i]) else ours[i]
    return theirs, own


def _find_words(
    ours: list[NotebookNode],
    theirs: dict[int, NotebookNode],
    own: dict[int, list[NotebookNode]],
) -> list[str]:
    """Fill the empty places for words with words from where there are any; remarks on that."""
    sections = [*accumulate(map(_is_heading, ours))]
    places = [i for i, cell in enumerate(ours) if is_grade(cell) and is_solution(cell)]
    asked, found = {sections[i] for i in places}, defaultdict(list)
    for i, cells in sorted(own.items()):
        section = sections[i] if i >= 0 else 0
        found[section] += [x for x in cells if section in asked or not _is_code(x)]
    every, remarks = [cell for cells in found.values() for cell in cells], []
    for i in places:
        if i in theirs and _text(theirs[i].source) not in ("", _text(ours[i].source)):
            continue
        theirs.pop(i, None)
        if near := found[sections[i]]:
            theirs[i] = _together(near)
            for cells in own.values():
                cells[:] = [x for x in cells if _is_code(x) or not any(x is y for y in near)]
        elif every:
            theirs[i] = _together([new_markdown_cell(ELSEWHERE), *every])
            remarks.append(f"{_name(ours[i])}: empty, but there are words elsewhere")
    return remarks


def _together(cells: list[NotebookNode]) -> NotebookNode:
    """Cells as one with words: what is code, as it was typed."""
    texts, pictures = [], {}
    for i, cell in enumerate(cells):
        text = cell.source if cell.cell_type == "markdown" else indent(cell.source, "    ")
        for name, picture in cell.get("attachments", {}).items():
            text = text.replace(f"attachment:{name}", f"attachment:{i}-{name}")
            pictures[f"{i}-{name}"] = picture
        texts.append(text)
    return new_markdown_cell("\n\n".join(texts), attachments=pictures)


def _name(cell: NotebookNode) -> str:
    """The name by which nbgrader knows a cell, if it does."""
    known = cell.metadata.get("nbgrader")
    return str(known.get("grade_id", "")) if isinstance(known, dict) else ""


def _text(source: str) -> str:
    """What of a text is the same in every edition of a page: the book's, a tag's, a copy's."""
    source = INSTALLED.sub("", ADDRESS.sub("", SOLUTION.sub("", source)))
    return "\n".join(map(str.rstrip, source.strip().splitlines()))


def _is_heading(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and bool(HEADING.match(cell.source))


def _is_code(cell: NotebookNode) -> bool:
    """Whether it does something: a sentence is no code, nor is a comment."""
    body = parsed(cell.source).body if cell.cell_type == "code" else []
    calls = (isinstance(node, ast.Call) for x in body for node in ast.walk(x))
    return not all(isinstance(x, ast.Expr) for x in body) or any(calls)


def _own(theirs: NotebookNode, source: str) -> NotebookNode:
    """A cell of the student's own; what is not code is words."""
    cell = new_code_cell() if theirs.cell_type == "code" else new_markdown_cell()
    return _filled(cell, nbformat.from_dict(theirs | {"source": source}))


def _filled(cell: NotebookNode, theirs: NotebookNode) -> NotebookNode:
    """The cell with what the student has written, without scripts."""
    cell.source = theirs.source
    if cell.cell_type == "markdown":
        cell.attachments = harmless.pictures(theirs.get("attachments", {}))
        cell.source = harmless.markdown(theirs.source, cell.attachments)
    return cell
