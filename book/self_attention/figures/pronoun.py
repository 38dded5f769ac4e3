"""The trained model for "it"."""

from torch import nn

from book.page.live import LiveFigure, table
from book.page.weights import attention_rows, packed_model
from companion.data import (
    ADJECTIVES,
    ANIMALS,
    FOODS,
    PLACES,
    PRONOUN_VERBS,
    TEMPLATES,
    THINGS,
    Vocabulary,
    pronoun_sentence,
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
        "weights": packed_model(model, vocabulary, words, ("gather", "look_up"), length),
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
    look = [
        attention_rows(model, vocabulary, s.words)[:, s.it_position].mean(0).tolist() for s in pair
    ]
    names = [a if a == b else f"{a} / {b}" for a, b in zip(*(s.words for s in pair), strict=True)]
    caption = "Weights that “it” gives to every word, with “tired” and with “wide”"
    fallback = table(caption, ["word", "tired", "wide"], zip(names, *look, strict=True))
    return LiveFigure(__file__, data, value, fallback)
