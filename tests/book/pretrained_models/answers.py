"""Answers to the exercises of book/pretrained_models.ipynb."""

import json
import struct

import torch

from book.pretrained_models.checks import (
    count_llama,
    place,
    three_out_of_one,
    to_neighbours,
)
from companion.models import GPT, GPTConfig
from tests.book.answers import right, wrong

# Read a header


@right(place)
def with_from_bytes(data, name):
    start = 8 + int.from_bytes(data[:8], "little")
    first, last = json.loads(data[8:start])[name]["data_offsets"]
    return start + first, start + last


@right(place)
def with_struct(data, name):
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length].decode("utf8"))
    return [length + 8 + offset for offset in header[name]["data_offsets"]]


@wrong(place, "it raised UnicodeDecodeError")
def length_in_four_bytes(data, name):
    start = 4 + int.from_bytes(data[:4], "little")
    first, last = json.loads(data[4:start])[name]["data_offsets"]
    return start + first, start + last


# Three out of one


@right(three_out_of_one)
def turned_and_cut(weight):
    query, key, value = weight.T.chunk(3)
    return query, key, value


@right(three_out_of_one)
def cut_and_turned(weight):
    d = weight.shape[0]
    return [weight[:, i * d : (i + 1) * d].transpose(0, 1).contiguous() for i in range(3)]


@wrong(three_out_of_one, "it returned 1 result")
def one_matrix(weight):
    return weight.T


# From halves to neighbours


@right(to_neighbours)
def by_reshape(weight, num_heads):
    d_k = len(weight) // num_heads
    halves = weight.view(num_heads, 2, d_k // 2, -1)
    return halves.transpose(1, 2).reshape(len(weight), -1)


@right(to_neighbours)
def by_index(weight, num_heads):
    d_k = len(weight) // num_heads
    order = [
        h * d_k + i + s for h in range(num_heads) for i in range(d_k // 2) for s in (0, d_k // 2)
    ]
    return weight[order]


@wrong(to_neighbours, "it changes its input weight")
def in_place(weight, num_heads):
    weight[:] = by_reshape(weight.clone(), num_heads)
    return weight


# Count a Llama


@right(count_llama)
def by_hand(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    d_k = d_model // num_heads
    attention = d_model * d_k * (2 * num_heads + 2 * num_kv_heads)
    block = attention + 3 * d_model * d_ff + 2 * d_model
    return 2 * vocab_size * d_model + num_layers * block + d_model


@right(count_llama)
def by_building(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    config = GPTConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        num_layers=num_layers,
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        d_ff=d_ff,
        max_len=8,
        norm="rms",
        activation="swiglu",
        bias=False,
        positions="rotary",
        tie_weights=False,
    )
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in GPT(config).parameters())


@right(count_llama)
def divided(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    d_k = d_model / num_heads
    block = d_model * d_k * 2 * (num_heads + num_kv_heads) + 3 * d_model * d_ff + 2 * d_model
    return 2 * vocab_size * d_model + num_layers * block + d_model
