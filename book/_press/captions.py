"""Numbers below the plots of a page: a class can speak of figure 3, and a link can lead there.

Live figures have titles of their own. A plot in a notebook has no number: where one begins to count
is the page's matter.
"""

import re
from collections.abc import Iterable
from itertools import count

PLOT = re.compile(r'<img class="companion-figure"[^>]* data-caption="([^"]*)"[^>]*>')


def with_captions(cells: Iterable[dict]) -> None:
    """Put every plot of a notebook's code cells into a numbered figure with an address."""
    numbers = count(1)

    def figure(plot: re.Match) -> str:
        name = f"figure-{next(numbers)}"
        number = f'<a href="#{name}">{name.replace("-", " ").capitalize()}</a>'
        said = re.sub(r"\$(.+?)\$", r"<i>\1</i>", plot[1])
        caption = f"{number}. {said}" if said else number
        return f'<figure id="{name}">{plot[0]}<figcaption>{caption}</figcaption></figure>'

    for cell in cells:
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/html" in data:
                data["text/html"] = PLOT.sub(figure, "".join(data["text/html"]))
