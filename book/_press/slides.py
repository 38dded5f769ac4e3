"""Slides: a deck for every chapter, beside its page in the built site.

`python -m book._press.slides self_attention`, in the repository's root, makes one of the executed
notebook; without a name, all. After the title stands the scene that opens the chapter. A section
has a slide with its heading, its first sentences and the list, table or formula right below these;
a first formula further down has its own, with the sentences before it. Then comes one for each live
figure, plot, table of results, question and answer, and for up to four claims. A heading with
hardly any text has no slide, but stands over the next one.

All text is in the speaker's notes, with what cells print, and their code where the page has it
open. A slide that no text follows repeats a paragraph: what leads to a question, figure or table,
what comes after an answer or claims. Figures, formulas and looks are the site's. reveal.js comes
from the npm registry, once.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from urllib.request import urlopen

import nbformat
import yaml
from jinja2 import Template

from book._press.assets import with_assets
from book._press.cards import CHECKED, card
from book._press.claims import read_rows
from book._press.excerpts import (
    FOLD,
    LITTLE,
    MARKDOWN,
    blocks_of,
    formula_below,
    opening,
    rows_of,
    scene,
)
from book._press.execute import Record
from book._press.path import Chapter, chapters_of, here
from book.page import live
from book.page.claims import MIMETYPE, Claim, short, typeset

REVEAL = "https://registry.npmjs.org/reveal.js/-/reveal.js-6.0.2.tgz"  # MIT
SHA512 = "JYIg5D9aoxoaLeb84O+OvAwsKWdIavVgEDScxtYEXFCT6t6TQrhNtSgogcjdCpdLsWglhJn3zyE3fUOwiH5KEg=="
OF_REVEAL = ("LICENSE", "dist/reveal.js", "dist/reveal.css", "dist/plugin/notes.js")
TEMPLATE = Path(__file__).with_name("slides.html")

CLAIMS = 4  # on a slide
LAST = "You can now"
WITHIN = re.compile(r"\]\((?!\w+:)(?:([^)#\s]*)\.(?:ipynb|md))?(?=[)#])")  # a link in the book
TAG = re.compile(r"<[^>]*>")
PARAGRAPH = re.compile(r"<p>.*?</p>", re.S)
MORE_THAN_WORDS = re.compile(r"<(?:div|li|pre)\b")
MEASURED = re.compile(r"<p>Measured: (.*): [^:]*\.</p>")
LARGE = re.compile(r"(?<!exactly )\b\d{1,3}(?:,\d{3}){2,}\b")
DECIMALS = re.compile(r"(?<=<td>)-?\d+\.\d{3}(?=</td>)")
SHOWN = re.compile(r'class="companion-(?:live|figure|diagram)"')


@dataclass
class Slide:
    """Its kind, its section's heading, what it shows of its own and what is said, as HTML."""

    kind: str
    heading: str
    body: str = ""
    notes: str = ""


def slides_of(cells: Iterable[dict], rows: list[dict], chapter: Chapter) -> list[Slide]:
    """A chapter's slides, up to "You can now": exercises and quiz have pages of their own.

    Args:
        cells: of the notebook, with their outputs, as in a file.
        rows: what other seeds measured (`claims.read_rows`).
        chapter: what the index says of it.
    """
    deck: list[Slide] = []
    for cell in cells:
        source, tags = "".join(cell["source"]), cell.get("metadata", {}).get("tags", ())
        if cell["cell_type"] == "code":
            if not {"hide-input", "claim"}.intersection(tags):
                deck[-1].notes += _printed(source)
            for output in cell["outputs"]:
                _show(output, rows, deck)
            continue
        for heading, text in _parts(source, chapter.name):
            if heading:
                deck += _first(MARKDOWN.renderInline(heading), text, chapter, not deck)
            else:
                deck[-1].notes += MARKDOWN.render(text)
    ends = [at for at, slide in enumerate(deck, 1) if slide.kind == "last"]
    deck = _without_empty(deck[: ends[0] if ends else None])
    _complete_notes(deck)
    return deck


