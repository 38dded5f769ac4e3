"""The tokenizers of published models: what turns a text into their ids, and back."""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from companion.pretrained.folder import (
    CHAT_TEMPLATE,
    CONFIG,
    GENERATION_CONFIG,
    SPECIAL_TOKENS,
    TOKENIZER,
    TOKENIZER_CONFIG,
    find,
    read_json,
    remedy,
)
from companion.pretrained.gguf_file import read_gguf
from companion.validation import require_text

# The order in which transformers adds those that a vocabulary lacks.
NAMED_TOKENS = [f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")]
GGUF_NAMES = {"unk_token": "unknown_token", "pad_token": "padding_token"}
GGUF_NAMES |= {"sep_token": "seperator_token"}  # spelled so
MARK = "\ufdd0"  # not a character: no text has it
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
CONTROL, ADDED = 3, 4  # GGUF's types of a token that no text is made of, and one beside merges


class PretrainedTokenizer:
    """A published tokenizer, as its model was trained with it. `load_tokenizer` makes one.

    Args:
        tokenizer: of the `tokenizers` library.
        eos_id: the token that ends an answer, or several, for `generate`.
        chat_template: in Jinja: how a conversation is written as one text.
        named_tokens: tokens that the template may ask for, such as {"bos_token": "<s>"}.

    Attributes:
        eos_id: as given; None if the files name no such token.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        eos_id: int | tuple[int, ...] | None = None,
        chat_template: str | None = None,
        named_tokens: Mapping[str, str] | None = None,
    ) -> None:
        tokenizer.no_padding()  # some files ask for a fixed length
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self._chat_template, self._named_tokens = chat_template, dict(named_tokens or {})
        self.eos_id = eos_id
        # What could open a turn, the longest first: no white space, no letter of a vocabulary.
        added = tokenizer.get_added_tokens_decoder().values()
        added = [t for t in added if (t.special or len(t.content) > 1) and not t.content.isspace()]
        self._added = sorted(added, key=lambda token: len(token.content), reverse=True)
        # Their first characters, and halves of characters, which no text has, to stand for these.
        firsts = dict.fromkeys(token.content[0] for token in self._added)
        self._twins = {first: chr(0xD800 + number) for number, first in enumerate(firsts)}

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """The ids of a text, with the special tokens that the model expects (BERT: [CLS], [SEP]).

        A special token that the text spells out, such as "<|im_end|>", becomes that token.

        Raises:
            ValueError: the text contains half of a character (a lone surrogate).
        """
        require_text("text", text)
        return self._tokenizer.encode(text).ids

    def decode(self, token_ids: Iterable[int], *, special_tokens: bool = False) -> str:
        """The text of some ids.

        Args:
            token_ids: integers, or a tensor of one dimension.
            special_tokens: whether special tokens are written out as well.
        """
        ids = [int(token) for token in token_ids]
        return self._tokenizer.decode(ids, skip_special_tokens=not special_tokens)

    def pieces(self, text: str | Iterable[int]) -> list[str]:
        """Each token as it reads alone, special tokens included.

        A token that holds only part of a character reads "\N{REPLACEMENT CHARACTER}".

        Args:
            text: a text, or its ids.
        """
        ids = self.encode(text) if isinstance(text, str) else text
        return [self.decode([token], special_tokens=True) for token in ids]

    def chat(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """The ids of a conversation in the model's own format, up to where its answer begins.

        `decode(ids, special_tokens=True)` shows the format. A special token that a message spells
        out is encoded as ordinary text, so that nobody's words open a turn; in all messages but the
        assistant's the same holds for any other token that was added to the vocabulary, since some
        formats are written with those. To the format itself a message reads as it was written.

        Args:
            messages: {"role": "user", "content": "..."}; the other roles are "system", which comes
                first, and "assistant".

        Raises:
            ValueError: the model has no format for conversations, there is no message or one lacks
                a part, or the format refuses the conversation.
        """
        if self._chat_template is None:
            raise ValueError("this model has no format for conversations; use encode")
        from jinja2 import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment  # a template is somebody's program

        if not messages:
            raise ValueError("a conversation needs at least one message")
        for message in messages:
            parts = message if isinstance(message, Mapping) else {}
            if not all(isinstance(parts.get(key), str) for key in ("role", "content")):
                raise ValueError(f"a message needs the texts 'role' and 'content', got {message!r}")
            for key in ("role", "content"):
                require_text(key, message[key])

        def raise_exception(reason: str):
            raise TemplateError(reason)

        # What transformers gives a template.
        jinja = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        jinja.filters["tojson"] = _as_json
        jinja.globals["raise_exception"] = raise_exception
        jinja.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        try:
            text = jinja.from_string(_without_generation(self._chat_template)).render(
                messages=[self._marked(message) for message in messages],
                tools=None,
                documents=None,
                add_generation_prompt=True,
                **self._named_tokens,
            )
        except (TemplateError, TypeError) as error:
            raise ValueError(f"the model's format refuses the conversation: {error}") from error
        if set(self._twins.values()).isdisjoint(text):
            return self._tokenizer.encode(text, add_special_tokens=False).ids
        return self._encode_marked(text)

    def _marked(self, message: Mapping) -> dict:
        """The message as a format reads it; the twins in it show which tokens are spelled out."""
        tokens = [t.content for t in self._added if t.special or message["role"] != "assistant"]
        mark = _marker(tokens, self._twins)
        return {key: mark(part) for key, part in message.items() if part is not None}

    def _encode_marked(self, text: str) -> list[int]:
        """The ids of a text in which a special token with a twin is ordinary text.

        To a copy of the tokenizer the mark is a token, so that no piece reaches over it, not even
        in a vocabulary that has "</s>" among the pieces of words.
        """
        tokenizer = Tokenizer.from_str(self._tokenizer.to_str())
        tokenizer.encode_special_tokens = self._tokenizer.encode_special_tokens
        tokenizer.add_tokens([AddedToken(MARK, normalized=False)])
        alone = {token.content for token in self._added}  # a character that is a token itself
        first = {f: REPLACEMENT if f in alone else f for f in self._twins}
        spelled = {twin: first[f] + MARK for f, twin in self._twins.items()}
        text = text.replace(MARK, REPLACEMENT).translate(str.maketrans(spelled))
        mark = tokenizer.token_to_id(MARK)
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        return [token for token in ids if token != mark]


ASKS = "__contains__ __eq__ __ne__ __hash__ startswith endswith find rfind index rindex count"
CUTS = "__getitem__ split rsplit splitlines partition rpartition removeprefix removesuffix"
CUTS += " strip lstrip rstrip"


def _marker(tokens: Sequence[str], twins: Mapping[str, str]) -> Callable:
    """mark(text) has the twin of each character at which one of the tokens begins.

    A format that asks for a token finds it nevertheless, and what it cuts out is marked as before.
    mark takes lists and objects of texts, too.
    """
    starts = re.compile(f"(?={'|'.join(map(re.escape, tokens)) or '(?!)'})(?s:.)")
    back = {ord(twin): first for first, twin in twins.items()}

    class Marked(str):
        def __str__(self) -> str:
            return self

        def replace(self, old: str, *new) -> str:
            return Marked(super().replace(mark(old), *new))

    def mark(part):
        if isinstance(part, Mapping):
            return {mark(key): mark(value) for key, value in part.items()}
        if isinstance(part, list | tuple):
            return type(part)(map(mark, part))
        if not isinstance(part, str):
            return part
        text = starts.sub(lambda first: twins[first[0]], part)
        return text if set(twins.values()).isdisjoint(text) else Marked(text)

    def plain(part):
        return part.translate(back) if isinstance(part, str) else part

    def asking(native: Callable) -> Callable:
        return lambda text, *asked: native(plain(text), *map(plain, asked))

    def cutting(native: Callable) -> Callable:
        return lambda text, *at, **limits: mark(native(text, *map(mark, at), **mark(limits)))

    for names, reading in ((ASKS, asking), (CUTS, cutting)):
        for name in names.split():
            setattr(Marked, name, reading(getattr(str, name)))
    return mark


def _as_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False) -> str:
    """Jinja's own filter writes for HTML; this one writes what that of transformers does."""
    options = {"indent": indent, "separators": separators, "sort_keys": sort_keys}
    text = json.dumps(value, ensure_ascii=False, **options)
    if ensure_ascii:  # twins, which are halves of characters, stay
        text = re.sub("[^\0-~\ud800-\udfff]", lambda other: json.dumps(other[0])[1:-1], text)
    return text


def _without_generation(template: str) -> str:
    """The template without what transformers adds to Jinja: where the assistant's words stand."""
    return re.sub(r"(\{%[-+]?\s*(?:end)?)generation(\s*[-+]?%\})", r"\1with\2", template)


def load_tokenizer(name_or_folder: str | os.PathLike) -> PretrainedTokenizer:
    """The tokenizer of a published model.

    Args:
        name_or_folder: as for `load`. A folder needs a tokenizer.json. Its tokenizer_config.json
            may name more tokens, and has the format for conversations, or chat_template.jinja has
            it; generation_config.json (or config.json) may name more tokens that end an answer.

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

    def read(name: str) -> dict:
        return read_json(path / name) if (path / name).is_file() else {}

    config = read(TOKENIZER_CONFIG)
    if "added_tokens_decoder" not in config:  # older folders
        config |= read(SPECIAL_TOKENS)
    generation = read(CONFIG) | read(GENERATION_CONFIG)
    try:
        named = _add_tokens(tokenizer, config)
        end = tokenizer.token_to_id(named.get("eos_token", ""))
        ends = _ends(end, generation.get("eos_token_id"))
        chat_template = _default_template(config.get("chat_template"))
        if (path / CHAT_TEMPLATE).is_file():
            chat_template = (path / CHAT_TEMPLATE).read_text("utf8")
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{path} says of its tokens what cannot be read ({error!r})") from error
    return PretrainedTokenizer(
        tokenizer, eos_id=ends, chat_template=chat_template, named_tokens=named
    )


def _add_tokens(tokenizer: Tokenizer, config: Mapping) -> dict[str, str]:
    """Add the tokens that the configuration alone has, as transformers does; return the named."""
    tokenizer.encode_special_tokens = config.get("split_special_tokens", False)
    extra = config.get("extra_special_tokens") or config.get("additional_special_tokens") or []
    names = [*NAMED_TOKENS, *(name for name in config if name.endswith("_token"))]
    named = {name: config[name] for name in names if isinstance(config.get(name), str | dict)}
    if isinstance(extra, dict):  # they have names, too
        named, extra = named | extra, []
    if not isinstance(extra, list):
        raise ValueError(f"extra_special_tokens must be a list or an object, got {extra!r}")
    special = [_token(token) for token in (*named.values(), *extra)]
    contents = {token.content for token in special}
    entries = config.get("added_tokens_decoder", {})
    added = [entries[number] for number in sorted(entries, key=int)]
    tokenizer.add_tokens(
        [_token(t, t.get("special", False) or t["content"] in contents) for t in added]
    )
    held = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    tokenizer.add_tokens([token for token in special if token.content not in held])
    return {name: _token(token).content for name, token in named.items()}


def _token(token: str | dict, special: bool = True) -> AddedToken:
    entry = {"content": token} if isinstance(token, str) else dict(token)
    entry.pop("__type", None)
    return AddedToken(entry.pop("content"), **entry | {"special": special})


def _default_template(template) -> str | None:
    """The format for conversations, or of several, by name, the usual one."""
    if isinstance(template, list):
        template = {entry["name"]: entry["template"] for entry in template}
    if isinstance(template, dict):
        template = template.get("default")
    if not isinstance(template, str | None):
        raise ValueError(f"chat_template must be a text, or texts by name, got {template!r}")
    return template


def _ends(*found) -> int | tuple[int, ...] | None:
    """What ends an answer, from ids and lists of ids: one token, several, or None."""
    ids = [end for each in found for end in (each if isinstance(each, list) else [each])]
    if odd := [end for end in ids if not isinstance(end, int | None)]:
        raise ValueError(f"eos_token_id must be an int or a list of them, got {odd[0]!r}")
    ends = tuple(dict.fromkeys(end for end in ids if end is not None and end >= 0))
    return ends if len(ends) > 1 else next(iter(ends), None)


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
    places = {
        name: settings.get(f"tokenizer.ggml.{GGUF_NAMES.get(name, name)}_id")
        for name in (*NAMED_TOKENS, "eot_token", "eom_token")  # they end a turn, or a message
    }
    return PretrainedTokenizer(
        tokenizer,
        eos_id=_ends(*(places[f"{end}_token"] for end in ("eos", "eot", "eom"))),
        chat_template=settings.get("tokenizer.chat_template"),
        named_tokens={name: tokens[at] for name, at in places.items() if at is not None},
    )
