"""The whole trained model as one scene, in which every stage shows its numbers."""

import json
from collections.abc import Mapping
from pathlib import Path

from book.page.live import LiveFigure

# The map of the model: in which lane each stage stands, its name, and where its box begins and how
# wide it is: in this scene on a wide and on a narrow page, in the strip above a title, on a card.
STAGES = json.loads((Path(__file__).parents[1] / "model.json").read_text("utf8"))


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
    value = {"sentence": data["examples"][0], "word": 3, "block": last, "tour": 0}
    return LiveFigure(__file__, data, value, translation.fallback)
