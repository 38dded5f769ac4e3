"""What a search engine and the preview of a shared link read: description, picture, citation.

All addresses begin with `html: baseurl` of _config.yml, which publishing replaces.
"""

import json
import textwrap
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

import yaml
from docutils import nodes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from sphinx.application import Sphinx

from book._press.path import LANES, NAMES, STAGES, chapters_of
from book.page.plots import PALETTE

SIZE = (1200, 630)  # pixels of a preview's picture
LENGTH = 200  # characters of a description that are shown
PREVIEWS = "_static/previews"  # where the pictures are
FONT = "DejaVu Sans"  # matplotlib brings it


@dataclass(frozen=True)
class Page:
    """A page as others see it.

    Attributes:
        address: in full.
        title: as plain text.
        says: what it is about, in a sentence or two; may be empty.
        picture: address of the picture of a preview.
    """

    address: str
    title: str
    says: str
    picture: str


def date() -> str:
    """When the book was last released, as CITATION.cff says: 2026-11-26."""
    cited = Path(__file__).parents[2] / "CITATION.cff"
    return str(yaml.safe_load(cited.read_text("utf8"))["date-released"])


def description(text: str) -> str:
    """A paragraph on one line, cut where a preview would cut it."""
    return textwrap.shorten(text, LENGTH, placeholder=" …")


def head(page: Page, book: Page, author: str, date: str) -> str:
    """The tags for a page's head: description, Open Graph, Google Scholar's, and schema.org's."""
    whole = page.address == book.address
    named = {"description": page.says, "twitter:card": "summary_large_image"}
    named |= {
        "citation_title": page.title,
        "citation_author": author,
        "citation_publication_date": date.replace("-", "/"),
        "citation_public_url": page.address,
    }
    if not whole:
        named["citation_inbook_title"] = book.title
    shared = {
        "og:type": "book" if whole else "article",
        "og:site_name": book.title,
        "og:title": page.title,
        "og:description": page.says,
        "og:url": page.address,
        "og:image": page.picture,
        "og:image:width": str(SIZE[0]),
        "og:image:height": str(SIZE[1]),
        "og:image:alt": f"{page.title}. {page.says}".strip(),
    }
    thing = {
        "@context": "https://schema.org",
        "@type": "Book" if whole else ["LearningResource", "WebPage"],
        "name": page.title,
        "description": page.says,
        "url": page.address,
        "image": page.picture,
        "inLanguage": "en",
        "isAccessibleForFree": True,
        "author": {"@type": "Organization", "name": author},
        "datePublished": date,
    }
    if not whole:
        thing["isPartOf"] = {"@type": "Book", "name": book.title, "url": book.address}
    said = json.dumps({name: value for name, value in thing.items() if value}, ensure_ascii=False)
    said = said.replace("</", "<\\/")  # or a title could end the script
    lines = [
        f'<meta {kind}="{name}" content="{escape(value)}" />'
        for kind, values in (("name", named), ("property", shared))
        for name, value in values.items()
        if value
    ]
    lines.append(f'<script type="application/ld+json">{said}</script>')
    return "".join(f"\n    {line}" for line in lines)


def picture(title: str, says: str, lit: Collection[str]) -> Figure:
    """The picture of a preview: a title, what it is about, and the model with these stages lit."""
    width, height = SIZE
    figure = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor="white")
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    ax.set_axis_off()
    words = {"fontfamily": FONT, "va": "top", "parse_math": False}
    lines = textwrap.wrap(unescape(title), 34)
    ax.text(60, 52, "\n".join(lines), fontsize=36, weight="bold", **words)
    asked = textwrap.wrap(description(unescape(says)), 52)
    below = 72 + 72 * len(lines)
    ax.text(60, below, "\n".join(asked), fontsize=25, color="#333333", linespacing=1.4, **words)
    middles = {}
    for stages, y in zip(LANES, (474, 544), strict=True):
        ends = [STAGES[stages[at]]["strip"][0] for at in (0, -1)]
        ax.plot([60 + 1.6 * x for x in ends], [y, y], color="#999999", lw=1, zorder=0)
        for stage in stages:
            x, w = (1.6 * number for number in STAGES[stage]["strip"])
            middles[stage] = (60 + x + w / 2, y)
            is_lit = stage in lit
            shape = FancyBboxPatch((60 + x, y - 24), w, 48, "round,pad=0,rounding_size=8")
            shape.set(facecolor=PALETTE[0] if is_lit else "white", edgecolor="#999999")
            ax.add_patch(shape)
            name = {"color": "white" if is_lit else "#333333", "fontsize": 12.5}
            ax.text(*middles[stage], NAMES[stage], ha="center", **words | name | {"va": "center"})
    x, top = middles["memory"]
    ax.plot([x, x], [top, middles["cross"][1]], color="#999999", lw=1, zorder=0)
    return figure


