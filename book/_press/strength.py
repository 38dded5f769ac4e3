"""The page of what the checks know: each check, and the mistakes that it tells by name.

The page says in Markdown what that is about, with the numbers {checks} and {mistakes}, and
`<!-- checks -->` where they are to stand, chapter by chapter.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from book._press.execute import notebooks
from book.checking.rungs import Ladder

PLACE = "<!-- checks -->"


def with_mistakes(page: str, root: Path) -> str:
    """The Markdown of a page with all checks where it asks for them."""
    if PLACE not in page:
        return page
    chapters = dict.fromkeys(path.parent.name for path in notebooks(root))
    known = {name: ladders_of(name) for name in chapters if _has_checks(root, name)}
    lines = []
    for chapter, ladders in known.items():
        lines += [f"## {chapter.replace('_', ' ').capitalize()}", ""] if ladders else []
        for check, ladder in ladders.items():
            lines += _listed(check, ladder)
    ladders = [ladder for of_chapter in known.values() for ladder in of_chapter.values()]
    mistakes = sum(len(ladder.mistakes) for ladder in ladders)
    page = page.format(checks=len(ladders), mistakes=mistakes)
    return page.replace(PLACE, "\n".join(lines))


def ladders_of(chapter: str) -> dict[Callable, Ladder]:
    """Each check of a chapter with its ladder, which is called like it, in capitals."""
    module = import_module(f"book.{chapter}.checks")
    named = {name: x for name, x in vars(module).items() if isinstance(x, Ladder)}
    return {getattr(module, name.lower()): ladder for name, ladder in named.items()}


def _has_checks(root: Path, chapter: str) -> bool:
    return (root / "book" / chapter / "checks.py").exists()


def _listed(check: Callable, ladder: Ladder) -> Iterator[str]:
    """One check: what it asks, what it tries, and in a fold the mistakes that it knows."""
    asks = inspect.getdoc(check).partition("\n\n")[0].removeprefix("Check ").replace("\n", " ")
    yield f"### {check.__name__}\n"
    yield f"{_escaped(asks)}\n"
    known = f"{len(ladder.mistakes)} mistakes by name"
    yield f"<details><summary>What it tries, and {known}</summary>\n"
    yield from (f"1. {_escaped(rung.idea)}" for rung in ladder.rungs)
    yield ""
    yield from (f"- *{_escaped(mistake)}*" for mistake in ladder.mistakes)
    yield "\n</details>\n"


def _escaped(text: str) -> str:
    """The text with all of Markdown escaped except backticks."""
    parts = re.split(r"(`[^`]+`)", text)
    parts[::2] = [re.sub(r"([\\*_|<>~$\[\]])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)
