"""Checks for the project of book/own_language_model.ipynb: the reader's own file, part by part."""

import dis
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType

import torch
from torch import nn
from torch.nn import functional as F

from book import language_model as ours
from book.checking.exercise import Mistake, climb, exercise
from book.checking.rungs import edited, ladder

OURS = ours.__name__


def check_own_work(answer: Callable) -> None:
    """Raise where an answer rests on the book's ready-made parts.

    Raises:
        Mistake: it is ours, or it uses something of `companion` other than `own_language_model`.
    """
    if any(answer is part for part in vars(ours).values()):
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
    climb(TOKENIZER, answer)
    return "bytes alone, merges by hand, ties, overlaps, words, accents, and running out of pairs"


@ladder(ours.Tokenizer)
def TOKENIZER(Tokenizer):
    """without a merge, the tokens of a text are its bytes"""
    yield Tokenizer("", 257).encode("ab")

    """without a merge there are 256 bytes and the end"""
    yield len(Tokenizer("", 257))

    """a letter with an accent is two bytes, and both are tokens"""
    yield Tokenizer("", 257).encode("é")

    """capital letters stay what they are: nothing is made small"""
    yield Tokenizer("", 257).encode("aA")

    """a space in front of a word or behind it is a byte like others, and stays"""
    yield Tokenizer("", 257).encode(" a ")

    """vocab_size counts the bytes and the end, too: with 258 there is one merge"""
    yield len(Tokenizer("abcdefgh abcdefgh", 258))

    """the most frequent pair is merged, and becomes token 257"""
    yield Tokenizer("abab cb", 258).encode("cab")

    """each tokenizer has merges of its own: a second one knows nothing of those of the first"""
    first, second = Tokenizer("ab ab", 258), Tokenizer("cd cd", 258)
    yield [*first.encode("abcd"), *second.encode("abcd")]

    """a pair that stands only once in the text is merged as well, as long as there is room"""
    yield Tokenizer("ab", 258).encode("ab")

    """a pair counts as often as its word stands in the text"""
    yield Tokenizer("xy\nzz\nzz\nzz", 258).encode("zzxy")

    """after a merge, too, a pair counts as often as its word stands in the text"""
    yield Tokenizer("pq\npq\npq\nxy\nzz\nzz", 259).encode("zzxy")

    """learning begins with the bytes of a letter, not with the letter: the two of é are a
    pair"""
    yield Tokenizer("é é é", 258).encode("é")

    """a pair that stands twice in a word is merged at both places"""
    yield Tokenizer("ab", 258).encode("abab")

    """of two merges that exclude each other, the one that was learned first is made"""
    yield Tokenizer("bc\nbc\ncd", 259).encode("bcd")

    """a merged token takes part in the next merge"""
    yield Tokenizer("abc abc abc", 259).encode("abc")

    """a pair that stands twice in a word is merged at both places while learning, too: then the
    word is the same token twice, and these two are the next pair"""
    yield Tokenizer("abab", 259).encode("abab")

    """of equally frequent pairs, the one with the older left token comes first, then the one
    with the older right token"""
    yield Tokenizer("bd\nce\nac\nbe", 258).encode("bd ce ac be")

    """of equally frequent pairs with the same left token, the one with the older right token
    comes first"""
    yield Tokenizer("ad\nac\nae", 258).encode("ad ac ae")

    """of equally frequent pairs, the tokens' numbers decide, not the alphabet: d is older than
    ab"""
    yield Tokenizer("abc\nabc\nab\nde\nde", 259).encode("abc de")

    """three equal letters hold one pair after the other: the left two are merged"""
    yield Tokenizer("aa aa", 258).encode("aaa")

    """when every word is one token, there is nothing left to merge"""
    yield len(Tokenizer("ab ab", 1000))

    """no token reaches from one word into the next; the space belongs to the word behind it"""
    yield Tokenizer("a b a b a b a b", 400).encode("a b")

    """a text is encoded word by word: two spaces are a word, and no merge reaches out of it"""
    yield Tokenizer(" a a a", 258).encode("  a")

    """encoding makes the oldest merge first, even if another pair stands further left"""
    yield Tokenizer("abc\nbc\nbc\nab", 260).encode("abc")

    """encoding makes the merges in the order in which they were learned, whatever pieces are
    longer"""
    yield Tokenizer("bc\nbc\nbc\nab\nab", 259).encode("abc")

    """what is decoded is what was encoded"""
    tokenizer = Tokenizer("the cat the hat", 270)
    yield tokenizer.decode(tokenizer.encode("that café, the chat"))


