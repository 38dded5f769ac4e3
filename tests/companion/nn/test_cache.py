"""Tokens taken one chunk at a time, with the keys and values of the past kept."""

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from companion.nn import (
    DecoderBlock,
    EncoderBlock,
    KVCache,
    MultiHeadAttention,
    RotaryEmbedding,
    alibi_bias,
)
from tests.companion.nn.test_attention import random

both_ways = pytest.mark.parametrize("need_weights", [False, True])
chunks = st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(any)


@given(
    chunks,
    st.sampled_from((None, "interleaved", "half")),
    st.sampled_from((1, 3, 6)),
    st.booleans(),
)
def test_cached_equals_uncached(chunks, pairing, num_kv_heads, need_weights):
    rope = pairing and RotaryEmbedding(4, pairing=pairing)
    layer = MultiHeadAttention(7, 6, num_kv_heads=num_kv_heads, d_k=4, d_v=5, rope=rope).double()
    x = random(2, sum(chunks), 7)
    expected, expected_weights = layer(x, is_causal=True, need_weights=True)
    cache, start = KVCache(), 0
    for length in chunks:
        stop = start + length
        output, weights = layer(
            x[:, start:stop], is_causal=True, cache=cache, need_weights=need_weights
        )
        torch.testing.assert_close(output, expected[:, start:stop])
        if need_weights:
            torch.testing.assert_close(weights, expected_weights[:, :, start:stop, :stop])
        start = stop
        assert cache.length == stop
    assert cache.key.shape == (2, num_kv_heads, start, 4)
    assert cache.value.shape == (2, num_kv_heads, start, 5)


@given(chunks, st.booleans())
def test_mask_and_bias_of_a_chunk_count_the_cached_tokens_too(chunks, need_weights):
    layer = MultiHeadAttention(12, 3).double()
    length = sum(chunks)
    x, mask, bias = random(2, length, 12), torch.rand(length, length) < 0.5, alibi_bias(3, length)
    expected, _ = layer(x, mask=mask, is_causal=True, score_bias=bias)
    cache, start = KVCache(), 0
    for stop in torch.tensor(chunks).cumsum(0).tolist():
        output, _ = layer(
            x[:, start:stop],
            mask=mask[start:stop, :stop],
            is_causal=True,
            score_bias=alibi_bias(3, stop - start, stop),
            cache=cache,
            need_weights=need_weights,
        )
        torch.testing.assert_close(output, expected[:, start:stop])
        start = stop


@pytest.mark.parametrize("norm_first", [True, False])
@given(chunks)
def test_cached_equals_uncached_in_blocks(norm_first, chunks):
    shape = {"norm_first": norm_first, "num_kv_heads": 3, "rope": RotaryEmbedding(2)}
    encoder = EncoderBlock(12, 6, 11, **shape).double()
    decoder = DecoderBlock(12, 6, 11, **shape).double()
    x, memory = random(2, sum(chunks), 12), random(2, 7, 12)
    encoder_cache, decoder_cache, start = KVCache(), KVCache(), 0
    encoded, decoded = encoder(x, is_causal=True), decoder(x, memory)
    for stop in torch.tensor(chunks).cumsum(0).tolist():
        chunk = x[:, start:stop]
        output = encoder(chunk, is_causal=True, cache=encoder_cache)
        torch.testing.assert_close(output, encoded[:, start:stop])
        output = decoder(chunk, memory, cache=decoder_cache)
        torch.testing.assert_close(output, decoded[:, start:stop])
        start = stop


def refused(call, cache, error=ValueError):
    """The message of the error that a call raises, with the cache left as it was."""
    before = (cache.length, cache.key.clone(), cache.value.clone())
    with pytest.raises(error) as raised:
        call()
    assert cache.length == before[0]
    assert torch.equal(cache.key, before[1]) and torch.equal(cache.value, before[2])
    return str(raised.value)


