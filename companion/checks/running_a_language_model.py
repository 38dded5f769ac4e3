"""Checks for the exercises of book/running_a_language_model.ipynb."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from companion.checks.exercise import Mistake, call, compare, exercise, show
from companion.models import GPT, GPTConfig
from companion.nn import KVCache


@exercise
def write(answer) -> str:
    """Check `write(model, prompt, new)` -> (B, new), the tokens that a greedy GPT writes.

    model is a `GPT`, called as `model(token_ids, caches=caches)`; prompt (B, T). Each position may
    be computed only once: the prompt's in one step, then a token at a time.
    """
    model = _a_model_with_something_to_say()

    def with_model(prompt, new):
        return answer(model, prompt, new)

    cases = [
        {"prompt": torch.randint(VOCABULARY, (rows, length)), "new": new}
        for rows, length, new in ((1, 3, 1), (1, 3, 4), (2, 5, 6))
    ]
    steps: list[int] = []
    hook = model.token_embedding.register_forward_pre_hook(
        lambda _, args: steps.append(args[0].shape[1])
    )
    with torch.no_grad():
        mistakes = {text: partial(wrong, model) for text, wrong in WRITE_MISTAKES.items()}
        compare(with_model, cases, partial(_written, model), mistakes, numbers=np.integer)
        for case in cases:
            steps.clear()
            call(with_model, **case)
            T, new = case["prompt"].shape[1], case["new"]
            if sum(steps) > T + new - 1:
                raise Mistake(
                    f"the tokens are right, but {sum(steps)} positions were computed, where "
                    f"{T + new - 1} are enough: the prompt once, and each new token but the last",
                    f"{show(case)}\npositions in each step: {steps}",
                )
            if new > 1 and steps[0] != T:
                raise Mistake(
                    "the tokens are right, but the prompt went in piece by piece; it is known, so "
                    "one step can take all of it",
                    f"{show(case)}\npositions in each step: {steps}",
                )
    hook.remove()
    return "one token, several, and two prompts at once, each position computed once"


VOCABULARY = 17


def _a_model_with_something_to_say() -> GPT:
    """Two blocks with weights large enough that the next token depends on all that was read."""
    config = GPTConfig(
        vocab_size=VOCABULARY, d_model=16, num_layers=2, num_heads=2, d_ff=32, max_len=64,
        dropout=0.0, tie_weights=False,
    )  # fmt: skip
    model = GPT(config).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.6)
    return model


def _written(
    model,
    prompt,
    new,
    *,
    caches: Callable = lambda model: [KVCache() for _ in model.blocks],
    then: Callable = lambda prompt, written: written[-1],
    pick: Callable = lambda logits: logits[:, -1:].argmax(-1),
):
    """Prefill and decode, or what they would be with one part done in another way."""
    kept = caches(model)
    read, written = prompt, []
    for _ in range(new):
        logits = model(read, caches=kept) if kept else model(read)
        written.append(pick(logits))
        read = then(prompt, written)
    return (torch.cat(written, dim=1),)


WRITE_MISTAKES = {
    "the prompt is in the result; return the new tokens only": lambda model, prompt, new: (
        torch.cat([prompt, *_written(model, prompt, new)], dim=1),
    ),
    "the whole text goes in again at every step, behind a cache that already holds it": partial(
        _written, then=lambda prompt, written: torch.cat([prompt, *written], dim=1)
    ),
    "the last token of the prompt is read a second time, and stands in the cache twice": partial(
        _written,
        then=lambda prompt, written: [prompt[:, -1:], *written][len(written) - 1],
    ),
    "no cache: each step sees the newest token alone, and none of the past": partial(
        _written, caches=lambda model: None
    ),
    "the logits of the first position are read; the next token is said at the last": partial(
        _written, pick=lambda logits: logits[:, :1].argmax(-1)
    ),
    "the least probable token is chosen": partial(
        _written, pick=lambda logits: logits[:, -1:].argmin(-1)
    ),
    "there is one token too many": lambda model, prompt, new: _written(model, prompt, new + 1),
    "the token that the prompt itself leads to is missing": lambda model, prompt, new: (
        _written(model, prompt, new + 1)[0][:, 1:],
    ),
}


@exercise
def quantise(answer) -> str:
    """Check `quantise(weight, bits, block)` -> the rounded weights, in the shape of weight.

    weight (rows, columns), columns a multiple of block: each run of `block` weights of a row has
    one scale, its largest absolute value over 2 ** (bits - 1) - 1. A block of zeros stays zero.
    """
    by_hand = {"weight": torch.tensor([[1.2, -2.0, 0.4, 6.0]]), "bits": 3, "block": 4}
    halves = by_hand | {"block": 2}
    negative = {"weight": torch.tensor([[1.0, -7.0, 3.4, 2.0]]), "bits": 4, "block": 4}
    matrix = {"weight": torch.randn(3, 8) * torch.tensor([[1.0], [5.0], [0.2]])}
    cases = [by_hand, halves, negative]
    cases += [matrix | {"bits": bits, "block": block} for bits, block in ((4, 4), (2, 2), (8, 8))]
    compare(answer, cases, _quantised, QUANTISE_MISTAKES)
    zeros = {"weight": torch.tensor([[0.0, 0.0, 3.0, -1.4]]), "bits": 4, "block": 2}
    message = "a block of zeros is divided by a scale of zero, which gives NaN; it should stay zero"
    compare(answer, [zeros], _quantised, {}, otherwise=message)
    return "2 to 8 bits, blocks of two to eight weights, one of zeros"


def _quantised(
    weight,
    bits,
    block,
    *,
    group: Callable = lambda weight, block: weight.reshape(-1, block),
    back: Callable = lambda groups, weight: groups.reshape(weight.shape),
    largest: Callable = lambda groups: groups.abs().amax(1, keepdim=True),
    levels: Callable = lambda bits: 2 ** (bits - 1) - 1,
    near: Callable = torch.round,
):
    groups = group(weight, block)
    scale = largest(groups).clamp_min(1e-12) / levels(bits)
    return (back(near(groups / scale) * scale, weight),)


QUANTISE_MISTAKES = {
    "one scale for the whole matrix; every block has its own": partial(
        _quantised, largest=lambda groups: groups.abs().max()
    ),
    "the codes are returned; multiply them by the scale again": lambda weight, bits, block: (
        (
            weight.reshape(-1, block)
            / (weight.reshape(-1, block).abs().amax(1, keepdim=True) / (2 ** (bits - 1) - 1))
        )
        .round()
        .reshape(weight.shape),
    ),
    "the largest value sets the scale; it is the largest absolute value": partial(
        _quantised, largest=lambda groups: groups.amax(1, keepdim=True)
    ),
    "2^b − 1 steps on either side need one bit more: half of the codes are negative": partial(
        _quantised, levels=lambda bits: 2**bits - 1
    ),
    "2^(b−1) is one code too many on the positive side": partial(
        _quantised, levels=lambda bits: 2 ** (bits - 1)
    ),
    "the fraction is cut off; round to the nearest": partial(_quantised, near=torch.trunc),
    "rounded down; round to the nearest": partial(_quantised, near=torch.floor),
    "the blocks run down the columns; they are runs of a row": partial(
        _quantised,
        group=lambda weight, block: weight.T.reshape(-1, block),
        back=lambda groups, weight: groups.reshape(weight.T.shape).T,
    ),
}


@exercise
def unpack(answer) -> str:
    """Check `unpack(packed, scale, smallest)` -> (blocks, 32) weights of a file in 4 bits.

    packed (blocks, 16) of torch.uint8: byte j has weight j in its low four bits and weight j + 16
    in its high four. scale and smallest are (blocks,); weight = smallest + scale * code.
    """
    low = torch.zeros(1, 16, dtype=torch.uint8)
    low[0, :3] = torch.tensor([1, 2, 15])
    high = torch.zeros(1, 16, dtype=torch.uint8)
    high[0, 0] = 0x30
    mixed = torch.randint(0, 256, (3, 16), dtype=torch.uint8)
    cases = [
        {"packed": packed, "scale": torch.tensor(scale), "smallest": torch.tensor(smallest)}
        for packed, scale, smallest in (
            (low, [1.0], [0.0]),
            (high, [0.5], [-1.0]),
            (mixed, [0.5, 2.0, 0.1], [-1.0, 3.0, 0.25]),
        )
    ]
    compare(answer, cases, _unpacked, UNPACK_MISTAKES)
    return "low halves, high halves, three blocks with scales of their own"


def _halves(packed):
    return packed & 15, packed >> 4


def _unpacked(
    packed,
    scale,
    smallest,
    *,
    codes: Callable = lambda low, high: torch.cat([low, high], dim=1),
    split: Callable = _halves,
    weight: Callable = lambda code, scale, smallest: smallest + scale * code,
):
    code = codes(*split(packed)).float()
    return (weight(code, scale[:, None], smallest[:, None]),)


UNPACK_MISTAKES = {
    "the two weights of a byte are put side by side; the second one stands 16 places on": partial(
        _unpacked, codes=lambda low, high: torch.stack([low, high], dim=2).flatten(1)
    ),
    "low and high halves have changed places": partial(
        _unpacked, codes=lambda low, high: torch.cat([high, low], dim=1)
    ),
    "the high four bits are not moved down: their codes are sixteen times too large": partial(
        _unpacked, split=lambda packed: (packed & 15, packed & 240)
    ),
    "the low half still holds the high bits, too; mask them out": partial(
        _unpacked, split=lambda packed: (packed, packed >> 4)
    ),
    "the smallest value is not added": partial(
        _unpacked, weight=lambda code, scale, smallest: scale * code
    ),
    "the scale multiplies the smallest value, too; it is a weight already": partial(
        _unpacked, weight=lambda code, scale, smallest: scale * (code + smallest)
    ),
    "8 is taken off the codes; here they start at 0, at the smallest value": partial(
        _unpacked, weight=lambda code, scale, smallest: smallest + scale * (code - 8)
    ),
}
