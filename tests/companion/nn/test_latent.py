"""Latent attention against explicit loops and transformers, with and without absorbing."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode
from transformers import DeepseekV2Config
from transformers.models.deepseek_v2.modeling_deepseek_v2 import (
    DeepseekV2Attention,
    DeepseekV2RotaryEmbedding,
)

from companion.generation import generate
from companion.models import GPT, GPTConfig
from companion.nn import EncoderBlock, KVCache, LatentAttention, RotaryEmbedding, causal_mask
from tests.companion.nn.test_attention import random

both_ways = pytest.mark.parametrize("absorb", [True, False], ids=["absorbed", "made"])
exact = {"rtol": 1e-12, "atol": 1e-12}
chunks = st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any)


@st.composite
def layers(draw):
    """A layer of odd sizes, with or without a turned part."""
    H, c, d_k, d_v = draw(st.permutations((1, 3, 5, 7)))
    r = draw(st.sampled_from((None, 2, 6)))
    pairing = draw(st.sampled_from(("interleaved", "half")))
    rope = r and RotaryEmbedding(r, pairing=pairing)
    return LatentAttention(11, H, c, d_k=d_k, d_v=d_v, rope=rope).double()


def by_loops(layer, x, mask):
    """The equations of the paper, one head and one pair of tokens at a time; x (T, d_model)."""
    H, d_k, d_v, c, T = layer.num_heads, layer.d_k, layer.d_v, layer.d_latent, len(x)
    r = layer.rope.d_k if layer.rope is not None else 0

    def turned(v, t):
        at = torch.tensor([t])
        return v if r == 0 else layer.rope(v[None, None, None], at)[0, 0, 0]

    latents = [layer.latent_norm(layer.down_proj(token)[:c]) for token in x]
    shared = [turned(layer.down_proj(token)[c:], t) for t, token in enumerate(x)]
    rows = []
    for t in range(T):
        heads = []
        for h in range(H):
            q = layer.q_proj(x[t])[h * (d_k + r) : (h + 1) * (d_k + r)]
            k = [layer.k_proj(z)[h * d_k : (h + 1) * d_k] for z in latents]
            v = [layer.v_proj(z)[h * d_v : (h + 1) * d_v] for z in latents]
            seen = [s for s in range(T) if mask[t, s]]
            scores = [q[:d_k] @ k[s] + turned(q[d_k:], t) @ shared[s] for s in seen]
            weights = (torch.stack(scores) / (d_k + r) ** 0.5).softmax(0)
            heads.append(sum(w * v[s] for w, s in zip(weights, seen, strict=True)))
        rows.append(layer.out_proj(torch.cat(heads)))
    return torch.stack(rows)


@both_ways
@given(layers(), st.booleans())
def test_the_layer_equals_loops_over_heads_and_tokens(absorb, layer, need_weights):
    x, mask = random(1, 4, 11), (torch.rand(4, 4) < 0.5) | torch.eye(4, dtype=torch.bool)
    output, weights = layer(x, mask, absorb=absorb, need_weights=need_weights)
    torch.testing.assert_close(output[0], by_loops(layer, x[0], mask), **exact)
    assert (weights is not None) == need_weights


@pytest.mark.parametrize("absorb", [True, False])
def test_the_layer_equals_that_of_deepseek_in_transformers(absorb):
    sizes = {"hidden_size": 12, "num_attention_heads": 3, "num_key_value_heads": 3}
    widths = {"q_lora_rank": None, "kv_lora_rank": 5, "qk_nope_head_dim": 4}
    config = DeepseekV2Config(**sizes, **widths, qk_rope_head_dim=6, v_head_dim=7)
    config._attn_implementation = "eager"
    theirs = DeepseekV2Attention(config, 0).double().eval()
    ours = LatentAttention(12, 3, 5, d_k=4, d_v=7, rope=RotaryEmbedding(6), norm_eps=1e-6).double()
    k_and_v = theirs.kv_b_proj.weight.unflatten(0, (3, 11))
    state = {
        "q_proj.weight": theirs.q_proj.weight,
        "down_proj.weight": theirs.kv_a_proj_with_mqa.weight,
        "latent_norm.weight": torch.rand(5) + 0.5,
        "k_proj.weight": k_and_v[:, :4].flatten(0, 1),
        "v_proj.weight": k_and_v[:, 4:].flatten(0, 1),
        "out_proj.weight": theirs.o_proj.weight,
    }
    ours.load_state_dict(state)
    theirs.kv_a_layernorm.weight.data.copy_(state["latent_norm.weight"])
    x = random(2, 8, 12)
    turns = DeepseekV2RotaryEmbedding(config)(x, torch.arange(8)[None])
    added = torch.zeros(8, 8).double().masked_fill(~causal_mask(8), -torch.inf)[None, None]
    with torch.no_grad():
        expected, weights = theirs(x, added, position_embeddings=turns)
        output, found = ours(x, is_causal=True, need_weights=True, absorb=absorb)
    torch.testing.assert_close(output, expected, rtol=1e-5, atol=1e-6)  # they norm in float32
    torch.testing.assert_close(found, weights.double(), rtol=1e-5, atol=1e-6)


@given(layers(), chunks, st.booleans(), st.sampled_from((None, 25)), st.booleans())
def test_cached_equals_uncached(layer, chunks, need_weights, capacity, padded):
    x = random(2, sum(chunks), 11)
    mask = torch.rand(2, 1, 1, sum(chunks)) < 0.7 if padded else None
    cache, start = KVCache(capacity), 0
    with torch.no_grad():
        expected, expected_weights = layer(x, mask, is_causal=True, need_weights=True)
        for length in chunks:
            stop, seen = start + length, None
            if padded:
                after = torch.zeros(2, 1, 1, (capacity or stop) - stop, dtype=torch.bool)
                seen = torch.cat([mask[..., :stop], after], dim=-1)
            part = x[:, start:stop]
            options = {"cache": cache, "need_weights": need_weights}
            output, weights = layer(part, seen, is_causal=True, **options)
            torch.testing.assert_close(output, expected[:, start:stop], **exact)
            if need_weights:
                whole = expected_weights[:, :, start:stop, :stop]
                torch.testing.assert_close(weights[..., :stop], whole, **exact)
            start = stop


@given(layers(), st.integers(0, 4))
def test_absorbed_equals_made_again_with_a_cache(layer, past):
    x, cache = random(2, past + 2, 11), KVCache()
    layer(x[:, :past], is_causal=True, cache=cache)
    twin = copy.deepcopy(cache)
    absorbed, _ = layer(x[:, past:], is_causal=True, cache=cache)
    made, _ = layer(x[:, past:], is_causal=True, cache=twin, absorb=False)
    torch.testing.assert_close(absorbed, made, **exact)
    assert torch.equal(cache.key, twin.key)


def test_a_cache_holds_the_latent_and_what_is_turned():
    layer, cache = LatentAttention(12, 3, 5, rope=RotaryEmbedding(2)), KVCache()
    layer(torch.randn(2, 4, 12), is_causal=True, cache=cache)
    layer(torch.randn(2, 1, 12), is_causal=True, cache=cache)
    assert cache.key.shape == (2, 1, 5, 7)
    assert cache.key.numel() + cache.value.numel() == 2 * 5 * (5 + 2)
    assert LatentAttention(12, 3, 5)(torch.randn(2, 4, 12), cache=(plain := KVCache()))
    assert plain.key.shape == (2, 1, 4, 5) and plain.value.numel() == 0


@both_ways
@pytest.mark.parametrize("need_weights", [True, False])
def test_a_query_that_may_attend_to_nothing_gets_zeros(absorb, need_weights):
    layer, x = LatentAttention(12, 3, 5, rope=RotaryEmbedding(2)).double(), random(2, 4, 12)
    mask = causal_mask(4).clone()
    mask[1] = False
    output, weights = layer(x, mask, absorb=absorb, need_weights=need_weights)
    assert (output[:, 1] == 0).all() and (output[:, [0, 2, 3]] != 0).all()
    assert weights is None or (weights[:, :, 1] == 0).all()


@both_ways
@given(layers())
def test_padding_changes_nothing(absorb, layer):
    x = random(2, 6, 11)
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])[:, None, None]
    output, _ = layer(x, mask, absorb=absorb)
    torch.testing.assert_close(output[:1], layer(x[:1], absorb=absorb)[0], **exact)
    torch.testing.assert_close(output[1:, :4], layer(x[1:, :4], absorb=absorb)[0], **exact)


@both_ways
def test_only_distances_matter_and_only_with_a_turned_part(absorb):
    x, order = random(1, 5, 12), torch.tensor([3, 0, 4, 1, 2])
    layer = LatentAttention(12, 3, 5, rope=RotaryEmbedding(4)).double()
    output, _ = layer(x, absorb=absorb)
    shifted, _ = layer(x, positions=torch.arange(5) + 70, absorb=absorb)
    torch.testing.assert_close(shifted, output)
    moved, _ = layer(x[:, order], positions=order, absorb=absorb)
    torch.testing.assert_close(moved, output[:, order])
    assert not torch.allclose(layer(x[:, order], absorb=absorb)[0], output[:, order])
    layer = LatentAttention(12, 3, 5).double()
    output, _ = layer(x, absorb=absorb)
    torch.testing.assert_close(layer(x[:, order], absorb=absorb)[0], output[:, order])


@pytest.mark.parametrize(("absorb", "products"), [(None, 160), (True, 160), (False, 2208)])
def test_what_one_more_cached_token_costs(absorb, products):
    layer = LatentAttention(64, 4, 16, rope=RotaryEmbedding(8))
    counts = []
    for length in (100, 101):
        cache = KVCache()
        layer(torch.randn(1, length - 1, 64), is_causal=True, cache=cache)
        with FlopCounterMode(display=False) as counter:
            layer(torch.randn(1, 1, 64), cache=cache, absorb=absorb, need_weights=True)
        counts.append(counter.get_total_flops() // 2)
    assert counts[1] - counts[0] == products


def test_all_weights_learn_through_a_cache_as_without():
    layer, x = LatentAttention(12, 3, 5, rope=RotaryEmbedding(2)).double(), random(2, 5, 12)
    layer(x, is_causal=True)[0].square().sum().backward()
    expected = [parameter.grad.clone() for parameter in layer.parameters()]
    assert all(grad.abs().sum() > 0 for grad in expected)
    layer.zero_grad()
    cache = KVCache()
    outputs = [layer(x[:, t : t + 1], is_causal=True, cache=cache)[0] for t in range(5)]
    torch.cat(outputs, dim=1).square().sum().backward()
    for parameter, grad in zip(layer.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, grad)


@both_ways
def test_weights_are_dropped_in_training_only(absorb):
    layer, x = LatentAttention(12, 3, 5, dropout=0.5).double(), random(2, 30, 12)
    _, weights = layer(x, need_weights=True, absorb=absorb)
    assert 0.4 < (weights == 0).double().mean() < 0.6
    _, weights = layer.eval()(x, need_weights=True, absorb=absorb)
    assert (weights > 0).all()


def test_a_state_dict_goes_from_one_layer_to_another():
    one, other = (LatentAttention(12, 3, 5, rope=RotaryEmbedding(2)) for _ in range(2))
    other.load_state_dict(one.state_dict())
    x = torch.randn(2, 4, 12)
    assert torch.equal(one(x)[0], other(x)[0])
    assert [*one.state_dict()] == [
        "q_proj.weight",
        "down_proj.weight",
        "latent_norm.weight",
        "k_proj.weight",
        "v_proj.weight",
        "out_proj.weight",
    ]


@both_ways
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight")  # torch's RMSNorm
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_and_autocast(dtype, absorb, need_weights):
    layer, x = LatentAttention(12, 3, 5, rope=RotaryEmbedding(2)), torch.randn(2, 5, 12)
    options = {"is_causal": True, "need_weights": need_weights, "absorb": absorb}
    expected, _ = layer(x, **options)
    with torch.autocast("cpu", dtype):
        output, _ = layer(x, cache=KVCache(), **options)
    assert (output - expected).abs().max() < 0.02
    output, _ = copy.deepcopy(layer).to(dtype)(x.to(dtype), **options)
    assert output.dtype == dtype and (output - expected).abs().max() < 0.02


def test_a_compiled_step_with_a_fixed_cache_serves_every_length():
    layer, x = LatentAttention(12, 3, 5, rope=RotaryEmbedding(2)).double(), random(2, 9, 12)
    step = torch.compile(layer, fullgraph=True, backend="aot_eager")
    cache = KVCache(capacity=16)
    with torch.no_grad():
        outputs = [layer(x[:, :3], is_causal=True, cache=cache)[0]]
        outputs += [step(x[:, 3:4], is_causal=True, cache=cache)[0]]
        with torch.compiler.set_stance("fail_on_recompile"):
            outputs += [step(x[:, t : t + 1], is_causal=True, cache=cache)[0] for t in range(4, 9)]
        torch.testing.assert_close(torch.cat(outputs, dim=1), layer(x, is_causal=True)[0])


def test_it_takes_the_place_of_a_blocks_attention_and_a_model_writes_with_it():
    block, x = EncoderBlock(12, 3, 9), torch.randn(2, 5, 12)
    block.self_attention = LatentAttention(12, 3, 5, rope=RotaryEmbedding(2))
    _, weights = block(x, is_causal=True, need_weights=True)
    assert weights.shape == (2, 3, 5, 5)
    shape = {"num_layers": 2, "positions": "rotary"}
    model = GPT(
        GPTConfig(vocab_size=19, d_model=12, num_heads=3, d_ff=9, max_len=20, **shape)
    ).double()
    for block in model.blocks:
        block.self_attention = LatentAttention(12, 3, 5, rope=model.rope).double()
    model.eval()
    ids = torch.tensor([[3, 5, 7]])
    written = generate(model, ids, 6, temperature=0)
    for _ in range(6):  # without a cache
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], dim=1)
    assert torch.equal(written, ids)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_gives_the_same():
    layer, x = LatentAttention(64, 4, 16, rope=RotaryEmbedding(8)), torch.randn(2, 50, 64)
    expected, _ = layer(x, is_causal=True)
    layer, x, cache = layer.cuda(), x.cuda(), KVCache()
    parts = [layer(part, is_causal=True, cache=cache)[0] for part in x.split((30, 1, 19), dim=1)]
    for output in (layer(x, is_causal=True)[0], torch.cat(parts, dim=1)):
        torch.testing.assert_close(output.cpu(), expected, rtol=1e-3, atol=1e-3)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="d_latent must be at least 1, got 0"):
        LatentAttention(12, 3, 0)
    with pytest.raises(ValueError, match="does not divide into num_heads = 5"):
        LatentAttention(12, 5, 4)
    with pytest.raises(TypeError, match=r"rope must be a module like RotaryEmbedding\(r\), got 8"):
        LatentAttention(12, 3, 4, rope=8)
    with pytest.raises(ValueError, match=r"dropout must be in \[0, 1\)"):
        LatentAttention(12, 3, 4, dropout=1.0)
    layer, x, cache = LatentAttention(12, 3, 4), torch.randn(2, 5, 12), KVCache()
    with pytest.raises(ValueError, match=r"\(B, T, d_model\) with d_model = 12, got \(2, 5, 11\)"):
        layer(x[..., :11])
    with pytest.raises(ValueError, match="positions only serve a rotary embedding"):
        layer(x, positions=torch.arange(5))
    with pytest.raises(ValueError, match="the rotation is that of 5 positions of width 2"):
        layer(x, rotation=RotaryEmbedding(2).rotation(x))
    with pytest.raises(TypeError, match=r"cache must be a KVCache\(\), got list"):
        layer(x, cache=[])
    layer(x, cache=cache)
    with pytest.raises(ValueError, match=r"broadcast to the scores \(2, 3, 5, 10\)"):
        layer(x, causal_mask(5), cache=cache)
    with pytest.raises(ValueError, match=r"\(2, 1, 4, 0\), but this call needs \(2, 1, 5, 0\)"):
        LatentAttention(12, 3, 5)(x, cache=cache)
    assert cache.length == 5
