"""Arithmetic with word vectors."""

import torch
import torch.nn.functional as F

from book.page.live import LiveFigure, packed, table
from companion.data import SPECIAL_TOKENS, Vocabulary
from companion.data.lexicon import (
    FOODS,
    GENDER_PAIRS,
    HOMONYMS,
    MATES,
    NUMBER_PAIRS,
    PLACES,
    TENSE_PAIRS,
    THINGS,
)

ANALOGY = ("king", "man", "woman")
EXAMPLES = (
    ANALOGY,
    ("dog", "cat", "cats"),
    ("swims", "walks", "walked"),
)


def embeddings_figure(vectors: torch.Tensor, vocabulary: Vocabulary) -> LiveFigure:
    """Analogies that the reader composes, start + (plus − minus), and the nearest words.

    Answers are all words of the vocabulary but the special tokens, in float16.

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
    words = vocabulary.words[len(SPECIAL_TOKENS) :]
    vectors = vectors[len(SPECIAL_TOKENS) :].detach().cpu().half()
    unit = F.normalize(vectors.double(), dim=1)
    index = {word: i for i, word in enumerate(words)}

    groups = {
        "people": [word for pair in GENDER_PAIRS for word in pair],
        "animals and vehicles": [word for pair in NUMBER_PAIRS.items() for word in pair],
        "verbs in two tenses": [word for pair in TENSE_PAIRS for word in pair],
        "food, places and things": [*FOODS, *PLACES, *THINGS],
    }
    for homonym, senses in HOMONYMS.items():
        company = [cue for cues in senses for cue in cues]
        groups[f"{homonym} and its company"] = [homonym, *MATES[homonym], *company]
    grouped = {word for members in groups.values() for word in members}
    groups["other words"] = [word for word in words if word not in grouped]

    data = {"words": words, "vectors": packed(vectors), "groups": groups}
    data["examples"] = EXAMPLES
    first, minus, plus = ANALOGY
    value = {"first": first, "minus": minus, "plus": plus, "exclude": True}
    query = unit[index[first]] - unit[index[minus]] + unit[index[plus]]
    similarity = unit @ F.normalize(query, dim=0)
    similarity[[index[word] for word in ANALOGY]] = -2
    best = similarity.topk(5)
    rows = zip((words[i] for i in best.indices), best.values.tolist(), strict=True)
    fallback = table(f"Nearest to {first} + ({plus} − {minus})", ["word", "cosine"], list(rows))
    return LiveFigure(__file__, data, value, fallback)
