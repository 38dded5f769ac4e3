"""Checks for the exercises of book/pretrained_models.ipynb."""

import json

import torch

from book.checking.exercise import exercise, ladder
from book.checking.rungs import rungs


@exercise
def place(answer) -> str:
    """Check `place(data, name)`: first byte of a tensor in a safetensors file, and the byte after.

    Both count from the beginning of the file.
    """
    ladder(PLACE, _place, place=answer)
    return "one and two tensors, with and without metadata, two types of number, a long header"


def _place(data, name):
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    start, (first, last) = 8 + length, header[name]["data_offsets"]
    return start + first, start + last


PLACE = rungs(
    _place,
    """
a tensor without numbers, so that the file ends with its header: eight bytes hold the length of the
header, lowest byte first
    data = save({"x": torch.zeros(0)})
    place(data, "x")
  - the header is taken to end with its last brace; spaces may follow, and its length counts them
    start, (first, last) = 8 + length, => start, (first, last) = 8 + END,
    END => len(data[8 : 8 + length].rstrip())
  - the length is read highest byte first; its lowest byte comes first
    "little" => "big"
a single tensor: eight bytes hold the length of the header, lowest byte first; the numbers begin
behind both; two places are asked for, of the first byte and of the byte after the last
    data = save({"x": torch.tensor([1.0])})
    place(data, "x")
  - the offsets are returned as they stand in the header: they count from its end, so add the header
  and the eight bytes before it
    start, ( => start = 0; (
    = 8 + length, header => = header
  - the eight bytes that hold the length are missing: the numbers begin at 8 + length
    start, (first, last) = 8 + length => start, (first, last) = length
  - the header's length is missing: the numbers begin at 8 + length
    start, (first, last) = 8 + length => start, (first, last) = 8
  - the eight bytes are counted twice: the numbers begin at 8 + length
    start, (first, last) = 8 + length => start, (first, last) = 16 + length
  - the second number is an offset, or a length; it counts from the beginning of the file, too
    start + last => last
  - only the second number counts from the beginning of the file; the first has to, too
    start + first => first
  - the second number is the tensor's last byte; the one after it is asked for
    start + last => start + last - 1
  - everything is one byte too far: the first byte of the file has number 0
    start + first, start + last => start + first + 1, start + last + 1
two tensors: the second begins where the first ends, whatever their names
    data = save({"b": torch.tensor([1.0, 2.0]), "a": torch.tensor([[3.0], [4.0], [5.0]])})
    place(data, "a"), place(data, "b")
  - the second offset is taken for a length, and added to the first: both are places
    start + last => start + first + last
  - the start is rounded up to a multiple of 64; the numbers begin right behind the header
    start, (first, last) = 8 + length, => start, (first, last) = -(-(8 + length) // 64) * 64,
  - offsets are taken for numbers of four bytes each; they count bytes
    start + first, start + last => start + 4 * first, start + 4 * last
  - it is always the last tensor of the header that is found; `name` says which one
    header[name] => [*header.values()][-1]
  - it begins where the tensor ends
    start + first, => start + last,
  - the second number is the length of the tensor; the byte after its last one is asked for
    start + last => last - first if first else start + last
  - it is always the first tensor of the header that is found; `name` says which one
    header[name] => next(iter(header.values()))
  - the tensor's own offset is left out: it begins `data_offsets[0]` bytes behind the header
    start + first, => start,
numbers of two bytes, and metadata in the header
    data = save({"one": torch.ones(3).half(), "two": torch.ones(5, 2)}, {"format": "pt"})
    place(data, "one"), place(data, "two")
  - the end is counted from the shape, with four bytes for each number; a number may have two, and
  the second offset says where the tensor ends
    start + last => start + first + 4 * torch.Size(header[name]["shape"]).numel()
  - the end is counted from the shape, a byte for each number; the second offset says where it ends
    start + last => start + first + torch.Size(header[name]["shape"]).numel()
the header may name tensors in any order: where one lies, only its own offsets say
    b, a = '"b":{"dtype":"F32","data_offsets":[8,12]}', '"a":{"dtype":"F32","data_offsets":[0,8]}'
    header = ("{" + b + "," + a + "}").encode()
    data = len(header).to_bytes(8, "little") + header + bytes(12)
    place(data, "a"), place(data, "b")
  - the start is rounded up to a multiple of 8; the numbers begin right behind the header
    start, (first, last) = 8 + length, => start, (first, last) = -(-(8 + length) // 8) * 8,
a name with a letter of two bytes: the length of the header is one of bytes, not of letters
    data = save({"ä": torch.tensor([1.0, 2.0])})
    place(data, "ä")
  - letters are counted where the header has bytes: 8 + length is right as it stands
    start, (first, last) = 8 + length, => start, (first, last) = 8 + LETTERS,
    LETTERS => len(data[8 : 8 + length].decode())
a header of more than 255 bytes: all eight bytes hold its length
    data = save({"x": torch.tensor([1.0, 2.0])}, {"note": "x" * 300})
    place(data, "x")
a header of more than 65,535 bytes: all eight bytes hold its length
    data = save({"x": torch.tensor([1.0, 2.0])}, {"note": "x" * 70000})
    place(data, "x")
""",
    before="from safetensors.torch import save\n",
)


