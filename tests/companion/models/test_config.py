"""Configurations: presets, what is derived, and what is refused."""

import dataclasses
import math

import pytest
import torch
from torch import nn

from companion.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from tests.companion.test_validation import refused

SIZES = {"vocab_size": 17, "d_model": 12, "num_layers": 2, "num_heads": 3, "d_ff": 7, "max_len": 11}
CONFIGS = (BERTConfig, GPTConfig, TransformerConfig)

every_config = pytest.mark.parametrize("config_type", CONFIGS)


@every_config
def test_a_config_is_frozen_and_replace_makes_another(config_type):
    config = config_type(**SIZES)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.d_model = 6
    wider = dataclasses.replace(config, d_model=24)
    assert (wider.key_width, wider.value_width, config.key_width) == (8, 8, 4)
    assert wider.d_k is wider.d_v is None
    with pytest.raises(TypeError):
        config_type(17, 12, 2, 3, 7, 11)


@every_config
def test_widths_of_heads_vary_on_their_own(config_type):
    config = config_type(**SIZES, d_k=2)
    assert (config.key_width, config.value_width) == (2, 4)
    config = config_type(**SIZES, d_v=5)
    assert (config.key_width, config.value_width) == (4, 5)
    config = config_type(**SIZES | {"num_heads": 5}, d_k=2, d_v=3)  # 12 need not divide by 5
    assert (config.key_width, config.value_width) == (2, 3)


@every_config
def test_a_preset_takes_changes_and_an_unknown_one_is_refused(config_type):
    for name in config_type.PRESETS:
        config = config_type.preset(name, vocab_size=11, num_layers=1)
        assert (config.vocab_size, config.num_layers) == (11, 1)
        assert config.d_model == config_type.preset(name).d_model
    refused(ValueError, lambda: config_type.preset("small"), "'small'", name)
    refused(TypeError, lambda: config_type.preset(name, width=3), "width")


@every_config
@pytest.mark.parametrize(
    ("changes", "error", "parts"),
    [
        ({"d_model": 13}, ValueError, ["13", "num_heads = 3", "d_k and d_v"]),
        ({"d_model": 13, "d_k": 4}, ValueError, ["13", "num_heads = 3"]),
        ({"num_heads": 0}, ValueError, ["num_heads", "0"]),
        ({"d_k": 0}, ValueError, ["d_k", "0"]),
        ({"d_v": -4}, ValueError, ["d_v", "-4"]),
        ({"num_layers": 0}, ValueError, ["num_layers", "0"]),
        ({"vocab_size": 17.0}, TypeError, ["vocab_size", "17.0", "float"]),
        ({"d_ff": True}, TypeError, ["d_ff", "True"]),
        ({"max_len": -1}, ValueError, ["max_len", "-1"]),
        ({"dropout": 1.0}, ValueError, ["dropout", "1.0"]),
        ({"norm_eps": 0.0}, ValueError, ["norm_eps", "0.0"]),
        ({"norm_eps": math.nan}, ValueError, ["norm_eps", "nan"]),
        ({"norm_eps": "small"}, TypeError, ["norm_eps", "'small'", "str"]),
        ({"dropout": None}, TypeError, ["dropout", "number", "None"]),
        ({"norm": "batch"}, ValueError, ["'batch'", "'layer'", "'rms'"]),
        ({"activation": ["relu"]}, ValueError, ["activation", "['relu']", "'gelu'"]),
        ({"activation": "tanh"}, ValueError, ["'tanh'", "'gelu'"]),
        ({"norm_first": "no"}, ValueError, ["norm_first", "True, False", "'no'"]),
        ({"bias": "no"}, ValueError, ["bias", "True, False", "'no'"]),
        ({"pad_id": 17}, ValueError, ["pad_id", "17"]),
        ({"pad_id": -1}, ValueError, ["pad_id", "-1"]),
        ({"pad_id": "0"}, TypeError, ["pad_id", "'0'", "str"]),
    ],
)
def test_values_out_of_range_are_refused(config_type, changes, error, parts):
    refused(error, lambda: config_type(**SIZES | changes), *parts)


