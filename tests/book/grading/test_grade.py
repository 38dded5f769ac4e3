"""A folder of submissions from beginning to end: everyone gets the points that they have earned."""

import codecs
import csv
import io
import json
import multiprocessing
import os
import re
import shutil
import signal
import socket
import sys
import time
import unicodedata
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from book._grading import assignment, grade, student, submission
from book._grading.__main__ import main
from book._grading.sandbox import PACKAGES, Limits
from tests.book.conftest import ROOT
from tests.book.grading.handed_in import (
    ATTENTION,
    CHAPTER,
    SPLIT,
    handed_in,
    repository,
    solutions,
)

apart = pytest.mark.usefixtures("isolation")

WRONG = ATTENTION.replace(" / np.sqrt(query.shape[-1])", "")
ENDLESS = "def attention(query, key, value):\n    while True:\n        pass"
HUNGRY = """\
import numpy as np

def split_heads(x, num_heads):
    return [np.ones(10**9) for _ in range(100)]"""
HOSTILE = """\
import os, pathlib, socket, sys
import numpy as np, torch
import book.checking
from book import self_attention
from book.checking import exercise, verdict

seen = []
for path in %(paths)s:
    try:
        seen.append(os.listdir(path) if os.path.isdir(path) else open(path).read())
    except OSError:
        pass
ours = [*book.__path__, *self_attention.__path__]
for path in %(paths)s + ["/usr", "/etc", "/dev", sys.prefix, *ours]:
    try:
        (pathlib.Path(path) / "written").write_text("here I was")
        seen.append("wrote to " + path)
    except OSError:
        pass
try:
    socket.create_connection(("127.0.0.1", %(port)d), timeout=2)
    seen.append("reached the network")
except OSError:
    pass
print("seen:", seen)

passed = verdict.Verdict("passed", tried="everything")
verdict.Verdict.require = lambda self: None
verdict.Verdict.__eq__ = lambda self, other: True
exercise.alike = exercise.call = lambda *_, **__: True
self_attention.checks.attention = lambda answer: passed
np.allclose = torch.allclose = lambda *_, **__: True
sys.modules["book.self_attention"].checks = sys.modules["book.self_attention.checks"]
print("Passed: tried on everything")

class Equal:
    shape = dtype = property(lambda self: self)
    __eq__ = __le__ = __getitem__ = __getattr__ = lambda self, *_: self
    __bool__ = lambda self: True

def attention(query, key, value):
    return Equal()"""


PARTIAL = "Zoë O’Neill + हिन्दी"
DUE = grade.end_of("2026-10-01")
LATE_ONE = "wrong_7"  # as Canvas names it
ON_TIME, LATE = grade.end_of("2026-09-30 18:00"), grade.end_of("2026-10-03 02:05")


def as_older_tools_leave_it(text: str) -> str:
    """A notebook of minor version 4 whose cells have ids, odd counts, extra keys and no outputs."""
    notebook = json.loads(text) | {"nbformat_minor": 4}
    for cell in notebook["cells"]:
        cell["collapsed"] = True
        if cell["cell_type"] == "code":
            cell["execution_count"] = "3"
            del cell["outputs"]
    return json.dumps(notebook)


def private() -> list[Path]:
    """What lies in the home and in the repository, and has no business in the sandbox."""
    needed = [Path(sys.prefix), Path(sys.base_prefix), *PACKAGES]
    near = [*Path.home().iterdir(), *ROOT.iterdir(), *student.sources(ROOT).values()]
    return [path for path in near if not any(place.is_relative_to(path) for place in needed)]


def place(folder: Path, name: str) -> Path:
    """Where a submission lies: named by Canvas, or in a folder whose name macOS has written."""
    if name == LATE_ONE:
        return folder / "in" / f"wrong_LATE_7_8_{CHAPTER}.ipynb"
    return folder / "in" / unicodedata.normalize("NFD", name) / f"{CHAPTER}.ipynb"


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory):
    """A repository, and in it a course with an assignment."""
    root = repository(tmp_path_factory.mktemp("handed_out"))
    assignment.build(root, CHAPTER, root / "course")
    return root


