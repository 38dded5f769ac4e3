"""Each kind of line at its own rate: how much of adding is learned in few steps?

    python -m book.thinking_on_paper.rates > book/thinking_on_paper/rates.json

made the table beside this file. Models and sums are those of `later`. For each kind of line and
number of steps two seeds choose one of five rates, and five others have it. It takes a quarter of
an hour.
"""

import json
import sys
from statistics import mean

from book import runs
from book.thinking_on_paper.later import LINES, right

RATES, STEPS = (1e-3, 3e-3, 6e-3, 1e-2, 2e-2), (200, 400)
CHOOSERS, SEEDS = (699, 700), (701, 702, 703, 704, 705)


def measure(name: str, steps: int) -> dict:
    """Shares right: of each rate tried, the mean; and at the best one, of each seed."""
    tried = {rate: mean(right(name, steps, seed, rate) for seed in CHOOSERS) for rate in RATES}
    best = max(RATES, key=lambda rate: tried[rate])
    found = [right(name, steps, seed, best) for seed in SEEDS]
    return {"line": name, "steps": steps, "tried": tried, "rate": best, "right": found}


def stored() -> list[dict]:
    """The committed table, a row for each kind of line and number of steps."""
    return runs.read(__file__, "rates.json")


def main() -> None:
    """Print the table."""
    rows = []
    for steps in STEPS:
        for name in LINES:
            rows.append(json.dumps(measure(name, steps)))
            print(rows[-1], file=sys.stderr, flush=True)
    print("[\n" + ",\n".join(rows) + "\n]")


if __name__ == "__main__":
    main()
