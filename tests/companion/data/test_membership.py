"""The probability of a sentence: by hand, in sum, against draws, and 0 outside the grammar."""

import random
from collections import Counter
from itertools import product

import pytest

from companion.data import corpus, sentence_probability
from companion.data.language import meal_sentence, number_sentence
from companion.data.lexicon import DISHES, FOOD_VERBS, FOODS, MEALS, PERSONS
from companion.data.membership import probability_of

# animal, other noun, which of them, adjective, template, which first; then the verb, one of five
PRONOUN = 2 / 18 / 19 / 37 / 2 / 10 / 4 / 2


@pytest.mark.parametrize(
    ("sentence", "probability"),
    [
        # weight of the kind, then one factor for every draw
        ("the dog bites the man", 1 / 18 / (55 * 54) / 8),
        ("the apple is on the plate for lunch", 1 / 18 / 12 / 3 / 3 / 2),
        ("yesterday the king walked slowly", 2 / 18 / 12 / 36 / 2 / 4 / 2),
        # the mate in a third of the sentences; the second cue word does not show
        ("a stork is near the beak", 4 / 18 / 6 / 2 / 3 / 8 / 6 / 5),
        # which role and which of his things do not show, so they do not count
        ("the king said that he wants the throne", 4 / 18 / 18 / 2 / 5 / 6 / 5),
        # an animal three times in four, one of its own two nouns in .6 of the draws
        ("these dogs with the kennel are red", 3 / 18 * 0.75 / 19 * 0.6 / 2 / 6 * 0.5 / 4),
        ("the street was not crossed by the dog because it was too shy", PRONOUN / 5),
        ("because it was too shy the dog did not cross the street", PRONOUN / 5),
        # the verb does not show
        ("the dog was near the street but it was too shy", PRONOUN),
    ],
)
def test_probability_by_hand(sentence, probability):
    assert sentence_probability(sentence.split()) == pytest.approx(probability)


def test_every_sentence_of_the_corpus_has_one():
    for sentence in corpus(400, 3):
        assert sentence_probability(sentence) > 0, sentence


def test_the_sentences_of_a_kind_sum_to_one():
    cooked = [
        f"the {p} {v} the {f} for {m}" for p, v, f, m in product(PERSONS, FOOD_VERBS, FOODS, MEALS)
    ]
    ready = [f"the {f} is on the {d} for {m}" for f, d, m in product(FOODS, DISHES, MEALS)]
    meals = sum(probability_of(tuple(s.split()), meal_sentence) for s in cooked + ready)
    assert meals == pytest.approx(1)


def test_it_is_the_frequency_of_the_draws():
    rng, n = random.Random(11), 100_000
    first, again = (Counter(tuple(number_sentence(rng)) for _ in range(n)) for _ in range(2))
    often = [sentence for sentence, _ in first.most_common(60)]
    seldom = random.Random(5).sample(sorted(first), 60)
    for sentence in often + seldom:
        expected = n * probability_of(sentence, number_sentence)
        assert abs(again[sentence] - expected) < 4 * expected**0.5 + 2, sentence


def test_a_draw_that_does_not_show_counts_once_whatever_else_shows():
    def kind(rng):
        rng.choice(("dog", "cat", "cow"))
        return ["the", "dog", rng.choice(("dog", "cat", "cow"))]

    assert probability_of(("the", "dog", "cat"), kind) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "the",
        "the dog bites the",
        "the dog bites the dog",
        "the dog bites the man now",
        "the king wants her throne",
        "the king said that she wants the throne",
        "these dog with the kennel are red",
        "these dogs with the kennel is red",
        "the cats have a kennel and are wide",
        "yesterday the king walks slowly",
        "a empress is near the beak",
        "the crane is near the beak and the steel",
        "the dog did not cross the street because it was too salty",
        "the dog did not eat the street because it was too tired",
        "zebra",
    ],
)
def test_what_the_grammar_does_not_have_is_impossible(sentence):
    assert sentence_probability(sentence.split()) == 0


def test_a_string_is_refused():
    with pytest.raises(TypeError, match="split it"):
        sentence_probability("the dog bites the man")
