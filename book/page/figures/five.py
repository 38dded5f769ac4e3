"""Five questions at a time from the quizzes of the chapters that a browser has read."""

from collections.abc import Mapping

from book.page.figures.quiz import prose
from book.page.live import LiveFigure


def five_figure(quizzes: Mapping[tuple[str, str], list[dict]]) -> LiveFigure:
    """Five questions, drawn in the browser; nothing of it leaves the browser.

    Args:
        quizzes: {(address, title): questions} of the chapters, as `read_quiz` gives them.
    """
    value = {"question": 0, "chosen": {}, "checked": []}
    asked = [
        {
            "href": address,
            "page": address.rpartition("/")[2],
            "title": title,
            "questions": [
                question | {"name": f"{address.rpartition('/')[2]}:{question['name']}"}
                for question in questions
            ],
        }
        for (address, title), questions in quizzes.items()
    ]
    rows = "".join(
        f'<li><a href="{chapter["href"]}#quiz">{prose(chapter["title"])}</a></li>'
        for chapter in asked
    )
    return LiveFigure(__file__, {"quizzes": asked, "value": value}, value, f"<ul>{rows}</ul>")