TOKENIZER.mistakes |= {
    "the length leaves out the end; it is the number of all tokens: 256 bytes and the end": edited(
        ours.Tokenizer, "return len(self.pieces)", "return len(self.pieces) - 1"
    ),
    "one token too many is learned; stop at vocab_size": edited(
        ours.Tokenizer, "< vocab_size", "<= vocab_size"
    ),
    "merges reach across words": edited(
        ours.Tokenizer,
        "self.words.findall(text))",
        "[text])",
        "self.words.findall(text):",
        "[text]:",
    ),
    "each different word is counted once; a pair counts as often as its word stands "
    "in the text": edited(
        ours.Tokenizer,
        "counts = Counter(word.encode() for word in self.words.findall(text))",
        "counts = {word.encode(): 1 for word in self.words.findall(text)}",
    ),
    "of equally frequent pairs, the one that stands first in the text is taken; the "
    "one with the older left token comes first": edited(
        ours.Tokenizer, "key=lambda pair: (pairs[pair], -pair[0], -pair[1])", "key=pairs.get"
    ),
    "encode merges across words: a text is encoded word by word": edited(
        ours.Tokenizer, "self.words.findall(text):", "[text]:"
    ),
    "the leftmost known pair is merged, not the one that was learned first": edited(
        ours.Tokenizer, "min(pairs, key=self.merges.get)", "pairs[0]"
    ),
    "each token is decoded by itself; put the bytes of all together first": edited(
        ours.Tokenizer,
        'b"".join(pieces).decode(errors="replace")',
        '"".join(piece.decode(errors="replace") for piece in pieces)',
    ),
    "of equally frequent pairs, the one with the older right token is taken; the left token "
    "is compared first": edited(ours.Tokenizer, "-pair[0], -pair[1]", "-pair[1], -pair[0]"),
    "a pair that stands twice in a word is counted once; it counts at every place": edited(
        ours.Tokenizer,
        "pairwise(tokens):",
        "set(pairwise(tokens)):",
        "pairwise(cut[word]):\n                    pairs[pair] -=",
        "set(pairwise(cut[word])):\n                    pairs[pair] -=",
        "pairwise(cut[word]):\n                    pairs[pair] +=",
        "set(pairwise(cut[word])):\n                    pairs[pair] +=",
    ),
    "merges are learned across words; cut the text into words before counting": edited(
        ours.Tokenizer, "self.words.findall(text))", "[text])"
    ),
}


@exercise
def norm(answer) -> str:
    """Check `RMSNorm(d)`: x over the root of its mean square, times the learned `gain`."""
    check_own_work(answer)
    climb(NORM, answer)
    return "two numbers by hand, a mean that is not zero, small vectors, batches, and the gain"


@ladder(ours.RMSNorm)
def NORM(RMSNorm):
    """the gain begins at 1"""
    yield bool((RMSNorm(3).gain == 1).all())

    """the mean square of 3 and 3 is 9, although their variance is 0: both become 1"""
    yield RMSNorm(2)(torch.tensor([[3.0, 3.0]]))

    """the mean square of 1 and 7 is 25, so the result is 0.2 and 1.4"""
    yield RMSNorm(2)(torch.tensor([[1.0, 7.0]]))

    """each vector of a batch has its own root mean square"""
    yield RMSNorm(2)(torch.tensor([[[1.0, 7.0], [10.0, 70.0]]]))

    """a vector of zeros stays one"""
    yield RMSNorm(2)(torch.zeros(2))

    """only 1e-6 is added to the mean square: a small vector is brought to size, too"""
    yield RMSNorm(2)(torch.tensor([0.02, 0.14]))

    """1e-6 is added under the root, where it counts for very small vectors"""
    yield RMSNorm(2)(torch.tensor([0.0002, 0.0014]))

    """there is one gain for each entry, and it multiplies"""
    layer = RMSNorm(2)
    layer.gain.data = torch.tensor([3.0, -2.0])
    yield layer(torch.tensor([1.0, 7.0]))

    """every entry has a gain of its own: as many numbers are learned as there are entries"""
    yield RMSNorm(5).gain.numel()

    """the gain is learned: it is a parameter"""
    yield " ".join(name for name, _ in RMSNorm(2).named_parameters())


NORM.mistakes |= {
    "the gain begins at 0, which leaves nothing; let it begin at 1": edited(
        ours.RMSNorm, "torch.ones", "torch.zeros"
    ),
    "the mean is taken away as well; that is a layer norm": edited(
        ours.RMSNorm,
        "self.gain * x *",
        "self.gain * (x - x.mean(-1, keepdim=True)) *",
        "x.square().mean(-1, keepdim=True)",
        "x.var(-1, keepdim=True, correction=0)",
    ),
    "the sum of squares, not their mean, is under the root": edited(
        ours.RMSNorm, ".mean(", ".sum("
    ),
    "the gain is added; it multiplies": edited(ours.RMSNorm, "self.gain * x", "self.gain + x"),
    "one root for everything": edited(ours.RMSNorm, ".mean(-1, keepdim=True)", ".mean()"),
    "the gain is not used": edited(ours.RMSNorm, "self.gain * x", "x"),
    "there is one gain for all entries; every entry has a gain of its own": edited(
        ours.RMSNorm, "torch.ones(d)", "torch.ones(1)"
    ),
    "the gain is a plain tensor, which no optimizer finds; it is learned, so make it "
    "an nn.Parameter": edited(ours.RMSNorm, "nn.Parameter(torch.ones(d))", "torch.ones(d)"),
    "the mean runs over the positions; it runs over the entries of a vector, the last axis": edited(
        ours.RMSNorm, ".mean(-1", ".mean(-2"
    ),
    "the root is missing: divide by the root of the mean square": edited(
        ours.RMSNorm, ".rsqrt()", ".reciprocal()"
    ),
    "0.01 is added to the mean square, which small vectors feel; add 1e-6": edited(
        ours.RMSNorm, "1e-6", "1e-2"
    ),
}


@exercise
def rope(answer) -> str:
    """Check `rotate(x, start=0)`: the pairs of x (B, H, T, d_k), turned by their position."""
    check_own_work(answer)
    climb(ROPE, answer)
    return "the first position, a right angle, several speeds, a start, and distances alone"


