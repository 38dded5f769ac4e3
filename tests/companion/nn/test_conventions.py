"""Conventions of other libraries, and how to convert them, as the notation page tells them."""

import inspect
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

from companion.nn import (
    EncoderBlock,
    MultiHeadAttention,
    RotaryEmbedding,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
    sinusoidal_encoding,
)
from tests.companion.nn.test_attention import random


def default(function, name):
    return inspect.signature(function).parameters[name].default


# What True means in a mask. In each test only key 0 may be attended to.

ONLY_KEY_0 = torch.tensor([True, False, False])


def test_true_means_may_attend_here():
    query, value = random(1, 2, 5), random(1, 3, 5)
    output, weights = scaled_dot_product_attention(query, value, value, ONLY_KEY_0[None])
    torch.testing.assert_close(output, value[:, :1].expand(1, 2, 5))
    assert weights.tolist() == [[[1, 0, 0], [1, 0, 0]]]


def test_true_means_may_attend_in_torchs_function():
    query, value = random(1, 2, 5), random(1, 3, 5)
    output = F.scaled_dot_product_attention(query, value, value, attn_mask=ONLY_KEY_0[None])
    torch.testing.assert_close(output, value[:, :1].expand(1, 2, 5))


@pytest.mark.parametrize("argument", ["attn_mask", "key_padding_mask"])
def test_true_means_may_not_attend_in_torchs_layer(argument):
    layer = nn.MultiheadAttention(6, 3, batch_first=True, dtype=torch.float64)
    query, memory = random(1, 2, 6), random(1, 3, 6)
    mask = ~ONLY_KEY_0.expand(2 if argument == "attn_mask" else 1, 3)  # ours, inverted
    _, weights = layer(query, memory, memory, **{argument: mask})
    assert weights.tolist() == [[[1, 0, 0], [1, 0, 0]]]


def test_true_means_may_not_attend_in_torchs_blocks():
    layer = nn.TransformerEncoderLayer(6, 3, 7, dropout=0.0, batch_first=True, dtype=torch.float64)
    x, ids = random(2, 3, 6), torch.tensor([[4, 5, 6], [7, 0, 0]])
    changed = x.clone()
    changed[1, 1:] += 1
    mask = ~padding_mask(ids, 0)[:, 0, 0]  # (B, S), inverted
    before, after = (layer(tokens, src_key_padding_mask=mask) for tokens in (x, changed))
    torch.testing.assert_close(after[1, 0], before[1, 0])
    assert not torch.allclose(layer(changed)[1, 0], layer(x)[1, 0])


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_one_means_a_real_token_in_transformers(family):
    if family == "bert":
        sizes = {"hidden_size": 6, "num_attention_heads": 3, "intermediate_size": 7}
        model = BertModel(BertConfig(vocab_size=9, num_hidden_layers=1, **sizes)).eval()
    else:
        model = GPT2Model(GPT2Config(vocab_size=9, n_embd=6, n_head=3, n_layer=1)).eval()
    ids, changed = torch.tensor([[0, 5, 6]]), torch.tensor([[8, 5, 6]])
    attention_mask = padding_mask(ids, 0)[:, 0, 0].long()  # (B, S), of ones and zeros: no inversion
    assert attention_mask.tolist() == [[0, 1, 1]]
    before, after = (
        model(input_ids=tokens, attention_mask=attention_mask).last_hidden_state
        for tokens in (ids, changed)
    )
    torch.testing.assert_close(after[:, 1:], before[:, 1:])
    unmasked = [model(input_ids=tokens).last_hidden_state[:, 1:] for tokens in (ids, changed)]
    assert not torch.allclose(*unmasked)


def test_a_mask_of_ones_and_zeros_becomes_ours():
    attention_mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    mask = attention_mask[:, None, None, :] == 1
    assert torch.equal(mask, padding_mask(torch.tensor([[4, 5, 0], [6, 7, 8]]), 0))


def test_a_floating_mask_is_added_to_the_scores():
    query, value = random(1, 2, 5), random(1, 3, 5)
    added = torch.zeros(2, 3, dtype=torch.float64).masked_fill(~ONLY_KEY_0, -math.inf)
    output, _ = scaled_dot_product_attention(query, value, value, score_bias=added)
    expected = F.scaled_dot_product_attention(query, value, value, attn_mask=added)
    torch.testing.assert_close(output, expected)


# Which key the first query is aligned with, and what else torch's functions do by default.


def test_is_causal_aligns_first_with_first_in_torchs_function_and_last_with_last_here():
    query, value = random(1, 1, 5), random(1, 6, 5)
    theirs = F.scaled_dot_product_attention(query, value, value, is_causal=True)
    torch.testing.assert_close(theirs, value[:, :1])  # the newest of six tokens sees the first only
    ours, weights = scaled_dot_product_attention(query, value, value, is_causal=True)
    assert (weights > 0).all()
    torch.testing.assert_close(ours, F.scaled_dot_product_attention(query, value, value))


def test_torchs_function_takes_a_mask_or_is_causal_and_ours_both():
    query, mask = random(1, 3, 5), torch.ones(3, 3, dtype=torch.bool)
    with pytest.raises(RuntimeError):
        F.scaled_dot_product_attention(query, query, query, attn_mask=mask, is_causal=True)
    _, weights = scaled_dot_product_attention(query, query, query, mask, is_causal=True)
    assert torch.equal(weights[0] > 0, causal_mask(3))


def test_torchs_layer_wants_the_mask_beside_is_causal():
    layer, x = nn.MultiheadAttention(6, 3, batch_first=True), torch.randn(1, 3, 6)
    with pytest.raises(RuntimeError, match="attn_mask"):
        layer(x, x, x, is_causal=True)


