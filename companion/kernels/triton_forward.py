"""The forward kernel of attention in Triton. Imported on first use: it needs Triton.

One program computes one block of queries of one head. It walks over the blocks of keys with the
running maximum, the running sum and the output in registers, so that scores never reach the GPU's
main memory. Exponentials are powers of two, which the hardware has: exp(x) = 2^(x log2(e)).

In every kernel T, S, d_k and d_v are those of the tensors; D_K and D_V are the widths rounded up to
powers of two; a tile has BLOCK_T queries and BLOCK_S keys. The last query is aligned with the last
key, so that under a causal mask query i sees the keys up to i + S - T.
"""

import math

import torch
import triton
import triton.language as tl

LOG2_E: tl.constexpr = tl.constexpr(1.4426950408889634)
# Where the running maximum starts: below every score, and finite to avoid -inf - (-inf).
LOWEST: tl.constexpr = tl.constexpr(-3.0e38)


@triton.jit
def load_rows(base, row, length, width: tl.constexpr, WIDTH: tl.constexpr, MASKED: tl.constexpr):
    """These rows of a contiguous (length, width) matrix as (len(row), WIDTH), 0 outside.

    Without MASKED every row must be one of the matrix.
    """
    column = tl.arange(0, WIDTH)
    pointers = base + row[:, None] * width + column[None, :]
    if MASKED:
        inside = (row[:, None] < length) & (column[None, :] < width)
        return tl.load(pointers, mask=inside, other=0.0)
    if width < WIDTH:
        return tl.load(pointers, mask=column[None, :] < width, other=0.0)
    return tl.load(pointers)


@triton.jit
def store_rows(base, row, length, width: tl.constexpr, WIDTH: tl.constexpr, x):
    """Write x (len(row), WIDTH) where `load_rows` would read it, in the dtype of the matrix."""
    column = tl.arange(0, WIDTH)
    inside = (row[:, None] < length) & (column[None, :] < width)
    pointers = base + row[:, None] * width + column[None, :]
    tl.store(pointers, x.to(base.dtype.element_ty), mask=inside)


INTERPRETED: tl.constexpr = tl.constexpr(not isinstance(load_rows, triton.JITFunction))


@triton.jit
def bound(x):
    """x as the bound of a loop. Triton's interpreter before 3.7 has it as an array of one number,
    which NumPy 2.4 does not take for an index; it makes one again of a name assigned alone."""
    return x.handle.data.item() if INTERPRETED else x


@triton.jit
def product(a, b, c):
    """a b + c, summed in float32; float32 in three parts, which keeps its precision."""
    if INTERPRETED:  # there tl.dot reads the bits of a bfloat16 as an integer
        a, b = a.to(tl.float32), b.to(tl.float32)
    return tl.dot(a, b, c, input_precision="tf32x3")


