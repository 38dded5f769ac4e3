"""Checks for the exercises of book/budgets.ipynb."""

import math

import numpy as np

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def size_and_tokens(answer) -> str:
    """Check `size_and_tokens(budget, per_parameter)` -> (parameters, tokens), not rounded.

    Together they cost the budget, at six operations for each parameter and token, and there are
    per_parameter tokens for each parameter.
    """
    climb(SIZE_AND_TOKENS, answer)
    return "as many tokens as parameters, more, fewer, four times the budget, a large model"


def _size_and_tokens(budget, per_parameter):
    parameters = math.sqrt(budget / (6 * per_parameter))
    return parameters, per_parameter * parameters


@ladder(_size_and_tokens)
def SIZE_AND_TOKENS(size_and_tokens):
    """one token for each parameter: 600 operations train 10 parameters on 10 tokens"""
    yield size_and_tokens(600, 1)

    """four tokens for each parameter: the same 600 operations train 5 parameters on 20 tokens"""
    yield size_and_tokens(600, 4)

    """four times the budget: twice the parameters, and twice the tokens"""
    yield size_and_tokens(2400, 4)

    """fewer tokens than parameters"""
    yield size_and_tokens(600, 0.25)

    """neither of the two is rounded"""
    yield size_and_tokens(1000, 3)

    """a large model, twenty tokens for each parameter"""
    yield size_and_tokens(5.76e23, 20)


SIZE_AND_TOKENS.mistakes |= {
    "each parameter and token costs one operation here; it is six": edited(
        _size_and_tokens, "(6 * per_parameter)", "per_parameter"
    ),
    "each parameter and token costs two operations here, which is the way forward alone; the way "
    "back costs four more": edited(_size_and_tokens, "6 *", "2 *"),
    "parameters times tokens is the square of the parameters, times the tokens of each: a root is "
    "missing": edited(_size_and_tokens, "math.sqrt", ""),
    "the budget is spent as if each parameter had one token, and the tokens are multiplied "
    "afterwards; so both together cost more than there is": edited(
        _size_and_tokens, "(6 * per_parameter)", "6"
    ),
    "there are as many tokens as parameters, whatever was asked": edited(
        _size_and_tokens, "per_parameter * parameters", "parameters"
    ),
    "the more tokens each parameter has, the larger the model: it is the other way round": edited(
        _size_and_tokens, "budget / (6 * per_parameter)", "budget / 6 * per_parameter"
    ),
    "they are rounded; return them as they are": lambda budget, per_parameter: tuple(
        round(number) for number in _size_and_tokens(budget, per_parameter)
    ),
}


@exercise
def best_size(answer) -> str:
    """Check `best_size(sizes, gaps)` -> the size at the bottom of a parabola.

    The parabola is that of least squares through ln(gap) over ln(size).
    """
    climb(BEST_SIZE, answer)
    return "three sizes, a bottom between them, more sizes than a parabola can pass, any order"


def _best_size(sizes, gaps):
    x, y = np.log(sizes), np.log(gaps)
    bend, slope, _ = np.polyfit(x, y, 2)
    return float(np.exp(-slope / (2 * bend)))


@ladder(_best_size)
def BEST_SIZE(best_size):
    """three sizes a factor of ten apart, both ends equally far from the entropy: the bottom is in
    the middle"""
    yield best_size([100.0, 1000.0, 10000.0], [2.0, 1.0, 2.0])

    """one end is lower than the other: the bottom is between two of the sizes"""
    yield best_size([100.0, 1000.0, 10000.0], [4.0, 1.0, 2.0])

    """gaps and sizes are far apart, and the logarithms of both count"""
    yield best_size([50.0, 400.0, 9000.0], [8.0, 0.5, 1.5])

    """five sizes, which no parabola passes: that of least squares, through all of them"""
    yield best_size([100.0, 200.0, 500.0, 1500.0, 4000.0], [2.2, 1.3, 1.1, 0.9, 2.5])

    """the sizes in another order"""
    yield best_size([1500.0, 100.0, 4000.0, 500.0, 200.0], [0.9, 2.2, 2.5, 1.1, 1.3])


