"""What the words of a question read, in a reader of pictures."""

from collections.abc import Mapping

import torch
from torch import Tensor

from book.page.live import LiveFigure, table
from book.picture_and_words.reader import PLACE, ROW, VOCABULARY, Reader

ANSWERS = 3  # that are shown


def _rounded(numbers: Tensor, digits: int = 3) -> list:
    """Nested lists of numbers without digits that nobody sees."""
    if numbers.dim() > 1:
        return [_rounded(part, digits) for part in numbers]
    return [round(x, digits) for x in numbers.tolist()]


@torch.no_grad()
def gaze_figure(
    reader: Reader, pictures: Mapping[str, Tensor], asked: Tensor, *, question: int = 0
) -> LiveFigure:
    """Attention of every word to patches and words, and the answers, by picture and question.

    Args:
        reader: whose attention it is.
        pictures: (5, 64) each, by name.
        asked: questions (n, 4).
        question: which is asked at first.

    Raises:
        ValueError: a picture has another shape, or there is no such question.
    """
    if not 0 <= question < len(asked):
        raise ValueError(f"there is no question {question} of {len(asked)}")
    shown = []
    for name, picture in pictures.items():
        if picture.shape != (ROW, 64):
            raise ValueError(f"{name!r} must be five patches (5, 64), got {tuple(picture.shape)}")
        logits, weights = reader(picture.expand(len(asked), -1, -1), asked, need_weights=True)
        best = logits.softmax(-1).topk(ANSWERS)
        answers = [
            [[VOCABULARY[i], round(p, 3)] for p, i in zip(ps, ids, strict=True)]
            for ps, ids in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        ]
        words = torch.stack(weights, 1)[..., ROW:, :]  # (n, layers, heads, 4, 9)
        shown.append(
            {"name": name, "pixels": _rounded(picture, 2), "answers": answers,
             "weights": _rounded(words)}
        )  # fmt: skip
    questions = [
        {"words": [VOCABULARY[i] for i in ids], "place": ids[1] if ids[0] == PLACE else 0}
        for ids in asked.tolist()
    ]
    value = {"picture": 0, "question": question, "layer": 0, "head": -1, "word": 3}
    fallback = table("Answers", ["answer", "probability"], shown[0]["answers"][question])
    return LiveFigure(__file__, {"pictures": shown, "questions": questions}, value, fallback)
