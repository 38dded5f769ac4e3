"""Checks for the project of book/own_language_model.ipynb: the reader's own file, part by part."""

import dis
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import CodeType, FunctionType, ModuleType

import torch
from torch import nn
from torch.nn import functional as F

from book import language_model as ours
from book.checking.exercise import Mistake, exercise, ladder
from book.checking.rungs import rungs

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
    ladder(TOKENIZER, _Tokenizer, Tokenizer=answer)
    return "bytes alone, merges by hand, ties, overlaps, words, accents, and running out of pairs"


class _Tokenizer:
    end = 256

    def __init__(self, text, vocab_size):
        self.pieces = [bytes([byte]) for byte in range(256)] + [b""]
        self.merges = {}
        words = [list(word.encode()) for word in ours.Tokenizer.words.findall(text)]
        while len(self.pieces) < vocab_size:
            pairs = Counter(pair for word in words for pair in pairwise(word))
            if not pairs:
                break
            best = min(pairs, key=lambda pair: (-pairs[pair], pair))
            new = self.merges[best] = len(self.pieces)
            self.pieces.append(self.pieces[best[0]] + self.pieces[best[1]])
            words = [ours.merge(word, best, new) for word in words]

    def __len__(self):
        return len(self.pieces)

    def encode(self, text):
        found = []
        for word in ours.Tokenizer.words.findall(text):
            tokens = list(word.encode())
            for pair, new in self.merges.items():
                tokens = ours.merge(tokens, pair, new)
            found += tokens
        return found

    def decode(self, tokens):
        return b"".join(self.pieces[token] for token in tokens).decode(errors="replace")


TOKENIZER = rungs(
    _Tokenizer,
    r"""
without a merge, the tokens of a text are its bytes
    Tokenizer("", 257).encode("ab")
  - encode appends the end; a text's tokens are those of its words alone
    return found => return [*found, 256]
  - encode puts the end in front; a text's tokens are those of its words alone
    return found => return [256, *found]
without a merge there are 256 bytes and the end
    len(Tokenizer("", 257))
  - the length is the number of merges; it is that of all tokens
    return len(self.pieces) => return len(self.merges)
  - the length leaves out the bytes; it is the number of all tokens
    return len(self.pieces) => return len(self.pieces) - 256
  - the length leaves out the end; it is the number of all tokens: 256 bytes and the end
    return len(self.pieces) => return len(self.pieces) - 1
  - there is no token for the end: it is number 256, behind the bytes, and the first merge is 257
    + [b""] =>
an empty text has no tokens
    Tokenizer("", 257).encode("")
a letter with an accent is two bytes, and both are tokens
    Tokenizer("", 257).encode("é")
  - the tokens are the numbers of characters, not of bytes
    word.encode() => map(ord, word)
capital letters stay what they are: nothing is made small
    Tokenizer("", 257).encode("aA")
  - the text is made small letters first; capital letters are bytes of their own
    findall(text) => findall(text.lower())
  - encode makes the text small letters first; capital letters are bytes of their own
    findall(text): => findall(text.lower()):
a space in front of a word or behind it is a byte like others, and stays
    Tokenizer("", 257).encode(" a ")
  - spaces at the ends of the text are stripped off
    findall(text) => findall(text.strip())
  - encode strips off the spaces at the ends of the text
    findall(text): => findall(text.strip()):
  - words are cut with split, which loses the spaces; `words.findall` keeps them
    ours.Tokenizer.words.findall(text) => text.split()
  - encode cuts words with split, which loses the spaces; `words.findall` keeps them
    ours.Tokenizer.words.findall(text): => text.split():
learning keeps the space in front of the text as well: it is a pair with the letter behind it
    len(Tokenizer(" a", 258))
decode gives back every space, the first and the last too
    repr(Tokenizer("", 257).decode([32, 97, 32]))
  - decode strips off the spaces at the ends
    errors="replace") => errors="replace").strip()
  - decode puts a space between tokens
    b"" => b" "
  - decode strips off the space in front
    errors="replace") => errors="replace").lstrip()
vocab_size counts the bytes and the end, too: with 258 there is one merge
    len(Tokenizer("abcdefgh abcdefgh", 258))
  - one token too many is learned; stop at vocab_size
    < vocab_size => <= vocab_size
  - one token too few is learned; go on until there are vocab_size
    < vocab_size => < vocab_size - 1
  - vocab_size is taken for the number of merges; it counts the bytes and the end, too
    while len(self.pieces) => while len(self.merges)
the most frequent pair is merged, and becomes token 257
    Tokenizer("abab cb", 258).encode("cab")
  - a pair is counted once for each word, however often it stands in it
    for pair in pairwise(word)) => for pair in {*pairwise(word)})
  - the rarest pair is merged; take the most frequent
    (-pairs[pair], pair) => (pairs[pair], pair)
  - the merge is learned, but encode gives the bytes
    tokens = ours.merge(tokens, pair, new) => pass
each tokenizer has merges of its own: a second one knows nothing of those of the first
    first, second = Tokenizer("ab ab", 258), Tokenizer("cd cd", 258)
    [*first.encode("abcd"), *second.encode("abcd")]
a pair that stands only once in the text is merged as well, as long as there is room
    Tokenizer("ab", 258).encode("ab")
  - pairs that stand only once are left alone; merge until vocab_size tokens are there or no pair
    if not pairs => if not pairs or max(pairs.values()) < 2
a pair counts as often as its word stands in the text
    Tokenizer("xy\nzz\nzz\nzz", 258).encode("zzxy")
  - merges reach across words
    ours.Tokenizer.words.findall(text) => [text]
  - each different word is counted once; a pair counts as often as its word stands in the text
    for word in words for => for word in {*map(tuple, words)} for
learning begins with the bytes of a letter, not with the letter: the two of é are a pair
    Tokenizer("é é é", 258).encode("é")
  - what is learned from is cut into characters; the first tokens are bytes
    [list(word.encode()) => [[min(ord(c), 255) for c in word]
learning tells capital letters from small ones, too
    Tokenizer("AB\nAB\nab", 258).encode("ABab")
  - learning makes the text small letters; only encode keeps the capitals
    findall(text)] => findall(text.lower())]
a pair that stands twice in a word is merged at both places
    Tokenizer("ab", 258).encode("abab")
a merged token takes part in the next merge
    Tokenizer("abc abc abc", 259).encode("abc")
  - the merges are made from the last to the first; begin with the one that was learned first
    in self.merges.items() => in reversed(self.merges.items())
a pair that stands twice in a word is merged at both places while learning, too: then the word is
the same token twice, and these two are the next pair
    Tokenizer("abab", 259).encode("abab")
of equally frequent pairs, the one with the older left token comes first, then the one with the
older right token
    Tokenizer("bd\nce\nac\nbe", 258).encode("bd ce ac be")
  - of equally frequent pairs, the one that stands first in the text is taken; the one with the
  older left token comes first
    (-pairs[pair], pair) => -pairs[pair]
  - of equally frequent pairs, the one that stands last in the text is taken; the one with the older
  left token comes first
    (-pairs[pair], pair) => (-pairs[pair], -[*pairs].index(pair))
  - of equally frequent pairs, the one with the larger tokens is taken; the smaller, older ones come
  first
    (-pairs[pair], pair) => (-pairs[pair], -pair[0], -pair[1])
of equally frequent pairs with the same left token, the one with the older right token comes first
    Tokenizer("ad\nac\nae", 258).encode("ad ac ae")
  - of equally frequent pairs with the same left token, the one that stands first in the text is
  taken, not that with the older right token
    (-pairs[pair], pair) => (-pairs[pair], pair[0])
  - of equally frequent pairs with the same left token, the larger right one is taken
    (-pairs[pair], pair) => (-pairs[pair], pair[0], -pair[1])
of equally frequent pairs, the left token decides before the right one
    Tokenizer("ec\nbd\nag", 258).encode("ec bd ag")
  - of equally frequent pairs, the right token decides first; the left one does
    (-pairs[pair], pair) => (-pairs[pair], pair[::-1])
  - of equally frequent pairs, the one with the smaller sum of tokens is taken
    (-pairs[pair], pair) => (-pairs[pair], sum(pair), pair)
of equally frequent pairs, that with the older left token comes first, however long its piece is
    Tokenizer("xyz\nxyz\nxy\nde\nde", 259).encode("xyz de")
  - of equally frequent pairs, the one that makes the longest piece is taken
    (-pairs[pair], pair) => (-pairs[pair], -len(self.pieces[pair[0]] + self.pieces[pair[1]]), pair)
  - of equally frequent pairs, the one with the newest tokens is taken; older ones come first
    (-pairs[pair], pair) => (-pairs[pair], -max(pair), pair)
of equally frequent pairs, the tokens' numbers decide, not the alphabet: d is older than ab
    Tokenizer("abc\nabc\nab\nde\nde", 259).encode("abc de")
  - of equally frequent pairs, the one whose piece comes first in the alphabet is taken; the tokens'
  numbers decide
    (-pairs[pair], pair) => (-pairs[pair], self.pieces[pair[0]] + self.pieces[pair[1]])
three equal letters hold one pair after the other: the left two are merged
    Tokenizer("aa aa", 258).encode("aaa")
when every word is one token, there is nothing left to merge
    len(Tokenizer("ab ab", 1000))
no token reaches from one word into the next; the space belongs to the word behind it
    Tokenizer("a b a b a b a b", 400).encode("a b")
  - learning merges across words, which only encode keeps apart
    ours.Tokenizer.words.findall(text)] => [text]]
  - learning cuts words with split, which loses the spaces; `words.findall` keeps them
    ours.Tokenizer.words.findall(text)] => text.split()]
a text is encoded word by word: two spaces are a word, and no merge reaches out of it
    Tokenizer(" a a a", 258).encode("  a")
  - encode merges across words: a text is encoded word by word
    ours.Tokenizer.words.findall(text): => [text]:
of two merges that exclude each other, the one that was learned first is made
    Tokenizer("bc\nbc\ncd", 259).encode("bcd")
  - of the merges that are possible, the newest is made first; begin with the oldest
    in self.merges.items() => in [*self.merges.items()][::-1] * 3
encoding makes the oldest merge first, even if another pair stands further left
    Tokenizer("abc\nbc\nbc\nab", 260).encode("abc")
  - the leftmost known pair is merged, not the one that was learned first
    pair, new in self.merges.items() => pair in iter(lambda: FIRST, None)
    FIRST => next(filter(self.merges.get, pairwise(tokens)), None)
    ours.merge(tokens, pair, new) => ours.merge(tokens, pair, self.merges[pair])
encoding makes the merges in the order in which they were learned, whatever pieces are longer
    Tokenizer("bc\nbc\nbc\nab\nab", 259).encode("abc")
  - encode takes the longest piece that fits, from the left; it makes the merges in the order in
  which they were learned
    tokens = list(word.encode()) => rest, tokens = word.encode(), []
    pair, new in self.merges.items() => token in iter(lambda: LONGEST, None)
    LONGEST => max((t for t in range(len(self)) if FITS), key=LENGTH, default=None)
    FITS => self.pieces[t] and rest.startswith(self.pieces[t])
    LENGTH => lambda t: len(self.pieces[t])
    tokens = ours.merge(tokens, pair, new) => tokens = [*tokens, token]; PASSED
    PASSED => rest = rest[len(self.pieces[token]) :]
what is decoded is what was encoded
    tokenizer = Tokenizer("the cat the hat", 270)
    tokenizer.decode(tokenizer.encode("that café, the chat"))
  - each token is decoded by itself; put the bytes of all together first
    b"".join(self.pieces[token] for => "".join(self.pieces[token].decode(errors="replace") for
    tokens).decode(errors="replace") => tokens)
""",
)


