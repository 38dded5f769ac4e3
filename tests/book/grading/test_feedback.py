"""What a page of feedback, and nbgrader's own table, say of a submission."""

import csv
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from nbgrader.api import Gradebook

from book._grading import assignment, feedback, student
from tests.book.conftest import ROOT


class Formulas(feedback.WithFormulas):
    """Keeps what they become, by what they were."""

    def __init__(self):
        super().__init__(escape=False)
        self.found = {}

    def inline_math(self, body):
        return self.found.setdefault(body, super().inline_math(body))

    def block_math(self, body):
        return self.found.setdefault(body, super().block_math(body))


def test_every_formula_of_the_exercises_needs_no_script():
    renderer = Formulas()
    for path in student.sources(ROOT).values():
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                MarkdownWithMath(renderer=renderer).render(cell.source)
    assert len(renderer.found) > 400
    assert not {x: html for x, html in renderer.found.items() if not html.startswith("<math")}


@pytest.mark.parametrize("text", [r"\frac{1}", r"\href{javascript:a}{b}"])
def test_what_is_no_formula_is_shown_as_it_was_typed(text):
    page = MarkdownWithMath(renderer=feedback.WithFormulas(escape=False)).render(f"So ${text}$.")
    assert f"<code>{text}</code>" in page


def test_a_formula_holds_no_html():
    page = MarkdownWithMath(renderer=feedback.WithFormulas(escape=False)).render(r"$\text{<b>}$")
    assert "&lt;b&gt;" in page and "<b>" not in page


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's, with this SQLAlchemy
def test_nbgrader_exports_what_was_handed_in_and_no_points_that_are_not_final(tmp_path):
    with Gradebook(assignment.course(tmp_path).coursedir.db_url, "transformer") as book:
        for name in ("read", "nobody"):
            book.add_assignment(name)
            book.add_notebook(name, name)
            book.add_grade_cell("q", name, name, max_score=2, cell_type="code")
        for name, unread in {"Smith, Ann": False, "bob": True, "eve": None}.items():
            book.add_student(name)
            if unread is not None:
                book.add_submission("read", name)
                found = book.find_grade("q", "read", "read", name)
                found.auto_score, found.needs_manual_grade = 1, unread
        book.db.commit()
    command = [Path(sys.executable).parent / "nbgrader", "export"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with (tmp_path / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [(x["assignment"], x["student_id"], x["score"]) for x in csv.DictReader(file)]
    assert rows == [("read", "Smith, Ann", "1.0"), ("read", "bob", "")]
