"""The whole model as one scene: the numbers of every stage against PyTorch's."""

import copy

import pytest
import torch
from playwright.sync_api import expect

from book.full_model import translation_figure
from book.page.figures.translator import translator_figure
from companion.generation import greedy_decode
from companion.nn import sinusoidal_encoding
from tests.book.full_model import test_translation_figure as translation
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

MODEL, VOCABULARY = translation.MODEL, translation.VOCABULARY
SENTENCE = translation.EXAMPLES[0]
SEEN, CELLS, BEST = 0.02, 6, 4
DOORS = {
    "self": {"href": "self.html", "title": "Self-attention", "question": "How does it look?"},
    "out": {"href": "out.html", "title": "Decoding", "question": "Which word is next?"},
}
WIDE = {"width": 1100, "height": 900}


def figure(doors=None):
    return translator_figure(translation.figure(), doors)


@torch.no_grad()
def stages(sentence: str, block: int) -> dict[str, torch.Tensor]:
    """What PyTorch computes at each stage, caught on its way through the model."""
    caught = {}

    def catch(name):
        def hook(module, inputs, output):
            caught[name] = output[0]

        return hook

    parts = {
        "fed": MODEL.encoder_blocks[block].feed_forward,
        "fed2": MODEL.decoder_blocks[block].feed_forward,
    }
    handles = [part.register_forward_hook(catch(name)) for name, part in parts.items()]
    words, _, _ = translation.expected(sentence)
    source = VOCABULARY.encode([sentence.split()])
    target = VOCABULARY.encode([["[BOS]", *words]])[:, :-1]
    logits, weights = MODEL(source, target, need_weights=True)
    for handle in handles:
        handle.remove()
    caught["source-embedding"] = MODEL.token_embedding(source)[0]
    caught["target-embedding"] = MODEL.token_embedding(target)[0]
    caught["memory"] = MODEL.encode(source)[0]
    caught["logits"] = logits[0]
    caught["self"], caught["masked"], caught["cross"] = (
        weights[stack][block][0].mean(0) for stack in ("encoder", "decoder", "cross")
    )
    return caught


def scene(page):
    return page.locator(".cl-moving")


def check_weights(page, name: str, expected: torch.Tensor, queries: list[int]) -> None:
    """All weights of these queries that are large enough to be drawn, and no others."""
    drawn = {
        (int(key), int(value)): float(weight)
        for key, value, weight in page.locator(f"[data-name={name}] [data-value]").evaluate_all(
            "all => all.map(({ dataset: d }) => [d.query, d.key, d.value])"
        )
    }
    wanted = {(q, k) for q in queries for k in (expected[q] >= SEEN).nonzero()[:, 0].tolist()}
    assert drawn.keys() == wanted
    found = torch.tensor([drawn[place] for place in sorted(drawn)], dtype=torch.float64)
    close(found, torch.stack([expected[place] for place in sorted(drawn)]))


def check_scene(page, sentence: str, step: int, block: int) -> None:
    stage, length = stages(sentence, block), len(sentence.split())

    def positions(count):
        return sinusoidal_encoding(count, MODEL.config.d_model).double()[:, :CELLS]

    def shown(name):
        return numbers(scene(page).locator(f"[data-name={name}] [data-value]"))

    close(shown("source-embedding"), stage["source-embedding"][:, :CELLS])
    close(shown("target-embedding"), stage["target-embedding"][:step, :CELLS])
    close(shown("source-position"), positions(length), 1e-6)
    close(shown("target-position"), positions(step), 1e-6)
    close(shown("memory"), stage["memory"][:, :CELLS])
    close(shown("ffn"), stage["fed"].norm(dim=-1))
    close(shown("ffn2"), stage["fed2"][:step].norm(dim=-1))
    check_weights(page, "self", stage["self"], list(range(length)))
    check_weights(page, "masked", stage["masked"], list(range(step)))
    check_weights(page, "cross", stage["cross"], [step - 1])
    best = stage["logits"][step - 1].softmax(-1).topk(BEST)
    bars = scene(page).locator("[data-name=next] [data-value]")
    close(numbers(bars), best.values)
    ids = bars.evaluate_all("all => all.map((node) => +node.dataset.id)")
    assert ids == best.indices.tolist()
    logits = bars.evaluate_all("all => all.map((node) => +node.dataset.logit)")
    close(torch.tensor(logits, dtype=torch.float64), stage["logits"][step - 1][best.indices])


@pytest.mark.parametrize("block", range(3))
def test_every_stage_shows_what_pytorch_computes(show, block):
    page = show(figure(), viewport=WIDE)
    select(page, "weights of").select_option(str(block))
    check_scene(page, SENTENCE, 3, block)


def test_each_step_adds_a_word(show):
    page = show(figure(), viewport=WIDE)
    words = translation.expected(SENTENCE)[0]
    page.get_by_role("button", name="Next word").click()
    check_scene(page, SENTENCE, 4, 2)
    expect(page.get_by_role("status")).to_contain_text(f"Word 4: “{words[3]}”")
    page.get_by_role("button", name="Back").click()
    press(page.get_by_role("slider"), "End")
    check_scene(page, SENTENCE, len(words), 2)
    written = [word for word in words if word != "[EOS]"]
    assert page.locator(".cl-said li:not([aria-hidden])").all_inner_texts() == written
    page.get_by_role("button", name="Next word").click(force=True)  # there is none
    assert page.get_by_role("slider").input_value() == str(len(words))
    press(page.get_by_role("slider"), "Home")
    expect(page.locator("[data-name=next]")).to_have_count(0)
    expect(page.get_by_role("status")).to_contain_text("starts from [BOS]")


