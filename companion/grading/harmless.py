"""What students have written, fit for the pages that an instructor opens: without scripts."""

import re

from bleach import ALLOWED_TAGS, clean

LONGEST = 200_000  # letters
TAGS = [*ALLOWED_TAGS, "p", "div", "span", "pre", "br", "details", "summary"]
TAG = re.compile(r"<[a-zA-Z/!?]")
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]{,2000000}")


def html(text: str) -> str:
    """The text with no element or attribute that could do something."""
    return clean(text[:LONGEST], tags=TAGS, attributes={"a": ["href"]})


def markdown(text: str) -> str:
    """The same for Markdown, which is left as it is where it has no HTML in it."""
    return html(text) if TAG.search(text) else text


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
