"""A fault: one changed line of a program, and the symptom that tells it from every other fault."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

import torch

from book.checking.rungs import replaced_once
from companion.data.sampling import seeded

SOUND = "nothing is wrong"


@dataclass(frozen=True)
class Fault:
    """One line of a program, and what stands in its place.

    Args:
        name: what a reader calls it.
        what: what is wrong with such a program, a sentence.
        line: a piece of the sound program that stands in it once.
        instead: what replaces it.
        would: what a run with this fault must show, and no other run does.
        measured: what `symptom` returns, in words.
        symptom: a number of a run.
        above, below: the symptom is there if the number is above, or below, this.
    """

    name: str
    what: str
    line: str
    instead: str
    would: str
    measured: str
    symptom: Callable
    above: float | None = None
    below: float | None = None

    def shows_in(self, value: float) -> bool:
        """Whether this value of the symptom is that of a run with the fault."""
        return value > self.above if self.above is not None else value < self.below

    @property
    def bound(self) -> str:
        return f"above {self.above:g}" if self.above is not None else f"below {self.below:g}"

    def value(self, run: "Case") -> str:
        """What the symptom is in a run, in words, with what it would be with the fault."""
        return f"{self.measured}: {self.symptom(run):.3g} (with this fault {self.bound})"


class Case:
    """A run of a program with a fault in it, or with none.

    Attributes:
        number: the reader's.
    """

    def __init__(self, number: int, fault: Fault | None) -> None:
        self.number, self._fault = number, fault

    def instruments(self) -> dict:
        """What the page's figure shows of a run, by name; a curve comes first.

        A curve is (x, y, what x is, what y is), a table {name: number}, and a text a string.
        """
        raise NotImplementedError

    def reveal(self) -> tuple[str, str]:
        """The name of what is wrong; and which line was changed, and how it can be seen."""
        fault = self._fault
        if fault is None:
            return SOUND, "No line was changed, and none of the symptoms is there."
        became = f"became\n{fault.instead.strip()}" if fault.instead.strip() else "is gone"
        return fault.name, (
            f"The line\n{fault.line.strip()}\n{became}\n"
            f"With this fault, {fault.would}. In this run, {fault.value(self)}."
        )


def smooth(values: Sequence[float], every: int) -> list[float]:
    """The mean of each `every` values."""
    return torch.tensor(values).unflatten(0, (-1, every)).mean(1).tolist()


def altered(program: ModuleType, fault: Fault | None) -> ModuleType:
    """The program with the fault in it; without one, a copy of the program.

    Raises:
        ValueError: the line does not stand in the program exactly once.
    """
    source = inspect.getsource(program)
    if fault is not None:
        source = replaced_once(source, fault.line, fault.instead)
    copy = ModuleType(program.__name__)
    exec(compile(source, program.__file__, "exec"), vars(copy))
    return copy


def fault_of(number: int, faults: Sequence[Fault]) -> Fault | None:
    """The fault that a reader's number chooses; sometimes there is none."""
    return seeded("fault", number).choice([*faults, None])


def named(name: str, faults: Sequence[Fault]) -> Fault | None:
    """The fault of this name; None for `SOUND`.

    Raises:
        ValueError: there is none; the message lists those that there are.
    """
    known = {SOUND: None} | {fault.name: fault for fault in faults}
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"{name!r} is no suspect; choose one of: {', '.join(known)}")
    return known[name]
