"""A sentence out of blanks: the trained network's guess at every step, and what is kept of it."""

from copy import deepcopy

import torch

from book.page.live import LiveFigure, table
from book.page.weights import packed_parameters
from companion.data import CLS, SEP, Vocabulary
from companion.models import BERT

SIZES = range(3, 11)  # words of a sentence that the reader can choose


def blanks_figure(
    model: BERT, vocabulary: Vocabulary, *, size: int = 7, seed: int = 1
) -> LiveFigure:
    """Blanks that a masked diffusion model fills: the reader writes a word, or keeps some guesses.

    Args:
        model: a pre-norm `BERT` with gelu and a head over the words.
        vocabulary: its words, the special ones first.
        size: the number of words at the start.
        seed: of the words that are drawn at the start.

    Raises:
        ValueError: the model is configured otherwise, its positions do not suffice, or a weight
            does not fit into float16.
    """
    config = model.config
    for name, needed in (("norm_first", True), ("norm", "layer"), ("activation", "gelu")):
        if getattr(config, name) != needed:
            raise ValueError(
                f"the figure computes {name}={needed!r}, got {getattr(config, name)!r}"
            )
    if config.max_len < max(SIZES) + 2:
        raise ValueError(f"the figure needs {max(SIZES) + 2} positions, got {config.max_len}")
    model = _coarse(model)
    first = min(i for i, word in enumerate(vocabulary.words) if not word.startswith("["))
    data = {
        "words": vocabulary.words,
        "first": first,
        "mask": vocabulary.mask_id,
        "ends": [vocabulary.cls_id, vocabulary.sep_id],
        "sizes": [*SIZES],
        "weights": packed_parameters(model),
        "depth": config.num_layers,
        "num_heads": config.num_heads,
        "eps": config.norm_eps,
    }
    value = {"size": size, "log": [], "seed": seed, "keep": 1, "order": "random"}
    rows = _best(model, vocabulary, size, first)
    caption = f"The most probable word for each of {size} blanks, and its probability"
    return LiveFigure(__file__, data, value, table(caption, ["place", "p", "word"], rows))


@torch.no_grad()
def _coarse(model: BERT) -> BERT:
    """A copy whose weights keep seven significant bits, so that the page weighs less."""
    model = deepcopy(model).cpu()
    for parameter in model.parameters():
        mantissa, exponent = torch.frexp(parameter)
        parameter.copy_(torch.ldexp((mantissa * 2**7).round() / 2**7, exponent))
    return model.eval()


@torch.no_grad()
def _best(model: BERT, vocabulary: Vocabulary, size: int, first: int) -> list[tuple]:
    words = [CLS, *[vocabulary.words[vocabulary.mask_id]] * size, SEP]
    logits = model(vocabulary.encode([words]))[0, 1:-1]
    logits[:, :first] = -torch.inf
    chances, ids = logits.softmax(-1).max(-1)
    pairs = zip(chances.tolist(), ids.tolist(), strict=True)
    return [(str(i), p, vocabulary.words[word]) for i, (p, word) in enumerate(pairs, start=1)]
