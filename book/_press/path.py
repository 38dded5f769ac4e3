"""Where a chapter is in the model, and how long it takes: the strip above it, a card on the index.

The index has the chapters in the order of `_toc.yml`, and their questions; `CHAPTERS` has the
stages of the model that each is about. Drawings are plain SVG: nothing moves on a loaded page.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

import nbformat

from companion.page import translator_figure
from companion.page.live import LiveFigure

ENCODER = ("words", "place", "self", "ffn", "memory")
DECODER = ("written", "place2", "masked", "cross", "ffn2", "out")

# The stages of the model that a chapter is about; "loop" is the way back from the next word.
CHAPTERS = {
    "one_word_at_a_time": ("words", "self"),
    "embeddings": ("words", "written"),
    "self_attention": ("self",),
    "multi_head_attention": ("self", "masked", "cross"),
    "positional_encoding": ("place", "place2"),
    "transformer_block": ("self", "ffn"),
    "full_model": ("memory", "cross", "out"),
    "decoding": ("written", "out", "loop"),
    "contextual_embeddings": ("words", "self", "ffn", "memory"),
    "three_families": ("self", "masked"),
    "beyond_recurrence": ("self", "masked", "loop"),
    "efficient_attention": ("self", "masked", "cross"),
    "time_series": ("words", "out"),
    "vision_transformer": ("words", "place"),
    "pretrained_models": ("written", "place2", "masked", "ffn2", "out"),
    "running_a_language_model": ("written", "masked", "ffn2", "out", "loop"),
    "inside_a_language_model": ("masked", "out"),
    "own_language_model": ("written", "masked", "ffn2", "out", "loop"),
    "scaling": ("written", "out"),
    "after_pretraining": ("written", "out", "loop"),
}

# The chapter that each stage leads to.
DOORS = {
    "words": "embeddings",
    "place": "positional_encoding",
    "self": "self_attention",
    "ffn": "transformer_block",
    "memory": "full_model",
    "written": "embeddings",
    "place2": "positional_encoding",
    "masked": "multi_head_attention",
    "cross": "full_model",
    "ffn2": "transformer_block",
    "out": "decoding",
    "loop": "decoding",
    "block": "transformer_block",
    "block2": "transformer_block",
}

NAMES = {
    "words": "words",
    "place": "position",
    "self": "self-attention",
    "ffn": "feed-forward",
    "memory": "memory",
    "written": "written",
    "place2": "position",
    "masked": "masked self-attention",
    "cross": "cross-attention",
    "ffn2": "feed-forward",
    "out": "next word",
    "loop": "the way back from the next word",
}

# Where a stage's box begins, and how wide it is, in the drawing with names and in the one without.
NAMED = {
    "words": (0, 70),
    "place": (78, 72),
    "self": (158, 112),
    "ffn": (278, 100),
    "memory": (394, 74),
    "written": (0, 70),
    "place2": (78, 72),
    "masked": (158, 164),
    "cross": (340, 128),
    "ffn2": (476, 100),
    "out": (592, 84),
}
SMALL = {
    "words": (0, 44),
    "place": (50, 34),
    "self": (90, 62),
    "ffn": (158, 40),
    "memory": (208, 44),
    "written": (0, 44),
    "place2": (50, 34),
    "masked": (90, 86),
    "cross": (184, 68),
    "ffn2": (258, 40),
    "out": (310, 47),
}

WORDS_PER_MINUTE = 200
LINES_PER_MINUTE = 15  # of code that is open
FOLDED = {"hide-input", "claim"}

ROW = re.compile(r"^\| \[(?P<title>.+?)\]\((?P<name>\w+)\.ipynb\) \| (?P<question>.+?) \|$", re.M)
TABLE = re.compile(r"^\|[^\n]*\n\|[-| ]+\|\n(?:\| \[.+\]\(\w+\.ipynb\) \| .+ \|\n)+", re.M)
TRANSLATOR = re.compile(r"^<!-- translator: (\w+) -->$", re.M)
FIGURE = re.compile(
    r'<div class="companion-live" data-figure="translation">'
    r'<script type="application/json">(?P<state>.*?)</script>(?P<fallback>.*)</div>',
    re.S,
)


@dataclass(frozen=True)
class Chapter:
    """A chapter of the index: its file's name without the ending, its title, its question."""

    name: str
    title: str
    question: str


def chapters_of(index: str) -> list[Chapter]:
    """The chapters in the tables of the index, in their order."""
    return [Chapter(row["name"], row["title"], row["question"]) for row in ROW.finditer(index)]


def reading_minutes(notebook: nbformat.NotebookNode) -> int:
    """How long a chapter is to be read, to five minutes: its words, and the code that is open."""
    text = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    lines = sum(
        len(cell.source.splitlines())
        for cell in notebook.cells
        if cell.cell_type == "code" and not FOLDED & set(cell.metadata.get("tags", []))
    )
    minutes = len(text.split()) / WORDS_PER_MINUTE + lines / LINES_PER_MINUTE
    return max(5, 5 * round(minutes / 5))


