"""Llama's folders: a GPT with rotary positions, RMSNorm, SwiGLU and shared key heads."""

from collections.abc import Collection

from companion.models import GPT, GPTConfig
from companion.nn import RotaryScaling
from companion.pretrained.family import Family, Settings
from companion.pretrained.gpt2 import padding_token


def configuration(settings: Settings, names: Collection[str]) -> GPTConfig:
    """The model that a config.json of Llama describes."""
    settings.require(
        hidden_act="silu",
        attention_bias=False,
        mlp_bias=False,
        sliding_window=None,
        partial_rotary_factor=1.0,
    )
    vocab_size = settings.need("vocab_size")
    rope_base, rope_scaling = rotation(settings)
    return GPTConfig(
        vocab_size=vocab_size,
        d_model=settings.need("hidden_size"),
        num_layers=settings.need("num_hidden_layers"),
        num_heads=settings.need("num_attention_heads"),
        num_kv_heads=settings.get("num_key_value_heads"),
        d_k=settings.get("head_dim"),
        d_v=settings.get("head_dim"),
        d_ff=settings.need("intermediate_size"),
        max_len=settings.need("max_position_embeddings"),
        norm="rms",
        norm_eps=settings.get("rms_norm_eps", 1e-6),
        activation="swiglu",
        bias=False,
        dropout=settings.get("attention_dropout", 0.0),
        pad_id=padding_token(settings, vocab_size),
        positions="rotary",
        rope_base=rope_base,
        rope_pairing="half",
        rope_scaling=rope_scaling,
        tie_weights=settings.get("tie_word_embeddings", False),
    )


def rotation(settings: Settings) -> tuple[float, RotaryScaling | None]:
    """Base and scaling of the rotary embedding, from old folders and new ones."""
    # The older of the two names goes first, as in transformers.
    rope = settings.get("rope_scaling") or settings.get("rope_parameters", {})
    if not isinstance(rope, dict):
        raise ValueError(f"rope_scaling must be an object, got {rope!r}")
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
            scaling = RotaryScaling(
                factor=rope["factor"],
                original_len=rope["original_max_position_embeddings"],
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
    configuration=configuration,
    names={
        "token_embedding": "embed_tokens",
        "blocks.{i}.norm1": "layers.{i}.input_layernorm",
        "blocks.{i}.self_attention.q_proj": "layers.{i}.self_attn.q_proj",
        "blocks.{i}.self_attention.k_proj": "layers.{i}.self_attn.k_proj",
        "blocks.{i}.self_attention.v_proj": "layers.{i}.self_attn.v_proj",
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
