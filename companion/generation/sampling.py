"""Writing with a GPT, token by token.

Shapes: B batch, T tokens.
"""

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext

import torch
import torch.nn.functional as F
from torch import nn

from companion.nn import KVCache
from companion.validation import (
    has_values,
    require_ended,
    require_no_nan,
    require_prompt_mask,
    require_prompts,
    require_sampling,
    require_tensor,
)


def next_token_probabilities(
    logits: torch.Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> torch.Tensor:
    """The distribution that the next token is drawn from: sharpened or flattened, then cut.

    Args:
        logits: (B, vocab_size).
        temperature: divides the logits; below 1 sharpens, above 1 flattens, 0 leaves the best only.
        top_k: keep the k most probable tokens.
        top_p: keep the fewest most probable tokens that have this share of what top_k left.
        min_p: keep tokens that are at least this times as probable as the most probable one.

    Returns:
        (B, vocab_size), 0 for tokens that were cut; every row sums to 1.

    Raises:
        ValueError: an argument is out of range.
        FloatingPointError: a row has NaN, or is infinite at its best (checked on the CPU only).

    Source: top-k: Fan et al. 2018, section 5.4 (https://arxiv.org/abs/1805.04833); top-p, or
    nucleus: Holtzman et al. 2020, section 3.1 (https://arxiv.org/abs/1904.09751); min-p: Nguyen et
    al. 2024, section 3 (https://arxiv.org/abs/2407.01082).
    """
    require_sampling(temperature, top_k, top_p, min_p)
    require_tensor("logits", logits)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if temperature < torch.finfo(logits.dtype).tiny:  # 0, or too small to divide by
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    logits = logits - logits.amax(dim=-1, keepdim=True)  # so that a low temperature overflows never
    probabilities = (logits / temperature).softmax(dim=-1)
    cuts_top_p = top_p is not None and top_p < 1
    if top_k is not None or cuts_top_p:
        k = min(top_k or logits.shape[-1], logits.shape[-1])
        kept, tokens = probabilities.topk(k, dim=-1)  # the most probable first
        if cuts_top_p:
            kept = kept / kept.sum(dim=-1, keepdim=True)
            before = kept.cumsum(dim=-1) - kept  # mass of the more probable tokens
            # .5 + .3 has reached .8, though the sum may be a little below; likewise for min_p
            kept = kept.masked_fill(before >= top_p * (1 - 1e-6), 0.0)
        probabilities = torch.zeros_like(probabilities).scatter(-1, tokens, kept)
    if min_p is not None:
        best = probabilities.amax(dim=-1, keepdim=True)
        probabilities = probabilities.masked_fill(probabilities < min_p * best * (1 - 1e-6), 0.0)
    require_no_nan(probabilities)
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


def generate(
    model: nn.Module,
    token_ids: torch.Tensor,
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    eos_id: int | Collection[int] | None = None,
    stop: Callable[[torch.Tensor], torch.Tensor] | None = None,
    prompt_mask: torch.Tensor | None = None,
    use_cache: bool = True,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Continue prompts with a `GPT`, each row on its own.

    The model itself computes every token, with all that was replaced in it or hooked to it, in eval
    mode and without gradients; a compiled one as if it were not, since its lengths change. Nor are
    steps replayed as a CUDA graph, which would leave the hooks out: see `KVCache` for such a loop.

    Args:
        model: a `GPT`.
        token_ids: integers (B, T), the prompts.
        max_new_tokens: number of tokens to write.
        temperature, top_k, top_p, min_p: see `next_token_probabilities`; temperature 0 is greedy.
        eos_id: the token that ends a row, or several; what follows is filled with the
            configuration's pad_id, or with the (first) eos_id if that is None. Once every row has
            ended nothing is computed any more.
        stop: stop(tokens (B, so far)) says which rows end here, (B,).
        prompt_mask: boolean (B, T), True at real tokens, for prompts of several lengths: the
            shorter ones are filled up on the left.
        use_cache: keep keys and values of the past; without it the same is computed slowly.
        generator: what to draw from; torch's default generator when left out.

    Returns:
        (B, T + max_new_tokens), the prompts included.

    Raises:
        ValueError, TypeError: an argument is out of range or of another kind, a prompt is not
            padded on the left, or there are more tokens than learned positions.
        FloatingPointError: the model has diverged (checked on the CPU only).
    """
    cuts = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    tokens, steps = _write(
        model, token_ids, max_new_tokens, cuts, eos_id, stop, prompt_mask, use_cache, generator
    )
    with writing(model):
        for _ in steps:
            pass
    return tokens


def stream(
    model: nn.Module,
    token_ids: torch.Tensor,
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    eos_id: int | Collection[int] | None = None,
    stop: Callable[[torch.Tensor], torch.Tensor] | None = None,
    prompt_mask: torch.Tensor | None = None,
    use_cache: bool = True,
    generator: torch.Generator | None = None,
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """What `generate` writes, as it comes, with how probable the model found it.

    Arguments and errors are those of `generate`. Between two tokens the model is as it was.

    Yields:
        tokens (B,) and their log-probabilities (B,), those of the model before temperature and
        cuts; 0 for what fills an ended row.
    """
    cuts = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    _, steps = _write(
        model, token_ids, max_new_tokens, cuts, eos_id, stop, prompt_mask, use_cache, generator
    )

    def written():
        while True:
            with writing(model):
                step = next(steps, None)
            if step is None:
                return
            token, logits, had_ended = (x.clone() for x in step)
            found = logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
            found = found.gather(-1, token[:, None])[:, 0]
            yield token, found.masked_fill(had_ended, 0.0)

    return written()


def _write(
    model, token_ids, max_new_tokens, cuts, eos_id, stop, prompt_mask, use_cache, generator
) -> tuple[torch.Tensor, Iterator]:
    """The prompts with room for what is written, and the steps that write it there.

    A step gives its token (B,), the logits (B, vocab_size), and which rows had ended (B,) before.
    """
    ends = eos_id if isinstance(eos_id, Collection) else () if eos_id is None else (eos_id,)
    require_prompts(model, token_ids, max_new_tokens, ends)
    require_sampling(**cuts)
    (B, T), n = token_ids.shape, max_new_tokens
    fill = next(iter(ends), None) if model.config.pad_id is None else model.config.pad_id
    if stop is not None and fill is None:
        raise ValueError("rows that stop are filled with eos_id, since there is no pad_id; give it")
    tokens = torch.cat([token_ids, token_ids.new_full((B, n), fill or 0)], dim=1)
    if prompt_mask is not None:
        require_prompt_mask(prompt_mask, token_ids)
        real = torch.cat([prompt_mask, prompt_mask.new_ones(B, n)], dim=1)
        mask = real[:, None, None, :]  # (B, 1, 1, T + n)
        positions = (real.cumsum(dim=1) - 1).clamp(min=0)  # (B, T + n), from 0 at the first token

    def steps():
        caches = [KVCache() for _ in model.blocks] if use_cache else None
        ended = torch.zeros(B, dtype=torch.bool, device=tokens.device)
        for length in range(T, T + n):
            new = slice(caches[0].length if caches else 0, length)
            look = {"caches": caches}
            if prompt_mask is not None:
                look |= {"mask": mask[..., :length], "positions": positions[:, new]}
            is_prompt = caches and length == T
            with model.head.register_forward_pre_hook(_last) if is_prompt else nullcontext():
                logits = model(tokens[:, new], **look)[:, -1]
            if cuts["temperature"] == 0:
                require_no_nan(logits)
                token = logits.argmax(dim=-1)
            else:
                token = drawn(next_token_probabilities(logits, **cuts), generator)
            had_ended = ended
            if ends or stop is not None:
                token = token.masked_fill(ended, fill)
            tokens[:, length] = token
            for end in ends:
                ended = ended | (token == end)
            if stop is not None:
                rows = torch.as_tensor(stop(tokens[:, : length + 1]), device=ended.device)
                require_ended(rows, B)
                ended = ended | rows
            yield token, logits, had_ended
            if (ends or stop is not None) and known_to_be_done(ended, length):
                return

    return tokens, steps()


def _last(head: nn.Module, inputs: tuple) -> tuple | None:
    """What a head is to read of a prompt's (B, T, d_model): the last token, which alone counts."""
    if inputs and inputs[0].dim() == 3:  # a subclass may call its head otherwise
        return (inputs[0][:, -1:], *inputs[1:])
    return None


def drawn(probabilities: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """A token (B,) of each distribution (B, vocab_size): the first of waiting times of these rates.

    No device has to wait for it, as for the checks of torch.multinomial.
    """
    waiting = torch.empty_like(probabilities).exponential_(generator=generator)
    return (probabilities / waiting).argmax(dim=-1)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put the model in eval mode, record no gradient, and leave every module as it was."""
    training = [module for module in model.modules() if module.training]
    for module in training:
        module.training = False
    try:
        with torch.inference_mode():
            yield
    finally:
        for module in training:
            module.training = True


@contextmanager
def writing(model: nn.Module) -> Iterator[None]:
    """`evaluating`, where nothing is compiled: a growing cache would be again at every length."""
    compiles = "torch._dynamo" in sys.modules
    with torch.compiler.set_stance("force_eager") if compiles else nullcontext(), evaluating(model):
        yield


def known_to_be_done(ended: torch.Tensor, length: int) -> bool:
    """Whether all rows (B,) have ended, so far as one knows after so many tokens.

    To ask a GPU is to wait for it: that is done at every 16th token only.
    """
    asks = ended.device.type == "cpu" or length % 16 == 0
    return asks and has_values(ended) and bool(ended.all())
