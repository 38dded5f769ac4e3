"""Answers to the exercises of book/running_a_language_model.ipynb."""

import torch

from companion.checks.running_a_language_model import quantise, unpack, write
from companion.generation import generate
from companion.nn import KVCache
from tests.checks.answers import right, wrong

# 1. Prefill, then decode


@right(write)
def one_loop(model, prompt, new):
    caches = [KVCache() for _ in model.blocks]
    read, written = prompt, []
    for _ in range(new):
        read = model(read, caches=caches)[:, -1:].argmax(-1)
        written.append(read)
    return torch.cat(written, dim=1)


@right(write)
def prefill_apart(model, prompt, new):
    caches = [KVCache() for _ in model.blocks]
    text = prompt
    logits = model(prompt, caches=caches)
    while True:
        text = torch.cat([text, logits[:, -1].argmax(-1)[:, None]], dim=1)
        if text.shape[1] == prompt.shape[1] + new:
            return text[:, prompt.shape[1] :]
        logits = model(text[:, -1:], caches=caches)


@right(write)
def a_cache_of_fixed_size(model, prompt, new):
    caches = [KVCache(capacity=prompt.shape[1] + new) for _ in model.blocks]
    result = torch.zeros(len(prompt), new, dtype=torch.long)
    read = prompt
    for step in range(new):
        result[:, step] = model(read, caches=caches)[:, -1].softmax(-1).argmax(-1)
        read = result[:, step : step + 1]
    return result


@wrong(write, "positions were computed")
def everything_again(model, prompt, new):
    text = prompt
    for _ in range(new):
        text = torch.cat([text, model(text)[:, -1:].argmax(-1)], dim=1)
    return text[:, prompt.shape[1] :]


@wrong(write, "positions were computed")
def a_new_cache_every_time(model, prompt, new):
    text = prompt
    for _ in range(new):
        caches = [KVCache() for _ in model.blocks]
        text = torch.cat([text, model(text, caches=caches)[:, -1:].argmax(-1)], dim=1)
    return text[:, prompt.shape[1] :]


@wrong(write, "positions were computed")
def one_step_too_many(model, prompt, new):
    caches = [KVCache() for _ in model.blocks]
    read, written = prompt, []
    for _ in range(new):
        read = model(read, caches=caches)[:, -1:].argmax(-1)
        written.append(read)
    model(read, caches=caches)
    return torch.cat(written, dim=1)


@wrong(write, "piece by piece")
def the_prompt_token_by_token(model, prompt, new):
    caches = [KVCache() for _ in model.blocks]
    for t in range(prompt.shape[1]):
        logits = model(prompt[:, t : t + 1], caches=caches)
    written = [logits[:, -1:].argmax(-1)]
    while len(written) < new:
        written.append(model(written[-1], caches=caches)[:, -1:].argmax(-1))
    return torch.cat(written, dim=1)


@wrong(write, "behind a cache that already holds it")
def the_whole_text_into_the_cache(model, prompt, new):
    caches = [KVCache() for _ in model.blocks]
    text = prompt
    for _ in range(new):
        text = torch.cat([text, model(text, caches=caches)[:, -1:].argmax(-1)], dim=1)
    return text[:, prompt.shape[1] :]


@wrong(write, "without the past")
def the_newest_token_alone(model, prompt, new):
    read, written = prompt, []
    for _ in range(new):
        read = model(read)[:, -1:].argmax(-1)
        written.append(read)
    return torch.cat(written, dim=1)


@wrong(write, "a second time")
def the_last_token_twice(model, prompt, new):
    caches = [KVCache() for _ in model.blocks]
    written = [model(prompt, caches=caches)[:, -1:].argmax(-1)]
    read = prompt[:, -1:]
    while len(written) < new:
        following = model(read, caches=caches)[:, -1:].argmax(-1)
        read = written[-1]
        written.append(following)
    return torch.cat(written, dim=1)


@wrong(write, "the prompt is in the result")
def with_the_prompt(model, prompt, new):
    return generate(model, prompt, new, temperature=0)


