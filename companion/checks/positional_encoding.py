"""Checks for the exercises of book/positional_encoding.ipynb."""

from functools import partial

import torch

from companion.checks.exercise import Mistake, call, compare, exercise, show
from companion.nn import sinusoidal_encoding


@exercise
def to_halves(answer) -> str:
    """Check `to_halves(encoding)`, (length, d_model): first all sines, then all cosines."""
    cases = [{"encoding": sinusoidal_encoding(*shape)} for shape in ((2, 4), (1, 6), (4, 6))]
    cases += [{"encoding": torch.randn(7, 10)}]
    compare(answer, cases, _to_halves, HALVES_MISTAKES)
    return "widths 4, 6 and 10, lengths 1, 2, 4 and 7"


def _to_halves(encoding):
    return (torch.cat([encoding[:, 0::2], encoding[:, 1::2]], dim=1),)


HALVES_MISTAKES = {
    "nothing has changed: sines and cosines still take turns": lambda encoding: (encoding,),
    "the cosines come first: even columns are sines": lambda encoding: (
        _to_halves(encoding)[0].roll(encoding.shape[1] // 2, dims=1),
    ),
    "every second position was taken, not every second column: encoding[:, 0::2]": (
        lambda encoding: (torch.cat([encoding[0::2], encoding[1::2]]),)
    ),
    "this is the way back, from halves to interleaved; for width 4 the two are the same": (
        lambda encoding: (encoding.unflatten(1, (2, -1)).mT.flatten(1),)
    ),
    "the sines are right, but the cosines are in reverse order": lambda encoding: (
        torch.cat([encoding[:, 0::2], encoding[:, 1::2].flip(1)], dim=1),
    ),
    "the cosines stand below the sines; they should stand to the right: dim=1": (
        lambda encoding: (torch.cat([encoding[:, 0::2], encoding[:, 1::2]]),)
    ),
    "only the sines are left": lambda encoding: (encoding[:, 0::2],),
}


@exercise
def rotate(answer) -> str:
    """Check `rotate(x, positions)`, (T, d_k) -> (T, d_k): RoPE, base 10000; int64 positions (T,).

    Pair i is turned by position * 10000^(-2i / d_k), the pair (1, 0) to (cos, sin). A pair may be
    two neighbours, or an entry of the first half and its counterpart in the second.
    """
    found = []
    for pairing in ("interleaved", "half"):
        known = {text: partial(wrong, pairing=pairing) for text, wrong in ROTATE_MISTAKES.items()}
        try:
            compare(answer, _rotate_cases(), partial(_rotate, pairing=pairing), known)
            return "widths 2, 4 and 6; positions in order, with gaps and in reverse"
        except Mistake as mistake:
            found.append(mistake)
    raise next((mistake for mistake in found if mistake.mistake in ROTATE_MISTAKES), found[0])


def _rotate_cases() -> list[dict]:
    cases = [
        {"x": torch.tensor([[1.0, 0.0], [1.0, 0.0]]), "positions": torch.tensor([0, 1])},
        {"x": torch.tensor([[1.0, 0, 1, 0]]), "positions": torch.tensor([2])},
        {"x": torch.tensor([[1.0, 2, 3, 4, 5, 6]]), "positions": torch.tensor([3])},
    ]
    for positions in ([0, 1, 2, 3, 4], [7, 3, 100, 0, 11]):
        cases.append({"x": torch.randn(5, 6), "positions": torch.tensor(positions)})
    return cases


def _angles(x, positions):
    width = x.shape[1]
    return positions[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)  # (T, d_k / 2)


def _rotate(x, positions, pairing, *, angles=_angles, turned=None):
    """Turn the pairs by the angles, or put something else, turned(a, b, angle), in their place."""
    pairs = x.unflatten(1, (-1, 2)) if pairing == "interleaved" else x.unflatten(1, (2, -1)).mT
    (a, b), angle = pairs.unbind(-1), angles(x, positions)
    turned = turned or (lambda a, b, angle: (_across(a, b, angle), _across(b, -a, angle)))
    pairs = torch.stack(turned(a, b, angle), dim=-1)
    return (pairs.flatten(1) if pairing == "interleaved" else pairs.mT.flatten(1),)


def _across(a, b, angle):
    return a * angle.cos() - b * angle.sin()


def _two_conventions(x, positions, pairing):
    """The pairs of one convention, turned by angles that are laid out for the other one."""
    angle = _angles(x, positions)
    if pairing == "interleaved":
        angle, (a, b) = torch.cat([angle, angle], dim=1), x.unflatten(1, (-1, 2)).unbind(-1)
        across = torch.stack([-b, a], dim=-1).flatten(1)
    else:
        angle, (a, b) = angle.repeat_interleave(2, dim=1), x.chunk(2, dim=1)
        across = torch.cat([-b, a], dim=1)
    return (x * angle.cos() + across * angle.sin(),)


ROTATE_MISTAKES = {
    "nothing is turned": lambda x, positions, pairing: (x,),
    "all pairs are turned by the same angle: pair i turns by 10000^(-2i / d_k) per position": (
        partial(_rotate, angles=lambda x, positions: positions[:, None].expand(-1, x.shape[1] // 2))
    ),
    "the exponent is -i / d_k; it is -2i / d_k": partial(
        _rotate,
        angles=lambda x, positions: (
            positions[:, None] * 10000.0 ** (-torch.arange(x.shape[1] // 2) / x.shape[1])
        ),
    ),
    "later pairs turn faster; they should turn slower: the exponent is negative": partial(
        _rotate,
        angles=lambda x, positions: (
            positions[:, None] * 10000.0 ** (torch.arange(0, x.shape[1], 2) / x.shape[1])
        ),
    ),
    "`positions` is not used: a row is turned by its place in the array": partial(
        _rotate,
        angles=lambda x, positions: _angles(x, torch.arange(len(x))),
    ),
    "it counts from 1: position 0 is not turned at all": partial(
        _rotate, angles=lambda x, positions: _angles(x, positions + 1)
    ),
    "it turns the other way: (1, 0) should become (cos, sin), not (cos, -sin)": partial(
        _rotate, angles=lambda x, positions: -_angles(x, positions)
    ),
    "a sign is wrong, and lengths change: (a, b) becomes (a cos - b sin, a sin + b cos)": partial(
        _rotate,
        turned=lambda a, b, angle: (_across(a, -b, angle), _across(b, -a, angle)),
    ),
    "the second entry of a pair uses the first one's new value: compute both from the old ones": (
        partial(
            _rotate,
            turned=lambda a, b, angle: (
                _across(a, b, angle),
                _across(b, -_across(a, b, angle), angle),
            ),
        )
    ),
    "the pairs are of one convention and the angles laid out for the other: neighbours need each "
    "angle twice in a row, halves need all angles twice": _two_conventions,
    "the waves are added to x; RoPE turns x and adds nothing": partial(
        _rotate, turned=lambda a, b, angle: (a + angle.sin(), b + angle.cos())
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
        for head, rows in enumerate(bias):
            for i in reversed(range(3, length)):
                _check_row(rows[i, : i + 1], f"length {length}, head {head}, query {i}")
    return "lengths 7, 12 and 40, every head and every query from the fourth on"


def _check_form(bias, length: int) -> None:
    if not isinstance(bias, torch.Tensor):
        raise Mistake(f"it returned {type(bias).__name__}, expected a tensor", f"length {length}")
    if bias.dim() != 3 or tuple(bias.shape[1:]) != (length, length) or not len(bias):
        raise Mistake(
            f"it returned shape {tuple(bias.shape)}, expected (heads, {length}, {length})",
            f"length {length}",
        )
    if not bias.is_floating_point():
        raise Mistake(f"it returned {bias.dtype}, expected floating numbers", f"length {length}")


def _check_row(seen: torch.Tensor, where: str) -> None:
    """Raise unless the largest of the biases (i + 1,) is the one three before the last."""
    example = f"{where}\n{show({'bias for the keys up to the query': seen})}"
    if seen.isnan().any() or (seen == torch.inf).any():
        raise Mistake("the bias of a key that may be seen is NaN or infinite", example)
    distances = len(seen) - 1 - (seen == seen.max()).nonzero()[:, 0]
    if distances.tolist() == [3]:
        return
    if seen[-4] == seen.min() < seen.max():
        raise Mistake(
            "the penalty is largest at distance 3: a bias is added to the scores, so a penalty is "
            "a negative number",
            example,
        )
    if len(distances) > 1:
        raise Mistake(
            f"the penalty is smallest at {len(distances)} distances at once, {distances.tolist()}; "
            "it should be at 3 only",
            example,
        )
    raise Mistake(
        f"the penalty is smallest at distance {distances.item()}; it should be at 3", example
    )