@ladder(ours.rotate)
def ROPE(rotate):
    """position 0 is not turned: every number stays, and in its place"""
    yield rotate(torch.tensor([[[[1.0, 2.0, 3.0, 4.0]]]]))

    """the only pair of two entries turns by 1 at each position"""
    yield rotate(torch.tensor([[[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]]]))

    """entry i is paired with entry i + d_k / 2: here the first with the third, which turn by 1"""
    yield rotate(torch.tensor([[[[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]]]))

    """with two pairs, the second turns by 10,000 to the power −2/4, which is 0.01"""
    yield rotate(torch.tensor([[[[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]]]))

    """with three pairs, the second turns by 10,000 to the power −1/3, the third by its
    square"""
    yield rotate(torch.tensor([[[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]]]]))

    """the first position is start"""
    yield rotate(torch.tensor([[[[1.0, 0.0, 0.0, 1.0]]]]), 5)

    """batches and heads are turned alike"""
    yield rotate(torch.randn(2, 3, 5, 8), 2)


ROPE.mistakes |= {
    "positions begin at 1; the first one is 0": edited(
        ours.rotate, "arange(start, start + T", "arange(start + 1, start + T + 1"
    ),
    "a sign: the second entry of a pair becomes a · sin + b · cos": edited(
        ours.rotate, "a * sin + b * cos", "a * sin - b * cos"
    ),
    "start is taken for the last position; it is the first": edited(
        ours.rotate, "arange(start, start + T", "arange(start - T + 1, start + 1"
    ),
    "all pairs turn at the same speed": edited(ours.rotate, "* speeds", "* speeds[0]"),
    "the speeds fall half as fast as they should; the exponent is −2i / d_k": edited(
        ours.rotate, "device) / d_k", "device) / d_k / 2"
    ),
    "the base of the speeds is 1,000; it should be 10,000": edited(ours.rotate, "10_000", "1000"),
    "start is left out": edited(ours.rotate, "arange(start, start + T", "arange(0, T"),
    "a sign: the first entry of a pair becomes a · cos − b · sin": edited(
        ours.rotate, "a * cos - b * sin", "a * cos + b * sin"
    ),
    "the pairs turn the other way: (a, b) becomes (a · cos − b · sin, a · sin + b · cos)": edited(
        ours.rotate, "a * cos - b * sin, a * sin + b * cos", "a * cos + b * sin, b * cos - a * sin"
    ),
    "positions run along axis 1, the heads; they are on axis 2": edited(
        ours.rotate, "x.shape[-2:]", "x.shape[1::2]", "[:, None] *", "[:, None, None] *"
    ),
    "start is multiplied by T; it is a position itself": edited(
        ours.rotate, "arange(start, start + T", "arange(start * T, start * T + T"
    ),
    "sine and cosine have changed places": edited(ours.rotate, "cos, sin = ", "sin, cos = "),
    "the new first entry is used for the second one; both are made of the old ones": edited(
        ours.rotate, "a * sin + b * cos", "(a * cos - b * sin) * sin + b * cos"
    ),
}


@exercise
def attention(answer) -> str:
    """Check `Attention(d, heads)`: causal, in heads, with RoPE, and with a cache."""
    check_own_work(answer)
    climb(ATTENTION, answer)
    return "one position, two heads, the past alone, distances, and caches filled in several ways"


def filled(module: nn.Module) -> nn.Module:
    """The layer with weights that anybody can make again, however it was initialised."""
    for i, p in enumerate(module.parameters()):
        p.data = (torch.arange(p.numel()) + i).sin().view_as(p)
    return module


@ladder(ours.Attention)
def ATTENTION(Attention):
    """one position sees itself alone"""
    x = torch.randn(1, 1, 4)
    yield filled(Attention(4, 1))(x)

    """a position sees itself and what is before it: here queries and keys are 0, so that all it
    sees counts alike"""
    x, layer = torch.randn(1, 3, 4), filled(Attention(4, 1))
    layer.qkv.weight.data[:8] = 0
    yield layer(x)

    """q and k are turned, and their products divided by the root of their width, here of 4"""
    x = torch.randn(1, 3, 4)
    yield filled(Attention(4, 1))(x)

    """each head has its own part of q, k and v, and the parts are put side by side again; here
    q and k are so large that each position looks at one alone"""
    x, layer = torch.randn(2, 3, 8), filled(Attention(8, 2))
    layer.qkv.weight.data[:16] *= 100
    yield layer(x)

    """each head divides by the root of its own width, d / heads: here of 4, not of 8"""
    x = torch.randn(2, 3, 8)
    yield filled(Attention(8, 2))(x)

    """an empty cache changes nothing, and afterwards it holds the keys and values"""
    x = torch.randn(1, 3, 4)
    layer, cache = filled(Attention(4, 1)), {}
    y = layer(x, cache)
    yield (y, *[x.shape[2] for x in cache.values()])

    """one position more, with the cache: it sees all that the cache holds, and itself; here
    queries and keys are 0, so that all it sees counts alike"""
    x = torch.randn(1, 4, 4)
    layer, cache = filled(Attention(4, 1)), {}
    layer.qkv.weight.data[:8] = 0
    layer(x[:, :3], cache)
    yield layer(x[:, 3:], cache)

    """the values in the cache stand in the order of positions"""
    x = torch.randn(1, 4, 4)
    layer, cache = filled(Attention(4, 1)), {}
    layer(x[:, :2], cache), layer(x[:, 2:], cache)
    yield cache["v"]

    """one position more, with the cache: it is turned by its own place, behind all others"""
    x = torch.randn(1, 4, 4)
    layer, cache = filled(Attention(4, 1)), {}
    layer(x[:, :3], cache)
    yield layer(x[:, 3:], cache)

    """the cache grows with every step: the second new position sees all before it, too"""
    x = torch.randn(1, 5, 4)
    layer, cache = filled(Attention(4, 1)), {}
    layer(x[:, :3], cache), layer(x[:, 3:4], cache)
    yield layer(x[:, 4:], cache)

    """the keys in the cache are turned, and stand in the order of positions"""
    x = torch.randn(1, 4, 4)
    layer, cache = filled(Attention(4, 1)), {}
    layer(x[:, :2], cache), layer(x[:, 2:], cache)
    yield cache["k"]

    """several positions at once on top of a cache: none sees those behind it"""
    x = torch.randn(2, 7, 8)
    layer, cache = filled(Attention(8, 2)), {}
    yield torch.cat([layer(piece, cache) for piece in x.split([2, 4, 1], dim=1)], dim=1)


ATTENTION.mistakes |= {
    "the output matrix `out` is not used": edited(ours.Attention, "self.out(y", "(y"),
    "the future is seen": edited(ours.Attention, ".tril(past)", ""),
    "keys come first, then queries; the projection makes q, k, v in this order": edited(
        ours.Attention, "q, k, v =", "k, q, v ="
    ),
    "the queries are turned, the keys are not": edited(ours.Attention, "rotate(k, past)", "k"),
    "heads and positions are mixed up: transpose, then flatten": edited(
        ours.Attention, "y.transpose(1, 2)", "y"
    ),
    "only the newest key is kept": edited(
        ours.Attention, "cache.update(k=k, v=v)", "cache.update(k=k[:, :, -1:], v=v[:, :, -1:])"
    ),
    "the new position is turned as if it were the first": edited(
        ours.Attention, "rotate(q, past), rotate(k, past)", "rotate(q), rotate(k)"
    ),
    "the cache holds unturned keys, and nobody turns them later": edited(
        ours.Attention,
        "q, k = rotate",
        "raw = k; q, k = rotate",
        "cache.update(k=k",
        "cache.update(k=torch.cat([k[:, :, :past], raw], dim=2)",
    ),
    "an empty cache counts as none, and stays empty; ask whether it `is not None`": edited(
        ours.Attention, "if cache is not None", "if cache"
    ),
    "the cache forgets what it held: only the keys and values of the last call are kept": edited(
        ours.Attention, "cache.update(k=k, v=v)", "cache.update(k=k[:, :, past:], v=v[:, :, past:])"
    ),
    "the values are turned, too; only q and k are": edited(
        ours.Attention, "q, k = rotate(q, past)", "v, q, k = rotate(v, past), rotate(q, past)"
    ),
    "the projection is cut into heads first; first come its three parts q, k and v": edited(
        ours.Attention,
        "3, self.heads, -1",
        "self.heads, 3, -1",
        "(2, 0, 3, 1, 4)",
        "(3, 0, 2, 1, 4)",
    ),
}


@exercise
def gate(answer) -> str:
    """Check `SwiGLU(d)`: down(silu(gate(x)) * up(x))."""
    check_own_work(answer)
    climb(GATE, answer)
    return "one vector, a batch, and zeros"


@ladder(ours.SwiGLU)
def GATE(SwiGLU):
    """zeros give zeros, since there is no bias"""
    yield filled(SwiGLU(3))(torch.zeros(3))

    """each inner unit has a gate of its own, which lets it through or shuts it before `down`:
    here SiLU turns 40 into 40 and −40 into 0"""
    layer = filled(SwiGLU(3))
    layer.gate.weight.data = torch.tensor([[40.0], [-40.0]]).repeat(4, 3)
    yield layer(torch.tensor([1.0, -0.5, 0.5]))

    """the gate goes through SiLU, then multiplies what `up` gives"""
    yield filled(SwiGLU(3))(torch.tensor([1.0, -2.0, 0.5]))

    """every position is treated alike"""
    x = torch.randn(2, 3, 3)
    yield filled(SwiGLU(3))(x)


GATE.mistakes |= {
    "it is `up` that goes through SiLU here; it should be the gate": edited(
        ours.SwiGLU, "F.silu(self.gate(x)) * self.up(x)", "self.gate(x) * F.silu(self.up(x))"
    ),
    "there is no non-linearity": edited(ours.SwiGLU, "F.silu(self.gate(x))", "self.gate(x)"),
    "gate and `up` are added; they are multiplied": edited(
        ours.SwiGLU, ") * self.up", ") + self.up"
    ),
    "`up` goes through SiLU as well; only the gate does": edited(
        ours.SwiGLU, "* self.up(x)", "* F.silu(self.up(x))"
    ),
    "SiLU is taken of the product; take it of the gate alone": edited(
        ours.SwiGLU, "F.silu(self.gate(x)) * self.up(x)", "F.silu(self.gate(x) * self.up(x))"
    ),
    "x is added; the block does that, not this layer": edited(
        ours.SwiGLU, "return self.down", "return x + self.down"
    ),
    "`gate` is not used": edited(
        ours.SwiGLU, "F.silu(self.gate(x)) * self.up(x)", "F.silu(self.up(x))"
    ),
    "`up` is not used": edited(ours.SwiGLU, " * self.up(x)", ""),
    "SiLU comes after `down`; it belongs to the gate alone": edited(
        ours.SwiGLU,
        "self.down(F.silu(self.gate(x)) * self.up(x))",
        "F.silu(self.down(self.gate(x) * self.up(x)))",
    ),
}


@exercise
def model(answer) -> str:
    """Check `LanguageModel(vocab_size, d, layers, heads)`: ids (B, T) to logits."""
    check_own_work(answer)
    climb(MODEL, answer)
    return "no block, two blocks, tied weights, rows that have ended, and a cache"


@ladder(ours.LanguageModel)
def MODEL(LanguageModel):
    """without a block: embed, norm, norm again, and multiply by the embedding"""
    yield filled(LanguageModel(5, 8, 0, 2))(torch.tensor([[3]]))

    """every position has its logits, not only the last"""
    yield filled(LanguageModel(5, 8, 0, 2))(torch.tensor([[3, 1, 4]]))

    """the embedding is the output matrix, too: there is one such matrix"""
    model = LanguageModel(5, 8, 1, 2)
    yield sum(p.shape == (5, 8) for p in model.parameters())

    """the embedding learns from both of its uses: what makes the logits gets a gradient as well
    as what is read"""
    model = filled(LanguageModel(5, 8, 0, 2))
    model(torch.tensor([[3]]))[0, 0, 1].backward()
    yield model.embedding.weight.grad

    """every block works on what the one before it gives"""
    yield filled(LanguageModel(5, 8, 2, 2))(torch.tensor([[3, 1, 4, 1]]))

    """−1 stands where a row has ended; it is read like token 0"""
    model = filled(LanguageModel(5, 8, 1, 2))
    yield model(torch.tensor([[3, 1], [2, -1]]))[1]

    """with a cache, of which each block gets its own part, the logits of pieces are those of one
    pass"""
    model = filled(LanguageModel(5, 8, 2, 2))
    ids = torch.tensor([[3, 1, 4, 1, 2]])
    cache = model.empty_cache()
    yield torch.cat([model(piece, cache) for piece in ids.split(2, dim=1)], dim=1)


MODEL.mistakes |= {
    "the embedding is not normed": edited(
        ours.LanguageModel,
        "self.norm_in(self.embedding(ids.clamp(min=0)))",
        "self.embedding(ids.clamp(min=0))",
    ),
    "the last norm is missing": edited(ours.LanguageModel, "self.norm_out(x)", "x"),
    "`norm_in` is used at both ends; the last norm is `norm_out`": edited(
        ours.LanguageModel, "self.norm_out(x)", "self.norm_in(x)"
    ),
    "these are probabilities; return the logits": edited(
        ours.LanguageModel,
        "return self.norm_out(x) @ self.embedding.weight.T",
        "return (self.norm_out(x) @ self.embedding.weight.T).softmax(-1)",
    ),
    "these are log-probabilities; return the logits": edited(
        ours.LanguageModel,
        "return self.norm_out(x) @ self.embedding.weight.T",
        "return (self.norm_out(x) @ self.embedding.weight.T).log_softmax(-1)",
    ),
    "a block's output is added to x; the block has done that already": edited(
        ours.LanguageModel, "x = block(", "x = x + block("
    ),
    "−1 is read like the last token, as an index counts from the end; it is read like "
    "token 0": edited(ours.LanguageModel, "ids.clamp(min=0)", "ids % len(self.embedding.weight)"),
    "all blocks share one cache; each has its own": edited(
        ours.LanguageModel, "cache[number]", "cache[0]"
    ),
    "the normed embedding is multiplied by the root of d; the blocks get it as it is": edited(
        ours.LanguageModel,
        "ids.clamp(min=0)))",
        "ids.clamp(min=0))) * self.norm_in.gain.numel() ** 0.5",
    ),
    "only the last position has logits; each position has its own": edited(
        ours.LanguageModel, "self.norm_out(x)", "self.norm_out(x[:, -1])"
    ),
    "the first block is applied again and again; each has its turn": edited(
        ours.LanguageModel, "x = block(", "x = self.blocks[0]("
    ),
    "every id is read as the next one; only −1 is changed, to 0": edited(
        ours.LanguageModel,
        "ids.clamp(min=0)",
        "(ids + 1).clamp(max=len(self.embedding.weight) - 1)",
    ),
}


@exercise
def loop(answer) -> str:
    """Check `train(model, batch, steps, peak)` -> the loss of every step."""
    check_own_work(answer)
    torch.optim.AdamW([torch.zeros(1)])  # the first of a session imports for seconds
    climb(LOOP, answer)
    return "the first loss, rows that have ended, several steps, a long gradient and the schedule"


def _train(model, batch, steps, peak=0.01):
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.02)
    losses = []
    for step in range(steps):
        ids = batch(step)
        target = ids[:, 1:]
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=-1)
        optimizer.zero_grad()
        losses.append(loss.item())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = ours.learning_rate(step, steps, peak)
        optimizer.step()
    return losses


