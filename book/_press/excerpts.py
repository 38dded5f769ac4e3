"""What a slide shows of a chapter's text: the scene, a section's opening, a formula, a table."""

import re
from html import escape

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

LITTLE, ENOUGH = 75, 240  # characters of the sentences that open a section
SCENE = 420  # and of those that open a chapter
POINTS = 6  # on a slide
SENTENCES = re.compile(
    r"(?<!In words:)(?:(?<=[.?!:])|(?<=[.?!:][”*)])|(?<=[.?!:]\*\*))\s+(?=[^a-z(\d–])"
)
OF_A_PAGE = re.compile(
    r"Is this normal|Nothing later needs|can be skipped|[Rr]ead on\b|top of this page|given below"
    r"|(?:figure|table|list|loop) (?:above|below)"
)
FOLD = re.compile(r"<details>.*?</details>", re.S)
CLOSED = re.compile(r'<span class="math inline">[^<]+</span>[,.;:?)]+')  # no sign opens a line
POINT = re.compile(r"^(?:- |\d+\. )", re.M)


def _as_tex(tex: str, how: dict) -> str:
    return rf"\[{escape(tex)}\]" if how["display_mode"] else rf"\({escape(tex)}\)"


MARKDOWN = MarkdownIt().enable("table").use(dollarmath_plugin, renderer=_as_tex)


def blocks_of(markdown: str) -> list[tuple[str, str]]:
    """The kind, as markdown-it calls it, and the source of each block outside of the folds."""
    markdown = FOLD.sub("", markdown)
    lines = markdown.split("\n")
    tokens = [t for t in MARKDOWN.parse(markdown) if t.map and not t.level]
    return [(t.type, "\n".join(lines[slice(*t.map)]).strip()) for t in tokens]


def _sentences(text: str) -> list[str]:
    """Those of a paragraph that say something without its page; no formula is torn apart."""
    sentences = [""]
    for piece in SENTENCES.split(text):
        if any(sentences[-1].count(mark) % 2 for mark in ("$", "`", "**")):
            sentences[-1] += f" {piece}"
        else:
            sentences.append(piece)
    return [sentence for sentence in sentences[1:] if not OF_A_PAGE.search(sentence)]


def _within(sentences: list[str], size: int) -> list[str]:
    """As many of the first sentences as have room, at least one."""
    kept = sentences[:1]
    for sentence in sentences[1:]:
        if len(" ".join([*kept, sentence])) > size:
            break
        kept.append(sentence)
    return kept


def _rendered(sentences: list[str], announces: bool = False) -> str:
    if sentences and sentences[-1].endswith(":") and not announces:
        sentences = sentences[:-1]  # what it announces is not on the slide
    return CLOSED.sub(r'<span class="unbroken">\g<0></span>', MARKDOWN.render(" ".join(sentences)))


def scene(markdown: str) -> str:
    """What opens a chapter, up to its question or its first fold."""
    shown, room = "", SCENE
    for kind, source in blocks_of(markdown.partition("<details>")[0]):
        if room <= 0 or source.startswith("**"):
            break
        if kind == "paragraph_open":
            shown += _rendered(_within(_sentences(source), room))
        else:
            shown += rows_of(source) if kind == "table_open" else MARKDOWN.render(source)
        room -= len(source)
    return shown


def opening(blocks: list[tuple[str, str]]) -> str:
    """A section's first sentences, and the list, table or formula right below them."""
    kept: list[str] = []
    for at, (kind, source) in enumerate(blocks):
        if kind == "blockquote_open":
            continue
        if kind != "paragraph_open":
            return _rendered(kept, announces=True) + _announced(blocks[at : at + 2])
        if kept and kept[-1].endswith(":"):
            kept.pop()
        if len(" ".join(kept)) >= LITTLE:
            break
        sentences = [*kept, *_sentences(source)]
        kept = _within(sentences, ENOUGH)
        if len(kept) < len(sentences):
            break
    return _rendered(kept)


def formula_below(blocks: list[tuple[str, str]]) -> tuple[str, str] | None:
    """The first formula that a paragraph stands above, with the last of its sentences.

    As HTML, and the source of paragraph, formula and what follows; None if there is none.
    """
    at = next((at for at, (kind, _) in enumerate(blocks) if kind == "math_block"), 0)
    if at == 0 or blocks[at - 1][0] != "paragraph_open":
        return None
    sentences = _sentences(blocks[at - 1][1])
    while len(" ".join(sentences)) > ENOUGH and len(sentences) > 1:
        del sentences[0]
    said = "\n\n".join(source for _, source in blocks[at - 1 : at + 2])
    return _rendered(sentences, announces=True) + _announced(blocks[at : at + 2]), said


def _announced(blocks: list[tuple[str, str]]) -> str:
    """A list, a table, or a formula with the sentence below that says it in words."""
    kind, source = blocks[0]
    if kind in ("bullet_list_open", "ordered_list_open"):
        mark = "-" if kind == "bullet_list_open" else "1."
        points = [_sentences(" ".join(point.split())) for point in POINT.split(source)[1:]]
        leads = [point[: 1 + point[0].startswith("**")] for point in points[:POINTS] if point]
        return _rendered(["\n".join(f"{mark} {' '.join(lead)}" for lead in leads)])
    if kind != "math_block":
        return rows_of(source) if kind == "table_open" else MARKDOWN.render(source)
    formula = f'<div class="math" tabindex="0">\\[{escape(source.strip("$"))}\\]</div>'
    below = _sentences(blocks[1][1]) if len(blocks) > 1 else []
    words = [s for s in below if s.startswith("In words")] or below[:1]
    goes_on = words and (words[0][0].islower() or words[0].startswith("In words"))
    return formula + _rendered(words[:1] if goes_on else [])


def rows_of(table: str) -> str:
    return f'<div class="rows" tabindex="0">{MARKDOWN.render(table)}</div>'
