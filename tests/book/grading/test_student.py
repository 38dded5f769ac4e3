"""The students' copies: on a small notebook of solutions, and as they are committed."""

import copy

import nbformat
import pytest
from nbgrader.nbgraderformat import ValidationError

from book._grading.__main__ import main
from book._grading.student import EXERCISES, SOLUTIONS, WORDS, sources, student_copy
from tests.book.conftest import ROOT

TEXT = """Read [the chapter](one.ipynb#why), [this](one_solutions.ipynb#1-add), [that](https://a.b/../c).

[Back to the exercise](one_exercises.ipynb#1-add)"""


def marked(name, *, grade, solution, **more):
    metadata = {"schema_version": 3, "grade_id": name, "grade": grade, "solution": solution}
    return {"nbgrader": metadata | {"locked": not solution, "task": False} | more}


@pytest.fixture
def source():
    """One exercise to code and one to answer in words."""
    answer = "def add(x):\n    ### BEGIN SOLUTION\n    return x + 1\n    ### END SOLUTION"
    check = "print(add(1))\n### BEGIN HIDDEN TESTS\nassert add(1) == 2\n### END HIDDEN TESTS"
    code, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        text("# Solutions: one", id="title"),
        text(TEXT, id="text"),
        code(answer, id="answer", metadata=marked("a", grade=False, solution=True)),
        code(check, id="check", metadata=marked("c", grade=True, solution=False, points=1)),
        text(
            "Since it is so.", id="words", metadata=marked("w", grade=True, solution=True, points=2)
        ),
        code("print('measured')", id="experiment", metadata={"tags": ["solution"]}),
        text("Nothing overflows.", id="beside", metadata={"tags": ["words"]}),
    ]
    notebook.cells[3].outputs = [nbformat.v4.new_output("stream", text="2")]
    return notebook


def test_solutions_hidden_tests_and_outputs_stay_behind(source):
    cells = {cell.id: cell for cell in student_copy(source).cells}
    assert (
        cells["answer"].source
        == "def add(x):\n    raise NotImplementedError  # your code goes here"
    )
    assert cells["check"].source == "print(add(1))"
    assert cells["check"].outputs == []
    assert cells["words"].source == "*Your answer goes here.*"
    assert "experiment" not in cells
    assert cells["beside"].source == WORDS


def test_the_title_and_the_way_to_the_solution_are_the_copys(source):
    title, text, *_ = student_copy(source).cells
    assert title.source == "# Exercises: one"
    assert text.source == (
        "Read [the chapter](one.ipynb#why), [this](one_solutions.ipynb#1-add), [that](https://a.b/../c).\n\n"
        "[Solution](one_solutions.ipynb#1-add)"
    )


def test_checks_are_locked_and_answers_are_not(source):
    cells = {cell.id: cell.metadata for cell in student_copy(source).cells}
    assert cells["check"]["editable"] is False
    assert "editable" not in cells["answer"] | cells["words"]
    assert all(cells[name]["nbgrader"]["checksum"] for name in ("answer", "check", "words"))


def test_the_source_stays_as_it_is(source):
    before = copy.deepcopy(source)
    student_copy(source)
    assert source == before


def test_a_solution_without_an_end_is_refused(source):
    source.cells[2].source = source.cells[2].source.replace("END SOLUTION", "end")
    with pytest.raises(RuntimeError, match="no end solution"):
        student_copy(source)


def test_incomplete_metadata_are_refused(source):
    del source.cells[3].metadata.nbgrader["points"]
    with pytest.raises(ValidationError):
        student_copy(source)


@pytest.fixture
def root(tmp_path, source):
    """Two chapters, and a page of exercises in a folder that is no chapter's."""
    for folder, page in (("one", "one"), ("two", "two"), ("reproducing", "three")):
        path = tmp_path / "book" / folder / f"{page}{SOLUTIONS}"
        path.parent.mkdir(parents=True)
        nbformat.write(source, path)
    return tmp_path


def test_the_command_writes_the_pages_that_are_named_or_all(root, source, capsys):
    pages = [
        root / "book" / folder / f"{page}{EXERCISES}"
        for folder, page in (("one", "one"), ("two", "two"), ("reproducing", "three"))
    ]
    main(root, ["student", "two", "three"])
    assert [path.exists() for path in pages] == [False, True, True]
    main(root, ["student"])
    assert [nbformat.read(path, as_version=4) for path in pages] == 3 * [student_copy(source)]
    assert capsys.readouterr().out.count("wrote book/") == 5


def test_an_unknown_page_is_refused_with_those_there_are(root, capsys):
    with pytest.raises(SystemExit):
        main(root, ["student", "four"])
    assert "no exercises for four; there are one, three, two" in capsys.readouterr().err


def test_an_assignment_is_made_of_a_chapter_alone(root, capsys):
    (root / "book" / "one" / "chapter.toml").touch()
    with pytest.raises(SystemExit):
        main(root, ["assignment", "three"])
    assert "three is no chapter with exercises; there are one\n" in capsys.readouterr().err


@pytest.mark.parametrize("page", sources(ROOT))
def test_the_committed_copy_is_the_derived_one(page):
    path = sources(ROOT)[page]
    committed = nbformat.read(path.with_name(f"{page}{EXERCISES}"), as_version=4)
    assert committed == student_copy(nbformat.read(path, as_version=4)), (
        f"run: python -m book._grading student {page}"
    )


def test_no_copy_is_without_a_source():
    copies = (ROOT / "book").rglob(f"*{EXERCISES}")
    beside = {path.with_name(f"{page}{EXERCISES}") for page, path in sources(ROOT).items()}
    assert {*copies} == beside
