"""The form of the exercises: cards, hints, checks, solutions; and the chapters' lists of them."""

import ast
import re
from importlib import import_module

import nbformat
import pytest
import torch
from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx_external_toc.parsing import parse_toc_yaml

from book._grading.student import EXERCISES as COPY
from book._grading.student import SOLUTIONS, WORDS, sources
from tests.book.exercises import CHECK, EXERCISES, ROOT, exercises_of

HINTS = re.compile(r"<details><summary>(Hint|Second hint)</summary>\n\n(.+?)\n\n</details>", re.S)
HIDDEN = "### BEGIN HIDDEN TESTS\nverdict.require()\n### END HIDDEN TESTS\nverdict"

every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=str)
PAGES = sources(ROOT)
every_page = pytest.mark.parametrize("page", PAGES)
CHAPTERS = sorted(path.parent.name for path in ROOT.glob("book/*/chapter.toml"))
every_chapter = pytest.mark.parametrize("page", [page for page in CHAPTERS if page in PAGES])
REPRODUCED = [page for page in PAGES if page.startswith("reproduce_")]


def nbgrader(cell) -> dict:
    return cell.metadata.get("nbgrader", {})


def answers(cells) -> list:
    return [cell for cell in cells if nbgrader(cell).get("solution")]


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_chapter_without_exercises_is_not_passed_over(page):
    """All tests below are of the exercises that there are."""
    assert page in PAGES, f"write the exercises in book/{page}/{page}{SOLUTIONS}"


@every_chapter
def test_a_chapter_has_enough_of_both_kinds(page):
    kinds = [exercise.card["kind"] for exercise in exercises_of(page)]
    code = kinds.count("Coding")
    assert code >= 3, f"{code} exercises in code; three are needed, or more"
    assert len(kinds) - code >= 2, f"{len(kinds) - code} exercises in words; two are needed"


@every_exercise
def test_the_heading_is_numbered_and_has_no_formula(exercise):
    number = 1 + [other.title for other in exercises_of(exercise.chapter)].index(exercise.title)
    assert re.fullmatch(rf"{number}\. [^$`*]+", exercise.title)  # it is an anchor, too


@every_exercise
def test_a_card_two_hints_and_the_way_back_to_the_exercise(exercise):
    assert exercise.card
    assert [found[0] for found in HINTS.findall(exercise.text)] == ["Hint", "Second hint"]
    place = f"{exercise.chapter}{COPY}#{default_slugify(exercise.title)}"
    assert exercise.text.endswith(f"\n\n[Back to the exercise]({place})")


@every_exercise
def test_code_is_checked_and_words_are_read(exercise):
    """Coding: functions to complete, each with its check. Otherwise: one answer in words."""
    graded = [cell for cell in exercise.cells if nbgrader(cell).get("grade")]
    if exercise.card["kind"] != "Coding":
        assert [cell.cell_type for cell in graded] == ["markdown"]
        assert len(graded[0].source) > 400, "a full answer in words"
    else:
        assert graded
        for cell in graded:
            module, check, answer = CHECK.match(cell.source).groups()
            assert module == PAGES[exercise.chapter].parent.name
            assert callable(getattr(import_module(f"book.{module}.checks"), check))
            assert cell.source == CHECK.match(cell.source)[0] + HIDDEN
            code = [other.source for other in answers(exercise.cells)]
            assert re.search(rf"^(def|class) {answer}[(:]", "\n".join(code), re.M), answer
    assert all(nbgrader(cell)["points"] >= 1 for cell in graded)


def imported(tree: ast.AST) -> set[str]:
    imports = (n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom))
    return {name.asname or name.name for node in imports for name in node.names}


@every_exercise
def test_every_blank_is_inside_a_function(exercise):
    """So that an unedited copy runs: what is left out raises only when it is called."""
    for cell in answers(exercise.cells):
        if cell.cell_type == "code":
            stub = re.sub(
                r"### BEGIN SOLUTION.*?### END SOLUTION", "raise", cell.source, flags=re.S
            )
            assert "### BEGIN SOLUTION" in cell.source
            functions = [n for n in ast.walk(ast.parse(stub)) if isinstance(n, ast.FunctionDef)]
            inside = {n for f in functions for n in ast.walk(f) if isinstance(n, ast.Raise)}
            assert len(inside) == stub.count("raise")


@every_page
def test_no_solution_needs_an_import_that_stays_behind(page):
    """An import in a cell of the solutions only is missing in the students' copy."""
    cells = [cell for exercise in exercises_of(page) for cell in exercise.cells]
    code = [(cell, ast.parse(cell.source)) for cell in cells if cell.cell_type == "code"]
    somewhere, travelled = set().union(*(imported(tree) for _, tree in code)), set()
    for cell, tree in code:
        if "solution" not in cell.metadata.get("tags", []):
            travelled |= imported(tree)
        if nbgrader(cell).get("solution"):
            used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            assert not used & somewhere - travelled


