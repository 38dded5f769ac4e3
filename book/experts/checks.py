"""Checks for the exercises of book/experts.ipynb."""

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def switch_loss(answer) -> str:
    """Check `switch_loss(probabilities, chosen)`, (N, E) and (N,) -> a number."""
    climb(SWITCH_LOSS, answer)
    return "even and collapsed, experts that nobody chose, choices that are not the most probable"


def _switch_loss(probabilities, chosen):
    tokens, count = probabilities.shape
    load = torch.bincount(chosen, minlength=count) / tokens
    return count * (load * probabilities.mean(0)).sum()


@ladder(_switch_loss)
def SWITCH_LOSS(switch_loss):
    """load and probabilities both even: 1, for any number of experts"""
    yield switch_loss(torch.full((3, 3), 1 / 3), torch.tensor([0, 2, 1]))

    """one expert has all tokens and all probability: as many as there are experts"""
    p = torch.tensor([[1.0, 0.0, 0.0, 0.0]]).expand(4, 4)
    yield switch_loss(p, torch.tensor([0, 0, 0, 0]))

    """the last experts are chosen by nobody: their load is 0"""
    p = torch.tensor([[0.5, 0.25, 0.25], [0.75, 0.125, 0.125], [0.25, 0.5, 0.25], [0.5, 0.5, 0]])
    yield switch_loss(p, torch.tensor([0, 0, 1, 0]))

    """an uneven load and even probabilities: still 1"""
    yield switch_loss(torch.full((5, 4), 0.25), torch.tensor([3, 3, 3, 3, 0]))

    """with a bias the chosen expert need not be the most probable: the choices count"""
    p = torch.tensor([[0.5, 0.25, 0.25], [0.75, 0.125, 0.125], [0.25, 0.5, 0.25], [0.5, 0.5, 0]])
    yield switch_loss(p, torch.tensor([2, 2, 2, 1]))


SWITCH_LOSS.mistakes |= {
    "the load is taken from the probabilities; it is a share of choices": edited(
        _switch_loss, "torch.bincount(chosen, minlength=count) / tokens", "probabilities.mean(0)"
    ),
    "the load is that of the most probable experts; `chosen` says who was chosen": edited(
        _switch_loss, "bincount(chosen", "bincount(probabilities.argmax(1)"
    ),
    "the number of experts is missing, which multiplies the sum over them (or a mean has undone "
    "it)": edited(_switch_loss, "count * (", "("),
    "load or probability is a sum over the tokens; both are divided by their number": edited(
        _switch_loss, " / tokens", ""
    ),
    "the sum is multiplied by the number of tokens; it is that of experts": edited(
        _switch_loss, "count * (", "tokens * ("
    ),
    "the load alone is squared; the probabilities take part": edited(
        _switch_loss, "probabilities.mean(0)", "load"
    ),
    "each token's own probability is taken; load and mean probability are of a batch": (
        lambda probabilities, chosen: (
            probabilities.shape[1] * probabilities.gather(1, chosen[:, None]).mean()
        )
    ),
    "the probabilities of each token are averaged over the experts; each expert's are over the "
    "tokens": edited(_switch_loss, ".mean(0)", ".mean(1)"),
    "only tokens that chose an expert count in its mean probability; all should": edited(
        _switch_loss,
        "probabilities.mean(0)",
        "(probabilities * torch.nn.functional.one_hot(chosen, count)).mean(0)",
    ),
    "the last expert is left out": edited(
        _switch_loss, "(load * probabilities.mean(0))", "(load * probabilities.mean(0))[:-1]"
    ),
}


@exercise
def has_room(answer) -> str:
    """Check `has_room(chosen, most)`, (N,) and a whole number -> (N,) of true and false."""
    climb(HAS_ROOM, answer)
    return "room for all, too little room, experts whose tokens come mixed"


def _has_room(chosen, most):
    same = chosen[:, None] == chosen
    place = same.tril().sum(1)
    return place <= most


@ladder(_has_room)
def HAS_ROOM(has_room):
    """room for all"""
    yield has_room(torch.tensor([0, 1, 0, 2, 1]), 2)

    """one expert, one token too many: the last one has none"""
    yield has_room(torch.tensor([3, 3, 3, 3]), 3)

    """two experts that take turns: each counts its own tokens"""
    yield has_room(torch.tensor([0, 1, 0, 1, 0, 1, 0]), 2)

    """a crowd at the start takes nothing from the other expert's tokens at the end"""
    yield has_room(torch.tensor([2, 2, 2, 2, 0, 2, 0]), 2)

    """room for one only"""
    yield has_room(torch.tensor([1, 1, 4, 1, 4, 0, 0, 5]), 1)


