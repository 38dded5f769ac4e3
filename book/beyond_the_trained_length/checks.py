"""Checks for the exercises of book/beyond_the_trained_length.ipynb."""

import math

import torch
from torch.overrides import TorchFunctionMode

from book.checking.exercise import Mistake, call, climb, exercise
from book.checking.results import show
from book.checking.rungs import edited, ladder


@exercise
def false_twin(answer) -> str:
    """Check `false_twin(distance, speeds, longest)` -> int: the distance that looks most alike."""
    climb(FALSE_TWIN, answer)
    return "one, two and three hands, distances 1 to 12, up to 20 and up to 127"


def _false_twin(distance, speeds, longest):
    later = torch.arange(distance + 8, longest + 1)
    agreement = (speeds * (later[:, None] - distance)).cos().mean(1)
    return later[agreement.argmax()].item()


@ladder(_false_twin)
def FALSE_TWIN(false_twin):
    """one hand that goes round in 10 positions: at 13 it points where it did at 3"""
    speeds = torch.tensor([2 * math.pi / 10])
    yield false_twin(3, speeds, 20)

    """the longest distance counts too, and none beyond it"""
    speeds = torch.tensor([2 * math.pi / 9])
    yield [false_twin(3, speeds, longest) for longest in (12, 11)]

    """one hand that goes round in 20 positions: at 17 it is the mirror image of 3, with the same
    cosine; but the angle between two hands counts, and from 3 that to 20 is smaller"""
    speeds = torch.tensor([2 * math.pi / 20])
    yield false_twin(3, speeds, 20)

    """two hands that go round in 10 and in 15 positions: each agrees by its own cosine, and the
    mean of both is largest where both are back, after 30"""
    speeds = 2 * math.pi / torch.tensor([10.0, 15.0])
    yield false_twin(1, speeds, 40)

    """what is asked for is a distance, not how much further it is: 12 + 30"""
    speeds = 2 * math.pi / torch.tensor([10.0, 15.0])
    yield false_twin(12, speeds, 50)

    """distances less than 8 further do not count, however well the hands agree"""
    speeds = torch.tensor([0.01])
    yield false_twin(5, speeds, 30)

    """the three fast hands of the chapter's model, up to 127"""
    speeds = 10000.0 ** (-torch.arange(0, 6, 2) / 16)
    yield false_twin(3, speeds, 127)


FALSE_TWIN.mistakes |= {
    "this is how much further the twin is; add the distance itself": edited(
        _false_twin,
        "return later[agreement.argmax()].item()",
        "return later[agreement.argmax()].item() - distance",
    ),
    "the hands are compared with those at distance 0, not with those at `distance`": edited(
        _false_twin, "(later[:, None] - distance)", "later[:, None]"
    ),
    "this is where the hands agree least": edited(_false_twin, "argmax", "argmin"),
    "near distances are counted: begin 8 further than `distance`": edited(
        _false_twin, "distance + 8", "distance + 1"
    ),
    "the angles are averaged before the cosine is taken; each hand agrees or not by itself": edited(
        _false_twin, ".cos().mean(1)", ".mean(1).cos()"
    ),
    "the cosines of the hands are compared, which are alike for mirror images; take the cosine "
    "of the angle between the hands": edited(
        _false_twin,
        "(speeds * (later[:, None] - distance)).cos()",
        "-((speeds * later[:, None]).cos() - (speeds * distance).cos()).abs()",
    ),
    "only the first hand is read": edited(_false_twin, "(speeds * ", "(speeds[:1] * "),
    "a hand that points the opposite way counts as agreeing; leave the sign of the cosine": edited(
        _false_twin, ".cos()", ".cos().abs()"
    ),
    "3 is built in; the hands are compared with those at `distance`": edited(
        _false_twin, "[:, None] - distance", "[:, None] - 3"
    ),
    "this is a place in the list of distances; return the distance that stands there": edited(
        _false_twin, "later[agreement.argmax()]", "agreement.argmax()"
    ),
    "the hand that agrees least decides; take the mean over all hands": edited(
        _false_twin, ".mean(1)", ".amin(1)"
    ),
    "it looks from 8 on, whatever `distance` is; begin 8 further than that": edited(
        _false_twin, "distance + 8", "8"
    ),
}


@exercise
def slowed(answer) -> str:
    """Check `slowed(speeds, factor, trained)` -> (hands,): radians per position, slow ones slower.

    A hand that makes at most half a turn in `trained` positions is slow, one that makes a whole
    turn or more keeps its speed; in between what is kept grows with the turns.
    """
    climb(SLOWED, answer)
    return "slow, fast and middling hands, two factors, two trained lengths"


