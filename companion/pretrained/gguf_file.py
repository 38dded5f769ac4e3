"""GGUF, the format of llama.cpp: settings, tokenizer and tensors, often quantised, in one file."""

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from companion.models import GPT, GPTConfig
from companion.pretrained.family import Family, Settings

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
                f"{path} is truncated, damaged or not a GGUF file ({error}); get it again"
            ) from error
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


def configuration(settings: Settings, names: Collection[str]) -> GPTConfig:
    """The model that the metadata of a Llama describe."""
    settings.require(
        **{"llama.rope.scaling.type": None, "llama.expert_count": None, "split.count": None}
    )
    config = GPTConfig(
        vocab_size=settings.need("llama.vocab_size"),
        d_model=settings.need("llama.embedding_length"),
        num_layers=settings.need("llama.block_count"),
        num_heads=settings.need("llama.attention.head_count"),
        num_kv_heads=settings.get("llama.attention.head_count_kv"),
        d_k=settings.get("llama.attention.key_length"),
        d_v=settings.get("llama.attention.value_length"),
        d_ff=settings.need("llama.feed_forward_length"),
        max_len=settings.need("llama.context_length"),
        norm="rms",
        norm_eps=settings.need("llama.attention.layer_norm_rms_epsilon"),
        activation="swiglu",
        bias=False,
        dropout=0.0,
        pad_id=None,
        positions="rotary",
        rope_base=settings.get("llama.rope.freq_base", 10000.0),
        rope_pairing="interleaved",  # the rows of q and k were permuted for it on their way here
        tie_weights="output.weight" not in names,
    )
    settings.require(**{"llama.rope.dimension_count": config.key_width})
    return config


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
