"""The reference pages: what each part of `companion` offers, put together from its docstrings.

A page in `book/api/` says in Markdown what the part is for, and `<!-- reference: companion.nn -->`
where the names of `companion.nn.__all__` are to stand. They are grouped by the modules that they
come from. Where a name is a module, as in `companion.checks`, its own functions follow below it.
"""

import ast
import importlib
import inspect
import re
import reprlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

PLACE = re.compile(r"^<!-- reference: (companion[\w.]*) -->$", re.M)
STABLE = (
    "What this page lists is the public contract of `{name}`: these names, their arguments and "
    "what these mean change only in a new version, with a word in the changelog. Everything else "
    "in the package may change at any time, and so may the results that the chapters measure."
)


def with_reference(page: str) -> str:
    """The Markdown of a page with all public names where it asks for them."""
    return PLACE.sub(lambda place: "\n".join(_reference(place[1])), page)


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
        thing = getattr(part, public)  # a live figure's module is imported only now
        origin = getattr(thing, "__module__", name)
        subpackage = ".".join(origin.split(".")[: name.count(".") + 2])
        groups.setdefault(home.get(public, subpackage), []).append(public)
    return dict(sorted(groups.items()))


def _reference(name: str) -> Iterator[str]:
    part = importlib.import_module(name)
    yield STABLE.format(name=name)
    modules = [public for public in part.__all__ if inspect.ismodule(getattr(part, public))]
    for home, names in public_names(name).items():
        names = [public for public in names if public not in modules]
        if not names:
            continue
        if home != name:
            yield f"\n## {_title(home.rpartition('.')[2], names)}\n"
            yield inspect.getdoc(importlib.import_module(home)).partition("\n\n")[0]
        yield "\n```{eval-rst}"
        yield f".. py:currentmodule:: {name}\n"
        for public in names:
            yield from _entry(part, public)
        yield "```\n"
    for public in modules:
        yield from _module(getattr(part, public))


def _module(module: ModuleType) -> Iterator[str]:
    """A module that is itself a public name, with the functions that it defines."""
    yield f"\n## {_title(module.__name__.rpartition('.')[2], [])}\n"
    yield inspect.getdoc(module).partition("\n\n")[0]
    yield "\n```{eval-rst}"
    yield f".. py:currentmodule:: {module.__name__}\n"
    for name, thing in vars(module).items():
        own = inspect.isfunction(thing) and thing.__module__ == module.__name__
        if own and hasattr(thing, "__wrapped__"):  # a check, and not what it is made of
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

    Docstrings are written to be read in an editor: the star in `x * scale` is no emphasis.
    """
    code_or_not = re.split(r"(`+[^`]+`+)", "\n".join(docstring))
    for place in range(0, len(code_or_not), 2):
        code_or_not[place] = re.sub(r"([*|\\]|_(?!\w))", r"\\\1", code_or_not[place])
    for place in range(1, len(code_or_not), 2):
        code_or_not[place] = f"``{code_or_not[place].strip('`')}``"
    return "".join(code_or_not).split("\n")
