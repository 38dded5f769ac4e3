"""Checks for the exercises of book/running_a_language_model.ipynb."""

from dataclasses import replace

import torch

from book.checking.exercise import Mistake, climb, exercise
from book.checking.rungs import edited, ladder
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
        climb(WRITE, counted)
        climb(replace(WRITE, rungs=WRITE.rungs[-1:]), counted)  # again, it writes the same
    T, new = lengths
    example = f"{WRITE.rungs[-1].code}\npositions in each step: {steps}"
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


@ladder(_write)
def WRITE(write):
    model, prompt = a_model(), torch.tensor([[3, 1, 4]])

    """nothing ends the text: `new` tokens are written, and a step reads the newest one"""
    yield write(model, prompt, 6, [16])

    """one token ends the text: it is the last one written"""
    yield write(model, prompt, 8, [6])

    """the first token written may end the text already"""
    yield write(model, prompt, 8, [5])

    """the text holds 12, 1, and the stop is 2, 1: its last token alone ends nothing, nor does the
    text of the numbers"""
    yield write(model, prompt, 8, [2, 1])

    """two tokens end it, both of them, in this order and side by side"""
    yield tuple(write(model, prompt, 8, stop) for stop in ([6, 12], [12, 1], [8, 6]))

    """12, 12, 6 ends with 12, 6: where one beginning fails, another may begin"""
    yield write(model, prompt, 8, [12, 6])

    """1, 1, 1, 8 ends with 1, 1, 8: where a beginning fails at its third token, another has two"""
    yield write(model, torch.tensor([[0, 0, 14]]), 9, [1, 1, 8])

    """the prompt ends with 4 and the first token written is 5: what you gave it does not
    count"""
    yield write(model, prompt, 6, [4, 5])

    """three tokens end it"""
    yield write(model, torch.tensor([[6, 1, 6]]), 9, [11, 1, 3])


def _begins_anew_after_wrong_token_though_tha(model, prompt, new, stop):
    caches = [KVCache() for _ in model.blocks]
    read, written, met = prompt, [], 0
    while len(written) < new and met < len(stop):
        logits = model(read, caches=caches)
        read = logits[:, -1:].argmax(-1)
        written.append(read.item())
        met = met + 1 if written[-1] == stop[met] else 0
    return written


WRITE.mistakes |= {
    "the logits of the first position are read; the next token is said at the last": edited(
        _write, "logits[:, -1:]", "logits[:, :1]"
    ),
    "the prompt is in the result; return the new tokens only": edited(
        _write, "return written", "return prompt[0].tolist() + written"
    ),
    "there is one token too many": edited(_write, "len(written) < new", "len(written) < new + 1"),
    "the whole text goes in again at every step, behind a cache that already holds it": edited(
        _write, "model(read,", "model(torch.cat([prompt, torch.tensor([written]).long()], 1),"
    ),
    "no cache, or a new one in each step: the newest token is read alone, without the past": edited(
        _write, "model(read, caches=caches)", "model(read)"
    ),
    "nothing stops it: `new` tokens are written whatever they say": edited(
        _write, " and written[-len(stop) :] != stop", ""
    ),
    "the stop is missing; here it is a part of what was written": edited(
        _write,
        "return written",
        "return written[: -len(stop)] if written[-len(stop) :] == stop else written",
    ),
    "it stops one token too late": edited(
        _write, "written[-len(stop) :] != stop", "written[-len(stop) - 1 : -1] != stop"
    ),
    "the numbers are compared as text, in which 12, 1 ends with 2, 1; compare the tokens": edited(
        _write, "written[-len(stop) :] != stop", "not str(written)[:-1].endswith(str(stop)[1:-1])"
    ),
    "it stops at any one of the tokens of `stop`; the text must end with all of them": edited(
        _write, "written[-len(stop) :] != stop", "not (written and written[-1] in stop)"
    ),
    "it begins anew after a wrong token, though that "
    "token may be the first one of `stop`": _begins_anew_after_wrong_token_though_tha,
    "the prompt is searched, too; only what was written may stop it": edited(
        _write,
        "written[-len(stop) :] != stop",
        "(prompt[0].tolist() + written)[-len(stop) :] != stop",
    ),
    "only the first tokens written are compared with `stop`; the text may end later": edited(
        _write, "written[-len(stop) :] != stop", "written[: len(stop)] != stop"
    ),
}