def sitemap(addresses: Iterable[str]) -> str:
    """A site's pages for search engines (https://www.sitemaps.org/protocol.html)."""
    lines = [f"<url><loc>{escape(address)}</loc></url>" for address in addresses]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
            *lines,
            "</urlset>\n",
        ]
    )


def bare(title: str, head: str, body: str) -> str:
    """A page that needs no file of the theme."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n  <head>\n    <meta charset="utf-8" />\n'
        f'    <meta name="viewport" content="width=device-width, initial-scale=1.0" />{head}\n'
        f'    <title>{escape(title)}</title>\n    <link rel="icon" href="data:," />\n'
        "    <style>:root { color-scheme: light dark } "
        "body { font: 1.1rem/1.6 sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }"
        f"</style>\n  </head>\n  <body><main>{body}</main></body>\n</html>\n"
    )


def say_what(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Put the tags into the head of a page that somebody wrote; for Sphinx's html-page-context."""
    if doctree is not None:
        context["metatags"] += _head(app, page)


def _head(app: Sphinx, page: str) -> str:
    book = _page(app, app.config.root_doc)
    return head(_page(app, page), book, app.config.author, date())


def _page(app: Sphinx, name: str) -> Page:
    """A page as others see it: a chapter by its question, solutions by what is solved, another page
    by its first paragraph.

    A line `description: ...` above a page's title is more than its first paragraph.
    """
    base, root = app.config.html_baseurl, Path(app.srcdir)
    index = Path(app.env.doc2path(app.config.root_doc)).read_text("utf8")
    chapters = {f"book/{c.name}/{c.name}": c for c in chapters_of(index, root)}
    says = app.env.metadata[name].get("description")
    if name in chapters:
        says = chapters[name].question
    elif name.endswith("_solutions"):
        parts = app.env.get_doctree(name).findall(nodes.section)
        solved = [part.next_node(nodes.title).astext() for part in parts][1:]
        says = description("Solutions, in full: " + "; ".join(solved))
    elif says is None:
        first = next(iter(app.env.get_doctree(name).findall(nodes.paragraph)), None)
        says = description(first.astext()) if first else ""
    folder = Path(name).parent
    shown = folder.name if str(folder / folder.name) in chapters else "book"
    preview = f"{base}{PREVIEWS}/{shown}.png"
    return Page(f"{base}{name}.html", app.env.titles[name].astext(), says, preview)


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write pictures, sitemap.xml, robots.txt, 404.html and the first page; for build-finished."""
    if exception is not None or app.builder.format != "html":
        return
    site, base, root = Path(app.outdir), app.config.html_baseurl, app.config.root_doc
    book = _page(app, root)
    folder = site / PREVIEWS
    folder.mkdir(parents=True, exist_ok=True)
    picture(book.title, book.says, ()).savefig(folder / "book.png")
    for chapter in chapters_of(Path(app.env.doc2path(root)).read_text("utf8"), Path(app.srcdir)):
        drawn = picture(chapter.title, chapter.question, chapter.stages)
        drawn.savefig(folder / f"{chapter.name}.png")
    pages = sorted(app.env.found_docs)
    listed = [f"{base}{page}.html" for page in pages if not page.endswith("_solutions")]
    (site / "sitemap.xml").write_text(sitemap(listed), "utf8")
    (site / "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {base}sitemap.xml\n")
    on = f'\n    <meta http-equiv="refresh" content="0; url={root}.html" />'
    first = bare(book.title, _head(app, root) + on, f'<a href="{root}.html">{book.title}</a>')
    (site / "index.html").write_text(first, "utf8")
    lost = (
        "<h1>There is no such page</h1><p>It may have another name by now. "
        f'<a href="{book.address}">{book.title}</a> lists its chapters; '
        f'<a href="{base}search.html">search</a> finds words.</p>'
    )
    (site / "404.html").write_text(bare("There is no such page", "", lost), "utf8")
