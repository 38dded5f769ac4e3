"""What students have written, fit for the pages that an instructor opens: without scripts."""

import re
from html.parser import HTMLParser
from textwrap import indent

from bleach import ALLOWED_TAGS, clean
from nbconvert.filters.markdown_mistune import (
    InvalidNotebook,
    IPythonRenderer,
    MarkdownWithMath,
)

LONGEST = 200_000  # letters
TAGS = [*ALLOWED_TAGS, "p", "div", "span", "pre", "br", "details", "summary"]
TAG = re.compile(r"<[a-zA-Z/!?]")
ADDRESS = re.compile(r"(https?:|mailto:|data:image/(png|jpeg);|[^:]*([/?#]|$))", re.IGNORECASE)
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]{,2000000}")


def html(text: str) -> str:
    """The text with no element or attribute that could do something."""
    return clean(text[:LONGEST], tags=TAGS, attributes={"a": ["href"]})


class Links(HTMLParser):
    """Notes whether a page has a link that leads elsewhere than to a page."""

    harmful = False

    def handle_starttag(self, tag: str, attributes: list) -> None:
        addresses = [value or "" for name, value in attributes if name in ("href", "src")]
        self.harmful |= not all(ADDRESS.match(re.sub(r"[\0-\x20]", "", x)) for x in addresses)


def markdown(text: str, attached: dict | None = None) -> str:
    """The same for Markdown, which is left as it is where it has no HTML in it.

    What makes a link that may be a script, also by a formula, or cannot be shown at all, is shown
    as it was typed.
    """
    text = text.replace("\0", "")
    text = html(text) if TAG.search(text) else text
    links = Links()
    try:
        renderer = IPythonRenderer(escape=False, attachments=attached or {})
        page = MarkdownWithMath(renderer=renderer).render(text)
        links.feed(page)
    except (InvalidNotebook, RecursionError):  # a picture that is not there, nesting too deep
        page = None
    if page is None or links.harmful or "\\href" in text or 'class="mermaid"' in page:
        return "As it was typed:\n\n" + indent(text, "    ", lambda line: True)
    return text


def pictures(attachments) -> dict:
    """Of the pictures in a Markdown cell, those that are nothing else."""
    kept = {}
    for name, forms in dict(attachments).items():
        for kind in ("image/png", "image/jpeg"):
            data = forms.get(kind)
            if isinstance(data, str) and BASE64.fullmatch(data):
                kept[name] = {kind: data}
    return kept


def output(data: dict) -> dict:
    """Of the forms in which a cell shows a value, those that can be shown safely."""
    kept = {"text/plain": str(data.get("text/plain", ""))[:LONGEST]}
    if "text/html" in data:
        kept["text/html"] = html(str(data["text/html"]))
    if "text/markdown" in data:
        kept["text/markdown"] = markdown(str(data["text/markdown"])[:LONGEST])
    if BASE64.fullmatch(picture := str(data.get("image/png", ""))) and picture:
        kept["image/png"] = picture
    return kept
