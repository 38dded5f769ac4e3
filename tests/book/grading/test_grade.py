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
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook
from nbgrader.utils import is_grade

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


BY_HAND = {"hostile": 3, "torn": 3, "right": 1, PARTIAL: 1}


def table(folder: Path) -> dict[str, dict]:
    content = (folder / "course" / "scores" / f"{CHAPTER}.csv").read_bytes()
    assert content.startswith(codecs.BOM_UTF8)  # without which Excel takes it for another encoding
    rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    return {row["student"]: row for row in rows}


def page_of(folder: Path, name: str) -> Path:
    return folder / "course" / "feedback" / name / CHAPTER / f"{CHAPTER}.html"


def feedback(folder: Path, name: str) -> str:
    return page_of(folder, name).read_text("utf8")


@pytest.mark.long
@apart
def test_everyone_has_the_points_that_are_due(course):
    rows = table(course)
    checks = {name: (x["attention-check"], x["split-check"]) for name, x in rows.items()}
    assert checks == {
        name: tuple("" if name in ("hostile", "torn") else str(float(x)) for x in points)
        for name, points in POINTS.items()
    }
    assert {row["of"] for row in rows.values()} == {"6.0"}
    by_hand = {name: int(row["by hand"]) for name, row in rows.items()}
    assert by_hand == dict.fromkeys(POINTS, 0) | BY_HAND
    totals = {name for name, row in rows.items() if row["total"]}
    assert totals == {*POINTS} - {*BY_HAND}  # what is not final has none


@pytest.mark.long
@apart
def test_canvas_reads_the_totals_that_are_final(course):
    text = (course / "course" / "scores" / f"{CHAPTER}.canvas.csv").read_text("utf8")
    header, possible, *rows = csv.reader(io.StringIO(text))
    assert (header, possible) == (
        ["Student", "ID", "Section", CHAPTER],
        ["Points Possible", "", "", "6.0"],
    )
    totals = {"_".join(filter(None, row[:2])): float(row[3]) for row in rows}
    assert totals == {name: sum(x) for name, x in POINTS.items() if name not in BY_HAND}
    assert ["wrong", "7", "", "0.0"] in rows


@pytest.mark.long
@apart
def test_the_table_says_what_is_not_as_it_should_be(course):
    remarks = {name: row["remarks"] for name, row in table(course).items()}
    assert remarks["right"] == remarks[PARTIAL] == ""
    assert (
        "flagged: In [2] touches book.checking, book.self_attention.checks, sys.modules"
        in remarks["hostile"]
    )
    assert remarks["greedy"] == "In [3]: it took too long"
    assert remarks["torn"].startswith("torn.ipynb could not be graded: not a notebook")
    assert remarks[LATE_ONE].startswith("late by ")
    assert "; In [4]: SyntaxError: invalid syntax (line 1)" in remarks[LATE_ONE]


@pytest.mark.long
@apart
def test_what_is_late_is_called_that(course):
    rows = table(course)
    assert {row["handed in"] for row in rows.values()} == {"2026-09-30 18:00", "2026-10-03 02:05"}
    assert rows[LATE_ONE]["remarks"].startswith("late by 1 day, 2:05 h; late, as Canvas says")
    assert "Handed in 2026-10-03 02:05, late by 1 day, 2:05 h." in feedback(course, LATE_ONE)
    assert "Handed in 2026-09-30 18:00." in feedback(course, "right")


@pytest.mark.long
@apart
def test_feedback_names_the_mistake(course):
    assert "the scores are not scaled" in feedback(course, LATE_ONE)
    assert "ZeroDivisionError" in feedback(course, PARTIAL)
    assert "it took too long" in feedback(course, "greedy")
    assert "MemoryError" in feedback(course, "greedy")
    assert "could not be graded" in feedback(course, "torn")
    assert "NameError" not in feedback(course, "torn")
    assert "Because." in feedback(course, "greedy")
    assert "Because." not in feedback(course, "torn")  # the model answer, before hers is there
    assert "SyntaxError: invalid syntax (line 1) in In [4]; so name" in feedback(course, LATE_ONE)
    assert "no points until a person gives them: In [2] touches" in feedback(course, "hostile")
    assert "the scores are not scaled" not in feedback(course, "right")
    assert "verdict.py" not in feedback(course, LATE_ONE) + feedback(course, PARTIAL)


