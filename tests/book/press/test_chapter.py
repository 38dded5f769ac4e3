"""A new chapter, in a copy of the repository: it runs, and the tests say what is left to write."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from book._press.chapter import TESTS, files, main, scaffold
from tests.book.conftest import ROOT

NAME = "zebras"
LEFT = [  # in the order in which it is done
    (f"test_nothing_of_a_new_chapter_is_left_to_write[{NAME}]", "what is left to write, in this"),
    (f"test_a_notebook_is_as_the_book_needs_it[{NAME}]", "an output is to be kept, and there is"),
    (f"test_every_claim_holds_for_other_seeds[{NAME}]", f"run `make claims CHAPTER={NAME}`"),
    ("test_every_chapter_says_in_its_folder_what_it_asks_and_where_it_is", "is no question"),
    (f"test_a_chapter_has_enough_of_both_kinds[{NAME}]", "1 exercises in code; three are needed"),
    (f"test_code_is_checked_and_words_are_read[{NAME}-2. Why a square]", "a full answer in words"),
    (f"test_a_quiz_has_five_questions_or_more_in_their_form[{NAME}]", "needs five or more"),
    (f"test_the_key_cannot_be_guessed_from_place_or_length[{NAME}]", "needs five or more"),
    (f"test_a_chapter_asks_its_own_quiz[{NAME}]", f"0 cells say quiz({NAME}); it is to be one"),
]


@pytest.fixture
def copy(tmp_path) -> Path:
    """The repository, without what is not committed."""
    unwanted = shutil.ignore_patterns(".*", "_build", "__pycache__", "*.egg-info")
    return shutil.copytree(ROOT, tmp_path / "copy", ignore=unwanted)


def running(copy: Path, *arguments: str) -> str:
    """What pytest says in the copy."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    ours = os.environ | {"PYTHONPATH": str(copy)}  # in the kernels, too
    return subprocess.run(command, cwd=copy, env=ours, capture_output=True, text=True).stdout


def failures(said: str) -> list[str]:
    return re.findall(r"(?m)^FAILED \S+?::(.+?)(?: - .*)?$", said)


@pytest.mark.long
def test_a_new_chapter_runs_and_the_tests_say_what_is_left_in_its_order(copy):
    scaffold(copy, NAME)
    notebooks = [f"book/{NAME}/{NAME}{kind}.ipynb" for kind in ("", "_exercises", "_solutions")]
    ran = running(copy, "--nbval-lax", *notebooks)
    assert re.search(r"^\d+ passed(, \d+ warnings?)? in", ran, re.M), ran
    said = running(copy, *TESTS, "-k", f"{NAME} or in_its_folder or finding")
    assert failures(said) == [test for test, _ in LEFT]
    for _, message in LEFT:
        assert message in said
    assert " passed" in said


@pytest.mark.long
def test_a_chapter_without_exercises_or_answers_is_refused(copy):
    scaffold(copy, NAME)
    (copy / "tests/book" / NAME / "answers.py").unlink()
    said = running(copy, "tests/book/checking/test_answers.py", "-k", "every_check_of_a_chapter")
    assert failures(said) == [f"test_every_check_of_a_chapter_is_tried[{NAME}]"]
    for kind in ("exercises", "solutions"):
        (copy / "book" / NAME / f"{NAME}_{kind}.ipynb").unlink()
    said = running(copy, "tests/book/test_exercises.py", "-k", "passed_over")
    assert failures(said) == [f"test_a_chapter_without_exercises_is_not_passed_over[{NAME}]"]
    assert f"write the exercises in book/{NAME}/{NAME}_solutions.ipynb" in said


def snapshot(copy: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in copy.rglob("*") if file.is_file()}


def test_it_goes_to_the_end_of_its_part_and_is_not_written_twice(copy, capsys):
    main(copy, [NAME, "--part", "The idea"])
    before, _, _ = (copy / "book/index.md").read_text("utf8").partition(f"- [Zebras]({NAME}/")
    assert before.endswith("(beyond_the_trained_length/beyond_the_trained_length.ipynb)\n")
    toc = (copy / "_toc.yml").read_text("utf8")
    assert toc.index("the_trained_length") < toc.index(NAME) < toc.index("debug_the_idea")
    assert all((copy / at).exists() for at in files(NAME))
    said = capsys.readouterr().out
    assert f"wrote book/{NAME}/{NAME}_exercises.ipynb\n" in said
    assert "python -m pytest tests/book/test_chapters.py" in said
    written = snapshot(copy)
    for arguments, message in (
        ([NAME], f"book/{NAME} is there already: take another name"),
        (["lions"], f"{NAME}/figures/square.js is a new chapter's: finish that first"),
    ):
        with pytest.raises(SystemExit):
            main(copy, arguments)
        assert message in capsys.readouterr().err
    assert snapshot(copy) == written


@pytest.mark.parametrize(
    ("name", "part", "message"),
    [
        ("two-words", None, "'two-words' cannot be a chapter's name: write its topic as a Python"),
        ("class", None, "cannot be a chapter's name"),
        ("debug_it", None, "that does not begin with debug_"),
        ("page", None, "book/page is there already"),
        ("sentences", None, "book/sentences.py is there already"),
        ("grading", None, "tests/book/grading is there already"),
        (NAME, "No part", "no part 'No part'; there are The idea, The model, What it gained"),
    ],
)
def test_what_cannot_be_written_is_refused(copy, name, part, message):
    before = snapshot(copy)
    with pytest.raises(ValueError, match=re.escape(message)):
        scaffold(copy, name, part)
    assert snapshot(copy) == before


def test_what_is_written_is_formatted(copy):
    scaffold(copy, NAME)
    ruff = Path(sys.executable).with_name("ruff")
    for command in (["check"], ["format", "--check"]):
        command = [ruff, *command, "--no-cache", f"book/{NAME}", f"tests/book/{NAME}"]
        assert subprocess.run(command, cwd=copy).returncode == 0
