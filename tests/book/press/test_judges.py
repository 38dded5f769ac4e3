"""The page that compares our checks with those of two other courses, and its table."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.judges import JUDGES, ask_ours, counted, told
from benchmarks.judges_answers import ANSWERS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "book" / "exercises" / "judges.md"
MEASURED = (ROOT / "benchmarks" / "judges.md").read_text("utf8")
WRONG = [answer for answer in ANSWERS if answer.says]


def rows_of(number: int) -> list[list[str]]:
    """The cells of a table of the measurement, without its line of dashes."""
    tables = [part.strip() for part in MEASURED.split("\n\n") if part.startswith("| ")]
    lines = tables[number].splitlines()
    return [line[2:-2].split(" | ") for line in [lines[0], *lines[2:]]]


COUNTS, WORDS, TEXTS = map(rows_of, range(3))


def test_the_page_shows_the_measurement():
    [path] = [line.split()[1] for line in PAGE.read_text("utf8").split("\n") if "{include}" in line]
    assert (PAGE.parent / path).read_text("utf8") == MEASURED


def test_every_wrong_answer_is_in_the_table_with_every_judge():
    assert WORDS[0] == ["task", "wrong answer", *JUDGES.values()]
    assert [row[:2] for row in WORDS[1:]] == [[answer.task, answer.what] for answer in WRONG]
    for answer, row in zip(WRONG, WORDS[1:], strict=True):
        for judge, cell in zip(JUDGES, row[2:], strict=True):
            spared = {answer.spares[judge]} if judge in answer.spares else set()
            assert cell in spared or (cell in {"named", "rejected", "accepted", "–"} and not spared)
    assert [row[0] for row in TEXTS[1:]] == [f"{answer.task}: {answer.what}" for answer in WRONG]


def test_the_counts_are_those_of_the_words():
    words = {"named", "rejected", "accepted"}
    for row in COUNTS[1:-3]:
        of_task = [cells[2:] for cells in WORDS[1:] if cells[0] == row[0]]
        columns = zip(*of_task, strict=True)
        assert row[1:] == [counted([word for word in c if word in words]) for c in columns]
    of_all = [cells[2:] for cells in WORDS[1:] if words.issuperset(cells[2:])]
    assert COUNTS[-3][1:] == [counted([*column]) for column in zip(*of_all, strict=True)]
    columns = zip(*(cells[2:] for cells in WORDS[1:]), strict=True)
    everything = [[word for word in column if word in words] for column in columns]
    assert COUNTS[-2][1:] == [counted(column) for column in everything]
    rights = len(ANSWERS) - len(WRONG)
    assert COUNTS[-1][:2] == ["right answers accepted", f"{rights} of {rights}"]


@pytest.mark.parametrize("task", dict.fromkeys(answer.task for answer in ANSWERS))
def test_the_table_says_what_our_checks_say_now(task):
    answers = [a for a in ANSWERS if a.task == task and "ours" not in a.spares]
    said = {answer.what: told(answer, ask_ours(answer)) for answer in answers if answer.says}
    measured = {row[1]: row[2] for row in WORDS[1:] if row[0] == task}
    assert said.items() <= measured.items()
    assert not any(ask_ours(answer) for answer in answers if not answer.says)


def test_no_two_answers_are_called_the_same():
    names = Counter((answer.task, answer.what) for answer in ANSWERS)
    assert {*names.values()} == {1}
