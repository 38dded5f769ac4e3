"""Answers to the exercises of book/time_series.ipynb."""

from itertools import combinations_with_replacement

import torch

from book.time_series.checks import fit_rival, good_for, honest_split, runge_kutta_step
from tests.book.answers import right, wrong

# Runge and Kutta


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


@wrong(runge_kutta_step, "it changes its input state")
def in_place(derivative, state, h):
    state += written_out(derivative, state.clone(), h) - state
    return state


# An honest split


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


# Good for how long?


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


# The baseline, built


def columns(window):
    numbers = window.flatten(1)
    products = [a * b for a, b in combinations_with_replacement(numbers.T, 2)]
    return torch.stack([torch.ones(len(window)), *numbers.T, *products], dim=1)


@right(fit_rival)
def normal_equations(windows, targets, ridge):
    table = columns(windows)
    square = table.T @ table + ridge * len(windows) * torch.eye(table.shape[1])
    weights = torch.linalg.solve(square, table.T @ (targets - windows[:, -1:])[:, 0])
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