@exercise
def quantise(answer) -> str:
    """Check `quantise(weight, bits, block)` -> the rounded weights, in the shape of weight.

    weight (rows, columns), columns a multiple of block: each run of `block` weights of a row has a
    grid of its own, 2 ** bits values from its smallest to its largest weight.
    """
    climb(QUANTISE, answer)
    return "2 to 8 bits, blocks of two to four weights, one of equal ones"


def _quantise(weight, bits, block):
    groups = weight.reshape(-1, block)
    smallest = groups.amin(1, keepdim=True)
    step = (groups.amax(1, keepdim=True) - smallest) / (2**bits - 1)
    codes = ((groups - smallest) / step.clamp_min(1e-12)).round()
    rounded = smallest + step * codes
    return rounded.reshape(weight.shape)


@ladder(_quantise)
def QUANTISE(quantise):
    """one block from −1 to 13 in 3 bits: its step is 2, and what is on the grid stays what it
    is"""
    yield quantise(torch.tensor([[-1.0, 13.0, 3.0, 9.0]]), 3, 4)

    """weights between the values of the grid: each becomes the nearest one"""
    yield quantise(torch.tensor([[0.0, 14.0, 3.2, 8.9]]), 3, 4)

    """a block from 10 to 17: the grid begins at 10"""
    yield quantise(torch.tensor([[10.0, 17.0, 12.2, 14.9]]), 3, 4)

    """negative weights: the grid still runs from the smallest to the largest"""
    yield quantise(torch.tensor([[-6.0, 4.5, -1.2, 0.4]]), 3, 4)

    """a row of two blocks: each has a grid of its own"""
    yield quantise(torch.tensor([[1.2, -2.0, 0.4, 6.0, 0.3, 0.2, 0.9, 1.0]]), 2, 4)

    """several rows: blocks are runs of a row"""
    weight = torch.tensor([[1.0, 0.3, 0.5], [40.0, -13.0, 8.0], [0.02, 0.011, 0.3]])
    yield quantise(weight, 2, 3)

    """2 bits and 8 bits"""
    weight = torch.randn(3, 8)
    yield quantise(weight, 2, 4), quantise(weight, 8, 4)

    """a block of equal weights has a step of zero: it keeps its value"""
    yield quantise(torch.tensor([[2.5, 2.5, 3.0, -1.4]]), 4, 2)


def _symmetric(weight, bits, block):
    groups = weight.reshape(-1, block)
    smallest = 0 * groups.amin(1, keepdim=True)
    step = groups.abs().amax(1, keepdim=True) / (2 ** (bits - 1) - 1)
    codes = ((groups - smallest) / step.clamp_min(1e-12)).round()
    rounded = smallest + step * codes
    return rounded.reshape(weight.shape)


QUANTISE.mistakes |= {
    "the grid is symmetric about zero, as in the "
    "chapter; here it begins at the smallest weight": _symmetric,
    "2^b values have 2^b − 1 steps between them": edited(_quantise, "(2**bits - 1)", "2**bits"),
    "the codes begin at 0, so that no bit is needed for a sign": edited(
        _quantise, "(2**bits - 1)", "(2 ** (bits - 1) - 1)"
    ),
    "the codes are returned; multiply them by the step again": edited(
        _quantise, "smallest + step * codes", "codes"
    ),
    "the fraction is cut off; round to the nearest": edited(_quantise, "round()", "floor()"),
    "the smallest weight is added, and was not taken off before rounding": edited(
        _quantise, "groups - smallest", "groups"
    ),
    "the grid begins at zero; it begins at the smallest weight": edited(
        _quantise, "groups.amin(1, keepdim=True)", "groups.amin(1, keepdim=True) * 0"
    ),
    "the grid ends at the largest absolute value; it ends at the largest weight": edited(
        _quantise, "groups.amax", "groups.abs().amax"
    ),
    "one grid for the whole matrix, or for the whole row; every block has its own": edited(
        _quantise, "amin(1, keepdim=True)", "min()", "amax(1, keepdim=True)", "max()"
    ),
    "a block of equal weights becomes zero; it keeps its value": edited(
        _quantise,
        "step.clamp_min(1e-12)).round()",
        "step).round()",
        "return rounded",
        "return rounded.nan_to_num(0.0)",
    ),
    "the smallest weight is taken off, and not added again": edited(
        _quantise, "smallest + step * codes", "step * codes"
    ),
    "the smallest weight is added, and was not taken off before; a step of 0 became 1": edited(
        _quantise, "groups - smallest", "groups", "codes = ", "step = step + (step == 0); codes = "
    ),
}