class Pairs(nn.Embedding):
    """A table of pairs is a model, too."""

    def __init__(self):
        super().__init__(4, 4)
        self.weight.data = torch.arange(16).sin().view(4, 4)

    def forward(self, ids):
        return super().forward(ids.clamp(min=0))


@ladder(_train)
def LOOP(train):
    """one token to predict: the loss is minus its log-probability, after the token that is
    read"""
    ids = torch.tensor([[1, 3]])
    yield train(Pairs(), lambda step: ids, 1)

    """the loss at a position is minus the log-probability of the next token; take the mean"""
    ids = torch.tensor([[2, 1, 3]])
    yield train(Pairs(), lambda step: ids, 1)

    """token 0 is a token like the others: it is predicted as well"""
    ids = torch.tensor([[1, 0, 3]])
    yield train(Pairs(), lambda step: ids, 1)

    """−1 is no target: a row that has ended has no loss, and does not count in the mean"""
    ids = torch.tensor([[0, 1, 3], [2, 1, -1]])
    yield train(Pairs(), lambda step: ids, 1)

    """step number k trains on batch(k), the first being batch(0)"""

    class Told:
        steps = ()

    def batch(step):
        Told.steps += (step,)
        return torch.tensor([[0, 1, 3]])

    train(Pairs(), batch, 3)
    yield Told.steps

    """the weights learn from each batch, and learning_rate(0, steps, peak) is the rate of the
    first step"""
    ids = torch.tensor([[0, 1, 3], [2, 2, 1]])
    yield train(Pairs(), lambda step: ids, 2, 2.0)

    """every step begins with fresh gradients, and learning_rate(step, steps, peak) is its
    rate"""
    ids = torch.tensor([[0, 1, 3], [2, 2, 1]])
    yield train(Pairs(), lambda step: ids + (step > 8) * torch.tensor([[0], [1]]), 24, 3.0)

    """the gradient of all weights together is clipped to length 1"""

    def big(step):
        return torch.tensor([[step % 4, 1, 3]])

    class Loud(Pairs):
        def __init__(self):
            super().__init__()
            self.bias = nn.Parameter(torch.zeros(4))

        def forward(self, ids):
            return (20 if ids[0, 0] == 0 else 1) * (super().forward(ids) + self.bias)

    yield train(Loud(), big, 16, 1.0)

    """losses are plain numbers, as loss.item() gives: a tensor with its history keeps a step in
    memory"""
    ids = torch.tensor([[0, 1, 3]])
    losses = train(Pairs(), lambda step: ids, 2)
    yield sum(torch.as_tensor(loss).requires_grad for loss in losses)


