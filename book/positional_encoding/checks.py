"""Checks for the exercises of book/positional_encoding.ipynb."""

from functools import partial

import torch
from torch.overrides import TorchFunctionMode

from book.checking.exercise import Mistake, call, climb, exercise
from book.checking.results import show
from book.checking.rungs import edited, ladder


@exercise
def to_halves(answer) -> str:
    """Check `to_halves(encoding)`, (length, d_model): first all sines, then all cosines."""
    climb(TO_HALVES, answer)
    return "widths 4 and 6, lengths 1, 2 and 3"


def _to_halves(encoding):
    return torch.cat([encoding[:, 0::2], encoding[:, 1::2]], dim=1)


@ladder(_to_halves)
def TO_HALVES(to_halves):
    """the even columns, 0 and 2, hold the sines and come first; the odd ones, 1 and 3, hold the
    cosines and come after them; each row stays a row"""
    encoding = torch.arange(16.0).reshape(4, 4)
    yield to_halves(encoding)

    """of six columns 0, 2 and 4 come first, and 1, 3 and 5 after them"""
    encoding = torch.arange(18.0).reshape(3, 6)
    yield to_halves(encoding)

    """there may be a single position"""
    encoding = torch.arange(4.0).reshape(1, 4)
    yield to_halves(encoding)


TO_HALVES.mistakes |= {
    "nothing has changed: sines and cosines still take turns": lambda encoding: encoding,
    "the cosines come first: even columns are sines": lambda encoding: torch.cat(
        [encoding[:, 1::2], encoding[:, 0::2]], dim=1
    ),
    "every second position was taken, not every second column: encoding[:, "
    "0::2]": lambda encoding: torch.cat([encoding[0::2], encoding[1::2]]),
    "the cosines stand below the sines; they should stand to the right: dim=1": lambda encoding: (
        torch.cat([encoding[:, 0::2], encoding[:, 1::2]])
    ),
    "only the sines are left": lambda encoding: torch.cat([encoding[:, 0::2]], dim=1),
    "the cosines are in reverse order": lambda encoding: torch.cat(
        [encoding[:, 0::2], encoding[:, 1::2].flip(1)], dim=1
    ),
    "this is the way back, from halves to interleaved; for width 4 the two "
    "are the same": lambda encoding: encoding.unflatten(1, (2, -1)).mT.flatten(1),
}


@exercise
def rotate(answer) -> str:
    """Check `rotate(x, positions)`, (T, d_k) -> (T, d_k): RoPE, base 10000; int64 positions (T,).

    Pairs may be neighbours, or a number of the first half and its counterpart in the second.
    """
    found = []
    for pairing in ("interleaved", "halves"):
        try:
            climb(ROTATE.mapped(partial, pairing=pairing), answer)
            return "positions 0, 1 and others in any order, widths 2, 4 and 6, in either pairing"
        except Mistake as mistake:
            found.append(mistake)
    raise next((mistake for mistake in found if mistake.mistake in ROTATE.mistakes), found[0])


def _rotate(x, positions, pairing="interleaved"):
    angle = positions[:, None] * 10000.0 ** (-torch.arange(0, x.shape[1], 2) / x.shape[1])
    a, b = x.unflatten(1, (-1, 2)).unbind(-1) if pairing == "interleaved" else x.chunk(2, dim=1)
    first = a * angle.cos() - b * angle.sin()
    second = a * angle.sin() + b * angle.cos()
    if pairing == "interleaved":
        return torch.stack([first, second], dim=-1).flatten(1)
    return torch.cat([first, second], dim=1)


def _other_layout(angle, pairing):
    """The angles of both entries of each pair, where those of the other convention were taken."""
    if pairing == "interleaved":
        return torch.cat([angle, angle], dim=1).unflatten(1, (-1, 2)).unbind(-1)
    return angle.repeat_interleave(2, dim=1).chunk(2, dim=1)


