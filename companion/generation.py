"""Writing with a model, token by token: sampling from a GPT, decoding with an encoder-decoder.

Shapes: B batch, T tokens, S source tokens, K hypotheses in the beam.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from companion.nn import KVCache
from companion.validation import (
    require_number,
    require_positive,
    require_tensor,
    require_tokens,
)

__all__ = ["beam_search", "generate", "greedy_decode", "next_token_probabilities"]


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
    logits = logits.to(wide(logits.dtype))
    if temperature == 0:
        return nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    logits = logits - logits.amax(dim=-1, keepdim=True)  # so that a low temperature overflows never
    probabilities = (logits / temperature).softmax(dim=-1)
    if top_k is not None:
        kept, tokens = probabilities.topk(min(top_k, logits.shape[-1]), dim=-1)
        kept = kept / kept.sum(dim=-1, keepdim=True)
        probabilities = torch.zeros_like(probabilities).scatter(-1, tokens, kept)
    if top_p is not None and top_p < 1:
        ordered, tokens = probabilities.sort(dim=-1, descending=True)
        before = ordered.cumsum(dim=-1) - ordered  # mass of the more probable tokens
        kept = ordered.masked_fill(before >= top_p, 0.0)
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
    stop = T + max_new_tokens
    fill = eos_id if model.config.pad_id is None else model.config.pad_id
    tokens = torch.cat([token_ids, token_ids.new_full((B, max_new_tokens), fill or 0)], dim=1)
    mask = positions = None
    if prompt_mask is not None:
        real = torch.cat([prompt_mask, prompt_mask.new_ones(B, max_new_tokens)], dim=1)
        mask = real[:, None, None, :]  # (B, 1, 1, stop)
        positions = (real.cumsum(dim=1) - 1).clamp(min=0)  # (B, stop), from 0 at the first token
    caches = [KVCache() for _ in model.blocks] if use_cache else None
    seen = 0  # tokens that the caches hold
    ended = torch.zeros(B, dtype=torch.bool, device=tokens.device)
    with evaluating(model):
        for length in range(T, stop):
            logits = model(
                tokens[:, seen:length],
                None if mask is None else mask[..., :length],
                positions=None if positions is None else positions[:, seen:length],
                caches=caches,
            )[:, -1]
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
            if eos_id is not None and ended.all():
                break
            if use_cache:
                seen = length
    return tokens


def greedy_decode(model: nn.Module, source_ids: torch.Tensor, max_len: int) -> torch.Tensor:
    """Write the target of each source, at each step with the most probable token.

    The model is put in eval mode meanwhile, and no gradient is recorded.

    Args:
        model: a `Transformer`.
        source_ids: integers (B, S).
        max_len: length of the target, bos_id included; at most the configuration's.

    Returns:
        (B, max_len): bos_id, the target, eos_id, and pad_id to the end. A target that did not end
        in time has no eos_id.

    Raises:
        ValueError: max_len is out of range, or an id is.
        TypeError: the model is no encoder-decoder, or the ids are not integers.
    """
    require_target(model, source_ids, max_len)
    config = model.config
    target = source_ids.new_full((source_ids.shape[0], max_len), config.pad_id)
    target[:, 0] = config.bos_id
    ended = torch.zeros(len(target), dtype=torch.bool, device=target.device)
    with evaluating(model):
        memory = model.encode(source_ids)
        caches = [KVCache() for _ in model.decoder_blocks]
        for length in range(1, max_len):
            logits = model.decode(target[:, :length], memory, source_ids, caches=caches)[:, -1]
            written = logits.argmax(dim=-1).masked_fill(ended, config.pad_id)
            target[:, length] = written
            ended |= written == config.eos_id
            if ended.all():
                break
    return target


def beam_search(
    model: nn.Module,
    source_ids: torch.Tensor,
    max_len: int,
    *,
    beam_size: int = 4,
    length_penalty: float = 0.6,
) -> torch.Tensor:
    """Write the target of each source, following the most probable beginnings at once.

    Of all continuations of the `beam_size` beginnings, as many are kept. One that ends leaves the
    beam, and the best of those is the result: the one with the highest log-probability divided by
    ((5 + length) / 6)^length_penalty, where the length counts what follows bos_id. The search stops
    when no beginning can overtake it any more. If nothing has ended after max_len tokens, the
    result is the most probable beginning. A beam of one is `greedy_decode`.

    The model is put in eval mode meanwhile, and no gradient is recorded.

    Args:
        model: a `Transformer`.
        source_ids: integers (B, S).
        max_len: length of the target, bos_id included; at most the configuration's.
        beam_size: number of beginnings that are kept, 4 in the original Transformer's paper.
        length_penalty: 0 compares log-probabilities, which fall with every token; the higher, the
            longer the targets. The paper's is 0.6.

    Returns:
        (B, max_len), as from `greedy_decode`.

    Raises:
        ValueError: max_len, beam_size or length_penalty is out of range, or an id is.
        TypeError: the model is no encoder-decoder, or the ids are not integers.

    Source: Wu et al. 2016, section 7, equation 14 (https://arxiv.org/abs/1609.08144), without the
    coverage penalty; Vaswani et al. 2017, section 6.1 (https://arxiv.org/abs/1706.03762).
    """
    require_target(model, source_ids, max_len)
    require_positive(beam_size=beam_size)
    require_number(length_penalty=length_penalty)
    if not length_penalty >= 0:
        raise ValueError(f"length_penalty must not be negative, got {length_penalty}")
    config, B, K = model.config, source_ids.shape[0], beam_size
    row = torch.arange(B, device=source_ids.device)
    beam = source_ids.new_full((B, K, max_len), config.pad_id)
    beam[..., 0] = config.bos_id
    scores = torch.full((B, K), -torch.inf, device=beam.device)
    scores[:, 0] = 0.0  # the K beginnings are still one and the same
    best, best_score = beam[:, 0].clone(), scores.new_full((B,), -torch.inf)
    with evaluating(model):
        memory = model.encode(source_ids).repeat_interleave(K, dim=0)  # (B * K, S, d_model)
        sources = source_ids.repeat_interleave(K, dim=0)
        caches = [KVCache() for _ in model.decoder_blocks]
        for length in range(1, max_len):
            logits = model.decode(beam[..., :length].flatten(0, 1), memory, sources, caches=caches)
            log_probabilities = logits[:, -1].log_softmax(-1, dtype=wide(logits.dtype))
            candidates = scores[..., None] + log_probabilities.unflatten(0, (B, K))
            scores, index = candidates.flatten(1).topk(K)  # (B, K) of (B, K * vocab_size)
            origin, token = index // config.vocab_size, index % config.vocab_size
            beam = beam[row[:, None], origin]
            beam[..., length] = token
            for cache in caches:
                cache.select((row[:, None] * K + origin).flatten())

            ended = token == config.eos_id
            final = scores.masked_fill(~ended, -torch.inf) / penalty(length, length_penalty)
            score, which = final.max(dim=-1)
            better = score > best_score
            best[better] = beam[row, which][better]
            best_score = torch.where(better, score, best_score)
            scores = scores.masked_fill(ended, -torch.inf)
            reachable = scores.amax(dim=-1) / penalty(max_len - 1, length_penalty)
            if (best_score >= reachable).all():
                break
        unended = best_score == -torch.inf
        best[unended] = beam[row, scores.argmax(dim=-1)][unended]
    return best


def penalty(length: int, alpha: float) -> float:
    """What the log-probability of a target is divided by, so that long ones have a chance."""
    return ((5 + length) / 6) ** alpha


def wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype that probabilities are computed in: float32, or float64 for float64."""
    return torch.promote_types(dtype, torch.float32)


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


def require_sampling(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Raise unless the arguments of `next_token_probabilities` are in range."""
    require_number(temperature=temperature)
    if not 0 <= temperature < float("inf"):
        raise ValueError(
            f"temperature must be at least 0 and finite, got {temperature}; 0 is greedy"
        )
    if top_k is not None:
        require_positive(top_k=top_k)
    if top_p is not None:
        require_number(top_p=top_p)
        if not 0 < top_p <= 1:
            raise ValueError(f"top_p is a share in (0, 1], got {top_p}; leave it out to keep all")


def require_prompts(token_ids: torch.Tensor, prompt_mask: torch.Tensor | None) -> None:
    """Raise unless there is a token to continue in every row, on the right of its padding."""
    require_tokens("token_ids", token_ids)
    if token_ids.shape[1] == 0:
        raise ValueError("a prompt needs at least one token; start with the token for a beginning")
    if prompt_mask is None:
        return
    require_tensor("prompt_mask", prompt_mask)
    if prompt_mask.dtype != torch.bool:
        raise TypeError(
            f"prompt_mask must be boolean with True at real tokens, got {prompt_mask.dtype}; "
            "write prompt_mask == 1 for a mask of ones and zeros"
        )
    if prompt_mask.shape != token_ids.shape:
        raise ValueError(
            "prompt_mask must have the shape of token_ids, "
            f"got {tuple(prompt_mask.shape)} and {tuple(token_ids.shape)}"
        )
    if not prompt_mask[:, -1].all() or (prompt_mask[:, :-1] & ~prompt_mask[:, 1:]).any():
        raise ValueError(
            "prompt_mask must be False on the left of a row and True from there on; "
            "pad short prompts on the left, since they are continued on the right"
        )


def require_room(model: nn.Module, length: int, max_new_tokens: int, eos_id: int | None) -> None:
    """Raise unless the model is a GPT that can write so many tokens after so many."""
    config = getattr(model, "config", None)
    if not hasattr(config, "positions"):
        raise TypeError(
            f"a GPT is needed, got {type(model).__name__}; "
            "use greedy_decode or beam_search for an encoder-decoder"
        )
    if max_new_tokens != 0:
        require_positive(max_new_tokens=max_new_tokens)
    length += max_new_tokens
    if config.positions == "learned" and length > config.max_len:
        raise ValueError(
            f"prompt and new tokens make {length}, but only max_len = {config.max_len} positions "
            "have been learned; write fewer tokens or shorten the prompt"
        )
    if eos_id is None:
        return
    if isinstance(eos_id, bool) or not isinstance(eos_id, int):
        raise TypeError(f"eos_id must be an int, got {eos_id!r} of type {type(eos_id).__name__}")
    if not 0 <= eos_id < config.vocab_size:
        raise ValueError(f"eos_id must lie in [0, {config.vocab_size}), got {eos_id}")


def require_target(model: nn.Module, source_ids: torch.Tensor, max_len: int) -> None:
    """Raise unless the model is an encoder-decoder that is made for targets of this length."""
    require_tokens("source_ids", source_ids)
    if not hasattr(model, "decoder_blocks"):
        raise TypeError(
            f"an encoder-decoder is needed, got {type(model).__name__}; use generate for a GPT"
        )
    require_positive(max_len=max_len)
    if max_len > model.config.max_len:
        raise ValueError(
            f"max_len = {max_len} exceeds the model's max_len = {model.config.max_len}"
        )
