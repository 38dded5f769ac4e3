"""The files from which a page takes a published encoder, when its reader asks for it: never before.

They stand beside the script of the live figures, as classic scripts, since a page from the disk
can read nothing else: `index.js` (the worker's text, the vocabulary, where each tensor is, and
sentences with their vectors) and `0.js`, `1.js`, ... (the weights in base64, two million bytes
each). Matrices are 8-bit whole numbers with a float32 for each row; the rest is float32.
"""

import base64
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from book.contextual_embeddings.figures.encoder import sentence_vectors
from book.page import live
from companion.models import BERT
from companion.pretrained import PretrainedTokenizer

PART = 2_000_000  # bytes
TABLES = ("token_embedding.weight", "positions.weight", "type_embedding.weight")


def in_eight_bits(matrix: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers (rows, columns) from -127 to 127, and a factor for each row (rows,)."""
    numbers = matrix.detach().float().numpy()
    scales = np.maximum(np.abs(numbers).max(1), 1e-12).astype("<f4") / np.float32(127)
    return np.rint(numbers / scales[:, None]).astype("i1"), scales


def packed(model: BERT) -> tuple[list[dict], bytes]:
    """What lies where: [{name, shape, at, table}], and all the bytes."""
    tensors, parts, at = [], [], 0
    for name, tensor in model.state_dict().items():
        tensors.append(
            {"name": name, "shape": list(tensor.shape), "at": at, "table": name in TABLES}
        )
        kinds = in_eight_bits(tensor) if tensor.dim() == 2 else (tensor.numpy().astype("<f4"),)
        part = b"".join(numbers.tobytes() for numbers in kinds)
        parts.append(part)
        at += len(part)
    return tensors, b"".join(parts)


def write_encoder(
    folder: Path, model: BERT, tokenizer: PretrainedTokenizer, sentences: Sequence[str]
) -> None:
    """Write the files into a folder, which is made.

    Args:
        folder: where; a file of that name in it is replaced.
        model: a sentence encoder with an uncased BERT's vocabulary.
        tokenizer: the model's.
        sentences: what the reader's own are compared with; their vectors are computed here.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors, content = packed(model)
    config = model.config
    vectors = sentence_vectors(model, tokenizer, sentences)
    places = range(0, len(content), PART)
    index = {
        "worker": live.worker(),
        "config": {
            name: getattr(config, name)
            for name in ("num_layers", "num_heads", "activation", "norm_eps")
        },
        "vocabulary": tokenizer.pieces(range(config.vocab_size)),
        "tensors": tensors,
        "length": len(content),
        "parts": list(places),
        "sentences": list(sentences),
        "vectors": live.packed(vectors),
    }
    live.deliver(folder / "index.js", index)
    for number, at in enumerate(places):
        live.deliver(folder / f"{number}.js", base64.b64encode(content[at : at + PART]).decode())
