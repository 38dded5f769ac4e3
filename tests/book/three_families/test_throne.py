"""Whose throne it is: the table is whole, and what is kept is neither hidden nor asked for."""

import pytest
import torch

from book.three_families import throne


def test_every_seed_has_a_run_of_each_model():
    rows = throne.measured()
    assert {len(row["knows"]) for row in rows} == {throne.LOOKS}
    models = [[row["model"] for row in rows if row["seed"] == seed] for seed in range(701, 706)]
    assert models == 5 * [list(throne.MASKED)]


def test_a_word_that_is_kept_is_neither_hidden_nor_asked_for():
    ids = torch.arange(throne.FIRST_WORD, throne.FIRST_WORD + 20).repeat(50, 1)
    kept = ids[0, 3:5]
    hidden, asked = throne.corrupt(ids, 0.9, kept, torch.Generator().manual_seed(0))
    assert torch.equal(hidden[:, 3:5], ids[:, 3:5])
    assert (asked[:, 3:5] == throne.PAD).all()
    others = torch.ones(20, dtype=torch.bool)
    others[3:5] = False
    share = (asked[:, others] != throne.PAD).float().mean().item()
    assert share == pytest.approx(0.9, abs=0.05)
    changed = hidden != ids
    assert (asked[changed] == ids[changed]).all()  # what is changed is asked for


@pytest.mark.long
def test_a_seed_decides_a_run_in_which_nobody_knows_at_first(monkeypatch):
    monkeypatch.setattr(throne, "BETWEEN", 2000)
    monkeypatch.setattr(throne, "LOOKS", 2)
    first = throne.curve("decoder", 701)
    assert first == throne.curve("decoder", 701)
    assert first != throne.curve("decoder", 702)
    assert max(map(abs, first)) < 0.1  # nobody knows after 4,000 questions
