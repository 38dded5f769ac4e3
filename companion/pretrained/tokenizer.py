"""The tokenizers of published models: what turns a text into their ids, and back."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from companion.pretrained.folder import (
    CHAT_TEMPLATE,
    TOKENIZER,
    TOKENIZER_CONFIG,
    find,
    read_json,
    remedy,
)
from companion.pretrained.gguf_file import read_gguf
from companion.validation import require_text

NAMED_TOKENS = ("bos_token", "eos_token", "pad_token", "unk_token")
MARK = "\ufdd0"  # no character, and in no text
CONTROL, ADDED = 3, 4  # GGUF's types of a token that no text is made of, and one beside merges


class PretrainedTokenizer:
    """A published tokenizer, as its model was trained with it. `load_tokenizer` makes one.

    Args:
        tokenizer: of the `tokenizers` library.
        eos_id: the token that ends an answer.
        chat_template: in Jinja: how a conversation is written as one text.
        named_tokens: tokens that the template may ask for, such as {"bos_token": "<s>"}.

    Attributes:
        eos_id: as given; None if the files do not say.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        eos_id: int | None = None,
        chat_template: str | None = None,
        named_tokens: Mapping[str, str] | None = None,
    ) -> None:
        tokenizer.no_padding()  # some files ask for a fixed length
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self._chat_template, self._named_tokens = chat_template, dict(named_tokens or {})
        added = tokenizer.get_added_tokens_decoder().values()
        self._added = sorted(added, key=lambda token: len(token.content), reverse=True)
        self.eos_id = eos_id

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """The ids of a text, with the special tokens that the model expects (BERT: [CLS], [SEP]).

        A special token that the text spells out, such as "<|im_end|>", becomes that token.

        Raises:
            ValueError: the text has half of a character (a lone surrogate).
        """
        require_text("text", text)
        return self._tokenizer.encode(text).ids

    def decode(self, token_ids: Iterable[int], *, special_tokens: bool = False) -> str:
        """The text of some ids.

        Args:
            token_ids: integers, or a tensor of one dimension.
            special_tokens: whether special tokens are written out, too.
        """
        ids = [int(token) for token in token_ids]
        return self._tokenizer.decode(ids, skip_special_tokens=not special_tokens)

    def pieces(self, text: str | Iterable[int]) -> list[str]:
        """Each token as it reads alone, special tokens included.

        A token that is only a part of a character reads "\N{REPLACEMENT CHARACTER}".

        Args:
            text: a text, or its ids.
        """
        ids = self.encode(text) if isinstance(text, str) else text
        return [self.decode([token], special_tokens=True) for token in ids]

    def chat(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """The ids of a conversation in the model's own format, up to where its answer begins.

        `decode(ids, special_tokens=True)` shows the format. A special token that a message spells
        out is encoded as text, so that nobody's words open a turn; of all but the assistant, any
        token that was added to the vocabulary, since formats are written with others, too.

        Args:
            messages: {"role": "user", "content": "..."}; the other roles are "system", which comes
                first, and "assistant".

        Raises:
            ValueError: the model has no format for conversations, a message lacks a part, or the
                format refuses the conversation.
        """
        if self._chat_template is None:
            raise ValueError("this model has no format for conversations; use encode")
        from jinja2 import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment  # a template is somebody's program

        for message in messages:
            parts = message if isinstance(message, Mapping) else {}
            if not all(isinstance(parts.get(key), str) for key in ("role", "content")):
                raise ValueError(f"a message needs the texts 'role' and 'content', got {message!r}")
            for key in ("role", "content"):
                require_text(key, message[key])
        jinja = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )

        def raise_exception(reason: str):
            raise TemplateError(reason)

        try:
            text = jinja.from_string(_without_generation(self._chat_template)).render(
                messages=[self._marked(message) for message in messages],
                add_generation_prompt=True,
                raise_exception=raise_exception,
                **self._named_tokens,
            )
        except TemplateError as error:
            raise ValueError(f"the model's format refuses the conversation: {error}") from error
        if MARK in text:
            return self._encode_marked(text)
        return self._tokenizer.encode(text, add_special_tokens=False).ids  # the format has its own

    def _marked(self, message: Mapping) -> dict:
        """The message with texts in which no such token is spelled out any more."""
        tokens = [t.content for t in self._added if t.special or message["role"] != "assistant"]

        def marked(part):
            if not isinstance(part, str):
                return part
            part = part.replace(MARK, "\N{REPLACEMENT CHARACTER}")
            for token in tokens:  # the longest first
                part = part.replace(token, token[0] + MARK + token[1:])
            return part

        return {key: marked(part) for key, part in message.items()}

    def _encode_marked(self, text: str) -> list[int]:
        """The ids of a text whose special tokens are such, but for those that have been marked.

        To a copy of the tokenizer the mark is a token, too, so that no piece reaches over it, not
        even in a vocabulary that has "</s>" among the pieces of words.
        """
        tokenizer = Tokenizer.from_str(self._tokenizer.to_str())
        tokenizer.add_special_tokens([MARK])
        mark = tokenizer.token_to_id(MARK)
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        return [token for token in ids if token != mark]