@exercise
def norm(answer) -> str:
    """Check `RMSNorm(d)`: x over the root of its mean square, times the learned `gain`."""
    check_own_work(answer)
    ladder(NORM, _RMSNorm, RMSNorm=answer)
    return "two numbers by hand, a mean that is not zero, small vectors, batches, and the gain"


class _RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.gain * x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()


NORM = rungs(
    _RMSNorm,
    """
the gain begins at 1
    bool((RMSNorm(3).gain == 1).all())
  - the gain begins at 0, which leaves nothing; let it begin at 1
    torch.ones => torch.zeros
  - the gain begins at 0, and 1 + gain multiplies; it begins at 1 and multiplies as it is
    torch.ones => torch.zeros
    return self.gain => return (1 + self.gain)
  - the gain begins with random numbers; let it begin at 1
    torch.ones => torch.rand
the mean square of 1 and 7 is 25, so the result is 0.2 and 1.4
    RMSNorm(2)(torch.tensor([[1.0, 7.0]]))
  - the mean is taken away as well; that is a layer norm
    self.gain * x * => self.gain * (x - x.mean(-1, keepdim=True)) *
    x.square().mean(-1, keepdim=True) => x.var(-1, keepdim=True, correction=0)
  - the mean is taken away before the root mean square divides; take none away
    self.gain * x * => self.gain * (x - x.mean(-1, keepdim=True)) *
  - it divides by the standard deviation, which leaves the mean out; divide by the root of the mean
  square
    x.square().mean(-1, keepdim=True) => x.var(-1, keepdim=True, correction=0)
  - it divides by the standard deviation of a sample; divide by the root of the mean square
    x.square().mean(-1, keepdim=True) => x.var(-1, keepdim=True)
  - the sum of squares, not their mean, is under the root
    .mean( => .sum(
  - the sum of squares is divided by d - 1; their mean is the sum divided by d
    x.square().mean(-1, keepdim=True) => x.square().sum(-1, keepdim=True) / (x.shape[-1] - 1)
  - it divides by the mean of the absolute values; square first, and take the root of the mean
    x.square().mean(-1, keepdim=True) => x.abs().mean(-1, keepdim=True).square()
  - it divides by the largest absolute value; divide by the root of the mean square
    x.square().mean(-1, keepdim=True) => x.abs().amax(-1, keepdim=True).square()
  - the gain is added; it multiplies
    self.gain * x => self.gain + x
  - 1 + gain multiplies; the gain begins at 1 and multiplies as it is
    self.gain * x => (1 + self.gain) * x
  - the root is missing
    rsqrt => reciprocal
  - it multiplies by the root mean square; divide by it
    rsqrt => sqrt
the mean square of 1, 5 and 7 is 25 as well: the sum of the squares divided by 3
    RMSNorm(3)(torch.tensor([[1.0, 5.0, 7.0]]))
each vector of a batch has its own root mean square
    RMSNorm(2)(torch.tensor([[[1.0, 7.0], [10.0, 70.0]]]))
  - one root for everything
    .mean(-1, keepdim=True) => .mean()
  - the mean runs over the positions; each vector has a mean of its own
    .mean(-1, => .mean(-2 if x.dim() > 1 else -1,
each vector of a batch has its own, across the batch as well
    RMSNorm(2)(torch.tensor([[[1.0, 7.0]], [[10.0, 70.0]]]))
  - the mean runs over the batch; each vector has a mean of its own
    .mean(-1, => .mean(0 if x.dim() > 1 else -1,
  - one root for each row of the batch; each of its vectors has its own
    .mean(-1, => .mean((-1, -2) if x.dim() > 1 else -1,
a vector of zeros stays one
    RMSNorm(2)(torch.zeros(2))
  - nothing is added to the mean square; with 1e-6, a vector of zeros stays one, and is not NaN
    + 1e-6 => + 0
only 1e-6 is added to the mean square: a small vector is brought to size, too
    RMSNorm(2)(torch.tensor([0.02, 0.14]))
  - 1e-5 is added, as in nn.LayerNorm; only 1e-6 is added here
    1e-6 => 1e-5
  - 1e-3 is added to the mean square; only 1e-6 is added here
    1e-6 => 1e-3
1e-6 is added under the root, where it counts for very small vectors
    RMSNorm(2)(torch.tensor([0.0002, 0.0014]))
  - 1e-6 is added behind the root; add it under the root
    (x.square().mean(-1, keepdim=True) + 1e-6) => (x.square().mean(-1, keepdim=True).sqrt() + 1e-6)
    rsqrt => reciprocal
  - 1e-8 is added to the mean square; add 1e-6
    1e-6 => 1e-8
  - the smallest step of a float is added, as F.rms_norm does without eps; add 1e-6
    1e-6 => torch.finfo().eps
  - nothing is added, and a mean square below 1e-6 is taken for 1e-6; add 1e-6 to all
    (x.square().mean(-1, keepdim=True) + 1e-6) => x.square().mean(-1, keepdim=True).clamp(min=1e-6)
there is one gain for each entry, and it multiplies
    layer = RMSNorm(2)
    layer.gain.data = torch.tensor([3.0, -2.0])
    layer(torch.tensor([1.0, 7.0]))
  - the gain is not used
    self.gain * x => x
  - the gain goes into the norm, which takes it out again; multiply what comes out
    return self.gain * x * ( => x = self.gain * x; return x * (
  - the gain divides; it multiplies
    self.gain * x => x / self.gain
  - the gain is squared; it multiplies as it is
    self.gain * x => self.gain**2 * x
every entry has a gain of its own: as many numbers are learned as there are entries
    RMSNorm(5).gain.numel()
  - there is one gain for all entries; every entry has a gain of its own
    torch.ones(d) => torch.ones(1)
the gain is learned: it is a parameter
    " ".join(name for name, _ in RMSNorm(2).named_parameters())
  - the gain is a plain tensor, which no optimizer finds; it is learned, so make it an nn.Parameter
    nn.Parameter(torch.ones(d)) => torch.ones(d)
  - there is a bias as well; only the gain is learned
    self.gain = => self.bias, self.gain = nn.Parameter(torch.zeros(d)),
the gain gets a gradient
    RMSNorm(2).gain.requires_grad
  - the gain is a parameter without a gradient, and stays what it is; it is learned
    torch.ones(d) => torch.ones(d), requires_grad=False
""",
)


@exercise
def rope(answer) -> str:
    """Check `rotate(x, start=0)`: the pairs of x (B, H, T, d_k), turned by their position."""
    check_own_work(answer)
    ladder(ROPE, _rotate, rotate=answer)
    return "the first position, a right angle, several speeds, a start, and distances alone"


