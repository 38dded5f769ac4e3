"""The stake of a bet: every sentence of every set, and the goals where E reaches 20."""

import math

import pytest
import torch
from playwright.sync_api import expect

from book.is_it_good import bet_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

COUNT, STARTS = 12, 3
GENERATOR = torch.Generator().manual_seed(0)
SETS = {
    k: (torch.randn(STARTS, COUNT, generator=GENERATOR) * 0.3 + mean).tolist()
    for k, mean in ((0, -0.3), (8, 0.45), (32, 1.5))
}
HONEST = (torch.randn(3, COUNT, generator=GENERATOR) * 0.3 - 0.2).tolist()


def figure():
    return bet_figure(SETS, HONEST, copies=8, read=3)


def stakes(k: int, start: int = 0) -> torch.Tensor:
    gains = torch.tensor(SETS[k][start], dtype=torch.float64) / math.log(10)
    return torch.cat([torch.zeros(1, dtype=torch.float64), gains.cumsum(0)])


def test_every_sentence_of_every_set_shows_the_stake(show):
    page = show(figure(), reduced_motion="reduce")
    slider = page.get_by_role("slider", name="sentences read")
    for k in SETS:
        page.get_by_label("no copy" if k == 0 else f"{k} copies").check()
        press(slider, "Home")
        for read in range(COUNT + 1):
            close(numbers(page.locator("[data-name=stake]")), stakes(k)[[read]], 1e-3)
            if read:
                gain = torch.tensor([SETS[k][0][read - 1] / math.log(10)], dtype=torch.float64)
                close(numbers(page.locator("[data-name=gain]")), gain, 1e-3)
            slider.press("ArrowRight")


def heights(line) -> torch.Tensor:
    points = [float(point.split()[1]) for point in line.get_attribute("d")[1:].split("L")]
    return torch.tensor(points, dtype=torch.float64)


def test_the_line_has_the_stakes_so_far_and_the_thin_ones_those_of_the_other_starts(show):
    page = show(figure(), reduced_motion="reduce")
    read = heights(page.locator("[data-name=stake-line]"))
    assert len(read) == 4
    expected = stakes(8)[:4]
    scale = (read[0] - read[-1]) / (expected[-1] - expected[0])
    close((read[0] - read) / scale, expected, 1e-3)
    others = page.locator("[data-name=other]")
    expect(others).to_have_count(STARTS - 1)
    for k in SETS:
        page.get_by_label("no copy" if k == 0 else f"{k} copies").check()
        for start in range(1, STARTS):
            thin = heights(others.nth(start - 1))
            close((thin[0] - thin) / scale, stakes(k, start), 0.005 * COUNT)  # of two digits each
    expect(page.locator("[data-name=honest]")).to_have_count(len(HONEST))


def test_the_goals_are_reached_at_the_first_proof_and_at_the_end(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    expect(page.get_by_role("list", name="goals").locator("li")).to_have_count(3)
    slider = page.get_by_role("slider", name="sentences read")
    goals = 0
    for k in (8, 32):
        page.get_by_label(f"{k} copies").check()
        first = (stakes(k) >= math.log10(20)).int().argmax().item()
        assert first > 0
        press(slider, "Home")
        for _ in range(first):
            expect(reached).to_have_count(goals)
            slider.press("ArrowRight")
        goals += 1
        expect(reached).to_have_count(goals)
    page.get_by_label("no copy").check()
    press(slider, "End")
    expect(reached).to_have_count(3)
    expect(page.get_by_role("status")).to_contain_text("nothing is proved")


def test_sets_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="with 0 copies"):
        bet_figure({8: [[0.1]]}, [[0.1]], copies=8, read=0)
    with pytest.raises(ValueError, match=r"got lengths \[1, 2\]"):
        bet_figure({0: [[0.1]]}, [[0.1, 0.2]], copies=0, read=0)
    with pytest.raises(ValueError, match=r"starts \[1, 2\]"):
        bet_figure({0: [[0.1]], 8: [[0.1], [0.2]]}, [[0.1]], copies=0, read=0)


EXAMPLE = Example(figure, "[data-name=stake]", "tbody tr:first-child td:nth-of-type(1)")
