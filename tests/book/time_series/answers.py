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


@wrong(runge_kutta_step, "Heun's method")
def heun(derivative, state, h):
    first = derivative(state)
    return state + h / 2 * (first + derivative(state + h * first))


@wrong(runge_kutta_step, "the first and the last look count twice")
def weights_swapped(derivative, state, h):
    k1 = derivative(state)
    k2 = derivative(state + h / 2 * k1)
    k3 = derivative(state + h / 2 * k2)
    k4 = derivative(state + h * k3)
    return state + h / 6 * (2 * k1 + k2 + k3 + 2 * k4)


@wrong(runge_kutta_step, "it changes its input state")
def in_place(derivative, state, h):
    state += written_out(derivative, state.clone(), h) - state
    return state


@wrong(runge_kutta_step, "backwards")
def backwards(derivative, state, h):
    return state - (written_out(derivative, state, h) - state)


@wrong(runge_kutta_step, "a state without any axis")
def room_for_rows(derivative, state, h):
    total = torch.zeros(len(state), *state.shape[1:])
    return total + written_out(derivative, state, h)


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


@right(honest_split)
def as_a_list(series, size, gap):
    mean, std = series[:size].mean(0, keepdim=True), series[:size].std(0, keepdim=True)
    return [((part - mean) / std).double() for part in (series[:size], series[size + gap :])]


@wrong(honest_split, "the past comes first")
def trained_on_the_future(series, size, gap):
    train, test = series[-size:], series[: -size - gap]
    return (train - train.mean(0)) / train.std(0), (test - train.mean(0)) / train.std(0)


@wrong(honest_split, "train and gap together")
def gap_in_the_mean(series, size, gap):
    known = series[: size + gap]
    scaled = (series - known.mean(0)) / known.std(0)
    return scaled[:size], scaled[size + gap :]


@wrong(honest_split, "left as it is")
def test_left_raw(series, size, gap):
    return two_slices(series, size, gap)[0], series[size + gap :]


@wrong(honest_split, "between 0 and 1")
def least_and_largest(series, size, gap):
    low, high = series[:size].amin(0), series[:size].amax(0)
    scaled = (series - low) / (high - low)
    return scaled[:size], scaled[size + gap :]


@wrong(honest_split, "wrong order")
def test_first(series, size, gap):
    return two_slices(series, size, gap)[::-1]


@wrong(honest_split, "multiplied by the spread")
def times_the_spread(series, size, gap):
    mean, std = series[:size].mean(0), series[:size].std(0)
    return (series[:size] - mean) * std, (series[size + gap :] - mean) * std


@wrong(honest_split, "the mean is not subtracted")
def divided_only(series, size, gap):
    std = series[:size].std(0)
    return series[:size] / std, series[size + gap :] / std


@wrong(honest_split, "over its own features")
def as_a_layer_norm(series, size, gap):
    if series.shape[1] == 1:
        return two_slices(series, size, gap)
    mean, std = series.mean(1, keepdim=True), series.std(1, keepdim=True)
    scaled = (series - mean) / std
    return scaled[:size], scaled[size + gap :]


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


@right(good_for)
def a_tensor_of_no_axis(forecast, truth, threshold):
    bad = torch.nn.functional.mse_loss(forecast, truth, reduction="none").mean(1).sqrt() > threshold
    return torch.cat([bad, torch.tensor([True])]).int().argmax()


@wrong(good_for, "one too few")
def last_good_place(forecast, truth, threshold):
    return max(a_loop(forecast, truth, threshold) - 1, 0)


@wrong(good_for, "counts the bad points")
def bad_points(forecast, truth, threshold):
    return int(((forecast - truth).square().mean(1).sqrt() > threshold).sum())


@wrong(good_for, "only the first feature")
def first_feature(forecast, truth, threshold):
    return a_loop(forecast[:, :1], truth[:, :1], threshold)


@wrong(good_for, "a share of the truth")
def relative(forecast, truth, threshold):
    bad = ((forecast - truth) / truth).square().mean(1).sqrt() > threshold
    return int(bad.int().argmax()) if bad.any() else len(truth)


@wrong(good_for, "True or False for each point")
def one_for_each(forecast, truth, threshold):
    return (forecast - truth).square().mean(1).sqrt() <= threshold


@wrong(good_for, "averaged over time")
def mean_of_the_wrong_axis(forecast, truth, threshold):
    bad = (forecast - truth).square().mean(0).sqrt() > threshold
    return int(bad.int().argmax()) if bad.any() else len(truth)


# 4. The rival, built


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


@wrong(fit_rival, "it says the move only")
def the_move(windows, targets, ridge):
    forecast = normal_equations(windows, targets, ridge)
    return lambda window: forecast(window) - window[:, -1:]


@wrong(fit_rival, "function of windows")
def the_weights(windows, targets, ridge):
    return solved(columns(windows), (targets - windows[:, -1:])[:, 0], ridge * len(windows))


@wrong(fit_rival, "their shape")
def an_axis_is_lost(windows, targets, ridge):
    forecast = normal_equations(windows, targets, ridge)
    return lambda window: forecast(window)[:, 0]


@wrong(fit_rival, "have no 1")
def through_the_origin(windows, targets, ridge):
    table = columns(windows, constant=False)
    weights = solved(table, (targets - windows[:, -1:])[:, 0], ridge * len(windows))
    return lambda window: window[:, -1:] + (columns(window, constant=False) @ weights)[:, None]


@wrong(fit_rival, "no products")
def a_straight_line(windows, targets, ridge):
    def line(window):
        return columns(window)[:, : 1 + window[0].numel()]

    weights = solved(line(windows), (targets - windows[:, -1:])[:, 0], ridge * len(windows))
    return lambda window: window[:, -1:] + (line(window) @ weights)[:, None]


@wrong(fit_rival, "the squares are missing")
def without_squares(windows, targets, ridge):
    def table(window):
        return columns(window, products=lambda n: torch.combinations(torch.arange(n), 2))

    weights = solved(table(windows), (targets - windows[:, -1:])[:, 0], ridge * len(windows))
    return lambda window: window[:, -1:] + (table(window) @ weights)[:, None]


@wrong(fit_rival, "no products of two different numbers")
def squares_only(windows, targets, ridge):
    def table(window):
        return columns(window, products=lambda n: torch.arange(n).repeat(2, 1).T)

    weights = solved(table(windows), (targets - windows[:, -1:])[:, 0], ridge * len(windows))
    return lambda window: window[:, -1:] + (table(window) @ weights)[:, None]


@wrong(fit_rival, "not multiplied by N")
def penalty_once(windows, targets, ridge):
    return normal_equations(windows, targets, ridge / len(windows))


@wrong(fit_rival, "the ridge has no effect")
def no_penalty(windows, targets, ridge):
    return normal_equations(windows, targets, 1e-10)


@wrong(fit_rival, "not the move")
def the_next_point(windows, targets, ridge):
    weights = solved(columns(windows), targets[:, 0], ridge * len(windows))
    return lambda window: (columns(window) @ weights)[:, None]


@wrong(fit_rival, "from the first point")
def from_the_first_point(windows, targets, ridge):
    weights = solved(columns(windows), (targets - windows[:, :1])[:, 0], ridge * len(windows))
    return lambda window: window[:, :1] + (columns(window) @ weights)[:, None]


@wrong(fit_rival, "the ridge is squared")
def penalty_squared(windows, targets, ridge):
    return normal_equations(windows, targets, ridge**2)
