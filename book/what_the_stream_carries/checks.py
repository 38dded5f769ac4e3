"""Checks for the exercises of book/what_the_stream_carries.ipynb."""

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def pushed(answer) -> str:
    """Check `pushed(x, ones, twos, times)` -> the vectors x (N, d), pushed.

    ones (n, d) and twos (m, d) are vectors of two groups of words. To each row of x, `times` times
    the difference of the groups' means is added, from the first group to the second; x stays as it
    is.
    """
    climb(PUSHED, answer)
    return "groups of equal and of unequal sizes, several strengths; and x is left as it was"


def _pushed(x, ones, twos, times):
    vector = twos.mean(0) - ones.mean(0)
    return x + times * vector


@ladder(_pushed)
def PUSHED(pushed):
    """one word in each group, added once: x plus the second less the first"""
    yield pushed(
        torch.tensor([[1.0, 2.0, 0.0]]),
        torch.tensor([[3.0, 1.0, 1.0]]),
        torch.tensor([[5.0, 1.0, 4.0]]),
        1.0,
    )

    """groups of three words and of two: each group has its own mean"""
    yield pushed(torch.zeros(1, 4), torch.randn(3, 4), torch.randn(2, 4), 1.0)

    """half of the vector, and minus the vector"""
    ones, twos = torch.randn(2, 3), torch.randn(2, 3)
    yield [pushed(torch.randn(1, 3), ones, twos, times) for times in (0.5, -1.0)]

    """five vectors: each of them is pushed"""
    yield pushed(torch.randn(5, 4), torch.randn(3, 4), torch.randn(2, 4), 2.0)


PUSHED.mistakes |= {
    "that is the vector itself; add it to x": edited(_pushed, "x + times", "times"),
    "the groups' sums are subtracted; take their means": edited(
        _pushed, "twos.mean(0) - ones.mean(0)", "twos.sum(0) - ones.sum(0)"
    ),
    "x is replaced by the mean of the second group": edited(
        _pushed, "x + times * vector", "twos.mean(0).expand_as(x)"
    ),
    "the vector is brought to length 1; its length belongs to it": edited(
        _pushed, "times * vector", "times * vector / vector.norm()"
    ),
    "only the first word of each group is used": edited(
        _pushed, "twos.mean(0) - ones.mean(0)", "twos[0] - ones[0]"
    ),
    "`times` is left out": edited(_pushed, "times * vector", "vector"),
    "the mean is over all numbers; each entry has a mean of its own, over the words": edited(
        _pushed, "twos.mean(0) - ones.mean(0)", "twos.mean() - ones.mean()"
    ),
    "x is multiplied by `times`, too; the vector alone is": edited(
        _pushed, "x + times * vector", "times * (x + vector)"
    ),
    "the mean of x is subtracted from it; nothing but the vector is to be added": edited(
        _pushed, "return x", "return x - x.mean(0)"
    ),
}


@exercise
def sparse_code(answer) -> str:
    """Check `sparse_code(x, E, b, D, k)` -> the code (N, latents) and what it stands for (N, d).

    x (N, d), the encoder E (latents, d) with its bias b, the dictionary D (latents, d). The k
    largest latents are kept where they are positive.
    """
    climb(SPARSE_CODE, answer)
    return "one latent and several, values below zero, biases that decide, and several vectors"


def _sparse_code(x, E, b, D, k):
    values = x @ E.T + b
    best, where = values.topk(k, dim=-1)
    code = torch.zeros_like(values).scatter(-1, where, best.relu())
    return code, code @ D


