"""Checks for the exercises of book/time_series.ipynb."""

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def runge_kutta_step(answer) -> str:
    """Check `runge_kutta_step(derivative, state, h)`: the state after one step of RK4."""
    climb(RUNGE_KUTTA_STEP, answer)
    return "a constant rate, growth and a pendulum, one state and three, h = 0.25 to 2"


def _runge_kutta_step(derivative, state, h):
    f = derivative
    k1 = f(state)
    k2 = f(state + h / 2 * k1)
    k3 = f(state + h / 2 * k2)
    k4 = f(state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@ladder(_runge_kutta_step)
def RUNGE_KUTTA_STEP(runge_kutta_step):
    """at a constant rate of 3, a step of 1 leads from 2 to 5, however often one looks"""
    state = torch.tensor([2.0])
    yield runge_kutta_step(lambda state: torch.full_like(state, 3.0), state, 1.0)

    """at a constant rate of 3, a step of 0.5 leads from 2 to 3.5: h times the mean rate"""
    state = torch.tensor([2.0])
    yield runge_kutta_step(lambda state: torch.full_like(state, 3.0), state, 0.5)

    """the first number is a clock, the second grows only at the end of the step: there the last
    look is, which counts once, and no other, since each starts from `state`"""

    def late(state):
        return torch.stack([torch.ones(()), (state[0] > 0.75).float()])

    yield runge_kutta_step(late, torch.zeros(2), 1.0)

    """with a clock, too, the second number grows only in the middle: there the second and the
    third look are, each half a step from `state`, and each counts twice"""

    def halfway(state):
        return torch.stack([torch.ones(()), ((state[0] - 0.5).abs() < 0.125).float()])

    yield runge_kutta_step(halfway, torch.zeros(2), 1.0)

    """at a rate of 1 + state², each look after the first goes along the rate of the one before:
    the second along the first, the third along the second, the last along the third"""
    state = torch.tensor([0.5], dtype=torch.float64)
    yield runge_kutta_step(lambda state: 1 + state**2, state, 1.0)

    """where the rate is the state, four looks give the first five terms of e: 1 + 1 + 1/2 + 1/6
    + 1/24"""
    state = torch.tensor([1.0], dtype=torch.float64)
    yield runge_kutta_step(lambda state: state, state, 1.0)

    """a quarter of a step of growth: h also says how far ahead each look goes"""
    state = torch.tensor([1.0], dtype=torch.float64)
    yield runge_kutta_step(lambda state: state, state, 0.25)

    """a swing with friction, whose two numbers drive each other"""

    def swing(state):
        angle, speed = state.unbind(-1)
        return torch.stack([speed, -angle.sin() - 0.1 * speed], dim=-1)

    state = torch.tensor([1.0, -0.5], dtype=torch.float64)
    yield runge_kutta_step(swing, state, 0.5)

    """three states at once: each goes its own way"""
    state = torch.tensor([[1.0], [0.0], [-2.0]])
    yield runge_kutta_step(lambda state: 2 * state, state, 2.0)


RUNGE_KUTTA_STEP.mistakes |= {
    "only the way is returned, not the state that it leads to": edited(
        _runge_kutta_step, "return state + h", "return h"
    ),
    "the weights 1, 2, 2, 1 sum to 6, but the sum is not divided by 6": edited(
        _runge_kutta_step, "h / 6", "h"
    ),
    "all four looks weigh the same; the two in the middle count twice": edited(
        _runge_kutta_step, "h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)", "h / 4 * (k1 + k2 + k3 + k4)"
    ),
    "each look starts where the look before ended; all four start from `state`": edited(
        _runge_kutta_step,
        "state + h / 2 * k2",
        "state + h / 2 * k1 + h / 2 * k2",
        "state + h * k3",
        "state + h / 2 * k1 + h / 2 * k2 + h * k3",
    ),
    "the mean rate is not multiplied by h": edited(_runge_kutta_step, "h / 6", "1 / 6"),
    "that is Euler's step: it looks at the rate at the start only": edited(
        _runge_kutta_step, "h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)", "h * k1"
    ),
    "that is the midpoint method: it uses the second look alone": edited(
        _runge_kutta_step, "h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)", "h * k2"
    ),
    "that is Heun's method: it looks at the start and at the end only": edited(
        _runge_kutta_step, "h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)", "h / 2 * (k1 + f(state + h * k1))"
    ),
    "the third look does not count, and the second counts four times; each counts twice": edited(
        _runge_kutta_step, "2 * k2 + 2 * k3", "4 * k2"
    ),
}


@exercise
def honest_split(answer) -> str:
    """Check `honest_split(series, size, gap)`, (length, F): train (size, F) and test, standardised.

    Both in units of train: its mean, and its standard deviation as torch.std has it.
    """
    climb(HONEST_SPLIT, answer)
    return "lengths, units of either part, two features, another future, with and without a gap"


def _honest_split(series, size, gap):
    train, test = series[:size], series[size + gap :]
    mean, std = train.mean(0), train.std(0)
    return (train - mean) / std, (test - mean) / std


@ladder(_honest_split)
def HONEST_SPLIT(honest_split):
    """of 7 points, 3 are to train on, 1 is in the gap, and 3 are left to test with: lengths"""
    series = torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]])
    yield [len(part) for part in honest_split(series, 3, 1)]

    """of 9 points, 4 are to train on, 3 are in the gap, and 2 are left: lengths"""
    series = torch.arange(9.0)[:, None] ** 2
    yield [len(part) for part in honest_split(series, 4, 3)]

    """in its own units, the training part 0, 2, 4 is -1, 0, 1"""
    series = torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]])
    yield honest_split(series, 3, 1)[0]

    """in the units of train (mean 2, spread 2), the test part 12, 3, 1 is 5, 0.5, -0.5"""
    series = torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]])
    yield honest_split(series, 3, 1)[1]

    """with another future, behind the gap, the training part is the same"""
    series = torch.tensor([[0.0], [2], [4], [9], [12], [1003], [1001]])
    yield honest_split(series, 3, 1)[0]

    """two features, the second a hundred times as large: each has its own mean and spread"""
    series = torch.tensor([[0.0, 300], [2, 100], [4, 200], [9, 0], [12, 500]])
    yield honest_split(series, 3, 1)

    """without a gap, test begins where train ends"""
    series = torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]])
    yield honest_split(series, 3, 0)

    """more points, and three features"""
    series = torch.randn(31, 3).cumsum(0)
    yield honest_split(series, 17, 5)


