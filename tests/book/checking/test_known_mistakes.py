"""Mistakes that a ladder knows by name: each is told, and none is taken for another."""

from functools import cache
from itertools import combinations

import pytest
import torch

import book.embeddings.checks
import book.multi_head_attention.checks
import book.one_word_at_a_time.checks
import book.self_attention.checks
from book.checking.calls import run
from book.checking.results import alike
from book.checking.rungs import Ladder
from tests.book.answers import chapters, ladders

chapters()  # importing them fills the lists
each_ladder = pytest.mark.parametrize("check", ladders(), ids=lambda check: check.__name__)


@each_ladder
def test_every_mistake_of_a_ladder_is_told_by_its_own_name(check):
    """Known wrong answers are answers, too: none may be taken for another, or for a right one."""
    told = {mistake: check(wrong).mistake for mistake, wrong in ladders()[check].mistakes.items()}
    assert told == {mistake: mistake for mistake in told}


@cache
def results(check) -> dict[str, list]:
    """A known mistake, or "" for the right answer -> what it gives on each rung, or its error."""
    ladder: Ladder = ladders()[check]

    def on(code: str, answer):
        try:
            return run(code, ladder.name, answer)[0]
        except Exception as error:
            return type(error).__name__

    answers = {"": ladder.right, **ladder.mistakes}
    return {
        mistake: [on(code, answer) for _, code in ladder.rungs]
        for mistake, answer in answers.items()
    }


def told_apart(check, one: str, other: str) -> list[bool]:
    """Whether each rung tells these two apart."""
    optional = ladders()[check].optional
    pairs = zip(results(check)[one], results(check)[other], strict=True)
    return [not (alike(x, y, optional) or alike(y, x, optional)) for x, y in pairs]


@each_ladder
def test_every_two_mistakes_are_told_apart_on_some_rung(check):
    pairs = combinations(results(check), 2)
    assert not [pair for pair in pairs if not any(told_apart(check, *pair))]


@each_ladder
def test_every_mistake_has_a_case_that_tells_it_from_the_others(check):
    """From all but two at most: that case is what somebody who makes the mistake is shown."""
    known = ladders()[check].mistakes
    for mistake in known:
        shows = told_apart(check, "", mistake)
        alike_there = [0] * len(shows)
        for other in known.keys() - {mistake}:
            alike_there = [
                n + (not x)
                for n, x in zip(alike_there, told_apart(check, mistake, other), strict=True)
            ]
        assert min(n for n, wrong in zip(alike_there, shows, strict=True) if wrong) <= 2, mistake


def rooted_and_from_one(table, ids):
    return table[ids - 1] * table.shape[1] ** 0.5


def rooted(table, ids):
    return table[ids] * table.shape[1] ** 0.5


def by_d_k_and_without_mask(query, key, value, mask):
    return (query @ key.mT / query.shape[-1]).softmax(-1) @ value


def by_d_k(query, key, value, mask):
    weights = (query @ key.mT / query.shape[-1]).masked_fill(~mask, -torch.inf).softmax(-1)
    return weights.nan_to_num() @ value


def sums_of_all(words):
    return words.sum(0).expand_as(words)


def sums_so_far(words):
    return words.cumsum(0)


def unshared_and_behind(x, num_heads):
    return x.unflatten(-1, (-1, num_heads))


def unshared(x, num_heads):
    return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)


@pytest.mark.parametrize(
    ("check", "two_mistakes", "one_mended"),
    [
        (book.embeddings.checks.look_up, rooted_and_from_one, rooted),
        (book.self_attention.checks.masked_attention, by_d_k_and_without_mask, by_d_k),
        (book.one_word_at_a_time.checks.so_far, sums_of_all, sums_so_far),
        (book.multi_head_attention.checks.split_heads, unshared_and_behind, unshared),
    ],
)
def test_where_one_of_two_mistakes_is_mended_the_other_is_told_in_its_own_words(
    check, two_mistakes, one_mended
):
    before, after = check(two_mistakes), check(one_mended)
    assert before.status == after.status == "mistake"
    assert before.mistake != after.mistake
