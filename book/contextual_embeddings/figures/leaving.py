"""A word of two meanings on its way from its row to one of two clouds."""

from collections.abc import Sequence

import torch

from book.contextual_embeddings.homonyms import HomonymSentence
from book.page.live import LiveFigure, table
from companion.data.lexicon import HOMONYMS


def leaving_figure(
    heights: Sequence[str],
    streams: dict[str, torch.Tensor],
    sentences: dict[str, Sequence[HomonymSentence]],
) -> LiveFigure:
    """The vectors of a word in many sentences, height by height, in one plane around its row.

    The plane's first direction leads from the mean of one meaning to that of the other at the last
    height; its second one is that in which the vectors spread most beside it.

    Args:
        heights: what the heights are called; the first is the row of the table.
        streams: for each word its vectors (heights, N, d); N is the same for all words.
        sentences: for each word the N sentences, of both meanings.

    Raises:
        ValueError: numbers of heights or sentences differ, or a meaning has no sentence.
    """
    shapes = {word: tuple(stream.shape[:2]) for word, stream in streams.items()}
    number = len(next(iter(sentences.values())))
    for word, shape in shapes.items():
        if shape != (len(heights), number) or len(sentences[word]) != number:
            raise ValueError(f"{word}: expected {len(heights)} heights of {number}, got {shape}")
        if {sentence.sense for sentence in sentences[word]} != {0, 1}:
            raise ValueError(f"{word} needs sentences of both meanings")
    words = {word: _film(streams[word], sentences[word], word) for word in streams}
    first = next(iter(words))
    start, last = (torch.tensor(words[first]["film"])[height] for height in (1, -1))
    senses = torch.tensor(words[first]["senses"])
    rows = [
        (f"distance of the means, {heights[height]}", _gap(film, senses))
        for height, film in ((len(heights) - 1, last), (1, start))
    ]
    data = {"heights": list(heights), "words": words}
    return LiveFigure(
        __file__,
        data,
        {"word": first, "step": len(heights) - 1, "sentence": 1},
        table(f"“{first}” leaves its row", ["", "distance"], rows),
    )


def _gap(film: torch.Tensor, senses: torch.Tensor) -> float:
    return (film[senses == 0].mean(0) - film[senses == 1].mean(0)).norm().item()


def _film(stream: torch.Tensor, sentences: Sequence[HomonymSentence], word: str) -> dict:
    """Points (heights, N, 2) around the row, and what belongs to them."""
    stream = stream.detach().double().cpu()
    senses = torch.tensor([sentence.sense for sentence in sentences])
    last = stream[-1]
    across = torch.nn.functional.normalize(
        last[senses == 1].mean(0) - last[senses == 0].mean(0), dim=0
    )
    beside = last - last.mean(0)
    beside = beside - (beside @ across)[:, None] * across
    up = torch.linalg.svd(beside, full_matrices=False).Vh[0]
    film = (stream - stream[0].mean(0)) @ torch.stack([across, up]).T
    return {
        "film": film.tolist(),
        "most": film.abs().max().item(),
        "senses": senses.tolist(),
        "sentences": [" ".join(sentence.words) for sentence in sentences],
        "cues": [", ".join(cues[:3]) for cues in HOMONYMS[word]],
    }
