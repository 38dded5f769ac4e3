"""What crosses the border between a submission and its grader, and in which form.

From the submission to the grader only data go: JSON for plain values and, beside it, safetensors
for arrays. Nothing that arrives there is unpickled, and no object of the learner's comes over; a
function, a class or a module is named by a number, and the grader gets a stand-in that asks for it
by this number. The other way, from the trusted side, goes pickle.
"""

import io
import json
import pickle
import struct
from collections.abc import Callable, Iterator

import numpy as np
import safetensors.torch
import torch
from torch import nn

LARGEST = 64 * 2**20  # bytes of a message
HEAD = struct.Struct(">II")  # the sizes of a message's two parts
LONGEST = 10_000  # letters of a text that is only shown


class Garbled(Exception):
    """The other side has sent something that is no message."""


def frame(first: bytes, second: bytes) -> bytes:
    """A message of two parts, as it goes through the pipe.

    Raises:
        ValueError: it is too large.
    """
    if len(first) + len(second) > LARGEST:
        raise ValueError(
            f"{len(first) + len(second)} bytes are too much to pass on; at most {LARGEST}"
        )
    return HEAD.pack(len(first), len(second)) + first + second


def read_frame(read: Callable[[int], bytes]) -> tuple[bytes, bytes]:
    """The two parts of the next message; `read(n)` gives exactly n bytes.

    Raises:
        Garbled: its size is more than a message may have.
    """
    sizes = HEAD.unpack(read(HEAD.size))
    if sum(sizes) > LARGEST:
        raise Garbled(f"a message of {sum(sizes)} bytes, more than {LARGEST}")
    return read(sizes[0]), read(sizes[1])


def tensors_in(*values) -> Iterator:
    """The arrays and tensors in nested lists, tuples and dictionaries, in order."""
    for value in values:
        if isinstance(value, np.ndarray | torch.Tensor):
            yield value
        elif isinstance(value, dict):
            yield from tensors_in(*value.values())
        elif isinstance(value, list | tuple):
            yield from tensors_in(*value)


# From the submission: data only


def to_data(message, describe: Callable) -> tuple[bytes, list[torch.Tensor]]:
    """A message as data, and the tensors in it that have a gradient.

    Args:
        message: plain values, arrays, tensors, and containers of them.
        describe: for anything else, what the other side is to know of it, itself plain.
    """
    arrays, marked = [], []
    tree = _tree(message, arrays, marked, describe)
    blob = safetensors.torch.save({str(i): x for i, x in enumerate(arrays)})
    return frame(json.dumps(tree).encode(), blob), marked


def _tree(x, arrays: list, marked: list, describe: Callable):
    """JSON for a value: a plain one as it is, any other as a list that begins with its kind."""

    def branch(x):
        return _tree(x, arrays, marked, describe)

    kind = type(x)
    if x is None or kind in (bool, int, float, str):
        return x
    if isinstance(x, torch.Tensor) and x.layout == torch.strided:
        arrays.append(x.detach().cpu().resolve_conj().resolve_neg().contiguous().clone())
        gradient = x.requires_grad
        if gradient:
            marked.append(x)
        return ["tensor", len(arrays) - 1, gradient, x.is_leaf]
    if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "biuf":
        arrays.append(torch.from_numpy(np.array(x, order="C")))
        return ["array" if isinstance(x, np.ndarray) else "number", len(arrays) - 1]
    if kind in (list, tuple, set, torch.Size):
        return [kind.__name__, [branch(entry) for entry in x]]
    if kind is dict:
        return ["dict", [[branch(key), branch(value)] for key, value in x.items()]]
    if kind in (torch.device, torch.dtype):
        return [kind.__name__, str(x)]
    return ["object", branch(describe(x))]


