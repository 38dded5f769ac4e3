"""BERT's folders, and those of sentence encoders built on it, such as all-MiniLM-L6-v2."""

from collections.abc import Collection

from companion.models import BERT, BERTConfig
from companion.pretrained.family import (
    ACTIVATIONS,
    THEIR_ACTIVATIONS,
    Family,
    Settings,
    padding_token,
)


def configuration(settings: Settings, names: Collection[str]) -> BERTConfig:
    """The model that a config.json of BERT describes; an MLM head if the file has one."""
    settings.require(
        position_embedding_type="absolute",
        is_decoder=False,
        add_cross_attention=False,
        tie_word_embeddings=True,
        pruned_heads={},
    )
    vocab_size = settings.need("vocab_size")
    return BERTConfig(
        vocab_size=vocab_size,
        d_model=settings.need("hidden_size"),
        num_layers=settings.need("num_hidden_layers"),
        num_heads=settings.need("num_attention_heads"),
        d_ff=settings.need("intermediate_size"),
        max_len=settings.need("max_position_embeddings"),
        type_vocab_size=settings.get("type_vocab_size", 2),
        activation=settings.choose("hidden_act", ACTIVATIONS, "gelu"),
        norm_eps=settings.get("layer_norm_eps", 1e-12),
        dropout=settings.get("hidden_dropout_prob", 0.1),
        pad_id=padding_token(settings.values.get("pad_token_id", 0), vocab_size),
        mlm_head=any(name.startswith("cls.predictions.") for name in names),
    )


def settings(config: BERTConfig) -> dict:
    """The config.json of a BERT."""
    return {
        "architectures": ["BertForMaskedLM" if config.mlm_head else "BertModel"],
        "model_type": "bert",
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "intermediate_size": config.d_ff,
        "max_position_embeddings": config.max_len,
        "type_vocab_size": config.type_vocab_size,
        "hidden_act": THEIR_ACTIVATIONS.get(config.activation),
        "layer_norm_eps": config.norm_eps,
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.dropout,
        "pad_token_id": config.pad_id,
    }


LAYER = "encoder.layer.{i}"
FAMILY = Family(
    model=BERT,
    configuration=configuration,
    settings=settings,
    names={
        "token_embedding": "embeddings.word_embeddings",
        "positions": "embeddings.position_embeddings",
        "type_embedding": "embeddings.token_type_embeddings",
        "embedding_norm": "embeddings.LayerNorm",
        "blocks.{i}.self_attention.q_proj": f"{LAYER}.attention.self.query",
        "blocks.{i}.self_attention.k_proj": f"{LAYER}.attention.self.key",
        "blocks.{i}.self_attention.v_proj": f"{LAYER}.attention.self.value",
        "blocks.{i}.self_attention.out_proj": f"{LAYER}.attention.output.dense",
        "blocks.{i}.norm1": f"{LAYER}.attention.output.LayerNorm",
        "blocks.{i}.feed_forward.up_proj": f"{LAYER}.intermediate.dense",
        "blocks.{i}.feed_forward.down_proj": f"{LAYER}.output.dense",
        "blocks.{i}.norm2": f"{LAYER}.output.LayerNorm",
        "head.dense": "cls.predictions.transform.dense",
        "head.norm": "cls.predictions.transform.LayerNorm",
        "head.decoder.bias": "cls.predictions.bias",
    },
    prefix="bert.",
    copies={
        "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    },
    unused=(
        "embeddings.position_ids",
        "pooler.dense.weight",
        "pooler.dense.bias",
        "cls.seq_relationship.weight",
        "cls.seq_relationship.bias",
    ),
)
