"""Positions: waves, learned vectors, rotations and biases."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import GPTJConfig, LlamaConfig
from transformers.models.gptj import modeling_gptj
from transformers.models.llama import modeling_llama

from companion.nn import (
    LearnedPositions,
    RotaryEmbedding,
    RotaryScaling,
    SinusoidalPositions,
    alibi_bias,
    sinusoidal_encoding,
)
from tests.companion.nn.test_attention import random

pairings = pytest.mark.parametrize("pairing", ["interleaved", "half"])


# Waves.


def test_sinusoids_by_hand():
    # d_model 4: angles pos and pos / 100.
    expected = [
        [f(pos / rate) for rate in (1, 100) for f in (math.sin, math.cos)] for pos in range(3)
    ]
    assert sinusoidal_encoding(3, 4, dtype=torch.float64).tolist() == [
        pytest.approx(row) for row in expected
    ]
    assert sinusoidal_encoding(1, 6).tolist() == [[0, 1, 0, 1, 0, 1]]
    assert sinusoidal_encoding(0, 6).shape == (0, 6)


@given(st.sampled_from((2, 6, 10, 14)), st.integers(0, 50))
def test_sinusoids_are_the_papers_formula(d_model, pos):
    row = sinusoidal_encoding(pos + 1, d_model, dtype=torch.float64)[pos]
    for i in range(d_model // 2):
        angle = pos / 10000 ** (2 * i / d_model)
        assert row[2 * i].item() == pytest.approx(math.sin(angle), abs=1e-12)
        assert row[2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-12)


@given(st.integers(-20, 20))
def test_a_shift_is_one_linear_map_of_the_sinusoids(shift):
    encoding = sinusoidal_encoding(60, 10, dtype=torch.float64)
    at, shifted = encoding[20:40], encoding[20 + shift : 40 + shift]
    blocks = []
    for i in range(5):
        angle = shift / 10000 ** (2 * i / 10)
        cos, sin = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[cos, -sin], [sin, cos]], dtype=torch.float64))
    torch.testing.assert_close(at @ torch.block_diag(*blocks), shifted)


def test_sinusoids_far_away_are_exact_in_single_precision():
    far = sinusoidal_encoding(100_001, 4)[100_000]
    expected = [math.sin(1e5), math.cos(1e5), math.sin(1e3), math.cos(1e3)]
    assert far.dtype == torch.float32
    assert far.tolist() == pytest.approx(expected, abs=1e-7)


def test_sinusoidal_positions_add_the_waves():
    layer, x = SinusoidalPositions(6), random(2, 5, 6)
    table = sinusoidal_encoding(9, 6, dtype=torch.float64)
    torch.testing.assert_close(layer(x), x + table[:5])
    positions = torch.tensor([[8, 0, 3, 3, 1], [0, 1, 2, 3, 4]])
    torch.testing.assert_close(layer(x, positions), x + table[positions])
    torch.testing.assert_close(layer(x, positions[0]), x + table[positions[0]])
    assert not list(layer.parameters()) and not layer.state_dict()
    assert layer(x.half()).dtype == torch.float16


# Learned vectors.


def test_learned_positions_add_their_vectors():
    layer, x = LearnedPositions(7, 3).double(), random(2, 5, 3)
    torch.testing.assert_close(layer(x), x + layer.weight[:5])
    positions = torch.tensor([[6, 0, 3, 3, 1], [0, 1, 2, 3, 4]])
    torch.testing.assert_close(layer(x, positions), x + layer.weight[positions])
    assert layer(random(2, 7, 3)).shape == (2, 7, 3)
    assert layer.weight.std().item() == pytest.approx(0.02, rel=0.5)
    layer(x).sum().backward()
    assert layer.weight.grad[:, 0].tolist() == [2, 2, 2, 2, 2, 0, 0]


def test_learned_positions_end_at_max_len():
    layer = LearnedPositions(7, 3)
    too_many = r"positions {} to {} are needed, but only max_len = 7 .* larger max_len"
    with pytest.raises(ValueError, match=too_many.format(0, 7)):
        layer(torch.randn(2, 8, 3))
    with pytest.raises(ValueError, match=too_many.format(4, 8)):
        layer(torch.randn(2, 5, 3), start=4)
    with pytest.raises(ValueError, match=too_many.format(-1, 0)):
        layer(torch.randn(2, 2, 3), start=-1)
    with pytest.raises(ValueError, match=r"positions must lie in \[0, 7\), got values from 3 to 7"):
        layer(torch.randn(2, 2, 3), torch.tensor([3, 7]))
    with pytest.raises(ValueError, match="from -1 to 0"):
        layer(torch.randn(2, 2, 3), torch.tensor([-1, 0]))


# Rotations.


def test_rotation_by_hand():
    # d_k 4 and base 100: pair 0 turns by 1 radian per position, pair 1 by 1 / 10.
    x = torch.tensor([1.0, 0.0, 0.0, 1.0], dtype=torch.float64).expand(1, 1, 3, 4)
    turned = RotaryEmbedding(4, base=100.0)(x)[0, 0, 2].tolist()
    assert turned == pytest.approx([math.cos(2), math.sin(2), -math.sin(0.2), math.cos(0.2)])
    # "half" pairs entries 0 and 2, and 1 and 3.
    turned = RotaryEmbedding(4, base=100.0, pairing="half")(x)[0, 0, 2].tolist()
    assert turned == pytest.approx([math.cos(2), -math.sin(0.2), math.sin(2), math.cos(0.2)])


@given(st.permutations((2, 3, 5, 7)), st.sampled_from((500.0, 10000.0)))
def test_half_pairing_is_llamas(sizes, base):
    B, H, T, half = sizes
    config = LlamaConfig(
        hidden_size=2 * half * H,
        num_attention_heads=H,
        rope_parameters={"rope_type": "default", "rope_theta": base},
    )
    positions = torch.randint(100, (B, T))
    query, key = random(B, H, T, 2 * half), random(B, H, T, 2 * half)
    cos, sin = modeling_llama.LlamaRotaryEmbedding(config)(query, positions)
    expected = modeling_llama.apply_rotary_pos_emb(query, key, cos, sin)
    rope = RotaryEmbedding(2 * half, base=base, pairing="half")
    for ours, theirs in zip((rope(query, positions), rope(key, positions)), expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=5e-5)  # their angles are in float32


@given(st.permutations((2, 3, 5, 7)))
def test_interleaved_pairing_is_gptjs(sizes):
    B, H, T, half = sizes
    x = random(B, H, T, 2 * half)
    table = modeling_gptj.create_sinusoidal_positions(T, 2 * half)
    sin, cos = table.expand(B, T, 2 * half).chunk(2, dim=-1)
    expected = modeling_gptj.apply_rotary_pos_emb(x.transpose(1, 2), sin, cos).transpose(1, 2)
    torch.testing.assert_close(RotaryEmbedding(2 * half)(x), expected, rtol=0, atol=5e-6)
    assert GPTJConfig().rotary_dim  # GPT-J turns the first entries of a head only


@pairings
@given(st.integers(0, 30), st.integers(0, 30), st.integers(-10, 1000), st.sampled_from((2, 6, 22)))
def test_a_product_depends_on_the_distance_only(pairing, i, j, shift, d_k):
    rope = RotaryEmbedding(d_k, pairing=pairing)
    query, key = random(1, 1, 1, d_k), random(1, 1, 1, d_k)

    def product(i, j):
        return (rope(query, torch.tensor([i])) * rope(key, torch.tensor([j]))).sum()

    torch.testing.assert_close(product(i, j), product(i + shift, j + shift))
    assert not torch.isclose(product(i, j), product(i, j + 1))


@pairings
def test_rotation_keeps_lengths_and_leaves_position_zero_alone(pairing):
    rope, x = RotaryEmbedding(14, pairing=pairing), random(2, 3, 5, 14)
    torch.testing.assert_close(rope(x).norm(dim=-1), x.norm(dim=-1))
    torch.testing.assert_close(rope(x)[:, :, 0], x[:, :, 0])
    assert (rope(x) != x)[:, :, 1:].all()
    back = rope(rope(x), -torch.arange(5))
    torch.testing.assert_close(back, x)


@pairings
def test_two_bases_and_two_pairings_share_no_state(pairing):
    x = random(2, 3, 5, 14)
    layers = [RotaryEmbedding(14, base=base, pairing=pairing) for base in (10000.0, 10.0, 10000.0)]
    first, second, third = (layer(x) for layer in layers)
    assert torch.equal(first, third) and torch.equal(first, layers[0](x))
    assert not torch.allclose(first, second)
    assert not layers[0].state_dict() and not list(layers[0].buffers())


@pairings
def test_rotation_has_no_length_limit_and_takes_positions_in_any_order(pairing):
    rope, x = RotaryEmbedding(6, pairing=pairing), random(2, 3, 5000, 6)
    full = rope(x)
    torch.testing.assert_close(rope(x[:, :, 4990:], torch.arange(4990, 5000)), full[:, :, 4990:])
    order = torch.randperm(5000)
    torch.testing.assert_close(rope(x[:, :, order], order), full[:, :, order])
    rows = torch.stack([torch.arange(5000), torch.arange(5000) + 7])
    torch.testing.assert_close(rope(x, rows)[0], full[0])
    torch.testing.assert_close(rope(x, rows)[1], rope(x, rows[1])[1])


def test_a_rotation_serves_only_as_many_tokens_as_it_was_made_for():
    layer, x = RotaryEmbedding(4), torch.randn(2, 3, 5, 4)
    for other in (x[:, :, :1], x[:, :, :3]):  # that of one token would turn all of them alike
        with pytest.raises(ValueError, match=rf"of {other.shape[2]} positions .* but x has shape"):
            layer.rotation(other).turn(x)
    assert torch.equal(layer.rotation(x).turn(x), layer(x))


def test_rotation_shows_its_settings():
    shown = repr(RotaryEmbedding(6, base=500.0, pairing="half"))
    assert shown == "RotaryEmbedding(d_k=6, base=500.0, pairing='half')"


# Biases.


def test_scaled_rotation_by_hand():
    # d_k = 8 and base 10^4: pairs turn by 1, 1/10, 1/100 and 1/1000 per position, and in 126
    # positions about 20, 2, 0.2 and 0.02 times. The first is fast, the second is in between.
    scaling = RotaryScaling(factor=8, original_len=126)
    frequencies = torch.tensor([1, 0.1, 0.01, 0.001], dtype=torch.float64)
    kept = (12.6 / (2 * math.pi) - 1) / 3
    expected = torch.tensor(
        [1, 0.1 * (kept + (1 - kept) / 8), 0.01 / 8, 0.001 / 8], dtype=torch.float64
    )
    torch.testing.assert_close(scaling(frequencies), expected)
    torch.testing.assert_close(RotaryScaling(factor=8)(frequencies), frequencies / 8)

    x = random(2, 3, 1, 8)
    at = torch.tensor([5])
    for pairing in ("interleaved", "half"):
        layer = RotaryEmbedding(8, pairing=pairing, scaling=scaling)
        pairs = (2, 3) if pairing == "interleaved" else (1, 5)
        first, second = x[..., pairs[0]], x[..., pairs[1]]
        angle = 5 * expected[1]
        turned = layer(x, at)
        torch.testing.assert_close(
            turned[..., pairs[0]], first * angle.cos() - second * angle.sin()
        )
        linear = RotaryEmbedding(8, pairing=pairing, scaling=RotaryScaling(factor=5))
        torch.testing.assert_close(
            linear(x, at), RotaryEmbedding(8, pairing=pairing)(x, torch.tensor([1]))
        )
        assert "factor=8" in repr(layer) and "scaling" not in repr(RotaryEmbedding(8))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"factor": 0.0}, ValueError),
        ({"factor": "8"}, TypeError),
        ({"slow_turns": 4.0}, ValueError),
        ({"slow_turns": -1.0}, ValueError),
        ({"original_len": 0}, ValueError),
        ({"original_len": 8192.0}, TypeError),
    ],
)
def test_scaling_out_of_range(changes, error):
    with pytest.raises(error, match=next(iter(changes))):
        RotaryScaling(**{"factor": 8.0, "original_len": 8192} | changes)


def test_alibi_by_hand():
    # 8 heads: slopes 1/2, 1/4, ..., 1/256 (section 3 of the paper).
    bias = alibi_bias(8, 3)
    assert bias.shape == (8, 3, 3)
    assert bias[0].tolist() == [[0, -0.5, -1], [-0.5, 0, -0.5], [-1, -0.5, 0]]
    assert (-bias[:, 1, 0]).tolist() == [2.0**-h for h in range(1, 9)]
    assert (-alibi_bias(16, 2)[:, 1, 0]).tolist() == pytest.approx(
        [2 ** (-h / 2) for h in range(1, 17)]
    )
    assert (-alibi_bias(1, 2)[:, 1, 0]).tolist() == [2.0**-8]


def test_alibi_for_other_numbers_of_heads_is_the_published_codes():
    # 3 heads: those of 2 heads, 2^-4 and 2^-8, then every second of 4 heads: 2^-2.
    assert (-alibi_bias(3, 2)[:, 1, 0]).tolist() == [2.0**-4, 2.0**-8, 2.0**-2]
    # 12 heads: those of 8 heads, then every second of 16 heads.
    expected = [2.0**-h for h in range(1, 9)] + [2 ** (-h / 2) for h in (1, 3, 5, 7)]
    assert (-alibi_bias(12, 2)[:, 1, 0]).tolist() == pytest.approx(expected)


def test_alibi_aligns_the_last_query_with_the_last_key():
    assert torch.equal(alibi_bias(3, 2, 5), alibi_bias(3, 5)[:, 3:])
    assert alibi_bias(2, 1, 3)[0].tolist() == [[-2 / 16, -1 / 16, 0]]


# Bad input.


@pytest.mark.parametrize("width", [1, 5, 7])
def test_widths_must_be_even(width):
    for name, make in (
        ("d_model", lambda: sinusoidal_encoding(3, width)),
        ("d_model", lambda: SinusoidalPositions(width)),
        ("d_k", lambda: RotaryEmbedding(width)),
    ):
        with pytest.raises(
            ValueError, match=rf"{name} must be even, .*; got {width}, use {width + 1}"
        ):
            make()


def test_settings_out_of_range():
    with pytest.raises(ValueError, match="'interleaved', 'half'; got 'llama'"):
        RotaryEmbedding(4, pairing="llama")
    for base in (0.0, -2.0, float("nan")):
        with pytest.raises(ValueError, match=rf"base must be positive, got {base}"):
            RotaryEmbedding(4, base=base)
    with pytest.raises(TypeError, match=r"scaling must be a RotaryScaling\(...\) or None, got 2.0"):
        RotaryEmbedding(4, scaling=2.0)
    with pytest.raises(ValueError, match="length must be at least 0, got -1"):
        sinusoidal_encoding(-1, 4)
    with pytest.raises(ValueError, match="d_model must be at least 1, got 0"):
        sinusoidal_encoding(3, 0)
    with pytest.raises(ValueError, match="num_heads must be at least 1, got 0"):
        alibi_bias(0, 3)
    with pytest.raises(ValueError, match="T must be at least 0, got -1"):
        alibi_bias(2, -1)
    for make in (lambda: sinusoidal_encoding(2.5, 4), lambda: alibi_bias(2, 2.5)):
        with pytest.raises(TypeError, match=r"must be an int, got 2\.5"):  # not three positions
            make()
    with pytest.raises(ValueError, match="max_len must be at least 1, got 0"):
        LearnedPositions(0, 4)


layers = pytest.mark.parametrize(
    "layer, shape",
    [
        (SinusoidalPositions(6), (2, 5, 6)),
        (LearnedPositions(7, 6), (2, 5, 6)),
        (RotaryEmbedding(6), (2, 3, 5, 6)),
    ],
    ids=lambda value: type(value).__name__,
)


@layers
def test_sequences_of_another_shape(layer, shape):
    for wrong in (shape[1:], (*shape[:-1], 8), (1, *shape)):
        with pytest.raises(ValueError) as raised:
            layer(torch.randn(wrong))
        assert "x must have shape (B, " in str(raised.value)
        assert "= 6, got " + str(wrong) in str(raised.value)
    with pytest.raises(TypeError, match=r"x must be a torch.Tensor, got list"):
        layer([1.0])
    with pytest.raises(TypeError, match=r"floating tensor, got torch.int64; embed token ids first"):
        layer(torch.ones(shape, dtype=torch.int64))


@layers
def test_positions_are_counted_on_from_the_start(layer, shape):
    x = torch.randn(shape)
    torch.testing.assert_close(layer(x, start=2), layer(x, torch.arange(2, 7)))
    assert not torch.equal(layer(x, start=2), layer(x))


@layers
def test_positions_of_another_shape_or_type(layer, shape):
    x = torch.randn(shape)
    layer(x, torch.arange(5)[None])
    for wrong in ((4,), (6,), (3, 5), (2, 4), (1,), ()):
        with pytest.raises(ValueError) as raised:
            layer(x, torch.zeros(wrong, dtype=torch.int64))
        assert "(T,) = (5,) or (B, T) = (2, 5), got " + str(wrong) in str(raised.value)
    for dtype in (torch.float32, torch.bool, torch.uint8):
        with pytest.raises(TypeError, match=f"positions must be int64 or int32, got {dtype}"):
            layer(x, torch.zeros(5, dtype=dtype))
    with pytest.raises(TypeError, match=r"positions must be a torch.Tensor, got range"):
        layer(x, range(5))
