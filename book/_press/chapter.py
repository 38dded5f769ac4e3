"""Write a new chapter: `python -m book._press.chapter my_topic --part "The idea"`.

What it writes is `chapter.txt` beside this file, with the chapter's name in it, the set-up cell of
another chapter, and the lines in `_toc.yml`, `book/index.md` and `book/findings.md`. Its notebook
runs. What is left to write says so, "TO WRITE: ...", and the tests that it names fail until all of
it is written.
"""

import argparse
import keyword
import re
from pathlib import Path

import nbformat

from book._grading.student import EXERCISES, SOLUTIONS, student_copy
from book._press.execute import TO_DO, chapters
from book._press.folds import FOLDED
from book._press.path import ROW

TEMPLATE = Path(__file__).with_suffix(".txt")
TESTS = (  # they say what is left, in the order in which it is done
    *("tests/book/test_chapters.py", "tests/book/press/test_path.py"),
    *("tests/book/test_exercises.py", "tests/book/checking/test_answers.py"),
    *("tests/book/page/test_quizzes.py", "tests/book/test_links.py"),
    "tests/book/test_notation.py",
)
PART = re.compile(r"(?m)^### (.+)\n\n((?:- \[.+\n)+)")
IN_TOC = """\
      - file: book/{0}/{0}
        sections:
          - file: book/{0}/{0}_exercises
            title: Exercises
            sections:
              - file: book/{0}/{0}_solutions
                title: Solutions
"""
FINDINGS = """
## {1}

- TO WRITE: what was found, [with its claim]({0}/{0}.ipynb#cell-claim-mean); move it where it fits.

<!-- numbers -->
"""
# The kinds of cells beside "markdown" and "code" that nbgrader knows, and what it calls them.
GRADED = {
    "stub": {"grade": False, "locked": False, "solution": True},
    "check": {"grade": True, "locked": True, "solution": False, "points": 1},
    "answer": {"grade": True, "locked": False, "solution": True, "points": 1},
}


def files(name: str) -> dict[str, str]:
    """What a new chapter consists of, path by path, in the order in which it is written."""
    text = TEMPLATE.read_text("utf8").replace("my_topic", name)
    for form in (str.capitalize, str):  # in a title, and in a sentence
        text = text.replace(form("my topic"), form(name.replace("_", " ")))
    _, *parts = re.split(r"(?m)^==> (.+)\n", text)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def notebook(text: str, set_up: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A notebook of cells that each begin with a line `%% kind id tags`."""
    found = nbformat.v4.new_notebook()
    found.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    _, *parts = re.split(r"(?m)^%% (.+)\n", text)
    for head, source in zip(parts[::2], parts[1::2], strict=True):
        kind, name, *tags = head.split()
        if kind == "set-up":
            found.cells.append(set_up)
            continue
        prose = kind in ("markdown", "answer")
        make = nbformat.v4.new_markdown_cell if prose else nbformat.v4.new_code_cell
        cell = make(source.rstrip("\n"), id=name)
        if tags:
            cell.metadata["tags"] = tags
        if FOLDED & {*tags}:
            cell.metadata |= {"cellView": "form", "jupyter": {"source_hidden": True}}
        if kind in GRADED:
            more = {"schema_version": 3, "grade_id": name, "task": False}
            cell.metadata["nbgrader"] = GRADED[kind] | more
        found.cells.append(cell)
    return found


def scaffold(root: Path, name: str, part: str | None = None) -> list[str]:
    """Write the chapter `name` at the end of a part, the last if none is named; its files.

    Raises:
        ValueError: the name cannot be a chapter's or is taken, or there is no such part. Nothing is
            written then.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name) or TO_DO.search(name):
        raise ValueError(
            f"{name!r} cannot be a chapter's name: write its topic as a Python name in small "
            "letters, as self_attention, that does not begin with debug_"
        )
    for taken in (f"book/{name}", f"book/{name}.py", f"book/{name}.md", f"tests/book/{name}"):
        if (root / taken).exists():
            raise ValueError(f"{taken} is there already: take another name, or remove it first")
    if unfinished := [*root.glob("book/*/figures/square.js")]:
        raise ValueError(f"{unfinished[0].relative_to(root)} is a new chapter's: finish that first")
    changed = {at: (root / at).read_text("utf8") for at in ("_toc.yml", "book/index.md")}
    parts = dict(PART.findall(changed["book/index.md"]))
    if part and part not in parts:
        raise ValueError(f"there is no part {part!r}; there are {', '.join(parts)}")
    (*_, (row, last)) = ((m[0], m["name"]) for m in ROW.finditer(parts[part or [*parts][-1]]))
    title = name.replace("_", " ").capitalize()
    for at, before, new in (
        ("_toc.yml", IN_TOC.format(last), IN_TOC.format(name)),
        ("book/index.md", f"{row}\n", f"- [{title}]({name}/{name}.ipynb)\n"),
    ):
        if changed[at].count(before) != 1:
            raise ValueError(f"{at} has the chapter {last} in a form of its own, not\n{before}")
        changed[at] = changed[at].replace(before, before + new)
    findings = (root / "book/findings.md").read_text("utf8")
    changed["book/findings.md"] = findings + FINDINGS.format(name, title)

    first = nbformat.read(chapters(root)[0], as_version=4)
    set_up = next(cell for cell in first.cells if cell.cell_type == "code")
    for at, text in (files(name) | changed).items():
        (root / at).parent.mkdir(parents=True, exist_ok=True)
        if not at.endswith(".ipynb"):
            (root / at).write_text(text, "utf8")
            continue
        made = notebook(text, set_up)
        nbformat.write(made, root / at)
        if at.endswith(SOLUTIONS):
            copied = (root / at).with_name(f"{name}{EXERCISES}")
            nbformat.write(student_copy(made), copied)
    return [*files(name), f"book/{name}/{name}{EXERCISES}", *changed]


def main(root: Path, arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m book._press.chapter", description=__doc__)
    parser.add_argument("name", help="the topic as a Python name: self_attention")
    parser.add_argument("--part", help="of book/index.md; the last one, if none is named")
    options = parser.parse_args(arguments)
    try:
        written = scaffold(root, options.name, options.part)
    except ValueError as error:
        parser.exit(2, f"error: {error}\n")
    print(*(f"wrote {at}" for at in written), sep="\n")
    only = f'-k "{options.name} or not ["'  # its own tests, and those of all chapters at once
    print("These say what is left, in its order:\n.venv/bin/python -m pytest", *TESTS, only)
    print(".venv/bin/ruff check && .venv/bin/ruff format")


if __name__ == "__main__":
    main(Path.cwd())