def test_a_cache_is_unharmed_by_a_call_that_is_refused():
    layer = MultiHeadAttention(12, 3, rope=RotaryEmbedding(4)).double()
    cache = KVCache()
    x = random(2, 5, 12)
    layer(x, is_causal=True, cache=cache)

    message = refused(lambda: layer(random(3, 1, 12), cache=cache), cache)
    assert "(2, 3, 4, 4)" in message and "(3, 3, 4, 4)" in message and "KVCache()" in message
    other = MultiHeadAttention(12, 3, num_kv_heads=1, d_v=7).double()
    message = refused(lambda: other(x, cache=cache), cache)
    assert "(2, 1, 4, 7)" in message and "each layer" in message
    message = refused(lambda: layer(x, random(2, 7, 12), cache=cache), cache)
    assert "self-attention" in message
    message = refused(lambda: layer(x, mask=torch.ones(5, 5, dtype=torch.bool), cache=cache), cache)
    assert "(2, 3, 5, 10)" in message and "(5, 5)" in message
    message = refused(lambda: layer(x, score_bias=torch.ones(5, 5), cache=cache), cache)
    assert "score_bias" in message and "(2, 3, 5, 10)" in message
    message = refused(lambda: layer(x, positions=torch.arange(10), cache=cache), cache)
    assert "(10,)" in message
    message = refused(lambda: layer(x.tolist(), cache=cache), cache, TypeError)
    assert "list" in message


def test_a_cache_must_be_a_cache():
    layer = MultiHeadAttention(12, 3)
    with pytest.raises(TypeError, match=r"KVCache\(\), got tuple"):
        layer(torch.randn(2, 5, 12), cache=(torch.randn(2, 3, 5, 4), torch.randn(2, 3, 5, 4)))


def pieces(length, B=2, H=3):
    """Keys (B, H, length, 5) and values (B, H, length, 7)."""
    return random(B, H, length, 5), random(B, H, length, 7)


def test_gradients_flow_through_a_cache():
    layer = MultiHeadAttention(12, 3).double()
    x = random(2, 5, 12)
    layer(x, is_causal=True)[0].pow(2).sum().backward()
    expected = [parameter.grad.clone() for parameter in layer.parameters()]
    layer.zero_grad()
    cache = KVCache()
    outputs = [layer(x[:, t : t + 1], is_causal=True, cache=cache)[0] for t in range(5)]
    torch.cat(outputs, dim=1).pow(2).sum().backward()
    for parameter, grad in zip(layer.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, grad)


# Cross-attention: the memory stays, so its keys and values are made once.


@pytest.mark.parametrize("num_kv_heads", [1, 6])
def test_a_memory_is_read_again_from_its_cache(num_kv_heads):
    layer = MultiHeadAttention(12, 6, num_kv_heads=num_kv_heads).double()
    x, memory, mask = random(2, 5, 12), random(2, 7, 12), torch.rand(2, 1, 1, 7) < 0.7
    expected, weights = layer(x, memory, mask=mask, need_weights=True)
    cache = KVCache()
    for start in (0, 2, 4):
        chunk = x[:, start : start + 2]
        output, found = layer(chunk, memory, mask=mask, cache=cache, need_weights=True)
        torch.testing.assert_close(output, expected[:, start : start + 2])
        torch.testing.assert_close(found, weights[:, :, start : start + 2])
        output, _ = layer(chunk, torch.zeros_like(memory), mask=mask, cache=cache)
        torch.testing.assert_close(output, expected[:, start : start + 2])
        assert cache.key.shape == (2, num_kv_heads, 7, 2)


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_decoder_block_with_a_cache_equals_one_without(norm_first):
    block = DecoderBlock(12, 3, 11, norm_first=norm_first, d_k=2, d_v=5).double()
    x, memory = random(2, 6, 12), random(2, 7, 12)
    expected, cache = block(x, memory), KVCache()
    for start, stop in ((0, 3), (3, 4), (4, 6)):
        output = block(x[:, start:stop], memory, cache=cache)
        torch.testing.assert_close(output, expected[:, start:stop])
    assert cache.key.shape == (2, 3, 6, 2) and cache.memory.value.shape == (2, 3, 7, 5)


def test_a_cache_of_the_other_attention_or_of_another_memory_is_refused():
    layer, x, memory = MultiHeadAttention(12, 3), torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    cache = KVCache()
    layer(x, cache=cache)
    with pytest.raises(ValueError, match="one of self-attention, this call is cross-attention"):
        layer(x, x.clone(), cache=cache)
    cache = KVCache()
    layer(x, memory, cache=cache)
    with pytest.raises(
        ValueError, match=r"a cross-attention's; self-attention needs its own KVCache\(\)"
    ):
        layer(x, cache=cache)
    with pytest.raises(ValueError, match="is a cross-attention's"):
        cache.append(cache.key, cache.value)
    with pytest.raises(ValueError, match="memory of length 7, but key has length 6"):
        layer(x, memory[:, :6], cache=cache)
    with pytest.raises(ValueError, match=r"\(2, 3, 4, 4\).*\(1, 3, 4, 4\).*new KVCache\(\)"):
        layer(x[:1], memory[:1], cache=cache)