def _slowed(speeds, factor, trained):
    turns = speeds * trained / (2 * math.pi)
    kept = ((turns - 0.5) / (1.0 - 0.5)).clamp(0, 1)
    return kept * speeds + (1 - kept) * speeds / factor


@ladder(_slowed)
def SLOWED(slowed):
    """the first hand makes two turns in the trained positions and keeps its speed; the second makes
    0.4 of one, and its speed is divided by the factor"""
    speeds = 2 * math.pi * torch.tensor([2, 0.4]) / 32
    yield slowed(speeds, 5, 32)

    """of 0.6 turns a fifth of the speed is kept, and the rest divided by the factor; of 0.9 turns
    four fifths are kept"""
    speeds = 2 * math.pi * torch.tensor([2, 0.25, 0.6, 0.9]) / 32
    yield slowed(speeds, 5, 32)

    """the hands of a head 16 wide, at another factor and another trained length"""
    speeds = 10000.0 ** (-torch.arange(0, 16, 2) / 16)
    yield slowed(speeds, 4, 100)


SLOWED.mistakes |= {
    "all hands are slowed, the fast ones too: this is position interpolation": (
        lambda speeds, factor, trained: speeds / factor
    ),
    "the fast hands are slowed and the slow ones kept": edited(
        _slowed,
        "return kept * speeds + (1 - kept) * speeds / factor",
        "return (1 - kept) * speeds + kept * speeds / factor",
    ),
    "hands in between are slowed as if they were slow: what is kept grows from 0 at half "
    "a turn to 1 at a whole one": edited(
        _slowed, "((turns - 0.5) / (1.0 - 0.5)).clamp(0, 1)", "(turns >= 1).float()"
    ),
    "hands in between keep their speed: what is kept grows from 0 at half a turn to 1 at "
    "a whole one": edited(
        _slowed, "((turns - 0.5) / (1.0 - 0.5)).clamp(0, 1)", "(turns > 0.5).float()"
    ),
    "a whole turn is 2 pi; pi is half of one": edited(_slowed, "(2 * math.pi)", "math.pi"),
    "the divisors are mixed; mix the speeds, the whole one and the divided one": edited(
        _slowed,
        "kept * speeds + (1 - kept) * speeds / factor",
        "speeds / (kept + (1 - kept) * factor)",
    ),
    "the turns are radians: divide by 2 pi": edited(_slowed, " / (2 * math.pi)", ""),
    "the share is not cut off: it goes below 0 for slow hands and above 1 for fast ones": edited(
        _slowed, ".clamp(0, 1)", ""
    ),
    "the turns themselves are the share; it grows from 0 at half a turn": edited(
        _slowed, "((turns - 0.5) / (1.0 - 0.5))", "turns"
    ),
    "slow hands are sped up: divide by the factor": edited(
        _slowed, "speeds / factor", "speeds * factor"
    ),
    "slow hands stand still: their speed is divided by the factor": edited(
        _slowed, " + (1 - kept) * speeds / factor", ""
    ),
    "at a whole turn the share that is kept is only 1/2: divide turns - 0.5 by 1 - 0.5": edited(
        _slowed, " / (1.0 - 0.5)", ""
    ),
    "what is kept grows from one turn to 32; here it does from half a turn to a whole one": edited(
        _slowed, "(turns - 0.5) / (1.0 - 0.5)", "(turns - 1) / 31"
    ),
    "the share is not cut off below: for slow hands it is less than 0": edited(
        _slowed, "clamp(0, 1)", "clamp(max=1)"
    ),
    "the share is not cut off above: for fast hands it is more than 1": edited(
        _slowed, "clamp(0, 1)", "clamp(min=0)"
    ),
    "the share is squared; it should grow in a straight line": edited(
        _slowed, ".clamp(0, 1)", ".clamp(0, 1) ** 2"
    ),
    "32 trained positions are built in; `trained` is an argument": edited(
        _slowed, "speeds * trained", "speeds * 32"
    ),
}