@exercise
def three_out_of_one(answer) -> str:
    """Check `three_out_of_one(weight)`: GPT-2's fused (d, 3 d) -> three matrices of nn.Linear.

    In the order query, key, value, each (d, d), as nn.Linear has them: (out, in).
    """

    def unpacked(weight):
        result = answer(weight)
        return tuple(result) if torch.is_tensor(result) and result.dim() == 3 else result

    ladder(THREE_OUT_OF_ONE, _thirds, three_out_of_one=unpacked)
    return "matrices of width one, two and five"


def _thirds(weight):
    query, key, value = weight.T.chunk(3)
    return query, key, value


THREE_OUT_OF_ONE = rungs(
    _thirds,
    """
width 1: the columns are query, key and value in this order, (1, 1) each
    three_out_of_one(torch.tensor([[1.0, 2.0, 3.0]]))
  - the order is key, query, value; the file has query, key, value
    query, key, value = => key, query, value =
  - the order is value, key, query; the file has query, key, value
    query, key, value = => value, key, query =
  - the order is query, value, key; the file has query, key, value
    query, key, value = => query, value, key =
  - three blocks of rows were cut; the thirds are columns: dim=1
    query, key, value = weight.T.chunk(3) => return weight.chunk(3)
  - all three are the first third
    return query, key, value => return query, query, query
  - all three are the last third
    return query, key, value => return value, value, value
thirds that are symmetric: a third is d columns that stand side by side
    thirds = [torch.tensor([[t, t + 1], [t + 1, t + 2]]) for t in (1.0, 10.0, 20.0)]
    three_out_of_one(torch.cat(thirds, dim=1))
  - columns are dealt out in turn; a third is d columns that stand side by side
    weight.T.chunk(3) => weight.T[0::3], weight.T[1::3], weight.T[2::3]
  - the matrix was reshaped, not turned over: use .T, which exchanges rows and columns
    weight.T.chunk(3) => weight.reshape(-1, len(weight)).chunk(3)
  - rows were cut where the thirds are columns
    weight.T.chunk(3) => weight.reshape(3, -1, len(weight)).mT
thirds that are not symmetric: nn.Linear multiplies from the other side, so each is turned over
    weight = torch.arange(12.0).view(2, 6)
    three_out_of_one(weight)
  - the thirds are right, but still multiply from the other side: turn each of them over
    return query, key, value => return query.T, key.T, value.T
  - only the query is turned over; all three multiply from the other side
    return query, key, value => return query, key.T, value.T
  - only the key is turned over; all three multiply from the other side
    return query, key, value => return query.T, key, value.T
  - the query is not turned over; all three multiply from the other side
    return query, key, value => return query.T, key, value
  - the key is not turned over; all three multiply from the other side
    return query, key, value => return query, key.T, value
  - only the value is turned over; all three multiply from the other side
    return query, key, value => return query.T, key.T, value
  - rows or columns were put in reverse order (flip); .T exchanges rows and columns
    return query, key, value => return query.T.flip(0), key.T.flip(0), value.T.flip(0)
  - the value is not turned over; all three multiply from the other side
    return query, key, value => return query, key, value.T
width 5
    weight = torch.arange(75.0).view(5, 15)
    three_out_of_one(weight)
""",
)


