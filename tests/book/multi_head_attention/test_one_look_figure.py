"""Two stories through one look, or two: held to PyTorch, and to the reader that fits them best."""

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import expect

from book.multi_head_attention import one_look_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

STORIES = torch.tensor([(s, o) for s in range(3) for o in range(3) if s != o])


def received(*weights: float) -> torch.Tensor:
    """What the verb receives in all six stories, the heads side by side."""
    subject, object_ = torch.eye(3, dtype=torch.float64)[STORIES].unbind(1)
    return torch.cat([w * subject + (1 - w) * object_ for w in weights], dim=1)


def readable(vectors: torch.Tensor, answer: torch.Tensor) -> bool:
    """Whether the linear reader of smallest loss gets every story right."""
    reader = torch.zeros(vectors.shape[1], 3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([reader], max_iter=200)

    def loss():
        optimizer.zero_grad()
        loss = F.cross_entropy(vectors @ reader, answer)
        loss.backward()
        return loss

    optimizer.step(loss)
    return bool(((vectors @ reader).argmax(-1) == answer).all())


@pytest.fixture
def page(show):
    return show(one_look_figure(), reduced_motion="reduce")


def set_weight(page, key: str, weight: float) -> None:
    control = page.locator(f"input[name={key}]")
    press(control, "Home")
    press(control, "ArrowRight", round(weight * 20))


def check(page, *weights: float) -> None:
    vectors = received(*weights)
    drawn = torch.stack([vectors[0], vectors[2]])  # dog bites man, man bites dog
    for head in range(len(weights)):
        shown = numbers(page.locator(f"[data-name=received-{head + 1}] [data-value]"))
        close(shown, drawn[:, 3 * head : 3 * head + 3])
    for ask, answer in zip(("who", "whom"), STORIES.T, strict=True):
        verdict = page.locator(f"[data-name={ask}]")
        expect(verdict).to_contain_text("✓" if readable(vectors, answer) else "✗")
        if len(set(weights)) == 2:  # so much of each head is that noun, and nothing else
            shares = numbers(verdict.locator("[data-value]"))
            found = torch.einsum("h,nhi->ni", shares, vectors.unflatten(1, (2, 3)))
            close(found.flatten(), F.one_hot(answer, 3))


@pytest.mark.parametrize("weight", [0.0, 0.25, 0.45, 0.5, 0.6, 0.75, 1.0])
def test_one_row_is_read_as_the_best_linear_reader_reads_it(page, weight):
    set_weight(page, "weight", weight)
    check(page, weight)


@pytest.mark.parametrize("weights", [(0.75, 0.25), (0.8, 0.6), (0.2, 0.4), (0.6, 0.6), (0.5, 0.5)])
def test_two_rows_are_read_as_the_best_linear_reader_reads_them(page, weights):
    page.get_by_role("checkbox", name="a second head").check()
    set_weight(page, "weight", weights[0])
    set_weight(page, "other", weights[1])
    check(page, *weights)


@pytest.mark.parametrize("ask", ["who did it?", "to whom?"])
def test_crosses_stand_where_lines_meet(page, ask):
    page.get_by_role("radio", name=ask).check()
    for weight in (0.25, 0.75):
        set_weight(page, "weight", weight)
        crosses = page.locator("svg .cl-gap:visible")
        expect(crosses).to_have_count(3 if (weight < 0.5) == (ask == "who did it?") else 0)


def test_goals_are_reached(page):
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    set_weight(page, "weight", 0.5)  # on its way from 0: both goals of one head
    expect(reached).to_have_count(2)
    page.get_by_role("checkbox", name="a second head").check()
    set_weight(page, "weight", 0.8)
    expect(reached).to_have_count(2)  # the second head leans to the object
    set_weight(page, "other", 0.6)
    expect(reached).to_have_count(3)
    expect(page.get_by_role("status")).to_contain_text("“who did it?” and “to whom?” can be read")


EXAMPLE = Example(one_look_figure, "[data-name=received-1] [data-value]")
