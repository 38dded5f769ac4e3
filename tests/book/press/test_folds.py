"""What a page hides until somebody asks."""

from docutils import nodes
from docutils.utils import new_document

from book._press.folds import veil, with_folds

PRINTED = {"output_type": "stream", "name": "stdout", "text": ["torch 2\n"]}


def code(source, *outputs, tags=("hide-input",)):
    metadata = {"tags": [*tags]}
    return {"cell_type": "code", "source": source, "outputs": [*outputs], "metadata": metadata}


def words():
    return {"cell_type": "markdown", "source": "Words.", "metadata": {}}


def names(cells):
    return [cell["metadata"].get("mystnb", {}).get("code_prompt_show") for cell in cells]


def test_neighbouring_folds_are_one_up_to_the_cell_that_shows_something():
    cells = [code("a\n"), code(["b\n", "c"]), code("d", PRINTED), code("e"), words(), code("f")]
    with_folds(cells)
    assert names(cells) == [None, None, "Code (3 cells)", "Code", None, "Code"]
    assert cells[2]["source"] == "a\n\n\nb\nc\n\nd" and cells[2]["outputs"] == [PRINTED]
    assert [cell["metadata"]["tags"] for cell in cells[:3]] == [["remove-input"]] * 2 + [
        ["hide-input"]
    ]


def test_open_code_stays_as_it_is_and_joins_nothing():
    cells = [code("a"), code("b", PRINTED, tags=()), code("c", tags=["claim"])]
    with_folds(cells)
    assert names(cells) == ["Code", None, "Code"]
    assert [cell["source"] for cell in cells] == ["a", "b", "c"]


def test_what_the_set_up_prints_is_folded_with_it():
    cells = [code("from book.page import setup; seed, device = setup(seed=0)", PRINTED), code("a")]
    with_folds(cells)
    assert names(cells)[-1] == "Set-up (2 cells)"
    assert cells[0]["outputs"] == []
    assert cells[1]["source"].splitlines()[1:] == ["# torch 2", "", "a"]


def test_a_cell_that_asks_for_a_guess_is_marked():
    html = {"text/html": ['<div class="companion-live" ', 'data-figure="prediction">']}
    cells = [code("ask()", {"output_type": "display_data", "data": html}), code("b", PRINTED)]
    with_folds(cells)
    assert [cell["metadata"]["tags"] for cell in cells] == [["hide-input", "asks"], ["hide-input"]]


def veiled(*siblings):
    """A section with these nodes, veiled: letters for nodes, brackets for the veil."""
    page, section = new_document("page"), nodes.section()
    page += section
    for sibling in siblings:
        section += sibling
    veil(page)
    return "".join(
        {"raw": "()"["</" in node.astext()[:2]], "container": "?", "section": "#"}.get(
            node.tagname, "."
        )
        for node in section.children
    )


def question():
    return nodes.container(classes=["cell", "tag_asks"])


def test_what_follows_a_question_is_veiled_up_to_the_next_one_or_a_heading():
    def text():
        return nodes.paragraph(text="so")

    assert veiled(text(), question(), text(), text()) == ".?(..)"
    assert veiled(question(), text(), nodes.section(), nodes.section()) == "?(.)##"
    assert veiled(question(), text(), question(), text()) == "?(.)?(.)"
    assert veiled(text(), question(), nodes.section()) == ".?#"
    assert veiled(text()) == "."
