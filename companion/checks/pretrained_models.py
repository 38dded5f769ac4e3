"""Checks for the exercises of book/pretrained_models.ipynb."""

import json

import numpy as np
import torch
from safetensors.torch import save

from companion.checks.exercise import compare, exercise


@exercise
def place(answer) -> str:
    """Check `place(data, name)`: first byte of a tensor in a safetensors file, and the byte after.

    Both count from the beginning of the file.
    """
    small = {"b": torch.tensor([1.0, 2.0]), "a": torch.tensor([[3.0], [4.0], [5.0]])}
    mixed = {"one": torch.ones(3, dtype=torch.float16), "two": torch.ones(5, 2)}
    cases = [
        {"data": save({"x": torch.tensor([1.0])}), "name": "x"},
        {"data": save(small), "name": "a"},
        {"data": save(small), "name": "b"},
        {"data": save(mixed, {"format": "pt"}), "name": "one"},
        {"data": save(small, {"note": "x" * 300}), "name": "b"},
    ]
    compare(answer, cases, _place, PLACE_MISTAKES, kind=int, numbers=np.integer)
    return "one and two tensors, with and without metadata, two types of number, a long header"


def _offsets(data: bytes, name: str) -> tuple[int, int, int]:
    """Length of the header, and the two offsets that stand in it."""
    length = int.from_bytes(data[:8], "little")
    return length, *json.loads(data[8 : 8 + length])[name]["data_offsets"]


def _place(data: bytes, name: str) -> tuple[int, int]:
    length, first, last = _offsets(data, name)
    return 8 + length + first, 8 + length + last


PLACE_MISTAKES = {
    "the offsets are returned as they stand in the header: they count from its end, so add the "
    "header and the eight bytes before it": lambda data, name: _offsets(data, name)[1:],
    "the eight bytes that hold the length are missing: the numbers begin at 8 + length": (
        lambda data, name: tuple(_offsets(data, name)[0] + x for x in _offsets(data, name)[1:])
    ),
    "the header's length is missing: the numbers begin at 8 + length": (
        lambda data, name: tuple(8 + x for x in _offsets(data, name)[1:])
    ),
    "only the first number counts from the beginning of the file; the second has to, too": (
        lambda data, name: (_place(data, name)[0], _offsets(data, name)[2])
    ),
    "the second number is the length of the tensor; the byte after its last one is asked for": (
        lambda data, name: (_place(data, name)[0], _place(data, name)[1] - _place(data, name)[0])
    ),
    "the second number is the tensor's last byte; the one after it is asked for": (
        lambda data, name: (_place(data, name)[0], _place(data, name)[1] - 1)
    ),
}


def _numbered(*shape: int) -> torch.Tensor:
    return torch.arange(float(np.prod(shape))).reshape(shape)


@exercise
def three_out_of_one(answer) -> str:
    """Check `three_out_of_one(weight)`: GPT-2's fused (d, 3 d) -> three matrices of nn.Linear.

    In the order query, key, value, each (d, d), as nn.Linear has them: (out, in).
    """
    cases = [{"weight": _numbered(d, 3 * d)} for d in (1, 2, 5)]
    compare(answer, cases, _thirds, THIRDS_MISTAKES)
    return "matrices of width one, two and five"


