"""Gradient descent in the page: gradients and steps are PyTorch's."""

import pytest
import torch
from playwright.sync_api import expect

from book.own_language_model import descent_figure
from tests.book.reading import Example, close, numbers, select

pytestmark = pytest.mark.browser

WORDS = ["crown", "palace", "ring", "throne", "son"]
TRUTH = torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05], dtype=torch.float64)


def figure():
    return descent_figure("the queen keeps her", WORDS, TRUTH)


def read(page) -> tuple[torch.Tensor, torch.Tensor]:
    """What the model says, and the gradient, of which the page shows the negative."""
    said, push = (numbers(page.locator(f"[data-name={name}]")) for name in ("said", "push"))
    return said, -push


def gradient_of(logits: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
    """Autograd's, of the cross-entropy with the shares of the words that were seen."""
    logits = logits.clone().requires_grad_()
    torch.nn.functional.cross_entropy(logits[None], seen[None]).backward()
    return logits.grad


@pytest.mark.parametrize("batch", ["all", "one", "eight", "sixtyfour"])
def test_every_step_is_pytorchs(show, batch):
    page = show(figure())
    select(page, "words seen at each step").select_option(batch)
    logits = torch.zeros(5, dtype=torch.float64)
    size = {"one": 1, "eight": 8, "sixtyfour": 64}.get(batch)
    for power in (0, 1, -2, 3):
        page.get_by_role("slider", name="learning rate").fill(str(power))
        said, gradient = read(page)
        close(said, logits.softmax(-1))
        apart = (TRUTH * (TRUTH / said).log()).sum()
        close(numbers(page.locator("[data-name=distance]")), apart)
        seen = said - gradient
        if size is None:
            close(seen, TRUTH)
        else:
            close(seen * size, (seen * size).round())  # whole words
            close(seen.sum()[None], torch.tensor(1))
        expected = gradient_of(logits, seen)
        close(gradient, expected)
        page.get_by_role("button", name="One step").click()
        logits = logits - 2.0**power * expected
    close(read(page)[0], logits.softmax(-1))


def test_a_bar_points_the_way_that_the_word_will_go(show):
    page = show(figure())
    before, _ = read(page)
    starts = page.locator("[data-name=way]").evaluate_all(
        "nodes => nodes.map((node) => Number(node.getAttribute('x')))"
    )
    page.get_by_role("button", name="One step").click()
    up = read(page)[0] > before
    assert 0 < up.sum() < len(up)
    zero = max(starts)  # where every bar to the right begins
    assert [start == zero for start in starts] == up.tolist()


def test_the_words_are_drawn_from_the_truth(show):
    page = show(figure())
    select(page, "words seen at each step").select_option("sixtyfour")
    shares = []
    for _ in range(60):
        said, gradient = read(page)
        shares.append(said - gradient)
        page.get_by_role("button", name="One step").click()
    expect(page.get_by_role("button", name="One step")).to_have_attribute("aria-disabled", "true")
    assert len({tuple(share.tolist()) for share in shares}) > 50
    close(torch.stack(shares).mean(0), TRUTH, tolerance=0.03)


def test_ten_steps_are_ten_and_there_is_a_way_back(show):
    page = show(figure())
    page.get_by_role("button", name="Ten steps").click()
    ten = read(page)
    page.get_by_role("button", name="Start again").click()
    close(read(page)[0], torch.full((5,), 0.2, dtype=torch.float64))
    for _ in range(10):
        page.get_by_role("button", name="One step").press("Enter")
    for now, before in zip(read(page), ten, strict=True):
        close(now, before)
    expect(page.get_by_role("status")).to_contain_text("After 10 steps")


def test_the_goals(show):
    page = show(figure())
    goals = page.locator(".cl-goals li").all()
    rate = page.get_by_role("slider", name="learning rate")

    def reached():
        return [goal.get_attribute("class") == "cl-reached" for goal in goals]

    rate.fill("0")
    page.get_by_role("button", name="Ten steps").click()
    assert reached() == [False, False, False]
    page.get_by_role("button", name="Start again").click()
    rate.fill("2")
    page.get_by_role("button", name="Ten steps").click()
    assert reached() == [True, False, False]
    page.get_by_role("button", name="Start again").click()
    rate.fill("5")
    for _ in range(6):
        page.get_by_role("button", name="Ten steps").click()
    assert reached() == [True, True, False]
    page.get_by_role("button", name="Start again").click()
    select(page, "words seen at each step").select_option("eight")
    for power in (1, 0, -1, -2, -3, -3):
        rate.fill(str(power))
        page.get_by_role("button", name="Ten steps").click()
    assert reached() == [True, True, True], read(page)


EXAMPLE = Example(figure, "[data-name=said], [data-name=push]")