LOOP.mistakes |= {
    "the token that was read is predicted, not the next one": edited(
        _train, "ids[:, 1:]", "ids[:, :-1]"
    ),
    "the losses are added up; take their mean": edited(
        _train, "ignore_index=-1", 'ignore_index=-1, reduction="sum"'
    ),
    "what is missing counts in the mean": edited(
        _train, "ignore_index=-1)", 'ignore_index=-1, reduction="sum") / target.numel()'
    ),
    "a mean of the rows' means; every token counts the same": edited(
        _train,
        "F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=-1",
        "sum(F.cross_entropy(z, y, ignore_index=-1) / len(ids) for z, y in zip(logits, "
        "target, strict=True)",
    ),
    "the step is made with gradients of any length: clip them after `backward` and before "
    "optimizer.step(), or it is of no use": edited(
        _train, "nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "pass"
    ),
    "the weights never change: call optimizer.step() after `backward`, with the "
    "gradients still there": edited(_train, "optimizer.step()", "pass"),
    "the rate stays at its peak": edited(_train, "ours.learning_rate(step, steps, peak)", "peak"),
    "the rate is that of step + 1; the first step is step 0": edited(
        _train, "learning_rate(step,", "learning_rate(step + 1,"
    ),
    "the rate is set after the step; set it before": edited(
        _train,
        "for group in",
        "optimizer.step()\n        for group in",
        "optimizer.step()\n    return",
        "pass\n    return",
    ),
    "only the last loss is returned; return that of every step": edited(
        _train, "return losses", "return losses[-1:]"
    ),
}


