"""Windows of a time series, and splits that leak nothing from the future into the past.

Shapes: N windows, T points of a window, F features.
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class SeriesSplit:
    """Three stretches of one series, in their order in time, in units of the first.

    Attributes:
        train: (length, F). All three are standardised with the mean and spread of this one.
        validation: (length, F).
        test: (length, F).
        mean: (F,), of `train`, in the units of the series.
        std: (F,), likewise.
    """

    train: Tensor
    validation: Tensor
    test: Tensor
    mean: Tensor
    std: Tensor

    def standardised(self, series: Tensor) -> Tensor:
        """(..., F) in the units of the series -> in those of the split."""
        return (series - self.mean) / self.std

    def restored(self, series: Tensor) -> Tensor:
        """The inverse of `standardised`."""
        return series * self.std + self.mean


def split_series(
    series: Tensor, *, gap: int, fractions: tuple[float, float, float] = (0.7, 0.15, 0.15)
) -> SeriesSplit:
    """Cut a series into three consecutive stretches: train, validation and test.

    Neighbouring windows share nearly all of their points. So the parts are contiguous, and between
    two of them `gap` points belong to neither.

    Args:
        series: (length, F).
        gap: points left out before validation and before test; at least a window and its horizon.
        fractions: of the points that are not left out.

    Raises:
        ValueError: the series is not (length, F), a fraction is not positive or they do not add up
            to 1, the gap is negative, a part would be empty, or a feature has no spread in `train`.
        TypeError: the series is not floating.
    """
    if series.dim() != 2:
        raise ValueError(
            f"series must have shape (length, F), got {tuple(series.shape)}; "
            "a series of one feature is series[:, None]"
        )
    if not series.is_floating_point():
        raise TypeError(f"series must be floating, got {series.dtype}; convert with .float()")
    if len(fractions) != 3 or min(fractions) <= 0 or abs(sum(fractions) - 1) > 1e-9:
        raise ValueError(f"fractions must be three positive numbers of sum 1, got {fractions}")
    kept = len(series) - 2 * gap
    sizes = [int(fractions[0] * kept), int(fractions[1] * kept)]
    sizes.append(kept - sum(sizes))
    if gap < 0 or min(sizes) < 1:
        raise ValueError(
            f"a series of {len(series)} points with two gaps of {gap} leaves {sizes} points for "
            "train, validation and test; use a longer series or a smaller gap"
        )
    first, second = sizes[0] + gap, sizes[0] + sizes[1] + 2 * gap
    train, validation = series[: sizes[0]], series[first : first + sizes[1]]
    if flat := (train == train[0]).all(0).nonzero().flatten().tolist():
        raise ValueError(
            f"feature(s) {', '.join(map(str, flat))} never change in the {len(train)} points of "
            "train, so that there is no spread to measure them by; leave them out"
        )
    mean, std = train.mean(0), train.std(0)
    parts = ((part - mean) / std for part in (train, validation, series[second:]))
    return SeriesSplit(*parts, mean, std)


def series_windows(series: Tensor, window: int, horizon: int = 1) -> tuple[Tensor, Tensor]:
    """Every window of a series and what follows it: (N, window, F) and (N, horizon, F).

    Views of the series: nothing is copied. N = length - window - horizon + 1.

    Raises:
        ValueError: the series is not (length, F), a size is below 1, or it is too short.
    """
    if series.dim() != 2:
        raise ValueError(f"series must have shape (length, F), got {tuple(series.shape)}")
    if window < 1 or horizon < 1 or len(series) < window + horizon:
        raise ValueError(
            f"a series of {len(series)} points holds no window of {window} followed by {horizon}; "
            "both must be at least 1, and together at most the length"
        )
    stretches = series.unfold(0, window + horizon, 1).transpose(1, 2)  # (N, window + horizon, F)
    return stretches[:, :window], stretches[:, window:]
