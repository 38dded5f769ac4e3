"""Answers to the exercises of book/time_series.ipynb."""

import torch

from companion.checks.time_series import good_for, honest_split, runge_kutta_step
from tests.checks.answers import right, wrong

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


@wrong(runge_kutta_step, "midpoint method")
def midpoint(derivative, state, h):
    middle = state + derivative(state) * (h / 2)
    return state + h * derivative(middle)


@wrong(runge_kutta_step, "same weight")
def plain_mean(derivative, state, h):
    k1 = derivative(state)
    k2 = derivative(state + h / 2 * k1)
    k3 = derivative(state + h / 2 * k2)
    k4 = derivative(state + h * k3)
    return state + h * torch.stack([k1, k2, k3, k4]).mean(0)


@wrong(runge_kutta_step, "not divided by 6")
def a_sum(derivative, state, h):
    k1 = derivative(state)
    k2 = derivative(state + h / 2 * k1)
    k3 = derivative(state + h / 2 * k2)
    k4 = derivative(state + h * k3)
    return state + h * (k1 + 2 * k2 + 2 * k3 + k4)


@wrong(runge_kutta_step, "half a step")
def whole_steps(derivative, state, h):
    k1 = derivative(state)
    k2 = derivative(state + h * k1)
    k3 = derivative(state + h * k2)
    k4 = derivative(state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@wrong(runge_kutta_step, "not multiplied by h")
def no_h_at_the_end(derivative, state, h):
    return state + (written_out(derivative, state, h) - state) / h


@wrong(runge_kutta_step, "only the way is returned")
def no_state(derivative, state, h):
    return written_out(derivative, state, h) - state


@wrong(runge_kutta_step, "goes a whole one")
def half_to_the_end(derivative, state, h):
    k1 = derivative(state)
    k2 = derivative(state + h / 2 * k1)
    k3 = derivative(state + h / 2 * k2)
    k4 = derivative(state + h / 2 * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@wrong(runge_kutta_step, "follows the second")
def copied_line(derivative, state, h):
    k1 = derivative(state)
    k2 = derivative(state + h / 2 * k1)
    k3 = derivative(state + h / 2 * k1)
    k4 = derivative(state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@wrong(runge_kutta_step, "not from the look before")
def from_look_to_look(derivative, state, h):
    k1 = derivative(state)
    second = state + h / 2 * k1
    k2 = derivative(second)
    third = second + h / 2 * k2
    k3 = derivative(third)
    k4 = derivative(third + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@wrong(runge_kutta_step, "not multiplied by h in the looks ahead")
def h_at_the_end_alone(derivative, state, h):
    k1 = derivative(state)
    k2 = derivative(state + k1 / 2)
    k3 = derivative(state + k2 / 2)
    k4 = derivative(state + k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@wrong(runge_kutta_step, "multiplies the first rate alone")
def brackets_forgotten(derivative, state, h):
    k1 = derivative(state)
    k2 = derivative(state + h / 2 * k1)
    k3 = derivative(state + h / 2 * k2)
    k4 = derivative(state + h * k3)
    return state + h / 6 * k1 + 2 * k2 + 2 * k3 + k4


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


@wrong(honest_split, "the whole series")
def the_future_is_known(series, size, gap):
    scaled = (series - series.mean(0)) / series.std(0)
    return scaled[:size], scaled[size + gap :]


@wrong(honest_split, "standardised by itself")
def each_by_itself(series, size, gap):
    parts = series[:size], series[size + gap :]
    return tuple((part - part.mean(0)) / part.std(0) for part in parts)


@wrong(honest_split, "no gap")
def next_to_each_other(series, size, gap):
    return two_slices(series, size, 0)


@wrong(honest_split, "nothing is divided by the spread")
def centred_only(series, size, gap):
    mean = series[:size].mean(0)
    return series[:size] - mean, series[size + gap :] - mean


@wrong(honest_split, "each feature has its own")
def one_number(series, size, gap):
    train = series[:size]
    return (train - train.mean()) / train.std(), (series[size + gap :] - train.mean()) / train.std()


@wrong(honest_split, "nothing is standardised")
def raw(series, size, gap):
    return series[:size], series[size + gap :]


@wrong(honest_split, "taken from train")
def shorter_train(series, size, gap):
    train = series[: size - gap]
    mean, std = train.mean(0), train.std(0)
    return (train - mean) / std, (series[size:] - mean) / std


@wrong(honest_split, "stands in the gap")
def the_gap_itself(series, size, gap):
    mean, std = series[:size].mean(0), series[:size].std(0)
    return (series[:size] - mean) / std, (series[size : size + gap] - mean) / std


@wrong(honest_split, "one less")
def as_numpy_has_it(series, size, gap):
    train = series[:size]
    mean, std = train.mean(0), train.std(0, correction=0)
    return (train - mean) / std, (series[size + gap :] - mean) / std


@wrong(honest_split, "the variance")
def divided_by_the_variance(series, size, gap):
    train = series[:size]
    mean, spread = train.mean(0), train.var(0)
    return (train - mean) / spread, (series[size + gap :] - mean) / spread


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


@wrong(good_for, "not for 0")
def argmax_of_bad(forecast, truth, threshold):
    return int(((forecast - truth).square().mean(1).sqrt() > threshold).int().argmax())


@wrong(good_for, "the sign of the error")
def signed(forecast, truth, threshold):
    bad = (forecast - truth).mean(1) > threshold
    return int(bad.int().argmax()) if bad.any() else len(truth)


@wrong(good_for, "the length of the error")
def by_norm(forecast, truth, threshold):
    bad = torch.linalg.vector_norm(forecast - truth, dim=1) > threshold
    return int(bad.int().argmax()) if bad.any() else len(truth)


@wrong(good_for, "the root is missing")
def by_square(forecast, truth, threshold):
    bad = (forecast - truth).square().mean(1) > threshold
    return int(bad.int().argmax()) if bad.any() else len(truth)


@wrong(good_for, "one too many")
def counts_the_bad_one(forecast, truth, threshold):
    return min(a_loop(forecast, truth, threshold) + 1, len(truth))


@wrong(good_for, "largest error")
def worst_feature(forecast, truth, threshold):
    bad = (forecast - truth).abs().max(dim=1).values > threshold
    return int(bad.int().argmax()) if bad.any() else len(truth)


@wrong(good_for, "the threshold itself")
def bad_from_the_threshold_on(forecast, truth, threshold):
    bad = (forecast - truth).square().mean(1).sqrt() >= threshold
    return int(bad.int().argmax()) if bad.any() else len(truth)


@wrong(good_for, "the truth is not looked at")
def without_the_truth(forecast, truth, threshold):
    return a_loop(forecast, torch.zeros_like(truth), threshold)


@wrong(good_for, "last good point")
def from_the_end(forecast, truth, threshold):
    errors = (forecast - truth).square().mean(1).sqrt().tolist()
    while errors and errors[-1] > threshold:
        errors.pop()
    return len(errors)


@wrong(good_for, "mean of the absolute errors")
def mean_absolute(forecast, truth, threshold):
    bad = (forecast - truth).abs().mean(1) > threshold
    return int(bad.int().argmax()) if bad.any() else len(truth)


@wrong(good_for, "the threshold is an argument")
def threshold_of_the_chapter(forecast, truth, threshold):
    return a_loop(forecast, truth, 0.4)
