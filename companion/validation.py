"""What the package may be given: every floor imports this leaf, and it imports none of them.

Messages say what came, what was expected and what to do.
"""

from numbers import Real

import torch

INTS = (int, torch.SymInt)  # a SymInt is a length that torch.export leaves open


def require_tensor(name: str, x) -> None:
    """Raise unless `x` is a tensor."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(x).__name__}")


def has_values(x: torch.Tensor) -> bool:
    """Whether one may ask a tensor for its values: not while compiling, tracing or mapping."""
    return not (
        x.is_meta
        or torch.compiler.is_compiling()
        or torch._C._are_functorch_transforms_active()  # vmap, grad
        or torch.utils._python_dispatch._get_current_dispatch_mode() is not None  # fake, make_fx
    )


def require_no_nan(x: torch.Tensor) -> None:
    """Raise if logits, or what was made of them, show that a model has diverged.

    Looks at CPU tensors only: no GPU is made to wait.
    """
    if x.device.type == "cpu" and x.numel() and has_values(x) and x.max().isnan():
        raise FloatingPointError(
            "the model's logits are NaN or infinite, so there is no token to choose: its weights "
            "have diverged in training, or its numbers overflow in half precision"
        )


def require_positive(**sizes: int) -> None:
    """Raise unless every named size is an int of at least 1."""
    _require_at_least(1, sizes)


def require_not_negative(**counts: int) -> None:
    """Raise unless every named count is an int of at least 0."""
    _require_at_least(0, counts)


def _require_at_least(least: int, numbers: dict) -> None:
    if torch.jit.is_tracing():  # where every size is a tensor
        return
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, INTS):
            raise TypeError(f"{name} must be an int, got {number!r}, a {type(number).__name__}")
        if number < least:
            raise ValueError(f"{name} must be at least {least}, got {number}")


def require_even(**sizes: int) -> None:
    """Raise unless every named size is a positive even int."""
    require_positive(**sizes)
    for name, size in sizes.items():
        if size % 2:
            raise ValueError(
                f"{name} must be even, since its entries are used in pairs; got {size}, "
                f"use {size + 1}"
            )


def require_number(**values: float) -> None:
    """Raise unless every named value is a number, whole or not."""
    for name, value in values.items():
        if not isinstance(value, Real):
            raise TypeError(f"{name} must be a number, got {value!r}, a {type(value).__name__}")


def require_finite(**values: float) -> None:
    """Raise unless every named value is a finite number, whole or not."""
    require_number(**values)
    for name, value in values.items():
        if not -float("inf") < value < float("inf"):
            raise ValueError(f"{name} must be finite, got {value}")


def require_positive_number(**values: float) -> None:
    """Raise unless every named value is a finite number above 0, whole or not."""
    require_number(**values)
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")
    require_finite(**values)


def require_probability(**values: float) -> None:
    """Raise unless every named value lies in [0, 1)."""
    require_number(**values)
    for name, value in values.items():
        if not 0.0 <= value < 1.0:
            raise ValueError(f"{name} must be in [0, 1), got {value}")


def require_choice(name: str, value: str, choices) -> None:
    """Raise unless `value` is one of `choices`."""
    if value not in tuple(choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}")


def require_heads(
    d_model: int, num_heads: int, num_kv_heads: int | None, d_k: int | None, d_v: int | None
) -> None:
    """Raise unless d_model divides into heads of width d_k and d_v, where these are left out."""
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    require_positive(d_model=d_model, num_heads=num_heads, num_kv_heads=num_kv_heads)
    if d_model % num_heads and (d_k is None or d_v is None):
        raise ValueError(
            f"d_model = {d_model} does not divide into num_heads = {num_heads}; "
            "choose a multiple, or give d_k and d_v"
        )
    if num_heads % num_kv_heads:
        raise ValueError(
            f"num_heads = {num_heads} must be a multiple of num_kv_heads = {num_kv_heads}, "
            "so that every key head serves as many query heads"
        )
    for name, width in (("d_k", d_k), ("d_v", d_v)):
        if width is not None:
            require_positive(**{name: width})


def require_features(name: str, x: torch.Tensor, layout: str, width: int) -> None:
    """Raise unless `x` is a floating tensor `width` wide with a `layout` like "(B, T, d_model)"."""
    require_tensor(name, x)
    if not x.is_floating_point():
        raise TypeError(f"{name} must be a floating tensor, got {x.dtype}; embed token ids first")
    if x.dim() != layout.count(",") + 1 or x.shape[-1] != width:
        last = layout.strip("()").split(",")[-1].strip()
        raise ValueError(
            f"{name} must have shape {layout} with {last} = {width}, got {tuple(x.shape)}"
        )


def require_integers(name: str, ids: torch.Tensor) -> None:
    """Raise unless `ids` is a tensor that can index (int32 or int64)."""
    require_tensor(name, ids)
    if ids.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"{name} must be int64 or int32, got {ids.dtype}; convert with .long()")


def require_text(name: str, text: str) -> None:
    """Raise unless `text` is a string that can be written as bytes."""
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a str, got {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} has half of a character, {text[error.start]!r}, at place {error.start}; it "
            'was cut or read wrongly, and text.encode("utf8", "replace").decode() writes "?" there'
        ) from None


def require_tokens(name: str, ids: torch.Tensor) -> None:
    """Raise unless `ids` is an integer tensor (B, T)."""
    require_integers(name, ids)
    if ids.dim() != 2:
        raise ValueError(
            f"{name} must have shape (B, T), got {tuple(ids.shape)}; "
            "one sequence alone becomes a batch with ids[None]"
        )


def require_token_id(name: str, token: int, vocab_size: int) -> None:
    """Raise unless `token` is the id of a token."""
    if isinstance(token, bool) or not isinstance(token, int):
        raise TypeError(f"{name} must be an int, got {token!r} of type {type(token).__name__}")
    if not 0 <= token < vocab_size:
        raise ValueError(f"{name} must lie in [0, vocab_size) = [0, {vocab_size}), got {token}")


def require_in_range(name: str, ids: torch.Tensor, size: int, remedy: str) -> None:
    """Raise unless every id lies in [0, size).

    Reads values, so it looks only at CPU tensors outside compiled code: no GPU is made to wait.
    """
    require_integers(name, ids)
    if ids.device.type != "cpu" or ids.numel() == 0 or not has_values(ids):
        return
    low, high = (bound.item() for bound in ids.aminmax())
    if low < 0 or high >= size:
        raise ValueError(
            f"{name} must lie in [0, {size}), got values from {low} to {high}; {remedy}"
        )


def check_query_key_value(query, key, value) -> None:
    """Raise unless query (..., T, d_k), key (..., S, d_k) and value (..., S, d_v) fit together."""
    named = {"query": query, "key": key, "value": value}
    for name, x in named.items():
        require_tensor(name, x)
    for name, x in named.items():
        if not x.is_floating_point() or x.dtype != query.dtype:
            raise TypeError(
                "query, key and value must have the same floating dtype, got "
                f"{query.dtype}, {key.dtype} and {value.dtype}"
            )
        if x.dim() < 2:
            raise ValueError(f"{name} must have shape (..., length, width), got {tuple(x.shape)}")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query and key must have the same width d_k, got {query.shape[-1]} and {key.shape[-1]}"
        )
    if query.shape[-1] == 0:
        raise ValueError("the width d_k must be at least 1, got 0: there is nothing to compare")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"key and value must have the same length S, got {key.shape[-2]} and {value.shape[-2]}"
        )
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(
            "query, key and value must have the same leading (batch, head) dimensions, got "
            f"{tuple(query.shape[:-2])}, {tuple(key.shape[:-2])} and {tuple(value.shape[:-2])}; "
            "expand() the smaller ones first"
        )
    if not query.device == key.device == value.device:
        raise ValueError(
            "query, key and value must be on the same device, got "
            f"{query.device}, {key.device} and {value.device}; move them with .to(device)"
        )


def check_mask_and_bias(mask, score_bias, scores_shape) -> None:
    """Raise unless mask and bias, where given, broadcast to the scores without enlarging them."""
    if mask is not None:
        require_tensor("mask", mask)
        if mask.dtype != torch.bool:
            raise TypeError(
                f"mask must be boolean with True meaning 'may attend', got {mask.dtype}; "
                "write mask == 1 for a mask of ones and zeros; additive terms are a score_bias, "
                "which attentions and blocks take" + _hint_of_padding(mask, scores_shape)
            )
        _require_broadcast("mask", mask, scores_shape)
    if score_bias is not None:
        require_tensor("score_bias", score_bias)
        if not score_bias.is_floating_point():
            raise TypeError(f"score_bias must be floating, got {score_bias.dtype}; is it a mask?")
        _require_broadcast("score_bias", score_bias, scores_shape)


def check_mask_of_layer(mask, score_bias, scores_shape) -> None:
    """The same for scores (B, H, T, S) in layers, where a mask has two or four dimensions."""
    if isinstance(mask, torch.Tensor) and mask.dim() not in (2, 4):
        raise ValueError(
            "mask must have shape (T, S) or four dimensions (B, H, T, S), "
            f"got {tuple(mask.shape)}; a mask per sequence (B, T, S) becomes mask[:, None]"
        )
    check_mask_and_bias(mask, score_bias, scores_shape)


def _require_broadcast(name: str, term: torch.Tensor, scores_shape) -> None:
    padded = (1,) * (len(scores_shape) - term.dim()) + tuple(term.shape)
    fits = all(size == 1 or size == full for size, full in zip(padded, scores_shape, strict=False))
    if term.dim() > len(scores_shape) or not fits:
        raise ValueError(
            f"{name} must broadcast to the scores {tuple(scores_shape)} without enlarging "
            f"them, got shape {tuple(term.shape)}{_hint_of_padding(term, scores_shape)}"
        )


def _hint_of_padding(term: torch.Tensor, scores_shape) -> str:
    """What to do with a term that has the shape (B, S) of a padding mask."""
    if len(scores_shape) < 3 or term.shape != (scores_shape[0], scores_shape[-1]):
        return ""
    return f"; a padding mask (B, S) becomes mask[:, {'None, ' * (len(scores_shape) - 2)}:]"


def check_mask_of_model(mask, scores_shape, start: int | torch.Tensor = 0) -> None:
    """The same, of a model, whose queries are the keys from `start` on: no padding mask unseen.

    Where the batch has as many rows as there are queries, a padding mask (B, S) has the shape of a
    mask (T, S). In one of those every token sees itself, and no later one or those that see it.
    Anything else is refused, unless it means the same either way. Looks at CPU tensors only.
    """
    check_mask_of_layer(mask, None, scores_shape)
    B, _, T, _ = scores_shape
    if mask is None or mask.dim() == 4 or mask.device.type != "cpu" or not has_values(mask):
        return
    if not 1 < B == T == mask.shape[0] or bool((mask == mask[0]).all()):
        return
    own = mask[:, int(start) :][:, :T]  # (T, T)
    is_relation = torch.equal(own, own.tril()) or (torch.equal(own, own.T) and not own.all())
    if own.shape != (T, T) or not (own.diagonal().all() and is_relation):
        raise ValueError(
            f"mask {tuple(mask.shape)} may be a padding mask (B, S) or a mask (T, S) of all rows; "
            "write mask[:, None, None, :] for the former, mask[None, None] for the latter"
        )


def check_attention_call(
    layer, query, key, value, positions, rotation, cache, is_self_attention
) -> None:
    """Raise unless the arguments of `MultiHeadAttention.forward` fit the layer and each other."""
    require_features("query", query, "(B, T, d_model)", layer.d_model)
    if not (key is query and value is query):
        _check_key_and_value(layer, query, key, value)
    if not is_self_attention and not (layer.rope is None and rotation is None):
        raise ValueError(
            "a layer with rope turns queries and keys of one sequence; leave key and value out "
            "for self-attention, or build the layer without rope for cross-attention"
        )
    if positions is not None and (layer.rope is None or rotation is not None):
        raise ValueError(
            "positions only serve a rotary embedding; build the layer with "
            "rope=RotaryEmbedding(d_k), or leave positions out"
        )
    if cache is not None and not hasattr(cache, "num_keys"):
        raise TypeError(f"cache must be a KVCache(), got {type(cache).__name__}")


def _check_key_and_value(layer, query, key, value) -> None:
    require_features("key", key, "(B, S, d_model)", layer.d_model)
    require_features("value", value, "(B, S, d_model)", layer.d_model)
    if not query.shape[0] == key.shape[0] == value.shape[0]:
        raise ValueError(
            "query, key and value must have the same batch size, got "
            f"{query.shape[0]}, {key.shape[0]} and {value.shape[0]}"
        )
    if key.shape[1] != value.shape[1]:
        raise ValueError(
            f"key and value must have the same length, got {key.shape[1]} and {value.shape[1]}"
        )


def require_caches(caches: list | None, blocks: torch.nn.ModuleList) -> None:
    """Raise unless there is one `KVCache` for each block, where they are given."""
    if caches is None:
        return
    if not (isinstance(caches, (list, tuple)) and all(hasattr(x, "num_keys") for x in caches)):
        raise TypeError(f"caches must be a list of KVCache(), got {caches!r:.80}")
    # Compiled code that asks for an id is compiled again for every new cache.
    different = len(caches if torch.compiler.is_compiling() else set(map(id, caches)))
    if not different == len(caches) == len(blocks):
        raise ValueError(
            f"caches must hold one KVCache() for each of the {len(blocks)} blocks, "
            f"got {len(caches)}, {different} of them different"
        )
    lengths = [] if torch.compiler.is_compiling() else [cache.length for cache in caches]
    if any(isinstance(x, torch.Tensor) and not (x.is_cpu and has_values(x)) for x in lengths):
        return
    if any(length != lengths[0] for length in lengths):
        raise ValueError(
            "all caches must hold the same numbers of tokens, got "
            f"{', '.join(str(int(x)) for x in lengths)}; an earlier call did not come to its end: "
            "begin again with new ones"
        )


def require_sampling(
    temperature: float, top_k: int | None, top_p: float | None, min_p: float | None
) -> None:
    """Raise unless the arguments of `next_token_probabilities` are in range."""
    require_number(temperature=temperature)
    if not 0 <= temperature < float("inf"):
        raise ValueError(f"temperature must be at least 0 (greedy) and finite, got {temperature}")
    if top_k is not None:
        require_positive(top_k=top_k)
    for name, share in (("top_p", top_p), ("min_p", min_p)):
        if share is not None:
            require_number(**{name: share})
            if not 0 < share <= 1:
                raise ValueError(f"{name} is a share in (0, 1], got {share}; None keeps all")


def require_ended(ended: torch.Tensor, batch: int) -> None:
    """Raise unless what the user's `stop` returned says of each row whether it ends."""
    if ended.dtype != torch.bool or ended.shape not in ((), (batch,)):
        got = f"{ended.dtype} of shape {tuple(ended.shape)}"
        raise ValueError(f"stop must return booleans (B,) = ({batch},), one for a row; got {got}")