HONEST_SPLIT.mistakes |= {
    "there is no gap between the parts": edited(_honest_split, "size + gap :", "size :"),
    "the gap is taken from train: train has `size` points": edited(
        _honest_split, "series[:size], series[size + gap :]", "series[: size - gap], series[size:]"
    ),
    "test is what stands in the gap, not what comes after it": edited(
        _honest_split, "size + gap :", "size : size + gap"
    ),
    "the parts are returned in the wrong order: train first": edited(
        _honest_split,
        "(train - mean) / std, (test - mean) / std",
        "(test - mean) / std, (train - mean) / std",
    ),
    "mean and spread are those of the whole series: the past must not know the future": edited(
        _honest_split, "train.mean(0), train.std(0)", "series.mean(0), series.std(0)"
    ),
    "the points are scaled to lie between 0 and 1; mean and standard deviation were "
    "asked for": edited(
        _honest_split, "train.mean(0), train.std(0)", "train.amin(0), train.amax(0) - train.amin(0)"
    ),
    "nothing is standardised": edited(
        _honest_split, "(train - mean) / std, (test - mean) / std", "train, test"
    ),
    "the test part is standardised by itself: use the mean and spread of train for both": edited(
        _honest_split, "(test - mean) / std", "(test - test.mean(0)) / test.std(0)"
    ),
    "the test part is left as it is: it, too, comes in the units of train": edited(
        _honest_split, "(test - mean) / std", "test"
    ),
    "it is divided by the variance; divide by the standard deviation": edited(
        _honest_split, "train.std(0)", "train.var(0)"
    ),
    "the variance is the mean over n points; torch.std divides by n - 1": edited(
        _honest_split, "train.std(0)", "train.std(0, correction=0)"
    ),
    "one mean and spread for all features: each feature has its own": edited(
        _honest_split, "train.mean(0), train.std(0)", "train.mean(), train.std()"
    ),
    "the mean is taken off, but nothing is divided by the standard deviation": edited(
        _honest_split, "train.std(0)", "1"
    ),
    "mean and spread are those of train and gap together; they are those of train": edited(
        _honest_split,
        "train.mean(0), train.std(0)",
        "series[: size + gap].mean(0), series[: size + gap].std(0)",
    ),
}


@exercise
def good_for(answer) -> str:
    """Check `good_for(forecast, truth, threshold)`, both (steps, F): points before the first bad.

    A point is bad when its root mean square error over the features is above the threshold.
    """
    climb(GOOD_FOR, answer)
    return "forecasts that fail at once, later, for a moment, and never; one and two features"


def _good_for(forecast, truth, threshold):
    error = (forecast - truth).square().mean(-1).sqrt()
    bad = error > threshold
    return int(bad.long().argmax()) if bad.any() else len(truth)


