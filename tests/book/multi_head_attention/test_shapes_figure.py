"""The numbers of a layer on their way through its heads, every step held to PyTorch."""

import re

import pytest
import torch
from playwright.sync_api import expect

from book.multi_head_attention import shapes_figure
from companion.nn import MultiHeadAttention
from tests.book.reading import Example, close, numbers, press, randomised

pytestmark = pytest.mark.browser

WORDS = ["dog", "bites", "man"]
X = torch.tensor([[1.0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 1]], dtype=torch.float64)


def make_layer() -> MultiHeadAttention:
    return randomised(MultiHeadAttention(4, 2, bias=False))


def make():
    return shapes_figure(make_layer(), X, WORDS)


@torch.no_grad()
def through_the_layer(layer: MultiHeadAttention, *, wide: bool) -> list[dict[str, torch.Tensor]]:
    """What each step shows, by the name of the block, computed by PyTorch."""
    q, k, v = (part(X) for part in (layer.q_proj, layer.k_proj, layer.v_proj))
    pieces = {name: part.split(2, -1) for name, part in (("q", q), ("k", k), ("v", v))}
    output, maps = layer(X[None], need_weights=True)
    heads = [maps[0, i] @ pieces["v"][i] for i in range(2)]
    w = layer.out_proj.weight.T
    terms = [head @ rows for head, rows in zip(heads, w.split(2), strict=True)]
    named = {"map": maps[0], "head": heads, "w": w.split(2), "term": terms} | pieces
    each = {f"{name}{i}": list(parts)[i] for name, parts in named.items() for i in range(2)}
    whole = {"x": X, "mixed": output[0]}
    shown = ["x", "x q k v", "q k v", "map v", "map v head", "head", "head w mixed"]
    if wide:  # where there is room, the words stay in sight
        shown[2:5] = [f"x {names}" for names in shown[2:5]]
    shown.append("head w term mixed" if wide else "term mixed")
    return [
        {
            name: matrix
            for name, matrix in (each | whole).items()
            if re.sub(r"\d", "", name) in names.split()
        }
        for names in shown
    ]


@pytest.mark.parametrize("width", [390, 760])
def test_every_step_equals_pytorch(show, width):
    page = show(make(), viewport={"width": width, "height": 900}, reduced_motion="reduce")
    for step, expected in enumerate(through_the_layer(make_layer(), wide=width > 600)):
        press(page.get_by_role("slider", name="step"), "Home")
        press(page.get_by_role("slider", name="step"), "ArrowRight", step)
        visible = page.locator("svg [data-name]:visible")
        expect(visible).to_have_count(len(expected))
        for name, matrix in expected.items():
            block = page.locator(f"svg [data-name={name}]")
            expect(block).to_be_visible()
            close(numbers(block.locator("[data-value]")), matrix)


def test_the_guess_is_asked_before_the_maps_and_kept_beside_them(show):
    page = show(make(), reduced_motion="reduce")
    guess = page.get_by_role("group", name="Which maps")
    guess.get_by_role("radio", name="one 3 × 3").check()
    guess.get_by_role("button", name="Show the answer").click()
    expect(page.locator("svg [data-name=map1]")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("You said one 3 × 3: not quite.")


def test_the_guess_is_gone_once_the_maps_have_been_seen(show):
    page = show(make(), reduced_motion="reduce")
    guess = page.get_by_role("group", name="Which maps")
    expect(guess).to_be_visible()
    press(page.get_by_role("slider", name="step"), "End")
    expect(guess).to_be_hidden()


def test_x_needs_a_row_for_every_word():
    with pytest.raises(ValueError, match=r"shape \(2, 4\)"):
        shapes_figure(make_layer(), X, WORDS[:2])


EXAMPLE = Example(make, "[data-name=x] [data-value]")