def _parts(markdown: str, name: str) -> Iterator[tuple[str, str]]:
    """Each heading of a cell with the text below it; "" is that of text before the first one."""
    markdown = WITHIN.sub(lambda to: f"]({to[1] or name}.html", markdown)
    lines = markdown.split("\n")
    tokens = MARKDOWN.parse(markdown)
    places = [t.map[0] for t in tokens if t.type == "heading_open" and not t.level]
    if places[:1] != [0]:
        yield "", "\n".join(lines[: places[0] if places else None])
    for start, end in pairwise([*places, None]):
        yield lines[start].lstrip("# "), "\n".join(lines[start + 1 : end])


def _first(heading: str, text: str, chapter: Chapter, is_title: bool) -> list[Slide]:
    """The slides of a heading and of the text right below it."""
    notes, blocks = MARKDOWN.render(text), blocks_of(text)
    if is_title:
        title = Slide("title", heading, f"<p>{escape(chapter.question)}</p>")
        return [title, Slide("text", heading, scene(text), notes)]
    if heading == LAST:
        link = f'<p><a href="{chapter.name}_exercises.html">The exercises</a></p>'
        done = MARKDOWN.render(text.strip().partition("\n\n")[0]) + link
        return [Slide("last", heading, done, notes)]
    section = Slide("section", heading, opening(blocks), notes)
    if not (below := formula_below(blocks)) or '<div class="math"' in section.body:
        return [section]
    shown, said = below
    return [section, Slide("text", heading, shown, MARKDOWN.render(said))]


def _printed(text: str) -> str:
    return f"<pre>{escape(text.rstrip())}</pre>" if text.strip() else ""


def _show(output: dict, rows: list[dict], deck: list[Slide]) -> None:
    """Add what a cell has shown."""
    data, last = output.get("data", {}), deck[-1]
    html, markdown = "".join(data.get("text/html", "")), "".join(data.get("text/markdown", ""))
    heading = last.heading
    if MIMETYPE in data:
        claim = Claim.shown(data[MIMETYPE])
        is_full = last.body.count('<details class="claim"') == CLAIMS
        if is_full or last.kind not in ("answer", "claims"):
            deck.append(Slide("claims", heading))
        deck[-1].body += _line(claim, [row for row in rows if row["claim"] == claim.sentence])
    elif 'data-figure="prediction"' in html:
        answer = html.partition("</script>")[2].replace("<details>", "<details open>")
        answer = DECIMALS.sub(lambda number: short(float(number[0])), answer)
        deck += [Slide("question", heading, html), Slide("answer", heading, f"<div>{answer}")]
    elif SHOWN.search(html):
        deck.append(Slide("figure", heading, html))
    elif markdown.startswith("|"):
        deck.append(Slide("table", heading, rows_of(markdown)))
    elif markdown:
        last.notes += MARKDOWN.render(markdown)
    else:
        text = "".join(output.get("text", data.get("text/plain", "")))
        last.notes += "" if html or text.startswith("torch ") else _printed(text)


def _line(claim: Claim, rows: list[dict]) -> str:
    """A claim's line; of what its number is stands beside the bound, as nobody clicks there."""
    line = card(claim, rows)
    summary, end, behind = line.partition("</summary>")
    sentence, mark, outcome = summary.partition('</span> <span class="')
    for unit in MEASURED.findall(line):
        outcome = outcome.replace(' class="bound">', f' class="bound">{unit}: ')
    outcome = LARGE.sub(_power, outcome.replace(CHECKED, "checked"))
    return f"{sentence}{mark}{outcome}{end}{behind}"


def _power(number: re.Match) -> str:
    return typeset(f"{float(number[0].replace(',', '')):.3g}").removeprefix("1·")


