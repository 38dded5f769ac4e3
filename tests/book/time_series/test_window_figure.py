"""One window through a Forecaster: every step against the model's formula, written out."""

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import expect

from book.time_series import window_figure
from companion.models import Forecaster, ForecasterConfig
from tests.book.reading import Example, close, numbers, press, randomised, select

pytestmark = pytest.mark.browser

WINDOW, PATCH, HEADS, BLOCKS, ROUNDED = 6, 2, 2, 2, 6e-5  # the page gets four decimals
TEXTS = ["last of them", "moved", "patch", "becomes", "gives", "After all blocks", "The truth is"]
ATTENTION, AFTER, MOVE = 4, 5, 6


def made(features: int = 1) -> Forecaster:
    sizes = {"d_model": 4, "num_layers": BLOCKS, "num_heads": HEADS, "d_ff": 6}
    shape = {"features": features, "window": WINDOW, "horizon": 1, "patch_size": PATCH}
    return randomised(Forecaster(ForecasterConfig(step_scale=0.25, **shape, **sizes)))


MODEL = made()
RUNS = torch.randn(3, WINDOW + 1, 1, generator=torch.Generator().manual_seed(3)).double()


@torch.no_grad()
def by_hand(run: torch.Tensor) -> dict:
    """What a Forecaster computes of T + 1 points (T + 1, 1), without its own forward pass."""
    of = dict(MODEL.named_parameters())
    points = run[:-1, 0]
    moved = torch.cat([torch.zeros(1), points[1:] - points[:-1]]) / 0.25
    rows = torch.stack([points, moved], dim=1).reshape(WINDOW // PATCH, -1)

    def linear(name, x):
        return x @ of[f"{name}.weight"].T + of[f"{name}.bias"]

    def norm(name, x):
        return F.layer_norm(x, (4,), of[f"{name}.weight"], of[f"{name}.bias"])

    x = vectors = linear("patch_embedding", rows) + of["positions.weight"]
    weights = []
    for i in range(BLOCKS):
        normed, attention = norm(f"blocks.{i}.norm1", x), f"blocks.{i}.self_attention"
        q, k, v = (
            linear(f"{attention}.{name}_proj", normed).view(-1, HEADS, 2).transpose(0, 1)
            for name in "qkv"
        )
        weights.append((q @ k.transpose(1, 2) / 2**0.5).softmax(-1))
        x = x + linear(f"{attention}.out_proj", (weights[-1] @ v).transpose(0, 1).flatten(1))
        inner = F.gelu(linear(f"blocks.{i}.feed_forward.up_proj", norm(f"blocks.{i}.norm2", x)))
        x = x + linear(f"blocks.{i}.feed_forward.down_proj", inner)
    read = norm("final_norm", x)
    move = linear("head", read.flatten()[None])[0, 0]
    return {"moved": moved, "vectors": vectors, "weights": weights, "read": read, "move": move}


@pytest.mark.parametrize("window", [0, 2])
def test_every_step_equals_the_formula(show, window):
    page = show(window_figure(MODEL, RUNS), reduced_motion="reduce")
    expected = by_hand(RUNS[window])
    select(page, "window").select_option(str(window))
    select(page, "attention of").select_option("1 0")
    line, caption = page.get_by_role("slider", name="step"), page.get_by_role("status")
    press(line, "End")
    page.get_by_role("button", name="patch 2").press("Enter")
    press(line, "Home")
    for step, text in enumerate(TEXTS):
        expect(caption).to_contain_text(text)
        found = numbers(page.locator("[data-name=vector] .cl-tint"))
        close(found, expected["vectors" if step < AFTER else "read"], ROUNDED)
        press(line, "ArrowRight")
    close(numbers(page.locator("[data-name=difference]")), expected["moved"], 4 * ROUNDED)
    held = torch.stack([RUNS[window, :-1, 0], expected["moved"]])[:, PATCH : 2 * PATCH]  # patch 2
    close(numbers(page.locator("[data-name=held] text")), held, 4 * ROUNDED)
    close(numbers(page.locator("[data-name=weight]")), expected["weights"][1][0, 1], ROUNDED)
    close(numbers(page.locator("[data-name=move]")), expected["move"], 8 * ROUNDED)
    said = RUNS[window, -2, 0] + 0.25 * expected["move"]
    expect(caption).to_contain_text(f"= {said:.2f}".replace("-", "\u2212"))


def test_goals(show):
    page = show(window_figure(MODEL, RUNS), reduced_motion="reduce")
    found = [by_hand(run) for run in RUNS]
    weights = torch.stack(found[0]["weights"])  # (blocks, heads, queries, keys)
    block, head, query, _ = torch.unravel_index(weights.argmax(), weights.shape)
    largest = max(range(3), key=lambda i: abs(found[i]["move"]))
    reached, line = page.locator(".cl-reached"), page.get_by_role("slider", name="step")
    press(line, "Home")
    press(line, "ArrowRight", times=ATTENTION)
    for chosen in (f"{1 - block} {head}", f"{block} {head}"):
        expect(reached).to_have_count(0)
        select(page, "attention of").select_option(chosen)
        page.get_by_role("button", name=f"patch {query + 1}").press("Enter")
    expect(reached).to_have_count(1)
    select(page, "window").select_option(str(largest))
    expect(reached).to_have_count(1)
    press(line, "End")
    expect(reached).to_have_count(2)


def test_other_models_and_runs_are_refused():
    with pytest.raises(ValueError, match="features=1 and horizon=1, got 3"):
        window_figure(made(features=3), RUNS.expand(-1, -1, 3))
    with pytest.raises(ValueError, match=r"runs must be \(N, 7, 1\), got \(3, 6, 1\)"):
        window_figure(MODEL, RUNS[:, 1:])


EXAMPLE = Example(lambda: window_figure(MODEL, RUNS), None)
