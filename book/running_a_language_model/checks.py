"""Checks for the exercises of book/running_a_language_model.ipynb."""

import torch

from book.checking.exercise import Mistake, exercise, ladder
from book.checking.rungs import rungs
from companion.models import GPT, GPTConfig
from companion.nn import KVCache


@exercise
def write(answer) -> str:
    """Check `write(model, prompt, new, stop)` -> the list of tokens that a greedy GPT writes.

    model is a `GPT`, called as `model(token_ids, caches=caches)`; prompt (1, T); stop a list of one
    or more tokens. The text ends when its last tokens are those of stop, or after `new`. Each
    position may be computed only once: the prompt's in one step, then a token at a time.
    """
    steps: list[int] = []
    lengths: list[int] = []

    def counted(model, prompt, new, stop):
        steps.clear()
        hook = model.token_embedding.register_forward_pre_hook(
            lambda _, args: steps.append(args[0].shape[1])
        )
        with hook:
            written = answer(model, prompt, new, stop)
        lengths[:] = [prompt.shape[1], 0 if written is None else len(written)]
        return written

    with torch.no_grad():
        ladder(WRITE, _write, write=counted)
        ladder(WRITE[-1:], _write, write=counted)  # called again, it writes the same
    T, new = lengths
    example = f"{WRITE[-1].code}\npositions in each step: {steps}"
    if sum(steps) > T + new - 1:
        raise Mistake(
            f"the tokens are right, but {sum(steps)} positions were computed, where {T + new - 1} "
            "are enough: the prompt once, and each new token but the last",
            example,
        )
    if steps[0] != T:
        raise Mistake(
            "the tokens are right, but the prompt went in piece by piece; it is known, so one step "
            "can take all of it",
            example,
        )
    return "stops of one, two and three tokens, and none; each position computed once"


def a_model() -> GPT:
    """Two blocks with weights large enough that the next token depends on all that was read."""
    config = GPTConfig(
        vocab_size=17, d_model=16, num_layers=2, num_heads=2, d_ff=32, max_len=64,
        dropout=0.0, tie_weights=False,
    )  # fmt: skip
    model, generator = GPT(config).double().eval(), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.6, generator=generator)
    return model


def _write(model, prompt, new, stop):
    caches = [KVCache() for _ in model.blocks]
    read, written = prompt, []
    while len(written) < new and written[-len(stop) :] != stop:
        logits = model(read, caches=caches)
        read = logits[:, -1:].argmax(-1)
        written.append(read.item())
    return written