def _rotate(x, start=0):
    T, d_k = x.shape[-2:]
    speeds = 10_000 ** (-torch.arange(0, d_k, 2) / d_k)
    angle = torch.arange(start, start + T)[:, None] * speeds
    a, b = x.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


ROPE = rungs(
    _rotate,
    """
position 0 is not turned
    rotate(torch.tensor([[[[1.0, 2.0, 3.0, 4.0]]]]))
  - positions begin at 1; the first one is 0
    (start, start + T) => (start + 1, start + T + 1)
  - a sign: the second entry of a pair becomes a · sin + b · cos
    a * sin + b * cos => a * sin - b * cos
  - cos and sin have changed places
    angle.cos(), angle.sin() => angle.sin(), angle.cos()
  - the two halves of the result have changed places: first all a, then all b
    [a * cos - b * sin, a * sin + b * cos] => [a * sin + b * cos, a * cos - b * sin]
  - the result has the two entries of a pair side by side; they are half a vector apart
    ], dim=-1) => ], dim=-1).unflatten(-1, (2, -1)).mT.flatten(-2)
the only pair of two entries turns by 1 at each position
    rotate(torch.tensor([[[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]]]))
  - it turns the other way
    a * cos - b * sin, a * sin + b * cos => a * cos + b * sin, b * cos - a * sin
  - the angles are taken for degrees; they are radians
    angle = => angle = torch.pi / 180 *
  - positions run along the heads; they run along axis 2
    x.shape[-2:] => x.shape[1], x.shape[-1]
    [:, None] * => [:, None, None] *
  - positions run along the rows of the batch; they run along axis 2
    x.shape[-2:] => x.shape[0], x.shape[-1]
    [:, None] * => [:, None, None, None] *
  - start is taken for the last position; it is the first
    (start, start + T) => (start - T + 1, start + 1)
  - the new b is made with the new a; both are made with the old ones
    [a * cos => [a := a * cos
  - only the first half of the entries is turned; a pair's second entry becomes a · sin + b · cos
    a * sin + b * cos => b
  - only the second half of the entries is turned; a pair's first entry becomes a · cos − b · sin
    a * cos - b * sin => a
  - nothing is turned
    angle = => angle = 0 *
  - the angle of the first position is that of all; position t turns by t times the speed
    torch.arange(start, start + T) => torch.full((T,), start)
  - the speeds begin with that of i = 1; the first pair is i = 0, and turns by 1
    torch.arange(0, d_k, 2) => torch.arange(2, d_k + 2, 2)
  - the angle is t + speed; it is t times the speed
    [:, None] * speeds => [:, None] + speeds - 1
with two pairs, entry i is paired with entry i + d_k / 2: the first with the third
    rotate(torch.tensor([[[[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]]]))
  - neighbouring entries are paired
    x.chunk(2, dim=-1) => x[..., ::2], x[..., 1::2]
    ], dim=-1) => ], dim=-1).unflatten(-1, (2, -1)).mT.flatten(-2)
  - neighbouring entries are paired, and the result has all first ones in front; entries i and i +
  d_k / 2 are a pair
    x.chunk(2, dim=-1) => x[..., ::2], x[..., 1::2]
  - the first entry is paired with the last; entries i and i + d_k / 2 are a pair
    x.chunk(2, dim=-1) => x[..., : d_k // 2], x[..., d_k // 2 :].flip(-1)
    a * sin + b * cos] => (a * sin + b * cos).flip(-1)]
  - the fastest pair is the last; the first pair turns by 1
    / d_k) => / d_k).flip(0)
entry i is paired with entry i + d_k / 2, and later pairs turn more slowly
    rotate(torch.tensor([[[[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]]]))
  - all pairs turn at the same speed
    * speeds => * speeds[0]
  - the speeds fall half as fast as they should; the exponent is −2i / d_k
    / d_k) => / d_k / 2)
  - the speeds fall twice as fast as they should; the exponent is −2i / d_k
    / d_k) => / d_k * 2)
  - the base of the speeds is 1,000; it should be 10,000
    10_000 => 1000
  - the base of the speeds is 100,000; it should be 10,000
    10_000 => 100_000
  - later pairs turn faster: the exponent has lost its minus; it is −2i / d_k
    (-torch.arange => (torch.arange
  - the exponent is −2i / (d_k − 2), so that the last pair has a speed of 1/10,000; it is −2i / d_k
    / d_k) => / max(d_k - 2, 1))
  - the speeds fall along a line, 1 − 2i / d_k; they are powers of 10,000
    10_000 ** (-torch.arange(0, d_k, 2) / d_k) => 1 - torch.arange(0, d_k, 2) / d_k
  - the speeds are powers of e; the base is 10,000
    10_000 => torch.e
with three pairs, the second turns by 10,000 to the power −1/3, the third by its square
    rotate(torch.tensor([[[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]]]]))
  - the speeds are 1/10,000 for all pairs but the first; the exponent is −2i / d_k
    speeds = 10_000 ** (-torch.arange(0, d_k, 2) / d_k) => speeds = 10_000.0 ** -TWO
    TWO => (torch.arange(d_k // 2) > 0).float().mul(2 / min(d_k, 4))
the first position is start
    rotate(torch.tensor([[[[1.0, 0.0, 0.0, 1.0]]]]), 5)
  - start is left out
    (start, start + T) => (0, T)
  - a sign: the first entry of a pair becomes a · cos − b · sin
    a * cos - b * sin => a * cos + b * sin
  - start is taken away from the positions; add it
    (start, start + T) => (-start, T - start)
  - with a start, the first position is start + 1; it is start
    (start, start + T) => (start + (start > 0), start + T + (start > 0))
  - with a start, the first position is start − 1; it is start
    (start, start + T) => (start - (start > 0), start + T - (start > 0))
  - start is added to the angle; add it to the position, before the speed multiplies
    torch.arange(start, start + T)[:, None] * speeds => torch.arange(T)[:, None] * speeds + start
behind the start, positions go on one by one: with a start of 5, the second is 6
    rotate(torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]]), 5)
  - start multiplies the positions; add it to them
    torch.arange(start, start + T) => (torch.arange(T) * (start + 1))
  - all positions are taken for start; they go on one by one behind it
    torch.arange(start, start + T) => (torch.arange(T) * (start == 0) + start)
batches and heads are turned alike
    rotate(torch.randn(2, 3, 5, 8), 2)
  - the width of all heads is under the exponent; d_k is that of one head
    / d_k) => / (d_k * x.shape[1]))
""",
)


@exercise
def attention(answer) -> str:
    """Check `Attention(d, heads)`: causal, in heads, with RoPE, and with a cache."""
    check_own_work(answer)
    ladder(ATTENTION, _Attention, Attention=answer)
    return "one position, two heads, the past alone, distances, and caches filled in several ways"


class _Attention(ours.Attention):
    def forward(self, x, cache=None):
        B, T, d = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        past = cache["k"].shape[2] if cache else 0
        raw = k
        q, k = ours.rotate(q, past), ours.rotate(raw, past)
        if past:
            k = torch.cat([cache["k"], k], dim=2)
            v = torch.cat([cache["v"], v], dim=2)
        if cache is not None:
            cache.update(k=k, v=v)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        seen = torch.ones(T, past + T).tril(past) == 1
        weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, d))


# Weights that anybody can make again, whatever the layer was initialised with.
FILLED = """\
def filled(module):
    for i, p in enumerate(module.parameters()):
        p.data = (torch.arange(p.numel()) + i).sin().view_as(p)
    return module
"""