BEST_SIZE.mistakes |= {
    "this is one of the sizes that were trained; the bottom lies between": lambda sizes, gaps: (
        sizes[int(np.argmin(gaps))]
    ),
    "this is still the logarithm of the size": edited(
        _best_size, "float(np.exp(-slope / (2 * bend)))", "float(-slope / (2 * bend))"
    ),
    "a 2 is missing: where a x² + b x + c is lowest, 2 a x + b is 0": edited(
        _best_size, "(2 * bend)", "bend"
    ),
    "the logarithm of the gaps is not taken": edited(_best_size, "np.log(gaps)", "gaps"),
    "the logarithm of the sizes is not taken": lambda sizes, gaps: _bottom(sizes, np.log(gaps)),
    "no logarithm is taken, neither of sizes nor of gaps": lambda sizes, gaps: _bottom(sizes, gaps),
    "the logarithms are natural ones, and 10 to the power of the bottom was taken": edited(
        _best_size, "np.exp(-slope / (2 * bend))", "10 ** (-slope / (2 * bend))"
    ),
    "only the lowest point and its two neighbours are used": lambda sizes, gaps: _best_size(
        *_three(sizes, gaps)
    ),
    "the numbers that describe the parabola are taken in the wrong order": edited(
        _best_size, "bend, slope, _ =", "_, slope, bend ="
    ),
}


def _bottom(x, y) -> float:
    bend, slope, _ = np.polyfit(x, y, 2)
    return float(-slope / (2 * bend))


def _three(sizes, gaps):
    points = sorted(zip(sizes, gaps, strict=True))
    middle = min(range(1, len(points) - 1), key=lambda i: points[i][1])
    return zip(*points[middle - 1 : middle + 2], strict=True)


@exercise
def rate_of(answer) -> str:
    """Check `rate_of(name, shape, rate, tuned, width)` -> the learning rate of one parameter.

    rate suited the width tuned; a matrix of a block gets it divided by width / tuned.
    """
    climb(RATE_OF, answer)
    return "matrices, vectors, the embedding, a wider, a narrower and a deeper model"


def _rate_of(name, shape, rate, tuned, width):
    inside = name.startswith("blocks.")
    matrix = len(shape) == 2
    if inside and matrix:
        return rate * tuned / width
    return rate


@ladder(_rate_of)
def RATE_OF(rate_of):
    """a block's matrix in a model of the width that the rate was tuned on: the same rate"""
    yield rate_of("blocks.0.attention.out.weight", (16, 16), 0.08, 16, 16)

    """a block's matrix in a model four times as wide: a quarter of the rate"""
    yield rate_of("blocks.0.attention.out.weight", (64, 64), 0.08, 16, 64)

    """the embedding is a matrix, too, but stands in no block: it keeps the rate"""
    yield rate_of("embedding.weight", (621, 64), 0.08, 16, 64)

    """a block's vector keeps the rate"""
    yield rate_of("blocks.0.norm1.gain", (64,), 0.08, 16, 64)

    """a matrix that is not square: it is the width of the model that counts"""
    yield rate_of("blocks.0.feed_forward.down.weight", (64, 170), 0.08, 16, 64)

    """a matrix of a later block, three times as wide"""
    yield rate_of("blocks.11.feed_forward.up.weight", (128, 48), 0.06, 16, 48)

    """a narrower model: its matrices get more"""
    yield rate_of("blocks.1.attention.qkv.weight", (24, 8), 0.01, 32, 8)


RATE_OF.mistakes |= {
    "the embedding's rate is divided, too; it stands in no block": edited(
        _rate_of, "inside and matrix", "matrix"
    ),
    "the vectors of a block get less, too; it is the matrices alone": edited(
        _rate_of, "inside and matrix", "inside"
    ),
    "everything gets less; it is the matrices of the blocks alone": edited(
        _rate_of, "inside and matrix", "True"
    ),
    "nothing gets another rate": edited(_rate_of, "rate * tuned / width", "rate"),
    "it is divided by the width, and not by how many times as wide the model is": edited(
        _rate_of, "rate * tuned / width", "rate / width"
    ),
    "a wider model's matrices get more; they are to get less": edited(
        _rate_of, "tuned / width", "width / tuned"
    ),
    "it is divided by the root of how many times as wide the model is": edited(
        _rate_of, "rate * tuned / width", "rate * (tuned / width) ** 0.5"
    ),
    "it is divided by the last number of the shape, which need not be the model's width": edited(
        _rate_of, "tuned / width", "tuned / shape[-1]"
    ),
}
