"""Where to begin: questions from the quizzes of some chapters, in the book's order."""

from collections.abc import Sequence

from book.page.figures.quiz import prose
from book.page.live import LiveFigure

UNKNOWN = {"text": "I do not know"}


def begin_figure(
    questions: Sequence[dict], chapters: Sequence[dict[str, str]], otherwise: dict[str, str]
) -> LiveFigure:
    """A question at a time; the first one that is new to the reader says where to begin.

    Args:
        questions: as `read_quiz` gives them, each from another chapter, in the book's order.
        chapters: {"href", "title", "question"} of the chapter of each.
        otherwise: {"href", "title"} of the page for who knows all.
    """
    asked = [
        {
            "name": question["name"],
            "text": question["text"],
            "options": [
                *({key: o[key] for key in ("text", "right") if key in o} for o in options),
                UNKNOWN,
            ],
            "chapter": chapter,
        }
        for question, chapter in zip(questions, chapters, strict=True)
        for options in [question["options"]]
    ]
    data = {"title": "Which of these is new to you?", "questions": asked, "otherwise": otherwise}
    rows = "".join(
        f"<li><p>{prose(question['text'])} If this is new to you, begin with "
        f'<a href="{chapter["href"]}">{prose(chapter["title"])}</a>.</p></li>'
        for question, chapter in zip(asked, chapters, strict=True)
    )
    return LiveFigure(__file__, data, {"passed": 0, "chosen": {}}, f"<ol>{rows}</ol>")