ATTENTION = rungs(
    _Attention,
    """
one position sees itself alone
    x = torch.randn(1, 1, 4)
    filled(Attention(4, 1))(x)
  - the output matrix `out` is not used
    self.out( => (
  - x is added; the block does that, not this layer
    return self.out( => return x + self.out(
  - no position sees itself, so that the first one sees nothing
    .tril(past) => .tril(past - 1)
    .softmax(-1) => .softmax(-1).nan_to_num()
  - no position sees itself: for the first one nothing is left, which makes NaN
    .tril(past) => .tril(past - 1)
  - values come first, then keys, then queries; the projection makes q, k, v in this order
    q, k, v = => v, k, q =
  - keys and values have changed places; the projection makes q, k, v in this order
    q, k, v = => q, v, k =
  - True and False of the mask have changed places
    .masked_fill(~seen => .masked_fill(seen
  - the mask comes after the softmax and is minus infinity; mask the scores before it
    scores.masked_fill(~seen, -torch.inf).softmax(-1) => scores.softmax(-1) + HIDDEN
    HIDDEN => torch.zeros(T, past + T).masked_fill(~seen, -torch.inf)
  - the values are multiplied by the scores: the softmax is missing
    scores.masked_fill(~seen, -torch.inf).softmax(-1) => scores.masked_fill(~seen, 0)
a position sees itself and what is before it
    x = torch.randn(1, 3, 4)
    filled(Attention(4, 1))(x)
  - the future is seen
    .tril(past) == 1 => == 1
  - a position does not see itself
    .tril(past) == 1 => .tril(past - 1) + (torch.arange(T)[:, None] == 0) > 0
  - the future is seen, and the past is not
    .tril(past) => .triu(past)
  - one position too many is seen: the next one
    .tril(past) => .tril(past + 1)
  - scores that are masked are set to 0, which is no small score; set them to minus infinity
    -torch.inf => 0.0
  - the mask comes after the softmax, and the rest does not sum to 1; mask the scores before it
    scores.masked_fill(~seen, -torch.inf).softmax(-1) => scores.softmax(-1) * seen
  - the softmax runs over the queries; it runs over the keys
    .softmax(-1) => .softmax(-2).nan_to_num()
  - keys come first, then queries; the projection makes q, k, v in this order
    q, k, v = => k, q, v =
  - queries and keys are not turned
    ours.rotate(q, past), ours.rotate(raw, past) => q, k
  - the queries are turned, the keys are not
    ours.rotate(raw, past) => k
  - the keys are turned, the queries are not
    ours.rotate(q, past) => q
  - the values are turned as well
    raw = k => raw, v = k, ours.rotate(v, past)
  - the scores are not divided by √d_k
    / q.shape[-1] ** 0.5 => / 1
  - the scores are divided by d_k, not by its root
    / q.shape[-1] ** 0.5 => / q.shape[-1]
  - the scores are multiplied by √d_k; divide
    / q.shape[-1] ** 0.5 => * q.shape[-1] ** 0.5
  - the scores are divided by the root of the number of positions; divide by √d_k
    / q.shape[-1] ** 0.5 => / (past + T) ** 0.5
each head has its own part of q, k and v, and the parts are put side by side again
    x = torch.randn(2, 3, 8)
    filled(Attention(8, 2))(x)
  - the scores are divided by √d; each head is only d / heads wide
    / q.shape[-1] ** 0.5 => / d ** 0.5
  - heads and positions are mixed up: transpose, then flatten
    (weights @ v).transpose(1, 2) => (weights @ v)
  - there is one head only; each head has its own part of q, k and v
    self.heads, -1) => 1, -1)
  - q, k and v are turned before they are cut into heads, so that each head turns at other speeds;
  cut first
    ours.rotate(q, past), ours.rotate(raw, past) => TURNED(q), TURNED(k)
    raw = k => raw, join = k, lambda z: z.transpose(1, 2).flatten(2)[:, None]
    TURNED(q) => ours.rotate(join(q), past)[:, 0].unflatten(-1, (self.heads, -1)).transpose(1, 2)
    TURNED(k) => ours.rotate(join(k), past)[:, 0].unflatten(-1, (self.heads, -1)).transpose(1, 2)
  - the projection is taken for q, k, v of the first head, then q, k, v of the next; it makes all of
  q, then all of k, then all of v
    .view(B, T, 3, self.heads, -1).permute(2, => .view(B, T, self.heads, 3, -1).permute(3,
    0, 3, 1, 4) => 0, 2, 1, 4)
  - the projection is taken for one entry of q, one of k, one of v and so on; it makes all of q,
  then all of k, then all of v
    .view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4) => .view(B, T, HEADS).permute(ORDER)
    HEADS => self.heads, -1, 3
    ORDER => 4, 0, 2, 1, 3
  - a head takes every second entry, as many heads there are; its part is one piece
    .view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4) => .view(B, T, HEADS).permute(ORDER)
    HEADS => 3, -1, self.heads
    ORDER => 2, 0, 4, 1, 3
  - positions are cut into heads: transpose after the view, do not view into the new shape
    .view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4) => .chunk(3, dim=-1)
    raw = k => raw, q, v = (z.reshape(B, self.heads, T, -1) for z in (k, q, v))
an empty cache changes nothing, and afterwards it holds the keys and values
    x = torch.randn(1, 3, 4)
    layer = filled(Attention(4, 1))
    cache = {}
    y = layer(x, cache)
    (y, *[x.shape[2] for x in cache.values()])
  - the cache stays empty
    cache.update(k=k, v=v) => pass
  - only the newest key is kept
    cache.update(k=k, v=v) => cache.update(k=k[:, :, -1:], v=v[:, :, -1:])
one position more, with the cache: it sees all before it, at its own place
    x = torch.randn(1, 4, 4)
    layer = filled(Attention(4, 1))
    cache = {}
    before = layer(x[:, :3], cache)
    layer(x[:, 3:], cache)
  - the new position is turned as if it were the first
    ours.rotate(q, past), ours.rotate(raw, past) => ours.rotate(q), ours.rotate(k)
  - the new query is turned as if it were the first, the new key is not
    ours.rotate(q, past) => ours.rotate(q)
  - the new key is turned as if it were the first, the new query is not
    ours.rotate(raw, past) => ours.rotate(k)
  - with a cache, the new position is turned by one too few: behind 3 positions it is number 3,
  counted from 0
    past), ours.rotate(raw, past) => max(past - 1, 0)), ours.rotate(k, max(past - 1, 0))
  - with a cache, the new position is turned by one too many: behind 3 positions it is number 3,
  counted from 0
    past), ours.rotate(raw, past) => past + (past > 0)), ours.rotate(k, past + (past > 0))
  - the cache holds unturned keys, and nobody turns them later
    cache.update(k=k => cache.update(k=torch.cat([k[:, :, :past], raw], dim=2)
  - the keys in the cache are turned already, and are turned again at every step
    ours.rotate(raw, past) => k
    if cache is not None: => if [k := ours.rotate(k)] and cache is not None:
  - the new positions look at the new keys only, not at those in the cache
    q @ k.mT => q @ k[:, :, past:].mT
    weights @ v => weights @ v[:, :, past:]
    torch.ones(T, past + T).tril(past) => torch.ones(T, T).tril()
  - with a cache, the new positions look at the old keys only, not at themselves
    .tril(past) => .tril(past - (past > 0))
  - with a cache, a new query sees the first key only
    .tril(past) => .tril()
the cache grows with every step: the second new position sees all before it, too
    x = torch.randn(1, 5, 4)
    layer = filled(Attention(4, 1))
    cache = {}
    before = layer(x[:, :3], cache), layer(x[:, 3:4], cache)
    layer(x[:, 4:], cache)
  - only the newest keys and values are kept; the cache must grow with every step
    cache.update(k=k, v=v) => cache.update(k=k[:, :, past:], v=v[:, :, past:])
  - the cache is filled once and never grows; new keys and values are put behind the old ones
    cache.update(k=k, v=v) => cache.update({} if past else {"k": k, "v": v})
the keys in the cache are turned, and stand with the values in the order of positions
    x = torch.randn(1, 4, 4)
    layer = filled(Attention(4, 1))
    cache = {}
    before = layer(x[:, :2], cache), layer(x[:, 2:], cache)
    torch.stack([cache["k"], cache["v"]])
  - the cache holds keys that are not turned yet; turn each once, then put it there
    ours.rotate(raw, past) => k
    q @ k.mT => q @ ours.rotate(k).mT
several positions at once on top of a cache: none sees those behind it
    x = torch.randn(2, 7, 8)
    layer = filled(Attention(8, 2))
    cache = {}
    torch.cat([layer(piece, cache) for piece in x.split([2, 4, 1], dim=1)], dim=1)
  - new keys stand in front of the old ones; put them behind
    [cache["k"], k] => [k, cache["k"]]
    [cache["v"], v] => [v, cache["v"]]
  - on top of a cache, several new positions see each other
    .tril(past) == 1 => .tril(past if past == 0 else T + past) == 1
""",
    before=FILLED,
)


@exercise
def gate(answer) -> str:
    """Check `SwiGLU(d)`: down(silu(gate(x)) * up(x))."""
    check_own_work(answer)
    ladder(GATE, _SwiGLU, SwiGLU=answer)
    return "one vector, a batch, and zeros"


class _SwiGLU(ours.SwiGLU):
    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


