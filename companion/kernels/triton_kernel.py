"""The forward kernel of attention in Triton. Imported on first use: it needs Triton.

One program computes one block of queries of one head. It walks over the blocks of keys with the
running maximum, the running sum and the output in registers, so that scores never reach the GPU's
main memory. Exponentials are powers of two, which the hardware has: exp(x) = 2^(x log2(e)).
"""

import math

import torch
import triton
import triton.language as tl

# Where the running maximum starts: lower than every score and finite, to spare -inf - (-inf).
LOWEST: tl.constexpr = tl.constexpr(-3.0e38)


@triton.jit
def block_of(base, places, length, width: tl.constexpr, WIDTH: tl.constexpr, MASKED: tl.constexpr):
    """Rows `places` of a contiguous (length, width) matrix as (len(places), WIDTH), 0 outside."""
    entries = tl.arange(0, WIDTH)
    pointers = base + places[:, None] * width + entries[None, :]
    if MASKED:
        inside = (places[:, None] < length) & (entries[None, :] < width)
        return tl.load(pointers, mask=inside, other=0.0)
    if width < WIDTH:
        return tl.load(pointers, mask=entries[None, :] < width, other=0.0)
    return tl.load(pointers)


INTERPRETED: tl.constexpr = tl.constexpr(not isinstance(block_of, triton.JITFunction))


@triton.jit
def product(a, b, c):
    """a b + c, summed in float32; float32 in three parts, which keeps its precision."""
    if INTERPRETED:  # whose tl.dot takes the bits of a bfloat16 for a whole number
        a, b = a.to(tl.float32), b.to(tl.float32)
    return tl.dot(a, b, c, input_precision="tf32x3")


@triton.jit
def attend(
    largest, total, blend,  # of the keys so far: (BLOCK_T,), (BLOCK_T,), (BLOCK_T, D_V)
    q, query_at, key_base, value_base, first, last, S,
    scale,  # log2(e) / sqrt(d_k)
    d_k: tl.constexpr, d_v: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_S: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Go on over the blocks of keys from `first` to `last`; only if MASKED may one be cut off."""
    for start in tl.range(first, last, BLOCK_S):
        key_at = start + tl.arange(0, BLOCK_S)
        k = block_of(key_base, key_at, S, d_k, D_K, MASKED)
        scores = product(q, tl.trans(k), tl.zeros([BLOCK_T, BLOCK_S], tl.float32))
        if MASKED:
            sees = key_at[None, :] < S
            if CAUSAL:
                sees = sees & (key_at[None, :] <= query_at[:, None])
            scores = tl.where(sees, scores, float("-inf"))
        previous = largest
        largest = tl.maximum(largest, tl.max(scores, 1) * scale)
        weights = tl.exp2(scores * scale - largest[:, None])
        rescale = tl.exp2(previous - largest)
        total = total * rescale + tl.sum(weights, 1)
        v = block_of(value_base, key_at, S, d_v, D_V, MASKED)
        blend = product(weights.to(v.dtype), v, blend * rescale[:, None])
    return largest, total, blend


@triton.jit
def forward_kernel(
    query, key, value, output, log_sum_exp,  # contiguous (heads, T or S, width)
    T, S, scale,
    d_k: tl.constexpr, d_v: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_S: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Output and the log of the softmax's denominator for one block of queries of one head."""
    blocks = tl.cdiv(T, BLOCK_T)
    head = (tl.program_id(0) // blocks).to(tl.int64)
    # Under a causal mask the last queries have the most to do: they start first.
    block = blocks - 1 - tl.program_id(0) % blocks
    row = block * BLOCK_T + tl.arange(0, BLOCK_T)
    query_at = row + S - T  # the last query is aligned with the last key
    q = block_of(query + head * T * d_k, row, T, d_k, D_K, True)
    key_base, value_base = key + head * S * d_k, value + head * S * d_v

    # Blocks of keys that every one of these queries sees whole need no mask; then come the others.
    seen_by_all, seen_by_any = S, S
    if CAUSAL:
        seen_by_all = tl.maximum(tl.minimum(block * BLOCK_T + S - T + 1, S), 0)
        seen_by_any = tl.maximum(tl.minimum(block * BLOCK_T + BLOCK_T + S - T, S), 0)
    whole = seen_by_all // BLOCK_S * BLOCK_S
    largest = tl.full([BLOCK_T], LOWEST, tl.float32)
    total = tl.zeros([BLOCK_T], tl.float32)
    blend = tl.zeros([BLOCK_T, D_V], tl.float32)
    largest, total, blend = attend(
        largest, total, blend, q, query_at, key_base, value_base, 0, whole, S,
        scale, d_k, d_v, D_K, D_V, BLOCK_T, BLOCK_S, CAUSAL, False,
    )  # fmt: skip
    largest, total, blend = attend(
        largest, total, blend, q, query_at, key_base, value_base, whole, seen_by_any, S,
        scale, d_k, d_v, D_K, D_V, BLOCK_T, BLOCK_S, CAUSAL, True,
    )  # fmt: skip

    empty = total == 0.0  # a query before the first key
    blend = blend / tl.where(empty, 1.0, total)[:, None]
    natural = (largest + tl.log2(tl.where(empty, 1.0, total))) * 0.6931471805599453  # times log(2)
    entries = tl.arange(0, D_V)
    tl.store(
        output + head * T * d_v + row[:, None] * d_v + entries[None, :],
        blend.to(output.dtype.element_ty),
        mask=(row[:, None] < T) & (entries[None, :] < d_v),
    )
    tl.store(log_sum_exp + head * T + row, tl.where(empty, float("inf"), natural), mask=row < T)


def launch_settings(dtype: torch.dtype, width: int) -> dict[str, int]:
    """How many keys in a tile, warps in a program and blocks of keys on their way from memory."""
    if dtype == torch.float32:
        return {"BLOCK_S": 32, "num_warps": 8, "num_stages": 2 if width <= 64 else 1}
    block_s = 128 if width <= 64 else 64 if width <= 128 else 32
    return {"BLOCK_S": block_s, "num_warps": 8, "num_stages": 3}


def launch(query, key, value, is_causal: bool, block_size: int, **settings: int):
    """Return output (..., T, d_v) and log_sum_exp (..., T, 1); tensors have been checked.

    `settings` replace those of `launch_settings`.
    """
    T, S, d_k, d_v = query.shape[-2], key.shape[-2], query.shape[-1], value.shape[-1]
    output = query.new_empty(*query.shape[:-1], d_v)
    log_sum_exp = query.new_empty(*query.shape[:-1], 1, dtype=torch.float32)
    heads = math.prod(query.shape[:-2])
    width = {
        "D_K": max(16, triton.next_power_of_2(d_k)),
        "D_V": max(16, triton.next_power_of_2(d_v)),
    }
    if heads * T == 0:
        return output, log_sum_exp
    grid = (heads * triton.cdiv(T, block_size),)
    with torch.cuda.device_of(query):  # Triton launches on the current device
        forward_kernel[grid](
            *(x.contiguous() for x in (query, key, value)),
            output,
            log_sum_exp,
            T,
            S,
            math.log2(math.e) / math.sqrt(d_k),
            d_k,
            d_v,
            **width,
            BLOCK_T=block_size,
            CAUSAL=is_causal,
            **launch_settings(query.dtype, max(width.values())) | settings,
        )
    return output, log_sum_exp
