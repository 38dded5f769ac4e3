"""A student's page of feedback: nbgrader's grades and comments, in a page of the book's own.

The page is `pages/feedback/index.html.j2`, on a phone and in the dark, too. What it shows beside a
grade comes from here: the exercise, whether a person has yet to read the answer, and the dates.
"""

import re
from datetime import UTC, timedelta
from html import escape
from pathlib import Path

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import GetGrades
from nbgrader.utils import is_grade
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from book._grading.assignment import SOLUTION

BIG, DOTS = (
    re.compile(r"\\[Bb]igg?[lr]?(?![a-zA-Z])"),
    re.compile(r"\\dots(?![a-zA-Z])"),
)  # not known
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?![\w+.-]+:|#)[^)]*\)")  # into the book's own folders


def dates(submission: SubmittedAssignment) -> tuple[str, str]:
    """When it was handed in, by this machine's clock, and by how much late; "" if it was not."""
    if submission.timestamp is None:
        return "", ""
    late = str(timedelta(minutes=submission.total_seconds_late // 60)).removesuffix(":00")
    time = submission.timestamp.replace(tzinfo=UTC).astimezone()
    return f"{time:%Y-%m-%d %H:%M}", f"late by {late} h" if late != "0:00" else ""


class Marks(GetGrades):
    """What the gradebook has about a submission, and its cells as a page can show them."""

    def preprocess(self, nb: NotebookNode, resources: dict):
        """Called by nbconvert."""
        resources["nbgrader"]["graded"] = []
        nb, resources = super().preprocess(nb, resources)
        with Gradebook(self.db_url) as book:
            submission = book.find_submission(self.assignment_id, self.student_id)
            resources["nbgrader"]["handed_in"], resources["nbgrader"]["late"] = dates(submission)
        for scheme, style in {"light": "default", "dark": "monokai"}.items():
            resources["nbgrader"][scheme] = HtmlFormatter(style=style).get_style_defs(".highlight")
        return nb, resources

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int):
        """Called for each cell, in their order."""
        cell, resources = super().preprocess_cell(cell, resources, index)
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(r"\1", SOLUTION.sub("", cell.source))
        if is_grade(cell):
            for output in cell.get("outputs", []):
                if output.output_type == "error":  # the verdict, without the way through our files
                    name = "" if output.ename == "AssertionError" else f"{output.ename}: "
                    output.traceback = [name + output.evalue]
            names = self.notebook_id, self.assignment_id, self.student_id
            grade = self.gradebook.find_grade(cell.metadata.nbgrader.grade_id, *names)
            cell.metadata.nbgrader.unread = grade.needs_manual_grade
            cell.metadata.nbgrader.exercise = cell.metadata.get("exercise", grade.name)
            resources["nbgrader"]["graded"].append(cell.metadata.nbgrader)
        return cell, resources


class WithFormulas(IPythonRenderer):
    """Formulas as MathML, which a browser shows without a script; as typed, what is none."""

    def block_math(self, body: str) -> str:
        return _formula(body, as_block=True)

    def inline_math(self, body: str) -> str:
        return _formula(body)

    def latex_environment(self, name: str, body: str) -> str:
        return _formula(rf"\begin{{{name}}}{body}\end{{{name}}}", as_block=True)


def _formula(text: str, as_block: bool = False) -> str:
    known = BIG.sub("", DOTS.sub(r"\\ldots", text.strip()))
    try:
        return tex2mathml(known, as_block=as_block)
    except (MathError, ValueError, IndexError, RecursionError):
        return f"<code>{escape(text)}</code>"


class Page(HTMLExporter):
    """nbconvert's, but for the formulas."""

    @pass_context
    def markdown2html(self, context, source: str) -> str:
        """The filter of this name."""
        attachments = context.get("cell", {}).get("attachments", {})
        renderer = WithFormulas(escape=False, attachments=attachments)
        return MarkdownWithMath(renderer=renderer).render(source)


class Feedback(GenerateFeedback):
    """nbgrader's command with these marks, and our page."""

    def __init__(self, **settings) -> None:
        pages = str(Path(__file__).parent / "pages")
        page = Config(template_name="feedback", extra_template_basedirs=[pages])
        super().__init__(preprocessors=[Marks], exporter_class=Page, **settings)
        self.update_config(Config(HTMLExporter=page))
