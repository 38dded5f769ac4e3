"""Answers to the exercises of book/time_series.ipynb."""

import torch

from book.time_series.checks import fit_rival, good_for, honest_split, runge_kutta_step
from tests.book.answers import right, wrong

# 1. Runge and Kutta


@right(runge_kutta_step)
def written_out(derivative, state, h):
    k1 = derivative(state)
    k2 = derivative(state + h * k1 / 2)
    k3 = derivative(state + h * k2 / 2)
    k4 = derivative(state + h * k3)
    return state + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6


@right(runge_kutta_step)
def by_a_table(derivative, state, h):
    k, total = torch.zeros_like(state), torch.zeros_like(state)
    for ahead, weight in ((0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1, 1 / 6)):
        k = derivative(state + ahead * h * k)
        total = total + weight * k
    return state + h * total


@wrong(runge_kutta_step, "Euler's step")
def euler(derivative, state, h):
    return state + derivative(state) * h


@wrong(runge_kutta_step, "it changes its input state")
def in_place(derivative, state, h):
    state += written_out(derivative, state.clone(), h) - state
    return state


# 2. An honest split


@right(honest_split)
def two_slices(series, size, gap):
    train, test = series[:size], series[size + gap :]
    mean, std = train.mean(dim=0), train.std(dim=0)
    return (train - mean) / std, (test - mean) / std


@right(honest_split)
def scale_first_then_cut(series, size, gap):
    std, mean = torch.std_mean(series[:size], dim=0)
    scaled = (series - mean) / std
    return scaled[:size], scaled[-(len(series) - size - gap) :]


@wrong(honest_split, "no gap")
def next_to_each_other(series, size, gap):
    return two_slices(series, size, 0)


@right(honest_split)
def as_a_list(series, size, gap):
    mean, std = series[:size].mean(0, keepdim=True), series[:size].std(0, keepdim=True)
    return [((part - mean) / std).double() for part in (series[:size], series[size + gap :])]


# 3. Good for how long?


@right(good_for)
def a_loop(forecast, truth, threshold):
    for step, (said, was) in enumerate(zip(forecast, truth, strict=True)):
        if ((said - was) ** 2).mean().sqrt() > threshold:
            return step
    return len(truth)


@right(good_for)
def a_running_product(forecast, truth, threshold):
    good = (forecast - truth).square().mean(dim=1) <= threshold**2
    return good.int().cumprod(dim=0).sum().item()


@wrong(good_for, "all good points")
def a_count(forecast, truth, threshold):
    return int(((forecast - truth).square().mean(1).sqrt() <= threshold).sum())


@right(good_for)
def a_tensor_of_no_axis(forecast, truth, threshold):
    bad = torch.nn.functional.mse_loss(forecast, truth, reduction="none").mean(1).sqrt() > threshold
    return torch.cat([bad, torch.tensor([True])]).int().argmax()


# 4. The baseline, built


def columns(window, constant=True, products=lambda n: torch.combinations(torch.arange(n), 2, True)):
    numbers = window.flatten(1)
    first, second = products(numbers.shape[1]).T
    parts = [torch.ones_like(numbers[:, :1])] if constant else []
    return torch.cat([*parts, numbers, numbers[:, first] * numbers[:, second]], dim=1)


def solved(table, moves, penalty):
    return torch.linalg.solve(
        table.T @ table + penalty * torch.eye(table.shape[1]), table.T @ moves
    )


@right(fit_rival)
def normal_equations(windows, targets, ridge):
    table = columns(windows)
    weights = solved(table, (targets - windows[:, -1:])[:, 0], ridge * len(windows))
    return lambda window: window[:, -1:] + (columns(window) @ weights)[:, None]


@right(fit_rival)
def least_squares_with_more_rows(windows, targets, ridge):
    table, moves = columns(windows), targets[:, 0] - windows[:, -1]
    extra = (ridge * len(windows)) ** 0.5 * torch.eye(table.shape[1])
    rows = torch.cat([table, extra]), torch.cat([moves, torch.zeros(len(extra), moves.shape[1])])
    weights = torch.linalg.lstsq(*(part.double() for part in rows)).solution

    class Fitted:
        def __call__(self, window):
            return window[:, -1:, :] + (columns(window) @ weights).unsqueeze(1)

    return Fitted()


@wrong(fit_rival, "their shape")
def an_axis_is_lost(windows, targets, ridge):
    forecast = normal_equations(windows, targets, ridge)
    return lambda window: forecast(window)[:, 0]


@wrong(fit_rival, "not multiplied by N")
def penalty_once(windows, targets, ridge):
    return normal_equations(windows, targets, ridge / len(windows))
