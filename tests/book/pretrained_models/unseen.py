"""Answers by somebody who had not read the checks."""

import json
import struct

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("pretrained_models")


@right
def place(data, name):
    size = sum(b << 8 * i for i, b in enumerate(data[:8]))
    header = json.loads(data[8 : 8 + size].decode())
    a, b = header[name]["data_offsets"]
    return 8 + size + a, 8 + size + b


wrong("offsets as they are", "8 + size + a, 8 + size + b", "a, b")
wrong(
    "big endian",
    "sum(b << 8 * i for i, b in enumerate(data[:8]))",
    "int.from_bytes(data[:8], 'big')",
)
wrong("first tensor", "header[name]", "next(v for k, v in header.items() if k != '__metadata__')")


@right
def three_out_of_one(weight):
    d = len(weight)
    return [torch.stack([weight[:, n * d + j] for j in range(d)]) for n in range(3)]


wrong("not turned over", lambda weight: weight.chunk(3, 1))
wrong("key and query exchanged", "for n in range(3)", "for n in (1, 0, 2)")
wrong("query, value, key", "for n in range(3)", "for n in (0, 2, 1)")


@right
def count_llama(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    total = d_model
    for matrix in ("embedding", "output"):
        total += vocab_size * d_model
    for _ in range(num_layers):
        total += 2 * d_model + 3 * d_model * d_ff
        total += 2 * d_model**2 + 2 * d_model * (num_kv_heads * (d_model // num_heads))
    return total


wrong("tied output", '("embedding", "output")', '("embedding",)')
wrong("no last norm", "total = d_model", "total = 0")
wrong("one key head", "num_kv_heads * (d_model // num_heads)", "d_model // num_heads")
wrong("key counted, value forgotten", "2 * d_model * (num_kv", "d_model * (num_kv")


@right
def to_neighbours(weight, num_heads):
    out = torch.empty_like(weight)
    w = len(weight) // num_heads
    for h in range(num_heads):
        for i in range(w // 2):
            out[h * w + 2 * i] = weight[h * w + i]
            out[h * w + 2 * i + 1] = weight[h * w + i + w // 2]
    return out


wrong(
    "the other way round",
    "out[h * w + 2 * i] = weight[h * w + i]",
    "out[h * w + i] = weight[h * w + 2 * i]",
    "out[h * w + 2 * i + 1] = weight[h * w + i + w // 2]",
    "out[h * w + i + w // 2] = weight[h * w + 2 * i + 1]",
)
wrong(
    "halves exchanged",
    "out[h * w + 2 * i] =",
    "out[h * w + 2 * i + 0 + 1] =",
    "out[h * w + 2 * i + 1] = weight[h * w + i + w // 2]",
    "out[h * w + 2 * i] = weight[h * w + i + w // 2]",
)
wrong(
    "heads and halves mixed",
    lambda weight, num_heads: (
        weight.reshape(2, num_heads, -1, weight.shape[1]).permute(1, 2, 0, 3).reshape(weight.shape)
    ),
)


@right
def place(data, name):
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length].decode("utf-8"))
    first, last = header[name]["data_offsets"]
    base = 8 + length
    return base + first, base + last


wrong("the last byte itself", "base + last", "base + last - 1")


@right
def three_out_of_one(weight):
    d = weight.shape[0]
    matrices = []
    for i in range(3):
        matrices.append(weight[:, i * d : (i + 1) * d].T)
    return tuple(matrices)


wrong("a reshape for the cut", "weight[:, i * d : (i + 1) * d].T", "weight.reshape(3, d, d)[i].T")


@right
def count_llama(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    d_head = d_model // num_heads
    query_and_output = 2 * d_model**2
    key_and_value = 2 * d_model * d_head * num_kv_heads
    feed_forward = 3 * d_model * d_ff
    norms = 2 * d_model
    block = query_and_output + key_and_value + feed_forward + norms
    return 2 * vocab_size * d_model + num_layers * block + d_model


wrong("no norm at the end", "num_layers * block + d_model", "num_layers * block")


@right
def to_neighbours(weight, num_heads):
    out = torch.empty_like(weight)
    d_k = len(weight) // num_heads
    for start in range(0, len(weight), d_k):
        for i in range(d_k // 2):
            out[start + 2 * i] = weight[start + i]
            out[start + 2 * i + 1] = weight[start + i + d_k // 2]
    return out


wrong(
    "the second half first",
    "out[start + 2 * i] =",
    "out[start + 2 * i + 1 - 0] =",
    "out[start + 2 * i + 1] =",
    "out[start + 2 * i] =",
)


@right
def three_out_of_one(weight):
    d = weight.size(0)
    turned = weight.T
    return turned[:d], turned[d : 2 * d], turned[2 * d :]


wrong(
    "not turned over",
    "return turned[:d], turned[d : 2 * d], turned[2 * d :]",
    "return weight[:, :d], weight[:, d : 2 * d], weight[:, 2 * d :]",
)


@right
def count_llama(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    d_head = d_model // num_heads
    query_out = 2 * d_model**2
    key_value = 2 * d_model * d_head * num_kv_heads
    gated = 3 * d_model * d_ff
    norms = 2 * d_model
    block = query_out + key_value + gated + norms
    return 2 * vocab_size * d_model + num_layers * block + d_model


wrong("the last norm is forgotten", "* block + d_model", "* block")


@right
def to_neighbours(weight, num_heads):
    rows, d_model = weight.shape
    d_k = rows // num_heads
    result = torch.empty_like(weight)
    for head in range(num_heads):
        top = head * d_k
        middle, bottom = top + d_k // 2, top + d_k
        result[top:bottom:2] = weight[top:middle]
        result[top + 1 : bottom : 2] = weight[middle:bottom]
    return result


wrong(
    "the columns, not the rows",
    "rows, d_model = weight.shape",
    "weight = weight.T\n    rows, d_model = weight.shape",
    "return result",
    "return result.T",
)


@right
def place(data, name):
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    begin, end = header[name]["data_offsets"]
    return 8 + length + begin, 8 + length + end


wrong(
    "the first tensor, whatever the name",
    "header[name]",
    "next(v for k, v in header.items() if k != '__metadata__')",
)


@right
def count_llama(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    head = d_model // num_heads
    attention = 2 * d_model * d_model + 2 * d_model * num_kv_heads * head
    feed_forward = 3 * d_model * d_ff
    block = attention + feed_forward + 2 * d_model
    return 2 * vocab_size * d_model + num_layers * block + d_model


wrong("one norm a block", "feed_forward + 2 * d_model", "feed_forward + d_model")


@right
def place(data, name):
    (size,) = struct.unpack_from("<Q", data)
    body = 8 + size
    begin, end = json.loads(data[8:body].decode("utf-8"))[name]["data_offsets"]
    return (body + begin, body + end)


wrong("second number is the size of the tensor", "body + end", "end - begin")


@right
def count_llama(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    kv_width = d_model // num_heads * num_kv_heads
    shapes = [(d_model, d_model), (kv_width, d_model), (kv_width, d_model), (d_model, d_model)]
    shapes += [(d_ff, d_model), (d_ff, d_model), (d_model, d_ff)]
    shapes += [(d_model, 1), (d_model, 1)]
    block = sum((rows * columns for rows, columns in shapes))
    return 2 * vocab_size * d_model + num_layers * block + d_model


wrong(
    "embedding and output matrix counted as one",
    "    return 2 * vocab_size * d_model + num_layers * block + d_model",
    "    return vocab_size * d_model + num_layers * block + d_model",
)


@right
def to_neighbours(weight, num_heads):
    numbers = torch.arange(len(weight)).view(num_heads, 2, -1)
    return weight[numbers.mT.reshape(-1)]


wrong("the inverse: from neighbours to halves", "2, -1", "-1, 2")
