"""Checks for the project of book/own_language_model.ipynb: the reader's own file, part by part."""

import dis
import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import CodeType, FunctionType, ModuleType

import torch
from torch import nn
from torch.nn import functional as F

from companion import own_language_model as ours
from companion.checks.exercise import Mistake, Rung, exercise, ladder

OURS = ours.__name__


def check_own_work(answer: Callable) -> None:
    """Raise where an answer rests on the book's ready-made parts.

    Raises:
        Mistake: it is ours, or it uses something of `companion` other than `own_language_model`.
    """
    if getattr(answer, "__module__", "") == OURS:
        raise Mistake(
            "this is ours; write your own, and take ours only to go on to the next step",
            f"{answer.__name__} comes from {OURS}",
        )
    for function in _functions(answer):
        for name, module in _used(function):
            if module.split(".")[0] == "companion" and module != OURS:
                raise Mistake(
                    f"it uses {name} of {module}; this file needs nothing but torch",
                    f"in {function.__qualname__}",
                )


def _functions(answer) -> Iterator[FunctionType]:
    if inspect.isfunction(answer):
        yield answer
    elif inspect.isclass(answer):
        for member in vars(answer).values():
            yield from _functions(getattr(member, "__func__", member))


def _used(function: FunctionType) -> Iterator[tuple[str, str]]:
    """What a function takes from its module, or imports: (name, module that it comes from)."""
    todo: list[CodeType] = [function.__code__]
    while todo:
        code = todo.pop()
        todo += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        for step in dis.get_instructions(code):
            if step.opname == "IMPORT_NAME":
                yield step.argval, step.argval
            elif step.opname == "LOAD_GLOBAL":
                thing = function.__globals__.get(step.argval)
                own_name = thing.__name__ if isinstance(thing, ModuleType) else None
                yield step.argval, own_name or getattr(thing, "__module__", None) or ""


@exercise
def tokenizer(answer) -> str:
    """Check `Tokenizer(text, vocab_size)` with `encode(text)`, `decode(tokens)` and its length.

    Tokens 0 to 255 are bytes, 256 is the end, each further one is a merge.
    """
    check_own_work(answer)
    ladder(TOKENIZER_RUNGS, ours.Tokenizer, Tokenizer=answer)
    return "bytes alone, merges by hand, ties, overlaps, words, accents, and running out of pairs"


class _AcrossWords(ours.Tokenizer):
    """Merges reach over spaces, since the text is one word."""

    class words:
        @staticmethod
        def findall(text: str) -> list[str]:
            return [text]


class _FromTheLeft(ours.Tokenizer):
    """Encoding takes the leftmost pair that has been merged at all."""

    def _encode_word(self, word: str) -> list[int]:
        tokens, i = list(word.encode()), 0
        while i < len(tokens) - 1:
            pair = tokens[i], tokens[i + 1]
            if pair in self.merges:
                tokens[i : i + 2] = [self.merges[pair]]
                i = 0
            else:
                i += 1
        return tokens


class _Characters(ours.Tokenizer):
    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text]


class _AppendsEnd(ours.Tokenizer):
    def encode(self, text: str) -> list[int]:
        return [*super().encode(text), self.end]


class _OneTooMany(ours.Tokenizer):
    def __init__(self, text: str, vocab_size: int):
        super().__init__(text, vocab_size + 1)


class _NewestFirst(ours.Tokenizer):
    """Encoding goes through the merges once, from the last to the first."""

    def _encode_word(self, word: str) -> list[int]:
        tokens = list(word.encode())
        for pair, new in reversed(self.merges.items()):
            tokens = ours.merge(tokens, pair, new)
        return tokens


class _OncePerWord(ours.Tokenizer):
    """A pair that stands twice in a word is counted once."""

    def __init__(self, text: str, vocab_size: int):
        super().__init__("", 257)
        words = [list(word.encode()) for word in self.words.findall(text)]
        while len(self.pieces) < vocab_size:
            pairs = Counter(pair for word in words for pair in {*pairwise(word)})
            if not pairs:
                break
            best = min(pairs, key=lambda pair: (-pairs[pair], pair))
            self.merges[best] = len(self.pieces)
            self.pieces.append(self.pieces[best[0]] + self.pieces[best[1]])
            words = [ours.merge(word, best, self.merges[best]) for word in words]


class _DecodesEach(ours.Tokenizer):
    def decode(self, tokens: list[int]) -> str:
        return "".join(self.pieces[token].decode(errors="replace") for token in tokens)