@ladder(_good_for)
def GOOD_FOR(good_for):
    """four good points, then a bad one: good for 4, whatever comes after"""
    forecast = torch.tensor([1.0, 1, 1, 1, 7, 1, 1, 1, 1, 1, 7])[:, None] / 10
    yield good_for(forecast, torch.zeros(11, 1), 0.4)

    """three good points, and no bad one: good for 3"""
    yield good_for(torch.tensor([[0.1], [0.1], [0.1]]), torch.zeros(3, 1), 0.4)

    """bad from the first point on: good for 0"""
    yield good_for(torch.tensor([[1.0], [1.0], [1.0]]), torch.zeros(3, 1), 0.4)

    """a point of -0.9 is as bad as one of 0.9"""
    yield good_for(torch.tensor([[0.1], [-0.9], [-0.9]]), torch.zeros(3, 1), 0.4)

    """the error is the distance to the truth, here 5 throughout"""
    yield good_for(torch.tensor([[5.1], [5.0], [6.0]]), torch.full((3, 1), 5.0), 0.4)

    """an error of 0.6 is above a threshold of 0.5, its square is not"""
    yield good_for(torch.tensor([[0.1], [0.6], [0.8]]), torch.zeros(3, 1), 0.5)

    """another threshold, 0.05"""
    yield good_for(torch.tensor([[0.01], [0.1], [0.01]]), torch.zeros(3, 1), 0.05)

    """an error of the threshold itself, 0.25, is good"""
    yield good_for(torch.tensor([[0.25], [0.3125], [0.0], [0.0]]), torch.zeros(4, 1), 0.25)

    """errors of two features do not cancel where one is too high and the other too low"""
    forecast = torch.tensor([[0.3, -0.3], [0.9, -0.9], [0.9, -0.9]])
    yield good_for(forecast, torch.zeros(3, 2), 0.4)

    """two features: the root of their mean square is 0.2, 0.3, 0.33, 0.33, 0.49 and 0.7"""
    forecast = torch.tensor(
        [[0.2, 0.2], [0.3, 0.3], [0.1, 0.45], [0.45, 0.1], [0.7, 0.0], [0.7, 0.7]]
    )
    yield good_for(forecast, torch.zeros(6, 2), 0.36)


GOOD_FOR.mistakes |= {
    "it is one too many: the first bad point does not count": edited(
        _good_for, "argmax())", "argmax()) + 1"
    ),
    "it counts all good points; those after the first bad one do not count": edited(
        _good_for, "int(bad.long().argmax()) if bad.any() else len(truth)", "int((~bad).sum())"
    ),
    "the error is averaged over time: each point has an error of its own": edited(
        _good_for, "mean(-1)", "mean(0)"
    ),
    "a forecast without a bad point is good for all its points, not for 0": edited(
        _good_for, "len(truth)", "0"
    ),
    "the sign of the error is kept: too low is as bad as too high": edited(
        _good_for, "square().mean(-1).sqrt()", "mean(-1)"
    ),
    "the error is taken as a share of the truth; both are in units of the spread already": edited(
        _good_for, "(forecast - truth)", "((forecast - truth) / truth)"
    ),
    "the threshold is an argument; it is not always 0.4": edited(_good_for, "> threshold", "> 0.4"),
    "a point whose error is the threshold itself is good; a bad one's is above it": edited(
        _good_for, "> threshold", ">= threshold"
    ),
    "the mean over the features is missing: it is the length of the error": edited(
        _good_for, "square().mean(-1).sqrt()", "norm(dim=-1)"
    ),
    "the largest error of the features decides; it is the root of their mean square": edited(
        _good_for, "square().mean(-1).sqrt()", "abs().amax(-1)"
    ),
    "the error is averaged over time, and the features are counted; count the points": edited(
        _good_for,
        "mean(-1)",
        "mean(0)",
        "int(bad.long().argmax()) if bad.any() else len(truth)",
        "int((~bad).long().cumprod(0).sum())",
    ),
    "the error is that of all points so far together; each point has an error of its own": edited(
        _good_for, ".sqrt()", ".cumsum(0).div(torch.arange(1, len(truth) + 1)).sqrt()"
    ),
}


@exercise
def fit_rival(answer) -> str:
    """Check `fit_rival(windows, targets, ridge)`: a function, (B, T, F) -> (B, 1, F).

    windows are (N, T, F), targets (N, 1, F).
    """
    climb(FIT_RIVAL, answer)
    return "moves that are constant, linear and products, two features, a penalty, a roll-out"


