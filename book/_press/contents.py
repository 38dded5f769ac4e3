"""The book's contents, with the pages of solutions or, where SOLUTIONS=no is set, without them.

Without them no page is made of a solution, none links to one, and none is in the search or among
the sources. They are the pages whose names end in `_solutions`.
"""

import json
import os
import re
from pathlib import Path

import yaml

PAGE = re.compile(r".*_solutions$")
LINE_THAT_LINKS = re.compile(r"^.*\]\([^)\s]*_solutions\.ipynb.*\n?", re.M)


def wanted() -> bool:
    """Whether the book has its solutions: SOLUTIONS, of the environment, is not "no".

    Raises:
        ValueError: it is neither "yes" nor "no".
    """
    said = os.environ.get("SOLUTIONS", "yes")
    if said not in ("yes", "no"):
        raise ValueError(f"SOLUTIONS is {said!r}; it must be yes or no")
    return said == "yes"


def table_of_contents(root: Path) -> Path:
    """The file that names the pages: `_toc.yml`, or one made of it without the solutions."""
    path = root / "_toc.yml"
    if wanted():
        return path
    contents = _without_solutions(yaml.safe_load(path.read_text("utf8")))
    path = root / "_build" / "toc_without_solutions.yml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(contents), "utf8")
    return path


def _without_solutions(contents):
    """A part of the table of contents; of a page that held nothing else, no list is left."""
    if isinstance(contents, list):
        kept = [entry for entry in contents if not PAGE.match(entry.get("file", ""))]
        return [_without_solutions(entry) for entry in kept]
    if isinstance(contents, dict):
        below = {key: _without_solutions(value) for key, value in contents.items()}
        return {key: value for key, value in below.items() if value != []}
    return contents


def page_source(text: str, suffix: str) -> str:
    """The text of a page's file, ".md" or ".ipynb": without solutions, no line links to one."""
    if wanted():
        return text
    if suffix == ".md":
        return LINE_THAT_LINKS.sub("", text)
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = LINE_THAT_LINKS.sub("", "".join(cell["source"]))
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
