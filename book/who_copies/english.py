"""What SmolLM2's copying heads are worth in English, on ten draws of twelve pieces of text.

    python -m book.who_copies.english {5301..5310} > english.json

made the table, which lies beside this file. A seed draws the pieces and, before them and as in the
chapter, the sequences that choose the eight heads, and eight other heads: about 15 seconds.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional as F

from book import runs
from companion.data import standard_library_text
from companion.models import GPT
from companion.pretrained import load, load_tokenizer

NAME = "SmolLM2-135M-Instruct"
N = 25  # random tokens, which come twice
PIECES, LENGTH, FIRST = 12, 128, 16  # of each the predictions from the sixteenth token on

Heads = list[tuple[int, int]]  # of each the block and the number in it


def twice(count: int, generator: torch.Generator) -> Tensor:
    """Random tokens that come twice: (count, 2 N)."""
    once = torch.randint(1000, 20_000, (count, N), generator=generator)
    return torch.cat([once, once], 1)


def scores(model: GPT, ids: Tensor) -> tuple[Tensor, Tensor]:
    """The heads' scores as previous-token and as induction heads, each (blocks, heads)."""
    _, maps = model.hidden_states(ids, need_weights=True)
    mean = torch.stack(maps).mean(1)
    t = torch.arange(N, 2 * N)
    return mean[..., t, t - 1].mean(-1), mean[..., t, t - N + 1].mean(-1)


def strongest(score: Tensor, count: int) -> Heads:
    """The heads with the largest scores."""
    return [divmod(i, score.shape[1]) for i in score.flatten().topk(count).indices.tolist()]


def drawn_heads(model: GPT, generator: torch.Generator) -> dict[str, Heads]:
    """The eight strongest induction heads, and eight others of their blocks."""
    choosing, _ = twice(4, generator), twice(4, generator)  # the chapter tests on the second
    previous, induction = scores(model, choosing)
    copiers = strongest(induction, 8)
    known = {*strongest(induction, 24), *strongest(previous, 8)}
    blocks = {block for block, _ in copiers}
    pool = [(b, h) for b in blocks for h in range(induction.shape[1]) if (b, h) not in known]
    draws = [torch.randperm(len(pool), generator=generator)[:8] for _ in range(3)]
    return {"induction": copiers, "random": [pool[i] for i in draws[0]]}


def silenced(model: GPT, heads: Iterable[tuple[int, int]]) -> ExitStack:
    """Hooks: these heads hand on zeros."""
    width, hooks = model.config.d_model // model.config.num_heads, ExitStack()
    for block, head in heads:

        def change(module, inputs: tuple[Tensor], head: int = head) -> tuple[Tensor]:
            merged = inputs[0].clone()
            merged[..., head * width : (head + 1) * width] = 0
            return (merged,)

        out_proj = model.blocks[block].self_attention.out_proj
        hooks.enter_context(out_proj.register_forward_pre_hook(change))
    return hooks


def recurring(ids: Tensor) -> Tensor:
    """For each pair of neighbours: did the same pair occur earlier? (B, T - 1)"""
    found = torch.zeros(len(ids), ids.shape[1] - 1, dtype=torch.bool)
    for row, tokens in zip(found, ids.tolist(), strict=True):
        pairs = list(pairwise(tokens))
        row[:] = torch.tensor([pair in pairs[:t] for t, pair in enumerate(pairs)])
    return found


@torch.no_grad()
def losses(model: GPT, ids: Tensor, silent: dict[str, Heads]) -> dict:
    """{"share": of the tokens, those that recur; and a loss of three with each heads silent}.

    The three are the means over the tokens that recur, over the others, and over all; with no head
    silent they are called "nothing".
    """
    again, found = recurring(ids)[:, FIRST:], {}
    first = min(block for heads in silent.values() for block, _ in heads)
    below = model.token_embedding(ids)
    for block in model.blocks[:first]:  # the same for all
        below = block(below, is_causal=True)
    for name, heads in {"nothing": [], **silent}.items():
        stream = below
        with silenced(model, heads):
            for block in model.blocks[first:]:
                stream = block(stream, is_causal=True)
        logits = model.head(model.final_norm(stream)[:, FIRST:-1]).flatten(0, 1)
        each = F.cross_entropy(logits, ids[:, FIRST + 1 :].flatten(), reduction="none")
        each = each.view_as(again)
        parts = (each[again], each[~again], each)
        found[name] = [round(part.mean().item(), 4) for part in parts]
    return {"share": round(again.double().mean().item(), 4), **found}


@torch.no_grad()
def measure(seed: int) -> dict:
    """{"seed", "share", "nothing", "induction", "random"}: see `losses`."""
    model, tokenizer = load(NAME), load_tokenizer(NAME)
    generator = torch.Generator().manual_seed(seed)
    heads = drawn_heads(model, generator)
    source = standard_library_text(kind="docstrings", split="test")
    starts = torch.randint(len(source) - 4000, (PIECES,), generator=generator).tolist()
    texts = [tokenizer.encode(source[start : start + 4000])[:LENGTH] for start in starts]
    return {"seed": seed, **losses(model, torch.tensor(texts), heads)}


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "english.json")


if __name__ == "__main__":
    runs.write(measure)
