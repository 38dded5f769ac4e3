"""Claims as the book shows them: a line on the page that measures one, and tables of many.

The line has the sentence, the number and its bound, and says what was repeated: the range over
other seeds and what these draw anew, or how many runs a committed file holds; or that the claim was
checked, where no seed can change it. A click opens a strip with all seeds, and the code.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from statistics import median

import nbformat
from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import Python3Lexer

from book._press.claims import claimed, claiming, is_moved, read_rows
from book.page.claims import MIMETYPE, Claim, short, typeset

PLACE = "<!-- claims -->"
NUMBERS = "<!-- numbers -->"
MEASURED = re.compile(r" ?<!-- measured (\d+): (.+?) -->")
DRAWN = re.compile(r" ?<!-- drawn (.+?): (.+?) -->")
SAID = re.compile(r"^<!-- said: (.+) -->$", re.M)
SAYING = re.compile(
    r':::\{div\} said (?P<verdict>\w+)\n"(?P<saying>.+?)"\n\n(?P<found>.+?)\n:::', re.S
)
UNIT = re.compile(r"(.+[^.])\s\(([^()]+(?:\([^()]*\)[^()]*)*)\)\.$", re.S)
CHECKED = "checked on this page"  # no seed can change it
ROUNDING = 2e-3  # what is claimed to be smaller is no number but an equality
CELL = re.compile(r"\(([\w/]+)\.ipynb#cell-([\w-]+)\)")
DIAMOND = '<path class="own" d="M0-6 5 0 0 6-5 0z"/>'


def with_cards(cells: Iterable[dict], rows: list[dict]) -> None:
    """Put a line in the place of every claim that the cells have made.

    A cell that shows nothing else is not seen: its code opens with the last of its claims.

    Args:
        cells: code cells with their outputs, as in the file of a notebook.
        rows: what other seeds measured (`claims.read_rows`).
    """
    for cell in cells:
        shown = [output.get("data", {}) for output in cell["outputs"]]
        made = [data for data in shown if MIMETYPE in data]
        alone = len(made) == len(shown)
        for data in made:
            fields = data.pop(MIMETYPE)
            claim = Claim.shown(fields)
            of_claim = [row for row in rows if row["claim"] == claim.sentence]
            code = _highlighted(cell["source"]) if alone and data is made[-1] else ""
            data["text/html"] = card(claim, of_claim, code)
        if made:
            cell["metadata"]["tags"].append("remove-input" if alone else "hide-input")


def _highlighted(source: str | list[str]) -> str:
    """Code as the pages have it, with the button that copies it."""
    lines = highlight("".join(source), Python3Lexer(), HtmlFormatter())
    return f'<div class="highlight-ipython3 notranslate">{lines}</div>'


def card(claim: Claim, rows: list[dict], code: str = "") -> str:
    """The HTML of one claim: a line, and behind it all seeds on a strip, and the code.

    Args:
        claim: as this page measured it.
        rows: what other seeds measured for it.
        code: HTML.
    """
    found = UNIT.match(claim.sentence)
    sentence, unit = (f"{found[1]}.", found[2]) if found else (claim.sentence, "")
    values = [float(row["value"]) for row in rows]
    exact = {claim.value, *values} == {claim.value} and len(values) > 0
    number = f'{typeset(short(claim.value))} <span class="held">✓</span>'
    bound = f"{typeset(claim.demand)}; {spread(claim, rows)}"
    outcome = f'<span class="number">{number}</span> <span class="bound">{bound}</span>'
    if _is_identity(claim) and rows:
        outcome = f'<span class="bound"><span class="held">✓</span> {CHECKED}</span>'
    behind = f"<p>Measured: {_inline(unit)}: {typeset(short(claim.value))}.</p>" if unit else ""
    if not exact:
        behind += _strip(claim, values)
    return (
        f'<details class="claim"><summary><span class="sentence">{_inline(sentence)}</span> '
        f"{outcome}</summary>{behind}{code}</details>"
    )


def spread(claim: Claim, rows: list[dict]) -> str:
    """What other seeds measured of a claim, in words, and what they draw anew."""
    if not rows:
        return "not yet measured under other seeds"
    moved = is_moved([*rows, {"value": claim.value}])
    said = _repetition(rows, claim.repeated, moved)
    return f"{_range(rows)}, {said}" if "drawn" in claim.repeated or moved else said


def _repetition(rows: list[dict], repeated: dict[str, str], moved: bool) -> str:
    """What was repeated: drawn anew and how often, stored, or, as no seed changes it, nothing."""
    held = f"{sum(row['held'] for row in rows)} of {len(rows)}"
    if "drawn" in repeated:
        return f"{held} with new {repeated['drawn']}"
    if "stored" in repeated:
        return f"stored: {repeated['stored']}"
    return f"{held} seeds" if moved else CHECKED


def _range(rows: list[dict]) -> str:
    values = [float(row["value"]) for row in rows]
    low, high = typeset(short(min(values))), typeset(short(max(values)))
    return low if low == high else f"{low} to {high}"


def _inline(text: str) -> str:
    return MarkdownIt().renderInline(text)


def _is_identity(claim: Claim) -> bool:
    """Whether the bound leaves room for rounding alone: two results are one, a count is exact."""
    return 0 <= claim.bound.get("within", claim.bound.get("below", math.inf)) <= ROUNDING


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


def with_claims(page: str, root: Path, outputs: Mapping[str, str]) -> str:
    """The Markdown of a page with the table of all claims where it asks for it.

    Of a chapter's claims those come first that are drawn anew, the smallest margin first, then
    those that are stored, then those that were checked.

    Args:
        page: what is committed.
        root: the repository.
        outputs: the file with the outputs of each notebook, from which the bounds are.
    """
    if PLACE not in page:
        return page
    lines = []
    for path in claiming(root):
        notebook = nbformat.read(path, as_version=4)
        title = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
        made = _made(Path(outputs[path.relative_to(root).as_posix()]))
        rows = read_rows(path)
        kept = {sentence: margin(made[sentence], rows) for sentence in claimed(notebook)}
        lines += [f"## {title}", "", "| claim | bound | repeated | least | most | margin |"]
        lines += ["|---|---|---|---|---|---|"]
        order = {name: (*_kind(made[name], rows), kept[name]) for name in kept}
        for sentence in sorted(kept, key=order.get):
            bound = typeset(made[sentence].demand)
            shown = f"{kept[sentence]:.0%}" if math.isfinite(kept[sentence]) else ""
            repeated = made[sentence].repeated
            cells = [_escaped(sentence), bound, *_spread_cells(sentence, repeated, rows), shown]
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return page.replace(PLACE, "\n".join(lines))


def _made(file: Path) -> dict[str, Claim]:
    """The claims among the outputs of a notebook, by their sentences."""
    outputs = json.loads(file.read_text("utf8"))["outputs"]
    made = [output.get("data", {}).get(MIMETYPE) for shown in outputs for output in shown]
    return {fields["sentence"]: Claim.shown(fields) for fields in made if fields}


def _kind(claim: Claim, rows: list[dict]) -> tuple[bool, bool]:
    """What sorts drawn claims before stored ones and these before those that were checked."""
    of_claim = [row for row in rows if row["claim"] == claim.sentence]
    drawn = "drawn" in claim.repeated or (is_moved(of_claim) and not _is_identity(claim))
    return not drawn, "stored" not in claim.repeated


def margin(claim: Claim, rows: list[dict]) -> float:
    """How much of the way from its bound to its median the worst seed of a claim keeps.

    1 is a claim that every draw leaves as it is, 0 one that a draw brings to its bound. What is not
    drawn anew, and an equality up to rounding, has no margin, which is infinite.
    """
    of_claim = [row for row in rows if row["claim"] == claim.sentence]
    values = [float(row["value"]) for row in of_claim]
    if _is_identity(claim) or not values or _kind(claim, rows)[0]:
        return math.inf
    values.append(claim.value)
    if "near" in claim.bound:
        values = [abs(value - claim.bound["near"]) for value in values]
        return 1 - max(values) / claim.bound["within"]
    middle, shares = median(values), []
    for side, worst in (("above", min(values)), ("below", max(values))):
        if side in claim.bound:
            shares.append((worst - claim.bound[side]) / (middle - claim.bound[side]))
    return min(shares)


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
            rows = _table(claimed(notebook), read_rows(path))
            lines += rows[2:] if lines else rows
        fold = "<details><summary>The numbers, under other seeds</summary>"
        whole += [section, "\n".join([fold, "", *lines, "", "</details>"])]
    return "".join([*whole, rest])


def with_measured(page: str, root: Path) -> str:
    """The Markdown of a page with a number at each `<!-- measured 2: of what -->`, and dots.

    The number is the range of the second claim of the cell to which the last link above it leads.
    `<!-- drawn share of words: 1 with it; 3 without -->` draws the first and the third of that
    cell's claims, a row for each from 0 to 1 with a dot for every seed.

    Raises:
        ValueError: no link stands above it, the cell has no such claim, or a dot is off its line.
    """

    def measured(found: re.Match) -> str:
        rows, repeated = _claimed(page[: found.start()], int(found[1]), root)
        of_what = [found[2]]
        if not all(row["held"] for row in rows) or not is_moved(rows):
            of_what.append(_repetition(rows, repeated, is_moved(rows)))
        return f'\n\n<p class="measured"><b>{_range(rows)}</b> {"; ".join(of_what)}</p>'

    def drawn(found: re.Match) -> str:
        lines = []
        for row in found[2].split("; "):
            at, _, name = row.partition(" ")
            rows, _ = _claimed(page[: found.start()], int(at), root)
            values = [float(row["value"]) for row in rows]
            if not all(0 <= value <= 1 for value in values):
                raise ValueError(f"{found[0]}: {name} is {_range(rows)}")
            dots = "".join(f'<circle cx="{value:.1%}" cy="10" r="5"/>' for value in values)
            line = '<line x1="0" x2="100%" y1="10" y2="10"/>'
            lines.append(
                f'<tr><th scope="row">{_inline(name)}</th><td><svg width="100%" height="20" '
                f'aria-hidden="true">{line}{dots}</svg></td><td>{_range(rows)}</td></tr>'
            )
        return (
            f'\n\n<table class="drawn"><caption>{_inline(found[1])}, from 0 to 1</caption>'
            f"<tbody>{''.join(lines)}</tbody></table>"
        )

    return DRAWN.sub(drawn, MEASURED.sub(measured, page))


def with_sayings(page: str, root: Path) -> str:
    """The Markdown of a page with cards of *Often said* at `<!-- said: <the saying> -->`.

    They are folds, in which the reader guesses before the verdict; the first of them is open.

    Raises:
        ValueError: nobody said that.
    """
    if not SAID.search(page):
        return page
    text = (root / "book/often_said.md").read_text("utf8")
    cards, openings = {found["saying"]: found for found in SAYING.finditer(text)}, iter([" open"])

    def fold(place: re.Match) -> str:
        if place[1] not in cards:
            raise ValueError(f"book/often_said.md has no card on {place[1]!r}")
        verdict, saying, found = cards[place[1]].groups()
        return (
            f'<details class="verdict {verdict}"{next(openings, "")}>'
            f"<summary>“{_inline(saying)}”</summary>\n\n{found}\n\n</details>"
        )

    return SAID.sub(fold, page)


def _claimed(above: str, at: int, root: Path) -> tuple[list[dict], dict[str, str]]:
    """What other seeds measured of a claim of the cell to which the last link leads.

    Beside it, what the claim says is repeated.
    """
    links = CELL.findall(above)
    if not links:
        raise ValueError(f"no link to a cell stands above claim {at}: {above[-80:]!r}")
    chapter, cell_id = links[-1]
    path = root / "book" / f"{chapter}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.id == cell_id]
    made = list(claimed(notebook).items())
    if not 1 <= at <= len(made):
        raise ValueError(f"cell {cell_id} of {chapter} has {len(made)} claims, and none is {at}")
    sentence, repeated = made[at - 1]
    rows = [row for row in read_rows(path) if row["claim"] == sentence]
    if not rows:
        raise ValueError(f"not yet measured under other seeds: {sentence}")
    return rows, repeated


def _table(made: Mapping[str, dict[str, str]], rows: list[dict]) -> list[str]:
    """The lines of a table of claims: what was repeated, the least and the most measured."""
    lines = ["| claim | repeated | least | most |", "|---|---|---|---|"]
    for sentence, repeated in made.items():
        cells = [_escaped(sentence), *_spread_cells(sentence, repeated, rows)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _spread_cells(sentence: str, repeated: dict[str, str], rows: list[dict]) -> list[str]:
    of_claim = [row for row in rows if row["claim"] == sentence]
    values = [float(row["value"]) for row in of_claim]
    said = _repetition(of_claim, repeated, is_moved(of_claim)) if of_claim else "not yet"
    return [said, *(typeset(short(end(values))) if values else "" for end in (min, max))]


def _escaped(sentence: str) -> str:
    return sentence.replace("|", "&#124;")
