"""The gallery of masks, held to companion.nn and PyTorch."""

import json

import pytest
import torch
from playwright.sync_api import expect

from book.self_attention import masks_figure
from companion.nn import causal_mask, padding_mask, scaled_dot_product_attention
from tests.book.reading import Example, close, numbers

pytestmark = pytest.mark.browser

TOKENS = ["the", "cat", "was", "ill", "[PAD]"]
QUERY, KEY = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(7)).double()
PLACE = torch.arange(5)
MASKS = {
    "none": None,
    "padding": padding_mask(torch.tensor([[7, 8, 9, 6, 0]]), 0),
    "causal": causal_mask(5),
    "window": (PLACE[:, None] - PLACE).abs() <= 1,
}


def make():
    return masks_figure(TOKENS, QUERY, KEY)


def check(page, mask):
    flat = mask if mask is None else mask.reshape(-1, 5).expand(5, 5)
    _, weights = scaled_dot_product_attention(QUERY, KEY, KEY, flat)
    close(numbers(page.locator("table button")), weights)
    pressed = page.locator("table button").evaluate_all(
        "nodes => nodes.map((node) => node.ariaPressed === 'true')"
    )
    assert pressed == (torch.ones(5, 5) > 0 if flat is None else flat).flatten().tolist()
    code, _, printed = page.locator("[data-name=tensor]").inner_text().partition("\n")
    assert code.startswith(">>> ")
    found = json.loads(printed.lower()) if printed else None
    assert found == (None if mask is None else mask.tolist())


def test_every_mask_is_the_package_s_own(show):
    page = show(make())
    check(page, MASKS["causal"])
    for name, mask in MASKS.items():
        page.get_by_role("radio", name=name).check()
        check(page, mask)


def test_a_click_makes_a_mask_of_the_reader_s_own(show):
    page = show(make())
    page.get_by_role("radio", name="window").check()
    page.get_by_role("button", name="“the” may look at “ill”").click()
    page.get_by_role("button", name="“cat” may look at “cat”").press("Space")
    mask = MASKS["window"].clone()
    mask[0, 3], mask[1, 1] = True, False
    check(page, mask)
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    expect(page.get_by_role("status")).to_contain_text("“cat” may look at 2 of 5 words")


def test_forbidden_arrows_are_dashed_and_grey(show):
    page = show(make())
    barred = page.locator("svg line:visible")
    page.get_by_role("button", name="show the arrows of the").click()
    expect(barred).to_have_count(4)
    page.get_by_role("button", name="show the arrows of ill").press("Enter")
    expect(barred).to_have_count(1)
    page.get_by_role("radio", name="none").check()
    expect(barred).to_have_count(0)


def test_both_goals_can_be_reached(show):
    page = show(make())
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    page.get_by_role("button", name="“[PAD]” may look at “[PAD]”").click()
    expect(reached).to_have_count(1)
    page.get_by_role("button", name="“the” may look at “the”").click()
    expect(reached).to_have_count(2)
    mask = MASKS["causal"] & MASKS["padding"][0, 0]
    mask[0, 0] = False
    check(page, mask)  # the empty row has the weights 0
    expect(page.get_by_role("status")).to_contain_text("“the” may look at nobody")


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="5 tokens need as many queries"):
        masks_figure(TOKENS, QUERY[:3], KEY)


EXAMPLE = Example(make, "table button", "td")
