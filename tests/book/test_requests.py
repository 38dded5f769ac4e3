"""The task with an exact verdict: its splits, its verdicts, its demonstrations."""

import random
from collections import Counter

import pytest

from book.requests import REQUESTS, TOPICS, Request, demonstrations, passes, requests, topic_words
from companion.data import WORDS, corpus, is_sentence, sentence_probability


@pytest.mark.parametrize(
    ("asked", "text", "verdict"),
    [
        (("animal", 7), "this brown dog is near the kennel", True),
        (("animal", 6), "this brown dog is near the kennel", False),  # seven words
        (("animal", 6), "this brown dog is near the", False),  # no sentence
        (("animal", 7), "this brown dogs is near the kennel", False),
        (("food", 7), "this brown dog is near the kennel", False),
        (("animal", 7), "the foxes have a henhouse and are big", False),  # eight words
        (("animal", 8), "the foxes have a henhouse and are big", True),
        (("size", 8), "the foxes have a henhouse and are big", True),
        (("animal", 0), "", False),
    ],
)
def test_verdicts_by_hand(asked, text, verdict):
    assert passes(Request(*asked), text.split()) is verdict


def test_topic_words_are_counted_again_and_again():
    assert topic_words(Request("animal", 4), "dog dog dogs bread".split()) == 3


def test_every_request_can_be_met_and_the_language_has_no_other():
    """One sentence in 250 or more meets each of the forty-eight; no other one is ever met."""
    counts = Counter(
        Request(topic, len(words))
        for words in corpus(20_000, 77)
        for topic in TOPICS
        if topic_words(Request(topic, len(words)), words)
    )
    assert set(counts) == set(REQUESTS)
    assert min(counts.values()) > 80


def test_splits_share_no_request_but_every_topic_and_every_length():
    splits = {name: requests(name) for name in ("train", "validation", "test")}
    assert {name: len(split) for name, split in splits.items()} == {
        "train": 28,
        "validation": 8,
        "test": 12,
    }
    assert sorted(d for split in splits.values() for d in split) == sorted(REQUESTS)
    for held_out in splits["validation"] + splits["test"]:
        assert sum(held_out.topic == trained.topic for trained in splits["train"]) >= 2
        assert sum(held_out.length == trained.length for trained in splits["train"]) >= 2
    requests("train").clear()
    assert len(requests("train")) == 28
    with pytest.raises(ValueError, match="validation"):
        requests("dev")


def test_demonstrations_pass_a_training_request():
    rows = demonstrations(120, seed=3)
    assert len(rows) == 120 and all(passes(request, words) for request, words in rows)
    assert {request for request, _ in rows} <= set(requests("train"))
    assert len({request for request, _ in rows}) > 20
    assert rows == demonstrations(120, seed=3) != demonstrations(120, seed=4)
    assert demonstrations(0, seed=3) == []
    with pytest.raises(ValueError, match="-1"):
        demonstrations(-1, seed=0)


def test_the_fast_verdict_is_that_of_the_probability():
    """On sentences, on sentences with one word changed, and on words in another order."""
    rng = random.Random(4)
    for words in corpus(150, 8):
        changed, mixed = list(words), rng.sample(words, len(words))
        changed[rng.randrange(len(words))] = rng.choice(WORDS)
        for candidate in (words, changed, mixed, words[:-1]):
            assert is_sentence(candidate) == (sentence_probability(candidate) > 0), candidate


def test_a_string_is_refused():
    for judge in (is_sentence, lambda text: passes(Request("animal", 5), text)):
        with pytest.raises(TypeError, match="split it"):
            judge("the dog bites the man")