# A cache of fixed size.


@given(st.integers(1, 3), st.booleans(), st.booleans())
def test_a_fixed_cache_equals_a_growing_one(num_kv_heads, is_causal, need_weights):
    layer = MultiHeadAttention(
        12, 6, num_kv_heads=num_kv_heads if num_kv_heads < 3 else None, rope=RotaryEmbedding(2)
    ).double()
    x, growing, fixed = random(2, 9, 12), KVCache(), KVCache(capacity=11)
    with torch.no_grad():
        for start, stop in ((0, 4), (4, 5), (5, 8), (8, 9)):
            options = {"is_causal": is_causal, "need_weights": need_weights}
            expected, weights = layer(x[:, start:stop], cache=growing, **options)
            output, found = layer(x[:, start:stop], cache=fixed, **options)
            torch.testing.assert_close(output, expected)
            assert fixed.length == growing.length == stop
            if need_weights:
                torch.testing.assert_close(found[..., :stop], weights)
                assert (found[..., stop:] == 0).all()


@both_ways
@pytest.mark.parametrize("window", [1, 3, 20])
def test_a_sliding_window_is_a_mask_with_any_cache(need_weights, window):
    layer, x = MultiHeadAttention(12, 3, sliding_window=window).double(), random(2, 9, 12)
    plain = MultiHeadAttention(12, 3).double()
    plain.load_state_dict(layer.state_dict())
    at = torch.arange(9)
    near = (at[:, None] - at < window) & (at <= at[:, None])
    expected, _ = plain(x, mask=near)
    options = {"is_causal": True, "need_weights": need_weights}
    torch.testing.assert_close(layer(x, **options)[0], expected)
    padded = torch.rand(2, 1, 1, 9) < 0.7
    torch.testing.assert_close(layer(x, mask=padded, **options)[0], plain(x, mask=near & padded)[0])
    with torch.no_grad():
        for cache in (KVCache(), KVCache(capacity=11)):
            for start, stop in ((0, 4), (4, 5), (5, 9)):
                output, _ = layer(x[:, start:stop], cache=cache, **options)
                torch.testing.assert_close(output, expected[:, start:stop])


def test_a_fixed_cache_takes_a_mask_over_its_whole_size():
    layer, x = MultiHeadAttention(12, 3).double(), random(2, 7, 12)
    mask = torch.rand(2, 1, 1, 9) < 0.6
    with torch.no_grad():
        expected, _ = layer(x, mask=mask[..., :7], is_causal=True)
        output, _ = layer(x, mask=mask, is_causal=True, cache=KVCache(capacity=9))
        torch.testing.assert_close(output, expected)
        with pytest.raises(ValueError, match=r"\(2, 3, 7, 9\).*\(2, 1, 1, 7\)"):
            layer(x, mask=mask[..., :7], cache=KVCache(capacity=9))


def test_a_fixed_cache_never_moves_and_refuses_what_does_not_fit():
    layer, cache = MultiHeadAttention(12, 3).double(), KVCache(capacity=6)
    with torch.no_grad():
        layer(random(2, 4, 12), cache=cache)
        places = cache.key.data_ptr(), cache.value.data_ptr()
        layer(random(2, 2, 12), cache=cache)
        assert places == (cache.key.data_ptr(), cache.value.data_ptr())
        message = refused(lambda: layer(random(2, 1, 12), cache=cache), cache)
    assert "room for 6 tokens and holds 6: 1 more do not fit" in message
    for wrong, error in ((0, ValueError), (2.0, TypeError)):
        with pytest.raises(error, match="capacity must be"):
            KVCache(capacity=wrong)


def test_a_fixed_cache_gives_no_wrong_gradient():
    layer, x, cache = MultiHeadAttention(12, 3).double(), random(2, 5, 12), KVCache(capacity=6)
    first, _ = layer(x[:, :3], is_causal=True, cache=cache)
    second, _ = layer(x[:, 3:], is_causal=True, cache=cache)
    whole, _ = layer(x, is_causal=True)
    torch.testing.assert_close(torch.cat([first, second], 1), whole)
    weights = layer.q_proj.weight, layer.k_proj.weight, layer.v_proj.weight
    expected = torch.autograd.grad(whole[:, 3:].sum(), weights)
    found = torch.autograd.grad(second.sum(), weights)
    torch.testing.assert_close(found, expected)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        first.sum().backward()


