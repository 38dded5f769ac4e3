"""Answers by somebody who had not read the checks."""

import math
from itertools import combinations_with_replacement

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("time_series")


@right
def runge_kutta_step(derivative, state, h):
    slope, looks = 0, []
    for reach in (0, 0.5, 0.5, 1):
        slope = derivative(state + reach * h * slope)
        looks.append(slope)
    return state + h * torch.einsum(
        "i,i...->...", torch.tensor([1, 2, 2, 1.0], dtype=state.dtype) / 6, torch.stack(looks)
    )


wrong("Euler", "return state + h * torch", "return state + h * looks[0]; torch")
wrong("whole steps in the middle", "(0, 0.5, 0.5, 1)", "(0, 1, 1, 1)")
wrong("returns the change", "return state + h", "return h")
wrong("divides by 4", "/ 6", "/ 4")


@right
def honest_split(series, size, gap):
    train, test = series[:size], series[size + gap :]
    n = len(train)
    mean = train.sum(0) / n
    std = ((train - mean).pow(2).sum(0) / (n - 1)).sqrt()
    return (train - mean) / std, (test - mean) / std


wrong("mean of everything", "mean = train.sum(0) / n", "mean = series.mean(0)")
wrong("std with n", "(n - 1)", "n")
wrong("gap taken from the training part", "series[:size]", "series[:size - gap]")
wrong(
    "in place",
    "train, test =",
    "series -= series[:size].mean(0); series /= series[:size].std(0)\n    return series[:size], series[size + gap:]\n    train, test =",
)


@right
def good_for(forecast, truth, threshold):
    for i in range(len(truth)):
        if math.sqrt(float(((forecast[i] - truth[i]) ** 2).mean())) > threshold:
            return i
    return len(truth)


wrong("no bad point: 0", "return len(truth)", "return 0")
wrong("equality is bad", "> threshold", ">= threshold")
wrong(
    "absolute error",
    "math.sqrt(float(((forecast[i] - truth[i]) ** 2).mean()))",
    "float((forecast[i] - truth[i]).abs().mean())",
)
wrong(
    "last bad point",
    lambda forecast, truth, threshold: max(
        [i for i, e in enumerate((forecast - truth).pow(2).mean(1).sqrt()) if e > threshold],
        default=len(truth),
    ),
)


@right
def fit_rival(windows, targets, ridge):
    def table(w):
        x = w.reshape(len(w), -1)
        n = x.shape[1]
        pairs = [x[:, i] * x[:, j] for i in range(n) for j in range(i, n)]
        return torch.stack([torch.ones_like(x[:, 0]), *x.unbind(1), *pairs], 1)

    phi = table(windows)
    move = targets[:, 0] - windows[:, -1]
    eye = torch.eye(phi.shape[1], dtype=phi.dtype)
    W = torch.linalg.inv(phi.T @ phi + len(phi) * ridge * eye) @ phi.T @ move
    return lambda w: (w[:, -1] + table(w) @ W)[:, None]


wrong("no squares", "range(i, n)", "range(i + 1, n)")
wrong("no constant", "torch.ones_like(x[:, 0]), ", "")
wrong("first point instead of last", "windows[:, -1]", "windows[:, 0]", "w[:, -1]", "w[:, 0]")
wrong("squares only", "range(i, n)", "range(i, i + 1)")
wrong("constant is not penalised", "    W =", "    eye[0, 0] = 0\n    W =")


@right
def runge_kutta_step(derivative, state, h):
    k1 = derivative(state)
    k2 = derivative(state + h / 2 * k1)
    k3 = derivative(state + h / 2 * k2)
    k4 = derivative(state + h * k3)
    return state + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6


wrong("all four alike", "(k1 + 2 * k2 + 2 * k3 + k4) / 6", "(k1 + k2 + k3 + k4) / 4")


@right
def honest_split(series, size, gap):
    train = series[:size]
    test = series[size + gap :]
    mean = train.mean(dim=0)
    std = train.std(dim=0)
    return (train - mean) / std, (test - mean) / std


wrong(
    "each part in its own units",
    "(test - mean) / std",
    "(test - test.mean(dim=0)) / test.std(dim=0)",
)


@right
def good_for(forecast, truth, threshold):
    for step in range(len(truth)):
        error = ((forecast[step] - truth[step]) ** 2).mean().sqrt()
        if error > threshold:
            return step
    return len(truth)


wrong("the sum over the features", "** 2).mean()", "** 2).sum()")


def all_good_ones(forecast, truth, threshold):
    errors = ((forecast - truth) ** 2).mean(dim=1).sqrt()
    return int((errors <= threshold).sum())


wrong("all good ones, also behind the first bad one", all_good_ones)


@right
def fit_rival(windows, targets, ridge):
    def table(x):
        flat = x.flatten(1).double()
        columns = [torch.ones_like(flat[:, :1]), flat]
        for i in range(flat.shape[1]):
            columns.append(flat[:, i : i + 1] * flat[:, i:])
        return torch.cat(columns, dim=1)

    phi = table(windows)
    moves = (targets - windows[:, -1:])[:, 0].double()
    penalty = len(windows) * ridge * torch.eye(phi.shape[1], dtype=phi.dtype)
    weights = torch.linalg.solve(phi.T @ phi + penalty, phi.T @ moves)

    def forecast(x):
        move = (table(x) @ weights).to(x.dtype)
        return x[:, -1:] + move[:, None]

    return forecast