WRITE = rungs(
    _write,
    """
nothing ends the text: `new` tokens are written, and a step reads the newest one
    model, prompt = a_model(), torch.tensor([[3, 1, 4]])
    write(model, prompt, 6, [16])
  - the logits of the first position are read; the next token is said at the last
    logits[:, -1:] => logits[:, :1]
  - the prompt is in the result; return the new tokens only
    return written => return prompt[0].tolist() + written
  - there is one token too many
    len(written) < new => len(written) < new + 1
  - there is one token too few
    len(written) < new => len(written) < new - 1
  - `new` is taken for the length with the prompt; that many tokens are to be written
    len(written) < new => len(written) + prompt.shape[1] < new
  - the least probable token is written; the most probable one is asked for
    argmax => argmin
  - a token that was written already is not written again; greedily, the most probable one is
    logits[:, -1:].argmax(-1) => logits[:, -1:].index_fill(-1, SAID, -torch.inf).argmax(-1)
    SAID => torch.tensor(written).long()
  - the token that was written last is not written again at once; greedily, the most probable one is
    logits[:, -1:].argmax(-1) => logits[:, -1:].index_fill(-1, SAID, -torch.inf).argmax(-1)
    SAID => torch.tensor(written[-1:]).long()
  - the tokens stand in reverse order
    return written => return written[::-1]
  - a token is drawn; greedily, the most probable one is written
    logits[:, -1:].argmax(-1) => torch.multinomial(logits[0, -1:].softmax(-1), 1)
  - the end of the prompt is read twice: its keys and values are in the cache already
    read, written = prompt => model(prompt, caches=caches); read, written = prompt[:, -1:]
  - the whole text goes in again at every step, behind a cache that already holds it
    model(read, => model(torch.cat([prompt, torch.tensor([written]).long()], 1),
  - no cache, or a new one in each step: the newest token is read alone, without the past
    model(read, caches=caches) => model(read)
one token ends the text: it is the last one written
    model, prompt = a_model(), torch.tensor([[3, 1, 4]])
    write(model, prompt, 8, [6])
  - nothing stops it: `new` tokens are written whatever they say
     and written[-len(stop) :] != stop =>
  - the stop is missing; here it is a part of what was written
    return written => return written[: -len(stop)] if written[-len(stop) :] == stop else written
  - it stops one token too late
    written[-len(stop) :] != stop => written[-len(stop) - 1 : -1] != stop
the text holds 12, 1, and the stop is 2, 1: tokens are compared, not the text of their numbers
    model, prompt = a_model(), torch.tensor([[3, 1, 4]])
    write(model, prompt, 8, [2, 1])
  - the numbers are compared as text, in which 12, 1 ends with 2, 1; compare the tokens
    written[-len(stop) :] != stop => not str(written)[:-1].endswith(str(stop)[1:-1])
two tokens end it, both of them, in this order and side by side
    model, prompt = a_model(), torch.tensor([[3, 1, 4]])
    tuple(write(model, prompt, 8, stop) for stop in ([6, 12], [12, 1], [8, 6]))
  - it stops at any one of the tokens of `stop`; the text must end with all of them
    written[-len(stop) :] != stop => not (written and written[-1] in stop)
  - it stops at the last token of `stop`, whatever stands before it
    written[-len(stop) :] != stop => written[-1:] != stop[-1:]
  - it stops when the tokens of `stop` stand there in another order
    written[-len(stop) :] != stop => sorted(written[-len(stop) :]) != sorted(stop)
  - it stops at the first token of `stop`, whatever comes after it
    written[-len(stop) :] != stop => written[-1:] != stop[:1]
  - it stops when the tokens of `stop` have been written anywhere; they have to end the text
    written[-len(stop) :] != stop => not set(stop) <= set(written)
12, 12, 6 ends with 12, 6: where one beginning fails, another may begin
    model, prompt = a_model(), torch.tensor([[3, 1, 4]])
    write(model, prompt, 8, [12, 6])
  - it begins anew after a wrong token, though that token may be the first one of `stop`
    written = prompt, [] => written, met = prompt, [], 0
    written[-len(stop) :] != stop => met < len(stop)
    append(read.item()) => append(read.item()); met = met + 1 if written[-1] == stop[met] else 0
the prompt ends with 4 and the first token written is 5: what you gave it does not count
    model, prompt = a_model(), torch.tensor([[3, 1, 4]])
    write(model, prompt, 6, [4, 5])
  - the prompt is searched, too; only what was written may stop it
    written[-len(stop) :] != stop => (prompt[0].tolist() + written)[-len(stop) :] != stop
three tokens end it
    model, prompt = a_model(), torch.tensor([[6, 1, 6]])
    write(model, prompt, 9, [11, 1, 3])
""",
    before="from book.running_a_language_model.checks import a_model\n",
)


@exercise
def quantise(answer) -> str:
    """Check `quantise(weight, bits, block)` -> the rounded weights, in the shape of weight.

    weight (rows, columns), columns a multiple of block: each run of `block` weights of a row has a
    grid of its own, 2 ** bits values from its smallest to its largest weight.
    """
    ladder(QUANTISE, _quantise, quantise=answer)
    return "2 to 8 bits, blocks of two to four weights, one of equal ones"


def _quantise(weight, bits, block):
    groups = weight.reshape(-1, block)
    smallest = groups.amin(1, keepdim=True)
    step = (groups.amax(1, keepdim=True) - smallest) / (2**bits - 1)
    codes = ((groups - smallest) / step.clamp_min(1e-12)).round()
    rounded = smallest + step * codes
    return rounded.reshape(weight.shape)


