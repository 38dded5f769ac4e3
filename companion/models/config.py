"""What the models share: their configurations, and how their parameters start."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial, wraps
from typing import Any, ClassVar, Self, TypeVar, cast

from torch import Tensor, nn

from companion.nn.blocks import ACTIVATIONS, make_norm
from companion.validation import (
    require_choice,
    require_heads,
    require_positive,
    require_positive_number,
    require_probability,
    require_token_id,
)

Model = TypeVar("Model", bound=nn.Module)
Call = TypeVar("Call", bound=Callable[..., Any])
WithWeights = tuple[Tensor, list[Tensor]]  # weights (B, H, T, S) of every block


@dataclass(frozen=True, kw_only=True)
class StackConfig:
    """Sizes and choices of a stack of blocks, whatever the model puts before and after it.

    Args:
        d_model: width of the sequence.
        num_layers: number of blocks (of each stack).
        num_heads: number of attention heads.
        d_ff: width of the feed-forward network's hidden layer.
        d_k: width of a query and a key per head; d_model // num_heads when None.
        d_v: width of a value per head; d_model // num_heads when None.
        dropout: in the blocks, and on the sum of embeddings and positions.
        norm_first: norm before each sub-layer (pre-norm) instead of after the addition.
        norm: "layer" or "rms".
        norm_eps: added to the variance inside the norm.
        activation: of the feed-forward network: "relu", "gelu", "gelu_tanh" or "swiglu".
        bias: whether projections and layer norms add a bias.

    Raises:
        ValueError: a value is out of range, or two do not fit together.
        TypeError: a size is not an int, or a rate not a number.
    """

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {}

    d_model: int
    num_layers: int
    num_heads: int
    d_ff: int
    d_k: int | None = None
    d_v: int | None = None
    dropout: float = 0.1
    norm_first: bool = False
    norm: str = "layer"
    norm_eps: float = 1e-5
    activation: str = "relu"
    bias: bool = True

    @classmethod
    def preset(cls, name: str, **changes) -> Self:
        """A published configuration by its name, with `changes` to any of its fields."""
        if not cls.PRESETS:
            raise ValueError(f"{cls.__name__} has no presets, got {name!r}; give its fields")
        require_choice("preset", name, cls.PRESETS)
        return cls(**cls.PRESETS[name] | changes)

    def __post_init__(self) -> None:
        require_positive(num_layers=self.num_layers, d_ff=self.d_ff)
        require_heads(self.d_model, self.num_heads, None, self.d_k, self.d_v)
        require_probability(dropout=self.dropout)
        require_choice("norm", self.norm, ("layer", "rms"))
        require_choice("activation", self.activation, ACTIVATIONS)
        require_choice("norm_first", self.norm_first, (True, False))
        require_choice("bias", self.bias, (True, False))
        require_positive_number(norm_eps=self.norm_eps)

    @property
    def key_width(self) -> int:
        """Width of a query and a key per head."""
        return self.d_model // self.num_heads if self.d_k is None else self.d_k

    @property
    def value_width(self) -> int:
        """Width of a value per head."""
        return self.d_model // self.num_heads if self.d_v is None else self.d_v

    def norm_layer(self) -> nn.Module:
        """A norm as in the blocks."""
        return make_norm(self.norm, self.d_model, self.norm_eps, self.bias)

    def final_norm(self) -> nn.Module:
        """What follows the last block: a norm after pre-norm blocks, whose sum none has normed."""
        # How gradients grow with depth in either order:
        # book/transformer_block/transformer_block.ipynb#cell-claim-xiong
        return self.norm_layer() if self.norm_first else nn.Identity()

    def block(self) -> dict[str, Any]:
        """The arguments of one `EncoderBlock` or `DecoderBlock`."""
        names = {field.name for field in fields(StackConfig)} - {"num_layers"}
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True)
class ModelConfig(StackConfig):
    """What every model of tokens has beside the fields of `StackConfig`.

    `dataclasses.replace` makes a changed copy.

    Args:
        vocab_size: number of tokens.
        max_len: number of tokens that the model is made for.
        pad_id: the token that fills up short sequences.
    """

    vocab_size: int
    max_len: int
    pad_id: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(vocab_size=self.vocab_size, max_len=self.max_len)
        self._require_token("pad_id")

    def _require_token(self, name: str) -> None:
        require_token_id(name, getattr(self, name), self.vocab_size)


def built_from(config_type: type) -> Callable[[type[Model]], type[Model]]:
    """Class decorator: a model that is built from anything but its configuration says so."""

    def decorate(model_type: type[Model]) -> type[Model]:
        build, name = model_type.__init__, config_type.__name__

        @wraps(build)
        def __init__(self, *args, **given) -> None:
            if given.keys() - {"config"}:
                listed = ", ".join(f"{field}=..." for field in given)
                model = model_type.__name__
                raise TypeError(
                    f"{model}() takes one {name}, got {listed}; write {model}({name}({listed}))"
                )
            config = next(iter((*args, *given.values())), None)
            if not isinstance(config, config_type):
                raise TypeError(
                    f"config must be a {name}, got {type(config).__name__}; "
                    f"make one with {name}(...) or {name}.preset(...)"
                )
            build(self, *args, **given)

        model_type.__init__ = __init__
        return model_type

    return decorate


def typed_as(call: Call) -> Callable[[Callable[..., Any]], Call]:
    """Decorator, for type checkers: a method that takes and returns what this one does."""
    return lambda method: cast(Call, method)


def headed(head: Callable[[Tensor], Tensor], hidden):
    """What a head makes of hidden states, with the weights that may come beside them."""
    return (head(hidden[0]), *hidden[1:]) if isinstance(hidden, tuple) else head(hidden)


def initialise(model: nn.Module, draw: Callable[[Tensor], object]) -> None:
    """Let every matrix be drawn, and every bias be zeros."""
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            draw(parameter)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)


start_normal = partial(nn.init.normal_, std=0.02)  # for `initialise`, as GPT and BERT start
