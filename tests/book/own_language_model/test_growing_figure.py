"""A model while it learns: every recorded number stands in the picture, at its height."""

import pytest
import torch
from playwright.sync_api import expect

from book.language_model import LanguageModel, log_probs, table
from book.own_language_model import growing_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

NO = float("-inf")
TEXTS = ["the king is old", "king the old", ""]
torch.manual_seed(5)
MODELS = [LanguageModel(7, d=8, layers=1, heads=2) for _ in range(4)]
LOSSES = [6.4, 3.0, 2.2, 1.5]
RECORDS = [
    {
        "step": step,
        "loss": loss,
        "written": [
            (text, truth, log_probs(model, table([[0, *range(1, 2 + i)]])).sum().item())
            for i, (text, truth) in enumerate(zip(TEXTS, truths, strict=True))
        ],
    }
    for step, loss, model, truths in zip(
        [0, 20, 100, 800],
        LOSSES,
        MODELS,
        [(NO, NO, NO), (-11.5, NO, NO), (NO, -9.25, NO), (-8.0, -9.0, -10.0)],
        strict=True,
    )
]
RIVALS = {"single words": 5.0, "pairs of words": 2.5}
FLOOR = 1.36


def figure():
    return growing_figure(RECORDS, RIVALS, FLOOR)


def doubles(*numbers_: float) -> torch.Tensor:
    return torch.tensor(numbers_, dtype=torch.float64)


def test_every_record_is_shown_as_it_is(show):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider", name="step"), "Home")
    for number, record in enumerate(RECORDS):
        close(numbers(page.locator("[data-name=loss]")), doubles(record["loss"]))
        model = [model for _, _, model in record["written"]]
        close(numbers(page.locator("[data-name=model]")), doubles(*model))
        truths = [truth for _, truth, _ in record["written"] if truth != NO]
        if truths:
            close(numbers(page.locator("[data-name=truth]")), doubles(*truths))
        else:
            assert page.locator("[data-name=truth]").count() == 0
        rows = page.locator("[data-name=written] tr")
        assert [text[0] == "✓" for text in rows.all_inner_texts()] == [
            truth != NO for _, truth, _ in record["written"]
        ]
        above = record["loss"] - FLOOR
        say = page.get_by_role("status")
        expect(say).to_contain_text(f"{above:.2f} above the best possible")
        expect(say).to_contain_text(f"{len(truths)} of these 3 sentences")
        beaten = [name for name, loss in RIVALS.items() if record["loss"] < loss]
        for name in RIVALS:
            assert (name in say.inner_text()) == (name in beaten)
        if number < 3:
            page.get_by_role("button", name="Next").click()


def test_heights_are_losses(show):
    page = show(figure(), reduced_motion="reduce")
    height = "nodes => nodes.map((node) => Number(node.getAttribute('d').match(/ ([\\d.]+)H/)[1]))"
    levels = doubles(*page.locator("[data-name=level]").evaluate_all(height))
    losses = doubles(*RIVALS.values(), FLOOR)
    per_nat = (levels[0] - levels[2]) / (losses[2] - losses[0])
    close((levels - levels[0]) / per_nat, losses[0] - losses, tolerance=1e-5)
    press(page.get_by_role("slider", name="step"), "Home")
    for loss in LOSSES:
        place = page.locator("circle.cl-tip").evaluate(
            "node => Number(node.parentNode.parentNode.getAttribute('transform')"
            ".match(/ ([\\d.]+)/)[1])"
        )
        close((doubles(place) - levels[0]) / per_nat, losses[0] - loss, tolerance=1e-5)
        press(page.get_by_role("slider", name="step"), "ArrowRight")


def test_the_goals_and_the_keys(show):
    page = show(figure(), reduced_motion="reduce")
    goals = page.locator(".cl-goals li")
    line = page.get_by_role("slider", name="step")
    press(line, "Home")
    press(line, "ArrowRight")
    expect(goals.first).to_have_class("")
    press(line, "ArrowRight")
    expect(goals.first).to_have_class("cl-reached")
    page.get_by_role("button", name="Next").focus()
    page.keyboard.press("End")
    expect(page.locator(".cl-stepper .cl-score")).to_contain_text("4 of 4: 800")


def test_one_record_is_too_few():
    with pytest.raises(ValueError, match="two or more, got 1"):
        growing_figure(RECORDS[:1], RIVALS, FLOOR)


EXAMPLE = Example(figure, None)
