"""Checks for the exercises of book/time_series.ipynb."""

import torch

from book.checking.exercise import exercise, ladder
from book.checking.rungs import rungs


@exercise
def runge_kutta_step(answer) -> str:
    """Check `runge_kutta_step(derivative, state, h)`: the state after one step of RK4."""
    ladder(RUNGE_KUTTA_STEP, _runge_kutta_step, runge_kutta_step=answer)
    return "a constant rate, growth and a pendulum, one state and three, h = 0.25 to 2"


def _runge_kutta_step(derivative, state, h):
    f = derivative
    k1 = f(state)
    k2 = f(state + h / 2 * k1)
    k3 = f(state + h / 2 * k2)
    k4 = f(state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


RUNGE_KUTTA_STEP = rungs(
    _runge_kutta_step,
    """
at a constant rate of 3, a step of 1 leads from 2 to 5, however often one looks
    constant = lambda state: torch.full_like(state, 3.0)
    state = torch.tensor([2.0])
    runge_kutta_step(constant, state, 1.0)
  - only the way is returned, not the state that it leads to
    return state + h => return h
  - the weights 1, 2, 2, 1 sum to 6, but the sum is not divided by 6
    h / 6 => h
  - h/6 multiplies the first rate alone; brackets belong round the sum
    (k1 + 2 * k2 + 2 * k3 + k4) => k1 + 2 * k2 + 2 * k3 + k4
  - the two looks in the middle count twice; the sum of four is divided by 6
    k1 + 2 * k2 + 2 * k3 + k4 => k1 + k2 + k3 + k4
  - the way is walked backwards: it is added to the state
    return state + => return state -
at a constant rate of 3, a step of 0.5 leads from 2 to 3.5: h times the mean rate
    constant = lambda state: torch.full_like(state, 3.0)
    state = torch.tensor([2.0])
    runge_kutta_step(constant, state, 0.5)
  - the mean rate is not multiplied by h
    h / 6 => 1 / 6
  - h multiplies twice, each of the rates and then their sum; once is enough
    h / 6 => h * h / 6
  - it divides by h
    h / 6 => 1 / h / 6
at a rate of 1 + state², each of the four looks, weighted 1, 2, 2, 1, is new
    square = lambda state: 1 + state**2
    state = torch.tensor([0.5], dtype=torch.float64)
    runge_kutta_step(square, state, 1.0)
  - that is Euler's step: it looks at the rate at the start only
    h / 6 * (k1 + 2 * k2 + 2 * k3 + k4) => h * k1
  - that is the midpoint method: it uses the second look alone
    h / 6 * (k1 + 2 * k2 + 2 * k3 + k4) => h * k2
  - that is Heun's method: it looks at the start and at the end only
    h / 6 * (k1 + 2 * k2 + 2 * k3 + k4) => h / 2 * (k1 + f(state + h * k1))
  - the first and the last look alone are averaged; those in the middle count twice
    h / 6 * (k1 + 2 * k2 + 2 * k3 + k4) => h / 2 * (k1 + k4)
  - the weights are 1, 3, 3, 1, divided by 8, as in the 3/8 rule; here they are 1, 2, 2, 1, divided
  by 6
    h / 6 * (k1 + 2 * k2 + 2 * k3 + k4) => h / 8 * (k1 + 3 * k2 + 3 * k3 + k4)
  - the third look counts four times, and the second not at all; both count twice
    2 * k2 + 2 * k3 => 4 * k3
  - the second look counts once and the third three times; both count twice
    2 * k2 + 2 * k3 => k2 + 3 * k3
  - the weights are 1, 2, 2, 1 in another order: 1, 1, 2, 2
    2 * k2 + 2 * k3 + k4 => k2 + 2 * k3 + 2 * k4
  - all four looks have the same weight; those in the middle count twice, and the sum is divided
  by 6
    h / 6 * (k1 + 2 * k2 + 2 * k3 + k4) => h / 4 * (k1 + k2 + k3 + k4)
  - the first and the last look count twice; it is those in the middle that do
    (k1 + 2 * k2 + 2 * k3 + k4) => (2 * k1 + k2 + k3 + 2 * k4)
  - the second look counts four times, and the third not at all; both count twice
    2 * k2 + 2 * k3 => 4 * k2
  - the looks in the middle go a whole step ahead; they go half a step
    h / 2 => h
  - the second look goes a whole step ahead; it goes half a step
    h / 2 * k1 => h * k1
  - the third look goes a whole step ahead; it goes half a step
    h / 2 * k2 => h * k2
  - the last look goes half a step ahead; it goes a whole one
    h * k3 => h / 2 * k3
  - the third look starts out along the first rate; it follows the second
    h / 2 * k2 => h / 2 * k1
  - the last look starts out along the second rate; it follows the third
    h * k3 => h * k2
  - the last look starts out along the first rate; it follows the third
    h * k3 => h * k1
  - the third look starts where the second was; it starts from `state`
    h / 2 * k2) => h / 2 * k1 + h / 2 * k2)
  - the last look starts where the third was; it starts from `state`
    h * k3 => h / 2 * k2 + h * k3
  - the last look starts where the third was, and goes half a step on; it starts from `state`
    h * k3 => h / 2 * k2 + h / 2 * k3
  - the last look is the third once more; it is a whole step ahead
    f(state + h * k3) => k3
  - the third look is one at the start again; it is half a step ahead
    f(state + h / 2 * k2) => f(state)
  - the second look is at the way alone; it starts from `state`, as all looks do
    f(state + h / 2 * k1) => f(h / 2 * k1)
  - all looks are at the way alone; each starts from `state`
    f(state + => f(
  - every look starts from `state`, not from the look before; only its direction is from there
    h / 2 * k2) => h / 2 * k1 + h / 2 * k2)
    h * k3 => h / 2 * k1 + h / 2 * k2 + h * k3
where the rate is the state, four looks give the first five terms of e: 1 + 1 + 1/2 + 1/6 + 1/24
    growth = lambda state: state
    state = torch.tensor([1.0], dtype=torch.float64)
    runge_kutta_step(growth, state, 1.0)
a quarter of a step of growth: h also says how far ahead each look goes
    growth = lambda state: state
    state = torch.tensor([1.0], dtype=torch.float64)
    runge_kutta_step(growth, state, 0.25)
  - the rates are not multiplied by h in the looks ahead: h/2, h/2 and h times the rate before
    h / 2 => 1 / 2
    h * k3 => k3
a swing with friction, whose two numbers drive each other
    def swing(state):
        angle, speed = state.unbind(-1)
        return torch.stack([speed, -angle.sin() - 0.1 * speed], dim=-1)
    state = torch.tensor([1.0, -0.5], dtype=torch.float64)
    runge_kutta_step(swing, state, 0.5)
three states at once: each goes its own way
    growth = lambda state: 2 * state
    state = torch.tensor([[1.0], [0.0], [-2.0]])
    runge_kutta_step(growth, state, 2.0)
a state without any axis, and a whole number as h
    growth = lambda state: state
    state = torch.tensor(1.0)
    runge_kutta_step(growth, state, 1)
""",
)


@exercise
def honest_split(answer) -> str:
    """Check `honest_split(series, size, gap)`, (length, F): train (size, F) and test, standardised.

    Both in units of train: its mean, and its standard deviation as torch.std has it.
    """
    ladder(HONEST_SPLIT, _honest_split, honest_split=answer)
    return "lengths, units of either part, two features, another future, with and without a gap"


def _honest_split(series, size, gap):
    train, test = series[:size], series[size + gap :]
    mean, std = train.mean(0), train.std(0)
    return (train - mean) / std, (test - mean) / std


HONEST_SPLIT = rungs(
    _honest_split,
    """
of 7 points, 3 are to train on, 1 is in the gap, and 3 are left to test with: lengths
    series = torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]])
    [len(part) for part in honest_split(series, 3, 1)]
  - there is no gap between the parts
    size + gap : => size :
  - the gap is taken from train: train has `size` points
    series[:size], series[size + gap :] => series[: size - gap], series[size:]
  - the gap is a part of train; it belongs to neither
    series[:size] => series[: size + gap]
  - test is what stands in the gap, not what comes after it
    size + gap : => size : size + gap
  - as many points as are in the gap are left out at the end, too; test has all behind the gap
    size + gap : => size + gap : len(series) - gap
  - test begins one point too late: it begins right behind the gap
    size + gap : => size + gap + 1 :
of 9 points, 4 are to train on, 3 are in the gap, and 2 are left: lengths
    series = torch.arange(9.0)[:, None] ** 2
    [len(part) for part in honest_split(series, 4, 3)]
  - the parts are returned in the wrong order: train first
    (train - mean) / std, (test - mean) / std => (test - mean) / std, (train - mean) / std
in its own units, the training part 0, 2, 4 is -1, 0, 1
    series = torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]])
    honest_split(series, 3, 1)[0]
  - the last training point is subtracted, not the mean
    train.mean(0) => train[-1]
  - the first training point is subtracted, not the mean
    train.mean(0) => train[0]
  - the last `size` points are the training part; the past comes first
    series[:size], series[size + gap :] => series[-size:], series[: -size - gap]
  - the points were shuffled before the split; the past is for training, the future for the test
    train, test = => series = series[torch.randperm(len(series))]; train, test =
  - mean and spread are those of the whole series: the past must not know the future
    train.mean(0), train.std(0) => series.mean(0), series.std(0)
  - mean and spread are those of train and gap together; the gap belongs to neither part
    mean, std = => known = series[: size + gap]; mean, std =
    train.mean(0), train.std(0) => known.mean(0), known.std(0)
  - mean and spread are those of the test part; both parts come in the units of train
    train.mean(0), train.std(0) => test.mean(0), test.std(0)
  - the spread divides by the number of points, as numpy does; torch.std divides by one less
    train.std(0) => train.std(0, correction=0)
  - that is divided by the variance; the spread is its root
    train.std(0) => train.var(0)
  - that is divided by the range, from the smallest to the largest; divide by the spread
    train.std(0) => train.amax(0) - train.amin(0)
  - that is multiplied by the spread; divide by it
    / std => * std
  - the mean is subtracted, but nothing is divided by the spread
    / std =>
  - it is divided by the spread, but the mean is not subtracted
     - mean =>
  - the points are scaled to lie between 0 and 1; mean and standard deviation were asked for
    train.mean(0), train.std(0) => train.amin(0), train.amax(0) - train.amin(0)
  - nothing is standardised
    (train - mean) / std, (test - mean) / std => train, test
in the units of train (mean 2, spread 2), the test part 12, 3, 1 is 5, 0.5, -0.5
    series = torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]])
    honest_split(series, 3, 1)[1]
  - the test part is standardised by itself: use the mean and spread of train for both
    (test - mean) / std => (test - test.mean(0)) / test.std(0)
  - the test part is left as it is: it, too, comes in the units of train
    (test - mean) / std => test
a test part of a single point
    series = torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]])
    honest_split(series, 4, 2)[1]
with another future, behind the gap, the training part is the same
    series = torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]])
    series[5:] += 1000
    honest_split(series, 3, 1)[0]
the mean of 0, 0 and 6 is 2, their median 0
    series = torch.tensor([[0.0], [0], [6], [9], [12], [3], [1]])
    honest_split(series, 3, 1)[0]
  - the median is subtracted, not the mean
    train.mean(0) => train.median(0).values
  - the middle between the smallest and the largest is subtracted, not the mean
    train.mean(0) => (train.amin(0) + train.amax(0)) / 2
two features, the second a hundred times as large: each has its own mean and spread
    series = torch.tensor([[0.0, 300], [2, 100], [4, 200], [9, 0], [12, 500]])
    honest_split(series, 3, 1)
  - one mean and spread for all features: each feature has its own
    train.mean(0), train.std(0) => train.mean(), train.std()
  - one spread for all features: each feature has its own
    train.std(0) => train.std()
  - one mean for all features: each feature has its own
    train.mean(0) => train.mean()
  - each point is standardised over its own features; the mean is over time, for each feature
    return (train - mean) / std, (test - mean) / std => parts = series[:size].T, test.T
    train.std(0) => train.std(0); parts = [(x - x.mean(0)) / x.std(0) for x in (train.T, test.T)]
    parts = series[:size].T, test.T => return parts[0].T, parts[1].T
without a gap, test begins where train ends
    series = torch.tensor([[0.0], [2], [4], [9], [12], [3], [1]])
    honest_split(series, 3, 0)
  - test is cut to `size` points; it has all behind the gap
    size + gap : => size + gap : 2 * size + gap
more points, and three features
    series = torch.randn(31, 3).cumsum(0)
    honest_split(series, 17, 5)
""",
)


@exercise
def good_for(answer) -> str:
    """Check `good_for(forecast, truth, threshold)`, both (steps, F): points before the first bad.

    A point is bad when its root mean square error over the features is above the threshold.
    """
    ladder(GOOD_FOR, _good_for, good_for=answer)
    return "forecasts that fail at once, later, for a moment, and never; one and two features"


def _good_for(forecast, truth, threshold):
    error = (forecast - truth).square().mean(-1).sqrt()
    bad = error > threshold
    return int(bad.long().argmax()) if bad.any() else len(truth)


GOOD_FOR = rungs(
    _good_for,
    """
four good points, then a bad one: good for 4, whatever comes after
    forecast = torch.tensor([1.0, 1, 1, 1, 7, 1, 1, 1, 1, 1, 7])[:, None] / 10
    truth = torch.zeros(11, 1)
    good_for(forecast, truth, 0.4)
  - it is one too many: the first bad point does not count
    argmax()) => argmax()) + 1
  - it is one too few: all points before the first bad one count
    argmax()) => argmax()) - 1
    len(truth) => len(truth) - 1
  - it counts all good points; those after the first bad one do not count
    int(bad.long().argmax()) if bad.any() else len(truth) => int((~bad).sum())
  - it counts the bad points; the good ones before the first bad one are asked for
    int(bad.long().argmax()) if bad.any() else len(truth) => int(bad.sum())
  - it counts the longest run of good points; it has to begin with the first point
    int(bad.long().argmax()) if bad.any() else len(truth) => max(map(len, RUNS))
    RUNS => "".join("01"[b] for b in bad).split("1")
  - it looks for the last good point; good ones after a bad one do not count
    int(bad.long().argmax()) if bad.any() => int((~bad).nonzero().max()) + 1 if not bad.all()
    len(truth) => 0
  - it looks for the last bad point; nothing counts from the first bad one on
    int(bad.long().argmax()) => int(bad.nonzero().max())
  - it counts from the last point backwards; begin with the first
    bad = error > threshold => bad = error.flip(0) > threshold
  - good and bad have changed places: bad is what is above the threshold
    error > threshold => error <= threshold
  - it says True or False for each point; one number is asked for
    int(bad.long().argmax()) if bad.any() else len(truth) => ~bad
  - this is a share of the points; their number is asked for
    int(bad.long().argmax()) if bad.any() else len(truth) => FIRST / len(truth)
    FIRST => (int(bad.long().argmax()) if bad.any() else len(truth))
  - the mean runs over the steps, so that there is one number for each feature, not for each point
    mean(-1) => mean(0)
    len(truth) => len(bad)
  - the error is averaged over time: each point has an error of its own
    mean(-1) => mean(0)
three good points, and no bad one: good for 3
    forecast = torch.tensor([[0.1], [0.1], [0.1]])
    truth = torch.zeros(3, 1)
    good_for(forecast, truth, 0.4)
  - a forecast without a bad point is good for all its points, not for 0
    len(truth) => 0
  - a forecast without a bad point is good for all its points, the last one, too
    len(truth) => len(truth) - 1
bad from the first point on: good for 0
    forecast = torch.tensor([[1.0], [1.0], [1.0]])
    truth = torch.zeros(3, 1)
    good_for(forecast, truth, 0.4)
a point of -0.9 is as bad as one of 0.9
    forecast = torch.tensor([[0.1], [-0.9], [-0.9]])
    truth = torch.zeros(3, 1)
    good_for(forecast, truth, 0.4)
  - the sign of the error is kept: too low is as bad as too high
    square().mean(-1).sqrt() => mean(-1)
the error is the distance to the truth, here 5 throughout
    forecast = torch.tensor([[5.1], [5.0], [6.0]])
    truth = torch.full((3, 1), 5.0)
    good_for(forecast, truth, 0.4)
  - the truth is not looked at: the error is forecast - truth
    (forecast - truth) => forecast
  - the error is taken as a share of the truth; both are in units of the spread already
    (forecast - truth) => ((forecast - truth) / truth)
an error of 0.6 is above a threshold of 0.5, its square is not
    forecast = torch.tensor([[0.1], [0.6], [0.8]])
    truth = torch.zeros(3, 1)
    good_for(forecast, truth, 0.5)
  - the root is missing: the squared error is held against the threshold
    .sqrt() =>
another threshold, 0.05
    forecast = torch.tensor([[0.01], [0.1], [0.01]])
    truth = torch.zeros(3, 1)
    good_for(forecast, truth, 0.05)
  - the threshold is an argument; it is not always 0.4
    > threshold => > 0.4
an error of the threshold itself, 0.25, is good
    forecast = torch.tensor([[0.25], [0.3125], [0.375]])
    truth = torch.zeros(3, 1)
    good_for(forecast, truth, 0.25)
  - a point whose error is the threshold itself is good; a bad one's is above it
    > threshold => >= threshold
errors of two features do not cancel where one is too high and the other too low
    forecast = torch.tensor([[0.3, -0.3], [0.9, -0.9], [0.9, -0.9]])
    truth = torch.zeros(3, 2)
    good_for(forecast, truth, 0.4)
  - errors of the features are averaged with their signs, so that they cancel; square them first
    square().mean(-1).sqrt() => mean(-1).abs()
two features: the root of their mean square is 0.3, 0.33, 0.33, 0.49 and 0.7
    forecast = torch.tensor([[0.3, 0.3], [0.1, 0.45], [0.45, 0.1], [0.7, 0.0], [0.7, 0.7]])
    truth = torch.zeros(5, 2)
    good_for(forecast, truth, 0.36)
  - the mean over the features is missing: it is the length of the error
    square().mean(-1).sqrt() => norm(dim=-1)
  - the largest error of the features decides; it is the root of their mean square
    square().mean(-1).sqrt() => abs().amax(-1)
  - the smallest error of the features decides; it is the root of their mean square
    square().mean(-1).sqrt() => abs().amin(-1)
  - it is the mean of the absolute errors; the root of the mean square was asked for
    square().mean(-1).sqrt() => abs().mean(-1)
  - only the first feature is looked at
    (forecast - truth) => (forecast - truth)[:, :1]
bad for a moment, on a path of two features
    forecast = torch.tensor([[0.0, 0], [0.4, 0.3], [0.5, 0], [0.4, 0.4], [0.9, 0.1], [0, 0]])
    truth = torch.zeros(6, 2)
    good_for(forecast, truth, 0.45)
""",
)


@exercise
def fit_rival(answer) -> str:
    """Check `fit_rival(windows, targets, ridge)`: a function, (B, T, F) -> (B, 1, F).

    windows are (N, T, F), targets (N, 1, F).
    """
    ladder(FIT_RIVAL, _fit_rival, fit_rival=answer)
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


FIT_RIVAL = rungs(
    _fit_rival,
    """
what is returned is a function of windows
    windows = torch.randn(20, 2, 1, dtype=torch.float64)
    last = windows[:, -1:]
    targets = last + 3
    callable(fit_rival(windows, targets, 1e-9))
the function takes windows (B, T, F) to the next points (B, 1, F): their shape
    windows = torch.randn(40, 2, 2, dtype=torch.float64)
    last = windows[:, -1:]
    targets = last + 3
    forecast = fit_rival(windows, targets, 1e-9)
    list(forecast(windows[:5]).shape)
from everywhere, the series moves by 3: the forecast is the last point plus 3
    windows = torch.randn(20, 2, 1, dtype=torch.float64)
    last = windows[:, -1:]
    targets = last + 3
    forecast = fit_rival(windows, targets, 1e-9)
    forecast(windows)
  - it says the move only: add it to the last point of the window
    new[:, -1:] + =>
  - the move has the wrong sign: it goes from the last point to the target
    targets - windows[:, -1:] => windows[:, -1:] - targets
  - the move is measured from the first point of the window, not from the last
    targets - windows[:, -1:] => targets - windows[:, :1]
    new[:, -1:] => new[:, :1]
  - the weights are fitted to the move from the first point; the forecast adds it to the last
    targets - windows[:, -1:] => targets - windows[:, :1]
  - the move is added to the mean of the window; it goes on from the last point
    new[:, -1:] => new.mean(1, keepdim=True)
  - the move is measured from the mean of the window, not from the last point
    targets - windows[:, -1:] => targets - windows.mean(1, keepdim=True)
    new[:, -1:] => new.mean(1, keepdim=True)
  - the move is added to the first point of the window; it goes on from the last
    new[:, -1:] => new[:, :1]
  - the weights are fitted to the target, and the last point is added all the same: fit the move
    (targets - windows[:, -1:]) => targets
  - the columns have no 1: a move that is the same everywhere cannot be learned
    torch.ones_like(x[:, :1]), x, => x,
the move is half the first point of the window
    windows = torch.randn(20, 2, 1, dtype=torch.float64)
    last = windows[:, -1:]
    targets = last + 0.5 * windows[:, :1]
    forecast = fit_rival(windows, targets, 1e-9)
    forecast(windows)
  - the columns are made of the last point alone; all numbers of the window count
    x = windows.flatten(1) => x = windows[:, -1]
  - the numbers themselves are missing among the columns
    [:, :1]), x, => [:, :1]),
the move is the square of the last point
    windows = torch.randn(20, 2, 1, dtype=torch.float64)
    last = windows[:, -1:]
    targets = last + last**2
    forecast = fit_rival(windows, targets, 1e-9)
    forecast(windows)
  - the columns hold no products
    , x, x[:, i] * x[:, j]] => , x]
  - the squares are missing among the products
    (*2 * x.shape[1:]) => (*2 * x.shape[1:], 1)
the move is the product of the two points of the window
    windows = torch.randn(20, 2, 1, dtype=torch.float64)
    last = windows[:, -1:]
    targets = last + windows[:, :1] * last
    forecast = fit_rival(windows, targets, 1e-9)
    forecast(windows)
  - there are squares, but no products of two different numbers
    i, j = torch.triu_indices(*2 * x.shape[1:]) => i = j = torch.arange(x.shape[1])
  - there are products within the last point, but none across the points of a window
    x[:, i] * x[:, j] => windows[:, -1][:, i] * windows[:, -1][:, j]
    *2 * x.shape[1:] => *2 * windows.shape[2:]
two features, of which one moves by the product of both, and the other by half of what it is
    windows = torch.randn(20, 1, 2, dtype=torch.float64)
    last = windows[:, -1:]
    targets = last + torch.cat([last.prod(2, keepdim=True), last[:, :, 1:] / 2], dim=2)
    forecast = fit_rival(windows, targets, 1e-9)
    forecast(windows)
  - all features move as the first one does; each has weights of its own
    @ weights) => @ weights[:, :1])
three of the windows that it was fitted on: what is said of one does not depend on the others that
it is given with
    windows = torch.randn(20, 2, 1, dtype=torch.float64)
    last = windows[:, -1:]
    targets = last + 0.5 * windows[:, :1]
    forecast = fit_rival(windows, targets, 1e-9)
    forecast(windows[-3:])
  - from the columns of the new windows their mean is taken away, which depends on what is asked for
  together; use the columns as they are
    (table(new) @ weights) => ((table(new) - table(new).mean(0) + columns.mean(0)) @ weights)
windows that it was not fitted on, and one alone
    windows = torch.randn(20, 2, 1, dtype=torch.float64)
    last = windows[:, -1:]
    targets = last + windows[:, :1] * last
    new = torch.randn(1, 2, 1, dtype=torch.float64)
    forecast = fit_rival(windows, targets, 1e-9)
    forecast(new)
  - the forecast uses the table of the windows that it was fitted on; make one of the new windows
    table(new) => columns[: len(new)]
a penalty of 0.1 for each of 20 windows, on every weight
    windows = torch.randn(20, 2, 1, dtype=torch.float64)
    last = windows[:, -1:]
    targets = last + 3 + last
    forecast = fit_rival(windows, targets, 0.1)
    forecast(windows)
  - the ridge is not multiplied by N, the number of windows
    ridge * len(windows) => ridge
  - the ridge is divided by N, the number of windows; multiply by it
    ridge * len(windows) => ridge / len(windows)
  - the ridge is multiplied by the number of columns; N is the number of windows
    ridge * len(windows) => ridge * columns.shape[1]
  - the ridge is squared
    ridge * len(windows) => ridge**2 * len(windows)
  - the ridge has no effect
    ridge * len(windows) => 1e-12
  - the penalty is subtracted; add it
    columns + penalty => columns - penalty
  - the weight of the 1 is not penalised; every weight is
    .to(columns) => .to(columns); penalty[0, 0] = 0
  - products of two different numbers stand there twice, so that the penalty weighs on them less
    torch.triu_indices(*2 * x.shape[1:]) => torch.ones(*2 * x.shape[1:]).nonzero().T
  - it learns the next point itself, not the move: where weights are penalised, that is another
  forecast
    (targets - windows[:, -1:]) => targets
    new[:, -1:] + =>
rolled out on a chaotic map, it follows the map
    points = [torch.tensor(0.2, dtype=torch.float64)]
    for _ in range(40):
        points.append(3.7 * points[-1] * (1 - points[-1]))
    series = torch.stack(points)[:, None, None]
    forecast = fit_rival(series[:-1], series[1:], 0.0)
    said = [series[:1]]
    for _ in range(5):
        said.append(forecast(said[-1]))
    torch.cat(said)
""",
)
