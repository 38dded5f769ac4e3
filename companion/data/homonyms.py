"""Sentences about a word with two senses, told apart by the words around it."""

import random

from companion.data.articles import with_article
from companion.data.lexicon import HOMONYMS, MATES, PERSONS, PREPOSITIONS, SIZES


def any_homonym_sentence(rng: random.Random) -> tuple[str, ...]:
    """One sentence for the corpus; every third is about the mate, among the same cue words."""
    homonym, sense = rng.choice(tuple(HOMONYMS)), rng.randrange(2)
    subject = MATES[homonym][sense] if rng.random() < 1 / 3 else homonym
    return sentence_about(subject, HOMONYMS[homonym][sense], rng)


def sentence_about(noun: str, cues: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    """One sentence about a noun among two of the cue words."""
    first, second = rng.sample(cues, 2)
    size, person, near = rng.choice(SIZES), rng.choice(PERSONS), rng.choice(PREPOSITIONS)
    sentence = rng.choice(
        (
            f"the {noun} is {near} the {first} and the {second}",
            f"the {person} saw the {first} and the {second} {near} the {size} {noun}",
            f"the {noun} {near} the {first} is {size}",
            f"{with_article(noun)} is {near} the {first}",
            f"this is {with_article(f'{size} {noun}')} {near} the {first}",
        )
    )
    return tuple(sentence.split())
