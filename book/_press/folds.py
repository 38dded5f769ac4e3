"""What folded code is called in the book: by what it shows, or else by what it defines.

The prompt of _config.yml stays where neither says anything.
"""

import ast
from collections.abc import Iterable

# What an output contains, and what its code is called then; the first that is found decides.
SHOWN = {
    'data-figure="prediction"': "The code of this question",
    'data-figure="quiz"': "The code of the quiz",
    "data-figure=": "The code of this figure",
    "companion-figure": "The code of this plot",
    "image/": "The code of this plot",
    "```": "Where this code comes from",
    ":--": "The code of this table",
    "<table": "The code of this table",
}


def with_names(cells: Iterable[dict]) -> None:
    """Name the folds of all cells tagged `hide-input` that have no name yet.

    Args:
        cells: code cells with their outputs, as in the file of a notebook.
    """
    for cell in cells:
        metadata = cell["metadata"]
        name = _name("".join(cell["source"]), cell["outputs"])
        if "hide-input" in metadata.get("tags", ()) and name:
            prompts = {f"code_prompt_{way}": name for way in ("show", "hide")}
            metadata["mystnb"] = prompts | metadata.get("mystnb", {})


def _name(source: str, outputs: list[dict]) -> str:
    """The name of one fold, or nothing."""
    if "import setup" in source:
        return "Set-up"
    shown = []
    for output in outputs:
        for kind, text in output.get("data", {}).items():
            shown.append("image/" if kind.startswith("image/") else "")
            if kind in ("text/html", "text/markdown"):
                shown.append("".join(text))
    for sign, name in SHOWN.items():
        if any(sign in text for text in shown):
            return name
    if any("text" in output for output in outputs):
        return "The code of these lines"
    return _defined(source)


def _defined(source: str) -> str:
    """After the first two functions and classes of a cell, or else after its last two variables."""
    try:
        body = ast.parse(source).body
    except SyntaxError:  # a magic
        return ""
    made = [f"{node.name}()" for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    if made:
        return f"The code of {' and '.join(made[:2])}"
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    nodes = [node for target in targets for node in ast.walk(target)]
    found = [node.id for node in nodes if isinstance(node, ast.Name) and node.id != "_"]
    names = list(dict.fromkeys(found))[-2:]
    return f"Where {' and '.join(names)} come{'s' * (len(names) == 1)} from" if names else ""
