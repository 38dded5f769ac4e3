"""Real text that comes with every Python: the source of its standard library."""

import ast
import sys
import sysconfig
import tokenize
from pathlib import Path

from companion.data.sampling import SPLITS, seeded
from companion.validation import require_choice

KINDS = ("source", "docstrings")


def standard_library_text(
    max_characters: int | None = None, *, kind: str = "source", split: str = "train"
) -> str:
    """The modules of the standard library that are one file each, one after another by name.

    The text depends on the version of Python, so report that with any result
    (`platform.python_version()`). Of the modules, about an eighth is kept for `split="validation"`
    and an eighth for `split="test"`. A module's name decides: it is in the same split with every
    version. What a distributor adds to the folder is left out.

    Args:
        max_characters: the text is cut after so many; None for all, some millions of them.
        kind: "source" for whole files, "docstrings" for the English in them: what is written about
            modules, classes and functions.
        split: "train", "validation" or "test".

    Raises:
        ValueError: a negative number, or another kind or split.
        FileNotFoundError: this Python was installed without the source of its library.
    """
    if max_characters is not None and max_characters < 0:
        raise ValueError(f"max_characters is {max_characters}; ask for 0 or more, or None for all")
    require_choice("kind", kind, KINDS)
    require_choice("split", split, SPLITS)
    folder = Path(sysconfig.get_path("stdlib"))
    modules = {path.stem for path in folder.glob("*.py")} & sys.stdlib_module_names
    if not modules:
        raise FileNotFoundError(
            f"there are no .py files in {folder}: this Python keeps its library elsewhere, in a "
            "zip file perhaps; use a Python from python.org, conda or your system"
        )
    pieces, length = [], 0
    for module in sorted(module for module in modules if _split_of(module) == split):
        with tokenize.open(folder / f"{module}.py") as file:  # in the encoding that the file names
            source = file.read()
        pieces.append(source if kind == "source" else _docstrings(source))
        length += len(pieces[-1]) + bool(pieces[-1])  # an empty one is left out
        if max_characters is not None and length > max_characters:
            break
    return "\n".join(filter(None, pieces))[:max_characters]


def _split_of(module: str) -> str:
    drawn = seeded(f"standard library: {module}", 0).random()
    return "validation" if drawn < 1 / 8 else "test" if drawn < 2 / 8 else "train"


def _docstrings(source: str) -> str:
    """All docstrings of a module in the order of the file, an empty line between them."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, documented)]
    nodes.sort(key=lambda node: getattr(node, "lineno", 0))
    texts = [ast.get_docstring(node) for node in nodes]
    return "".join(f"{text}\n\n" for text in texts if text)
