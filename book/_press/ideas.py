"""The page of ideas and arguments: `python -m book._press.ideas > book/api/ideas.md`."""

import tomllib
from pathlib import Path

import nbformat

BOOK = Path(__file__).parents[1]
SOURCE = BOOK / "api" / "ideas.toml"
HEAD = """# Ideas and arguments

Which argument is which idea, the paper that had it, and the chapter that measures it.

| idea | in the package | paper | measured in |
| --- | --- | --- | --- |"""


def ideas() -> list[list[str]]:
    """A row for each idea: its name, where, the argument or "", the paper, its number, the cell."""
    return tomllib.loads(SOURCE.read_text("utf8"))["ideas"]


def page() -> str:
    """The page in Markdown."""
    lines = [HEAD]
    for idea, where, argument, paper, number, place in ideas():
        part, _, name = where.partition(".")
        shown = f"[`{name}`]({part}.md#companion.{where})" + f", `{argument}`" * bool(argument)
        chapter, _, address = place.partition("#")
        notebook = f"{chapter}/{chapter}.ipynb"
        title = nbformat.read(BOOK / notebook, as_version=4).cells[0].source
        title = title.partition("\n")[0].removeprefix("# ")
        cells = [idea, shown, f"[{paper}](https://arxiv.org/abs/{number})"]
        lines.append(f"| {' | '.join(cells)} | [{title}](../{notebook}#{address}) |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