@ladder(_sparse_code)
def SPARSE_CODE(sparse_code):
    """three latents along the axes, and k = 1: the largest number of x is kept, and the others are
    zero"""
    yield sparse_code(
        torch.tensor([[1.0, 3.0, 2.0]]), torch.eye(3), torch.zeros(3), torch.eye(3), 1
    )

    """encoder and dictionary are two matrices"""
    yield sparse_code(
        torch.tensor([[1.0, 3.0, 2.0]]),
        torch.eye(3),
        torch.zeros(3),
        torch.tensor([[1.0, 2.0, 0.0], [0.0, 4.0, 1.0], [3.0, 0.0, 5.0]]),
        1,
    )

    """the bias belongs to the value, and decides with it which is the largest"""
    yield sparse_code(
        torch.tensor([[1.0, 3.0, 2.0]]),
        torch.eye(3),
        torch.tensor([4.0, 0.25, 0.5]),
        torch.eye(3),
        1,
    )

    """the bias comes before the cut at 0: it lifts a negative product above it, and pushes a
    positive one below"""
    yield sparse_code(
        torch.tensor([[-3.0, 1.0, 1.0]]),
        torch.eye(3),
        torch.tensor([4.0, 0.5, -4.0]),
        torch.eye(3),
        3,
    )

    """of k = 2 largest one is negative: it is zero"""
    yield sparse_code(
        torch.tensor([[2.0, -1.0, -3.0]]), torch.eye(3), torch.zeros(3), torch.eye(3), 2
    )

    """large and negative is not among the largest; each of two vectors has its own k"""
    yield sparse_code(
        torch.tensor([[2.0, 1.0, -3.0], [1.0, -2.0, 5.0]]),
        torch.eye(3),
        torch.zeros(3),
        torch.eye(3),
        2,
    )

    """several vectors, each with its own k latents"""
    yield sparse_code(torch.randn(4, 5), torch.randn(7, 5), torch.randn(7), torch.randn(7, 5), 3)


SPARSE_CODE.mistakes |= {
    "all positive values are kept; at most k may be": edited(
        _sparse_code, "torch.zeros_like(values).scatter(-1, where, best.relu())", "values.relu()"
    ),
    "negative values are kept; a latent is there or it is not": edited(
        _sparse_code, "best.relu()", "best"
    ),
    "the k largest *sizes* are taken; a negative value is none": edited(
        _sparse_code,
        "values.topk(k, dim=-1)",
        "values.abs().topk(k, dim=-1)",
        "best.relu()",
        "values.gather(-1, where).relu()",
    ),
    "the k largest *sizes* are taken, and negative values kept; these are no latents": edited(
        _sparse_code,
        "values.topk(k, dim=-1)",
        "values.abs().topk(k, dim=-1)",
        "best.relu()",
        "values.gather(-1, where)",
    ),
    "kept latents are set to 1; keep their values": edited(
        _sparse_code, "best.relu()", "(best > 0).float()"
    ),
    "the reconstruction uses the encoder; the dictionary is another matrix": edited(
        _sparse_code, "code @ D", "code @ E"
    ),
    "the bias is left out": edited(_sparse_code, " + b", ""),
    "the bias is added after the k largest were chosen": edited(
        _sparse_code,
        "values.topk(k, dim=-1)",
        "(x @ E.T).topk(k, dim=-1)",
        "best.relu()",
        "values.gather(-1, where).relu()",
    ),
    "the k largest are chosen among the vectors; each vector has its own k": edited(
        _sparse_code, "topk(k, dim=-1)", "topk(min(k, len(x)), dim=0)", "scatter(-1", "scatter(0"
    ),
    "the k smallest are taken": edited(
        _sparse_code, "topk(k, dim=-1)", "topk(k, dim=-1, largest=False)"
    ),
    "negative values have lost their sign; they are zero": edited(
        _sparse_code, "x @ E.T + b", "abs(x @ E.T + b)"
    ),
    "one latent too many is kept": edited(_sparse_code, "topk(k,", "topk(min(k + 1, len(E)),"),
    "the code is right; the reconstruction uses all positive values, not the code": edited(
        _sparse_code, "return code, code @ D", "return code, values.relu() @ D"
    ),
    "the code is right; the reconstruction subtracts the bias from it, and should not": edited(
        _sparse_code, "return code, code @ D", "return code, (code - b * (code > 0)) @ D"
    ),
    "the mean of the vectors was subtracted first": edited(
        _sparse_code, "values = x @", "values = (x - x.mean(0)) @"
    ),
}