def _without_empty(deck: list[Slide]) -> list[Slide]:
    """All slides but those that would show hardly more than a heading; their text is still said."""
    kept: list[Slide] = []
    for slide, following in zip(deck, [*deck[1:], None], strict=True):
        words = TAG.sub("", slide.body).strip()
        least = {"section": LITTLE, "text": 1}.get(slide.kind, 0)
        if len(words) >= least or MORE_THAN_WORDS.search(slide.body):
            kept.append(slide)
        elif following and following.heading == slide.heading:
            following.notes = slide.notes + following.notes
        elif not words:
            kept[-1].notes += slide.notes
        else:
            kept.append(slide)
    return kept


def _complete_notes(deck: list[Slide]) -> None:
    """Let a slide without text repeat a paragraph of its section: the one beside it."""
    said = [PARAGRAPH.findall(FOLD.sub("", slide.notes)) for slide in deck]
    for at, slide in enumerate(deck):
        if said[at]:
            continue
        near = [
            (i, said[i]) for i in range(len(deck)) if deck[i].heading == slide.heading and said[i]
        ]
        before = [paragraphs[-1] for i, paragraphs in near if i < at][-1:]
        after = [paragraphs[0] for i, paragraphs in near if i > at][:1]
        leads = slide.kind in ("question", "figure", "table")
        slide.notes = "".join(([*before, *after] if leads else [*after, *before])[:1]) + slide.notes


def write_deck(root: Path, chapter: Chapter, chapters: list[Chapter]) -> Path:
    """Make a chapter's deck, in the built site.

    Raises:
        FileNotFoundError: the notebook has not been executed as it is now, or there is no site.
    """
    path = root / "book" / chapter.name / f"{chapter.name}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    for cell, outputs in zip(code, Record.of(root, path).read()["outputs"], strict=True):
        cell.outputs = outputs
    config = yaml.safe_load((root / "_config.yml").read_text("utf8"))
    deck = Template(TEMPLATE.read_text("utf8")).render(
        title=f"{chapter.title} · {config['title']}",
        here=here(chapter.name, chapters),
        mathjax=json.dumps(config["sphinx"]["config"]["mathjax3_config"]),
        slides=slides_of(cells, read_rows(path), chapter),
    )
    site = root / "_build" / "html"
    target = site / "book" / chapter.name / f"{chapter.name}_slides.html"
    unfinished = target.with_suffix(f".{os.getpid()}")
    unfinished.write_text(with_assets(live.without_repetition(deck), site / "_static"), "utf8")
    return unfinished.replace(target)  # a browser may be reading the old one


def write_reveal(static: Path, kept: Path) -> None:
    """Put reveal.js beside the site's own scripts; fetch it where it is not kept already.

    Raises:
        ValueError: what came is not what is pinned.
    """
    if not kept.exists():
        with urlopen(REVEAL, timeout=60) as answer:
            _write_whole(kept, answer.read())
    found = base64.b64encode(hashlib.sha512(kept.read_bytes()).digest()).decode()
    if found != SHA512:
        kept.unlink()
        raise ValueError(f"{REVEAL} has the SHA-512 {found}, but {SHA512} is pinned")
    (static / "reveal").mkdir(exist_ok=True)
    with tarfile.open(kept) as package:
        for name in OF_REVEAL:
            content = package.extractfile(f"package/{name}").read()
            _write_whole(static / "reveal" / Path(name).name, content)


def _write_whole(file: Path, content: bytes) -> None:
    """Write a file that another process may be reading, or writing as well."""
    whole = file.with_name(f"{file.name}.{os.getpid()}")
    whole.write_bytes(content)
    whole.replace(file)


def main(root: Path) -> None:
    """The command."""
    chapters = chapters_of((root / "book" / "index.md").read_text("utf8"), root)
    parser = argparse.ArgumentParser(prog="python -m book._press.slides", description=__doc__)
    parser.add_argument("chapter", nargs="?", choices=[chapter.name for chapter in chapters])
    wanted = parser.parse_args().chapter
    write_reveal(root / "_build" / "html" / "_static", root / "_build" / Path(REVEAL).name)
    for chapter in chapters:
        if wanted in (None, chapter.name):
            print(write_deck(root, chapter, chapters).resolve().as_uri())


if __name__ == "__main__":
    main(Path.cwd())
