"""The chapter's bench: its cell is run on stand-ins, and the controls are driven from Python."""

from pathlib import Path
from types import SimpleNamespace

import nbformat
import torch

from book import inside_a_real_model

FOLDER = Path(inside_a_real_model.__file__).parent


def made():
    """The bench of a model with two blocks over six letters: block 0 says c, block 1 says e."""
    notebook = nbformat.read(FOLDER / "inside_a_real_model.ipynb", as_version=4)
    (source,) = (cell.source for cell in notebook.cells if cell.id == "bench")

    def streams(ids):
        return torch.stack([
            torch.tensor([0.0, 1, 5, 3, 2, 4]), torch.tensor([1.0, 2, 3, 0, 9, 0])
        ])[:, None, None].expand(2, 1, ids.shape[1], 6)  # fmt: skip

    tokenizer = SimpleNamespace(
        encode=lambda text: ["abcdef".index(letter) for letter in text],
        decode=lambda ids: "".join("abcdef"[i] for i in ids),
    )
    names = {
        "BLOCKS": 21, "T": 4, "torch": torch, "streams": streams, "tokenizer": tokenizer,
        "model": SimpleNamespace(head=lambda x: x, final_norm=lambda x: x),
    }  # fmt: skip
    source = source.replace("20, min=0", "1, min=0").replace("The opposite of hot is", "abc")
    *lines, last = source.split("\nbench(\n")
    exec("\nbench(\n".join(lines) + "\nfound = bench(\n" + last, names)
    return SimpleNamespace(**names["found"].controls, bench=names["found"])


def test_the_lens_reads_the_block_that_is_chosen():
    one = made()
    assert one.bench.said().startswith("After block 1 the lens names 'e', 'c', 'b'.")
    assert "'e', has rank **0**." in one.bench.said()
    one.block.value = 0
    assert one.bench.said().startswith("After block 0 the lens names 'c', 'f', 'd'.")
    assert "'e', has rank **3**." in one.bench.said()


def test_no_text_and_a_long_one_get_a_sentence():
    one = made()
    for text, tokens in (("", 0), ("abcde", 5)):
        one.text.value = text
        assert one.bench.said() == f"Write a text of 1 to 4 tokens; this one has {tokens}."
