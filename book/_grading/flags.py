"""What a person must look at before a submission gets points: how it may have bent its checks.

`touched` reads the source, `functions` and `changed` look at what a cell has done. They catch what
is done in the open, and do not stop somebody who hides it (see `book._grading`).
"""

import ast
import re
import sys
import types
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress

from IPython.core.inputtransformer2 import TransformerManager

# What judges an answer: the engine, the grading and a chapter's checks (`book.*` may be all three).
WATCHED = re.compile(r"\b(book\.(?:checking|_grading|\w+\.checks|\*)|gc|sys\.modules)(?!\w)")
FAMILIES = {"book", "companion", "numpy", "torch"}


def touched(sources: list[str], ours: Iterable[str] = ()) -> list[list[str]]:
    """For each cell of a notebook, what is `WATCHED` that it imports, uses, or has in a string.

    A statement of the cells that are `ours` is held against nobody, wherever it stands.
    """
    trees = [parsed(source) for source in sources]
    imports = [found for tree in trees for found in _imports(tree)]  # in whichever cell
    known = dict(sorted(imports, key=lambda found: bool(WATCHED.match(found[1]))))  # these win
    given = {_written(x) for source in ours for x in parsed(source).body} - {""}
    for tree in trees:
        tree.body = [x for x in tree.body if _written(x) not in given]
    return [_touched(tree, known) for tree in trees]


def _written(statement: ast.stmt) -> str:
    """A statement without its layout and comments; "" if it is nested too deep."""
    with suppress(RecursionError):
        return ast.dump(statement)
    return ""


def parsed(source: str) -> ast.Module:
    """What IPython would run of a cell: nothing, if it cannot be parsed."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "\d" in a string
            return compile(TransformerManager().transform_cell(source), "<cell>", "exec", flags)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that a cell imports, and what they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            above = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                yield alias.asname or alias.name, above + alias.name


def _touched(tree: ast.AST, known: dict[str, str]) -> list[str]:
    used, said = {target for _, target in _imports(tree)}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            used.add(_meant(node, known))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            said.update(WATCHED.findall(node.value))
    return sorted(said.union(found[1] for found in map(WATCHED.match, used) if found))


def _meant(node: ast.Attribute, known: dict[str, str]) -> str:
    """What an attribute of a name, or one of that, stands for: more names `WATCHED` has nowhere."""
    owner, attributes = node.value, node.attr
    if isinstance(owner, ast.Attribute):
        owner, attributes = owner.value, f"{owner.attr}.{attributes}"
    return f"{known.get(owner.id, owner.id)}.{attributes}" if isinstance(owner, ast.Name) else ""


def functions() -> list[tuple]:
    """What the functions of the `FAMILIES` are now, for `changed`.

    Of a module: its functions, classes and modules. Of a class that is defined there: its methods.
    """
    found = []
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in FAMILIES:
            continue
        found.append((f"sys.modules.{name}", sys.modules, name, module, ()))
        for key, x in list(vars(module).items()):
            if callable(x) or type(x) is types.ModuleType:
                found.append((f"{name}.{key}", vars(module), key, x, _made_of(x)))
            # isinstance would ask the object, which may answer with a warning.
            if issubclass(type(x), type) and x.__module__ == name:
                for method, y in list(vars(x).items()):
                    if callable(y) or type(y) in (staticmethod, classmethod, property):
                        found.append((f"{name}.{key}.{method}", vars(x), method, y, _made_of(y)))
    return found


def _made_of(x) -> tuple:
    """Of a function in Python, what decides what it does."""
    x = x.__func__ if type(x) in (staticmethod, classmethod) else x
    if type(x) is types.FunctionType:
        return x.__code__, x.__defaults__, x.__kwdefaults__
    return ()


def changed(before: list[tuple]) -> list[str]:
    """The names under which there is something else now, or nothing."""
    return [
        name
        for name, place, key, x, made_of in before
        if place.get(key) is not x or (made_of and made_of != _made_of(x))
    ]
