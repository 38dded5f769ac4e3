"""Every check on the answers that it must accept, and on those that it must name."""

from collections import Counter
from functools import cache
from importlib import import_module

import pytest

from book._grading.student import sources
from book.checking.exercise import COULD_NOT_JUDGE
from book.checking.verdict import Verdict
from book.full_model.checks import smoothed_loss
from book.self_attention.checks import masked_attention
from tests.book.answers import RIGHT, WRONG, Answer, chapters, core_checks, ladders
from tests.book.exercises import ROOT

chapters()  # importing them fills the lists
FOLDERS = sorted({path.parent.name for path in sources(ROOT).values()})  # with exercises


@pytest.mark.parametrize("answer", RIGHT, ids=str)
def test_right_answers_pass(answer):
    verdict = answer.check(answer.answer)
    assert verdict == Verdict("passed", tried=verdict.tried), verdict
    assert verdict.tried
    verdict.require()


@cache
def verdict_on(answer: Answer) -> Verdict:
    return answer.check(answer.answer)


@pytest.mark.parametrize("answer", WRONG, ids=str)
def test_wrong_answers_are_told_their_mistake(answer):
    verdict = verdict_on(answer)
    assert verdict.status == "mistake"
    assert answer.mistake in verdict.mistake, verdict
    assert COULD_NOT_JUDGE not in verdict.mistake, verdict
    assert verdict.example
    with pytest.raises(AssertionError, match="Not yet right"):
        verdict.require()


CHECKS = {answer.check for answer in RIGHT + WRONG}
LAST = {answer.check: answer for answer in WRONG}


@pytest.mark.parametrize("answer", LAST.values(), ids=str)
def test_a_verdict_is_the_same_from_call_to_call(answer):
    assert answer.check(answer.answer) == verdict_on(answer)


@pytest.mark.parametrize("check", sorted(CHECKS, key=str), ids=lambda check: check.__name__)
def test_unattempted_answers_are_not_judged(check):
    def stub(*arguments):
        raise NotImplementedError

    assert check(stub) == Verdict("not attempted")


@pytest.mark.parametrize("check", sorted(CHECKS, key=str), ids=lambda check: check.__name__)
def test_every_check_has_answers_enough(check):
    """Two right ones; wrong ones are also the mistakes that its ladder knows."""
    rights, wrongs = (Counter(answer.check for answer in group)[check] for group in (RIGHT, WRONG))
    known = len(ladders()[check].mistakes) if check in ladders() else 0
    assert rights >= 2
    assert wrongs + known >= (6 if check in core_checks() else 3)
    assert known <= 18  # a longer ladder asks for another exercise


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_check_of_a_chapter_is_tried(folder):
    checks = import_module(f"book.{folder}.checks")
    functions = [f for f in vars(checks).values() if hasattr(f, "__wrapped__")]
    found = {f for f in functions if f.__module__ == checks.__name__}
    assert found and found <= CHECKS, f"give the answers in tests/book/{folder}/answers.py"


def test_an_exercise_is_core_if_its_card_says_importance_3():
    core, checks_of_all = core_checks(), {answer.check for answer in RIGHT}
    assert masked_attention in core  # importance 3 of 3
    assert smoothed_loss not in core  # importance 2 of 3
    assert core < checks_of_all
