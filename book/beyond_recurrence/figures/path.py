"""The path between two words in three kinds of layer."""

from book.page.live import LiveFigure, table

SENTENCE = (
    "the animal that had slept all day beside the old stone bridge "
    "did not cross the street because it"
)


def path_figure(sentence: str = SENTENCE, distance: int = 17, kernel: int = 3) -> LiveFigure:
    """The path between two words: a chain of states, a convolution, self-attention.

    Shown are the steps that must be taken one after the other. A convolution's kernel covers a word
    and the `kernel` - 1 words before it.

    Args:
        sentence: words between spaces; the path leads to its last word.
        distance: how many words before the last one the path starts.
        kernel: width of the convolution's kernel, 2 to 5.

    Raises:
        ValueError: the sentence is too short for the distance.

    Source: Vaswani et al. 2017, section 4, table 1 (https://arxiv.org/abs/1706.03762).
    """
    words = sentence.split()
    if not 1 <= distance < len(words):
        raise ValueError(
            f"distance = {distance} must lie between 1 and {len(words) - 1} in a sentence of "
            f"{len(words)} words"
        )
    value = {"distance": distance, "kernel": kernel, "convolution": "dilated"}
    layers, reach = 0, 1
    while reach <= distance:
        layers, reach = layers + 1, reach * kernel
    rows = [
        ("recurrent", distance),
        (f"convolution, dilated, kernel {kernel}", layers),
        ("self-attention", 1),
    ]
    caption = f"Steps from “{words[-1 - distance]}” to “{words[-1]}”"
    return LiveFigure(__file__, {"words": words}, value, table(caption, ["layer", "steps"], rows))
