"""Stored runs: a row for each seed, in a JSON file beside the module that measures them."""

import json
import sys
from collections.abc import Callable
from pathlib import Path


def read(module: str, name: str) -> list[dict]:
    """The rows in the file of this name beside a module, whose `__file__` is given.

    The build looks for the name in the module's text: a change of the rows runs the notebook again.
    """
    return json.loads(Path(module).with_name(name).read_text("utf8"))


def write(measure: Callable[[int], dict]) -> None:
    """Print the table of the seeds on the command line, and each row as soon as it is there."""
    found = []
    for seed in sys.argv[1:]:
        found.append(measure(int(seed)))
        print(found[-1], file=sys.stderr, flush=True)
    print("[\n" + ",\n".join(json.dumps(row) for row in found) + "\n]")
