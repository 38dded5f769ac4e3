"""The chapter's opening, held to PyTorch on random weights."""

import pytest
import torch
from playwright.sync_api import expect

from book.self_attention import Detective, hook_figure
from book.sentences import pronoun_sentence
from companion.data import Vocabulary
from tests.book.reading import Example, close, numbers, randomised

pytestmark = pytest.mark.browser

VOCABULARY = Vocabulary()


def figure():
    return hook_figure(randomised(Detective(VOCABULARY, d_model=16)), VOCABULARY)


def test_a_changed_adjective_moves_the_arcs(show):
    model = randomised(Detective(VOCABULARY, d_model=16))
    page = show(hook_figure(model, VOCABULARY))
    for adjective in ("wide", "tired"):
        page.get_by_role("radio", name=adjective).check()
        sentence = pronoun_sentence("animal", "street", adjective)
        with torch.no_grad():
            _, look = model(VOCABULARY.encode([sentence.words]), need_weights=True)
        row = look[0, 0, sentence.it_position]
        assert page.locator(".cl-word").all_inner_texts() == list(sentence.words)
        close(numbers(page.locator(".cl-number")), row)
        most = sentence.words[row.argmax()]
        expect(page.get_by_role("status")).to_contain_text(f"looks up from “{most}”")
        widths = page.locator(".cl-sentence path").evaluate_all(
            "paths => paths.map((path) => Number(path.getAttribute('stroke-width')))"
        )
        assert max(range(len(widths)), key=widths.__getitem__) == row.argmax()


EXAMPLE = Example(figure, ".cl-number", "td:nth-child(2)")
