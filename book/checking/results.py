"""A result beside what is expected: whether they are alike, how they differ, how they are shown."""

import inspect
import math
from collections.abc import Iterable
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
import torch


def alike(result, expected, optional: int = 0) -> bool:
    """Whether a result is the expected one, in whatever form its numbers come."""
    if isinstance(expected, tuple):
        result = _each(result, expected)
        right_count = len(expected) - optional <= len(result) <= len(expected)
        return right_count and all(map(alike, result, expected))
    if not isinstance(expected, torch.Tensor | np.ndarray | np.number | list | int | float):
        return type(result) is type(expected) and _same(result, expected)
    try:
        return close(_numbers(result), expected) or close(_numbers(_alone(result)), expected)
    except (TypeError, ValueError):
        return False


def _each(result, expected: tuple) -> tuple | list:
    """Results one by one: also those that are the rows, or the numbers, of one tensor."""
    if isinstance(result, tuple | list):
        return result
    shapes = {tuple(getattr(x, "shape", ())) for x in expected}
    rows = isinstance(result, torch.Tensor | np.ndarray) and {tuple(result.shape[1:])} == shapes
    return [*result] if rows and result.ndim and len(result) == len(expected) else (result,)


def _same(result, expected) -> bool:
    """Whether two things that are not numbers are equal; False if comparing them fails."""
    try:
        return bool(result == expected)
    except Exception:  # a dict of tensors, say
        return False


def _alone(result):
    """The one array of a list or tuple that holds just one."""
    match result:
        case [torch.Tensor() | np.ndarray() as x] if x.ndim:
            return x
    return result


def _numbers(x) -> np.ndarray:
    """An array of what an answer has returned, nested lists of tensors included.

    Raises:
        TypeError: it is something else, or cannot be read.
        ValueError: its rows have several lengths.
    """
    try:
        return _nested(x)
    except RecursionError as error:
        raise TypeError(f"a {type(x).__name__} of lists in lists without end") from error


def _nested(x) -> np.ndarray:
    if isinstance(x, list | tuple):
        return np.asarray([_nested(item) for item in x])
    if x is None:  # numpy would make NaN of it
        raise TypeError("expected numbers, got None")
    array = as_array(x)
    if array.dtype.kind == "O":  # a Fraction, say
        array = array.astype(float)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"expected numbers, got {type(x).__name__}")
    return array


def close(x, y) -> bool:
    """Whether two arrays have the same shape and the same numbers: of floats, as far as float32."""
    x, y = as_array(x), as_array(y)
    if x.dtype.kind != "f" and y.dtype.kind != "f":
        return np.array_equal(x, y)
    return x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-5, equal_nan=True)


MOST = 10**7  # numbers of a result that are looked at; to look at more takes too long


def as_array(x) -> np.ndarray:
    """An array of what is in a tensor, of whatever kind, or in what numpy makes one of.

    Raises:
        TypeError: there is nothing that can be read, or far too much.
    """
    try:
        array = _of_tensor(x) if isinstance(x, torch.Tensor) else np.asarray(x)
    except (TypeError, ValueError):
        raise
    except Exception as error:  # nobody knows what a learner's object or a rare tensor raises
        raise TypeError(f"its numbers cannot be read ({type(error).__name__}: {error})") from error
    if array.size > MOST:
        raise TypeError(f"it holds {array.size} numbers, in shape {array.shape}")
    return array


def _of_tensor(x: torch.Tensor) -> np.ndarray:
    x = x.detach().cpu().resolve_conj().resolve_neg()
    if x.is_quantized:
        x = x.dequantize()
    if x.layout != torch.strided:
        if x.numel() > MOST:
            raise TypeError(f"it holds {x.numel()} numbers, in shape {tuple(x.shape)}")
        x = x.to_dense()
    rare = x.is_floating_point() and x.dtype not in (torch.float16, torch.float32, torch.float64)
    return (x.float() if rare else x).numpy()


KNOWN_FACTORS = {
    "in percent": 100,
    "1 / ln 2, as with logarithms to base 2": 1 / math.log(2),
    "ln 2, as with natural logarithms for those to base 2": math.log(2),
    "1 / ln 10, as with logarithms to base 10": 1 / math.log(10),
    "ln 2 / ln 10, as with logarithms to base 10 for those to base 2": math.log10(2),
}


def count(result) -> int:
    """How many numbers a result holds."""
    if isinstance(result, list | tuple):
        return sum(map(count, result))
    return result.numel() if torch.is_tensor(result) else np.size(result)


