"""A word of two meanings between the companies of both."""

import torch
import torch.nn.functional as F

from book.page.live import LiveFigure, packed, table
from companion.data import Vocabulary
from companion.data.lexicon import HOMONYMS, MATES


def bank_figure(vectors: torch.Tensor, vocabulary: Vocabulary) -> LiveFigure:
    """Each word of `HOMONYMS` in the plane of its two mates, with its company and a mixture.

    The part that all mates share, the mean of their unit vectors, can be taken off. Vectors travel
    in float16.

    Args:
        vectors: one per word (vocab_size, d_model).
        vocabulary: the words' ids.

    Raises:
        ValueError: there are not as many vectors as words, or a number does not fit into float16.
    """
    if vectors.dim() != 2 or len(vectors) != len(vocabulary):
        raise ValueError(
            f"vectors has shape {tuple(vectors.shape)}; expected one row for each of the "
            f"{len(vocabulary)} words of the vocabulary"
        )
    mates = [mate for pair in MATES.values() for mate in pair]
    cues = [cue for senses in HOMONYMS.values() for sense in senses for cue in sense]
    words = list(dict.fromkeys([*HOMONYMS, *mates, *cues]))
    rows = vectors[vocabulary.encode([words])[0]].detach().cpu().half()
    data = {"words": words, "vectors": packed(rows), "homonyms": list(HOMONYMS)}
    data |= {"mates": MATES, "cues": HOMONYMS}
    word, start = "bank", 25
    unit = dict(zip(words, F.normalize(rows.double(), dim=1), strict=True))
    first, second = (unit[mate] for mate in MATES[word])
    others = torch.stack([unit[mate] for mate in mates if mate not in MATES[word]])
    mixed = F.normalize((1 - start / 100) * first + start / 100 * second, dim=0)
    a, b = MATES[word]
    cosines = [
        (f"{a} and {b}", first @ second),
        (f"{a} and other words’ mates", (others @ first).mean()),
        (f"{word} and the mixture", unit[word] @ mixed),
    ]
    fallback = table(
        "With the part that all mates share",
        ["words", "cosine"],
        [(name, cosine.item()) for name, cosine in cosines],
    )
    return LiveFigure(__file__, data, {"word": word, "mix": start, "common": True}, fallback)