@pytest.mark.parametrize(
    ("changes", "error", "parts"),
    [
        ({"tie_weights": "no"}, ValueError, ["tie_weights", "True, False", "'no'"]),
        ({"num_kv_heads": 2}, ValueError, ["num_heads = 3", "num_kv_heads = 2"]),
        ({"positions": "sinusoidal"}, ValueError, ["'sinusoidal'", "'rotary'"]),
        ({"rope_pairing": "quarter"}, ValueError, ["'quarter'", "'half'"]),
        ({"rope_base": 0.0}, ValueError, ["rope_base", "0.0"]),
        ({"rope_base": math.nan}, ValueError, ["rope_base", "nan"]),
        ({"rope_base": "10000"}, TypeError, ["rope_base", "'10000'", "str"]),
        ({"rope_scaling": 8.0}, TypeError, ["rope_scaling", "RotaryScaling", "float"]),
        ({"positions": "rotary", "d_k": 3}, ValueError, ["d_k", "even", "3"]),
    ],
)
def test_what_a_gpt_refuses(changes, error, parts):
    refused(error, lambda: GPTConfig(**SIZES | changes), *parts)
    assert GPTConfig(**SIZES, d_k=3).key_width == 3  # odd is fine without rotation


def test_a_transformer_alone_needs_a_padding_token():
    for config_type in (GPTConfig, BERTConfig):
        assert config_type(**SIZES, pad_id=None).pad_id is None
    assert GPTConfig.preset("gpt2").pad_id is None
    refused(TypeError, lambda: TransformerConfig(**SIZES, pad_id=None), "pad_id", "NoneType")


def test_a_model_is_built_from_its_own_config():
    models = zip((BERT, GPT, Transformer), CONFIGS, (GPTConfig, BERTConfig, GPTConfig), strict=True)
    for model, own, other in models:
        wrong = (other(**SIZES), SIZES, "base")
        for config, name in zip(wrong, (other.__name__, "dict", "str"), strict=True):
            refused(TypeError, lambda m=model, c=config: m(c), own.__name__, f"got {name}")


def test_what_a_bert_refuses():
    refused(ValueError, lambda: BERTConfig(**SIZES, type_vocab_size=0), "type_vocab_size", "0")
    refused(ValueError, lambda: BERTConfig(**SIZES, mlm_head="no"), "mlm_head", "True, False")


def test_what_a_transformer_refuses():
    def config(**changes):
        return lambda: TransformerConfig(**SIZES | changes)

    refused(ValueError, config(d_model=15), "d_model", "even", "15")
    refused(ValueError, config(bos_id=17), "bos_id", "17")
    refused(ValueError, config(eos_id=-1), "eos_id", "-1")
    refused(TypeError, config(eos_id=None), "eos_id", "NoneType")
    refused(ValueError, config(pad_id=1), "bos_id and pad_id", "masked")
    refused(ValueError, config(pad_id=2), "eos_id and pad_id", "masked")
    assert config(bos_id=2, eos_id=2)().bos_id == 2  # one token may do both


def test_the_defaults_are_those_of_the_papers():
    gpt, bert = GPTConfig(**SIZES), BERTConfig(**SIZES)
    transformer = TransformerConfig(**SIZES)
    assert (gpt.norm_first, gpt.activation, gpt.norm_eps) == (True, "gelu_tanh", 1e-5)
    assert (gpt.positions, gpt.tie_weights, gpt.num_kv_heads) == ("learned", True, None)
    assert (bert.norm_first, bert.activation, bert.norm_eps) == (False, "gelu", 1e-12)
    assert (transformer.norm_first, transformer.activation) == (False, "relu")
    assert all(config.dropout == 0.1 and config.bias for config in (gpt, bert, transformer))
    assert TransformerConfig.preset("big").dropout == 0.3


