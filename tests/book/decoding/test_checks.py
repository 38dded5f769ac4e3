"""The translator whose weights follow from a formula, so that no random numbers are needed."""

import pytest
import torch

from book.decoding.checks import a_translator
from companion.generation import greedy_decode


@pytest.mark.parametrize("ids", [{}, {"bos_id": 7, "eos_id": 4, "pad_id": 3}])
def test_its_sources_end_where_they_should(ids):
    model, long, short, padded = a_translator(**ids)
    eos, pad = model.config.eos_id, model.config.pad_id
    assert not (greedy_decode(model, long, 9) == eos).any()
    ends = (greedy_decode(model, short, 9) == eos).nonzero()[:, 1].tolist()
    assert len({*ends}) == len(short) >= 3 and min(ends) > 1
    assert (padded == pad).any(1).all()
    heard = model.eval()(padded, torch.full((2, 1), model.config.bos_id))
    deaf = model(padded.masked_fill(padded == pad, eos), torch.full((2, 1), model.config.bos_id))
    assert not torch.allclose(heard, deaf)
