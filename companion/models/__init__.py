"""The wholes: GPT (a decoder), BERT, ViT and Forecaster (encoders), Transformer (both)."""

from companion.models.bert import BERT, BERTConfig
from companion.models.config import ModelConfig, StackConfig
from companion.models.forecaster import Forecaster, ForecasterConfig
from companion.models.gpt import GPT, GPTConfig
from companion.models.transformer import Transformer, TransformerConfig
from companion.models.vit import ViT, ViTConfig

__all__ = [
    "BERT",
    "GPT",
    "BERTConfig",
    "Forecaster",
    "ForecasterConfig",
    "GPTConfig",
    "ModelConfig",
    "StackConfig",
    "Transformer",
    "TransformerConfig",
    "ViT",
    "ViTConfig",
]
