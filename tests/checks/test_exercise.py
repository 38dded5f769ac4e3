"""The mechanism, on an exercise of its own: halve(x), half of a tensor."""

import json
import random
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from companion import checks
from companion.checks import Verdict
from companion.checks.exercise import Mistake, call, compare, exercise

CASES = [{"x": torch.tensor([4.0])}, {"x": torch.tensor([1.0, 3.0])}]
MISTAKES = {
    "it doubles": lambda x: (x * 2,),
    "it takes the root": lambda x: (x.sqrt(),),
    "it adds": lambda x: (x + x[1],),
}


@exercise
def halve(answer) -> str:
    compare(answer, CASES, lambda x: (x / 2,), MISTAKES)
    return "two tensors"


def test_right_answer():
    assert halve(lambda x: x * 0.5) == Verdict("passed", tried="two tensors")


def test_the_mistake_has_a_name_and_the_smallest_input_that_shows_it():
    verdict = halve(lambda x: x + x)
    assert verdict.mistake == "it doubles"
    assert verdict.example == "x = [4.]\nexpected = [2.]\nyours = [8.]"


def test_the_smallest_input_may_not_be_the_first():
    """The root of 4 is the half of 4."""
    verdict = halve(torch.sqrt)
    assert verdict.mistake == "it takes the root"
    assert verdict.example.startswith("x = [1., 3.]")


def test_what_was_right_is_said_of_a_mistake_without_a_name():
    verdict = halve(lambda x: x * 0.5 if len(x) == 1 else x + 0.5)
    assert verdict.example.endswith("yours = [1.5, 3.5]\nit was right on x (1,)")
    verdict = halve(lambda x: x / 2 if len(x) == 1 else x / undefined)  # noqa: F821
    assert verdict.mistake.startswith("it raised NameError")
    assert verdict.example.endswith("x = [1., 3.]\nit was right on x (1,)")


def test_results_may_be_left_out_only_where_they_are_optional():
    def right(x):
        return x / 2, x

    compare(lambda x: x / 2, CASES, right, {}, optional=1)
    with pytest.raises(Mistake, match="1 of 2 results"):
        compare(lambda x: x / 2, CASES, right, {})


def test_a_difference_too_small_or_too_far_inside_to_be_seen_is_pointed_at():
    verdict = halve(lambda x: x / 2 + 3e-4)
    assert verdict.example == "x = [4.]\nexpected at [0] = 2\nyours = 2.0003"
    wide = {"x": torch.zeros(3, 7)}
    with pytest.raises(Mistake) as caught:
        compare(lambda x: x.index_fill(1, torch.tensor(5), 1), [wide], lambda x: (x,), {})
    assert caught.value.example.endswith("expected at [0, 5] = 0\nyours = 1")


def test_of_several_results_the_wrong_one_is_pointed_at():
    def right(x):
        return x / 2, x

    with pytest.raises(Mistake) as caught:
        compare(lambda x: (x / 2, x + 1), CASES, right, {})
    assert caught.value.example == "x = [4.]\nexpected as result 2 of 2 = [4.]\nyours = [5.]"


def test_nothing_is_said_of_inputs_without_a_shape():
    given = [{"n": 1}, {"n": 2}]
    with pytest.raises(Mistake) as caught:
        compare(lambda n: n**2, given, lambda n: (n,), {}, kind=int, numbers=np.integer)
    assert caught.value.example == "n = 2\nexpected = 2\nyours = 4"


def test_the_line_that_is_shown_is_the_learners_own():
    """Not the line of Python's own library in which the error came up."""
    verdict = halve(lambda x: json.loads("{"))
    assert "json.loads" in verdict.example and "decode" not in verdict.example


def test_a_check_with_a_broken_reference_is_an_error():
    def broken_reference(x):
        raise ValueError("a bug in the check")

    with pytest.raises(ValueError, match="a bug in the check"):
        compare(torch.exp, CASES, broken_reference, {})


