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

# 1. Read a header


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


@wrong(place, "the header may name tensors in any order")
def sizes_added_up(data, name):
    length = int.from_bytes(data[:8], "little")
    at = 8 + length
    for key, entry in json.loads(data[8 : 8 + length]).items():
        if key == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        if key == name:
            return at, at + last - first
        at += last - first


@wrong(place, "they count from its end")
def offsets_as_they_stand(data, name):
    length = int.from_bytes(data[:8], "little")
    return tuple(json.loads(data[8 : 8 + length])[name]["data_offsets"])


@wrong(place, "the eight bytes that hold the length")
def without_the_eight(data, name):
    length = int.from_bytes(data[:8], "little")
    first, last = json.loads(data[8 : 8 + length])[name]["data_offsets"]
    return length + first, length + last


@wrong(place, "the header's length is missing")
def without_the_header(data, name):
    first, last = offsets_as_they_stand(data, name)
    return 8 + first, 8 + last


@wrong(place, "it counts from the beginning of the file, too")
def second_offset_as_it_stands(data, name):
    return with_from_bytes(data, name)[0], offsets_as_they_stand(data, name)[1]


@wrong(place, "is an offset, or a length")
def place_and_length(data, name):
    first, last = with_from_bytes(data, name)
    return first, last - first


@wrong(place, "tensor's last byte")
def last_byte(data, name):
    first, last = with_from_bytes(data, name)
    return first, last - 1


@wrong(place, "highest byte first")
def highest_byte_first(data, name):
    start = 8 + int.from_bytes(data[:8], "big")
    first, last = json.loads(data[8:start])[name]["data_offsets"]
    return start + first, start + last


@wrong(place, "it raised UnicodeDecodeError")
def length_in_four_bytes(data, name):
    start = 4 + int.from_bytes(data[:4], "little")
    first, last = json.loads(data[4:start])[name]["data_offsets"]
    return start + first, start + last


@wrong(place, "it raised JSONDecodeError")
def one_byte_of_the_length(data, name):
    start = 8 + data[0]
    first, last = json.loads(data[8:start])[name]["data_offsets"]
    return start + first, start + last


# 2. Three out of one


@right(three_out_of_one)
def turned_and_cut(weight):
    query, key, value = weight.T.chunk(3)
    return query, key, value


@right(three_out_of_one)
def cut_and_turned(weight):
    d = weight.shape[0]
    return [weight[:, i * d : (i + 1) * d].transpose(0, 1).contiguous() for i in range(3)]


@right(three_out_of_one)
def by_what_it_does(weight):
    outputs = torch.eye(len(weight)) @ weight
    return tuple(part.T for part in outputs.split(len(weight), dim=-1))


@wrong(three_out_of_one, "turn each of them over")
def not_turned(weight):
    return weight.chunk(3, dim=-1)


@wrong(three_out_of_one, "dealt out in turn")
def every_third_column(weight):
    return weight[:, 0::3].T, weight[:, 1::3].T, weight[:, 2::3].T


@wrong(three_out_of_one, "reshaped, not turned over")
def reshaped(weight):
    d = len(weight)
    return tuple(weight.reshape(3, d, d))


@wrong(three_out_of_one, "key, query, value")
def key_first(weight):
    key, query, value = weight.T.chunk(3)
    return query, key, value


@wrong(three_out_of_one, "value, key, query")
def backwards(weight):
    return turned_and_cut(weight)[::-1]


@wrong(three_out_of_one, "it returned 1 result")
def one_matrix(weight):
    return weight.T


@wrong(three_out_of_one, "the first third")
def the_same_three_times(weight):
    d = len(weight)
    return tuple(weight.T[:d] for _ in range(3))


@wrong(three_out_of_one, "it raised ValueError")
def in_four(weight):
    query, key, value = weight.T.chunk(4)  # three parts up to a width of 3
    return query, key, value


# 3. From halves to neighbours


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


