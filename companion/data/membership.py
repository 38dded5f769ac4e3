"""How likely a sentence is in the generated language; 0 if its grammar cannot produce it.

The grammar exists once, as functions that draw. Here they are run backwards: instead of drawing,
every choice that could have led to the sentence is tried, and the probabilities of those that
did are added up.
"""

from collections.abc import Callable, Iterator, Sequence

from companion.data.language import KINDS
from companion.data.lexicon import MATES, NUMBER_PAIRS, PRONOUN_VERBS

# A word may be drawn and then show as another one.
SHOWN_AS = {
    **MATES,
    **{singular: (plural,) for singular, plural in NUMBER_PAIRS.items()},
    **{verb: (form,) for forms in PRONOUN_VERBS.values() for verb, form in forms.items()},
    "fronted": ("because",),  # the name of a template: this word is in it
}


def sentence_probability(words: Sequence[str]) -> float:
    """The probability with which `corpus` draws exactly this sentence.

    Args:
        words: a sentence as `corpus` returns it.

    Returns:
        A number above 0 if and only if the sentence belongs to the language.

    Raises:
        TypeError: `words` is one string.
    """
    weights = sum(KINDS.values())
    return sum(weight / weights * probability_of(words, kind) for kind, weight in KINDS.items())


def is_sentence(words: Sequence[str]) -> bool:
    """Whether the language has the sentence: `sentence_probability(words) > 0`, but faster.

    The first way that leads to the sentence decides; if none does, all have been tried.
    """
    return any(any(_ways(words, kind)) for kind in KINDS)


def probability_of(words: Sequence[str], kind: Callable) -> float:
    """The probability with which one of the functions in `KINDS` draws exactly this sentence."""
    return sum(_ways(words, kind))


def _ways(words: Sequence[str], kind: Callable) -> Iterator[float]:
    """The probability of each sequence of choices that leads to the sentence."""
    if isinstance(words, str):
        raise TypeError(f"got the string {words!r}, expected a sequence of words; split it")
    sentence = tuple(words)
    text, shown, waiting, known = " ".join(sentence), set(sentence), [[]], {}
    relevant = shown | {word for word, forms in SHOWN_AS.items() if shown.intersection(forms)}
    while waiting:
        draws = Backwards(text, relevant, waiting.pop(), waiting, known)
        try:
            drawn = kind(draws)
        except Mismatch:
            continue
        if tuple(drawn) == sentence:
            yield draws.probability


class Mismatch(Exception):
    """No choice leads to the sentence from here."""


class Backwards:
    """Stands in for `random.Random`: follows a list of decisions, then takes the first of each.

    Words that are not in the sentence are all the same to it: if one of them shows, the result is
    another sentence, and otherwise it does not matter which it was. So they are one option.

    Args:
        sentence: what should come out, as a text.
        relevant: the words that, drawn, could show in it.
        decisions: which option to take at each choice, for as many choices as there are.
        waiting: receives the decisions for every option that is left aside.
        known: the options of choices that were met before, for the same sentence.
    """

    def __init__(self, sentence, relevant, decisions, waiting, known) -> None:
        self.sentence, self.relevant, self.known = sentence, relevant, known
        self.decisions, self.waiting = decisions, waiting
        self.depth, self.probability = 0, 1.0

    def choice(self, items: Sequence):
        if " " in items[0]:  # whole sentences
            return self._decide([(self.sentence, items.count(self.sentence) / len(items))])
        items = tuple(items)
        if items not in self.known:
            self.known[items] = self._options(items)
        return self._decide(self.known[items])

    def _options(self, items: tuple) -> list[tuple]:
        fitting = [item for item in items if self._is_relevant(item)]
        options = [(item, 1 / len(items)) for item in fitting]
        others = len(items) - len(fitting)
        if others:
            other = next(item for item in items if item not in fitting)
            options.append((other, others / len(items)))
        return options

    def sample(self, items: Sequence, k: int) -> list:
        left, drawn = list(items), []
        for _ in range(k):
            drawn.append(self.choice(left))
            left.remove(drawn[-1])
        return drawn

    def randrange(self, n: int) -> int:
        return self._decide([(number, 1 / n) for number in range(n)])

    def random(self) -> "Uniform":
        return Uniform(self._decide)

    def _is_relevant(self, item: str | tuple) -> bool:
        return item in self.relevant if isinstance(item, str) else any(map(self._is_relevant, item))

    def _decide(self, options: list[tuple]):
        if self.depth == len(self.decisions):
            self.waiting += [[*self.decisions, other] for other in range(1, len(options))]
            self.decisions.append(0)
        option, probability = options[self.decisions[self.depth]]
        if probability == 0:
            raise Mismatch
        self.depth += 1
        self.probability *= probability
        return option


class Uniform:
    """A number from 0 to 1 that is decided when it is compared."""

    def __init__(self, decide: Callable) -> None:
        self._decide = decide

    def __lt__(self, limit: float) -> bool:
        return self._decide([(True, limit), (False, 1 - limit)])
