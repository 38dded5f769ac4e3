"""What the figures of the trained translator are made of."""

from collections.abc import Sequence

from book.page.weights import packed_parameters
from companion.data import Vocabulary
from companion.models import Transformer

LONGEST_SOURCE, LONGEST_TARGET = 16, 24


def packed_translator(
    model: Transformer,
    vocabulary: Vocabulary,
    english: Sequence[str],
    examples: Sequence[str],
    trained_length: int,
) -> dict:
    """The model as JSON, with its words, sentences to choose from, and the lengths it can take.

    Raises:
        ValueError: there is no example, or a weight does not fit into float16.
    """
    if not examples:
        raise ValueError("the figure starts with an example, got none; pass at least one sentence")
    config = model.config
    return {
        "words": vocabulary.words,
        "english": sorted(english),
        "examples": list(examples),
        "weights": packed_parameters(model),
        "num_layers": config.num_layers,
        "block": {
            "numHeads": config.num_heads,
            "activation": config.activation,
            "eps": config.norm_eps,
        },
        "bos_id": config.bos_id,
        "eos_id": config.eos_id,
        "trained_length": trained_length,
        "longest_source": LONGEST_SOURCE,
        "longest_target": LONGEST_TARGET,
    }
