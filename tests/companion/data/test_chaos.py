"""The Lorenz system: its equations, how exactly it is integrated, and what a seed decides."""

import pytest
import torch

from companion.data import lorenz, lorenz_path


def state(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def test_the_equations_by_hand():
    start, rate = state(1, 2, 3), state(10, 23, -6)
    path = lorenz_path(start, 2, dt=0.01, method="euler", substeps=1)
    torch.testing.assert_close(path, torch.stack([start, start + 0.01 * rate]))


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_three_fixed_points_do_not_move(sign):
    c = 72**0.5  # sqrt(beta (rho - 1))
    for point in (state(0, 0, 0), state(sign * c, sign * c, 27)):
        path = lorenz_path(point, 7)
        torch.testing.assert_close(path, point.expand(7, 3), atol=1e-9, rtol=0)


def test_a_turn_by_half_around_z_maps_paths_to_paths():
    start, turn = torch.randn(5, 3, dtype=torch.float64) * 5, state(-1, -1, 1)
    torch.testing.assert_close(lorenz_path(start * turn, 11), lorenz_path(start, 11) * turn)


def test_the_z_axis_is_followed_exactly():
    dt, length = 0.03, 13
    path = lorenz_path(state(0, 0, 5), length, dt=dt)
    z = 5 * torch.exp(-8 / 3 * dt * torch.arange(length, dtype=torch.float64))
    torch.testing.assert_close(path[:, 2], z, atol=1e-8, rtol=0)
    assert not path[:, :2].any()


def test_volumes_shrink_at_the_rate_of_the_divergence():
    start, small, dt = state(3, -2, 21), 1e-5, 0.05
    corners = start + small * torch.cat([torch.zeros(1, 3), torch.eye(3)]).double()
    ends = lorenz_path(corners, 2, dt=dt)[:, 1]
    volume = torch.linalg.det((ends[1:] - ends[0]) / small)
    expected = torch.exp(state(-(10 + 1 + 8 / 3) * dt))[0]  # the trace of the Jacobian
    torch.testing.assert_close(volume, expected, rtol=1e-4, atol=0)


@pytest.mark.parametrize(("method", "order"), [("euler", 1), ("rk4", 4)])
def test_the_order_of_convergence(method, order):
    start = state(-5, 3, 22)
    exact = lorenz_path(start, 2, dt=0.2, substeps=2000)[1]
    errors = [
        (lorenz_path(start, 2, dt=0.2, method=method, substeps=n)[1] - exact).norm()
        for n in (40, 80)
    ]
    assert torch.log2(errors[0] / errors[1]).item() == pytest.approx(order, abs=0.15)


def test_many_starts_are_followed_together():
    starts = torch.randn(5, 7, 3, dtype=torch.float64)
    assert lorenz_path(starts, 5).shape == (5, 7, 5, 3)
    torch.testing.assert_close(lorenz_path(starts[3, 2], 5), lorenz_path(starts, 5)[3, 2])


def test_substeps_change_only_the_exactness():
    fine = lorenz_path(state(1, 2, 20), 11, dt=0.05, substeps=10)
    torch.testing.assert_close(
        lorenz_path(state(1, 2, 20), 101, dt=0.005, substeps=1)[::10], fine, atol=1e-12, rtol=0
    )


def test_a_seed_decides_the_runs_and_they_lie_on_the_attractor():
    runs = lorenz(83, seed=1, runs=5)
    assert runs.shape == (5, 83, 3) and runs.dtype == torch.float64
    assert torch.equal(runs, lorenz(83, seed=1, runs=5))
    assert (runs - lorenz(83, seed=2, runs=5)).abs().amax(dim=(1, 2)).min() > 1
    assert (runs[1:] - runs[0]).abs().amax(dim=(1, 2)).min() > 1
    torch.testing.assert_close(runs[3, 1:], lorenz_path(runs[3, 0], 83)[1:])
    whole = lorenz(100, seed=1, runs=5, warm_up=0)
    torch.testing.assert_close(lorenz(83, seed=1, runs=5, warm_up=17), whole[:, 17:])
    x, _, z = lorenz(800, seed=3)[0].T
    assert x.min() < -10 < 10 < x.max() and x.abs().max() < 20.5
    assert 0 < z.min() and z.max() < 49 and z.mean() == pytest.approx(23.5, abs=1)


def test_what_is_refused():
    start = state(1, 2, 3)
    for call, part in (
        (lambda: lorenz_path(state(1, 2), 5), r"\(\.\.\., 3\).*\(2,\)"),
        (lambda: lorenz_path(start, 0), "length must be at least 1, got 0"),
        (lambda: lorenz_path(start, 5, substeps=0), "substeps must be at least 1"),
        (lambda: lorenz_path(start, 5, dt=-0.1), "dt must be positive, got -0.1"),
        (lambda: lorenz(5, seed=0, dt=5.0), r"dt = 5\.0 apart are too far"),
        (lambda: lorenz_path(start, 5, method="heun"), "'rk4', 'euler'; got 'heun'"),
        (lambda: lorenz(5, seed=0, runs=0), "runs must be at least 1"),
        (lambda: lorenz(5, seed=0, warm_up=-1), "warm_up must be at least 0"),
        (lambda: lorenz(0, seed=0), "length must be at least 1, got 0"),
    ):
        with pytest.raises(ValueError, match=part):
            call()
    with pytest.raises(TypeError, match="seed"):
        lorenz(5, seed=0.5)