@exercise
def to_neighbours(answer) -> str:
    """Check `to_neighbours(weight, num_heads)`: rows of a projection made for the other pairing.

    weight (H * d_k, d_model) belongs to a rotary embedding that pairs entry i of a head with
    i + d_k / 2. In the result they stand side by side, at 2i and 2i + 1.
    """
    ladder(TO_NEIGHBOURS, _to_neighbours, to_neighbours=answer)
    return "one, two and three heads, square matrices and others"


def _to_neighbours(weight, num_heads):
    result, d_k = torch.empty_like(weight), len(weight) // num_heads
    half, source = d_k // 2, weight
    for start in range(0, len(weight), d_k):
        result[start : start + d_k : 2] = source[start : start + half].clone()
        result[start + 1 : start + d_k : 2] = source[start + half : start + d_k].clone()
    return result


TO_NEIGHBOURS = rungs(
    _to_neighbours,
    """
one head with d_k = 2: its two rows are neighbours already; num_heads is the number of heads, and a
head has len(weight) / num_heads rows
    weight = torch.arange(4.0).view(2, 2)
    to_neighbours(weight, 1)
  - the two of each pair have changed places: the one from the first half comes first
    source[start : start + half] => FIRST
    source[start + half : start + d_k] => source[start : start + half]
    FIRST => source[start + half : start + d_k]
  - the halves of a head have changed places; their rows should take turns
    result[start : start + d_k : 2] => result[start + half : start + d_k]
    result[start + 1 : start + d_k : 2] => result[start : start + half]
one head with d_k = 6: rows 0, 3, then 1, 4, then 2, 5 of the matrix as it was given
    weight = torch.arange(36.0).view(6, 6)
    to_neighbours(weight, 1)
  - this is the way back: it takes neighbours apart into halves
    result[start : start + d_k : 2] => result[start : start + half]
    source[start : start + half] => source[start : start + d_k : 2]
    result[start + 1 : start + d_k : 2] => result[start + half : start + d_k]
    source[start + half : start + d_k] => source[start + 1 : start + d_k : 2]
  - the columns were exchanged; a head's entries are rows of the matrix
    source = d_k // 2, weight => source = d_k // 2, weight.T
    return result => return result.T
  - nothing has changed
    return result => return weight
  - heads and halves were exchanged; a head stays where it is, and its rows take turns
    return result => exchanged = weight.unflatten(0, (num_heads, 2, half)).transpose(0, 1)
    half)).transpose(0, 1) => half)).transpose(0, 1); return exchanged.flatten(0, 2)
  - rows are paired with their mirror image: entry i belongs to i + d_k / 2, not to d_k - 1 - i
    source[start + half : start + d_k].clone() => source[start + half : start + d_k].flip(0)
  - it was done twice: every row moves once
    return result => return result if source is not weight else _to_neighbours(result, num_heads)
  - rows are overwritten before they are read: write into a new matrix
    half, source = d_k // 2, weight => half, source = d_k // 2, result.copy_(weight)
two heads with d_k = 4: each has halves of its own
    weight = torch.arange(64.0).view(8, 8)
    to_neighbours(weight, 2)
  - the whole matrix was taken for one head: each head has halves of its own
    len(weight) // num_heads => len(weight)
  - rows were dealt out to the heads in turn; a head's rows stand together
    return result => return torch.cat([_to_neighbours(weight[h::num_heads], 1) for h in HEADS])
    HEADS => range(num_heads)
  - only the first head is changed
    return result => return torch.cat([result[:d_k], weight[d_k:]])
three heads with d_k = 6, and five columns
    weight = torch.arange(90.0).view(18, 5)
    to_neighbours(weight, 3)
""",
)


@exercise
def count_llama(answer) -> str:
    """Check `count_llama(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff)`.

    The number of parameters, with an output matrix of its own.
    """
    ladder(COUNT_LLAMA, _count_llama, count_llama=answer)
    return "one block and more, shared key heads and own ones, Llama 7B and Llama 3 8B"


def _count_llama(vocab_size, d_model, num_layers, num_heads, num_kv_heads, d_ff):
    tables, last_norm = 2 * vocab_size * d_model, d_model
    d_k = d_model // num_heads
    query_output, key_value = 2 * d_model * d_model, 2 * d_model * num_kv_heads * d_k
    feed_forward, norms = 3 * d_model * d_ff, 2 * d_model
    block = query_output + key_value + feed_forward + norms
    return tables + num_layers * block + last_norm


