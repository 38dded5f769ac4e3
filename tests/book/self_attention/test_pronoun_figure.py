"""The trained models for “it”, held to PyTorch on random weights."""

import re

import pytest
import torch
from playwright.sync_api import expect

from book.self_attention import Detective, pronoun_figure
from book.sentences import pronoun_sentence
from companion.data import Vocabulary
from tests.book.reading import Example, close, numbers, randomised, select

pytestmark = pytest.mark.browser

VOCABULARY = Vocabulary()


def model(board: str) -> Detective:
    return randomised(Detective(VOCABULARY, d_model=16, board=board))


def figure(detective: Detective | None = None, twin: Detective | None = None):
    return pronoun_figure(detective or model("words"), twin or model("clues"), VOCABULARY)


@pytest.mark.parametrize(("name", "board"), [("detective", "words"), ("twin", "clues")])
def test_pronoun_model_equals_pytorch(show, name, board):
    computed = model(board)
    page = show(figure())
    page.get_by_role("radio", name=name).check()
    nouns = page.locator("select[name=animal] option, select[name=other] option")
    ids = VOCABULARY.encode([nouns.all_inner_texts()])[0]

    def check(sentence, forbidden=()) -> None:
        assert page.locator(".cl-word").all_inner_texts() == list(sentence.words)
        allowed = torch.ones(1, len(sentence.words), dtype=torch.bool)
        allowed[:, [*forbidden]] = False
        with torch.no_grad():
            logits, look = computed(VOCABULARY.encode([sentence.words]), True, allowed)
        close(numbers(page.locator(".cl-number")), look[0, 0, sentence.it_position])
        best = VOCABULARY.words[ids[logits[0, sentence.it_position, ids].argmax()]]
        right = "right" if best == sentence.right_noun else "wrong"
        said = page.get_by_role("status")
        expect(said).to_contain_text(f"it says “{best}”")
        expect(said).to_contain_text(f"which is {right}")

    check(pronoun_sentence("animal", "street", "tired"))
    page.get_by_role("button", name="Change “tired” to “wide”").press("Enter")
    sentence = pronoun_sentence("animal", "street", "wide")
    check(sentence)
    for word in ("street", "was"):
        page.get_by_role("button", name=word, exact=True).click()
    check(sentence, [sentence.words.index("street"), sentence.words.index("was")])
    page.get_by_role("button", name="was", exact=True).click()
    check(sentence, [sentence.words.index("street")])
    page.get_by_role("button", name="Allow all words").click()
    select(page, "animal").select_option("dog")
    select(page, "other noun").select_option("piano")  # verb and adjective must follow
    check(pronoun_sentence("dog", "piano", "fragile", verb="carry"))
    select(page, "it was too …").select_option("bulky")
    for template, forms in (("because", (0, 1)), ("fronted", (2, 3)), ("near", (6, 7))):
        for option, animal_first in zip(forms, (True, False), strict=True):
            select(page, "sentence").select_option(str(option))
            sentence = pronoun_sentence(
                "dog", "piano", "bulky", template=template, animal_first=animal_first, verb="carry"
            )
            check(sentence)


def test_one_word_stays_to_be_looked_at(show):
    page = show(figure())
    words = page.locator("button.cl-word")
    for i in range(words.count()):
        words.nth(i).click()
    expect(page.locator("button.cl-word[aria-pressed=true]")).to_have_count(words.count() - 1)


@torch.no_grad()
def looks_at(noun: str, board: str = "words") -> Detective:
    """A model whose second round looks at one noun, and that names what it finds there."""
    made = model(board)
    made.look_up.q_proj.weight.zero_()
    for layer in (made.look_up.k_proj, made.look_up.v_proj, made.look_up.out_proj):
        layer.weight.copy_(torch.eye(16))
        layer.bias.zero_()
    made.look_up.out_proj.weight.mul_(20)
    made.positions.weight.zero_()
    for parameter in made.gather.out_proj.parameters():
        parameter.zero_()
    wanted = made.embedding.weight[VOCABULARY.encode([[noun]])[0, 0]]
    made.look_up.q_proj.bias.copy_(20 * wanted)
    return made


def test_goals_are_reached_by_what_the_models_do(show):
    page = show(figure(looks_at("street"), looks_at("animal", "clues")))
    reached = page.locator(".cl-reached")
    expect(reached).to_have_text(re.compile("Change one word"))
    page.get_by_role("radio", name="twin").check()
    animal = page.get_by_role("button", name="animal", exact=True)
    animal.click()
    expect(reached).to_have_count(1)  # without the noun this one is lost: the answer is wrong
    page.get_by_role("button", name="the", exact=True).first.click()
    expect(reached).to_have_count(2)
    expect(reached.last).to_have_text(re.compile("until its answer is wrong"))


@torch.no_grad()
def test_a_twin_may_answer_right_without_the_noun(show):
    knows = model("clues")  # it says "animal", wherever it looks
    for parameter in knows.look_up.out_proj.parameters():
        parameter.zero_()
    wanted = knows.embedding.weight[VOCABULARY.encode([["animal"]])[0, 0]]
    knows.gather.out_proj.bias.copy_(20 * wanted)
    page = show(figure(twin=knows))
    reached = page.locator(".cl-reached", has_text="Forbid the twin the right noun")
    page.get_by_role("button", name="animal", exact=True).click()
    expect(reached).to_have_count(0)  # it was forbidden to the detective
    page.get_by_role("radio", name="twin").check()
    expect(reached).to_have_count(1)


EXAMPLE = Example(figure, ".cl-number", "td:nth-child(2)")
