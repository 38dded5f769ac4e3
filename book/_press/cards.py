"""Claims as the book shows them: a card on the page that measures one, and tables of many.

A card has the sentence, the number, the range over other seeds, and a strip with the bound on it.
"""

import math
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

import nbformat
from markdown_it import MarkdownIt

from book._press.claims import read_rows, sentences
from book._press.execute import chapters
from book.page.claims import MIMETYPE, Claim, short, typeset

PLACE = "<!-- claims -->"
NUMBERS = "<!-- numbers -->"
CELL = re.compile(r"\(([\w/]+)\.ipynb#cell-([\w-]+)\)")
DIAMOND = '<path class="own" d="M0-6 5 0 0 6-5 0z"/>'


def with_cards(cells: Iterable[dict], rows: list[dict]) -> None:
    """Put a card in the place of every claim that the cells have made, and fold these cells.

    Args:
        cells: code cells with their outputs, as in the file of a notebook.
        rows: what other seeds measured (`claims.read_rows`).
    """
    for cell in cells:
        shown = [output.get("data", {}) for output in cell["outputs"]]
        made = [data for data in shown if MIMETYPE in data]
        for data in made:
            fields = data.pop(MIMETYPE)
            claim = Claim(fields["sentence"], float(fields["value"]), fields["bound"])
            data["text/html"] = card(claim, [r for r in rows if r["claim"] == claim.sentence])
        if made:
            metadata = cell["metadata"]
            metadata["tags"] = [*metadata.get("tags", []), "hide-input"]
            prompts = {f"code_prompt_{way}": "How this was measured" for way in ("show", "hide")}
            metadata["mystnb"] = prompts


def card(claim: Claim, rows: list[dict]) -> str:
    """The HTML of one claim.

    Args:
        claim: as this page measured it.
        rows: what other seeds measured for it.
    """
    values = [float(row["value"]) for row in rows]
    if values:
        held = sum(row["held"] for row in rows)
        low, high = typeset(short(min(values))), typeset(short(max(values)))
        span = low if low == high else f"{low} to {high}"
        verdict = f"<b>Holds on {held} of {len(rows)} other seeds</b>, {span}."
    else:
        verdict = "Not measured under other seeds yet."
    return (
        '<figure class="claim" aria-label="Claim">'
        '<figcaption class="kind">Measured on this page</figcaption>'
        f'<p class="sentence">{MarkdownIt().renderInline(claim.sentence)}</p>'
        f'<div class="measured"><span class="number">{typeset(short(claim.value))}</span>'
        f'{_strip(claim, values)}</div><p class="held">{verdict}</p></figure>'
    )


def _strip(claim: Claim, values: list[float]) -> str:
    """All seeds on a line with the bound; places are percentages, so that no text shrinks."""
    if "near" in claim.bound:
        low, high = (claim.bound["near"] + side * claim.bound["within"] for side in (-1, 1))
    else:
        low, high = claim.bound.get("above", -math.inf), claim.bound.get("below", math.inf)
    points = [value for value in (claim.value, *values) if math.isfinite(value)]
    ends = [*points, *(limit for limit in (low, high) if math.isfinite(limit))]
    scale = math.log10 if min(ends) > 0 and max(ends) > 1000 * min(ends) else float
    first, last = scale(min(ends)), scale(max(ends))
    width = last - first

    def place(value: float) -> str:
        if first == last:
            return "50.0%"
        return f"{6 + 88 * (scale(value) - first) / width:.1f}%"

    parts = []
    if math.isfinite(low):
        parts += [f'<rect class="forbidden" x="0" y="20" width="{place(low)}" height="18"/>']
    if math.isfinite(high):
        parts += [f'<rect class="forbidden" x="{place(high)}" y="20" width="100%" height="18"/>']
    parts += ['<line class="axis" x1="0" x2="100%" y1="29" y2="29"/>']
    for limit in (low, high):
        if math.isfinite(limit):
            at = place(limit)
            parts += [f'<line class="limit" x1="{at}" x2="{at}" y1="18" y2="40"/>']
    parts += [f'<circle class="other" cx="{place(v)}" cy="29" r="4"/>' for v in values]
    if math.isfinite(claim.value):
        parts += [f'<svg x="{place(claim.value)}" y="29" overflow="visible">{DIAMOND}</svg>']
    parts += [_text(typeset(f"must be {claim.demand}"), 12)]
    legend = "◆ this page" + ("  ○ other seeds" if values else "")
    parts += [_text(legend, 56)]
    label = typeset(f"{short(claim.value)} on this page; must be {claim.demand}")
    return f'<svg class="strip" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _text(text: str, y: int) -> str:
    return f'<text x="50%" y="{y}" text-anchor="middle">{escape(text)}</text>'


def with_claims(page: str, root: Path) -> str:
    """The Markdown of a page with the table of all claims where it asks for it."""
    if PLACE not in page:
        return page
    lines = []
    for path in chapters(root):
        notebook = nbformat.read(path, as_version=4)
        title = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
        lines += [f"## {title}", "", *_table(sentences(notebook), read_rows(path)), ""]
    return page.replace(PLACE, "\n".join(lines))


def with_numbers(page: str, root: Path) -> str:
    """The Markdown of a page with a fold at each `<!-- numbers -->`: what was measured above it.

    These are the claims of the cells to which the lines since the last one lead.
    """
    *sections, rest = page.split(NUMBERS)
    whole = []
    for section in sections:
        lines = []
        for chapter, cell_id in dict.fromkeys(CELL.findall(section)):
            path = root / "book" / f"{chapter}.ipynb"
            notebook = nbformat.read(path, as_version=4)
            notebook.cells = [cell for cell in notebook.cells if cell.id == cell_id]
            rows = _table(sentences(notebook), read_rows(path))
            lines += rows[2:] if lines else rows
        fold = "<details><summary>The numbers, under other seeds</summary>"
        whole += [section, "\n".join([fold, "", *lines, "", "</details>"])]
    return "".join([*whole, rest])


def _table(claimed: Iterable[str], rows: list[dict]) -> list[str]:
    """The lines of a table of claims: how many seeds held, the least and the most measured."""
    lines = ["| claim | seeds | least | most |", "|---|---|---|---|"]
    for sentence in claimed:
        of_claim = [row for row in rows if row["claim"] == sentence]
        values = [float(row["value"]) for row in of_claim]
        held = f"{sum(row['held'] for row in of_claim)} of {len(of_claim)}"
        ends = [typeset(short(end(values))) for end in (min, max)] if values else ["", ""]
        lines.append(f"| {sentence.replace('|', '&#124;')} | {held} | {ends[0]} | {ends[1]} |")
    return lines