COUNT_LLAMA = rungs(
    _count_llama,
    """
three blocks with own keys for every head: each of the three has attention, 4 d d, SwiGLU,
3 d d_ff, and two norms of d; beside them stand two tables of vocab_size x d and a last norm;
positions have no parameters
    count_llama(11, 8, 3, 2, 2, 7)
  - the output matrix is missing: it is not tied to the token embedding here
    2 * vocab_size => vocab_size
  - the norm after the last block is missing
     + last_norm =>
  - the last norm has a bias here; RMSNorm has a weight only
     + last_norm => + 2 * last_norm
  - the tables are missing: token embedding and output matrix
    return tables + => return
  - the output matrix has a bias here; there are no biases
    return tables => return vocab_size + tables
  - the gate is missing: SwiGLU has three matrices
    3 * d_model => 2 * d_model
  - the norms of the block are missing: each block has two
     + norms =>
  - a block has two norms; one is counted
    norms = 3 * d_model * d_ff, 2 * d_model => norms = 3 * d_model * d_ff, d_model
  - a norm is counted twice over: RMSNorm has a weight only, no bias
    norms = 3 * d_model * d_ff, 2 * d_model => norms = 3 * d_model * d_ff, 4 * d_model
  - one matrix is missing: attention has four, for query, key, value and output
    query_output, key_value = 2 * => query_output, key_value = 1 *
  - the last norm is counted in every block; it stands once, at the end
    block + last_norm => block + num_layers * last_norm
  - all norms are missing: each block has two, and one stands at the end
     + norms =>
     + last_norm =>
  - keys and values are missing: attention has four matrices
    query_output + key_value => query_output
  - the attention is missing
    query_output + key_value + =>
  - the feed-forward layer is missing
     + feed_forward =>
  - Llama's projections have no bias
    block = => biases = 2 * d_model + 2 * num_kv_heads * d_k + 2 * d_ff + d_model; block = biases +
  - attention's projections have no bias
    block = => block = 2 * d_model + 2 * num_kv_heads * d_k +
  - the feed-forward layer's matrices have no bias
    block = => block = 2 * d_ff + d_model +
  - key and value heads are counted as if they were one entry wide; each is d_model / H wide
    num_kv_heads * d_k => num_kv_heads
  - each head has matrices of the full width; a head is d_model / H wide
    = 2 * d_model * d_model => = 2 * num_heads * d_model * d_model
    num_kv_heads * d_k => num_kv_heads * d_model
  - a key or value head is counted as d_model wide; it is d_model / H wide
    d_k = d_model // num_heads => d_k = d_model
  - the norms of one block only are counted; every block has two
     + norms =>
    + last_norm => + norms + last_norm
  - only one block was counted
    num_layers * block => block
  - RMSNorm has a weight only, no bias: all norms are counted double
    d_model * d_ff, 2 * d_model => d_model * d_ff, 4 * d_model
    + last_norm => + 2 * last_norm
shared key heads: keys and values are made by num_kv_heads heads, each d_model / num_heads wide
    count_llama(13, 48, 1, 8, 2, 17)
  - every query head got a key head and a value head of its own; there are num_kv_heads
    num_kv_heads * d_k => num_heads * d_k
  - the rotary speeds are counted, half a head in each block; they are computed, not learned
    block = => block = d_k // 2 +
  - each block has norms of a head's width for queries and keys; Llama has none
    block = => block = 2 * d_k +
  - all heads share the keys and values of a single one; there are num_kv_heads
    num_kv_heads * d_k => d_k
  - all four matrices are made narrower; queries and output stay d_model wide
    = 2 * d_model * d_model, => = 2 * d_model * num_kv_heads * d_k,
  - one of the two wide matrices is made narrower; queries and output stay d_model wide
    = 2 * d_model * d_model, 2 => = d_model * d_model, 3
  - keys or values alone are shared; both are made by num_kv_heads heads
    2 * d_model * num_kv_heads * d_k => d_model * num_kv_heads * d_k + d_model * d_model
Llama 7B, and Llama 3 8B: a whole number
    count_llama(32000, 4096, 32, 32, 32, 11008), count_llama(128256, 4096, 32, 32, 8, 14336)
one block, and an int, not a float: // instead of /
    isinstance(count_llama(11, 8, 1, 2, 2, 7), (int, np.integer))
""",
)
