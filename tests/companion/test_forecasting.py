"""Rolling a forecaster out, the valid prediction time, and NVAR."""

from itertools import combinations_with_replacement

import pytest
import torch

from companion.data import lorenz, series_windows
from companion.forecasting import NVAR, forecast_loss, roll_out, valid_steps


def ones(*numbers):
    """(1, T, 1)."""
    return torch.tensor(numbers, dtype=torch.float64)[None, :, None]


def sum_of_window(window):
    return window.sum(dim=1, keepdim=True)


def test_a_forecaster_is_fed_what_it_says():
    forecast = roll_out(sum_of_window, ones(1, 1), 5)
    assert forecast.flatten().tolist() == [2, 3, 5, 8, 13]


def test_a_forecaster_of_a_longer_horizon_is_asked_less_often_and_cut():
    asked = []

    def two(window):
        asked.append(window.clone())
        return window[:, -1:] + torch.tensor([1.0, 2.0]).double()[None, :, None]

    forecast = roll_out(two, ones(0, 1, 2), 5)
    assert forecast.flatten().tolist() == [3, 4, 5, 6, 7]
    assert [window.flatten().tolist() for window in asked] == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]


def test_a_forecast_that_explodes_stays_finite():
    assert roll_out(lambda window: window[:, -1:] * 1e200, ones(1), 7).flatten()[-1] == 1000


def test_the_loss_by_hand_and_its_gradient_through_the_rollout():
    factor = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    total, count = forecast_loss(0.5)(lambda w: factor * w[:, -1:], (ones(1, 2), ones(5, 5)))
    assert (total.item(), count.item()) == ((6 - 5) ** 2 * 4 + (18 - 5) ** 2 * 4, 2)
    total.backward()
    assert factor.grad.item() == 4 * (2 * 1 * 2 + 2 * 13 * 2 * 2 * 3)  # 2 f^2 has slope 4 f


def test_the_loss_and_its_count_are_on_the_device_of_the_series():
    window, targets = torch.zeros(2, 3, 1, device="meta"), torch.zeros(2, 5, 1, device="meta")
    total, count = forecast_loss(0.5)(lambda w: w[:, -1:], (window, targets))
    assert total.is_meta and count.is_meta and count.dtype == torch.int64


def test_valid_steps_by_hand():
    truth = torch.zeros(4, 5, 2)
    forecast = truth.clone()
    forecast[1, 3] = 0.5  # one bad point
    forecast[2, 0] = -0.5  # from the start, even if good later
    forecast[3, 1:, 0] = 0.5  # half of the features: 0.5 / sqrt(2) = 0.354
    assert valid_steps(forecast, truth).tolist() == [5, 3, 0, 5]
    assert valid_steps(forecast, truth, threshold=0.35).tolist() == [5, 3, 0, 1]
    forecast[0, 2, 1] = torch.nan
    assert valid_steps(forecast, truth).tolist() == [2, 3, 0, 5]
    with pytest.raises(ValueError, match=r"\(4, 5, 2\) and \(4, 5, 1\)"):
        valid_steps(forecast, truth[..., :1])


def products_by_hand(window, delays, spacing, degree):
    points = [window[-1 - spacing * i, f] for i in reversed(range(delays)) for f in range(3)]
    found = [1.0]
    for d in range(1, degree + 1):
        for chosen in combinations_with_replacement(points, d):
            found.append(torch.stack(chosen).prod().item())
    return torch.tensor(found, dtype=torch.float64)


@pytest.mark.parametrize(("delays", "spacing", "degree"), [(3, 2, 3), (2, 5, 2), (5, 1, 1)])
def test_the_products_by_hand(delays, spacing, degree):
    windows = torch.randn(7, 11, 3, dtype=torch.float64)
    nvar = NVAR(delays, spacing=spacing, degree=degree)
    expected = torch.stack([products_by_hand(w, delays, spacing, degree) for w in windows])
    torch.testing.assert_close(nvar._products(windows), expected)


