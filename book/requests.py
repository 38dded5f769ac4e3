"""A task with an exact verdict: "a sentence about a topic, with exactly so many words".

A request is a topic and a number of words. Whether a sentence meets it is counted, and whether it
is a sentence at all is decided by the grammar of the generated language. No answer needs a judge.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from companion.data.language import corpus
from companion.data.lexicon import (
    ADJECTIVES,
    ANIMALS,
    FOODS,
    GENDER_PAIRS,
    HOMONYMS,
    NUMBER_PAIRS,
    PLACES,
    SIZES,
    THINGS,
    VEHICLES,
)
from companion.data.membership import is_sentence
from companion.data.sampling import SPLITS, seeded
from companion.validation import require_choice, require_not_negative

TOPICS = {
    "animal": (*ANIMALS, *(NUMBER_PAIRS[noun] for noun in ANIMALS)),
    "vehicle": (*VEHICLES, *(NUMBER_PAIRS[noun] for noun in VEHICLES)),
    "food": FOODS,
    "place": PLACES,
    "thing": THINGS,
    "man": tuple(he for he, _ in GENDER_PAIRS),
    "woman": tuple(she for _, she in GENDER_PAIRS),
    "homonym": tuple(HOMONYMS),
    "size": SIZES,
    "feeling": ADJECTIVES["animal"],
}
# The numbers of words for which the language has sentences about each topic.
LENGTHS = {
    "animal": (5, 6, 7, 8, 11, 12, 13),
    "vehicle": (6, 7, 8),
    "food": (5, 7, 8, 11, 12, 13),
    "place": (5, 8, 11, 12, 13),
    "thing": (5, 8, 11, 12, 13),
    "man": (5, 7, 8, 12),
    "woman": (5, 7, 8, 12),
    "homonym": (6, 7, 8, 9, 12),
    "size": (6, 7, 8, 12),
    "feeling": (5, 8, 11, 12, 13),
}


class Request(NamedTuple):
    """A sentence is asked for.

    Args:
        topic: what it must be about, a key of `TOPICS`.
        length: how many words it must have.
    """

    topic: str
    length: int


REQUESTS = tuple(Request(topic, n) for topic, lengths in LENGTHS.items() for n in lengths)
HELD_OUT = {"validation": 8, "test": 12}


def requests(split: str) -> list[Request]:
    """The requests of a split: those trained on, and eight and twelve others that are kept back.

    They are the same whatever the seed. Every topic and every length that is kept back is in the
    training requests as well, with another length and another topic: only the pair is new.

    Args:
        split: "train", "validation" or "test".

    Raises:
        ValueError: a split of another name.
    """
    require_choice("split", split, SPLITS)
    return list(_splits()[split])


@lru_cache
def _splits() -> dict[str, list[Request]]:
    left, found = list(REQUESTS), {name: [] for name in HELD_OUT}
    for request in seeded("demands: held out", 0).sample(REQUESTS, len(REQUESTS)):
        name = next((name for name, rows in found.items() if len(rows) < HELD_OUT[name]), None)
        topics = [other for other in left if other.topic == request.topic]
        lengths = [other for other in left if other.length == request.length]
        if name and min(len(topics), len(lengths)) > 2:
            left.remove(request)
            found[name].append(request)
    return found | {"train": left}


def topic_words(request: Request, words: Sequence[str]) -> int:
    """How many of the words are about the request's topic."""
    return sum(word in TOPICS[request.topic] for word in words)


_is_sentence = lru_cache(maxsize=100_000)(is_sentence)


def passes(request: Request, words: Sequence[str]) -> bool:
    """The verdict on an answer to a request.

    Args:
        request: what was asked for.
        words: the answer; it passes if it has the right number of words, one of them about the
            topic, and is a sentence of the language.

    Raises:
        TypeError: `words` is one string.
    """
    if isinstance(words, str):
        raise TypeError(f"got the string {words!r}, expected a sequence of words; split it")
    fits = len(words) == request.length and topic_words(request, words) > 0
    return fits and _is_sentence(tuple(words))


def demonstrations(number: int, seed: int) -> list[tuple[Request, list[str]]]:
    """Sentences of the corpus, each with one of the training requests that it passes.

    Args:
        number: how many.
        seed: decides which.

    Raises:
        ValueError: a negative number.
        TypeError: a number or a seed that is not whole.
    """
    require_not_negative(number=number)
    rng = seeded("demonstrations", seed)
    trained, rows = requests("train"), []
    while len(rows) < number:
        for words in corpus(number, rng.randrange(2**32)):
            passed = [d for d in trained if len(words) == d.length and topic_words(d, words) > 0]
            if passed:
                rows.append((rng.choice(passed), words))
    return rows[:number]
