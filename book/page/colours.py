"""One colour per concept: query, key, value, position, attention weight, residual stream.

`colours.json` is the table: after Okabe and Ito, a tone for shapes (3 : 1 with the page) and one
for words (4.5 : 1), in light and in dark. Plots read it here; figures and the book's pages get
it as CSS custom properties, --q for a shape and --q-word for a word.
"""

import json
from pathlib import Path

from IPython.display import HTML

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


# What says it without the colour: a word's underline in captions (kit/style.js), a letter.
UNDERLINES = {
    "q": "solid 2px",
    "k": "dashed 2px",
    "v": "dotted 2px",
    "position": "double 2px",
    "attention": "solid 4px",
}
LETTERS = {"q": "Q", "k": "K", "v": "V"}


def colour_legend() -> HTML:
    """The concepts in their colours, each with the mark that says it without the colour."""
    rows = []
    for kind, colour in COLOURS.items():
        line = f"underline {UNDERLINES[kind]}" if kind in UNDERLINES else "none"
        swatch = (
            f'<svg width="28" height="14" aria-hidden="true"><rect width="28" height="14" rx="3" '
            f'style="fill: var(--{kind}, {colour["light"]["shape"]})"/></svg>'
        )
        rows.append(
            f'<tr><td>{swatch}</td><td><span style="text-decoration: {line}; '
            f'text-underline-offset: 3px">{colour["concept"]}</span></td>'
            f"<td>{LETTERS.get(kind, '')}</td></tr>"
        )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("colour", "concept", "letter"))
    return HTML(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>")