@pytest.fixture(scope="module")
def course(handed_out, tmp_path_factory):
    """A folder of submissions, graded."""
    folder = tmp_path_factory.mktemp("grading")
    root = shutil.copytree(handed_out, folder / "repository")
    (root / "course").rename(folder / "course")
    path = folder / "course" / "release" / CHAPTER / f"{CHAPTER}.ipynb"
    release = nbformat.read(path, as_version=4)
    with socket.create_server(("127.0.0.1", 0)) as server:
        secret = [root, folder, folder / "course", *private(), Path("/etc/shadow")]
        port = server.getsockname()[1]
        hostile = HOSTILE % {"paths": [str(path) for path in secret], "port": port}
        notebooks = {
            "right": handed_in(release, attention=ATTENTION, split=SPLIT, why="It is so."),
            PARTIAL: handed_in(release, attention=ATTENTION, split="def split_heads(x, n): 1 / 0"),
            LATE_ONE: handed_in(release, attention=WRONG, split="split_heads = 'a' +"),
            "greedy": handed_in(release, attention=ENDLESS, split=HUNGRY),
            "hostile": handed_in(release, attention=hostile, why="<script>alert(1)</script>"),
        }
        own = nbformat.v4.new_markdown_cell("In a cell of my own.")
        notebooks[PARTIAL].cells.append(own)  # below the place for words
        for name, notebook in notebooks.items():
            path = place(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, path)
            if name == PARTIAL:
                path.write_text(as_older_tools_leave_it(path.read_text("utf8")), "utf8")
        (folder / "in" / "torn.ipynb").write_text('{"cells": [')
        for path in (folder / "in").rglob("*.ipynb"):
            time_of = (LATE if path == place(folder, LATE_ONE) else ON_TIME).timestamp()
            os.utime(path, (time_of, time_of))
        limits = Limits(cell=4, memory=2**29)
        grade.main(root, CHAPTER, folder / "in", folder / "course", DUE, limits)
    return folder


POINTS = {
    "right": (2, 3),
    PARTIAL: (2, 0),
    LATE_ONE: (0, 0),
    "greedy": (0, 0),
    "hostile": (0, 0),
    "torn": (0, 0),
}


def table(folder: Path) -> dict[str, dict]:
    content = (folder / "course" / "scores" / f"{CHAPTER}.csv").read_bytes()
    assert content.startswith(codecs.BOM_UTF8)  # without which Excel takes it for another encoding
    rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    return {row["student"]: row for row in rows}


def feedback(folder: Path, name: str) -> str:
    page = folder / "course" / "feedback" / name / CHAPTER / f"{CHAPTER}.html"
    return page.read_text("utf8")


@apart
def test_everyone_has_the_points_that_are_due(course):
    rows = table(course)
    got = {name: (float(x["attention-check"]), float(x["split-check"])) for name, x in rows.items()}
    assert got == POINTS
    assert {row["of"] for row in rows.values()} == {"6.0"}
    by_hand = {name: int(row["by hand"]) for name, row in rows.items()}
    assert by_hand == dict.fromkeys(POINTS, 0) | {"hostile": 3, "right": 1, PARTIAL: 1}


@apart
def test_canvas_reads_the_totals(course):
    text = (course / "course" / "scores" / f"{CHAPTER}.canvas.csv").read_text("utf8")
    header, possible, *rows = csv.reader(io.StringIO(text))
    assert (header, possible) == (
        ["Student", "ID", "Section", CHAPTER],
        ["Points Possible", "", "", "6.0"],
    )
    totals = {"_".join(filter(None, row[:2])): float(row[3]) for row in rows}
    assert totals == {name: sum(points) for name, points in POINTS.items()}
    assert ["wrong", "7", "", "0.0"] in rows