QUANTISE = rungs(
    _quantise,
    """
one block from −1 to 13 in 3 bits: its step is 2, and what is on the grid stays what it is
    quantise(torch.tensor([[-1.0, 13.0, 3.0, 9.0]]), 3, 4)
  - the grid is symmetric about zero, as in the chapter; here it begins at the smallest weight
    smallest = => smallest = 0 *
    (groups.amax(1, keepdim=True) - smallest) => groups.abs().amax(1, keepdim=True)
    2**bits - 1 => 2 ** (bits - 1) - 1
  - a small number is added to every step against a division by zero; only a step of zero needs it
    / (2**bits - 1) => / (2**bits - 1) + 1e-3
  - the values lie in the middle of 2^b equal parts; the first one is the smallest weight, and the
  last one the largest
    (2**bits - 1) => 2**bits
    .round() => .floor().clamp(max=2**bits - 1)
    step * codes => step * (codes + 0.5)
  - no value is the largest weight: 2^b values from the smallest to the largest have 2^b − 1 steps
  between them
    (2**bits - 1) => 2**bits
    .round() => .round().clamp(max=2**bits - 1)
  - 2^b values have 2^b − 1 steps between them
    (2**bits - 1) => 2**bits
  - b bits make 2^b values, not 2 b
    2**bits => 2 * bits
  - the grid runs from a block's first weight to its last; from the smallest to the largest
    groups.amin(1, keepdim=True) => groups[:, :1]
    groups.amax(1, keepdim=True) => groups[:, -1:]
  - the codes begin at 0, so that no bit is needed for a sign
    (2**bits - 1) => (2 ** (bits - 1) - 1)
weights between the values of the grid: each becomes the nearest one
    quantise(torch.tensor([[0.0, 14.0, 3.2, 8.9]]), 3, 4)
  - the codes are returned; multiply them by the step again
    smallest + step * codes => codes
  - the fraction is cut off; round to the nearest
    round() => floor()
  - rounded up; round to the nearest
    round() => ceil()
  - nothing is rounded
    .round() =>
a block from 10 to 17: the grid begins at 10
    quantise(torch.tensor([[10.0, 17.0, 12.2, 14.9]]), 3, 4)
  - the smallest weight is not added again
    smallest + step * codes => step * codes
  - the smallest weight is added, and was not taken off before rounding
    groups - smallest => groups
  - the grid begins at zero; it begins at the smallest weight
    groups.amin(1, keepdim=True) => groups.amin(1, keepdim=True) * 0
  - the grid begins at the mean of the block; it begins at the smallest weight
    groups.amin(1, keepdim=True) => groups.mean(1, keepdim=True)
negative weights: the grid still runs from the smallest to the largest
    quantise(torch.tensor([[-6.0, 4.5, -1.2, 0.4]]), 3, 4)
  - the grid ends at the largest absolute value; it ends at the largest weight
    groups.amax => groups.abs().amax
a row of two blocks: each has a grid of its own
    quantise(torch.tensor([[1.2, -2.0, 0.4, 6.0, 0.3, 0.2, 0.9, 1.0]]), 2, 4)
  - one grid for the whole matrix, or for the whole row; every block has its own
    amin(1, keepdim=True) => min()
    amax(1, keepdim=True) => max()
  - all blocks begin at the smallest weight of the whole matrix; each has its own
    amin(1, keepdim=True) => min()
  - all blocks end at the largest weight of the whole matrix; each has its own
    amax(1, keepdim=True) => max()
  - the step is rounded to 16 bits; here it stays what it is
    / (2**bits - 1) => / (2**bits - 1); step = step.half().float()
  - step and smallest value are rounded to 16 bits; here they stay what they are
    / (2**bits - 1) => / (2**bits - 1); step, smallest = step.half(), smallest.half()
    rounded = => rounded = 1.0 *
  - the step is rounded; only the codes are whole numbers
    / (2**bits - 1) => / (2**bits - 1); step = step.round()
  - a block takes every so many weights of a row; it is a run of neighbours
    weight.reshape(-1, block) => weight.unflatten(-1, (block, -1)).mT.reshape(-1, block)
    rounded.reshape(weight.shape) => rounded.reshape(len(weight), -1, block).mT.flatten(1)
several rows: blocks are runs of a row
    weight = torch.tensor([[1.0, 0.3, 0.5], [40.0, -13.0, 8.0], [0.02, 0.011, 0.3]])
    quantise(weight, 2, 3)
  - the blocks run down the columns; they are runs of a row
    weight.reshape(-1, block) => weight.T.reshape(-1, block)
    rounded.reshape(weight.shape) => rounded.reshape(weight.T.shape).T
2 bits and 8 bits
    weight = torch.randn(3, 8)
    quantise(weight, 2, 4), quantise(weight, 8, 4)
a block of equal weights has a step of zero: it keeps its value
    quantise(torch.tensor([[2.5, 2.5, 3.0, -1.4]]), 4, 2)
  - a block of equal weights becomes zero; it keeps its value
    step.clamp_min(1e-12)).round() => step).round()
    return rounded => return rounded.nan_to_num(0.0)
""",
)