@exercise
def three_back_bias(answer) -> str:
    """Check `bias(length, device)` -> (heads, length, length), to be added to the scores.

    Of the keys that a query may see, every head has to favour the one three places back. What
    the bias says of later keys is free, since the causal mask hides them.
    """
    for length in (7, 12, 40):
        bias = call(answer, length=length, device=torch.device("cpu"))
        _check_form(bias, length)
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        seen = bias.float().masked_fill(later, -torch.inf)
        if (early := seen[:, :3]).isnan().any() or not early.isfinite().any(-1).all():
            raise Mistake(
                "the first three queries have no key three back, and must not be left with nothing "
                "to look at: rows of NaN or -inf make NaN of the softmax",
                f"bias({length}, device)[:, :3] has a row without a finite number, or with NaN, "
                "among the keys up to the query",
            )
        best = seen == seen.amax(-1, keepdim=True)
        right = best.diagonal(-3, 1, 2) & (best.sum(-1)[:, 3:] == 1)
        ahead = torch.arange(3, length).expand(len(bias), -1)
        if not right.all() and torch.equal(bias.argmax(-1)[:, :-3], ahead):
            raise Mistake(
                "the bias is largest three places ahead: distance is that of the query less that "
                "of the key, i - j (row i, column j), and 3 is subtracted from it",
                f"bias({length}, device)[0, 0] is largest at key {bias[0, 0].argmax().item()}",
            )
        favoured, before = ((length - back - seen[:, -back].argmax(-1)).tolist() for back in (1, 2))
        if favoured == before and len(set(favoured)) == len(bias) > 1:
            raise Mistake(
                f"each head has a distance of its own, {favoured}; every head has to favour the "
                "same one, 3, and may differ from the others in how strongly",
                f"bias({length}, device)[:, -1], the query at {length - 1}",
            )
        for head, i in (~right).nonzero().tolist()[::-1]:
            where = f"bias({length}, device)[{head}], the query at {i + 3}"
            _check_row(bias[head, i + 3, : i + 4], where)
    with _Devices() as asked:
        call(answer, length=5, device=torch.device("cpu"))
    if not asked.found:
        raise Mistake(
            "the tensor is not made on the device that is given: no function is told of it",
            "torch.arange(length, device=device), for one",
        )
    return "lengths 7, 12 and 40, every head and every query from the fourth on"


class _Devices(TorchFunctionMode):
    """Whether any function of torch is told of a device."""

    found = False

    def __torch_function__(self, function, types, args=(), kwargs=None):
        given = [*args, *(kwargs or {}).values()]
        told = any(isinstance(x, torch.device | str) and str(x) == "cpu" for x in given)
        self.found |= told and function is not torch.device  # the check itself makes some
        return function(*args, **(kwargs or {}))


def _check_form(bias, length: int) -> None:
    if not isinstance(bias, torch.Tensor):
        raise Mistake(f"it returned {type(bias).__name__}, expected a tensor", f"length {length}")
    plain = bias.layout == torch.strided and not bias.is_meta
    if not plain or bias.dtype == torch.bool or bias.is_complex():
        raise Mistake(
            f"it returned {bias.dtype}, {bias.layout} on {bias.device}; it is added to the scores, "
            "so plain numbers are expected, the largest for the key to be favoured",
            f"length {length}",
        )
    if bias.dim() != 3 or tuple(bias.shape[1:]) != (length, length) or not len(bias):
        raise Mistake(
            f"it returned shape {tuple(bias.shape)}, expected (heads, {length}, {length})",
            f"length {length}",
        )


def _check_row(seen: torch.Tensor, where: str) -> None:
    """Raise unless the largest of the biases (i + 1,) is the one three before the last."""
    example = f"{where}\n{show({'bias for the keys up to the query': seen})}"
    if seen.isnan().any() or (seen == torch.inf).any():
        raise Mistake("the bias of a key that may be seen is NaN or infinite", example)
    distances = len(seen) - 1 - (seen == seen.max()).nonzero()[:, 0]
    if distances.tolist() == [3]:
        return
    if (seen == seen.min()).nonzero()[:, 0].tolist() == [len(seen) - 4]:
        raise Mistake(
            "the bias is smallest at distance 3: it is added to the scores, so what is favoured "
            "needs the largest, and a penalty is a negative number",
            example,
        )
    if seen.min() == seen.max():
        raise Mistake(
            "a head has no preference at all: is its rate 0? Every head needs a positive one",
            example,
        )
    if distances.tolist() == [0]:
        raise Mistake(
            "the bias is largest at distance 0, the query's own place, as in ALiBi; it should fall "
            "in both directions from 3: -(distance - 3).abs(), where distance is i - j",
            example,
        )
    if len(distances) > 1:
        raise Mistake(
            f"the bias is largest at {len(distances)} distances at once, {distances.tolist()}; "
            "it should be at 3 only",
            example,
        )
    raise Mistake(f"the bias is largest at distance {distances.item()}; it should be at 3", example)