@exercise
def probabilities(answer) -> str:
    """Check `next_probabilities(logits, temperature, top_k, top_p)`."""
    check_own_work(answer)
    climb(PROBABILITIES, answer)
    return "softmax, heat and cold, both cuts alone and together, batches, and no cut at all"


@ladder(ours.next_probabilities)
def PROBABILITIES(next_probabilities):
    """temperature 1 and no cut: a softmax"""
    z = torch.tensor([0.5, 0.1, 0.4]).log()
    yield next_probabilities(z)

    """the logits are divided by the temperature, before the softmax"""
    z = torch.tensor([0.5, 0.1, 0.4]).log()
    yield next_probabilities(z, 0.5)

    """top-k with k = 1 leaves the most probable token, with probability 1"""
    z = torch.tensor([0.5, 0.1, 0.4]).log()
    yield next_probabilities(z, 1.0, 1)

    """top-k keeps the k most probable tokens, and what is left sums to 1"""
    z = torch.tensor([0.5, 0.1, 0.4]).log()
    yield next_probabilities(z, 1.0, 2)

    """top-p keeps as few tokens as together reach p: the one that reaches it belongs to them"""
    z = torch.tensor([0.5, 0.1, 0.4]).log()
    yield next_probabilities(z, 1.0, None, 0.55)

    """however small p is, the best token stays"""
    z = torch.tensor([0.5, 0.1, 0.4]).log()
    yield next_probabilities(z, 1.0, None, 0.01)

    """p is reached by what temperature has made of the probabilities"""
    z = torch.tensor([0.5, 0.1, 0.4]).log()
    yield next_probabilities(z, 0.25, None, 0.65)

    """with both cuts, top-k is first: p is reached by what top-k has left and scaled"""
    z = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
    yield next_probabilities(z, 1.0, 3, 0.42)

    """every row of a batch has its own order"""
    yield next_probabilities(torch.randn(2, 3, 6), 0.7, 4, 0.8)

    """two of four equal tokens reach a p of one half exactly: no third is kept"""
    z = torch.zeros(4)
    yield (next_probabilities(z, 1.0, None, 0.5) > 0).sum()

    """a k above the vocabulary and a p of 1 cut nothing"""
    z = torch.tensor([0.5, 0.1, 0.4]).log()
    yield next_probabilities(z, 1.0, 9, 1.0)


