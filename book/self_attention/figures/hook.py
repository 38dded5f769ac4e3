"""The chapter's opening: one adjective changes, and "it" looks at the other noun."""

from torch import nn

from book.page.live import LiveFigure, table
from book.page.weights import attention_rows
from book.sentences import pronoun_sentence
from companion.data import Vocabulary

ADJECTIVES = "tired", "wide"


def hook_figure(model: nn.Module, vocabulary: Vocabulary) -> LiveFigure:
    """Two sentences that differ in their last word, and at what a model's "it" looks in each.

    Args:
        model: model(ids, need_weights=True) returns logits, and weights (B, H, T, T).
        vocabulary: the words' ids.
    """
    pairs = []
    for adjective in ADJECTIVES:
        sentence = pronoun_sentence("animal", "street", adjective)
        look = attention_rows(model, vocabulary, sentence.words)[0, sentence.it_position]
        pairs.append(
            {
                "adjective": adjective,
                "words": sentence.words,
                "from": sentence.it_position,
                "weights": look.tolist(),
            }
        )
    words = [*pairs[0]["words"][:-1], " / ".join(ADJECTIVES)]
    fallback = table(
        "Weights that “it” gives to every word",
        ["word", *ADJECTIVES],
        zip(words, *(pair["weights"] for pair in pairs), strict=True),
    )
    return LiveFigure(__file__, {"pairs": pairs}, {"adjective": ADJECTIVES[0]}, fallback)
