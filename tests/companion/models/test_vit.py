"""ViT: equal to transformers' with the weights carried over; sizes, properties, bad input."""

import dataclasses
import pickle

import pytest
import torch
from torch import nn
from transformers import ViTConfig as TheirConfig
from transformers import ViTForImageClassification

from companion.models import BERTConfig, ViT, ViTConfig
from tests.companion.models.test_config import refused
from tests.companion.models.test_peers import carried_over, renamed, same_weights
from tests.companion.models.test_properties import (
    by_hand,
    differ,
    inputs_of_attention,
    ready,
)
from tests.companion.models.test_sizes import number_of_parameters

IMAGE = {"image_size": 15, "patch_size": 5, "channels": 2, "num_classes": 7}
SIZES = IMAGE | {"d_model": 22, "num_layers": 3, "num_heads": 11, "d_ff": 13}

norm_orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post", "pre"])


def vit(**changes):
    return ready(ViT(ViTConfig(**SIZES | changes)))


def images(*shape):
    return torch.randn(*shape, dtype=torch.float64)


# transformers.


def vit_state(theirs):
    state = theirs.state_dict()
    embeddings = "vit.embeddings"
    ours = {
        "cls_token": state[f"{embeddings}.cls_token"],
        "positions.weight": state[f"{embeddings}.position_embeddings"][0],
    }
    names = {
        f"{embeddings}.patch_embeddings.projection": "patch_embedding.proj",
        "vit.layernorm": "final_norm",
        "classifier": "head",
    }
    for i in range(theirs.config.num_hidden_layers):
        block, layer = f"blocks.{i}", f"vit.layers.{i}"
        for letter in "qkv":
            names[f"{layer}.attention.{letter}_proj"] = f"{block}.self_attention.{letter}_proj"
        names |= {
            f"{layer}.attention.o_proj": f"{block}.self_attention.out_proj",
            f"{layer}.layernorm_before": f"{block}.norm1",
            f"{layer}.layernorm_after": f"{block}.norm2",
            f"{layer}.mlp.fc1": f"{block}.feed_forward.up_proj",
            f"{layer}.mlp.fc2": f"{block}.feed_forward.down_proj",
        }
    return ours | renamed(state, names)


def test_vit_equals_transformers():
    theirs = ViTForImageClassification(
        TheirConfig(
            image_size=15,
            patch_size=5,
            num_channels=2,
            num_labels=7,
            hidden_size=22,
            num_hidden_layers=3,
            num_attention_heads=11,
            intermediate_size=13,
        )
    )
    ours, theirs = carried_over(ViT(ViTConfig(**SIZES)), theirs, vit_state)
    pixels = images(5, 2, 15, 15)
    logits, weights = ours(pixels, need_weights=True)
    for found in (ours(pixels), logits):
        torch.testing.assert_close(found, theirs(pixels).logits)
    torch.testing.assert_close(ours.encode(pixels), theirs.vit(pixels).last_hidden_state)
    theirs.set_attn_implementation("eager")  # returns weights, but rounds them to float32
    expected = theirs(pixels, output_attentions=True).attentions
    same_weights(weights, expected, rtol=1e-6, atol=1e-6)


def test_vit_counts_as_in_transformers():
    large = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16}
    theirs = {
        "vit-base-16": TheirConfig(num_labels=1000),
        "vit-large-16": TheirConfig(**large, intermediate_size=4096, num_labels=1000),
    }
    assert theirs.keys() == ViTConfig.PRESETS.keys()
    for name, config in theirs.items():
        ours = number_of_parameters(lambda name=name: ViT(ViTConfig.preset(name)))
        assert ours == number_of_parameters(lambda c=config: ViTForImageClassification(c))
        if name == "vit-base-16":
            assert ours == 86_567_656


# Properties.


def moved(pixels, patch, order):
    """Images whose square patches stand in another order."""
    B, C, height, _ = pixels.shape
    n = height // patch
    cut = pixels.reshape(B, C, n, patch, n, patch).permute(0, 2, 4, 1, 3, 5)
    cut = cut.reshape(B, n * n, C, patch, patch)[:, order]
    cut = cut.reshape(B, n, n, C, patch, patch).permute(0, 3, 1, 4, 2, 5)
    return cut.reshape(pixels.shape)


@norm_orders
def test_without_positions_patches_are_a_set(norm_first):
    model, pixels = vit(norm_first=norm_first), images(3, 2, 15, 15)
    order = torch.randperm(9)
    assert differ(model(moved(pixels, 5, order)), model(pixels))
    model.positions = nn.Identity()
    torch.testing.assert_close(model(moved(pixels, 5, order)), model(pixels))
    hidden = model.encode(pixels)[:, 1:]
    torch.testing.assert_close(model.encode(moved(pixels, 5, order))[:, 1:], hidden[:, order])


def test_positions_stand_in_the_order_of_the_tokens():
    model, pixels = vit(), images(3, 2, 15, 15)
    order = torch.randperm(9)
    logits = model(pixels)
    with torch.no_grad():
        model.positions.weight[1:] = model.positions.weight[1:][order]
    torch.testing.assert_close(model(moved(pixels, 5, order)), logits)


