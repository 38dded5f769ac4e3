"""The wholes: GPT (a decoder), BERT and ViT (encoders), and the original Transformer (both)."""

from companion.models.bert import BERT, BERTConfig
from companion.models.config import ModelConfig, StackConfig
from companion.models.gpt import GPT, GPTConfig
from companion.models.transformer import Transformer, TransformerConfig
from companion.models.vit import ViT, ViTConfig

__all__ = [
    "BERT",
    "GPT",
    "BERTConfig",
    "GPTConfig",
    "ModelConfig",
    "StackConfig",
    "Transformer",
    "TransformerConfig",
    "ViT",
    "ViTConfig",
]
