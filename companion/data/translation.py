"""Pairs of an English and a French sentence, with the source word behind every target word.

A small grammar makes both, so the right translation and the alignment are known. The French needs
what the English does not say where it is needed: articles, adjectives and participles agree with a
noun ("the old key" is "la vieille clé"), some adjectives follow it, a pronoun object goes before
the verb ("he sees her", "il la voit"), "not" becomes two words around it, and a vowel changes the
word before ("the old tree", "le vieil arbre").
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from companion.data.bilingual import Clause, NounPhrase, Predicate, say
from companion.data.french import (
    ADJECTIVES,
    AFTER,
    BEFORE,
    CLITICS,
    CONTRACTIONS,
    CREATURES,
    ELISIONS,
    MOTIONS,
    OBJECTS,
    PLACES,
    PLURAL_DETERMINERS,
    PLURALS,
    SHARES,
    SINGULAR_DETERMINERS,
    SUBJECTS,
    SYNONYMS,
    VERBS,
)
from companion.data.sampling import part, seeded
from companion.data.vocabulary import BOS, EOS, Vocabulary
from companion.validation import require_choice, require_not_negative

KINDS = ("plain", "ambiguous", "long")
ANY_NOUN = CREATURES | OBJECTS

# Forms that few nouns ask for, "vieil homme" and "bel homme": else a seed could keep them all back.
ALWAYS_TRAINED = {("man", "old"), ("man", "beautiful")}


@dataclass(frozen=True)
class TranslationPair:
    """A sentence, one right translation, and what is known about them.

    `alignment` has one entry for each target word: the places, from 0, of the source words that
    it stands for, or None where there is none ("ne"). `translations` are all right translations
    with the probability that the grammar chooses them, the most probable first; they sum to 1.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: tuple[tuple[int, ...] | None, ...]
    translations: tuple[tuple[tuple[str, ...], float], ...]


def translation_pairs(
    num_sentences: int, seed: int, *, split: str = "train", kind: str = "plain"
) -> list[TranslationPair]:
    """Sentences drawn at random, with what never occurs in training decided by the seed.

    Of the pairs (noun, adjective that describes it) an eighth is kept for `split="validation"` and
    an eighth for `split="test"`, and so it is with the pairs (verb, noun that is its object). A
    training sentence has none of the kept pairs; a validation or test sentence has at least one of
    its own and none of the other's, so it never occurs in training under the same seed.

    Args:
        num_sentences: how many; a sentence may occur twice.
        seed: decides what is held out, the same for all splits and kinds, and what is drawn.
        split: "train", "validation" or "test".
        kind: "plain", with exactly one right translation; "long", two plain sentences joined by
            "and"; or "ambiguous", in which one noun, such as "bike", has three right translations.
            The most probable ("vélo", .4) has one gender and the two others (.3 each) the other,
            and the article comes before the noun: the more probable article, which greedy decoding
            takes, does not begin the most probable sentence.

    Raises:
        ValueError, TypeError: a number that is negative or not whole, another split or kind.
    """
    require_not_negative(num_sentences=num_sentences)
    require_choice("kind", kind, KINDS)
    own = _combinations(split, seed)
    allowed = own | _combinations("train", seed)
    speaker = _Speaker(seeded(f"translation: {split} {kind}", seed), allowed)
    pairs = []
    while len(pairs) < num_sentences:
        if kind == "ambiguous":
            clauses = [speaker.ambiguous_clause()]
        else:
            clauses = [speaker.clause() for _ in range(2 if kind == "long" else 1)]
        nouns = [phrase.noun for clause in clauses for phrase in _noun_phrases(clause)]
        used = {combination for clause in clauses for combination in _used(clause)}
        asked = split == "train" or used & own
        if used <= allowed and asked and len(set(nouns)) == len(nouns):
            pairs.append(_pair(clauses, nouns, speaker.rng))
    return pairs


def translation_vocabulary() -> Vocabulary:
    """The words of both languages in one vocabulary, after "[BOS]" and "[EOS]".

    A word that both languages write alike ("prison") is one entry, as in the shared vocabulary of
    the paper (Vaswani et al. 2017, section 5.1, https://arxiv.org/abs/1706.03762).
    """
    english = (
        *(word for pair in PLURALS.items() for word in pair),
        *(*SYNONYMS, *SINGULAR_DETERMINERS, "an", *PLURAL_DETERMINERS, *ADJECTIVES),
        *(word for verb in VERBS.values() for form in verb[:2] for word in form.split()),
        *(word for motion in MOTIONS.values() for word in motion[:2]),
        *("is", "are", "does", "do", "did", "not", "that", "and"),
        *(*SUBJECTS, *CLITICS, *PLACES),
    )
    french = (
        *(word for noun in ANY_NOUN.values() for word in (noun.singular, noun.plural)),
        *(noun.singular for nouns in SYNONYMS.values() for noun in nouns),
        *(word for pair in SINGULAR_DETERMINERS.values() for word in pair),
        *(*PLURAL_DETERMINERS.values(), *ELISIONS.values(), *CONTRACTIONS.values()),
        *(form for adjective in ADJECTIVES.values() for form in adjective if form),
        *(form for verb in VERBS.values() for form in verb[2:]),
        *(motion.participle + end for motion in MOTIONS.values() for end in ("", "e", "s", "es")),
        *("est", "sont", "ne", "pas", "qui", "et"),
        *(*SUBJECTS.values(), *CLITICS.values()),
        *(word for words in PLACES.values() for word in words),
    )
    return Vocabulary((BOS, EOS, *english, *french))


