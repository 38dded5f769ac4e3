"""Texts as a published tokenizer cuts them."""

from collections.abc import Sequence

from book.page.live import LiveFigure, table
from companion.pretrained import PretrainedTokenizer


def cuts_figure(tokenizer: PretrainedTokenizer, texts: Sequence[str]) -> LiveFigure:
    """The tokens of the text that the reader chooses; at first the first one.

    Args:
        tokenizer: adds no tokens of its own to a text.
        texts: some, none of them empty.

    Raises:
        ValueError: there is no text, or an empty one.
    """
    texts = list(texts)
    if not texts or "" in texts:
        raise ValueError(f"give at least one text, and none that is empty, got {texts}")
    cuts = [tokenizer.pieces(tokenizer.encode(text)) for text in texts]
    data = [
        {"name": text.replace("\n", "⏎"), "pieces": pieces, "characters": len(text)}
        for text, pieces in zip(texts, cuts, strict=True)
    ]
    rows = [
        (text, len(pieces), " | ".join(pieces)) for text, pieces in zip(texts, cuts, strict=True)
    ]
    fallback = table("How a published tokenizer cuts texts", ["text", "tokens", "cut"], rows)
    return LiveFigure(__file__, {"texts": data}, {"text": 0}, fallback)