GATE = rungs(
    _SwiGLU,
    """
zeros give zeros, since there is no bias
    filled(SwiGLU(3))(torch.zeros(3))
  - `down` is not used
    self.down( => (
  - the gate goes through softplus, not SiLU, and what `up` gives is added
    F.silu(self.gate(x)) * => F.softplus(self.gate(x)) +
each inner unit has a gate of its own, which lets it through or shuts it before `down`: here SiLU
turns 40 into 40 and −40 into 0
    layer = filled(SwiGLU(3))
    layer.gate.weight.data = torch.tensor([[40.0], [-40.0]]).repeat(4, 3)
    layer(torch.tensor([1.0, -0.5, 0.5]))
  - `up` goes through SiLU, not the gate
    F.silu(self.gate(x)) * self.up(x) => self.gate(x) * F.silu(self.up(x))
  - the gate is a sigmoid; SiLU is x · sigmoid(x)
    F.silu => torch.sigmoid
  - the gate goes through a softmax, not SiLU
    F.silu(self.gate(x)) => self.gate(x).softmax(-1)
  - there is no non-linearity
    F.silu(self.gate(x)) => self.gate(x)
  - gate and `up` are added; they are multiplied
    ) * self.up => ) + self.up
  - gate and `up` are added before SiLU; take SiLU of the gate and multiply by `up`
    F.silu(self.gate(x)) * self.up(x) => F.silu(self.gate(x) + self.up(x))
  - `up` goes through SiLU as well; only the gate does
    * self.up(x) => * F.silu(self.up(x))
  - SiLU is taken of the product; take it of the gate alone
    F.silu(self.gate(x)) * self.up(x) => F.silu(self.gate(x) * self.up(x))
  - SiLU is taken of the result; take it of the gate alone
    self.down(F.silu(self.gate(x)) * self.up(x)) => F.silu(self.down(self.gate(x) * self.up(x)))
  - what `up` gives is multiplied by the gate and by SiLU of the gate; SiLU alone multiplies
    * self.up(x) => * self.gate(x) * self.up(x)
  - x is added; the block does that, not this layer
    return self.down => return x + self.down
  - `up` is not used
    * self.up(x) => * 1
  - `gate` is not used
    F.silu(self.gate(x)) * self.up(x) => F.silu(self.up(x))
  - the gate multiplies itself; it multiplies what `up` gives
    * self.up(x) => * self.gate(x)
  - the gate goes through tanh, not SiLU
    F.silu => torch.tanh
  - one number, the mean of all gates, multiplies everything; each inner unit has a gate of its own
    F.silu(self.gate(x)) => F.silu(self.gate(x)).mean(-1, keepdim=True)
  - one number, the sum of all gates, multiplies everything; each inner unit has a gate of its own
    F.silu(self.gate(x)) => F.silu(self.gate(x)).sum(-1, keepdim=True)
the gate goes through SiLU, then multiplies what `up` gives
    filled(SwiGLU(3))(torch.tensor([1.0, -2.0, 0.5]))
  - the gate goes through GELU, not SiLU
    F.silu => F.gelu
  - the gate goes through ReLU, not SiLU
    F.silu => F.relu
  - the gate goes through softplus, not SiLU
    F.silu => F.softplus
  - the gate goes through ELU, not SiLU
    F.silu => F.elu
  - the gate goes through Mish, not SiLU
    F.silu => F.mish
  - the gate goes through leaky ReLU, not SiLU
    F.silu => F.leaky_relu
  - the sigmoid is taken of 1.702 times the gate, as in a quick GELU; SiLU is x · sigmoid(x)
    F.silu(self.gate(x)) => self.gate(x) * torch.sigmoid(1.702 * self.gate(x))
every position is treated alike
    x = torch.randn(2, 3, 3)
    filled(SwiGLU(3))(x)
""",
    before=FILLED,
)


@exercise
def model(answer) -> str:
    """Check `LanguageModel(vocab_size, d, layers, heads)`: ids (B, T) to logits."""
    check_own_work(answer)
    ladder(MODEL, _LanguageModel, LanguageModel=answer)
    return "no block, two blocks, tied weights, rows that have ended, and a cache"


class _LanguageModel(ours.LanguageModel):
    def forward(self, ids, cache=None):
        x = self.norm_in(self.embedding(ids.clamp(min=0)))
        for number, block in enumerate(self.blocks):
            x = block(x, None if cache is None else cache[number])
        return self.norm_out(x) @ self.embedding.weight.T


MODEL = rungs(
    _LanguageModel,
    """
without a block: embed, norm, norm again, and multiply by the embedding
    model = filled(LanguageModel(5, 8, 0, 2))
    model(torch.tensor([[3]]))
  - the embedding is not normed
    self.norm_in(self.embedding(ids.clamp(min=0))) => self.embedding(ids.clamp(min=0))
  - the last norm is missing
    self.norm_out(x) => x
  - there is no norm at either end: `norm_in` follows the embedding, `norm_out` the last block
    self.norm_in(self.embedding(ids.clamp(min=0))) => self.embedding(ids.clamp(min=0))
    self.norm_out(x) => x
  - `norm_in` is used at both ends; the last norm is `norm_out`
    norm_out => norm_in
  - `norm_out` is used at both ends; the first norm is `norm_in`
    norm_in => norm_out
  - the two norms have changed places: `norm_in` follows the embedding, `norm_out` the last block
    norm_in => norm_x
    norm_out => norm_in
    norm_x => norm_out
  - these are probabilities; return the logits
    return self.norm_out(x) @ self.embedding.weight.T => return (LOGITS).softmax(-1)
    LOGITS => self.norm_out(x) @ self.embedding.weight.T
  - these are log-probabilities; return the logits
    return self.norm_out(x) @ self.embedding.weight.T => return (LOGITS).log_softmax(-1)
    LOGITS => self.norm_out(x) @ self.embedding.weight.T
  - the logits are divided by √d; return them as they are
    self.norm_out(x) @ => self.norm_out(x) / x.shape[-1] ** 0.5 @
  - what is multiplied by the embedding is its norm: every row of the matrix is normed as well
    self.embedding.weight.T => self.norm_in(self.embedding.weight).T
  - the norm comes after the multiplication by the embedding; it comes before
    self.norm_out(x) @ self.embedding.weight.T => F.rms_norm(x @ self.embedding.weight.T, [5])
every position has its logits, not only the last
    model = filled(LanguageModel(5, 8, 0, 2))
    model(torch.tensor([[3, 1, 4]]))
  - only the logits of the last position are returned; each position has its own
    self.norm_out(x) => self.norm_out(x[:, -1:])
  - only the logits of the last position are returned, and the axis of positions is gone
    self.norm_out(x) => self.norm_out(x[:, -1])
  - the positions are averaged; each has logits of its own
    self.norm_out(x) => self.norm_out(x.mean(1, keepdim=True))
the embedding is the output matrix, too: there is one such matrix
    model = LanguageModel(5, 8, 1, 2)
    sum(p.shape == (5, 8) for p in model.parameters())
the embedding learns from both of its uses: what makes the logits gets a gradient as well as what
is read
    model = filled(LanguageModel(5, 8, 0, 2))
    model(torch.tensor([[3]]))[0, 0, 1].backward()
    model.embedding.weight.grad
  - the output matrix is detached, so that nothing is learned there; it is the embedding itself
    self.embedding.weight.T => self.embedding.weight.detach().T
  - the embedding that is read is detached, and learns only as the output matrix
    self.embedding(ids.clamp(min=0)) => self.embedding(ids.clamp(min=0)).detach()
every block works on what the one before it gives
    model = filled(LanguageModel(5, 8, 2, 2))
    model(torch.tensor([[3, 1, 4, 1]]))
  - only one block is used
    enumerate(self.blocks) => enumerate(self.blocks[:1])
  - no block is used
    enumerate(self.blocks) => enumerate(self.blocks[:0])
  - only the last block is used: each begins with the embedding, not with what the one before gives
    x = block(x, => x = block(self.norm_in(self.embedding(ids.clamp(min=0))),
  - the first block is used each time
    x = block(x, => x = self.blocks[0](x,
  - the blocks are gone through from the last to the first
    enumerate(self.blocks) => enumerate(reversed(self.blocks))
  - a block's output is added to x; the block has done that already
    x = block( => x = x + block(
  - `norm_out` follows every block; it follows the last one only
    x = block(x, None if cache is None else cache[number]) => x = self.norm_out(AFTER)
    AFTER => block(x, None if cache is None else cache[number])
  - `norm_in` stands before every block; it follows the embedding alone
    x = block(x, => x = block(self.norm_in(x),
  - the embedding is added again before every block
    x = block(x, => x = block(x + self.norm_in(self.embedding(ids.clamp(min=0))),
−1 stands where a row has ended; it is read like token 0
    model = filled(LanguageModel(5, 8, 1, 2))
    model(torch.tensor([[3, 1], [2, -1]]))[1]
  - −1 is read like token 1; it is read like token 0
    ids.clamp(min=0) => ids.abs()
  - −1 is read like the last token, as an index counts from the end; it is read like token 0
    ids.clamp(min=0) => ids % len(self.embedding.weight)
  - where a row has ended, a vector of zeros is read; −1 is read like token 0
    self.embedding(ids.clamp(min=0)) => self.embedding(ids.clamp(min=0)) * (ids >= 0)[..., None]
  - where a row has ended, the logits are set to 0; −1 is read like token 0, and its logits stay
    self.norm_out(x) => (ids >= 0)[..., None] * self.norm_out(x)
token 0 is read like itself
    model = filled(LanguageModel(5, 8, 1, 2))
    model(torch.tensor([[0, 2]]))
  - token 0 is read like token 1; only −1 is read like another, token 0
    ids.clamp(min=0) => ids.clamp(min=1)
  - token 0 is taken for the missing one, and read as zeros; −1 stands where a row has ended
    self.embedding(ids.clamp(min=0)) => self.embedding(ids.clamp(min=0)) * (ids != 0)[..., None]
with a cache, all ids that are given are read: they are what follows those in the cache
    model = filled(LanguageModel(5, 8, 1, 2))
    model(torch.tensor([[3, 1, 4]]), model.empty_cache())
  - with a cache only the last of the ids is read; all that are given are new
    self.embedding(ids.clamp(min=0)) => self.embedding((NEW).clamp(min=0))
    NEW => ids if cache is None else ids[:, -1:]
with a cache, piece by piece, the logits are those of one pass
    model = filled(LanguageModel(5, 8, 2, 2))
    ids = torch.tensor([[3, 1, 4, 1, 2]])
    cache = model.empty_cache()
    torch.cat([model(piece, cache) for piece in ids.split(2, dim=1)], dim=1)
  - all blocks share one cache; each has its own
    cache[number] => cache[0]
  - the cache is not handed on to the blocks
    None if cache is None else cache[number] => None
  - only the first block gets a cache; each has its own
    None if cache is None => None if cache is None or number > 0
""",
    before=FILLED,
)


