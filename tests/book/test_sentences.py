from collections import Counter, defaultdict

import pytest

from book.sentences import pronoun_sentence, pronoun_sentences, who_did_it_sentences
from companion.data.lexicon import (
    ACTORS,
    ADJECTIVES,
    ANIMALS,
    FOODS,
    PLACES,
    THINGS,
    TRANSITIVE_VERBS,
)
from companion.data.pronouns import NOUN_CLASS, TEMPLATES
from companion.data.sampling import SPLITS

SEEDS = range(5)


def animal_first(sentence):
    return (sentence.right_position < sentence.wrong_position) == means_animal(sentence)


def means_animal(sentence):
    return sentence.right_noun in ANIMALS


def template_of(sentence):
    """Which template made it, told from its words alone."""
    if "stopped" in sentence.words:
        return "stopped"
    if "near" in sentence.words:
        return "near"
    return "fronted" if sentence.words[0] == "because" else "because"


def noun_pair(sentence):
    return frozenset((sentence.right_noun, sentence.wrong_noun))


def test_the_classic():
    text = "the animal did not cross the street because it was too {}"
    tired = pronoun_sentence("animal", "street", "tired")
    wide = pronoun_sentence("animal", "street", "wide")
    assert tired.words == tuple(text.format("tired").split())
    assert wide.words == tuple(text.format("wide").split())
    assert (tired.right_noun, tired.wrong_noun, tired.adjective) == ("animal", "street", "tired")
    assert (wide.right_noun, wide.wrong_noun, wide.adjective) == ("street", "animal", "wide")
    assert (tired.it_position, tired.right_position, tired.wrong_position) == (8, 1, 6)
    assert tired.adjective_position == 11


@pytest.mark.parametrize(
    "template, first, text",
    [
        ("because", True, "the dog did not lift the box because it was too shy"),
        ("because", False, "the box was not lifted by the dog because it was too shy"),
        ("fronted", True, "because it was too shy the dog did not lift the box"),
        ("fronted", False, "because it was too shy the box was not lifted by the dog"),
        ("stopped", True, "the dog stopped at the box because it was too shy"),
        ("stopped", False, "at the box the dog stopped because it was too shy"),
        ("near", True, "the dog was near the box but it was too shy"),
        ("near", False, "the box was near the dog but it was too shy"),
    ],
)
def test_every_template_in_either_order(template, first, text):
    made = pronoun_sentence("dog", "box", "shy", template=template, animal_first=first, verb="lift")
    assert " ".join(made.words) == text
    assert animal_first(made) == first


@pytest.mark.parametrize("split", SPLITS)
def test_the_positions_point_to_the_words(split):
    for sentence in pronoun_sentences(2000, 3, split=split):
        words = sentence.words
        assert words[sentence.it_position] == "it" and words.count("it") == 1
        assert [w for w in words if w in NOUN_CLASS] == [
            words[i] for i in sorted((sentence.right_position, sentence.wrong_position))
        ]
        (adjective,) = (w for w in words for kind in ADJECTIVES.values() if w in kind)
        assert words[sentence.adjective_position] == sentence.adjective == adjective


def test_each_adjective_fits_one_class_and_it_means_the_noun_of_that_class():
    kinds = Counter(word for words in ADJECTIVES.values() for word in words)
    assert set(kinds.values()) == {1}
    assert set(ADJECTIVES) == {"animal", "place", "thing", "food"}
    for sentence in pronoun_sentences(2000, 0):
        assert sentence.adjective in ADJECTIVES[NOUN_CLASS[sentence.right_noun]]
        assert sentence.adjective not in ADJECTIVES[NOUN_CLASS[sentence.wrong_noun]]
        classes = {NOUN_CLASS[sentence.right_noun], NOUN_CLASS[sentence.wrong_noun]}
        assert "animal" in classes and len(classes) == 2


@pytest.mark.parametrize("split", SPLITS)
def test_neither_place_nor_template_gives_the_answer_away(split):
    counts = defaultdict(Counter)
    for sentence in pronoun_sentences(8000, 1, split=split):
        first = sentence.right_position < sentence.wrong_position
        template = template_of(sentence)
        counts["right noun first"][first] += 1
        counts["means animal"][means_animal(sentence)] += 1
        counts["right noun first", template][first] += 1
        counts["means animal", template][means_animal(sentence)] += 1
        counts["animal first", means_animal(sentence)][animal_first(sentence)] += 1
        counts["template"][template] += 1
    shares = counts.pop("template")
    assert set(shares) == set(TEMPLATES) and max(shares.values()) < 0.27 * shares.total()
    for what, count in counts.items():
        assert 0.46 < count[True] / count.total() < 0.54, what