wrong("the move, not the point", "return x[:, -1:] + move[:, None]", "return move[:, None]")


@right
def runge_kutta_step(derivative, state, h):
    half = h / 2
    start = derivative(state)
    middle = derivative(state + half * start)
    again = derivative(state + half * middle)
    end = derivative(state + h * again)
    return state + (start + 2 * middle + 2 * again + end) * h / 6


wrong("the change alone", "return state + (", "return (")


@right
def honest_split(series, size, gap):
    train, test = series[:size], series[size + gap :]
    mean = train.mean(dim=0, keepdim=True)
    spread = train.std(dim=0, keepdim=True)
    return (train - mean) / spread, (test - mean) / spread


wrong("one point too many in the gap", "size + gap :", "size + gap + 1 :")


@right
def good_for(forecast, truth, threshold):
    error = ((forecast - truth) ** 2).mean(dim=-1) ** 0.5
    steps = 0
    for one in error.tolist():
        if one > threshold:
            break
        steps += 1
    return steps


wrong("the sum over features", ".mean(dim=-1) ** 0.5", ".sum(dim=-1) ** 0.5")


@right
def fit_rival(windows, targets, ridge):
    def table(w):
        flat = w.reshape(len(w), -1)
        n = flat.shape[1]
        columns = [torch.ones(len(w), 1, dtype=w.dtype), flat]
        for i in range(n):
            columns.append(flat[:, i : i + 1] * flat[:, i:])
        return torch.cat(columns, dim=1)

    phi = table(windows)
    moves = (targets - windows[:, -1:])[:, 0]
    penalty = len(windows) * ridge * torch.eye(phi.shape[1], dtype=phi.dtype)
    W = torch.linalg.solve(phi.T @ phi + penalty, phi.T @ moves)

    def forecast(w):
        return w[:, -1:] + (table(w) @ W)[:, None]

    return forecast


wrong("the move alone", "w[:, -1:] + (table(w) @ W)[:, None]", "(table(w) @ W)[:, None]")
wrong(
    "moves from the first point of the window",
    "targets - windows[:, -1:]",
    "targets - windows[:, :1]",
    "w[:, -1:] + (table",
    "w[:, :1] + (table",
)


@right
def runge_kutta_step(derivative, state, h):
    k1 = derivative(state)
    k2 = derivative(state + h / 2 * k1)
    k3 = derivative(state + h / 2 * k2)
    k4 = derivative(state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


wrong("Simpson without the third look", "2 * k2 + 2 * k3", "4 * k2")


@right
def good_for(forecast, truth, threshold):
    error = (forecast - truth).square().mean(dim=1).sqrt()
    good = (error <= threshold).int()
    return good.cumprod(dim=0).sum().item()


wrong("mean over the steps", "dim=1", "dim=0")


@right
def honest_split(series, size, gap):
    known = series[:size]
    middle = known.sum(dim=0) / size
    width = ((known - middle).pow(2).sum(dim=0) / (size - 1)).sqrt()
    units = (series - middle) / width
    return (units[:size], units[size + gap :])


wrong(
    "mean and deviation of the whole series",
    "    middle = known.sum(dim=0) / size\n    width = ((known - middle).pow(2).sum(dim=0) / (size - 1)).sqrt()",
    "    middle, width = (series.mean(dim=0), series.std(dim=0))",
)


@right
def good_for(forecast, truth, threshold):
    d = forecast.shape[-1]
    error = torch.linalg.vector_norm(forecast - truth, dim=-1) / d**0.5
    worst = torch.cummax(error, dim=0).values
    return (worst <= threshold).sum().item()


wrong(
    "argmax of bad points: 0 if there is none",
    "    worst = torch.cummax(error, dim=0).values\n    return (worst <= threshold).sum().item()",
    "    return (error > threshold).int().argmax().item()",
)


@right
def fit_rival(windows, targets, ridge):

    def table(w):
        flat = w.reshape(len(w), -1).double()
        columns = [torch.ones(len(w), dtype=torch.float64), *flat.unbind(1)]
        for a, b in combinations_with_replacement(flat.unbind(1), 2):
            columns.append(a * b)
        return torch.stack(columns, dim=1)

    phi = table(windows)
    moves = (targets[:, 0] - windows[:, -1]).double()
    square = phi.T @ phi + len(windows) * ridge * torch.eye(phi.shape[1], dtype=torch.float64)
    weights = torch.linalg.solve(square, phi.T @ moves)

    def forecast(w):
        move = (table(w) @ weights).to(w.dtype)
        return w[:, -1:] + move[:, None]

    return forecast


wrong(
    "no column of ones",
    "        columns = [torch.ones(len(w), dtype=torch.float64), *flat.unbind(1)]",
    "        columns = [*flat.unbind(1)]",
)