TOKENIZER_RUNGS = [
    Rung(
        "without a merge, the tokens of a text are its bytes",
        'Tokenizer("", 257).encode("ab")',
        {"encode appends the end; a text's tokens are those of its words alone": _AppendsEnd},
    ),
    Rung(
        "without a merge there are 256 bytes and the end",
        'len(Tokenizer("", 257))',
    ),
    Rung(
        "a letter with an accent is two bytes, and both are tokens",
        'Tokenizer("", 257).encode("é")',
        {"the tokens are the numbers of characters, not of bytes": _Characters},
    ),
    Rung(
        "vocab_size counts the bytes and the end, too: with 258 there is one merge",
        'len(Tokenizer("abab", 258))',
        {"one token too many is learned; stop at vocab_size": _OneTooMany},
    ),
    Rung(
        "the most frequent pair is merged, and becomes token 257",
        'Tokenizer("abab cb", 258).encode("cab")',
        {"a pair is counted once for each word, however often it stands in it": _OncePerWord},
    ),
    Rung(
        "a pair counts as often as its word stands in the text",
        'Tokenizer("xy\\nzz\\nzz\\nzz", 258).encode("zzxy")',
        {"merges reach across words": _AcrossWords},
    ),
    Rung(
        "a pair that stands twice in a word is merged at both places",
        'Tokenizer("ab", 258).encode("abab")',
    ),
    Rung(
        "a merged token takes part in the next merge",
        'Tokenizer("abc abc abc", 259).encode("abc")',
        {
            "the merges are made from the last to the first; begin with the one that was learned "
            "first": _NewestFirst,
        },
    ),
    Rung(
        "a pair that stands twice in a word is merged at both places while learning, too: then "
        "the word is the same token twice, and these two are the next pair",
        'Tokenizer("abab", 259).encode("abab")',
    ),
    Rung(
        "of equally frequent pairs, the one with the older left token comes first, then the one "
        "with the older right token",
        'Tokenizer("bd\\nac", 258).encode("bdac")',
    ),
    Rung(
        "three equal letters hold one pair after the other: the left two are merged",
        'Tokenizer("aa aa", 258).encode("aaa")',
    ),
    Rung(
        "when every word is one token, there is nothing left to merge",
        'len(Tokenizer("ab ab", 1000))',
    ),
    Rung(
        "no token reaches from one word into the next; the space belongs to the word behind it",
        'Tokenizer("a b a b a b a b", 400).encode("a b")',
        {"merges reach across words": _AcrossWords},
    ),
    Rung(
        "a text is encoded word by word: two spaces are a word, and no merge reaches out of it",
        'Tokenizer(" a a a", 258).encode("  a")',
    ),
    Rung(
        "encoding makes the merges in the order in which they were learned",
        'Tokenizer("bc\\nbc\\nbc\\nab\\nab", 259).encode("abc")',
        {"the leftmost known pair is merged, not the one that was learned first": _FromTheLeft},
    ),
    Rung(
        "what is decoded is what was encoded",
        'Tokenizer("the cat the hat", 270).decode(Tokenizer("the cat the hat", 270)'
        '.encode("that café, the chat"))',
        {"each token is decoded by itself; put the bytes of all together first": _DecodesEach},
    ),
]


@exercise
def norm(answer) -> str:
    """Check `RMSNorm(d)`: x over the root of its mean square, times the learned `gain`."""
    check_own_work(answer)
    ladder(NORM_RUNGS, ours.RMSNorm, RMSNorm=answer)
    return "two numbers by hand, a mean that is not zero, small vectors, batches, and the gain"


def _norm_like(compute: Callable) -> type:
    return type("Wrong", (ours.RMSNorm,), {"forward": lambda self, x: self.gain * compute(x)})


def _plain_norm(x):
    return F.rms_norm(x, x.shape[-1:], eps=1e-6)


def _with_gain(compute: Callable) -> type:
    return type("Wrong", (ours.RMSNorm,), {"forward": lambda self, x: compute(x, self.gain)})


class _GainOfZeros(ours.RMSNorm):
    def __init__(self, d: int):
        super().__init__(d)
        nn.init.zeros_(self.gain)


NORM_RUNGS = [
    Rung(
        "the mean square of 1 and 7 is 25, so the result is 0.2 and 1.4",
        "RMSNorm(2)(torch.tensor([1.0, 7.0]))",
        {
            "the gain begins at 0, which leaves nothing; let it begin at 1": _GainOfZeros,
            "the mean is taken away as well; that is a layer norm": _norm_like(
                lambda x: F.layer_norm(x, x.shape[-1:])
            ),
            "the sum of squares, not their mean, is under the root": _norm_like(
                lambda x: x / x.square().sum(-1, keepdim=True).sqrt()
            ),
            "the gain is added; it multiplies": _with_gain(lambda x, gain: gain + _plain_norm(x)),
            "the root is missing": _norm_like(lambda x: x / x.square().mean(-1, keepdim=True)),
        },
    ),
    Rung(
        "each vector of a batch has its own root mean square",
        "RMSNorm(2)(torch.tensor([[[1.0, 7.0], [10.0, 70.0]]]))",
        {"one root for everything": _norm_like(lambda x: x / x.square().mean().sqrt())},
    ),
    Rung("a vector of zeros stays one", "RMSNorm(2)(torch.zeros(2))"),
    Rung(
        "only 1e-6 is added to the mean square: a small vector is brought to size, too",
        "RMSNorm(2)(torch.tensor([0.02, 0.14]))",
    ),
    Rung(
        "1e-6 is added under the root, where it counts for very small vectors",
        "RMSNorm(2)(torch.tensor([0.0002, 0.0014]))",
        {
            "1e-6 is added behind the root; add it under the root": _norm_like(
                lambda x: x / (x.square().mean(-1, keepdim=True).sqrt() + 1e-6)
            ),
        },
    ),
    Rung(
        "there is one gain for each entry, and it multiplies",
        "layer = RMSNorm(2)\nlayer.gain.data = torch.tensor([3.0, -2.0])\n"
        "layer(torch.tensor([1.0, 7.0]))",
        {
            "the gain is not used": _with_gain(lambda x, gain: _plain_norm(x)),
            "the gain goes into the norm, which takes it out again; multiply what comes out": (
                _with_gain(lambda x, gain: _plain_norm(gain * x))
            ),
        },
    ),
    Rung(
        "every entry has a gain of its own: as many numbers are learned as there are entries",
        "RMSNorm(5).gain.numel()",
    ),
    Rung(
        "the gain is learned: it is a parameter",
        '" ".join(name for name, _ in RMSNorm(2).named_parameters())',
    ),
]


@exercise
def rope(answer) -> str:
    """Check `rotate(x, start=0)`: the pairs of x (B, H, T, d_k), turned by their position."""
    check_own_work(answer)
    ladder(ROPE_RUNGS, ours.rotate, rotate=answer)
    return "the first position, a right angle, several speeds, a start, and distances alone"


