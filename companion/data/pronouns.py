"""Sentences in which "it" means one of two nouns, and only the adjective tells which.

"the animal did not cross the street because it was too tired": the animal was. Put "wide" there,
change nothing else, and it was the street. Such pairs are Winograd schemas (Levesque, Davis and
Morgenstern 2012, "The Winograd Schema Challenge"). Here each adjective fits one class of nouns, by
construction, so the right answer is known; the place of a noun says nothing about it.
"""

import random
from dataclasses import dataclass

from companion.data.lexicon import ADJECTIVES, ANIMALS, FOODS, NOUNS, PLACES, PRONOUN_VERBS, THINGS
from companion.data.sampling import part, seeded
from companion.validation import require_choice, require_not_negative

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


@dataclass(frozen=True)
class PronounSentence:
    """A sentence with the places, counted from 0, of the words that matter in it.

    Args:
        words: the sentence.
        it_position: where "it" stands.
        right_position: the noun that "it" means.
        wrong_position: the other noun.
        adjective_position: the adjective that decides.
    """

    words: tuple[str, ...]
    it_position: int
    right_position: int
    wrong_position: int
    adjective_position: int

    @property
    def right_noun(self) -> str:
        return self.words[self.right_position]

    @property
    def wrong_noun(self) -> str:
        return self.words[self.wrong_position]

    @property
    def adjective(self) -> str:
        return self.words[self.adjective_position]


def pronoun_sentence(
    animal: str,
    other: str,
    adjective: str,
    *,
    template: str = "because",
    animal_first: bool = True,
    verb: str | None = None,
) -> PronounSentence:
    """One sentence of your choice.

    Args:
        animal: one of `ANIMALS`.
        other: one of `PLACES`, `THINGS` or `FOODS`.
        adjective: one of `ADJECTIVES["animal"]`, or of `ADJECTIVES` for the other noun's class.
        template: a key of `TEMPLATES`.
        animal_first: whether the animal stands before the other noun.
        verb: a key of `PRONOUN_VERBS` for the other noun's class, by default the first ("cross",
            "carry", "eat"); the templates "stopped" and "near" have no use for it.

    Raises:
        ValueError: a word does not belong where it stands; the message lists those that do.
    """
    require_choice("animal", animal, ANIMALS)
    require_choice("other", other, OTHERS)
    other_class = NOUN_CLASS[other]
    require_choice("adjective", adjective, ADJECTIVES["animal"] + ADJECTIVES[other_class])
    require_choice("template", template, TEMPLATES)
    verbs = PRONOUN_VERBS[other_class]
    verb = next(iter(verbs)) if verb is None else verb
    require_choice("verb", verb, verbs)

    form = TEMPLATES[template][0 if animal_first else 1]
    text = form.format(
        animal=animal, other=other, adjective=adjective, verb=verb, participle=verbs[verb]
    )
    words = tuple(text.split())
    right, wrong = (animal, other) if adjective in ADJECTIVES["animal"] else (other, animal)
    return PronounSentence(
        words=words,
        it_position=words.index("it"),
        right_position=words.index(right),
        wrong_position=words.index(wrong),
        adjective_position=words.index(adjective),
    )


def pronoun_sentences(
    num_sentences: int, seed: int, *, split: str = "train"
) -> list[PronounSentence]:
    """Sentences drawn at random, with what never occurs in training decided by the seed.

    Of the pairs (animal, other noun) an eighth is kept for `split="validation"` and an eighth for
    `split="test"`, and so it is with the pairs (noun that "it" means, adjective). A sentence of a
    split has both its pairs from that split, so a validation or test sentence shares neither pair
    with any training sentence of the same seed. In half of the sentences, on average, "it" means
    the animal, and, whichever it means, in half of them the animal comes first.

    Args:
        num_sentences: how many; a sentence may occur twice.
        seed: decides what is held out, the same for all splits, and what is drawn.
        split: "train", "validation" or "test".

    Raises:
        ValueError, TypeError: a number that is negative or not whole, or another split.
    """
    require_not_negative(num_sentences=num_sentences)
    held_out = seeded("pronouns: what is held out", seed)
    noun_pairs = part([(animal, other) for animal in ANIMALS for other in OTHERS], split, held_out)
    fitting = [(noun, word) for noun in NOUN_CLASS for word in ADJECTIVES[NOUN_CLASS[noun]]]
    adjectives: dict[str, list[str]] = {noun: [] for noun in NOUN_CLASS}
    for noun, adjective in part(fitting, split, held_out):
        adjectives[noun].append(adjective)

    rng = seeded(f"pronouns: {split}", seed)
    return [_draw(noun_pairs, adjectives, rng) for _ in range(num_sentences)]


def any_pronoun_sentence(rng: random.Random) -> PronounSentence:
    """One sentence for the corpus: any two nouns, any adjective that fits one of them."""
    animal, other = rng.choice(ANIMALS), rng.choice(OTHERS)
    return _draw(
        [(animal, other)], {noun: ADJECTIVES[NOUN_CLASS[noun]] for noun in (animal, other)}, rng
    )


def _draw(noun_pairs, adjectives, rng: random.Random) -> PronounSentence:
    means_animal = rng.random() < 0.5
    while True:
        animal, other = rng.choice(noun_pairs)
        choices = adjectives[animal if means_animal else other]
        if choices:
            break
    return pronoun_sentence(
        animal,
        other,
        rng.choice(choices),
        template=rng.choice(tuple(TEMPLATES)),
        animal_first=rng.random() < 0.5,
        verb=rng.choice(tuple(PRONOUN_VERBS[NOUN_CLASS[other]])),
    )
