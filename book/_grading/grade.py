"""What an instructor takes in: a folder of submissions, graded with nbgrader, each in a sandbox.

A submission is `<student>.ipynb` in the folder, `<student>/<chapter>.ipynb`, as it was handed out,
or `<student>/<chapter>_exercises.ipynb`, as the book calls it. Points go into the course's
gradebook and into `scores/<chapter>.csv`, a page for each student into `feedback/`. What is flagged
there has no points until a person gives them, in nbgrader's formgrader. Run again, the command goes
on with those who have not been graded yet or have handed in something new. When something was
handed in is what its file says; with `--due`, the table and the page say what is late.
"""

import csv
import hashlib
import json
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Grade, Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput, SaveAutoGrades
from nbgrader.utils import is_grade, is_solution, temp_attrs
from sqlalchemy.exc import SAWarning

from book._grading import assignment, harmless, sandbox, submission
from book._grading.execute import ExecuteInSandbox
from book._grading.feedback import Feedback, dates
from book._grading.sandbox import Limits

EACH_MAY_TAKE = Limits()
TO_SHOW = 180.0  # seconds to read a notebook and to write its page


class NotGraded(RuntimeError):
    """Something failed that is not the submission's fault."""


class Course:
    """A course, made where there is none yet, and one of its assignments, for grading."""

    def __init__(self, root: Path, chapter: str, folder: Path, limits: Limits) -> None:
        self.chapter, self.folder, self.limits = chapter, folder, limits
        self.release = folder / "release" / chapter / f"{chapter}.ipynb"
        if not self.release.exists():
            assignment.build(root, chapter, folder)
        self.source = folder / "source" / chapter / f"{chapter}.ipynb"
        cells = nbformat.read(self.source, as_version=4).cells
        self.exercises = [cell.metadata.nbgrader.grade_id for cell in cells if is_grade(cell)]
        self.answers = _words(cells)
        self.api = assignment.course(folder)
        self.marks = folder / "scores" / f"{chapter}.graded.json"
        self.marks.parent.mkdir(exist_ok=True)

    def graded(self) -> dict[str, dict]:
        """By student: the digest of what was graded, and remarks on it."""
        return json.loads(self.marks.read_text("utf8")) if self.marks.exists() else {}

    def digest(self, path: Path) -> str:
        """Changes with the submission and with the assignment."""
        try:
            content = submission.content_of(path)
        except ValueError as error:
            content = str(error).encode()
        return hashlib.sha256(self.source.read_bytes() + content).hexdigest()

    def grade(self, name: str, path: Path) -> None:
        """Grade one submission, and write its page of feedback.

        Of a later one that cannot be read there is a remark; what was graded before stands.
        """
        release, remarks = nbformat.read(self.release, as_version=4), []
        try:
            notebook = submission.restored(release, submission.read(path))
        except ValueError as error:
            remarks.append("".join(filter(str.isprintable, f"could not be graded: {error}")))
            if before := self.graded().get(name):
                later = f"{remarks[0]}; these points are of an earlier one"
                return self._mark(name, path, [*before["remarks"], later])
            said = harmless.markdown(f"`{path.name}` {remarks[0]}")
            notebook = submission.restored(release, nbformat.v4.new_notebook())
            notebook.cells.insert(0, nbformat.v4.new_markdown_cell(said, id="unreadable"))
        submitted = self.folder / "submitted" / name / self.chapter / f"{self.chapter}.ipynb"
        read = self._read(name, submitted)
        submitted.parent.mkdir(parents=True, exist_ok=True)
        words = _words(notebook.cells)
        notebook.cells = [both for cell in notebook.cells for both in self._beside(cell)]
        nbformat.write(notebook, submitted)
        time = datetime.fromtimestamp(path.lstat().st_mtime, UTC)
        (submitted.parent / "timestamp.txt").write_text(time.isoformat())  # nbgrader reads it
        run = ExecuteInSandbox(self.limits)
        steps = [run, LimitOutput, SaveAutoGrades, CheckCellMetadata]
        self._convert(Autograde, name, autograde_preprocessors=steps)
        with Gradebook(self.api.coursedir.db_url) as book:
            for grade in self._grades(book, name):
                if grade.cell_type == "code":
                    grade.needs_manual_grade |= bool(run.flags)
                elif grade.name in read and read[grade.name] == words[grade.name]:
                    grade.needs_manual_grade = False  # which nbgrader asks for again
            book.db.commit()
        self.feedback(name)
        remarks += ["late, as Canvas says"] if "_LATE_" in path.stem else []
        remarks += [*(f"flagged: {flag}" for flag in run.flags), *run.lost]
        self._mark(name, path, remarks)

    def _beside(self, cell: NotebookNode) -> list[NotebookNode]:
        """The cell and, where it is an answer in words, a model answer behind it."""
        model = self.answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        if model is None:
            return [cell]
        text = f"**A model answer**\n\n{model.removeprefix('**Answer.**').lstrip()}"
        return [cell, nbformat.v4.new_markdown_cell(text, metadata={"tags": ["model-answer"]})]

    def _read(self, name: str, submitted: Path) -> dict[str, str]:
        """The answers in words that a person has read already, by their names."""
        with suppress(FileNotFoundError, MissingEntry):
            words = _words(nbformat.read(submitted, as_version=4).cells)
            with Gradebook(self.api.coursedir.db_url) as book:
                grades = self._grades(book, name)
                read = {grade.name for grade in grades if not grade.needs_manual_grade}
            return {answer: text for answer, text in words.items() if answer in read}
        return {}

    def _mark(self, name: str, path: Path, remarks: list[str]) -> None:
        """Note that this submission is graded."""
        mark = {"digest": self.digest(path), "remarks": remarks}
        new = self.marks.with_suffix(".new")
        new.write_text(json.dumps(self.graded() | {name: mark}, indent=1), "utf8")
        new.replace(self.marks)

    def feedback(self, name: str) -> None:
        """Write a student's page anew: points that were given by hand are on it."""
        self._convert(Feedback, name)

    def _convert(self, converter: type, name: str, **settings) -> None:
        directory = self.api.coursedir
        with temp_attrs(directory, assignment_id=self.chapter, student_id=name):
            app = converter(coursedir=directory, parent=self.api, force=True, **settings)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # nbgrader's, with this SQLAlchemy
                app.start()  # not through nbgrader's capture_log, which takes Ctrl-C for an error

    def _grades(self, book: Gradebook, name: str) -> list[Grade]:
        (notebook,) = book.find_submission(self.chapter, name).notebooks
        return sorted(notebook.grades, key=lambda grade: self.exercises.index(grade.name))

    def rows(self, failures: dict[str, str]) -> Iterator[dict]:
        """The table of points: a row for each student, with why who was not graded, if so."""
        marks = self.graded()
        with Gradebook(self.api.coursedir.db_url) as book:
            for name, failure in sorted(failures.items()):
                if failure:
                    yield {"student": name, "remarks": f"not graded: {failure}"}
                    continue
                grades = self._grades(book, name)
                handed_in, late = dates(book.find_submission(self.chapter, name))
                row = {"student": name, "handed in": handed_in}
                row |= {grade.name: grade.score for grade in grades}
                row["total"] = sum(grade.score for grade in grades)
                row["of"] = sum(grade.max_score for grade in grades)
                row["by hand"] = sum(grade.needs_manual_grade for grade in grades)
                yield row | {"remarks": "; ".join(filter(None, [late, *marks[name]["remarks"]]))}

    def write_scores(self, rows: list[dict]) -> Path:
        """Write the table of points, and beside it the totals as Canvas imports them."""
        path = self.folder / "scores" / f"{self.chapter}.csv"
        columns = ["student", *self.exercises, "total", "of", "by hand", "handed in", "remarks"]
        with path.open("w", encoding="utf-8-sig", newline="") as file:  # Excel asks for the mark
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(rows)
        graded = [row for row in rows if "total" in row]
        with path.with_suffix(".canvas.csv").open("w", encoding="utf8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["Student", "ID", "Section", self.chapter])
            writer.writerows(["Points Possible", "", "", row["of"]] for row in graded[:1])
            for row in graded:
                name, _, number = row["student"].rpartition("_")  # as Canvas's archive has it
                known = (name, number) if number.isdecimal() else (row["student"], "")
                writer.writerow([*known, "", row["total"]])
        return path


def _words(cells: list[NotebookNode]) -> dict[str, str]:
    """The answers in words among these cells, by their names."""
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in cells
        if is_grade(cell) and is_solution(cell)
    }


