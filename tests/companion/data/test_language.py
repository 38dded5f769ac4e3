"""The grammar, checked on sentences by rules that are written here once more, from the outside."""

import random
from collections import Counter
from itertools import pairwise

import pytest

from companion.data import WORDS, corpus, lexicon
from companion.data.articles import with_article
from companion.data.language import KINDS, number_sentence, person_sentence, tense_sentence
from companion.data.lexicon import (
    ADJECTIVES,
    GENDER_PAIRS,
    HOMONYMS,
    MATES,
    NUMBER_PAIRS,
    TENSE_PAIRS,
)

SENTENCES = corpus(40_000, seed=0)
HE = {pair[0] for pair in GENDER_PAIRS}
SHE = {pair[1] for pair in GENDER_PAIRS}


def drawn(kind, count=4000):
    rng = random.Random(2)
    return [kind(rng) for _ in range(count)]


def test_a_seed_fixes_the_sentences_on_every_machine():
    assert [" ".join(sentence) for sentence in corpus(3, seed=0)] == [
        "the girl swims fast nowadays",
        "the actor orders the salad for lunch",
        "earlier the empress walked slowly",
    ]
    assert corpus(50, seed=4) == corpus(50, seed=4)
    assert corpus(50, seed=4) != corpus(50, seed=5)


def test_the_words_of_the_corpus_are_the_words_of_the_vocabulary():
    assert {word for sentence in SENTENCES for word in sentence} == set(WORDS)
    assert 550 <= len(WORDS) <= 650


def test_every_kind_has_its_share():
    total = sum(KINDS.values())
    drawn_kinds = Counter("it" in sentence for sentence in SENTENCES)
    pronoun_weight = 2
    assert drawn_kinds[True] / len(SENTENCES) == pytest.approx(pronoun_weight / total, abs=0.01)


def test_articles_follow_the_sound():
    after_an = {b for sentence in SENTENCES for a, b in pairwise(sentence) if a == "an"}
    assert after_an == {
        *("actor", "actress", "aunt", "emperor", "empress", "uncle"),
        *("army", "empire", "estate", "office", "album", "allowance", "audience", "invitation"),
        *("heir", "abbey", "engine", "axle", "ear", "old"),
    }
    after_a = {b for sentence in SENTENCES for a, b in pairwise(sentence) if a == "a"}
    assert {word for word in after_a if word[0] in "aeiou"} == {"ewe", "uniform"}
    assert {"queen", "hero", "host", "young"} <= after_a


def test_an_article_looks_at_the_first_word():
    assert with_article("empress") == "an empress"
    assert with_article("old dog") == "an old dog"
    assert with_article("big empress") == "a big empress"


def test_number_agrees():
    plurals = set(NUMBER_PAIRS.values())
    marks = {
        True: {"are", "have", "these", "their"},
        False: {"is", "has", "this", "its"},
    }
    seen = Counter()
    for sentence in drawn(number_sentence):
        plural = bool(plurals.intersection(sentence))
        assert plural != bool(set(NUMBER_PAIRS).intersection(sentence)), sentence
        assert marks[plural].intersection(sentence), sentence
        assert not marks[not plural].intersection(sentence), sentence
        assert not (plural and {"a", "an"}.intersection(sentence[:1])), sentence
        seen[plural] += 1
    assert 0.47 < seen[True] / seen.total() < 0.53


def test_he_and_his_are_for_men_she_and_her_for_women():
    seen = Counter()
    for sentence in drawn(person_sentence):
        he = bool(HE.intersection(sentence))
        assert he != bool(SHE.intersection(sentence)), sentence
        male, female = {"he", "his", *lexicon.HIS}, {"she", "her", *lexicon.HERS}
        assert he == bool(male.intersection(sentence)), sentence
        assert he != bool(female.intersection(sentence)), sentence
        seen[he] += 1
    assert 0.47 < seen[True] / seen.total() < 0.53


def test_persons_keep_to_the_words_of_their_role():
    rows = {person: set(row) for pair, row in GENDER_PAIRS.items() for person in pair}
    every_role = set().union(*rows.values())
    for sentence in drawn(person_sentence):
        (person,) = (HE | SHE).intersection(sentence)
        (role,) = every_role.intersection(sentence)
        assert role in rows[person], sentence


def test_the_tense_of_the_verb_is_that_of_the_adverb():
    presents, pasts = ({pair[i] for pair in TENSE_PAIRS} for i in (0, 1))
    seen = Counter()
    for sentence in drawn(tense_sentence):
        past = bool(pasts.intersection(sentence))
        assert past != bool(presents.intersection(sentence)), sentence
        assert past == bool(set(lexicon.PAST_ADVERBS).intersection(sentence)), sentence
        assert past != bool(set(lexicon.PRESENT_ADVERBS).intersection(sentence)), sentence
        seen[past] += 1
    assert 0.47 < seen[True] / seen.total() < 0.53


def test_a_content_word_belongs_to_one_list_only():
    roles = Counter(word for row in GENDER_PAIRS.values() for word in row)
    rows = (*lexicon.ANIMAL_WORDS.values(), *lexicon.VEHICLE_WORDS.values())
    lists = [
        *(lexicon.PERSONS, roles, lexicon.HIS, lexicon.HERS, lexicon.ROLE_VERBS),
        *rows,
        *(lexicon.ANIMAL_VERBS, lexicon.ANIMAL_NOUNS),
        *(lexicon.VEHICLE_VERBS, lexicon.VEHICLE_NOUNS),
        *(NUMBER_PAIRS, NUMBER_PAIRS.values(), lexicon.COLOURS, lexicon.SIZES),
        *(lexicon.PLACES, lexicon.THINGS, lexicon.FOODS),
        *ADJECTIVES.values(),
        *(verbs for verbs in lexicon.PRONOUN_VERBS.values()),
        *(verbs.values() for verbs in lexicon.PRONOUN_VERBS.values()),
        *(lexicon.TRANSITIVE_VERBS, lexicon.FOOD_VERBS, lexicon.DISHES, lexicon.MEALS),
        *(pair for pair in TENSE_PAIRS),
        TENSE_PAIRS.values(),
        *(lexicon.PRESENT_ADVERBS, lexicon.PAST_ADVERBS),
        HOMONYMS,
        *(cues for senses in HOMONYMS.values() for cues in senses),
        *MATES.values(),
    ]
    counts = Counter(word for words in lists for word in words)
    assert [word for word, count in counts.items() if count > 1] == []


def test_each_pair_of_persons_has_four_private_words_and_shares_the_fifth_with_one_other():
    users = Counter(word for row in GENDER_PAIRS.values() for word in row)
    assert len(GENDER_PAIRS) == 18
    for row in GENDER_PAIRS.values():
        assert [users[word] for word in row] == [1, 1, 1, 1, 2], row


@pytest.mark.parametrize("count, error", [(-1, ValueError), (2.0, TypeError), ("3", TypeError)])
def test_a_bad_number_of_sentences_is_named(count, error):
    with pytest.raises(error, match="num_sentences must be"):
        corpus(count, seed=0)


def test_a_bad_seed_is_named():
    with pytest.raises(TypeError, match="seed is None; expected a whole number"):
        corpus(3, seed=None)
