"""Answers by somebody who had not read the checks."""

import torch

from companion.nn import KVCache
from tests.book.unseen import answers_to

right, wrong = answers_to("running_a_language_model")


@right
def write(model, prompt, new, stop):
    caches, written = [KVCache() for _ in model.blocks], []
    ids = prompt
    while len(written) < new:
        word = int(model(ids, caches=caches)[0, -1].argmax())
        written.append(word)
        if written[len(written) - len(stop) :] == list(stop) and len(written) >= len(stop):
            break
        ids = torch.tensor([[word]])
    return written


wrong("returns the prompt, too", "    return written", "    return prompt[0].tolist() + written")
wrong(
    "a second beginning of one token only",
    "    ids = prompt",
    "    ids, met = prompt, 0",
    "        if written[len(written) - len(stop) :] == list(stop) and len(written) >= len(stop):",
    "        met = met + 1 if word == stop[met] else int(word == stop[0])\n"
    "        if met == len(stop):",
)
wrong(
    "one more pass at the end",
    "    return written",
    "    model(torch.tensor([[written[-1]]]), caches=caches)\n    return written",
)
wrong(
    "one cache for all blocks",
    "[KVCache() for _ in model.blocks]",
    "[KVCache()] * len(model.blocks)",
)


@right
def quantise(weight, bits, block):
    out = torch.empty_like(weight)
    for r in range(weight.shape[0]):
        for i in range(0, weight.shape[1], block):
            w = weight[r, i : i + block]
            low, high = w.min(), w.max()
            if high == low:
                out[r, i : i + block] = w
                continue
            s = (high - low) / (2**bits - 1)
            out[r, i : i + block] = low + s * ((w - low) / s).round()
    return out


wrong("2**b steps", "(2**bits - 1)", "2**bits")
wrong("one grid for the matrix", "w.min(), w.max()", "weight.min(), weight.max()")
wrong("floor", ".round()", ".floor()")
wrong("blocks down the columns", lambda weight, bits, block: _down(weight, bits, block))
wrong(
    "first block's smallest for all",
    "low, high = w.min(), w.max()",
    "low, high = weight[r, :block].min(), w.max()",
)


def _down(weight, bits, block):
    w = weight.T.reshape(-1, block) if weight.shape[0] % block == 0 else weight.reshape(block, -1).T
    low = w.amin(1, keepdim=True)
    s = ((w.amax(1, keepdim=True) - low) / (2**bits - 1)).clamp(min=1e-9)
    out = low + s * ((w - low) / s).round()
    return (
        out.reshape(weight.shape[1], weight.shape[0]).T
        if weight.shape[0] % block == 0
        else out.T.reshape(weight.shape)
    )


@right
def unpack(packed, scale, smallest):
    p = packed.int()
    codes = torch.cat([torch.remainder(p, 16), torch.div(p, 16, rounding_mode="floor")], 1)
    return torch.einsum("n,nk->nk", scale, codes.to(scale.dtype)) + smallest.unsqueeze(1)


wrong(
    "high first",
    '[torch.remainder(p, 16), torch.div(p, 16, rounding_mode="floor")]',
    '[torch.div(p, 16, rounding_mode="floor"), torch.remainder(p, 16)]',
)
wrong("no smallest", " + smallest.unsqueeze(1)", "")
wrong("codes from -8", "codes.to(scale.dtype)", "(codes - 8).to(scale.dtype)")


@right
def write(model, prompt, new, stop):
    caches = [KVCache() for _ in model.blocks]
    stop = list(stop)
    written = []
    read = prompt
    with torch.no_grad():
        while len(written) < new:
            logits = model(read, caches=caches)
            token = logits[0, -1].argmax().item()
            written.append(token)
            if written[-len(stop) :] == stop:
                break
            read = torch.tensor([[token]], device=prompt.device)
    return written


wrong(
    "the whole text is read again",
    "torch.tensor([[token]], device=prompt.device)",
    "torch.cat([read, torch.tensor([[token]], device=prompt.device)], dim=1)",
)


