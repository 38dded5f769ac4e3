from collections import Counter

import pytest

from companion.data import ACTORS, TRANSITIVE_VERBS, who_did_it_sentences
from companion.data.sampling import SPLITS


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


def test_a_seed_fixes_the_sentences():
    assert who_did_it_sentences(30, 5) == who_did_it_sentences(30, 5)
    assert who_did_it_sentences(30, 5) != who_did_it_sentences(30, 6)
    (first,) = who_did_it_sentences(1, 0)
    assert " ".join(first.words) == "the dog hears the boy"


def test_a_wrong_split_is_named():
    with pytest.raises(ValueError, match="split must be one of 'train', 'validation', 'test'"):
        who_did_it_sentences(3, 0, split="dev")
