"""Prefill and decode on a time line: counts and bytes against a GPT's own caches."""

from dataclasses import replace

import pytest
import torch
from playwright.sync_api import expect

from book.decoding import cache_figure
from companion.models import GPT, GPTConfig
from companion.nn import KVCache
from tests.book.reading import Example, numbers, press

pytestmark = pytest.mark.browser

CONFIG = GPTConfig(
    vocab_size=11, d_model=30, num_layers=2, num_heads=6, num_kv_heads=2, d_ff=7, max_len=16
)
TEXT, PROMPT = "a b c d e f g h", 3
HEADS = {"full": 6, "grouped": 2, "single": 1}


def figure():
    return cache_figure(CONFIG, "a small model", TEXT, PROMPT)


def steps_of(way: str) -> list[tuple[int, int, int, int]]:
    """After every step: tokens computed at it, in all, without a cache, and bytes held."""
    torch.manual_seed(0)
    model = GPT(replace(CONFIG, num_kv_heads=HEADS[way])).to(torch.bfloat16).eval()
    computed, rows, again = [], [(0, 0, 0, 0)], 0
    model.token_embedding.register_forward_hook(lambda _, given, __: computed.append(given[0]))
    caches = [KVCache() for _ in model.blocks]
    tokens = torch.arange(8)[None]
    with torch.no_grad():
        for start, stop in [(0, PROMPT), *((at, at + 1) for at in range(PROMPT, 8))]:
            model(tokens[:, start:stop], caches=caches)
            again += stop
            held = [x for cache in caches for x in (cache.key, cache.value)]
            size = sum(x.numel() * x.element_size() for x in held)
            total = sum(ids.shape[1] for ids in computed)
            rows.append((computed[-1].shape[1], total, again, size))
    return rows


@pytest.mark.parametrize("way", HEADS)
def test_counts_and_bytes_are_those_of_a_model_with_its_caches(show, way):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("radio", name=way).check()
    press(page.get_by_role("slider", name="step"), "Home")
    for step, expected in enumerate(steps_of(way)):
        if step:
            page.get_by_role("button", name="Next").click()
        cells = page.locator("td[data-name]")
        assert numbers(cells).tolist() == list(expected)
        held = page.locator("[data-name=k]").evaluate_all(
            "all => all.filter((node) => getComputedStyle(node).visibility !== 'hidden').length"
        )
        assert held == expected[1] * HEADS[way]
    expect(page.get_by_role("button", name="Next")).to_have_attribute("aria-disabled", "true")


def test_captions_tell_prefill_from_decode(show):
    page = show(figure(), reduced_motion="reduce")
    say = page.get_by_role("status")
    expect(say).to_contain_text("6 query heads share 2 key heads")
    press(page.get_by_role("slider", name="step"), "Home")
    press(page.get_by_role("slider", name="step"), "ArrowRight")
    page.get_by_role("radio", name="full").check()
    expect(say).to_contain_text("Prefill: all 3 tokens of the prompt")
    expect(say).to_contain_text("Each query head has keys of its own")
    page.get_by_role("radio", name="single").check()
    expect(say).to_contain_text("6 query heads share one key head")
    press(page.get_by_role("slider", name="step"), "ArrowRight")
    expect(say).to_contain_text("Decode: only “d” is computed. Its query meets 4 keys")


def test_goals_are_reached_at_the_right_steps(show):
    page = show(figure(), reduced_motion="reduce")
    smaller, wasted = page.locator(".cl-goals li").all()
    rows = steps_of("full")
    first = next(i for i, row in enumerate(rows) if i and row[2] > 3 * row[1])
    page.get_by_role("radio", name="full").check()
    line = page.get_by_role("slider", name="step")
    press(line, "Home")
    press(line, "ArrowRight", times=first - 1)
    expect(wasted).not_to_have_class("cl-reached")
    press(line, "ArrowRight")
    expect(wasted).to_have_class("cl-reached")
    press(line, "End")
    expect(smaller).not_to_have_class("cl-reached")
    page.get_by_role("radio", name="grouped").check()
    expect(smaller).to_have_class("cl-reached")


@pytest.mark.parametrize("way", HEADS)
def test_a_bar_joins_the_queries_that_share_a_key_head(show, way):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("radio", name=way).check()
    line = page.get_by_role("slider", name="step")
    press(line, "Home")
    visible = "all => all.filter((node) => getComputedStyle(node).visibility !== 'hidden').length"
    for step, (now, *_) in enumerate(steps_of(way)):
        if step:
            press(line, "ArrowRight")
        # every token that is computed asks, and no other
        assert page.locator("[data-name=q]").evaluate_all(visible) == now
        assert page.locator("[data-name=shared]").evaluate_all(visible) == now * HEADS[way]


def test_a_prompt_must_leave_a_token_and_heads_must_be_grouped():
    with pytest.raises(ValueError, match="prompt = 8 must lie between 1 and 7"):
        cache_figure(CONFIG, "a small model", TEXT, 8)
    with pytest.raises(ValueError, match="got 6 of 6"):
        cache_figure(replace(CONFIG, num_kv_heads=None), "a small model")


EXAMPLE = Example(figure, None)