@apart
def test_the_table_says_what_is_not_as_it_should_be(course):
    remarks = {name: row["remarks"] for name, row in table(course).items()}
    assert remarks["right"] == remarks[PARTIAL] == ""
    assert (
        "flagged: In [2] touches book.checking, book.self_attention.checks, sys.modules"
        in remarks["hostile"]
    )
    assert remarks["greedy"] == "In [3]: it took too long"
    assert remarks["torn"].startswith("could not be graded: not a notebook")


@apart
def test_what_is_late_is_called_that(course):
    rows = table(course)
    assert {row["handed in"] for row in rows.values()} == {"2026-09-30 18:00", "2026-10-03 02:05"}
    assert rows[LATE_ONE]["remarks"] == "late by 1 day, 2:05 h; late, as Canvas says"
    assert "Handed in 2026-10-03 02:05, late by 1 day, 2:05 h." in feedback(course, LATE_ONE)
    assert "Handed in 2026-09-30 18:00." in feedback(course, "right")


@apart
def test_feedback_names_the_mistake(course):
    assert "the scores are not scaled" in feedback(course, LATE_ONE)
    assert "ZeroDivisionError" in feedback(course, PARTIAL)
    assert "it took too long" in feedback(course, "greedy")
    assert "MemoryError" in feedback(course, "greedy")
    assert "could not be graded" in feedback(course, "torn")
    assert "no points until a person gives them: In [2] touches" in feedback(course, "hostile")
    assert "the scores are not scaled" not in feedback(course, "right")
    assert "verdict.py" not in feedback(course, LATE_ONE) + feedback(course, PARTIAL)


@apart
def test_words_that_nobody_has_read_have_no_zero(course):
    marks = re.findall(r"<span>(.*)</span></header>", feedback(course, "right"))
    assert marks == ["2 of 2", "3 of 3", "<em>not yet read</em>"]
    assert "<b>5 of 6</b> points" in feedback(course, "right")
    assert "1 of 3 answers is not yet read" in feedback(course, "right")
    assert "not yet read" not in feedback(course, LATE_ONE)


@apart
@pytest.mark.parametrize(("name", "words"), {"right": "It is so.", PARTIAL: "my own."}.items())
def test_a_model_answer_stands_beside_the_words(course, name, words):
    path = (
        course / "course" / "autograded" / name / CHAPTER / f"{CHAPTER}.ipynb"
    )  # the formgrader's
    answer, model = nbformat.read(path, as_version=4).cells[-2:]
    assert answer.source.endswith(words) and answer.metadata.nbgrader.grade_id == "why-answer"
    assert model.source == "**A model answer**\n\nBecause."
    assert re.search(rf"{words}(.|\n)*class=\"model\"(.|\n)*Because.", feedback(course, name))


@apart
def test_a_hostile_submission_sees_nothing_and_leaves_nothing(course):
    assert "seen: []" in feedback(course, "hostile")
    assert "Passed: tried on everything" in feedback(course, "hostile")  # it ran to its end
    assert "alert(1)</script>" not in feedback(course, "hostile")
    assert not [*course.rglob("written")]


def give(course: Path, name: str, exercise: str, points: float) -> None:
    """Give points by hand, as the formgrader does."""
    taken = grade.Course(course / "repository", CHAPTER, course / "course", Limits())
    with Gradebook(taken.api.coursedir.db_url) as book:
        by_hand = book.find_grade(exercise, CHAPTER, CHAPTER, name)
        by_hand.manual_score, by_hand.needs_manual_grade = points, False
        book.db.commit()


