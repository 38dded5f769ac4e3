"""Checks for the exercises of book/time_series.ipynb."""

from collections.abc import Callable
from functools import partial

import torch

from companion.checks.exercise import Rung, exercise, ladder


@exercise
def runge_kutta_step(answer) -> str:
    """Check `runge_kutta_step(derivative, state, h)`: the state after one step of RK4."""
    ladder(RUNGE_KUTTA, _runge_kutta, runge_kutta_step=answer)
    return "a constant rate, growth and a pendulum, one state and three, h = 0.5, 1 and 2"


def _runge_kutta(f, state, h, *, half=0.5, whole=1.0, weights=(1, 2, 2, 1), by=6, slip=None):
    """One step; what learners get wrong can be set."""
    ahead = 1 if slip == "looks without h" else h
    k1 = f(state)
    second = state + half * ahead * k1
    k2 = f(second)
    from_here = second if slip == "from look to look" else state
    third = from_here + half * ahead * (k1 if slip == "k3 from k1" else k2)
    k3 = f(third)
    from_here = third if slip == "from look to look" else state
    k4 = f(from_here + whole * ahead * k3)
    if slip == "brackets":
        return state + h / 6 * k1 + 2 * k2 + 2 * k3 + k4
    mean = sum(w * k for w, k in zip(weights, (k1, k2, k3, k4), strict=True)) / by
    if slip == "forgets h":
        return state + mean
    return h * mean if slip == "forgets the state" else state + h * mean


SUMS = {
    "only the way is returned, not the state that it leads to": (
        partial(_runge_kutta, slip="forgets the state")
    ),
    "the weights 1, 2, 2, 1 sum to 6, but the sum is not divided by 6": partial(_runge_kutta, by=1),
    "the mean rate is not multiplied by h": partial(_runge_kutta, slip="forgets h"),
    "h/6 multiplies the first rate alone; brackets belong round the sum": (
        partial(_runge_kutta, slip="brackets")
    ),
    "the way is walked backwards: it is added to the state": (
        lambda f, state, h: 2 * state - _runge_kutta(f, state, h)
    ),
}
LOOKS = {
    "that is Euler's step: it looks at the rate at the start only": (
        lambda f, state, h: state + h * f(state)
    ),
    "that is the midpoint method: it uses the second look alone": (
        lambda f, state, h: state + h * f(state + h / 2 * f(state))
    ),
    "that is Heun's method: it looks at the start and at the end only": (
        lambda f, state, h: state + h / 2 * (f(state) + f(state + h * f(state)))
    ),
    "all four looks have the same weight; those in the middle count twice, and the sum is "
    "divided by 6": partial(_runge_kutta, weights=(1, 1, 1, 1), by=4),
    "the first and the last look count twice; it is those in the middle that do": (
        partial(_runge_kutta, weights=(2, 1, 1, 2))
    ),
    "the looks in the middle go a whole step ahead; they go half a step": (
        partial(_runge_kutta, half=1.0)
    ),
    "the last look goes half a step ahead; it goes a whole one": partial(_runge_kutta, whole=0.5),
    "the third look starts out along the first rate; it follows the second": (
        partial(_runge_kutta, slip="k3 from k1")
    ),
    "every look starts from `state`, not from the look before; only its direction is from there": (
        partial(_runge_kutta, slip="from look to look")
    ),
}
AHEAD = {
    "the rates are not multiplied by h in the looks ahead: h/2, h/2 and h times the rate before": (
        partial(_runge_kutta, slip="looks without h")
    ),
}
RUNGE_KUTTA = [
    Rung(
        "at a constant rate of 3, a step of 1 leads from 2 to 5, however often one looks",
        "constant = lambda state: torch.full_like(state, 3.0)\n"
        "state = torch.tensor([2.0])\n"
        "runge_kutta_step(constant, state, 1.0)",
        SUMS,
    ),
    Rung(
        "at a constant rate of 3, a step of 0.5 leads from 2 to 3.5: h times the mean rate",
        "constant = lambda state: torch.full_like(state, 3.0)\n"
        "state = torch.tensor([2.0])\n"
        "runge_kutta_step(constant, state, 0.5)",
        SUMS,
    ),
    Rung(
        "at a rate of 1 + state², each of the four looks, weighted 1, 2, 2, 1, is new",
        "square = lambda state: 1 + state**2\n"
        "state = torch.tensor([0.5], dtype=torch.float64)\n"
        "runge_kutta_step(square, state, 1.0)",
        LOOKS,
    ),
    Rung(
        "where the rate is the state, four looks give the first five terms of e: "
        "1 + 1 + 1/2 + 1/6 + 1/24",
        "growth = lambda state: state\n"
        "state = torch.tensor([1.0], dtype=torch.float64)\n"
        "runge_kutta_step(growth, state, 1.0)",
        LOOKS,
    ),
    Rung(
        "half a step of growth: h also says how far ahead each look goes",
        "growth = lambda state: state\n"
        "state = torch.tensor([1.0], dtype=torch.float64)\n"
        "runge_kutta_step(growth, state, 0.5)",
        AHEAD | LOOKS,
    ),
    Rung(
        "a swing with friction, whose two numbers drive each other",
        "def swing(state):\n"
        "    angle, speed = state.unbind(-1)\n"
        "    return torch.stack([speed, -angle.sin() - 0.1 * speed], dim=-1)\n"
        "state = torch.tensor([1.0, -0.5], dtype=torch.float64)\n"
        "runge_kutta_step(swing, state, 0.5)",
        LOOKS | AHEAD,
    ),
    Rung(
        "three states at once: each goes its own way",
        "growth = lambda state: 2 * state\n"
        "state = torch.tensor([[1.0], [0.0], [-2.0]])\n"
        "runge_kutta_step(growth, state, 2.0)",
        LOOKS | AHEAD,
    ),
    Rung(
        "a state without any axis, and a whole number as h",
        "growth = lambda state: state\n"
        "state = torch.tensor(1.0)\n"
        "runge_kutta_step(growth, state, 1)",
    ),
]


