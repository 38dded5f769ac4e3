"""The quizzes for other systems: Moodle XML, QTI 2.1 packages (Canvas and its like), Anki cards.

A question has one right option, and each option has its reason, which is shown to whoever chose it.
"""

import csv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from book.page.figures.quiz import prose, read_quiz

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"


def main(root: Path, folder: Path) -> None:
    """Write the quiz of every chapter in both formats, the cards of all, and say where."""
    folder.mkdir(parents=True, exist_ok=True)
    quizzes = {path.parent.name: read_quiz(path) for path in sorted(root.glob("book/*/quiz.toml"))}
    with (folder / "cards.csv").open("w", encoding="utf8", newline="") as file:
        file.write("#separator:Comma\n#html:true\n#tags column:3\n")
        for chapter, questions in quizzes.items():
            csv.writer(file).writerows(cards(chapter, questions))
    for chapter, questions in quizzes.items():
        (folder / f"{chapter}.moodle.xml").write_bytes(_text(moodle(chapter, questions)))
        with zipfile.ZipFile(folder / f"{chapter}.qti.zip", "w") as package:
            for name, element in qti(chapter, questions).items():
                package.writestr(name, _text(element))
    print(f"{folder.resolve()}: a .moodle.xml and a .qti.zip for each chapter; cards.csv for Anki")


def _text(element: Element) -> bytes:
    ElementTree.indent(element)
    return ElementTree.tostring(element, "utf-8", xml_declaration=True)


def cards(chapter: str, questions: list[dict]) -> Iterator[tuple[str, str, str]]:
    """Front, back and tag of a card for each question: all options, and their reasons behind.

    Anki imports a file of these (https://docs.ankiweb.net/importing/text-files.html).
    """
    for question in questions:
        options = "".join(f"<li>{prose(option['text'])}</li>" for option in question["options"])
        reasons = "".join(
            f"<p>{'✓' if option.get('right') else '✗'} <b>{prose(option['text'])}</b><br>"
            f"{prose(option['why'])}</p>"
            for option in sorted(question["options"], key=lambda option: not option.get("right"))
        )
        yield f"{prose(question['text'])}<ul>{options}</ul>", reasons, chapter


def moodle(chapter: str, questions: list[dict]) -> Element:
    """A quiz as Moodle imports it (https://docs.moodle.org/en/Moodle_XML_format)."""
    quiz = Element("quiz")
    category = SubElement(quiz, "question", type="category")
    _node(category, "category", "text", text=f"$course$/{chapter}")
    for question in questions:
        item = SubElement(quiz, "question", type="multichoice")
        _node(item, "name", "text", text=question["name"])
        _node(item, "questiontext", "text", text=prose(question["text"])).set("format", "html")
        for name, said in (("defaultgrade", "1"), ("single", "true"), ("shuffleanswers", "true")):
            SubElement(item, name).text = said
        for option in question["options"]:
            answer = _node(item, "answer", "text", text=prose(option["text"]))
            answer.attrib |= {"fraction": "100" if option.get("right") else "0", "format": "html"}
            _node(answer, "feedback", "text", text=prose(option["why"])).set("format", "html")
    return quiz


def _node(parent: Element, name: str, inner: str, *, text: str) -> Element:
    """<name><inner>text</inner></name> in `parent`."""
    node = SubElement(parent, name)
    SubElement(node, inner).text = text
    return node


def qti(chapter: str, questions: list[dict]) -> dict[str, Element]:
    """The files of a QTI 2.1 package: a manifest, a test, and an item for each question."""
    files = {f"{question['name']}.xml": _item(question) for question in questions}
    names = [*files]
    test = Element("assessmentTest", xmlns=QTI, identifier=chapter, title=_title(chapter))
    part = SubElement(
        test,
        "testPart",
        identifier="part",
        navigationMode="nonlinear",
        submissionMode="individual",
    )
    section = SubElement(
        part, "assessmentSection", identifier="section", title=_title(chapter), visible="true"
    )
    manifest = Element("manifest", xmlns=PACKAGE, identifier=f"package-{chapter}")
    about = SubElement(manifest, "metadata")
    SubElement(about, "schema").text = "QTIv2.1 Package"
    SubElement(about, "schemaversion").text = "1.0.0"
    SubElement(manifest, "organizations")
    resources = SubElement(manifest, "resources")
    whole = _resource(resources, chapter, "imsqti_test_xmlv2p1", "test.xml")
    for name in names:
        identifier = name.removesuffix(".xml")
        SubElement(section, "assessmentItemRef", identifier=identifier, href=name)
        SubElement(whole, "dependency", identifierref=identifier)
        _resource(resources, identifier, "imsqti_item_xmlv2p1", name)
    return {"imsmanifest.xml": manifest, "test.xml": test, **files}


def _resource(parent: Element, identifier: str, kind: str, name: str) -> Element:
    resource = SubElement(parent, "resource", identifier=identifier, type=kind, href=name)
    SubElement(resource, "file", href=name)
    return resource


def _item(question: dict) -> Element:
    named = {"identifier": question["name"], "title": question["name"].replace("_", " ")}
    item = Element("assessmentItem", named, xmlns=QTI, adaptive="false", timeDependent="false")
    letters = dict(zip(ascii_lowercase, question["options"], strict=False))
    right = next(letter for letter, option in letters.items() if option.get("right"))
    answered = {"identifier": "RESPONSE", "cardinality": "single", "baseType": "identifier"}
    declared = SubElement(item, "responseDeclaration", answered)
    _node(declared, "correctResponse", "value", text=right)
    for name, kind in (("SCORE", "float"), ("FEEDBACK", "identifier")):
        outcome = {"identifier": name, "cardinality": "single", "baseType": kind}
        SubElement(item, "outcomeDeclaration", outcome)
    choice = SubElement(
        SubElement(item, "itemBody"),
        "choiceInteraction",
        responseIdentifier="RESPONSE",
        shuffle="true",
        maxChoices="1",
    )
    choice.append(_inline("prompt", question["text"]))
    for letter, option in letters.items():
        choice.append(_inline("simpleChoice", option["text"], identifier=letter))
    processing = SubElement(item, "responseProcessing")
    condition = SubElement(SubElement(processing, "responseCondition"), "responseIf")
    match = SubElement(condition, "match")
    SubElement(match, "variable", identifier="RESPONSE")
    SubElement(match, "correct", identifier="RESPONSE")
    score = SubElement(condition, "setOutcomeValue", identifier="SCORE")
    SubElement(score, "baseValue", baseType="float").text = "1"
    chosen = SubElement(processing, "setOutcomeValue", identifier="FEEDBACK")
    SubElement(chosen, "variable", identifier="RESPONSE")
    for letter, option in letters.items():
        shown = {"outcomeIdentifier": "FEEDBACK", "identifier": letter, "showHide": "show"}
        item.append(_inline("modalFeedback", option["why"], **shown))
    return item


def _inline(name: str, text: str, **attributes: str) -> Element:
    """An element with a text, of which what stands between backticks is code."""
    element = ElementTree.fromstring(f"<{name}>{prose(text)}</{name}>")
    element.attrib |= attributes
    return element


def _title(chapter: str) -> str:
    return chapter.replace("_", " ").capitalize()
