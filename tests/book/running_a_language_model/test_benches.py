"""The chapter's benches: their cells are run on stand-ins, the controls are driven from Python."""

from pathlib import Path
from types import SimpleNamespace

import nbformat

from book import running_a_language_model
from book.page import bench

FOLDER = Path(running_a_language_model.__file__).parent


def made(cell_id: str, names: dict):
    """The bench of a cell, made with these names in place of the chapter's."""
    notebook = nbformat.read(FOLDER / "running_a_language_model.ipynb", as_version=4)
    (source,) = (cell.source for cell in notebook.cells if cell.id == cell_id)
    *lines, last = source.split("\nbench(\n")
    exec("\nbench(\n".join(lines) + "\nfound = bench(\n" + last, names)
    return names["found"]


def asked(written: dict):
    names = {
        "chat_ids": lambda text: f"chat {text}",
        "tokenizer": SimpleNamespace(encode=lambda text: f"bare {text}"),
        "answer": lambda ids, new: written.get(ids, "something else"),
    }
    return made("bench", names)


def test_a_question_goes_out_in_the_chosen_form():
    one = asked({"chat Why?": "Because.", "bare Why?": " "})
    one.controls["question"].value = "Why?"
    assert one.said() == "It writes: Because."
    one.controls["form"].value = "bare"
    assert one.said() == "It ends its turn at once."


def test_no_question_and_too_long_a_one_get_a_sentence():
    one = asked({})
    for question in (" ", "x" * 501):
        one.controls["question"].value = question
        assert "at most 500 characters" in one.said()


def test_bits_and_blocks_reach_the_rounding():
    matrix = SimpleNamespace(shape=(6, 576), numel=lambda: 6 * 576)
    ways = {"a row": lambda p: p.shape[1], "a whole matrix": lambda p: p.numel()}
    names = {"bench": bench, "WAYS": ways, "loss_on_sample": lambda: 3.0, "even_guess": 10.8}
    from ipywidgets import Dropdown

    names |= {"Dropdown": Dropdown, "loss_at": lambda bits, size: 1000 * bits + size(matrix)}
    one = made("bench-bits", names)
    assert "**5032.00**" in one.said()
    sizes = {"blocks of 8": 8, "blocks of 64": 64, "a row": 576, "a whole matrix": 3456}
    for scale, size in sizes.items():
        one.controls["bits"].value, one.controls["scale"].value = 3, scale
        assert f"With 3 bits and one scale for {scale} the loss is **{3000 + size}.00**" in (
            one.said()
        )
