"""Rolling a forecaster out, and the valid prediction time."""

import pytest
import torch

from companion.forecasting import forecast_loss, roll_out, valid_steps


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


def test_what_is_refused():
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
