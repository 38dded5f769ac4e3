"""Checks for the exercises of book/time_series.ipynb."""

import numpy as np
import torch

from companion.checks.exercise import compare, exercise

DOUBLE = torch.float64


def _pendulum(state):
    """A swing with friction: (..., 2) -> (..., 2)."""
    angle, speed = state.unbind(-1)
    return torch.stack([speed, -angle.sin() - 0.1 * speed], dim=-1)


def _growth(state):
    return 2 * state


@exercise
def runge_kutta_step(answer) -> str:
    """Check `runge_kutta_step(derivative, state, h)`: the state after one step of RK4."""
    cases = [
        {"derivative": _growth, "state": torch.tensor([1.0], dtype=DOUBLE), "h": 1.0},
        {"derivative": _pendulum, "state": torch.tensor([1.0, -0.5], dtype=DOUBLE), "h": 0.5},
        {"derivative": _pendulum, "state": torch.randn(3, 2, dtype=DOUBLE), "h": 2.0},
    ]
    compare(answer, cases, _runge_kutta, RUNGE_KUTTA_MISTAKES)
    return "growth and a pendulum, one state and three, h = 0.5, 1 and 2"


def _runge_kutta(f, state, h, *, half=0.5, whole=1.0, weights=(1, 2, 2, 1), by=6, last=None):
    """One step; what learners get wrong can be set."""
    ahead = 1 if last == "looks without h" else h
    k1 = f(state)
    second = state + half * ahead * k1
    k2 = f(second)
    from_here = second if last == "from look to look" else state
    third = from_here + half * ahead * (k1 if last == "k3 from k1" else k2)
    k3 = f(third)
    from_here = third if last == "from look to look" else state
    k4 = f(from_here + whole * ahead * k3)
    if last == "brackets":
        return (state + h / 6 * k1 + 2 * k2 + 2 * k3 + k4,)
    mean = sum(w * k for w, k in zip(weights, (k1, k2, k3, k4), strict=True)) / by
    if last == "forgets h":
        return (state + mean,)
    return (h * mean if last == "forgets the state" else state + h * mean,)


RUNGE_KUTTA_MISTAKES = {
    "that is Euler's step: it looks at the rate at the start only": (
        lambda f, state, h: (state + h * f(state),)
    ),
    "that is the midpoint method: it uses the second look alone": (
        lambda f, state, h: (state + h * f(state + h / 2 * f(state)),)
    ),
    "all four looks have the same weight; those in the middle count twice, and the sum is "
    "divided by 6": lambda f, state, h: _runge_kutta(f, state, h, weights=(1, 1, 1, 1), by=4),
    "the weights 1, 2, 2, 1 sum to 6, but the sum is not divided by 6": (
        lambda f, state, h: _runge_kutta(f, state, h, by=1)
    ),
    "the looks in the middle go a whole step ahead; they go half a step": (
        lambda f, state, h: _runge_kutta(f, state, h, half=1.0)
    ),
    "the last look goes half a step ahead; it goes a whole one": (
        lambda f, state, h: _runge_kutta(f, state, h, whole=0.5)
    ),
    "the third look starts out along the first rate; it follows the second": (
        lambda f, state, h: _runge_kutta(f, state, h, last="k3 from k1")
    ),
    "every look starts from `state`, not from the look before; only its direction is from there": (
        lambda f, state, h: _runge_kutta(f, state, h, last="from look to look")
    ),
    "the rates are not multiplied by h in the looks ahead: h/2, h/2 and h times the rate before": (
        lambda f, state, h: _runge_kutta(f, state, h, last="looks without h")
    ),
    "h/6 multiplies the first rate alone; brackets belong round the sum": (
        lambda f, state, h: _runge_kutta(f, state, h, last="brackets")
    ),
    "the mean rate is not multiplied by h": (
        lambda f, state, h: _runge_kutta(f, state, h, last="forgets h")
    ),
    "only the way is returned, not the state that it leads to": (
        lambda f, state, h: _runge_kutta(f, state, h, last="forgets the state")
    ),
}


@exercise
def honest_split(answer) -> str:
    """Check `honest_split(series, size, gap)`, (length, F): train (size, F) and test, standardised.

    Both in units of train: its mean, and its standard deviation as torch.std has it.
    """
    cases = [
        {"series": torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]]), "size": 3, "gap": 1},
        {"series": torch.randn(31, 3).cumsum(0), "size": 17, "gap": 5},
        {"series": torch.randn(23, 2) * torch.tensor([5.0, 0.1]), "size": 11, "gap": 0},
    ]
    compare(answer, cases, _honest_split, SPLIT_MISTAKES)
    return "series of 7, 31 and 23 points, with and without a gap"


def _standardised(train, test, by=None, test_by=None):
    """Both parts in the units of `by`, the test part in those of `test_by`."""
    by = train if by is None else by
    test_by = by if test_by is None else test_by
    return ((train - by.mean(0)) / by.std(0), (test - test_by.mean(0)) / test_by.std(0))


def _honest_split(series, size, gap):
    return _standardised(series[:size], series[size + gap :])


