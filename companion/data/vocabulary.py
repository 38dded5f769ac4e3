"""Turns sentences into tensors of token ids, and back."""

import difflib
from collections.abc import Iterable, Sequence

from torch import Tensor

from companion.data.batching import padded
from companion.data.lexicon import WORDS

PAD, MASK, CLS, SEP = SPECIAL_TOKENS = ("[PAD]", "[MASK]", "[CLS]", "[SEP]")
# The first and last token of a text that a model writes; a vocabulary has them if they are passed.
BOS, EOS = "[BOS]", "[EOS]"


class Vocabulary:
    """A fixed list of words; a word's id is its place in it. The special tokens come first.

    A sentence is a sequence of words; special tokens are written as words:
    `("[CLS]", "the", "dog", "sleeps")`.

    Args:
        words: those of the generated language unless you pass others; repetitions count once.

    Raises:
        TypeError: a word is no string.
    """

    def __init__(self, words: Iterable[str] = WORDS):
        words = (*SPECIAL_TOKENS, *words)
        for word in words:
            if not isinstance(word, str):
                kind = type(word).__name__
                raise TypeError(
                    f"a word is a string, got {word!r} ({kind}); `encode` takes sentences"
                )
        self.words = tuple(dict.fromkeys(words))
        self._ids = {word: index for index, word in enumerate(self.words)}
        self.pad_id, self.mask_id, self.cls_id, self.sep_id = (
            self._ids[token] for token in SPECIAL_TOKENS
        )

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def id(self, word: str) -> int:
        """The id of one word.

        Raises:
            ValueError: the word is unknown; the message has the nearest known one.
        """
        if word not in self._ids:
            nearest = difflib.get_close_matches(str(word), self.words, n=1, cutoff=0.0)
            raise ValueError(
                f"unknown word {word!r}; the nearest of the {len(self)} known words is "
                f"{nearest[0]!r} (all are in .words)"
            )
        return self._ids[word]

    def encode(self, sentences: Iterable[Sequence[str]]) -> Tensor:
        """Ids (B, T) of B sentences, int64; T is the longest one's length, [PAD] fills the others.

        Raises:
            ValueError: a word is unknown.
            TypeError: a string came where a sequence of words is expected.
        """
        rows = []
        for sentence in [sentences] if isinstance(sentences, str) else sentences:
            if isinstance(sentence, str):
                raise TypeError(
                    f"got the string {sentence!r} where a sentence, a sequence of words, was "
                    "expected; split it, and pass a list of sentences: encode([text.split()])"
                )
            rows.append([self.id(word) for word in sentence])
        return padded(rows, self.pad_id)

    def decode(self, token_ids: Tensor) -> list[list[str]]:
        """The B sentences of ids (B, T), without [PAD].

        Raises:
            ValueError: the ids have another shape or are outside the vocabulary.
        """
        if token_ids.dim() != 2:
            raise ValueError(
                f"token_ids has shape {tuple(token_ids.shape)}; expected (B, T): one sentence "
                "alone needs token_ids[None]"
            )
        rows = token_ids.tolist()
        for wrong in (i for row in rows for i in row if not 0 <= i < len(self)):
            raise ValueError(f"token id {wrong} is outside the vocabulary of {len(self)} words")
        return [[self.words[i] for i in row if i != self.pad_id] for row in rows]
