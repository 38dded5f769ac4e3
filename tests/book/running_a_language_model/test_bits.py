"""Rounding all matrices: as on the page, and only while the loss is measured."""

from pathlib import Path

import nbformat
import pytest
import torch

from book.running_a_language_model import bits
from companion.models import GPT, GPTConfig

CHAPTER = Path(__file__).parents[3] / "book/running_a_language_model/running_a_language_model.ipynb"


def test_it_rounds_as_the_page_does():
    [cell] = [c for c in nbformat.read(CHAPTER, as_version=4).cells if c.id == "quantise"]
    page = {}
    exec(cell.source, page)
    torch.manual_seed(1)
    weight = torch.randn(6, 64)
    for width in (2, 3, 4, 8):
        for size in (32, 64, weight.numel()):
            assert torch.equal(
                bits.quantise(weight, width, size), page["quantise"](weight, width, size)
            )


def test_the_loss_is_that_of_rounded_matrices_which_get_their_numbers_back():
    torch.manual_seed(1)
    sizes = {"vocab_size": 32, "d_model": 32, "num_layers": 1, "num_heads": 2, "d_ff": 64}
    model = GPT(GPTConfig(**sizes, max_len=16)).eval()
    ids = torch.randint(32, (2, 8))
    kept = {name: p.detach().clone() for name, p in model.named_parameters()}
    before = bits.loss_of(model, ids)
    assert bits.loss_at(model, ids, 24, bits.WAYS["a row"]) == pytest.approx(before, abs=1e-4)
    coarse = bits.loss_at(model, ids, 2, bits.WAYS["a whole matrix"])
    assert abs(coarse - before) > 1e-3
    nothing = bits.loss_at(model, ids, 4, bits.WAYS["a row"], lambda p, *_: torch.zeros_like(p))
    assert nothing == pytest.approx(torch.tensor(32.0).log().item(), abs=1e-4)  # an even guess
    for name, p in model.named_parameters():
        assert torch.equal(p, kept[name])


def test_ten_draws_have_a_loss_for_each_number_of_bits():
    rows = bits.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for row in rows:
        assert list(row) == ["seed", "before", *bits.TRIED, "two ends"]
        assert all(len(row[way]) == len(tried) for way, tried in bits.TRIED.items())


@pytest.mark.weights
@pytest.mark.long
def test_a_stored_draw_is_found_again():
    again, row = bits.measure(5301), bits.stored()[0]
    for way in ("before", "two ends", *bits.TRIED):
        assert again[way] == pytest.approx(row[way], abs=0.05)