@pytest.mark.long
@apart
def test_words_that_nobody_has_read_have_no_zero(course):
    marks = re.findall(r"<span>(.*)</span></header>", feedback(course, "right"))
    assert marks == ["2 of 2", "3 of 3", "<em>not yet read</em>"]
    assert "<b>5 of 6</b> points" in feedback(course, "right")
    assert "1 of 3 answers is not yet read" in feedback(course, "right")
    assert "not yet read" not in feedback(course, LATE_ONE)


@pytest.mark.long
@apart
@pytest.mark.parametrize(("name", "words"), {"right": "It is so.", PARTIAL: "my own."}.items())
def test_a_model_answer_stands_beside_the_words(course, name, words):
    path = (
        course / "course" / "autograded" / name / CHAPTER / f"{CHAPTER}.ipynb"
    )  # the formgrader's
    answer, model = nbformat.read(path, as_version=4).cells[-2:]
    assert answer.source.endswith(words) and answer.metadata.nbgrader.grade_id == "why-answer"
    assert model.source == f"{grade.MODEL}\n\nBecause."
    assert re.search(rf"{words}(.|\n)*class=\"model\"(.|\n)*Because.", feedback(course, name))


@pytest.mark.long
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


@pytest.mark.long
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
    rows = table(course)
    assert {*rows} == {*POINTS}  # who is not in this folder, too
    got = {name: (rows[name]["total"], rows[name]["by hand"]) for name in changed}
    assert got == {"hostile": ("", "2"), "right": ("", "1"), PARTIAL: ("5.5", "0")}
    assert ["hostile", "2+", "6", "2"] in [line[:4] for line in lines]
    pages = {name: page_of(course, name).stat().st_mtime_ns for name in changed}
    grade.main(course / "repository", CHAPTER, tmp_path, course / "course")
    assert {name: page_of(course, name).stat().st_mtime_ns for name in changed} == pages
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.endswith(" graded before") for line in lines) == len(changed)
    assert "0.5 of 1" in feedback(course, PARTIAL)


@pytest.mark.long
@apart
def test_a_later_file_that_is_no_notebook_takes_no_points(course, tmp_path):
    points = table(course)["right"]["split-check"]
    path = tmp_path / "right" / f"{CHAPTER}.ipynb"
    path.parent.mkdir()
    path.write_text("half of an upload")
    grade.main(course / "repository", CHAPTER, tmp_path, course / "course")
    row = table(course)["right"]
    assert row["split-check"] == points and "these points are of an earlier one" in row["remarks"]


@pytest.mark.long
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
    assert re.search(r"^ada +graded before\n.*\] bob +\d+ s\n", said, re.M)
    assert re.search(r"^ada +2 +6 ", said, re.M) and re.search(r"^bob +0 +6 ", said, re.M)


def in_a_group(*arguments) -> None:
    """Grade, in a group of processes that can be killed together."""
    os.setsid()
    grade.main(*arguments)


def test_opening_a_course_leaves_the_environment_as_it_was(handed_out):
    before = dict(os.environ)
    assignment.course(handed_out / "course")
    assert dict(os.environ) == before


def entries(folder: Path, *names: str) -> Path:
    """A folder with these files in it, each handed in a second after the one before."""
    for i, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
        os.utime(folder / name, (i, i))
    return folder


def test_who_cannot_be_taken_is_named_and_stops_nobody(tmp_path):
    bad = "a*.ipynb", "-rf.ipynb", "two\nlines.ipynb", "=1+1.ipynb", "@cmd.ipynb", "an\u200bn.ipynb"
    found, refused = submission.submissions(entries(tmp_path, "bob.ipynb", *bad), CHAPTER)
    assert found == {"bob": [tmp_path / "bob.ipynb"]}
    assert refused.keys() == {*bad}
    assert refused["an\u200bn.ipynb"] == "no name may have ZERO WIDTH SPACE there: rename it"
    assert refused["=1+1.ipynb"] == "no name may have EQUALS SIGN there: rename it"