SPLIT_MISTAKES = {
    "mean and spread are those of the whole series: the past must not know the future": (
        lambda series, size, gap: _standardised(series[:size], series[size + gap :], series)
    ),
    "the test part is standardised by itself: use the mean and spread of train for both": (
        lambda series, size, gap: _standardised(
            series[:size], series[size + gap :], test_by=series[size + gap :]
        )
    ),
    "there is no gap between the parts": (
        lambda series, size, gap: _standardised(series[:size], series[size:])
    ),
    "the gap is taken from train: train has `size` points": (
        lambda series, size, gap: _standardised(series[: size - gap], series[size:])
    ),
    "test is what stands in the gap, not what comes after it": (
        lambda series, size, gap: _standardised(series[:size], series[size : size + gap])
    ),
    "one mean and spread for all features: each feature has its own": (
        lambda series, size, gap: tuple(
            (part - series[:size].mean()) / series[:size].std()
            for part in (series[:size], series[size + gap :])
        )
    ),
    "the spread divides by the number of points, as numpy does; torch.std divides by one less": (
        lambda series, size, gap: tuple(
            (part - series[:size].mean(0)) / series[:size].std(0, correction=0)
            for part in (series[:size], series[size + gap :])
        )
    ),
    "that is divided by the variance; the spread is its root": (
        lambda series, size, gap: tuple(
            (part - series[:size].mean(0)) / series[:size].var(0)
            for part in (series[:size], series[size + gap :])
        )
    ),
    "the mean is subtracted, but nothing is divided by the spread": (
        lambda series, size, gap: tuple(
            part - series[:size].mean(0) for part in (series[:size], series[size + gap :])
        )
    ),
    "nothing is standardised": lambda series, size, gap: (series[:size], series[size + gap :]),
}


@exercise
def good_for(answer) -> str:
    """Check `good_for(forecast, truth, threshold)`, both (steps, F): points before the first bad.

    A point is bad when its root mean square error over the features is above the threshold.
    """
    zeros = torch.zeros(6, 1)
    in_space = [[0.0, 0.0], [0.4, 0.3], [0.5, 0.0], [0.4, 0.4], [0.7, 0.1], [0.0, 0.0]]
    in_space, path = torch.tensor(in_space), torch.arange(12.0).view(6, 2) - 5
    line = torch.tensor([[2.0], [-1], [0.5]])
    cases = [
        {"forecast": torch.tensor([[0.1], [0.5], [0.1]]), "truth": zeros[:3], "threshold": 0.4},
        {
            "forecast": torch.tensor([[0.0], [-0.2], [0.3], [-0.7], [0.1], [0.9]]),
            "truth": zeros,
            "threshold": 0.4,
        },
        {"forecast": zeros + 0.1, "truth": zeros, "threshold": 0.4},
        {"forecast": zeros + 1, "truth": zeros, "threshold": 0.4},
        {"forecast": path + in_space, "truth": path, "threshold": 0.45},
        {  # an error of the threshold itself, then two above it, in numbers without rounding
            "forecast": line + torch.tensor([[0.25], [-0.3125], [0.375]]),
            "truth": line,
            "threshold": 0.25,
        },
    ]
    compare(answer, cases, _good_for, GOOD_FOR_MISTAKES, kind=int, numbers=np.integer)
    return "forecasts that fail at once, later, for a moment, and never; one and two features"


def _rms(forecast, truth):
    return (forecast - truth).square().mean(-1).sqrt()


def _first_bad(bad, otherwise):
    return (int(bad.long().argmax()) if bad.any() else otherwise,)


def _good_for(forecast, truth, threshold, error=_rms):
    return _first_bad(error(forecast, truth) > threshold, len(truth))


GOOD_FOR_MISTAKES = {
    "it counts all good points; those after the first bad one do not count": (
        lambda forecast, truth, threshold: (int((_rms(forecast, truth) <= threshold).sum()),)
    ),
    "a forecast without a bad point is good for all its points, not for 0": (
        lambda forecast, truth, threshold: _first_bad(_rms(forecast, truth) > threshold, 0)
    ),
    "it is one too many: the first bad point does not count": (
        lambda forecast, truth, threshold: (
            min(_good_for(forecast, truth, threshold)[0] + 1, len(truth)),
        )
    ),
    "the sign of the error is kept: too low is as bad as too high": (
        lambda forecast, truth, threshold: _good_for(
            forecast, truth, threshold, lambda f, t: (f - t).mean(-1)
        )
    ),
    "the mean over the features is missing: it is the length of the error": (
        lambda forecast, truth, threshold: _good_for(
            forecast, truth, threshold, lambda f, t: (f - t).norm(dim=-1)
        )
    ),
    "the root is missing: the squared error is held against the threshold": (
        lambda forecast, truth, threshold: _good_for(
            forecast, truth, threshold, lambda f, t: (f - t).square().mean(-1)
        )
    ),
    "a point whose error is the threshold itself is good; a bad one's is above it": (
        lambda forecast, truth, threshold: _first_bad(
            _rms(forecast, truth) >= threshold, len(truth)
        )
    ),
    "the truth is not looked at: the error is forecast - truth": (
        lambda forecast, truth, threshold: _good_for(forecast, 0 * truth, threshold)
    ),
    "it takes the largest error of the features, not the root of the mean square": (
        lambda forecast, truth, threshold: _good_for(
            forecast, truth, threshold, lambda f, t: (f - t).abs().amax(-1)
        )
    ),
    "it takes the mean of the absolute errors; asked for is the root of the mean of the squares": (
        lambda forecast, truth, threshold: _good_for(
            forecast, truth, threshold, lambda f, t: (f - t).abs().mean(-1)
        )
    ),
    "it holds the error against 0.4; the threshold is an argument": (
        lambda forecast, truth, threshold: _good_for(forecast, truth, 0.4)
    ),
    "it counts up to the last good point; the first bad one ends it": (
        lambda forecast, truth, threshold: (_last_good(_rms(forecast, truth) <= threshold),)
    ),
}


def _last_good(good):
    places = good.nonzero()
    return int(places.max()) + 1 if len(places) else 0