@ladder(_rotate)
def ROTATE(rotate):
    """position 0 is not turned at all"""
    x, positions = torch.tensor([[1.0, 2.0]]), torch.tensor([0])
    yield rotate(x, positions)

    """position 1 turns the first pair by one radian: (1, 0) becomes (cos 1, sin 1), and (0, 1)
    becomes (-sin 1, cos 1)"""
    x, positions = torch.eye(2), torch.tensor([1, 1])
    yield rotate(x, positions)

    """with d_k = 4 the second pair turns a hundred times slower than the first, by 10000^(-2/4)
    = 0.01 per position, and each pair goes back to its own two places"""
    x, positions = torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([2])
    yield rotate(x, positions)

    """with d_k = 6 the speeds are 1, 10000^(-2/6) and 10000^(-4/6)"""
    x, positions = torch.tensor([[1.0, 2, 3, 4, 5, 6]]), torch.tensor([3])
    yield rotate(x, positions)

    """each row is turned by its own position, in whatever order they come"""
    x, positions = torch.randn(4, 6), torch.tensor([7, 100, 0, 3])
    yield rotate(x, positions)

    """positions are whole numbers, also large ones, which have no place in a float of 16 bits"""
    x, positions = torch.tensor([[1.0, 2.0]]), torch.tensor([2049])
    yield rotate(x, positions)

    """two calls with as many rows: each has its own positions"""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    yield rotate(x, torch.tensor([5, 6])), rotate(x, torch.tensor([2, 0]))


ROTATE.mistakes |= {
    "the waves are added to x; RoPE turns x and adds nothing": edited(
        _rotate,
        "a * angle.cos() - b * angle.sin()",
        "a + angle.sin()",
        "a * angle.sin() + b * angle.cos()",
        "b + angle.cos()",
    ),
    "it counts from 1: position 0 is not turned at all": edited(
        _rotate, "positions[:, None]", "(positions[:, None] + 1)"
    ),
    "nothing is turned": edited(_rotate, "angle = positions", "angle = 0 * positions"),
    "`positions` is not used: a row is turned by its place in the array": edited(
        _rotate, "positions[:, None]", "torch.arange(len(x))[:, None]"
    ),
    "the second entry of a pair uses the first one's new value: compute both from the "
    "old ones": edited(_rotate, "second = a", "second = first"),
    "all pairs are turned by the same angle: pair i turns by 10000^(-2i / d_k) per "
    "position": edited(_rotate, "10000.0 **", "1.0 **"),
    "the exponent is -i / d_k; it is -2i / d_k": edited(
        _rotate, "torch.arange(0, x.shape[1], 2)", "torch.arange(x.shape[1] // 2)"
    ),
    "the exponent is twice too large: i counts pairs, 0, 1, ...; it is -2i / d_k": edited(
        _rotate, "(-torch.arange", "(-2 * torch.arange"
    ),
    "later pairs turn faster; they should turn slower: the exponent is negative": edited(
        _rotate, "(-torch.arange", "(torch.arange"
    ),
    "the pairs are of one convention and the angles laid out for the other: "
    "neighbours need each angle twice in a row, halves need all angles twice": edited(
        _rotate,
        "first = a",
        "angle, other = _other_layout(angle, pairing); first = a",
        "second = a * angle.sin() + b * angle.cos()",
        "second = a * other.sin() + b * other.cos()",
    ),
    "what is turned comes back in the order of the other convention": edited(
        _rotate, 'pairing == "interleaved":', 'pairing != "interleaved":'
    ),
    "all rows are turned by the first position; each has its own": edited(
        _rotate, "positions[:, None]", "positions[:1, None]"
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
        if (early := bias[:, :3]).isnan().any() or not early.isfinite().any(-1).all():
            raise Mistake(
                "the first three queries have no key three back, and must not be left with nothing "
                "to look at: rows of NaN or -inf make NaN of the softmax",
                f"bias({length}, device)[:, :3] has a row without a finite number",
            )
        if torch.equal(bias.argmax(-1)[:, :-3], torch.arange(3, length).expand(len(bias), -1)):
            raise Mistake(
                "the bias is largest three places ahead: distance is that of the query less that "
                "of the key, i - j (row i, column j), and 3 is subtracted from it",
                f"bias({length}, device)[0, 0] is largest at key {bias[0, 0].argmax().item()}",
            )
        seen = bias.float().masked_fill(torch.ones(length, length).triu(1).bool(), -torch.inf)
        best = seen == seen.amax(-1, keepdim=True)
        favoured = (length - 1 - seen[:, -1].argmax(-1)).tolist()
        if len(set(favoured)) == len(bias) > 1:
            raise Mistake(
                f"each head has a distance of its own, {favoured}; every head has to favour the "
                "same one, 3, and may differ from the others in how strongly",
                f"bias({length}, device)[:, -1], the query at {length - 1}",
            )
        right = best.diagonal(-3, 1, 2) & (best.sum(-1)[:, 3:] == 1)
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
        self.found |= any(isinstance(x, torch.device) for x in given)
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
