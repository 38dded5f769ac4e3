"""A word's way through a block, every step held to PyTorch's parts and to the whole block."""

import pytest
import torch
from playwright.sync_api import Page, expect

from book.transformer_block import highway_figure
from companion.nn import DecoderBlock, EncoderBlock
from tests.book.reading import Example, close, numbers, press, randomised

pytestmark = pytest.mark.browser

SIZES = {"d_model": 4, "num_heads": 2, "d_ff": 6}
VECTORS = torch.randn(6, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
SOURCE = dict(zip(("I", "am", "here"), VECTORS[:3], strict=True))
TARGET = dict(zip(("je", "suis", "là"), VECTORS[3:], strict=True))


def make_blocks() -> tuple[EncoderBlock, DecoderBlock]:
    return randomised(EncoderBlock(**SIZES)), randomised(DecoderBlock(**SIZES))


def figure():
    return highway_figure(*make_blocks(), SOURCE, TARGET)


@torch.no_grad()
def stops(block, x, order: str, memory=None) -> list[tuple]:
    """(stream, what is on the side road, weights) after every step; None is nothing."""
    causal = memory is not None
    parts = [(lambda x: block.self_attention(x, is_causal=causal, need_weights=True), block.norm1)]
    if causal:
        parts.append((lambda x: block.cross_attention(x, memory, need_weights=True), block.norm2))
    last = block.norm3 if causal else block.norm2
    parts.append((lambda x: (block.feed_forward(x), None), last))
    found = [(x, None, None)]
    for part, norm in parts:
        read = norm(x) if order == "pre" else x
        if order == "pre":
            found.append((x, read, None))
        added, weights = part(read)
        found.append((x, added, weights))
        x = x + added
        found.append((x, None, None))
        if order == "post":
            x = norm(x)
            found.append((x, None, None))
    return found


def expected(block: str, order: str) -> list[tuple]:
    encoder, decoder = make_blocks()
    encoder.norm_first = decoder.norm_first = order == "pre"
    source, target = VECTORS[None, :3], VECTORS[None, 3:]
    with torch.no_grad():
        memory = encoder(source)
        if block == "encoder":
            way, whole = stops(encoder, source, order), memory
        else:
            way, whole = stops(decoder, target, order, memory), decoder(target, memory)
    torch.testing.assert_close(way[-1][0], whole)
    return way


def check(page: Page, stop: tuple, word: int) -> None:
    stream, side, weights = stop
    vector = stream[0, word]
    close(numbers(page.locator("[data-name=stream] text")), vector)
    close(numbers(page.locator("[data-name=length]")), vector.norm())
    shown = page.locator("[data-name=side]")
    if side is None:
        expect(shown).not_to_be_visible()
    else:
        expect(shown).to_be_visible()
        close(numbers(shown.locator("text")), side[0, word])
    read = page.locator("output [data-name=weight]")
    if weights is None:
        expect(read).to_have_count(0)
    else:
        close(numbers(read), weights[0, :, word].mean(0))


@pytest.mark.parametrize("block", ["encoder", "decoder"])
@pytest.mark.parametrize("order", ["pre", "post"])
def test_every_step_equals_pytorch(show, block, order):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("radio", name=block).check()
    page.get_by_role("radio", name=f"({order}-norm)").check()
    word = 1
    page.locator(".cl-token[role=button]").nth(word).click()
    way = expected(block, order)
    expect(page.get_by_role("slider")).to_have_attribute("max", str(len(way) - 1))
    press(page.get_by_role("slider"), "Home")
    for number, stop in enumerate(way):
        if number:
            page.get_by_role("button", name="Next").click()
        check(page, stop, word)


def test_another_word_is_followed_from_the_keyboard_at_the_same_step(show):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider"), "Home")
    press(page.get_by_role("button", name="Next"), "Enter", times=2)
    press(page.get_by_role("button", name="follow here"), "Enter")
    check(page, expected("encoder", "pre")[2], 2)
    expect(page.get_by_role("button", name="follow here")).to_have_attribute("aria-pressed", "true")


def test_the_order_keeps_the_step_and_the_block_starts_anew(show):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("radio", name="decoder").check()
    press(page.get_by_role("slider"), "End")
    page.get_by_role("radio", name="(post-norm)").check()
    check(page, expected("decoder", "post")[9], 0)
    page.get_by_role("radio", name="encoder").check()
    check(page, expected("encoder", "post")[0], 0)


def test_it_opens_on_the_sum_and_what_was_added_stays_in_its_box(show):
    page = show(figure(), reduced_motion="reduce")
    way = expected("encoder", "pre")
    expect(page.get_by_text("4 of 7: add")).to_be_visible()
    check(page, way[3], 0)
    read, found = (way[step][1][0, 0] for step in (1, 2))
    kept = page.locator("[data-name=kept]")
    visible = [i for i in range(kept.count()) if kept.nth(i).is_visible()]
    assert len(visible) == 2  # the norm's copy and what the attention found
    for i, vector in zip(visible, (read, found), strict=True):
        close(numbers(kept.nth(i).locator("text")), vector)
    close(numbers(page.locator("output [data-name=sum]")), (way[0][0][0, 0] + found)[:1])


def test_no_later_word_is_read_in_the_decoder(show):
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("radio", name="decoder").check()
    press(page.get_by_role("slider"), "ArrowRight", times=2)
    weights = numbers(page.locator("output [data-name=weight]"))
    assert weights.tolist() == [1, 0, 0]
    expect(page.locator(".cl-stage .cl-attention:visible")).to_have_count(1)


def test_the_goals_are_reached(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    press(page.get_by_role("slider"), "End")
    expect(reached).to_have_count(0)
    page.get_by_role("radio", name="(post-norm)").check()
    expect(reached).to_have_count(1)
    page.get_by_role("radio", name="decoder").check()
    page.get_by_role("button", name="follow suis").click()
    press(page.get_by_role("slider"), "ArrowRight", times=4)
    expect(reached).to_have_count(2)


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="three words"):
        highway_figure(*make_blocks(), SOURCE, {"je": VECTORS[0]})


EXAMPLE = Example(figure, "[data-name=length]", "tbody tr:nth-child(2) td")  # it opens there
