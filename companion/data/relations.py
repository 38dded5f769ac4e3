"""Sentences whose meaning is in the order: "the dog bites the man", "the man bites the dog"."""

import random
from dataclasses import dataclass
from itertools import combinations

from companion.data.lexicon import ANIMALS, PERSONS, TRANSITIVE_VERBS
from companion.data.sampling import part, seeded
from companion.validation import require_not_negative

ACTORS = (*ANIMALS, *PERSONS)


@dataclass(frozen=True)
class TransitiveSentence:
    """The words of a sentence "the subject verb the object", with the places of three of them.

    They are counted from 0: subject_position, verb_position and object_position.
    """

    words: tuple[str, ...]
    subject_position: int = 1
    verb_position: int = 2
    object_position: int = 4

    @property
    def subject(self) -> str:
        return self.words[self.subject_position]

    @property
    def object(self) -> str:
        return self.words[self.object_position]


def who_did_it_sentences(
    num_sentences: int, seed: int, *, split: str = "train"
) -> list[TransitiveSentence]:
    """Sentences about two different animals or persons, with who did it and to whom.

    An eighth of the pairs, both orders together, is kept for `split="validation"` and an eighth
    for `split="test"`: after training on (dog, man) no one is asked about (man, dog).

    Args:
        num_sentences: how many; a sentence may occur twice.
        seed: decides what is held out, the same for all splits, and what is drawn.
        split: "train", "validation" or "test".

    Raises:
        ValueError, TypeError: a number that is negative or not whole, or another split.
    """
    require_not_negative(num_sentences=num_sentences)
    pairs = part(list(combinations(ACTORS, 2)), split, seeded("who did it: held out", seed))
    rng = seeded(f"who did it: {split}", seed)
    return [_order(rng.choice(pairs), rng) for _ in range(num_sentences)]


def any_transitive_sentence(rng: random.Random) -> TransitiveSentence:
    """One sentence for the corpus: any two actors."""
    return _order(rng.sample(ACTORS, 2), rng)


def _order(pair, rng: random.Random) -> TransitiveSentence:
    subject, object_ = rng.sample(pair, 2)
    return TransitiveSentence(("the", subject, rng.choice(TRANSITIVE_VERBS), "the", object_))
