"""GGUF, the format of llama.cpp: settings, tokenizer and tensors, often quantised, in one file."""

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from companion.models import GPT, GPTConfig
from companion.nn import RotaryScaling
from companion.pretrained.family import Family, Settings
from companion.pretrained.folder import remedy

TYPES = ("Q4_1", "Q8_0", "F16", "F32")


class GGUFFile:
    """What is in a GGUF file; each tensor is read, and made float32, when it is taken.

    Args:
        path: of the file.

    Attributes:
        settings: the metadata, by their names in the file.
        shapes: {name: shape}, as PyTorch writes shapes.
        dtypes: {name: "F32"}, since every tensor is handed out as that.

    Raises:
        ValueError: the file is damaged, or keeps a tensor in a type that is not in `TYPES`.
    """

    def __init__(self, path: Path) -> None:
        try:
            reader = _reader(path)
            values = {name: entry.contents() for name, entry in reader.fields.items()}
        except (ValueError, IndexError, KeyError, OSError) as error:
            raise ValueError(
                f"{path} is truncated, damaged or not a GGUF file ({error}); {remedy(path)}"
            ) from error
        if reader.byte_order == "S":
            raise ValueError(
                f"{path} has the byte order of another machine; turn it with gguf-convert-endian "
                "of the gguf package"
            )
        for entry in reader.tensors:
            if entry.tensor_type.name not in TYPES:
                raise ValueError(
                    f"{path} keeps {entry.name} as {entry.tensor_type.name}; companion reads "
                    f"{', '.join(TYPES)}, so get the model in one of these"
                )
        self.settings = Settings(values)
        self._tensors = {entry.name: entry for entry in reader.tensors}
        # GGUF counts dimensions from the innermost one.
        self.shapes = {name: (*map(int, t.shape[::-1]),) for name, t in self._tensors.items()}
        self.dtypes = dict.fromkeys(self._tensors, "F32")

    def take(self, name: str) -> torch.Tensor:
        """The tensor of that name in float32."""
        from gguf.quants import dequantize

        entry = self._tensors[name]
        return torch.from_numpy(np.array(dequantize(entry.data, entry.tensor_type)))


def read_gguf(path: Path) -> GGUFFile:
    """The file as it is now. A model and its tokenizer, one after the other, share one reading."""
    now = path.stat()
    return _as_of(path, now.st_mtime_ns, now.st_size)


@lru_cache(maxsize=1)
def _as_of(path: Path, modified: int, size: int) -> GGUFFile:
    return GGUFFile(path)


def _reader(path: Path):
    """A `gguf.GGUFReader`, on a plain array: a memmap is slow to cut into a tokenizer's words."""
    from gguf import GGUFReader

    class Reader(GGUFReader):
        @property
        def data(self) -> np.ndarray:
            return self._data

        @data.setter
        def data(self, mapped: np.memmap) -> None:
            self._data = np.asarray(mapped)  # still mapped, and no memmap

    return Reader(path)


# Settings that change no number: what the file was made of, and what only other settings need.
SILENT = {f"llama.rope.scaling.{name}" for name in ("finetuned", "original_context_length")}
SILENT |= {"llama.tensor_data_layout"}


def configuration(settings: Settings, names: Collection[str]) -> GPTConfig:
    """The model that the metadata of a Llama describe; a setting that we do not read is refused."""
    if scaled := [name for name in names if name.startswith("rope_f")]:
        raise ValueError(
            f"{', '.join(scaled)}: a GGUF file of a model with scaled rotary angles, such as "
            "Llama 3.1, is not read; get the model's folder, whose config.json has the scaling"
        )
    read = _Read(settings)
    tokens = settings.get("tokenizer.ggml.tokens")
    config = GPTConfig(
        vocab_size=read.get("vocab_size") or (len(tokens) if tokens else read.need("vocab_size")),
        d_model=read.need("embedding_length"),
        num_layers=read.need("block_count"),
        num_heads=read.need("attention.head_count"),
        num_kv_heads=read.get("attention.head_count_kv"),
        d_k=read.get("attention.key_length"),
        d_v=read.get("attention.value_length"),
        d_ff=read.need("feed_forward_length"),
        max_len=read.need("context_length"),
        norm="rms",
        norm_eps=read.need("attention.layer_norm_rms_epsilon"),
        activation="swiglu",
        bias=False,
        dropout=0.0,
        pad_id=None,
        sliding_window=read.get("attention.sliding_window") or None,
        positions="rotary",
        rope_base=read.get("rope.freq_base", 10000.0),
        rope_pairing="interleaved",  # the rows of q and k were permuted for it on their way here
        rope_scaling=_scaling(read),
        tie_weights="output.weight" not in names,
    )
    read.only("rope.dimension_count", config.key_width)
    read.only("attention.causal", True)
    read.only("rope.scaling.attn_factor", 1.0)
    read.only("logit_scale", 1.0, off=0.0)
    others = [name for name in settings.values if name.startswith("llama.")]
    unread = [name for name in others if name not in read.names | SILENT and settings.get(name)]
    settings.require(**dict.fromkeys(unread))  # 0 and False say nothing
    if (settings.get("split.count") or 1) > 1:
        raise ValueError(f"one file of {settings.get('split.count')}; merge them first")
    return config


class _Read:
    """The settings of a Llama, and which of them were asked for; some are lists over blocks."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.names = settings, set()

    def get(self, name: str, default=None):
        self.names.add(f"llama.{name}")
        value = self.settings.get(f"llama.{name}", default)
        same = isinstance(value, list) and len(set(value)) == 1
        return value[0] if same else value

    def need(self, name: str):
        self.settings.need(f"llama.{name}")
        return self.get(name)

    def only(self, name: str, value, off=None) -> None:
        """Raise unless the setting has this value, is missing, or is switched off."""
        if self.get(name, value) not in (value, off):
            self.settings.require(**{f"llama.{name}": value})


def _scaling(read: _Read) -> RotaryScaling | None:
    """llama.cpp's rules: the type is linear where it is missing, the factor had an older name."""
    kind = read.get("rope.scaling.type", "linear")
    factor = read.get("rope.scaling.factor") or read.get("rope.scale_linear") or 1.0
    if kind not in ("none", "linear"):
        read.settings.require(**{"llama.rope.scaling.type": "linear"})
    return None if kind == "none" or factor == 1.0 else RotaryScaling(factor=factor)


LLAMA = Family(
    model=GPT,
    configuration=configuration,
    names={
        "token_embedding": "token_embd",
        "blocks.{i}.norm1": "blk.{i}.attn_norm",
        "blocks.{i}.self_attention.q_proj": "blk.{i}.attn_q",
        "blocks.{i}.self_attention.k_proj": "blk.{i}.attn_k",
        "blocks.{i}.self_attention.v_proj": "blk.{i}.attn_v",
        "blocks.{i}.self_attention.out_proj": "blk.{i}.attn_output",
        "blocks.{i}.norm2": "blk.{i}.ffn_norm",
        "blocks.{i}.feed_forward.up_proj": "blk.{i}.ffn_up",
        "blocks.{i}.feed_forward.gate_proj": "blk.{i}.ffn_gate",
        "blocks.{i}.feed_forward.down_proj": "blk.{i}.ffn_down",
        "final_norm": "output_norm",
        "head": "output",
    },
    prefix="",
)
