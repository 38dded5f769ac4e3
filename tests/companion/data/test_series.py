"""Windows and splits of a series: what is where, and that nothing leaks."""

import pytest
import torch

from companion.data import series_windows, split_series


def counting(length, features=3):
    """A series whose numbers tell where they come from."""
    return torch.arange(float(length * features), dtype=torch.float64).view(length, features)


def test_windows_by_hand():
    windows, targets = series_windows(torch.arange(6.0)[:, None], 3, 2)
    assert windows[..., 0].tolist() == [[0, 1, 2], [1, 2, 3]]
    assert targets[..., 0].tolist() == [[3, 4], [4, 5]]


def test_every_window_is_followed_by_what_follows_it():
    series = counting(23)
    windows, targets = series_windows(series, 7, 5)
    assert (windows.shape, targets.shape) == ((12, 7, 3), (12, 5, 3))
    for n in (0, 4, 11):
        assert torch.equal(windows[n], series[n : n + 7])
        assert torch.equal(targets[n], series[n + 7 : n + 12])


def test_parts_are_in_order_and_a_gap_apart():
    series = counting(131)
    split = split_series(series, gap=11, fractions=(0.5, 0.3, 0.2))
    train, validation, test = map(split.restored, (split.train, split.validation, split.test))
    torch.testing.assert_close(train, series[:54])  # 109 points are kept
    torch.testing.assert_close(validation, series[65:97])
    torch.testing.assert_close(test, series[108:])


def test_no_window_of_one_part_shares_a_point_with_a_window_of_another():
    window, horizon = 7, 4
    series = counting(131, 1)
    split = split_series(series, gap=window + horizon)
    seen = []
    for part in (split.train, split.validation, split.test):
        windows, targets = series_windows(split.restored(part), window, horizon)
        seen.append(set(torch.cat([windows, targets], dim=1).round().flatten().tolist()))
    assert not (seen[0] & seen[1] or seen[1] & seen[2] or seen[0] & seen[2])
    assert min(seen[1]) - max(seen[0]) == min(seen[2]) - max(seen[1]) == window + horizon + 1


def test_mean_and_spread_are_those_of_the_training_part_alone():
    series = torch.randn(113, 5, dtype=torch.float64) * 3 + 7
    split = split_series(series, gap=3)
    zeros, ones = torch.zeros(5).double(), torch.ones(5).double()
    torch.testing.assert_close(split.train.mean(0), zeros)
    torch.testing.assert_close(split.train.std(0), ones)
    changed = series.clone()
    changed[len(split.train) :] *= 100  # the future
    again = split_series(changed, gap=3)
    assert torch.equal(again.train, split.train)
    assert torch.equal(again.mean, split.mean) and torch.equal(again.std, split.std)
    torch.testing.assert_close(split.standardised(series)[: len(split.train)], split.train)
    torch.testing.assert_close(split.restored(split.standardised(series)), series)


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: split_series(torch.randn(31), gap=2), r"\(31,\).*series\[:, None\]"),
        (lambda: split_series(counting(31), gap=-1), "gaps of -1"),
        (lambda: split_series(counting(31), gap=15), "31 points with two gaps of 15"),
        (lambda: split_series(counting(31), gap=1, fractions=(0.5, 0.5, 0.5)), "sum 1"),
        (lambda: split_series(counting(31), gap=1, fractions=(1.1, -0.2, 0.1)), "positive"),
        (lambda: split_series(counting(31), gap=1, fractions=()), "three"),
        (
            lambda: split_series(counting(31) * torch.tensor([1, 0, 1]), gap=1),
            r"feature\(s\) 1 never",
        ),
        (lambda: split_series(counting(3), gap=0, fractions=(0.4, 0.4, 0.2)), "in the 1 points"),
        (lambda: series_windows(torch.randn(31), 3), r"\(31,\)"),
        (lambda: series_windows(counting(31), 0), "window of 0"),
        (lambda: series_windows(counting(31), 3, 0), "followed by 0"),
        (lambda: series_windows(counting(31), 29, 3), "31 points holds no window of 29"),
    ],
)
def test_what_is_refused(call, part):
    with pytest.raises(ValueError, match=part):
        call()


def test_whole_numbers_are_refused():
    with pytest.raises(TypeError, match=r"floating, got torch.int64; convert with .float\(\)"):
        split_series(counting(31).long(), gap=1)
