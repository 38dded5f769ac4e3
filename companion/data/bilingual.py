"""What a sentence says, apart from how it is said in English and in French.

The dataclasses hold the meaning; `say` puts it into both languages at once, and so knows which
French word translates which English one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from companion.data.articles import with_article
from companion.data.french import (
    ADJECTIVES,
    AFTER,
    BEFORE,
    CLITICS,
    CONTRACTIONS,
    ELISIONS,
    MOTIONS,
    PLACES,
    PLURAL_DETERMINERS,
    PLURALS,
    SINGULAR_DETERMINERS,
    SUBJECTS,
    VERBS,
    Noun,
    starts_with_vowel,
)


@dataclass(frozen=True)
class NounPhrase:
    """ "the small black cat that sees the dog"; noun and determiner as English has them."""

    noun: str
    determiner: str
    plural: bool = False
    before: str | None = None
    after: str | None = None
    relative: "Predicate | None" = None


@dataclass(frozen=True)
class Predicate:
    """What is said of a subject: a verb of `VERBS` with an object, one of `MOTIONS`, or "be"."""

    verb: str
    complement: NounPhrase | str | None = None  # a pronoun of `CLITICS`, or the adjective of "be"
    negated: bool = False
    place: tuple[str, NounPhrase] | None = None


@dataclass(frozen=True)
class Clause:
    """A subject, "he", "she" or one or two noun phrases, and what is said of it."""

    subject: str | tuple[NounPhrase, ...]
    predicate: Predicate


class Word(str):
    """A word of the English sentence; of two equal ones each is known by its identity."""


English = list[Word]
French = list[tuple[str, English]]  # each word with the English ones that it stands for


def say(
    clauses: list[Clause], nouns: Mapping[str, Noun]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[int, ...] | None, ...]]:
    """The clauses joined by "and": English words, French words, and the alignment of the latter.

    Args:
        clauses: what is to be said.
        nouns: the French noun for each English one.
    """
    english, french = _joined([_clause(clause, nouns) for clause in clauses])
    french = _written(french)
    places = {id(word): place for place, word in enumerate(english)}
    alignment = (tuple(sorted(places[id(word)] for word in words)) for _, words in french)
    return (
        tuple(map(str, english)),
        tuple(word for word, _ in french),
        tuple(words or None for words in alignment),
    )


def _clause(clause: Clause, nouns) -> tuple[English, French]:
    if isinstance(clause.subject, str):
        subject = Word(clause.subject)
        feminine, plural = subject == "she", False
        english, french = [subject], [(SUBJECTS[subject], [subject])]
    else:
        english, french = _joined([_noun_phrase(phrase, nouns) for phrase in clause.subject])
        feminine = all(nouns[phrase.noun].feminine for phrase in clause.subject)
        plural = len(clause.subject) > 1 or clause.subject[0].plural
    said, dit = _predicate(clause.predicate, feminine, plural, nouns)
    return english + said, french + dit


def _joined(phrases: list[tuple[English, French]]) -> tuple[English, French]:
    english, french = phrases[0]
    for more, plus in phrases[1:]:
        link = Word("and")
        english, french = [*english, link, *more], [*french, ("et", [link]), *plus]
    return english, french


def _noun_phrase(phrase: NounPhrase, nouns, negated: bool = False) -> tuple[English, French]:
    """Both phrases; under a negation the indefinite article of an object becomes "de"."""
    noun, plural = nouns[phrase.noun], phrase.plural
    described = [word for word in (phrase.before, phrase.after) if word]
    text = " ".join([*described, PLURALS[phrase.noun] if plural else phrase.noun])
    text = with_article(text) if phrase.determiner == "a" else f"{phrase.determiner} {text}"
    english = [Word(word) for word in text.split()]

    determiner, *adjectives, name = english
    if plural:
        french = [(PLURAL_DETERMINERS[phrase.determiner], [determiner])]
    elif negated and phrase.determiner == "a":
        french = [("de", [determiner])]
    else:
        french = [(SINGULAR_DETERMINERS[phrase.determiner][noun.feminine], [determiner])]
    if phrase.before:
        french.append((BEFORE[phrase.before].before(noun, plural), [adjectives[0]]))
    french.append((noun.plural if plural else noun.singular, [name]))
    if phrase.after:
        french.append((AFTER[phrase.after].agreeing(noun.feminine, plural), [adjectives[-1]]))
    if phrase.relative:
        that = Word("that")
        said, dit = _predicate(phrase.relative, noun.feminine, plural, nouns)
        english, french = [*english, that, *said], [*french, ("qui", [that]), *dit]
    return english, french


def _predicate(said: Predicate, feminine: bool, plural: bool, nouns) -> tuple[English, French]:
    if said.verb == "be":
        parts = _be(said, feminine, plural)
    elif said.verb in MOTIONS:
        parts = _motion(said, feminine, plural)
    else:
        parts = _act(said, plural, nouns)
    helper, rest, clitic, verb, ending = parts

    english, french = [*helper, *rest], [*clitic, *verb, *ending]
    if said.negated:
        not_ = Word("not")
        english = [*helper, not_, *rest]
        french = [("ne", []), *clitic, *verb, ("pas", [not_]), *ending]
    if said.place:
        preposition, phrase = said.place
        where = Word(preposition)
        words, mots = _noun_phrase(phrase, nouns)
        english += [where, *words]
        french += [(word, [where]) for word in PLACES[preposition]] + mots
    return english, french


# Each of these returns, for English, what stands before "not" and what after it, and for French
# the pronoun object, the verb that "ne" and "pas" embrace, and what follows them.
Parts = tuple[English, English, French, French, French]


def _be(said: Predicate, feminine: bool, plural: bool) -> Parts:
    verb, adjective = Word("are" if plural else "is"), Word(said.complement)
    form = ADJECTIVES[adjective].agreeing(feminine, plural)
    finite = ("sont" if plural else "est", [verb])
    return [verb], [adjective], [], [finite], [(form, [adjective])]


def _motion(said: Predicate, feminine: bool, plural: bool) -> Parts:
    motion = MOTIONS[said.verb]
    helper = [Word("did")] if said.negated else []
    verb = [Word(motion.base if said.negated else motion.past)]
    participle = motion.participle + "e" * feminine + "s" * plural
    return helper, verb, [], [("sont" if plural else "est", verb)], [(participle, verb)]


def _act(said: Predicate, plural: bool, nouns) -> Parts:
    forms = VERBS[said.verb]
    helper = [Word("do" if plural else "does")] if said.negated else []
    base = plural or said.negated
    verb = [Word(word) for word in (forms.base if base else forms.third).split()]
    finite = [(forms.plural if plural else forms.singular, verb)]
    if isinstance(said.complement, NounPhrase):
        words, mots = _noun_phrase(said.complement, nouns, said.negated)
        return helper, [*verb, *words], [], finite, mots
    pronoun = Word(said.complement)
    return helper, [*verb, pronoun], [(CLITICS[pronoun], [pronoun])], finite, []


def _written(french: French) -> French:
    """With elisions and contractions; backwards, since what "la" becomes decides about "ne"."""
    written: French = []
    for word, stands_for in reversed(french):
        following = written[0][0] if written else ""
        if word in ELISIONS and starts_with_vowel(following):
            written.insert(0, (ELISIONS[word], stands_for))
        elif (word, following) in CONTRACTIONS:
            contracted = CONTRACTIONS[word, following]
            written[0] = (contracted, [*stands_for, *written[0][1]])
        else:
            written.insert(0, (word, stands_for))
    return written
