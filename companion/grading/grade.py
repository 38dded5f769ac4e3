"""What an instructor takes in: a folder of submissions, graded with nbgrader, each in a sandbox.

A submission is `<student>.ipynb` in the folder, or `<student>/<chapter>.ipynb`. Points go into the
course's gradebook and into `scores/<chapter>.csv`, a page for each student into `feedback/`. Run
again, the command goes on with those who have not been graded yet or have handed in something new.
"""

import csv
import hashlib
import json
import multiprocessing
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput, SaveAutoGrades
from nbgrader.preprocessors.base import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked, is_solution, temp_attrs
from sqlalchemy.exc import SAWarning

from companion.grading import assignment, harmless, sandbox
from companion.grading.judge import Notebook, imports_of
from companion.grading.sandbox import Limits


class NotGraded(RuntimeError):
    """Something failed that is not the submission's fault."""


STUDENT = re.compile(r"\w[\w.@-]*")
EACH_MAY_TAKE = Limits()
TO_SHOW = 180.0  # seconds to read a notebook and to write its page
LARGEST = 20 * 2**20  # bytes of a notebook


def submissions(folder: Path, chapter: str) -> dict[str, Path]:
    """Who has handed in which file.

    Raises:
        ValueError: there is no folder, or nothing in it; or a name that cannot be a student's.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder; SUBMISSIONS=... names one")
    folder = folder.resolve()
    found = {path.stem: path for path in folder.glob("*.ipynb")}
    inner = {path.parent.name: path for path in folder.glob(f"*/{chapter}.ipynb")}
    if twice := found.keys() & inner.keys():
        raise ValueError(f"two submissions of {', '.join(sorted(twice))}: leave one of each")
    found |= inner
    if not found:
        raise ValueError(
            f"no submission in {folder}: expected <student>.ipynb or <student>/{chapter}.ipynb"
        )
    if odd := [name for name in found if not STUDENT.fullmatch(name)]:
        raise ValueError(f"{odd} cannot be names of students: use letters, digits, _ . @ and -")
    return dict(sorted(found.items()))


def restored(release: NotebookNode, submission: NotebookNode) -> NotebookNode:
    """The submission as it should have come: answers and own cells the student's, all else ours.

    A cell that nbgrader knows comes from the release; only the text of an answer is the student's,
    without scripts.
    Whatever else the submission says of a cell (points, what is graded) is left behind.
    """
    ours = {cell.metadata.nbgrader.grade_id: cell for cell in release.cells if _named(cell)}
    cells, seen = [], set()
    for cell in submission.cells:
        name = _named(cell)
        if name in ours and name not in seen:
            seen.add(name)
            cells.append(_answered(ours[name], cell))
        elif cell.cell_type == "code":
            cells.append(nbformat.v4.new_code_cell(cell.source))
        elif cell.cell_type == "markdown":
            cells.append(nbformat.v4.new_markdown_cell())
            _written(cells[-1], cell)
    place = 0  # of the next missing cell: behind the one that it follows in the release
    for name, cell in ours.items():
        if name in seen:
            place = 1 + next(i for i, present in enumerate(cells) if _named(present) == name)
        elif is_grade(cell) or is_locked(cell):
            cells.insert(place, nbformat.from_dict(cell))
            place += 1
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=release.metadata)
    for i, cell in enumerate(notebook.cells):
        cell.id = f"cell-{i}"
    return notebook


def _named(cell: NotebookNode) -> str | None:
    """The name by which nbgrader knows a cell."""
    known = cell.metadata.get("nbgrader", {})
    name = known.get("grade_id") if isinstance(known, dict) else None
    return name if isinstance(name, str) else None


def _answered(ours: NotebookNode, theirs: NotebookNode) -> NotebookNode:
    cell = nbformat.from_dict(ours)
    if is_solution(cell):
        cell.source = theirs.source
        if cell.cell_type == "markdown":
            _written(cell, theirs)
    return cell


def _written(cell: NotebookNode, theirs: NotebookNode) -> None:
    cell.attachments = harmless.pictures(theirs.get("attachments", {}))
    cell.source = harmless.markdown(theirs.source, cell.attachments)


def content_of(path: Path) -> bytes:
    """What is in a file that somebody has sent.

    Raises:
        ValueError: it is no file, a link to another one, or too large.
    """
    if path.resolve() != path.absolute() or not path.is_file():
        raise ValueError("not a file of its own: a link, a folder or something else")
    if (size := path.stat().st_size) > LARGEST:
        raise ValueError(f"{size} bytes are too much; at most {LARGEST}")
    return path.read_bytes()


def read(path: Path) -> NotebookNode:
    """A notebook that somebody has sent.

    Raises:
        ValueError: it is none.
    """
    content = content_of(path)
    try:
        notebook = nbformat.reads(content.decode("utf8"), as_version=4)
        nbformat.validate(notebook)
        nbformat.writes(notebook).encode("utf8")  # halves of letters fit in no file
    except Exception as error:  # a file of any content may make the parser raise anything
        raise ValueError(f"not a notebook: {type(error).__name__}: {error}"[:300]) from error
    return notebook


class RunApart(NbGraderPreprocessor):
    """Stands for nbgrader's Execute: answers run in the sandbox, the checks on them here."""

    def __init__(self, imports: list[str], limits: Limits) -> None:
        super().__init__()
        self.imports, self.limits = imports, limits

    def preprocess(self, notebook: NotebookNode, resources: dict):
        """Called by nbconvert."""
        run = Notebook(self.imports, self.limits)
        try:
            cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
            for i, cell in enumerate(cells, start=1):
                graded = is_grade(cell) and not is_solution(cell)
                cell.outputs = run.grade(cell.source) if graded else run.run(cell.source)
                cell.execution_count = i
        finally:
            run.close()
        return notebook, resources


