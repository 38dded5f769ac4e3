"""The formula that counts parameters, against models that were built."""

import pytest
import torch

from book.full_model.checks import _counted
from companion.models import Transformer, TransformerConfig

BASE = {"vocab_size": 37000, "d_model": 512, "num_layers": 6, "num_heads": 8, "d_ff": 2048}


@pytest.mark.parametrize(
    "sizes",
    [
        {"vocab_size": 17, "d_model": 6, "num_layers": 2, "num_heads": 3, "d_ff": 11, "d_k": 5}
        | {"d_v": 7},
        BASE | {"d_k": 64, "d_v": 64},
        BASE | {"d_k": 16, "d_v": 64},
    ],
    ids=["small", "base", "row B of Table 3"],
)
def test_the_formula_counts_what_is_built(sizes):
    with torch.device("meta"):
        model = Transformer(TransformerConfig(max_len=13, **sizes))
    names = ("vocab_size", "d_model", "num_layers", "num_heads", "d_ff", "d_k", "d_v")
    built = sum(parameter.numel() for parameter in model.parameters())
    assert _counted(*(sizes[name] for name in names)) == built
