"""The race as a command: run an entry, say how it went, keep its row.

    python -m book.own_language_model race entry.py
    python -m book.own_language_model race book/own_language_model/race/recipe.py --record

The first prints the score of a file. The second also writes its row into race/race.json and the
table into race.md; neither is edited by hand.
"""

import argparse
import ast
import hashlib
import json
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from statistics import mean

import torch

from book.own_language_model import judge
from book.own_language_model.counting import Refused

FOLDER = Path(__file__).resolve().parent / "race"
ROWS, PAGE = FOLDER / "race.json", FOLDER.parent / "race.md"
SOURCE = "https://github.com/OWNER/transformer-companion/blob/main/book/own_language_model/race"
SEEDS = (1, 2, 3, 4, 5)
BEFORE, AFTER = "<!-- the table of race.json -->\n", "<!-- the end of the table -->\n"


def main(arguments: list[str], program: str) -> None:
    """Run one entry with the race's seeds, or with the first few of them."""
    parser = argparse.ArgumentParser(
        f"{program} race", "%(prog)s ENTRY [options]", description=main.__doc__
    )
    parser.add_argument("entry", type=Path, metavar="ENTRY", help="a file of Python, with `train`")
    seeds = range(1, len(SEEDS) + 1)
    parser.add_argument("--seeds", type=int, choices=seeds, default=len(SEEDS), help="how many")
    kept = f"keep the row of an entry in {FOLDER.name}/, with all seeds"
    parser.add_argument("--record", action="store_true", help=kept)
    options = parser.parse_args(arguments)
    name, found = options.entry.name, []
    if options.record and options.seeds < len(SEEDS):
        parser.error(f"a row needs all {len(SEEDS)} seeds; leave out --seeds or --record")
    if options.record and options.entry.resolve().parent != FOLDER:
        parser.error(f"a row is of a file in {FOLDER}; copy {name} there first")
    torch.set_num_threads(1)
    print(f"{name}: {judge.BUDGET:.3g} operations for each seed", flush=True)
    try:
        for seed in SEEDS[: options.seeds]:
            found.append(judge.judged(options.entry, seed, progress(seed)))
            print(clear() + said(found[-1]), flush=True)
    except Refused as refusal:
        parser.exit(1, f"{clear()}{name} is refused: {refusal}\n")
    except KeyboardInterrupt:
        parser.exit(130, f"{clear()}interrupted after {len(found)} of {options.seeds} seeds\n")
    except Exception as error:
        shown = "".join(traceback.format_exception(from_entry(error, options.entry)))
        parser.exit(1, f"{clear()}{shown}{name} raised this {type(error).__name__}\n")
    print(summary(found))
    if options.record:
        record(options.entry, found)


def progress(seed: int) -> Callable[[float], None]:
    """What shows on a terminal how much a seed has spent."""

    def watch(share: float) -> None:
        if sys.stderr.isatty():
            print(f"\rseed {seed}: {share:.0%} of its operations", end="", file=sys.stderr)

    return watch


def clear() -> str:
    """What takes the progress from a terminal's line."""
    return "\r\033[K" if sys.stderr.isatty() else ""


def said(row: dict) -> str:
    """A seed, as a line."""
    return (
        f"seed {row['seed']}: {row['nats']:.3f} ± {row['error']:.3f} nats a sentence above the "
        f"entropy; {row['operations']:.4g} operations, {row['steps']} steps, "
        f"{row['seconds']:.0f} s of a core"
    )


def summary(found: list[dict]) -> str:
    """The score of an entry: the mean over its seeds, with the range."""
    nats = [row["nats"] for row in found]
    if len(nats) < len(SEEDS):
        return f"mean {mean(nats):.3f}; a row in the table needs all {len(SEEDS)} seeds"
    return f"score {mean(nats):.3f} nats a sentence, from {min(nats):.3f} to {max(nats):.3f}"


def from_entry(error: Exception, entry: Path) -> Exception:
    """The error with the part of its traceback that begins in the entry, if any does."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename != str(entry):
        frames = frames.tb_next
    return error.with_traceback(frames or error.__traceback__)


def rows() -> dict[str, dict]:
    """The committed rows, by file: its hash, the torch that ran it, and what each seed reached."""
    return json.loads(ROWS.read_text("utf8")) if ROWS.exists() else {}


def fingerprint(entry: Path) -> str:
    """What changes with the text of an entry."""
    return hashlib.sha256(entry.read_text("utf8").encode()).hexdigest()[:16]


def record(entry: Path, found: list[dict]) -> None:
    """Write the row of an entry, and the table anew."""
    seeds = [{what: row[what] for what in row if what != "seconds"} for row in found]
    row = {"sha256": fingerprint(entry), "torch": torch.__version__, "seeds": seeds}
    kept = rows() | {entry.name: row}
    lines = (f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept))
    ROWS.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf8")
    PAGE.write_text(with_table(PAGE.read_text("utf8")), "utf8")


def with_table(page: str) -> str:
    """The page of the race with the table that the rows give."""
    place = re.compile(f"(?s)(?<={re.escape(BEFORE)}).*(?={re.escape(AFTER)})")
    return place.sub(lambda _: "\n" + standings() + "\n", page)


def standings() -> str:
    """The rows as a table in Markdown, the lowest mean first."""
    lines = [
        "| entry | what it is | nats a sentence | from, to | operations | steps |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    scored = sorted(rows().items(), key=lambda item: mean(nats_of(item[1])))
    for name, row in scored:
        nats, seeds = nats_of(row), row["seeds"]
        about = ast.get_docstring(ast.parse((FOLDER / name).read_text("utf8"))) or ""
        operations, steps = (mean(seed[what] for seed in seeds) for what in ("operations", "steps"))
        lines.append(
            f"| [{name}]({SOURCE}/{name}) | {about.partition(chr(10))[0].rstrip('.')} | "
            f"**{mean(nats):.3f}** | {min(nats):.3f}, {max(nats):.3f} | {operations:.4g} | "
            f"{steps:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def nats_of(row: dict) -> list[float]:
    return [seed["nats"] for seed in row["seeds"]]