def require_prompt_mask(prompt_mask: torch.Tensor, token_ids: torch.Tensor) -> None:
    """Raise unless there is a token to continue in every row, on the right of its padding."""
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
    if not has_values(prompt_mask):
        return
    if not prompt_mask[:, -1].all() or (prompt_mask[:, :-1] & ~prompt_mask[:, 1:]).any():
        raise ValueError(
            "prompt_mask must be False on the left of a row and True from there on; "
            "pad short prompts on the left, since they are continued on the right"
        )


def require_prompts(model, token_ids: torch.Tensor, max_new_tokens: int, ends) -> None:
    """Raise unless the model is a GPT that can write so many tokens after these."""
    require_tokens("token_ids", token_ids)
    if token_ids.shape[1] == 0:
        raise ValueError("a prompt needs at least one token; start with the token for a beginning")
    config = getattr(model, "config", None)
    if not hasattr(config, "positions"):
        raise TypeError(
            f"a GPT is needed, got {type(model).__name__}; "
            "use greedy_decode or beam_search for an encoder-decoder"
        )
    require_not_negative(max_new_tokens=max_new_tokens)
    length = token_ids.shape[1] + max_new_tokens
    if config.positions == "learned" and length > config.max_len:
        raise ValueError(
            f"prompt and new tokens make {length}, but only max_len = {config.max_len} positions "
            "have been learned; write fewer tokens or shorten the prompt"
        )
    for end in ends:
        require_token_id("eos_id", end, config.vocab_size)


def require_target(model, source_ids: torch.Tensor, max_len: int) -> None:
    """Raise unless the model is an encoder-decoder that is made for targets of this length."""
    require_tokens("source_ids", source_ids)
    if not hasattr(model, "decoder_blocks"):
        raise TypeError(
            f"an encoder-decoder is needed, got {type(model).__name__}; use generate for a GPT"
        )
    require_positive(max_len=max_len)
    if max_len > model.config.max_len:
        raise ValueError(f"max_len = {max_len} exceeds that of the model, {model.config.max_len}")
