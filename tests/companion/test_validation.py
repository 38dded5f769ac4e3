"""Bad input: each message says what came, what was expected and what to do."""

import pytest
import torch

from companion.nn import (
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    MultiHeadAttention,
    RotaryEmbedding,
    scaled_dot_product_attention,
)

LAYER = MultiHeadAttention(12, 3)
X, MEMORY = torch.randn(2, 5, 12), torch.randn(2, 7, 12)


def refused(error, call, *parts):
    """A call raises exactly this error, and its message holds all these parts."""
    with pytest.raises(error) as raised:
        call()
    assert raised.type is error
    for part in parts:
        assert part in str(raised.value)


# The function.


def tensors(q=(2, 5, 7), k=(2, 11, 7), v=(2, 11, 13)):
    return torch.randn(q), torch.randn(k), torch.randn(v)


def attend(*sizes, **kwargs):
    return lambda: scaled_dot_product_attention(*tensors(*sizes), **kwargs)


def test_shapes_that_do_not_fit_together():
    refused(ValueError, attend((2, 5, 6)), "same width d_k, got 6 and 7")
    refused(ValueError, attend((2, 5, 7), (2, 10, 7)), "same length S, got 10 and 11")
    refused(ValueError, attend((3, 5, 7)), "leading", "(3,), (2,) and (2,)", "expand()")
    refused(ValueError, attend((5, 7)), "(), (2,) and (2,)")
    refused(ValueError, attend((2, 5, 7), (1, 11, 7)), "(2,), (1,) and (2,)")
    refused(ValueError, attend((7,)), "query must have shape (..., length, width), got (7,)")


def test_types_that_are_no_numbers():
    query, key, value = tensors()
    both = ("same floating dtype", "torch.float32")
    for other in (torch.float64, torch.int64, torch.bool, torch.bfloat16):
        calls = (query.to(other), key, value), (query, key.to(other), value)
        for inputs in (*calls, (query, key, value.to(other))):
            refused(TypeError, lambda i=inputs: scaled_dot_product_attention(*i), *both, str(other))
    ids = query.long()
    refused(TypeError, lambda: scaled_dot_product_attention(ids, ids, ids), "torch.int64")
    for name, inputs in (
        ("query", ([[1.0]], key, value)),
        ("key", (ids, None, value)),
        ("value", (query, key, value.numpy())),
    ):
        message = f"{name} must be a torch.Tensor, got "
        refused(TypeError, lambda i=inputs: scaled_dot_product_attention(*i), message)


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5, float("nan")])
def test_a_probability_lies_between_0_and_1(p):
    refused(ValueError, attend(dropout_p=p), f"dropout_p must be in [0, 1), got {p}")
    for build in (
        lambda: MultiHeadAttention(12, 3, dropout=p),
        lambda: FeedForward(12, 7, dropout=p),
        lambda: EncoderBlock(12, 3, 7, dropout=p),
        lambda: DecoderBlock(12, 3, 7, dropout=p),
    ):
        refused(ValueError, build, f"dropout must be in [0, 1), got {p}")


# Masks and biases, in the function and in the layer.

both = pytest.mark.parametrize(
    "call, scores, sizes",
    [
        (lambda **terms: scaled_dot_product_attention(*tensors(), **terms), "(2, 5, 11)", (5, 11)),
        (lambda **terms: LAYER(X, MEMORY, **terms), "(2, 3, 5, 7)", (5, 7)),
        (lambda **terms: LAYER(X, MEMORY, need_weights=True, **terms), "(2, 3, 5, 7)", (5, 7)),
    ],
    ids=["function", "fused layer", "explicit layer"],
)


@both
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8])
def test_a_mask_must_be_boolean(call, scores, sizes, dtype):
    message = ("mask must be boolean", "'may attend'", f"got {dtype}", "mask == 1", "score_bias")
    refused(TypeError, lambda: call(mask=torch.ones(sizes, dtype=dtype)), *message)


@both
def test_a_mask_must_be_a_tensor(call, scores, sizes):
    for mask in ([[True]], True, torch.ones(sizes).bool().numpy()):
        refused(TypeError, lambda m=mask: call(mask=m), "mask must be a torch.Tensor, got ")
    refused(TypeError, lambda: call(score_bias=1.0), "score_bias must be a torch.Tensor, got float")