HAS_ROOM.mistakes |= {
    "all experts share one room; each has its own": (
        lambda chosen, most: torch.arange(len(chosen)) < most
    ),
    "one too few finds room": edited(_has_room, "<=", "<"),
    "one too many finds room": edited(_has_room, "<= most", "<= most + 1"),
    "the last to come find room; it is the first": edited(_has_room, ".tril()", ".triu()"),
    "an expert that is asked too often turns everybody away; its first tokens stay": edited(
        _has_room, "same.tril()", "same"
    ),
    "experts beyond number 3 are taken for number 3; there may be more than four": edited(
        _has_room, "same =", "chosen = chosen.clamp(max=3)\n    same ="
    ),
    "there is one answer for each expert; each token should get its own": (
        lambda chosen, most: torch.bincount(chosen) <= most
    ),
}


@exercise
def read_narrow(answer) -> str:
    """Check `read_narrow(query, kept, up_k, up_v)`, (d_k,), (S, c), then (d, c) twice -> (d_v,)."""
    climb(READ_NARROW, answer)
    return "one token and several, keys and values of different widths, large scores"


def _read_narrow(query, kept, up_k, up_v):
    scores = kept @ (up_k.T @ query) / len(query) ** 0.5
    return up_v @ (scores.softmax(0) @ kept)


@ladder(_read_narrow)
def READ_NARROW(read_narrow):
    """one cached token: its value, whatever the query"""
    kept, up_k, up_v = torch.tensor([[1.0, 2.0]]), torch.randn(2, 2), torch.randn(5, 2)
    yield read_narrow(torch.randn(2), kept, up_k, up_v)

    """a query of zeros reads the mean of the values"""
    yield read_narrow(torch.zeros(2), torch.randn(4, 2), torch.randn(2, 2), torch.randn(5, 2))

    """two tokens whose keys, `up_k` @ each, are 1, 0 and 1, 3: both are as much like the query"""
    kept, up_k = torch.eye(2), torch.tensor([[1.0, 1], [0, 3]])
    yield read_narrow(torch.tensor([1.0, 0]), kept, up_k, torch.eye(2))

    """two tokens, d_k = 4: scores are halved"""
    kept, up_k = torch.eye(2), torch.tensor([[1.0, 0], [0, 3], [1, 0], [0, 0]])
    yield read_narrow(torch.tensor([1.0, 2, -1, 5]), kept, up_k, torch.eye(2))

    """many tokens, all widths different"""
    query, kept = torch.randn(6), torch.randn(9, 4)
    yield read_narrow(query, kept, torch.randn(6, 4), torch.randn(5, 4))

    """scores of 200 and 201, whose exponentials are too large for float32"""
    kept = torch.tensor([[200.0, 1.0], [201.0, 2.0]])
    yield read_narrow(torch.tensor([1.0]), kept, torch.tensor([[1.0, 0.0]]), torch.eye(2))


READ_NARROW.mistakes |= {
    "the scale is that of the latent's width; scores are those of keys of width d_k": edited(
        _read_narrow, "len(query) ** 0.5", "kept.shape[1] ** 0.5"
    ),
    "the scores are not divided by the square root of d_k": edited(
        _read_narrow, " / len(query) ** 0.5", ""
    ),
    "this is a mixture of what is cached; `up_v` makes a value of it": edited(
        _read_narrow, "up_v @ (scores.softmax(0) @ kept)", "scores.softmax(0) @ kept"
    ),
    "`up_k` makes values of the mixture; that is what `up_v` is for": edited(
        _read_narrow, "up_v @ (scores", "up_k @ (scores"
    ),
    "the scores weigh the values without a softmax": edited(_read_narrow, ".softmax(0)", ""),
    "the most alike token is read alone": edited(
        _read_narrow, "scores.softmax(0) @ kept", "kept[scores.argmax()]"
    ),
    "`up_k` stands the wrong way round: the query goes through its transpose": edited(
        _read_narrow, "up_k.T", "up_k"
    ),
    "the scale is that of a value's width; scores are those of keys of width d_k": edited(
        _read_narrow, "len(query) ** 0.5", "len(up_v) ** 0.5"
    ),
    "scores are cut off, so that large ones count alike; a softmax subtracts the largest": edited(
        _read_narrow, ".softmax(0)", ".clamp(max=50).softmax(0)"
    ),
    "all tokens count alike; they are weighed by the softmax of their scores": edited(
        _read_narrow, "scores.softmax(0) @ kept", "kept.mean(0)"
    ),
    "the tokens with the highest score are read alone, each with the weight 1": edited(
        _read_narrow, "scores.softmax(0)", "(scores == scores.max()).float()"
    ),
}
