"""The book's live figures: one function each, which returns a `LiveFigure` to leave in a cell."""

from collections.abc import Sequence

import torch
from torch import nn

from companion.data import (
    ACTORS,
    ADJECTIVES,
    ANIMALS,
    FOODS,
    PLACES,
    PRONOUN_VERBS,
    TEMPLATES,
    THINGS,
    TRANSITIVE_VERBS,
    Vocabulary,
    pronoun_sentence,
)
from companion.nn import scaled_dot_product_attention, sinusoidal_encoding
from companion.page.live import LiveFigure, packed, table

SENTENCE = (
    "the animal that had slept all day beside the old stone bridge "
    "did not cross the street because it"
)


def path_figure(sentence: str = SENTENCE, distance: int = 17, kernel: int = 3) -> LiveFigure:
    """The path between two words: a chain of states, a convolution, self-attention.

    Shown are the steps that must be taken one after the other. A convolution's kernel covers a word
    and the `kernel` - 1 words before it.

    Args:
        sentence: words between spaces; the path leads to its last word.
        distance: how many words before the last one the path starts.
        kernel: width of the convolution's kernel, 2 to 5.

    Raises:
        ValueError: the sentence is too short for the distance.

    Source: Vaswani et al. 2017, section 4, table 1 (https://arxiv.org/abs/1706.03762).
    """
    words = sentence.split()
    if not 1 <= distance < len(words):
        raise ValueError(
            f"distance = {distance} must lie between 1 and {len(words) - 1} in a sentence of "
            f"{len(words)} words"
        )
    value = {"distance": distance, "kernel": kernel, "convolution": "dilated"}
    layers, reach = 0, 1
    while reach <= distance:
        layers, reach = layers + 1, reach * kernel
    rows = [
        ("recurrent", distance),
        (f"convolution, dilated, kernel {kernel}", layers),
        ("self-attention", 1),
    ]
    caption = f"Steps from “{words[-1 - distance]}” to “{words[-1]}”"
    return LiveFigure("path", {"words": words}, value, table(caption, ["layer", "steps"], rows))


def attention_figure(tokens: Sequence[str], query, key, value) -> LiveFigure:
    """Attention weights of a few vectors that the reader edits, with temperature and √d_k switch.

    Args:
        tokens: T words.
        query, key, value: (T, d_k), (T, d_k) and (T, d_v): the vectors at the start.

    Raises:
        ValueError: shapes do not fit together.
    """
    query, key, value = (torch.as_tensor(x, dtype=torch.float64) for x in (query, key, value))
    if not len(tokens) == len(query) == len(key):
        raise ValueError(
            f"{len(tokens)} tokens need as many queries and keys, got {len(query)} and {len(key)}"
        )
    _, weights = scaled_dot_product_attention(query, key, value)
    start = {"query": query.tolist(), "key": key.tolist(), "value": value.tolist()}
    rows = [(token, *row) for token, row in zip(tokens, weights.tolist(), strict=True)]
    return LiveFigure(
        "attention",
        {"tokens": list(tokens)},
        start | {"temperature": 1.0, "scaled": True},
        table("Attention weights: query (row), key (column)", ["", *tokens], rows),
    )