@exercise
def honest_split(answer) -> str:
    """Check `honest_split(series, size, gap)`, (length, F): train (size, F) and test, standardised.

    Both in units of train: its mean, and its standard deviation as torch.std has it.
    """
    ladder(SPLIT, _honest_split, honest_split=answer)
    return "lengths, units of either part, two features, another future, with and without a gap"


def _standardised(train, test, by=None, test_by=None):
    """Both parts in the units of `by`, the test part in those of `test_by`."""
    by = train if by is None else by
    test_by = by if test_by is None else test_by
    return ((train - by.mean(0)) / by.std(0), (test - test_by.mean(0)) / test_by.std(0))


def _honest_split(series, size, gap):
    return _standardised(series[:size], series[size + gap :])


def _otherwise_scaled(scale: Callable) -> Callable:
    """The split with `scale(part, train)` in place of the standardisation."""

    def split(series, size, gap):
        train, test = series[:size], series[size + gap :]
        return scale(train, train), scale(test, train)

    return split


CUTS = {
    "there is no gap between the parts": (
        lambda series, size, gap: _standardised(series[:size], series[size:])
    ),
    "the gap is taken from train: train has `size` points": (
        lambda series, size, gap: _standardised(series[: size - gap], series[size:])
    ),
    "test is what stands in the gap, not what comes after it": (
        lambda series, size, gap: _standardised(series[:size], series[size : size + gap])
    ),
    "the last `size` points are the training part; the past comes first": (
        lambda series, size, gap: _standardised(series[-size:], series[: -size - gap])
    ),
    "the parts are returned in the wrong order: train first": (
        lambda series, size, gap: _honest_split(series, size, gap)[::-1]
    ),
}
SCALES = {
    "mean and spread are those of the whole series: the past must not know the future": (
        lambda series, size, gap: _standardised(series[:size], series[size + gap :], series)
    ),
    "mean and spread are those of train and gap together; the gap belongs to neither part": (
        lambda series, size, gap: _standardised(
            series[:size], series[size + gap :], series[: size + gap]
        )
    ),
    "the test part is standardised by itself: use the mean and spread of train for both": (
        lambda series, size, gap: _standardised(
            series[:size], series[size + gap :], test_by=series[size + gap :]
        )
    ),
    "the test part is left as it is: it, too, comes in the units of train": (
        lambda series, size, gap: (
            _honest_split(series, size, gap)[0],
            series[size + gap :],
        )
    ),
    "the spread divides by the number of points, as numpy does; torch.std divides by one less": (
        _otherwise_scaled(lambda part, of: (part - of.mean(0)) / of.std(0, correction=0))
    ),
    "that is divided by the variance; the spread is its root": (
        _otherwise_scaled(lambda part, of: (part - of.mean(0)) / of.var(0))
    ),
    "that is multiplied by the spread; divide by it": (
        _otherwise_scaled(lambda part, of: (part - of.mean(0)) * of.std(0))
    ),
    "the mean is subtracted, but nothing is divided by the spread": (
        _otherwise_scaled(lambda part, of: part - of.mean(0))
    ),
    "it is divided by the spread, but the mean is not subtracted": (
        _otherwise_scaled(lambda part, of: part / of.std(0))
    ),
    "the points are scaled to lie between 0 and 1; mean and standard deviation were asked for": (
        _otherwise_scaled(lambda part, of: (part - of.amin(0)) / (of.amax(0) - of.amin(0)))
    ),
    "nothing is standardised": _otherwise_scaled(lambda part, of: part),
}
ONE_FOR_ALL = {
    "one mean and spread for all features: each feature has its own": (
        _otherwise_scaled(lambda part, of: (part - of.mean()) / of.std())
    ),
    "each point is standardised over its own features; the mean is over time, for each feature": (
        _otherwise_scaled(
            lambda part, of: (part - part.mean(1, keepdim=True)) / part.std(1, keepdim=True)
        )
    ),
}
SEVEN = "series = torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]])\n"
SPLIT = [
    Rung(
        "of 7 points, 3 are to train on, 1 is in the gap, and 3 are left to test with: lengths",
        SEVEN + "[len(part) for part in honest_split(series, 3, 1)]",
        CUTS,
    ),
    Rung(
        "of 9 points, 4 are to train on, 3 are in the gap, and 2 are left: lengths",
        "series = torch.arange(9.0)[:, None] ** 2\n"
        "[len(part) for part in honest_split(series, 4, 3)]",
        CUTS,
    ),
    Rung(
        "in its own units, the training part 0, 2, 4 is -1, 0, 1",
        SEVEN + "honest_split(series, 3, 1)[0]",
        CUTS | SCALES,
    ),
    Rung(
        "in the units of train (mean 2, spread 2), the test part 12, 3, 1 is 5, 0.5, -0.5",
        SEVEN + "honest_split(series, 3, 1)[1]",
        CUTS | SCALES,
    ),
    Rung(
        "a test part of a single point",
        SEVEN + "honest_split(series, 4, 2)[1]",
        SCALES,
    ),
    Rung(
        "with another future, behind the gap, the training part is the same",
        SEVEN + "series[5:] += 1000\nhonest_split(series, 3, 1)[0]",
        SCALES,
    ),
    Rung(
        "two features, the second a hundred times as large: each has its own mean and spread",
        "series = torch.tensor([[0.0, 300], [2, 100], [4, 200], [9, 0], [12, 500]])\n"
        "honest_split(series, 3, 1)",
        ONE_FOR_ALL | SCALES,
    ),
    Rung(
        "without a gap, test begins where train ends",
        SEVEN + "honest_split(series, 3, 0)",
        CUTS | SCALES,
    ),
    Rung(
        "more points, and three features",
        "series = torch.randn(31, 3).cumsum(0)\nhonest_split(series, 17, 5)",
        CUTS | SCALES | ONE_FOR_ALL,
    ),
]


