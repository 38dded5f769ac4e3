"""Checks for the exercises of book/positional_encoding.ipynb."""

from contextlib import suppress
from functools import partial

import torch

from book.checking.exercise import Mistake, call, climb, exercise
from book.checking.rungs import edited, ladder
from companion.nn import sinusoidal_encoding


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
    "the halves of a row have changed places; take the even columns, then the odd "
    "ones": lambda encoding: encoding.roll(encoding.shape[1] // 2, 1),
    "every second pair of neighbours was taken, not every second column": lambda encoding: (
        torch.cat(
            [
                x.flatten(1)
                for x in (
                    encoding.unflatten(1, (-1, 2))[:, 0::2],
                    encoding.unflatten(1, (-1, 2))[:, 1::2],
                )
            ],
            dim=1,
        )
    ),
}


@exercise
def move(answer) -> str:
    """Check `move(encoding, k)`, (T, d_model) -> (T, d_model): sinusoids, k positions further."""
    climb(MOVE, answer)
    return "widths 2, 4 and 6, steps forward, back and none, rows in any order"


def _move(encoding, k):
    turn = k * 10000.0 ** (-torch.arange(0, encoding.shape[1], 2) / encoding.shape[1])
    sin, cos = encoding[:, 0::2], encoding[:, 1::2]
    moved = [sin * turn.cos() + cos * turn.sin(), cos * turn.cos() - sin * turn.sin()]
    return torch.stack(moved, dim=-1).flatten(1)


@ladder(_move)
def MOVE(move):
    """a step of 0 changes nothing"""
    encoding = torch.tensor([[0.0, 1.0]])
    yield move(encoding, 0)

    """a row needs no other row to be moved, only a turn: position 0 has (0, 1), and one position
    further the first pair is (sin 1, cos 1), (0.84, 0.54)"""
    encoding = torch.tensor([[0.0, 1.0]])
    yield move(encoding, 1)

    """three positions on from 2 is 5, and two back from 2 is 0"""
    encoding = sinusoidal_encoding(3, 2)[2:]
    yield move(encoding, 3), move(encoding, -2)

    """with four columns the second pair turns a hundred times slower than the first, by 0.01 per
    position"""
    encoding = torch.tensor([[0.0, 1.0, 0.0, 1.0]])
    yield move(encoding, 2)

    """every row moves by the same k, from wherever it is; six columns have the speeds 1,
    10000^(-2/6) and 10000^(-4/6)"""
    encoding = sinusoidal_encoding(50, 6)[[7, 40, 0, 3]]
    yield move(encoding, 30)


MOVE.mistakes |= {
    "this is the address of position k, whatever the row was": lambda encoding, k: _move(
        torch.tensor([0.0, 1.0]).repeat(len(encoding), encoding.shape[1] // 2), k
    ),
    "the address of position k is added; moving on turns each pair and adds nothing": edited(
        _move,
        "sin * turn.cos() + cos * turn.sin()",
        "sin + turn.sin()",
        "cos * turn.cos() - sin * turn.sin()",
        "cos + turn.cos()",
    ),
    "a sign: the cosine of a sum is cos · cos − sin · sin": edited(
        _move, "cos * turn.cos() - sin", "cos * turn.cos() + sin"
    ),
    "all pairs are turned by the same angle: pair i turns by 10000^(-2i / d_model) per "
    "position": edited(_move, "10000.0 **", "1.0 **"),
    "later pairs turn faster; they should turn slower: the exponent is negative": edited(
        _move, "(-torch.arange", "(torch.arange"
    ),
    "the exponent is -i / d_model; it is -2i / d_model": edited(
        _move,
        "torch.arange(0, encoding.shape[1], 2)",
        "torch.arange(encoding.shape[1] // 2)",
    ),
    "columns i and i + d_model / 2 are turned as a pair; here a pair stands side by side, in "
    "columns 2i and 2i + 1": edited(
        _move,
        "encoding[:, 0::2], encoding[:, 1::2]",
        "encoding.chunk(2, dim=1)",
        "torch.stack(moved, dim=-1).flatten(1)",
        "torch.cat(moved, dim=1)",
    ),
    "the sines are taken for cosines: column 0 holds the sine of the first pair": edited(
        _move, "sin, cos =", "cos, sin ="
    ),
    "the exponent is twice too large: i counts pairs, 0, 1, ...; it is -2i / d_model": edited(
        _move, "(-torch.arange", "(-2 * torch.arange"
    ),
    "the new cosine is computed from the new sine; compute both from the old values": edited(
        _move,
        "    moved = [sin * turn.cos() + cos * turn.sin(), cos * turn.cos() - sin * turn.sin()]",
        "    sin = sin * turn.cos() + cos * turn.sin(); "
        "moved = [sin, cos * turn.cos() - sin * turn.sin()]",
    ),
    "the result is in halves, first all sines; a sine and its cosine stand side by side": edited(
        _move, "torch.stack(moved, dim=-1).flatten(1)", "torch.cat(moved, dim=1)"
    ),
    "the input is read in halves; a sine and its cosine stand side by side": edited(
        _move, "encoding[:, 0::2], encoding[:, 1::2]", "encoding.chunk(2, dim=1)"
    ),
    "the rows are taken for positions 0, 1, 2, ...; a row may be at any position, so turn "
    "what it holds": lambda encoding, k: _move(sinusoidal_encoding(*encoding.shape), k),
}


@exercise
def rotate(answer) -> str:
    """Check `rotate(x, positions)`, (T, d_k) -> (T, d_k): RoPE, base 10000; int64 positions (T,).

    Pairs may be neighbours, or a number of the first half and its counterpart in the second.
    """
    found, pairings = [], ["interleaved", "halves"]
    with suppress(Exception):  # the ladder says what it cannot do
        turned = call(answer, x=torch.eye(4)[:1], positions=torch.tensor([1]))
        if turned[0][2] != 0:  # entry 0 goes with entry 2 of 4
            pairings.reverse()
    for pairing in pairings:
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

    """position 1 turns the first pair by one radian: (1, 0) becomes (cos 1, sin 1), and (0, 2)
    becomes (-2 sin 1, 2 cos 1)"""
    x, positions = torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([1, 1])
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
    "it turns the other way: (a, b) becomes (a cos - b sin, a sin + b cos)": edited(
        _rotate, "angle = positions", "angle = -positions"
    ),
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
    "a minus is missing: (a, b) becomes (a cos - b sin, a sin + b cos)": edited(
        _rotate, "a * angle.cos() - b", "a * angle.cos() + b"
    ),
}
