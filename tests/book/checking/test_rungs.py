"""A ladder is read from the source of a function."""

import math

import pytest
import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder
from book.checking.verdict import Verdict


def _halve(x):
    factor = 0.5
    return factor * x


TWO = [4.0, 6.0]


def two_numbers():
    return torch.tensor(TWO)


@ladder(_halve)
def HALVE(halve):
    factor = 1

    """one number"""
    yield factor * halve(torch.tensor([4.0]))

    """two numbers,
    each by itself"""
    x = two_numbers() * math.sqrt(1)
    # nothing else
    yield halve(
        x,
    )


HALVE.mistakes |= {
    "it doubles": lambda x: 2.0 * x,
    "it adds": edited(_halve, "factor * x", "factor * x.sum()"),
    "it takes the root of what it should halve": edited(_halve, "0.5", "1", "* x", "* x.sqrt()"),
}


@exercise
def halve(answer) -> str:
    climb(HALVE, answer)
    return "one number and two"


def test_a_function_is_a_ladder():
    assert [idea for idea, _ in HALVE.rungs] == ["one number", "two numbers, each by itself"]
    assert HALVE.rungs[0].code == "factor = 1\nfactor * halve(torch.tensor([4.0]))"
    assert HALVE.rungs[1].code == (
        "import math\nTWO = [4.0, 6.0]\n\ndef two_numbers():\n    return torch.tensor(TWO)\n\n"
        "factor = 1\n"
        "x = two_numbers() * math.sqrt(1)\n# nothing else\nhalve(\n    x,\n)"
    )
    assert halve(lambda x: x / 2) == Verdict("passed", tried="one number and two")


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda x: x + x, "it doubles"),
        (lambda x: x.prod().expand(len(x)) / 2, "on this case: two numbers, each by itself"),
        (torch.sqrt, "it takes the root of what it should halve"),
    ],
)
def test_a_mistake_is_known_by_what_it_gives_or_by_the_idea(answer, mistake):
    assert halve(answer).mistake == mistake


def no_idea(halve):
    yield halve(1)


def nothing_is_judged(halve):
    """one"""
    yield halve(1)

    """two"""
    halve(2)


@pytest.mark.parametrize("steps", [no_idea, nothing_is_judged])
def test_a_function_that_is_no_ladder(steps):
    with pytest.raises(ValueError, match="is no ladder"):
        ladder(_halve)(steps)


@pytest.mark.parametrize("old", ["0.7", "factor"])
def test_an_edit_changes_one_place(old):
    with pytest.raises(ValueError, match=f"'{old}' stands [02] times"):
        edited(_halve, old, "2.0")
