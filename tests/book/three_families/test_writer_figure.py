"""The GPT that writes in the page, held to PyTorch and to `companion.generation`."""

import itertools

import pytest
import torch
from playwright.sync_api import expect

from book.three_families import writer_figure
from companion.data import BOS, EOS, Vocabulary
from companion.generation import next_token_probabilities
from companion.models import GPT, GPTConfig
from tests.book.reading import Example, close, numbers, press, randomised

pytestmark = pytest.mark.browser

WORDS = "the king queen dog apple keeps sees his her throne crown near and is a red tired".split()
VOCABULARY = Vocabulary((BOS, EOS, *WORDS))
SIZES = {"vocab_size": len(VOCABULARY), "d_model": 15, "num_heads": 3, "d_ff": 11, "max_len": 13}


def writer(num_layers: int = 2) -> GPT:
    torch.manual_seed(3)
    return randomised(GPT(GPTConfig(**SIZES, num_layers=num_layers, dropout=0.0))).eval()


MODEL = writer()


def figure():
    return writer_figure(MODEL, VOCABULARY, prompt="the king")


def sentence(page) -> list[str]:
    return page.locator(".cl-word").all_inner_texts()


def uniform(seed: int, place: int) -> float:
    """Mulberry32 in 32-bit arithmetic: what the page draws for a place of the sentence."""

    def whole(number: int) -> int:
        return number & 0xFFFFFFFF

    a = whole(seed * 0x9E3779B1 + place * 0x85EBCA6B + 0x6D2B79F5)
    a = whole((a ^ (a >> 15)) * (a | 1))
    a ^= whole(a + whole((a ^ (a >> 7)) * (a | 61)))
    return (a ^ (a >> 14)) / 2**32


def check(page, words: str, head: int = 0, layer: int = 0, **how) -> torch.Tensor:
    """The page shows the model's numbers after these words; returns the distribution."""
    tokens = [BOS, *words.split()]
    assert sentence(page) == tokens
    with torch.no_grad():
        logits, weights = MODEL(VOCABULARY.encode([tokens]), need_weights=True)
    close(numbers(page.locator(".cl-number")), weights[layer][0, head, -1])
    logits = logits[:, -1]
    probabilities = next_token_probabilities(logits, **how)[0]
    rows = page.locator("[data-name=next] [data-word]")
    shown = rows.evaluate_all("nodes => nodes.map((n) => [n.dataset.word, +n.dataset.logit])")
    order = logits[0].argsort(descending=True)[: len(shown)]
    assert [word for word, _ in shown] == [VOCABULARY.words[i] for i in order]
    close(torch.tensor([logit for _, logit in shown], dtype=torch.float64), logits[0, order])
    close(numbers(rows), probabilities[order])
    close(numbers(page.locator("[data-name=rest]")), 1 - probabilities[order].sum())
    cut = [text.startswith("cut") for text in rows.all_inner_texts()]
    assert cut == (probabilities[order] == 0).tolist()
    struck = page.locator("[data-name=next] span.cl-off").all_inner_texts()
    assert struck[: sum(cut)] == [word for (word, _), gone in zip(shown, cut, strict=True) if gone]
    return probabilities


@pytest.mark.parametrize("num_layers", [1, 2])
def test_first_numbers_equal_pytorch(show, num_layers, monkeypatch):
    monkeypatch.setattr(f"{__name__}.MODEL", writer(num_layers))
    check(show(writer_figure(MODEL, VOCABULARY)), "the king keeps")


def test_a_typed_beginning_and_every_head(show):
    page = show(figure())
    page.get_by_label("the sentence begins with").fill("The dog  sees a")
    check(page, "the dog sees a")
    for layer in range(2):
        for head in range(3):
            page.locator("select[name=head]").select_option(f"{layer}.{head}")
            check(page, "the dog sees a", head, layer)


def test_an_unknown_word_is_named_and_left_out(show):
    page = show(figure())
    prompt = page.get_by_label("the sentence begins with")
    prompt.fill("the zebra [PAD] sees")
    check(page, "the sees")
    expect(prompt).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("status")).to_contain_text("left out: “zebra”, “[pad]”")
    prompt.fill("")
    check(page, "")
    expect(prompt).to_have_attribute("aria-invalid", "false")


def test_punctuation_is_read_over_and_too_long_a_beginning_is_said_to_be(show):
    page = show(figure())
    prompt = page.get_by_label("the sentence begins with")
    prompt.fill("The dog, sees!")
    check(page, "the dog sees")
    expect(prompt).to_have_attribute("aria-invalid", "false")
    prompt.fill("dog " * (SIZES["max_len"] + 3))
    expect(page.get_by_role("status")).to_contain_text(
        f"There is no room for more: the model reads at most {SIZES['max_len']} tokens."
    )
    assert sentence(page) == [BOS, *["dog"] * (SIZES["max_len"] - 1)]


