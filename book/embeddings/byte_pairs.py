"""Byte-pair encoding written out: a vocabulary of frequent pieces of words, learned from text.

It starts from single characters. Whichever two neighbouring pieces occur together most often become
one piece, then again, as many times as wanted (Sennrich, Haddow and Birch 2016, "Neural Machine
Translation of Rare Words with Subword Units", section 3.2, https://arxiv.org/abs/1508.07909).
`BPETokenizer` does the same through a fast library; this is the version to read.
"""

import math
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from companion.validation import require_not_negative

Merge = tuple[str, str]


def learn_bpe(words: Iterable[str], num_merges: int) -> list[Merge]:
    """The pairs of pieces to merge, in the order in which they are learned from the words.

    Of several most frequent pairs, the one with the older pieces wins: characters are in the order
    of their code points, and every merge makes a newer piece. That is the rule of the Hugging Face
    `tokenizers` library.

    Args:
        words: all words of a text, repetitions included; no piece reaches across two words.
        num_merges: how many; fewer are returned once every word is one piece.

    Raises:
        ValueError: a negative number.
    """
    require_not_negative(num_merges=num_merges)
    counts = Counter(words)
    pieces = {word: list(word) for word in counts}
    age = {character: index for index, character in enumerate(sorted(set("".join(counts))))}
    merges = []
    for _ in range(num_merges):
        pairs = Counter()
        for word, count in counts.items():
            for pair in pairwise(pieces[word]):
                pairs[pair] += count
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], age[pair[0]], age[pair[1]]))
        merges.append(best)
        age.setdefault("".join(best), len(age))
        pieces = {word: _merged(row, best) for word, row in pieces.items()}
    return merges


def apply_bpe(word: str, merges: Iterable[Merge]) -> list[str]:
    """The pieces of a word, seen in training or not: merges are made in the order of learning.

    Args:
        word: any string.
        merges: what `learn_bpe` returned.
    """
    rank = {pair: order for order, pair in enumerate(merges)}
    pieces = list(word)
    while len(pieces) > 1:
        ranks = [rank.get(pair, math.inf) for pair in pairwise(pieces)]
        first = min(ranks)
        if first == math.inf:
            break
        place = ranks.index(first)
        pieces[place : place + 2] = ["".join(pieces[place : place + 2])]
    return pieces


def _merged(pieces: list[str], pair: Merge) -> list[str]:
    """The pieces with every occurrence of the pair, from the left, made one piece."""
    merged, place = [], 0
    while place < len(pieces):
        if tuple(pieces[place : place + 2]) == pair:
            merged.append("".join(pair))
            place += 2
        else:
            merged.append(pieces[place])
            place += 1
    return merged
