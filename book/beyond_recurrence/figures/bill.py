"""What a layer costs: an LSTM and attention, alone and with a feed-forward network behind."""

from book.page.live import LiveFigure, table

WIDTHS = (128, 512, 1024)


def bill_figure(
    lstm: int, matrices: int, pairs: int, feed_forward: int, n: int = 256, d: int = 512
) -> LiveFigure:
    """The operations of an LSTM and of attention for a length and a width that the reader chooses.

    Args:
        lstm: how often the LSTM takes n·d² operations.
        matrices: the same of attention's four matrices.
        pairs: how often attention takes n²·d operations for its pairs of words.
        feed_forward: how often a feed-forward network takes n·d² operations.
        n: words at the start, a multiple of 16 up to 8192.
        d: width at the start, 128, 512 or 1024.

    Raises:
        ValueError: there is no such start.
    """
    if n % 16 or not 16 <= n <= 8192 or d not in WIDTHS:
        raise ValueError(f"n must be a multiple of 16 up to 8192, d one of {WIDTHS}; got {n}, {d}")
    counted = {"lstm": lstm, "matrices": matrices, "pairs": pairs, "feed_forward": feed_forward}
    ours, rival = matrices * n * d**2 + pairs * n**2 * d, lstm * n * d**2
    rows = [
        ("attention over LSTM", ours / rival),
        ("pairs of words in attention's bill", pairs * n**2 * d / ours),
    ]
    fallback = table(f"{n} words of width {d}", ["", "share"], rows)
    data = {"counted": counted, "widths": list(WIDTHS)}
    return LiveFigure(__file__, data, {"n": n, "d": d, "fed": False}, fallback)