@apart
def test_a_second_run_goes_on_with_what_is_new(course, tmp_path, capsys):
    give(course, "hostile", "attention-check", 2)
    give(course, "right", "why-answer", 1)
    give(course, PARTIAL, "why-answer", 0.5)
    changed = {
        "hostile": ("", "", ""),
        "right": ("why-answer", "It is so.", "Other words."),
        PARTIAL: ("split-answer", "def split_heads(x, n): 1 / 0", SPLIT),  # and the same words
    }
    for name, (cell_id, before, after) in changed.items():
        path = place(course, name)
        notebook = json.loads(path.read_text("utf8"))
        for cell in notebook["cells"]:
            if cell["id"] == cell_id:
                assert "".join(cell["source"]) == before
                cell["source"] = after
        (tmp_path / name).mkdir()
        if after:
            text = json.dumps(notebook)
            (tmp_path / name / f"{CHAPTER}.ipynb").write_text(text, "utf8")
        else:
            shutil.copy(path, tmp_path / name)
    grade.main(course / "repository", CHAPTER, tmp_path, course / "course")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[1] for line in lines if line[-2:] == ["graded", "before"]] == ["hostile"]
    rows = table(course)
    assert {*rows} == {*POINTS}  # who is not in this folder, too
    got = {name: (float(rows[name]["total"]), rows[name]["by hand"]) for name in changed}
    assert got == {"hostile": (2, "2"), "right": (6, "1"), PARTIAL: (5.5, "0")}
    assert "0.5 of 1" in feedback(course, PARTIAL)


@apart
def test_a_later_file_that_is_no_notebook_takes_no_points(course, tmp_path):
    points = table(course)["right"]["total"]
    path = tmp_path / "right" / f"{CHAPTER}.ipynb"
    path.parent.mkdir()
    path.write_text("half of an upload")
    grade.main(course / "repository", CHAPTER, tmp_path, course / "course")
    row = table(course)["right"]
    assert row["total"] == points and "these points are of an earlier one" in row["remarks"]


@apart
def test_a_run_that_is_killed_goes_on(handed_out, tmp_path, capsys):
    root = shutil.copytree(handed_out, tmp_path, dirs_exist_ok=True)
    release = student.student_copy(solutions())
    (tmp_path / "in").mkdir()
    for name, answer in {"ada": ATTENTION, "bob": ENDLESS}.items():
        nbformat.write(handed_in(release, attention=answer), tmp_path / "in" / f"{name}.ipynb")
    arguments = root, CHAPTER, tmp_path / "in", root / "course"
    process = multiprocessing.get_context("fork").Process(target=in_a_group, args=arguments)
    process.start()
    marks = tmp_path / "course" / "scores" / f"{CHAPTER}.graded.json"
    while not marks.exists():
        assert process.is_alive()
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.join()
    nbformat.write(handed_in(release, attention=WRONG), tmp_path / "in" / "bob.ipynb")
    capsys.readouterr()
    grade.main(*arguments)
    said = capsys.readouterr().out
    assert re.search(r"\] ada +graded before\n.*\] bob +\d+ s\n", said)
    assert re.search(r"^ada +2 +6 ", said, re.M) and re.search(r"^bob +0 +6 ", said, re.M)


def in_a_group(*arguments) -> None:
    """Grade, in a group of processes that can be killed together."""
    os.setsid()
    grade.main(*arguments)


def test_opening_a_course_leaves_the_environment_as_it_was(handed_out):
    before = dict(os.environ)
    assignment.course(handed_out / "course")
    assert dict(os.environ) == before


def test_who_cannot_be_taken_is_named_and_stops_nobody(tmp_path):
    for name in ("ada", "bob", "a*", "-rf", "two\nlines"):
        (tmp_path / f"{name}.ipynb").write_text("{}")
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / f"{CHAPTER}.ipynb").write_text("{}")
    found, refused = submission.submissions(tmp_path, CHAPTER)
    assert found == {"bob": tmp_path / "bob.ipynb"}
    assert refused.keys() == {"ada", "a*", "-rf", "two\nlines"}
    assert refused["ada"] == "two submissions of ada: leave one of each"


