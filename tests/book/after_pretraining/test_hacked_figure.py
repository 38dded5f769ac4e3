"""A hacked reward while it is learned: numbers, answers and goals of every step."""

import pytest
import torch
from playwright.sync_api import expect

from book.after_pretraining import hacked_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

NUMBERS = torch.rand(5, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
NUMBERS[:, 1] = torch.tensor([0.6, 0.5, 0.35, 0.2, 0.1])  # what passes falls
POINTS = [(1, True), (1, False), (1, True), (2, False), (4, False)]


def make_film() -> list[dict]:
    return [
        {"step": 6 * i, "proxy": proxy, "truth": truth, "kl": kl}
        | {
            "answers": [
                {"request": "animal, 7", "words": f"answer {i}", "points": POINTS[i][0]}
                | {"passes": POINTS[i][1]}
            ]
        }
        for i, (proxy, truth, kl) in enumerate(NUMBERS.tolist())
    ]


def figure():
    return hacked_figure(make_film())


def test_every_step_shows_its_numbers_and_answers(show):
    page = show(figure(), reduced_motion="reduce")
    for i, shot in enumerate(make_film()):
        if i:
            page.get_by_role("button", name="Next").click()
        close(
            numbers(page.locator("[data-name=proxy], [data-name=truth], [data-name=kl]")),
            NUMBERS[i],
        )
        said = page.get_by_role("status")
        expect(said).to_contain_text(
            f"After {shot['step']} steps an answer is paid {shot['proxy']:.2f}"
        )
        answer = page.locator("[data-name=answers] li")
        points, passes = POINTS[i]
        verdict = "✓ passes" if passes else "✗ fails"
        unit = "point" if points == 1 else "points"
        expect(answer).to_have_text(f"{verdict}, {points} {unit} (animal, 7): answer {i}")


def test_the_dots_stand_on_the_curves(show):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider"), "End")
    heights = page.locator(".cl-stage circle").evaluate_all(
        "nodes => nodes.map((n) => +n.getAttribute('transform').match(/[\\d.]+/g)[1])"
    )
    press(page.get_by_role("slider"), "Home")
    start = page.locator(".cl-stage circle").evaluate_all(
        "nodes => nodes.map((n) => +n.getAttribute('transform').match(/[\\d.]+/g)[1])"
    )
    fallen = [after - before for before, after in zip(start, heights, strict=True)]
    scale = NUMBERS.max(0).values
    expected = (NUMBERS[0] - NUMBERS[-1]) / scale * 92  # pixels from 0 to the largest
    close(torch.tensor(fallen, dtype=torch.float64), expected, 1e-6)


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    onward = page.get_by_role("button", name="Next")
    for count in (0, 0, 0, 2):  # at the fourth both: .2 is less than half of .6; paid 2 and fails
        expect(reached).to_have_count(count)
        if count == 0:
            onward.click()
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider"), "End")  # the last step is not the first below half
    expect(page.locator(".cl-reached")).to_have_count(1)


def test_a_film_of_one_step_is_refused():
    with pytest.raises(ValueError, match="got 1"):
        hacked_figure(make_film()[:1])


EXAMPLE = Example(figure, "[data-name=proxy], [data-name=truth], [data-name=kl]")
