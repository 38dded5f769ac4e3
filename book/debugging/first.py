"""The three runs with which each page "Debug this run" begins, as its figure shows them.

`python -m book.debugging.first > book/debugging/first.json` makes the table beside this file in
two minutes. The runs do not depend on what a reader chooses, so no page trains them again.
"""

import json
import sys
from pathlib import Path

from book.debugging import (
    beyond_language,
    own_language_model,
    real_models,
    the_idea,
    the_model,
    what_it_costs,
)
from book.debugging.fault import SOUND
from book.debugging.figures.diagnose import shown

# page -> what makes its runs, the number of all of them, and those that choose the faults
RUNS = {
    the_idea: (the_idea.train, the_idea.train_with, 18, (5, 7, 2)),
    the_model: (the_model.train, the_model.train_with, 0, (18, 15, 20)),
    what_it_costs: (what_it_costs.train, what_it_costs.train_with, 2, (1, 0, 3)),
    beyond_language: (beyond_language.train, beyond_language.train_with, 0, (15, 7, 9)),
    real_models: (real_models.start, real_models.start_with, 0, (1, 18, 0)),
    own_language_model: (own_language_model.train, own_language_model.train_with, 6, (0, 3, 4)),
}


def made(page) -> dict:
    """What the figure of a page, a module of `book.debugging`, shows of its first runs."""
    run, run_with, number, chosen = RUNS[page]
    return shown(page, [run(number, each) for each in chosen], run_with(number, SOUND))


def stored(page) -> dict:
    """The same from the committed table."""
    table = Path(__file__).with_name("first.json").read_text("utf8")
    return json.loads(table)[page.__name__.rpartition(".")[2]]


if __name__ == "__main__":
    found = []
    for page in RUNS:
        name = page.__name__.rpartition(".")[2]
        found.append(f'"{name}": {json.dumps(made(page), ensure_ascii=False)}')
        print(name, file=sys.stderr, flush=True)
    print("{\n" + ",\n".join(found) + "\n}")
