"""Quizzes for other systems: what is read back is what the chapters ask.

All files of all packages were held to the schemas of QTI 2.1 and of content packaging, with lxml,
when this was last changed. Moodle publishes no schema of its format.
"""

import csv
import re
import zipfile
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from book._grading.__main__ import main
from book._grading.quizzes import QTI
from book.page.figures.quiz import read_quiz

ROOT = Path(__file__).parents[3]
CHAPTERS = sorted(path.parent.name for path in ROOT.glob("book/*/quiz.toml"))
IN_QTI = {"q": QTI}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quizzes")
    main(ROOT, ["quizzes", str(folder)])
    return folder


def plain(html: str) -> str:
    """The text with backticks for code, as the chapters' files have it."""
    return unescape(re.sub(r"</?code>", "`", html))


def inner(element: ElementTree.Element) -> str:
    """The text of an element, its code between backticks."""
    return "".join(
        (element.text or "", *(f"`{code.text}`{code.tail or ''}" for code in element))
    ).strip()


def asked(chapter: str) -> list:
    return [
        (q["text"], [(o["text"], o["why"], o.get("right", False)) for o in q["options"]])
        for q in read_quiz(ROOT / "book" / chapter / "quiz.toml")
    ]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_moodle_reads_what_the_chapter_asks(written, chapter):
    quiz = ElementTree.parse(written / f"{chapter}.moodle.xml").getroot()
    category, *items = quiz.findall("question")
    assert category.findtext("category/text") == f"$course$/{chapter}"
    read = [
        (
            plain(item.findtext("questiontext/text")),
            [
                (
                    plain(answer.findtext("text")),
                    plain(answer.findtext("feedback/text")),
                    answer.get("fraction") == "100",
                )
                for answer in item.findall("answer")
            ],
        )
        for item in items
    ]
    assert read == asked(chapter)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_qti_package_has_what_the_chapter_asks(written, chapter):
    with zipfile.ZipFile(written / f"{chapter}.qti.zip") as package:
        files = {name: ElementTree.fromstring(package.read(name)) for name in package.namelist()}
    test = files["test.xml"]
    order = [item.get("href") for item in test.iterfind(".//q:assessmentItemRef", IN_QTI)]
    listed = {file.get("href") for file in files["imsmanifest.xml"].iter() if file.get("href")}
    assert listed == files.keys() - {"imsmanifest.xml"}
    read = []
    for item in (files[name] for name in order):
        right = item.findtext(".//q:correctResponse/q:value", None, IN_QTI)
        reasons = {
            said.get("identifier"): inner(said) for said in item.iterfind("q:modalFeedback", IN_QTI)
        }
        options = [
            (inner(choice), reasons[choice.get("identifier")], choice.get("identifier") == right)
            for choice in item.iterfind(".//q:simpleChoice", IN_QTI)
        ]
        read.append((inner(item.find(".//q:prompt", IN_QTI)), options))
    assert read == asked(chapter)


def test_a_card_asks_on_its_front_and_tells_behind(written):
    """Imported with Anki 26.9.3's own library when this was last changed: a note for each."""
    head, _, rows = (written / "cards.csv").read_text("utf8").partition("\n#tags column:3\n")
    assert head == "#separator:Comma\n#html:true"
    read = {}
    for front, back, chapter in csv.reader(rows.splitlines()):
        text, _, options = front.partition("<ul>")
        marks = {}
        for mark, name, why in re.findall(r"<p>(.) <b>(.+?)</b><br>(.+?)</p>", back):
            marks[plain(name)] = plain(why), mark == "✓"
        assert back.startswith("<p>✓")
        shown = [plain(option) for option in re.findall(r"<li>(.+?)</li>", options)]
        read.setdefault(chapter, []).append((plain(text), [(o, *marks[o]) for o in shown]))
    assert read == {chapter: asked(chapter) for chapter in CHAPTERS}
