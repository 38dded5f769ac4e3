"""Checks for the exercises of book/inside_a_real_model.ipynb."""

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def times_its_share(answer) -> str:
    """Check `times_its_share(maps, start)` -> (H,).

    maps (H, T, T) are a causal model's attention weights. For each head the mean weight on token 0
    in the rows from `start` on, divided by that of even rows.
    """
    climb(TIMES_ITS_SHARE, answer)
    return "even heads, heads with a sink, several heads, and rows that are left out"


def _times_its_share(maps, start):
    rows = torch.arange(start, maps.shape[1])
    even = 1 / (rows + 1)
    return maps[:, start:, 0].mean(1) / even.mean()


@ladder(_times_its_share)
def TIMES_ITS_SHARE(times_its_share):
    """a head whose rows are even over what they see: once its share"""
    maps = torch.tensor([[[1.0, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]])
    yield times_its_share(maps, 0)

    """the last of four rows alone: it sees four tokens, of which the first has all the weight"""
    maps = torch.tensor([[[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]]])
    yield times_its_share(maps, 3)

    """two rows, which see three tokens and four: a mean of weights over a mean of even weights"""
    maps = torch.tensor([[[1.0, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0, 0.5, 0.25]]])
    yield times_its_share(maps, 2)

    """two heads: each has a number of its own"""
    maps = torch.tensor(
        [[[1.0, 0, 0], [1, 0, 0], [1, 0, 0]], [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]]]
    )
    yield times_its_share(maps, 1)

    """several heads with any weights"""
    maps = torch.randn(3, 9, 9).masked_fill(torch.ones(9, 9).triu(1).bool(), -torch.inf)
    yield times_its_share(maps.softmax(-1), 4)


TIMES_ITS_SHARE.mistakes |= {
    "an even row is divided among all T tokens; row t sees only t + 1": edited(
        _times_its_share, "1 / (rows + 1)", "torch.ones(1) / maps.shape[1]"
    ),
    "row t is taken to see t tokens; it sees itself, too": edited(
        _times_its_share, "(rows + 1)", "rows.clamp(min=1)"
    ),
    "rows before `start` are counted, too": edited(
        _times_its_share,
        "torch.arange(start,",
        "torch.arange(",
        "maps[:, start:, 0]",
        "maps[:, :, 0]",
    ),
    "the mean of each row's ratio is taken; take two means, then one ratio": edited(
        _times_its_share,
        "maps[:, start:, 0].mean(1) / even.mean()",
        "(maps[:, start:, 0] / even).mean(1)",
    ),
    "that is the weight itself; divide it by what even rows would give": edited(
        _times_its_share, " / even.mean()", ""
    ),
    "the even share is subtracted; divide by it": edited(
        _times_its_share, "/ even.mean()", "- even.mean()"
    ),
    "the heads are put together; each has a number of its own": edited(
        _times_its_share, "mean(1) /", "mean(1).mean().expand(len(maps)) /"
    ),
}


@exercise
def likest(answer) -> str:
    """Check `likest(E, known, k)` -> whole numbers (k,).

    E (V, d), known (n,). The k other tokens with the largest cosine to the mean of the known ones'
    vectors, the largest first.
    """
    climb(LIKEST, answer)
    return "short and long vectors, opposite ones, one known token and several"


def _likest(E, known, k):
    mean = E[known].mean(0)
    likeness = (E @ mean) / E.norm(dim=1)
    likeness[known] = -torch.inf
    return likeness.topk(k).indices


@ladder(_likest)
def LIKEST(likest):
    """one known token, all vectors of one length: the other one that points most nearly there"""
    E = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.8, 0.6], [0.6, -0.8]])
    yield likest(E, torch.tensor([1]), 1)

    """two tokens, the nearest first; the known one itself is none of them"""
    E = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.6, -0.8], [0.8, 0.6]])
    yield likest(E, torch.tensor([1]), 2)

    """direction counts, not length: a short vector may be the nearest, and a long one far"""
    E = torch.tensor([[9.0, 9.0], [1.0, 0.0], [0.2, 0.05], [1.25, 0.75]])
    yield likest(E, torch.tensor([1]), 2)

    """where all others point away, the least far is the nearest"""
    E = torch.tensor([[-1.0, 0.5], [-2.0, 0.5], [-1.0, 2.0], [2.0, 0.0]])
    yield likest(E, torch.tensor([3]), 2)

    """several known tokens: the direction is that of their mean, and none of them is returned"""
    E = torch.tensor([[1.0, 0.0], [0.0, 1.0], [3.0, 0.5], [0.5, 4.0], [1.0, 1.25], [2.0, -1.0]])
    yield likest(E, torch.tensor([0, 1]), 3)

    """a long known vector counts for more in the mean than a short one"""
    E = torch.tensor([[6.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -0.5], [1.0, 2.0]])
    yield likest(E, torch.tensor([1, 0]), 2)

    """many tokens"""
    E = torch.randn(40, 5) * torch.rand(40, 1) + 0.25
    yield likest(E, torch.tensor([31, 4, 17]), 8)


LIKEST.mistakes |= {
    "the inner product is taken, which long vectors win; divide by their lengths": edited(
        _likest, " / E.norm(dim=1)", ""
    ),
    "the distance is taken; a short vector may point there, too": edited(
        _likest, "(E @ mean) / E.norm(dim=1)", "-(E - mean).norm(dim=1)"
    ),
    "the known tokens are returned, too": edited(_likest, "likeness[known] = -torch.inf", ""),
    "only the first known token's direction is taken; it is that of their mean": edited(
        _likest, "E[known].mean(0)", "E[known[0]]"
    ),
    "each known vector is brought to length 1 before the mean; take them as they are": edited(
        _likest, "E[known].mean(0)", "torch.nn.functional.normalize(E[known], dim=1).mean(0)"
    ),
    "the known ones are set to 0, and are found where others point away": edited(
        _likest, "-torch.inf", "0"
    ),
    "the least alike are returned": edited(
        _likest, "-torch.inf", "torch.inf", "topk(k)", "topk(k, largest=False)"
    ),
    "the mean is over all tokens; it is over the known": edited(
        _likest, "E[known].mean(0)", "E.mean(0)"
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
    "that is the last block at which it is wrong, or 0; it settles with the next one": edited(
        _settled,
        "return blocks - right.flip(0).cumprod(0).sum(0)",
        "n = blocks - right.flip(0).cumprod(0).sum(0); "
        "return torch.where(n < blocks, (n - 1).clamp(min=0), n)",
    ),
}
