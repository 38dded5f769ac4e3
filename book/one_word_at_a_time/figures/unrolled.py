"""A sentence read one word after the other, and by every word looking at every word."""

from book.page.live import LiveFigure, table

SENTENCE = "the animal did not cross the street because it"


def unrolled_figure(sentence: str = SENTENCE, start: int = 1) -> LiveFigure:
    """A recurrent network unrolled in time, beside every word looking at every word at once.

    A clock ticks; at every tick happens what waits for nothing. The news of one word is followed
    to another, and ticks and handovers are counted.

    Args:
        sentence: words between spaces.
        start: which word is followed first, counted from 0; it is followed to the last one.

    Raises:
        ValueError: no word comes after the one that is followed.
    """
    words = sentence.split()
    last = len(words) - 1
    if not 0 <= start < last:
        raise ValueError(
            f"start = {start} must lie between 0 and {last - 1} in a sentence of {len(words)} words"
        )
    tick = min(3, last)
    rows = [("in order", tick, last - start, len(words)), ("at once", len(words), 1, 1)]
    columns = ["", "words read", "steps on the path", "ticks it takes"]
    caption = f"From “{words[start]}” to “{words[last]}”, after {tick} ticks"
    value = {"step": tick, "from": start, "to": last}
    return LiveFigure(__file__, {"words": words}, value, table(caption, columns, rows))
