"""The live figure of speculation: what is kept, drawn instead and comes out, held to PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.writing_with_a_cache import offer_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

WORDS = ["is", "has", "was", "runs", "hides"]
MODEL = torch.tensor([0.4, 0.3, 0.2, 0.1, 0.0], dtype=torch.float64)
DRAFT = torch.tensor([0.1, 0.5, 0.1, 0.2, 0.1], dtype=torch.float64)


def figure():
    return offer_figure(WORDS, MODEL, DRAFT)


def draft_at(near: int) -> torch.Tensor:
    far = torch.eye(5, dtype=torch.float64)[4] if near < 0 else MODEL
    return torch.lerp(DRAFT, far, torch.tensor(abs(near) / 10, dtype=torch.float64))


def heights(page, kind: str) -> torch.Tensor:
    bars = page.locator(f".cl-stage g.cl-{kind}[transform] rect")
    found = bars.evaluate_all("all => all.map((bar) => Number(bar.getAttribute('height')))")
    return torch.tensor(found, dtype=torch.float64)


def test_what_is_kept_and_what_comes_out_at_every_draft(show):
    page = show(figure(), reduced_motion="reduce")
    slider, box = page.get_by_role("slider"), page.get_by_role("checkbox")
    for mistake in (False, True):
        box.set_checked(mistake)
        press(slider, "Home")
        for near in range(-10, 11):
            offered = draft_at(near)
            kept = torch.minimum(offered, MODEL)
            instead = MODEL if mistake else MODEL - kept
            comes_out = kept + (1 - kept.sum()) * instead / instead.sum().clamp(min=1e-12)
            off = (comes_out - MODEL).abs().sum() / 2
            close(
                numbers(page.locator("[data-name=found] span[data-value]")),
                torch.stack([kept.sum(), off]),
            )
            press(slider, "ArrowRight")


def test_bars_are_as_high_as_their_shares(show):
    page = show(figure(), reduced_motion="reduce")
    kept = torch.minimum(DRAFT, MODEL)
    unit = heights(page, "stream")[1] / DRAFT[1]
    for kind, shares in (("stream", DRAFT), ("crowd0", kept), ("crowd1", MODEL - kept)):
        close(heights(page, kind) / unit, shares, 1e-4)
    page.get_by_role("checkbox").check()
    close(heights(page, "crowd1") / unit, (1 - kept.sum()) * MODEL, 1e-4)


def test_goals_are_reached_where_the_draft_is_good_and_where_it_is_worst(show):
    page = show(figure(), reduced_motion="reduce")
    reached, slider = page.locator(".cl-goals .cl-reached"), page.get_by_role("slider")
    page.get_by_role("checkbox").check()
    slider.fill("6")
    expect(reached).to_have_count(0)
    slider.fill("8")
    expect(reached).to_have_count(1)
    slider.fill("10")  # harmless, but the draft is the model
    expect(reached).to_have_count(1)
    slider.fill("-9")
    expect(reached).to_have_count(1)
    slider.fill("-10")
    expect(reached).to_have_count(2)


@pytest.mark.parametrize(
    ("words", "model", "message"),
    [
        (WORDS[:2], MODEL[:2], "three to eight words"),
        (WORDS, MODEL[:4], "three to eight words"),
        (WORDS, 2 * MODEL, "must sum to 1, got 2.000"),
    ],
)
def test_what_is_no_distribution_is_refused(words, model, message):
    with pytest.raises(ValueError, match=message):
        offer_figure(words, model, DRAFT)


EXAMPLE = Example(figure, "[data-name=found] span[data-value]")
