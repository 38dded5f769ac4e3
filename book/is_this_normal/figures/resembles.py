"""A loss curve of the reader's, and the known runs that it resembles."""

from collections.abc import Mapping

import torch

from book.is_this_normal import known
from book.is_this_normal.curves import CONFIG, Run, advice
from book.page.live import LiveFigure, table

EXAMPLES = (
    "padding is counted",
    "targets shuffled apart",
    "healthy",
    "bad batches",
    "fine-tuning, rate too low",
    "softmax in float16",
)


def resembles_figure(runs: Mapping[str, Run]) -> LiveFigure:
    """Paste or draw a loss curve, and see which of the known runs it resembles.

    Args:
        runs: a run of every kind of `EXAMPLES`, which the reader may load; A, the first, is there
            at the start.

    Raises:
        ValueError: one of them is missing.
    """
    if missing := [name for name in EXAMPLES if name not in runs]:
        raise ValueError(f"the examples need runs of {EXAMPLES}; there is none of {missing}")
    portraits = known.read()
    averages = known.averages(portraits)
    sure = {
        "judged": known.sureness(portraits),
        "alone": known.sureness(known.blind(portraits)),
    }
    kinds = [
        {
            "name": name,
            "advice": advice(name),
            "parts": [round(number, 5) for number in average[:-2].tolist()],
            "gap": None if average[-2].isnan() else average[-2].item(),
            "ended": average[-1].item(),
            **{how: counts.when_named[name] for how, counts in sure.items()},
        }
        for name, average in averages.items()
    ]
    texts = ["\n".join(f"{loss:.3f}" for loss in runs[name].loss) for name in EXAMPLES]
    data = {
        "kinds": kinds,
        "bins": known.BINS,
        "ceiling": known.CEILING,
        "reach": known.REACH,
        "vocabulary": CONFIG.vocab_size,
        "examples": texts,
        **{how: {"right": c.right, "refused": c.refused} for how, c in sure.items()},
    }
    value = {"text": texts[0], "vocabulary": CONFIG.vocab_size, "example": 0}
    shown = known.portrait([float(line) for line in texts[0].split()], CONFIG.vocab_size)
    curve = torch.tensor(shown, dtype=torch.float64)
    far = sorted((known.distance(curve, average), name) for name, average in averages.items())
    fallback = table(
        "The known runs that run A is nearest to",
        ["", "distance, in ln V"],
        [[name, distance] for distance, name in far[:3]],
    )
    return LiveFigure(__file__, data, value, fallback)
