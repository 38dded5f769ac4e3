"""A decoder block taken apart: what every part hands on, and what is read, held to PyTorch."""

import pytest
import torch
from playwright.sync_api import Page, expect

from book.full_model import decoder_figure, translation_figure
from tests.book.full_model.test_translation_figure import (
    ENGLISH,
    MODEL,
    VOCABULARY,
    expected,
)
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

SENTENCES = ["the black cat does not see her", "a dog sees bees"]
STEPS = ["enter", "self", "norm", "cross", "norm", "FFN", "norm", "say"]
SELF, CROSS, SAY = 1, 3, 7


def figure():
    too_long = "the cat does not see the black dog"
    examples = [*SENTENCES, too_long]
    return decoder_figure(
        translation_figure(MODEL, VOCABULARY, ENGLISH, examples, trained_length=7)
    )


@torch.no_grad()
def passage(sentence: str, layer: int) -> dict:
    """After each step the vectors (T, d_model); the weights (T, T) and (T, S); the next words."""
    words = ["[BOS]", *expected(sentence)[0][:-1]]
    source, read = VOCABULARY.encode([sentence.split()]), VOCABULARY.encode([words])
    memory = MODEL.encode(source)
    table = MODEL.token_embedding.weight
    x = MODEL.positions(MODEL.token_embedding(read))
    for block in MODEL.decoder_blocks[:layer]:
        x = block(x, memory, is_causal=True)
    block = MODEL.decoder_blocks[layer]
    found, own = block.self_attention(x, is_causal=True, need_weights=True)
    middle = block.norm1(x + found)
    crossed, other = block.cross_attention(middle, memory, need_weights=True)
    upper = block.norm2(middle + crossed)
    fed = block.feed_forward(upper)
    output = block.norm3(upper + fed)
    torch.testing.assert_close(output, block(x, memory, is_causal=True))
    stops = [x, found, middle, crossed, upper, fed, output, output]
    return {
        "vectors": [stop[0] for stop in stops],
        "self": own[0].mean(0),
        "cross": other[0].mean(0),
        "next": (output @ table.T).softmax(-1)[0],
    }


def check(page: Page, way: dict, place: int, step: int) -> None:
    row = place - 1
    close(numbers(page.locator("[data-name=vector] [data-value]")), way["vectors"][step][row])
    for name in ("self", "cross"):
        close(numbers(page.locator(f"[data-name={name}]")), way[name][row])
    best = way["next"][row].topk(5)
    close(numbers(page.locator("[data-name=next]")), best.values)
    ids = page.locator("[data-name=next]").evaluate_all("all => all.map((n) => +n.dataset.id)")
    assert ids == best.indices.tolist()
    seen = {"self": step == SELF, "cross": step == CROSS, "next": step == SAY}
    for name, visible in seen.items():
        first = expect(page.locator(f"[data-name={name}]").first)
        first.to_be_visible() if visible else first.not_to_be_visible()


def ask(page: Page, place: int) -> None:
    page.locator(".cl-token[role=button]").nth(place - 1).click()


@pytest.mark.parametrize("layer", range(3))
def test_every_step_equals_pytorch(show, layer):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider"), "Home")
    page.get_by_role("radio", name=f"block {layer + 1}").check()
    ask(page, 3)
    way = passage(SENTENCES[0], layer)
    for step, name in enumerate(STEPS):
        if step:
            page.get_by_role("button", name="Next").click()
        expect(page.get_by_text(f"{step + 1} of 8: {name}")).to_be_visible()
        check(page, way, 3, step)


def test_it_opens_where_the_first_word_reads_the_source(show):
    page = show(figure(), reduced_motion="reduce")
    expect(page.get_by_text("4 of 8: cross")).to_be_visible()
    check(page, passage(SENTENCES[0], 2), 1, CROSS)


