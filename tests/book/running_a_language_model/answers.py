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


@wrong(write, "positions were computed")
def writes_all_and_cuts(model, prompt, new, stop):
    written = the_loop(newest, lambda *_: False)(model, prompt, new, stop)
    for end in range(len(stop), new + 1):
        if written[end - len(stop) : end] == stop:
            return written[:end]
    return written


@wrong(write, "positions were computed")
def one_step_too_many(model, prompt, new, stop):
    caches = [KVCache() for _ in model.blocks]
    written, logits = [], model(prompt, caches=caches)
    while len(written) < new and written[-len(stop) :] != stop:
        written.append(logits[0, -1].argmax().item())
        logits = model(torch.tensor([written[-1:]]), caches=caches)
    return written


@wrong(write, "piece by piece")
def the_prompt_token_by_token(model, prompt, new, stop):
    def step(model, prompt, written, caches):
        if written:
            return newest(model, prompt, written, caches)
        return [model(prompt[:, t : t + 1], caches=caches) for t in range(prompt.shape[1])][-1]

    return the_loop(step, tail)(model, prompt, new, stop)


@wrong(write, "behind a cache that already holds it")
def the_whole_text_into_the_cache(model, prompt, new, stop):
    def step(model, prompt, written, caches):
        return model(torch.tensor([prompt[0].tolist() + written]), caches=caches)

    return the_loop(step, tail)(model, prompt, new, stop)


@wrong(write, "without the past")
def the_newest_token_alone(model, prompt, new, stop):
    def step(model, prompt, written, caches):
        return model(torch.tensor([written[-1:]]) if written else prompt)

    return the_loop(step, tail)(model, prompt, new, stop)


@wrong(write, "the prompt is in the result")
def with_the_prompt(model, prompt, new, stop):
    return the_loop(newest, tail, list.__add__)(model, prompt, new, stop)


@wrong(write, "the first position")
def reads_the_first_position(model, prompt, new, stop):
    def step(*inputs):
        return newest(*inputs)[:, :1]

    return the_loop(step, tail)(model, prompt, new, stop)


@wrong(write, "one token too many")
def counts_from_zero(model, prompt, new, stop):
    return compares_the_tail(model, prompt, new + 1, stop)


@wrong(write, "nothing stops it")
def as_in_the_chapter(model, prompt, new, stop):
    return the_loop(newest, lambda *_: False)(model, prompt, new, stop)


@wrong(write, "the stop is missing")
def without_the_stop(model, prompt, new, stop):
    written = compares_the_tail(model, prompt, new, stop)
    return written[: -len(stop)] if written[-len(stop) :] == stop else written


@wrong(write, "one token too late")
def looks_before_it_writes(model, prompt, new, stop):
    def ended(prompt, written, stop):
        return tail(prompt, written[:-1], stop)

    return the_loop(newest, ended)(model, prompt, new, stop)


@wrong(write, "any one of the tokens")
def one_of_them_is_enough(model, prompt, new, stop):
    def ended(prompt, written, stop):
        return bool(set(written) & set(stop))

    return the_loop(newest, ended)(model, prompt, new, stop)


@wrong(write, "whatever stands before it")
def the_last_one_is_enough(model, prompt, new, stop):
    def ended(prompt, written, stop):
        return written[-1:] == stop[-1:]

    return the_loop(newest, ended)(model, prompt, new, stop)


@wrong(write, "in another order")
def in_any_order(model, prompt, new, stop):
    def ended(prompt, written, stop):
        return set(written[-len(stop) :]) == set(stop)

    return the_loop(newest, ended)(model, prompt, new, stop)


@wrong(write, "may be the first one of `stop`")
def starts_over(model, prompt, new, stop):
    def ended(prompt, written, stop):
        met = 0
        for token in written:
            met = met + 1 if token == stop[met] else 0
            if met == len(stop):
                return True
        return False

    return the_loop(newest, ended)(model, prompt, new, stop)


@wrong(write, "the prompt is searched, too")
def searches_the_prompt(model, prompt, new, stop):
    def ended(prompt, written, stop):
        return (prompt + written)[-len(stop) :] == stop

    return the_loop(newest, ended)(model, prompt, new, stop)


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


@wrong(quantise, "symmetric about zero")
def the_chapters(weight, bits, block):
    groups = weight.reshape(-1, block)
    scale = groups.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / (2 ** (bits - 1) - 1)
    return ((groups / scale).round() * scale).reshape(weight.shape)


def grid(groups, steps, rounded=torch.round):
    low, high = ends(groups)
    step = ((high - low) / steps).clamp_min(1e-12)
    return low + step * rounded((groups - low) / step)


@wrong(quantise, "steps between them")
def as_many_steps_as_values(weight, bits, block):
    return in_blocks(lambda groups, bits: grid(groups, 2**bits))(weight, bits, block)


