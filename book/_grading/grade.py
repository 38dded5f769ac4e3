"""What an instructor takes in: a folder of submissions, graded with nbgrader, each in a sandbox.

A submission is `<student>.ipynb` in the folder, or a notebook in the folder `<student>/`: of many
the newest that can be read. Points go into the course's gradebook and into `scores/<chapter>.csv`,
which leaves out what is not final; a page for each student goes into `feedback/`. What is flagged
has no points until a person gives them, in nbgrader's formgrader. Run again, the command goes on
with those who have not been graded yet or have handed in something new. When something was handed
in is what its file says; with `--due`, the table and the page say what is late.
"""

import csv
import fcntl
import hashlib
import json
import multiprocessing
import os
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import wait
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
TO_SHOW = 600.0  # seconds to read a notebook, to write its page, and to wait for the gradebook
MODEL = "**A model answer**, from the page of solutions, where what it calls below or above stands:"


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

    def digest(self, files: list[Path]) -> str:
        """Changes with what was handed in and with the assignment."""
        digest = hashlib.sha256(self.source.read_bytes())
        for path in files:
            try:
                content = submission.content_of(path)
            except ValueError as error:
                content = str(error).encode()
            digest.update(f"{path.name} {len(content)} ".encode() + content)
        return digest.hexdigest()

    @contextmanager
    def _turn(self) -> Iterator[Callable]:
        """The gradebook for this process alone, and a context in which others may have it."""
        with self.marks.with_suffix(".lock").open("w") as file:  # a process that ends lets go of it
            fcntl.flock(file, fcntl.LOCK_EX)

            @contextmanager
            def given_up() -> Iterator[None]:
                fcntl.flock(file, fcntl.LOCK_UN)
                try:
                    yield
                finally:
                    fcntl.flock(file, fcntl.LOCK_EX)

            yield given_up

    def grade(self, name: str, files: list[Path]) -> None:
        """Grade what a student has handed in, the newest first, and write the page of feedback.

        Of a later one that cannot be read there is a remark; what was graded before stands.
        """
        release, notebook, remarks, unread = nbformat.read(self.release, as_version=4), None, [], ""
        for path in filter(submission.is_notebook, files):
            try:
                if notebook:
                    remarks.append(f"{path.name} is older and does not count")
                else:
                    notebook, said = submission.restored(release, submission.read(path))
                    taken, remarks = path, [*remarks, *said]
            except ValueError as error:
                remarks.append(_line(f"{path.name} could not be graded: {error}"))
        others = [path.name for path in files if not submission.is_notebook(path)]
        remarks += [f"not read: {', '.join(others)}"] if others else []
        with self._turn() as given_up:
            if notebook is None:
                if before := self.graded().get(name):
                    remarks = [*before["remarks"], *remarks, "these points are of an earlier one"]
                    return self._mark(name, digest=self.digest(files), remarks=remarks)
                taken, unread = next(filter(submission.is_notebook, files)), "; ".join(remarks)
                notebook, _ = submission.restored(release, nbformat.v4.new_notebook())
                said = harmless.markdown(unread)
                notebook.cells.insert(0, nbformat.v4.new_markdown_cell(said, id="unreadable"))
            submitted = self.folder / "submitted" / name / self.chapter / f"{self.chapter}.ipynb"
            read = self._read(name, submitted)
            submitted.parent.mkdir(parents=True, exist_ok=True)
            words = _words(notebook.cells)
            given = {cell.source for cell in release.cells}
            answers = [cell.source for cell in notebook.cells if cell.source not in given]
            if not unread:  # else the answers would be there before hers
                notebook.cells = [both for cell in notebook.cells for both in self._beside(cell)]
            nbformat.write(notebook, submitted)
            time = datetime.fromtimestamp(taken.lstat().st_mtime, UTC)
            (submitted.parent / "timestamp.txt").write_text(time.isoformat())  # nbgrader reads it
            run = ExecuteInSandbox(self.limits, given_up(), unread)
            steps = [run, LimitOutput, SaveAutoGrades, CheckCellMetadata]
            self._convert(Autograde, name, autograde_preprocessors=steps)
            with Gradebook(self.api.coursedir.db_url) as book:
                for grade in self._grades(book, name):
                    if unread or grade.cell_type == "code":
                        grade.needs_manual_grade |= bool(unread or run.flags)
                    elif grade.name in read and read[grade.name] == words[grade.name]:
                        grade.needs_manual_grade = False  # which nbgrader asks for again
                book.db.commit()
            remarks += ["late, as Canvas says"] if "_LATE_" in taken.stem else []
            remarks += [*(f"flagged: {flag}" for flag in run.flags), *map(_line, run.lost)]
            known = {"unread": bool(unread), "flagged": bool(run.flags), "remarks": remarks}
            if answers and not unread:
                known["answers"] = hashlib.sha256(json.dumps(answers).encode()).hexdigest()
            self._mark(name, digest=self.digest(files), page=self._feedback(name), **known)

    def _beside(self, cell: NotebookNode) -> list[NotebookNode]:
        """The cell and, where it is an answer in words, a model answer behind it."""
        model = self.answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        if model is None:
            return [cell]
        text = f"{MODEL}\n\n{model.removeprefix('**Answer.**').lstrip()}"
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

    def _mark(self, name: str, **known) -> None:
        """Note that a submission is graded, and what is known of it."""
        graded = self.graded()
        graded[name] = graded.get(name, {}) | known
        new = self.marks.with_suffix(".new")
        new.write_text(json.dumps(graded, indent=1), "utf8")
        new.replace(self.marks)

    def feedback(self, name: str) -> None:
        """Write a student's page anew: points that were given by hand are on it."""
        with self._turn():
            self._mark(name, page=self._feedback(name))

    def _feedback(self, name: str) -> str:
        self._convert(Feedback, name)
        return self.standing(name)

    def standing(self, name: str) -> str:
        """What a student's page says of her work: it changes when the page has to."""
        with Gradebook(self.api.coursedir.db_url) as book:
            work = book.find_submission(self.chapter, name)
            (notebook,) = work.notebooks
            grades = [[x.name, x.score, x.needs_manual_grade] for x in self._grades(book, name)]
            comments = sorted([x.name, x.comment or ""] for x in notebook.comments)
            return json.dumps([grades, comments, dates(work)])

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
        """The table of points: a row for each student, with why who was not graded, if so.

        What a person has yet to read has no points, and its row no total.
        """
        marks, same = self.graded(), defaultdict(list)
        for name, mark in marks.items():
            if mark.get("answers"):
                same[mark["answers"]].append(name)
            same[name.casefold()].append(name)
        with Gradebook(self.api.coursedir.db_url) as book:
            for name, failure in sorted(failures.items()):
                if failure:
                    yield {"student": name, "remarks": f"not graded: {failure}"}
                    continue
                mark, grades = marks[name], self._grades(book, name)
                handed_in, late = dates(book.find_submission(self.chapter, name))
                left = [grade for grade in grades if grade.needs_manual_grade]
                row = {"student": name, "handed in": handed_in}
                row |= {x.name: "" if x.needs_manual_grade else x.score for x in grades}
                row["so far"] = sum(grade.score for grade in grades)
                row["total"] = "" if left else row["so far"]
                row["of"] = sum(grade.max_score for grade in grades)
                row["by hand"] = len(left)
                row["flagged"], row["unread"] = mark.get("flagged"), mark.get("unread")
                copies = [x for x in same[mark.get("answers")] if x != name]
                names = [x for x in same[name.casefold()] if x != name]
                remarks = [late, *mark["remarks"]]
                remarks += [f"the same answers as {', '.join(copies)}"] if copies else []
                remarks += [f"is {', '.join(names)} the same student?"] if names else []
                yield row | {"remarks": "; ".join(filter(None, remarks))}

    def write_scores(self, rows: list[dict]) -> Path:
        """Write the table of points, and beside it, for Canvas's import, the totals there are."""
        path = self.folder / "scores" / f"{self.chapter}.csv"
        columns = ["student", *self.exercises, "total", "of", "by hand", "handed in", "remarks"]
        with path.open("w", encoding="utf-8-sig", newline="") as file:  # Excel asks for the mark
            writer = csv.DictWriter(file, columns, extrasaction="ignore")
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
                if not row["by hand"]:
                    writer.writerow([*known, "", row["total"]])
        return path


