"""Live figures: JavaScript that runs both in a notebook and on the static page.

A figure is one file `<name>.js`, `export default { render }`, beside the Python that makes its
data. It imports what it needs from `kit/`. Linked with that, it is an anywidget module. The figures
of a page, with `kit/shim.js` in place of the widget manager, are linked into one classic script,
which needs neither a kernel nor a server.
"""

import base64
import html
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import anywidget
import numpy as np
import torch
import traitlets

from book.page.linker import linked

KIT = Path(__file__).parent / "kit"
BOOK = Path(__file__).parents[1]
DELIVER = "companionDelivers"  # kit/deliver.js waits for it
PACKED = re.compile(r'"float16": "([A-Za-z0-9+/=]{64,})"')  # not worth it for fewer numbers


class LiveFigure(anywidget.AnyWidget):
    """One live figure.

    In a notebook it is a widget: `value` follows the reader's controls, so `observe` it or link it,
    and setting it moves them. In the static book the same script runs without a kernel, and
    `fallback` is shown until it does.

    Args:
        beside: the Python file whose script, of the same name, lies beside it; pass `__file__`.
        data: what the figure is made of, as JSON.
        value: what the reader sets, as JSON, at its start.
        fallback: HTML with the numbers of the start, for a page without JavaScript (`table`).

    Raises:
        FileNotFoundError: there is no such script.
        ValueError: there is no fallback, or a number is infinite or NaN.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    value = traitlets.Dict().tag(sync=True)

    def __init__(self, beside: str, data: dict, value: dict, fallback: str) -> None:
        script = Path(beside).with_suffix(".js")
        name = script.stem
        if not fallback:
            raise ValueError(f"live figure {name!r} needs a fallback: its numbers as an HTML table")
        for at, number in _not_finite({"data": data, "value": value}):
            raise ValueError(f"live figure {name!r} cannot show {number}, which is its {at}")
        self.name, self.fallback = name, fallback
        super().__init__(_esm=module(script), data=data, value=value)

    def to_html(self) -> str:
        """The figure for a static page: its data and its fallback, the same text every time."""
        state = json.dumps({"data": self.data, "value": self.value}, ensure_ascii=False)
        state = state.replace("<", "\\u003c")  # no "</script>" inside the script element
        return (
            f'<div class="companion-live" data-figure="{self.name}">'
            f'<script type="application/json">{state}</script>{self.fallback}</div>'
        )

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        data = data | {"text/plain": f"<LiveFigure {self.name}>"}  # without a memory address
        if "google.colab" not in sys.modules:  # Colab would show the HTML instead of the widget
            data["text/html"] = self.to_html()
        return data, metadata


def scripts() -> dict[str, Path]:
    """The scripts of all live figures of the book, by name."""
    return {path.stem: path for path in sorted(BOOK.glob("*/figures/*.js"), key=lambda p: p.stem)}


def module(script: Path) -> str:
    """The text of one figure as an ES module, with what it imports.

    Raises:
        ValueError: as `linker.linked`.
    """
    return f'{linked(script)}export default load("{script.name}");\n'


def bundle(names: Iterable[str] | None = None) -> str:
    """The text of a static page's script: its figures, all if none are named, and the shim.

    Raises:
        ValueError: as `linker.linked`.
    """
    files = scripts()
    figures = [files[name] for name in sorted(files if names is None else names)]
    text = linked(KIT / "shim.js", *figures)
    return f'(function () {{\n"use strict";\n{text}load("shim.js").start(load);\n}})();\n'


def worker() -> str:
    """The text of the worker in which a published encoder runs; no page carries it.

    Raises:
        ValueError: as `linker.linked`.
    """
    return f'"use strict";\n{linked(KIT / "worker.js")}load("worker.js");\n'


def deliver(file: Path, content: object) -> None:
    """Write what a page fetches on a click: a classic script, as a page from the disk reads it."""
    file.write_text(f"{DELIVER}({json.dumps(content)});\n", "utf8")


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence]) -> str:
    """An HTML table; the first cell of every row is its heading, numbers get three decimals."""

    def cell(tag: str, content: object) -> str:
        text = f"{content:.3f}" if isinstance(content, float) else str(content)
        scope = {"th": ' scope="row"', "td": ""}[tag]
        return f"<{tag}{scope}>{html.escape(text)}</{tag}>"

    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    body = "".join(
        f"<tr>{cell('th', first)}{''.join(cell('td', content) for content in rest)}</tr>"
        for first, *rest in rows
    )
    return (
        f"<table><caption>{html.escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def packed(tensor: torch.Tensor) -> dict:
    """A tensor as JSON: its shape, and its numbers as base64 of little-endian float16.

    Raises:
        ValueError: a number is too large for float16.
    """
    numbers = tensor.detach().cpu().float().numpy().astype("<f2")
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"the figure's numbers travel as float16, up to 65504; got {tensor.abs().max():g}"
        )
    return {"shape": list(tensor.shape), "float16": base64.b64encode(numbers.tobytes()).decode()}


def without_repetition(page: str) -> str:
    """The page with numbers that several figures share, such as a model's weights, stored once.

    What `packed` wrote keeps its text in the first figure and gets a number there, `once`; the
    others have this number only, and the shim puts the text back.
    """
    counts = Counter(PACKED.findall(page))
    numbers = {text: i for i, text in enumerate(t for t, n in counts.items() if n > 1)}
    written = set()

    def written_once(found: re.Match) -> str:
        text = found[1]
        if text not in numbers:
            return found[0]
        first = text not in written
        written.add(text)
        return f'"once": {numbers[text]}' + (f", {found[0]}" if first else "")

    return PACKED.sub(written_once, page)


def _not_finite(content: object, at: str = "") -> Iterator[tuple[str, float]]:
    """Where there are numbers that JSON lacks, as "data['losses'][3]", and which."""
    if isinstance(content, float) and not math.isfinite(content):
        yield at, content
    elif isinstance(content, Mapping):
        for key, part in content.items():
            yield from _not_finite(part, f"{at}[{key!r}]" if at else key)
    elif isinstance(content, list | tuple):
        for i, part in enumerate(content):
            yield from _not_finite(part, f"{at}[{i}]")