@norm_orders
def test_the_head_reads_the_first_token_which_sees_every_patch(norm_first):
    model, pixels = vit(norm_first=norm_first), images(3, 2, 15, 15)
    hidden = model.encode(pixels)
    assert hidden.shape == (3, 10, 22)
    logits = model(pixels)
    torch.testing.assert_close(logits, model.head(hidden[:, 0]))
    for row, column in ((0, 0), (14, 14), (7, 3)):
        other = pixels.clone()
        other[:, 1, row, column] += 1
        assert differ(model(other), logits)


@norm_orders
def test_a_vits_weights_belong_to_its_logits(norm_first):
    model, pixels = vit(norm_first=norm_first), images(2, 2, 15, 15)
    seen = inputs_of_attention(model, lambda: model(pixels))
    logits, weights = model(pixels, need_weights=True)
    torch.testing.assert_close(logits, model(pixels))
    assert len(weights) == len(seen) == 3
    for found, (layer, query, key) in zip(weights, seen, strict=True):
        torch.testing.assert_close(found, by_hand(layer, query, key, torch.ones(10, 10)))


@norm_orders
@pytest.mark.parametrize("norm", ["layer", "rms"])
@pytest.mark.parametrize("activation", ["gelu", "swiglu"])
@pytest.mark.parametrize("bias", [True, False])
def test_choices_compose_and_every_parameter_learns(norm_first, norm, activation, bias):
    choices = {"norm_first": norm_first, "norm": norm, "activation": activation, "bias": bias}
    model = vit(**choices, d_k=3, d_v=5)
    model(images(2, 2, 15, 15)).log_softmax(-1)[:, 3].sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        if not name.endswith("k_proj.bias"):  # adding a vector to all keys changes no weight
            assert parameter.grad.abs().max() > 1e-9, name
    attention = model.blocks[2].self_attention
    assert (attention.d_k, attention.d_v) == (3, 5)
    assert isinstance(model.final_norm, nn.Identity) != norm_first


def test_copies_dropout_and_devices():
    model, pixels = vit(), images(2, 2, 15, 15)
    logits = model(pixels)
    torch.testing.assert_close(pickle.loads(pickle.dumps(model))(pixels), logits, rtol=0, atol=0)
    assert model(pixels[:0]).shape == (0, 7)
    assert differ(model.train()(pixels), logits)
    with torch.device("meta"):
        assert ViT(ViTConfig(**SIZES))(torch.empty(2, 2, 15, 15)).shape == (2, 7)


def test_a_vit_starts_as_in_its_papers_code():
    model = ViT(ViTConfig(**SIZES | {"d_model": 99, "d_ff": 297}))
    block = model.blocks[1]
    expected = (2 / (99 + 297)) ** 0.5
    assert block.feed_forward.up_proj.weight.std().item() == pytest.approx(expected, rel=0.05)
    assert not block.self_attention.out_proj.bias.any()
    assert model.positions.weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert model.cls_token.std().item() == pytest.approx(0.02, rel=0.3)


# The configuration.


def test_the_defaults_are_those_of_the_paper():
    config = ViTConfig(**SIZES)
    assert (config.norm_first, config.activation, config.norm_eps) == (True, "gelu", 1e-12)
    assert (config.num_patches, config.key_width, config.value_width) == (9, 2, 2)
    assert ViTConfig.preset("vit-base-16").num_patches == 196
    assert ViTConfig.preset("vit-base-16", num_classes=10).num_classes == 10
    assert all(norm.eps == 0.25 for norm in vit(norm_eps=0.25).modules() if hasattr(norm, "eps"))


def test_a_config_is_frozen_and_replace_makes_another():
    config = ViTConfig(**SIZES)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.d_model = 6
    assert dataclasses.replace(config, image_size=25).num_patches == 25
    assert not hasattr(config, "vocab_size")


@pytest.mark.parametrize(
    ("changes", "error", "parts"),
    [
        ({"patch_size": 4}, ValueError, ["image_size = 15", "patch_size = 4"]),
        ({"patch_size": 30}, ValueError, ["image_size = 15", "patch_size = 30"]),
        ({"patch_size": 0}, ValueError, ["patch_size", "0"]),
        ({"image_size": 15.0}, TypeError, ["image_size", "15.0"]),
        ({"channels": -1}, ValueError, ["channels", "-1"]),
        ({"num_classes": 0}, ValueError, ["num_classes", "0"]),
        ({"d_model": 23}, ValueError, ["23", "num_heads = 11"]),
    ],
)
def test_values_out_of_range_are_refused(changes, error, parts):
    refused(error, lambda: ViTConfig(**SIZES | changes), *parts)


def test_other_configs_and_other_images_are_refused():
    refused(ValueError, lambda: ViTConfig.preset("vit-huge"), "'vit-huge'", "'vit-large-16'")
    bert = {"vocab_size": 5, "d_model": 6, "num_layers": 1, "num_heads": 3, "d_ff": 7}
    refused(TypeError, lambda: ViT(BERTConfig(**bert, max_len=5)), "ViTConfig", "got BERTConfig")
    model = vit()
    refused(ValueError, lambda: model(images(3, 2, 15, 10)), "(B, 2, 15, 15)", "(3, 2, 15, 10)")
    refused(ValueError, lambda: model(images(2, 15, 15)), "(B, 2, 15, 15)", "(2, 15, 15)")
    refused(TypeError, lambda: model(torch.zeros(3, 2, 15, 15).byte()), "uint8", "/ 255")
    refused(TypeError, lambda: model.encode([1]), "images", "list")