def relation(results: Iterable[tuple], least: int = 1) -> str:
    """One relation that explains all results, if `least` or more different numbers are expected."""
    pairs = []
    for result, expected in results:
        if isinstance(expected, tuple) and alike(result, expected):
            continue  # a shape, say
        try:
            x, y = _numbers(_alone(result)), _numbers(expected)
        except (TypeError, ValueError):
            return ""
        if x.shape != y.shape or "b" in (x.dtype.kind, y.dtype.kind):
            return ""
        pairs.append((x.ravel().astype(float), y.ravel().astype(float)))
    if not pairs:
        return ""
    x, y = map(np.concatenate, zip(*pairs, strict=True))
    if not np.isfinite([x, y]).all() or len(np.unique(y.round(4))) < least:
        return ""
    factor, offset = (x * y).sum() / max((y * y).sum(), 1e-12), (x - y).mean()
    known = [
        said for said, number in KNOWN_FACTORS.items() if math.isclose(factor, number, rel_tol=1e-4)
    ]
    told = f"{factor:.4g} times{f' ({known[0]})' if known else ''} what is expected"
    with np.errstate(all="ignore"):
        relations = {
            told: factor * y if abs(factor) > 1e-4 else None,
            f"{offset:+.4g} off": y + offset,
            "1 minus what is expected": 1 - y,
            "the square of what is expected": y * y,
            "the square root of what is expected": np.sqrt(y),
            "1 divided by what is expected": 1 / y,
        }
    for said, numbers in relations.items():
        if numbers is not None and close(x, numbers):
            return f"all that it returns, on every input of this check, is {said}"
    return ""


def exchanged(results: list[tuple]) -> str:
    """Which two of several results have changed places, on every input; or nothing."""
    pairs = [(_each(x, y), y) for x, y in results if isinstance(y, tuple)]
    if not pairs or len(pairs) < len(results) or len({len(z) for pair in pairs for z in pair}) > 1:
        return ""
    for i, j in combinations(range(len(pairs[0][1])), 2):
        order = [*range(len(pairs[0][1]))]
        order[i], order[j] = j, i
        if all(alike([x[k] for k in order], y) for x, y in pairs):
            return f"results {i + 1} and {j + 1} have changed places"
    return ""


class Fact(NamedTuple):
    """What can be seen of a wrong result without knowing why; "" if nothing.

    Args:
        of_numbers: whether it is about numbers of the right form, which may be so by chance.
    """

    text: str
    of_numbers: bool = False


def visible_fact(result, expected, optional: int = 0) -> Fact:
    """What can be seen of a wrong result; of several results, of the first that shows anything."""
    if isinstance(expected, tuple):
        results = _each(result, expected)
        if not len(expected) - optional <= len(results) <= len(expected):
            found = len(results)
            return Fact(f"it returned {found} result{'s' * (found != 1)}, expected {len(expected)}")
        facts = [visible_fact(x, y) for x, y in zip(results, expected, strict=False)]
        for i, (text, of_numbers) in enumerate(facts, start=1):
            if text:
                which = f"result {i} of {len(expected)}: " if len(expected) > 1 else ""
                return Fact(which + text, of_numbers)
        return Fact("")
    if alike(result, expected):
        return Fact("")
    try:
        x, y = _numbers(_alone(result)), _numbers(expected)
    except (TypeError, ValueError) as error:
        kinds = type(result).__name__, type(expected).__name__
        if kinds[0] != kinds[1]:
            return Fact("it returned {}, expected {}".format(*kinds))
        return Fact(f"what it returned cannot be read: {error}" * torch.is_tensor(result))
    if x.shape != y.shape:
        seen = _seen_in_the_shape(x, y)
        return Fact(f"it returned shape {x.shape}, expected {y.shape}{seen}")
    if infinite := not_finite(result, expected):
        return Fact(infinite)
    seen = _seen_in_the_numbers(x, y)
    return Fact(seen, of_numbers=bool(seen))


def can_refute(expected, least: int) -> bool:
    """Whether it holds enough numbers, which are not all equal, for a fact to be seen in them."""
    parts = expected if isinstance(expected, tuple) else (expected,)
    try:
        numbers = np.concatenate([_numbers(_alone(x)).ravel() for x in parts])
    except (TypeError, ValueError):
        return False
    return numbers.size >= least and (numbers.size == 1 or bool((numbers != numbers[0]).any()))


