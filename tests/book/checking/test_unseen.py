"""The checks on answers that were written without them."""

from importlib import import_module
from itertools import groupby

import pytest

from book.checking.exercise import COULD_NOT_JUDGE
from tests.book.exercises import CHECK, EXERCISES
from tests.book.unseen import UNSEEN


def whose(answer) -> tuple[str, str]:
    return answer.chapter, answer.exercise


GROUPS = {name: [*answers] for name, answers in groupby(sorted(UNSEEN, key=whose), whose)}


@pytest.mark.long
@pytest.mark.parametrize("exercise", GROUPS, ids=".".join)
def test_right_ones_pass_and_wrong_ones_are_rejected(exercise):
    chapter, name = exercise
    check = getattr(import_module(f"book.{chapter}.checks"), name)
    told = {f"{i} {x}": (check(x.answer), x.slip) for i, x in enumerate(GROUPS[exercise])}
    judged = {who: verdict.status for who, (verdict, _) in told.items()}
    assert judged == {who: "mistake" if slip else "passed" for who, (_, slip) in told.items()}
    for verdict, slip in told.values():
        if slip:
            assert COULD_NOT_JUDGE not in verdict.mistake
            assert verdict.example


def test_there_are_some_to_exercises_of_every_part():
    calls = [CHECK.match(cell.source) for exercise in EXERCISES for cell in exercise.cells]
    assert {(call[1], call[2]) for call in calls if call} >= set(GROUPS)
    assert sum(bool(x.slip) for x in UNSEEN) >= 400