@exercise
def unpack(answer) -> str:
    """Check `unpack(packed, scale, smallest)` -> (blocks, 32) weights of a file in 4 bits.

    packed (blocks, 16) of torch.uint8: byte j has weight j in its low four bits and weight j + 16
    in its high four. scale and smallest are (blocks,); weight = smallest + scale * code.
    """
    climb(UNPACK, answer)
    return "low halves, high halves, three blocks with scales of their own, and 32 of them"


def _unpack(packed, scale, smallest):
    low, high = packed & 15, packed >> 4
    codes = torch.cat([low, high], dim=1).float()
    scale, smallest = scale[:, None], smallest[:, None]
    return smallest + scale * codes


@ladder(_unpack)
def UNPACK(unpack):
    """bytes from 0 to 15: the first sixteen weights are their low four bits, the others are
    0"""
    packed = torch.arange(16, dtype=torch.uint8)[None]
    yield unpack(packed, torch.tensor([1.0]), torch.tensor([0.0]))

    """bytes from 16 on: their high four bits, moved down, are the weights from the sixteenth
    on"""
    packed = (16 * torch.arange(16)).to(torch.uint8)[None]
    yield unpack(packed, torch.tensor([1.0]), torch.tensor([0.0]))

    """a scale and a smallest value"""
    packed = torch.arange(16, dtype=torch.uint8)[None]
    yield unpack(packed, torch.tensor([0.5]), torch.tensor([-1.0]))

    """three blocks: each has its own scale and smallest value"""
    packed = torch.randint(0, 256, (3, 16), dtype=torch.uint8)
    yield unpack(packed, torch.tensor([0.5, 2.0, 0.1]), torch.tensor([-1.0, 3.0, 0.25]))

    """as many blocks as a block has weights: a scale belongs to a row, not to a column"""
    packed = torch.randint(0, 256, (32, 16), dtype=torch.uint8)
    scale, smallest = torch.rand(32), torch.randn(32)
    yield unpack(packed, scale, smallest)


UNPACK.mistakes |= {
    "the two weights of a byte are put side by side; the second one stands 16 places on": edited(
        _unpack, "torch.cat([low, high], dim=1)", "torch.stack([low, high], dim=2).flatten(1)"
    ),
    "low and high halves have changed places": edited(_unpack, "[low, high]", "[high, low]"),
    "8 is taken off the codes; here they start at 0, at the smallest value": edited(
        _unpack, ".float()", ".float() - 8"
    ),
    "the high four bits are not moved down: their codes are sixteen times too large": edited(
        _unpack, "packed >> 4", "packed & 240"
    ),
    "the low half still holds the high bits, too; mask them out": edited(
        _unpack, "packed & 15", "packed"
    ),
    "the smallest value is not added": edited(_unpack, "smallest + scale * codes", "scale * codes"),
    "the scale multiplies the smallest value, too; it is a weight already": edited(
        _unpack, "smallest + scale * codes", "scale * (codes + smallest)"
    ),
    "the scale has lost what stands behind its point, as in a whole number or a byte": edited(
        _unpack, "scale * codes", "scale.floor() * codes"
    ),
    "codes from 8 on are read as negative, -8 to -1; they count from 0 to 15": edited(
        _unpack, ".float()", ".float(); codes = codes - 16 * (codes > 7)"
    ),
}