def not_finite(result, expected) -> str:
    """That a result is NaN or infinite where a number is expected; or nothing."""
    if isinstance(expected, tuple):
        return next(filter(None, map(not_finite, _each(result, expected), expected)), "")
    try:
        x, y = _numbers(_alone(result)), _numbers(expected)
    except (TypeError, ValueError):
        return ""
    infinite = not np.isfinite(x).all() and np.isfinite(y).all()
    return "it returned NaN or infinity" if infinite else ""


def _seen_in_the_shape(x: np.ndarray, y: np.ndarray) -> str:
    """How numbers in another shape belong to the expected ones, if they are the same."""
    if x.ndim == y.ndim and sorted(x.shape) == sorted(y.shape):
        for axes in permutations(range(x.ndim)):
            if close(x.transpose(axes), y):
                return f", which x.permute{axes} would make of it"
    if x.size == y.size and close(x.reshape(y.shape), y):
        return ", with the right numbers in it"
    for (more, less), name in ((x, y), "it"), ((y, x), "what is expected"):
        for axis in range(more.ndim if more.ndim == less.ndim + 1 and more.size else 0):
            for done in ("mean", "sum"):
                if close(getattr(more, done)(axis), less):
                    return f", the {done} of {name} over axis {axis}"
    return ""


def _seen_in_the_numbers(x: np.ndarray, y: np.ndarray) -> str:
    """How wrong numbers belong to the expected ones of the same shape, if it can be seen."""
    if y.dtype.kind == "b" and y.size > 1:
        return "True and False have changed places" if np.array_equal(x, ~y) else ""
    x, y = x.astype(float), y.astype(float)
    if not np.isfinite(x).all() or not np.isfinite(y).all():
        return ""
    if close(x, -y) and (x.size == 1 or np.count_nonzero(y) > 1):
        return "the sign is turned"
    if x.size < 2 or close(y, np.full_like(y, y.flat[0])) or close(x, 0 * x):
        return ""
    if y.ndim > 1 and y.shape[-1] == y.shape[-2] and close(np.swapaxes(x, -1, -2), y):
        return "rows and columns have changed places"
    few = len(np.unique(y)) < 4 and close(y, np.round(y))  # soon in another order by chance
    for axis in range(0 if few else y.ndim):
        if close(np.flip(x, axis), y):
            return f"the numbers are in reverse order{f' along axis {axis}' * (y.ndim > 1)}"
        means = y.mean(axis, keepdims=True)
        if close(x, np.broadcast_to(means, y.shape)):
            told_apart = not close(means, np.full_like(means, means.flat[0]))
            if told_apart or (means.size == 1 and not close(y.sum(), np.ones(()))):
                return f"each number is the mean of what is expected along axis {axis}"
            return f"all numbers{f' along axis {axis}' * (y.ndim > 1)} are alike"
        if close(np.roll(x, 1, axis), y) or close(np.roll(x, -1, axis), y):
            return f"the numbers are one place off{f' along axis {axis}' * (y.ndim > 1)}"
    if not few and close(np.sort(x, None), np.sort(y, None)):
        return "the numbers are right, but they stand in other places"
    if close(x - y, np.full_like(y, (x - y).flat[0])):
        off = (x - y).flat[0]
        return f"all numbers are too {'large' if off > 0 else 'small'} by {abs(off):.4g}"
    if len(np.unique(y[y != 0].round(4))) > 1:
        factor = (x * y).sum() / (y * y).sum()
        if close(x, factor * y):
            return f"all numbers are {factor:.4g} times what is expected"
    if (y > 0).all() and close(x, np.log(y)):
        return "what it returns are the logarithms of what is expected"
    if close(x, np.exp(np.minimum(y, 50))):
        return "what it returns are the exponentials of what is expected"
    if (y < 0).any() and close(x, abs(y)):
        return "what it returns are the absolute values of what is expected"
    if close(y, np.round(y)):
        return _place_of_the_wrong(x, y)  # small whole numbers are soon alike by chance
    if np.isclose(x, y).sum() == y.size - 1 > 0:
        return _place_of_the_wrong(x, y)  # one number alone is soon a rounded one
    if len(np.unique(x)) >= 3:  # zeros and ones are soon alike by chance
        for digits in range(4):
            if close(x, y.round(digits)):
                return f"the numbers are rounded to multiples of {10.0**-digits:g}"
        if close(x, np.trunc(y)):
            return "what is behind the point is cut off"
    for axis, length in enumerate(y.shape):
        if length < 3:
            continue
        along = f" along axis {axis}" * (y.ndim > 1)
        if close(x, y.cumsum(axis)):
            return f"what it returns are the running sums of what is expected{along}"
        totals = x.sum(axis, keepdims=True), y.sum(axis, keepdims=True)
        shared = all((abs(total) > 1e-6).all() for total in totals)
        if shared and close(x / totals[0], y / totals[1]) and _differ(y / totals[1], axis):
            return f"the numbers keep their ratios{along}, but not their sum"
        differences, apart = x - y, y - y.mean(axis, keepdims=True)
        kept = close(differences, np.broadcast_to(differences.mean(axis, keepdims=True), y.shape))
        if kept and _differ(apart, axis):
            return f"the numbers keep their differences{along}, but not their mean"
    return _place_of_the_wrong(x, y)