def test_a_name_needs_the_same_numbers_on_all_inputs():
    verdict = halve(lambda x: x * 2 if len(x) == 1 else x * 3)
    assert verdict.mistake == "the numbers are wrong"


def test_a_mistake_without_a_name_can_be_given_one():
    with pytest.raises(Mistake, match="is it a half"):
        compare(torch.exp, CASES, lambda x: (x / 2,), {}, otherwise="is it a half?")


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda x: {"x": x / 2}, "it returned dict, expected numbers"),
        (lambda x: (), "an empty tuple"),
        (lambda x: None, "it returned None; is the `return` missing?"),
        (lambda x: x > 2, "it returned bool, expected floating numbers"),
        (lambda x: (x / 2)[None], "it returned shape (1, 1), expected (1,)"),
        (lambda x: x / 0, "it returned NaN or infinity"),
        (lambda x: (x / 2, x), "it returned 2 results, expected 1"),
        (lambda x: x.div_(2), "it changes its input x"),
        (lambda x: x.unsqueeze_(0)[0] / 2, "it changes its input x"),
        (lambda: None, "it raised TypeError"),
        (torch.zeros(3), "expected a function or a class, got Tensor"),
        (..., "expected a function or a class, got ellipsis"),
    ],
)
def test_mistakes_of_any_exercise(answer, mistake):
    verdict = halve(answer)
    assert verdict.status == "mistake"
    assert mistake in verdict.mistake


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: (x / 2).double(),
        lambda x: [x / 2],
        lambda x: (x / 2).tolist(),
        lambda x: x.numpy() / 2,
    ],
)
def test_other_forms_of_a_right_answer(answer):
    halve(answer).require()


def test_integers_and_truth_values_are_compared_exactly():
    large = [{"x": torch.tensor([300_000])}]
    with pytest.raises(Mistake, match="the numbers are wrong"):
        compare(lambda x: x + 1, large, lambda x: (x,), {}, numbers=np.integer)
    with pytest.raises(Mistake, match=r"it returned float32, expected integers"):
        compare(lambda x: x.float(), large, lambda x: (x,), {}, numbers=np.integer)
    compare(lambda x: x > 0, large, lambda x: (x == x,), {}, numbers=np.bool_)
    wide = [{"x": torch.arange(20)}]
    with pytest.raises(Mistake) as caught:
        compare(lambda x: x > 3, wide, lambda x: (x > 4,), {}, numbers=np.bool_)
    assert caught.value.example.endswith("expected at [4] = False\nyours = True")


def test_the_answer_may_be_one_number():
    given = [{"n": 65_000_000}]
    compare(lambda n: n + 1, given, lambda n: (n + 1,), {}, kind=int, numbers=np.integer)
    with pytest.raises(Mistake) as caught:
        compare(lambda n: n, given, lambda n: (n + 1,), {}, kind=int, numbers=np.integer)
    assert caught.value.example == "n = 65000000\nexpected = 65000001\nyours = 65000000"
    with pytest.raises(Mistake, match="it returned float, expected int"):
        compare(lambda n: n / 1, given, lambda n: (n,), {}, kind=int, numbers=np.integer)


def test_a_function_is_shown_without_its_address():
    with pytest.raises(Mistake) as caught:
        call(lambda layer: None, layer=lambda x: x)
    assert caught.value.example == "layer = a function"


def test_what_the_answer_raises_is_shown_with_its_line():
    def broken(x):
        return x / undefined  # noqa: F821

    verdict = halve(broken)
    assert verdict.mistake == "it raised NameError: name 'undefined' is not defined"
    assert verdict.example.startswith("in broken, line ")
    assert "return x / undefined" in verdict.example
    assert verdict.example.endswith("x = [4.]")


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


def test_errors_of_the_check_itself_are_not_hidden():
    @exercise
    def broken_check(answer):
        raise KeyError("a bug in the check")

    with pytest.raises(KeyError):
        broken_check(lambda x: x)


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
    verdict = checks.multi_head_attention.my_multi_head(lambda d_model, num_heads: torch.relu)
    assert "nn.Module" in verdict.mistake
