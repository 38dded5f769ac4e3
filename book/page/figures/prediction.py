"""A guess before an answer."""

import html
import math
from collections.abc import Sequence
from itertools import pairwise

import torch

from book.page.live import LiveFigure, table

CLOSEST = 1 / 18  # of a line's width: nearer points cannot be told apart by a finger


def prediction_figure(
    question: str,
    truth,
    *,
    between: tuple[float, float] | None = None,
    unit: str = "",
    choices: Sequence[str] | None = None,
    x: Sequence | None = None,
    along: str = "",
    because: str = "",
    computed: bool = False,
) -> LiveFigure:
    """Asks for a guess, then shows the truth beside it; nothing is stored or sent.

    There is no guess at the start, so that the slider suggests none. The reader moves a
    slider (`between`), takes one of the `choices`, or draws a line over `x` (`x` and `between`).

    Args:
        question: what is asked, a sentence.
        truth: what was found: a number, one of the choices, or a number for every x.
        between: least and largest number that can be guessed. Whole ones with a whole truth ask
            for whole numbers.
        unit: written behind a number, as "seconds" or "%".
        choices: texts, at least two.
        x: numbers or texts below the points of the line, at least two. Numbers stand where they are
            on an axis, on a logarithmic one where they would stand too close; texts, at equal
            distances.
        along: what the numbers or texts below the line are, as "width of the vectors".
        because: the reason, a sentence or two, shown with the truth.
        computed: the truth follows from a formula or a count, and no experiment has measured it.

    Raises:
        ValueError: it is none of the three, or the truth cannot be guessed.
    """
    if choices is not None:
        data = _choice(truth, list(choices), between, x)
    else:
        if between is None:
            raise ValueError("a prediction needs between=(low, high), or choices=[...]")
        data = _numbers(truth, between, x)
    data |= {"question": question, "unit": unit, "because": because}
    data["found"] = "computed" if computed else "measured"
    if x is not None:
        places, remark = _places(x)
        data |= {"places": places, "along": " ".join(filter(None, (along, remark)))}
    return LiveFigure(
        __file__, data, {"prediction": {"guess": None, "shown": False}}, _fallback(data)
    )


def _choice(truth, choices: list[str], between, x) -> dict:
    if between is not None or x is not None:
        raise ValueError("a prediction with choices has neither between nor x")
    if len(set(choices)) < max(2, len(choices)) or truth not in choices:
        raise ValueError(f"truth {truth!r} must be one of two or more different choices: {choices}")
    return {"choices": choices, "truth": truth}


def _numbers(truth, between: tuple[float, float], x: Sequence | None) -> dict:
    """The data of a slider, or of a line."""
    low, high = between
    truth = torch.as_tensor(truth)
    if x is not None and (len(x) < 2 or truth.shape != (len(x),)):
        raise ValueError(f"a line over {len(x)} x needs as many truths, got shape {truth.shape}")
    if x is None and truth.numel() != 1:
        raise ValueError(f"a slider has one truth, got shape {truth.shape}; give x for a line")
    if not low <= truth.min() <= truth.max() <= high:
        raise ValueError(f"truth {truth.tolist()} must lie between {low} and {high}")
    step = 10.0 ** math.floor(math.log10((high - low) / 50))
    if isinstance(low, int) and isinstance(high, int) and not truth.is_floating_point():
        step = max(step, 1.0)
    digits = max(0, -round(math.log10(step)))
    data = {"low": low, "high": high, "step": step, "digits": digits}
    if x is None:
        return data | {"truth": truth.item()}
    names = [f"{number:.7g}" for number in x] if _are_numbers(x) else list(x)
    return data | {"truth": truth.tolist(), "x": names}


def _are_numbers(x: Sequence) -> bool:
    return not any(isinstance(name, str) for name in x)


def _places(x: Sequence) -> tuple[list[float], str]:
    """Where the points of a line stand, from 0 to 1, and what the axis says of it."""
    equal = [i / (len(x) - 1) for i in range(len(x))]
    if not _are_numbers(x):
        return equal, ""
    numbers = [float(number) for number in torch.as_tensor(x).tolist()]
    spread = _spread(numbers)
    if _gap(spread) >= CLOSEST:
        return spread, ""
    if min(numbers) > 0:
        spread = _spread([math.log(number) for number in numbers])
        if _gap(spread) >= CLOSEST:
            return spread, "(log scale)"
    return equal, "(not to scale)"


def _spread(numbers: list[float]) -> list[float]:
    width = numbers[-1] - numbers[0]
    return [(number - numbers[0]) / width for number in numbers] if width else [0.0] * len(numbers)


def _gap(places: list[float]) -> float:
    """The smallest step from a point to the next one; negative where one goes back."""
    return min(after - before for before, after in pairwise(places))


def _fallback(data: dict) -> str:
    """The question, and the answer where nobody reads it by accident."""
    truth = data["truth"]
    pairs = list(zip(data["x"], truth, strict=True)) if "x" in data else [(data["found"], truth)]
    answer = table("The answer", [data.get("along", ""), data["unit"]], pairs)
    return (
        f"<p><b>{html.escape(data['question'])}</b></p><details><summary>The answer</summary>"
        f"{answer}<p>{html.escape(data['because'])}</p></details>"
    )