@exercise
def good_for(answer) -> str:
    """Check `good_for(forecast, truth, threshold)`, both (steps, F): points before the first bad.

    A point is bad when its root mean square error over the features is above the threshold.
    """
    ladder(GOOD_FOR, _good_for, good_for=answer)
    return "forecasts that fail at once, later, for a moment, and never; one and two features"


def _rms(forecast, truth):
    return (forecast - truth).square().mean(-1).sqrt()


def _first_bad(bad, otherwise):
    return int(bad.long().argmax()) if bad.any() else otherwise


def _good_for(forecast, truth, threshold, error=_rms):
    return _first_bad(error(forecast, truth) > threshold, len(truth))


def _last_good(forecast, truth, threshold):
    good = _rms(forecast, truth) <= threshold
    return int(good.nonzero().max()) + 1 if good.any() else 0


PLACES = {
    "a forecast without a bad point is good for all its points, not for 0": (
        lambda forecast, truth, threshold: _first_bad(_rms(forecast, truth) > threshold, 0)
    ),
    "it is one too many: the first bad point does not count": (
        lambda forecast, truth, threshold: min(
            _good_for(forecast, truth, threshold) + 1, len(truth)
        )
    ),
    "it is one too few: all points before the first bad one count": (
        lambda forecast, truth, threshold: max(_good_for(forecast, truth, threshold) - 1, 0)
    ),
    "it counts the bad points; the good ones before the first bad one are asked for": (
        lambda forecast, truth, threshold: int((_rms(forecast, truth) > threshold).sum())
    ),
    "it says True or False for each point; one number is asked for": (
        lambda forecast, truth, threshold: _rms(forecast, truth) <= threshold
    ),
}
LATE = {
    "it counts all good points; those after the first bad one do not count": (
        lambda forecast, truth, threshold: int((_rms(forecast, truth) <= threshold).sum())
    ),
    "it looks for the last good point; good ones after a bad one do not count": _last_good,
}
SIGNS = {
    "the sign of the error is kept: too low is as bad as too high": (
        partial(_good_for, error=lambda f, t: (f - t).mean(-1))
    ),
}
TRUTHS = {
    "the truth is not looked at: the error is forecast - truth": (
        lambda forecast, truth, threshold: _good_for(forecast, 0 * truth, threshold)
    ),
    "the error is taken as a share of the truth; both are in units of the spread already": (
        partial(_good_for, error=lambda f, t: ((f - t) / t).square().mean(-1).sqrt())
    ),
    "the threshold is an argument; it is not always 0.4": (
        lambda forecast, truth, threshold: _good_for(forecast, truth, 0.4)
    ),
}
ROOTS = {
    "the root is missing: the squared error is held against the threshold": (
        partial(_good_for, error=lambda f, t: (f - t).square().mean(-1))
    ),
}
BORDER = {
    "a point whose error is the threshold itself is good; a bad one's is above it": (
        lambda forecast, truth, threshold: _first_bad(
            _rms(forecast, truth) >= threshold, len(truth)
        )
    ),
}
FEATURES = {
    "the mean over the features is missing: it is the length of the error": (
        partial(_good_for, error=lambda f, t: (f - t).norm(dim=-1))
    ),
    "the largest error of the features decides; it is the root of their mean square": (
        partial(_good_for, error=lambda f, t: (f - t).abs().amax(-1))
    ),
    "it is the mean of the absolute errors; the root of the mean square was asked for": (
        partial(_good_for, error=lambda f, t: (f - t).abs().mean(-1))
    ),
    "only the first feature is looked at": (
        partial(_good_for, error=lambda f, t: (f - t)[:, 0].abs())
    ),
    "the error is averaged over time: each point has an error of its own": (
        lambda forecast, truth, threshold: _first_bad(
            (forecast - truth).square().mean(0).sqrt() > threshold, len(truth)
        )
    ),
}
SCORE = "forecast = torch.tensor({})\ntruth = torch.{}\ngood_for(forecast, truth, {})"
FROM_ZERO = SCORE.format("{}", "zeros({}, 1)", "{}")
GOOD_FOR = [
    Rung(
        "four good points, then a bad one: good for 4, whatever comes after",
        FROM_ZERO.format(
            "[[0.1], [0.1], [0.1], [0.1], [0.7], [0.1], [0.1], [0.1], [0.1], [0.7]]", 10, 0.4
        ),
        PLACES | LATE | TRUTHS | FEATURES,
    ),
    Rung(
        "three good points, and no bad one: good for 3",
        FROM_ZERO.format("[[0.1], [0.1], [0.1]]", 3, 0.4),
        PLACES,
    ),
    Rung(
        "bad from the first point on: good for 0",
        FROM_ZERO.format("[[1.0], [1.0], [1.0]]", 3, 0.4),
        PLACES,
    ),
    Rung(
        "a point of -0.9 is as bad as one of 0.9",
        FROM_ZERO.format("[[0.1], [-0.9], [-0.9]]", 3, 0.4),
        SIGNS | PLACES,
    ),
    Rung(
        "the error is the distance to the truth, here 5 throughout",
        SCORE.format("[[5.1], [5.0], [6.0]]", "full((3, 1), 5.0)", 0.4),
        TRUTHS,
    ),
    Rung(
        "an error of 0.6 is above a threshold of 0.5, its square is not",
        FROM_ZERO.format("[[0.1], [0.6], [0.8]]", 3, 0.5),
        ROOTS,
    ),
    Rung(
        "another threshold, 0.05",
        FROM_ZERO.format("[[0.01], [0.1], [0.01]]", 3, 0.05),
        TRUTHS,
    ),
    Rung(
        "an error of the threshold itself, 0.25, is good",
        FROM_ZERO.format("[[0.25], [0.3125], [0.375]]", 3, 0.25),
        BORDER,
    ),
    Rung(
        "two features: the root of their mean square is 0.3, 0.33, 0.33, 0.49 and 0.7",
        SCORE.format(
            "[[0.3, 0.3], [0.1, 0.45], [0.45, 0.1], [0.7, 0.0], [0.7, 0.7]]", "zeros(5, 2)", 0.36
        ),
        FEATURES,
    ),
    Rung(
        "bad for a moment, on a path of two features",
        SCORE.format(
            "[[0.0, 0], [0.4, 0.3], [0.5, 0], [0.4, 0.4], [0.9, 0.1], [0, 0]]", "zeros(6, 2)", 0.45
        ),
        FEATURES | LATE,
    ),
]


