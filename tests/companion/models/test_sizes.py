"""Numbers of parameters as published. On the meta device, so that nothing is allocated."""

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertModel, GPT2Config, GPT2LMHeadModel

from companion.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig


def number_of_parameters(build):
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build().parameters())


# Vaswani et al. 2017, table 3, last column, in millions. Rows (A) print none: they are base's.
# Row (D) varies dropout and label smoothing, row (E) the positions' encoding.
TABLE_3 = {
    "base": ({}, 65),
    "A, 1 head": ({"num_heads": 1}, 65),
    "A, 4 heads": ({"num_heads": 4}, 65),
    "A, 16 heads": ({"num_heads": 16}, 65),
    "A, 32 heads": ({"num_heads": 32}, 65),
    "B, d_k 16": ({"d_k": 16}, 58),
    "B, d_k 32": ({"d_k": 32}, 60),
    "C, 2 layers": ({"num_layers": 2}, 36),
    "C, 4 layers": ({"num_layers": 4}, 50),
    "C, 8 layers": ({"num_layers": 8}, 80),
    "C, d_model 256": ({"d_model": 256, "d_k": 32, "d_v": 32}, 28),
    "C, d_model 1024": ({"d_model": 1024, "d_k": 128, "d_v": 128}, 168),
    "C, d_ff 1024": ({"d_ff": 1024}, 53),
    "C, d_ff 4096": ({"d_ff": 4096}, 90),
}


@pytest.mark.parametrize("row", TABLE_3)
def test_table_3_of_the_paper(row):
    changes, printed = TABLE_3[row]
    config = TransformerConfig.preset("base", **changes)
    millions = number_of_parameters(lambda: Transformer(config)) / 1e6
    assert abs(millions - printed) < (4.5 if config.d_model == 1024 else 3)


def test_table_3_of_the_paper_big():
    millions = number_of_parameters(lambda: Transformer(TransformerConfig.preset("big"))) / 1e6
    assert abs(millions - 213) < 3


def test_heads_split_the_width_and_add_nothing():
    sizes = {
        number_of_parameters(lambda h=h: Transformer(TransformerConfig.preset("base", num_heads=h)))
        for h in (1, 4, 8, 16, 32)
    }
    assert len(sizes) == 1


@pytest.mark.parametrize("name", GPTConfig.PRESETS)
def test_gpt2_counts_as_in_transformers(name):
    width, layers, heads = {
        "gpt2": (768, 12, 12),
        "gpt2-medium": (1024, 24, 16),
        "gpt2-large": (1280, 36, 20),
        "gpt2-xl": (1600, 48, 25),
    }[name]
    theirs = GPT2Config(n_embd=width, n_layer=layers, n_head=heads)
    ours = number_of_parameters(lambda: GPT(GPTConfig.preset(name)))
    assert ours == number_of_parameters(lambda: GPT2LMHeadModel(theirs))
    if name == "gpt2":
        assert ours == 124_439_808


def test_bert_counts_as_in_transformers():
    large = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16}
    large = BertConfig(**large, intermediate_size=4096)
    ours = {
        name: number_of_parameters(lambda name=name: BERT(BERTConfig.preset(name)))
        for name in BERTConfig.PRESETS
    }
    assert ours["bert-base"] == number_of_parameters(lambda: BertForMaskedLM(BertConfig()))
    assert ours["bert-base"] == 109_514_298
    assert ours["bert-large"] == number_of_parameters(lambda: BertForMaskedLM(large))
    small = {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536}
    assert ours["minilm-l6"] == number_of_parameters(
        lambda: BertModel(BertConfig(**small), add_pooling_layer=False)
    )