@both
@pytest.mark.parametrize("dtype", [torch.bool, torch.int64])
def test_a_bias_must_be_floating(call, scores, sizes, dtype):
    bias = torch.ones(sizes, dtype=dtype)
    message = f"score_bias must be floating, got {dtype}; is it a mask?"
    refused(TypeError, lambda: call(score_bias=bias), message)


@both
@pytest.mark.parametrize("name", ["mask", "score_bias"])
def test_a_mask_that_does_not_broadcast_or_would_enlarge_the_scores(call, scores, sizes, name):
    T, S = sizes
    for shape in ((T, S + 1), (T + 1, S), (S, T), (3, S), (T, 2), (0, S), (7, 1)):
        term = torch.ones(shape, dtype=torch.bool if name == "mask" else torch.float32)
        message = (f"{name} must broadcast", scores, "without enlarging", f"got shape {shape}")
        refused(ValueError, lambda t=term: call(**{name: t}), *message)
    call(**{name: torch.ones(1, S, dtype=torch.bool if name == "mask" else torch.float32)})


def test_more_dimensions_than_the_scores_have():
    mask = torch.ones(1, 1, 5, 7, dtype=torch.bool)
    refused(ValueError, attend(mask=mask[..., :1]), "(2, 5, 11)", "(1, 1, 5, 1)")
    refused(ValueError, lambda: LAYER(X, MEMORY, mask=mask[None]), "(1, 1, 1, 5, 7)")
    refused(ValueError, lambda: LAYER(X, MEMORY, score_bias=mask[None].float()), "score_bias")
    for shape in ((3, 1, 5, 7), (2, 2, 5, 7), (2, 6, 1, 1)):
        wrong = torch.ones(shape, dtype=torch.bool)
        refused(ValueError, lambda m=wrong: LAYER(X, MEMORY, mask=m), "(2, 3, 5, 7)", str(shape))
    one = torch.ones(2, 1, 1, 7, dtype=torch.bool)  # may not enlarge a batch of one
    refused(ValueError, lambda: LAYER(X[:1], MEMORY[:1], mask=one), "(1, 3, 5, 7)", "(2, 1, 1, 7)")


@pytest.mark.parametrize("shape", [(2, 5, 7), (3, 5, 7), (1, 5, 7), (7,), ()])
def test_the_layer_takes_masks_of_two_or_four_dimensions_only(shape):
    mask = torch.ones(shape, dtype=torch.bool)
    message = ("(T, S) or four dimensions (B, H, T, S)", f"got {shape}", "mask[:, None]")
    for need_weights in (False, True):
        refused(
            ValueError, lambda n=need_weights: LAYER(X, MEMORY, mask=mask, need_weights=n), *message
        )


# The layer's inputs.


def test_inputs_of_another_width_length_or_batch():
    refused(
        ValueError,
        lambda: LAYER(X[..., :6]),
        "query",
        "(B, T, d_model) with d_model = 12, got (2, 5, 6)",
    )
    refused(ValueError, lambda: LAYER(X, MEMORY[..., :6]), "key must have shape", "got (2, 7, 6)")
    refused(ValueError, lambda: LAYER(X, MEMORY, X[..., :6]), "value must have", "got (2, 5, 6)")
    refused(ValueError, lambda: LAYER(X[0]), "query must have", "got (5, 12)")
    refused(ValueError, lambda: LAYER(X, MEMORY, X), "same length, got 7 and 5")
    refused(ValueError, lambda: LAYER(X, MEMORY[:1]), "same batch size, got 2, 1 and 1")
    refused(ValueError, lambda: LAYER(X, X, X[:1]), "same batch size, got 2, 2 and 1")
    refused(ValueError, lambda: LAYER(X, value=MEMORY), "value was given without key", "give both")


def test_inputs_that_are_no_vectors():
    ids = torch.randint(9, (2, 5))
    block, feed_forward = EncoderBlock(12, 3, 7), FeedForward(12, 7)
    for call in (LAYER, block, feed_forward):
        refused(TypeError, lambda c=call: c(ids), "torch.int64; embed token ids first")
        refused(TypeError, lambda c=call: c([1.0]), "must be a torch.Tensor, got list")
    refused(ValueError, lambda: feed_forward(X[..., :6]), "x must have shape", "got (2, 5, 6)")
    mask = torch.ones(5, 5, dtype=torch.bool)  # in the place of the key
    refused(TypeError, lambda: LAYER(X, mask), "key must be a floating tensor, got torch.bool")


