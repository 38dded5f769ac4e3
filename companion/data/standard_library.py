"""Real text that every Python brings along: the source of its own standard library."""

import ast
import sysconfig
import tokenize
from pathlib import Path

from companion.data.sampling import part, seeded
from companion.validation import require_choice

KINDS = ("source", "docstrings")


def standard_library_text(
    max_characters: int | None = None, *, kind: str = "source", split: str = "train"
) -> str:
    """The modules of the standard library that are one file each, one after another by name.

    The text depends on the version of Python, which a reader should be told
    (`platform.python_version()`), and on nothing else. Of the modules, an eighth is kept for
    `split="validation"` and an eighth for `split="test"`.

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
    folder = Path(sysconfig.get_path("stdlib"))
    names = sorted(path.name for path in folder.glob("*.py"))
    if not names:
        raise FileNotFoundError(
            f"there are no .py files in {folder}: this Python keeps its library elsewhere, in a "
            "zip file perhaps; use a Python from python.org, conda or your system"
        )
    pieces, length = [], 0
    for name in sorted(part(names, split, seeded("standard library: what is held out", 0))):
        with tokenize.open(folder / name) as file:  # in the encoding that the file names
            source = file.read()
        pieces.append(source if kind == "source" else _docstrings(source))
        length += len(pieces[-1]) + 1
        if max_characters is not None and length > max_characters:
            break
    return "\n".join(filter(None, pieces))[:max_characters]


def _docstrings(source: str) -> str:
    """All docstrings of a module in the order of the file, an empty line between them."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, documented)]
    nodes.sort(key=lambda node: getattr(node, "lineno", 0))
    texts = [ast.get_docstring(node) for node in nodes]
    return "".join(f"{text}\n\n" for text in texts if text)
