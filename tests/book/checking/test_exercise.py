"""The mechanism, on an exercise of its own: halve(x), half of a tensor."""

import json
import random
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from book.checking.exercise import Mistake, call, climb, exercise
from book.checking.rungs import ladder
from book.checking.verdict import Verdict
from book.multi_head_attention.checks import my_multi_head


def _halve(x):
    return x / 2


@ladder(_halve)
def STEPS(halve):
    """half of 4 is 2"""
    x = torch.tensor([4.0])
    yield halve(x)

    """each number by itself"""
    x = torch.tensor([1.0, 3.0])
    yield halve(x)


STEPS.mistakes |= {"it doubles": lambda x: 2 * x}


@exercise
def halve(answer) -> str:
    climb(STEPS, answer)
    return "two tensors"


def test_the_line_that_is_shown_is_the_learners_own():
    """Not the line of Python's own library in which the error came up."""
    verdict = halve(lambda x: json.loads("{"))
    assert "json.loads" in verdict.example and "decode" not in verdict.example


@pytest.mark.parametrize("answer", [torch.zeros(3), ...])
def test_what_cannot_be_called_is_no_answer(answer):
    assert halve(answer).mistake.startswith("expected a function or a class, got ")


def test_a_function_is_shown_without_its_address():
    with pytest.raises(Mistake) as caught:
        call(lambda layer: None, layer=lambda x: x)
    assert caught.value.example == "layer = a function"


def test_what_the_answer_raises_is_shown_with_its_line():
    def broken(x):
        return x / undefined  # noqa: F821

    verdict = halve(broken)
    said = "it raised NameError: name 'undefined' is not defined"
    assert verdict.mistake == f"{said}, when this was tried: half of 4 is 2"
    assert verdict.example.startswith("in broken, line ")
    assert "return x / undefined" in verdict.example
    assert verdict.example.endswith("halve(x)")


def test_the_line_is_the_learners_and_not_that_of_a_library():
    class Broken(nn.Module):
        def forward(self, x):
            return nn.Linear(2, 3)(x)

    assert "return nn.Linear(2, 3)(x)" in halve(Broken()).example


def test_the_cause_is_kept():
    with pytest.raises(Mistake) as caught:
        call(lambda x: 1 / x, x=0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_not_attempted_wherever_it_is_raised():
    class Stub(nn.Module):
        def forward(self, x):
            raise NotImplementedError("your turn")

    assert halve(Stub()) == Verdict("not attempted")


def test_warnings_of_the_answer_do_not_change_the_verdict():
    def warns(x):
        warnings.warn("deprecated", DeprecationWarning, stacklevel=1)
        np.array([1.0]) / np.array([0.0])
        return x / 2

    halve(warns).require()


def test_the_learners_random_numbers_go_on_undisturbed():
    def draw():
        return torch.rand(1).item(), random.random(), np.random.rand()  # noqa: NPY002

    states = torch.get_rng_state(), random.getstate(), np.random.get_state()  # noqa: NPY002
    expected = draw()
    torch.set_rng_state(states[0])
    random.setstate(states[1])
    np.random.set_state(states[2])  # noqa: NPY002
    halve(lambda x: draw() and x / 2)
    assert draw() == expected


def test_random_answers_are_judged_on_the_same_numbers_each_time():
    def noisy(x):
        return x * torch.rand(()) + random.random() + np.random.rand()  # noqa: NPY002

    assert halve(noisy) == halve(noisy)


def test_a_function_where_a_class_is_due():
    verdict = my_multi_head(lambda d_model, num_heads: torch.relu)
    assert "nn.Module" in verdict.mistake