def _line(text: str) -> str:
    """A text for the table: in one line, without what cannot be seen."""
    return "".join(x if x.isprintable() else " " for x in text)


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


def side_by_side(seconds: float, jobs: dict[str, tuple]) -> Iterator[tuple[str, str, float]]:
    """Do each job in a process of its own, as many at a time as there are cores.

    Of each its name, why it was not done, empty if it was, and the seconds that it took. Were a
    submission to crash the reader of notebooks, it would be its process.
    """
    fork, left, running = multiprocessing.get_context("fork"), [*jobs.items()][::-1], {}
    try:
        while left or running:
            while left and len(running) < len(os.sched_getaffinity(0)):
                name, (work, *arguments) = left.pop()
                process = fork.Process(target=work, args=arguments)
                process.start()
                running[process.sentinel] = name, process, time.monotonic()
            first = min(began for _, _, began in running.values())
            ended = wait([*running], max(first + seconds - time.monotonic(), 0))
            for sentinel, (name, process, began) in [*running.items()]:
                took, failure = time.monotonic() - began, ""
                if sentinel in ended:
                    process.join()
                    if process.exitcode:
                        failure = f"its grading ended with {process.exitcode}"
                elif took > seconds:  # the time for cells is over: it is long to read or to show
                    process.kill()
                    process.join()
                    failure = "it took too long to read or to show"
                else:
                    continue
                del running[sentinel]
                yield name, failure, took
    except KeyboardInterrupt:  # the processes have had it, too, and leave nothing half done
        raise NotGraded("interrupted; the same command goes on from here") from None
    finally:
        for _, process, _ in running.values():
            process.join()