def test_what_moodle_and_canvas_add_to_a_name_is_taken_off(tmp_path):
    downloaded = {
        f"Ann Smith_123456_assignsubmission_file_/{CHAPTER}.ipynb": "Ann Smith",
        f"Li Wei_1_assignsubmission_file/{CHAPTER}.ipynb": "Li Wei_1_assignsubmission_file",
        f"Li Wei_2_assignsubmission_file/{CHAPTER}.ipynb": "Li Wei_2_assignsubmission_file",
        f"smithann_42_777_{CHAPTER}.ipynb": "smithann_42",
        f"lovelaceada_LATE_43_778_{CHAPTER}-1.ipynb": "lovelaceada_43",
        "bob_1_2.ipynb": "bob_1_2",
    }
    for name in downloaded:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    found, refused = submission.submissions(tmp_path, CHAPTER)
    assert {path.relative_to(tmp_path).as_posix(): x for x, path in found.items()} == downloaded
    assert not refused


def test_a_day_is_over_at_midnight():
    assert grade.end_of("2026-10-01") == grade.end_of("2026-10-02 00:00")
    assert grade.end_of("2026-10-01 18:00").isoformat().startswith("2026-10-01T18:00:00")


def test_a_date_that_is_none_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(tmp_path, ["grade", CHAPTER, "in", "--due", "soon"])
    assert "argument --due: invalid" in capsys.readouterr().err


def test_what_is_no_file_of_its_own_is_not_read(tmp_path):
    (tmp_path / "real.ipynb").write_text("{}")
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "real.ipynb")
    (tmp_path / "broken.ipynb").symlink_to(tmp_path / "nowhere")
    (tmp_path / "ada").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "folder.ipynb").mkdir()
    assert submission.content_of(tmp_path / "real.ipynb") == b"{}"
    for name in ("link", "broken", "ada/real", "pipe", "folder"):
        with pytest.raises(ValueError, match="not a file of its own"):
            submission.content_of(tmp_path / f"{name}.ipynb")