def modules(model, module_type):
    return [module for module in model.modules() if isinstance(module, module_type)]


@pytest.mark.parametrize(
    ("model_type", "config_type"),
    [(BERT, BERTConfig), (GPT, GPTConfig), (Transformer, TransformerConfig)],
)
def test_every_choice_reaches_every_block(model_type, config_type):
    choices = {"norm": "rms", "norm_eps": 0.25, "activation": "swiglu", "bias": False}
    config = config_type(**SIZES, **choices, dropout=0.75, d_k=2, d_v=5, norm_first=True)
    model = model_type(config)
    norms = modules(model, nn.RMSNorm)
    assert not modules(model, nn.LayerNorm)
    assert len(norms) == {GPT: 5, BERT: 7, Transformer: 12}[model_type]
    assert all(norm.eps == 0.25 for norm in norms)
    assert all(dropout.p == 0.75 for dropout in modules(model, nn.Dropout))
    biases = [name for name, _ in model.named_parameters() if name.endswith("bias")]
    assert biases == (["head.decoder.bias"] if model_type is BERT else [])
    for blocks in model.children():
        for block in blocks if isinstance(blocks, nn.ModuleList) else ():
            attention = block.self_attention
            assert (attention.d_k, attention.d_v, attention.dropout) == (2, 5, 0.75)
            assert block.norm_first
            assert block.feed_forward.gate_proj.weight.shape == (7, 12)


def test_the_choices_of_a_gpt_reach_its_blocks():
    choices = {"positions": "rotary", "rope_base": 5.0, "rope_pairing": "half", "num_kv_heads": 1}
    model = GPT(GPTConfig(**SIZES, **choices, tie_weights=False))
    assert model.positions is None
    assert model.head.weight is not model.token_embedding.weight
    for block in model.blocks:
        rope = block.self_attention.rope
        assert (rope.base, rope.pairing, rope.d_k) == (5.0, "half", 4)
        assert block.self_attention.num_kv_heads == 1


def spread(tensor):
    return tensor.std().item()


def test_a_gpt_starts_as_gpt2_does():
    model = GPT(
        GPTConfig(**SIZES | {"d_model": 96, "d_ff": 101, "vocab_size": 97, "num_layers": 8})
    )
    for weight in (model.token_embedding.weight, model.blocks[3].self_attention.q_proj.weight):
        assert spread(weight) == pytest.approx(0.02, rel=0.05)
    for weight in (
        model.blocks[7].self_attention.out_proj.weight,
        model.blocks[0].feed_forward.down_proj.weight,
    ):
        assert spread(weight) == pytest.approx(0.02 / 4, rel=0.05)  # sqrt(2 * 8) = 4
    assert not model.blocks[0].feed_forward.up_proj.bias.any()
    assert (model.final_norm.weight == 1).all()


def test_a_bert_starts_as_in_its_paper():
    model = BERT(BERTConfig(**SIZES | {"d_model": 96, "d_ff": 101, "vocab_size": 97}))
    for weight in (
        model.token_embedding.weight,
        model.head.dense.weight,
        model.blocks[1].self_attention.out_proj.weight,
    ):
        assert spread(weight) == pytest.approx(0.02, rel=0.05)
    assert not model.head.decoder.bias.any()


def test_a_transformer_starts_with_embeddings_that_serve_as_output_matrix():
    model = Transformer(TransformerConfig(**SIZES | {"d_model": 96, "vocab_size": 97, "d_ff": 288}))
    assert spread(model.token_embedding.weight) == pytest.approx(96**-0.5, rel=0.05)
    up_proj = model.decoder_blocks[1].feed_forward.up_proj
    assert spread(up_proj.weight) == pytest.approx((2 / (96 + 288)) ** 0.5, rel=0.05)  # Xavier
    assert not up_proj.bias.any()
    logits = model.eval()(torch.randint(3, 97, (5, 7)), torch.randint(3, 97, (5, 11)))
    assert spread(logits) == pytest.approx(1, rel=0.2)
