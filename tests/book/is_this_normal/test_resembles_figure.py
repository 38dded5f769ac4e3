"""A reader's loss curve in the page: the rule is Python's, however the losses are written."""

import json
import math

import pytest
import torch
from playwright.sync_api import expect

from book.is_this_normal import known, resembles_figure
from book.is_this_normal.curves import CONFIG, Run
from book.is_this_normal.figures.resembles import EXAMPLES
from tests.book.reading import Example, close, numbers, select

pytestmark = pytest.mark.browser

V = CONFIG.vocab_size


def curve(start: float, end: float, count: int = 60) -> list[float]:
    """A fall from one loss to another, with some noise, in three decimals."""
    noise = torch.rand(count, generator=torch.Generator().manual_seed(count)).tolist()
    return [
        round(end + (start - end) * math.exp(-8 * i / count) + 0.2 * noise[i], 3)
        for i in range(count)
    ]


def figure():
    runs = {
        name: Run(curve(6.4, 1.2 + 0.4 * i), [], [], math.nan, None)
        for i, name in enumerate(EXAMPLES)
    }
    return resembles_figure(runs)


EXAMPLE = Example(figure, "[data-name=nearest] td[data-value]", "td")


def expected(losses, vocabulary=V, validation=None) -> torch.Tensor:
    """The three smallest distances."""
    portrait = torch.tensor(known.portrait(losses, vocabulary, validation), dtype=torch.float64)
    averages = known.averages(known.read()).values()
    return torch.tensor(sorted(known.distance(portrait, average) for average in averages)[:3])


def shown(page) -> torch.Tensor:
    return numbers(page.locator("[data-name=nearest] td[data-value]"))


def write(page, text: str) -> None:
    page.get_by_role("textbox", name="losses").fill(text)


@pytest.mark.parametrize("count", [8, 33, 100, 1000])
@pytest.mark.parametrize("ends", [(6.4, 1.7), (30.0, 7.0), (6.4, 0.0)])
def test_the_distances_are_pythons(show, count, ends):
    page = show(figure())
    losses = curve(*ends, count)
    write(page, "\n".join(map(str, losses)))
    close(shown(page), expected(losses), 1e-4)  # the averages travel in five decimals


def test_the_vocabulary_sets_the_unit(show):
    page, losses = show(figure()), curve(10.8, 3.3)
    write(page, "\n".join(map(str, losses)))
    page.get_by_role("spinbutton", name="vocabulary size V").fill("50257")
    close(shown(page), expected(losses, 50257), 1e-4)


LOSSES = curve(6.4, 0.7)


@pytest.mark.parametrize(
    ("text", "validation"),
    [
        (str(LOSSES), None),
        (" ".join(map(str, LOSSES)), None),
        ("step,loss\n" + "\n".join(f"{i},{x}" for i, x in enumerate(LOSSES)), None),
        ("\n".join(f"{i}\t{x}\t{4.4 if i == 59 else 9}" for i, x in enumerate(LOSSES)), 4.4),
        (
            "".join(
                json.dumps({"step": i, "loss": x, "evaluation": {"validation_loss": 4.4}}) + "\n"
                for i, x in enumerate(LOSSES)
            ),
            4.4,
        ),
    ],
    ids=["a list", "one line", "CSV", "three columns", "JSON"],
)
def test_losses_are_read_as_programs_write_them(show, text, validation):
    page = show(figure())
    write(page, text)
    close(shown(page), expected(LOSSES, V, validation), 1e-4)


@pytest.mark.parametrize("last", ["nan", "inf", json.dumps({"step": 9, "loss": math.nan})])
def test_a_run_that_ends_in_nan_is_told_from_one_that_does_not(show, last):
    page = show(figure())
    write(page, "\n".join([*map(str, LOSSES), last]))
    close(shown(page), expected([*LOSSES, math.nan]), 1e-4)
    expect(page.get_by_role("status")).to_contain_text("then NaN")


def test_too_few_losses_and_no_vocabulary_are_told(show):
    page = show(figure())
    write(page, "6\n5\nfour")
    expect(page.get_by_role("status")).to_contain_text("here are 2")
    page.get_by_role("spinbutton", name="vocabulary size V").fill("1")
    expect(page.get_by_role("status")).to_contain_text("V is 2 or more")


def test_what_resembles_nothing_is_given_no_name(show):
    page = show(figure())
    write(page, "\n".join(["1", "9"] * 40))
    expect(page.get_by_role("status")).to_contain_text("Nothing I know")


def test_a_pointer_draws_a_curve(show):
    page = show(figure(), viewport={"width": 1280, "height": 900})
    box = page.locator(".cl-stage svg").bounding_box()
    line = box["y"] + 10 + (box["height"] - 34) / 6  # a sixth down an axis to 1.2: ln V
    page.mouse.move(box["x"] + 36, line)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 22, line, steps=5)
    page.mouse.up()
    drawn = page.get_by_role("textbox", name="losses").input_value().split()
    assert len(drawn) == 64
    assert all(abs(float(loss) - math.log(V)) < 0.1 for loss in drawn)
    expect(page.get_by_role("status")).to_contain_text("the optimizer holds a copy")
    assert select(page, "curve").input_value() == "own"


def test_the_goals_can_be_reached_from_the_keyboard(show):
    page = show(figure())
    goals = page.get_by_role("list", name="goals").get_by_role("listitem")
    expect(goals.filter(has_text="(reached)")).to_have_count(0)
    page.get_by_role("spinbutton", name="vocabulary size V").fill("5")
    expect(goals.nth(2)).to_contain_text("(reached)")
    page.get_by_role("spinbutton", name="vocabulary size V").fill(str(V))
    write(page, "\n".join([f"{math.log(V):.3f}"] * 40))
    expect(goals.nth(0)).to_contain_text("(reached)")
    write(page, "\n".join(["1", "9"] * 40))
    expect(goals.nth(1)).to_contain_text("(reached)")


def test_an_example_may_be_loaded_and_left(show):
    page = show(figure())
    select(page, "curve").select_option("run C")
    close(shown(page), expected(curve(6.4, 2.0)), 1e-4)
    select(page, "curve").select_option("your own")
    assert page.get_by_role("textbox", name="losses").input_value() == ""


def test_the_examples_must_be_there():
    with pytest.raises(ValueError, match="there is none of"):
        resembles_figure({})
