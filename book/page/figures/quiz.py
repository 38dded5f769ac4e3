"""A chapter's quiz: questions from `quiz.toml` in the chapter's folder."""

import html
import re
import tomllib
from pathlib import Path
from types import ModuleType

from book.page.live import LiveFigure


def quiz(chapter: ModuleType) -> LiveFigure:
    """The questions on a chapter, with a reason for every option; nothing is stored or sent.

    Args:
        chapter: its package, such as `book.self_attention`.

    Raises:
        FileNotFoundError: the chapter has no quiz.
        ValueError: its file is not as `read_quiz` asks.
    """
    questions = read_quiz(Path(chapter.__file__).with_name("quiz.toml"))
    data = {"title": f"Quiz: {len(questions)} questions", "questions": questions}
    value = {"question": 0, "chosen": {}, "checked": []}
    return LiveFigure(__file__, data, value, _fallback(questions))


def read_quiz(path: Path) -> list[dict]:
    """The questions of a quiz file: {"name", "text", "options": [{"text", "why"[, "right"]}]}.

    What stands between backticks is shown as code.

    Raises:
        ValueError: fewer than five questions; a name twice; a question without three or four
            different options, of which one is right, each with its reason; a key that is missing
            or unknown.
    """
    quiz = tomllib.loads(path.read_text("utf8"))
    _expect_keys(f"{path.name}", quiz, {"questions"})
    questions = quiz["questions"]
    if len(questions) < 5:
        raise ValueError(f"{path.name} has {len(questions)} questions; a quiz needs five or more")
    for number, question in enumerate(questions, 1):
        _validate(f"{path.name}, question {number}", question)
    names = [question["name"] for question in questions]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{path.name} has {names.count(name)} questions named {name!r}")
    return questions


def _validate(where: str, question: dict) -> None:
    _expect_keys(where, question, {"name", "text", "options"})
    where = f"{where} ({question['name']})"
    if not question["name"].isidentifier():
        raise ValueError(f"{where}: the name must be a Python name, as its test is named after it")
    options = question["options"]
    for number, option in enumerate(options, 1):
        _expect_keys(f"{where}, option {number}", option, {"text", "why"}, optional={"right"})
    texts = {option["text"] for option in options}
    if not 3 <= len(texts) == len(options) <= 4:
        raise ValueError(f"{where} needs 3 or 4 different options, got {len(options)}")
    right = [option["text"] for option in options if option.get("right", False)]
    if len(right) != 1:
        raise ValueError(f"{where} needs one option with right = true, got {len(right)}")


def _expect_keys(where: str, table: dict, names: set[str], optional: set[str] = frozenset()):
    if missing := names - {name for name, content in table.items() if content}:
        raise ValueError(f"{where} lacks {', '.join(sorted(missing))}")
    if unknown := table.keys() - names - optional:
        raise ValueError(f"{where} has {', '.join(sorted(unknown))}, which means nothing here")


def prose(text: str) -> str:
    return re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(text, quote=False))


def _fallback(questions: list[dict]) -> str:
    """Every question with its answers in <details>, for a page without JavaScript."""
    items = []
    for question in questions:
        options = "".join(f"<li>{prose(o['text'])}</li>" for o in question["options"])
        reasons = "".join(
            f"<li>{'<b>Right.</b> ' if o.get('right') else ''}{prose(o['why'])}</li>"
            for o in question["options"]
        )
        items.append(
            f'<li><p>{prose(question["text"])}</p><ol type="a">{options}</ol>'
            f'<details><summary>Answer</summary><ol type="a">{reasons}</ol></details></li>'
        )
    return f"<ol>{''.join(items)}</ol>"
