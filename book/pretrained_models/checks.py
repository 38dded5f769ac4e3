"""Checks for the exercises of book/pretrained_models.ipynb."""

import json

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def place(answer) -> str:
    """Check `place(data, name)`: first byte of a tensor in a safetensors file, and the byte after.

    Both count from the beginning of the file.
    """
    climb(PLACE, answer)
    return "one and two tensors, with and without metadata, two types of number, a long header"


def _place(data, name):
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    start, (first, last) = 8 + length, header[name]["data_offsets"]
    return start + first, start + last


@ladder(_place)
def PLACE(place):
    from safetensors.torch import save

    """a tensor without numbers, so that the file ends with its header: eight bytes hold the
    length of the header, lowest byte first"""
    data = save({"x": torch.zeros(0)})
    yield place(data, "x")

    """a single tensor: eight bytes hold the length of the header, lowest byte first; the
    numbers begin behind both; two places are asked for, of the first byte and of the byte after
    the last"""
    data = save({"x": torch.tensor([1.0])})
    yield place(data, "x")

    """two tensors: the second begins where the first ends, whatever their names"""
    data = save({"b": torch.tensor([1.0, 2.0]), "a": torch.tensor([[3.0], [4.0], [5.0]])})
    yield [place(data, "a"), place(data, "b")]

    """numbers of two bytes, and metadata in the header"""
    data = save({"one": torch.ones(3).half(), "two": torch.ones(5, 2)}, {"format": "pt"})
    yield [place(data, "one"), place(data, "two")]

    """the header may name tensors in any order: where one lies, only its own offsets say"""
    b, a = '"b":{"dtype":"F32","data_offsets":[8,12]}', '"a":{"dtype":"F32","data_offsets":[0,8]}'
    header = ("{" + b + "," + a + "}").encode()
    data = len(header).to_bytes(8, "little") + header + bytes(12)
    yield [place(data, "a"), place(data, "b")]

    """a header with letters of two bytes: its length is one of bytes, not of letters"""
    data = save({"x": torch.tensor([1.0, 2.0])}, {"note": "für Jäger"})
    yield place(data, "x")

    """a header of more than 255 bytes: all eight bytes hold its length"""
    data = save({"x": torch.tensor([1.0, 2.0])}, {"note": "x" * 300})
    yield place(data, "x")


def _in_order_of_names(header, name):
    sizes = {
        key: x["data_offsets"][1] - x["data_offsets"][0]
        for key, x in header.items()
        if key != "__metadata__"
    }
    first = sum(size for key, size in sizes.items() if key < name)
    return first, first + sizes[name]


PLACE.mistakes |= {
    "the second number is a length; it is the byte after the last one": edited(
        _place, "start + last", "last - first"
    ),
    "the length is read highest byte first; its lowest byte comes first": edited(
        _place, '"little"', '"big"'
    ),
    "the offsets are returned as they stand in the header: they count from its end, "
    "so add the header and the eight bytes before it": edited(
        _place, "start, (", "start = 0; (", "= 8 + length, header", "= header"
    ),
    "the eight bytes that hold the length are missing: the numbers begin at 8 + length": edited(
        _place, "start, (first, last) = 8 + length", "start, (first, last) = length"
    ),
    "the header's length is missing: the numbers begin at 8 + length": edited(
        _place, "start, (first, last) = 8 + length", "start, (first, last) = 8"
    ),
    "the second number is an offset, or a length; it counts from the beginning of the "
    "file, too": edited(_place, "start + last", "last"),
    "the second number is the tensor's last byte; the one after it is asked for": edited(
        _place, "start + last", "start + last - 1"
    ),
    "the name has no effect: this is where the first tensor of the header lies": edited(
        _place, "header[name]", "next(x for key, x in header.items() if key != '__metadata__')"
    ),
    "the numbers are taken to lie in the order of the names; offsets say where they do": edited(
        _place, 'header[name]["data_offsets"]', "_in_order_of_names(header, name)"
    ),
}


@exercise
def three_out_of_one(answer) -> str:
    """Check `three_out_of_one(weight)`: GPT-2's fused (d, 3 d) -> three matrices of nn.Linear.

    In the order query, key, value, each (d, d), as nn.Linear has them: (out, in).
    """

    def unpacked(weight):
        result = answer(weight)
        return tuple(result) if torch.is_tensor(result) and result.dim() == 3 else result

    climb(THREE_OUT_OF_ONE, unpacked)
    return "matrices of width one, two and five"