def test_every_entry_is_taken_or_named(tmp_path):
    names = "ann/answers.pdf", "bob.zip", "kim_1_assignsubmission_onlinetext/onlinetext.html"
    (tmp_path / "nothing").mkdir()
    entries(tmp_path, "eve.IPYNB", ".DS_Store", "__MACOSX/x.ipynb", "notes.txt", *names)
    found, refused = submission.submissions(tmp_path, CHAPTER)
    assert [*found] == ["eve"]
    assert refused == {
        "ann": "answers.pdf is no notebook: ask for the .ipynb",
        "bob.zip": "an archive: unpack it there, and run this again",
        "kim_1_assignsubmission_onlinetext": "onlinetext.html is no notebook: ask for the .ipynb",
        "notes.txt": "notes.txt is no notebook: ask for the .ipynb",
        "nothing": "it is empty",
    }


def test_of_many_files_the_newest_comes_first(tmp_path):
    later = f"ann/{CHAPTER} (1).ipynb", "bob/deep/b.ipynb", f"s_42_778_{CHAPTER}-1.ipynb"
    earlier = f"ann/{CHAPTER}.ipynb", "bob.ipynb", f"s_42_777_{CHAPTER}.ipynb"
    entries(tmp_path, *earlier, *later, "ann/.ipynb_checkpoints/x.ipynb", "ann/AGENTS.md")
    found, refused = submission.submissions(tmp_path, CHAPTER)
    assert not refused
    got = {
        name: [x.relative_to(tmp_path).as_posix() for x in files] for name, files in found.items()
    }
    assert got == dict(
        zip(("ann", "bob", "s_42"), map(list, zip(later, earlier, strict=True)), strict=True)
    )
    for path in tmp_path.rglob("*.ipynb"):
        os.utime(path, (0, 0))
    assert submission.submissions(tmp_path, CHAPTER)[0]["ann"] == found["ann"]


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
    assert {x[0].relative_to(tmp_path).as_posix(): name for name, x in found.items()} == downloaded
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


def test_the_notebook_of_another_chapter_is_refused_and_one_with_other_names_is_not():
    release = student.student_copy(solutions())
    other = handed_in(release, attention=ATTENTION)
    for cell in other.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.grade_id = f"other-{cell.metadata.nbgrader.grade_id}"
    found, remarks = submission.restored(release, other)
    assert found.cells[2].source == ATTENTION and "without their names" in remarks[0]
    other.cells = [cell for cell in other.cells if cell.cell_type != "code"]  # a place for words
    with pytest.raises(ValueError, match="of another chapter"):
        submission.restored(release, other)


def test_who_takes_too_long_to_read_or_show_is_left_behind():
    jobs = {"quick": (time.sleep, 0), "slow": (time.sleep, 30), "gone": (os._exit, 3)}
    done = {name: (failure, took) for name, failure, took in grade.side_by_side(1, jobs)}
    assert done["quick"][0] == "" and done["gone"][0] == "its grading ended with 3"
    assert done["slow"][0] == "it took too long to read or to show" and done["slow"][1] < 20


def test_as_many_are_graded_at_a_time_as_there_are_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    jobs = {str(i): (time.sleep, 0.5) for i in range(6)}
    began = time.monotonic()
    assert len([*grade.side_by_side(30, jobs)]) == 6
    assert 1 <= time.monotonic() - began < 2.5  # one behind the other it would be three