def _fit_rival(windows, targets, ridge):
    def table(windows):
        x = windows.flatten(1)
        i, j = torch.triu_indices(*2 * x.shape[1:])
        return torch.cat([torch.ones_like(x[:, :1]), x, x[:, i] * x[:, j]], dim=1)

    columns, moves = table(windows), (targets - windows[:, -1:]).flatten(1)
    penalty = ridge * len(windows) * torch.eye(columns.shape[1]).to(columns)
    weights = torch.linalg.solve(columns.T @ columns + penalty, columns.T @ moves)

    def forecast(new):
        return new[:, -1:] + (table(new) @ weights)[:, None]

    return forecast


@ladder(_fit_rival)
def FIT_RIVAL(fit_rival):
    windows = torch.randn(20, 2, 1, dtype=torch.float64)
    first, last = windows[:, :1], windows[:, -1:]

    """the function takes windows (B, T, F) to the next points (B, 1, F): their shape"""
    wider = torch.randn(40, 2, 2, dtype=torch.float64)
    forecast = fit_rival(wider, wider[:, -1:] + 3, 1e-9)
    yield list(forecast(wider[:5]).shape)

    """from everywhere, the series moves by 3: the forecast is the last point plus 3"""
    yield fit_rival(windows, last + 3, 1e-9)(windows)

    """the move is half the first point of the window"""
    yield fit_rival(windows, last + 0.5 * first, 1e-9)(windows)

    """the move is the square of the last point"""
    yield fit_rival(windows, last + last**2, 1e-9)(windows)

    """the move is the product of the two points of the window"""
    yield fit_rival(windows, last + first * last, 1e-9)(windows)

    """two features, of which one moves by the product of both, and the other by half of what it
    is"""
    points = torch.randn(20, 1, 2, dtype=torch.float64)
    moves = torch.cat([points.prod(2, keepdim=True), points[:, :, 1:] / 2], dim=2)
    yield fit_rival(points, points + moves, 1e-9)(points)

    """windows that it was not fitted on, and one alone"""
    new = torch.randn(1, 2, 1, dtype=torch.float64)
    yield fit_rival(windows, last + first * last, 1e-9)(new)

    """a penalty of 0.1 for each of 20 windows, on every weight: a column for each product, once"""
    yield fit_rival(windows, last + 3 + last, 0.1)(windows)

    """rolled out on a chaotic map, it follows the map"""
    points = [torch.tensor(0.2, dtype=torch.float64)]
    for _ in range(40):
        points.append(3.7 * points[-1] * (1 - points[-1]))
    series = torch.stack(points)[:, None, None]
    forecast = fit_rival(series[:-1], series[1:], 0.0)
    said = [series[:1]]
    for _ in range(5):
        said.append(forecast(said[-1]))
    yield torch.cat(said)


FIT_RIVAL.mistakes |= {
    "it says the move only: add it to the last point of the window": edited(
        _fit_rival, "new[:, -1:] +", ""
    ),
    "the move is measured from the first point of the window, not from the last": edited(
        _fit_rival,
        "targets - windows[:, -1:]",
        "targets - windows[:, :1]",
        "new[:, -1:]",
        "new[:, :1]",
    ),
    "the columns have no 1: a move that is the same everywhere cannot be learned": edited(
        _fit_rival, "torch.ones_like(x[:, :1]), x,", "x,"
    ),
    "the columns hold no products": edited(_fit_rival, ", x, x[:, i] * x[:, j]]", ", x]"),
    "the squares are missing among the products": edited(
        _fit_rival, "(*2 * x.shape[1:])", "(*2 * x.shape[1:], 1)"
    ),
    "the product of two different numbers has two columns; each product has one": edited(
        _fit_rival,
        "torch.triu_indices(*2 * x.shape[1:])",
        "torch.cartesian_prod(*2 * [torch.arange(x.shape[1])]).T",
    ),
    "there are squares, but no products of two different numbers": edited(
        _fit_rival,
        "i, j = torch.triu_indices(*2 * x.shape[1:])",
        "i = j = torch.arange(x.shape[1])",
    ),
    "the ridge is not multiplied by N, the number of windows": edited(
        _fit_rival, "ridge * len(windows)", "ridge"
    ),
    "the ridge is squared": edited(_fit_rival, "ridge * len(windows)", "ridge**2 * len(windows)"),
    "the ridge has no effect": edited(_fit_rival, "ridge * len(windows)", "1e-12"),
    "it learns the next point itself, not the move: where weights are penalised, that "
    "is another forecast": edited(
        _fit_rival, "(targets - windows[:, -1:])", "targets", "new[:, -1:] +", ""
    ),
    "the weight of the constant has no penalty; here every weight has one": edited(
        _fit_rival, "weights =", "penalty[0, 0] = 0; weights ="
    ),
    "the ridge is divided by N, the number of windows; it is multiplied by it": edited(
        _fit_rival, "ridge * len(windows)", "ridge / len(windows)"
    ),
}