class Course:
    """A course and one of its assignments, for grading.

    Args:
        root: the repository, from which the assignment is made where the course has none yet.
        chapter: whose exercises.
        folder: the course's.
        limits: what each submission may take.
    """

    def __init__(self, root: Path, chapter: str, folder: Path, limits: Limits) -> None:
        self.chapter, self.folder, self.limits = chapter, folder, limits
        self.release = folder / "release" / chapter / f"{chapter}.ipynb"
        if not self.release.exists():
            assignment.build(root, chapter, folder)
        self.source = folder / "source" / chapter / f"{chapter}.ipynb"
        notebook = nbformat.read(self.source, as_version=4)
        self.imports = imports_of(notebook)
        self.order = [_named(cell) for cell in notebook.cells]
        self.api: NbGraderAPI = assignment.course(folder)
        self.marks = folder / "scores" / f"{chapter}.json"  # what was graded, by student

    def graded(self) -> dict[str, str]:
        return json.loads(self.marks.read_text("utf8")) if self.marks.exists() else {}

    def digest(self, path: Path) -> str:
        """Changes with the submission and with the assignment."""
        try:
            content = content_of(path)
        except ValueError as error:
            content = str(error).encode()
        return hashlib.sha256(self.source.read_bytes() + content).hexdigest()

    def grade(self, name: str, path: Path) -> None:
        """Grade one submission, and write its page of feedback."""
        release = nbformat.read(self.release, as_version=4)
        try:
            notebook = restored(release, read(path))
        except ValueError as error:
            notebook = restored(release, nbformat.v4.new_notebook())
            said = harmless.markdown(f"`{path.name}` could not be graded: {error}")
            notebook.cells.insert(0, nbformat.v4.new_markdown_cell(said, id="unreadable"))
        submitted = self.folder / "submitted" / name / self.chapter / f"{self.chapter}.ipynb"
        submitted.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, submitted)
        run = RunApart(self.imports, self.limits)
        steps = [run, LimitOutput, SaveAutoGrades, CheckCellMetadata]
        self._convert(Autograde, name, autograde_preprocessors=steps)
        self.feedback(name)
        self.marks.parent.mkdir(exist_ok=True)
        new = self.marks.with_suffix(".new")
        new.write_text(json.dumps(self.graded() | {name: self.digest(path)}, indent=1), "utf8")
        new.replace(self.marks)

    def feedback(self, name: str) -> None:
        """Write a student's page anew: points that were given by hand are on it."""
        self._convert(GenerateFeedback, name)

    def _convert(self, converter: type, name: str, **settings) -> None:
        directory = self.api.coursedir
        with temp_attrs(directory, assignment_id=self.chapter, student_id=name):
            app = converter(coursedir=directory, parent=self.api)
            app.force = True
            for setting, value in settings.items():
                setattr(app, setting, value)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # nbgrader's, with this SQLAlchemy
                app.start()  # not through nbgrader's capture_log, which takes Ctrl-C for an error

    def points(self, names: list[str]) -> Iterator[tuple[str, dict[str, float], float, int]]:
        """For each student: points by exercise, the most there are, answers still to be read."""
        with Gradebook(self.api.coursedir.db_url) as book:
            for name in names:
                (notebook,) = book.find_submission(self.chapter, name).notebooks
                grades = sorted(notebook.grades, key=lambda grade: self.order.index(grade.name))
                waiting = sum(grade.needs_manual_grade for grade in grades)
                yield (
                    name,
                    {grade.name: grade.score for grade in grades},
                    notebook.max_score,
                    waiting,
                )


