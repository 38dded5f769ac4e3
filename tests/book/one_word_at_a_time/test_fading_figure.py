"""What is left of a word: both readings and both averages, at every word, held to PyTorch."""

import pytest
import torch
from playwright.sync_api import Page, expect
from torch import nn

from book.one_word_at_a_time import fading_figure
from tests.book.reading import Example, close, numbers, press, randomised

pytestmark = pytest.mark.browser

WORDS = "the animal did not cross the street because it".split()
OTHER = "robot"


def parts() -> tuple[nn.RNN, dict[str, torch.Tensor]]:
    random = torch.Generator().manual_seed(3)
    vectors = {word: torch.randn(5, generator=random).half().double() for word in [*WORDS, OTHER]}
    return randomised(nn.RNN(5, 6)), vectors


def figure():
    return fading_figure(*parts(), WORDS, OTHER)


@torch.no_grad()
def expected(place: int, size: float = 1) -> dict[str, torch.Tensor]:
    """After every word (T,): what is left of the difference in the state, and in the average."""
    network, vectors = parts()
    network.weight_hh_l0 *= size
    rows = torch.stack([vectors[word] for word in WORDS])
    replaced = rows.clone()
    replaced[place] = vectors[OTHER]
    own, other = network(rows)[0], network(replaced)[0]
    counts = torch.arange(1, len(WORDS) + 1)[:, None]
    averages = (rows.cumsum(0) - replaced.cumsum(0)) / counts
    averages[:place] = 0  # but for rounding
    left, mean = (d.norm(dim=1) / d[place].norm() for d in (own - other, averages))
    return {"left": left, "mean": mean}


def check(page: Page, place: int, step: int, size: float = 1) -> None:
    for name, rows in expected(place, size).items():
        close(numbers(page.locator(f"[data-name={name}]")), rows[step])
        shown = expect(page.locator(f"[data-name={name}]"))
        shown.to_be_visible() if step >= place else shown.not_to_be_visible()


def stepper(page: Page):
    return page.get_by_role("slider", name="step", exact=True)


@pytest.mark.parametrize("place", [0, 1, 5, len(WORDS) - 1])
def test_every_word_equals_pytorch(show, place):
    page = show(figure(), reduced_motion="reduce")
    choose = page.get_by_role("slider", name="the word that is replaced")
    press(choose, "Home")
    press(choose, "ArrowRight", times=place)
    press(stepper(page), "Home")
    for step in range(len(WORDS)):
        if step:
            page.get_by_role("button", name="Next").click()
        expect(page.get_by_text(f"{step + 1} of {len(WORDS)}: {WORDS[step]}")).to_be_visible()
        check(page, place, step)


def test_a_larger_u_equals_pytorch(show):
    page = show(figure(), reduced_motion="reduce")
    check(page, 1, len(WORDS) - 1)  # as it opens
    press(page.get_by_role("slider", name="every entry of U times"), "ArrowRight", times=8)
    check(page, 1, len(WORDS) - 1, 1.8)
    press(stepper(page), "ArrowLeft", times=3)
    check(page, 1, len(WORDS) - 4, 1.8)


def test_a_click_on_a_word_replaces_it(show):
    page = show(figure(), reduced_motion="reduce")
    page.locator("svg .cl-hit").nth(6).click()
    check(page, 6, 6)
    expect(page.get_by_text("street by robot")).to_be_visible()


def test_the_caption_says_what_is_left(show):
    page = show(figure(), reduced_motion="reduce")
    status = page.get_by_role("status")
    press(stepper(page), "Home")
    press(stepper(page), "ArrowRight")
    expect(status).to_contain_text("One has read “animal”, the other “robot”")
    press(stepper(page), "ArrowRight", times=2)
    left, mean = (expected(1)[name][3] for name in ("left", "mean"))
    expect(status).to_have_text(
        f"Both have read “not”, 2 words later: {left:.3f} of the difference is left in the state, "
        f"{mean:.3f} in the average."
    )
    press(stepper(page), "Home")
    expect(status).to_have_text("Both have read “the”. Nothing differs yet.")


def test_the_goals_are_reached_by_the_right_word_and_size(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    half = [p for p in range(len(WORDS)) if 1 / 3 < expected(p)["left"][-1] < 2 / 3]
    choose = page.get_by_role("slider", name="the word that is replaced")
    size = page.get_by_role("slider", name="every entry of U times")
    press(choose, "Home")
    for place in range(half[0] + 1):
        expect(reached).to_have_count(0)
        if place:
            press(choose, "ArrowRight")
    expect(reached).to_have_count(1)
    press(choose, "Home")
    press(choose, "ArrowRight")
    more = [(a := expected(1, s / 10))["left"][-1] > a["mean"][-1] for s in range(10, 31)]
    edge = more.index(True)
    assert 1 < edge < 20
    press(size, "End")
    press(size, "ArrowLeft", times=20 - edge - 1)
    expect(reached).to_have_count(1)
    press(size, "ArrowLeft")
    expect(reached).to_have_count(2)


def test_what_cannot_be_read_is_refused():
    network, vectors = parts()
    with pytest.raises(ValueError, match="got none for cat"):
        fading_figure(network, vectors, [*WORDS, "cat"], OTHER)
    with pytest.raises(ValueError, match="one layer with biases"):
        fading_figure(nn.RNN(5, 6, num_layers=2), vectors, WORDS, OTHER)


EXAMPLE = Example(figure, "[data-name=left]")
