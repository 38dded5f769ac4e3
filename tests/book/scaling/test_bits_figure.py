"""What tokens cost: bits, sums and bits per character equal PyTorch's."""

import math

import pytest
import torch
from playwright.sync_api import expect

from book.scaling import bits_figure
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

LINES = [["def", " é", "_x", "("], ["    ", "return", " x"]]


def logits() -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(3)
    return [torch.randn(len(line), 5, generator=random, dtype=torch.float64) for line in LINES]


def log_p() -> list[torch.Tensor]:
    scores = [rows.log_softmax(-1)[:, 0] for rows in logits()]
    scores[1][1] = math.log(0.95)  # a long token that costs next to nothing
    return scores


def figure():
    others = ["a", " b", "c", "d", "e"]
    lines = []
    for texts, rows, scores in zip(LINES, logits(), log_p(), strict=True):
        line = []
        for text, row, score in zip(texts, rows, scores, strict=True):
            p, order = row.softmax(-1).topk(3)
            guesses = [(others[i], float(x)) for i, x in zip(order.tolist(), p, strict=True)]
            line.append((text, float(score), guesses))
        lines.append(line)
    return bits_figure(lines)


@pytest.mark.parametrize("line", [0, 1])
def test_bars_sums_and_guesses_are_those_of_pytorch(show, line):
    page = show(figure(), reduced_motion="reduce")
    select(page, "line").select_option(str(line))
    bits = log_p()[line] / -math.log(2)
    close(numbers(page.locator("[data-name=bar]")), bits)
    say = page.get_by_role("status")
    characters = sum(map(len, LINES[line]))
    expect(say).to_contain_text(
        f"{bits.sum():.1f} bits for {characters} characters, {bits.sum() / characters:.2f} for each"
    )
    slider = page.get_by_role("slider", name="token")
    for at in range(len(bits)):
        expect(say).to_contain_text(f"” cost {bits[at]:.2f} bits.")
        guesses = logits()[line][at].softmax(-1).topk(3).values
        close(numbers(page.locator("[data-name=expected] span[data-value]")), guesses)
        slider.press("ArrowRight")
    expect(page.locator("label", has_text="token")).to_contain_text(f"{at + 1} of {len(bits)}")


def test_a_bar_is_as_high_as_its_bits(show):
    page = show(figure(), reduced_motion="reduce")
    bars = page.locator("[data-name=bar]")
    heights = bars.evaluate_all("nodes => nodes.map((n) => Number(n.getAttribute('height')))")
    heights = torch.tensor(heights, dtype=torch.float64)
    bits = log_p()[0] / -math.log(2)
    close(heights / heights.max(), bits / bits.max(), 1e-9)


def test_a_token_is_marked_by_the_pointer_too(show):
    page = show(figure(), reduced_motion="reduce")
    page.locator(".cl-hit").nth(2).click()
    expect(page.get_by_role("status")).to_contain_text("“_x” cost")
    page.locator(".cl-hit").nth(1).click()
    expect(page.get_by_role("status")).to_contain_text("“·é” cost")


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    dearest = int((-log_p()[0]).argmax())
    assert dearest > 0
    slider = page.get_by_role("slider", name="token")
    for _ in range(dearest):
        expect(reached).to_have_count(0)
        press(slider, "ArrowRight")
    expect(reached).to_have_count(1)
    select(page, "line").select_option("1")
    expect(reached).to_have_count(1)
    press(slider, "ArrowRight")
    expect(reached).to_have_count(2)


def test_no_tokens_are_refused():
    with pytest.raises(ValueError, match="at least one line"):
        bits_figure([])
    with pytest.raises(ValueError, match="at least one token"):
        bits_figure([[("a", -1.0, [])], []])


EXAMPLE = Example(figure, "[data-name=bar]")