@right
def quantise(weight, bits, block):
    rows, columns = weight.shape
    blocks = weight.reshape(rows, columns // block, block)
    low = blocks.amin(-1, keepdim=True)
    high = blocks.amax(-1, keepdim=True)
    scale = (high - low) / (2**bits - 1)
    divisor = torch.where(scale == 0, 1.0, scale)
    codes = torch.round((blocks - low) / divisor)
    return (low + scale * codes).reshape(rows, columns)


wrong("a block of equal weights is divided by zero", "torch.where(scale == 0, 1.0, scale)", "scale")


@right
def unpack(packed, scale, smallest):
    N = len(packed)
    weights = torch.zeros(N, 32, dtype=scale.dtype)
    for j in range(16):
        byte = packed[:, j]
        weights[:, j] = smallest + scale * (byte & 15)
        weights[:, j + 16] = smallest + scale * (byte >> 4)
    return weights


wrong("high and low exchanged", "byte & 15", "byte >> 4 ", "byte >> 4)", "byte & 15)")


wrong(
    "codes from -8 to 7, as in Q4_0",
    "(byte & 15)",
    "((byte & 15).float() - 8)",
    "(byte >> 4)",
    "((byte >> 4).float() - 8)",
)


@right
@torch.no_grad()
def write(model, prompt, new, stop):
    caches = [KVCache() for _ in model.blocks]
    read, written = prompt, []
    while len(written) < new:
        logits = model(read, caches=caches)
        token = logits[0, -1].argmax().item()
        written.append(token)
        if written[-len(stop) :] == list(stop):
            break
        read = torch.tensor([[token]], device=prompt.device)
    return written


wrong(
    "a last token is read that nobody wants",
    "        read = torch.tensor([[token]], device=prompt.device)\n",
    "        read = torch.tensor([[token]], device=prompt.device)\n    if written:\n        model(torch.tensor([[token]]), caches=caches)\n",
)


@right
def quantise(weight, bits, block):
    rows = weight.reshape(-1, block)
    low = rows.min(dim=1, keepdim=True).values
    high = rows.max(dim=1, keepdim=True).values
    step = (high - low) / (2**bits - 1)
    safe = torch.where(step == 0, torch.ones_like(step), step)
    code = ((rows - low) / safe).round()
    return (low + step * code).reshape(weight.shape)


wrong("rounds down", ").round()", ").floor()")


@right
def unpack(packed, scale, smallest):
    low, high = packed % 16, packed // 16
    code = torch.cat((low, high), dim=1).to(scale.dtype)
    return smallest.unsqueeze(1) + code * scale.unsqueeze(1)


wrong(
    "neighbours share a byte",
    "torch.cat((low, high), dim=1)",
    "torch.stack((low, high), dim=2).reshape(len(packed), 32)",
)


@right
def write(model, prompt, new, stop):
    caches = [KVCache() for _ in model.blocks]
    read, written = prompt, []
    with torch.no_grad():
        while len(written) < new and written[-len(stop) :] != stop:
            logits = model(read, caches=caches)
            read = logits[:, -1:].argmax(-1)
            written.append(read.item())
    return written


wrong("the stop is looked for in the first tokens", "[-len(stop) :]", "[: len(stop)]")


@right
def quantise(weight, bits, block):
    blocks = weight.reshape(-1, block)
    low = blocks.amin(dim=1, keepdim=True)
    scale = (blocks.amax(dim=1, keepdim=True) - low) / (2**bits - 1)
    scale = scale.where(scale > 0, scale.new_ones(()))
    return (low + scale * ((blocks - low) / scale).round()).reshape(weight.shape)


wrong("weight not measured from the smallest", "(blocks - low) / scale", "blocks / scale")


@right
def unpack(packed, scale, smallest):
    low, high = (packed % 16, packed // 16)
    codes = torch.cat([low, high], dim=1).to(scale.dtype)
    return torch.addcmul(smallest.unsqueeze(1), codes, scale.unsqueeze(1))


wrong(
    "codes of a byte are neighbours: 2j and 2j + 1",
    "cat([low, high], dim=",
    "stack([low, high], dim=2).flatten(",
)
