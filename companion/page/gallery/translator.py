"""The whole trained model as one scene, in which every stage shows its numbers."""

from collections.abc import Mapping

from companion.page.live import LiveFigure


def translator_figure(
    translation: LiveFigure, doors: Mapping[str, Mapping[str, str]] | None = None
) -> LiveFigure:
    """A translator from its words to the next word: the reader picks or types a sentence.

    Args:
        translation: the model, its words and the table of its numbers, as `translation_figure`
            packs them; its first example is the one that the scene opens with.
        doors: for stages that are links ("words", "place", "self", "ffn", "memory", "written",
            "place2", "masked", "cross", "ffn2", "out", "loop", "block", "block2"): "href", "title"
            and "question" of the chapter that each leads to.
    """
    data = translation.data | {"doors": {stage: dict(to) for stage, to in (doors or {}).items()}}
    last = data["num_layers"] - 1
    value = {"sentence": data["examples"][0], "word": 3, "block": last}
    return LiveFigure("translator", data, value, translation.fallback)
