"""Answers to the exercises of book/running_a_language_model.ipynb."""

import torch

from book.running_a_language_model.checks import quantise, unpack, write
from companion.generation import generate
from companion.nn import KVCache
from tests.book.answers import right, wrong

# Know when to stop


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
def several_candidates_at_once(model, prompt, new, stop):
    caches = [KVCache() for _ in model.blocks]
    read, written, met = prompt, [], {0}  # how much of stop each beginning has met
    while len(written) < new and len(stop) not in met:
        read = model(read, caches=caches)[:, -1:].argmax(-1)
        written.append(read.item())
        met = {0} | {k + 1 for k in met if stop[k] == written[-1]}
    return written


@wrong(write, "positions were computed")
def everything_again(model, prompt, new, stop):
    written = generate(model, prompt, 1, temperature=0)[0, prompt.shape[1] :].tolist()
    while len(written) < new and written[-len(stop) :] != stop:
        text = torch.cat([prompt, torch.tensor([written])], dim=1)
        written.append(model(text)[0, -1].argmax().item())
    return written


# Round between two ends


def ends(groups):
    return groups.amin(dim=1, keepdim=True), groups.amax(dim=1, keepdim=True)


@right(quantise)
def clamped(weight, bits, block):
    groups = weight.reshape(-1, block)
    low, high = ends(groups)
    step = ((high - low) / (2**bits - 1)).clamp_min(1e-12)
    return (low + step * ((groups - low) / step).round()).reshape(weight.shape)


@right(quantise)
def the_nearest_of_all_values(weight, bits, block):
    groups = weight.unflatten(1, (-1, block))
    low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    grid = low + (high - low) * torch.linspace(0, 1, 2**bits)
    nearest = (groups[..., None] - grid[..., None, :]).abs().argmin(-1)
    return grid.gather(-1, nearest).flatten(1)


@wrong(quantise, "a step of zero")
def divides_by_zero(weight, bits, block):
    groups = weight.reshape(-1, block)
    low, high = ends(groups)
    step = (high - low) / (2**bits - 1)
    return (low + step * ((groups - low) / step).round()).reshape(weight.shape)


# Two in a byte


@right(unpack)
def with_bits(packed, scale, smallest):
    codes = torch.cat([packed & 0x0F, packed >> 4], dim=1)
    return smallest[:, None] + scale[:, None] * codes


@right(unpack)
def with_division(packed, scale, smallest):
    whole = packed.int()
    codes = torch.cat([whole % 16, whole // 16], dim=1).float()
    return torch.addcmul(smallest[:, None], scale[:, None], codes)
