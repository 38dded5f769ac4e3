"""The tree of a beam search: every number against PyTorch, every result against `companion`."""

import itertools

import pytest
import torch
from playwright.sync_api import expect

from book.decoding import beam_figure
from companion.generation import beam_search
from tests.book.full_model import test_translation_figure as translation
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

MODEL, VOCABULARY = translation.MODEL, translation.VOCABULARY
EXAMPLES = ["not a cat", "her the not does does does", "cat a"]  # their translations end
LONGEST = translation.LONGEST_TARGET
EOS = MODEL.config.eos_id


def figure():
    return beam_figure(MODEL, VOCABULARY, EXAMPLES)


@torch.no_grad()
def log_probability(sentence: str, ids: list[int]) -> torch.Tensor:
    """Of each word of a target, [BOS] left out."""
    source, target = VOCABULARY.encode([sentence.split()]), torch.tensor([ids])
    log_p = MODEL(source, target[:, :-1])[0].log_softmax(-1)
    return log_p.gather(-1, target[0, 1:, None])[:, 0]


def result(sentence: str, size: int, alpha: float) -> list[int]:
    """Ids of the translation that `companion` finds, [BOS] and [EOS] included."""
    source = VOCABULARY.encode([sentence.split()])
    ids = beam_search(MODEL, source, LONGEST, beam_size=size, length_penalty=alpha)[0].tolist()
    return ids[: ids.index(EOS) + 1] if EOS in ids else ids


@torch.no_grad()
def beams(sentence: str, size: int, words: int) -> list[list[float]]:
    """The probabilities of all that is kept after 1, 2, ... words."""
    source = VOCABULARY.encode([sentence.split()])
    kept, rows = [([MODEL.config.bos_id], 0.0)], []
    for _ in range(words):
        grown = []
        for ids, score in kept:
            if ids[-1] == EOS:
                continue
            log_p = MODEL(source, torch.tensor([ids]))[0, -1].log_softmax(-1)
            grown += [([*ids, word], score + p.item()) for word, p in enumerate(log_p)]
        kept = sorted(grown, key=lambda node: -node[1])[:size]
        rows.append([score for _, score in kept])
    return rows


def set_to(page, **how) -> None:
    for name, value in how.items():
        page.locator(f"input[name={name}]").fill(str(value))


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("sentence", EXAMPLES)
def test_every_beginning_has_the_probability_that_pytorch_gives_it(show, sentence, size):
    page = show(figure())
    select(page, "a sentence goes in").select_option(sentence)
    set_to(page, size=size, step=1)
    length = len(result(sentence, size, 0.0)) - 1
    rows = beams(sentence, size, length)
    for step in range(1, length + 1):
        shares = numbers(page.locator("[data-name=share]"))
        close(
            shares, torch.tensor([p for row in rows[:step] for p in row], dtype=torch.float64).exp()
        )
        if step < length:
            page.get_by_role("button", name="Next word").click()


def test_results_equal_beam_search_for_every_size_and_penalty(show):
    page = show(figure())
    for sentence, size, alpha in itertools.product(EXAMPLES, [1, 2, 3, 4], [0, 0.6, 2]):
        select(page, "a sentence goes in").select_option(sentence)
        set_to(page, size=size, alpha=alpha, step=LONGEST)
        ids = result(sentence, size, alpha)
        if ids[-1] != EOS:
            continue  # nothing is complete
        words = [w for w in VOCABULARY.decode(torch.tensor([ids[1:]]))[0] if w != "[EOS]"]
        first = page.locator("[data-name=finished] tbody tr").first
        expect(first.locator("[lang=fr]")).to_have_text(" ".join(words))
        score = log_probability(sentence, ids).sum()
        close(numbers(first.locator("[data-name=probability]")), score.exp())
        close(numbers(first.locator("[data-name=words]")), torch.tensor(len(ids) - 1.0))
        rated = score / ((5 + len(ids) - 1) / 6) ** alpha
        close(numbers(first.locator("[data-name=score]")), rated)
        expect(page.get_by_role("status")).to_contain_text(f"The result is “{' '.join(words)}”")


def test_greedy_decoding_stands_below(show):
    page = show(figure())
    sentence = next(text for text in EXAMPLES if result(text, 1, 0.0)[-1] == EOS)
    select(page, "a sentence goes in").select_option(sentence)
    ids = result(sentence, 1, 0.0)
    greedy = page.locator("[data-name=finished] tbody tr").last
    expect(greedy.get_by_role("rowheader")).to_contain_text("greedy")
    expected = log_probability(sentence, ids).sum().exp()
    close(numbers(greedy.locator("[data-name=probability]")), expected)


def test_steps_by_button_and_keyboard(show):
    page = show(figure())
    line = page.locator("input[name=step]")
    press(line, "Home")
    expect(page.get_by_role("status")).to_contain_text("Word 1:")
    expect(page.get_by_role("button", name="Back")).to_have_attribute("aria-disabled", "true")
    page.get_by_role("button", name="Next word").click()
    expect(page.get_by_role("status")).to_contain_text("Word 2:")
    press(line, "End")
    expect(page.get_by_role("button", name="Next word")).to_have_attribute("aria-disabled", "true")


def test_what_stands_below_stays_while_words_are_written(show):
    page = show(figure(), viewport={"width": 390, "height": 900})
    select(page, "a sentence goes in").select_option(EXAMPLES[0])
    line = page.locator("input[name=step]")
    top = "node => node.getBoundingClientRect().top"
    places = []
    press(line, "Home")
    for _ in range(int(line.get_attribute("max"))):
        places.append(page.locator(".cl-goals").evaluate(top))
        press(line, "ArrowRight")
    assert max(places) - min(places) < 12  # pixels; a line of text has more


def test_goals_are_reached_where_the_search_says_so(show):
    start = figure()
    start.value["step"] = 1  # where no search has ended, and no goal is reached
    page = show(start)
    better, same, longer = page.locator(".cl-goals li").all()
    reached = {goal: False for goal in ("better", "same", "longer")}
    for sentence, size, alpha in itertools.product(EXAMPLES, [1, 2, 3, 4], [0, 2]):
        set_to(page, step=1)  # no goal is reached on the way
        select(page, "a sentence goes in").select_option(sentence)
        set_to(page, size=size, alpha=alpha, step=LONGEST)
        found, plain, greedy = (
            result(sentence, *how) for how in ((size, alpha), (size, 0), (1, 0))
        )
        if any(ids[-1] != EOS for ids in (found, plain, greedy)):
            continue
        gain = log_probability(sentence, found).sum() - log_probability(sentence, greedy).sum()
        reached["better"] |= gain.item() > 1e-9
        reached["same"] |= size == 4 and found == greedy
        reached["longer"] |= len(found) > len(plain)
        for goal, name in ((better, "better"), (same, "same"), (longer, "longer")):
            expected = "cl-reached" if reached[name] else ""
            expect(goal).to_have_class(expected)
    assert any(reached.values())


EXAMPLE = Example(figure, None)
