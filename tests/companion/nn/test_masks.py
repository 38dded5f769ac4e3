"""Masks, against answers by hand."""

import pytest
import torch

from companion.nn import causal_mask, padding_mask


@pytest.mark.parametrize(
    "T, S, rows",
    [
        (3, None, ["100", "110", "111"]),
        (2, 5, ["11110", "11111"]),
        (1, 4, ["1111"]),
        (4, 2, ["00", "00", "10", "11"]),
        (0, 3, []),
        (2, 0, ["", ""]),
    ],
)
def test_causal_mask_by_hand(T, S, rows):
    mask = causal_mask(T, S)
    assert mask.dtype == torch.bool
    assert mask.shape == (T, T if S is None else S)
    assert ["".join(str(int(entry)) for entry in row) for row in mask] == rows


def test_causal_mask_is_made_where_it_is_asked_for():
    assert causal_mask(2, device="meta").device.type == "meta"
    assert causal_mask(2).device.type == "cpu"


@pytest.mark.parametrize("sizes", [(-1,), (2, -3)])
def test_causal_mask_refuses_negative_sizes(sizes):
    with pytest.raises(ValueError, match=f"[TS] must be at least 0, got {min(sizes)}"):
        causal_mask(*sizes)


@pytest.mark.parametrize("size", [2.0, "2", True])
def test_causal_mask_refuses_what_is_no_size(size):
    with pytest.raises(TypeError, match=f"T must be an int, got {size!r}"):
        causal_mask(size)
    with pytest.raises(TypeError, match=f"S must be an int, got {size!r}"):
        causal_mask(3, size)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_padding_mask_by_hand(dtype):
    mask = padding_mask(torch.tensor([[5, 7, 0], [0, 0, 0]], dtype=dtype), pad_id=0)
    assert mask.shape == (2, 1, 1, 3) and mask.dtype == torch.bool
    assert mask.flatten(1).tolist() == [[True, True, False], [False, False, False]]
    assert padding_mask(torch.tensor([[5, 7, 0]]), pad_id=7).flatten().tolist() == [
        True,
        False,
        True,
    ]


def test_padding_mask_refuses_what_is_not_a_batch_of_ids():
    with pytest.raises(ValueError, match=r"\(B, S\), got \(3,\)"):
        padding_mask(torch.tensor([5, 7, 0]), pad_id=0)
    with pytest.raises(TypeError, match=r"token_ids must be int64 or int32, got torch.float32"):
        padding_mask(torch.zeros(2, 3), pad_id=0)
    with pytest.raises(TypeError, match=r"token_ids must be a torch.Tensor, got list"):
        padding_mask([[5, 7, 0]], pad_id=0)
    for pad_id in (None, "[PAD]", 0.0, True):
        with pytest.raises(TypeError, match=r"pad_id must be an int, got .*; without padding"):
            padding_mask(torch.tensor([[5, 7, 0]]), pad_id=pad_id)
