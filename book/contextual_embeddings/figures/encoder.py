"""A published encoder in the reader's browser: its heads, its neighbours, a word's senses."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from book.page.live import LiveFigure, packed, table
from companion.models import BERT
from companion.pretrained import PretrainedTokenizer

# What the reader's own sentence is compared with; ten subjects.
SENTENCES = (
    *("the soup needs a little more salt", "she bakes bread on sundays"),
    *("cut the tomatoes and fry the garlic", "the chef opened a small restaurant"),
    *("the cake is still warm", "he drinks his coffee without sugar"),
    *("the rocket reached its orbit", "a telescope saw a distant galaxy"),
    *("the astronaut looked down at the earth", "the moon is full tonight"),
    *("mars has two small moons", "the comet will return in seventy years"),
    *("the price of bread went up again", "she put her savings into shares"),
    *("the bank asks for a higher interest rate", "he cannot pay back the loan"),
    *("the firm sold fewer cars this year", "taxes are due in april"),
    *("our team lost in the last minute", "she won the race in record time"),
    *("he hit the ball over the fence", "the swimmers train before sunrise"),
    *("the crowd cheered for the goalkeeper", "the match was stopped by rain"),
    *("the doctor listened to her heart", "he has had a fever for three days"),
    *("take this pill after every meal", "the nurse changed the bandage"),
    *("running is good for the lungs", "she cannot sleep at night"),
    *("the program stops with an error", "my laptop does not start any more"),
    *("choose a longer password", "the website is very slow today"),
    *("the robot learned to open doors", "save the file before you close it"),
    *("the wolf crossed the frozen lake", "bees visit every flower in the garden"),
    *("an owl hunts without a sound", "the old oak was struck by lightning"),
    *("reeds grow along the river", "the puppy chewed my shoes"),
    *("the train to the coast is late", "we booked a room near the beach"),
    *("you need a passport at the border", "the flight was cancelled by the fog"),
    *("they rented bicycles for a week", "the museum is closed on mondays"),
    *("the orchestra played without a conductor", "she sings in a choir"),
    *("he learned the guitar by himself", "the painter mixed blue and yellow"),
    *("this novel has no hero", "the film ends with a wedding"),
    *("the children walked to school", "the teacher explained it twice"),
    *("he failed the exam in physics", "she studies law in the evening"),
    *("the class visited a castle", "his homework is never finished"),
)
NEAREST = 5
START = {"layer": 1, "head": 1}


@torch.no_grad()
def sentence_vectors(
    model: BERT, tokenizer: PretrainedTokenizer, sentences: Sequence[str]
) -> torch.Tensor:
    """A unit vector for each sentence (N, d_model): the mean of its tokens' vectors.

    Args:
        model: a sentence encoder without an MLM head.
        tokenizer: the model's.
        sentences: read one by one, so that none is padded.
    """
    device = model.token_embedding.weight.device
    read = [torch.tensor([tokenizer.encode(text)], device=device) for text in sentences]
    return F.normalize(torch.stack([model(ids)[0].mean(0) for ids in read]), dim=1).cpu()


def encoder_figure(
    model: BERT, tokenizer: PretrainedTokenizer, first: str, second: str
) -> LiveFigure:
    """What an encoder makes of a sentence: the weights of each head, the nearest sentences, a word.

    What is shown of the two sentences was computed here. In the published book the reader may load
    the encoder and write others; in a notebook the figure is made again, with other sentences.

    Args:
        model: all-MiniLM-L6-v2, the encoder whose files the book publishes.
        tokenizer: the model's.
        first: the sentence that is read at first.
        second: another one, with which it shares a word.

    Raises:
        ValueError: the sentences share no word.
    """
    records = [_record(model, tokenizer, text) for text in (first, second)]
    shared = [word for word in records[0]["words"] if word in records[1]["words"]]
    if not shared:
        raise ValueError(f"{first!r} and {second!r} share no word")
    senses = {
        word: F.cosine_similarity(*(record["words"][word] for record in records)).tolist()
        for word in shared
    }
    weights, tokens = records[0]["weights"], records[0]["tokens"]
    token = 1
    value = START | {"view": "attention", "token": token, "first": first, "second": second}
    value |= {"word": shared[-1], "loaded": 0, "read": 0}
    data = {
        "records": [_as_data(record) for record in records],
        "senses": senses,
        "sentences": len(SENTENCES),
        "heads": model.config.num_heads,
    }
    row = weights[START["layer"] - 1, START["head"] - 1, token]
    fallback = table(
        f"Weights of “{tokens[token]}” in layer {START['layer']}, head {START['head']}",
        ["to", "weight"],
        list(zip(tokens, row.tolist(), strict=True)),
    )
    return LiveFigure(__file__, data, value, fallback)


@torch.no_grad()
def _record(model: BERT, tokenizer: PretrainedTokenizer, text: str) -> dict:
    """Tokens, weights (layers, H, T, T), nearest sentences, and each word's vectors by layer."""
    ids = torch.tensor([tokenizer.encode(text)], device=model.token_embedding.weight.device)
    tokens = tokenizer.pieces(ids[0])
    start = model.token_embedding(ids) + model.type_embedding.weight[0]
    streams, weights = [model.embedding_norm(model.positions(start))], []
    for block in model.blocks:
        stream, looks = block(streams[-1], need_weights=True)
        streams.append(stream)
        weights.append(looks[0].cpu())
    layers = torch.cat(streams).cpu()  # (layers + 1, T, d_model)
    vector = F.normalize(layers[-1].mean(0), dim=0)
    near = sentence_vectors(model, tokenizer, SENTENCES) @ vector
    best = near.argsort(descending=True)[:NEAREST].tolist()
    return {
        "text": text,
        "tokens": tokens,
        "weights": torch.stack(weights),
        "nearest": [(SENTENCES[i], near[i].item()) for i in best],
        "words": {word: layers[:, at].mean(1) for word, at in _words(tokens).items()},
    }


def _words(tokens: Sequence[str]) -> dict[str, list[int]]:
    """Where the pieces of each word stand the first time that it occurs."""
    places: list[tuple[str, list[int]]] = []
    for i, token in enumerate(tokens[1:-1], 1):
        if token.startswith("##"):
            word, at = places.pop()
            places.append((word + token[2:], [*at, i]))
        else:
            places.append((token, [i]))
    return dict(reversed(places))


def _as_data(record: dict) -> dict:
    weights = packed(record["weights"].flatten(0, 2))
    return {key: record[key] for key in ("text", "tokens", "nearest")} | {"weights": weights}
