"""The trained models for "it"."""

from book.page.live import LiveFigure, table
from book.page.weights import attention_rows, packed_model
from book.self_attention.detective import Detective
from book.sentences import pronoun_sentence
from companion.data import Vocabulary
from companion.data.lexicon import ADJECTIVES, ANIMALS, FOODS, PLACES, PRONOUN_VERBS, THINGS
from companion.data.pronouns import TEMPLATES


def pronoun_figure(detective: Detective, twin: Detective, vocabulary: Vocabulary) -> LiveFigure:
    """Two trained models for "it": change a word of the sentence, or forbid one to be looked at.

    Args:
        detective: one whose second round looks at the words.
        twin: one of the same window whose second round looks at the clues of the first.
        vocabulary: the words' ids.

    Raises:
        ValueError: a weight does not fit into float16.
    """
    models = {"detective": detective, "twin": twin}
    nouns = {"animal": ANIMALS, "place": PLACES, "thing": THINGS, "food": FOODS}
    templates = [form for forms in TEMPLATES.values() for form in forms]
    verbs = {kind: next(iter(pairs.items())) for kind, pairs in PRONOUN_VERBS.items()}
    literal = {word for form in templates for word in form.split() if "{" not in word}
    answers = [noun for kind in nouns.values() for noun in kind]
    words = [*answers, *sorted(literal | set(sum(verbs.values(), ())))]
    words += sum(ADJECTIVES.values(), ())
    length = max(len(form.split()) for form in templates)
    layers = "gather", "look_up"
    data = {
        "words": words,
        "models": {
            name: {
                "board": model.board,
                "weights": packed_model(model, vocabulary, words, layers, length),
            }
            for name, model in models.items()
        },
        "window": detective.window,
        "nouns": nouns,
        "answers": answers,
        "adjectives": ADJECTIVES,
        "verbs": verbs,
        "templates": templates,
    }
    value = {"model": "detective", "template": 0, "animal": "animal", "other": "street"}
    value |= {"adjective": "tired", "forbidden": []}
    sentence = pronoun_sentence("animal", "street", "tired")
    look = [
        attention_rows(model, vocabulary, sentence.words)[0, sentence.it_position].tolist()
        for model in models.values()
    ]
    caption = "Weights that “it” gives to every word"
    rows = zip(sentence.words, *look, strict=True)
    return LiveFigure(__file__, data, value, table(caption, ["word", *models], rows))
