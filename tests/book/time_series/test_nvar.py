"""NVAR, the chapter's strongest baseline."""

from itertools import combinations_with_replacement

import pytest
import torch

from book.time_series import NVAR
from companion.data import lorenz, series_windows
from companion.forecasting import roll_out, valid_steps


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
