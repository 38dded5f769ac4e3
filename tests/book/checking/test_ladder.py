"""Ladders, and what a check neither trusts nor leaves behind, on an exercise of its own: halve."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

from book.checking.exercise import AGAIN, Mistake, climb, exercise
from book.checking.results import visible_fact
from book.checking.rungs import Ladder, Rung, ladder
from book.checking.verdict import Verdict


def hold(rungs, right, mistakes=None, optional=0, **answer):
    """Climb a ladder whose rungs are given as text."""
    [(name, given)] = answer.items()
    climb(Ladder(right, name, rungs, optional, mistakes or {}), given)


def _halve(x):
    return x / 2


@ladder(_halve)
def HALVES(halve):
    """half of 0 is 0"""
    yield halve(torch.zeros(1))

    """half of 4 is 2, of 1 it is 0.5"""
    x = torch.tensor([4.0, 1.0])
    yield halve(x)

    """rows and columns stay"""
    yield halve(torch.rand(4, 5))


HALVES.mistakes |= {"it doubles": lambda x: 2 * x}


@exercise
def halve(answer) -> str:
    climb(HALVES, answer)
    return "three tensors"


@exercise
def largest_and_sum(answer) -> str:
    rungs = [Rung("both of three numbers", "both(torch.tensor([1.0, 5.0, 2.0]))")]
    hold(rungs, lambda x: (x.max(), x.sum()), optional=1, both=answer)
    return "three numbers"


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: x / 2,
        lambda x: x.double() * 0.5,
        lambda x: (x / 2).tolist(),
        lambda x: tuple((x / 2).tolist()),
        lambda x: [*(x / 2)],
        lambda x: (
            [[Fraction(n) / 2 for n in row] for row in x.tolist()]
            if x.dim() > 1
            else [Fraction(n) / 2 for n in x.tolist()]
        ),
        lambda x: x.numpy() / 2,
        lambda x: [x / 2],
        lambda x: (x / 2).requires_grad_(),
        lambda x: [0] if len(x) == 1 else x / 2,
    ],
)
def test_numbers_are_numbers_in_whatever_form(answer):
    assert halve(answer) == Verdict("passed", tried="three tensors")


def test_the_last_results_may_be_left_out_where_the_check_says_so():
    for answer in (lambda x: x.max(), lambda x: x.max().item(), lambda x: [5, 8]):
        largest_and_sum(answer).require()
    verdict = largest_and_sum(lambda x: (5, 9))
    assert verdict.mistake == "on this case: both of three numbers"
    assert verdict.example.endswith("expected as result 2 of 2 = 8.\nyours = 9")
    verdict = largest_and_sum(lambda x: (5, 8, 2))
    assert (
        verdict.mistake == "it returned 3 results, expected 2; on this case: both of three numbers"
    )


def test_a_list_of_one_row_is_a_matrix_of_one_row():
    rows = [Rung("a matrix of one row", "row(torch.rand(3))")]
    for answer in (lambda x: x[None], lambda x: [x], lambda x: [x[None]], lambda x: [x.tolist()]):
        hold(rows, lambda x: x[None], row=answer)


def test_the_first_rung_that_fails_names_its_idea_and_can_be_run_again():
    verdict = halve(lambda x: x + 1)
    assert verdict.mistake == "on this case: half of 0 is 0"
    assert verdict.example == "halve(torch.zeros(1))\nexpected = [0.]\nyours = [1.]"


def test_a_mistake_that_is_known_is_told_where_it_alone_fits_all_inputs():
    assert halve(lambda x: x + x).mistake == "it doubles"
    seen = "on this case: half of 4 is 2, of 1 it is 0.5"
    assert halve(lambda x: x * x / 8).mistake == seen
    seen = "all numbers are 4 times what is expected; on this case: "
    verdict = halve(lambda x: x / 2 if x.dim() == 1 else 2 * x)
    assert verdict.mistake == f"{seen}rows and columns stay"
    verdict = halve(lambda x: 2 * x if x.tolist() == [4, 1] else x / 2)
    assert verdict.mistake == f"{seen}half of 4 is 2, of 1 it is 0.5"


def test_where_two_known_mistakes_fit_none_is_told():
    both = {"it takes 2": lambda x: x - 2, "it takes the root": lambda x: x * 0 + 2}
    rungs = [Rung("half of 8 is 4", "halve(torch.tensor(8.0))"), Rung("of 4", "halve(4.0)")]
    with pytest.raises(Mistake, match="the root"):
        hold(rungs, lambda x: x / 2, both, halve=lambda x: 2)
    with pytest.raises(Mistake, match="on this case: of 4"):
        hold(rungs[1:] * 2, lambda x: x / 2 + 1, both, halve=lambda x: x - 2)


def test_the_example_is_the_first_that_tells_a_mistake_from_the_others():
    """Of 4 it is taken for another; of the two numbers 1 and 9 it is not."""
    known = {"it takes 2 away": lambda x: x - 2, "it returns 2": lambda x: 2 + 0 * x}
    texts = ["torch.tensor(4.0)", "torch.tensor([1.0, 9.0])"]
    rungs = [Rung(f"half of {text}, and 1", f"halve({text})") for text in texts]
    with pytest.raises(Mistake) as found:
        hold(rungs, lambda x: x / 2 + 1, known, halve=lambda x: x - 2)
    assert found.value.mistake == "it takes 2 away"
    assert found.value.example.startswith("halve(torch.tensor([1.0, 9.0]))\nexpected = ")


def test_what_stays_from_call_to_call_is_noticed():
    largest = [1.0]

    def running(x):
        largest[0] = max(largest[0], x.abs().sum().item())
        return x / 2 if largest[0] < 5 or x.dim() == 2 else x / 2 + largest[0] - 5

    assert halve(running).mistake == AGAIN


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        (lambda x: -x, "the sign is turned"),
        (lambda x: x.T, "rows and columns have changed places"),
        (lambda x: x.flip(1), "the numbers are in reverse order along axis 1"),
        (lambda x: x.roll(1, 0), "the numbers are one place off along axis 0"),
        (lambda x: x[:, [1, 0, 2]], "the numbers are right, but they stand in other places"),
        (lambda x: 0 * x + x.mean(0), "each number is the mean of what is expected along axis 0"),
        (lambda x: 0 * x + x.mean(), "a table comes back"),
        (lambda x: x + 3, "all numbers are too large by 3"),
        (lambda x: x - 3, "all numbers are too small by 3"),
        (lambda x: x / 4, "all numbers are 0.25 times what is expected"),
        (torch.log, "what it returns are the logarithms of what is expected"),
        (torch.exp, "what it returns are the exponentials of what is expected"),
        (lambda x: x.flatten(), "it returned shape (9,), expected (3, 3), with the right numbers"),
        (lambda x: x.sum(0), "expected (3, 3), the sum of what is expected over axis 0"),
        (lambda x: torch.stack([x - 1, x + 1]), "expected (3, 3), the mean of it over axis 0"),
        (lambda x: -abs(x - 2), "a table comes back"),
        (lambda x: x.round(), "the numbers are rounded to multiples of 1"),
        (lambda x: x.round(decimals=1), "the numbers are rounded to multiples of 0.1"),
        (lambda x: x.trunc(), "what is behind the point is cut off"),
        (
            lambda x: x.cumsum(1),
            "what it returns are the running sums of what is expected along axis 1",
        ),
        (
            lambda x: x / x.sum(1, keepdim=True),
            "the numbers keep their ratios along axis 1, but not their sum",
        ),
        (lambda x: x - x.mean(0), "the numbers keep their differences along axis 0, but not"),
        (lambda x: x ** torch.tensor([1, 1, 2])[:, None], "all is right but at the end of axis 0"),
        (
            lambda x: x + x.T * torch.tensor([0, 1, 1]),
            "nothing is right but at the beginning of axis 1",
        ),
        (lambda x: x + torch.diag(torch.arange(3)), "all is right but on the diagonal"),
        (lambda x: x + 1 - torch.eye(3), "nothing is right but on the diagonal"),
        (lambda x: x * x, "a table comes back"),
        (lambda x: 0 * x, "a table comes back"),
        (lambda x: x / 0, "it returned NaN or infinity"),
    ],
)
def test_what_can_be_seen_of_wrong_numbers_is_said(answer, seen):
    table = "torch.tensor([[0.45, 1, 4], [9, 2, 7], [3, 8, 0.75]])"
    with pytest.raises(Mistake) as found:
        hold([Rung("a table comes back", f"same({table})")], lambda x: x, same=answer)
    assert seen in found.value.mistake
    nothing = "on this case: a table comes back"
    assert (found.value.mistake == nothing) == (seen == "a table comes back")


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        (lambda x: x * (1 + len(x)), "all numbers are 4 times what is expected"),
        (lambda x: x - x.mean(0) if len(x) == 3 else x + 1 / x, ""),
        (lambda x: x - torch.tensor([0, 0, 1]) if len(x) == 3 else x + 1 / x, ""),
        (lambda x: x.round() if len(x) == 3 else x.round() + 1, ""),
        (lambda x: -x if len(x) == 3 else 1 / x, ""),
    ],
)
def test_what_another_input_refutes_is_not_said(answer, fact):
    rows = "[0.45, 1.2, 3.8]", "[1.0, 1, 1, 1]", "[2.0, 0.6, 7.1, 0.3, 1.4]"
    rungs = [Rung("a row comes back", f"same(torch.tensor({row}))") for row in rows]
    with pytest.raises(Mistake) as found:
        hold(rungs, lambda x: x, same=answer)
    case = "on this case: a row comes back"
    assert found.value.mistake == (f"{fact}; {case}" if fact else case)


def test_behind_a_long_preamble_nobody_has_to_look_for_the_results():
    rung = Rung("half of 4 is 2", "\n".join(["x = 4.0"] * 30 + ["halve(x)"]))
    with pytest.raises(Mistake) as found:
        hold([rung], _halve, halve=lambda x: x)
    assert found.value.example.startswith("expected = 2.\nyours = 4.\n\nx = 4.0\n")


SURPRISES = [Rung(f"surprise at {p}", f"surprise(torch.tensor({p}))") for p in (0.4, 0.2, 0.1)]
MORE_SURPRISES = [*SURPRISES, Rung("two at once", "surprise(torch.tensor([0.3, 0.7]))")]


@exercise
def surprise(answer) -> str:
    hold(MORE_SURPRISES, lambda p: -p.log2(), surprise=answer)
    return "five probabilities"


@pytest.mark.parametrize(
    ("answer", "relation"),
    [
        (lambda p: -100 * p.log2(), "100 times (in percent) what is expected"),
        (lambda p: -p.log(), "0.6931 times (ln 2, as with natural logarithms for those to base 2)"),
        (lambda p: -p.log10(), "0.301 times (ln 2 / ln 10, as with logarithms to base 10"),
        (lambda p: 3 * -p.log2(), "3 times what is expected"),
        (lambda p: 2 - p.log2(), "+2 off"),
        (lambda p: 1 + p.log2(), "1 minus what is expected"),
        (lambda p: p.log2() ** 2, "the square of what is expected"),
        (lambda p: (-p.log2()) ** 0.5, "the square root of what is expected"),
        (lambda p: -1 / p.log2(), "1 divided by what is expected"),
    ],
)
def test_how_all_results_follow_from_what_is_expected_is_said(answer, relation):
    said = surprise(answer).mistake
    assert said.startswith(f"all that it returns, on every input of this check, is {relation}")
    assert said.endswith("; on this case: surprise at 0.4")


POWERS = [
    Rung("2 to the power 3", "power(2.0, 3)"),
    Rung("powers of a list", "power(torch.tensor([2.0, 3.0]), 2)"),
    Rung("a higher power", "power(torch.tensor([0.5, 4.0, 1.0]), 5)"),
]


@exercise
def power(answer) -> str:
    hold(POWERS, lambda base, exponent: base**exponent, power=answer)
    return "six powers"


@pytest.mark.parametrize(
    ("answer", "case"),
    [
        (lambda base, exponent: base ** (exponent - 1), "`exponent` were smaller by 1"),
        (lambda base, exponent: (base + 1) ** exponent, "`base` were larger by 1"),
        (lambda base, exponent: (-base) ** exponent, "`base` had the other sign"),
    ],
)
def test_that_another_argument_would_make_it_right_is_said(answer, case):
    assert power(answer).mistake == (
        f"what it returns, on every input of this check, would be right if {case}; "
        "on this case: 2 to the power 3"
    )


def test_what_does_not_depend_on_the_input_is_said_to_be_the_same():
    said = power(lambda base, exponent: 3.0).mistake
    assert (
        said == "it returns the same on every input of this check; on this case: 2 to the power 3"
    )
    now_and_then = power(lambda base, exponent: 3.0 + (exponent > 4)).mistake
    assert "on every input" not in now_and_then


@pytest.mark.parametrize(
    ("answer", "unused"),
    [
        (lambda base, exponent: base * 2, "`exponent` has no effect: with another one"),
        (lambda x, y: y * 2.0, "`base` has no effect: with another one"),
        (lambda base, exponent: base * 0 + 7 + exponent, "`base` has no effect: with another one"),
        (lambda b, e: 2.0 * torch.ones_like(torch.as_tensor(b)), "`base` and `exponent` have no e"),
    ],
)
def test_that_an_argument_has_no_effect_is_said_before_that_another_would_do(answer, unused):
    said = power(answer).mistake
    assert said.startswith(unused)
    assert said.endswith("it returns the same; on this case: 2 to the power 3")
    rarely = power(lambda base, exponent: base * 2 if exponent < 7 else base).mistake
    assert "no effect" not in rarely


def test_of_two_arguments_that_would_make_it_right_the_simpler_is_said():
    rungs = [
        Rung(f"{k}", f"f(torch.tensor([{k}, 2.0, 7.0]), torch.ones(3), {k})") for k in (1.5, 3, 4)
    ]
    with pytest.raises(Mistake, match=r"would be right if `k` had the other sign; on this case"):
        hold(rungs, lambda x, y, k: 1 + k * (x - y), f=lambda x, y, k: 1 + k * (y - x))


def test_one_vector_has_no_rows():
    rungs = [Rung(str(n), f"f(torch.arange({n}.0) ** 2)") for n in (2, 3, 4)]
    with pytest.raises(Mistake, match="would be right if `x` had mean 0; on this case: 2"):
        hold(rungs, lambda x: x**2 + x, f=lambda x: (x - x.mean()) ** 2 + x - x.mean())


def test_what_was_given_is_said_to_be_that():
    said = surprise(lambda p: p.clone()).mistake
    assert said == "it returns what it was given, as it was; on this case: surprise at 0.4"
    now_and_then = surprise(lambda p: p.clone() if p.ndim == 0 else 2 * p).mistake
    assert "as it was" not in now_and_then
    assert "as it was" not in surprise(lambda p: ()).mistake


def test_one_input_without_the_case_refutes_it():
    verdict = power(lambda base, exponent: base ** (exponent - (exponent < 5)))
    assert verdict.mistake == "on this case: 2 to the power 3"


def test_arguments_that_have_changed_places_are_said():
    rungs = [Rung(f"{a} less {b}", f"less({a}, {b})") for a, b in ((3, 1), (7, 2), (4, 9))]
    with pytest.raises(Mistake, match="if `a` and `b` had changed places; on this case: 3 less 1"):
        hold(rungs, lambda a, b: a * a - b, less=lambda a, b: b * b - a)


def test_one_input_without_the_relation_refutes_it():
    verdict = surprise(lambda p: -100 * p.log2() if p.ndim == 0 else -p.log2())
    assert verdict.mistake == "on this case: surprise at 0.4"


def test_axes_in_another_order_are_said():
    rung = Rung("a batch comes back", "same(torch.arange(24.0).reshape(2, 3, 4))")
    with pytest.raises(
        Mistake, match=r"x.permute\(1, 0, 2\) would make of it; on this case: a batch"
    ):
        hold([rung], lambda x: x, same=lambda x: x.transpose(0, 1))
    rung = Rung("which are larger than 0", "larger(torch.tensor([1.0, -2.0, 3.0]))")
    with pytest.raises(Mistake, match="True and False have changed places; on this case: which"):
        hold([rung], lambda x: x > 0, larger=lambda x: x <= 0)


def test_the_example_draws_the_same_numbers_when_it_is_run_again():
    verdict = halve(lambda x: x / 2 if x.dim() == 1 else x)
    code = verdict.example.partition("\nexpected")[0]
    names = {"torch": torch, "halve": lambda x: x}
    *lines, last = code.splitlines()
    exec("\n".join(lines), names)
    place = eval(verdict.example.partition("expected at ")[2].partition(" = ")[0])
    assert f"{eval(last, names)[tuple(place)]:.6g}" == verdict.example.rpartition("yours = ")[2]


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda x: None, "it returned None; is the `return` missing?"),
        (
            lambda x: (x / 2)[None],
            "it returned shape (1, 1), expected (1,), with the right numbers in it; on this",
        ),
        (lambda x: x / x, "it returned NaN or infinity; on this case: half of 0 is 0"),
        (lambda x: {}, "it returned dict, expected Tensor; on this case: half of 0 is 0"),
        (lambda x: ["half"], "it returned list, expected Tensor; on this case: half of 0 is 0"),
        (lambda x: [x, [x, x]], "it returned list, expected Tensor; on this case: half of 0 is 0"),
        (lambda x: x.div_(2), "it changes its input x; work on a copy"),
        (
            lambda x: x / 2 if x.dim() == 1 else x[4],
            "it raised IndexError: index 4 is out of bounds for dimension 0 with size 4, "
            "when this was tried: rows and columns stay",
        ),
    ],
)
def test_what_an_answer_did_is_said(answer, mistake):
    assert halve(answer).mistake.startswith(mistake)


def test_a_result_with_which_nothing_can_be_done_is_told_from_a_wrong_call():
    rungs = [
        Rung("its gradient is 1", "x = torch.ones(1, requires_grad=True)\nf(x).backward()\nx.grad")
    ]
    with pytest.raises(Mistake) as found:
        hold(rungs, lambda x: x, f=lambda x: 1.0)
    assert found.value.mistake.startswith(
        "it raised AttributeError: 'float' object has no attribute"
    )
    rungs = [
        Rung(
            "its gradient is 1",
            "x = torch.ones(1, requires_grad=True)\ntorch.autograd.grad(f(x), x)[0]",
        )
    ]
    with pytest.raises(Mistake) as found:
        hold(rungs, lambda x: x, f=lambda x: 1.0)
    assert found.value.mistake == (
        "what it returned cannot be used (TypeError: 'float' object is not iterable), "
        "when this was tried: its gradient is 1"
    )
    with pytest.raises(
        Mistake, match="takes 0 positional arguments but 1 was given: it cannot be called"
    ):
        hold(rungs, lambda x: x, f=lambda: 1.0)


def test_inputs_of_any_kind_must_stay():
    def judged(code, answer):
        with pytest.raises(Mistake) as found:
            hold([Rung("x", code)], lambda *x: 0, f=answer)
        return found.value.mistake

    assert "changes its input x" in judged('words = ["a", "b"]\nf(words)', lambda x: x.pop())
    assert "changes its input x" in judged("table = {1: [2]}\nf(table)", lambda x: x[1].clear())

    def reset(layer):
        nn.init.zeros_(layer.weight)
        return 0

    code = "layer = torch.nn.Linear(2, 2)\nf(layer)"
    assert "changes its input layer" in judged(code, reset)
    made = Rung("what it makes itself may change", "x = f()\nx += f()\nf() + x.sum()")
    hold([made], lambda: torch.ones(2), f=lambda: torch.ones(2))


def test_what_a_function_hands_out_must_stay_but_is_no_input():
    rungs = [Rung("a sum", "table = torch.ones(3)\nadd(lambda: table)")]
    with pytest.raises(Mistake) as found:
        hold(rungs, lambda given: given().sum(), add=lambda given: given().mul_(2).sum())
    assert found.value.mistake.startswith(
        "it changes `table`, which a function that it is given hands out; work on a copy"
    )


def test_equal_probabilities_are_not_called_a_mean():
    rows = torch.tensor([[1.0, 4.0, 2.0], [3.0, 0.0, 5.0]]).softmax(-1)
    equal = visible_fact(torch.full((2, 3), 1 / 3), rows).text
    assert equal == "all numbers along axis 1 are alike"
    assert visible_fact(torch.full((3,), 1 / 3), rows[0]).text == "all numbers are alike"
    assert "mean of what is" in visible_fact(rows.mean(0).expand(2, 3), rows).text


def test_inputs_without_a_name_must_stay_too_in_every_case():
    rungs = [Rung(str(x), f"halve(torch.tensor([{x}]))") for x in (0.0, 4.0)]
    with pytest.raises(Mistake, match="it changes its input x; work on a copy"):
        hold(rungs, _halve, halve=lambda x: x / 2 if x == 0 else x.div_(2))
    with pytest.raises(Mistake, match="it changes its input number 1; work on a copy"):
        hold(rungs, _halve, halve=torch.sqrt_)  # no signature
    hold(rungs, lambda x: x.div_(2), halve=lambda x: x.div_(2))  # as the right answer does


def test_inputs_of_methods_must_stay():
    class Box:
        def put(self, things):
            self.things = list(things)

    class Greedy(Box):
        def put(self, things):
            self.things = [things.pop()]

    rungs = [Rung("a thing comes back", "box = Box()\nbox.put([1])\nbox.things")]
    hold(rungs, Box, Box=Box)
    with pytest.raises(Mistake, match="it changes its input things"):
        hold(rungs, Box, Box=Greedy)


def test_that_it_returned_nothing_is_said_of_all_inputs_or_of_this_one():
    assert halve(lambda x: None).mistake.startswith("it returned None; is the `return` missing?")
    behind = (
        "it returned None; there is a `return`, but it is not reached, or what stands behind it "
        "gives None; on this"
    )
    assert halve(lambda x: [x].sort()).mistake.startswith(behind)

    def unreached(x):
        if x.dim() > 9:
            return x / 2

    assert halve(unreached).mistake.startswith(behind)
    seen = halve(lambda x: x / 2 if x.dim() == 1 else None).mistake
    assert seen == "it returned None, not always; on this case: rows and columns stay"


def test_a_list_with_none_in_it_is_not_none():
    for answer in (lambda x: [None], lambda x: [None, x], lambda x: (x, None)):
        told = "there is None in what it returned; on this case: half of 0 is 0"
        assert halve(answer).mistake == told


def test_a_class_whose_methods_return_something_is_not_asked_for_a_return():
    class Appends:
        def __init__(self):
            self.things = []

        def put(self, x):
            return self.things.append(x)

    with pytest.raises(Mistake, match="it returned None; there is a `return`, but"):
        hold([Rung("it comes back", "box = Box()\nbox.put(1)")], ThreeComeBack, Box=Appends)


class ThreeComeBack:
    def put(self, x):
        return 3


def test_a_last_line_that_does_more_than_call_the_answer_is_not_taken_for_what_it_returns():
    rows = "torch.arange(12.0).reshape(4, 3)"
    for last, said in {
        f"f({rows})": "it returned shape (4, 1), expected (4, 3)",
        f"f({rows}), f({rows})": "result 1 of 2: it returned shape (4, 1), expected (4, 3)",
        f"[f({rows}), f({rows})]": "it returned shape (2, 4, 1), expected (2, 4, 3)",
        f"x = f({rows})\nx @ x.mT + len(x[0])": "",
        f"x = f({rows})\nx.mT @ x": "the last line gives shape (1, 1), expected (3, 3)",
        f"f({rows}).grad_fn if f({rows}).shape[1] == 1 else 1": "the last line gives None",
        f"x = f({rows})\n(x / (x.shape[1] - 1)).sum()": "the last line gives NaN or infinity",
    }.items():
        with pytest.raises(Mistake) as found:
            hold([Rung("all come back", last)], lambda x: x, f=lambda x: x[:, 1:2])
        assert found.value.mistake == f"{said}; on this case: all come back".removeprefix("; ")


def test_of_several_results_it_is_said_which_is_wrong():
    rungs = [Rung("both come back", f"both(torch.tensor([{x}, 9.0]))") for x in (1.0, 3.0)]
    with pytest.raises(Mistake, match="result 2 of 2: the sign is turned; on this case: both"):
        hold(rungs, lambda x: (x, x + 1), both=lambda x: (x, -x - 1))


ROW = torch.tensor([0.5, 2.0, 3.25])


@pytest.mark.parametrize(
    ("result", "of_numbers"),
    [(-ROW, True), (ROW.flip(0), True), (ROW[None], False), ({}, False), (ROW / 0, False)],
)
def test_a_fact_says_whether_it_is_of_numbers(result, of_numbers):
    fact = visible_fact(result, ROW)
    assert fact.text and fact.of_numbers == of_numbers
    several = visible_fact((ROW, result), (ROW, ROW))
    assert several == (f"result 2 of 2: {fact.text}", of_numbers)
    assert visible_fact((ROW,), (ROW, ROW)) == ("it returned 1 result, expected 2", False)


@pytest.mark.parametrize("result", [[1, 0, 0, 1], [0, 0, 1, 1]])
def test_few_whole_numbers_are_in_another_order_by_chance(result):
    """One-hot numbers, say, or the classes that were found."""
    assert not visible_fact(torch.tensor(result), torch.tensor([0, 1, 1, 0])).text


def test_another_argument_that_fits_by_chance_alone_is_refuted_with_other_random_numbers():
    def by_chance(x, limit):
        return 2 * x - limit if x[0] == first else 0 * x

    torch.manual_seed(0)
    first = torch.rand(3)[0]
    rungs = [Rung("what is above", f"above(torch.rand(3), {x})") for x in (0.1, 0.2, 0.3)]
    twice = "would be right if `x` were twice as large; on this case: what is above"
    for answer, said in (lambda x, limit: 2 * x - limit, twice), (by_chance, "^on this case"):
        with pytest.raises(Mistake, match=said):
            hold(rungs, lambda x, limit: x - limit, above=answer)


def test_what_an_outer_product_keeps_by_itself_is_no_fact():
    expected = torch.outer(torch.tensor([1.0, 3.1, 4.2]), torch.tensor([2.5, 7.3, 1.1]))
    result = torch.outer(torch.tensor([2.0, 1.4, 0.9]), torch.tensor([2.5, 7.3, 1.1]))
    assert not visible_fact(result, expected).text
    assert not visible_fact(result.log(), expected.log()).text


def test_several_results_may_be_the_rows_of_one_tensor():
    rungs = [Rung(f"{x}", f"both(torch.tensor({x}))") for x in (1.0, 3.0, [1.0, 4.0])]

    def judged(answer):
        hold(rungs, lambda x: (x / 2, x + 1), both=answer)

    judged(lambda x: torch.stack([x / 2, x + 1]))
    judged(lambda x: np.stack([x / 2, x + 1]))
    with pytest.raises(Mistake, match=r"results 1 and 2 have changed places; on this case: 1.0"):
        judged(lambda x: torch.stack([x + 1, x / 2]))
    with pytest.raises(Mistake, match=r"^on this case: 1.0"):  # changed on this input only
        judged(lambda x: (x + 1, x / 2) if x.sum() == 1 else (x, x))
    with pytest.raises(Mistake, match=r"it returned 1 result, expected 2; on this case: 1.0"):
        judged(lambda x: x / 2)


def test_what_is_not_finite_is_told_before_what_would_give_it():
    """Of all changes with which the right answer gives NaN, none explains anything."""
    verdict = power(lambda base, exponent: torch.as_tensor(base * float("nan")))
    assert verdict.mistake == "it returned NaN or infinity; on this case: 2 to the power 3"


def test_a_class_and_its_methods():
    class Right(nn.Module):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        def forward(self, x):
            return self.factor * x

    def verdict(answer):
        @exercise
        def times(answer):
            hold([Rung("twice 1 is 2", "Times(2)(torch.ones(1))")], Right, Times=answer)
            return "1"

        return times(answer)

    verdict(Right).require()

    class Stub(Right):
        def forward(self, x):
            raise NotImplementedError  # your code goes here

    class NoArguments(nn.Module):
        def forward(self, x):
            return x

    assert verdict(Stub) == Verdict("not attempted")
    mistake = verdict(NoArguments).mistake
    assert mistake.startswith("it raised TypeError") and "cannot be called" in mistake


def test_a_misspelt_forward_is_called_that():
    class Halve(nn.Module):
        def foward(self, x):
            return x / 2

    assert halve(Halve()).mistake == "the class Halve has no method `forward`; it has foward"


def test_a_missing_method_is_called_that():
    class Box:
        def opened(self):
            return 1

    with pytest.raises(Mistake, match="'Box' object has no attribute 'open'; it has opened"):
        hold([Rung("it opens", "Box().open()")], lambda: None, Box=Box)


def test_only_the_exercises_own_error_is_not_attempted():
    def elsewhere(x):
        return torch.empty(1, device="meta").cpu()  # torch raises a NotImplementedError

    assert halve(elsewhere).mistake.startswith("it raised NotImplementedError")
    assert "torch.empty(1" in halve(elsewhere).example

    def stub(x):
        raise NotImplementedError

    assert halve(stub) == Verdict("not attempted")


def test_a_broken_reference_is_an_error_of_the_check():
    def broken(x):
        raise KeyError("a bug in the check")

    with pytest.raises(KeyError, match="a bug in the check"):
        climb(replace(HALVES, right=broken), lambda x: x / 2)


@pytest.mark.parametrize("error", [IndexError, KeyError, RuntimeError, TypeError, ValueError])
def test_a_known_mistake_may_fail_on_an_input(error):
    def fails(x):
        raise error

    rungs, mistakes = [Rung("one half", "halve(1.0)")], {"it fails": fails}
    with pytest.raises(Mistake, match="one half"):
        hold(rungs, lambda x: x / 2, mistakes, halve=lambda x: x)


def test_a_broken_known_mistake_is_an_error_of_the_check():
    rungs = [Rung("one half", "halve(1.0)")]
    mistakes = {"it doubles": lambda x: x * missing}  # noqa: F821
    with pytest.raises(NameError, match="missing"):
        hold(rungs, lambda x: x / 2, mistakes, halve=lambda x: x)


def settings() -> tuple:
    return (
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.get_default_device(),
        torch.get_num_threads(),
        torch.is_anomaly_enabled(),
        torch.get_rng_state().tolist(),
        random.getstate(),
        np.random.get_state()[1].tolist(),  # noqa: NPY002
        torch.allclose,
        np.allclose,
        torch.nn.functional.softmax,
        torch.Tensor.softmax,
        nn.Linear.forward,
    )


def test_what_an_answer_sets_and_patches_is_undone():
    before = settings()

    def everything(x):
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        torch.set_default_device("meta")
        torch.set_num_threads(torch.get_num_threads() + 1)
        torch.autograd.set_detect_anomaly(True)
        torch.manual_seed(17)
        random.seed(17)
        np.random.seed(17)  # noqa: NPY002
        torch.allclose = np.allclose = lambda *_, **__: True
        nn.functional.softmax = torch.Tensor.softmax = nn.Linear.forward = None
        return x / 2

    halve(everything).require()
    assert settings() == before


def test_patched_functions_are_not_trusted(monkeypatch):
    monkeypatch.setattr(np, "allclose", lambda *_, **__: True)
    monkeypatch.setattr(torch.Tensor, "numpy", lambda self: np.zeros(1), raising=False)
    monkeypatch.setattr(torch, "rand", torch.zeros)
    assert halve(lambda x: x + 1).mistake == "on this case: half of 0 is 0"
    patched = np.allclose, torch.rand, torch.Tensor.numpy
    assert "rows and columns stay" in halve(lambda x: x / 2 if x.dim() == 1 else x).mistake
    assert (np.allclose, torch.rand, torch.Tensor.numpy) == patched, "they are the learner's"


def test_what_a_notebook_has_set_does_not_change_the_verdict():
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            assert halve(lambda x: x / (2 if x.dtype == torch.float32 else 3)).status == "passed"
            assert not torch.is_grad_enabled()
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
