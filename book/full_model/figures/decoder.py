"""A decoder block of the trained translator, taken apart."""

from book.page.live import LiveFigure


def decoder_figure(translation: LiveFigure) -> LiveFigure:
    """A place of the translation on its way through a decoder block: what it reads, and from where.

    The reader chooses the sentence, the block, and the place that is asked for the next word.

    Args:
        translation: the model, its words and the table of its numbers, as `translation_figure`
            packs them; its examples that are no longer than those of training can be chosen.
    """
    data = translation.data
    last = str(data["num_layers"] - 1)
    value = {"sentence": data["examples"][0], "block": last, "place": 1, "step": 3}
    return LiveFigure(__file__, data, value, translation.fallback)