@wrong(quantise, "no bit is needed for a sign")
def keeps_a_bit_for_the_sign(weight, bits, block):
    return in_blocks(lambda groups, bits: grid(groups, 2 ** (bits - 1) - 1))(weight, bits, block)


@wrong(quantise, "the codes are returned")
def codes_only(weight, bits, block):
    def rounding(groups, bits):
        low, high = ends(groups)
        return ((groups - low) / ((high - low) / (2**bits - 1))).round()

    return in_blocks(rounding)(weight, bits, block)


@wrong(quantise, "the fraction is cut off")
def cut_off(weight, bits, block):
    return in_blocks(lambda groups, bits: grid(groups, 2**bits - 1, torch.trunc))(
        weight, bits, block
    )


@wrong(quantise, "rounded up")
def rounded_up(weight, bits, block):
    return in_blocks(lambda groups, bits: grid(groups, 2**bits - 1, torch.ceil))(
        weight, bits, block
    )


@wrong(quantise, "nothing is rounded")
def not_rounded(weight, bits, block):
    return weight.clone()


@wrong(quantise, "not added again")
def never_added(weight, bits, block):
    def rounding(groups, bits):
        return grid(groups, 2**bits - 1) - ends(groups)[0]

    return in_blocks(rounding)(weight, bits, block)


@wrong(quantise, "was not taken off")
def never_taken_off(weight, bits, block):
    def rounding(groups, bits):
        low, high = ends(groups)
        step = ((high - low) / (2**bits - 1)).clamp_min(1e-12)
        return low + step * (groups / step).round()

    return in_blocks(rounding)(weight, bits, block)


@wrong(quantise, "begins at zero")
def from_zero(weight, bits, block):
    def rounding(groups, bits):
        step = ends(groups)[1] / (2**bits - 1)
        return step * (groups / step).round()

    return in_blocks(rounding)(weight, bits, block)


@wrong(quantise, "largest absolute value")
def forgets_the_sign(weight, bits, block):
    def rounding(groups, bits):
        low = ends(groups)[0]
        step = (groups.abs().amax(1, keepdim=True) - low) / (2**bits - 1)
        return low + step * ((groups - low) / step).round()

    return in_blocks(rounding)(weight, bits, block)


@wrong(quantise, "one grid for the whole matrix")
def one_grid(weight, bits, block):
    return clamped(weight.reshape(1, -1), bits, weight.numel()).reshape(weight.shape)


@wrong(quantise, "down the columns")
def down_the_columns(weight, bits, block):
    return clamped(weight.T.reshape(1, -1), bits, block).reshape(weight.T.shape).T


@wrong(quantise, "a step of zero")
def divides_by_zero(weight, bits, block):
    def rounding(groups, bits):
        low, high = ends(groups)
        step = (high - low) / (2**bits - 1)
        return low + step * ((groups - low) / step).round()

    return in_blocks(rounding)(weight, bits, block)


@wrong(quantise, "equal weights becomes zero")
def zero_instead(weight, bits, block):
    return divides_by_zero(weight, bits, block).nan_to_num(0.0)


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


@wrong(unpack, "side by side")
def side_by_side(packed, scale, smallest):
    codes = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(1)
    return smallest[:, None] + scale[:, None] * codes


@wrong(unpack, "changed places")
def high_first(packed, scale, smallest):
    codes = torch.cat([packed >> 4, packed & 15], dim=1)
    return smallest[:, None] + scale[:, None] * codes


@wrong(unpack, "not moved down")
def not_moved_down(packed, scale, smallest):
    codes = torch.cat([packed & 15, packed & 0xF0], dim=1)
    return smallest[:, None] + scale[:, None] * codes


@wrong(unpack, "mask them out")
def not_masked(packed, scale, smallest):
    codes = torch.cat([packed, packed >> 4], dim=1)
    return smallest[:, None] + scale[:, None] * codes


@wrong(unpack, "is not added")
def nothing_added(packed, scale, smallest):
    return scale[:, None] * torch.cat([packed & 15, packed >> 4], dim=1)


@wrong(unpack, "a weight already")
def all_scaled(packed, scale, smallest):
    codes = torch.cat([packed & 15, packed >> 4], dim=1)
    return scale[:, None] * (codes + smallest[:, None])


@wrong(unpack, "8 is taken off")
def centred(packed, scale, smallest):
    codes = torch.cat([packed & 15, packed >> 4], dim=1).float() - 8
    return smallest[:, None] + scale[:, None] * codes


@wrong(write, "the numbers are compared as text")
def ends_as_text(model, prompt, new, stop):
    caches, read, written = [KVCache() for _ in model.blocks], prompt, []
    for _ in range(new):
        read = model(read, caches=caches)[:, -1:].argmax(-1)
        written.append(read.item())
        if ", ".join(map(str, written)).endswith(", ".join(map(str, stop))):
            break
    return written
