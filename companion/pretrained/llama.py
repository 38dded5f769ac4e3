"""Llama's folders, and those of its descendants: Mistral, Qwen2 and Qwen3.

A GPT with rotary positions, RMSNorm, SwiGLU and shared key heads. Mistral adds a sliding window,
Qwen2 a bias on query, key and value, Qwen3 a norm on query and key.
"""

from collections.abc import Collection
from dataclasses import replace

from companion.models import GPT, GPTConfig
from companion.nn import RotaryScaling
from companion.pretrained.family import Family, Settings, padding_token


def llama(settings: Settings, names: Collection[str]) -> GPTConfig:
    """The model that a config.json of Llama describes."""
    settings.require(mlp_bias=False, sliding_window=None)
    return _decoder(settings)


def mistral(settings: Settings, names: Collection[str]) -> GPTConfig:
    """The model that a config.json of Mistral describes; a null window means that there is none."""
    window = settings.values.get("sliding_window", 4096)
    kind = "full_attention" if window is None else "sliding_attention"
    settings.require(layer_types=[kind] * settings.need("num_hidden_layers"))
    return _decoder(settings, num_kv_heads=8, sliding_window=window)


def qwen2(settings: Settings, names: Collection[str]) -> GPTConfig:
    """The model that a config.json of Qwen2 or Qwen2.5 describes."""
    window = _qwen_window(settings)
    return _decoder(settings, num_kv_heads=32, sliding_window=window, qkv_bias=True)


def qwen3(settings: Settings, names: Collection[str]) -> GPTConfig:
    """The model that a config.json of Qwen3 describes."""
    window = _qwen_window(settings)
    return _decoder(settings, num_kv_heads=32, d_k=128, sliding_window=window, qk_norm=True)


def _decoder(settings: Settings, *, num_kv_heads=None, d_k=None, **choices) -> GPTConfig:
    """What they have in common; a null num_key_value_heads means one for each head."""
    settings.require(attention_bias=False, is_causal=True)
    settings.require(partial_rotary_factor=1.0, pretraining_tp=1)
    vocab_size = settings.need("vocab_size")
    rope_base, rope_scaling = rotation(settings)
    d_k = settings.get("head_dim", d_k)
    return GPTConfig(
        vocab_size=vocab_size,
        d_model=settings.need("hidden_size"),
        num_layers=settings.need("num_hidden_layers"),
        num_heads=settings.need("num_attention_heads"),
        num_kv_heads=settings.values.get("num_key_value_heads", num_kv_heads),
        d_k=d_k,
        d_v=d_k,
        d_ff=settings.need("intermediate_size"),
        max_len=settings.need("max_position_embeddings"),
        norm="rms",
        norm_eps=settings.get("rms_norm_eps", 1e-6),
        activation=settings.choose("hidden_act", {"silu": "swiglu", "swish": "swiglu"}, "silu"),
        bias=False,
        dropout=settings.get("attention_dropout", 0.0),
        pad_id=padding_token(settings.get("pad_token_id"), vocab_size),
        positions="rotary",
        rope_base=rope_base,
        rope_pairing="half",
        rope_scaling=rope_scaling,
        tie_weights=settings.get("tie_word_embeddings", False),
        **choices,
    )


def _qwen_window(settings: Settings) -> int | None:
    """The sliding window of all blocks, which is off unless it is switched on."""
    number = settings.need("num_hidden_layers")
    sliding, full = "sliding_attention", "full_attention"
    window = settings.values.get("sliding_window", 4096)
    if not settings.get("use_sliding_window", False):
        window = None
    first = number if window is None else settings.get("max_window_layers", 28)
    usual = [full if i < first else sliding for i in range(number)]
    kinds = set(settings.get("layer_types", usual))
    if kinds <= {full}:
        return None
    if kinds == {sliding} and window is not None:
        return window
    raise ValueError(
        "companion's models have one kind of attention in all blocks, a sliding window or none; "
        f"here it is {', '.join(sorted(kinds))}, with sliding_window = {window}"
    )


