"""One colour per concept: query, key, value, position, attention weight, residual stream.

`colours.json` is the table: after Okabe and Ito, a tone for shapes (3 : 1 with the page) and one
for words (4.5 : 1), in light and in dark. Plots read it here; figures and the book's pages get
it as CSS custom properties, --q for a shape and --q-word for a word.
"""

import json
from pathlib import Path

COLOURS = json.loads(Path(__file__).with_name("colours.json").read_text("utf8"))


def tone(concept: str) -> str | None:
    """The colour of a concept in a plot, as "query" or "residual stream"; None for another name."""
    tones = {colour["concept"]: colour["light"]["shape"] for colour in COLOURS.values()}
    return tones.get(concept)


def properties() -> dict[str, str]:
    """The CSS that sets all tones, in {"light", "dark"}: "--q: #0072b2; --q-word: ..."."""
    return {
        scheme: " ".join(
            f"--{kind}: {colour[scheme]['shape']}; --{kind}-word: {colour[scheme]['word']};"
            for kind, colour in COLOURS.items()
        )
        for scheme in ("light", "dark")
    }