def write_scores(course: Course, names: list[str]) -> Path:
    """Write the table of points; a row for each student, a column for each exercise."""
    rows = [
        {"student": name, **points, "total": sum(points.values()), "of": most, "by hand": waiting}
        for name, points, most, waiting in course.points(names)
    ]
    path = course.folder / "scores" / f"{course.chapter}.csv"
    with path.open("w", encoding="utf8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def _done_apart(seconds: float, work: Callable, *arguments) -> bool:
    """Whether the work went well, in a process of its own.

    If a submission were to crash the reader of its messages, it would be this process.
    """
    process = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    process.start()
    try:
        process.join(seconds)
        if process.is_alive():  # the time for cells is over: what takes long is to read or to show
            process.kill()
            print("took too long to read or to show,", end=" ")
            process.join()
    except KeyboardInterrupt:  # the process has had it, too, and leaves nothing half done
        process.join()
        raise NotGraded("interrupted; the same command goes on from here") from None
    return process.exitcode == 0


def main(
    root: Path, folder: Path, chapter: str, into: Path, limits: Limits = EACH_MAY_TAKE
) -> None:
    """Grade all submissions in a folder, and print who has how many points.

    Raises:
        ValueError: there is nothing to grade.
        sandbox.NoIsolation: submissions cannot be run apart here.
        NotGraded: some were not graded, while the others were.
    """
    sandbox.require()
    found = submissions(folder, chapter)
    course = Course(root, chapter, into, limits)
    before, failed = course.graded(), []
    for i, (name, path) in enumerate(found.items(), start=1):
        began = time.monotonic()
        known = before.get(name) == course.digest(path)
        print(f"[{i}/{len(found)}] {name:20}", end=" ", flush=True)
        work = (course.feedback, name) if known else (course.grade, name, path)
        if not _done_apart(limits.total + limits.start + TO_SHOW, *work):
            failed.append(name)
        print("graded before" if known else f"{time.monotonic() - began:.0f} s", flush=True)
    done = [name for name in found if name not in failed]
    print(f"\n{'student':20} {'points':>7} {'of':>5}   still to be read")
    for name, points, most, waiting in course.points(done):
        print(f"{name:20} {sum(points.values()):7g} {most:5g}   {waiting or ''}".rstrip())
    if done:
        print(f"\nscores     {os.path.relpath(write_scores(course, done))}")
    print(f"feedback   {os.path.relpath(course.folder / 'feedback')}/<student>/{chapter}/")
    if failed:
        raise NotGraded(f"{', '.join(failed)}: not graded, for the reason that is printed above")
