"""What the answers to the chapters' exercises are held against: one module for each chapter.

from companion import checks
checks.self_attention.attention(attention)
"""

from companion.checks import (
    after_pretraining,
    beyond_recurrence,
    contextual_embeddings,
    debugging,
    decoding,
    efficient_attention,
    embeddings,
    full_model,
    inside_a_language_model,
    multi_head_attention,
    one_word_at_a_time,
    own_language_model,
    positional_encoding,
    pretrained_models,
    reproducing,
    running_a_language_model,
    scaling,
    self_attention,
    three_families,
    time_series,
    transformer_block,
    vision_transformer,
)
from companion.checks.verdict import Verdict

__all__ = [
    "Verdict",
    "after_pretraining",
    "beyond_recurrence",
    "contextual_embeddings",
    "debugging",
    "decoding",
    "efficient_attention",
    "embeddings",
    "full_model",
    "inside_a_language_model",
    "multi_head_attention",
    "one_word_at_a_time",
    "own_language_model",
    "positional_encoding",
    "pretrained_models",
    "reproducing",
    "running_a_language_model",
    "scaling",
    "self_attention",
    "three_families",
    "time_series",
    "transformer_block",
    "vision_transformer",
]