@pytest.mark.parametrize("capacity", [None, 9])
def test_a_cache_filled_in_inference_mode_goes_on_without_gradients(capacity):
    layer, x = MultiHeadAttention(12, 3).double(), random(2, 7, 12)
    cache, parts = KVCache(capacity=capacity), []
    with torch.inference_mode():
        parts += [layer(x[:, :3], is_causal=True, cache=cache)[0]]
        parts += [layer(x[:, 3:4], is_causal=True, cache=cache)[0]]
    with torch.no_grad():
        parts += [layer(x[:, t : t + 1], is_causal=True, cache=cache)[0] for t in (4, 5)]
    with torch.inference_mode():
        parts += [layer(x[:, 6:], is_causal=True, cache=cache)[0]]
    torch.testing.assert_close(torch.cat(parts, dim=1), layer(x, is_causal=True)[0])


def test_selecting_rows_moves_no_fixed_cache():
    """As in a beam search, at each step."""
    cache, places, rows = KVCache(capacity=9), set(), torch.tensor([1, 0, 1])
    keys = torch.empty(3, 3, 0, 5, dtype=torch.float64)
    with torch.no_grad():
        for _ in range(9):
            key, value = pieces(1, B=3)
            cache.append(key, value)
            cache.select(rows)
            keys = torch.cat([keys, key], dim=2)[rows]
            places |= {cache.key.data_ptr(), cache.value.data_ptr()}
    assert torch.equal(cache.key, keys) and len(places) == 2


@pytest.mark.parametrize("capacity", [None, 6])
@pytest.mark.parametrize("rows", [[2], [1, 3], [3, 0, 0, 2, 1]])
def test_more_or_fewer_rows_may_be_selected(capacity, rows):
    cache, first, second = KVCache(capacity=capacity), pieces(3, B=4), pieces(2, B=len(rows))
    with torch.no_grad():
        cache.append(*first)
        cache.select(torch.tensor(rows))
        cache.append(*second)
    for held, past, new in zip((cache.key, cache.value), first, second, strict=True):
        assert torch.equal(held[:, :, :5], torch.cat([past[rows], new], dim=2))


def test_a_copy_of_a_cache_with_gradients_goes_its_own_way():
    layer, x = MultiHeadAttention(12, 3).double(), random(2, 5, 12)
    cache = KVCache()
    layer(x, is_causal=True, cache=cache), cache.memory.hold(x, x)
    twin = copy.deepcopy(cache)
    output, _ = layer(x[:, :1], is_causal=True, cache=twin)
    output.sum().backward()
    assert layer.k_proj.weight.grad.any() and twin.memory.is_memory
    assert (cache.length, twin.length) == (5, 6)


def test_a_memory_takes_no_fixed_size():
    layer, cache = MultiHeadAttention(12, 3), KVCache(capacity=9)
    with pytest.raises(ValueError, match=r"of a memory .* no capacity, got one of 9"):
        layer(torch.randn(2, 5, 12), torch.randn(2, 7, 12), cache=cache)
    assert cache.key is None


def test_a_compiled_step_with_a_fixed_cache_serves_every_length():
    layer, x = MultiHeadAttention(12, 3, rope=RotaryEmbedding(4)).double(), random(2, 9, 12)
    step = torch.compile(layer, fullgraph=True, backend="aot_eager")
    cache = KVCache(capacity=16)
    with torch.no_grad():
        outputs = [layer(x[:, :3], is_causal=True, cache=cache)[0]]
        outputs += [step(x[:, 3:4], is_causal=True, cache=cache)[0]]
        with torch.compiler.set_stance("fail_on_recompile"):
            outputs += [step(x[:, t : t + 1], is_causal=True, cache=cache)[0] for t in range(4, 9)]
        torch.testing.assert_close(torch.cat(outputs, dim=1), layer(x, is_causal=True)[0])


def test_a_mask_fits_a_length_that_the_compiler_has_left_open():
    layer, x, mask = MultiHeadAttention(12, 3).double(), random(2, 9, 12), torch.rand(9, 9) < 0.7
    expected, _ = layer(x, mask=mask)
    torch._dynamo.maybe_mark_dynamic(x, 1)  # the mask's length is known, the sequence's left open
    attend = torch.compile(layer, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(attend(x, mask=mask)[0], expected)