def _differ(y: np.ndarray, axis: int) -> bool:
    """Whether the lines along an axis differ, if there are several; equal ones tell little."""
    lines = np.moveaxis(y, axis, -1).reshape(-1, y.shape[axis])
    return len(lines) == 1 or not close(lines, np.broadcast_to(lines[:1], lines.shape))


def _place_of_the_wrong(x: np.ndarray, y: np.ndarray) -> str:
    """Where the wrong numbers are, if they are at one end of an axis or everywhere but there."""
    right = np.isclose(x, y, rtol=1e-4, atol=1e-5)
    for axis, length in enumerate(y.shape):
        along = f" of axis {axis}" * (y.ndim > 1)
        if length < 3 or y.size < 6:
            continue
        for end, said in (0, "beginning"), (length - 1, "end"):
            here = np.moveaxis(right, axis, 0)[end]
            others = np.delete(right, end, axis)
            if others.all():
                return f"all is right but at the {said}{along}"
            by_itself = np.moveaxis(y, axis, 0)[end]  # 0, 1 or an id is soon right by chance
            if here.all() and not others.any() and not close(by_itself, by_itself.round()):
                return f"nothing is right but at the {said}{along}"
    if y.ndim > 1 and y.shape[-1] == y.shape[-2] > 2:
        diagonal = np.broadcast_to(np.eye(y.shape[-1], dtype=bool), y.shape)
        if right[~diagonal].all():
            return "all is right but on the diagonal"
        if right[diagonal].all() and not right[~diagonal].any():
            return "nothing is right but on the diagonal"
    return ""


def difference(result, expected) -> str:
    """Expected and yours: the first two that differ, and where, if they are large."""
    if isinstance(expected, tuple):
        results = _each(result, expected)
        for i, (x, y) in enumerate(zip(results, expected, strict=False), start=1):
            if not alike(x, y):
                which = f" as result {i} of {len(expected)}" if len(expected) > 1 else ""
                return f"expected{which}{difference(x, y).removeprefix('expected')}"
    try:
        x, y = _numbers(_alone(result)), _numbers(expected)
    except (TypeError, ValueError):
        return show({"expected": expected, "yours": result})
    if x.shape == y.shape and (x.size > 16 or _text(x) == _text(y)):
        apart = np.abs(x.astype(float) - y) if np.isfinite(x).all() else ~np.isfinite(x)
        place = tuple(int(i) for i in np.unravel_index(apart.argmax(), x.shape))
        at = f" at {list(place)}" if place else ""
        x, y = (f"{z[place]:.6g}" if z.dtype.kind == "f" else z[place].item() for z in (x, y))
        return f"expected{at} = {y}\nyours = {x}"
    return show({"expected": y, "yours": x})


def show(named: dict) -> str:
    """One line for each: small arrays with their numbers, large ones with their shape."""
    return "\n".join(f"{name} = {_text(x)}" for name, x in named.items())


LONGEST = 2000  # letters of a thing that are shown


def _text(x) -> str:
    if isinstance(x, torch.nn.Module):
        return "".join([str(x), *(f", {name} {_text(p)}" for name, p in x.named_parameters())])
    if inspect.isfunction(x):
        return "a function"  # its own text holds an address
    if not isinstance(x, np.ndarray | torch.Tensor):
        return _short(x)
    try:
        x = as_array(x)
    except (TypeError, ValueError):
        return _short(x)
    if x.ndim and x.size > 16:
        return f"array of shape {x.shape}"
    numbers = np.array2string(x, precision=3, suppress_small=True, separator=", ")
    return " ".join(numbers.split())


def _short(x) -> str:
    """What Python shows of it, or the beginning; of what fails to show itself, what it is."""
    try:
        text = str(x)
    except Exception:
        return f"a {type(x).__name__} that cannot be shown"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
