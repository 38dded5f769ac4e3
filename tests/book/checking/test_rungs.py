"""Ladders in plain text."""

import pytest
import torch

from book.checking.exercise import exercise, ladder
from book.checking.rungs import rungs
from book.checking.verdict import Verdict


def _halve(x):
    factor = 0.5
    return factor * x


HALVE = rungs(
    _halve,
    """
one number
    halve(torch.tensor([4.0]))
  - it doubles
    0.5 => 2.0
two numbers,
each by itself
    x = torch.tensor([4.0, 6.0])
    halve(x)
  - it adds
    factor * x => factor * x.sum()
  - it takes the root of what it
  should halve
    factor * x => x.sqrt()
""",
    before="import math\n",
)


@exercise
def halve(answer) -> str:
    ladder(HALVE, _halve, halve=answer)
    return "one number and two"


def test_a_text_is_a_ladder():
    ideas = [rung.idea for rung in HALVE]
    assert ideas == ["one number", "two numbers, each by itself"]
    assert HALVE[1].code == "import math\nx = torch.tensor([4.0, 6.0])\nhalve(x)"
    assert [*HALVE[0].instead] == [*HALVE.mistakes]
    assert next(iter(HALVE[1].instead)) == "it adds"  # its own come first
    assert halve(lambda x: x / 2) == Verdict("passed", tried="one number and two")


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda x: x + x, "it doubles"),
        (lambda x: x.sum().expand(len(x)) / 2, "two numbers, each by itself"),
        (torch.sqrt, "it takes the root of what it should halve"),
    ],
)
def test_a_mistake_is_known_by_its_edit_or_by_the_idea(answer, mistake):
    assert halve(answer).mistake == mistake


def test_a_mistake_is_looked_for_on_every_rung():
    """The root of 4 is its half: the root is found out on the second rung only."""
    mistake = halve(lambda x: 2 * x if len(x) > 1 else x / 2).mistake
    assert mistake.endswith("One mistake that gives the same result here: it doubles")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("one\n    halve(1)\n  - it doubles\n    0.7 => 2.0", "no '0.7'"),
        ("one\n    halve(1)\n  - it doubles\n    2.0", "no '2.0'"),
        ("one\n halve(1)", "column 1"),
    ],
)
def test_a_text_that_is_no_ladder(text, message):
    with pytest.raises(ValueError, match=message):
        rungs(_halve, text)