def pronoun_figure(model: nn.Module, vocabulary: Vocabulary) -> LiveFigure:
    """The trained model for "it": change a word of the sentence, and the row of "it" moves.

    Args:
        model: two attentions in a row, as the chapter on self-attention trains them. It has
            `embedding` (tied to the answers, not scaled), `positions`, `gather` (a
            `MultiHeadAttention` that sees `window` words to either side), `look_up` (another one,
            whose keys and values are the words themselves if `board` is "words", and what the
            first one made of them otherwise); model(ids, need_weights=True) returns logits and the
            weights of `look_up`.
        vocabulary: the words' ids.

    Raises:
        ValueError: a weight does not fit into float16.
    """
    nouns = {"animal": ANIMALS, "place": PLACES, "thing": THINGS, "food": FOODS}
    templates = [form for forms in TEMPLATES.values() for form in forms]
    verbs = {word for kind in PRONOUN_VERBS.values() for pair in kind.items() for word in pair}
    literal = {word for form in templates for word in form.split() if "{" not in word}
    answers = [noun for kind in nouns.values() for noun in kind]
    words = [*answers, *sorted(literal | verbs), *sum(ADJECTIVES.values(), ())]
    length = max(len(form.split()) for form in templates)
    rounds = [
        {"name": "gather", "title": "first round: gather clues", "window": model.window},
        {"name": "look_up", "title": "second round: look them up", "window": None},
    ]
    for step in rounds:
        step["num_heads"] = getattr(model, step["name"]).num_heads
        step["reads_words"] = step["name"] == "look_up" and model.board == "words"
    data = {
        "words": words,
        "weights": _packed_model(model, vocabulary, words, ("gather", "look_up"), length),
        "rounds": rounds,
        "nouns": nouns,
        "answers": answers,
        "adjectives": ADJECTIVES,
        "verbs": PRONOUN_VERBS,
        "templates": templates,
    }
    value = {"template": 0, "animal": "animal", "other": "street", "verb": "cross"}
    value |= {"adjective": "tired", "head": "look_up.0"}
    pair = [pronoun_sentence("animal", "street", adjective) for adjective in ("tired", "wide")]
    look = [_rows(model, vocabulary, s.words)[:, s.it_position].mean(0).tolist() for s in pair]
    names = [a if a == b else f"{a} / {b}" for a, b in zip(*(s.words for s in pair), strict=True)]
    caption = "Weights that “it” gives to every word, with “tired” and with “wide”"
    fallback = table(caption, ["word", "tired", "wide"], zip(names, *look, strict=True))
    return LiveFigure("pronoun", data, value, fallback)


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
    weights = _packed_model(model, vocabulary, words, ["attention"], 5)
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
        for head, row in enumerate(_rows(model, vocabulary, sentence))
    ]
    fallback = table("Weights from “bites” to every word", ["", *sentence], rows)
    return LiveFigure("heads", data, value, fallback)


def positions_figure() -> LiveFigure:
    """Positions in three views: sinusoids, how alike two positions are, and rotation.

    Source: Vaswani et al. 2017, section 3.5 (https://arxiv.org/abs/1706.03762); Su et al. 2021,
    section 3.2.2 (https://arxiv.org/abs/2104.09864).
    """
    d_model, position = 16, 3
    value = {"view": "waves", "d_model": d_model, "position": position, "i": 5, "j": 2, "pair": 0}
    waves = sinusoidal_encoding(64, d_model, dtype=torch.float64)
    rows = [(f"column {column}", number) for column, number in enumerate(waves[position].tolist())]
    for distance in (1, 8, 32):
        product = waves[position] @ waves[position + distance]
        rows.append((f"dot product with position {position + distance}", product.item()))
    fallback = table(f"Sinusoids at position {position}", ["what", "number"], rows)
    data = {"query": [1.0, 0.25], "key": [0.75, 0.75], "d_k": 8}
    return LiveFigure("positions", data, value, fallback)


def _packed_model(
    model: nn.Module,
    vocabulary: Vocabulary,
    words: Sequence[str],
    attentions: Sequence[str],
    length: int,
) -> dict[str, dict]:
    """Weights that a figure needs: vectors of these words and positions, whole attention layers."""
    device = next(model.parameters()).device
    vectors = model.embedding(vocabulary.encode([words]).to(device))  # (1, words, d_model)
    weights = {
        "embedding": vectors[0],
        "positions": model.positions(torch.zeros_like(vectors[:, :length]))[0],
    }
    for name in attentions:
        for part, tensor in getattr(model, name).state_dict(prefix=f"{name}.").items():
            weights[part] = tensor
    return {name: packed(tensor) for name, tensor in weights.items()}


def _rows(model: nn.Module, vocabulary: Vocabulary, words: Sequence[str]) -> torch.Tensor:
    """Attention weights (H, T, T) of the model for one sentence."""
    device = next(model.parameters()).device
    with torch.no_grad():
        _, weights = model(vocabulary.encode([words]).to(device), need_weights=True)
    return weights[0].cpu()
