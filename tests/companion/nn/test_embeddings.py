"""Vectors of tokens and of image patches."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from companion.nn import PatchEmbedding, TokenEmbedding


@pytest.mark.parametrize("scale, factor", [(True, 7**0.5), (False, 1.0)])
@pytest.mark.parametrize("shape", [(), (5,), (2, 5), (2, 3, 5), (0, 5)])
def test_token_embedding_is_torchs_times_the_root_of_the_width(scale, factor, shape):
    layer = TokenEmbedding(11, 7, scale=scale).double()
    theirs = nn.Embedding.from_pretrained(layer.weight.detach())
    ids = torch.randint(11, shape)
    torch.testing.assert_close(layer(ids), theirs(ids) * factor)
    assert torch.equal(layer(ids.int()), layer(ids))


def test_token_embedding_scales_by_default():
    layer = TokenEmbedding(3, 16)
    with torch.no_grad():
        layer.weight.fill_(0.5)
    assert layer(torch.tensor([1])).tolist() == [[2.0] * 16]
    assert dict(layer.named_parameters()).keys() == {"weight"}


def test_scaled_vectors_start_with_entries_of_variance_one():
    layer = TokenEmbedding(1000, 64)
    assert layer(torch.arange(1000)).std().item() == pytest.approx(1, abs=0.02)
    assert layer.weight.std().item() == pytest.approx(1 / 8, abs=0.002)


@pytest.mark.parametrize("ids", [[0, 11], [-1, 3]])
def test_token_embedding_refuses_ids_out_of_range(ids):
    layer = TokenEmbedding(11, 7)
    message = rf"token_ids must lie in \[0, 11\), got values from {ids[0]} to {ids[1]}; is vocab"
    with pytest.raises(ValueError, match=message):
        layer(torch.tensor([ids]))
    layer(torch.tensor([[0, 10]]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.uint8])
def test_token_embedding_refuses_what_cannot_index(dtype):
    with pytest.raises(TypeError, match=rf"int64 or int32, got {dtype}; convert with .long\(\)"):
        TokenEmbedding(11, 7)(torch.zeros(2, 3, dtype=dtype))
    with pytest.raises(TypeError, match="got list"):
        TokenEmbedding(11, 7)([1, 2])


@given(st.permutations((2, 3, 5, 7)), st.sampled_from((1, 2, 3)))
def test_patch_embedding_is_one_linear_map_of_each_patch(sizes, side):
    B, patch, channels, d_model = sizes
    layer = PatchEmbedding(side * patch, patch, channels, d_model).double()
    images = torch.randn(B, channels, side * patch, side * patch, dtype=torch.float64)
    patches = F.unfold(images, patch, stride=patch).transpose(
        1, 2
    )  # (B, side^2, channels * patch^2)
    expected = F.linear(patches, layer.proj.weight.flatten(1), layer.proj.bias)
    torch.testing.assert_close(layer(images), expected)
    assert layer.num_patches == side**2 == expected.shape[1]


def test_patches_come_row_by_row_from_the_top_left():
    layer = PatchEmbedding(4, 2, 1, 1)
    with torch.no_grad():
        layer.proj.weight.fill_(0.25)  # the mean of each patch
        layer.proj.bias.zero_()
    image = torch.tensor([[1.0, 1, 2, 2], [1, 1, 2, 2], [3, 3, 4, 4], [3, 3, 4, 4]])
    assert layer(image[None, None]).flatten().tolist() == [1, 2, 3, 4]


def test_patch_embedding_refuses_images_of_another_kind():
    layer = PatchEmbedding(6, 2, 3, 5)
    message = r"images must have shape \(B, 3, 6, 6\), got "
    for shape in ((2, 3, 6, 5), (2, 3, 5, 6), (2, 1, 6, 6), (3, 6, 6)):
        with pytest.raises(ValueError, match=message):
            layer(torch.randn(shape))
    with pytest.raises(TypeError, match=r"floating, got torch.uint8; .* images / 255"):
        layer(torch.zeros(2, 3, 6, 6, dtype=torch.uint8))
    with pytest.raises(TypeError, match=r"images must be a torch.Tensor, got NoneType"):
        layer(None)


def test_patches_must_divide_the_image():
    with pytest.raises(ValueError, match="7 pixels does not divide into patches of 2"):
        PatchEmbedding(7, 2, 3, 5)


@pytest.mark.parametrize("size", [0, -1])
@pytest.mark.parametrize("name", ["image_size", "patch_size", "channels", "d_model"])
def test_patch_sizes_must_be_positive(name, size):
    sizes = {"image_size": 6, "patch_size": 2, "channels": 3, "d_model": 5} | {name: size}
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got {size}"):
        PatchEmbedding(**sizes)


@pytest.mark.parametrize("name", ["vocab_size", "d_model"])
def test_token_sizes_must_be_positive(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        TokenEmbedding(**({"vocab_size": 11, "d_model": 7} | {name: 0}))


@pytest.mark.parametrize("scale", [0.5, 2, None, "yes"])
def test_scale_is_no_factor(scale):  # a number would be taken for True, and scale by sqrt(d_model)
    with pytest.raises(ValueError, match=f"scale must be one of True, False; got {scale!r}"):
        TokenEmbedding(11, 7, scale=scale)


@pytest.mark.parametrize("size", [7.0, "7", None, True])
def test_sizes_must_be_whole_numbers(size):
    with pytest.raises(TypeError, match="d_model must be an int, got"):
        TokenEmbedding(11, size)
