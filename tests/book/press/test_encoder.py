"""The files of a published encoder: eight bits for each number of a matrix, and none left out."""

import base64
import json

import numpy as np
import pytest
import torch

from book._press import encoder
from book.page import live
from book.page.live import worker
from companion.models import BERT, BERTConfig


class Letters:
    """As much of a tokenizer as is needed: a token for each letter."""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) - ord("a") for letter in text]

    def pieces(self, ids) -> list[str]:
        return [chr(ord("a") + i) for i in ids]


@pytest.fixture
def model() -> BERT:
    torch.manual_seed(3)
    return BERT(
        BERTConfig(
            vocab_size=11, d_model=6, num_layers=1, num_heads=2, d_ff=7, max_len=13, mlm_head=False
        )
    ).eval()


def test_eight_bits_are_at_most_half_a_step_away():
    matrix = torch.randn(5, 301, generator=torch.Generator().manual_seed(0)) * torch.tensor(
        [[1e-3], [1.0], [7.0], [100.0], [0.0]]
    )
    whole, scales = encoder.in_eight_bits(matrix)
    assert whole.dtype == np.int8 and np.abs(whole).max(1).tolist() == [127] * 4 + [0]
    error = np.abs(whole * scales[:, None] - matrix.numpy()).max(1)
    assert (error <= scales * 0.501).all()


def test_every_tensor_is_in_the_parts_where_the_index_says(tmp_path, model, monkeypatch):
    monkeypatch.setattr(encoder, "PART", 101)
    encoder.write_encoder(tmp_path / "new", model, Letters(), ["abc", "cab"])

    def delivered(name):
        text = (tmp_path / "new" / name).read_text("utf8")
        return json.loads(text.removeprefix(f"{live.DELIVER}(").removesuffix(");\n"))

    index = delivered("index.js")
    assert index["worker"] == worker()
    assert index["vocabulary"] == list("abcdefghijk") and index["sentences"] == ["abc", "cab"]
    content = b"".join(base64.b64decode(delivered(f"{i}.js")) for i in range(len(index["parts"])))
    assert len(content) == index["length"] and index["parts"][:2] == [0, 101]
    tensors = dict(model.state_dict())
    assert [tensor["name"] for tensor in index["tensors"]] == list(tensors)
    for tensor in index["tensors"]:
        expected, at = tensors[tensor["name"]].numpy(), tensor["at"]
        assert tensor["shape"] == list(expected.shape)
        if expected.ndim == 1:
            found = np.frombuffer(content, "<f4", expected.size, at)
            assert (found == expected).all()
        else:
            whole = np.frombuffer(content, "i1", expected.size, at).reshape(expected.shape)
            scales = np.frombuffer(content, "<f4", len(expected), at + expected.size)
            assert np.allclose(whole * scales[:, None], expected, atol=scales.max())