@exercise
def fit_rival(answer) -> str:
    """Check `fit_rival(windows, targets, ridge)`: a function, (B, T, F) -> (B, 1, F).

    windows are (N, T, F), targets (N, 1, F).
    """
    ladder(RIVAL, _fit_rival, fit_rival=answer)
    return "moves that are constant, linear and products, two features, a penalty, a roll-out"


def _products(window, *, constant=True, squares=True, mixed=True):
    """(B, T, F) -> (B, columns): 1, all numbers, and each product of two of them once."""
    numbers = window.flatten(1)
    ones = numbers.new_ones(len(numbers), 1)
    first, second = torch.triu_indices(*2 * numbers.shape[1:], offset=0 if squares else 1)
    if not mixed:
        first = second = torch.arange(numbers.shape[1])
    columns = [ones] * constant + [numbers, numbers[:, first] * numbers[:, second]]
    return torch.cat(columns, dim=1)


def _fit_rival(windows, targets, ridge, *, products=_products, slip=None):
    """The regression; what learners get wrong can be set."""
    columns = products(windows)
    at = 0 if slip == "first point" else -1
    moves = (targets - windows[:, [at]]).flatten(1)
    if slip == "targets":
        moves = targets.flatten(1)
    penalty = {"not times N": ridge, "squared": ridge**2 * len(windows), "none": 1e-12}
    square = columns.T @ columns
    square = square + penalty.get(slip, ridge * len(windows)) * torch.eye(len(square)).to(square)
    weights = torch.linalg.solve(square, columns.T @ moves)

    def forecast(window):
        said = (products(window) @ weights)[:, None]
        return said if slip in ("targets", "only the move") else window[:, [at]] + said

    return forecast