def test_positions_need_a_rope_in_self_attention():
    positions = torch.arange(5)
    message = ("positions only serve a rotary embedding", "rope=RotaryEmbedding(d_k)")
    refused(ValueError, lambda: LAYER(X, positions=positions), *message)
    turning = MultiHeadAttention(12, 3, rope=RotaryEmbedding(4))
    refused(ValueError, lambda: turning(X, MEMORY, positions=positions), "leave key and value out")
    refused(ValueError, lambda: turning(X, positions=torch.arange(6)), "(5,)", "(2, 5)", "(6,)")
    refused(TypeError, lambda: turning(X, positions=positions.float()), "got torch.float32")
    turning(X, positions=positions)


def test_a_decoder_block_names_what_is_wrong_with_its_memory():
    block = DecoderBlock(12, 3, 7)
    refused(ValueError, lambda: block(X, MEMORY[:1]), "batch size, got 2, 1 and 1")
    refused(ValueError, lambda: block(X, MEMORY[..., :6]), "key must have", "got (2, 7, 6)")
    wrong = torch.ones(5, 5, dtype=torch.bool)
    refused(ValueError, lambda: block(X, MEMORY, memory_mask=wrong), "(2, 3, 5, 7)", "(5, 5)")
    with pytest.raises(TypeError, match="memory"):
        block(X)


# Constructors.


def test_heads_that_do_not_divide():
    for build in (
        lambda: MultiHeadAttention(12, 5),
        lambda: MultiHeadAttention(12, 5, d_k=3),
        lambda: MultiHeadAttention(12, 5, d_v=3),
        lambda: EncoderBlock(12, 5, 7),
        lambda: DecoderBlock(12, 5, 7),
    ):
        refused(ValueError, build, "d_model = 12 does not divide into num_heads = 5", "d_k and d_v")
    MultiHeadAttention(12, 5, d_k=3, d_v=2)
    for build in (
        lambda: MultiHeadAttention(12, 6, num_kv_heads=4),
        lambda: EncoderBlock(12, 6, 7, num_kv_heads=4),
        lambda: MultiHeadAttention(12, 6, num_kv_heads=12),
    ):
        refused(ValueError, build, "num_heads = 6 must be a multiple of num_kv_heads =")


def test_a_rope_of_another_width():
    message = "rope turns vectors of width 6, but d_k = 4"
    refused(ValueError, lambda: MultiHeadAttention(12, 3, rope=RotaryEmbedding(6)), message)
    refused(ValueError, lambda: EncoderBlock(12, 3, 7, rope=RotaryEmbedding(6)), message)
    MultiHeadAttention(12, 3, d_k=6, rope=RotaryEmbedding(6))


def test_names_that_nobody_knows():
    listed = "'relu', 'gelu', 'gelu_tanh', 'swiglu'; got 'silu'"
    refused(ValueError, lambda: FeedForward(12, 7, activation="silu"), "activation must be", listed)
    for block_type in (EncoderBlock, DecoderBlock):
        refused(ValueError, lambda b=block_type: b(12, 3, 7, activation="silu"), listed)
        refused(
            ValueError,
            lambda b=block_type: b(12, 3, 7, norm="batch"),
            "norm must be one of 'layer', 'rms'; got 'batch'",
        )


@pytest.mark.parametrize("name", ["d_model", "num_heads", "num_kv_heads", "d_k", "d_v", "d_ff"])
def test_sizes_must_be_whole_and_positive(name):
    def build(size):
        if name == "d_ff":
            return FeedForward(12, size)
        return MultiHeadAttention(**({"d_model": 12, "num_heads": 3} | {name: size}))

    for size in (0, -3):
        refused(ValueError, lambda s=size: build(s), f"{name} must be at least 1, got {size}")
    for size in (4.0, "4", True):
        said = f"{name} must be an int, got {size!r}, a {type(size).__name__}"
        refused(TypeError, lambda s=size: build(s), said)


def test_constructors_print_nothing(capsys):
    MultiHeadAttention(12, 3), EncoderBlock(12, 3, 7), DecoderBlock(12, 3, 7)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
