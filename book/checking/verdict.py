"""What a check says about an answer."""

from dataclasses import dataclass
from html import escape

TITLES = {
    "not attempted": "Not attempted yet",
    "passed": "Passed",
    "mistake": "Not yet right",
}
BARS = {"not attempted": "#808080", "passed": "#2a9d5c", "mistake": "#d1600a"}


@dataclass(frozen=True)
class Verdict:
    """The answer of a check; a notebook shows it as a box, a terminal as text.

    Args:
        status: "not attempted", "passed" or "mistake".
        mistake: what is wrong, by name; empty unless the status is "mistake".
        example: the smallest input that shows it, with what came and what was expected.
        tried: what an answer that passed was tried on.

    Raises:
        ValueError: the status is none of the three.
    """

    status: str
    mistake: str = ""
    example: str = ""
    tried: str = ""

    def __post_init__(self) -> None:
        if self.status not in TITLES:
            raise ValueError(f"status must be one of {list(TITLES)}, got {self.status!r}")

    def require(self) -> None:
        """Do nothing if the answer passed, as a grader wants it.

        Raises:
            AssertionError: it did not; with the mistake and the example.
        """
        if self.status != "passed":
            raise AssertionError(repr(self))

    def __repr__(self) -> str:
        headline = TITLES[self.status]
        if self.mistake:
            headline += f": {self.mistake}"
        if self.tried:
            headline += f": tried on {self.tried}"
        return f"{headline}\n{self.example}" if self.example else headline

    def _repr_html_(self) -> str:
        # Text keeps the page's own colour, so that it can be read on light and on dark paper.
        headline, _, example = escape(repr(self)).partition("\n")
        title = TITLES[self.status]
        headline = headline.replace(title, f"<strong>{title}</strong>", 1)
        if example:
            style = "margin:.4em 0 0;background:transparent;color:inherit;white-space:pre-wrap"
            headline += f'<pre style="{style}">{example}</pre>'
        style = f"border-left:.3em solid {BARS[self.status]};padding:.3em .8em;margin:.4em 0"
        return f'<div role="status" style="{style}">{headline}</div>'
