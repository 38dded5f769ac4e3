"""The quizzes: their files, their keys, and what a page without JavaScript shows of them."""

import json
import re
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from book import page
from book.page import quiz
from book.page.figures.quiz import read_quiz

ROOT = Path(__file__).parents[3]
QUIZZES = {path.parent.name: path for path in sorted(ROOT.glob("book/*/quiz.toml"))}
QUESTIONS = {
    f"{chapter}.{question['name']}": question
    for chapter, path in QUIZZES.items()
    for question in tomllib.loads(path.read_text("utf8"))["questions"]
}


def computed(chapter: str) -> dict:
    """{"<chapter>.<question>": function} of tests/book/<chapter>/quiz_key.py.

    The function computes the right option: it returns its text, or the beginning of it.
    """
    module = import_module(f"tests.book.{chapter}.quiz_key")
    functions = {f"{chapter}.{name}": thing for name, thing in vars(module).items()}
    return {name: functions[name] for name in QUESTIONS if name in functions}


COMPUTED = {name: answer for chapter in QUIZZES for name, answer in computed(chapter).items()}


@pytest.mark.parametrize("name", COMPUTED)
def test_the_key_is_what_is_computed(name):
    answer = COMPUTED[name]()
    options = QUESTIONS[name]["options"]
    matching = [option for option in options if option["text"].startswith(answer)]
    matching = [option for option in matching if option["text"] == answer] or matching
    assert matching == [option for option in options if option.get("right")], answer


def test_half_of_the_keys_are_computed():
    assert len(COMPUTED) >= len(QUESTIONS) / 2


@pytest.mark.parametrize("chapter", QUIZZES)
def test_a_quiz_has_five_questions_or_more_in_their_form(chapter):
    assert read_quiz(QUIZZES[chapter])


@pytest.mark.parametrize("chapter", QUIZZES)
def test_the_key_cannot_be_guessed_from_place_or_length(chapter):
    questions = read_quiz(QUIZZES[chapter])
    places, longest = Counter(), 0
    for question in questions:
        options = question["options"]
        place = next(i for i, option in enumerate(options) if option.get("right"))
        lengths = [len(option["text"]) for option in options]
        places[place] += 1
        longest += lengths[place] == max(lengths) > 12  # numbers are all of a length
    assert len(places) >= 3 and max(places.values()) <= len(questions) / 2, places
    assert longest <= len(questions) / 2


@pytest.mark.parametrize("chapter", QUIZZES)
def test_nothing_is_marked_by_stars(chapter):
    """A quiz shows code and formulas; emphasis would be shown as it is written."""
    assert "*" not in QUIZZES[chapter].read_text("utf8")


def test_every_option_is_explained_in_words_of_its_own():
    reasons = [option["why"] for question in QUESTIONS.values() for option in question["options"]]
    assert len(set(reasons)) == len(reasons)
    assert all(len(reason.split()) >= 8 for reason in reasons)


def test_code_is_closed():
    for question in QUESTIONS.values():
        texts = [question["text"]]
        texts += [option[key] for option in question["options"] for key in ("text", "why")]
        for text in texts:
            assert text.count("`") % 2 == 0 and "$" not in text, text


@pytest.mark.parametrize("chapter", QUIZZES)
def test_a_chapter_asks_its_own_quiz(chapter):
    cells = nbformat.read(QUIZZES[chapter].with_name(f"{chapter}.ipynb"), as_version=4).cells
    asks = f"quiz({chapter})"
    places = [i for i, cell in enumerate(cells) if asks in cell.source.splitlines()]
    assert len(places) == 1, f"{len(places)} cells say {asks}; it is to be one"
    assert cells[places[0] - 1].source.startswith("## Quiz\n")


def test_every_chapter_has_a_quiz():
    chapters = {path.parent.name for path in ROOT.glob("book/*/chapter.toml")}
    assert chapters == set(QUIZZES), "every chapter has a quiz.toml"


# ---------------------------------------------------------------- a page without JavaScript


def test_the_fallback_asks_everything_and_hides_the_reasons(written):
    path = written(text="What is `a < b`?")
    fallback = quiz(SimpleNamespace(__file__=str(path.with_name("__init__.py")))).fallback
    assert fallback.startswith("<ol><li><p>What is <code>a &lt; b</code>?</p>")
    asked = re.sub(r"<details>.*?</details>", "", fallback)
    assert asked.count("yes") == 5 and "because" not in asked
    hidden = re.findall(r"<details>.*?</details>", fallback)
    assert len(hidden) == 5
    assert all(answer.count("<li><b>Right.</b> because it is</li>") == 1 for answer in hidden)
    assert all(answer.count("<li>") == 3 for answer in hidden)


# ---------------------------------------------------------------- files that are not as asked

OPTIONS = [
    {"text": "no", "why": "because it is not"},
    {"text": "yes", "why": "because it is", "right": True},
    {"text": "perhaps", "why": "because nobody knows"},
]


def toml(content) -> str:
    """A value as TOML: as JSON, but for tables."""
    if isinstance(content, dict):
        return "{" + ", ".join(f"{key} = {toml(value)}" for key, value in content.items()) + "}"
    if isinstance(content, list):
        return "[" + ", ".join(map(toml, content)) + "]"
    return json.dumps(content)


@pytest.fixture
def written(tmp_path):
    """`written(key=content, ...)` writes five questions, the first with these contents."""

    def write(count=5, **changes):
        questions = [{"name": f"q{i}", "text": "Is it?", "options": OPTIONS} for i in range(count)]
        questions[0] |= changes
        questions[0] = {key: content for key, content in questions[0].items() if content != "-"}
        path = tmp_path / "quiz.toml"
        path.write_text(f"questions = {toml(questions)}\n", "utf8")
        return path

    return write


def test_a_quiz_is_read_as_it_is_written(written):
    questions = read_quiz(written())
    assert [question["name"] for question in questions] == ["q0", "q1", "q2", "q3", "q4"]
    assert questions[0]["options"] == OPTIONS
    assert questions == tomllib.loads(written().read_text("utf8"))["questions"]


def test_there_is_no_quiz_on_everything():
    with pytest.raises(FileNotFoundError, match=r"quiz\.toml"):
        quiz(page)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 4}, r"quiz\.toml has 4 questions; a quiz needs five or more"),
        ({"text": "-"}, "question 1 lacks text"),
        ({"text": ""}, "question 1 lacks text"),
        ({"hint": "no"}, "question 1 has hint, which means nothing here"),
        ({"name": "q-0"}, r"question 1 \(q-0\): the name must be a Python name"),
        ({"name": "q1"}, "2 questions named 'q1'"),
        ({"options": OPTIONS[:2]}, r"question 1 \(q0\) needs 3 or 4 different options, got 2"),
        ({"options": [*OPTIONS, *OPTIONS]}, "needs 3 or 4 different options, got 6"),
        ({"options": [*OPTIONS, OPTIONS[0]]}, "needs 3 or 4 different options, got 4"),
        ({"options": [OPTIONS[0], *OPTIONS[2:], {"text": "x", "why": "y"}]}, "one .* got 0"),
        ({"options": [*OPTIONS, OPTIONS[1] | {"text": "x"}]}, "with right = true, got 2"),
        ({"options": [*OPTIONS, {"text": "x"}]}, r"question 1 \(q0\), option 4 lacks why"),
        ({"options": [*OPTIONS, {"text": "x", "why": "y", "correct": True}]}, "has correct"),
    ],
)
def test_a_wrong_file_is_told_what_is_wrong(written, changes, message):
    with pytest.raises(ValueError, match=message):
        read_quiz(written(**changes))
