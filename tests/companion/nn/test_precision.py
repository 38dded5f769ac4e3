"""Half precision, autocast, torch.compile and meta tensors."""

import math
import shutil
import sysconfig
from pathlib import Path

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from companion.nn import (
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    KVCache,
    LearnedPositions,
    MultiHeadAttention,
    PatchEmbedding,
    RotaryEmbedding,
    SinusoidalPositions,
    TokenEmbedding,
    alibi_bias,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
    sinusoidal_encoding,
)
from companion.nn.attention import fused_attention

halves = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
both_ways = pytest.mark.parametrize("need_weights", [True, False], ids=["explicit", "fused"])


def explicit_attention(*args, **kwargs):
    return scaled_dot_product_attention(*args, **kwargs)[0]


both_paths = pytest.mark.parametrize(
    "attend", [explicit_attention, fused_attention], ids=["explicit", "fused"]
)


@both_paths
@halves
def test_half_precision_is_exact_to_its_own_rounding(attend, dtype):
    tensors = [torch.randn(2, 3, n, d).to(dtype) for n, d in ((50, 7), (70, 7), (70, 11))]
    mask, bias = torch.rand(50, 70) < 0.5, alibi_bias(3, 50, 70).to(dtype)
    mask[3] = False
    exact = explicit_attention(*(tensor.double() for tensor in tensors), mask, score_bias=bias)
    output = attend(*tensors, mask, score_bias=bias)
    assert output.dtype == dtype
    error = (output.double() - exact).abs().max().item()
    assert error < (2 if attend is explicit_attention else 4) * torch.finfo(dtype).eps
    assert (output[:, :, 3] == 0).all()


@halves
def test_the_softmax_of_half_precision_runs_in_float32(dtype):
    # 3000 equal scores: a sum in half precision would stop growing at 2048 or 256.
    query, key = torch.ones(1, 1, 4, dtype=dtype), torch.ones(1, 3000, 4, dtype=dtype)
    value = torch.ones(1, 3000, 1, dtype=dtype)
    output, weights = scaled_dot_product_attention(query, key, value)
    assert output.dtype == weights.dtype == dtype
    assert output.item() == 1
    assert weights[0, 0, 0].item() == pytest.approx(1 / 3000, rel=torch.finfo(dtype).eps)


@both_paths
def test_scores_beyond_the_range_of_float16(attend):
    query = torch.full((1, 1, 2, 64), 300.0, dtype=torch.float16)
    key = query * torch.tensor([1.0, -1.0])[:, None].half()  # scores of 720000 and -720000
    value = torch.tensor([[[[1.0], [5.0]]]], dtype=torch.float16)
    assert attend(query, key, value).flatten().tolist() == [1, 1]


@both_paths
@halves
def test_large_negative_biases_in_half_precision(attend, dtype):
    # -1e9 is -inf in float16, so that row 0 may attend to nothing; in bfloat16 it is a large bias.
    query, value = (
        torch.zeros(1, 1, 2, 4, dtype=dtype),
        torch.tensor([[[[1.0], [3.0]]]], dtype=dtype),
    )
    bias = torch.tensor([[-1e9, -1e9], [-1e9, 0.0]])
    output = attend(query, query, value, score_bias=bias)
    assert output.flatten().tolist() == [0 if dtype == torch.float16 else 2, 3]


@halves
def test_parts_keep_the_dtype_they_are_given(dtype):
    x, ids = torch.randn(2, 5, 12).to(dtype), torch.randint(9, (2, 5))
    rope = RotaryEmbedding(4)
    for layer in (
        EncoderBlock(12, 3, 7, rope=rope, activation="swiglu", norm="rms"),
        FeedForward(12, 7),
        LearnedPositions(9, 12),
        SinusoidalPositions(12),
    ):
        assert layer.to(dtype)(x).dtype == dtype
    assert TokenEmbedding(9, 12).to(dtype)(ids).dtype == dtype
    output = DecoderBlock(12, 3, 7, rope=rope).to(dtype)(x, x, cache=KVCache(), need_weights=True)
    assert {tensor.dtype for tensor in output} == {dtype}
    assert sinusoidal_encoding(3, 4, dtype=dtype).dtype == dtype


@halves
@pytest.mark.parametrize("pairing", ["interleaved", "half"])
def test_positions_beyond_the_whole_numbers_of_half_precision(dtype, pairing):
    # 256 + 1 is not a bfloat16, nor 2048 + 1 a float16: angles must not be made in half precision.
    rope, x = RotaryEmbedding(6, pairing=pairing), torch.randn(1, 1, 1, 6).to(dtype)
    for position in (257, 2049):
        at = torch.tensor([position])
        exact = rope(x.double(), at)
        torch.testing.assert_close(
            rope(x, at).double(), exact, rtol=0, atol=4 * torch.finfo(dtype).eps
        )
    waves = SinusoidalPositions(6)(torch.zeros(1, 1, 6, dtype=dtype), torch.tensor([2049]))
    exact = sinusoidal_encoding(2050, 6, dtype=torch.float64)[2049]
    torch.testing.assert_close(waves[0, 0].double(), exact, rtol=0, atol=torch.finfo(dtype).eps)


