"""Content or room: what must stand before an answer? Ten starts of each kind of notes.

    python -m book.thinking_on_paper.controls {5301..5310} > book/thinking_on_paper/controls.json

made the table beside this file. Models, sums and schedule are the chapter's, as in `later`, whose
dots are brackets. A seed draws sums and start, the same for every kind: 40 seconds.
"""

from collections.abc import Sequence

from book import runs
from book.thinking_on_paper.later import answered, sums
from book.thinking_on_paper.tool import Sum, carries, learn, prompt_of

STEPS = 400
KINDS = {  # of a sum's own carries and those of the sum before it
    "at once": lambda own, other: "",
    "carries": lambda own, other: own,
    "dots": lambda own, other: "[[[",
    "another sum's": lambda own, other: other,
    "inverted": lambda own, other: own.translate(str.maketrans("01", "10")),
}


def texts(kind: str, pairs: Sequence[Sum]) -> list[str]:
    """The sums with notes of this kind; before the first one stands the last."""
    own = [carries(pair) for pair in pairs]
    return [
        f"{prompt_of(pair)}{KINDS[kind](*notes)}:{sum(pair):04d}"
        for pair, *notes in zip(pairs, own, own[-1:] + own[:-1], strict=True)
    ]


def measure(seed: int) -> dict:
    """{"seed", kind of notes: the share of other sums that is right}."""
    told, asked = sums(STEPS, seed)
    found = {"seed": seed}
    for kind in KINDS:
        model = learn(texts(kind, told), seed)
        count = len(texts(kind, asked)[0]) - len(prompt_of(asked[0]))
        found[kind] = answered(model, asked, count)
    return found


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "controls.json")


if __name__ == "__main__":
    runs.write(measure)
