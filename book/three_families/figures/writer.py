"""The trained GPT, writing under the reader's hand."""

import torch
from torch import nn

from book.page.live import LiveFigure, table
from book.page.weights import packed_parameters
from companion.data import BOS, EOS, SPECIAL_TOKENS, Vocabulary
from companion.generation import evaluating, next_token_probabilities

NO_CUT = 51  # the place on the slider of top-k that keeps all words


def writer_figure(
    model: nn.Module, vocabulary: Vocabulary, *, prompt: str = "the king keeps"
) -> LiveFigure:
    """A GPT that writes: the next word's distribution, with temperature, top-k, top-p and a seed.

    Args:
        model: a `GPT`, pre-norm, with layer norms, learned positions and the tied output matrix.
        vocabulary: its words, with `BOS` and `EOS` among them.
        prompt: known words, with which the sentence begins at the start.

    Raises:
        ValueError: the model is configured otherwise, a word of the prompt is unknown, or a weight
            does not fit into float16.
    """
    config = model.config
    for name, needed in (("norm_first", True), ("norm", "layer"), ("positions", "learned")):
        if getattr(config, name) != needed:
            raise ValueError(
                f"the figure computes {name}={needed!r}, got {getattr(config, name)!r}"
            )
    if not config.tie_weights or config.norm_eps != 1e-5:
        raise ValueError("the figure computes with tie_weights=True and norm_eps=1e-5")
    data = {
        "words": vocabulary.words,
        "hidden": [*SPECIAL_TOKENS, BOS, EOS],
        "bos": vocabulary.id(BOS),
        "eos": vocabulary.id(EOS),
        "weights": packed_parameters(model),
        "num_heads": config.num_heads,
        "num_layers": config.num_layers,
        "activation": config.activation,
        "max_len": config.max_len,
        "no_cut": NO_CUT,
    }
    value = {"prompt": prompt, "written": [], "temperature": 1.0, "top_k": NO_CUT, "top_p": 1.0}
    value |= {"seed": 1, "head": "0.0"}
    ids = vocabulary.encode([(BOS, *prompt.split())]).to(next(model.parameters()).device)
    with torch.no_grad(), evaluating(model):
        best, words = next_token_probabilities(model(ids)[:, -1])[0].topk(7)
    rows = [(vocabulary.words[i], p) for i, p in zip(words, best.tolist(), strict=True)]
    caption = f"The most probable words after “{prompt}”"
    return LiveFigure(__file__, data, value, table(caption, ["word", "probability"], rows))
