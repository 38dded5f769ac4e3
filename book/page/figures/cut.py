"""A model's next word beside the true one, while the reader heats and cuts it."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table
from companion.generation import next_token_probabilities

NO_CUT = 51  # the place on the slider of top-k that keeps all words


def cut_figure(words: Sequence[str], contexts: Sequence[tuple[str, object, object]]) -> LiveFigure:
    """Temperature, top-k and top-p over next-word distributions whose truth is known.

    Args:
        words: the vocabulary, in the order of its ids.
        contexts: for each beginning of a sentence, its words between spaces, the model's logits
            (vocab_size,) for the next word, and the true probabilities (vocab_size,).

    Raises:
        ValueError: there is no context, a row has another length than the vocabulary, or the true
            probabilities do not sum to 1.
    """
    if not contexts:
        raise ValueError("the figure needs at least one beginning of a sentence, got none")
    data = []
    for text, *rows in contexts:
        logits, truth = (torch.as_tensor(row).detach().cpu().double() for row in rows)
        if logits.shape != (len(words),) or truth.shape != logits.shape:
            shapes = tuple(logits.shape), tuple(truth.shape)
            raise ValueError(f"{text!r}: {len(words)} words need rows as long, got {shapes}")
        if abs(truth.sum() - 1) > 1e-6:
            raise ValueError(f"{text!r}: true probabilities sum to 1, these to {truth.sum():.3f}")
        logits = logits.half().double()  # short in the page; the same in both computations
        data.append({"text": text, "logits": logits.tolist(), "truth": truth.tolist()})
    first = data[0]
    probabilities = next_token_probabilities(torch.tensor([first["logits"]]).double())[0]
    best = probabilities.topk(min(12, len(words))).indices.tolist()
    rows = [(words[i], probabilities[i].item(), first["truth"][i]) for i in best]
    return LiveFigure(
        __file__,
        {"words": list(words), "contexts": data, "no_cut": NO_CUT},
        {"context": "0", "temperature": 1, "top_k": NO_CUT, "top_p": 1},
        table(f"The next word after “{first['text']}”", ["", "model", "true"], rows),
    )