def settings(config: GPTConfig) -> dict:
    """The config.json of a GPT with rotary positions."""
    kind, name = "llama", "Llama"
    if config.sliding_window is not None:
        kind, name = "mistral", "Mistral"
    if config.qkv_bias:
        kind, name = "qwen2", "Qwen2"
    if config.qk_norm:
        kind, name = "qwen3", "Qwen3"
    window, scaling = config.sliding_window, config.rope_scaling
    rope = {"rope_type": "default", "rope_theta": config.rope_base}
    if scaling is not None:
        rope |= {"rope_type": "linear", "factor": scaling.factor}
        if scaling.original_len is not None:
            rope |= {
                "rope_type": "llama3",
                "original_max_position_embeddings": scaling.original_len,
                "low_freq_factor": scaling.slow_turns,
                "high_freq_factor": scaling.fast_turns,
            }
    return {
        "architectures": [f"{name}ForCausalLM"],
        "model_type": kind,
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "num_key_value_heads": config.num_kv_heads or config.num_heads,
        "head_dim": config.key_width,
        "intermediate_size": config.d_ff,
        "max_position_embeddings": config.max_len,
        "hidden_act": "silu",
        "rms_norm_eps": config.norm_eps,
        "attention_dropout": config.dropout,
        "attention_bias": False,
        "sliding_window": window,
        "use_sliding_window": window is not None,
        "max_window_layers": 0,
        "rope_parameters": rope,
        "rope_theta": config.rope_base,
        "pad_token_id": config.pad_id,
        "bos_token_id": None,
        "eos_token_id": None,
        "tie_word_embeddings": config.tie_weights,
    }


def rotation(settings: Settings) -> tuple[float, RotaryScaling | None]:
    """Base and scaling of the rotary embedding, from old folders and new ones."""
    # The older of the two names goes first, as in transformers.
    rope = settings.get("rope_scaling") or settings.get("rope_parameters", {})
    if not isinstance(rope, dict):
        raise ValueError(f"rope_scaling must be an object, got {rope!r}")
    if any(isinstance(value, dict) for value in rope.values()):
        raise ValueError(f"companion's models turn all blocks alike, got rope_parameters = {rope}")
    if rope.get("partial_rotary_factor", 1.0) != 1.0:
        raise ValueError("companion's models turn all of a key: partial_rotary_factor must be 1")
    base = rope.get("rope_theta", settings.get("rope_theta", 10000.0))
    kind = rope.get("rope_type", rope.get("type", "default"))
    try:
        if kind == "default":
            return base, None
        if kind == "linear":
            return base, RotaryScaling(factor=rope["factor"])
        if kind == "llama3":
            key, longest = (
                "original_max_position_embeddings",
                settings.get("max_position_embeddings"),
            )
            scaling = RotaryScaling(
                factor=rope["factor"],
                original_len=settings.get(key, rope.get(key, longest)),
                slow_turns=rope["low_freq_factor"],
                fast_turns=rope["high_freq_factor"],
            )
            return base, scaling
    except KeyError as error:
        raise ValueError(f"rope_scaling of type {kind!r} lacks {error}") from error
    raise ValueError(
        f"companion's models have no rope_scaling of type {kind!r}; they have 'default', "
        "'linear', 'llama3'"
    )


FAMILY = Family(
    model=GPT,
    configuration=llama,
    settings=settings,
    names={
        "token_embedding": "embed_tokens",
        "blocks.{i}.norm1": "layers.{i}.input_layernorm",
        "blocks.{i}.self_attention.q_proj": "layers.{i}.self_attn.q_proj",
        "blocks.{i}.self_attention.k_proj": "layers.{i}.self_attn.k_proj",
        "blocks.{i}.self_attention.v_proj": "layers.{i}.self_attn.v_proj",
        "blocks.{i}.self_attention.q_norm": "layers.{i}.self_attn.q_norm",
        "blocks.{i}.self_attention.k_norm": "layers.{i}.self_attn.k_norm",
        "blocks.{i}.self_attention.out_proj": "layers.{i}.self_attn.o_proj",
        "blocks.{i}.norm2": "layers.{i}.post_attention_layernorm",
        "blocks.{i}.feed_forward.up_proj": "layers.{i}.mlp.up_proj",
        "blocks.{i}.feed_forward.gate_proj": "layers.{i}.mlp.gate_proj",
        "blocks.{i}.feed_forward.down_proj": "layers.{i}.mlp.down_proj",
        "final_norm": "norm",
        "head": "lm_head",
    },
    prefix="model.",
    copies={"lm_head.weight": "embed_tokens.weight"},
    unused=(".rotary_emb.inv_freq",),  # computed, but held by older files
)
FAMILIES = {
    "llama": FAMILY,
    "mistral": replace(FAMILY, configuration=mistral),
    "qwen2": replace(FAMILY, configuration=qwen2),
    "qwen3": replace(FAMILY, configuration=qwen3),
}
