"""Writing with a GPT, token by token.

Shapes: B batch, T tokens.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import nn

from companion.generation.prepared import PreparedStep, is_plain
from companion.nn import KVCache
from companion.validation import (
    require_prompts,
    require_room,
    require_sampling,
    require_tensor,
)


def next_token_probabilities(
    logits: torch.Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> torch.Tensor:
    """The distribution that the next token is drawn from: sharpened or flattened, then cut.

    Args:
        logits: (B, vocab_size).
        temperature: divides the logits; below 1 sharpens, above 1 flattens, 0 leaves the best only.
        top_k: keep the k most probable tokens.
        top_p: keep the fewest most probable tokens that have this share of what top_k left.

    Returns:
        (B, vocab_size), 0 for tokens that were cut; every row sums to 1.

    Source: top-k: Fan et al. 2018, section 5.4 (https://arxiv.org/abs/1805.04833); top-p, or
    nucleus: Holtzman et al. 2020, section 3.1 (https://arxiv.org/abs/1904.09751).
    """
    require_sampling(temperature, top_k, top_p)
    require_tensor("logits", logits)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if temperature < torch.finfo(logits.dtype).tiny:  # 0, or too small to divide by
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    logits = logits - logits.amax(dim=-1, keepdim=True)  # so that a low temperature overflows never
    probabilities = (logits / temperature).softmax(dim=-1)
    if top_k is not None:
        kept, tokens = probabilities.topk(min(top_k, logits.shape[-1]), dim=-1)
        kept = kept / kept.sum(dim=-1, keepdim=True)
        probabilities = torch.zeros_like(probabilities).scatter(-1, tokens, kept)
    if top_p is not None and top_p < 1:
        ordered, tokens = probabilities.sort(dim=-1, descending=True)
        before = ordered.cumsum(dim=-1) - ordered  # mass of the more probable tokens
        # .5 + .3 has reached .8, though the sum in float32 may be a little below.
        kept = ordered.masked_fill(before >= top_p * (1 - 1e-6), 0.0)
        kept = kept / kept.sum(dim=-1, keepdim=True)
        probabilities = torch.zeros_like(probabilities).scatter(-1, tokens, kept)
    return probabilities


def generate(
    model: nn.Module,
    token_ids: torch.Tensor,
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos_id: int | None = None,
    prompt_mask: torch.Tensor | None = None,
    use_cache: bool = True,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Continue prompts with a `GPT`, each row on its own.

    The model is put in eval mode meanwhile, and no gradient is recorded.

    Args:
        model: a `GPT`.
        token_ids: integers (B, T), the prompts.
        max_new_tokens: number of tokens to write.
        temperature, top_k, top_p: see `next_token_probabilities`; temperature 0 is greedy.
        eos_id: the token that ends a row; what follows is filled with the configuration's pad_id,
            or with eos_id if that is None. Once every row has ended nothing is computed any more.
        prompt_mask: boolean (B, T), True at real tokens, for prompts of several lengths: the
            shorter ones are filled up on the left.
        use_cache: keep keys and values of the past; without it the same is computed slowly.
        generator: what to draw from; torch's default generator when left out.

    Returns:
        (B, T + max_new_tokens), the prompts included.

    Raises:
        ValueError: an argument is out of range, a prompt is not padded on the left, or there are
            more tokens than learned positions.
        TypeError: the model is no GPT, the ids are not integers, or the mask is not boolean.
    """
    require_prompts(token_ids, prompt_mask)
    require_sampling(temperature, top_k, top_p)
    require_room(model, token_ids.shape[1], max_new_tokens, eos_id)
    B, T = token_ids.shape
    fill = eos_id if model.config.pad_id is None else model.config.pad_id
    tokens = torch.cat([token_ids, token_ids.new_full((B, max_new_tokens), fill or 0)], dim=1)
    mask = positions = None
    if prompt_mask is not None:
        real = torch.cat([prompt_mask, prompt_mask.new_ones(B, max_new_tokens)], dim=1)
        mask = real[:, None, None, :]  # (B, 1, 1, T + new)
        positions = (real.cumsum(dim=1) - 1).clamp(min=0)  # (B, T + new), from 0 at the first token
    ended = torch.zeros(B, dtype=torch.bool, device=tokens.device)
    with evaluating(model):
        caches = [KVCache() for _ in model.blocks] if use_cache else None
        next_logits = _by_model(model, tokens, mask, positions, caches)
        if use_cache and is_plain(model):
            next_logits = _prepared(model, tokens, mask, positions, caches)
        for length in range(T, T + max_new_tokens):
            logits = next_logits(length)  # (B, vocab_size)
            if temperature == 0:
                written = logits.argmax(dim=-1)
            else:
                probabilities = next_token_probabilities(
                    logits, temperature=temperature, top_k=top_k, top_p=top_p
                )
                written = torch.multinomial(probabilities, 1, generator=generator)[:, 0]
            if eos_id is not None:
                written = written.masked_fill(ended, fill)
                ended |= written == eos_id
            tokens[:, length] = written
            if eos_id is not None and known_to_be_done(ended, length):
                break
    return tokens


def _by_model(model, tokens, mask, positions, caches) -> Callable[[int], torch.Tensor]:
    """A function of the length so far: the logits (B, vocab_size) for what comes next.

    With caches each token is computed once.
    """

    def next_logits(length: int) -> torch.Tensor:
        new = slice(caches[0].length if caches else 0, length)
        return model(
            tokens[:, new],
            None if mask is None else mask[..., :length],
            positions=None if positions is None else positions[:, new],
            caches=caches,
        )[:, -1]

    return next_logits


def _prepared(model, tokens, mask, positions, caches) -> Callable[[int], torch.Tensor]:
    """Likewise: the head reads the last token of the prompt, a `PreparedStep` every one after."""
    step = None

    def next_logits(length: int) -> torch.Tensor:
        nonlocal step
        if caches[0].length == 0:
            hidden = model.hidden_states(
                tokens[:, :length],
                None if mask is None else mask[..., :length],
                positions=None if positions is None else positions[:, :length],
                caches=caches,
            )
            return model.head(hidden[:, -1])
        if step is None:
            step = PreparedStep(model, caches, tokens.shape[1], mask, positions)
        return step(tokens[:, length - 1], length - 1)

    return next_logits


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put the model in eval mode, record no gradient, and leave every module as it was."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        for module, training in modes:
            module.training = training


def known_to_be_done(ended: torch.Tensor, length: int) -> bool:
    """Whether all rows (B,) have ended, so far as one knows after so many tokens.

    To ask a GPU is to wait for it: that is done at every 16th token only.
    """
    asks = ended.device.type == "cpu" or length % 16 == 0
    return asks and not ended.is_meta and bool(ended.all())