@exercise
def loop(answer) -> str:
    """Check `train(model, batch, steps, peak)` -> the loss of every step."""
    check_own_work(answer)
    ladder(LOOP, _train, train=answer)
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


PAIRS = """\
class Pairs(torch.nn.Embedding):  # a table of pairs is a model, too
    def __init__(self):
        super().__init__(4, 4)
        self.weight.data = torch.arange(16).sin().view(4, 4)
    def forward(self, ids):
        return super().forward(ids.clamp(min=0))
"""
LOOP = rungs(
    _train,
    """
one token to predict: the loss is minus its log-probability, after the token that is read
    ids = torch.tensor([[1, 3]])
    train(Pairs(), lambda step: ids, 1)
  - the token that was read is predicted, not the next one
    ids[:, 1:] => ids[:, :-1]
  - the token in front is predicted, after the one that follows it; read all but the last
    ids[:, 1:] => ids[:, :-0 or None]
    model(ids[:, :-1]) => model(ids[:, 1:])
    target.flatten() => target[:, :-1].flatten()
  - the loss has lost its sign
    F.cross => -F.cross
  - the losses are in bits; minus the log-probability is in nats
    loss.item() => loss.item() / 0.6931471805599453
  - the perplexity is returned, the exponential of the loss
    loss.item() => loss.exp().item()
  - a softmax comes before the cross-entropy, which takes one itself: give it the logits
    logits.flatten(0, 1) => logits.flatten(0, 1).softmax(-1)
  - only the last loss is returned; return a list with one of each step
    return losses => return losses[-1]
the loss at a position is minus the log-probability of the next token; take the mean
    ids = torch.tensor([[2, 1, 3]])
    train(Pairs(), lambda step: ids, 1)
  - the losses are added up; take their mean
    ignore_index=-1 => ignore_index=-1, reduction="sum"
  - only the last token is predicted; every token after the first is
    logits.flatten(0, 1), target.flatten() => logits[:, -1], target[:, -1]
  - the losses are added up over a row; take the mean over all tokens
    ignore_index=-1) => ignore_index=-1) * target.shape[1]
token 0 is a token like the others: it is predicted as well
    ids = torch.tensor([[1, 0, 3]])
    train(Pairs(), lambda step: ids, 1)
  - token 0 is taken for what is missing, and is never predicted; −1 is no target
    target.flatten(), ignore_index=-1 => target.clamp(min=0).flatten(), ignore_index=0
−1 is no target: a row that has ended has no loss, and does not count in the mean
    ids = torch.tensor([[0, 1, 3], [2, 1, -1]])
    train(Pairs(), lambda step: ids, 1)
  - what is missing counts in the mean
    ignore_index=-1) => ignore_index=-1, reduction="sum") / target.numel()
  - behind the end of a row token 0 is predicted; −1 is no target
    target.flatten(), ignore_index=-1 => target.clamp(min=0).flatten()
  - a row that has ended is left out as a whole; leave out −1 alone
    target.flatten() => target.masked_fill((target < 0).any(1, keepdim=True), -1).flatten()
  - a mean of the rows' means; every token counts the same
    F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=-1) => sum(MEANS)
    MEANS => F.cross_entropy(z, y, ignore_index=-1) / len(ids) for z, y in PAIRED
    PAIRED => zip(logits, target, strict=True)
  - the sum of the losses is divided by the number of rows; divide by that of the tokens
    ignore_index=-1) => ignore_index=-1, reduction="sum") / len(ids)
step number k trains on batch(k), the first being batch(0)
    class Told:
        steps = []
    ids = torch.tensor([[0, 1, 3]])
    losses = train(Pairs(), lambda step: Told.steps.append(step) or ids, 3)
    Told.steps
  - the steps are counted from 1
    batch(step) => batch(step + 1)
  - every step trains on batch(0)
    batch(step) => batch(0)
  - there is one step too many: range(steps) counts from 0
    range(steps) => range(steps + 1)
the weights learn from each batch, and learning_rate(0, steps, peak) is the rate of the first step
    ids = torch.tensor([[0, 1, 3], [2, 2, 1]])
    train(Pairs(), lambda step: ids, 2, 2.0)
  - the weights never change: call optimizer.step() after `backward`, with the gradients still there
    optimizer.step() => pass
  - the rate stays at its peak
    ours.learning_rate(step, steps, peak) => peak
  - the rate is never set, and stays AdamW's own, 0.001
    ours.learning_rate(step, steps, peak) => 0.001
  - the peak is not used: the rate goes up to 0.01
    steps, peak) => steps, 0.01)
  - the rate is that of step + 1; the first step is step 0
    learning_rate(step, => learning_rate(step + 1,
  - the rate is set after the step; set it before
    ours.learning_rate(step, steps, peak) => LATE if step else 1e-3
    LATE => ours.learning_rate(step - 1, steps, peak)
  - the optimizer makes two steps with each batch
    optimizer.step() => optimizer.step() or optimizer.step()
  - the loss is made larger: the gradient has lost its sign
    loss.backward() => (-loss).backward()
every step begins with fresh gradients, and learning_rate(step, steps, peak) is its rate
    ids = torch.tensor([[0, 1, 3], [2, 2, 1]])
    train(Pairs(), lambda step: ids + (step > 8) * torch.tensor([[0], [1]]), 24, 3.0)
  - gradients of earlier steps are still there: call zero_grad
    optimizer.zero_grad() => pass
  - the rate only goes up; behind the warm-up it falls along a cosine
    ours.learning_rate(step, steps, peak) => peak * min((step + 1) / 50, 1)
  - every step begins with a new optimizer, which has forgotten the averages; make one for all
    ids = batch(step) => ids = batch(step); optimizer = NEW
    NEW => torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.02)
a gradient that is shorter than 1 stays as it is: it is not made longer
    class Quiet(Pairs):
        def forward(self, ids):
            return (0.01 if ids[0, 0] == 0 else 0.1) * super().forward(ids)
    train(Quiet(), lambda step: torch.tensor([[step % 3, 1, 3]]), 12, 1.0)
  - every gradient is brought to length 1, short ones too; only longer ones are clipped
    model.parameters(), 1.0) => model.parameters(), 1.0); SCALED
    SCALED => lengths = torch.stack([p.grad.norm() for p in model.parameters()]).norm(); EACH
    EACH => [p.grad.div_(lengths) for p in model.parameters()]
  - the gradient is clipped to length 0.1; clip it to 1
    model.parameters(), 1.0 => model.parameters(), 0.1
the gradient is clipped to length 1
    big = lambda step: torch.tensor([[step % 4, 1, 3]])
    class Loud(Pairs):
        def forward(self, ids):
            return (20 if ids[0, 0] == 0 else 1) * super().forward(ids)
    train(Loud(), big, 16, 1.0)
  - the gradient is not clipped when the step is made; clip it between `backward` and the step
    nn.utils.clip_grad_norm_(model.parameters(), 1.0) => pass
  - the gradient is clipped to length 10; clip it to 1
    model.parameters(), 1.0 => model.parameters(), 10.0
  - the gradient is clipped to length 5; clip it to 1
    model.parameters(), 1.0 => model.parameters(), 5.0
  - each number of the gradient is cut to at most 1; clip the length of all of them
    clip_grad_norm_ => clip_grad_value_
all parameters have one gradient, whose length is clipped: where one is long, all become shorter
    class Biased(Pairs):
        def __init__(self):
            super().__init__()
            self.bias = torch.nn.Parameter(torch.zeros(4))
        def forward(self, ids):
            return (20 if ids[0, 0] == 0 else 1) * super().forward(ids) + self.bias
    train(Biased(), lambda step: torch.tensor([[step % 4, 1, 3]]), 16, 2.0)
  - each parameter's gradient is clipped by itself; the length is that of all together
    nn.utils.clip_grad_norm_(model.parameters(), 1.0) => [CLIP for p in model.parameters()]
    CLIP => nn.utils.clip_grad_norm_(p, 1.0)
losses are plain numbers, as loss.item() gives: a tensor with its history keeps a step in memory
    ids = torch.tensor([[0, 1, 3]])
    losses = train(Pairs(), lambda step: ids, 2)
    sum(torch.as_tensor(loss).requires_grad for loss in losses)
""",
    before=PAIRS,
)


@exercise
def probabilities(answer) -> str:
    """Check `next_probabilities(logits, temperature, top_k, top_p)`."""
    check_own_work(answer)
    ladder(PROBABILITIES, _next_probabilities, next_probabilities=answer)
    return "softmax, heat and cold, both cuts alone and together, batches, and no cut at all"