def from_data(parts: tuple[bytes, bytes], stand_in: Callable) -> tuple[object, list[torch.Tensor]]:
    """The message and its tensors with a gradient, made anew from data that anybody may have sent.

    Args:
        parts: the two parts of a message.
        stand_in: from a description to what is to stand for the object.

    Raises:
        Garbled: these are not data of this form.
    """
    try:
        arrays = safetensors.torch.load(parts[1])
        marked: list[torch.Tensor] = []
        return _value(json.loads(parts[0]), arrays, marked, stand_in), marked
    except Garbled:
        raise
    except Exception as error:  # whatever a parser makes of what a hostile process has written
        raise Garbled(f"{type(error).__name__}: {error}"[:LONGEST]) from error


CONTAINERS = {"list": list, "tuple": tuple, "set": set, "Size": torch.Size}


def _value(tree, arrays: dict, marked: list, stand_in: Callable):
    def branch(tree):
        return _value(tree, arrays, marked, stand_in)

    if isinstance(tree, str):
        return tree.encode("utf8", "replace").decode("utf8")  # halves of letters fit in no file
    if isinstance(tree, dict):
        raise Garbled("a dictionary comes as a list of pairs")
    if not isinstance(tree, list):
        return tree
    kind, content, *more = tree
    if kind == "tensor":
        gradient, leaf = more
        return (
            with_gradient(arrays[str(content)], leaf, marked) if gradient else arrays[str(content)]
        )
    if kind in ("array", "number"):
        x = arrays[str(content)].numpy()
        return x if kind == "array" else x[()]
    if kind in CONTAINERS:
        return CONTAINERS[kind](branch(entry) for entry in content)
    if kind == "dict":
        return {branch(key): branch(value) for key, value in content}
    if kind == "device":
        return torch.device(content)
    if kind == "dtype":
        found = getattr(torch, content.removeprefix("torch."))
        if isinstance(found, torch.dtype):
            return found
    if kind == "object":
        return stand_in(branch(content))
    raise Garbled(f"no kind of value: {str(kind)[:100]!r}")


def with_gradient(x: torch.Tensor, leaf: bool, marked: list) -> torch.Tensor:
    """A tensor like the one that was sent: a leaf, or one that may be changed in place."""
    marked.append(x.requires_grad_())
    return x if leaf else x.clone()


# To the submission: pickle, from those who are trusted


class _Pickler(pickle.Pickler):
    def __init__(self, file, name: Callable) -> None:
        super().__init__(file)
        self.name, self.marked, self.index = name, [], {}

    def persistent_id(self, x):
        if not (isinstance(x, torch.Tensor) and x.requires_grad):
            return self.name(x)
        if id(x) not in self.index:
            self.index[id(x)] = len(self.marked)
            self.marked.append(x)
        return "tensor", self.index[id(x)], x.is_leaf, isinstance(x, nn.Parameter)


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, arrays: list, find: Callable) -> None:
        super().__init__(file)
        self.arrays, self.find, self.found = arrays, find, {}

    def persistent_load(self, name):
        if name[0] != "tensor":
            return self.find(*name)
        _, i, leaf, parameter = name
        if i not in self.found:
            x = self.arrays[i]
            self.found[i] = nn.Parameter(x) if parameter else x.requires_grad_()
        return self.found[i] if leaf else self.found[i].clone()


def to_pickle(message, name: Callable) -> tuple[bytes, list[torch.Tensor]]:
    """A message pickled, and the tensors in it that have a gradient.

    Args:
        message: anything.
        name: for an object that is not to be copied, a tuple that names it; else None.
    """
    file = io.BytesIO()
    pickler = _Pickler(file, name)
    pickler.dump(message)
    arrays = pickle.dumps([x.detach() for x in pickler.marked])
    return frame(file.getvalue(), arrays), pickler.marked


def from_pickle(parts: tuple[bytes, bytes], find: Callable) -> tuple[object, list[torch.Tensor]]:
    """The message and its tensors with a gradient; only for what a trusted side has sent."""
    arrays = pickle.loads(parts[1])
    unpickler = _Unpickler(io.BytesIO(parts[0]), arrays, find)
    message = unpickler.load()
    return message, [unpickler.found[i] for i in sorted(unpickler.found)]
