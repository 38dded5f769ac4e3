"""Checks for the exercises of book/positional_encoding.ipynb."""

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
