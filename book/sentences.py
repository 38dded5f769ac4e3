"""Sentences of the generated language, with what is known about the words in them.

In those about a pronoun, "it" means one of two nouns, and only the adjective tells which: Winograd
schemas (Levesque, Davis and Morgenstern 2012, "The Winograd Schema Challenge"). The place of a noun
says nothing about it. In those about two actors the meaning is in the order: "the dog bites the
man", "the man bites the dog".
"""

from dataclasses import dataclass
from itertools import combinations

from companion.data.language import told_of
from companion.data.lexicon import ACTORS, ADJECTIVES, ANIMALS, PRONOUN_VERBS
from companion.data.pronouns import (
    NOUN_CLASS,
    OTHERS,
    TEMPLATES,
    pronoun_sentence_among,
    written,
)
from companion.data.sampling import part, seeded
from companion.validation import require_choice, require_not_negative

ADJECTIVE_CLASS = {word: kind for kind, words in ADJECTIVES.items() for word in words}


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
    return _annotated(written(form, animal, other, adjective, verb))


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
    drawn = (pronoun_sentence_among(noun_pairs, adjectives, rng) for _ in range(num_sentences))
    return [_annotated(words) for words in drawn]


def _annotated(words: tuple[str, ...]) -> PronounSentence:
    """The sentence with its positions, which its words alone tell: each belongs to one list."""
    (adjective,) = (at for at, word in enumerate(words) if word in ADJECTIVE_CLASS)
    nouns = [at for at, word in enumerate(words) if word in NOUN_CLASS]
    (right,) = (at for at in nouns if NOUN_CLASS[words[at]] == ADJECTIVE_CLASS[words[adjective]])
    (wrong,) = set(nouns) - {right}
    return PronounSentence(words, words.index("it"), right, wrong, adjective)


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
    return [TransitiveSentence(told_of(rng.choice(pairs), rng)) for _ in range(num_sentences)]
