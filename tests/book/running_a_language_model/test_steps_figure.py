"""Prefill and decode: every count is that of torch's counter and of a real cache."""

import pytest
import torch
from playwright.sync_api import expect
from torch.utils.flop_counter import FlopCounterMode

from book.running_a_language_model import steps_figure
from companion.models import GPT, GPTConfig
from companion.nn import KVCache
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

CONFIG = GPTConfig(
    vocab_size=50, d_model=24, num_layers=3, num_heads=4, num_kv_heads=2, d_ff=40, max_len=32,
    norm="rms", activation="swiglu", bias=False, positions="rotary",
)  # fmt: skip
PROMPT, WRITTEN = ["One", " two", " three"], [" four", " five", ".", " six"]
T, NEW = len(PROMPT), len(WRITTEN)


def figure():
    return steps_figure(CONFIG, PROMPT, WRITTEN)


def run(cached: bool, rows: int) -> list[dict]:
    """What each step takes, counted on a real model of these sizes."""
    with torch.device("meta"):
        model = GPT(CONFIG)
        ids = torch.zeros(rows, T + NEW, dtype=torch.long)
    weights = 4 * sum(p.numel() for p in model.parameters() if p.dim() == 2)
    caches = [KVCache() for _ in model.blocks]
    steps, total, held = [], 0, 0
    for length in range(T, T + NEW):
        caches = caches if cached else [KVCache() for _ in model.blocks]
        new = ids[:, (T + len(steps) - 1 if steps else 0) if cached else 0 : length]
        with FlopCounterMode(display=False) as counter:
            model(new, caches=caches)
        operations = counter.get_total_flops()
        total += operations
        before, held = held, sum(x.nbytes for c in caches for x in (c.key, c.value))
        before, held = (before, held) if cached else (0, 0)  # it throws them away
        bytes_ = weights + before
        steps.append(
            {
                "computed": new.shape[1],
                "this step: operations": operations,
                "this step: bytes moved": bytes_,
                "intensity": operations / bytes_,
                "all steps so far: operations": total,
                "the cache holds": held,
            }
        )
    return steps


def shown(page, name: str) -> torch.Tensor:
    return numbers(page.locator(f'[data-name="{name}"]'))


@pytest.mark.parametrize(("cached", "rows"), [(True, 1), (False, 1), (True, 5), (False, 3)])
def test_every_step_costs_what_is_counted(show, cached, rows):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("checkbox", name="keep a cache").set_checked(cached)
    press(page.get_by_role("slider", name="conversations at once"), "ArrowRight", times=rows - 1)
    press(page.get_by_role("slider", name="step"), "Home")
    assert shown(page, "this step: operations").item() == 0
    for step in run(cached, rows):
        page.get_by_role("button", name="Next").click()
        computed = step.pop("computed")
        for name, expected in step.items():
            close(shown(page, name), torch.tensor([expected], dtype=torch.float64))
        expect(page.get_by_role("status")).to_contain_text(
            f"{computed} token" if computed == 1 else f"all {computed} tokens"
        )


def test_a_square_is_filled_where_a_position_is_computed(show):
    page = show(figure(), reduced_motion="reduce")
    rows = [[1] * T, *([0] * (T + n - 1) + [1] for n in range(1, NEW))]
    close(shown(page, "cell"), torch.tensor([cell for row in rows for cell in row]))
    page.get_by_role("checkbox", name="keep a cache").uncheck()
    close(shown(page, "cell"), torch.ones(sum(map(len, rows))))


def test_the_goals_are_reached_by_what_they_say(show):
    page = show(figure(), reduced_motion="reduce")
    goals = page.get_by_role("list", name="goals").get_by_role("listitem")
    step = page.get_by_role("slider", name="step")
    press(step, "End")
    for goal in (goals.first, goals.last):
        expect(goal).not_to_contain_text("(reached)")
    conversations = page.get_by_role("slider", name="conversations at once")
    press(conversations, "End")
    expect(goals.last).to_contain_text("(reached)")
    expect(goals.first).not_to_contain_text("(reached)")
    press(step, "Home")
    page.get_by_role("checkbox", name="keep a cache").uncheck()
    expect(goals.first).not_to_contain_text("(reached)")
    press(step, "End")
    expect(goals.first).to_contain_text("(reached)")


def test_another_model_or_too_long_a_text_is_refused():
    with pytest.raises(ValueError, match="SwiGLU"):
        steps_figure(GPTConfig.preset("gpt2"), PROMPT, WRITTEN)
    with pytest.raises(ValueError, match="at most 16"):
        steps_figure(CONFIG, PROMPT * 3, WRITTEN * 2)


EXAMPLE = Example(figure, None)
