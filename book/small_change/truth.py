"""Every next-word probability of the generated language, exactly.

A sentence is a row of slots, each a group of words of which every one is equally likely; the
language has some 6,000 such rows. They are found by running the grammar's own functions with a
stand-in for `random.Random` that tries each decision once, and takes one word for a whole group
where the grammar cannot tell its words apart.
"""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from book.language_model import NOTHING
from book.language_model import table as as_rows
from companion.data import BOS, EOS, WORDS
from companion.data.articles import with_article
from companion.data.language import KINDS, number_sentence
from companion.data.lexicon import (
    ANIMALS,
    GENDER_PAIRS,
    HOMONYMS,
    PRONOUN_VERBS,
    TENSE_PAIRS,
    VEHICLE_WORDS,
)
from companion.data.pronouns import NOUN_CLASS, TEMPLATES

NUMBER = {word: number for number, word in enumerate([BOS, EOS, *WORDS])}
# Of these the word decides what else is in the sentence, so each is tried by itself.
ONE_BY_ONE = {tuple(x) for x in (GENDER_PAIRS.items(), TENSE_PAIRS.items(), HOMONYMS, TEMPLATES)}
ONE_BY_ONE |= {tuple(verbs) for verbs in PRONOUN_VERBS.values()}


def ids_of(sentences: Sequence[Sequence[str]]) -> Tensor:
    """Token ids (B, T) of sentences, each between a beginning and an end."""
    return as_rows([[NUMBER[word] for word in (BOS, *words, EOS)] for words in sentences])


class Every:
    """Stands in for `random.Random`: follows a list of decisions, then takes the first of each.

    Args:
        decisions: which option to take at each choice, for as many choices as there are.
        waiting: receives the decisions for every option that is left aside.
        one_by_one: the lists whose words are not to be taken as a group.
    """

    def __init__(self, decisions: list[int], waiting: list, one_by_one: set[tuple]):
        self.decisions, self.waiting, self.one_by_one = decisions, waiting, one_by_one
        self.depth, self.probability = 0, 1.0
        self.slots: dict[str, tuple[str, ...]] = {}  # the word that stands for a group: the group

    def choice(self, items: Sequence):
        items = tuple(items)
        if items in self.one_by_one or not isinstance(items[0], str) or " " in items[0]:
            return self._decide([(item, 1 / len(items)) for item in items])
        groups: dict[tuple, list[str]] = {}
        for word in items:  # "a" or "an", and the class of a noun, may show elsewhere
            groups.setdefault((with_article(word)[:2], NOUN_CLASS.get(word)), []).append(word)
        return self._group([*groups.values()], len(items))

    def sample(self, items: Sequence[str], k: int) -> list[str]:
        first = self._decide([(item, 1 / len(items)) for item in items])
        others = [item for item in items if item != first]
        return [first, *(self._group([others], len(others)) for _ in range(k - 1))]

    def randrange(self, n: int) -> int:
        return self._decide([(number, 1 / n) for number in range(n)])

    def random(self) -> "Every":
        return self  # a number from 0 to 1 that is decided when it is compared

    def __lt__(self, limit: float) -> bool:
        return self._decide([(True, limit), (False, 1 - limit)])

    def _group(self, groups: list[list[str]], count: int) -> str:
        words = self._decide([(tuple(words), len(words) / count) for words in groups])
        if len(words) > 1:
            self.slots[words[0]] = words
        return words[0]

    def _decide(self, options: list[tuple]):
        if self.depth == len(self.decisions):
            self.waiting += [[*self.decisions, other] for other in range(1, len(options))]
            self.decisions.append(0)
        option, probability = options[self.decisions[self.depth]]
        self.depth += 1
        self.probability *= probability
        return option


def patterns() -> dict[tuple, float]:
    """The probability of every row of slots; a slot is a tuple of words."""
    found: dict[tuple, float] = {}
    for kind, weight in KINDS.items():
        for slots, probability in _rows(kind):
            found[slots] = found.get(slots, 0) + probability * weight / sum(KINDS.values())
    return found


def _rows(kind: Callable) -> Iterator[tuple[tuple, float]]:
    """The rows of one kind of sentence; one may come several times."""
    nouns_decide = {ANIMALS, tuple(VEHICLE_WORDS)} if kind is number_sentence else set()
    waiting: list[list[int]] = [[]]
    while waiting:
        draws = Every(waiting.pop(), waiting, ONE_BY_ONE | nouns_decide)
        words = kind(draws)
        yield tuple(draws.slots.get(word, (word,)) for word in words), draws.probability


class Truth:
    """The language as a table of patterns, of which a sentence so far leaves fewer and fewer."""

    def __init__(self) -> None:
        found = patterns()
        rows = [[*slots, (EOS,)] for slots in found]
        length = max(map(len, rows))
        groups = {(): 0}  # behind the end
        for row in rows:
            for slot in row:
                groups.setdefault(slot, len(groups))
        self.slots = torch.tensor(
            [[groups[slot] for slot in row] + [0] * (length - len(row)) for row in rows]
        )
        self.weights = torch.tensor([*found.values()])
        self.words = torch.zeros(len(groups), len(NUMBER))  # the probabilities of a slot's words
        for slot, number in groups.items():
            for word in slot:
                self.words[number, NUMBER[word]] = 1 / len(slot)

    def next(self, ids: Tensor) -> Tensor:
        """The probabilities (B, T - 1, tokens) of the word after each prefix of ids (B, T).

        A word that is impossible has exactly 0; behind the end of a sentence all have.
        """
        alive = self.weights.expand(len(ids), -1)  # (B, patterns): how likely each is by now
        found = []
        for t in range(ids.shape[1] - 1):
            here = self.slots[:, t]
            by_slot = alive.new_zeros(len(ids), len(self.words)).index_add_(1, here, alive)
            p = by_slot @ self.words
            found.append(p / p.sum(-1, keepdim=True).clamp(min=1e-30))
            seen = self.words.T[ids[:, t + 1].clamp(min=0)]  # (B, slots)
            alive = alive * seen[:, here] * (ids[:, t + 1, None] != NOTHING)
            alive = alive / alive.sum(-1, keepdim=True).clamp(min=1e-30)
        return torch.stack(found, dim=1)
