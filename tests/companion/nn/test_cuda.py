"""The same results on a GPU, from each of its kernels. Skipped where there is none."""

import math

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from companion.nn import (
    DecoderBlock,
    EncoderBlock,
    KVCache,
    LearnedPositions,
    MultiHeadAttention,
    RotaryEmbedding,
    TokenEmbedding,
    alibi_bias,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
    sinusoidal_encoding,
)
from companion.nn.attention import fused_attention

DEVICE = "cuda"
pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    # Torch tells why it refuses a kernel, and tests that force one provoke that.
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
    pytest.mark.filterwarnings("ignore:.*kernel not used because"),
]
backends = pytest.mark.parametrize(
    "backend",
    [
        SDPBackend.MATH,
        SDPBackend.EFFICIENT_ATTENTION,
        SDPBackend.FLASH_ATTENTION,
        SDPBackend.CUDNN_ATTENTION,
    ],
    ids=lambda backend: backend.name,
)
halves = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])


def attend_on(backend, query, key, value, mask=None, **kwargs):
    """The fused path on one kernel only, or a skip where that kernel refuses the arguments."""
    try:
        with sdpa_kernel(backend):
            return fused_attention(query, key, value, mask, **kwargs)
    except RuntimeError as error:
        if "No available kernel" not in str(error):
            raise
        pytest.skip(f"{backend.name} refuses these arguments")


def cases():
    """Arguments of attention from 128 queries to as many keys, with query 2 empty in most."""
    mask = torch.rand(128, 128) < 0.5
    mask[2] = False
    bias = torch.randn(128, 128).masked_fill(~mask, -math.inf)
    return {
        "nothing": {},
        "causal": {"is_causal": True},
        "padding": {"mask": (torch.arange(128) < 100)[None, None, None]},
        "mask": {"mask": mask},
        "mask of queries": {"mask": (torch.arange(128) != 2)[:, None]},
        "bias": {"score_bias": bias},
        "mask and bias": {"mask": mask, "score_bias": torch.randn(4, 128, 128)},
        "mask and causal": {"mask": mask, "is_causal": True},
    }


def moved(arguments, dtype=None):
    return {
        name: term.to(DEVICE, dtype if name == "score_bias" else None)
        if isinstance(term, torch.Tensor)
        else term
        for name, term in arguments.items()
    }


@backends
@halves
@pytest.mark.parametrize("how", cases())
def test_each_kernel_equals_the_explicit_path(backend, dtype, how):
    arguments = moved(cases()[how], dtype)
    tensors = [torch.randn(2, 4, 128, 64, device=DEVICE, dtype=dtype) for _ in range(3)]
    inputs = [tensor.clone().requires_grad_() for tensor in tensors]
    exact_inputs = [tensor.double().requires_grad_() for tensor in tensors]
    exact, weights = scaled_dot_product_attention(*exact_inputs, **arguments)
    output = attend_on(backend, *inputs, **arguments)
    tolerance = {"rtol": 0, "atol": 16 * torch.finfo(dtype).eps}
    torch.testing.assert_close(output.double(), exact, **tolerance)
    assert (output[weights.sum(-1) == 0] == 0).all()
    upstream = torch.randn_like(output)
    gradients = torch.autograd.grad(output, inputs, upstream)
    exact_gradients = torch.autograd.grad(exact, exact_inputs, upstream.double())
    for gradient, exact_gradient in zip(gradients, exact_gradients, strict=True):
        assert gradient.isfinite().all()
        scale = exact_gradient.abs().max()
        torch.testing.assert_close(
            gradient / scale, exact_gradient / scale, check_dtype=False, **tolerance
        )


@backends
@halves
def test_queries_before_the_first_key_on_each_kernel(backend, dtype):
    inputs = [
        torch.randn(2, 4, n, 64, device=DEVICE, dtype=dtype, requires_grad=True)
        for n in (128, 64, 64)
    ]
    output = attend_on(backend, *inputs, is_causal=True)
    assert (output[:, :, :64] == 0).all() and (output[:, :, 64:] != 0).any()
    for gradient in torch.autograd.grad(output.square().sum(), inputs):
        assert gradient.isfinite().all()


def test_nothing_may_be_attended_to_at_all():
    query = torch.randn(2, 4, 8, 64, device=DEVICE, dtype=torch.float16)
    mask = torch.zeros(1, 1, dtype=torch.bool, device=DEVICE)
    assert (fused_attention(query, query, query, mask) == 0).all()


@pytest.mark.parametrize("need_weights", [True, False], ids=["explicit", "fused"])
def test_a_block_gives_what_it_gives_on_the_cpu(need_weights):
    block = DecoderBlock(48, 6, 70, num_kv_heads=2, rope=RotaryEmbedding(8)).double()
    x, memory = torch.randn(2, 5, 48).double(), torch.randn(2, 11, 48).double()
    ids = torch.tensor([[3, 4, 5, 6, 7], [3, 4, 0, 0, 0]])
    arguments = {"need_weights": need_weights}
    expected = block(x, memory, padding_mask(ids, 0), **arguments)
    block.to(DEVICE)
    x, memory, ids = x.to(DEVICE), memory.to(DEVICE), ids.to(DEVICE)
    output = block(x, memory, padding_mask(ids, 0), **arguments)
    torch.testing.assert_close(output, expected, check_device=False)


