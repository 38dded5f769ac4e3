"""The book for programs that read: every page as Markdown beside its HTML, and `llms.txt`.

A page is complete: formulas, code, outputs, claims with their range over seeds, what figures show.
`llms.txt` (https://llmstxt.org) lists the pages in the order of the table of contents.
"""

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import is_typeddict

import yaml

from book._press.cards import spread
from book.page.claims import MIMETYPE, Claim, short, typeset

SCRIPT = re.compile(r"<script.*?</script>", re.S)
PICTURE = re.compile(
    r' src="data:[^"]*"| style="[^"]*"|<svg[^>]* aria-hidden="true".*?</svg>', re.S
)
REST = re.compile(r"^```\{eval-rst\}\n(.*?)^```\n", re.M | re.S)
MODULE = re.compile(r"^\.\. py:currentmodule:: ([\w.]+)$", re.M)
NAME = re.compile(r"^\.\. (?:auto\w+|py:data):: (\w+)$", re.M)
NOTEBOOK = re.compile(r"(\]\([\w/.]+)\.ipynb(?=[)#])")


def chapter(notebook: dict, rows: list[dict]) -> str:
    """A notebook with its outputs as Markdown.

    Args:
        notebook: as in a file.
        rows: what other seeds measured (`claims.read_rows`).
    """
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += filter(None, (_shown(output, rows) for output in cell["outputs"]))
    return NOTEBOOK.sub(r"\1.md", "\n\n".join(parts)) + "\n"


def _shown(output: dict, rows: list[dict]) -> str:
    """What a cell shows, as Markdown; a figure as the table or the sentence that stands for it."""
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = output.get("data", {})
    if MIMETYPE in data:
        claim = Claim.shown(data[MIMETYPE])
        others = spread(claim, [row for row in rows if row["claim"] == claim.sentence])
        number, bound = typeset(short(claim.value)), typeset(claim.demand)
        return f"> **Claim.** {claim.sentence} Measured {number}; must be {bound}; {others}."
    if "text/html" in data:
        return _without_data("".join(data["text/html"])).strip()
    if "application/vnd.jupyter.widget-view+json" in data:
        return ""  # the bar of a loop that is over
    return "".join(data.get("text/markdown", data.get("text/plain", "")))


def _without_data(html: str) -> str:
    """What a figure or a picture says in words, without the numbers that it is drawn from."""
    return PICTURE.sub("", SCRIPT.sub("", html))


def reference(page: str) -> str:
    """The Markdown of a page with signatures and docstrings where Sphinx would put them."""
    page = REST.sub(lambda block: "\n".join(_documented(block[1])), page)
    return NOTEBOOK.sub(r"\1.md", _without_data(page))


def _documented(block: str) -> Iterator[str]:
    module = importlib.import_module(MODULE.search(block)[1])
    for name in NAME.findall(block):
        thing = getattr(module, name)
        yield from _entry(name, thing)
        if inspect.isclass(thing):
            for method, function in vars(thing).items():
                if not method.startswith("_") and inspect.isfunction(function):
                    yield from _entry(f"{name}.{method}", function)


def _entry(name: str, thing: object) -> Iterator[str]:
    is_called = callable(thing) and not is_typeddict(thing)
    signature = str(inspect.signature(thing)) if is_called else ""
    yield f"### `{name}{signature}`\n"
    if callable(thing) and thing.__doc__:
        yield f"```text\n{inspect.getdoc(thing)}\n```\n"


def contents(toc: Path, title: str, titles: Mapping[str, str], says: Mapping[str, str]) -> str:
    """The text of `llms.txt`: how to tutor with the book, and the pages, but for solutions.

    Args:
        toc: the file that names the pages.
        title: of the book.
        titles: of the pages, by their names without ending.
        says: what a page is about, of those of which it is known.
    """
    book = yaml.safe_load(toc.read_text("utf8"))
    lines = [f"# {title}", ""]
    if book["root"] in says:
        lines += [f"> {says[book['root']]}", ""]
    lines += [
        "Before you help with an exercise, read [how to tutor with this book](AGENTS.md).",
        "",
    ]
    for part in book.get("parts") or [{"caption": "Pages", "chapters": book["chapters"]}]:
        lines += [f"## {part['caption']}", ""]
        for name in _names(part["chapters"]):
            if name.endswith("_solutions"):
                continue
            about = f": {says[name]}" if name in says else ""
            lines.append(f"- [{titles[name]}]({name}.md){about}")
        lines.append("")
    return "\n".join(lines)


def _names(entries: list[dict]) -> Iterator[str]:
    for entry in entries:
        yield entry["file"]
        yield from _names(entry.get("sections", []))