def _thirds(weight: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return weight.T.chunk(3)


THIRDS_MISTAKES = {
    "the thirds are right, but still multiply from the other side: turn each of them over": (
        lambda weight: weight.chunk(3, dim=1)
    ),
    "columns are dealt out in turn; a third is d columns that stand side by side": (
        lambda weight: tuple(weight[:, i::3].T for i in range(3))
    ),
    "the matrix was reshaped, not turned over: use .T, which exchanges rows and columns": (
        lambda weight: weight.reshape(-1, len(weight)).chunk(3)
    ),
    "the order is key, query, value; the file has query, key, value": (
        lambda weight: tuple(_thirds(weight)[i] for i in (1, 0, 2))
    ),
    "the order is value, key, query; the file has query, key, value": (
        lambda weight: _thirds(weight)[::-1]
    ),
    "all three are the first third": lambda weight: (_thirds(weight)[0],) * 3,
}


@exercise
def to_neighbours(answer) -> str:
    """Check `to_neighbours(weight, num_heads)`: rows of a projection made for the other pairing.

    weight (H * d_k, d_model) belongs to a rotary embedding that pairs entry i of a head with
    i + d_k / 2. In the result they stand side by side, at 2i and 2i + 1.
    """
    cases = [
        {"weight": _numbered(4, 4), "num_heads": 1},
        {"weight": _numbered(8, 8), "num_heads": 2},
        {"weight": _numbered(18, 18), "num_heads": 3},
        {"weight": _numbered(12, 5), "num_heads": 2},
    ]
    compare(answer, cases, _to_neighbours, NEIGHBOURS_MISTAKES)
    return "one, two and three heads, square matrices and one that is not"


def _to_neighbours(weight, num_heads):
    halves = weight.reshape(num_heads, 2, -1, weight.shape[1])  # (H, 2, d_k / 2, d_model)
    return (halves.transpose(1, 2).reshape(weight.shape),)


def _overwritten(weight, num_heads):
    """Written into the matrix that is still being read."""
    for head in weight.chunk(num_heads):
        half = len(head) // 2
        head[0::2] = head[:half].clone()
        head[1::2] = head[half:].clone()
    return (weight,)


NEIGHBOURS_MISTAKES = {
    "this is the way back: it takes neighbours apart into halves": (
        lambda weight, num_heads: (
            weight.reshape(num_heads, -1, 2, weight.shape[1]).transpose(1, 2).reshape(weight.shape),
        )
    ),
    "the two of each pair have changed places: the one from the first half comes first": (
        lambda weight, num_heads: (
            _to_neighbours(weight, num_heads)[0]
            .reshape(-1, 2, weight.shape[1])
            .flip(1)
            .reshape(weight.shape),
        )
    ),
    "the whole matrix was taken for one head: each head has halves of its own": (
        lambda weight, num_heads: _to_neighbours(weight, 1)
    ),
    "rows are overwritten before they are read: write into a new matrix": _overwritten,
    "nothing has changed": lambda weight, num_heads: (weight,),
    "the columns were exchanged; a head's entries are rows of the matrix": (
        lambda weight, num_heads: (_to_neighbours(weight.T, num_heads)[0].T,)
    ),
}


@exercise
def count_llama(answer) -> str:
    """Check `count_llama(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff)`.

    The number of parameters, with an output matrix of its own.
    """
    names = ("vocab_size", "d_model", "num_layers", "num_heads", "num_kv_heads", "d_ff")
    sizes = [(11, 4, 1, 2, 2, 7), (13, 12, 3, 6, 2, 5), (32000, 4096, 32, 32, 32, 11008)]
    sizes.append((128256, 4096, 32, 32, 8, 14336))
    cases = [dict(zip(names, row, strict=True)) for row in sizes]
    compare(answer, cases, _llama, LLAMA_MISTAKES, kind=int, numbers=np.integer)
    return "two small models, Llama 7B and Llama 3 8B"


def _llama(
    vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff,
    *, tables=2, matrices=3, norms=2, last_norm=1, biases=False,
):  # fmt: skip
    shared = d_model * num_kv_heads // num_heads  # width of all keys together
    attention = 2 * d_model * d_model + 2 * d_model * shared
    block = attention + matrices * d_model * d_ff + norms * d_model
    if biases:
        block += 2 * d_model + 2 * shared + (matrices - 1) * d_ff + d_model
    return (tables * vocab_size * d_model + num_layers * block + last_norm * d_model,)


def _wrong(**changes):
    return lambda *sizes: _llama(*sizes, **changes)


LLAMA_MISTAKES = {
    "every query head got a key head and a value head of its own; there are num_kv_heads": (
        lambda v, d, n, h, k, f: _llama(v, d, n, h, h, f)
    ),
    "the gate is missing: SwiGLU has three matrices": _wrong(matrices=2),
    "the output matrix is missing: it is not tied to the token embedding here": _wrong(tables=1),
    "the norm after the last block is missing": _wrong(last_norm=0),
    "the norms are missing: each block has two, and one stands at the end": (
        _wrong(norms=0, last_norm=0)
    ),
    "RMSNorm has a weight only, no bias": _wrong(norms=4, last_norm=2),
    "Llama's projections have no bias": _wrong(biases=True),
    "key and value heads are counted as if they were one entry wide; each is d_model / H wide": (
        lambda v, d, n, h, k, f: (_llama(v, d, n, h, k, f)[0] - 2 * n * d * k * (d // h - 1),)
    ),
    "the output matrix of attention is missing: attention has four": (
        lambda v, d, n, h, k, f: (_llama(v, d, n, h, k, f)[0] - n * d * d,)
    ),
    "only one block was counted": lambda v, d, n, h, k, f: _llama(v, d, 1, h, k, f),
}
