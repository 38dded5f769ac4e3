"""The reference pages: what each part of the packages offers, put together from its docstrings.

A page in `book/api/` says in Markdown what the part is for, and `<!-- reference: companion.nn -->`
where the names of `companion.nn.__all__` are to stand, grouped by the modules that they come from.
`<!-- figures of the chapters -->` stands for those in every chapter's folder, and so for checks.
"""

import ast
import importlib
import inspect
import re
import reprlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import book
from book.checking import Verdict

BOOK = Path(book.__file__).parent
PLACE = re.compile(r"^<!-- reference: ((?:companion|book)[\w.]*) -->$", re.M)
FIGURES, CHECKS = "<!-- figures of the chapters -->", "<!-- checks of the chapters -->"
STABLE = (
    "What this page lists is the public contract of `{name}`: these names, their arguments and "
    "what these mean change only in a new version, with a word in the changelog. Everything else "
    "in the package may change at any time, and so may the results that the chapters measure."
)


def with_reference(page: str) -> str:
    """The Markdown of a page with all public names where it asks for them."""
    page = PLACE.sub(lambda place: "\n".join(_reference(place[1])), page)
    for place, entries, file in (
        (FIGURES, _figures, "chapter.toml"),
        (CHECKS, _checks, "checks.py"),
    ):
        if place in page:
            names = sorted(path.parent.name for path in BOOK.glob(f"*/{file}"))
            page = page.replace(place, "\n".join(line for name in names for line in entries(name)))
    return page


def public_names(name: str) -> dict[str, list[str]]:
    """The names in `__all__` of a part such as "companion.nn", by the modules that define them."""
    part = importlib.import_module(name)
    tree = ast.parse(Path(part.__file__).read_text("utf8"))
    home = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    groups: dict[str, list[str]] = {}
    for public in part.__all__:
        origin = getattr(getattr(part, public), "__module__", name)
        subpackage = ".".join(origin.split(".")[: name.count(".") + 2])
        groups.setdefault(home.get(public, subpackage), []).append(public)
    return dict(sorted(groups.items()))


def _reference(name: str) -> Iterator[str]:
    part = importlib.import_module(name)
    yield STABLE.format(name=name)
    for home, names in public_names(name).items():
        if home != name:
            yield f"\n## {_title(home.rpartition('.')[2], names)}\n"
            yield inspect.getdoc(importlib.import_module(home)).partition("\n\n")[0]
        yield "\n```{eval-rst}"
        yield f".. py:currentmodule:: {name}\n"
        for public in names:
            yield from _entry(part, public)
        yield "```\n"


def _figures(chapter: str) -> Iterator[str]:
    """What a chapter's folder offers by name: its live figures."""
    package = importlib.import_module(f"book.{chapter}")
    yield from _section(package, chapter, package.__all__)


def _checks(chapter: str) -> Iterator[str]:
    """The checks of a chapter's folder: what `exercise` has made, or what gives a `Verdict`."""
    module = importlib.import_module(f"book.{chapter}.checks")
    checks = [
        name
        for name, thing in vars(module).items()
        if inspect.isfunction(thing)
        and thing.__module__ == module.__name__
        and thing.__annotations__.get("return") is Verdict
        and not name.startswith("_")
    ]
    yield from _section(module, chapter, checks)


def _section(module: ModuleType, chapter: str, names: list[str]) -> Iterator[str]:
    if names:
        yield f"\n## {_title(chapter, [])}\n"
        yield inspect.getdoc(module).partition("\n\n")[0]
        yield "\n```{eval-rst}"
        yield f".. py:currentmodule:: {module.__name__}\n"
        for name in names:
            yield from _entry(module, name)
        yield "```\n"


def _title(module: str, names: list[str]) -> str:
    """ "multi_head_attention" as words; "bert" as the class of that name is spelt."""
    spelt = (name for name in names if name.lower() == module)
    return next(spelt, module.replace("_", " ").capitalize())


def _entry(part: ModuleType, public: str) -> Iterator[str]:
    """What tells Sphinx to show one name; a constant is shown by its type and its first entries."""
    thing = getattr(part, public)
    if inspect.isclass(thing):
        yield f".. autoclass:: {public}\n   :members:\n"
    elif callable(thing):
        yield f".. autofunction:: {public}\n"
    else:
        yield f".. py:data:: {public}\n   :type: {type(thing).__name__}\n"
        size = "" if isinstance(thing, str) else f"{len(thing)} entries: "
        yield f"   {size}``{reprlib.repr(thing)}``\n"


def escape_docstring(docstring: list[str]) -> list[str]:
    """Lines in which only backticks mean something to reStructuredText, and those mean code.

    Docstrings are written to be read in an editor: the star in `x * scale` is not emphasis.
    """
    code_or_not = re.split(r"(`+[^`]+`+)", "\n".join(docstring))
    for place in range(0, len(code_or_not), 2):
        code_or_not[place] = re.sub(r"([*|\\]|_(?!\w))", r"\\\1", code_or_not[place])
    for place in range(1, len(code_or_not), 2):
        code_or_not[place] = f"``{code_or_not[place].strip('`')}``"
    return "".join(code_or_not).split("\n")
