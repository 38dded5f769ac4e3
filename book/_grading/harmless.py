"""What students have written, fit for the pages that an instructor opens: without scripts."""

import re
from html import unescape
from textwrap import indent

from bleach import ALLOWED_TAGS, clean
from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath

LONGEST = 200_000  # letters
TAGS = [*ALLOWED_TAGS, "p", "div", "span", "pre", "br", "details", "summary"]
TAG = re.compile(r"<[a-zA-Z/!?]")
LINK = re.compile(r"\b(?:href|src)\s*=\s*[\"']?([^\"'>]*)", re.IGNORECASE)
SAFE = re.compile(r"(https?:|mailto:|data:image/(png|jpeg);|[^:]*([/?#]|$))", re.IGNORECASE)
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]{,2000000}")


def html(text: str) -> str:
    """The text with no element or attribute that could do something."""
    return clean(text[:LONGEST], tags=TAGS, attributes={"a": ["href"]})


def markdown(text: str, attached: dict | None = None) -> str:
    """The same for Markdown, which is left as it is where it has no HTML in it.

    What makes a link that may be a script, also by a formula, or cannot be shown at all, is shown
    as it was typed.
    """
    text = text.replace("\0", "")
    text = html(text) if TAG.search(text) else text
    try:
        renderer = IPythonRenderer(escape=False, attachments=attached or {})
        page = MarkdownWithMath(renderer=renderer).render(text)
        links = (re.sub(r"[\0-\x20]", "", unescape(link)) for link in LINK.findall(page))
        safe = all(map(SAFE.match, links)) and "\\href" not in text and "mermaid" not in page
    except (InvalidNotebook, RecursionError):  # a picture that is not there, nesting too deep
        safe = False
    return text if safe else "As it was typed:\n\n" + indent(text, "    ", lambda line: True)


def pictures(attachments: dict) -> dict:
    """Of the pictures in a Markdown cell, those that are nothing else."""
    return {
        name: {kind: data}
        for name, forms in attachments.items()
        for kind, data in forms.items()
        if kind in ("image/png", "image/jpeg") and BASE64.fullmatch(str(data))
    }


def output(data: dict) -> dict:
    """Of the forms in which a cell shows a value, those that can be shown safely."""
    kept = {"text/plain": str(data.get("text/plain", ""))[:LONGEST]}
    if "text/html" in data:
        kept["text/html"] = html(str(data["text/html"]))
    if BASE64.fullmatch(picture := str(data.get("image/png", ""))) and picture:
        kept["image/png"] = picture
    return kept