def test_an_adjective_does_not_say_where_its_noun_stands():
    counts = defaultdict(Counter)
    for sentence in pronoun_sentences(40_000, 2):
        counts[sentence.adjective][sentence.right_position < sentence.wrong_position] += 1
    assert set(counts) == {word for words in ADJECTIVES.values() for word in words}
    for adjective, count in counts.items():
        assert 0.42 < count[True] / count.total() < 0.58, adjective


@pytest.mark.parametrize("seed", SEEDS)
def test_held_out_sentences_share_no_pair_with_training(seed):
    splits = {split: pronoun_sentences(6000, seed, split=split) for split in SPLITS}
    pairs = {split: {noun_pair(s) for s in splits[split]} for split in SPLITS}
    fits = {split: {(s.right_noun, s.adjective) for s in splits[split]} for split in SPLITS}
    for one, other in (("train", "validation"), ("train", "test"), ("validation", "test")):
        assert not pairs[one] & pairs[other]
        assert not fits[one] & fits[other]
    all_pairs = len(ANIMALS) * (len(PLACES) + len(THINGS) + len(FOODS))
    assert len(pairs["train"]) == all_pairs - 2 * (all_pairs // 8)
    for split in (
        "validation",
        "test",
    ):  # a pair neither of whose nouns has an adjective there is out
        assert 0.7 * (all_pairs // 8) < len(pairs[split]) <= all_pairs // 8


def test_a_seed_fixes_the_sentences_and_what_is_held_out():
    for split in SPLITS:
        assert pronoun_sentences(40, 7, split=split) == pronoun_sentences(40, 7, split=split)
    tests = [{noun_pair(s) for s in pronoun_sentences(3000, s, split="test")} for s in (7, 8)]
    assert tests[0] != tests[1]
    (first,) = pronoun_sentences(1, 0)
    assert " ".join(first.words) == "because it was too stale the soup was not eaten by the fox"


@pytest.mark.parametrize(
    "change, message",
    [
        ({"animal": "street"}, "animal must be one of 'animal', 'cat', 'dog'.*got 'street'"),
        ({"other": "dog"}, "other must be one of 'street'.*got 'dog'"),
        ({"adjective": "salty"}, "adjective must be one of 'tired', .*'wide'.*got 'salty'"),
        ({"template": "while"}, "template must be one of 'because'.*got 'while'"),
        ({"verb": "eat"}, "verb must be one of 'cross'.*got 'eat'"),
    ],
)
def test_a_word_out_of_place_is_named(change, message):
    choice = {"animal": "cat", "other": "street", "adjective": "wide", **change}
    with pytest.raises(ValueError, match=message):
        pronoun_sentence(**choice)


@pytest.mark.parametrize("sentences", [pronoun_sentences, who_did_it_sentences])
def test_a_wrong_split_is_named(sentences):
    with pytest.raises(ValueError, match="split must be one of 'train', 'validation', 'test'"):
        sentences(3, 0, split="dev")


def test_the_three_words_stand_where_the_record_says():
    for sentence in who_did_it_sentences(1000, 0):
        the, subject, verb, article, object_ = sentence.words
        assert the == article == "the" and subject != object_
        assert (sentence.subject, sentence.object) == (subject, object_)
        assert {subject, object_} <= set(ACTORS) and verb in TRANSITIVE_VERBS
        assert sentence.words[sentence.verb_position] == verb


@pytest.mark.parametrize("seed", range(5))
def test_both_orders_of_a_pair_are_held_out_together(seed):
    pairs = {
        split: {
            frozenset((s.subject, s.object))
            for s in who_did_it_sentences(20_000, seed, split=split)
        }
        for split in SPLITS
    }
    assert not pairs["train"] & (pairs["validation"] | pairs["test"])
    assert not pairs["validation"] & pairs["test"]
    count = len(ACTORS) * (len(ACTORS) - 1) // 2
    assert len(pairs["test"]) == len(pairs["validation"]) == count // 8
    assert len(pairs["train"]) == count - 2 * (count // 8)


@pytest.mark.parametrize("split", SPLITS)
def test_an_actor_is_subject_as_often_as_object(split):
    sentences = who_did_it_sentences(10_000, 1, split=split)
    subjects = Counter(s.subject for s in sentences)
    objects = Counter(s.object for s in sentences)
    assert set(subjects) == set(objects) == set(ACTORS)
    for actor in ACTORS:
        share = subjects[actor] / (subjects[actor] + objects[actor])
        assert 0.35 < share < 0.65, actor


def test_a_seed_fixes_who_did_it():
    assert who_did_it_sentences(30, 5) == who_did_it_sentences(30, 5)
    assert who_did_it_sentences(30, 5) != who_did_it_sentences(30, 6)
    (first,) = who_did_it_sentences(1, 0)
    assert " ".join(first.words) == "the dog hears the boy"