def test_every_place_and_another_sentence_equal_pytorch(show):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider"), "Home")
    select(page, "the source").select_option(SENTENCES[1])
    press(page.get_by_role("slider"), "ArrowRight", times=CROSS)
    way = passage(SENTENCES[1], 2)
    for place in range(1, len(way["self"]) + 1):
        ask(page, place)
        check(page, way, place, CROSS)


def test_a_place_is_asked_from_the_keyboard_and_no_later_word_is_read(show):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider"), "Home")
    press(page.get_by_role("slider"), "ArrowRight", times=SELF)
    second = page.locator(".cl-token[role=button]").nth(1)
    press(second, "Enter")
    expect(second).to_have_attribute("aria-pressed", "true")
    assert page.locator("[data-name=self]:visible").count() == 2


def test_only_sentences_as_long_as_those_of_training_are_offered(show):
    options = select(show(figure()), "the source").locator("option")
    assert options.all_inner_texts() == SENTENCES


def test_the_captions_say_what_is_read_and_written(show):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider"), "Home")
    way, status = passage(SENTENCES[0], 2), page.get_by_role("status")
    ask(page, 2)
    press(page.get_by_role("slider"), "ArrowRight", times=CROSS)
    weights = way["cross"][1]
    word = SENTENCES[0].split()[weights.argmax()]
    expect(status).to_contain_text(f"goes to “{word}” ({weights.max():.2f})")
    press(page.get_by_role("slider"), "End")
    said, share = VOCABULARY.words[way["next"][1].argmax()], way["next"][1].max()
    expect(status).to_contain_text(
        f"gives “{said}” with {share:.2f}. That is what the model writes"
    )
    page.get_by_role("radio", name="block 1").check()
    way = passage(SENTENCES[0], 0)
    guess = VOCABULARY.words[way["next"][1].argmax()]
    expect(status).to_contain_text(f"its best guess would be “{guess}”")
    expect(status).to_contain_text(f"the model will write “{said}”")


def test_the_unsure_place_is_found_in_the_last_block_and_at_its_step_only(show):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider"), "Home")
    reached = page.locator(".cl-reached")
    first, last = (
        passage(SENTENCES[0], layer)["cross"].max(-1).values.argmin().item() + 1 for layer in (0, 2)
    )
    page.get_by_role("radio", name="block 1").check()
    ask(page, first)
    press(page.get_by_role("slider"), "ArrowRight", times=CROSS)
    expect(reached).to_have_count(0)
    press(page.get_by_role("slider"), "Home")
    page.get_by_role("radio", name="block 3").check()
    ask(page, last)
    expect(reached).to_have_count(0)
    press(page.get_by_role("slider"), "ArrowRight", times=CROSS)
    expect(reached).to_contain_text("In block 3, find the position whose cross-attention is the")


def test_more_than_half_for_an_earlier_word_counts_unless_it_is_the_start(show):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider"), "Home")
    reached = page.locator(".cl-reached")
    own = [passage(SENTENCES[0], layer)["self"].tolist() for layer in range(3)]
    places = [(layer, i) for layer in range(3) for i in range(len(own[layer]))]
    earlier = [p for p in places if max(own[p[0]][p[1]][1 : p[1]], default=0) > 0.5]
    start = [p for p in places if p[1] and own[p[0]][p[1]][0] > 0.5]
    itself = [p for p in places if p[1] and own[p[0]][p[1]][p[1]] > 0.5]
    press(page.get_by_role("slider"), "ArrowRight", times=SELF)
    for layer, i in (start[0], itself[0]):
        page.get_by_role("radio", name=f"block {layer + 1}").check()
        ask(page, i + 1)
        expect(reached).to_have_count(0)
    layer, i = earlier[0]
    press(page.get_by_role("slider"), "Home")
    page.get_by_role("radio", name=f"block {layer + 1}").check()
    ask(page, i + 1)
    expect(reached).to_have_count(0)
    press(page.get_by_role("slider"), "ArrowRight", times=SELF)
    expect(reached).to_contain_text("Find a position whose self-attention")


EXAMPLE = Example(figure, "[data-name=cross]")
