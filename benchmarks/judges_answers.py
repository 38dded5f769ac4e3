"""Wrong and right answers to tasks that several courses set, for `judges.py`.

Each is written once, without the conventions of any course; the adapters in `judges.py` bring it
into the form that a judge asks for. An answer is not asked of a judge whose own statement does
not make its mistake a mistake: `spares` names these judges, and says why.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer; a wrong one with the words of which a message that names its mistake has one."""

    task: str
    what: str
    function: Callable
    says: str = ""  # a regular expression; empty for a right answer
    spares: dict[str, str] = field(default_factory=dict)


ANSWERS: list[Answer] = []


def right(task: str, what: str, function: Callable) -> None:
    """Note a right answer."""
    ANSWERS.append(Answer(task, what, function))


def wrong(task: str, what: str, function: Callable, says: str, **spares: str) -> None:
    """Note a wrong answer."""
    ANSWERS.append(Answer(task, what, function, says, spares))


# RMSNorm: (x, gain, eps)
def mean_square(x: Tensor) -> Tensor:
    """The mean square of each vector."""
    return x.pow(2).mean(-1, keepdim=True)


NORM = "RMSNorm"
right(NORM, "rsqrt", lambda x, gain, eps: x * torch.rsqrt(mean_square(x) + eps) * gain)
right(
    NORM,
    "lengths by einsum",
    lambda x, gain, eps: (
        gain * x / (torch.einsum("...d,...d->...", x, x) / x.shape[-1] + eps).sqrt()[..., None]
    ),
)
wrong(
    NORM,
    "the mean is subtracted, as in LayerNorm",
    lambda x, gain, eps: F.layer_norm(x, x.shape[-1:], gain, eps=eps),
    r"layer.?norm|mean (is|was)? ?(not )?(to be )?(taken away|subtracted)|cent(er|re)",
)
wrong(
    NORM,
    "the sum of squares instead of their mean",
    lambda x, gain, eps: x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + eps) * gain,
    r"sum of squares|\bsum\b.*\bmean\b",
)
wrong(
    NORM,
    "the small number behind the root, not under it",
    lambda x, gain, eps: x / (mean_square(x).sqrt() + eps) * gain,
    r"(under|behind|inside|outside) the (square )?root|(inside|outside) (the )?sqrt",
)
wrong(
    NORM,
    "no small number at all",
    lambda x, gain, eps: x * torch.rsqrt(mean_square(x)) * gain,
    r"\beps|small number|1e-6|zeros\b|\bNaN\b|division by zero",
)
wrong(
    NORM,
    "the gain is not used",
    lambda x, gain, eps: x * torch.rsqrt(mean_square(x) + eps) + 0 * gain,
    r"\b(gain|weight)\b.*(not used|ignored|multipl)|non-trivial weight",
)
wrong(
    NORM,
    "one mean square for the whole tensor",
    lambda x, gain, eps: x * torch.rsqrt(x.pow(2).mean() + eps) * gain,
    r"own (root )?mean|one root for everything|(each|every) vector|last (dim|axis)|whole tensor",
)

# SwiGLU: (x, gate, up, down), the last three as functions
GATE = "SwiGLU"
right(
    GATE,
    "SiLU as z / (1 + exp(-z))",
    lambda x, gate, up, down: down(gate(x) / (1 + (-gate(x)).exp()) * up(x)),
)
right(
    GATE,
    "SiLU as z (1 + tanh(z / 2)) / 2",
    lambda x, gate, up, down: down(up(x) * gate(x) * (1 + (gate(x) / 2).tanh()) / 2),
)
wrong(
    GATE,
    "SiLU on the other branch",
    lambda x, gate, up, down: down(gate(x) * F.silu(up(x))),
    r"not the gate|(other|wrong) branch|swapped|exchanged",
)
wrong(
    GATE,
    "the sigmoid alone",
    lambda x, gate, up, down: down(gate(x).sigmoid() * up(x)),
    r"\b(a|the) sigmoid\b|sigmoid alone|times sigmoid",
)
wrong(GATE, "GELU", lambda x, gate, up, down: down(F.gelu(gate(x)) * up(x)), r"\bgelu\b")
wrong(GATE, "ReLU", lambda x, gate, up, down: down(gate(x).relu() * up(x)), r"\brelu\b|negative")
wrong(
    GATE,
    "a sum instead of a product",
    lambda x, gate, up, down: down(F.silu(gate(x)) + up(x)),
    r"\badded\b|\bsum\b|must be multiplied|are multiplied",
)
wrong(
    GATE,
    "SiLU of the product",
    lambda x, gate, up, down: down(F.silu(gate(x) * up(x))),
    r"of the product|the product goes",
)


