"""Writing with an encoder-decoder: greedily, or along several beginnings at once.

Shapes: B batch, T target tokens, S source tokens, K hypotheses in the beam.
"""

import torch
from torch import nn

from companion.generation.sampling import evaluating, known_to_be_done, uncompiled
from companion.nn import KVCache
from companion.validation import require_finite, require_no_nan, require_positive, require_target


def greedy_decode(model: nn.Module, source_ids: torch.Tensor, max_len: int) -> torch.Tensor:
    """Write the target of each source, taking the most probable token at every step.

    The model runs in eval mode, without gradients, and uncompiled: its lengths change.

    Args:
        model: a `Transformer`.
        source_ids: integers (B, S).
        max_len: length of the target, bos_id included; at most the configuration's.

    Returns:
        (B, max_len): bos_id, the target, eos_id, then pad_id to the end. A target that is cut off
        has no eos_id.

    Raises:
        ValueError, TypeError: max_len or an id is out of range, or the model is no encoder-decoder.
        FloatingPointError: the model has diverged (checked on the CPU only).
    """
    require_target(model, source_ids, max_len)
    config = model.config
    target = source_ids.new_full((source_ids.shape[0], max_len), config.pad_id)
    target[:, 0] = config.bos_id
    ended = torch.zeros(len(target), dtype=torch.bool, device=target.device)
    with uncompiled(), evaluating(model):
        memory = model.encode(source_ids)
        caches = [KVCache() for _ in model.decoder_blocks]
        for length in range(1, max_len):
            logits = model.decode(target[:, :length], memory, source_ids, caches=caches)[:, -1]
            require_no_nan(logits)
            written = logits.argmax(dim=-1).masked_fill(ended, config.pad_id)
            target[:, length] = written
            ended |= written == config.eos_id
            if known_to_be_done(ended, length):
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

    At every step the `beam_size` most probable continuations are kept. One that ends leaves the
    beam, and the best of these is the result: the one with the highest log-probability divided by
    ((5 + length) / 6)^length_penalty, where the length counts what follows bos_id. The search stops
    once no beginning can overtake it. If nothing has ended after max_len tokens, the result is the
    most probable beginning. A beam of one is `greedy_decode`.

    Args:
        model, source_ids, max_len: as for `greedy_decode`.
        beam_size: number of beginnings kept; 4 in the original Transformer's paper.
        length_penalty: 0 compares log-probabilities, which fall with every token; higher values
            favour longer targets. The paper's is 0.6.

    Returns:
        (B, max_len), as from `greedy_decode`.

    Raises:
        ValueError: beam_size or length_penalty is out of range, or as for `greedy_decode`.
        TypeError, FloatingPointError: likewise.

    Source: Wu et al. 2016, section 7, equation 14 (https://arxiv.org/abs/1609.08144), without the
    coverage penalty; Vaswani et al. 2017, section 6.1 (https://arxiv.org/abs/1706.03762).
    """
    require_target(model, source_ids, max_len)
    require_positive(beam_size=beam_size)
    require_finite(length_penalty=length_penalty)
    if length_penalty < 0:
        raise ValueError(f"length_penalty must not be negative, got {length_penalty}")
    config, B, K = model.config, source_ids.shape[0], beam_size
    row = torch.arange(B, device=source_ids.device)
    beam = source_ids.new_full((B, K, max_len), config.pad_id)
    beam[..., 0] = config.bos_id
    scores = torch.full((B, K), -torch.inf, device=beam.device)
    scores[:, 0] = 0.0  # all K beginnings are the same
    best, best_score = beam[:, 0].clone(), scores.new_full((B,), -torch.inf)
    with uncompiled(), evaluating(model):
        memory = model.encode(source_ids).repeat_interleave(K, dim=0)  # (B * K, S, d_model)
        sources = source_ids.repeat_interleave(K, dim=0)  # (B * K, S)
        caches = [KVCache() for _ in model.decoder_blocks]
        for length in range(1, max_len):
            logits = model.decode(beam[..., :length].flatten(0, 1), memory, sources, caches=caches)
            exact = torch.promote_types(logits.dtype, torch.float32)
            log_probabilities = logits[:, -1].log_softmax(-1, dtype=exact).unflatten(0, (B, K))
            require_no_nan(log_probabilities)
            candidates = scores[..., None] + log_probabilities  # (B, K, vocab_size)
            scores, index = candidates.flatten(1).topk(K)
            origin, token = index // logits.shape[-1], index % logits.shape[-1]  # (B, K) each
            beam = beam[row[:, None], origin]
            beam[..., length] = token
            for cache in caches:
                cache.select((row[:, None] * K + origin).flatten())

            ended = token == config.eos_id
            final = scores.masked_fill(~ended, -torch.inf) / penalty(length, length_penalty)
            score, which = final.max(dim=-1)
            better = score > best_score
            best.copy_(torch.where(better[:, None], beam[row, which], best))
            best_score = torch.where(better, score, best_score)
            scores = scores.masked_fill(ended, -torch.inf)
            reachable = scores.amax(dim=-1) / penalty(max_len - 1, length_penalty)
            if known_to_be_done(best_score >= reachable, length):
                break
        unended = best_score == -torch.inf
        most_probable = beam[row, scores.argmax(dim=-1)]
        best.copy_(torch.where(unended[:, None], most_probable, best))  # can be trained on
    return best


def penalty(length: int, alpha: float) -> float:
    """What the log-probability of a target is divided by, so that long ones have a chance."""
    return ((5 + length) / 6) ** alpha
