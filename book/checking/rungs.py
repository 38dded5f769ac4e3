"""Ladders in plain text: an idea, the code that shows it, and known mistakes as edits."""

import inspect
import sys
from collections.abc import Callable, Iterable
from textwrap import dedent

from book.checking.exercise import Rung


class Ladder(list[Rung]):
    """Rungs, and the mistakes that are known on any of them."""

    def __init__(self, rungs: Iterable[Rung], mistakes: dict[str, Callable]) -> None:
        super().__init__(rungs)
        self.mistakes = mistakes


def rungs(right: Callable, text: str, *, before: str = "") -> Ladder:
    """The ladder of a text like this one, in which columns tell what a line is:

        one word: its length does not matter
            counted(torch.tensor([7]), 1.0)
          - the length is squared
            lengths => lengths**2

    An idea stands in column 0, its code in column 4. A mistake stands in column 2, behind a dash;
    below it, in column 4, is what turns the right answer's source into one that makes it: the old
    text => the new one, and a line for each further change. Long lines go on in their column.

    Args:
        right: the right answer: a plain function or a class; what it needs is in its module.
        text: the ladder, from the simplest rung to the hardest.
        before: lines with which the code of every rung begins.

    Raises:
        ValueError: a line stands in another column, or changes what is not in the source.
    """
    source = dedent(inspect.getsource(right))
    found: list[tuple[list, list, list]] = []  # of each rung: idea, code, mistakes
    for line in dedent(text).strip("\n").splitlines():
        rest = line.lstrip()
        column = len(line) - len(rest)
        if not found or (column == 0 and found[-1][1]):
            found.append(([], [], []))
        idea, code, mistakes = found[-1]
        if column == 0:
            idea.append(rest)
        elif rest.startswith("- ") and column == 2:
            mistakes.append(([rest[2:]], []))
        elif column == 2:
            mistakes[-1][0].append(rest)
        elif column >= 4:
            (mistakes[-1][1] if mistakes else code).append(line[4:])
        else:
            raise ValueError(f"a line begins in column {column}, expected 0, 2 or 4: {line!r}")
    known = [
        {" ".join(words): _edited(right, source, changes) for words, changes in mistakes}
        for _, _, mistakes in found
    ]
    everywhere = {name: wrong for here in known for name, wrong in here.items()}
    steps = [
        Rung(" ".join(idea), before + "\n".join(code), here | everywhere)
        for (idea, code, _), here in zip(found, known, strict=True)
    ]
    return Ladder(steps, everywhere)


def _edited(right: Callable, source: str, changes: list[str]) -> Callable:
    for change in changes:
        old, arrow, new = change.partition(" =>")
        if not arrow or old not in source:
            raise ValueError(f"{right.__name__} has no {old!r} that could be changed: {change!r}")
        source = source.replace(old, new.removeprefix(" "))
    names: dict[str, Callable] = {}
    exec(
        compile(source, f"<{right.__name__}, changed>", "exec"),
        vars(sys.modules[right.__module__]),
        names,
    )
    return names[right.__name__]
