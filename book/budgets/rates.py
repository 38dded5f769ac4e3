"""What the learning rate does when sizes are compared: schedules cut short, three widths.

    python -m book.budgets.rates 11 12 13 > book/budgets/rates.json

made the table beside this file, in about three minutes on one core. Its rows are of two kinds:
{"seed", "d", "cut", "gap"}, the middle budget read off runs that were planned for the largest one
(`cut`) or planned for itself, and {"seed", "d", "peak", "matrices", "gap"}, 200 steps each.
"""

import json
import sys
from collections.abc import Sequence
from importlib.resources import files

from book.budgets.budgets import BUDGETS, reading, steps_for
from book.sizes import gap, trained

SIZES = (8, 12, 16, 24)  # whose schedules are cut short
BASE, STEPS = 16, 200
PEAKS = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16)
# width, and the rate of the block's matrices as a multiple of the others'
WAYS = ((BASE, 1.0), (32, 1.0), (64, 1.0), (32, BASE / 32), (64, BASE / 64))


def measured() -> list[dict]:
    """The committed table, both kinds of rows."""
    return json.loads(files("book.budgets").joinpath("rates.json").read_text("utf8"))


def main(seeds: Sequence[int]) -> None:
    """Print the table of these seeds."""
    found = []

    def keep(row: dict, model, fresh, entropy: float) -> None:
        found.append(row | {"gap": round(gap(model, fresh, entropy), 4)})
        print(found[-1], file=sys.stderr, flush=True)

    for seed in seeds:
        text, *test = reading(seed)
        for d in SIZES:
            steps, longer = (steps_for(budget, d) for budget in BUDGETS[1:])
            for planned in (steps, longer):
                model = trained(d, steps, text, seed, planned=planned)
                keep({"seed": seed, "d": d, "cut": planned > steps}, model, *test)
        for d, matrices in WAYS:
            for peak in PEAKS:
                model = trained(d, STEPS, text, seed, peak=peak, matrices=matrices)
                keep({"seed": seed, "d": d, "peak": peak, "matrices": matrices}, model, *test)
    print("[\n" + ",\n".join(json.dumps(row) for row in found) + "\n]")


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]])