def _combinations(split: str, seed: int) -> set[tuple[str, str]]:
    """The pairs (noun, adjective) and (verb, object) of one split."""
    rng = seeded("translation: what is held out", seed)
    nouns = (*ANY_NOUN, *SYNONYMS)
    described = [pair for pair in product(nouns, ADJECTIVES) if pair not in ALWAYS_TRAINED]
    combinations = {*part(described, split, rng), *part(list(product(VERBS, nouns)), split, rng)}
    return combinations | ALWAYS_TRAINED if split == "train" else combinations


def _used(clause: Clause) -> Iterator[tuple[str, str]]:
    """The pairs of these two kinds in a sentence."""
    for phrase in _noun_phrases(clause):
        yield from ((phrase.noun, word) for word in (phrase.before, phrase.after) if word)
    for predicate in _predicates(clause):
        if isinstance(predicate.complement, NounPhrase):
            yield predicate.verb, predicate.complement.noun
        elif predicate.verb == "be" and not isinstance(clause.subject, str):
            yield from ((phrase.noun, predicate.complement) for phrase in clause.subject)


def _noun_phrases(clause: Clause) -> Iterator[NounPhrase]:
    if not isinstance(clause.subject, str):
        yield from clause.subject
    for predicate in _predicates(clause):
        if isinstance(predicate.complement, NounPhrase):
            yield predicate.complement
        if predicate.place:
            yield predicate.place[1]


def _predicates(clause: Clause) -> Iterator[Predicate]:
    if not isinstance(clause.subject, str):
        yield from (phrase.relative for phrase in clause.subject if phrase.relative)
    yield clause.predicate


def _pair(clauses: list[Clause], nouns: list[str], rng: random.Random) -> TranslationPair:
    """The clauses in both languages; where a noun is ambiguous, with one of its translations."""
    lexicons, shares = [ANY_NOUN], (1.0,)
    for noun in SYNONYMS.keys() & set(nouns):
        lexicons, shares = [ANY_NOUN | {noun: french} for french in SYNONYMS[noun]], SHARES
    said = [say(clauses, lexicon) for lexicon in lexicons]
    ((source, target, alignment),) = rng.choices(said, shares)
    translations = tuple((words, share) for (_, words, _), share in zip(said, shares, strict=True))
    return TranslationPair(source, target, alignment, translations)


class _Speaker:
    """Draws what is said. It avoids most of the combinations that are not allowed."""

    def __init__(self, rng: random.Random, allowed: set[tuple[str, str]]):
        self.rng = rng
        self.allowed = allowed

    def one_of(self, choices):
        return self.rng.choice(tuple(choices))

    def ambiguous_clause(self) -> Clause:
        """With an ambiguous noun; in the singular, since plural articles have no gender."""
        if self.rng.random() < 0.5:
            return Clause((self.noun_phrase(SYNONYMS, plural=False),), self.being())
        predicate = Predicate(*self.verb_and_object(SYNONYMS, plural=False))
        return Clause(self.subject(), predicate)

    def clause(self) -> Clause:
        (predicate,) = self.rng.choices((self.acting, self.moving, self.being), (3, 1, 1))
        return Clause(self.subject(), predicate())

    def subject(self) -> str | tuple[NounPhrase, ...]:
        (kind,) = self.rng.choices(("pronoun", "one", "one that", "two"), (5, 10, 3, 2))
        if kind == "pronoun":
            return self.one_of(SUBJECTS)
        relative = Predicate(*self.verb_and_object(ANY_NOUN)) if kind == "one that" else None
        count = 2 if kind == "two" else 1
        return tuple(self.noun_phrase(CREATURES, relative=relative) for _ in range(count))

    def acting(self) -> Predicate:
        if self.rng.random() < 0.3:
            said = self.one_of(VERBS), self.one_of(CLITICS)
        else:
            said = self.verb_and_object(ANY_NOUN)
        return Predicate(*said, negated=self.sometimes(), place=self.place())

    def moving(self) -> Predicate:
        return Predicate(self.one_of(MOTIONS), negated=self.sometimes(), place=self.place())

    def being(self) -> Predicate:
        return Predicate("be", self.one_of(ADJECTIVES), negated=self.sometimes())

    def verb_and_object(self, nouns, **form) -> tuple[str, NounPhrase]:
        while True:
            verb, object_ = self.one_of(VERBS), self.noun_phrase(nouns, **form)
            if (verb, object_.noun) in self.allowed:
                return verb, object_

    def place(self) -> tuple[str, NounPhrase] | None:
        if self.rng.random() < 0.8:
            return None
        return self.one_of(PLACES), self.noun_phrase(OBJECTS)

    def sometimes(self) -> bool:
        return self.rng.random() < 0.3

    def noun_phrase(self, nouns, *, plural=None, relative=None) -> NounPhrase:
        plural = self.sometimes() if plural is None else plural
        determiner = self.one_of(PLURAL_DETERMINERS if plural else SINGULAR_DETERMINERS)
        while True:
            noun = self.one_of(nouns)
            before = self.one_of(BEFORE) if self.rng.random() < 0.35 else None
            after = self.one_of(AFTER) if self.rng.random() < 0.35 else None
            if all((noun, word) in self.allowed for word in (before, after) if word):
                return NounPhrase(noun, determiner, plural, before, after, relative)
