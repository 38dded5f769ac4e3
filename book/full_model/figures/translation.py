"""The trained encoder-decoder, which translates what the reader writes."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table
from book.page.translators import LONGEST_TARGET, packed_translator
from companion.data import Vocabulary
from companion.generation import evaluating, greedy_decode
from companion.models import Transformer


def translation_figure(
    model: Transformer,
    vocabulary: Vocabulary,
    english: Sequence[str],
    examples: Sequence[str],
    trained_length: int,
) -> LiveFigure:
    """The reader writes an English sentence; the model translates it, word by word, in the page.

    Args:
        model: a trained `Transformer`, post-norm, whose source is the sentence's words alone.
        vocabulary: the words of both languages.
        english: the words that a sentence may have.
        examples: sentences to choose from, words between spaces; the figure starts with the first.
        trained_length: words of the longest source that the model was trained on.

    Raises:
        ValueError: there is no example, a word is unknown, or a weight does not fit into float16.
    """
    data = packed_translator(model, vocabulary, english, examples, trained_length)
    source = examples[0].split()
    target, weights = _translated(model, vocabulary, source)
    fallback = table(
        f"“{examples[0]}”: where each word of the translation (row) looked, mean of the last heads",
        ["", *source],
        [(word, *row) for word, row in zip(target, weights.tolist(), strict=True)],
    )
    last = f"{model.config.num_layers - 1}.mean"
    value = {"sentence": examples[0], "place": 1, "attention": last}
    return LiveFigure(__file__, data, value, fallback)


@torch.no_grad()
def _translated(model, vocabulary, source: Sequence[str]) -> tuple[list[str], torch.Tensor]:
    """The greedy translation, "[EOS]" included, and the last block's mean weights (T, S)."""
    device = next(model.parameters()).device
    ids = vocabulary.encode([source]).to(device)
    written = greedy_decode(model, ids, LONGEST_TARGET)
    written = written[:, written[0] != model.config.pad_id]
    with evaluating(model):
        _, weights = model(ids, written[:, :-1], need_weights=True)
    words = vocabulary.decode(written[:, 1:])[0]
    return words, weights["cross"][-1][0].mean(0).cpu()
