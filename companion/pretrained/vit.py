"""The Vision Transformer's folders."""

from collections.abc import Collection

from companion.models import ViT, ViTConfig
from companion.pretrained.family import ACTIVATIONS, THEIR_ACTIVATIONS, Family, Layout, Settings


def configuration(settings: Settings, names: Collection[str]) -> ViTConfig:
    """The model that a config.json of ViT describes; a classifier if the file has one."""
    settings.require(qkv_bias=True)
    labels = settings.get("id2label", {"0": "LABEL_0", "1": "LABEL_1"})
    if not isinstance(labels, dict):
        raise ValueError(f"id2label must be an object, got {labels!r}")
    return ViTConfig(
        image_size=_side(settings, "image_size", 224),
        patch_size=_side(settings, "patch_size", 16),
        channels=settings.get("num_channels", 3),
        num_classes=settings.get("num_labels", len(labels))
        if "classifier.weight" in names
        else None,
        d_model=settings.need("hidden_size"),
        num_layers=settings.need("num_hidden_layers"),
        num_heads=settings.need("num_attention_heads"),
        d_ff=settings.need("intermediate_size"),
        activation=settings.choose("hidden_act", ACTIVATIONS, "gelu"),
        norm_eps=settings.get("layer_norm_eps", 1e-12),
        dropout=settings.get("hidden_dropout_prob", 0.0),
    )


def _side(settings: Settings, key: str, default: int) -> int:
    """The side of a square, which may be written as [height, width]."""
    value = settings.get(key, default)
    if not isinstance(value, list):
        return value
    if len(set(value)) != 1:
        raise ValueError(f"{key} = {value} is not square; companion's ViT takes squares only")
    return value[0]


def settings(config: ViTConfig) -> dict:
    """The config.json of a ViT."""
    classes = range(config.num_classes or 0)
    return {
        "architectures": ["ViTForImageClassification" if classes else "ViTModel"],
        "model_type": "vit",
        "image_size": config.image_size,
        "patch_size": config.patch_size,
        "num_channels": config.channels,
        "id2label": {str(number): f"LABEL_{number}" for number in classes},
        "label2id": {f"LABEL_{number}": number for number in classes},
        "hidden_size": config.d_model,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "intermediate_size": config.d_ff,
        "hidden_act": THEIR_ACTIVATIONS.get(config.activation),
        "layer_norm_eps": config.norm_eps,
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.dropout,
    }


ONE_OF_A_BATCH = Layout(
    "without the batch",
    lambda shape: (1, *shape),
    lambda tensor: tensor[0],
    lambda tensor: tensor[None],
)

LAYER = "encoder.layer.{i}"
FAMILY = Family(
    model=ViT,
    configuration=configuration,
    settings=settings,
    names={
        "cls_token": "embeddings.cls_token",
        "positions.weight": ("embeddings.position_embeddings", ONE_OF_A_BATCH),
        "patch_embedding.proj": "embeddings.patch_embeddings.projection",
        "blocks.{i}.norm1": f"{LAYER}.layernorm_before",
        "blocks.{i}.self_attention.q_proj": f"{LAYER}.attention.attention.query",
        "blocks.{i}.self_attention.k_proj": f"{LAYER}.attention.attention.key",
        "blocks.{i}.self_attention.v_proj": f"{LAYER}.attention.attention.value",
        "blocks.{i}.self_attention.out_proj": f"{LAYER}.attention.output.dense",
        "blocks.{i}.norm2": f"{LAYER}.layernorm_after",
        "blocks.{i}.feed_forward.up_proj": f"{LAYER}.intermediate.dense",
        "blocks.{i}.feed_forward.down_proj": f"{LAYER}.output.dense",
        "final_norm": "layernorm",
        "head": "classifier",
    },
    prefix="vit.",
    unused=("pooler.dense.weight", "pooler.dense.bias"),
)