def test_torchs_function_drops_out_until_told_not_to():
    query = random(1, 50, 5)  # no module, so no eval() to turn it off
    outputs = [F.scaled_dot_product_attention(query, query, query, dropout_p=0.5) for _ in "ab"]
    assert not torch.equal(*outputs)


def test_torchs_layer_returns_weights_averaged_over_heads_and_ours_each_head_when_asked():
    theirs, ours = nn.MultiheadAttention(6, 3, batch_first=True), MultiHeadAttention(6, 3)
    x = torch.randn(2, 5, 6)
    assert theirs(x, x, x)[1].shape == (2, 5, 5)
    assert theirs(x, x, x, average_attn_weights=False)[1].shape == (2, 3, 5, 5)
    assert ours(x)[1] is None
    assert ours(x, need_weights=True)[1].shape == (2, 3, 5, 5)


# Batch first, norm order.


@pytest.mark.parametrize(
    "layer",
    [
        nn.MultiheadAttention,
        nn.TransformerEncoderLayer,
        nn.TransformerDecoderLayer,
        nn.Transformer,
        nn.RNN,
    ],
)
def test_torch_puts_the_batch_second_by_default(layer):
    if layer is nn.RNN:  # takes it among **kwargs
        assert layer(6, 3).batch_first is False
    else:
        assert default(layer, "batch_first") is False


def test_a_sequence_first_tensor_is_a_transpose_away():
    ours, theirs = MultiHeadAttention(6, 3), nn.MultiheadAttention(6, 3)
    state = {"out_proj.weight": theirs.out_proj.weight, "out_proj.bias": theirs.out_proj.bias}
    for name, weight, bias in zip(
        "qkv", theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True
    ):
        state |= {f"{name}_proj.weight": weight, f"{name}_proj.bias": bias}
    ours.load_state_dict(state)
    x = torch.randn(5, 2, 6)  # (T, B, d_model)
    torch.testing.assert_close(ours(x.transpose(0, 1))[0].transpose(0, 1), theirs(x, x, x)[0])


@pytest.mark.parametrize(
    "block",
    [nn.TransformerEncoderLayer, nn.TransformerDecoderLayer, nn.Transformer, EncoderBlock],
)
def test_the_norm_comes_after_the_addition_by_default(block):
    assert default(block, "norm_first") is False


# Rotary pairing.


def test_one_permutation_of_rows_turns_interleaved_weights_into_half_weights():
    d_k, num_heads, num_kv_heads = 6, 4, 2
    order = torch.cat([torch.arange(0, d_k, 2), torch.arange(1, d_k, 2)])  # 0 2 4 1 3 5
    interleaved, half = (
        MultiHeadAttention(
            24,
            num_heads,
            num_kv_heads=num_kv_heads,
            rope=RotaryEmbedding(d_k, pairing=pairing),
        ).double()
        for pairing in ("interleaved", "half")
    )
    state = interleaved.state_dict()
    for name in ("q_proj.weight", "q_proj.bias", "k_proj.weight", "k_proj.bias"):  # not the values
        state[name] = state[name].unflatten(0, (-1, d_k))[:, order].flatten(0, 1)
    half.load_state_dict(interleaved.state_dict())
    x = random(2, 5, 24)
    expected, _ = interleaved(x, is_causal=True)
    assert not torch.allclose(half(x, is_causal=True)[0], expected)
    half.load_state_dict(state)
    torch.testing.assert_close(half(x, is_causal=True)[0], expected)

    vectors = random(2, 3, 5, d_k)  # the same, on vectors
    torch.testing.assert_close(
        RotaryEmbedding(d_k, pairing="half")(vectors[..., order]),
        RotaryEmbedding(d_k)(vectors)[..., order],
    )


# Layout of the sinusoids.


def test_sinusoids_are_interleaved_in_the_paper_and_here():
    row = sinusoidal_encoding(2, 6, dtype=torch.float64)[1]
    angles = [10000 ** (-2 * i / 6) for i in range(3)]
    assert row[0::2].tolist() == pytest.approx([math.sin(angle) for angle in angles])
    assert row[1::2].tolist() == pytest.approx([math.cos(angle) for angle in angles])


def test_all_sines_before_all_cosines_is_a_permutation_of_columns():
    theirs = MarianSinusoidalPositionalEmbedding(7, 6)
    ours = sinusoidal_encoding(7, 6)
    torch.testing.assert_close(
        torch.cat([ours[:, 0::2], ours[:, 1::2]], dim=1), theirs.create_weight().float()
    )


def test_tensor2tensors_sinusoids_also_have_other_frequencies():
    # fairseq copied them and M2M-100 fairseq: sines first, and the slowest wave is 1/10000.
    d_model = 6
    theirs = M2M100SinusoidalPositionalEmbedding.get_embedding(7, d_model)
    steps = torch.arange(d_model // 2, dtype=torch.float64) / (d_model // 2 - 1)
    angles = torch.arange(7, dtype=torch.float64)[:, None] * 10000**-steps
    expected = torch.cat([angles.sin(), angles.cos()], dim=1).float()
    torch.testing.assert_close(theirs, expected, rtol=0, atol=1e-5)
    ours = sinusoidal_encoding(7, d_model)
    torch.testing.assert_close(theirs[:, 0], ours[:, 0], rtol=0, atol=1e-5)  # the fastest agrees
    assert not torch.allclose(theirs[:, 2], ours[:, 4], atol=1e-3)  # the slowest does not
