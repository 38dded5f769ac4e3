"""What differs from one family of published models to the next: its settings and its names."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import torch
from torch import nn

from companion.models.config import StackConfig

ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    **dict.fromkeys(("gelu_new", "gelu_fast", "gelu_accurate"), "gelu_tanh"),
    **dict.fromkeys(("gelu_pytorch_tanh", "gelu_python_tanh"), "gelu_tanh"),
}
THEIR_ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu_tanh": "gelu_new"}


def padding_token(pad_id, vocab_size: int) -> int | None:
    """The padding token; None if there is none (in older folders an id outside [0, V))."""
    if pad_id is not None and not isinstance(pad_id, int):
        raise ValueError(f"pad_token_id must be an int, got {pad_id!r}")
    return pad_id if pad_id is not None and 0 <= pad_id < vocab_size else None


class Settings:
    """What a config.json holds, read key by key. `get` treats null as missing, as is usual there.

    Args:
        values: from keys to values, such as the metadata of a GGUF file.
    """

    def __init__(self, values: Mapping) -> None:
        self.values = values

    def get(self, key: str, default=None):
        """The value, or the default, which is that of transformers."""
        value = self.values.get(key)
        return default if value is None else value

    def need(self, key: str):
        """The value; raise ValueError if there is none."""
        value = self.get(key)
        if value is None:
            raise ValueError(f"there is no {key!r}, without which no model can be built")
        return value

    def choose(self, key: str, choices: Mapping, default=None):
        """What the value stands for in `choices`; raise ValueError if it is not one of them."""
        value = self.get(key, default)
        if not isinstance(value, str) or value not in choices:
            listed = ", ".join(map(repr, choices))
            raise ValueError(
                f"{key} = {value!r} is not what companion's models have; they have {listed}"
            )
        return choices[value]

    def require(self, **expected) -> None:
        """Raise ValueError unless every key has the one value that companion's models have."""
        others = [
            f"{key} = {self.get(key)!r} (only {value!r})"
            for key, value in expected.items()
            if self.get(key, value) != value
        ]
        if others:
            raise ValueError(f"companion's models have no {', no '.join(others)}")


@dataclass(frozen=True)
class Layout:
    """How a file keeps a tensor of ours.

    Args:
        words: what happens to it, in words.
        shape: from the shape of ours to the shape in the file.
        ours: from the tensor in the file to ours.
        theirs: from ours to the tensor in the file; those that share a name there are joined.
    """

    words: str
    shape: Callable[[tuple[int, ...]], tuple[int, ...]]
    ours: Callable[[torch.Tensor], torch.Tensor]
    theirs: Callable[[torch.Tensor], torch.Tensor]


AS_IT_IS = Layout("as it is", lambda shape: shape, lambda tensor: tensor, lambda tensor: tensor)


@dataclass(frozen=True)
class Family:
    """How the models of one `model_type` become the companion's.

    Args:
        model: the companion's class.
        configuration: from the settings and the names in the file to the model's config; raises
            ValueError for a setting that the model cannot have.
        settings: from a config to the settings of transformers' class, named in "architectures";
            None for a format that we only read.
        names: from our modules or parameters to those in the file; {i} is the number of a block.
            A value that is not only a name is a pair of name and `Layout`.
        prefix: what stands before the names if the file is of a model with a head.
        copies: names that repeat another tensor of the file, and the name of that.
        unused: endings of the names of tensors that our model has no use for: buffers that are not
            weights, and heads for other tasks.
    """

    model: type[nn.Module]
    configuration: Callable[[Settings, Collection[str]], StackConfig]
    names: Mapping[str, str | tuple[str, Layout]]
    prefix: str
    settings: Callable[[StackConfig], dict] | None = None
    copies: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()

    def plain(self, name: str) -> str:
        """A name of the file without the prefix, and without TensorFlow's words for a norm."""
        name = name.removeprefix(self.prefix)
        return re.sub(r"\.beta$", ".bias", re.sub(r"\.gamma$", ".weight", name))

    def place(self, name: str) -> tuple[str, Layout]:
        """Where our parameter of that name stands in the file: its plain name, and its layout."""
        number = re.match(r"blocks\.(\d+)\.", name)
        pattern = re.sub(r"^blocks\.\d+\.", "blocks.{i}.", name)
        module, _, kind = pattern.rpartition(".")
        if pattern in self.names:
            entry, ending = self.names[pattern], ""
        else:
            entry, ending = self.names[module], f".{kind}"
        theirs, layout = (entry, AS_IT_IS) if isinstance(entry, str) else entry
        return theirs.replace("{i}", number[1] if number else "") + ending, layout
