"""Checks for the exercises of book/positional_encoding.ipynb."""

from functools import partial

import torch
from torch.overrides import TorchFunctionMode

from companion.checks.exercise import Mistake, Rung, call, exercise, ladder, show


@exercise
def to_halves(answer) -> str:
    """Check `to_halves(encoding)`, (length, d_model): first all sines, then all cosines."""
    ladder(HALVES, _to_halves, to_halves=answer)
    return "widths 4 and 6, lengths 1, 2 and 3"


def _to_halves(encoding):
    return torch.cat([encoding[:, 0::2], encoding[:, 1::2]], dim=1)


HALVES = [
    Rung(
        "the even columns, 0 and 2, hold the sines and come first; the odd ones, 1 and 3, hold the "
        "cosines and come after them; each row stays a row",
        "encoding = torch.arange(16.0).reshape(4, 4)\nto_halves(encoding)",
        {
            "nothing has changed: sines and cosines still take turns": lambda encoding: encoding,
            "the cosines come first: even columns are sines": lambda encoding: _to_halves(
                encoding
            ).roll(2, dims=1),
            "every second position was taken, not every second column: encoding[:, 0::2]": (
                lambda encoding: torch.cat([encoding[0::2], encoding[1::2]])
            ),
            "the cosines stand below the sines; they should stand to the right: dim=1": (
                lambda encoding: torch.cat([encoding[:, 0::2], encoding[:, 1::2]])
            ),
            "only the sines are left": lambda encoding: encoding[:, 0::2],
            "the cosines are in reverse order": lambda encoding: torch.cat(
                [encoding[:, 0::2], encoding[:, 1::2].flip(1)], dim=1
            ),
        },
    ),
    Rung(
        "of six columns 0, 2 and 4 come first, and 1, 3 and 5 after them",
        "encoding = torch.arange(18.0).reshape(3, 6)\nto_halves(encoding)",
        {
            "this is the way back, from halves to interleaved; for width 4 the two are the same": (
                lambda encoding: encoding.unflatten(1, (2, -1)).mT.flatten(1)
            ),
        },
    ),
    Rung(
        "there may be a single position",
        "encoding = torch.arange(4.0).reshape(1, 4)\nto_halves(encoding)",
    ),
]


@exercise
def rotate(answer) -> str:
    """Check `rotate(x, positions)`, (T, d_k) -> (T, d_k): RoPE, base 10000; int64 positions (T,).

    Pairs may be neighbours, or a number of the first half and its counterpart in the second.
    """
    found = []
    for pairing in ("interleaved", "halves"):
        rungs = [
            Rung(idea, code, {text: partial(f, pairing=pairing) for text, f in instead.items()})
            for idea, code, instead in ROTATE
        ]
        try:
            ladder(rungs, partial(_rotate, pairing=pairing), rotate=answer)
            return "positions 0, 1 and others in any order, widths 2, 4 and 6, in either pairing"
        except Mistake as mistake:
            found.append(mistake)
    names = [text for rung in ROTATE for text in rung.instead]
    raise next((mistake for mistake in found if mistake.mistake in names), found[0])


def _speeds(width):
    return 10000.0 ** (-torch.arange(0, width, 2) / width)  # (d_k / 2,)


def _rotate(x, positions, pairing, *, speeds=_speeds, turned=None):
    """Turn the pairs by the angles, or put something else, turned(a, b, angle), in their place."""
    pairs = x.unflatten(1, (-1, 2)) if pairing == "interleaved" else x.unflatten(1, (2, -1)).mT
    (a, b), angle = pairs.unbind(-1), positions[:, None] * speeds(x.shape[1])
    turned = turned or (lambda a, b, angle: (_across(a, b, angle), _across(b, -a, angle)))
    pairs = torch.stack(turned(a, b, angle), dim=-1)
    return pairs.flatten(1) if pairing == "interleaved" else pairs.mT.flatten(1)


def _across(a, b, angle):
    return a * angle.cos() - b * angle.sin()


def _other_order(x, pairing):
    shape = (-1, 2) if pairing == "interleaved" else (2, -1)
    return x.unflatten(1, shape).mT.flatten(1)


