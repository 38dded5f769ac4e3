"""Thirty starts: a vector that is added at a noun is seen by what reads there, and only by that."""

import pytest
import torch
from torch import nn

from book.what_the_stream_carries import late
from companion.data.lexicon import GENDER_PAIRS


class Gendered(nn.Module):
    """Says *her* if it reads a woman at the second word: before its block, or behind it."""

    def __init__(self, behind: bool):
        super().__init__()
        self.behind = behind
        self.blocks = nn.ModuleList([nn.Identity()])
        self.women = torch.tensor([late.NUMBER_OF[she] for _, she in GENDER_PAIRS])

    def forward(self, ids):
        before = torch.isin(ids, self.women).double()[..., None]
        after = self.blocks[0](before)
        woman = (after if self.behind else before)[:, 2, 0]
        logits = torch.zeros(*ids.shape, len(late.NUMBER_OF) + 1, dtype=torch.float64)
        logits[:, -1, late.NUMBER_OF["her"]] = woman - 0.5
        return logits


@pytest.mark.parametrize(("behind", "share"), [(True, 1.0), (False, 0.0)])
def test_the_vector_reaches_whoever_reads_behind_the_block(behind, share):
    assert late.obeying(Gendered(behind), 1) == share


def test_each_of_thirty_starts_has_a_share():
    rows = late.stored()
    assert [row["seed"] for row in rows] == list(range(5101, 5131))
    assert all(0 <= row["obey"] <= 1 for row in rows)


@pytest.mark.long
def test_a_stored_start_is_found_again():
    # Where a processor rounds otherwise, it is as another start: nearly all have 0.
    assert late.measure(5101)["obey"] == pytest.approx(late.stored()[0]["obey"], abs=0.3)