def end_of(text: str) -> datetime:
    """A date and time by this machine's clock, or a date alone, which lasts until midnight."""
    time = datetime.fromisoformat(text)
    return (time + timedelta(days=len(text) <= len("2026-10-01"))).astimezone()


def failure_of(seconds: float, work: Callable, *arguments) -> str:
    """Why something was not done in a process of its own; empty if it was.

    Were a submission to crash the reader of notebooks, it would be this process.
    """
    process = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    process.start()
    try:
        process.join(seconds)
        if process.is_alive():  # the time for cells is over: what takes long is to read or to show
            process.kill()
            process.join()
            return "it took too long to read or to show"
    except KeyboardInterrupt:  # the process has had it, too, and leaves nothing half done
        process.join()
        raise NotGraded("interrupted; the same command goes on from here") from None
    return f"its grading ended with {process.exitcode}" if process.exitcode else ""


def main(
    root: Path,
    chapter: str,
    submissions: Path,
    course: Path,
    due: datetime | None = None,
    limits: Limits = EACH_MAY_TAKE,
) -> None:
    """Grade all submissions in a folder, and print who has how many points.

    Raises ValueError where there are none, NoIsolation where they cannot be run apart, and, after
    all others are graded, NotGraded.
    """
    sandbox.require()
    found, refused = submission.submissions(submissions, chapter)
    taken = Course(root, chapter, course, limits)
    if due:
        with Gradebook(taken.api.coursedir.db_url) as book:
            book.update_or_create_assignment(chapter, duedate=due)
    before = taken.graded()
    failures = dict.fromkeys(before, "")  # who is not in this folder stays in the table
    for i, (name, path) in enumerate(found.items(), start=1):
        began = time.monotonic()
        known = name in before and before[name]["digest"] == taken.digest(path)
        print(f"[{i}/{len(found)}] {name:20}", end=" ", flush=True)
        work = (taken.feedback, name) if known else (taken.grade, name, path)
        failures[name] = failure_of(limits.total + limits.start + TO_SHOW, *work)
        took = "graded before" if known else f"{time.monotonic() - began:.0f} s"
        print(failures[name] or took, flush=True)
    rows = list(taken.rows(failures))
    print(
        f"\n{'student':20} {'points':>7} {'of':>5}   still to be read   {'handed in':16}   remarks"
    )
    for row in rows:
        points, most = (f"{row[x]:g}" if x in row else "-" for x in ("total", "of"))
        left = row.get("by hand") or ""
        numbers, date = f"{points:>7} {most:>5}   {left:<16}", row.get("handed in", "")
        print(f"{row['student']:20} {numbers}   {date:16}   {row['remarks']}".rstrip())
    print(f"\nscores     {os.path.relpath(taken.write_scores(rows))}")
    print(f"feedback   {os.path.relpath(taken.folder / 'feedback')}/<student>/{chapter}/")
    for name, why in refused.items():
        print(f"not taken  {name!r}: {why}")
    if failed := [*refused, *(name for name, failure in failures.items() if failure)]:
        raise NotGraded(f"{', '.join(failed)}: not graded, for the reason that is printed above")