# Rotary positions: (x of shape (..., T, d), positions of shape (T,))
def turned(x, positions, *, sign=1, power=2, pairs="neighbours", overwritten=False, back=True):
    """A rotation of pairs, with changes."""
    d = x.shape[-1]
    angle = sign * positions[:, None] * 10000.0 ** (-power * torch.arange(d // 2) / d)
    cos, sin = angle.cos(), angle.sin()
    a, b = (x[..., ::2], x[..., 1::2]) if pairs == "neighbours" else x.chunk(2, -1)
    if overwritten:
        a = a * cos - b * sin
        b = a * sin + b * cos
    else:
        a, b = a * cos - b * sin, a * sin + b * cos
    return (
        torch.stack([a, b], -1).flatten(-2)
        if pairs == "neighbours" and back
        else torch.cat([a, b], -1)
    )


def turned_as_complex(x: Tensor, positions: Tensor) -> Tensor:
    """By multiplication of complex numbers."""
    speeds = 1e4 ** -(torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    angle = torch.outer(positions.double(), speeds)
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2).to(x)


ROPE = "rotary positions"
right(ROPE, "pairs of neighbours", turned)
right(ROPE, "complex numbers", turned_as_complex)
wrong(
    ROPE,
    "turned the other way round",
    lambda x, positions: turned(x, positions, sign=-1),
    r"other way|direction|backwards|clockwise|\bsign\b",
)
wrong(
    ROPE,
    "the positions that are given are not used",
    lambda x, positions: turned(x, torch.arange(x.shape[-2])),
    r"positions?`? (is|are) (not used|ignored)|token_positions",
    torchcode="it gives no positions",
)
wrong(
    ROPE,
    "the exponent without its factor 2",
    lambda x, positions: turned(x, positions, power=1),
    r"exponent|frequenc|speed|\b2i\b",
)
wrong(
    ROPE,
    "the first entry is overwritten before the second is made of it",
    lambda x, positions: turned(x, positions, overwritten=True),
    r"new value|overwr|preserves? (the )?norm",
)
wrong(
    ROPE,
    "halves are pairs, not neighbours",
    lambda x, positions: turned(x, positions, pairs="halves"),
    r"neighbour|consecutive|adjacent|interleav|halves",
    ours="its statement allows both",
)
wrong(
    ROPE,
    "the new entries do not go back to where they came from",
    lambda x, positions: turned(x, positions, back=False),
    r"order of the other|back (to )?where|back in|interleav",
)


# Attention with a mask: (query, key, value, mask), True for "may attend"
def masked(query, key, value, mask, *, scale=0.5, dim=-1, fill="before", empty=True):
    """Attention in which some scores are forbidden, with changes."""
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** scale
    if fill == "before":
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min if empty else -torch.inf)
    elif fill == "zero":
        scores = scores * mask
    weights = scores.softmax(dim)
    if fill != "zero" and empty:
        weights = weights * mask
    return weights @ value


MASK = "attention with a mask"
right(MASK, "the lowest number, and zero weights", masked)
right(
    MASK,
    "exp of masked scores by hand",
    lambda query, key, value, mask: _by_hand(query, key, value, mask),
)


def _by_hand(query, key, value, mask):
    scores = torch.einsum("...td,...sd->...ts", query, key) * query.shape[-1] ** -0.5
    top = scores.detach().masked_fill(~mask, -3e38).amax(-1, keepdim=True)
    parts = torch.where(mask, scores - top, 0.0).exp() * mask
    total = parts.sum(-1, keepdim=True)
    return parts @ value / torch.where(total > 0, total, 1.0)


wrong(
    MASK,
    "divided by d_k, not by its root",
    lambda *given: masked(*given, scale=1),
    r"divided by d_k|square root|\bsqrt\b|√",
)
wrong(
    MASK,
    "not scaled",
    lambda *given: masked(*given, scale=0),
    r"not (scaled|divided)|square root|\bsqrt\b|√",
)
wrong(
    MASK,
    "softmax over the queries",
    lambda *given: masked(*given, dim=-2),
    r"over the (quer|keys)|(wrong|last) (axis|dim)|dim=-1",
)
wrong(
    MASK,
    "the mask the other way round",
    lambda query, key, value, mask: masked(query, key, value, ~mask),
    r"inverted|other way round|reversed|True means|future.*affect",
)
wrong(
    MASK,
    "forbidden scores are set to 0",
    lambda *given: masked(*given, fill="zero"),
    r"set to 0|-inf|exponential of 0|future.*affect",
)
wrong(
    MASK,
    "masked after the softmax: the rest is too small",
    lambda *given: masked(*given, fill="after"),
    r"after the softmax|sum to 1|normali[sz]|future.*affect",
)
wrong(
    MASK,
    "NaN where a query may attend to nothing",
    lambda *given: masked(*given, empty=False),
    r"\bNaN\b|attend to nothing|empty row",
    cs336="its statement says nothing about such rows",
    torchcode="no such row: each position sees itself",
)


# Attention with a cache: (x, past, project, out, heads, turn); -> output, (keys, values)
def cached(x, past, project, out, heads, turn, *, width="head", causal="past", keep="all",
           start="past", split="swap", merge="swap"):  # fmt: skip
    """Multi-head attention of new positions to all before them, with changes."""
    B, T, d = x.shape
    if split == "swap":
        q, k, v = (part.view(B, T, heads, -1).transpose(1, 2) for part in project(x))
    else:
        q, k, v = (part.reshape(B, heads, T, -1) for part in project(x))
    before = 0 if past is None else past[0].shape[2]
    first = before if start == "past" else 0
    q, k = turn(q, first), turn(k, first)
    new = k, v
    if past is not None:
        k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
    scores = q @ k.transpose(-2, -1) / (q.shape[-1] if width == "head" else d) ** 0.5
    if causal != "none":
        allowed = torch.ones(T, k.shape[2], dtype=torch.bool)
        scores = scores.masked_fill(~allowed.tril(before if causal == "past" else 0), -torch.inf)
    mixed = scores.softmax(-1) @ v
    mixed = mixed.transpose(1, 2) if merge == "swap" else mixed
    return out(mixed.reshape(B, T, d)), ((k, v) if keep == "all" else new)


def one_by_one(x, past, project, out, heads, turn):
    """Each new position alone, against all that is there."""
    rows = []
    for t in range(x.shape[1]):
        q, k, v = (
            part.unflatten(-1, (heads, -1)).mT.mT.transpose(1, 2)
            for part in project(x[:, t : t + 1])
        )
        before = 0 if past is None else past[0].shape[2]
        q, k = turn(q, before), turn(k, before)
        past = (k, v) if past is None else (torch.cat([past[0], k], 2), torch.cat([past[1], v], 2))
        rows.append(F.scaled_dot_product_attention(q, *past).transpose(1, 2).flatten(2))
    return out(torch.cat(rows, 1)), past


NO_CACHE = "this assignment has no cache"
CACHE = "heads, causal, with a cache"
right(CACHE, "one mask for past and new", cached)
right(CACHE, "position by position", one_by_one)
wrong(
    CACHE,
    "scaled by the root of d, not of d_k",
    lambda *given: cached(*given, width="model"),
    r"root of d\b|√d\b|d / heads|head (is|dim)",
)
wrong(
    CACHE,
    "split into heads by a reshape alone",
    lambda *given: cached(*given, split="reshape"),
    r"own part|mixed up|reshape|\bview\b|transpose",
)
wrong(
    CACHE,
    "heads put together without swapping axes back",
    lambda *given: cached(*given, merge="reshape"),
    r"side by side|mixed up|reshape|\bview\b|transpose",
)
wrong(
    CACHE,
    "no causal mask",
    lambda *given: cached(*given, causal="none"),
    r"causal|future|later position",
)
wrong(
    CACHE,
    "new rows begin at column 0 of the mask",
    lambda *given: cached(*given, causal="zero"),
    r"first key only|mask.*(cache|past|offset)|(cache|past|offset).*mask",
    cs336=NO_CACHE,
)
wrong(
    CACHE,
    "only the newest keys and values are kept",
    lambda *given: cached(*given, keep="new"),
    r"should grow|must grow|only the newest|forg[eo]t|\blost\b|overwritten|replaced",
    cs336=NO_CACHE,
)
wrong(
    CACHE,
    "with a cache, rotary positions begin at 0 again",
    lambda *given: cached(*given, start="zero"),
    r"as if it were the first|(positions?|start).*\b(again|anew|offset)|offset",
    cs336=NO_CACHE,
    torchcode="this task does not rotate",
)


# The next token's probabilities: (logits, temperature, top_k, top_p)
def cut(logits, temperature=1.0, top_k=None, top_p=None, *, heat="divide", best=True, order="kp",
        back=True, crossing=True, scaled=True):  # fmt: skip
    """Probabilities after temperature, top-k and top-p, with changes."""
    p = (logits / temperature if heat == "divide" else logits * temperature).softmax(-1)
    p, places = p.sort(-1, descending=True)
    rank = torch.arange(p.shape[-1])
    for name in order:
        if name == "k" and top_k is not None:
            p = p * (rank < top_k if best else rank >= p.shape[-1] - top_k)
        if name == "p" and top_p is not None:
            total = p.cumsum(-1)
            p = p * (total - p < top_p if crossing else (total <= top_p) | (rank == 0))
        p = p / p.sum(-1, keepdim=True) if scaled else p
    return torch.zeros_like(p).scatter(-1, places, p) if back else p


def cut_by_ranks(logits, temperature=1.0, top_k=None, top_p=None):
    """By minus infinity on the logits, and ranks."""
    logits = logits / temperature
    order = torch.argsort(logits, dim=-1, descending=True, stable=True)
    rank = order.argsort(-1)
    if top_k is not None:
        logits = logits.masked_fill(rank >= top_k, -torch.inf)
    if top_p is not None:
        before = F.pad(logits.softmax(-1).gather(-1, order).cumsum(-1), (1, 0))[..., :-1]
        logits = logits.masked_fill((before >= top_p).gather(-1, rank), -torch.inf)
    return logits.softmax(-1)


DRAW = "temperature, top-k and top-p"
right(DRAW, "sort, cut, scatter", cut)
right(DRAW, "minus infinity by rank", cut_by_ranks)
wrong(
    DRAW,
    "multiplies by the temperature",
    lambda *given: cut(*given, heat="times"),
    r"(multiplied|divided?) by the temperature|low temp\w* should",
)
wrong(
    DRAW,
    "keeps the least probable k",
    lambda *given: cut(*given, best=False),
    r"(most|least) probable|largest|smallest|argmax",
)
wrong(
    DRAW,
    "the result stays sorted",
    lambda *given: cut(*given, back=False),
    r"sorted|other places|order of the vocabulary|original order",
)
wrong(
    DRAW,
    "top-p before top-k",
    lambda *given: cut(*given, order="pk"),
    r"top.?k (is|comes|goes) (first|before)|before top.?[pk]|top.?k, then",
)
wrong(
    DRAW,
    "top-k is not used",
    lambda logits, temperature=1.0, top_k=None, top_p=None: cut(logits, temperature, None, top_p),
    r"top.?k (is|was) (not used|ignored)|top.?k does nothing",
)
wrong(
    DRAW,
    "top-p drops the token that reaches p",
    lambda *given: cut(*given, crossing=False),
    r"reaches (it|p)|crosse?s",
    torchcode="its statement masks that token",
)
wrong(
    DRAW,
    "what is left is not scaled to sum 1",
    lambda *given: cut(*given, scaled=False),
    r"sums? to 1|normali[sz]",
    torchcode="it asks for a draw, not for probabilities",
)


# DPO: (won, lost, won_start, lost_start, beta)
def gains(won, lost, won_start, lost_start):
    """How much more the chosen answers have gained than the rejected ones."""
    return (won - won_start) - (lost - lost_start)


DPO = "the loss of DPO"
right(DPO, "softplus", lambda *given: F.softplus(-given[4] * gains(*given[:4])).mean())
right(
    DPO,
    "binary cross-entropy",
    lambda *given: F.binary_cross_entropy_with_logits(
        given[4] * gains(*given[:4]), torch.ones_like(given[0])
    ),
)
wrong(
    DPO,
    "the logarithm of a sigmoid that becomes 0",
    lambda *given: -torch.log(torch.sigmoid(given[4] * gains(*given[:4]))).mean(),
    r"infinity|\binf\b|finite|stable|overflow",
    torchcode="its statement does not ask for a stable one",
)
wrong(
    DPO,
    "chosen and rejected exchanged",
    lambda *given: F.softplus(given[4] * gains(*given[:4])).mean(),
    r"exchanged|swapped|changed places|wrong way|reversed|too high.*too low",
)
wrong(
    DPO,
    "the start is left out",
    lambda *given: F.softplus(-given[4] * (given[0] - given[1])).mean(),
    r"(start(ed)?|reference)\b.*(not used|left out|missing|ignored)",
)
wrong(
    DPO,
    "the start's difference is added",
    lambda *given: F.softplus(-given[4] * (given[0] - given[1] + given[2] - given[3])).mean(),
    r"(start|reference)\b.*(added|subtracted|minus)",
)
wrong(
    DPO,
    "beta outside the sigmoid",
    lambda *given: given[4] * F.softplus(-gains(*given[:4])).mean(),
    r"\bbeta\b.*(inside|outside|multiplies)",
)
wrong(
    DPO,
    "the sum over the pairs",
    lambda *given: F.softplus(-given[4] * gains(*given[:4])).sum(),
    r"\bsum\b.*\bmean\b|\bmean\b.*\bsum\b",
)


# Byte pairs: learn(words, number, joined, best) -> pairs, and encode(word, pairs, joined).
# `words` are tuples of symbols, `joined(pair, i)` is the symbol of merge i; of equally frequent
# pairs, the one with the smallest or largest `best(pair)` is first.
def merged(word: tuple, pair: tuple, new, *, once: bool = False) -> tuple:
    """A word with a pair merged, from the left."""
    result, done = [], False
    for symbol in word:
        if result and (result[-1], symbol) == pair and not (once and done):
            result[-1], done = new, True
        else:
            result.append(symbol)
    return tuple(result)


def learned(
    words, number, joined, best, *, types=False, ties=True, ends=True, once=False, across=False
):
    """The merges in the order in which they were learned, with changes."""
    if across:
        words = [sum(words, ())]
    corpus, pairs = Counter(words), []
    if types:
        corpus = Counter(dict.fromkeys(corpus, 1))
    for i in range(number):
        counts = Counter()
        for word, often in corpus.items():
            for pair in pairwise(word):
                counts[pair] += often
        if ends and not counts:
            break
        top = max(counts.values())
        equal = [pair for pair in counts if counts[pair] == top]
        pair = min(equal, key=best) if ties else equal[0]
        pairs.append(pair)
        changed = Counter()
        for word, often in corpus.items():
            changed[merged(word, pair, joined(pair, i), once=once)] += often
        corpus = changed
    return pairs


def encoded(word: tuple, pairs, joined) -> tuple:
    """A word after all merges, in the order in which they were learned."""
    for i, pair in enumerate(pairs):
        word = merged(word, pair, joined(pair, i))
    return word


def encoded_by_rank(word: tuple, pairs, joined) -> tuple:
    """A word after the first learned merge that it has, again and again."""
    rank = {pair: i for i, pair in enumerate(pairs)}
    while found := [rank[pair] for pair in pairwise(word) if pair in rank]:
        word = merged(word, pairs[min(found)], joined(pairs[min(found)], min(found)))
    return word


def longest(word: tuple, pairs, joined) -> tuple:
    """A word cut into the longest known symbols, from the left."""
    parts = {}
    for i, pair in enumerate(pairs):
        new = joined(pair, i)
        parts[new] = sum((parts.get(part, (part,)) for part in pair), ())
    result, rest = [], word
    while rest:
        known = [new for new, part in parts.items() if rest[: len(part)] == part]
        new = max(known, key=lambda new: len(parts[new]), default=rest[0])
        result.append(new)
        rest = rest[len(parts.get(new, (new,))) :]
    return tuple(result)


def with_changes(**changes):
    """The two functions of an answer."""
    return lambda *given: learned(*given, **changes), encoded


PAIRS = "byte pairs"
right(PAIRS, "count, merge, encode in order", (learned, encoded))
right(PAIRS, "encode by rank", (learned, encoded_by_rank))
wrong(
    PAIRS,
    "each different word counts once",
    with_changes(types=True),
    r"as often as its word|frequenc|how often (a|the) word",
)
wrong(
    PAIRS,
    "of equally frequent pairs, the first met",
    with_changes(ties=False),
    r"equally frequent|\bties?\b|as frequent|same count|lexicographic",
    torchcode="its statement does not say which is first",
)
wrong(
    PAIRS,
    "merges the first place in a word only",
    with_changes(once=True),
    r"both places|(every|all|each) (place|occurrence)|twice in a word",
)
wrong(
    PAIRS,
    "merges reach across words",
    with_changes(across=True),
    r"across words|word boundar|into the next",
)
wrong(
    PAIRS,
    "raises when nothing is left to merge",
    with_changes(ends=False),
    r"(no|nothing|none)( pairs?)?( is| are)? left|r[ua]n out of pairs",
    cs336="its statement does not say what happens then",
)
wrong(
    PAIRS,
    "encodes by the longest known token",
    (learned, longest),
    r"longest|in the order in which|learned order|order of (the )?merges",
    cs336="the test that can be run here only learns",
)
