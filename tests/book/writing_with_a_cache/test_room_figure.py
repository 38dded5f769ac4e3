"""The live figure of what a GPU holds while it writes, held to bytes and operations of a model."""

from dataclasses import replace

import pytest
import torch
from playwright.sync_api import expect
from torch.utils.flop_counter import FlopCounterMode

from book.writing_with_a_cache import room_figure
from companion.models import GPT, GPTConfig
from companion.nn import KVCache, scaled_dot_product_attention
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

CONFIG = GPTConfig(vocab_size=50, d_model=64, num_layers=2, num_heads=8, d_ff=96, max_len=2**10)
GPU = {"memory": 2.0, "bandwidth": 0.5, "peak": 40.0}
WEIGHTS = 200_000_000  # any number: what the page adds to it is measured below


def figure():
    return room_figure(CONFIG, "a model", WEIGHTS, GPU)


def set_to(page, name: str, exponent: int) -> None:
    page.get_by_role("slider", name=name).fill(str(exponent))


def read(page, name: str) -> torch.Tensor:
    return numbers(page.locator(f"[data-name={name}]"))


def cached(tokens: int, heads: int, bits: int) -> int:
    """Bytes of one text's caches, counted in a model that has read it."""
    model = GPT(replace(CONFIG, num_kv_heads=heads)).to(torch.float16)
    caches = [KVCache() for _ in model.blocks]
    with torch.no_grad():
        model(torch.zeros(1, tokens, dtype=torch.long), caches=caches)
    return sum(x.nbytes for c in caches for x in (c.key, c.value)) * bits // 16


def attending(tokens: int) -> int:
    """Operations of one query of every head and layer that meets so many keys."""
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        query, key = torch.empty(1, 8, 1, 8), torch.empty(1, 8, tokens, 8)
        scaled_dot_product_attention(query, key, key)
    return CONFIG.num_layers * counter.get_total_flops()


@pytest.mark.parametrize(
    ("texts", "tokens", "heads", "bits"),
    [(0, 8, 8, 16), (3, 9, 2, 16), (8, 10, 1, 4), (8, 8, 8, 8)],
)
def test_bytes_and_operations_are_those_of_the_model(show, texts, tokens, heads, bits):
    page = show(figure(), reduced_motion="reduce")
    set_to(page, "texts at once", texts)
    set_to(page, "tokens in each", tokens)
    select(page, "key heads").select_option(str(heads))
    select(page, "bits of the cache").select_option(str(bits))
    held = 2 * WEIGHTS + 2**texts * cached(2**tokens, heads, bits)
    computing = 2**texts * (2 * WEIGHTS + attending(2**tokens)) / (GPU["peak"] * 1e12)
    seconds = max(held / (GPU["bandwidth"] * 1e12), computing)
    expected = {
        "held": held / 1e9,
        "step": 1000 * seconds,
        "each": 1 / seconds,
        "all": 2**texts / seconds,
        "share": 100 * computing / seconds,
    }
    for name, number in expected.items():
        close(read(page, name) / number, torch.ones(1))
    bound = "The arithmetic" if texts == 8 else "The memory"
    expect(page.get_by_role("status")).to_contain_text(f"They fit. {bound} decides")


def test_what_does_not_fit_is_said_and_reaches_no_goal(show):
    config = GPTConfig(vocab_size=50, d_model=512, num_layers=8, num_heads=8, d_ff=96, max_len=4096)
    gpu = {"memory": 8.0, "bandwidth": 2.0, "peak": 1000.0}
    page = show(room_figure(config, "a model", WEIGHTS, gpu), reduced_motion="reduce")
    reached = page.locator(".cl-goals .cl-reached")
    set_to(page, "texts at once", 8)  # 256 caches of 4,096 · 16,384 bytes: 17 GB
    expect(page.get_by_role("status")).to_contain_text("They do not fit")
    expect(reached).to_have_count(0)
    set_to(page, "texts at once", 6)  # 4.3 GB of caches, ten times the weights; 27,000 a second
    expect(page.get_by_role("status")).to_contain_text("They fit")
    expect(reached).to_have_count(3)


def test_the_second_goal_needs_no_more_than_many_short_texts(show):
    gpu = {"memory": 8.0, "bandwidth": 2.0, "peak": 1000.0}
    page = show(room_figure(CONFIG, "a model", WEIGHTS, gpu), reduced_motion="reduce")
    set_to(page, "tokens in each", 8)
    batch = page.get_by_role("slider", name="texts at once")
    press(batch, "ArrowRight", times=1)  # 5,000 a second for each of two readers
    expect(page.locator(".cl-goals .cl-reached")).to_have_count(0)
    press(batch, "ArrowRight", times=1)
    expect(page.locator(".cl-goals .cl-reached")).to_have_count(1)


def test_weights_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"2,000,000,000 weights of 2 bytes do not fit into 2.0"):
        room_figure(CONFIG, "a model", 2_000_000_000, GPU)


EXAMPLE = Example(figure, "[data-name=held]")