@apart
def test_who_could_not_be_graded_has_a_row_that_says_so(tmp_path, monkeypatch):
    """In a course that is made by grading in it."""
    root = repository(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ada.ipynb").write_text("{}")
    done = [("ada", "no memory", 1.0)]
    monkeypatch.setattr(grade, "side_by_side", lambda *_: done)
    with pytest.raises(grade.NotGraded, match="ada"):
        grade.main(root, CHAPTER, tmp_path / "in", tmp_path / "course")
    assert table(tmp_path)["ada"]["remarks"] == "not graded: no memory"


def test_a_picture_in_an_own_cell_is_kept():
    picture = {"a.png": {"image/png": "aGVsbG8="}, "b.svg": {"image/svg+xml": "<svg onload=a>"}}
    own = nbformat.v4.new_markdown_cell("![a](attachment:a.png)", attachments=picture)
    notebook = nbformat.v4.new_notebook(cells=[own])
    (cell,) = submission.restored(nbformat.v4.new_notebook(), notebook)[0].cells
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


def asked() -> NotebookNode:
    """The solutions with headings, and two questions in words."""
    source = solutions()
    first = source.cells[-1]
    second = nbformat.from_dict(first)
    second.id = second.metadata.nbgrader.grade_id = "else-answer"
    source.cells[2:2] = [new_markdown_cell("## 1. Attention", id="one")]
    source.cells[5:5] = [new_markdown_cell("## 2. Split\n\nDo it.", id="two")]
    source.cells[-1:] = [new_markdown_cell("## 3. Why?\n\nSay it: $d_k$.", id="three"), first]
    source.cells += [new_markdown_cell("## 4. What else?", id="four"), second]
    return source


def two_questions() -> NotebookNode:
    """Their release."""
    return student.student_copy(asked())


WORDS = "Since it is so."
EXERCISES = ["1. Attention", "2. Split", "3. Why?", "4. What else?"]


def placed(release: NotebookNode, where: str) -> NotebookNode:
    """A submission with an answer in words to question 3, not in its place."""
    notebook = handed_in(release, attention=ATTENTION, split=SPLIT)
    cells, own = notebook.cells, new_markdown_cell(WORDS, id="own")
    at = [cell.id for cell in cells].index("why-answer")
    match where:
        case "above its place":
            cells.insert(at, own)
        case "below its place":
            cells.insert(at + 1, own)
        case "in the question's cell" | "in the question's cell, without ids":
            cells[at - 1].source += f"\n\n{WORDS}"
        case "in a raw cell":
            cells[at] = nbformat.v4.new_raw_cell(WORDS, id="own")
        case "in a code cell":
            cells[at] = new_code_cell(WORDS, id="own")
        case "as a comment":
            cells.insert(at + 1, new_code_cell(f"# {WORDS}", id="own"))
        case "in a copy of its place":
            copy = nbformat.from_dict(cells[at])
            copy.source, copy.id = WORDS, "own"
            cells.insert(at + 1, copy)
        case "in the cell of a check":
            cells[at - 2].source += f"\n# {WORDS}"
        case "at the end":
            cells.append(own)
        case "at the beginning":
            cells.insert(0, own)
        case "above the question":
            cells.insert(at - 1, own)
        case "without metadata":
            cells[at].source = WORDS
            for cell in cells:
                cell.metadata = {}
        case "without metadata and ids":
            cells[at].source = WORDS
            for cell in cells:
                cell.metadata = {}
    if where.endswith("ids"):
        for cell in cells:
            del cell["id"]
        notebook.nbformat_minor = 4
    return notebook


NEAR = [
    *("above its place", "below its place", "in the question's cell", "in a raw cell"),
    *("in a code cell", "as a comment", "in a copy of its place"),
    *("without metadata", "without metadata and ids"),
    "in the question's cell, without ids",
]
FAR = ["in the cell of a check", "at the end", "at the beginning", "above the question"]


GRADED = ["in a code cell", "without metadata", "without metadata and ids", "at the end"]  # below


@pytest.mark.parametrize("where", NEAR + FAR)
def test_words_outside_their_place_are_the_answer_or_are_put_there_to_be_read(where):
    release = two_questions()
    found, remarks = submission.restored(release, placed(release, where))
    graded = [cell.metadata for cell in found.cells if is_grade(cell)]
    assert [known.nbgrader for known in graded] == [
        cell.metadata.nbgrader for cell in release.cells if is_grade(cell)
    ]
    assert [known.exercise for known in graded] == EXERCISES
    named = {x.metadata.nbgrader.grade_id: x for x in found.cells if "nbgrader" in x.metadata}
    said = named["why-answer"].source
    assert WORDS in said and (submission.ELSEWHERE in said) == (where in FAR)
    if where in NEAR:
        assert [WORDS in cell.source for cell in found.cells].count(True) <= 2
    if where == "without metadata":  # by its id it is in its place
        assert named["else-answer"].source == "*Your answer goes here.*"
    else:
        assert WORDS in named["else-answer"].source  # empty, and perhaps this is it
        assert any("there are words elsewhere" in remark for remark in remarks)
    lost = ["6 cells without their names were known by their text"]
    lost[0] = lost[0].replace("6", "3") if "ids" in where else lost[0]  # answers are own cells then
    assert remarks[:1] == lost or "metadata" not in where
    if where != "without metadata and ids":
        assert named["attention-answer"].source == ATTENTION
    nbformat.validate(found)


def test_who_has_written_nothing_is_not_read():
    release = two_questions()
    notebook = handed_in(release, attention=ATTENTION, split=SPLIT)
    notebook.cells.insert(4, new_code_cell("print(attention)"))
    notebook.cells.append(nbformat.from_dict(notebook.cells[-1]))  # a copy of an empty place
    notebook.cells[-2].source = ""
    found, remarks = submission.restored(release, notebook)
    assert [cell.source for cell in found.cells[-3::2]] == ["*Your answer goes here.*"] * 2
    assert not remarks


def test_pictures_of_several_cells_are_kept_apart():
    release, pictures = (
        two_questions(),
        [{"a.png": {"image/png": data}} for data in ("aaaa", "bbbb")],
    )
    notebook = handed_in(release)
    at = [cell.id for cell in notebook.cells].index("why-answer")
    notebook.cells[at + 1 : at + 1] = [
        new_markdown_cell("![a](attachment:a.png)", attachments=picture) for picture in pictures
    ]
    found, _ = submission.restored(release, notebook)
    (answer,) = (x for x in found.cells if x.id == f"cell-{at}")
    assert answer.source == "![a](attachment:0-a.png)\n\n![a](attachment:1-a.png)"
    assert [x["image/png"] for x in answer.attachments.values()] == ["aaaa", "bbbb"]


def copied(release: NotebookNode) -> NotebookNode:
    """The checks are there again, one of them in a cell of the student's own, and one in halves."""
    notebook = handed_in(release, attention=ATTENTION, split=SPLIT, why=WORDS)
    cells = notebook.cells
    where = {cell.id: i for i, cell in enumerate(cells)}
    check, split = (nbformat.from_dict(cells[where[x]]) for x in ("attention-check", "split-check"))
    first, second = split.source.split("\n", 1)
    check.id = "again"
    cells[where["split-answer"]].source += f"\n\n{split.source}  # how far?"
    cells.insert(where["split-check"] + 1, new_code_cell(first, id="half"))
    cells.insert(where["split-check"] + 2, new_code_cell(second, id="other"))
    cells.insert(where["attention-check"] + 1, check)
    return notebook


@pytest.mark.long
@apart
def test_words_anywhere_are_read_and_copies_of_ours_are_held_against_nobody(tmp_path, capsys):
    root, release = repository(tmp_path, asked()), two_questions()
    notebooks = {where: placed(release, where) for where in GRADED}
    notebooks |= {"copied": copied(release), "Copied": copied(release)}
    (tmp_path / "in").mkdir()
    for name, notebook in notebooks.items():
        nbformat.write(notebook, tmp_path / "in" / f"{name}.ipynb")
    entries(tmp_path / "in", "pdf.pdf")
    grade.main(root, CHAPTER, tmp_path / "in", tmp_path / "course")
    rows = table(tmp_path)
    for name, row in rows.items():
        assert (row["attention-check"], row["split-check"]) == ("2.0", "3.0"), name
        assert (row["why-answer"], row["total"]) == ("", ""), name
        assert "flagged" not in row["remarks"], name
    by_hand = {name: row["by hand"] for name, row in rows.items()}
    assert by_hand == dict.fromkeys(GRADED, "2") | dict.fromkeys(("copied", "Copied"), "1") | {
        "without metadata": "1"
    }
    assert rows["copied"]["remarks"] == ("the same answers as Copied; is Copied the same student?")
    said = capsys.readouterr().out
    assert f"canvas.csv, without {len(notebooks)} whose points are not final" in said
    assert re.search(r"^read +Copied, at the end, ", said, re.M)
    assert re.search(r"^not taken +'pdf.pdf': pdf.pdf is no notebook", said, re.M)
    page = feedback(tmp_path, "without metadata and ids")
    assert re.findall(r'<td><a href="#[\w-]+">(.+?)</a>', page) == EXERCISES
    assert "<msub>" in page and "$d_k$" not in page
    assert not re.search(r'<script|<link|(?:src|href)="(?:https?:)?//', page)  # needs no network


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

    found, _ = submission.restored(release, theirs)
    named = {x.metadata.nbgrader.grade_id: x for x in found.cells if "nbgrader" in x.metadata}
    ours = {x.id: x for x in release.cells if "nbgrader" in x.metadata}
    assert {name: x.metadata.nbgrader for name, x in named.items()} == {
        name: x.metadata.nbgrader for name, x in ours.items()
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
