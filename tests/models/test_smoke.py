"""Counts of parameters, and one pass through each model."""

import pytest
import torch

from companion.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from companion.nn import KVCache


def size(model_type, config):
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in model_type(config).parameters())


def test_published_sizes():
    assert size(GPT, GPTConfig.preset("gpt2")) == 124_439_808
    assert size(BERT, BERTConfig.preset("bert-base")) == 109_514_298
    print(size(Transformer, TransformerConfig.preset("base")))
    print(size(Transformer, TransformerConfig.preset("big")))
    print(size(BERT, BERTConfig.preset("minilm-l6")))


SMALL = {"vocab_size": 13, "d_model": 12, "num_layers": 2, "num_heads": 3, "d_ff": 7, "max_len": 11}


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_gpt(positions):
    model = GPT(GPTConfig(**SMALL, positions=positions)).eval()
    ids = torch.randint(13, (2, 11))
    logits, _ = model(ids, need_weights=True)
    torch.testing.assert_close(model(ids), logits)
    assert [w.shape for w in weights] == [(2, 3, 11, 11)] * 2
    caches = [KVCache(), KVCache()]
    parts = [model(ids[:, a:b], caches=caches) for a, b in ((0, 5), (5, 6), (6, 11))]
    torch.testing.assert_close(torch.cat(parts, 1), logits)


def test_bert():
    model = BERT(BERTConfig(**SMALL)).eval()
    ids = torch.randint(13, (2, 11))
    logits, _ = model(ids, need_weights=True)
    torch.testing.assert_close(model(ids), logits)
    assert logits.shape == (2, 11, 13)


def test_transformer():
    model = Transformer(TransformerConfig(**SMALL)).eval()
    source, target = torch.randint(13, (2, 7)), torch.randint(1, 13, (2, 11))
    logits, weights = model(source, target, need_weights=True)
    torch.testing.assert_close(model(source, target), logits)
    assert logits.shape == (2, 11, 13)
    assert weights["cross"][1].shape == (2, 3, 11, 7)
    memory, caches = model.encode(source), [KVCache(), KVCache()]
    parts = [model.decode(target[:, :t], memory, source, caches=caches) for t in (1, 2, 5, 11)]
    torch.testing.assert_close(torch.cat(parts, 1), logits)
