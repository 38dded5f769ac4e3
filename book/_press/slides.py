"""Slides: a deck for every chapter, beside its page in the built site.

`python -m book._press.slides self_attention`, in the repository's root, makes one of the executed
notebook; without a name, all. A section has a slide with its heading, first sentences and first
formula, then one for each live figure, plot, question and answer, and for up to three claims; its
text is in the speaker's notes. Figures, formulas and looks are the site's. reveal.js comes from
the npm registry, once.
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
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from book._press.assets import with_assets
from book._press.cards import card
from book._press.claims import read_rows
from book._press.execute import Record
from book._press.path import Chapter, chapters_of, here
from book.page import live
from book.page.claims import MIMETYPE, Claim

REVEAL = "https://registry.npmjs.org/reveal.js/-/reveal.js-6.0.2.tgz"  # MIT
SHA512 = "JYIg5D9aoxoaLeb84O+OvAwsKWdIavVgEDScxtYEXFCT6t6TQrhNtSgogcjdCpdLsWglhJn3zyE3fUOwiH5KEg=="
OF_REVEAL = ("LICENSE", "dist/reveal.js", "dist/reveal.css", "dist/plugin/notes.js")
TEMPLATE = Path(__file__).with_name("slides.html")

ENOUGH = 240  # characters of the sentences that open a section
POINTS, CLAIMS = 4, 3  # on a slide
LAST = "You can now"
SENTENCES = re.compile(r"(?<=[.?!:”*)])\s+(?=[^a-z(\d–])")
FOLD = re.compile(r"<details>.*?</details>", re.S)
WITHIN = re.compile(r"\]\((?!\w+:)(?:([^)#\s]*)\.(?:ipynb|md))?(?=[)#])")  # a link in the book
CLOSED = re.compile(r'<span class="math inline">[^<]+</span>[,.;:?)]+')  # no sign opens a line
SHOWN = re.compile(r'class="companion-(?:live|figure|diagram)"')


def _formula(tex: str, how: dict) -> str:
    return rf"\[{escape(tex)}\]" if how["display_mode"] else rf"\({escape(tex)}\)"


MARKDOWN = MarkdownIt().enable("table").use(dollarmath_plugin, renderer=_formula)


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
        for output in cell.get("outputs", ()):
            _show(output.get("data", {}), rows, deck)
        if cell["cell_type"] == "code":
            continue
        for heading, text in _parts("".join(cell["source"]), chapter.name):
            if heading:
                deck.append(_first(MARKDOWN.renderInline(heading), text, chapter, not deck))
            deck[-1].notes += MARKDOWN.render(text)
    ends = [at for at, slide in enumerate(deck, 1) if slide.kind == "last"]
    return deck[: ends[0] if ends else None]


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


def _first(heading: str, text: str, chapter: Chapter, is_title: bool) -> Slide:
    if is_title:
        return Slide("title", heading, f"<p>{escape(chapter.question)}</p>")
    if heading == LAST:
        link = f'<p><a href="{chapter.name}_exercises.html">The exercises</a></p>'
        return Slide("last", heading, MARKDOWN.render(text.strip().partition("\n\n")[0]) + link)
    return Slide("section", heading, _opening(text))


def _opening(markdown: str) -> str:
    """The first sentences of a section, or of each point of a list, and its first formula."""
    tokens = MARKDOWN.parse(FOLD.sub("", markdown))
    formulas = [t.content for t in tokens if t.type == "math_block"]
    is_list = bool(tokens) and tokens[0].type == "bullet_list_open"
    texts = [t.content for t in tokens if t.type == "inline" and t.level == (3 if is_list else 1)]
    if is_list:
        kept = [f"- {SENTENCES.split(text)[0]}\n" for text in texts[:POINTS]]
    else:
        kept = []
        for sentence in SENTENCES.split(texts[0]) if texts else ():
            if kept and len(" ".join([*kept, sentence])) > ENOUGH:
                break
            kept.append(sentence)
        if kept and kept[-1].endswith(":") and not formulas:
            kept.pop()  # what it announces is not on the slide
    text = CLOSED.sub(r'<span class="unbroken">\g<0></span>', MARKDOWN.render(" ".join(kept)))
    for tex in formulas[:1]:
        text += f'<div class="math" tabindex="0">\\[{escape(tex)}\\]</div>'
    return text


def _show(data: dict, rows: list[dict], deck: list[Slide]) -> None:
    """Add what a cell has shown."""
    html, last = "".join(data.get("text/html", "")), deck[-1]
    heading = last.heading
    if MIMETYPE in data:
        claim = Claim.shown(data[MIMETYPE])
        is_full = last.body.count('<details class="claim"') == CLAIMS
        if is_full or last.kind not in ("answer", "claims"):
            deck.append(Slide("claims", heading))
        deck[-1].body += card(claim, [row for row in rows if row["claim"] == claim.sentence])
    elif 'data-figure="prediction"' in html:
        answer = html.partition("</script>")[2].replace("<details>", "<details open>")
        deck += [Slide("question", heading, html), Slide("answer", heading, f"<div>{answer}")]
    elif SHOWN.search(html):
        deck.append(Slide("figure", heading, html))


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
            kept.write_bytes(answer.read())
    found = base64.b64encode(hashlib.sha512(kept.read_bytes()).digest()).decode()
    if found != SHA512:
        kept.unlink()
        raise ValueError(f"{REVEAL} has the SHA-512 {found}, but {SHA512} is pinned")
    (static / "reveal").mkdir(exist_ok=True)
    with tarfile.open(kept) as package:
        for name in OF_REVEAL:
            content = package.extractfile(f"package/{name}").read()
            (static / "reveal" / Path(name).name).write_bytes(content)


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