@every_page
def test_no_solution_travels(page):
    """No line of a solution stands in the students' copy, unless it is given there anyway."""
    copied = nbformat.read(PAGES[page].with_name(f"{page}{COPY}"), as_version=4)
    given = {line.strip() for cell in copied.cells for line in cell.source.splitlines()}
    for exercise in exercises_of(page):
        for cell in exercise.cells:
            solution = cell.source
            tags = cell.metadata.get("tags", [])
            if "solution" in tags:
                assert cell.id not in {other.id for other in copied.cells}
            elif "words" in tags:
                assert [c.source for c in copied.cells if c.id == cell.id] == [WORDS]
            elif cell.cell_type == "code" and nbgrader(cell).get("solution"):
                solution = re.search(r"BEGIN SOLUTION\n(.*?)\s*###", cell.source, re.S)[1]
            elif not nbgrader(cell).get("solution"):
                continue
            lines = {line.strip() for line in solution.splitlines() if len(line.strip()) > 20}
            assert lines, f"none of these lines has more than 20 letters: {solution}"
            assert not lines & given


@every_exercise
def test_a_question_beside_the_code_has_a_cell_to_answer_in(exercise):
    """Behind the check; what the code itself answers is told, not asked."""
    places = [
        i for i, cell in enumerate(exercise.cells) if "words" in cell.metadata.get("tags", [])
    ]
    if exercise.card["kind"] != "Coding":
        assert places == []  # the answer is graded
        return
    asked = exercise.text.partition("<details>")[0].partition(exercise.title)[2]
    assert len(places) == 1 or (places == [] and "?" not in asked), asked
    for i in places:
        assert any(nbgrader(cell).get("grade") for cell in exercise.cells[:i])


@every_chapter
def test_exercises_are_in_two_tracks_each_from_easy_to_hard(page):
    """First those in code, then those in words, open problems last; a project has its own order."""
    toc = parse_toc_yaml(ROOT / "_toc.yml")
    if toc[f"book/{page}/{page}{COPY[:-6]}"].title == "Project":
        return
    cards = [exercise.card for exercise in exercises_of(page)]
    order = [(c["kind"] != "Coding", c["difficulty"], c["kind"] == "Open problem") for c in cards]
    assert order == sorted(order)


@every_chapter
def test_the_chapter_lists_its_exercises(page):
    cells = nbformat.read(PAGES[page].with_name(f"{page}.ipynb"), as_version=4).cells
    (section,) = [cell.source for cell in cells if cell.source.startswith("## Exercises")]
    for exercise in exercises_of(page):
        card, title = exercise.card, exercise.title.partition(". ")[2]
        link = f"{page}{COPY}#{default_slugify(exercise.title)}"
        line = f"[{title}]({link}): {card['kind'].lower()}, difficulty {card['difficulty']} of 3, "
        assert f"{line}{card['minutes']} minutes" in section


@every_chapter
def test_both_pages_hang_below_their_chapter(page):
    toc = parse_toc_yaml(ROOT / "_toc.yml")
    exercises, solutions = (f"book/{page}/{page}{kind[:-6]}" for kind in (COPY, SOLUTIONS))
    assert exercises in toc[f"book/{page}/{page}"].child_files()
    assert solutions in toc[exercises].child_files()


@pytest.mark.parametrize("page", REPRODUCED)
def test_a_reproduced_figure_says_what_was_found_there_and_here(page):
    """What the paper measured, what to expect, a step, both side by side, and what it teaches."""
    cells = nbformat.read(PAGES[page], as_version=4).cells
    headings = [re.sub(r"\d+\. .*", "step", cell.source.splitlines()[0]) for cell in cells]
    headings = [heading for heading in headings if heading.startswith("## ")]
    assert headings == [
        "## The figure",
        "## What to expect here",
        "## step",
        "## Paper and ours",
        "## step",
    ]
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert re.search(r"\[[^]]*(figure|table) \d+[^]]*\]\(https://arxiv\.org/abs/[\d.]+\)", text)
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert re.search(r'table\(\s*\["[^"]*", "the paper", "here"\]', code)
    assert "prediction_figure(" in code
    assert [exercise.card["kind"] for exercise in exercises_of(page)] == ["Coding", "Reasoning"]


@pytest.mark.parametrize("page", REPRODUCED)
def test_the_solutions_of_a_reproduced_figure_hang_below_it(page):
    toc = parse_toc_yaml(ROOT / "_toc.yml")
    exercises, solutions = (f"book/reproducing/{page}{kind[:-6]}" for kind in (COPY, SOLUTIONS))
    assert solutions in toc[exercises].child_files()


def test_a_page_says_how_to_work_with_exercises():
    text = (ROOT / "book" / "exercises.md").read_text("utf8")
    assert "make assignment" in text and "make grade" in text


def test_a_page_shows_what_a_check_says_of_a_mistake():
    text = (ROOT / "book" / "exercises.md").read_text("utf8")
    code, said = re.search(r"```python\n(.+?)```.+?```text\n(.+?)\n```", text, re.S).groups()
    answer = {"torch": torch}
    exec(code, answer)
    checks = import_module("book.self_attention.checks")
    assert str(checks.masked_attention(answer["masked_attention"])) == said