def _without_generation(template: str) -> str:
    """The template without what transformers adds to Jinja: where the assistant's words stand."""
    return re.sub(r"(\{%[-+]?\s*(?:end)?)generation(\s*[-+]?%\})", r"\1with\2", template)


def load_tokenizer(name_or_folder: str | os.PathLike) -> PretrainedTokenizer:
    """The tokenizer of a published model.

    Args:
        name_or_folder: as for `load`. A folder needs a tokenizer.json; its format for conversations
            is in tokenizer_config.json or chat_template.jinja.

    Raises:
        FileNotFoundError: there is no such folder, or no tokenizer.json in it.
        ValueError: a file is damaged, or of a kind that is not read.
        ConnectionError: the model is not here, and could not be fetched.
    """
    path = find(name_or_folder)
    if path.is_file():
        return _of_gguf(path)
    if not (path / TOKENIZER).is_file():
        raise FileNotFoundError(f"there is no {TOKENIZER} in {path}")
    try:
        tokenizer = Tokenizer.from_buffer((path / TOKENIZER).read_bytes())
    except ValueError as error:
        what = f"{path / TOKENIZER} is not a tokenizer"
        raise ValueError(f"{what} ({error}); {remedy(path / TOKENIZER)}") from error
    config, template = {}, path / CHAT_TEMPLATE
    if (path / TOKENIZER_CONFIG).is_file():
        config = read_json(path / TOKENIZER_CONFIG)
    named = {key: config[key] for key in NAMED_TOKENS if config.get(key) is not None}
    named = {key: t["content"] if isinstance(t, dict) else t for key, t in named.items()}
    chat_template = config.get("chat_template")
    if isinstance(chat_template, list):  # several, by name
        chat_template = {entry["name"]: entry["template"] for entry in chat_template}.get("default")
    if template.is_file():
        chat_template = template.read_text("utf8")
    return PretrainedTokenizer(
        tokenizer,
        eos_id=tokenizer.token_to_id(named["eos_token"]) if "eos_token" in named else None,
        chat_template=chat_template,
        named_tokens=named,
    )


def _of_gguf(path) -> PretrainedTokenizer:
    """Byte-level byte pairs, in which every digit is a token of its own."""
    settings = read_gguf(path).settings
    try:
        settings.require(**{"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm"})
        settings.require(**{f"tokenizer.ggml.add_{end}_token": False for end in ("bos", "eos")})
        tokens = settings.need("tokenizer.ggml.tokens")
        merges = settings.need("tokenizer.ggml.merges")
        kinds = settings.need("tokenizer.ggml.token_type")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, [tuple(pair.split(" ")) for pair in merges]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    for token, kind in zip(tokens, kinds, strict=True):
        if kind in (CONTROL, ADDED):
            tokenizer.add_tokens([AddedToken(token, special=kind == CONTROL, normalized=False)])
    places = {name: settings.get(f"tokenizer.ggml.{name}_id") for name in NAMED_TOKENS}
    return PretrainedTokenizer(
        tokenizer,
        eos_id=settings.get("tokenizer.ggml.eos_token_id"),
        chat_template=settings.get("tokenizer.chat_template"),
        named_tokens={name: tokens[at] for name, at in places.items() if at is not None},
    )