def test_half_a_letter_makes_no_notebook(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1")])
    path = tmp_path / "ada.ipynb"
    path.write_text(nbformat.writes(notebook).replace("x = 1", r"x = '\ud800'"))
    with pytest.raises(ValueError, match="not a notebook: UnicodeEncodeError"):
        submission.read(path)


def test_a_notebook_under_another_name_is_taken_or_named(tmp_path):
    for name in (f"ann/{CHAPTER} (1).ipynb", "bob/a.ipynb", "bob/b.ipynb", "eve/readme.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    found, refused = submission.submissions(tmp_path, CHAPTER)
    assert [(name, path.name) for name, path in found.items()] == [("ann", f"{CHAPTER} (1).ipynb")]
    assert [*refused] == ["bob"] and "none is called" in refused["bob"]


def test_the_notebook_of_another_chapter_is_called_that():
    release = student.student_copy(solutions())
    other = nbformat.from_dict(release)
    for cell in other.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.grade_id = f"other-{cell.metadata.nbgrader.grade_id}"
    with pytest.raises(ValueError, match="another chapter"):
        submission.restored(release, other)
    for cell in other.cells:
        cell.metadata = {}  # as some tools leave it: then its cells are own ones
    assert submission.restored(release, other).cells


def test_who_takes_too_long_to_read_or_show_is_left_behind():
    assert grade.failure_of(30, time.sleep, 0) == ""
    assert "too long" in grade.failure_of(0.5, time.sleep, 30)
    assert grade.failure_of(30, os._exit, 3) == "its grading ended with 3"


@apart
def test_who_could_not_be_graded_has_a_row_that_says_so(tmp_path, monkeypatch):
    """In a course that is made by grading in it."""
    root = repository(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ada.ipynb").write_text("{}")
    monkeypatch.setattr(grade, "failure_of", lambda *_: "no memory")
    with pytest.raises(grade.NotGraded, match="ada"):
        grade.main(root, CHAPTER, tmp_path / "in", tmp_path / "course")
    assert table(tmp_path)["ada"]["remarks"] == "not graded: no memory"


def test_a_picture_in_an_own_cell_is_kept():
    picture = {"a.png": {"image/png": "aGVsbG8="}, "b.svg": {"image/svg+xml": "<svg onload=a>"}}
    own = nbformat.v4.new_markdown_cell("![a](attachment:a.png)", attachments=picture)
    notebook = nbformat.v4.new_notebook(cells=[own])
    (cell,) = submission.restored(nbformat.v4.new_notebook(), notebook).cells
    assert cell.source == own.source and cell.attachments == {"a.png": picture["a.png"]}


def test_the_release_is_the_students_copy(handed_out, tmp_path):
    course = shutil.copytree(handed_out / "course", tmp_path / "course")
    release = assignment.build(ROOT, "self_attention", course)
    copy = student.sources(ROOT)["self_attention"].with_name("self_attention_exercises.ipynb")
    without_solutions = re.sub(
        r"\\n\",\n *\"\\n\",\n *\"\[Solution\]\(.*\)", "", copy.read_text("utf8")
    )
    assert release.read_text("utf8") == without_solutions
    assert "Solution]" not in without_solutions


def test_words_below_their_place_are_the_answer():
    release = student.student_copy(solutions())
    heading = nbformat.v4.new_markdown_cell("## 4. Next\n\n[Solution](a.ipynb#4-next)")
    release.cells.append(heading)
    theirs = handed_in(release)
    empty = submission.restored(release, theirs)
    assert empty.cells[-2].source == "*Your answer goes here.*"
    theirs.cells.insert(-1, nbformat.v4.new_markdown_cell("Since it is so."))
    theirs.cells[-1].source = "## 4. Next"  # of the book's page, whose links are others
    full = submission.restored(release, theirs)
    assert [cell.source for cell in full.cells[-2:]] == ["Since it is so.", "## 4. Next"]
    assert full.cells[-2].metadata.nbgrader.grade_id == "why-answer"
    theirs.cells.pop(-2)
    assert submission.restored(release, theirs).cells[:-1] == empty.cells[:-1]


def test_only_answers_and_own_cells_are_taken_from_a_submission():
    release = student.student_copy(solutions())
    theirs = handed_in(release, attention=ATTENTION, first="mine = 1")
    by_id = {cell.id: cell for cell in theirs.cells}
    by_id["attention-check"].source = "print('passed')"
    by_id["attention-check"].metadata.nbgrader |= {"points": 100, "locked": False, "solution": True}
    by_id["attention-answer"].metadata.nbgrader |= {"grade": True, "points": 50}
    by_id["why-answer"].source = "a < b <script>alert(1)</script>"
    by_id["why-answer"].attachments = {
        "plot.png": {"image/png": "iVBORw0KGgo="},
        "page.png": {"text/html": "<script>", "image/png": '"><script>'},
    }
    again = nbformat.from_dict(by_id["attention-check"])
    theirs.cells = [x for x in theirs.cells if x.id != "split-check"] + [again]

    found = submission.restored(release, theirs)
    named = {x.metadata.nbgrader.grade_id: x for x in found.cells if "nbgrader" in x.metadata}
    ours = {x.id: x for x in release.cells if "nbgrader" in x.metadata}
    assert {name: x.metadata for name, x in named.items()} == {
        name: x.metadata for name, x in ours.items()
    }
    for name in ("attention-check", "split-check"):
        assert named[name].source == ours[name].source
    assert named["attention-answer"].source == ATTENTION
    assert [x.source for x in found.cells].count("mine = 1") == 1
    order = [x.metadata.nbgrader.grade_id for x in found.cells if "nbgrader" in x.metadata]
    assert order == list(ours)
    assert "<script>" not in named["why-answer"].source
    assert named["why-answer"].attachments == {"plot.png": {"image/png": "iVBORw0KGgo="}}
    nbformat.validate(found)