def _thirds(weight):
    query, key, value = weight.T.chunk(3)
    return query, key, value


@ladder(_thirds)
def THREE_OUT_OF_ONE(three_out_of_one):
    """width 1: the columns are query, key and value in this order, (1, 1) each"""
    yield three_out_of_one(torch.tensor([[1.0, 2.0, 3.0]]))

    """thirds that are symmetric: a third is d columns that stand side by side"""
    thirds = [torch.tensor([[t, t + 1], [t + 1, t + 2]]) for t in (1.0, 10.0, 20.0)]
    yield three_out_of_one(torch.cat(thirds, dim=1))

    """thirds that are not symmetric: nn.Linear multiplies from the other side, so each is
    turned over"""
    weight = torch.arange(12.0).view(2, 6)
    yield three_out_of_one(weight)

    """width 5"""
    weight = torch.arange(75.0).view(5, 15)
    yield three_out_of_one(weight)


THREE_OUT_OF_ONE.mistakes |= {
    "the order is key, query, value; the file has query, key, value": edited(
        _thirds, "query, key, value =", "key, query, value ="
    ),
    "the order is value, key, query; the file has query, key, value": edited(
        _thirds, "query, key, value =", "value, key, query ="
    ),
    "all three are the first third": edited(
        _thirds, "return query, key, value", "return query, query, query"
    ),
    "columns are dealt out in turn; a third is d columns that stand side by side": edited(
        _thirds, "weight.T.chunk(3)", "weight.T[0::3], weight.T[1::3], weight.T[2::3]"
    ),
    "the matrix was reshaped, not turned over: use .T, which exchanges rows and columns": edited(
        _thirds, "weight.T.chunk(3)", "weight.reshape(-1, len(weight)).chunk(3)"
    ),
    "the thirds are right, but still multiply from the other side: turn each of them over": edited(
        _thirds, "return query, key, value", "return query.T, key.T, value.T"
    ),
    "the rows are cut, in the order in which memory holds them; a third is d columns that stand "
    "side by side": edited(
        _thirds, "weight.T.chunk(3)", "weight.reshape(3, len(weight), len(weight)).mT"
    ),
    "each third is turned by 90 degrees: the rows of what .T gives are in reverse order": edited(
        _thirds, "return query, key, value", "return query.flip(0), key.flip(0), value.flip(0)"
    ),
}


@exercise
def to_neighbours(answer) -> str:
    """Check `to_neighbours(weight, num_heads)`: rows of a projection made for the other pairing.

    weight (H * d_k, d_model) belongs to a rotary embedding that pairs entry i of a head with
    i + d_k / 2. In the result they stand side by side, at 2i and 2i + 1.
    """
    climb(TO_NEIGHBOURS, answer)
    return "one, two and three heads, square matrices and others"


def _to_neighbours(weight, num_heads):
    result, d_k = torch.empty_like(weight), len(weight) // num_heads
    half, source = d_k // 2, weight
    for start in range(0, len(weight), d_k):
        result[start : start + d_k : 2] = source[start : start + half].clone()
        result[start + 1 : start + d_k : 2] = source[start + half : start + d_k].clone()
    return result


@ladder(_to_neighbours)
def TO_NEIGHBOURS(to_neighbours):
    """one head with d_k = 2: its two rows are neighbours already; num_heads is the number of
    heads, and a head has len(weight) / num_heads rows"""
    weight = torch.arange(4.0).view(2, 2)
    yield to_neighbours(weight, 1)

    """one head with d_k = 6: rows 0, 3, then 1, 4, then 2, 5 of the matrix as it was given"""
    weight = torch.arange(36.0).view(6, 6)
    yield to_neighbours(weight, 1)

    """two heads with d_k = 4: each has halves of its own"""
    weight = torch.arange(64.0).view(8, 8)
    yield to_neighbours(weight, 2)

    """three heads with d_k = 6, and five columns"""
    weight = torch.arange(90.0).view(18, 5)
    yield to_neighbours(weight, 3)


def _second_half_first(weight, num_heads):
    result, d_k = torch.empty_like(weight), len(weight) // num_heads
    half, source = d_k // 2, weight
    for start in range(0, len(weight), d_k):
        result[start : start + d_k : 2] = source[start + half : start + d_k].clone()
        result[start + 1 : start + d_k : 2] = source[start : start + half].clone()
    return result


