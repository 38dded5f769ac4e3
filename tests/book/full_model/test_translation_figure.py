"""The live translator: what it writes, its logits and its cross-attention against PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.full_model import translation_figure
from companion.data import translation_vocabulary
from companion.generation import greedy_decode
from companion.models import Transformer, TransformerConfig
from tests.book.reading import Example, close, numbers, press, randomised, select

pytestmark = pytest.mark.browser

VOCABULARY = translation_vocabulary()
ENGLISH = ["the", "a", "cat", "dog", "bees", "sees", "see", "does", "not", "black", "her"]
EXAMPLES = ["the black cat does not see her", "a dog sees bees"]
LONGEST_TARGET = 24


def translator() -> Transformer:
    """Random weights, with norms near those of a real model: otherwise it writes one word only."""
    config = TransformerConfig(
        vocab_size=len(VOCABULARY),
        d_model=12,
        num_layers=3,
        num_heads=2,
        d_ff=7,
        max_len=LONGEST_TARGET,
        dropout=0.0,
        bos_id=VOCABULARY.id("[BOS]"),
        eos_id=VOCABULARY.id("[EOS]"),
        norm_eps=1e-3,
    )
    model = randomised(Transformer(config)).eval()
    for name, parameter in model.named_parameters():
        if "norm" in name and name.endswith("weight"):
            parameter.data = (parameter.data / 4 + 1).half().double()
        elif "norm" in name:
            parameter.data /= 16
    model.token_embedding.weight.data[config.eos_id] *= 4
    return model


MODEL = translator()


def figure():
    return translation_figure(MODEL, VOCABULARY, ENGLISH, EXAMPLES, trained_length=5)


@torch.no_grad()
def expected(sentence: str):
    """Words, logits (T, vocab_size) and cross-attention, a list of (H, T, S), from PyTorch."""
    source = VOCABULARY.encode([sentence.split()])
    target = greedy_decode(MODEL, source, LONGEST_TARGET)
    target = target[:, target[0] != VOCABULARY.pad_id]
    logits, weights = MODEL(source, target[:, :-1], need_weights=True)
    return VOCABULARY.decode(target[:, 1:])[0], logits[0], [w[0] for w in weights["cross"]]


def check_words(page, sentence: str) -> None:
    words, logits, _ = expected(sentence)
    assert page.locator(".cl-word").all_inner_texts() == words
    ids = VOCABULARY.encode([words])[0]
    chosen = logits.softmax(-1).gather(-1, ids[:, None])
    close(numbers(page.locator(".cl-words .cl-number")), chosen)


def check_candidates(page, sentence: str, place: int) -> None:
    _, logits, _ = expected(sentence)
    best = logits[place].softmax(-1).topk(3)
    shown = page.locator("[data-name=answers] [data-value]")
    close(numbers(shown), best.values)
    ids = shown.evaluate_all("nodes => nodes.map((node) => +node.dataset.id)")
    assert ids == best.indices.tolist()
    found = shown.evaluate_all("nodes => nodes.map((node) => +node.dataset.logit)")
    close(torch.tensor(found, dtype=torch.float64), logits[place][best.indices])


def check_attention(page, sentence: str, layer: int, head: int | None) -> None:
    weights = expected(sentence)[2][layer]
    weights = weights.mean(0) if head is None else weights[head]
    close(numbers(page.locator("[data-name=cross] td[data-value]")), weights)
    assert page.locator("[data-name=cross] thead th").all_inner_texts() == sentence.split()


def test_some_translation_ends_and_some_does_not():
    ends = {expected(sentence)[0][-1] == "[EOS]" for sentence in (*EXAMPLES, "not a cat")}
    assert ends == {True, False}  # else the tests below say less than they seem to


@pytest.mark.parametrize("sentence", [*EXAMPLES, "cat", "not a cat", "dog dog"])
def test_what_is_typed_is_translated_as_pytorch_does(show, sentence):
    page = show(figure())
    page.get_by_role("textbox").fill(f" {sentence.capitalize()}. ")
    check_words(page, sentence)
    check_candidates(page, sentence, 0)
    check_attention(page, sentence, 2, None)
    expect(page.get_by_role("status")).to_contain_text(f"“{sentence}” becomes")


def test_every_head_shows_its_own_weights(show):
    page = show(figure())
    for layer in range(3):
        for head in (None, 0, 1):
            name = f"{layer}.{'mean' if head is None else head}"
            select(page, "attention").select_option(name)
            check_attention(page, EXAMPLES[0], layer, head)


def test_the_slider_walks_through_the_translation(show):
    page = show(figure())
    slider = page.get_by_role("slider")
    words = expected(EXAMPLES[0])[0]
    assert slider.get_attribute("max") == str(len(words))
    press(slider, "ArrowRight", 2)
    check_candidates(page, EXAMPLES[0], 2)
    assert slider.get_attribute("aria-valuetext") == f"3: {words[2]}"
    expect(page.get_by_role("status")).to_contain_text(f"Word 3, “{words[2]}”")
    press(slider, "End")
    check_candidates(page, EXAMPLES[0], len(words) - 1)


def test_goals_are_reached_where_the_words_and_weights_say_so(show):
    page = show(figure())
    back, least = page.locator(".cl-goals li").all()
    slider = page.get_by_role("slider")
    reached = {"back": False, "least": False}
    for sentence in EXAMPLES[::-1]:
        select(page, "or take one of these").select_option(sentence)
        _, logits, weights = expected(sentence)
        most = weights[2].mean(0).argmax(-1).tolist()  # of the last layer, which is shown at first
        unsure = logits.softmax(-1).amax(-1).argmin().item()
        for place in range(len(most)):
            press(slider, "ArrowRight", times=min(place, 1))
            reached["back"] |= place > 0 and most[place] < most[place - 1]
            reached["least"] |= len(sentence.split()) > 5 and place == unsure
            for goal, name in ((back, "back"), (least, "least")):
                expect(goal).to_have_class("cl-reached" if reached[name] else "")
    assert all(reached.values())  # else this says less than it seems to


def test_an_example_can_be_chosen(show):
    page = show(figure())
    select(page, "or take one of these").select_option(EXAMPLES[1])
    assert page.get_by_role("textbox").input_value() == EXAMPLES[1]
    check_words(page, EXAMPLES[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the cut sees her", "does not know “cut”. The nearest of its 11 English words is “cat”"),
        ("the chat", "does not know “chat”"),  # French, which the vocabulary has, too
        ("", "Write a sentence"),
        ("a cat " * 9, "That is 18 words"),
    ],
)
def test_what_cannot_be_read_is_said_and_forgotten_when_it_is_mended(show, text, message):
    page = show(figure())
    box = page.get_by_role("textbox")
    box.fill(text)
    expect(page.get_by_role("alert")).to_contain_text(message)
    expect(page.locator("[data-name=cross]")).to_be_hidden()
    assert box.get_attribute("aria-invalid") == "true"
    assert page.get_by_role("slider").is_disabled()
    box.fill("a cat")
    expect(page.get_by_role("alert")).to_have_count(0)
    check_words(page, "a cat")


def test_it_says_when_a_sentence_is_longer_than_those_of_training(show):
    page = show(figure())
    expect(page.get_by_role("status")).to_contain_text("longer than any")
    page.get_by_role("textbox").fill("a dog sees a cat")
    expect(page.get_by_role("status")).not_to_contain_text("longer than any")


def test_a_figure_needs_an_example():
    with pytest.raises(ValueError, match="at least one sentence"):
        translation_figure(MODEL, VOCABULARY, ENGLISH, [], trained_length=5)


EXAMPLE = Example(figure, "[data-name=cross] td[data-value]")
