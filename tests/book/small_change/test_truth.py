"""Every next-word probability, against the probability of whole sentences."""

import math

import pytest
import torch

from book.language_model import NOTHING
from book.small_change.truth import NUMBER, Truth, ids_of
from companion.data import corpus, sentence_probability


@pytest.fixture(scope="module")
def truth():
    return Truth()


def test_the_words_of_a_sentence_multiply_to_its_probability(truth):
    sentences = corpus(120, seed=3)
    ids = ids_of(sentences)
    after = ids[:, 1:]
    p = truth.next(ids).gather(-1, after.clamp(min=0)[..., None])[..., 0]
    found = p.log().masked_fill(after == NOTHING, 0).sum(1)
    expected = torch.tensor([math.log(sentence_probability(words)) for words in sentences])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-4)


def test_probabilities_sum_to_one_and_none_is_left_behind_the_end(truth):
    ids = ids_of(corpus(20, seed=4))
    total = truth.next(ids).sum(-1)
    there = ids[:, 1:] != NOTHING
    torch.testing.assert_close(total[there], torch.ones(int(there.sum())))
    assert not total[~there].any()


def test_a_word_that_breaks_the_grammar_has_exactly_zero(truth):
    p = truth.next(ids_of([["the", "brown", "dogs", "the"]]))[0]
    assert p[2, NUMBER["dogs"]] == 0 or p[3, NUMBER["the"]] == 0
    assert p[0, NUMBER["the"]] > 0