def _sorted_once_more(logits, *cuts):
    order = logits.argsort(dim=-1, descending=True)
    return ours.next_probabilities(logits, *cuts).gather(-1, order).gather(-1, order)


PROBABILITIES.mistakes |= {
    "the logits are multiplied by the temperature; divide": edited(
        ours.next_probabilities, "logits / temperature", "logits * temperature"
    ),
    "gather with the order of the sort sorts once more; scatter brings each number back to its "
    "token": _sorted_once_more,
    "top-k is not used": edited(ours.next_probabilities, "if top_k is not None", "if False"),
    "one token too many is kept": edited(
        ours.next_probabilities, "p[..., top_k:] = 0", "p[..., top_k + 1 :] = 0"
    ),
    "the token that reaches p is cut, too": edited(
        ours.next_probabilities, "before >= top_p", "p.cumsum(-1) >= top_p"
    ),
    "what top-p leaves does not sum to 1": edited(
        ours.next_probabilities, "too small\n        p /= p.sum(dim=-1, keepdim=True)", ""
    ),
    "tokens are cut whose own probability is below p": edited(
        ours.next_probabilities, "before >= top_p", "p < top_p"
    ),
    "p is reached by what was there before top-k; cut to k, scale what is left to sum to 1, "
    "then cut to p": edited(
        ours.next_probabilities,
        "p, order = p.sort(dim=-1, descending=True)",
        "p, order = p.sort(dim=-1, descending=True); uncut = p.clone()",
        "p.cumsum(dim=-1) - p",
        "uncut.cumsum(dim=-1) - uncut",
    ),
    "the result is in the order of the sort; scatter brings each number back to its token": edited(
        ours.next_probabilities,
        "    if top_k is None and top_p is None:\n        return p\n",
        "",
        "torch.zeros_like(p).scatter(-1, order, p)",
        "p",
    ),
    "the sort is ascending, so that the least probable tokens are kept": edited(
        ours.next_probabilities, "descending=True", "descending=False"
    ),
    "tokens are cut that are improbable beside the best one; what counts is the sum that "
    "has reached p": edited(
        ours.next_probabilities, "before >= top_p * (1 - 1e-6)", "p < (1 - top_p) * p[..., :1]"
    ),
}


@exercise
def sampler(answer) -> str:
    """Check `sample(model, prompts, length, end, temperature, top_k, top_p)`."""
    check_own_work(answer)
    climb(SAMPLER, answer)
    return "a model that counts, ends at different times, positions computed, heat, and chance"


def _sample(model, prompts, length, end, temperature=1.0, top_k=None, top_p=None):
    cache, ids, new = model.empty_cache(), prompts, prompts
    ended = torch.zeros(len(prompts), 1, dtype=torch.bool)
    for _ in range(length):
        logits = model(new, cache)[:, -1]
        p = ours.next_probabilities(logits, temperature, top_k, top_p)
        new = torch.multinomial(p, 1).masked_fill(ended, -1)
        ids = torch.cat([ids, new], dim=1)
        ended = ended | (new == end)
        if ended.all():
            break
    return ids


@ladder(_sample)
def SAMPLER(sample):
    class Counts:  # after k comes k + 1; `read` holds what each call was given
        def __init__(self):
            self.read = []

        def empty_cache(self):
            return [{}]

        def __call__(self, ids, cache=None):
            self.read.append((ids.shape[1], cache is not None))
            return 50.0 * torch.nn.functional.one_hot((ids + 1) % 7, 7)

    class Adds:  # the next token is the sum of all that were read, those in the cache too
        def empty_cache(self):
            return [{}]

        def __call__(self, ids, cache=None):
            cache = [{}] if cache is None else cache
            total = cache[0].get("total", 0) + ids.cumsum(1)
            cache[0]["total"] = total[:, -1:]
            return 50.0 * torch.nn.functional.one_hot(total % 7, 7)

    class Coin:  # always 0 with probability 0.2 and 1 with 0.8
        def empty_cache(self):
            return [{}]

        def __call__(self, ids, cache=None):
            return torch.tensor([0.2, 0.8]).log().expand(*ids.shape, 2)

    """the logits of the last position say the next token; the prompt stays in front"""
    yield sample(Counts(), torch.tensor([[2, 3]]), 1, 0)

    """each new token is read, and leads to the next"""
    yield sample(Counts(), torch.tensor([[2, 3]]), 3, 0)

    """after its end a row holds −1, while others go on"""
    yield sample(Counts(), torch.tensor([[1], [3]]), 3, 5)

    """behind its end a row holds −1 up to the last position, not just once"""
    yield sample(Counts(), torch.tensor([[0], [3]]), 4, 5)

    """when all rows have ended, nothing more is drawn"""
    yield sample(Counts(), torch.tensor([[1], [3]]), 9, 5)

    """an end in the prompt ends nothing; what is drawn does"""
    yield sample(Counts(), torch.tensor([[5, 1]]), 2, 5)

    """the prompt is read once, then each new token alone, always with the same cache"""
    model = Counts()
    ids = sample(model, torch.tensor([[1, 2, 3]]), 3, 0)
    yield [list(map(int, one)) for one in model.read]

    """the cache of the first step is that of all others: a new one has forgotten the prompt"""
    yield sample(Adds(), torch.tensor([[1, 2]]), 3, 0)

    """tokens are drawn with their probabilities: of 4000 draws, four in five are the likelier
    token"""
    ids = sample(Coin(), torch.zeros(4000, 1, dtype=torch.long), 1, 9)
    yield round(5 * float(ids[:, 1].double().mean()))

    """temperature, top_k and top_p are handed on: 2 makes the likelier token twice as likely as the
    other, and with a top_k of 1 or a top_p of 0.5 it is always drawn"""
    prompts = torch.zeros(4000, 1, dtype=torch.long)
    cuts = (2.0,), (1.0, 1), (1.0, None, 0.5)
    ids = [sample(Coin(), prompts, 1, 9, *cut)[:, 1] for cut in cuts]
    yield [round(9 * float(drawn.double().mean())) for drawn in ids]


