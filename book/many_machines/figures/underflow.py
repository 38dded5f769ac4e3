"""Gradients by their size, and the window of a number format that they have to pass through."""

from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table


def lost(
    bins: Mapping[int, float], window: Sequence[float], shift: float
) -> tuple[float, float, float]:
    """The shares that become 0, that keep few digits, and that overflow, of what is shifted.

    Args:
        bins: the share of numbers from 2 ** k to 2 ** (k + 1), by k.
        window: the smallest number, the smallest with all its digits, the largest: powers of 2.
        shift: by how many powers of 2 all numbers grow.
    """
    least, normal, most = window
    # Half of the smallest number is still rounded to it.
    zero = sum(share for k, share in bins.items() if k + shift < least - 1)
    few = sum(share for k, share in bins.items() if least - 1 <= k + shift < normal)
    over = sum(share for k, share in bins.items() if k + 1 + shift > most)
    return zero, few, over


def underflow_figure(
    bins: Mapping[int, float],
    formats: Mapping[str, Sequence[float]],
    *,
    tokens: int,
    format: str,
    scale: int = 0,
) -> LiveFigure:
    """A histogram to push through windows.

    Args:
        bins: as for `lost`, of gradients of a mean over `tokens` tokens.
        formats: by name the window of each, as for `lost`.
        tokens: how many the measured mean was over, a power of 2.
        format, scale: what is shown first: a name, and the power of 2 by which the loss is scaled.

    Raises:
        ValueError: the format has no window.
    """
    if format not in formats:
        raise ValueError(f"there is no window for {format!r}; there are {', '.join(formats)}")
    shares = lost(bins, formats[format], scale)
    fallback = table(
        f"{format}, scale 2^{scale}, a mean over {tokens} tokens",
        ["of the gradients", "per cent"],
        [(name, 100 * share) for name, share in zip(
            ("become 0", "keep few digits", "overflow"), shares, strict=True)],
    )  # fmt: skip
    data = {
        "bins": sorted([k, float(share)] for k, share in bins.items()),
        "formats": {name: list(window) for name, window in formats.items()},
        "tokens": tokens.bit_length() - 1,
    }
    value = {"format": format, "scale": scale, "tokens": data["tokens"]}
    return LiveFigure(__file__, data, value, fallback)
