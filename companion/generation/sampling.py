"""Writing with a GPT, token by token.

Shapes: B batch, T tokens.
"""

import inspect
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TypedDict, Unpack
from weakref import WeakKeyDictionary

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
        temperature: divides the logits; below 1 sharpens, above 1 flattens, 0 keeps the best alone.
        top_k: keep the k most probable tokens.
        top_p: of those that top_k left, keep the most probable until they have this share.
        min_p: keep tokens at least this many times as probable as the most probable one.

    Returns:
        (B, vocab_size), 0 for tokens that were cut; every row sums to 1.

    Raises:
        ValueError: an argument is out of range.
        FloatingPointError: a row has NaN, or its largest logit is infinite (checked on the CPU
            only).

    Source: top-k: Fan et al. 2018, section 5.4 (https://arxiv.org/abs/1805.04833); top-p, or
    nucleus: Holtzman et al. 2020, section 3.1 (https://arxiv.org/abs/1904.09751); min-p: Nguyen et
    al. 2024, section 3 (https://arxiv.org/abs/2407.01082).
    """
    require_sampling(temperature, top_k, top_p, min_p)
    require_tensor("logits", logits)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if temperature < torch.finfo(logits.dtype).tiny:  # 0, or too small to divide by
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    logits = logits - logits.amax(dim=-1, keepdim=True)  # no low temperature overflows
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


class Writing(TypedDict, total=False):
    """The keyword arguments of `generate` and `stream`, whose defaults are those of `_write`."""

    temperature: float
    top_k: int | None
    top_p: float | None
    min_p: float | None
    eos_id: int | Collection[int] | None
    stop: Callable[[torch.Tensor], torch.Tensor] | None
    prompt_mask: torch.Tensor | None
    use_cache: bool
    generator: torch.Generator | None


def generate(
    model: nn.Module, token_ids: torch.Tensor, max_new_tokens: int, **how: Unpack[Writing]
) -> torch.Tensor:
    """Continue prompts with a `GPT`, each row on its own.

    The model itself computes every token, with everything that was replaced in it or hooked to it,
    in eval mode and without gradients. If it is compiled, whole or in parts, the prompt is read
    uncompiled, since prompts differ in length, and every later step runs compiled, over caches of
    fixed size: it is compiled once, for all calls of similar sizes. With mode="reduce-overhead" a
    GPU replays the step as a CUDA graph. Without a cache nothing runs compiled.

    >>> import torch
    >>> from companion.models import GPT, GPTConfig
    >>> model = GPT(GPTConfig.preset("gpt2", d_model=8, num_layers=1, num_heads=2, d_ff=16))
    >>> generate(model, torch.tensor([[464, 3290]]), 5, temperature=0.8, top_k=50).shape
    torch.Size([1, 7])

    Args:
        model: a `GPT`.
        token_ids: integers (B, T), the prompts.
        max_new_tokens: number of tokens to write.
        temperature, top_k, top_p, min_p: see `next_token_probabilities`; temperature 0 is greedy.
        eos_id: the token that ends a row, or several; what follows is filled with the
            configuration's pad_id, or with the (first) eos_id if that is None. Once every row has
            ended, nothing more is computed.
        stop: stop(tokens (B, so far)) says which rows end here, (B,).
        prompt_mask: boolean (B, T), True at real tokens, for prompts of different lengths: the
            shorter ones are padded on the left.
        use_cache: keep the keys and values of the past; without them the result is the same, and
            slow.
        generator: what to draw from; torch's default generator when left out.

    Returns:
        (B, T + max_new_tokens), the prompts included.

    Raises:
        ValueError, TypeError: an argument is out of range or of another kind, a prompt is not
            padded on the left, or there are more tokens than learned positions.
        FloatingPointError: the model has diverged (checked on the CPU only).
    """
    tokens, steps = _write(model, token_ids, max_new_tokens, **how)
    with writing(model):
        for _ in steps:
            pass
    return tokens


def stream(
    model: nn.Module, token_ids: torch.Tensor, max_new_tokens: int, **how: Unpack[Writing]
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """What `generate` writes, token by token, with how probable the model found each one.

    Arguments and errors are those of `generate`. Between two tokens the model is as it was.

    >>> import torch
    >>> from companion.models import GPT, GPTConfig
    >>> model = GPT(GPTConfig.preset("gpt2", d_model=8, num_layers=1, num_heads=2, d_ff=16))
    >>> for token, log_probability in stream(model, torch.tensor([[464, 3290]]), 2):
    ...     print(token.shape, log_probability.shape)
    torch.Size([1]) torch.Size([1])
    torch.Size([1]) torch.Size([1])

    Yields:
        tokens (B,) and their log-probabilities (B,), those of the model before temperature and
        cuts; 0 for what fills an ended row.
    """
    _, steps = _write(model, token_ids, max_new_tokens, **how)

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
) -> tuple[torch.Tensor, Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]]:
    """The prompts with room for what is written, and the steps that write it there.

    A step gives its token (B,), the logits (B, vocab_size), and which rows had ended (B,) before.
    """
    cuts = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
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

    def steps():
        ended = torch.zeros(B, dtype=torch.bool, device=tokens.device)
        for length, logits in enumerate(_read(model, tokens, T, prompt_mask, use_cache), T):
            if temperature == 0:
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


# What help() shows: the parameters of `_write`, with their defaults.
_signature = inspect.signature(_write)
generate.__signature__ = _signature.replace(return_annotation=torch.Tensor)  # type: ignore[attr-defined]
stream.__signature__ = _signature.replace(  # type: ignore[attr-defined]
    return_annotation=Iterator[tuple[torch.Tensor, torch.Tensor]]
)


def _read(
    model: nn.Module,
    tokens: torch.Tensor,
    T: int,
    prompt_mask: torch.Tensor | None,
    use_cache: bool,
) -> Iterator[torch.Tensor]:
    """The logits (B, vocab_size) behind a prompt, tokens[:, :T], and behind every later token.

    A token is read when the next logits are asked for. After the prompt, what is compiled runs
    compiled, over caches that neither grow nor move: a CUDA graph finds them where they were.
    """
    (B, end), is_fixed, compiled = tokens.shape, False, _is_compiled(model)
    capacity = 1 << (end - 1).bit_length()  # a power of two, so that few sizes are compiled
    if prompt_mask is not None:
        real = torch.cat([prompt_mask, prompt_mask.new_ones(B, capacity - T)], dim=1)
        mask = real[:, None, None, :]  # (B, 1, 1, capacity)
        positions = (real.cumsum(dim=1) - 1).clamp(min=0)  # (B, capacity), from 0 at the first real
    caches = [KVCache() for _ in model.blocks] if use_cache else None
    with ExitStack() as stack:
        for length in range(T, end):
            if compiled and caches and length == T + 1 and caches[0].length == T:
                caches, is_fixed = stack.enter_context(_fixed(model, caches, capacity)), True
            start = length - 1 if is_fixed else caches[0].length if caches else 0
            look = {"caches": caches}
            if prompt_mask is not None:
                seen = mask if is_fixed else mask[..., :length]
                look |= {"mask": seen, "positions": positions[:, start:length].contiguous()}
            new = tokens[:, start:length]
            if is_fixed:
                torch.compiler.cudagraph_mark_step_begin()  # the last step's logits are done with
                new = new.clone(memory_format=torch.contiguous_format)  # of the same strides always
                yield model(new, **look)[:, -1]
                continue
            is_prompt = caches and length == T
            with (
                uncompiled() if compiled else nullcontext(),
                model.head.register_forward_pre_hook(_last) if is_prompt else nullcontext(),
            ):
                logits = model(new, **look)[:, -1]
            yield logits


def _last(head: nn.Module, inputs: tuple) -> tuple | None:
    """Of a prompt's (B, T, d_model) a head reads the last token only: no other logits are used."""
    if inputs and inputs[0].dim() == 3:  # a subclass may call its head otherwise
        return (inputs[0][:, -1:], *inputs[1:])
    return None


def drawn(probabilities: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """A token (B,) from each distribution (B, vocab_size): the shortest of waiting times of these
    rates. No GPU waits for it, as it would for the checks of torch.multinomial.
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


def uncompiled() -> AbstractContextManager:
    """A context in which what is compiled runs as if it were not."""
    compiles = "torch._dynamo" in sys.modules
    return torch.compiler.set_stance("force_eager") if compiles else nullcontext()


@contextmanager
def writing(model: nn.Module) -> Iterator[None]:
    """`evaluating`, and `uncompiled` unless the model or a part of it is a compiled module."""
    with nullcontext() if _is_compiled(model) else uncompiled(), evaluating(model):
        yield


def _is_compiled(model: nn.Module) -> bool:
    """Whether the model or a part of it went through torch.compile, or its own compile()."""
    return "torch._dynamo" in sys.modules and any(
        hasattr(call, "_torchdynamo_orig_callable")
        for part in model.modules()
        for call in (part.forward, part._compiled_call_impl)
    )


# The caches of fixed size that a compiled model last wrote with.
_kept: WeakKeyDictionary[nn.Module, tuple[list, list[KVCache]]] = WeakKeyDictionary()


@contextmanager
def _fixed(model: nn.Module, grown: list[KVCache], capacity: int) -> Iterator[list[KVCache]]:
    """Caches of this capacity that hold what these hold, in the tensors of the last call if they
    fit: a CUDA graph is recorded anew for others."""
    held = [x for cache in grown for x in (cache.key, cache.value)]
    sizes = [(capacity, x.shape[:2], x.shape[-1], x.dtype, x.device) for x in held]
    kept_sizes, caches = _kept.pop(model, (None, None))
    if kept_sizes != sizes:
        caches = [KVCache(capacity) for _ in grown]
    for cache, full in zip(caches, grown, strict=True):
        for old in () if cache.key is None else (cache.key, cache.value, cache.length):
            old.zero_()
        cache.append(full.key, full.value)
    try:
        yield caches
    finally:
        _kept[model] = sizes, caches


def known_to_be_done(ended: torch.Tensor, length: int) -> bool:
    """Whether all rows (B,) are known to have ended at this length.

    Asking a GPU means waiting for it, so it is asked at every 16th token only.
    """
    asks = ended.device.type == "cpu" or length % 16 == 0
    return asks and has_values(ended) and bool(ended.all())
