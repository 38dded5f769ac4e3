"""Checks for the exercises of book/running_a_language_model.ipynb."""

import torch

from companion.checks.exercise import Mistake, exercise, ladder
from companion.checks.rungs import rungs
from companion.models import GPT, GPTConfig
from companion.nn import KVCache


@exercise
def write(answer) -> str:
    """Check `write(model, prompt, new)` -> (B, new), the tokens that a greedy GPT writes.

    model is a `GPT`, called as `model(token_ids, caches=caches)`; prompt (B, T). Each position may
    be computed only once: the prompt's in one step, then a token at a time.
    """
    steps: list[int] = []

    def counted(model, prompt, new):
        steps.clear()
        hook = model.token_embedding.register_forward_pre_hook(
            lambda _, args: steps.append(args[0].shape[1])
        )
        with hook:
            return answer(model, prompt, new)

    with torch.no_grad():
        ladder(WRITE, _write, write=counted)
        ladder(WRITE[-1:], _write, write=counted)  # called again, it writes the same
    T, new = 5, 6  # of the last rung
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
    return "one token, several, and two prompts at once, each position computed once"


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


def _write(model, prompt, new):
    caches = [KVCache() for _ in model.blocks]
    read, written = prompt, []
    for _ in range(new):
        logits = model(read, caches=caches)
        token = logits[:, -1:].argmax(-1)
        written.append(token)
        read = token
    return torch.cat(written, dim=1)


WRITE = rungs(
    _write,
    """
one new token: it is the most probable one behind the prompt
    model, prompt = a_model(), torch.tensor([[9, 2, 6, 5, 3]])
    write(model, prompt, 1)
  - the last token of the prompt is read a second time before anything is written
    read, written = prompt, [] => read, written = prompt[:, -1:], []; model(prompt, caches=caches)
  - the logits of the first position are read; the next token is said at the last
    logits[:, -1:] => logits[:, :1]
  - the least probable token is chosen
    argmax => argmin
  - the prompt is in the result; return the new tokens only
    torch.cat(written, => torch.cat([prompt, *written],
  - there is one token too many
    range(new) => range(new + 1)
  - the token that the prompt itself leads to is missing
    range(new) => range(new + 1)
    torch.cat(written, => torch.cat(written[1:],
several tokens: a step reads the newest token, behind a cache that holds all before it
    model, prompt = a_model(), torch.tensor([[3, 1, 4]])
    write(model, prompt, 5)
  - the whole text goes in again at every step, behind a cache that already holds it
    read = token => read = torch.cat([prompt, *written], dim=1)
  - the last token of the prompt is read a second time, and stands in the cache twice
    read = token => read = torch.cat([prompt[:, -1:], *written], dim=1)[:, [len(written) - 1]]
  - no cache, or a new one in each step: the newest token is read alone, without the past
    model(read, caches=caches) => model(read)
  - the prompt is read again at every step, and what was written is not
    read = token => read = prompt
  - one token is missing: `new` of them are asked for
    range(new) => range(max(1, new - 1))
two prompts at once: each row goes on with its own token
    model, prompt = a_model(), torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    write(model, prompt, 6)
  - both rows go on with the token of the first
    argmax(-1) => argmax(-1)[:1].expand(len(prompt), 1)
""",
    before="from companion.checks.running_a_language_model import a_model\n",
)


@exercise
def quantise(answer) -> str:
    """Check `quantise(weight, bits, block)` -> the rounded weights, in the shape of weight.

    weight (rows, columns), columns a multiple of block: each run of `block` weights of a row has
    one scale, its largest absolute value over 2 ** (bits - 1) - 1. A block of zeros stays zero.
    """
    ladder(QUANTISE, _quantise, quantise=answer)
    return "2 to 8 bits, blocks of two to eight weights, one of zeros"


def _quantise(weight, bits, block):
    groups = weight.reshape(-1, block)
    largest = groups.abs().amax(1, keepdim=True).clamp_min(1e-12)
    scale = largest / (2 ** (bits - 1) - 1)
    rounded = (groups / scale).round() * scale
    return rounded.reshape(weight.shape)


QUANTISE = rungs(
    _quantise,
    """
one block in 3 bits, codes from -3 to 3, whose largest absolute value is 3: the scale is that over
2^(b-1) - 1 = 3, so 1; a weight is its code times the scale, nothing is shifted, and multiples of
the
scale stay what they are
    quantise(torch.tensor([[3.0, -1.0, 0.0, 2.0]]), 3, 4)
  - 2^b − 1 steps on either side need one bit more: half of the codes are negative
    2 ** (bits - 1) - 1 => 2**bits - 1
  - 2^(b−1) is one code too many on the positive side
    2 ** (bits - 1) - 1 => 2 ** (bits - 1)
  - the scale is the largest value itself; it is divided by the number of steps
    / (2 ** (bits - 1) - 1) =>
  - the scale runs from the smallest to the largest value; here it is symmetric around 0
    amax(1, keepdim=True) => amax(1, keepdim=True) * 0 + (groups.amax(1) - groups.amin(1))[:, None]
one block in 3 bits whose largest absolute value, 6, makes the scale 6 / 3 = 2: each weight becomes
the nearest multiple of it
    quantise(torch.tensor([[1.2, -2.8, 0.4, 6.0]]), 3, 4)
  - the codes are returned; multiply them by the scale again
    .round() * scale => .round()
  - the fraction is cut off; round to the nearest
    round() => trunc()
  - rounded down; round to the nearest
    round() => floor()
  - rounded up; round to the nearest
    round() => ceil()
  - nothing is rounded
    (groups / scale).round() * scale => groups
  - the weights are rounded to whole numbers, not to multiples of the scale
    (groups / scale).round() * scale => groups.round()
the largest absolute value may belong to a negative weight
    quantise(torch.tensor([[1.0, -7.0, 3.4, 2.0]]), 4, 4)
  - the largest value sets the scale; it is the largest absolute value
    groups.abs() => groups
a row of two blocks: each has a scale of its own
    quantise(torch.tensor([[1.2, -2.0, 0.4, 6.0]]), 3, 2)
  - one scale for the whole matrix, or for the whole row; every block has its own
    amax(1, keepdim=True) => max()
several rows: blocks are runs of a row
    weight = torch.tensor([[1.0, 0.3], [40.0, -13.0], [0.02, 0.011], [7.0, 2.2]])
    quantise(weight, 3, 2)
  - the blocks run down the columns; they are runs of a row
    weight.reshape(-1, block) => weight.T.reshape(-1, block)
    rounded.reshape(weight.shape) => rounded.reshape(weight.T.shape).T
2 bits and 8 bits: the scale is the largest absolute value over 2^(b-1) - 1, here 1 and 127
    weight = torch.randn(3, 8)
    quantise(weight, 2, 2), quantise(weight, 8, 8)
a block of zeros has a scale of zero: it should stay zero
    quantise(torch.tensor([[0.0, 0.0, 3.0, -1.4]]), 4, 2)
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
bytes from 0 to 15, a scale of 1 and a smallest value of 0: the codes themselves come back, the
first
sixteen are the low four bits, the others are 0; (N, 32), a row for each block
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