@both_ways
def test_autocast(need_weights):
    block = EncoderBlock(12, 6, 7, num_kv_heads=2, rope=RotaryEmbedding(2))
    mask = torch.rand(5, 5) < 0.6
    mask[1] = False
    arguments = {"mask": mask, "is_causal": True, "score_bias": alibi_bias(6, 5)}
    x = torch.randn(2, 5, 12)
    expected, weights = block(x, **arguments, need_weights=True)
    with torch.autocast("cpu", torch.bfloat16):
        result = block(x, **arguments, need_weights=need_weights)
    if need_weights:
        torch.testing.assert_close(result[1].float(), weights, rtol=0, atol=0.02)
    output = result[0] if need_weights else result
    torch.testing.assert_close(output.float(), expected, rtol=0, atol=0.1)
    output.float().square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in block.parameters())


def test_autocast_leaves_the_softmax_in_float32():
    query = torch.randn(1, 20, 8)
    with torch.autocast("cpu", torch.bfloat16):
        _, weights = scaled_dot_product_attention(query, query, query)
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 20), rtol=0, atol=1e-6)


# torch.compile.


@pytest.mark.long
def test_every_part_compiles_without_a_break():
    block = DecoderBlock(12, 6, 7, num_kv_heads=2, norm_first=True, rope=RotaryEmbedding(2))
    embed, learned, waves = TokenEmbedding(9, 12), LearnedPositions(9, 12), SinusoidalPositions(12)
    patches = PatchEmbedding(4, 2, 3, 12)

    def forward(ids, images, cache):
        real = padding_mask(ids, 0)
        x = waves(learned(embed(ids), torch.arange(ids.shape[1])))
        x, *weights = block(
            x, patches(images), real, is_causal=True, cache=cache, need_weights=True
        )
        y, _ = block.self_attention(x, score_bias=alibi_bias(6, x.shape[1]), is_causal=True)
        return x, y, *weights

    ids, images = torch.tensor([[3, 4, 5, 0], [1, 2, 0, 0]]), torch.randn(2, 3, 4, 4)
    expected, cache = forward(ids, images, KVCache()), KVCache()
    compiled = torch.compile(forward, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(ids, images, cache), expected)
    assert cache.length == 4


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated")  # torch's own use
@pytest.mark.skipif(
    shutil.which("c++") is None
    or not Path(sysconfig.get_path("include"), "Python.h").exists()
    or " " in torch.__file__,  # torch does not quote its own folder
    reason="torch's compiler needs a C++ compiler, Python's headers and a path without spaces",
)
def test_attention_compiles_to_machine_code_and_trains():
    layer = MultiHeadAttention(12, 6, num_kv_heads=2)
    x, mask = torch.randn(2, 5, 12), causal_mask(5) & (torch.arange(5) != 0)  # row 0 is empty
    results = []
    for forward in (layer, torch.compile(layer, fullgraph=True)):
        layer.zero_grad()
        output, _ = forward(x, mask=mask)
        output.square().sum().backward()
        results.append([output.detach(), *(parameter.grad for parameter in layer.parameters())])
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-5)


def test_compiled_code_does_not_read_ids():
    layer = TokenEmbedding(9, 4)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    ids = torch.tensor([[0, 8]])
    assert torch.equal(compiled(ids), layer(ids))


# Meta tensors.


def test_every_part_works_on_meta_tensors():
    with torch.device("meta"):
        ids, images = torch.zeros(2, 5, dtype=torch.int64), torch.randn(2, 3, 4, 4)
        x = TokenEmbedding(9, 12)(ids)
        x = LearnedPositions(9, 12)(SinusoidalPositions(12)(x), torch.arange(5))
        memory = PatchEmbedding(4, 2, 3, 12)(images)
        block = DecoderBlock(12, 3, 7, rope=RotaryEmbedding(4), activation="swiglu", norm="rms")
        cache = KVCache()
        output, weights, cross = block(
            x, memory, padding_mask(ids, 0), cache=cache, need_weights=True
        )
        assert output.shape == (2, 5, 12)
        assert weights.shape == (2, 3, 5, 5) and cross.shape == (2, 3, 5, 4)
        assert block(x, memory, cache=cache).shape == (2, 5, 12) and cache.length == 10
        layer = MultiHeadAttention(12, 3)
        bias = alibi_bias(3, 5)
        output, _ = layer(x, score_bias=bias, mask=causal_mask(5), is_causal=True)
        assert output.shape == (2, 5, 12)
        tensors = (
            x,
            ids,
            memory,
            output,
            weights,
            cross,
            bias,
            cache.key,
            sinusoidal_encoding(3, 4),
        )
        assert all(tensor.is_meta for tensor in tensors)


