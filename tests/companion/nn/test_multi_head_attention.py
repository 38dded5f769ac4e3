"""Multi-head attention against torch's layer, and the properties that any attention has."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from companion.nn import MultiHeadAttention, RotaryEmbedding, alibi_bias, padding_mask
from tests.companion.nn.test_attention import random

both_ways = pytest.mark.parametrize("need_weights", [True, False], ids=["explicit", "fused"])


def same_weights(ours, theirs):
    """Give our layer the weights of an nn.MultiheadAttention."""
    with torch.no_grad():
        projections = (ours.q_proj, ours.k_proj, ours.v_proj)
        for projection, weight in zip(projections, theirs.in_proj_weight.chunk(3), strict=True):
            projection.weight.copy_(weight)
        if theirs.in_proj_bias is not None:
            for projection, bias in zip(projections, theirs.in_proj_bias.chunk(3), strict=True):
                projection.bias.copy_(bias)
    ours.out_proj.load_state_dict(theirs.out_proj.state_dict())


@both_ways
@pytest.mark.parametrize("bias", [True, False])
@given(sizes=st.permutations((2, 3, 5, 7)), head_width=st.sampled_from((1, 11)))
def test_layer_equals_torch_with_its_weights(need_weights, bias, sizes, head_width):
    B, H, T, S = sizes
    d_model = H * head_width
    theirs = nn.MultiheadAttention(d_model, H, bias=bias, batch_first=True, dtype=torch.float64)
    if bias:
        nn.init.normal_(theirs.in_proj_bias)
        nn.init.normal_(theirs.out_proj.bias)
    ours = MultiHeadAttention(d_model, H, bias=bias).double()
    same_weights(ours, theirs)
    query, key, value = random(B, T, d_model), random(B, S, d_model), random(B, S, d_model)
    mask = torch.rand(B, H, T, S) < 0.6
    mask[..., 0] = True
    expected, expected_weights = theirs(  # True means "may not attend" there
        query, key, value, attn_mask=~mask.flatten(0, 1), average_attn_weights=False
    )
    output, weights = ours(query, key, value, mask, need_weights=need_weights)
    torch.testing.assert_close(output, expected)
    if need_weights:
        torch.testing.assert_close(weights, expected_weights)
    else:
        assert weights is None


@st.composite
def layers(draw):
    """A layer with or without shared key heads, rotation and bias, and its sizes."""
    B, T, H_kv, group, d_v = draw(st.permutations((2, 3, 5, 7, 11)))
    pairing = draw(st.sampled_from((None, "interleaved", "half")))
    d_k = 2 * draw(st.sampled_from((1, 3)))
    layer = MultiHeadAttention(
        13,
        H_kv * group,
        num_kv_heads=H_kv,
        d_k=d_k,
        d_v=d_v,
        bias=draw(st.booleans()),
        dropout=0.5,
        rope=pairing and RotaryEmbedding(d_k, pairing=pairing),
    )
    return layer.double().eval(), B, T


@given(layers(), st.booleans(), st.data())
def test_fused_equals_explicit(layer_and_sizes, is_causal, data):
    layer, B, T = layer_and_sizes
    H = layer.num_heads
    x = random(B, T, 13)
    shape = [data.draw(st.sampled_from((1, size))) for size in (B, H, T, T)]
    arguments = {
        "mask": data.draw(st.sampled_from((None, torch.rand(shape) < 0.5, torch.rand(T, T) < 0.5))),
        "score_bias": data.draw(st.sampled_from((None, alibi_bias(H, T), random(*shape)))),
        "is_causal": is_causal,
    }
    fused, nothing = layer(x, **arguments)
    explicit, weights = layer(x, **arguments, need_weights=True)
    assert nothing is None and weights.shape == (B, H, T, T)
    torch.testing.assert_close(fused, explicit)


@given(layers())
def test_weights_belong_to_the_same_computation(layer_and_sizes):
    layer, B, T = layer_and_sizes
    layer.train()  # with dropout: the weights are those that were used
    x, mask = random(B, T, 13), torch.rand(T, T) < 0.6
    output, weights = layer(x, mask=mask, is_causal=True, need_weights=True)
    assert (weights[(~mask).tril().expand_as(weights)] == 0).all()
    assert (weights.triu(1) == 0).all() and (weights != 0).any()
    group = layer.num_heads // layer.num_kv_heads
    values = layer.v_proj(x).reshape(B, T, layer.num_kv_heads, layer.d_v)
    heads = [weights[:, h] @ values[:, :, h // group] for h in range(layer.num_heads)]
    torch.testing.assert_close(output, layer.out_proj(torch.cat(heads, dim=-1)))


@both_ways
@pytest.mark.parametrize("num_kv_heads", [1, 3, 6])
def test_grouped_heads_are_all_heads_with_repeated_projections(need_weights, num_kv_heads):
    grouped = MultiHeadAttention(42, 6, num_kv_heads=num_kv_heads).double()
    full = MultiHeadAttention(42, 6).double()
    state = grouped.state_dict()
    for name in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"):
        heads = state[name].unflatten(0, (num_kv_heads, 7))
        state[name] = heads.repeat_interleave(6 // num_kv_heads, dim=0).flatten(0, 1)
    full.load_state_dict(state)
    x = random(2, 5, 42)
    expected, _ = full(x, is_causal=True, need_weights=need_weights)
    output, _ = grouped(x, is_causal=True, need_weights=need_weights)
    torch.testing.assert_close(output, expected)


def test_key_is_the_query_and_value_the_key_when_left_out():
    layer = MultiHeadAttention(6, 3).double()
    x, memory = random(2, 5, 6), random(2, 7, 6)
    assert torch.equal(layer(x)[0], layer(x, x, x)[0])
    assert torch.equal(layer(x, memory)[0], layer(x, memory, memory)[0])
    assert not torch.allclose(layer(x, memory)[0], layer(x, memory, memory.flip(1))[0])


@both_ways
def test_rope_turns_queries_and_keys_and_refuses_cross_attention(need_weights):
    turned = MultiHeadAttention(12, 3, rope=RotaryEmbedding(4)).double()
    plain = MultiHeadAttention(12, 3).double()
    plain.load_state_dict(turned.state_dict())
    x, memory = random(2, 5, 12), random(2, 7, 12)
    assert not torch.allclose(turned(x)[0], plain(x)[0])
    torch.testing.assert_close(turned(x, x, need_weights=need_weights)[0], turned(x)[0])
    for key in (memory, x.clone()):  # which positions a key that is not the query has, none can say
        with pytest.raises(ValueError, match="rope turns queries and keys of one sequence"):
            turned(x, key, need_weights=need_weights)
    with pytest.raises(TypeError, match=r"rope must be .* RotaryEmbedding\(d_k\), got True"):
        MultiHeadAttention(12, 3, rope=True)


@both_ways
def test_shared_positions_move_nothing_and_own_positions_do(need_weights):
    layer = MultiHeadAttention(12, 3, rope=RotaryEmbedding(4)).double()
    x = random(2, 5, 12)

    def at(positions):
        return layer(x, positions=positions, need_weights=need_weights)[0]

    counted, _ = layer(x, need_weights=need_weights)
    assert torch.equal(counted, at(torch.arange(5)))
    torch.testing.assert_close(counted, at(torch.arange(5) + 1000))
    rows = torch.tensor([[0, 1, 2, 3, 4], [0, 2, 4, 6, 8]])
    torch.testing.assert_close(at(rows)[0], counted[0])
    assert not torch.allclose(at(rows)[1], counted[1])


@both_ways
@given(layers(), st.data())
def test_the_past_does_not_move_when_the_future_changes(need_weights, layer_and_sizes, data):
    layer, B, T = layer_and_sizes
    x = random(B, T, 13)
    t = data.draw(st.integers(0, T - 2))
    changed = x.clone()
    changed[:, t + 1 :] = random(B, T - t - 1, 13)
    before, _ = layer(x, is_causal=True, need_weights=need_weights)
    after, _ = layer(changed, is_causal=True, need_weights=need_weights)
    torch.testing.assert_close(after[:, : t + 1], before[:, : t + 1], rtol=0, atol=1e-13)
    assert not torch.allclose(after[:, t + 1 :], before[:, t + 1 :])


@both_ways
@given(layers(), st.booleans(), st.integers(1, 7))
def test_padding_moves_nothing(need_weights, layer_and_sizes, is_causal, padded):
    layer, B, T = layer_and_sizes
    ids = torch.randint(1, 9, (B, T + padded))
    ids[:, T:] = 0
    vectors = random(9, 13)
    alone, _ = layer(vectors[ids[:, :T]], is_causal=is_causal, need_weights=need_weights)
    mask = padding_mask(ids, pad_id=0)
    for pad_vector in (random(13), random(13) * 1e6):
        vectors[0] = pad_vector
        together, _ = layer(vectors[ids], mask=mask, is_causal=is_causal, need_weights=need_weights)
        torch.testing.assert_close(together[:, :T], alone)


@both_ways
@given(layers())
def test_permuting_the_tokens_permutes_the_output(need_weights, layer_and_sizes):
    layer, B, T = layer_and_sizes
    layer.rope = None
    x = random(B, T, 13)
    order = torch.randperm(T).roll(1)
    output, _ = layer(x, need_weights=need_weights)
    permuted, _ = layer(x[:, order], need_weights=need_weights)
    torch.testing.assert_close(permuted, output[:, order])
    layer.rope = RotaryEmbedding(layer.d_k)
    assert not torch.allclose(layer(x.flip(1))[0], layer(x)[0].flip(1))


@both_ways
def test_an_empty_row_is_zeros_before_the_output_projection(need_weights):
    layer = MultiHeadAttention(6, 3).double()
    nn.init.normal_(layer.out_proj.bias)
    mask = torch.ones(5, 5, dtype=torch.bool)
    mask[2] = False
    output, _ = layer(random(2, 5, 6), mask=mask, need_weights=need_weights)
    torch.testing.assert_close(output[:, 2], layer.out_proj.bias.expand(2, 6))


@both_ways
def test_dropout_acts_in_training_only(need_weights):
    layer = MultiHeadAttention(6, 3, dropout=0.5).double()
    plain = MultiHeadAttention(6, 3).double()
    plain.load_state_dict(layer.state_dict())
    x = random(1, 5, 6)
    torch.testing.assert_close(layer.eval()(x, need_weights=need_weights)[0], plain(x)[0])
    layer.train()
    outputs, _ = layer(x.expand(5000, 5, 6), need_weights=need_weights)
    assert not torch.equal(outputs[0], outputs[1])
    torch.testing.assert_close(outputs.mean(0), plain(x)[0][0], rtol=0, atol=0.02)


@both_ways
@pytest.mark.parametrize("B, T, S", [(0, 5, 7), (2, 0, 7), (2, 5, 0)])
def test_layer_takes_an_empty_batch_and_an_empty_sequence(need_weights, B, T, S):
    layer = MultiHeadAttention(12, 6, num_kv_heads=3).double()
    output, weights = layer(random(B, T, 12), random(B, S, 12), need_weights=need_weights)
    assert output.shape == (B, T, 12)
    assert weights is None or weights.shape == (B, 6, T, S)
    layer = MultiHeadAttention(12, 6, num_kv_heads=3, rope=RotaryEmbedding(2)).double()
    assert layer(random(B, T, 12), is_causal=True, need_weights=need_weights)[0].shape == (B, T, 12)


@both_ways
def test_inputs_are_not_modified(need_weights):
    layer = MultiHeadAttention(12, 3, rope=RotaryEmbedding(4)).double()
    mask = torch.rand(2, 3, 5, 5) < 0.5
    mask[:, :, 1] = False
    inputs = [random(2, 5, 12), mask, random(3, 5, 5), torch.arange(5)]
    before = [tensor.clone() for tensor in inputs]
    x, mask, bias, positions = inputs
    layer(
        x,
        mask=mask,
        is_causal=True,
        score_bias=bias,
        positions=positions,
        need_weights=need_weights,
    )
    assert all(map(torch.equal, inputs, before))


def test_parameters_have_the_names_and_shapes_of_the_contract():
    layer = MultiHeadAttention(7, 6, num_kv_heads=2, d_k=4, d_v=5, rope=RotaryEmbedding(4))
    assert {name: tuple(tensor.shape) for name, tensor in layer.state_dict().items()} == {
        "q_proj.weight": (24, 7),
        "q_proj.bias": (24,),
        "k_proj.weight": (8, 7),
        "k_proj.bias": (8,),
        "v_proj.weight": (10, 7),
        "v_proj.bias": (10,),
        "out_proj.weight": (7, 30),
        "out_proj.bias": (7,),
    }
    assert not any("bias" in name for name in MultiHeadAttention(6, 3, bias=False).state_dict())


@both_ways
def test_queries_and_keys_are_normed_before_they_are_turned(need_weights):
    rope = RotaryEmbedding(4)
    layer = MultiHeadAttention(
        12, 6, num_kv_heads=2, d_k=4, rope=rope, qk_norm=True, norm_eps=0.1, qkv_bias=False
    ).double()
    assert layer.out_proj.bias is not None and layer.q_proj.bias is None
    nn.init.uniform_(layer.q_norm.weight), nn.init.uniform_(layer.k_norm.weight)
    x = random(2, 5, 12)
    output, _ = layer(x, need_weights=need_weights)

    def heads(project, norm):
        x_of_heads = project(x).unflatten(2, (-1, 4)).transpose(1, 2)
        size = (x_of_heads.square().mean(-1, keepdim=True) + 0.1).sqrt()
        return rope(x_of_heads / size * norm.weight)

    q, k = heads(layer.q_proj, layer.q_norm), heads(layer.k_proj, layer.k_norm)
    v = layer.v_proj(x).unflatten(2, (2, -1)).transpose(1, 2)
    scores = q @ k.repeat_interleave(3, dim=1).transpose(2, 3) / 2
    expected = (scores.softmax(-1) @ v.repeat_interleave(3, dim=1)).transpose(1, 2).flatten(2)
    torch.testing.assert_close(output, layer.out_proj(expected))
