"""How good the text is, over how much of each guess is kept."""

from collections.abc import Mapping

from book.page.live import LiveFigure, table

NEEDED = {"lost", "share", "passes", "texts"}


def pace_figure(kept: Mapping[str, Mapping], *, at: int = 2) -> LiveFigure:
    """A slider over the number of words kept, a curve of what is lost, and sentences.

    Args:
        kept: by what is kept of each guess, as "1", "2", ..., "all": the nats `lost` per sentence,
            the `share` in the language, the mean number of `passes`, and `texts`, pairs of a
            sentence and whether it is in the language.
        at: which of them is shown first.

    Raises:
        ValueError: there are fewer than three, one lacks something, or `at` is none of them.
    """
    if len(kept) < 3 or any(set(row) != NEEDED for row in kept.values()):
        raise ValueError(f"three rows or more are needed, each with {sorted(NEEDED)}")
    if not 0 <= at < len(kept):
        raise ValueError(f"at must be a row, from 0 to {len(kept) - 1}; got {at}")
    rows = [
        {**row, "kept": name, "texts": [[text, bool(good)] for text, good in row["texts"]]}
        for name, row in kept.items()
    ]
    first = rows[at]
    fallback = table(
        "The share of sentences in the language, and the nats lost per sentence",
        ["words kept of each guess", "share", "lost"],
        [(row["kept"], row["share"], row["lost"]) for row in [first, *rows[:at], *rows[at + 1 :]]],
    )
    return LiveFigure(__file__, {"rows": rows}, {"at": at}, fallback)