@right(to_neighbours)
def written_head_by_head(weight, num_heads):
    result = torch.empty_like(weight)
    d_k = len(weight) // num_heads
    for start in range(0, len(weight), d_k):
        head = weight[start : start + d_k]
        result[start : start + d_k : 2] = head[: d_k // 2]
        result[start + 1 : start + d_k : 2] = head[d_k // 2 :]
    return result


@wrong(to_neighbours, "the way back")
def the_way_back(weight, num_heads):
    heads = weight.view(num_heads, -1, weight.shape[1])
    return torch.cat([heads[:, 0::2], heads[:, 1::2]], dim=1).flatten(0, 1)


@wrong(to_neighbours, "changed places")
def second_half_first(weight, num_heads):
    heads = weight.view(num_heads, -1, weight.shape[1])
    first, second = heads.chunk(2, dim=1)
    return torch.stack([second, first], dim=2).reshape(weight.shape)


@wrong(to_neighbours, "taken for one head")
def without_heads(weight, num_heads):
    first, second = weight.chunk(2)
    return torch.stack([first, second], dim=1).flatten(0, 1)


@wrong(to_neighbours, "nothing has changed")
def as_it_was(weight, num_heads):
    return weight.clone()


@wrong(to_neighbours, "a head's entries are rows")
def columns(weight, num_heads):
    order = by_index(torch.arange(len(weight))[:, None], num_heads)[:, 0]
    return weight[:, order]


@wrong(to_neighbours, "overwritten before they are read")
def read_while_it_is_written(weight, num_heads):
    result = weight.clone()
    d_k = len(weight) // num_heads
    for start in range(0, len(weight), d_k):
        head = result[start : start + d_k]
        first, second = head[: d_k // 2], head[d_k // 2 :]
        result[start : start + d_k : 2] = first.clone()
        result[start + 1 : start + d_k : 2] = second.clone()
    return result


@wrong(to_neighbours, "it changes its input weight")
def in_place(weight, num_heads):
    weight[:] = by_reshape(weight.clone(), num_heads)
    return weight


# 4. Count a Llama


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


@wrong(count_llama, "a key head and a value head of its own")
def no_sharing(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    return by_hand(vocab_size, d_model, num_layers, num_heads, num_heads, d_ff)


@wrong(count_llama, "the gate is missing")
def two_matrices(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    sizes = (vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff)
    return by_hand(*sizes) - num_layers * d_model * d_ff


@wrong(count_llama, "the output matrix is missing")
def tied(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    sizes = (vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff)
    return by_hand(*sizes) - vocab_size * d_model


@wrong(count_llama, "after the last block")
def no_last_norm(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    return by_hand(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff) - d_model


@wrong(count_llama, "all norms are missing")
def no_norms(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    sizes = (vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff)
    return by_hand(*sizes) - (2 * num_layers + 1) * d_model


@wrong(count_llama, "a weight only, no bias")
def layer_norms(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    sizes = (vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff)
    return by_hand(*sizes) + (2 * num_layers + 1) * d_model


@wrong(count_llama, "no bias")
def with_biases(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    sizes = (vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff)
    key_width = num_kv_heads * (d_model // num_heads)
    return by_hand(*sizes) + num_layers * (3 * d_model + 2 * key_width + 2 * d_ff)


@wrong(count_llama, "one entry wide")
def heads_without_a_width(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    attention = 2 * d_model * d_model + 2 * d_model * num_kv_heads
    block = attention + 3 * d_model * d_ff + 2 * d_model
    return 2 * vocab_size * d_model + num_layers * block + d_model


@wrong(count_llama, "attention has four")
def no_output_matrix(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    sizes = (vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff)
    return by_hand(*sizes) - num_layers * d_model**2


@wrong(count_llama, "only one block")
def one_block(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    return by_hand(vocab_size, d_model, 1, num_heads, num_kv_heads, d_ff)


@wrong(count_llama, "an int, not a float")
def divided(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    d_k = d_model / num_heads
    block = d_model * d_k * 2 * (num_heads + num_kv_heads) + 3 * d_model * d_ff + 2 * d_model
    return 2 * vocab_size * d_model + num_layers * block + d_model


@wrong(place, "a header of more than 65,535 bytes")
def length_in_two_bytes(data, name):
    length = data[0] + 256 * data[1]
    first, last = json.loads(data[8:].decode("latin-1")[:length])[name]["data_offsets"]
    return 8 + length + first, 8 + length + last
