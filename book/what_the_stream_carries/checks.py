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
}


@exercise
def settled(answer) -> str:
    """Check `settled(streams, norm, head, answers)` -> integers (N,).

    streams (blocks, N, d_model); answers (N,). For each question the first block from which on the
    lens of norm and head names the answer; the number of blocks if the last one does not.
    """
    with torch.no_grad():
        climb(SETTLED, answer)
    return "answers that come early, late, go away again, or never come, and a norm that matters"


def _settled(streams, norm, head, answers):
    logits = head(norm(streams))
    right = (logits.argmax(-1) == answers).int()
    blocks = len(right)
    return blocks - right.flip(0).cumprod(0).sum(0)


@ladder(_settled)
def SETTLED(settled):
    """two questions: the first is named from the first block on, the second from the second: the
    number is that of the first block from which on the answer is named without a break, from 0"""
    same = torch.nn.Identity()
    streams = torch.eye(3)[
        torch.tensor([[1, 0], [1, 2], [1, 2]])
    ]  # after each block, the word it names: 1, 0
    yield settled(streams, same, same, torch.tensor([1, 2]))

    """named from the third of four blocks on: the number is 2"""
    same = torch.nn.Identity()
    streams = torch.eye(3)[torch.tensor([[0], [2], [1], [1]])]
    yield settled(streams, same, same, torch.tensor([1]))

    """named, then lost, then named again: only what stays counts"""
    same = torch.nn.Identity()
    streams = torch.eye(3)[torch.tensor([[1], [0], [1], [1]])]
    yield settled(streams, same, same, torch.tensor([1]))

    """wrong at the end: the number is that of all blocks, even if the answer was named
    before"""
    same = torch.nn.Identity()
    streams = torch.eye(3)[torch.tensor([[1, 2], [1, 0], [0, 0]])]
    yield settled(streams, same, same, torch.tensor([1, 1]))

    """the lens reads through the norm, and then the output matrix"""
    norm, head = torch.nn.LayerNorm(3), torch.nn.Linear(3, 2)
    with torch.no_grad():
        norm.bias.copy_(torch.tensor([0.0, 4.0, 0.0]))
    streams = torch.randn(4, 6, 3) + torch.randn(6, 3)
    yield settled(streams, norm, head, head(norm(streams[-1])).argmax(-1))

    """many questions, of which some are wrong at the end: each has a number of its own"""
    norm, head = torch.nn.LayerNorm(6), torch.nn.Linear(6, 3)
    streams, answers = torch.randn(6, 20, 6) + torch.randn(20, 6), torch.randint(3, (20,))
    yield settled(streams, norm, head, answers)


SETTLED.mistakes |= {
    "that is the last block at which it is *not* named; the next one is the first "
    "that counts": edited(_settled, "return blocks -", "return blocks - 1 -"),
    "the smallest logit is taken": edited(_settled, "argmax", "argmin"),
    "it counts how many blocks are right; say from which one on": edited(
        _settled, "return blocks -", "return"
    ),
    "that is the first block at which the answer is named; it may go away again": edited(
        _settled, "return", "return torch.where(right.any(0), right.argmax(0), blocks);"
    ),
    "a question that is wrong at the end never settles: its number is that of all blocks": edited(
        _settled, "right.flip(0).cumprod(0).sum(0)", "right.flip(0).cumprod(0).sum(0).clamp(min=1)"
    ),
    "that is when the model's own last word settles; the question is about the right "
    "answer": edited(_settled, "== answers", "== logits[-1].argmax(-1)"),
    "the norm is left out; the output matrix has never read a vector without it": edited(
        _settled, "head(norm(streams))", "head(streams)"
    ),
}