def main(
    root: Path,
    chapter: str,
    submissions: Path,
    course: Path,
    due: datetime | None = None,
    limits: Limits = EACH_MAY_TAKE,
) -> None:
    """Grade all submissions in a folder, print who has how many points, and what to do next.

    Raises ValueError where there are none, NoIsolation where they cannot be run apart, and, after
    all others are graded, NotGraded.
    """
    sandbox.require()
    found, refused = submission.submissions(submissions, chapter)
    taken = Course(root, chapter, course, limits)
    if due:
        with Gradebook(taken.api.coursedir.db_url) as book:
            book.update_or_create_assignment(chapter, duedate=due)
    before, jobs = taken.graded(), {}
    failures = dict.fromkeys(before, "")  # who is not in this folder stays in the table
    for name, files in found.items():
        if name not in before or before[name]["digest"] != taken.digest(files):
            jobs[name] = taken.grade, name, files
        elif before[name].get("page") != taken.standing(name):
            jobs[name] = taken.feedback, name
        else:
            print(f"{name:28} graded before")
    done = side_by_side(limits.total + limits.start + TO_SHOW, jobs)
    for i, (name, failure, took) in enumerate(done, start=1):
        failures[name] = failure
        print(f"[{i}/{len(jobs)}] {name:20} {failure or f'{took:.0f} s'}", flush=True)
    rows = list(taken.rows(failures))
    print(
        f"\n{'student':20} {'points':>7} {'of':>5}   still to be read   {'handed in':16}   remarks"
    )
    for row in rows:
        points, most = (f"{row[x]:g}" if x in row else "-" for x in ("so far", "of"))
        left = row.get("by hand") or ""
        points += "+" if left else ""
        numbers, date = f"{points:>7} {most:>5}   {left:<16}", row.get("handed in", "")
        print(f"{row['student']:20} {numbers}   {date:16}   {row['remarks']}".rstrip())
    scores = taken.write_scores(rows)
    open_rows = [row for row in rows if row.get("by hand")]
    print(f"\nscores     {os.path.relpath(scores)}")
    print(f"Canvas     {os.path.relpath(scores.with_suffix('.canvas.csv'))}", end="")
    print(f", without {len(open_rows)} whose points are not final" if open_rows else "")
    print(f"feedback   {os.path.relpath(taken.folder / 'feedback')}/<student>/{chapter}/")
    for line in what_next(rows, refused, course):
        print(line)
    if failed := [name for name, failure in failures.items() if failure]:
        raise NotGraded(f"{', '.join(failed)}: not graded, for the reason that is printed above")


def what_next(rows: list[dict], refused: dict[str, str], course: Path) -> Iterator[str]:
    """What is left for a person to do, a line for each kind of work; none if all is final."""
    flagged = [row["student"] for row in rows if row.get("flagged") and row["by hand"]]
    unread = [row["student"] for row in rows if row.get("unread") and row["by hand"]]
    words = [x["student"] for x in rows if x.get("by hand") and x["student"] not in unread]
    words = [name for name in words if name not in flagged]
    program = os.path.relpath(Path(sys.executable).parent / "jupyter", course)
    lines = []
    if words or flagged:
        lines.append(f"open       cd {os.path.relpath(course)} && {program} lab, there /formgrader")
    if words:
        lines.append(f"read       {', '.join(words)}: give points for the answers in words")
    if flagged:
        lines.append(f"judge      {', '.join(flagged)}: flagged, so read all; give points or 0")
    if unread:
        lines.append(f"ask        {', '.join(unread)}: for a notebook that can be graded")
    lines += [f"not taken  {entry!r}: {why}" for entry, why in refused.items()]
    if lines:
        yield from ["\nto do, and then the same command again:", *lines]
