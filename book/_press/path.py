"""Where a chapter is in the model, and how long it takes: the strip above it, a card on the index.

The index lists the chapters in the order of `_toc.yml`; each one's `chapter.toml` has its question
and its stages of the model. Drawings are plain SVG: nothing moves on a loaded page.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

import nbformat
from docutils.nodes import make_id

from book.full_model.figures import translation
from book.page.figures.translator import STAGES, translator_figure
from book.page.live import LiveFigure

LANES = [
    [stage for stage in STAGES if STAGES[stage]["lane"] == lane] for lane in ("encoder", "decoder")
]
NAMES = {stage: known["name"] for stage, known in STAGES.items()}
NAMES["loop"] = "the way back from the next word"

WORDS_PER_MINUTE = 200
LINES_PER_MINUTE = 15  # of code that is open
MINUTES = {"prediction_figure": 0.5, "claim": 0.25}  # to guess, and to read a card
MINUTES_PER_FIGURE = 1.5  # any other, that the reader moves
FOLDED = {"hide-input", "claim"}
CALL = re.compile(r"\b(claim|\w+_figure)\(")

ROW = re.compile(r"^- \[(?P<title>.+?)\]\((?P<name>\w+)/(?P=name)\.ipynb\)$", re.M)
LIST = re.compile(r"^(?:- \[.+?\]\((\w+)/\1\.ipynb\)\n)+", re.M)
TRANSLATOR = re.compile(r"^<!-- translator: (\w+) -->$", re.M)
SECTIONS = re.compile(r"^<!-- sections: (.+) -->$", re.M)
HEADING = re.compile(r"^#+ (([\d.]+) .+)$", re.M)
LENT = re.compile(r"^<!-- figure: (?P<chapter>\w+)/(?P<figure>\w+)(?:; (?P<later>.+))? -->$", re.M)
FIGURE = re.compile(
    r'<div class="companion-live" data-figure="(?P<name>\w+)">'
    r'<script type="application/json">(?P<state>.*?)</script>(?P<fallback>.*)</div>',
    re.S,
)


@dataclass(frozen=True)
class Chapter:
    """A chapter of the index.

    Attributes:
        name: of its folder and of its notebook, without the ending.
        title: as the index prints it.
        question: what it answers.
        stages: those of the model that it is about; "loop" is the way back from the next word.
        doors: those that lead to it from other pages.
    """

    name: str
    title: str
    question: str
    stages: tuple[str, ...]
    doors: tuple[str, ...]

    @property
    def address(self) -> str:
        """Of its page, seen from the index."""
        return f"{self.name}/{self.name}.html"


def chapters_of(index: str, root: Path) -> list[Chapter]:
    """The chapters that the index lists, in its order, each as its `chapter.toml` describes it."""
    found = []
    for row in ROW.finditer(index):
        said = tomllib.loads((root / "book" / row["name"] / "chapter.toml").read_text("utf8"))
        stages, doors = tuple(said["stages"]), tuple(said["doors"])
        title = row["title"].replace("'", "’")  # as Sphinx prints it
        found.append(Chapter(row["name"], title, said["question"], stages, doors))
    return found


def doors_of(chapters: Iterable[Chapter]) -> dict[str, Chapter]:
    """The chapter that each stage leads to; a stage that no chapter claims has no link."""
    return {stage: chapter for chapter in chapters for stage in chapter.doors}


def reading_minutes(notebook: nbformat.NotebookNode) -> int:
    """How long a chapter takes, to five minutes: words, open code, figures, guesses, claims."""
    text = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    minutes = len(text.split()) / WORDS_PER_MINUTE
    for cell in notebook.cells:
        if cell.cell_type == "code":
            if not FOLDED & set(cell.metadata.get("tags", [])):
                minutes += len(cell.source.splitlines()) / LINES_PER_MINUTE
            calls = CALL.findall(cell.source)
            minutes += sum(MINUTES.get(call, MINUTES_PER_FIGURE) for call in calls)
    return max(5, 5 * round(minutes / 5))


def with_chapters(index: str, root: Path, outputs: Mapping[str, str]) -> str:
    """The Markdown of the index with its scene, and a card for every chapter in place of its row.

    It may show other figures, as its chapters do: `<!-- figure: chapter/name -->`; or only their
    tables, with a button that fetches the rest: `<!-- figure: chapter/name; What it says -->`.
    Another page stays as it is.

    Args:
        index: what is committed.
        root: the repository.
        outputs: the file with the outputs of each notebook.
    """
    if not TRANSLATOR.search(index):
        return index

    def path(name: str) -> str:
        return f"book/{name}/{name}.ipynb"

    def kept(name: str) -> dict:
        return json.loads(Path(outputs[path(name)]).read_text("utf8"))

    def cards(rows: re.Match) -> str:
        listed = (
            _card(
                chapter,
                reading_minutes(nbformat.read(root / path(chapter.name), as_version=4)),
            )
            for chapter in chapters_of(rows[0], root)
        )
        return f'<ul class="chapters">{"".join(listed)}</ul>\n'

    def scene(place: re.Match) -> str:
        doors = {
            stage: {"href": to.address, "title": to.title, "question": to.question}
            for stage, to in doors_of(chapters_of(index, root)).items()
        }
        shown = _shown(kept(place[1]), "translation")
        state = json.loads(shown["state"])
        beside = translation.__file__
        lent = LiveFigure(beside, state["data"], state["value"], shown["fallback"])
        return translator_figure(lent, doors).to_html()

    def lent(place: re.Match) -> str:
        shown = _shown(kept(place["chapter"]), place["figure"])[0]
        if place["later"] is None:
            return shown
        return shown.replace(">", f' data-later="{escape(place["later"])}">', 1)

    return TRANSLATOR.sub(scene, LENT.sub(lent, LIST.sub(cards, index)))


def _shown(kept: dict, name: str) -> re.Match:
    """The live figure of that name among the outputs of a notebook."""
    for output in (output for outputs in kept["outputs"] for output in outputs):
        html = "".join(output.get("data", {}).get("text/html", ""))
        found = FIGURE.search(html)
        if found and found["name"] == name:
            return found
    raise ValueError(f"the chapter that is to lend its {name!r} to the index shows none")


def _card(chapter: Chapter, reading: int) -> str:
    return (
        f'<li><a href="{chapter.address}">{_drawing(chapter.stages, "card", links=None)}'
        f"<b>{escape(unescape(chapter.title))}</b> <span>{escape(chapter.question)}</span> "
        f"<small>{reading} minutes to read</small></a></li>"
    )


def here(name: str, chapters: Iterable[Chapter]) -> str:
    """The strip "you are here" for the top of a chapter: the model, with the present stages lit.

    Up to the chapter that puts the parts together their names mean nothing yet, and are left out.

    Args:
        name: the chapter's.
        chapters: all of them, in their order.
    """
    chapters = list(chapters)
    number, chapter = next((i, c) for i, c in enumerate(chapters, 1) if c.name == name)
    links, lit = doors_of(chapters), chapter.stages
    met = "memory" not in links or chapters.index(links["memory"]) < number
    named = _drawing(lit, "strip", links) if met else ""
    return (
        '<nav class="here" aria-label="Where you are in the model">'
        f"<p>You are here, {number} of {len(chapters)}: <b>{escape(chapter.title)}</b></p>"
        f"{named}{_drawing(lit, 'card', links)}</nav>"
    )


def with_sections(page: str, root: Path) -> str:
    """The Markdown of a page with the model at `<!-- sections: self 3.2; ffn 3.3 -->`.

    A stage's number leads to that section of the page, its box to its chapter.

    Raises:
        ValueError: the page has no such section.
    """

    def drawn(place: re.Match) -> str:
        numbers = {}
        for pair in place[1].split("; "):
            stage, number = pair.split()
            if number not in titles:
                raise ValueError(f"the page has no section {number}, for {stage!r}")
            numbers[stage] = (number, titles[number])
        links = doors_of(chapters_of((root / "book" / "index.md").read_text("utf8"), root))
        drawings = (_drawing((), size, links, numbers) for size in ("strip", "card"))
        return (
            '<nav class="here" aria-label="The model, and the sections of the paper">'
            "<p>A number leads to the section, a box to the chapter.</p>"
            f"{''.join(drawings)}</nav>"
        )

    titles = {number: title for title, number in HEADING.findall(page)}
    return SECTIONS.sub(drawn, page)


def _drawing(
    lit: tuple[str, ...],
    size: str,
    links: Mapping[str, Chapter] | None,
    numbers: Mapping[str, tuple[str, str]] | None = None,
) -> str:
    """The model as two lanes of stages, as large as on a "card" or in the "strip".

    A card's has no links, since it is one. With `numbers`, a section's for each stage, and its
    title, it is for a page beside the index, with the numbers above the boxes.
    """
    boxes = {stage: known[size] for stage, known in STAGES.items()}
    named = size == "strip"
    above = 28 if numbers else 0
    high, low = (30, 40 + above) if named else (26, 34 + above)
    width, height = 676 if named else 358, low + high + 9
    parts = []
    for stages, y in zip(LANES, (0, low), strict=True):
        end = boxes[stages[-1]][0]
        rails = "".join(f"M0 {y + high * share}H{end}" for share in (0.25, 0.5, 0.75))
        parts.append(f'<path class="rail" d="{rails}"/>')
    memory = _middle(boxes["memory"])
    parts.append(f'<path class="rail" d="M{memory} {high}V{low}"/>')
    first, last = _middle(boxes["written"]), _middle(boxes["out"])
    name = "rail lit" if "loop" in lit else "rail"
    parts.append(f'<path class="{name}" d="M{last} {low + high}v5H{first}v-4"/>')
    for stages, y in zip(LANES, (0, low), strict=True):
        for stage in stages:
            x, w = boxes[stage]
            shape = (
                f'<rect x="{x + 0.5}" y="{y + 0.5}" width="{w - 1}" height="{high - 1}" rx="5"/>'
            )
            middle = _middle(boxes[stage])
            if named:
                shape += f'<text x="{middle}" y="{y + high / 2 + 4}">{NAMES[stage]}</text>'
            else:
                shape += _glyph(stage, middle, y + high / 2, min(w / 2 - 4, 13), high / 2 - 8)
            state = ' class="lit"' if stage in lit else ""
            if links is None or stage not in links:
                called = "" if links is None else f' role="img" aria-label="{NAMES[stage]}"'
                parts.append(f"<g{state}{called}>{shape}</g>")
                continue
            to = links[stage]
            current = ' aria-current="true"' if stage in lit else ""
            parts.append(
                f'<a{state}{current} href="{"" if numbers else "../"}{to.address}" '
                f'aria-label="{NAMES[stage]}: {escape(to.title)}">{shape}</a>'
            )
    for stages, y in zip(LANES, (0, low), strict=True):
        for stage in stages if numbers else ():
            number, title = numbers[stage]
            x, w = boxes[stage][0] + 0.5, 8 + 6.5 * len(number)
            parts.append(
                f'<a class="section" href="#{make_id(title)}" aria-label="{escape(title)}">'
                f'<rect x="{x}" y="{y - above + 2}" width="{w}" height="24" rx="12"/>'
                f'<text x="{x + w / 2}" y="{y - above + 18}">{number}</text></a>'
            )
    about = ", ".join(NAMES[stage] for stage in dict.fromkeys(lit))
    names = f'role="group" aria-label="Stages of the model; this chapter is about: {about}"'
    if links is None:
        names = 'aria-hidden="true"'
    if numbers:
        names = 'role="group" aria-label="Stages of the model"'
    return (
        f'<svg class="{"named" if named else "small"}" viewBox="0 {-above} {width} '
        f'{height + above}" width="{width}" height="{height + above}" {names}>'
        f"{''.join(parts)}</svg>"
    )


def _middle(box: tuple[float, float]) -> float:
    return box[0] + box[1] / 2


def _glyph(stage: str, x: float, y: float, w: float, h: float) -> str:
    """The sign of a stage, for a drawing that is too small for words."""
    left, right, top, low = x - w, x + w, y - h, y + h
    down = f"M{left} {top}C{x} {top} {x} {low} {right} {low}"
    up = f"M{left} {low}C{x} {low} {x} {top} {right} {top}"
    upper, under = y - 1.5, y + 1.5
    signs = {
        "place": f"M{left} {y}q{w / 2} {-2.2 * h} {w} 0t{w} 0",
        "self": f"{down}{up}M{left} {y}H{right}",
        "masked": down + up,
        "cross": f"M{left} {low}H{right}M{x} {top - 2}V{low}",
        "ffn": f"M{left} {upper}L{x} {top}L{right} {upper}V{under}L{x} {low}L{left} {under}Z",
        "memory": f"M{left} {top}H{right}M{left} {y}H{right}M{left} {low}H{right}",
        "out": f"M{left} {top}H{right}M{left} {y}h{0.8 * w}M{left} {low}h{0.4 * w}",
        "words": f"M{left} {top}h{1.7 * w}M{left} {y}h{1.1 * w}M{left} {low}h{1.5 * w}",
    }
    signs |= {"place2": signs["place"], "ffn2": signs["ffn"], "written": signs["words"]}
    return f'<path class="glyph" d="{signs[stage]}"/>'
