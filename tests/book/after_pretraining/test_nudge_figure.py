"""A group of answers and steps of REINFORCE: probabilities and advantages equal autograd's."""

import pytest
import torch
from playwright.sync_api import Page, expect

from book.after_pretraining import nudge_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

ANSWERS = ["the dog barks", "the cat is old", "a bus", "the fox hides"]
CHANCES = [0.4, 0.3, 0.2, 0.1]
WHOLE = [0.4**4, 0.3**5, 0.2**3, 0.1**4]  # of all tokens, the end included
REWARDS = [1.0, 0.0, 0.0, 1.0]


def figure():
    return nudge_figure("animal, 3 words", ANSWERS, WHOLE, REWARDS)


def advantages(rewards, baseline: bool) -> torch.Tensor:
    rewards = torch.tensor(rewards, dtype=torch.float64)
    return rewards - rewards.mean() if baseline else rewards


def expected(rewards, *, beta: float, baseline: bool, moves: int) -> torch.Tensor:
    """The probabilities after so many steps up the objective, whose gradient is autograd's."""
    start = torch.tensor(CHANCES, dtype=torch.float64).log()
    logits = start.clone()
    for _ in range(moves):
        logits = logits.detach().requires_grad_()
        log_p = logits.log_softmax(0)
        kl = (log_p.exp() * (log_p - start)).sum()
        objective = (advantages(rewards, baseline) * log_p).sum() - beta * kl
        (gradient,) = torch.autograd.grad(objective, logits)
        logits = logits + 0.2 * gradient
    return logits.detach().softmax(0)


def set_slider(page: Page, name: str, presses: int) -> None:
    slider = page.get_by_role("slider", name=name)
    press(slider, "Home")
    press(slider, "ArrowRight", times=presses)


@pytest.mark.parametrize("baseline", [True, False])
@pytest.mark.parametrize(("beta", "moves"), [(0.0, 1), (0.0, 7), (1.5, 7), (5.0, 60)])
def test_probabilities_after_steps_are_those_of_autograd(show, baseline, beta, moves):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider", name="step", exact=True), "End")
    page.get_by_role("checkbox", name="subtract the mean").set_checked(baseline)
    set_slider(page, "penalty", round(beta / 0.5))
    set_slider(page, "steps taken", moves)
    page.get_by_role("checkbox", name="2 passes").check()
    rewards = [1.0, 1.0, 0.0, 1.0]
    shares = expected(rewards, beta=beta, baseline=baseline, moves=moves)
    close(numbers(page.locator("[data-name=share]")), shares)
    close(numbers(page.locator("[data-name=advantage]")), advantages(rewards, baseline))
    together = shares[[0, 1, 3]].sum().item()
    expect(page.get_by_role("status")).to_contain_text(
        f"have {together:.2f} together; they had 0.80"
    )


def test_each_step_shows_what_it_is_about(show):
    page = show(figure(), reduced_motion="reduce")
    onward = page.get_by_role("button", name="Next")
    marks = page.locator(".cl-stage text").first
    advantage = page.locator("[data-name=advantage]").first
    expect(marks).to_have_text("1 the dog barks")
    expect(page.get_by_role("slider", name="steps taken")).to_be_disabled()
    onward.click()
    expect(marks).to_have_text("✓ 1 the dog barks")
    expect(advantage).to_be_hidden()
    onward.click()
    expect(advantage).to_be_visible()
    expect(advantage).to_have_text("+0.50")
    onward.click()
    close(numbers(page.locator("[data-name=share]")), torch.tensor(CHANCES, dtype=torch.float64))
    expect(page.get_by_role("slider", name="steps taken")).to_be_enabled()


def test_an_arrow_is_as_long_as_the_advantage(show):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider", name="step", exact=True), "End")
    page.get_by_role("checkbox", name="2 passes").check()  # a quarter fails: +.25 and -.75

    def lengths():
        tips = page.locator(".cl-stage .cl-tip").evaluate_all(
            "nodes => nodes.map((n) => +n.getAttribute('d').match(/-?[\\d.]+/)[0])"
        )
        starts = page.locator(".cl-stage .cl-shaft").evaluate_all(
            "nodes => nodes.map((n) => +n.getAttribute('d').match(/-?[\\d.]+/)[0])"
        )
        return torch.tensor([b - a for a, b in zip(starts, tips, strict=True)], dtype=torch.float64)

    full = float(page.locator(".cl-stage .cl-unit").first.get_attribute("width"))
    close(lengths() / full, 0.3 * advantages([1.0, 1.0, 0.0, 1.0], True), 1e-6)


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    step = page.get_by_role("slider", name="step", exact=True)
    press(step, "End")
    set_slider(page, "steps taken", 60)
    expect(reached).to_have_count(0)  # without a penalty they gain too much
    set_slider(page, "penalty", 2)
    assert expected(REWARDS, beta=1.0, baseline=True, moves=60)[[0, 3]].sum() - 0.5 > 0.25
    expect(reached).to_have_count(0)  # a weak one does not hold them
    set_slider(page, "penalty", 20)
    gained = expected(REWARDS, beta=10.0, baseline=True, moves=60)[[0, 3]].sum() - 0.5
    assert 0.02 < gained < 0.25
    expect(reached).to_have_count(1)
    page.get_by_role("checkbox", name="2 passes").check()
    page.get_by_role("checkbox", name="3 passes").check()
    expect(reached).to_have_count(2)  # all pass: no advantage
    set_slider(page, "penalty", 0)
    expect(reached).to_have_count(2)
    page.get_by_role("checkbox", name="subtract the mean").uncheck()
    expect(reached).to_have_count(3)  # the likeliest of those that pass loses


def test_groups_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 1, 2\)"):
        nudge_figure("animal, 3 words", ANSWERS[:2], [1.0], [1, 0])
    with pytest.raises(ValueError, match="above 0"):
        nudge_figure("animal, 3 words", ANSWERS[:2], [1.0, 0.0], [1, 0])
    with pytest.raises(ValueError, match=r"0 or 1, got \[0.5, 0\]"):
        nudge_figure("animal, 3 words", ANSWERS[:2], [0.5, 0.5], [0.5, 0])


EXAMPLE = Example(figure, "[data-name=share]", "td:nth-of-type(1)")