@exercise
def purity(answer) -> str:
    """Check `purity(codes, words, k)` -> (L,).

    codes (N, L), none below 0; words (N,). For each latent the share of its k strongest tokens that
    are the most frequent word among these; 0 for a latent that is above 0 at fewer than k tokens.
    """
    climb(PURITY, answer)
    return "one latent and several, all k one word and none, latents that are seen too seldom"


def _purity(codes, words, k):
    strongest = words[codes.topk(k, dim=0).indices]  # (k, L)
    frequent = strongest.mode(0).values
    share = (strongest == frequent).float().mean(0)
    seen = (codes > 0).sum(0)
    return torch.where(seen >= k, share, 0.0)


@ladder(_purity)
def PURITY(purity):
    """one latent, whose three strongest tokens are one word; weaker tokens do not count"""
    codes = torch.tensor([[0.5], [4.0], [0.25], [3.0], [5.0]])
    yield purity(codes, torch.tensor([8, 7, 2, 7, 7]), 3)

    """of the three strongest two are one word, and the strongest is another one"""
    codes = torch.tensor([[0.5], [4.0], [0.25], [3.0], [5.0]])
    yield purity(codes, torch.tensor([8, 7, 2, 7, 9]), 3)

    """the word that is most frequent among the three strongest is not the text's"""
    codes = torch.tensor([[0.5], [4.0], [0.25], [3.0], [5.0], [0.125]])
    yield purity(codes, torch.tensor([8, 7, 8, 7, 8, 8]), 3)

    """two latents: each has strongest tokens of its own"""
    codes = torch.tensor([[4.0, 0.5], [3.0, 0.25], [0.5, 4.0], [0.25, 3.0], [0.125, 5.0]])
    yield purity(codes, torch.tensor([7, 7, 5, 6, 6]), 2)

    """a latent that is above 0 at one token is not judged by two; it gets 0"""
    codes = torch.tensor([[4.0, 0.0], [3.0, 0.0], [0.5, 2.0], [0.25, 0.0]])
    yield purity(codes, torch.tensor([7, 7, 7, 7]), 2)

    """a latent that is above 0 at exactly k tokens has been seen often enough"""
    codes = torch.tensor([[4.0, 2.0], [3.0, 0.0], [0.0, 1.0], [0.25, 0.0]])
    yield purity(codes, torch.tensor([7, 5, 7, 7]), 2)

    """many tokens and latents, of which some are seldom above 0"""
    codes = (torch.randn(60, 7) - torch.tensor([0.0, 0, 0, 1, 1.5, 2, 3])).relu()
    yield purity(codes, torch.randint(4, (60,)), 6)


PURITY.mistakes |= {
    "a latent that is above 0 at fewer than k tokens is judged, too; it gets 0": edited(
        _purity, "torch.where(seen >= k, share, 0.0)", "share"
    ),
    "k tokens are enough; a latent with exactly k is judged": edited(
        _purity, "seen >= k", "seen > k"
    ),
    "that is how many tokens; return a share of the k": edited(_purity, "mean(0)", "sum(0)"),
    "the word of the strongest token is looked for; it is the most frequent of the k": edited(
        _purity, "strongest.mode(0).values", "strongest[0]"
    ),
    "the word that is most frequent in the whole text is looked for; it is that among the latent's "
    "k strongest": edited(_purity, "strongest.mode(0).values", "words.mode().values"),
    "it is 1 or 0, all one word or not; return the share": edited(
        _purity, ".float().mean(0)", ".all(0).float()"
    ),
    "the share is of all tokens at which the latent is above 0; it is of the k strongest": edited(
        _purity, "mean(0)", "sum(0) / (codes > 0).sum(0).clamp(min=1)"
    ),
}
