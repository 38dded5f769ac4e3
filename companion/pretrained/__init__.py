"""Published weights in the companion's own models, and their tokenizers; nothing is unpickled."""

from companion.pretrained.loading import load
from companion.pretrained.saving import save
from companion.pretrained.tokenizer import PretrainedTokenizer, load_tokenizer

__all__ = ["PretrainedTokenizer", "load", "load_tokenizer", "save"]
