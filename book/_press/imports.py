"""What a piece of code imports of the two packages, transitively, read without running it."""

import ast
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

PACKAGES = ("companion", "book")


class Code(NamedTuple):
    """What some code contains: the dotted names that it imports, and its strings."""

    imports: frozenset[str]
    strings: frozenset[str]


@cache
def read_code(source: str, package: str = "") -> Code:
    """The imports, those inside functions included, and the strings of Python code.

    Args:
        source: Python.
        package: the package that relative imports start from.

    Returns:
        `from a import b` counts as a.b, whether b is a module or a name in a.

    Raises:
        SyntaxError: it is not Python.
    """
    imports, strings = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            imports |= {f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
    return Code(frozenset(imports), frozenset(strings))


def read_notebook(notebook: nbformat.NotebookNode) -> Code:
    """As `read_code`, of a notebook's code cells.

    So that none is missed behind a magic, imports in a string count (`%time import companion.nn`),
    and so does every dotted name in a package (`!python -m companion.train`).
    """
    imports, strings = set(), set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            imports |= set(re.findall(rf"\b(?:{'|'.join(PACKAGES)})(?:\.\w+)*", cell.source))
            code = _read_if_python(cell.source)
            imports |= code.imports
            strings |= code.strings
            for string in code.strings:
                if any(package in string for package in PACKAGES):
                    imports |= _read_if_python(string).imports
    return Code(frozenset(imports), frozenset(strings))


def _read_if_python(source: str) -> Code:
    """The code, without its magics if it is no Python with them, or nothing."""
    for python in (lambda: source, lambda: TransformerManager().transform_cell(source)):
        with suppress(SyntaxError):  # of a cell, the kernel will say so
            return read_code(python())
    return Code(frozenset(), frozenset())


def dependencies(code: Code, root: Path) -> set[Path]:
    """The files of both packages in `root` that the results of running `code` can depend on.

    These are the modules that it imports, transitively, with the `__init__` of every package on
    the way, and each data file beside one of them that is named in a string of a module or of the
    code. The figures' JavaScript does not count: no output contains it.
    """
    modules, strings = set(), set(code.strings)
    waiting = [*code.imports]
    names = {*waiting}
    while waiting:
        for module in _modules(waiting.pop(), root) - modules:
            if not module.is_file():
                continue
            modules.add(module)
            found = read_code(module.read_text("utf8"), _package_of(module, root))
            strings |= found.strings
            waiting += found.imports - names
            names |= found.imports
    beside = (file for folder in {module.parent for module in modules} for file in folder.iterdir())
    data = {file for file in beside if file.name in strings and file.is_file()}
    return modules | {file for file in data if file.suffix not in (".py", ".pyc", ".js")}


@cache
def _modules(name: str, root: Path) -> set[Path]:
    """The files that Python runs, if there, to import a dotted name of the packages."""
    parts = name.split(".")
    if parts[0] not in PACKAGES:
        return set()
    paths = [root.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)]
    return {path / "__init__.py" for path in paths} | {path.with_suffix(".py") for path in paths}


def _package_of(module: Path, root: Path) -> str:
    return ".".join(module.parent.relative_to(root).parts)
