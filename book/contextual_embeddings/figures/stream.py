"""A word's residual stream through the blocks of a trained encoder."""

from copy import deepcopy

import torch
from torch import nn

from book.page.live import LiveFigure, table
from book.page.weights import packed_parameters
from companion.data import Vocabulary

EXAMPLES = (
    ("the bank is near the river and the mud", "bank"),
    ("the bank is near the loan and the vault", "bank"),
    ("these red dogs are near the kennel", "red"),
    ("the king said that he wants the crown", "he"),
    ("yesterday the nun walked slowly", "walked"),
)


def stream_figure(model: nn.Module, vocabulary: Vocabulary) -> LiveFigure:
    """A word's way up: what each sub-layer adds to it, and what the sum reads as so far.

    Args:
        model: an encoder of pre-norm blocks with gelu, as the chapter trains it. It
            has `token_embedding` (tied to the output, not scaled), `positions` (learned), `blocks`
            and `final_norm`.
        vocabulary: the words' ids.

    Raises:
        ValueError: a weight does not fit into float16.
    """
    model = _coarse(model)
    data = {
        "words": vocabulary.words,
        "mask": vocabulary.mask_id,
        "weights": packed_parameters(model),
        "depth": len(model.blocks),
        "num_heads": model.blocks[0].self_attention.num_heads,
        "examples": [
            {"sentence": sentence, "word": sentence.split().index(word)}
            for sentence, word in EXAMPLES
        ],
    }
    value = {"example": 0, **data["examples"][0], "hidden": False}
    caption = f"The stream at “{EXAMPLES[0][1]}” in “{EXAMPLES[0][0]}”"
    rows = _climb(model, vocabulary, value["sentence"].split(), value["word"])
    fallback = table(caption, ["after", "adds", "stream", "cosine"], rows)
    return LiveFigure(__file__, data, value, fallback)


@torch.no_grad()
def _coarse(model: nn.Module) -> nn.Module:
    """A copy whose weights keep seven significant bits: the page with it weighs 30 kB less."""
    model = deepcopy(model)
    for parameter in model.parameters():
        mantissa, exponent = torch.frexp(parameter)
        parameter.copy_(torch.ldexp((mantissa * 2**7).round() / 2**7, exponent))
    return model


@torch.no_grad()
def _climb(model: nn.Module, vocabulary: Vocabulary, words: list[str], at: int) -> list[tuple]:
    ids = vocabulary.encode([words]).to(next(model.parameters()).device)
    x = start = model.positions(model.token_embedding(ids))
    added = [("embedding", start)]
    for number, block in enumerate(model.blocks, start=1):
        attended, _ = block.self_attention(block.norm1(x))
        added.append((f"attention {number}", attended))
        added.append((f"FFN {number}", block.feed_forward(block.norm2(x + attended))))
        x = x + attended + added[-1][1]
    rows, stream = [], torch.zeros_like(start)
    for name, part in added:
        stream = stream + part
        turn = torch.cosine_similarity(stream[0, at], start[0, at], dim=0)
        rows.append((name, *(float(n) for n in (part[0, at].norm(), stream[0, at].norm(), turn))))
    return rows