def test_a_recurrence_of_its_own_form_is_learned_exactly():
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(501, 7, 1, generator=generator, dtype=torch.float64)
    after = x[:, -1:] + 0.3 * x[:, -3:-2] * x[:, -1:] ** 2 - 0.2 * x[:, -5:-4] + 0.1
    nvar = NVAR(3, spacing=2, degree=3, ridge=1e-14).fit(x, after)
    torch.testing.assert_close(nvar(x), after, atol=1e-8, rtol=0)
    assert nvar(x.float()).dtype == torch.float32
    linear = NVAR(3, spacing=2, degree=1, ridge=1e-14).fit(x, after)
    assert (linear(x) - after).abs().max() > 1e-2


def test_a_larger_penalty_shrinks_the_weights():
    windows, targets = series_windows(lorenz(211, seed=1)[0], 3)
    small, large = (NVAR(2, degree=2, ridge=r).fit(windows, targets) for r in (1e-8, 1.0))
    assert large.weight.norm() < small.weight.norm() / 2
    gram = small._products(windows).T @ small._products(windows) / len(windows)
    moves = small._products(windows).T @ (targets - windows[:, -1:])[:, 0] / len(windows)
    torch.testing.assert_close(gram @ large.weight + 1.0 * large.weight, moves)


def test_with_all_of_the_state_it_follows_the_lorenz_system():
    series = lorenz(1000, seed=1)[0]
    series = (series - series.mean(0)) / series.std(0)
    nvar = NVAR(2, degree=3).fit(*series_windows(series[:800], 2))
    forecast = roll_out(nvar, series[None, 798:800], 60)
    assert valid_steps(forecast, series[None, 800:860]).item() == 60


def test_what_is_refused():
    with pytest.raises(ValueError, match="learned nothing"):
        NVAR(2)(torch.randn(3, 5, 1))
    learned = NVAR(2).fit(torch.randn(9, 5, 1), torch.randn(9, 1, 1))
    for shape in ((3, 5, 2), (5, 1)):
        with pytest.raises(ValueError, match=r"window must .* features = 1, got \("):
            learned(torch.randn(shape))
    with pytest.raises(ValueError, match="reach back 7 points, but the window has 5"):
        NVAR(3, spacing=3).fit(torch.randn(3, 5, 1), torch.randn(3, 1, 1))
    with pytest.raises(ValueError, match="delays must be at least 1, got 0"):
        NVAR(0)
    with pytest.raises(TypeError, match=r"degree must be an int, got 2\.0"):
        NVAR(2, degree=2.0)
    with pytest.raises(ValueError, match="ridge must be at least 0, got -1"):
        NVAR(2, ridge=-1)
    with pytest.raises(ValueError, match="ridge must be finite, got inf"):
        NVAR(2, ridge=float("inf"))
    with pytest.raises(TypeError, match=r"windows must be a torch.Tensor, got list"):
        NVAR(2).fit([[1.0]], torch.randn(3, 1, 1))
    for shape in ((3, 2), (1, 1, 2), (3, 4, 2), (3, 1, 1)):
        with pytest.raises(ValueError, match=r"targets .* \(3, 1, 2\), got \(" + str(shape)[1:-1]):
            NVAR(2).fit(torch.randn(3, 5, 2), torch.randn(shape))
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        roll_out(sum_of_window, ones(1, 1), 0)
    with pytest.raises(ValueError, match=r"horizon at least 1, got \(1, 0, 1\)"):  # never done
        roll_out(lambda window: window[:, :0], ones(1, 1), 2)
    with pytest.raises(TypeError, match=r"truth must be a torch.Tensor, got list"):
        valid_steps(torch.zeros(4, 5, 1), [])
    for threshold in (0.0, float("nan")):  # no point would ever be good
        with pytest.raises(ValueError, match=f"threshold must be positive, got {threshold}"):
            valid_steps(torch.zeros(4, 5, 1), torch.zeros(4, 5, 1), threshold=threshold)
        with pytest.raises(ValueError, match=f"scale must be positive, got {threshold}"):
            forecast_loss(threshold)
    with pytest.raises(ValueError, match=r"\(B, steps, features\), got \(4, 5\)"):
        valid_steps(torch.zeros(4, 5), torch.zeros(4, 5))