@wrong(write, "the first position")
def reads_the_first_position(model, prompt, new):
    caches = [KVCache() for _ in model.blocks]
    read, written = prompt, []
    for _ in range(new):
        read = model(read, caches=caches)[:, 0].argmax(-1)[:, None]
        written.append(read)
    return torch.cat(written, dim=1)


@wrong(write, "one token too many")
def counts_from_zero(model, prompt, new):
    return one_loop(model, prompt, new + 1)


@wrong(write, "leads to is missing")
def begins_after_the_first(model, prompt, new):
    return one_loop(model, prompt, new + 1)[:, 1:]


@wrong(write, "least probable")
def the_wrong_end(model, prompt, new):
    caches = [KVCache() for _ in model.blocks]
    read, written = prompt, []
    for _ in range(new):
        read = model(read, caches=caches)[:, -1:].argmin(-1)
        written.append(read)
    return torch.cat(written, dim=1)


# 2. Round in blocks


@right(quantise)
def as_in_the_chapter(weight, bits, block):
    groups = weight.reshape(-1, block)
    scale = groups.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / (2 ** (bits - 1) - 1)
    return ((groups / scale).round() * scale).reshape(weight.shape)


@right(quantise)
def block_by_block(weight, bits, block):
    result = weight.clone()
    for row in result:
        for start in range(0, len(row), block):
            part = row[start : start + block]
            scale = part.abs().max() / (2 ** (bits - 1) - 1)
            if scale > 0:
                row[start : start + block] = scale * torch.round(part / scale)
    return result


@right(quantise)
def with_nan_removed(weight, bits, block):
    groups = weight.unflatten(1, (-1, block))
    scale = groups.abs().max(-1, keepdim=True).values / (2 ** (bits - 1) - 1)
    return ((groups / scale).round() * scale).nan_to_num(0.0).flatten(1)


@wrong(quantise, "one scale for the whole matrix")
def one_scale(weight, bits, block):
    scale = weight.abs().max() / (2 ** (bits - 1) - 1)
    return (weight / scale).round() * scale


@wrong(quantise, "the codes are returned")
def codes_only(weight, bits, block):
    groups = weight.reshape(-1, block)
    scale = groups.abs().amax(dim=1, keepdim=True) / (2 ** (bits - 1) - 1)
    return (groups / scale).round().reshape(weight.shape)


@wrong(quantise, "largest absolute value")
def forgets_the_sign(weight, bits, block):
    groups = weight.reshape(-1, block)
    scale = groups.amax(dim=1, keepdim=True).clamp_min(1e-12) / (2 ** (bits - 1) - 1)
    return ((groups / scale).round() * scale).reshape(weight.shape)


@wrong(quantise, "need one bit more")
def all_bits_for_the_size(weight, bits, block):
    groups = weight.reshape(-1, block)
    scale = groups.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / (2**bits - 1)
    return ((groups / scale).round() * scale).reshape(weight.shape)


@wrong(quantise, "one code too many")
def one_code_too_many(weight, bits, block):
    groups = weight.reshape(-1, block)
    scale = groups.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 2 ** (bits - 1)
    return ((groups / scale).round() * scale).reshape(weight.shape)


@wrong(quantise, "the fraction is cut off")
def cut_off(weight, bits, block):
    groups = weight.reshape(-1, block)
    scale = groups.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / (2 ** (bits - 1) - 1)
    return ((groups / scale).int() * scale).reshape(weight.shape)


@wrong(quantise, "rounded down")
def rounded_down(weight, bits, block):
    groups = weight.reshape(-1, block)
    scale = groups.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / (2 ** (bits - 1) - 1)
    return ((groups / scale).floor() * scale).reshape(weight.shape)


@wrong(quantise, "a block of zeros")
def divides_by_zero(weight, bits, block):
    groups = weight.reshape(-1, block)
    scale = groups.abs().amax(dim=1, keepdim=True) / (2 ** (bits - 1) - 1)
    return ((groups / scale).round() * scale).reshape(weight.shape)


@wrong(quantise, "down the columns")
def down_the_columns(weight, bits, block):
    groups = weight.T.reshape(-1, block)
    scale = groups.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / (2 ** (bits - 1) - 1)
    return ((groups / scale).round() * scale).reshape(weight.T.shape).T


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
