"""Text and token ids: by characters, and by frequent pieces of words."""

import os
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from companion.data.vocabulary import BOS, EOS, PAD
from companion.validation import require_text


class CharTokenizer:
    """Every character is a token; ids follow the order of the code points.

    Args:
        text: whatever has all the characters that will be needed.
    """

    def __init__(self, text: str):
        self.characters = tuple(sorted(set(text)))
        self._ids = {character: index for index, character in enumerate(self.characters)}

    def __len__(self) -> int:
        return len(self.characters)

    def encode(self, text: str) -> list[int]:
        """One id for each character.

        Raises:
            ValueError: a character did not occur in the text that the tokenizer was made from.
        """
        for place, character in enumerate(text):
            if character not in self._ids:
                raise ValueError(
                    f"unknown character {character!r} at place {place}: the tokenizer was made "
                    f"from a text with {len(self)} different characters (.characters), this one "
                    "not among them"
                )
        return [self._ids[character] for character in text]

    def decode(self, token_ids: Iterable[int]) -> str:
        """The text of some ids.

        Raises:
            ValueError: an id is outside the vocabulary, or a tensor has more than one row.
        """
        return "".join(self.characters[i] for i in _checked(token_ids, len(self)))


class BPETokenizer:
    """Byte-pair encoding of the bytes of a text, so that every text can be encoded.

    Made by `train` or `load`, around a tokenizer of the `tokenizers` library. Words are split as
    for GPT-2: a piece may begin with the space before a word, and no piece reaches from one word
    into the next. "[PAD]", "[BOS]" and "[EOS]" are the ids 0, 1 and 2; no text is encoded into
    them, not even one that spells them out.

    Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2,
    https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf
    """

    pad_id, bos_id, eos_id = range(3)

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        self._tokenizer.encode_special_tokens = True

    def __reduce__(self):  # a copy is made by __init__, since a Tokenizer forgets its setting
        return type(self), (self._tokenizer,)

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int) -> "BPETokenizer":
        """Learn merges from texts until there are `vocab_size` tokens.

        Args:
            texts: any number of strings, such as the files of a folder.
            vocab_size: 3 special tokens, 256 bytes, and one more for every merge. A short text may
                run out of pairs to merge before that.

        Raises:
            ValueError: fewer than 259 tokens.
            TypeError: one string came where several are expected.
        """
        if isinstance(texts, str):
            raise TypeError("texts is a string; expected several: pass [text]")
        smallest = 3 + len(pre_tokenizers.ByteLevel.alphabet())
        if vocab_size < smallest:
            raise ValueError(
                f"vocab_size is {vocab_size}; 3 special tokens and 256 bytes need {smallest}, and "
                "every merge one more"
            )
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=[PAD, BOS, EOS],
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        )
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer)

    @classmethod
    def load(cls, path: str | os.PathLike) -> "BPETokenizer":
        """What `save` wrote.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file holds no tokenizer, or another model's.
        """
        content = Path(path).read_bytes()
        try:
            tokenizer = Tokenizer.from_buffer(content)
        except ValueError as error:
            raise ValueError(
                f"{path} holds no tokenizer ({error}); load what BPETokenizer.save wrote"
            ) from error
        if [tokenizer.token_to_id(token) for token in (PAD, BOS, EOS)] != [0, 1, 2]:
            raise ValueError(
                f"{path} is no BPETokenizer's, whose {PAD}, {BOS} and {EOS} are 0, 1 and 2; "
                "companion.pretrained.load_tokenizer reads those of published models"
            )
        return cls(tokenizer)

    def save(self, path: str | os.PathLike) -> None:
        """Write vocabulary and merges as JSON, in the format of the `tokenizers` library."""
        Path(path).write_text(self._tokenizer.to_str(pretty=True), "utf8")

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without special tokens.

        Raises:
            ValueError: the text has half of a character (a lone surrogate).
        """
        require_text("text", text)
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, token_ids: Iterable[int]) -> str:
        """The text of some ids, without special tokens; a broken character shows as "\ufffd".

        Raises:
            ValueError: an id is outside the vocabulary, or a tensor has more than one row.
        """
        return self._tokenizer.decode(_checked(token_ids, len(self)))

    def pieces(self, text: str) -> list[str]:
        """The text cut where its tokens meet; a character of several bytes may be cut through."""
        return [self.decode([token]) for token in self.encode(text)]


def _checked(token_ids: Iterable[int], vocab_size: int) -> list[int]:
    """The ids as a list; those of a tensor (T,) become whole numbers."""
    if getattr(token_ids, "ndim", 1) != 1:
        raise ValueError(
            f"token_ids has shape {tuple(token_ids.shape)}; expected (T,): decode one row at a time"
        )
    token_ids = [int(token) for token in token_ids]
    for wrong in (token for token in token_ids if not 0 <= token < vocab_size):
        raise ValueError(f"token id {wrong} is outside the vocabulary of {vocab_size} tokens")
    return token_ids
