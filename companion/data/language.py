"""A generated language: a few hundred English words, a small grammar, every answer known.

It replaces text that would have to be downloaded. Whatever is true in it is true by construction,
so a model can be asked about it and its answers checked.
"""

import random
from collections.abc import Sequence

from companion.data.articles import with_article
from companion.data.homonyms import any_homonym_sentence
from companion.data.lexicon import (
    ACTORS,
    ADJECTIVES,
    ANIMAL_NOUNS,
    ANIMAL_VERBS,
    ANIMAL_WORDS,
    ANIMALS,
    COLOURS,
    DISHES,
    FOOD_VERBS,
    FOODS,
    GENDER_PAIRS,
    HERS,
    HIS,
    MEALS,
    NUMBER_PAIRS,
    PAST_ADVERBS,
    PERSONS,
    PRESENT_ADVERBS,
    ROLE_VERBS,
    SIZES,
    TENSE_PAIRS,
    TRANSITIVE_VERBS,
    VEHICLE_NOUNS,
    VEHICLE_VERBS,
    VEHICLE_WORDS,
)
from companion.data.pronouns import NOUN_CLASS, OTHERS, any_pronoun_sentence
from companion.data.sampling import seeded
from companion.validation import require_not_negative


def corpus(num_sentences: int, seed: int) -> list[list[str]]:
    """`num_sentences` sentences of all kinds, drawn by `seed`: lists of words, no punctuation.

    Raises:
        ValueError, TypeError: a number that is negative or not whole.
    """
    require_not_negative(num_sentences=num_sentences)
    rng = seeded("corpus", seed)
    kinds = rng.choices(tuple(KINDS), weights=tuple(KINDS.values()), k=num_sentences)
    return [list(kind(rng)) for kind in kinds]


def person_sentence(rng: random.Random) -> list[str]:
    """A man or a woman with he or she, his or her, and the words of the role."""
    pair, row = rng.choice(tuple(GENDER_PAIRS.items()))
    she = rng.randrange(2)
    person = pair[she]
    pronoun, possessive, own = (("he", "his", HIS), ("she", "her", HERS))[she]
    role, verb, mine = rng.choice(row), rng.choice(ROLE_VERBS), rng.choice(own)
    return rng.choice(
        (
            f"the {person} {verb} {possessive} {role}",
            f"the {person} said that {pronoun} {verb} the {role}",
            f"{pronoun} is {with_article(person)} and {verb} the {role}",
            f"the {person} has {with_article(mine)} and {with_article(role)}",
            f"the {person} {verb} the {role} and {possessive} {mine}",
        )
    ).split()


def number_sentence(rng: random.Random) -> list[str]:
    """One animal or vehicle or several: is or are, has or have, this or these, its or their."""
    if rng.random() < 0.75:
        noun, rows, verbs, nouns = rng.choice(ANIMALS), ANIMAL_WORDS, ANIMAL_VERBS, ANIMAL_NOUNS
    else:
        noun = rng.choice(tuple(VEHICLE_WORDS))
        rows, verbs, nouns = VEHICLE_WORDS, VEHICLE_VERBS, VEHICLE_NOUNS
    own_verb, *own_nouns = rows[noun]
    thing = rng.choice(own_nouns if rng.random() < 0.6 else nouns)
    verb = own_verb if rng.random() < 0.5 else rng.choice(verbs)
    colour, size = rng.choice(COLOURS), rng.choice(SIZES)
    if rng.random() < 0.5:
        return rng.choice(
            (
                f"this {colour} {noun} is near the {thing}",
                f"the {noun} has {with_article(thing)} and is {size}",
                f"this {noun} with the {thing} is {colour}",
                f"{with_article(f'{size} {noun}')} {verb} near its {thing}",
            )
        ).split()
    several = NUMBER_PAIRS[noun]
    return rng.choice(
        (
            f"these {colour} {several} are near the {thing}",
            f"the {several} have {with_article(thing)} and are {size}",
            f"these {several} with the {thing} are {colour}",
            f"the {size} {several} have their {thing}",
        )
    ).split()


def meal_sentence(rng: random.Random) -> list[str]:
    """Someone prepares or serves a food, or it is on a dish."""
    food, meal = rng.choice(FOODS), rng.choice(MEALS)
    return rng.choice(
        (
            f"the {rng.choice(PERSONS)} {rng.choice(FOOD_VERBS)} the {food} for {meal}",
            f"the {food} is on the {rng.choice(DISHES)} for {meal}",
        )
    ).split()


def tense_sentence(rng: random.Random) -> list[str]:
    """A verb in the present or in the past, as the adverb of time asks."""
    (present, past), manner = rng.choice(tuple(TENSE_PAIRS.items()))
    person = rng.choice(PERSONS)
    verb, times = rng.choice(((present, PRESENT_ADVERBS), (past, PAST_ADVERBS)))
    clause, time = f"the {person} {verb} {manner}", rng.choice(times)
    return rng.choice((f"{time} {clause}", f"{clause} {time}")).split()


def adjective_sentence(rng: random.Random) -> list[str]:
    """An adjective with a noun that it fits."""
    animal, other = rng.choice(ANIMALS), rng.choice(OTHERS)
    of_animal, of_other = (rng.choice(ADJECTIVES[NOUN_CLASS[noun]]) for noun in (animal, other))
    return rng.choice(
        (
            f"the {animal} is {of_animal} {rng.choice(PRESENT_ADVERBS)}",
            f"the {other} is {of_other} {rng.choice(PRESENT_ADVERBS)}",
            f"the {of_animal} {animal} is near the {of_other} {other}",
        )
    ).split()


def transitive_sentence(rng: random.Random) -> tuple[str, ...]:
    """Who does something to whom; the meaning is in the order."""
    return told_of(rng.sample(ACTORS, 2), rng)


def told_of(pair: Sequence[str], rng: random.Random) -> tuple[str, ...]:
    """A sentence about two actors, either of whom may be the one who acts."""
    subject, object_ = rng.sample(pair, 2)
    return ("the", subject, rng.choice(TRANSITIVE_VERBS), "the", object_)


# Every kind of sentence with its weight in the mixture.
KINDS = {
    person_sentence: 4,
    number_sentence: 3,
    meal_sentence: 1,
    tense_sentence: 2,
    any_homonym_sentence: 4,
    any_pronoun_sentence: 2,
    transitive_sentence: 1,
    adjective_sentence: 1,
}
