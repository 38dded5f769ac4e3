"""Sentences in which "it" means one of two nouns, and only the adjective tells which.

"the animal did not cross the street because it was too tired": the animal was. Put "wide" there,
change nothing else, and it was the street. Each adjective fits one class of nouns by construction,
so the right answer is known.
"""

import random
from collections.abc import Mapping, Sequence

from companion.data.lexicon import ADJECTIVES, ANIMALS, FOODS, NOUNS, PLACES, PRONOUN_VERBS, THINGS

OTHERS = (*PLACES, *THINGS, *FOODS)
NOUN_CLASS = {noun: kind for kind, nouns in NOUNS.items() for noun in nouns}
# Each template has a form in which the animal comes first, and one in which the other noun does.
TEMPLATES = {
    "because": (
        "the {animal} did not {verb} the {other} because it was too {adjective}",
        "the {other} was not {participle} by the {animal} because it was too {adjective}",
    ),
    "fronted": (
        "because it was too {adjective} the {animal} did not {verb} the {other}",
        "because it was too {adjective} the {other} was not {participle} by the {animal}",
    ),
    "stopped": (
        "the {animal} stopped at the {other} because it was too {adjective}",
        "at the {other} the {animal} stopped because it was too {adjective}",
    ),
    "near": (
        "the {animal} was near the {other} but it was too {adjective}",
        "the {other} was near the {animal} but it was too {adjective}",
    ),
}


def any_pronoun_sentence(rng: random.Random) -> tuple[str, ...]:
    """One sentence for the corpus: any two nouns, any adjective that fits one of them."""
    animal, other = rng.choice(ANIMALS), rng.choice(OTHERS)
    fitting = {noun: ADJECTIVES[NOUN_CLASS[noun]] for noun in (animal, other)}
    return pronoun_sentence_among([(animal, other)], fitting, rng)


def pronoun_sentence_among(
    noun_pairs: Sequence[tuple[str, str]],
    adjectives: Mapping[str, Sequence[str]],
    rng: random.Random,
) -> tuple[str, ...]:
    """One sentence with one of the pairs (animal, other noun), and an adjective of one of the two.

    "it" means the animal half of the time. A pair is drawn again while the noun that "it" means has
    no adjectives.
    """
    means_animal = rng.random() < 0.5
    choices = ()
    while not choices:
        animal, other = rng.choice(noun_pairs)
        choices = adjectives[animal if means_animal else other]
    adjective = rng.choice(choices)
    template = rng.choice(tuple(TEMPLATES))
    form = TEMPLATES[template][0 if rng.random() < 0.5 else 1]
    verb = rng.choice(tuple(PRONOUN_VERBS[NOUN_CLASS[other]]))
    return written(form, animal, other, adjective, verb)


def written(form: str, animal: str, other: str, adjective: str, verb: str) -> tuple[str, ...]:
    """The words of one form of a template."""
    participle = PRONOUN_VERBS[NOUN_CLASS[other]][verb]
    return tuple(
        form.format(
            animal=animal, other=other, adjective=adjective, verb=verb, participle=participle
        ).split()
    )
