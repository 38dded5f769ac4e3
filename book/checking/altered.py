"""What the right answer gives if one argument is changed.

Most wrong answers that nobody has thought of are of this kind: the mask is turned, the logits are
taken for probabilities, the temperature multiplies, two arguments have changed places.
"""

import inspect
from collections.abc import Callable
from itertools import combinations

import numpy as np
import torch
import torch.nn.functional as F

NUMBER = {
    "were 0": lambda x: 0 * x,
    "were 1": lambda x: 0 * x + 1,
    "were larger by 1": lambda x: x + 1,
    "were smaller by 1": lambda x: x - 1,
}
NUMBERS = {
    "were twice as large": lambda x: 2 * x,
    "were half as large": lambda x: x / 2,
    "had the other sign": lambda x: -x,
    "were its absolute value": abs,
    "were 1 divided by it": lambda x: 1 / x,
    "were 1 minus it": lambda x: 1 - x,
    "were squared": lambda x: x * x,
}
ROWS = {
    "were its exponential": torch.exp,
    "were its logarithm": torch.log,
    "were its softmax": lambda x: x.softmax(-1),
    "were its log-softmax": lambda x: x.log_softmax(-1),
    "had rows of length 1": lambda x: F.normalize(x, dim=-1),
    "had rows of mean 0": lambda x: x - x.mean(-1, keepdim=True),
    "had sorted rows": lambda x: x.sort(dim=-1).values,
}
TRUTHS = {
    "had True and False exchanged": lambda x: x ^ True,
    "were True everywhere": lambda x: x | True,
    "were False everywhere": lambda x: x & False,
}
ENTRIES = {
    "had only its first entry": lambda x: x[:1],
    "lacked its first entry": lambda x: x[1:],
    "lacked its last entry": lambda x: x[:-1],
}
ORDER = {
    "were in reverse order": lambda x: x.flip(0),
    "had rows in reverse order": lambda x: x.flip(-1),
    "were transposed": lambda x: x.mT,
    "had rows without their first entry": lambda x: x[..., 1:],
    "had rows without their last entry": lambda x: x[..., :-1],
}
ALONE = {
    "had rows of length 1": "had length 1",
    "had rows of mean 0": "had mean 0",
    "had sorted rows": "were sorted",
    "had rows in reverse order": "were in reverse order",
    "had rows without their first entry": "lacked its first entry",
    "had rows without their last entry": "lacked its last entry",
}
REVERSED = {"were in reverse order": lambda x: x[::-1]}
TENSORS = {True: TRUTHS | ENTRIES | ORDER, False: NUMBERS | ROWS | ENTRIES | ORDER}
OTHERS = {
    bool: TRUTHS,
    int: NUMBER | NUMBERS,
    float: NUMBER | NUMBERS,
    str: ENTRIES,
    list: ENTRIES | REVERSED,
    np.ndarray: NUMBERS | ENTRIES | REVERSED,
}


def altered(right: Callable, *values, **named) -> dict[str, Callable]:
    """What would be the case -> the function in that case, for what means something here.

    Args:
        right: a function.
        values, named: what the function is called with.
    """
    given = inspect.signature(right).bind(*values, **named).arguments
    pairs = {
        f"`{one}` and `{other}` had changed places": with_others(
            right, (one, other), lambda x, y: (y, x)
        )
        for one, other in combinations(given, 2)
        if _changes(given[one]) and type(given[one]) is type(given[other])
    }
    alone = {
        f"`{name}` {said}": with_others(right, (name,), change)
        for name, changes in changes_of(right, *values, **named).items()
        for said, change in changes.items()
    }
    return pairs | alone


def changes_of(right: Callable, *values, **named) -> dict[str, dict[str, Callable]]:
    """The name of each argument -> what would be the case with it -> the change of it, in a tuple.

    Args:
        right, values, named: as of `altered`.
    """
    given = inspect.signature(right).bind(*values, **named).arguments
    return {
        name: {said: lambda x, change=change: (change(x),) for said, change in _changes(x).items()}
        for name, x in given.items()
    }


def _changes(x) -> dict[str, Callable]:
    """The changes that mean something for a value of this kind."""
    if torch.is_tensor(x):
        changes = TENSORS[x.dtype == torch.bool]
        if x.ndim == 1:  # it is no table, and has no rows
            return {ALONE.get(said, said): change for said, change in changes.items()}
        return changes if x.ndim or x.dtype == torch.bool else NUMBER | changes
    return OTHERS.get(type(x), {})


def with_others(
    answer: Callable, names: tuple[str, ...], change: Callable, like: Callable | None = None
) -> Callable:
    """The function, which is called with other values for these arguments.

    It raises ValueError where they make no sense, whatever comes of them. What the arguments are
    called, `like` says if it is given, whatever the function calls them itself.
    """

    def wrong(*values, **named):
        bound = inspect.signature(like or answer).bind(*values, **named)
        given = bound.arguments
        try:
            given.update(zip(names, change(*(given[name] for name in names)), strict=True))
            return answer(*bound.args, **bound.kwargs)
        except Exception as error:  # nobody has promised anything for such arguments
            raise ValueError(f"no result with other values for {names}") from error

    return wrong
