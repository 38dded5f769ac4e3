"""The heads of one trained layer, side by side."""

from torch import nn

from book.page.live import LiveFigure, packed, table
from book.page.weights import attention_rows, packed_model
from companion.data import Vocabulary
from companion.data.lexicon import ACTORS, TRANSITIVE_VERBS


def heads_figure(model: nn.Module, vocabulary: Vocabulary, *, residual: bool = False) -> LiveFigure:
    """Heads side by side: each head's row from the verb, and the answers without some of the heads.

    Args:
        model: one attention layer whose vector at the verb must name subject and object. It has
            `embedding`, `positions`, `attention` (a `MultiHeadAttention`) and `head` (a linear map
            to 2 · vocab_size numbers, those of the subject first); model(ids, need_weights=True)
            returns logits and the weights.
        vocabulary: the words' ids.
        residual: whether `head` reads the sum of the layer's input and output.

    Raises:
        ValueError: a weight does not fit into float16.
    """
    words = ["the", *ACTORS, *TRANSITIVE_VERBS]
    ids = vocabulary.encode([ACTORS])[0]
    weights = packed_model(model, vocabulary, words, ["attention"], 5)
    for name, offset in (("subject", 0), ("object", len(vocabulary))):
        for part, tensor in model.head.state_dict().items():
            weights[f"{name}.{part}"] = packed(tensor.cpu()[ids + offset])
    num_heads = model.attention.num_heads
    data = {"words": words, "weights": weights, "num_heads": num_heads, "residual": residual}
    data |= {"nouns": ACTORS, "verbs": TRANSITIVE_VERBS}
    value = {"subject": "dog", "verb": "bites", "object": "man", "on": [True] * num_heads}
    sentence = ["the", "dog", "bites", "the", "man"]
    rows = [
        (f"head {head + 1}", *row[2].tolist())
        for head, row in enumerate(attention_rows(model, vocabulary, sentence))
    ]
    fallback = table("Weights from “bites” to every word", ["", *sentence], rows)
    return LiveFigure(__file__, data, value, fallback)
