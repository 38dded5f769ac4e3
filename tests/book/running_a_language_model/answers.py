"""Answers to the exercises of book/running_a_language_model.ipynb."""

import torch

from book.running_a_language_model.checks import quantise, unpack, write
from companion.generation import generate
from companion.nn import KVCache
from tests.book.answers import right, wrong

# 1. Know when to stop


@right(write)
def compares_the_tail(model, prompt, new, stop):
    caches = [KVCache() for _ in model.blocks]
    read, written = prompt, []
    while len(written) < new:
        read = model(read, caches=caches)[:, -1:].argmax(-1)
        written.append(read.item())
        if written[-len(stop) :] == stop:
            break
    return written


@right(write)
def prefill_apart(model, prompt, new, stop):
    caches = [KVCache() for _ in model.blocks]
    text = prompt
    end, logits = torch.tensor(stop), model(prompt, caches=caches)
    while True:
        text = torch.cat([text, logits[:, -1].argmax(-1)[:, None]], dim=1)
        written = text[0, prompt.shape[1] :]
        if len(written) == new or torch.equal(written[-len(stop) :], end):
            return written
        logits = model(text[:, -1:], caches=caches)


@right(write)
def a_cache_of_fixed_size(model, prompt, new, stop):
    caches = [KVCache(capacity=prompt.shape[1] + new) for _ in model.blocks]
    read, text = prompt, ""
    for _ in range(new):
        read = model(read, caches=caches)[:, -1].softmax(-1).argmax(-1)[None]
        text += f"{read.item()} "
        if f" {text}".endswith(f" {' '.join(map(str, stop))} "):
            break
    return tuple(int(token) for token in text.split())


@right(write)
def several_candidates_at_once(model, prompt, new, stop):
    caches = [KVCache() for _ in model.blocks]
    read, written, met = prompt, [], {0}  # how much of stop each beginning has met
    while len(written) < new and len(stop) not in met:
        read = model(read, caches=caches)[:, -1:].argmax(-1)
        written.append(read.item())
        met = {0} | {k + 1 for k in met if stop[k] == written[-1]}
    return written


def the_loop(step, ended, result=lambda prompt, written: written):
    """A `write` that reads `step`, and ends before `new` tokens where `ended` says so."""

    def write(model, prompt, new, stop):
        caches = [KVCache() for _ in model.blocks]
        written = []
        while len(written) < new and not ended(prompt[0].tolist(), written, stop):
            logits = step(model, prompt, written, caches)
            written.append(logits[0, -1].argmax().item())
        return result(prompt[0].tolist(), written)

    return write


def newest(model, prompt, written, caches):
    return model(torch.tensor([written[-1:]]) if written else prompt, caches=caches)


def tail(prompt, written, stop):
    return written[-len(stop) :] == stop


@wrong(write, "positions were computed")
def everything_again(model, prompt, new, stop):
    written = generate(model, prompt, 1, temperature=0)[0, prompt.shape[1] :].tolist()
    while len(written) < new and written[-len(stop) :] != stop:
        text = torch.cat([prompt, torch.tensor([written])], dim=1)
        written.append(model(text)[0, -1].argmax().item())
    return written


@wrong(write, "the prompt is in the result")
def with_the_prompt(model, prompt, new, stop):
    return the_loop(newest, tail, list.__add__)(model, prompt, new, stop)


# 2. Round between two ends


def in_blocks(rounding):
    """A `quantise` that gives rows of `block` weights and the bits to `rounding`."""

    def quantise(weight, bits, block):
        return rounding(weight.reshape(-1, block), bits).reshape(weight.shape)

    return quantise


def ends(groups):
    return groups.amin(dim=1, keepdim=True), groups.amax(dim=1, keepdim=True)


@right(quantise)
def clamped(weight, bits, block):
    groups = weight.reshape(-1, block)
    low, high = ends(groups)
    step = ((high - low) / (2**bits - 1)).clamp_min(1e-12)
    return (low + step * ((groups - low) / step).round()).reshape(weight.shape)


@right(quantise)
def block_by_block(weight, bits, block):
    result = weight.clone()
    for row in result:
        for start in range(0, len(row), block):
            part = row[start : start + block]
            step = (part.max() - part.min()) / (2**bits - 1)
            if step > 0:
                codes = torch.round((part - part.min()) / step)
                row[start : start + block] = part.min() + step * codes
    return result


@right(quantise)
def the_nearest_of_all_values(weight, bits, block):
    groups = weight.unflatten(1, (-1, block))
    low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    grid = low + (high - low) * torch.linspace(0, 1, 2**bits)
    nearest = (groups[..., None] - grid[..., None, :]).abs().argmin(-1)
    return grid.gather(-1, nearest).flatten(1)


def grid(groups, steps, rounded=torch.round):
    low, high = ends(groups)
    step = ((high - low) / steps).clamp_min(1e-12)
    return low + step * rounded((groups - low) / step)


@wrong(quantise, "steps between them")
def as_many_steps_as_values(weight, bits, block):
    return in_blocks(lambda groups, bits: grid(groups, 2**bits))(weight, bits, block)


@wrong(quantise, "a step of zero")
def divides_by_zero(weight, bits, block):
    def rounding(groups, bits):
        low, high = ends(groups)
        step = (high - low) / (2**bits - 1)
        return low + step * ((groups - low) / step).round()

    return in_blocks(rounding)(weight, bits, block)


# 3. Two in a byte


@right(unpack)
def with_bits(packed, scale, smallest):
    codes = torch.cat([packed & 0x0F, packed >> 4], dim=1)
    return smallest[:, None] + scale[:, None] * codes


@right(unpack)
def with_division(packed, scale, smallest):
    whole = packed.int()
    codes = torch.cat([whole % 16, whole // 16], dim=1).float()
    return torch.addcmul(smallest[:, None], scale[:, None], codes)


@right(unpack)
def weight_by_weight(packed, scale, smallest):
    result = torch.empty(len(packed), 32)
    for b, block in enumerate(packed.tolist()):
        for j, byte in enumerate(block):
            result[b, j] = smallest[b] + scale[b] * (byte & 15)
            result[b, j + 16] = smallest[b] + scale[b] * (byte >> 4)
    return result


@wrong(unpack, "is not added")
def nothing_added(packed, scale, smallest):
    return scale[:, None] * torch.cat([packed & 15, packed >> 4], dim=1)