def test_temperature_and_cuts_equal_generation(show):
    page = show(figure())
    cuts = [(51, 1), (1, 1), (7, 1), (51, 0.35), (6, 0.8)]  # 51 and 1: no cut
    for temperature, (top_k, top_p) in itertools.product([0, 0.1, 0.7, 1.8, 2.5], cuts):
        how = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        for name, value in how.items():
            page.locator(f"input[name={name}]").fill(str(value))
        check(page, "the king", **how)


def test_sliders_move_by_keyboard(show):
    page = show(figure())
    press(page.get_by_role("slider", name="temperature"), "ArrowLeft", times=3)
    press(page.get_by_role("slider", name="top-k"), "Home")
    press(page.get_by_role("slider", name="top-k"), "ArrowRight", times=3)
    press(page.get_by_role("slider", name="top-p"), "ArrowLeft", times=2)
    check(page, "the king", temperature=0.7, top_k=4, top_p=0.9)


@pytest.mark.parametrize(
    ("seed", "how"), [(1, {}), (23, {"temperature": 1.6}), (8, {"top_k": 5, "top_p": 0.8})]
)
def test_words_are_drawn_from_the_distribution(show, seed, how):
    """Word by word: the drawn number picks the word at which the sorted probabilities reach it."""
    page = show(figure())
    for name, value in {"seed": seed, **how}.items():
        page.locator(f"input[name={name}]").fill(str(value))
    words = "the king"
    while len(words.split()) + 1 < SIZES["max_len"] and not words.endswith(EOS):
        ordered, tokens = check(page, words, **how).sort(descending=True)
        drawn = uniform(seed, len(words.split()) + 1)
        words += " " + VOCABULARY.words[tokens[(ordered.cumsum(0) > drawn).int().argmax()]]
        page.get_by_role("button", name="Next word").click()
    assert sentence(page) == [BOS, *words.split()]
    expect(page.get_by_role("button", name="Next word")).to_be_disabled()
    end = "The sentence is over." if words.endswith(EOS) else "There is no room for more"
    expect(page.get_by_role("status")).to_contain_text(end)

    page.get_by_role("button", name="Start again").click()
    check(page, "the king", **how)
    page.get_by_role("button", name="To the end").click()
    assert sentence(page) == [BOS, *words.split()]  # the same draws again
    page.get_by_role("button", name="Back one").click()
    assert sentence(page) == [BOS, *words.split()][:-1]


def test_another_seed_writes_another_sentence(show):
    page = show(figure())
    written = set()
    for seed in range(1, 9):
        page.locator("input[name=seed]").fill(str(seed))
        page.get_by_role("button", name="Start again").click(force=True) if written else None
        page.get_by_role("button", name="To the end").click()
        written.add(" ".join(sentence(page)))
    assert len(written) > 4


def test_what_the_model_wrote_is_underlined(show):
    page = show(figure())
    page.get_by_role("button", name="Next word").press("Enter")
    assert page.locator(".cl-word u").all_inner_texts() == sentence(page)[3:]


def test_draws_are_spread_evenly():
    drawn = torch.tensor([uniform(seed, place) for seed in range(1, 51) for place in range(1, 16)])
    assert 0 <= drawn.min() and drawn.max() < 1
    assert torch.histc(drawn, 10, 0, 1).min() > 0.6 * len(drawn) / 10


@pytest.mark.parametrize(
    "change",
    [
        {"norm_first": False},
        {"norm": "rms"},
        {"positions": "rotary", "d_model": 12},
        {"tie_weights": False},
        {"norm_eps": 1e-6},
    ],
)
def test_a_model_that_the_page_cannot_compute_is_refused(change):
    model = GPT(GPTConfig(**SIZES | {"num_layers": 1} | change))
    with pytest.raises(ValueError, match="the figure computes"):
        writer_figure(model, VOCABULARY)


def test_a_long_sentence_fits_a_screen_too(show, monkeypatch):
    monkeypatch.setattr(f"{__name__}.MODEL", writer(1))
    words = "the king keeps his throne and the dog sees a crown".split()
    page = show(figure(), viewport={"width": 740, "height": 800})
    page.get_by_label("the sentence begins with").fill(" ".join(words))
    assert len(sentence(page)) == len(words) + 1
    assert page.locator(".cl").bounding_box()["height"] <= 640


EXAMPLE = Example(lambda: writer_figure(MODEL, VOCABULARY), "[data-name=next] [data-word]")