PARTS = {
    "it says the move only: add it to the last point of the window": (
        partial(_fit_rival, slip="only the move")
    ),
    "the move is measured from the first point of the window, not from the last": (
        partial(_fit_rival, slip="first point")
    ),
    "the columns have no 1: a move that is the same everywhere cannot be learned": (
        partial(_fit_rival, products=partial(_products, constant=False))
    ),
    "the columns hold no products": (
        partial(
            _fit_rival,
            products=lambda window: torch.cat(
                [torch.ones(len(window), 1).to(window), window.flatten(1)], dim=1
            ),
        )
    ),
    "the squares are missing among the products": (
        partial(_fit_rival, products=partial(_products, squares=False))
    ),
    "there are squares, but no products of two different numbers": (
        partial(_fit_rival, products=partial(_products, mixed=False))
    ),
}
PENALTIES = {
    "the ridge is not multiplied by N, the number of windows": (
        partial(_fit_rival, slip="not times N")
    ),
    "the ridge is squared": partial(_fit_rival, slip="squared"),
    "the ridge has no effect": partial(_fit_rival, slip="none"),
    "it learns the next point itself, not the move: where weights are penalised, that is "
    "another forecast": partial(_fit_rival, slip="targets"),
}
WINDOWS = "windows = torch.randn({}, {}, {}, dtype=torch.float64)\nlast = windows[:, -1:]\n"
ASK = "forecast = fit_rival(windows, targets, {})\n"
RIVAL = [
    Rung(
        "what is returned is a function of windows",
        WINDOWS.format(20, 2, 1)
        + "targets = last + 3\ncallable(fit_rival(windows, targets, 1e-9))",
    ),
    Rung(
        "the function takes windows (B, T, F) to the next points (B, 1, F): their shape",
        WINDOWS.format(40, 2, 2)
        + "targets = last + 3\n"
        + ASK.format("1e-9")
        + "list(forecast(windows[:5]).shape)",
    ),
    Rung(
        "from everywhere, the series moves by 3: the forecast is the last point plus 3",
        WINDOWS.format(20, 2, 1)
        + "targets = last + 3\n"
        + ASK.format("1e-9")
        + "forecast(windows)",
        PARTS | PENALTIES,
    ),
    Rung(
        "the move is half the first point of the window",
        WINDOWS.format(20, 2, 1)
        + "targets = last + 0.5 * windows[:, :1]\n"
        + ASK.format("1e-9")
        + "forecast(windows)",
        PARTS,
    ),
    Rung(
        "the move is the square of the last point",
        WINDOWS.format(20, 2, 1)
        + "targets = last + last**2\n"
        + ASK.format("1e-9")
        + "forecast(windows)",
        PARTS,
    ),
    Rung(
        "the move is the product of the two points of the window",
        WINDOWS.format(20, 2, 1)
        + "targets = last + windows[:, :1] * last\n"
        + ASK.format("1e-9")
        + "forecast(windows)",
        PARTS,
    ),
    Rung(
        "two features, each of which moves by the product of both",
        WINDOWS.format(20, 1, 2)
        + "targets = last + last.prod(2, keepdim=True)\n"
        + ASK.format("1e-9")
        + "forecast(windows)",
        PARTS,
    ),
    Rung(
        "windows that it was not fitted on, and one alone",
        WINDOWS.format(20, 2, 1)
        + "targets = last + windows[:, :1] * last\n"
        + "new = torch.randn(1, 2, 1, dtype=torch.float64)\n"
        + ASK.format("1e-9")
        + "forecast(new)",
        PARTS,
    ),
    Rung(
        "a penalty of 0.1 for each of 20 windows, on every weight",
        WINDOWS.format(20, 2, 1)
        + "targets = last + 3 + last\n"
        + ASK.format("0.1")
        + "forecast(windows)",
        PENALTIES | PARTS,
    ),
    Rung(
        "rolled out on a chaotic map, it follows the map",
        "points = [torch.tensor(0.2, dtype=torch.float64)]\n"
        "for _ in range(40):\n"
        "    points.append(3.7 * points[-1] * (1 - points[-1]))\n"
        "series = torch.stack(points)[:, None, None]\n"
        "forecast = fit_rival(series[:-1], series[1:], 0.0)\n"
        "said = [series[:1]]\n"
        "for _ in range(5):\n"
        "    said.append(forecast(said[-1]))\n"
        "torch.cat(said)",
        PARTS | PENALTIES,
    ),
]
