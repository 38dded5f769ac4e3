"""GPT-2's folders. Its matrices are transposed, and query, key and value share one."""

from collections.abc import Collection

import torch

from companion.models import GPT, GPTConfig
from companion.pretrained.family import (
    ACTIVATIONS,
    THEIR_ACTIVATIONS,
    Family,
    Layout,
    Settings,
    padding_token,
)


def configuration(settings: Settings, names: Collection[str]) -> GPTConfig:
    """The model that a config.json of GPT-2 describes."""
    settings.require(
        scale_attn_weights=True,
        scale_attn_by_inverse_layer_idx=False,
        reorder_and_upcast_attn=False,
        add_cross_attention=False,
        is_causal=True,
        # Other names of the same, which transformers reads as well.
        hidden_size=settings.need("n_embd"),
        num_hidden_layers=settings.need("n_layer"),
        num_attention_heads=settings.need("n_head"),
        max_position_embeddings=settings.need("n_positions"),
    )
    d_model = settings.need("n_embd")
    vocab_size = settings.need("vocab_size")
    return GPTConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        num_layers=settings.need("n_layer"),
        num_heads=settings.need("n_head"),
        d_ff=settings.get("n_inner", 4 * d_model),
        max_len=settings.need("n_positions"),
        activation=settings.choose("activation_function", ACTIVATIONS, "gelu_new"),
        norm_eps=settings.get("layer_norm_epsilon", 1e-5),
        dropout=settings.get("resid_pdrop", 0.1),
        pad_id=padding_token(settings.get("pad_token_id"), vocab_size),
        tie_weights=settings.get("tie_word_embeddings", True),
    )


def settings(config: GPTConfig) -> dict:
    """The config.json of a GPT with learned positions."""
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": config.vocab_size,
        "n_embd": config.d_model,
        "n_layer": config.num_layers,
        "n_head": config.num_heads,
        "n_inner": config.d_ff,
        "n_positions": config.max_len,
        "activation_function": THEIR_ACTIVATIONS.get(config.activation),
        "layer_norm_epsilon": config.norm_eps,
        **dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), config.dropout),
        "pad_token_id": config.pad_id,
        "bos_token_id": None,
        "eos_token_id": None,
        "tie_word_embeddings": config.tie_weights,
    }


# GPT-2 computes x W with W (in, out), nn.Linear x W^T with W (out, in). A vector stays as it is.
TRANSPOSED = Layout("transposed", lambda shape: shape[::-1], torch.t, torch.t)


def third(number: int) -> Layout:
    """One of query, key and value out of the fused matrix (d_model, 3 d_model), or its bias."""
    return Layout(
        f"third {number + 1} of 3, transposed",
        lambda shape: (*shape[1:], 3 * shape[0]),
        lambda tensor: tensor.t().chunk(3)[number],
        torch.t,
    )


FAMILY = Family(
    model=GPT,
    configuration=configuration,
    settings=settings,
    names={
        "token_embedding": "wte",
        "positions": "wpe",
        "blocks.{i}.norm1": "h.{i}.ln_1",
        "blocks.{i}.self_attention.q_proj": ("h.{i}.attn.c_attn", third(0)),
        "blocks.{i}.self_attention.k_proj": ("h.{i}.attn.c_attn", third(1)),
        "blocks.{i}.self_attention.v_proj": ("h.{i}.attn.c_attn", third(2)),
        "blocks.{i}.self_attention.out_proj": ("h.{i}.attn.c_proj", TRANSPOSED),
        "blocks.{i}.norm2": "h.{i}.ln_2",
        "blocks.{i}.feed_forward.up_proj": ("h.{i}.mlp.c_fc", TRANSPOSED),
        "blocks.{i}.feed_forward.down_proj": ("h.{i}.mlp.c_proj", TRANSPOSED),
        "final_norm": "ln_f",
        "head": "lm_head",
    },
    prefix="transformer.",
    copies={"lm_head.weight": "wte.weight"},
    unused=(".attn.bias", ".attn.masked_bias"),  # the causal mask, which older files hold
)
