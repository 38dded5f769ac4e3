"""The wholes: GPT (a decoder), BERT (an encoder) and the original Transformer (both)."""

from companion.models.bert import BERT, BERTConfig
from companion.models.config import ModelConfig
from companion.models.gpt import GPT, GPTConfig
from companion.models.transformer import Transformer, TransformerConfig

__all__ = [
    "BERT",
    "GPT",
    "BERTConfig",
    "GPTConfig",
    "ModelConfig",
    "Transformer",
    "TransformerConfig",
]