def _next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    p, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    if top_k is not None:
        p[..., top_k:] = 0
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        before = p.cumsum(-1) - p
        p = p.masked_fill(before >= top_p, 0)
        p = p / p.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, order, p)


PROBABILITIES = rungs(
    _next_probabilities,
    """
temperature 1 and no cut: a softmax
    next_probabilities(z)
  - the result is in the order of probability; bring it back to the tokens' places
    torch.zeros_like(p).scatter(-1, order, p) => p
  - these are logarithms of probabilities
    scatter(-1, order, p) => scatter(-1, order, p).log()
the logits are divided by the temperature, before the softmax
    next_probabilities(z, 0.5)
  - the logits are multiplied by the temperature; divide
    logits / temperature => logits * temperature
  - the temperature does nothing
    logits / temperature => logits
  - the probabilities are divided by the temperature; divide the logits, before the softmax
    (logits / temperature).softmax(-1) => (logits.softmax(-1) / temperature)
  - the logits are divided by the square of the temperature
    logits / temperature => logits / temperature**2
  - the logits are divided by the root of the temperature
    logits / temperature => logits / temperature**0.5
top-k with k = 1 leaves the most probable token, with probability 1
    next_probabilities(z, 1.0, 1)
  - the least probable tokens are kept
    p[..., top_k:] = 0 => p[..., : -min(top_k, p.shape[-1])] = 0
  - top-k is not used
    if top_k is not None => if False
  - one token too many is kept
    p[..., top_k:] = 0 => p[..., top_k + 1 :] = 0
  - one token too few is kept: for k = 1 none is left
    p[..., top_k:] = 0 => p[..., top_k - 1 :] = 0
  - what is left does not sum to 1
    p = p / p.sum(-1, keepdim=True) => pass
  - the first k tokens of the vocabulary are kept, not the k most probable ones
    if top_k is not None: => if top_k is not None and (p := p.scatter(-1, order, p)) is not None:
    p[..., top_k:] = 0 => p[..., top_k:] = 0; p = p.gather(-1, order)
  - the logits of cut tokens are set to 0, which is no small one; set them to minus infinity
    p[..., top_k:] = 0 => p[..., top_k:] = 1 / (logits / temperature).exp().sum()
top-k keeps the k most probable tokens, and what is left sums to 1
    next_probabilities(z, 1.0, 2)
what is cut has probability 0, and not just a small one
    next_probabilities(z, 1.0, 2)[1] * 1000
  - a token that top-k cuts keeps a small probability; it has 0
    p[..., top_k:] = 0 => p[..., top_k:] = 1e-3
top-p keeps as few tokens as together reach p: the one that reaches it belongs to them
    next_probabilities(z, 1.0, None, 0.55)
  - the token that reaches p is cut, too
    before >= top_p => p.cumsum(-1) >= top_p
  - the token that passes p is cut, too; it is the one that reaches it
    before >= top_p => p.cumsum(-1) > top_p
  - the token that reaches p is cut, too, unless it is the best
    before >= top_p => (p.cumsum(-1) >= top_p) & (before > 0)
  - what top-p leaves does not sum to 1
    p = p.masked_fill(before >= top_p, 0) => p = p.masked_fill(before >= top_p, 0); HEAT = p
    order, p) => order, p if top_p is None else HEAT)
  - tokens are cut whose own probability is below p
    before >= top_p => p < top_p
  - tokens are cut whose own probability is below 1 − p; what counts is the sum of the likelier ones
    before >= top_p => p < 1 - top_p
  - the least probable tokens are kept, as many as together reach p
    before = p.cumsum(-1) - p => before = p.flip(-1).cumsum(-1).flip(-1) - p
  - p is taken for what is cut: tokens are kept until 1 − p is reached
    before >= top_p => before >= 1 - top_p
  - one token more than needed is kept: as few as together reach p stay
    before >= top_p => before - p.roll(1, -1) * (before > 0) >= top_p
  - top-p is not used
    if top_p is not None => if False
however small p is, the best token stays
    next_probabilities(z, 1.0, None, 0.01)
  - p is a share of the best token's probability, as in min-p; it is what the kept reach together
    before >= top_p => p < top_p * p[..., :1]
p is reached by what temperature has made of the probabilities
    next_probabilities(z, 0.25, None, 0.65)
  - top-p looks at the probabilities before the temperature
    before = p.cumsum(-1) - p => before = logits.softmax(-1).sort(-1, descending=True)[0].cumsum(-1)
    before >= top_p => before.roll(1, -1).index_fill(-1, torch.tensor(0), 0) >= top_p
with both cuts, top-k is first: p is reached by what top-k has left and scaled
    z = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
    next_probabilities(z, 1.0, 3, 0.42)
  - p is reached by what was there before top-k; cut to k, scale what is left to sum to 1, then cut
  to p
    p[..., top_k:] = 0 => kept = p.clone(); p[..., top_k:] = 0
    before = p.cumsum(-1) - p => before = (p if top_k is None else kept).cumsum(-1)
    before >= top_p => before.roll(1, -1).index_fill(-1, torch.tensor(0), 0) >= top_p
  - top-p is not used where there is a top-k
    if top_p is not None: => if top_p is not None and top_k is None:
every row of a batch has its own order
    next_probabilities(torch.randn(2, 3, 6), 0.7, 4, 0.8)
  - gather with the order of the sort sorts once more; scatter brings the tokens back
    torch.zeros_like(p).scatter(-1, order, p) => p.gather(-1, order)
  - the softmax runs over the first axis; it runs over the tokens, the last one
    softmax(-1) => softmax(0)
two of four equal tokens reach a p of one half exactly: no third is kept
    z = torch.zeros(4)
    (next_probabilities(z, 1.0, None, 0.5) > 0).sum()
  - where tokens reach p exactly, one more is kept; as few as reach it stay
    before >= top_p => before > top_p
a k above the vocabulary and a p of 1 cut nothing
    next_probabilities(z, 1.0, 9, 1.0)
""",
    before="z = torch.tensor([0.5, 0.1, 0.4]).log()\n",
)


@exercise
def sampler(answer) -> str:
    """Check `sample(model, prompts, length, end, temperature, top_k, top_p)`."""
    check_own_work(answer)
    ladder(SAMPLER, _sample, sample=answer)
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


MODELS = """\
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
"""
SAMPLER = rungs(
    _sample,
    """
the logits of the last position say the next token; the prompt stays in front
    sample(Counts(), torch.tensor([[2, 3]]), 1, 0)
  - the prompt is missing in the result
    return ids => return ids[:, prompts.shape[1] :]
  - one token too many: `length` tokens are new
    range(length) => range(length + 1)
  - one token too few: `length` tokens are new
    range(length) => range(length - 1)
  - `length` counts the new tokens, not the prompt's
    range(length) => range(length - prompts.shape[1])
  - the logits of the first position are taken; those of the last say the next token
    [:, -1] => [:, 0]
each new token is read, and leads to the next
    sample(Counts(), torch.tensor([[2, 3]]), 3, 0)
  - the prompt is read again at each step, and not what was drawn
    model(new, cache) => model(prompts, cache)
after its end a row holds −1, while others go on
    sample(Counts(), torch.tensor([[1], [3]]), 3, 5)
  - a row goes on after its end
    .masked_fill(ended, -1) => + 0
  - the end is repeated; −1 stands behind it
    masked_fill(ended, -1) => masked_fill(ended, end)
  - behind the end stands 0; put −1 there
    masked_fill(ended, -1) => masked_fill(ended, 0)
  - the end itself has become −1; −1 stands behind it
    return ids => return torch.cat([prompts, NEW.masked_fill(NEW == end, -1)], dim=1)
    NEW => ids[:, prompts.shape[1] :]
  - all rows stop when one has ended; the others go on
    ended.all() => ended.any()
  - one draw for all rows; each row draws its own token
    torch.multinomial(p, 1) => torch.multinomial(p[:1], 1).expand(len(p), 1)
behind its end a row holds −1 up to the last position, not just once
    sample(Counts(), torch.tensor([[0], [3]]), 4, 5)
  - a row is known as ended for one step only, and then goes on; once ended, it stays so
    ended = ended | (new == end) => ended = new == end
when all rows have ended, nothing more is drawn
    sample(Counts(), torch.tensor([[1], [3]]), 9, 5)
  - it goes on when all rows have ended; stop then
    if ended.all() => if False
  - it stops one step too late: as soon as all rows have ended, stop
    if ended.all() => if (ids[:, :-1] == end).any(1).all()
an end in the prompt ends nothing; what is drawn does
    sample(Counts(), torch.tensor([[5, 1]]), 2, 5)
  - a row whose prompt holds the end has ended before it began; only an end that is drawn counts
    torch.zeros(len(prompts), 1, dtype=torch.bool) => (prompts == end).any(1, keepdim=True)
  - a row ends when `end` stands anywhere in it, the prompt included; only what is drawn counts
    new == end => (ids == end).any(1, keepdim=True)
the prompt is read once, then each new token alone, always with the same cache
    model = Counts()
    ids = sample(model, torch.tensor([[1, 2, 3]]), 3, 0)
    [list(map(int, one)) for one in model.read]
  - the whole text is read again at each step
    model(new, cache) => model(ids, cache)
  - the whole text is read anew at each step, without a cache; read the prompt, then the new tokens
    model(new, cache) => model(ids)
  - there is no cache: hand `cache` to the model
    model(new, cache) => model(new)
  - the prompt is read token by token; it is read in one step
    cache, ids, new = model.empty_cache(), => cache, ids, new = (c := model.empty_cache()), READ
    READ => [model(t, c) for t in prompts[:, :-1].split(1, 1)] and
    prompts, prompts => prompts, prompts[:, -1:]
    model.empty_cache()), [ => model.empty_cache()), [
the cache of the first step is that of all others: a new one has forgotten the prompt
    sample(Adds(), torch.tensor([[1, 2]]), 3, 0)
  - every step gets a new, empty cache, which has forgotten the prompt; make one for all steps
    model(new, cache) => model(new, model.empty_cache())
tokens are drawn with their probabilities: of 4000 draws, four in five are the likelier token
    ids = sample(Coin(), torch.zeros(4000, 1, dtype=torch.long), 1, 9)
    round(5 * float(ids[:, 1].double().mean()))
  - the best token is taken each time
    torch.multinomial(p, 1) => p.argmax(-1, keepdim=True)
  - every token that is left has the same chance; draw with the probabilities
    torch.multinomial(p, => torch.multinomial((p > 0).double(),
the temperature is handed on: 2 makes the likelier token twice as likely as the other, not four
times
    ids = sample(Coin(), torch.zeros(4000, 1, dtype=torch.long), 1, 9, 2.0)
    round(9 * float(ids[:, 1].double().mean()))
  - temperature and cuts are not used
    temperature, top_k, top_p) => )
  - the temperature is not used
    (logits, temperature, => (logits, 1.0,
  - the temperature is used twice
    (logits, => (logits / temperature,
top_k is handed on: with 1, the likelier token is always drawn
    ids = sample(Coin(), torch.zeros(4000, 1, dtype=torch.long), 1, 9, 1.0, 1)
    round(5 * float(ids[:, 1].double().mean()))
  - top_k and top_p are exchanged
    temperature, top_k, top_p) => temperature, top_p, top_k)
  - top_k and top_p are not handed on
    temperature, top_k, top_p) => temperature)
  - top_k is not handed on
    temperature, top_k, => temperature, None,
top_p is handed on: with 0.5, the likelier token is always drawn
    ids = sample(Coin(), torch.zeros(4000, 1, dtype=torch.long), 1, 9, 1.0, None, 0.5)
    round(5 * float(ids[:, 1].double().mean()))
  - top_p is not handed on
    temperature, top_k, top_p) => temperature, top_k)
""",
    before=MODELS,
)