def _rope_like(
    angle: Callable = lambda t, i, d_k: t * 10_000 ** (-2 * i / d_k),
    interleaved=False,
    turn: Callable = lambda a, b, cos, sin: (a * cos - b * sin, a * sin + b * cos),
) -> Callable:
    def rotate(x, start=0):
        T, d_k = x.shape[-2:]
        t = torch.arange(start, start + T)[:, None]
        turned = angle(t, torch.arange(d_k // 2), d_k)
        a, b = (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
        pair = turn(a, b, turned.cos(), turned.sin())
        return torch.stack(pair, -1).flatten(-2) if interleaved else torch.cat(pair, -1)

    return rotate


ROPE_RUNGS = [
    Rung(
        "position 0 is not turned",
        "rotate(torch.tensor([[[[1.0, 2.0, 3.0, 4.0]]]]))",
        {
            "positions begin at 1; the first one is 0": _rope_like(
                lambda t, i, d_k: (t + 1) * 10_000 ** (-2 * i / d_k)
            ),
            "a sign: the second entry of a pair becomes a · sin + b · cos": _rope_like(
                turn=lambda a, b, cos, sin: (a * cos - b * sin, a * sin - b * cos)
            ),
        },
    ),
    Rung(
        "the only pair of two entries turns by 1 at each position",
        "rotate(torch.tensor([[[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]]]))",
        {
            "it turns the other way": _rope_like(
                turn=lambda a, b, cos, sin: (a * cos + b * sin, b * cos - a * sin)
            ),
            "the angles are taken for degrees; they are radians": _rope_like(
                lambda t, i, d_k: (t * 10_000 ** (-2 * i / d_k)).deg2rad()
            ),
            "positions run along the heads; they run along axis 2": lambda x, start=0: ours.rotate(
                x.transpose(1, 2), start
            ).transpose(1, 2),
            "start is taken for the last position; it is the first": lambda x, start=0: ours.rotate(
                x, start - x.shape[2] + 1
            ),
        },
    ),
    Rung(
        "entry i is paired with entry i + d_k / 2, and later pairs turn more slowly",
        "rotate(torch.tensor([[[[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], "
        "[0.0, 1.0, 0.0, 0.0]]]]))",
        {
            "neighbouring entries are paired": _rope_like(interleaved=True),
            "all pairs turn at the same speed": _rope_like(lambda t, i, d_k: t * (i * 0 + 1.0)),
            "the speeds fall half as fast as they should; the exponent is −2i / d_k": _rope_like(
                lambda t, i, d_k: t * 10_000 ** (-i / d_k)
            ),
            "the base of the speeds is 1,000; it should be 10,000": _rope_like(
                lambda t, i, d_k: t * 1000 ** (-2 * i / d_k)
            ),
        },
    ),
    Rung(
        "the first position is start",
        "rotate(torch.tensor([[[[1.0, 0.0, 0.0, 1.0]]]]), 5)",
        {
            "start is left out": lambda x, start=0: ours.rotate(x),
            "a sign: the first entry of a pair becomes a · cos − b · sin": _rope_like(
                turn=lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)
            ),
        },
    ),
    Rung("batches and heads are turned alike", "rotate(torch.randn(2, 3, 5, 8), 2)"),
]

# Weights that anybody can make again, whatever the layer was initialised with.
SET = (
    "for i, p in enumerate({0}.parameters()):\n"
    "    p.data = (torch.arange(p.numel()) + i).sin().view_as(p)\n"
)


@exercise
def attention(answer) -> str:
    """Check `Attention(d, heads)`: causal, in heads, with RoPE, and with a cache."""
    check_own_work(answer)
    ladder(ATTENTION_RUNGS, ours.Attention, Attention=answer)
    return "one position, two heads, the past alone, distances, and caches filled in several ways"


def _attention_like(
    mask: Callable = lambda T, past: torch.ones(T, past + T, dtype=torch.bool).tril(past),
    turn: Callable = lambda q, k, v, past: (ours.rotate(q, past), ours.rotate(k, past), v),
    scale: Callable = lambda d_k: d_k**-0.5,
    split: Callable = lambda x, heads: x.view(*x.shape[:2], 3, heads, -1).permute(2, 0, 3, 1, 4),
    merge: Callable = lambda y: y.transpose(1, 2).flatten(2),
    join: Callable = lambda old, new: torch.cat([old, new], 2),
    keep: Callable = lambda cache, k, v, unturned: cache.update(k=k, v=v),
    out: Callable = lambda layer, y: layer.out(y),
) -> type:
    class Wrong(ours.Attention):
        def forward(self, x, cache=None):
            q, k, v = split(self.qkv(x), self.heads)
            past = cache["k"].shape[2] if cache else 0
            unturned = k
            q, k, v = turn(q, k, v, past)
            if past:
                k, v = join(cache["k"], k), join(cache["v"], v)
            if cache is not None:
                keep(cache, k, v, unturned)
            scores = q @ k.mT * scale(k.shape[-1])
            seen = mask(x.shape[1], past)
            weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
            return out(self, merge(weights @ v))

    return Wrong


def _late(x: torch.Tensor, past: int) -> torch.Tensor:
    return ours.rotate(x, 0)


def _keep_unturned(cache: dict, k: torch.Tensor, v: torch.Tensor, unturned: torch.Tensor) -> None:
    cache.update(k=torch.cat([k[:, :, : -unturned.shape[2]], unturned], 2), v=v)


def _keep_the_newest(cache: dict, k: torch.Tensor, v: torch.Tensor, unturned: torch.Tensor) -> None:
    past = cache["k"].shape[2] if cache else 0
    cache.update(k=k[:, :, past:], v=v[:, :, past:])


A = f"layer = Attention(4, 1)\n{SET.format('layer')}"
A2 = f"layer = Attention(8, 2)\n{SET.format('layer')}"

ATTENTION_RUNGS = [
    Rung(
        "one position sees itself alone",
        f"x = torch.randn(1, 1, 4)\n{A}layer(x)",
        {"the output matrix `out` is not used": _attention_like(out=lambda layer, y: y)},
    ),
    Rung(
        "a position sees itself and what is before it",
        f"x = torch.randn(1, 3, 4)\n{A}layer(x)",
        {
            "the future is seen": _attention_like(
                mask=lambda T, past: torch.ones(T, past + T, dtype=torch.bool)
            ),
            "a position does not see itself": _attention_like(
                mask=lambda T, past: (
                    torch.ones(T, past + T, dtype=torch.bool).tril(past - 1)
                    | (torch.arange(T)[:, None] == 0)
                )
            ),
            "keys come first, then queries; the projection makes q, k, v in this order": (
                _attention_like(
                    split=lambda x, heads: x.view(*x.shape[:2], 3, heads, -1).permute(
                        2, 0, 3, 1, 4
                    )[[1, 0, 2]]
                )
            ),
            "queries and keys are not turned": _attention_like(
                turn=lambda q, k, v, past: (q, k, v)
            ),
            "the queries are turned, the keys are not": _attention_like(
                turn=lambda q, k, v, past: (ours.rotate(q, past), k, v)
            ),
            "the values are turned as well": _attention_like(
                turn=lambda q, k, v, past: tuple(ours.rotate(x, past) for x in (q, k, v))
            ),
            "the scores are not divided by √d_k": _attention_like(scale=lambda d_k: 1.0),
            "the scores are divided by d_k, not by its root": _attention_like(
                scale=lambda d_k: 1 / d_k
            ),
        },
    ),
    Rung(
        "each head has its own part of q, k and v, and the parts are put side by side again",
        f"x = torch.randn(2, 3, 8)\n{A2}layer(x)",
        {
            "the scores are divided by √d; each head is only d / heads wide": _attention_like(
                scale=lambda d_k: (2 * d_k) ** -0.5
            ),
            "heads and positions are mixed up: transpose, then flatten": _attention_like(
                merge=lambda y: y.reshape(y.shape[0], y.shape[2], -1)
            ),
        },
    ),
    Rung(
        "an empty cache changes nothing, and afterwards it holds the keys and values",
        f"x = torch.randn(1, 3, 4)\n{A}cache = {{}}\ny = layer(x, cache)\n"
        "(y, *[x.shape[2] for x in cache.values()])",
        {
            "the cache stays empty": _attention_like(keep=lambda cache, k, v, unturned: None),
            "only the newest key is kept": _attention_like(
                keep=lambda cache, k, v, unturned: cache.update(k=k[:, :, -1:], v=v[:, :, -1:])
            ),
        },
    ),
    Rung(
        "one position more, with the cache: it sees all before it, at its own place",
        f"x = torch.randn(1, 4, 4)\n{A}cache = {{}}\nbefore = layer(x[:, :3], cache)\n"
        "layer(x[:, 3:], cache)",
        {
            "the new position is turned as if it were the first": _attention_like(
                turn=lambda q, k, v, past: (_late(q, past), _late(k, past), v)
            ),
            "the cache holds unturned keys, and nobody turns them later": _attention_like(
                keep=_keep_unturned
            ),
            "with a cache, a new query sees the first key only": _attention_like(
                mask=lambda T, past: torch.ones(T, past + T, dtype=torch.bool).tril()
            ),
        },
    ),
    Rung(
        "the cache grows with every step: the second new position sees all before it, too",
        f"x = torch.randn(1, 5, 4)\n{A}cache = {{}}\n"
        "before = layer(x[:, :3], cache), layer(x[:, 3:4], cache)\nlayer(x[:, 4:], cache)",
        {
            "only the newest keys and values are kept; the cache must grow with every step": (
                _attention_like(keep=_keep_the_newest)
            ),
        },
    ),
    Rung(
        "several positions at once on top of a cache: none sees those behind it",
        f"x = torch.randn(2, 7, 8)\n{A2}cache = {{}}\n"
        "torch.cat([layer(piece, cache) for piece in x.split([2, 4, 1], dim=1)], dim=1)",
        {
            "new keys stand in front of the old ones; put them behind": _attention_like(
                join=lambda old, new: torch.cat([new, old], 2)
            ),
            "on top of a cache, several new positions see each other": _attention_like(
                mask=lambda T, past: (
                    torch.ones(T, past + T, dtype=torch.bool)
                    if past
                    else torch.ones(T, T, dtype=torch.bool).tril()
                )
            ),
        },
    ),
]


@exercise
def gate(answer) -> str:
    """Check `SwiGLU(d)`: down(silu(gate(x)) * up(x))."""
    check_own_work(answer)
    ladder(GATE_RUNGS, ours.SwiGLU, SwiGLU=answer)
    return "one vector, a batch, and zeros"


def _gate_like(compute: Callable) -> type:
    return type("Wrong", (ours.SwiGLU,), {"forward": compute})


S = f"layer = SwiGLU(3)\n{SET.format('layer')}"
GATE_RUNGS = [
    Rung(
        "zeros give zeros, since there is no bias",
        f"{S}layer(torch.zeros(3))",
        {
            "`down` is not used": _gate_like(lambda self, x: F.silu(self.gate(x)) * self.up(x)),
        },
    ),
    Rung(
        "the gate goes through SiLU, then multiplies what `up` gives",
        f"{S}layer(torch.tensor([1.0, -2.0, 0.5]))",
        {
            "`up` goes through SiLU, not the gate": _gate_like(
                lambda self, x: self.down(self.gate(x) * F.silu(self.up(x)))
            ),
            "the gate is a sigmoid; SiLU is x · sigmoid(x)": _gate_like(
                lambda self, x: self.down(self.gate(x).sigmoid() * self.up(x))
            ),
            "there is no non-linearity": _gate_like(
                lambda self, x: self.down(self.gate(x) * self.up(x))
            ),
            "gate and `up` are added; they are multiplied": _gate_like(
                lambda self, x: self.down(F.silu(self.gate(x)) + self.up(x))
            ),
            "`up` goes through SiLU as well; only the gate does": _gate_like(
                lambda self, x: self.down(F.silu(self.gate(x)) * F.silu(self.up(x)))
            ),
            "SiLU is taken of the product; take it of the gate alone": _gate_like(
                lambda self, x: self.down(F.silu(self.gate(x) * self.up(x)))
            ),
            "the gate goes through GELU, not SiLU": _gate_like(
                lambda self, x: self.down(F.gelu(self.gate(x)) * self.up(x))
            ),
            "the gate goes through ReLU, not SiLU": _gate_like(
                lambda self, x: self.down(self.gate(x).relu() * self.up(x))
            ),
            "x is added; the block does that, not this layer": _gate_like(
                lambda self, x: x + ours.SwiGLU.forward(self, x)
            ),
            "`up` is not used": _gate_like(lambda self, x: self.down(F.silu(self.gate(x)))),
            "`gate` is not used": _gate_like(lambda self, x: self.down(F.silu(self.up(x)))),
            "the gate multiplies itself; it multiplies what `up` gives": _gate_like(
                lambda self, x: self.down(F.silu(self.gate(x)) * self.gate(x))
            ),
            "the gate goes through tanh, not SiLU": _gate_like(
                lambda self, x: self.down(self.gate(x).tanh() * self.up(x))
            ),
        },
    ),
    Rung("every position is treated alike", f"x = torch.randn(2, 3, 3)\n{S}layer(x)"),
]


@exercise
def model(answer) -> str:
    """Check `LanguageModel(vocab_size, d, layers, heads)`: ids (B, T) to logits."""
    check_own_work(answer)
    ladder(MODEL_RUNGS, ours.LanguageModel, LanguageModel=answer)
    return "no block, two blocks, tied weights, rows that have ended, and a cache"


def _model_like(
    embed: Callable = lambda model, ids: model.norm_in(model.embedding(ids.clamp(min=0))),
    blocks: Callable = lambda model: model.blocks,
    out: Callable = lambda model, x: model.norm_out(x) @ model.embedding.weight.T,
    part: Callable = lambda cache, number: cache[number],
    through: Callable = lambda block, x, cache: block(x, cache),
) -> type:
    class Wrong(ours.LanguageModel):
        def forward(self, ids, cache=None):
            x = embed(self, ids)
            for number, block in enumerate(blocks(self)):
                x = through(block, x, None if cache is None else part(cache, number))
            return out(self, x)

    return Wrong


M = f"model = LanguageModel(5, 8, {{layers}}, 2)\n{SET.format('model')}"
MODEL_RUNGS = [
    Rung(
        "without a block: embed, norm, norm again, and multiply by the embedding",
        f"{M.format(layers=0)}model(torch.tensor([[3]]))",
        {
            "the embedding is not normed": _model_like(
                embed=lambda model, ids: model.embedding(ids.clamp(min=0))
            ),
            "the last norm is missing": _model_like(
                out=lambda model, x: x @ model.embedding.weight.T
            ),
            "`norm_in` is used at both ends; the last norm is `norm_out`": _model_like(
                out=lambda model, x: model.norm_in(x) @ model.embedding.weight.T
            ),
            "these are probabilities; return the logits": _model_like(
                out=lambda model, x: (model.norm_out(x) @ model.embedding.weight.T).softmax(-1)
            ),
        },
    ),
    Rung(
        "the embedding is the output matrix, too: there is one such matrix",
        f"{M.format(layers=1)}sum(p.shape == (5, 8) for p in model.parameters())",
    ),
    Rung(
        "every block works on what the one before it gives",
        f"{M.format(layers=2)}model(torch.tensor([[3, 1, 4, 1]]))",
        {
            "only one block is used": _model_like(blocks=lambda model: list(model.blocks)[:1]),
            "the blocks are gone through from the last to the first": _model_like(
                blocks=lambda model: list(model.blocks)[::-1]
            ),
            "a block's output is added to x; the block has done that already": _model_like(
                through=lambda block, x, cache: x + block(x, cache)
            ),
        },
    ),
    Rung(
        "−1 stands where a row has ended; it is read like token 0",
        f"{M.format(layers=1)}model(torch.tensor([[3, 1], [2, -1]]))[1]",
    ),
    Rung(
        "with a cache, piece by piece, the logits are those of one pass",
        f"{M.format(layers=2)}ids = torch.tensor([[3, 1, 4, 1, 2]])\n"
        "cache = model.empty_cache()\n"
        "torch.cat([model(piece, cache) for piece in ids.split(2, dim=1)], dim=1)",
        {
            "all blocks share one cache; each has its own": _model_like(
                part=lambda cache, number: cache[0]
            ),
            "the cache is not handed on to the blocks": _model_like(
                part=lambda cache, number: None
            ),
        },
    ),
]


@exercise
def loop(answer) -> str:
    """Check `train(model, batch, steps, peak)` -> the loss of every step."""
    check_own_work(answer)
    ladder(LOOP_RUNGS, _trained, train=answer)
    return "the first loss, rows that have ended, several steps, a long gradient and the schedule"


def _trained(
    model,
    batch,
    steps,
    peak=0.01,
    *,
    target=lambda ids: ids[:, 1:],
    zero=True,
    clip=1.0,
    rate=ours.learning_rate,
    average=lambda loss, there: loss.sum() / there.sum(),
    number=lambda step: step,
):
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.02)
    losses = []
    for step in range(steps):
        ids = batch(number(step))
        wanted = target(ids)
        logp = model(ids[:, :-1]).log_softmax(-1)
        there = wanted != ours.NOTHING
        loss = -logp.gather(-1, wanted.clamp(min=0)[..., None])[..., 0] * there
        loss = average(loss, there)
        losses.append(loss.item())
        if zero:
            optimizer.zero_grad()
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        for group in optimizer.param_groups:
            group["lr"] = rate(step, steps, peak)
        optimizer.step()
    return losses


def _train_like(**changes) -> Callable:
    def train(model, batch, steps, peak=0.01):
        return _trained(model, batch, steps, peak, **changes)

    return train


PAIRS = """\
class Pairs(torch.nn.Embedding):  # a table of pairs is a model, too
    def __init__(self):
        super().__init__(4, 4)
        self.weight.data = torch.arange(16).sin().view(4, 4)
    def forward(self, ids):
        return super().forward(ids.clamp(min=0))
"""
LOOP_RUNGS = [
    Rung(
        "the loss at a position is minus the log-probability of the next token; take the mean",
        f"{PAIRS}ids = torch.tensor([[0, 1, 3]])\ntrain(Pairs(), lambda step: ids, 1)",
        {
            "the token that was read is predicted, not the next one": _train_like(
                target=lambda ids: ids[:, :-1]
            ),
            "the losses are added up; take their mean": _train_like(
                average=lambda loss, there: loss.sum()
            ),
            "only the last loss is returned; return a list with one of each step": (
                lambda *arguments: _trained(*arguments)[-1]
            ),
        },
    ),
    Rung(
        "−1 is no target: a row that has ended has no loss, and does not count in the mean",
        f"{PAIRS}ids = torch.tensor([[0, 1, 3], [2, 1, -1]])\ntrain(Pairs(), lambda step: ids, 1)",
        {
            "what is missing counts in the mean": _train_like(
                average=lambda loss, there: loss.mean()
            ),
            "a mean of the rows' means; every token counts the same": _train_like(
                average=lambda loss, there: (loss.sum(1) / there.sum(1)).mean()
            ),
        },
    ),
    Rung(
        "step number k trains on batch(k), the first being batch(0)",
        f"{PAIRS}class Told:\n    steps = []\nids = torch.tensor([[0, 1, 3]])\n"
        "losses = train(Pairs(), lambda step: Told.steps.append(step) or ids, 3)\nTold.steps",
        {"the steps are counted from 1": _train_like(number=lambda step: step + 1)},
    ),
    Rung(
        "every step begins with fresh gradients, and learning_rate(step, steps, peak) is its rate",
        f"{PAIRS}ids = torch.tensor([[0, 1, 3], [2, 2, 1]])\n"
        "train(Pairs(), lambda step: ids + (step > 20) * torch.tensor([[0], [1]]), 60, 2.0)",
        {
            "gradients of earlier steps are still there: call zero_grad": _train_like(zero=False),
            "the rate stays at its peak": _train_like(rate=lambda step, steps, peak: peak),
            "the weights never change: call optimizer.step()": _train_like(
                rate=lambda step, steps, peak: 0.0
            ),
            "the rate is that of step + 1; the first step is step 0": _train_like(
                rate=lambda step, steps, peak: ours.learning_rate(step + 1, steps, peak)
            ),
            "the rate is set after the step; set it before": _train_like(
                rate=lambda step, steps, peak: (
                    ours.learning_rate(step - 1, steps, peak) if step else 1e-3  # AdamW's own
                )
            ),
        },
    ),
    Rung(
        "the gradient is clipped to length 1",
        f"{PAIRS}big = lambda step: torch.tensor([[step % 4, 1, 3]])\n"
        "class Loud(Pairs):\n    def forward(self, ids):\n"
        "        return (20 if ids[0, 0] == 0 else 1) * super().forward(ids)\n"
        "train(Loud(), big, 60, 0.3)",
        {"the gradient is not clipped": _train_like(clip=None)},
    ),
    Rung(
        "losses are plain numbers: a tensor with a history would keep every step in memory",
        f"{PAIRS}ids = torch.tensor([[0, 1, 3]])\n"
        "losses = train(Pairs(), lambda step: ids, 2)\n"
        "sum(torch.as_tensor(loss).requires_grad for loss in losses)",
    ),
]


@exercise
def probabilities(answer) -> str:
    """Check `next_probabilities(logits, temperature, top_k, top_p)`."""
    check_own_work(answer)
    ladder(PROBABILITY_RUNGS, ours.next_probabilities, next_probabilities=answer)
    return "softmax, heat and cold, both cuts alone and together, batches, and no cut at all"


def _probabilities_like(
    heat: Callable = lambda z, t: z / t,
    over: Callable = lambda p, top_p: p.cumsum(-1) - p >= top_p,
    rescaled: str = "kp",
    keep: Callable = lambda k: k,
) -> Callable:
    def wrong(logits, temperature=1.0, top_k=None, top_p=None):
        p, order = heat(logits, temperature).softmax(-1).sort(-1, descending=True)
        if top_k is not None:
            p[..., keep(top_k) :] = 0
            p = p / p.sum(-1, keepdim=True) if "k" in rescaled else p
        if top_p is not None:
            p = p.masked_fill(over(p, top_p), 0)
            p = p / p.sum(-1, keepdim=True) if "p" in rescaled else p
        return torch.zeros_like(p).scatter(-1, order, p)

    return wrong


def _top_p_first(logits, temperature=1.0, top_k=None, top_p=None):
    p = ours.next_probabilities(logits, temperature, None, top_p)
    return ours.next_probabilities(p.log(), 1.0, top_k)


Z = "z = torch.tensor([0.5, 0.1, 0.4]).log()\n"
PROBABILITY_RUNGS = [
    Rung(
        "temperature 1 and no cut: a softmax",
        f"{Z}next_probabilities(z)",
        {
            "the result is in the order of probability; bring it back to the tokens' places": (
                lambda logits: logits.softmax(-1).sort(descending=True).values
            ),
        },
    ),
    Rung(
        "the logits are divided by the temperature, before the softmax",
        f"{Z}next_probabilities(z, 0.5)",
        {
            "the logits are multiplied by the temperature; divide": _probabilities_like(
                heat=lambda z, t: z * t
            ),
            "the temperature does nothing": _probabilities_like(heat=lambda z, t: z),
        },
    ),
    Rung(
        "top-k with k = 1 leaves the most probable token, with probability 1",
        f"{Z}next_probabilities(z, 1.0, 1)",
        {
            "the least probable tokens are kept": lambda logits, temperature, top_k: (
                ours.next_probabilities(-logits, temperature, top_k)
            ),
            "top-k is not used": _probabilities_like(keep=lambda k: 99),
            "one token too many is kept": _probabilities_like(keep=lambda k: k + 1),
            "what is left does not sum to 1": _probabilities_like(rescaled=""),
        },
    ),
    Rung(
        "top-k keeps the k most probable tokens, and what is left sums to 1",
        f"{Z}next_probabilities(z, 1.0, 2)",
    ),
    Rung(
        "top-p keeps as few tokens as together reach p: the one that reaches it belongs to them",
        f"{Z}next_probabilities(z, 1.0, None, 0.55)",
        {
            "the token that reaches p is cut, too": _probabilities_like(
                over=lambda p, top_p: p.cumsum(-1) >= top_p
            ),
            "what top-p leaves does not sum to 1": _probabilities_like(rescaled="k"),
            "tokens are cut whose own probability is below p": _probabilities_like(
                over=lambda p, top_p: p < top_p
            ),
        },
    ),
    Rung(
        "however small p is, the best token stays",
        f"{Z}next_probabilities(z, 1.0, None, 0.01)",
    ),
    Rung(
        "p is reached by what temperature has made of the probabilities",
        f"{Z}next_probabilities(z, 0.25, None, 0.65)",
    ),
    Rung(
        "with both cuts, top-k is first: p is reached by what top-k has left and scaled",
        "z = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()\nnext_probabilities(z, 1.0, 3, 0.42)",
        {
            "p is reached by what was there before top-k; cut to k, scale what is left to sum to "
            "1, then cut to p": _top_p_first,
            "top-p is not used where there is a top-k": lambda logits, temperature, k, p: (
                ours.next_probabilities(logits, temperature, k)
            ),
        },
    ),
    Rung(
        "every row of a batch has its own order",
        "next_probabilities(torch.randn(2, 3, 6), 0.7, 4, 0.8)",
        {
            "gather with the order of the sort sorts once more; scatter brings the tokens back": (
                lambda logits, *how: (
                    ours.next_probabilities(logits, *how)
                    .sort(-1, descending=True)
                    .values.gather(-1, logits.argsort(-1, descending=True))
                )
            ),
        },
    ),
    Rung(
        "two of four equal tokens reach a p of one half exactly: no third is kept",
        "z = torch.zeros(4)\n(next_probabilities(z, 1.0, None, 0.5) > 0).sum()",
        {
            "where tokens reach p exactly, one more is kept; as few as reach it stay": (
                _probabilities_like(over=lambda p, top_p: p.cumsum(-1) - p > top_p)
            ),
        },
    ),
    Rung(
        "a k above the vocabulary and a p of 1 cut nothing",
        f"{Z}next_probabilities(z, 1.0, 9, 1.0)",
    ),
]


@exercise
def sampler(answer) -> str:
    """Check `sample(model, prompts, length, end, temperature, top_k, top_p)`."""
    check_own_work(answer)
    ladder(SAMPLER_RUNGS, ours_sample, sample=answer)
    return "a model that counts, ends at different times, positions computed, heat, and chance"


def ours_sample(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    how = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    return ours.sample(model, prompts, length, end, **how)


def _sample_like(
    feed: Callable = lambda ids, new, cache: (new, cache),
    draw: Callable = lambda p: torch.multinomial(p, 1),
    after: int | None = ours.NOTHING,
    count: Callable = lambda length, T: length,
    how: Callable = lambda temperature, top_k, top_p: (temperature, top_k, top_p),
    result: Callable = lambda ids, T, end: ids,
) -> Callable:
    """A sampler with one part done in another way."""

    def sample(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
        cache, ids, new, T = model.empty_cache(), prompts, prompts, prompts.shape[1]
        finished = torch.zeros(len(prompts), 1, dtype=torch.bool)
        for _ in range(count(length, T)):
            logits = model(*feed(ids, new, cache))[:, -1].detach()
            new = draw(ours.next_probabilities(logits, *how(temperature, top_k, top_p)))
            if after is not None:
                new = new.masked_fill(finished, after)
            ids = torch.cat([ids, new], dim=1)
            finished |= new == end
            if finished.all():
                break
        return result(ids, T, end)

    return sample


def _without_end(ids: torch.Tensor, T: int, end: int) -> torch.Tensor:
    new = ids[:, T:]
    return torch.cat([ids[:, :T], new.masked_fill(new == end, ours.NOTHING)], dim=1)


COUNTS = """\
class Counts:  # after k comes k + 1; `read` holds what each call was given
    def __init__(self):
        self.read = []
    def empty_cache(self):
        return [{}]
    def __call__(self, ids, cache=None):
        self.read.append((ids.shape[1], cache is not None))
        return 50.0 * torch.nn.functional.one_hot((ids + 1) % 7, 7)
"""
COIN = """\
class Coin:  # always 0 with probability 0.2 and 1 with 0.8
    def empty_cache(self):
        return [{}]
    def __call__(self, ids, cache=None):
        return torch.tensor([0.2, 0.8]).log().expand(*ids.shape, 2)
"""
ADDS = """\
class Adds:  # the next token is the sum of all that were read, those in the cache too
    def empty_cache(self):
        return [{}]
    def __call__(self, ids, cache):
        total = cache[0].get("total", 0) + ids.cumsum(1)
        cache[0]["total"] = total[:, -1:]
        return 50.0 * torch.nn.functional.one_hot(total % 7, 7)
"""
SAMPLER_RUNGS = [
    Rung(
        "the logits of the last position say the next token; the prompt stays in front",
        f"{COUNTS}sample(Counts(), torch.tensor([[2, 3]]), 1, 0)",
        {
            "the prompt is missing in the result": _sample_like(
                result=lambda ids, T, end: ids[:, T:]
            ),
            "one token too many: `length` tokens are new": _sample_like(
                count=lambda length, T: length + 1
            ),
            "`length` counts the new tokens, not the prompt's": _sample_like(
                count=lambda length, T: length - T
            ),
        },
    ),
    Rung(
        "each new token is read, and leads to the next",
        f"{COUNTS}sample(Counts(), torch.tensor([[2, 3]]), 3, 0)",
    ),
    Rung(
        "after its end a row holds −1, while others go on; when all have ended, stop",
        f"{COUNTS}sample(Counts(), torch.tensor([[1], [3]]), 9, 5)",
        {
            "a row goes on after its end": _sample_like(after=None),
            "the end is repeated; −1 stands behind it": _sample_like(after=5),
            "the end itself has become −1; −1 stands behind it": _sample_like(result=_without_end),
            "one draw for all rows; each row draws its own token": _sample_like(
                draw=lambda p: torch.multinomial(p[:1], 1).expand(len(p), 1)
            ),
        },
    ),
    Rung(
        "an end in the prompt ends nothing; what is drawn does",
        f"{COUNTS}sample(Counts(), torch.tensor([[5, 1]]), 2, 5)",
    ),
    Rung(
        "the prompt is read once, then each new token alone, always with the same cache",
        f"{COUNTS}model = Counts()\nids = sample(model, torch.tensor([[1, 2, 3]]), 3, 0)\n"
        "[list(map(int, one)) for one in model.read]",
        {
            "the whole text is read again at each step": _sample_like(
                lambda ids, new, cache: (ids, cache)
            ),
            "there is no cache: hand `cache` to the model": _sample_like(
                lambda ids, new, cache: (new, None)
            ),
        },
    ),
    Rung(
        "the cache of the first step is that of all others: a new one has forgotten the prompt",
        f"{ADDS}sample(Adds(), torch.tensor([[1, 2]]), 3, 0)",
    ),
    Rung(
        "tokens are drawn with their probabilities, not the best one each time",
        f"{COIN}ids = sample(Coin(), torch.zeros(4000, 1, dtype=torch.long), 1, 9)\n"
        "bool(0.76 < ids[:, 1].double().mean() < 0.84)",
        {
            "the best token is taken each time": _sample_like(
                draw=lambda p: p.argmax(-1, keepdim=True)
            ),
        },
    ),
    Rung(
        "the temperature is handed on: at a low one the likelier token is drawn more often",
        f"{COIN}start = torch.zeros(4000, 1, dtype=torch.long)\n"
        "cold = sample(Coin(), start, 1, 9, 0.5)[:, 1].double().mean()\n"
        "bool(0.92 < cold < 0.96)",
        {"temperature and cuts are not used": _sample_like(how=lambda *_: ())},
    ),
    Rung(
        "top_k is handed on: with 1, the likelier token is always drawn",
        f"{COIN}start = torch.zeros(4000, 1, dtype=torch.long)\n"
        "bool(sample(Coin(), start, 1, 9, 1.0, 1)[:, 1].all())",
        {
            "top_k and top_p are exchanged": _sample_like(
                how=lambda temperature, top_k, top_p: (temperature, top_p, top_k)
            ),
        },
    ),
    Rung(
        "top_p is handed on: with 0.5, the likelier token is always drawn",
        f"{COIN}start = torch.zeros(4000, 1, dtype=torch.long)\n"
        "bool(sample(Coin(), start, 1, 9, 1.0, None, 0.5)[:, 1].all())",
    ),
]


@exercise
def judge(answer) -> str:
    """Check `distance(model, rows, truth)`: the KL divergence in nats per sentence."""
    check_own_work(answer)
    ladder(JUDGE_RUNGS, _distance, distance=answer)
    return "one row, rows of unequal length, and a model that knows the truth"


def _distance(
    model,
    rows,
    truth,
    *,
    asked=lambda rows: rows[:, 1:],
    score=lambda logits: logits.log_softmax(-1),
    total=lambda logp, there: logp.sum(1),
    compare=lambda truth, logp: truth - logp,
    mean=torch.mean,
):
    target = asked(rows)
    there = target != ours.NOTHING
    with torch.no_grad():
        logp = score(model(rows[:, :-1]))
    logp = logp.gather(-1, target.clamp(min=0)[..., None])[..., 0] * there
    return mean(compare(truth, total(logp, there)))


def _distance_like(**changes) -> Callable:
    return lambda model, rows, truth: _distance(model, rows, truth, **changes)


JUDGE_RUNGS = [
    Rung(
        "the only sentence of a language has log-probability 0; what is left is minus that in the "
        "model, all tokens of the row together",
        f"{PAIRS}rows = torch.tensor([[0, 1, 3]])\ntruth = torch.tensor([0.0])\n"
        "float(distance(Pairs(), rows, truth))",
        {
            "the sign is wrong: no model beats the language": _distance_like(
                compare=lambda truth, logp: logp - truth
            ),
            "the two are added; take the model's away from the language's": _distance_like(
                compare=lambda truth, logp: truth + logp
            ),
            "the logarithm of `truth` is taken, which is a log-probability already": (
                _distance_like(compare=lambda truth, logp: truth.log() - logp)
            ),
            "the tokens of a sentence are averaged; add them up": _distance_like(
                total=lambda logp, there: logp.sum(1) / there.sum(1)
            ),
            "the model is asked for the token that it reads, not for the next one": (
                _distance_like(asked=lambda rows: rows[:, :-1])
            ),
            "these are logits; log_softmax makes log-probabilities of them": _distance_like(
                score=lambda logits: logits
            ),
            "the end is left out; it is a token like the others": _distance_like(
                total=lambda logp, there: (logp * F.pad(there[:, 1:], (0, 1))).sum(1)
            ),
            "probabilities are added up; add up their logarithms": _distance_like(
                score=lambda logits: logits.softmax(-1)
            ),
            "the difference is squared; take the mean as it is": _distance_like(
                mean=lambda each: each.square().mean()
            ),
            "this is in bits; leave it in nats": _distance_like(
                mean=lambda each: each.mean() / math.log(2)
            ),
        },
    ),
    Rung(
        "one sentence: its log-probability in the language minus that in the model",
        f"{PAIRS}rows = torch.tensor([[0, 1, 3]])\ntruth = torch.tensor([-1.5])\n"
        "float(distance(Pairs(), rows, truth))",
        {
            "`truth` is not used: this is what the model says alone": _distance_like(
                compare=lambda truth, logp: -logp
            ),
        },
    ),
    Rung(
        "a mean over sentences",
        f"{PAIRS}rows = torch.tensor([[0, 1, 3], [0, 2, 3]])\n"
        "truth = torch.tensor([-1.5, -9.0])\nfloat(distance(Pairs(), rows, truth))",
        {
            "a sum over the sentences; take the mean": _distance_like(mean=torch.sum),
            "each sentence's difference has lost its sign; take the mean as they are": (
                _distance_like(mean=lambda each: each.abs().mean())
            ),
        },
    ),
    Rung(
        "−1 is no token: behind the end of a row there is nothing to be surprised at",
        f"{PAIRS}rows = torch.tensor([[0, 1, 3], [0, 3, -1]])\n"
        "truth = torch.tensor([-1.5, -3.0])\nfloat(distance(Pairs(), rows, truth))",
    ),
]
