"""A word's vector on its way through a block, the residual stream as a highway."""

import torch

from book.page.live import LiveFigure, table
from book.page.weights import packed_parameters
from companion.nn import DecoderBlock, EncoderBlock


def highway_figure(
    encoder: EncoderBlock,
    decoder: DecoderBlock,
    source: dict[str, torch.Tensor],
    target: dict[str, torch.Tensor],
) -> LiveFigure:
    """A block's steps for one word: what leaves the stream, what is found, what is added.

    Switches choose the encoder's block or the decoder's, and the order of the norms; the weights
    are the same in both orders. The decoder's memory is what the encoder's block makes of `source`.

    Args:
        encoder: a block of width 4 with ReLU, biases and layer norms.
        decoder: likewise.
        source: three words and their vectors (4,), which the encoder's block gets.
        target: three words and their vectors, which the decoder's block gets.

    Raises:
        ValueError: there are not three words of width 4, or a weight does not fit into float16.
    """
    x = {"encoder": source, "decoder": target}
    for words in x.values():
        if [vector.shape for vector in words.values()] != [(4,)] * 3:
            raise ValueError(f"three words with vectors (4,) are needed, got {words}")
    weights = {}
    for name, block in (("encoder", encoder), ("decoder", decoder)):
        packed = packed_parameters(block)
        weights |= {f"{name}.{parameter}": packed[parameter] for parameter in packed}
    data = {
        "weights": weights,
        "num_heads": encoder.self_attention.num_heads,
        "words": {name: list(words) for name, words in x.items()},
        "x": {name: torch.stack(list(words.values())).tolist() for name, words in x.items()},
    }
    value = {"block": "encoder", "order": "pre", "word": 0, "step": 3}
    caption = f"“{next(iter(source))}” through the encoder’s block, pre-norm"
    fallback = table(caption, ["after", "length of the stream"], _lengths(encoder, source))
    return LiveFigure(__file__, data, value, fallback)


@torch.no_grad()
def _lengths(block: EncoderBlock, source: dict[str, torch.Tensor]) -> list[tuple[str, float]]:
    """How long the first word's vector is before the block, between its halves, and after it."""
    x = torch.stack(list(source.values()))[None]
    middle = x + block.self_attention(block.norm1(x))[0]
    top = middle + block.feed_forward(block.norm2(middle))
    names = ("entering", "attention", "feed-forward network")
    stages = zip(names, (x, middle, top), strict=True)
    return [(name, stream[0, 0].norm().item()) for name, stream in stages]
