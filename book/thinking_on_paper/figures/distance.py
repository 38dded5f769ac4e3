"""Which bit each written step of a parity adds, by its distance."""

from collections.abc import Mapping, Sequence
from itertools import chain

from book.page.live import LiveFigure, table

Strings = Sequence[tuple[Sequence[int], Sequence[int]]]


def distance_figure(written: Mapping[int, Strings], *, trained: int, at: int = 14) -> LiveFigure:
    """Strings of bits over the steps that a model wrote, with arrows of a chosen length.

    Args:
        written: by the number of bits, strings: their bits, and the steps, one for each bit.
        trained: the number of bits that the model has been trained on.
        at: how many places back the arrows point first.

    Raises:
        ValueError: there are no strings of `trained` bits or of one more, or a string has other
            bits than 0 and 1 or other numbers of them.
    """
    if not {trained, trained + 1} <= set(written):
        raise ValueError(f"strings of {trained} and {trained + 1} bits are needed")
    lengths = {}
    for length, strings in written.items():
        lengths[length] = [[list(map(int, row)) for row in string] for string in strings]
        for string in lengths[length]:
            if [len(row) for row in string] != [length] * 2 or not set(chain(*string)) <= {0, 1}:
                raise ValueError(f"{length} bits and as many steps are needed, got {string}")
    data = {
        "lengths": [{"bits": length, "strings": lengths[length]} for length in sorted(lengths)],
        "trained": trained,
    }
    bits, steps = lengths[trained][0]
    fallback = table(
        f"A string of {trained} bits, and the steps that the model wrote",
        ["", *map(str, range(1, trained + 1))],
        [("bits", *map(str, bits)), ("steps", *map(str, steps))],
    )
    value = {"bits": trained, "string": 0, "back": at}
    return LiveFigure(__file__, data, value, fallback)