def test_cached_equals_uncached():
    layer = MultiHeadAttention(48, 6, num_kv_heads=2, rope=RotaryEmbedding(8)).to(DEVICE).double()
    x, cache = torch.randn(2, 7, 48, device=DEVICE, dtype=torch.float64), KVCache()
    chunks = [
        layer(chunk, is_causal=True, cache=cache)[0] for chunk in x.split((3, 1, 1, 2), dim=1)
    ]
    torch.testing.assert_close(torch.cat(chunks, dim=1), layer(x, is_causal=True)[0])


@halves
def test_half_precision_and_autocast(dtype):
    block = EncoderBlock(48, 6, 70, norm_first=True, rope=RotaryEmbedding(8)).to(DEVICE)
    x, bias = torch.randn(2, 64, 48, device=DEVICE), alibi_bias(6, 64, device=DEVICE)
    expected = block(x, is_causal=True, score_bias=bias)
    with torch.autocast(DEVICE, dtype):
        output = block(x, is_causal=True, score_bias=bias)
        explicit, weights = block(x, is_causal=True, score_bias=bias, need_weights=True)
    for result in (output, explicit):
        torch.testing.assert_close(
            result.float(), expected, rtol=0, atol=16 * torch.finfo(dtype).eps
        )
    rows = torch.ones(2, 6, 64, device=DEVICE)
    torch.testing.assert_close(
        weights.float().sum(-1), rows, rtol=0, atol=4 * torch.finfo(dtype).eps
    )
    half = block.to(dtype)(x.to(dtype), is_causal=True, score_bias=bias)
    assert half.dtype == dtype
    torch.testing.assert_close(half.float(), expected, rtol=0, atol=32 * torch.finfo(dtype).eps)


def test_no_part_makes_the_gpu_wait():
    embed, learned = TokenEmbedding(9, 48).to(DEVICE), LearnedPositions(70, 48).to(DEVICE)
    block = EncoderBlock(48, 6, 70, rope=RotaryEmbedding(8)).to(DEVICE)
    ids = torch.randint(9, (2, 64), device=DEVICE)
    positions = torch.arange(64, device=DEVICE)
    torch.cuda.set_sync_debug_mode("error")
    try:
        x = learned(embed(ids), positions)
        mask = padding_mask(ids, 0) & causal_mask(64, device=DEVICE)
        for need_weights in (True, False):
            block(x, mask, is_causal=True, positions=positions, need_weights=need_weights)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_what_is_made_on_request_is_made_on_the_gpu():
    for made in (
        causal_mask(3, device=DEVICE),
        alibi_bias(3, 5, device=DEVICE),
        sinusoidal_encoding(3, 4, device=DEVICE),
    ):
        assert made.device.type == DEVICE


def test_memory_of_the_default_path_is_linear_in_the_length():
    layer = MultiHeadAttention(64, 4).to(DEVICE, torch.float16)

    def peak(n, **arguments):
        x = torch.randn(1, n, 64, device=DEVICE, dtype=torch.float16, requires_grad=True)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        layer(x, **arguments)[0].sum().backward()
        return torch.cuda.max_memory_allocated() - before

    for arguments in (
        lambda n: {},
        lambda n: {"is_causal": True},
        lambda n: {"mask": torch.arange(n, device=DEVICE)[None, None, None] < n - 100},
    ):
        peak(1024, **arguments(1024))
        small, large = (peak(n, **arguments(n)) for n in (2048, 8192))
        assert large < 6 * small  # 4 if linear, 16 if quadratic


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("padded", [False, True])
def test_memory_with_grouped_heads_is_linear_too(dtype, padded):
    layer = MultiHeadAttention(64, 4, num_kv_heads=2).to(DEVICE, dtype)

    def peak(n):
        x = torch.randn(1, n, 64, device=DEVICE, dtype=dtype, requires_grad=True)
        mask = torch.arange(n, device=DEVICE)[None, None, None] < n - 100 if padded else None
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        layer(x, mask=mask)[0].sum().backward()
        return torch.cuda.max_memory_allocated() - before

    peak(1024)
    small, large = peak(2048), peak(8192)
    assert large < 6 * small  # 4 if linear, 16 if quadratic


def test_a_step_with_a_cache_of_fixed_size_is_replayed_as_a_graph():
    layer = MultiHeadAttention(48, 3, rope=RotaryEmbedding(16)).to(DEVICE).eval()
    x = torch.randn(2, 12, 48, device=DEVICE)
    expected, _ = layer(x, is_causal=True)
    cache, token = KVCache(capacity=16), torch.empty(2, 1, 48, device=DEVICE)
    with torch.no_grad():
        layer(x[:, :4], is_causal=True, cache=cache)
        state = [t.clone() for t in (cache.key, cache.value, cache.length)]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):  # warm-up, as a capture needs it
            layer(token, is_causal=True, cache=cache)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            output, _ = layer(token, is_causal=True, cache=cache)
        for held, saved in zip((cache.key, cache.value, cache.length), state, strict=True):
            held.copy_(saved)
        for t in range(4, 12):
            token.copy_(x[:, t : t + 1])
            graph.replay()
            torch.testing.assert_close(output, expected[:, t : t + 1], rtol=1e-4, atol=1e-4)
    assert cache.length == 12


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated")  # torch's own use
def test_a_block_compiles():
    block = EncoderBlock(48, 6, 70, num_kv_heads=2, rope=RotaryEmbedding(8)).to(DEVICE)
    x = torch.randn(2, 64, 48, device=DEVICE)
    mask = torch.rand(64, 64, device=DEVICE) < 0.5
    mask[2] = False
    torch.testing.assert_close(
        torch.compile(block, fullgraph=True)(x, mask), block(x, mask), rtol=1e-4, atol=1e-4
    )
