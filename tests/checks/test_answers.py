"""Every check on the answers that it must accept, and on those that it must name."""

from collections import Counter

import pytest

from companion.checks import Verdict
from tests.checks import answers_self_attention
from tests.checks.answers import RIGHT, WRONG

CHAPTERS = [answers_self_attention]
CORE = {"attention", "masked_attention", "broken_layers", "my_multi_head"}


@pytest.mark.parametrize("answer", RIGHT, ids=str)
def test_right_answers_pass(answer):
    verdict = answer.check(answer.answer)
    assert verdict == Verdict("passed", tried=verdict.tried), verdict
    assert verdict.tried
    verdict.require()


@pytest.mark.parametrize("answer", WRONG, ids=str)
def test_wrong_answers_are_told_their_mistake(answer):
    verdict = answer.check(answer.answer)
    assert verdict.status == "mistake"
    assert answer.mistake in verdict.mistake, verdict
    assert verdict.example
    with pytest.raises(AssertionError, match="Not yet right"):
        verdict.require()
    assert answer.check(answer.answer) == verdict, "the verdict changes from call to call"


CHECKS = {answer.check for answer in RIGHT + WRONG}


@pytest.mark.parametrize("check", sorted(CHECKS, key=str), ids=lambda check: check.__name__)
def test_unattempted_answers_are_not_judged(check):
    def stub(*arguments):
        raise NotImplementedError

    assert check(stub) == Verdict("not attempted")


@pytest.mark.parametrize("check", sorted(CHECKS, key=str), ids=lambda check: check.__name__)
def test_every_check_has_answers_enough(check):
    rights, wrongs = (Counter(answer.check for answer in group)[check] for group in (RIGHT, WRONG))
    assert rights >= 2
    assert wrongs >= (6 if check.__name__ in CORE else 3)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.__name__)
def test_every_check_of_a_chapter_is_tried(chapter):
    name = chapter.__name__.rpartition(".answers_")[2]
    module = getattr(__import__("companion.checks", fromlist=[name]), name)
    checks = {f for f in vars(module).values() if hasattr(f, "__wrapped__")}
    assert checks and checks <= CHECKS
