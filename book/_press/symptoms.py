"""What tells each fault of "Debug this run" from all others, measured over seeds.

    python -m book._press.symptoms the_model 200 > book/debugging/the_model.md

The number is that of the steps of each run: 200 for the_model and the_idea, 60 for the others,
where a symptom need not wait. Nothing is trained in real_models, which takes none.

Every fault is put into the program of the page, and every symptom is measured in every run: with
its own fault it must lie beyond its bound, with another fault or with none on the near side.
"""

import sys
from importlib import import_module

from book.debugging.fault import SOUND, named

SEEDS = (301, 302, 303, 304, 305)


def measured(page, *steps: int) -> dict[str, dict[str, list[float]]]:
    """The fault that a symptom is of -> the fault that is there -> its value for each seed."""
    found = {fault.name: {} for fault in page.FAULTS}
    for present in (SOUND, *(fault.name for fault in page.FAULTS)):
        for seed in SEEDS:
            run = page.Run(seed, named(present, page.FAULTS), *steps)
            for fault in page.FAULTS:
                found[fault.name].setdefault(present, []).append(fault.symptom(run))
        print(f"{page.__name__}: {present}", file=sys.stderr, flush=True)
    return found


def rows(page, found) -> tuple[list[list[str]], list[str]]:
    """The table of a page; and the symptoms that do not tell."""
    lines, wrong = [], []
    for fault in page.FAULTS:
        own = found[fault.name][fault.name]
        others = {name: v for name, v in found[fault.name].items() if name != fault.name}
        nearest = max if fault.above is not None else min
        name = nearest(others, key=lambda other: nearest(others[other]))
        least = min(own) if fault.above is not None else max(own)
        lines.append(
            [
                *(fault.name, fault.measured, fault.bound),
                *(f"{least:.3g}", f"{nearest(others[name]):.3g}", name),
            ]
        )
        for present, values in found[fault.name].items():
            if any(fault.shows_in(value) != (present == fault.name) for value in values):
                wrong.append(f"{fault.name}, in runs with {present!r}: {values}")
    return lines, wrong


def main(name: str, *steps: str) -> int:
    page = import_module(f"book.debugging.{name}")
    lines, wrong = rows(page, measured(page, *map(int, steps)))
    print(f"# Debug this run, {name}: what tells each fault from all others\n")
    length = f" of {steps[0]} steps" if steps else ""
    print(f"Runs{length} with the seeds {', '.join(map(str, SEEDS))}, which chose nothing.\n")
    columns = ["fault", "symptom", "bound", "with it, at worst"]
    columns += ["without, at worst", "in runs with"]
    for row in (columns, ["---"] * len(columns), *lines):
        print(f"| {' | '.join(row)} |")
    for line in wrong:
        print(f"\nDoes not tell: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