def _to_halves(weight, num_heads):
    result, d_k = torch.empty_like(weight), len(weight) // num_heads
    half, source = d_k // 2, weight
    for start in range(0, len(weight), d_k):
        result[start : start + half] = source[start : start + d_k : 2].clone()
        result[start + half : start + d_k] = source[start + 1 : start + d_k : 2].clone()
    return result


TO_NEIGHBOURS.mistakes |= {
    "the two of each pair have changed places: the one "
    "from the first half comes first": _second_half_first,
    "this is the way back: it takes neighbours apart into halves": _to_halves,
    "the columns were exchanged; a head's entries are rows of the matrix": edited(
        _to_neighbours,
        "source = d_k // 2, weight",
        "source = d_k // 2, weight.T",
        "return result",
        "return result.T",
    ),
    "nothing has changed": edited(_to_neighbours, "return result", "return weight"),
    "rows are overwritten before they are read: write into a new matrix": edited(
        _to_neighbours,
        "half, source = d_k // 2, weight",
        "half, source = d_k // 2, result.copy_(weight)",
    ),
    "the whole matrix was taken for one head: each head has halves of its own": edited(
        _to_neighbours, "len(weight) // num_heads", "len(weight)"
    ),
}


@exercise
def count_llama(answer) -> str:
    """Check `count_llama(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff)`.

    The number of parameters, with an output matrix of its own.
    """
    climb(COUNT_LLAMA, answer)
    return "one block and more, shared key heads and own ones, Llama 7B and Llama 3 8B"


def _count_llama(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    tables, last_norm = 2 * vocab_size * d_model, d_model
    d_k = d_model // num_heads
    query_output, key_value = 2 * d_model * d_model, 2 * d_model * num_kv_heads * d_k
    feed_forward, norms = 3 * d_model * d_ff, 2 * d_model
    block = query_output + key_value + feed_forward + norms
    return tables + num_layers * block + last_norm


@ladder(_count_llama)
def COUNT_LLAMA(count_llama):
    """three blocks with own keys for every head: each of the three has attention, 4 d d,
    SwiGLU, 3 d d_ff, and two norms of d; beside them stand two tables of vocab_size x d and a
    last norm; positions have no parameters"""
    yield count_llama(11, 8, 3, 2, 2, 7)

    """shared key heads: keys and values are made by num_kv_heads heads, each d_model /
    num_heads wide"""
    yield count_llama(13, 48, 1, 8, 2, 17)

    """Llama 7B, and Llama 3 8B: a whole number"""
    yield count_llama(32000, 4096, 32, 32, 32, 11008), count_llama(128256, 4096, 32, 32, 8, 14336)


COUNT_LLAMA.mistakes |= {
    "the output matrix is missing: it is not tied to the token embedding here": edited(
        _count_llama, "2 * vocab_size", "vocab_size"
    ),
    "the norm after the last block is missing": edited(_count_llama, " + last_norm", ""),
    "the gate is missing: SwiGLU has three matrices": edited(
        _count_llama, "3 * d_model", "2 * d_model"
    ),
    "one matrix is missing: attention has four, for query, key, value and output": edited(
        _count_llama, "query_output, key_value = 2 *", "query_output, key_value = 1 *"
    ),
    "all norms are missing: each block has two, and one stands at the end": edited(
        _count_llama, " + norms", "", " + last_norm", ""
    ),
    "Llama's projections have no bias": edited(
        _count_llama,
        "block =",
        "biases = 2 * d_model + 2 * num_kv_heads * d_k + 2 * d_ff + d_model; block = biases +",
    ),
    "key and value heads are counted as if they were one entry wide; each is d_model "
    "/ H wide": edited(_count_llama, "num_kv_heads * d_k", "num_kv_heads"),
    "RMSNorm has a weight only, no bias: all norms are counted double": edited(
        _count_llama,
        "d_model * d_ff, 2 * d_model",
        "d_model * d_ff, 4 * d_model",
        "+ last_norm",
        "+ 2 * last_norm",
    ),
    "each block has two norms; one is counted": edited(
        _count_llama, "d_model * d_ff, 2 * d_model", "d_model * d_ff, d_model"
    ),
    "query, key, value and output are counted with biases; they have none": edited(
        _count_llama, "block =", "biases = 2 * d_model + 2 * num_kv_heads * d_k; block = biases +"
    ),
    "the output matrix is as narrow as that of the keys; it is as wide as the queries'": edited(
        _count_llama, "2 * d_model * d_model, 2 *", "d_model * d_model, 3 *"
    ),
}
