"""The page of notation has every letter of the chapters' formulas, and none beside them."""

import re

import nbformat
import pytest

from book._press.execute import chapters
from tests.book.test_links import BOOK

GREEK = "alpha beta gamma delta Delta epsilon varepsilon ell lambda mu sigma tau omega".split()
LETTER = re.compile(rf"\\({'|'.join(GREEK)})(?![a-z])|\\[a-zA-Z]+|([A-Za-z])")
WORDS = re.compile(r"\\(?:text|textit|mathrm|mathbb|operatorname|begin|end)\{[^{}]*\}")
CODE = re.compile(r"```.*?```|`[^`]*`", re.S)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$((?:[^$\n]|\n(?!\n))+?)\$", re.S)
CHAPTER = re.compile(r"\]\((\w+)/\1\.ipynb\)")
NOTATION = BOOK / "notation.ipynb"
CHAPTERS = [path for path in chapters(BOOK.parent) if path != NOTATION]


def text_of(path) -> str:
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def letters(text: str) -> set[str]:
    """The letters of its formulas; a name like "softmax" is none."""
    formulas = ("".join(found.groups("")) for found in FORMULA.finditer(CODE.sub("", text)))
    found = (LETTER.findall(WORDS.sub("", formula)) for formula in formulas)
    return {greek or latin for pairs in found for greek, latin in pairs} - {""}


def explained() -> tuple[set[str], dict[str, set[str]]]:
    """The letters that mean the same everywhere, and those that each chapter adds."""
    general, own = set(), {}
    for row in re.findall(r"(?m)^\|(.+?)\|(.+)\|$", text_of(NOTATION).partition("\n## Masks")[0]):
        if chapter := CHAPTER.search(row[0]):
            own[chapter[1]] = letters(row[1])
        else:
            general |= letters(row[0])
    return general, own


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_letter_of_a_chapter_is_on_the_page_of_notation(path):
    general, own = explained()
    used, added = letters(text_of(path)), own.get(path.stem, set())
    assert used <= general | added, "a letter that the page of notation does not explain"
    assert added <= used | general, "the page explains a letter that the chapter does not use"


def test_letters_are_read_from_formulas_alone():
    text = "`$q$` and $\\text{softmax}(x W_1)\\,\\alpha_0^{\\top}$ $$\\frac{y}{2}$$ $1\n/ 2$ to $3$"
    assert letters(text) == {"x", "W", "alpha", "y"}