def _two_conventions(x, positions, pairing):
    """The pairs of one convention, turned by angles that are laid out for the other one."""
    angle = positions[:, None] * _speeds(x.shape[1])
    if pairing == "interleaved":
        angle, (a, b) = torch.cat([angle, angle], dim=1), x.unflatten(1, (-1, 2)).unbind(-1)
        across = torch.stack([-b, a], dim=-1).flatten(1)
    else:
        angle, (a, b) = angle.repeat_interleave(2, dim=1), x.chunk(2, dim=1)
        across = torch.cat([-b, a], dim=1)
    return x * angle.cos() + across * angle.sin()


ROTATE = [
    Rung(
        "position 0 is not turned at all",
        "x, positions = torch.tensor([[1.0, 2.0]]), torch.tensor([0])\nrotate(x, positions)",
        {
            "the waves are added to x; RoPE turns x and adds nothing": partial(
                _rotate, turned=lambda a, b, angle: (a + angle.sin(), b + angle.cos())
            ),
            "it counts from 1: position 0 is not turned at all": (
                lambda x, positions, pairing: _rotate(x, positions + 1, pairing)
            ),
        },
    ),
    Rung(
        "position 1 turns the first pair by one radian: (1, 0) becomes (cos 1, sin 1), and (0, 1) "
        "becomes (-sin 1, cos 1)",
        "x, positions = torch.eye(2), torch.tensor([1, 1])\nrotate(x, positions)",
        {
            "nothing is turned": lambda x, positions, pairing: x,
            "`positions` is not used: a row is turned by its place in the array": (
                lambda x, positions, pairing: _rotate(x, torch.arange(len(x)), pairing)
            ),
            "it turns the other way: (1, 0) should become (cos, sin), not (cos, -sin)": (
                lambda x, positions, pairing: _rotate(x, -positions, pairing)
            ),
            "a sign is wrong, and lengths change: (a, b) becomes (a cos - b sin, a sin + b cos)": (
                partial(
                    _rotate,
                    turned=lambda a, b, angle: (_across(a, -b, angle), _across(b, -a, angle)),
                )
            ),
            "the second entry of a pair uses the first one's new value: compute both from the old "
            "ones": partial(
                _rotate,
                turned=lambda a, b, angle: (
                    _across(a, b, angle),
                    _across(b, -_across(a, b, angle), angle),
                ),
            ),
        },
    ),
    Rung(
        "with d_k = 4 the second pair turns a hundred times slower than the first, by "
        "10000^(-2/4) = 0.01 per position, and each pair goes back to its own two places",
        "x, positions = torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([2])\n"
        "rotate(x, positions)",
        {
            "all pairs are turned by the same angle: pair i turns by 10000^(-2i / d_k) per "
            "position": partial(_rotate, speeds=lambda width: torch.ones(width // 2)),
            "the exponent is -i / d_k; it is -2i / d_k": partial(
                _rotate, speeds=lambda width: 10000.0 ** (-torch.arange(width // 2) / width)
            ),
            "the exponent is twice too large: i counts pairs, 0, 1, ...; it is -2i / d_k": partial(
                _rotate, speeds=lambda width: 10000.0 ** (-2 * torch.arange(0, width, 2) / width)
            ),
            "later pairs turn faster; they should turn slower: the exponent is negative": partial(
                _rotate, speeds=lambda width: 1 / _speeds(width)
            ),
            "the pairs are of one convention and the angles laid out for the other: neighbours "
            "need each angle twice in a row, halves need all angles twice": _two_conventions,
            "what is turned comes back in the order of the other convention": (
                lambda x, positions, pairing: _other_order(_rotate(x, positions, pairing), pairing)
            ),
        },
    ),
    Rung(
        "with d_k = 6 the speeds are 1, 10000^(-2/6) and 10000^(-4/6)",
        "x, positions = torch.tensor([[1.0, 2, 3, 4, 5, 6]]), torch.tensor([3])\n"
        "rotate(x, positions)",
    ),
    Rung(
        "each row is turned by its own position, in whatever order they come",
        "x, positions = torch.randn(4, 6), torch.tensor([7, 100, 0, 3])\nrotate(x, positions)",
    ),
]


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
        seen = bias.float().masked_fill(torch.ones(length, length).triu(1).bool(), -torch.inf)
        best = seen == seen.amax(-1, keepdim=True)
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
