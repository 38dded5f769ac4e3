"""The trained model for “it”, held to PyTorch on random weights."""

import re

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from book.self_attention import pronoun_figure
from companion.data import Vocabulary, pronoun_sentence
from companion.nn import LearnedPositions, MultiHeadAttention, TokenEmbedding
from tests.book.reading import Example, close, numbers, randomised, select

pytestmark = pytest.mark.browser

VOCABULARY = Vocabulary()


class Detective(nn.Module):
    """The model of the chapter on self-attention."""

    def __init__(self, board: str = "words", num_heads: int = 1):
        super().__init__()
        self.embedding = TokenEmbedding(len(VOCABULARY), 16, scale=False)
        self.positions = LearnedPositions(20, 16)
        self.gather = MultiHeadAttention(16, num_heads)
        self.look_up = MultiHeadAttention(16, num_heads)
        self.window, self.board = 3, board

    def forward(self, ids, need_weights=False):
        place = torch.arange(ids.shape[1])
        near = (place[:, None] - place).abs() <= self.window
        words = self.positions(self.embedding(ids))
        attended, self.near_weights = self.gather(words, mask=near, need_weights=need_weights)
        clues = words + attended
        board = words if self.board == "words" else clues
        found, weights = self.look_up(clues, board, need_weights=need_weights)
        return (clues + found) @ self.embedding.weight.T, weights


@pytest.mark.parametrize(("board", "num_heads"), [("words", 1), ("clues", 2)])
def test_pronoun_model_equals_pytorch(show, board, num_heads):
    model = randomised(Detective(board, num_heads))
    page = show(pronoun_figure(model, VOCABULARY))
    sentences = select(page, "sentence")
    nouns = page.locator("select[name=animal] option, select[name=other] option")
    ids = VOCABULARY.encode([nouns.all_inner_texts()])[0]

    def check(sentence, round_: str, head: int) -> None:
        assert page.locator(".cl-word").all_inner_texts() == list(sentence.words)
        with torch.no_grad():
            logits, look = model(VOCABULARY.encode([sentence.words]), need_weights=True)
        weights = model.near_weights if round_ == "first" else look
        close(numbers(page.locator(".cl-number")), weights[0, head, sentence.it_position])
        probabilities, order = (
            logits[0, sentence.it_position, ids].softmax(-1).sort(descending=True)
        )
        close(numbers(page.locator("[data-name=answers] [data-value]")), probabilities[:3])
        best = VOCABULARY.words[ids[order[0]]]
        expect(page.get_by_role("status")).to_contain_text(f"the model says “{best}”")

    tired = pronoun_sentence("animal", "street", "tired")
    check(tired, "second", 0)
    page.get_by_role("button", name="Change “tired” to “wide”").press("Enter")
    check(pronoun_sentence("animal", "street", "wide"), "second", 0)
    select(page, "animal").select_option("dog")
    select(page, "other noun").select_option("piano")  # verb and adjective must follow
    check(pronoun_sentence("dog", "piano", "fragile", verb="carry"), "second", 0)
    select(page, "verb").select_option("push")
    select(page, "it was too …").select_option("bulky")
    for template, forms in (("because", (0, 1)), ("fronted", (2, 3)), ("near", (6, 7))):
        for option, animal_first in zip(forms, (True, False), strict=True):
            sentences.select_option(str(option))
            sentence = pronoun_sentence(
                "dog", "piano", "bulky", template=template, animal_first=animal_first, verb="push"
            )
            check(sentence, "second", 0)
    expect(select(page, "verb")).to_be_disabled()
    for head in range(num_heads):
        page.locator("select[name=head]").select_option(f"gather.{head}")
        check(sentence, "first", head)


@torch.no_grad()
def looks_at(noun: str) -> Detective:
    """A model whose second round looks at one noun, whatever else is there."""
    model = randomised(Detective())
    model.look_up.q_proj.weight.zero_()
    model.look_up.k_proj.weight.copy_(torch.eye(16))
    model.look_up.k_proj.bias.zero_()
    model.positions.weight.zero_()
    wanted = model.embedding.weight[VOCABULARY.encode([[noun]])[0, 0]]
    model.look_up.q_proj.bias.copy_(20 * wanted)
    return model


def test_goals_are_reached_by_what_the_row_shows(show):
    reached = show(pronoun_figure(looks_at("street"), VOCABULARY)).locator(".cl-reached")
    expect(reached).to_have_text(re.compile("Change one word"))
    page = show(pronoun_figure(looks_at("animal"), VOCABULARY))
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)  # the animal comes first
    select(page, "sentence").select_option("1")
    expect(reached).to_have_text(re.compile("Let the animal come second"))


EXAMPLE = Example(
    lambda: pronoun_figure(randomised(Detective()), VOCABULARY), ".cl-number", "td:nth-child(2)"
)
