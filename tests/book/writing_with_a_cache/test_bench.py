"""The chapter's bench: its cell is run on stand-ins, and the controls are driven from Python."""

from pathlib import Path
from types import SimpleNamespace

import nbformat
import torch

from book import writing_with_a_cache
from companion.data import BOS, EOS, Vocabulary

FOLDER = Path(writing_with_a_cache.__file__).parent


def made(asked: list):
    """The bench of a vocabulary of two words, of which "the" stands behind BOS three times."""
    notebook = nbformat.read(FOLDER / "writing_with_a_cache.ipynb", as_version=4)
    (source,) = (cell.source for cell in notebook.cells if cell.id == "bench")
    vocabulary = Vocabulary((BOS, EOS, "the", "cat"))
    bos, eos, the, cat = (vocabulary.id(word) for word in (BOS, EOS, "the", "cat"))

    def write(sentences, guesses, offers):
        asked.append((guesses, offers))
        return [2, 3], [bos, the, cat, eos]

    names = {
        "torch": torch, "vocabulary": vocabulary, "write": write, "bos": bos, "eos": eos,
        "after": torch.tensor([[the, cat], [the, vocabulary.pad_id], [the, eos]]),
        "pad": vocabulary.pad_id, "draft": torch.eye(len(vocabulary)).double(),
    }  # fmt: skip
    *lines, last = source.split("\nbench(\n")
    exec("\nbench(\n".join(lines) + "\nfound = bench(\n" + last, names)
    return SimpleNamespace(**names["found"].controls, bench=names["found"], the=the, cat=cat)


def test_the_draft_that_is_chosen_proposes_as_many_words_as_are_asked_for():
    asked = []
    one = made(asked)
    said = "**2.50 words** per pass of the large model, of {} at most. It wrote: *the cat*"
    assert one.bench.said() == said.format(5)
    one.guesses.value = 2
    assert one.bench.said() == said.format(3)
    assert asked[-1][0] == 2
    assert torch.equal(asked[-1][1], torch.eye(len(asked[-1][1])).double())
    for name in one.offers.options[1:]:
        one.offers.value = name
        one.bench.said()
        table = asked[-1][1]
        assert torch.allclose(table.sum(1), torch.ones(len(table)).double())
        often = name == "knows how often words are"
        assert (table[0, one.the] > 2 * table[0, one.cat]).item() == often
