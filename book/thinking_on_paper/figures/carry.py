"""Ten sums, all eight lines of carries that could be written before each, and a model's answers."""

from collections.abc import Callable, Sequence
from itertools import product

from book.page.live import LiveFigure, table

SUMS = (
    (456, 789), (123, 234), (274, 358), (638, 217), (905, 146),
    (571, 362), (482, 451), (866, 555), (349, 627), (712, 184),
)  # fmt: skip


def carry_figure(
    finish: Callable[[list[str]], list[str]],
    sums: Sequence[tuple[int, int]] = SUMS,
    *,
    carries: str = "011",
) -> LiveFigure:
    """A sum in columns, whose written carries the reader flips, and what a model makes of each.

    Args:
        finish: finish(prompts) gives the four digits that a model writes after each prompt, such
            as "456+789=111:", where 111 are the carries of units, tens and hundreds.
        sums: pairs of numbers of three digits.
        carries: those that are shown first, of the first sum.

    Raises:
        ValueError: a number has not three digits, or an answer not four.
    """
    for a, b in sums:
        if not (100 <= a <= 999 and 100 <= b <= 999):
            raise ValueError(f"both numbers of a sum have three digits here, got {a} + {b}")
    lines = ["".join(line) for line in product("01", repeat=3)]
    answers = finish([f"{a}+{b}={line}:" for a, b in sums for line in lines])
    if any(len(answer) != 4 for answer in answers):
        raise ValueError(f"an answer has four digits, got {min(answers, key=len)!r}")
    groups = [answers[i : i + 8] for i in range(0, len(answers), 8)]
    data = [{"a": a, "b": b, "answers": group} for (a, b), group in zip(sums, groups, strict=True)]
    a, b = sums[0]
    order = [carries, *(line for line in lines if line != carries)]
    fallback = table(
        f"What the model answers to {a} + {b} after each line of carries; the sum is {a + b}",
        ["carries of units, tens, hundreds", "answer"],
        [[line, groups[0][lines.index(line)]] for line in order],
    )
    value = {"sum": 0, "carries": [int(carry) for carry in carries], "seen": [f"0:{carries}"]}
    return LiveFigure(__file__, {"sums": data}, value, fallback)