def test_no_part_leaves_the_device_of_its_input():
    # With another default device every tensor made without a device would clash with the input.
    x, ids = torch.randn(2, 5, 12), torch.randint(1, 9, (2, 5))
    embed, learned, waves = TokenEmbedding(9, 12), LearnedPositions(9, 12), SinusoidalPositions(12)
    block = DecoderBlock(12, 3, 7, rope=RotaryEmbedding(4))
    bias, mask = alibi_bias(3, 5), causal_mask(5)
    with torch.device("meta"):
        x = waves(learned(embed(ids) + x))
        cache = KVCache()
        for _ in range(2):
            real = padding_mask(ids.repeat(1, 1 + cache.length // 5), 0)
            output = block(x, x, real, cache=cache, need_weights=True)[0]
        attended, _ = block.self_attention(x, score_bias=bias, mask=mask, is_causal=True)
    assert math.isfinite(output.sum().item()) and math.isfinite(attended.sum().item())


# Autocast turns every product to half precision, those of the explicit arithmetic too, if it may.


@halves
@both_paths
def test_autocast_leaves_the_arithmetic_of_attention_alone(attend, dtype):
    """Large scores, a large bias: in float32 ordinary numbers, in float16 infinite ones."""
    query, key, value = (40 * torch.randn(2, 3, n, 64).to(dtype) for n in (5, 7, 7))
    bias = 2e4 * torch.randn(5, 7).to(dtype)
    exact = explicit_attention(*(x.double() for x in (query, key, value)), score_bias=bias)
    with torch.autocast("cpu", dtype):
        output = attend(query, key, value, score_bias=bias)
    assert output.dtype == dtype
    error = (output.double() - exact).abs().max() / exact.abs().max()
    assert error < 4 * torch.finfo(dtype).eps


@halves
def test_weights_of_float32_inputs_do_not_depend_on_autocast(dtype):
    query, key, value = (torch.randn(2, 3, n, 16) for n in (5, 7, 7))
    expected = scaled_dot_product_attention(query, key, value, is_causal=True)
    with torch.autocast("cpu", dtype):
        found = scaled_dot_product_attention(query, key, value, is_causal=True)
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)


@halves
def test_a_layer_under_autocast_is_as_exact_with_its_weights_as_without(dtype):
    layer = MultiHeadAttention(48, 3)
    with torch.no_grad():
        layer.q_proj.weight *= 30
        layer.k_proj.weight *= 30
    x = torch.randn(2, 9, 48)
    with torch.autocast("cpu", dtype):
        fused, explicit = (layer(x, is_causal=True, need_weights=way)[0] for way in (False, True))
    assert explicit.isfinite().all()
    torch.testing.assert_close(explicit, fused, rtol=0, atol=8 * torch.finfo(dtype).eps)


@both_paths
def test_a_positive_bias_beyond_float16_is_its_largest_number(attend):
    tensors = [torch.randn(1, 1, n, 8).half() for n in (3, 4, 4)]
    bias = torch.zeros(3, 4)
    bias[:, 2] = 1e6
    output = attend(*tensors, score_bias=bias)
    torch.testing.assert_close(output, tensors[2][..., 2:3, :].expand(1, 1, 3, 8))


class Pretend(TorchFunctionMode):
    """Inside, every tensor says that it is on `device`; what dtypes are made is noted."""

    def __init__(self, device):
        super().__init__()
        self.device, self.dtypes = torch.device(device), set()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function == torch.Tensor.device.__get__:
            return self.device
        if kwargs.get("device") is not None:
            kwargs["device"] = "cpu"
        made = function(*args, **kwargs)
        self.dtypes |= {x.dtype for x in tree_leaves(made) if isinstance(x, torch.Tensor)}
        return made


def test_nothing_is_float64_on_mps_which_has_none():
    def dtypes(device):
        x, ids = torch.randn(2, 5, 12), torch.zeros(2, 5, dtype=torch.long)
        with Pretend(device) as pretend:
            SinusoidalPositions(12)(x)
            sinusoidal_encoding(5, 12, device=device)
            RotaryEmbedding(12)(x[:, None])
            alibi_bias(3, 5, device=device)
            padding_mask(ids, 0)
            causal_mask(5, device=device)
        return pretend.dtypes

    assert torch.float64 in dtypes("cuda")
    assert torch.float64 not in dtypes("mps")