@exercise
def unpack(answer) -> str:
    """Check `unpack(packed, scale, smallest)` -> (blocks, 32) weights of a file in 4 bits.

    packed (blocks, 16) of torch.uint8: byte j has weight j in its low four bits and weight j + 16
    in its high four. scale and smallest are (blocks,); weight = smallest + scale * code.
    """
    ladder(UNPACK, _unpack, unpack=answer)
    return "low halves, high halves, three blocks with scales of their own, and 32 of them"


def _unpack(packed, scale, smallest):
    low, high = packed & 15, packed >> 4
    codes = torch.cat([low, high], dim=1).float()
    scale, smallest = scale[:, None], smallest[:, None]
    return smallest + scale * codes


UNPACK = rungs(
    _unpack,
    """
bytes from 0 to 15: the first sixteen weights are their low four bits, the others are 0
    packed = torch.arange(16, dtype=torch.uint8)[None]
    unpack(packed, torch.tensor([1.0]), torch.tensor([0.0]))
  - the two weights of a byte are put side by side; the second one stands 16 places on
    torch.cat([low, high], dim=1) => torch.stack([low, high], dim=2).flatten(1)
  - low and high halves have changed places
    [low, high] => [high, low]
  - 8 is taken off the codes; here they start at 0, at the smallest value
    .float() => .float() - 8
  - the blocks stand below each other: the result is (N, 32)
    dim=1).float() => dim=0).float()
  - `& 16` keeps the fifth bit alone; the low four bits are those of 15
    packed & 15 => packed & 16
  - `& 7` keeps three bits; the low four bits are those of 15
    packed & 15 => packed & 7
  - the low four bits come twice
    packed >> 4 => packed & 15
  - the byte is divided by 16 and rounded to the nearest; the high bits are what is left without the
  low ones
    packed >> 4 => (packed.float() / 16).round()
  - the rows are cut into runs of 8, which take turns: low, high, low, high; the first sixteen
  weights are the low halves
    dim=1).float() => dim=1).unflatten(1, (2, 2, 8)).transpose(1, 2).flatten(1).float()
  - the weights of a row are in reverse order
    dim=1).float() => dim=1).flip(1).float()
  - the high bits are moved down by 3 places; by 4
    packed >> 4 => packed >> 3
  - the high bits are moved up; `>>` moves them down
    packed >> 4 => packed << 4
bytes from 16 on: their high four bits, moved down, are the weights from the sixteenth on
    packed = (16 * torch.arange(16)).to(torch.uint8)[None]
    unpack(packed, torch.tensor([1.0]), torch.tensor([0.0]))
  - the high four bits are not moved down: their codes are sixteen times too large
    packed >> 4 => packed & 240
  - the low half still holds the high bits, too; mask them out
    packed & 15 => packed
  - high codes above 7 come out negative: the bytes have no sign
    packed >> 4 => packed.view(torch.int8) >> 4
a scale and a smallest value
    packed = torch.arange(16, dtype=torch.uint8)[None]
    unpack(packed, torch.tensor([0.5]), torch.tensor([-1.0]))
  - the smallest value is not added
    smallest + scale * codes => scale * codes
  - the scale multiplies the smallest value, too; it is a weight already
    smallest + scale * codes => scale * (codes + smallest)
  - the smallest value is taken off; it is added
    smallest + scale * codes => scale * codes - smallest
  - the scale divides the codes; it multiplies them
    scale * codes => codes / scale
  - the codes are not multiplied by the scale
    scale * codes => codes
  - the codes are multiplied as whole numbers of eight bits; make them floats first
    scale * codes => (scale.to(torch.uint8) * codes.to(torch.uint8))
  - the scale is taken for the largest weight; a step of the code is one scale
    scale * codes => (scale - smallest) * codes / 15
  - the codes are divided by 15; a step of the code is one scale
    scale * codes => scale * codes / 15
  - scale and smallest value have changed places
    smallest + scale * codes => scale + smallest * codes
three blocks: each has its own scale and smallest value
    packed = torch.randint(0, 256, (3, 16), dtype=torch.uint8)
    unpack(packed, torch.tensor([0.5, 2.0, 0.1]), torch.tensor([-1.0, 3.0, 0.25]))
  - the first block's scale and smallest value are used for all of them
    scale[:, None], smallest[:, None] => scale[:1, None], smallest[:1, None]
as many blocks as a block has weights: a scale belongs to a row, not to a column
    packed = torch.randint(0, 256, (32, 16), dtype=torch.uint8)
    scale, smallest = torch.rand(32), torch.randn(32)
    unpack(packed, scale, smallest)
""",
)