SAMPLER.mistakes |= {
    "one draw for all rows; each row draws its own token": edited(
        _sample, "torch.multinomial(p, 1)", "torch.multinomial(p[:1], 1).expand(len(p), 1)"
    ),
    "a row whose prompt holds the end has ended before it began; only an end that is "
    "drawn counts": edited(
        _sample,
        "torch.zeros(len(prompts), 1, dtype=torch.bool)",
        "(prompts == end).any(1, keepdim=True)",
    ),
    "the whole text is read again at each step": edited(
        _sample, "model(new, cache)", "model(ids, cache)"
    ),
    "there is no cache: hand `cache` to the model": edited(
        _sample, "model(new, cache)", "model(new)"
    ),
    "every step gets a new, empty cache, which has forgotten the prompt; make one for "
    "all steps": edited(_sample, "model(new, cache)", "model(new, model.empty_cache())"),
    "the best token is taken each time": edited(
        _sample, "torch.multinomial(p, 1)", "p.argmax(-1, keepdim=True)"
    ),
    "temperature and cuts are not used": edited(_sample, "temperature, top_k, top_p)", ")"),
    "the end itself is replaced by −1, too; it stays, and −1 comes behind it": edited(
        _sample,
        "torch.multinomial(p, 1).masked_fill(ended, -1)",
        "torch.multinomial(p, 1); ended = ended | (new == end); new = new.masked_fill(ended, -1)",
    ),
    "the prompt counts in `length`; as many tokens are to be drawn": edited(
        _sample, "range(length)", "range(length - prompts.shape[1])"
    ),
    "the last token of the prompt is read twice: with the prompt, and once more by itself": edited(
        _sample, "prompts, prompts\n", "prompts, prompts[:, -1:]; model(prompts, cache)\n"
    ),
}


@exercise
def judge(answer) -> str:
    """Check `distance(model, rows, truth)`: the KL divergence in nats per sentence."""
    check_own_work(answer)
    climb(JUDGE, answer)
    return "one row, rows of unequal length, and a model that knows the truth"


def _distance(model, rows, truth):
    target = rows[:, 1:]
    with torch.no_grad():
        logp = model(rows[:, :-1]).log_softmax(-1)
    logp = logp.gather(-1, target.clamp(min=0)[..., None])[..., 0]
    logp = logp.masked_fill(target == -1, 0)
    return (truth - logp.sum(1)).mean()


@ladder(_distance)
def JUDGE(distance):
    """the only sentence of a language has log-probability 0; what is left is minus that in the
    model: here of the one token that comes after the first"""
    rows = torch.tensor([[1, 3]])
    truth = torch.tensor([0.0])
    yield float(distance(Pairs(), rows, truth))

    """a sentence has the log-probabilities of all its tokens after the first, added up"""
    rows = torch.tensor([[2, 1, 3]])
    truth = torch.tensor([0.0])
    yield float(distance(Pairs(), rows, truth))

    """one sentence: its log-probability in the language minus that in the model"""
    rows = torch.tensor([[0, 1, 3]])
    truth = torch.tensor([-1.5])
    yield float(distance(Pairs(), rows, truth))

    """token 0 is a token like the others"""
    rows = torch.tensor([[1, 0, 3]])
    truth = torch.tensor([-1.5])
    yield float(distance(Pairs(), rows, truth))

    """a mean over sentences"""
    rows = torch.tensor([[0, 2, 3], [0, 1, 3], [1, 2, 0]])
    truth = torch.tensor([-9.0, -1.5, -4.0])
    yield float(distance(Pairs(), rows, truth))

    """−1 is no token: behind the end of a row there is nothing to be surprised at"""
    rows = torch.tensor([[0, 1, 3], [0, 3, -1]])
    truth = torch.tensor([-1.5, -3.0])
    yield float(distance(Pairs(), rows, truth))


JUDGE.mistakes |= {
    "the model is asked for the token that it reads, not for the next one": edited(
        _distance, "target = rows[:, 1:]", "target = rows[:, :-1]"
    ),
    "these are logits; log_softmax makes log-probabilities of them": edited(
        _distance, ".log_softmax(-1)", ".clone()"
    ),
    "probabilities are added up; add up their logarithms": edited(
        _distance, "log_softmax(-1)", "softmax(-1)"
    ),
    "the end is left out; it is a token like the others": edited(
        _distance, "target == -1", "F.pad(target[:, 1:], (0, 1), value=-1) == -1"
    ),
    "the tokens of a sentence are averaged; add them up": edited(
        _distance, "logp.sum(1)", "logp.sum(1) / (target >= 0).sum(1)"
    ),
    "a sum over the sentences; take the mean": edited(_distance, ".mean()", ".sum()"),
    "behind the end of a row token 0 is scored; −1 is no token": edited(
        _distance, "target == -1", "target == -2"
    ),
    "the absolute differences are averaged; a difference may be negative, and stays so": edited(
        _distance, "logp.sum(1)).mean()", "logp.sum(1)).abs().mean()"
    ),
}
