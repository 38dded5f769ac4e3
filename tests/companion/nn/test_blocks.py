"""Blocks against torch's layers and transformers', with the weights carried over."""

import copy
import math
import pickle

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from transformers import GPT2Config, LlamaConfig
from transformers.models.gpt2.modeling_gpt2 import GPT2Block
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRotaryEmbedding

from companion.nn import DecoderBlock, EncoderBlock, FeedForward, RotaryEmbedding, causal_mask
from tests.companion.nn.test_attention import random

norm_orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post", "pre"])
sizes = st.permutations((2, 3, 5, 7, 11))
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "swiglu")


def shake(module):
    """Give every parameter a random value, so that no bias is 0 and no norm's weight is 1."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)


def attention_state(name, attention):
    """State of an nn.MultiheadAttention under the names of our layer."""
    state = {
        f"{name}.out_proj.weight": attention.out_proj.weight,
        f"{name}.out_proj.bias": attention.out_proj.bias,
    }
    projections = zip(
        ("q_proj", "k_proj", "v_proj"),
        attention.in_proj_weight.chunk(3),
        attention.in_proj_bias.chunk(3),
        strict=True,
    )
    for projection, weight, bias in projections:
        state |= {f"{name}.{projection}.weight": weight, f"{name}.{projection}.bias": bias}
    return state


def layer_state(layer):
    """State of a torch encoder or decoder layer under the names of our block."""
    state = attention_state("self_attention", layer.self_attn)
    if hasattr(layer, "multihead_attn"):
        state |= attention_state("cross_attention", layer.multihead_attn)
    renamed = {"linear1": "feed_forward.up_proj", "linear2": "feed_forward.down_proj"}
    for name, tensor in layer.state_dict().items():
        module, _, kind = name.rpartition(".")
        if module in renamed or module.startswith("norm"):
            state[f"{renamed.get(module, module)}.{kind}"] = tensor
    return {name: tensor.detach() for name, tensor in state.items()}


def encoder_pair(d_model, H, d_ff, activation, norm_first, dropout=0.0):
    theirs = nn.TransformerEncoderLayer(
        d_model, H, d_ff, dropout, activation, batch_first=True, norm_first=norm_first
    ).double()
    shake(theirs)
    ours = EncoderBlock(
        d_model, H, d_ff, activation=activation, norm_first=norm_first, dropout=dropout
    ).double()
    ours.load_state_dict(layer_state(theirs))
    return ours, theirs


@norm_orders
@given(sizes, st.sampled_from(("relu", "gelu")), st.booleans())
def test_encoder_block_equals_torch(norm_first, sizes, activation, training):
    B, H, T, width, d_ff = sizes
    ours, theirs = encoder_pair(H * width, H, d_ff, activation, norm_first)
    ours.train(training), theirs.train(training)
    x, real = random(B, T, H * width), torch.rand(B, T) < 0.7
    real[:, 0] = True
    mask = real[:, None, None, :]
    torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours(x, mask), theirs(x, src_key_padding_mask=~real))
    torch.testing.assert_close(
        ours(x, mask, is_causal=True),
        theirs(x, src_mask=~causal_mask(T), src_key_padding_mask=~real, is_causal=True),
    )


@norm_orders
def test_encoder_block_equals_torchs_fast_path_for_inference(norm_first):
    ours, theirs = encoder_pair(6, 2, 7, "relu", norm_first)
    ours, theirs = ours.eval(), theirs.eval()
    x, real = random(3, 5, 6), torch.arange(5) < torch.tensor([[5], [3], [1]])
    with torch.no_grad():
        output = ours(x, real[:, None, None, :])
        expected = theirs(x, src_key_padding_mask=~real)
        torch.testing.assert_close(output, expected)
        torch.testing.assert_close(ours(x), theirs(x))


@norm_orders
@given(sizes, st.sampled_from(("relu", "gelu")), st.booleans())
def test_decoder_block_equals_torch(norm_first, sizes, activation, training):
    B, H, T, S, d_ff = sizes
    d_model = 3 * H
    theirs = nn.TransformerDecoderLayer(
        d_model, H, d_ff, 0.0, activation, batch_first=True, norm_first=norm_first
    ).double()
    shake(theirs)
    ours = DecoderBlock(d_model, H, d_ff, activation=activation, norm_first=norm_first).double()
    ours.load_state_dict(layer_state(theirs))
    ours.train(training), theirs.train(training)
    x, memory, real = random(B, T, d_model), random(B, S, d_model), torch.rand(B, S) < 0.7
    real[:, 0] = True
    torch.testing.assert_close(ours(x, memory, is_causal=False), theirs(x, memory))
    torch.testing.assert_close(
        ours(x, memory, memory_mask=real[:, None, None, :]),  # causal unless told otherwise
        theirs(
            x,
            memory,
            tgt_mask=~causal_mask(T),
            tgt_is_causal=True,
            memory_key_padding_mask=~real,
        ),
    )
    mask = torch.rand(T, T) < 0.5
    mask[:, 0] = True
    torch.testing.assert_close(
        ours(x, memory, mask), theirs(x, memory, tgt_mask=~(mask & causal_mask(T)))
    )


@norm_orders
def test_gradients_equal_torchs(norm_first):
    ours, theirs = encoder_pair(6, 2, 7, "gelu", norm_first)
    x = random(3, 5, 6)
    for block in (ours, theirs):
        block(x).square().sum().backward()
    for parameter in theirs.parameters():
        parameter.data = parameter.grad  # so that the gradients get our names
    gradients = layer_state(theirs)
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(parameter.grad, gradients[name])


@norm_orders
def test_dropout_is_drawn_where_torch_draws_it(norm_first):
    ours, theirs = encoder_pair(6, 2, 7, "relu", norm_first, dropout=0.4)
    x = random(1, 5, 6)  # one sequence: torch's layer works sequence first inside
    torch.manual_seed(1)
    output = ours(x)
    torch.manual_seed(1)
    torch.testing.assert_close(output, theirs(x))
    assert not torch.allclose(ours(x), output)
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))


def test_llamas_block():
    config = LlamaConfig(
        hidden_size=24,
        num_attention_heads=6,
        num_key_value_heads=2,
        intermediate_size=13,
        rms_norm_eps=1e-3,
        attn_implementation="eager",
        rope_parameters={"rope_type": "default", "rope_theta": 500.0},
    )
    theirs = LlamaDecoderLayer(config, layer_idx=0).double()
    shake(theirs)
    ours = EncoderBlock(
        24,
        6,
        13,
        norm_first=True,
        norm="rms",
        norm_eps=1e-3,
        activation="swiglu",
        bias=False,
        num_kv_heads=2,
        rope=RotaryEmbedding(4, base=500.0, pairing="half"),
    ).double()
    renamed = {
        "self_attn.o_proj": "self_attention.out_proj",
        "self_attn.": "self_attention.",
        "mlp": "feed_forward",
        "input_layernorm": "norm1",
        "post_attention_layernorm": "norm2",
    }
    state = {}
    for name, tensor in theirs.state_dict().items():
        old = next(old for old in renamed if name.startswith(old))
        state[name.replace(old, renamed[old])] = tensor
    ours.load_state_dict(state)

    x, positions = random(2, 7, 24), torch.arange(7)[None]
    expected = theirs(
        x,
        attention_mask=torch.zeros(1, 1, 7, 7).masked_fill(~causal_mask(7), -math.inf),
        position_embeddings=LlamaRotaryEmbedding(config)(x, positions),
    )
    # Theirs computes norms and angles in float32 even here.
    torch.testing.assert_close(ours(x, is_causal=True), expected, rtol=2e-5, atol=2e-5)


def test_gpt2s_block():
    config = GPT2Config(n_embd=12, n_head=3, n_inner=11, attn_implementation="eager")
    theirs = GPT2Block(config, layer_idx=0).double().eval()
    shake(theirs)
    ours = EncoderBlock(12, 3, 11, norm_first=True, activation="gelu_tanh").double()
    state = {}
    renamed = {
        "attn.c_proj": "self_attention.out_proj",
        "mlp.c_fc": "feed_forward.up_proj",
        "mlp.c_proj": "feed_forward.down_proj",
        "ln_1": "norm1",
        "ln_2": "norm2",
    }
    for name, tensor in theirs.state_dict().items():
        module, _, kind = name.rpartition(".")
        tensor = tensor.t() if tensor.dim() == 2 else tensor  # theirs is (in, out)
        if module == "attn.c_attn":
            for projection, part in zip(
                ("q_proj", "k_proj", "v_proj"), tensor.chunk(3), strict=True
            ):
                state[f"self_attention.{projection}.{kind}"] = part
        else:
            state[f"{renamed[module]}.{kind}"] = tensor
    ours.load_state_dict(state)
    x = random(2, 7, 12)
    mask = torch.zeros(1, 1, 7, 7, dtype=torch.float64).masked_fill(~causal_mask(7), -math.inf)
    torch.testing.assert_close(ours(x, is_causal=True), theirs(x, attention_mask=mask))


# The feed-forward network.


@pytest.mark.parametrize(
    "activation, expected",
    [
        ("relu", [2.0, 0.0]),
        ("gelu", [2 * 0.9772498680518208, -0.15865525393145707]),  # x Phi(x)
        ("gelu_tanh", [1.9545976940877752, -0.15880800939172324]),
        ("swiglu", [4 / (1 + math.exp(-2)), 1 / (1 + math.e)]),  # x * x / (1 + exp(-x))
    ],
)
def test_feed_forward_by_hand(activation, expected):
    layer = FeedForward(2, 2, activation=activation).double()
    projections = [module for module in layer.children() if isinstance(module, nn.Linear)]
    for projection in projections:
        nn.init.eye_(projection.weight)
        nn.init.zeros_(projection.bias)
    x = torch.tensor([[[2.0, -1.0]]], dtype=torch.float64)
    assert layer(x).flatten().tolist() == pytest.approx(expected)


def test_the_gate_is_what_is_activated():
    layer = FeedForward(3, 7, activation="swiglu").double()
    x = random(2, 5, 3)
    expected = layer.down_proj(F.silu(layer.gate_proj(x)) * layer.up_proj(x))
    torch.testing.assert_close(layer(x), expected)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_feed_forward_works_on_each_position_alone(activation):
    layer = FeedForward(3, 7, activation=activation).double()
    x = random(2, 5, 3)
    torch.testing.assert_close(layer(x.flip(1)), layer(x).flip(1))
    torch.testing.assert_close(layer(x[:, 2:3]), layer(x)[:, 2:3])
    names = (
        ("up_proj", "gate_proj", "down_proj")
        if activation == "swiglu"
        else ("up_proj", "down_proj")
    )
    assert dict(layer.named_parameters()).keys() == {
        f"{name}.{kind}" for name in names for kind in ("weight", "bias")
    }
    bare = FeedForward(3, 7, activation=activation, bias=False)
    assert dict(bare.named_parameters()).keys() == {f"{name}.weight" for name in names}


# What any block does.

blocks = pytest.mark.parametrize("block_type", [EncoderBlock, DecoderBlock])


def run(block, x, memory, **kwargs):
    inputs = (x, memory) if isinstance(block, DecoderBlock) else (x,)
    return block(*inputs, **kwargs)


@blocks
@norm_orders
def test_weights_are_returned_when_asked_for_and_change_nothing(block_type, norm_first):
    block = block_type(6, 3, 7, norm_first=norm_first, num_kv_heads=1).double()
    x, memory = random(2, 5, 6), random(2, 11, 6)
    output, *weights = run(block, x, memory, is_causal=True, need_weights=True)
    torch.testing.assert_close(output, run(block, x, memory, is_causal=True))
    shapes = [(2, 3, 5, 5), (2, 3, 5, 11)][: len(weights)]
    assert [tuple(matrix.shape) for matrix in weights] == shapes
    assert len(weights) == (2 if block_type is DecoderBlock else 1)
    expected_input = block.norm1(x) if norm_first else x
    _, expected = block.self_attention(expected_input, is_causal=True, need_weights=True)
    torch.testing.assert_close(weights[0], expected)


def test_the_encoder_block_hands_every_argument_on():
    block = EncoderBlock(12, 3, 7, norm_first=True, rope=RotaryEmbedding(4)).double()
    x, mask, bias = random(2, 5, 12), torch.rand(5, 5) < 0.5, random(3, 5, 5)
    positions = torch.tensor([0, 2, 4, 6, 9])
    arguments = {"mask": mask, "is_causal": True, "score_bias": bias, "positions": positions}
    attended, _ = block.self_attention(block.norm1(x), **arguments)
    middle = x + attended
    expected = middle + block.feed_forward(block.norm2(middle))
    torch.testing.assert_close(block(x, **arguments), expected)
    for left_out in arguments:
        rest = {name: value for name, value in arguments.items() if name != left_out}
        assert not torch.allclose(block(x, **rest), expected)


@blocks
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_blocks_are_copied_pickled_and_trained(block_type, activation, norm):
    block = block_type(6, 3, 7, activation=activation, norm=norm, rope=RotaryEmbedding(2)).double()
    x, memory = random(2, 5, 6), random(2, 11, 6)
    expected = run(block, x, memory)
    for twin in (copy.deepcopy(block), pickle.loads(pickle.dumps(block))):
        assert torch.equal(run(twin, x, memory), expected)
    expected.pow(4).sum().backward()
    for name, parameter in block.named_parameters():
        assert parameter.grad.isfinite().all()
        if name != "cross_attention.k_proj.bias":  # adding a vector to all keys changes no weight
            assert parameter.grad.abs().max() > 1e-9, name


def test_norms_are_torchs():
    block = EncoderBlock(6, 3, 7, norm="rms", norm_eps=0.1)
    assert type(block.norm1) is type(block.norm2) is nn.RMSNorm
    assert block.norm1.eps == block.norm2.eps == 0.1
    decoder = DecoderBlock(6, 3, 7, norm_eps=0.2, bias=False)
    for norm in (decoder.norm1, decoder.norm2, decoder.norm3):
        assert type(norm) is nn.LayerNorm and norm.eps == 0.2 and norm.bias is None
    assert EncoderBlock(6, 3, 7).norm1.eps == 1e-5
    for eps in (0, -1e-5, float("nan")):  # torch takes them, and the output is NaN
        with pytest.raises(ValueError, match=f"norm_eps must be positive, got {eps}"):
            EncoderBlock(6, 3, 7, norm_eps=eps)
    with pytest.raises(ValueError, match="norm_eps must be finite, got inf"):  # the output is 0
        EncoderBlock(6, 3, 7, norm_eps=float("inf"))