def with_chapters(index: str, root: Path, outputs: Mapping[str, str]) -> str:
    """The Markdown of the index with its scene, and a card for every chapter in place of its row.

    Another page stays as it is.

    Args:
        index: what is committed.
        root: the repository.
        outputs: the file with the outputs of each notebook.
    """
    if not TRANSLATOR.search(index):
        return index
    chapters = {chapter.name: chapter for chapter in chapters_of(index)}

    def kept(name: str) -> dict:
        return json.loads(Path(outputs[f"book/{name}.ipynb"]).read_text("utf8"))

    def cards(table: re.Match) -> str:
        names = [chapter.name for chapter in chapters_of(table[0])]
        listed = (
            _card(
                chapters[name],
                reading_minutes(nbformat.read(root / "book" / f"{name}.ipynb", as_version=4)),
                kept(name)["seconds"],
            )
            for name in names
        )
        return f'<ul class="chapters">{"".join(listed)}</ul>\n'

    def scene(place: re.Match) -> str:
        translation = _translation(kept(place[1]))
        doors = {
            stage: {
                "href": f"{name}.html",
                "title": chapters[name].title,
                "question": chapters[name].question,
            }
            for stage, name in DOORS.items()
        }
        return translator_figure(translation, doors).to_html()

    return TRANSLATOR.sub(scene, TABLE.sub(cards, index))


def _translation(kept: dict) -> LiveFigure:
    """The live translator among the outputs of a notebook."""
    for output in (output for outputs in kept["outputs"] for output in outputs):
        html = "".join(output.get("data", {}).get("text/html", ""))
        if found := FIGURE.search(html):
            state = json.loads(found["state"])
            return LiveFigure("translation", state["data"], state["value"], found["fallback"])
    raise ValueError("the chapter that is to lend its translator to the index shows none")


def _card(chapter: Chapter, reading: int, seconds: float) -> str:
    running = max(1, round(seconds / 60))
    return (
        f'<li><a href="{chapter.name}.html">{_drawing(CHAPTERS[chapter.name], SMALL, links=None)}'
        f"<b>{escape(unescape(chapter.title))}</b> <span>{escape(chapter.question)}</span> "
        f"<small>read {reading} min · run {running} min</small></a></li>"
    )


def here(page: str, chapters: Iterable[Chapter]) -> str:
    """The strip "you are here" for the top of a chapter: the model, with the present stages lit.

    Args:
        page: the chapter's name.
        chapters: all of them, in their order.
    """
    chapters = list(chapters)
    names = [chapter.name for chapter in chapters]
    number, title = names.index(page) + 1, chapters[names.index(page)].title
    links = {chapter.name: chapter for chapter in chapters}
    lit = CHAPTERS[page]
    return (
        '<nav class="here" aria-label="Where you are in the model">'
        f"<p>You are here, {number} of {len(chapters)}: <b>{escape(title)}</b></p>"
        f"{_drawing(lit, NAMED, links)}{_drawing(lit, SMALL, links)}</nav>"
    )


def _drawing(lit: tuple[str, ...], boxes: dict, links: Mapping[str, Chapter] | None) -> str:
    """The model as two lanes of stages; a card's has no links, since it is one."""
    named = boxes is NAMED
    high, low = (30, 40) if named else (26, 34)
    width, height = 676 if named else 358, low + high + 9
    parts = []
    for stages, y in ((ENCODER, 0), (DECODER, low)):
        end = boxes[stages[-1]][0]
        rails = "".join(f"M0 {y + high * share}H{end}" for share in (0.25, 0.5, 0.75))
        parts.append(f'<path class="rail" d="{rails}"/>')
    memory = _middle(boxes["memory"])
    parts.append(f'<path class="rail" d="M{memory} {high}V{low}"/>')
    first, last = _middle(boxes["written"]), _middle(boxes["out"])
    name = "rail lit" if "loop" in lit else "rail"
    parts.append(f'<path class="{name}" d="M{last} {low + high}v5H{first}v-4"/>')
    for stages, y in ((ENCODER, 0), (DECODER, low)):
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
            if links is None:
                parts.append(f"<g{state}>{shape}</g>")
                continue
            to = links[DOORS[stage]]
            current = ' aria-current="true"' if stage in lit else ""
            parts.append(
                f'<a{state}{current} href="{to.name}.html" '
                f'aria-label="{NAMES[stage]}: {escape(to.title)}">{shape}</a>'
            )
    about = ", ".join(NAMES[stage] for stage in dict.fromkeys(lit))
    names = f'role="group" aria-label="Stages of the model; this chapter is about: {about}"'
    if links is None:
        names = 'aria-hidden="true"'
    return (
        f'<svg class="{"named" if named else "small"}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" {names}>'
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