@exercise
def judge(answer) -> str:
    """Check `distance(model, rows, truth)`: the KL divergence in nats per sentence."""
    check_own_work(answer)
    ladder(JUDGE, _distance, distance=answer)
    return "one row, rows of unequal length, and a model that knows the truth"


def _distance(model, rows, truth):
    target = rows[:, 1:]
    with torch.no_grad():
        logp = model(rows[:, :-1]).log_softmax(-1)
    logp = logp.gather(-1, target.clamp(min=0)[..., None])[..., 0]
    logp = logp.masked_fill(target == -1, 0)
    return (truth - logp.sum(1)).mean()


JUDGE = rungs(
    _distance,
    """
the only sentence of a language has log-probability 0; what is left is minus that in the model:
here of the one token that comes after the first
    rows = torch.tensor([[1, 3]])
    truth = torch.tensor([0.0])
    float(distance(Pairs(), rows, truth))
  - the sign is wrong: no model beats the language
    truth - logp.sum(1) => logp.sum(1) - truth
  - the two are added; take the model's away from the language's
    truth - logp => truth + logp
  - the logarithm of `truth` is taken, which is a log-probability already
    truth - logp => truth.log() - logp
  - the model is asked for the token that it reads, not for the next one
    target = rows[:, 1:] => target = rows[:, :-1]
  - the model is asked for every token that it reads, the first and the last too; it is asked for
  the next one, at all but the last
    target = rows[:, 1:] => target = rows
    model(rows[:, :-1]) => model(rows)
  - these are logits; log_softmax makes log-probabilities of them
    .log_softmax(-1) => .clone()
  - the softmax runs over the positions; it runs over the tokens, the last axis
    log_softmax(-1) => log_softmax(1)
  - probabilities are added up; add up their logarithms
    log_softmax(-1) => softmax(-1)
  - probabilities are compared, not their logarithms: the two exponentials are subtracted
    truth - logp.sum(1) => truth.exp() - logp.sum(1).exp()
  - the difference is squared; take the mean as it is
    (truth - logp.sum(1)) => (truth - logp.sum(1)).square()
  - this is in bits; leave it in nats
    .mean() => .mean() / 0.6931471805599453
  - the end is left out; it is a token like the others
    target == -1 => F.pad(target[:, 1:], (0, 1), value=-1) == -1
  - the exponential is taken: this is a perplexity; leave it in nats
    .mean() => .mean().exp()
a sentence has the log-probabilities of all its tokens after the first, added up
    rows = torch.tensor([[2, 1, 3]])
    truth = torch.tensor([0.0])
    float(distance(Pairs(), rows, truth))
  - the tokens of a sentence are averaged; add them up
    logp.sum(1) => logp.sum(1) / (target >= 0).sum(1)
  - only the last token of a sentence is scored; add up all after the first
    logp.sum(1) => logp.gather(1, (target >= 0).sum(1, keepdim=True) - 1)[:, 0]
  - only the first token after the beginning is scored; add up all of the sentence
    logp.sum(1) => logp[:, 0]
one sentence: its log-probability in the language minus that in the model
    rows = torch.tensor([[0, 1, 3]])
    truth = torch.tensor([-1.5])
    float(distance(Pairs(), rows, truth))
  - `truth` is not used: this is what the model says alone
    truth - logp => -logp
  - the sentence's difference is multiplied by its probability in the language; take the plain mean,
  since the rows were drawn from the language
    (truth - logp.sum(1)) => (truth.exp() * (truth - logp.sum(1)))
  - the model's log-probability is per token, the language's of the sentence; so is the model's
    truth - logp.sum(1) => truth - logp.mean(1)
  - the difference is divided by the number of tokens; it is per sentence
    (truth - logp.sum(1)) => ((truth - logp.sum(1)) / (target >= 0).sum(1))
  - the log-probabilities are divided; take one away from the other
    truth - logp.sum(1) => logp.sum(1) / truth.clamp(max=-1e-9)
token 0 is a token like the others
    rows = torch.tensor([[1, 0, 3]])
    truth = torch.tensor([-1.5])
    float(distance(Pairs(), rows, truth))
  - token 0 is taken for what is missing, and is not scored; −1 is no token
    target == -1 => target <= 0
a sentence may be likelier in the model than in the language: its difference is below 0
    rows = torch.tensor([[0, 1, 3]])
    truth = torch.tensor([-9.0])
    float(distance(Pairs(), rows, truth))
  - each sentence's difference has lost its sign; take the mean as they are
    (truth - logp.sum(1)) => (truth - logp.sum(1)).abs()
  - differences below 0 are set to 0; a sentence may be likelier in the model than in the language
    (truth - logp.sum(1)) => (truth - logp.sum(1)).clamp(min=0)
  - the mean is set to 0 where it is below; on a few sentences the estimate may be
    .mean() => .mean().clamp(min=0)
  - the mean has lost its sign; on a few sentences the estimate may be below 0
    .mean() => .mean().abs()
a mean over sentences
    rows = torch.tensor([[0, 2, 3], [0, 1, 3], [1, 2, 0]])
    truth = torch.tensor([-9.0, -1.5, -4.0])
    float(distance(Pairs(), rows, truth))
  - a sum over the sentences; take the mean
    .mean() => .sum()
  - the median over the sentences is taken; take the mean
    .mean() => .median()
  - the largest difference is taken; take the mean over the sentences
    .mean() => .max()
  - only the first sentence counts; take the mean over all
    .mean() => [0]
  - sentences are weighted by their probability in the language; take the plain mean, since the rows
  were drawn from it
    (truth - logp.sum(1)).mean() => (truth.softmax(0) * (truth - logp.sum(1))).sum()
−1 is no token: behind the end of a row there is nothing to be surprised at
    rows = torch.tensor([[0, 1, 3], [0, 3, -1]])
    truth = torch.tensor([-1.5, -3.0])
    float(distance(Pairs(), rows, truth))
  - behind the end of a row token 0 is scored; −1 is no token
    target == -1 => target == -2
  - behind the end of a row the last token of the vocabulary is scored, as an index −1 does; it is
  no token
    target.clamp(min=0) => (target % 4)
    target == -1 => target == -2
  - rows that are shorter than others are left out; leave out −1 alone
    (truth - logp.sum(1)).mean() => (truth - logp.sum(1))[(target >= 0).all(1)].mean()
""",
    before=PAIRS,
)