@triton.jit
def query_block(T, S, BLOCK_T: tl.constexpr, BLOCK_S: tl.constexpr, CAUSAL: tl.constexpr):
    """The head and the rows of this program, and how many keys they see.

    The first `whole` keys make blocks that every row sees whole, so that they need no mask; from
    `seen` on no row sees a key.
    """
    blocks = tl.cdiv(T, BLOCK_T)
    head = (tl.program_id(0) // blocks).to(tl.int64)
    # Under a causal mask the last queries have the most to do: they start first.
    first = (blocks - 1 - tl.program_id(0) % blocks) * BLOCK_T
    seen_by_all, seen = S, S
    if CAUSAL:
        seen_by_all = tl.maximum(tl.minimum(first + S - T + 1, S), 0)
        seen = tl.maximum(tl.minimum(first + BLOCK_T + S - T, S), 0)
    whole = seen_by_all // BLOCK_S * BLOCK_S
    return head, first + tl.arange(0, BLOCK_T), bound(whole), bound(seen)


@triton.jit
def visible(row, column, T, S, CAUSAL: tl.constexpr):
    """Whether the queries `row` see the keys `column`, as a table (len(row), len(column))."""
    sees = column[None, :] < S
    if CAUSAL:
        sees = sees & (column[None, :] <= row[:, None] + S - T)
    return sees


@triton.jit
def forward_kernel(
    query, key, value, output, log_sum_exp,  # contiguous (heads, T or S, width), (heads, T)
    T, S, scale,
    d_k: tl.constexpr, d_v: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_S: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Output and the log of the softmax's denominator for one block of queries of one head."""
    head, row, whole, seen = query_block(T, S, BLOCK_T, BLOCK_S, CAUSAL)
    q = load_rows(query + head * T * d_k, row, T, d_k, D_K, True)

    largest = tl.full([BLOCK_T], LOWEST, tl.float32)
    total = tl.zeros([BLOCK_T], tl.float32)
    accumulator = tl.zeros([BLOCK_T, D_V], tl.float32)
    for EDGE in tl.static_range(2):  # first the blocks without a mask, then the others
        for start in tl.range(whole if EDGE else 0, seen if EDGE else whole, BLOCK_S):
            column = start + tl.arange(0, BLOCK_S)
            k = load_rows(key + head * S * d_k, column, S, d_k, D_K, EDGE)
            scores = product(q, tl.trans(k), tl.zeros([BLOCK_T, BLOCK_S], tl.float32))
            if EDGE:
                scores = tl.where(visible(row, column, T, S, CAUSAL), scores, float("-inf"))
            previous = largest
            largest = tl.maximum(largest, tl.max(scores, 1) * (scale * LOG2_E))
            weights = tl.exp2(scores * (scale * LOG2_E) - largest[:, None])
            rescale = tl.exp2(previous - largest)
            total = total * rescale + tl.sum(weights, 1)
            v = load_rows(value + head * S * d_v, column, S, d_v, D_V, EDGE)
            accumulator = product(weights.to(v.dtype), v, accumulator * rescale[:, None])

    empty = total == 0.0  # a query before the first key
    total = tl.where(empty, 1.0, total)
    store_rows(output + head * T * d_v, row, T, d_v, D_V, accumulator / total[:, None])
    natural = (largest + tl.log2(total)) / LOG2_E
    tl.store(log_sum_exp + head * T + row, tl.where(empty, float("inf"), natural), mask=row < T)


def launch(kernel, tensors, length: int, block: str, is_causal: bool, settings: dict) -> None:
    """Run a kernel once for every block of rows, of `length` in all, of every head.

    The tensors are contiguous, on one device, and begin with query, key and value. `block` names
    the setting with the rows of a block. Tiles that do not fit on this GPU are made smaller.
    """
    query, _, value = tensors[:3]
    (T, d_k), (S, d_v) = query.shape[-2:], value.shape[-2:]
    programs = math.prod(query.shape[:-2]) * triton.cdiv(length, settings[block])
    if programs == 0:
        return
    try:
        with torch.cuda.device_of(query):  # Triton launches on the current device
            kernel[(programs,)](
                *tensors,
                T=T,
                S=S,
                scale=1 / math.sqrt(d_k),
                d_k=d_k,
                d_v=d_v,
                D_K=max(16, triton.next_power_of_2(d_k)),
                D_V=max(16, triton.next_power_of_2(d_v)),
                CAUSAL=is_causal,
                **settings,
            )
    except triton.OutOfResources:
        if (smaller := narrower(settings)) is None:
            raise
        launch(kernel, tensors, length, block, is_causal, smaller)


def narrower(settings: dict[str, int]) -> dict[str, int] | None:
    """The same for a GPU with less shared memory; None if no tile is smaller."""
    larger = max(("BLOCK_T", "BLOCK_S"), key=settings.get)
    if settings["num_stages"] > 2 or (settings["num_stages"] == 2 and settings[larger] == 16):
        return settings | {"num_stages": settings["num_stages"] - 1}
    return settings | {larger: settings[larger] // 2} if settings[larger] > 16 else None


def forward_settings(dtype: torch.dtype, width: int) -> dict[str, int]:
    """The tile, the warps of a program, and how many blocks of keys are loaded ahead."""
    if dtype == torch.float32:
        stages = 2 if width <= 128 else 1
        return {"BLOCK_T": 128, "BLOCK_S": 32, "num_warps": 8, "num_stages": stages}
    block_s = 128 if width <= 64 else 64 if width <= 128 else 32
    return {"BLOCK_T": 128, "BLOCK_S": block_s, "num_warps": 8, "num_stages": 3}


def forward(query, key, value, is_causal: bool, **settings: int):
    """Return output (..., T, d_v) and log_sum_exp (..., T, 1) of contiguous tensors.

    `settings` replace those of `forward_settings`.
    """
    output = query.new_empty(*query.shape[:-1], value.shape[-1])
    log_sum_exp = query.new_empty(*query.shape[:-1], 1, dtype=torch.float32)
    settings = forward_settings(query.dtype, max(query.shape[-1], value.shape[-1])) | settings
    tensors = query, key, value, output, log_sum_exp
    launch(forward_kernel, tensors, query.shape[-2], "BLOCK_T", is_causal, settings)
    return output, log_sum_exp
