"""Pages that ask: where a reader begins, and what she has read before."""

import re
from html import unescape
from pathlib import Path

from book._press.path import chapters_of
from book.page.figures.begin import begin_figure
from book.page.figures.five import five_figure
from book.page.figures.quiz import read_quiz

BEGIN = re.compile(r"^<!-- begin: (.+) -->$", re.M)
FIVE = re.compile(r"^<!-- five questions -->$", re.M)


def with_questions(page: str, root: Path) -> str:
    """The Markdown of a page with questions of the chapters' quizzes.

    At `<!-- begin: embeddings/look_up ... -->` these, in the order in which they stand: where does
    a reader begin? At `<!-- five questions -->` five of any, from what a browser has read.

    Raises:
        ValueError: a quiz has no such question.
    """
    if not (BEGIN.search(page) or FIVE.search(page)):
        return page
    index = (root / "book" / "index.md").read_text("utf8")
    chapters = {chapter.name: chapter for chapter in chapters_of(index, root)}
    quizzes = {name: read_quiz(root / "book" / name / "quiz.toml") for name in chapters}

    def begin(place: re.Match) -> str:
        questions, homes = [], []
        for pair in place[1].split():
            chapter, name = pair.split("/")
            found = [question for question in quizzes[chapter] if question["name"] == name]
            if not found:
                raise ValueError(f"the quiz of {chapter} has no question {name!r}")
            to = chapters[chapter]
            questions += found
            homes.append({"href": to.address, "title": unescape(to.title), "question": to.question})
        sayings = {"href": "often_said.html", "title": "Things that are often said"}
        return begin_figure(questions, homes, sayings).to_html()

    def five(_: re.Match) -> str:
        of_chapters = {
            (to.address, unescape(to.title)): quizzes[name] for name, to in chapters.items()
        }
        return five_figure(of_chapters).to_html()

    return FIVE.sub(five, BEGIN.sub(begin, page))