def test_a_sentence_is_picked_or_written(show):
    page = show(figure(), viewport=WIDE)
    page.get_by_role("radio", name=translation.EXAMPLES[1]).check()
    check_scene(page, translation.EXAMPLES[1], 1, 2)  # from its first word
    page.get_by_role("button", name="Next word").click()
    page.get_by_role("textbox").fill(" Not a cat. ")
    check_scene(page, "not a cat", 1, 2)
    assert page.get_by_role("radio", checked=True).count() == 0


def test_what_cannot_be_read_is_said_and_changes_nothing(show):
    page = show(figure(), viewport=WIDE)
    page.get_by_role("textbox").fill("the cut")
    expect(page.get_by_role("alert")).to_contain_text("nearest of its 11 English words is “cat”")
    check_scene(page, SENTENCE, 3, 2)


def test_known_words_are_offered_for_one_that_is_not(show):
    page = show(figure(), viewport=WIDE)
    page.get_by_role("textbox").fill("not a cut")
    chips = page.get_by_role("alert").get_by_role("button")
    expect(chips).to_have_count(5)
    expect(chips.first).to_have_text("cat")
    chips.first.click()
    expect(page.get_by_role("textbox")).to_have_value("not a cat")
    expect(page.get_by_role("alert")).to_be_hidden()
    check_scene(page, "not a cat", 1, 2)


def test_a_stage_leads_to_its_chapter_and_tells_its_numbers(show):
    page = show(figure(DOORS), viewport=WIDE)
    links = page.get_by_role("link")
    assert links.count() == len(DOORS)
    name = "self-attention: How does it look? Chapter: Self-attention"
    link = page.get_by_role("link", name=name)
    assert link.get_attribute("href") == "self.html"
    link.focus()
    tip = page.locator(".cl-about")
    expect(tip).to_contain_text("How does it look?")
    weights = stages(SENTENCE, 2)["cross"][2]
    word = SENTENCE.split()[int(weights.argmax())]
    expect(tip).to_contain_text(f"“{word}” looks most at")
    expect(tip.get_by_role("link")).to_have_attribute("href", "self.html")


def test_goals_are_reached_by_what_the_model_does(show):
    model = copy.deepcopy(MODEL)
    model.decoder_blocks[-1].norm3.weight.data *= 8  # surer of its words
    source = VOCABULARY.encode([["not", "a", "cat"]])
    target = greedy_decode(model, source, translation.LONGEST_TARGET)
    target = target[:, target[0] != VOCABULARY.pad_id]
    with torch.no_grad():
        best = model(source, target[:, :-1])[0].softmax(-1).amax(-1)
    first = int((best < 0.6).nonzero()[0]) + 1  # after the step at which it opens
    assert first > 3
    start = translation_figure(
        model, VOCABULARY, translation.ENGLISH, ["not a cat"], trained_length=5
    )
    page = show(translator_figure(start), viewport=WIDE)
    unsure, longer = page.locator(".cl-goals li").all()
    slider = page.get_by_role("slider")
    press(slider, "ArrowRight", first - 1 - 3)
    expect(unsure).not_to_have_class("cl-reached")
    press(slider, "ArrowRight")
    expect(unsure).to_have_class("cl-reached")
    expect(longer).not_to_have_class("cl-reached")
    page.get_by_role("textbox").fill("the black cat does see her")
    expect(longer).to_have_class("cl-reached")


def test_a_tour_goes_round_in_nine_stops(show):
    page = show(figure(DOORS), viewport=WIDE)
    tip, lit = page.locator(".cl-about"), page.locator(".cl-touring .cl-open")
    button = tip.get_by_role("button")
    said = []
    for stop in range(1, 10):
        button.click()
        expect(lit).to_have_count(1)
        said.append((lit.get_attribute("data-door"), tip.locator("p").first.inner_text()))
        expect(button).to_have_text("That was the tour" if stop == 9 else f"Go on, {stop} of 9")
    assert len({*said}) == 9
    order = [stage for stage, _ in said]
    assert order.index("self") < order.index("memory") < order.index("cross") < order.index("out")
    expect(tip).to_contain_text("words compete")  # with the numbers of this sentence
    page.get_by_role("button", name="Next word").click()
    expect(tip.locator("p").first).to_have_text(said[-1][1])  # a word further, the tour goes on
    page.locator("[data-door=memory] .cl-panel").hover()
    expect(tip.locator("p").first).to_have_text(said[-1][1])  # and wherever the pointer is
    page.locator("[data-door=self]").focus()
    expect(tip).to_contain_text("How does it look?")
    button.click()
    expect(lit).to_have_count(0)
    expect(button).to_have_text("Show me around")


def test_without_doors_nothing_is_a_link(show):
    assert show(figure(), viewport=WIDE).get_by_role("link").count() == 0


@pytest.mark.parametrize("width", [360, 390, 700, 960, 1100])
def test_letters_keep_their_size_and_stay_inside(show, width):
    page = show(figure(DOORS), viewport={"width": width, "height": 900})
    texts = page.locator(".cl-whole svg text")
    sizes = texts.evaluate_all("all => all.map((t) => parseFloat(getComputedStyle(t).fontSize))")
    assert min(sizes) >= 12
    shrunk = page.locator(".cl-whole svg").evaluate(
        "svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
    )
    assert shrunk == pytest.approx(1, abs=0.01)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert (page.locator("[data-name=memory]").count() > 0) == (width >= 960)


EXAMPLE = Example(figure, None)
