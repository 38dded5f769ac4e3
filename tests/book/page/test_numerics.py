"""Transformer blocks as live figures compute them, held to PyTorch in float64.

No figure is drawn: the mathematics of `kit/numerics.js` runs in Chromium on random weights that
float16 holds exactly. Every size is another prime, but for d_model, the heads' widths together.
"""

import pytest
import torch
from torch import nn

from book.page.weights import packed_parameters
from companion.generation import next_token_probabilities
from companion.nn import DecoderBlock, EncoderBlock, FeedForward, sinusoidal_encoding
from tests.book.reading import close, globally, randomised

pytestmark = pytest.mark.browser

NUMERICS = globally(
    "numerics.js", "networks.js", "sinusoids.js", "packed.js", "online_softmax.js", "sampling.js"
)
T, S, HEADS, D_MODEL, D_FF = 7, 13, 3, 15, 11
ACTIVATIONS = ("relu", "gelu", "gelu_tanh")
HOLES = "(i, j) => (i * j) % 5 !== 3"  # what may be attended to, after no simple pattern


@pytest.fixture
def compute(browser):
    """`compute(expression, **names)` -> what numerics.js makes of it, on a page of its own."""
    page = browser.new_page()

    def compute(expression: str, **names):
        script = f"names => {{ {NUMERICS}\n const {{ {', '.join(names)} }} = names;"
        return page.evaluate(f"{script} return {expression}; }}", names)

    yield compute
    page.close()


def sequence(length: int) -> torch.Tensor:
    random = torch.Generator().manual_seed(length)
    return torch.randn(1, length, D_MODEL, generator=random, dtype=torch.float64)


def holes(length: int) -> torch.Tensor:
    i, j = torch.arange(T)[:, None], torch.arange(length)
    return i * j % 5 != 3


def same(found: list, expected: torch.Tensor) -> None:
    close(torch.tensor(found, dtype=torch.float64).flatten(), expected, 1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_are_exact_over_the_whole_range(compute, activation):
    x = torch.cat([torch.linspace(-9, 9, 1801, dtype=torch.float64), torch.tensor([-60.0, 60.0])])
    found = compute("x.map(ACTIVATIONS[activation])", x=x.tolist(), activation=activation)
    same(found, FeedForward(2, 2, activation=activation).activation(x))


@pytest.mark.parametrize(
    "temperature, top_k, top_p", [(1, 99, 1), (0, 99, 1), (0.5, 3, 1), (2, 99, 0.6), (0.7, 7, 0.8)]
)
def test_next_token(compute, temperature, top_k, top_p):
    logits = sequence(T)[0, 0]
    how = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    found = compute("nextToken(logits, how, 99)", logits=logits.tolist(), how=how)
    expected = next_token_probabilities(logits[None], **how)[0]
    same(found["probabilities"], expected)
    assert found["order"] == logits.argsort(descending=True).tolist()
    assert sorted(found["kept"]) == expected.nonzero()[:, 0].tolist()


@pytest.mark.parametrize("bias", [True, False])
def test_layer_norm(compute, bias):
    norm = randomised(nn.LayerNorm(D_MODEL, eps=0.01, bias=bias))
    weights = packed_parameters(nn.ModuleDict({"norm": norm}))
    x = sequence(T)
    found = compute(
        "layerNorm(unpackAll(weights), 'norm', x, 0.01)", weights=weights, x=x[0].tolist()
    )
    same(found, norm(x))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_block(compute, norm_first, activation):
    block = EncoderBlock(
        D_MODEL, HEADS, D_FF, norm_first=norm_first, activation=activation, norm_eps=0.01
    )
    stack = nn.ModuleDict({"blocks": nn.ModuleList([EncoderBlock(2, 1, 2), randomised(block)])})
    x = sequence(T)
    found = compute(
        "encoderBlock(unpackAll(weights), 'blocks.1', x,"
        f" {{ numHeads, normFirst, activation, eps: 0.01, allowed: {HOLES} }})",
        weights=packed_parameters(stack),
        x=x[0].tolist(),
        numHeads=HEADS,
        normFirst=norm_first,
        activation=activation,
    )
    output, attention = block(x, holes(T), need_weights=True)
    same(found["output"], output)
    same(found["weights"], attention)
    seen = {}
    block.self_attention.register_forward_hook(lambda *call: seen.update(attended=call[2][0]))
    block.feed_forward.register_forward_hook(lambda *call: seen.update(fed=call[2]))
    block(x, holes(T))
    middle = x + seen["attended"]
    same(found["middle"], middle if norm_first else block.norm1(middle))
    for name, expected in seen.items():
        same(found[name], expected)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_decoder_block(compute, norm_first, activation, masked):
    block = randomised(
        DecoderBlock(
            D_MODEL, HEADS, D_FF, norm_first=norm_first, activation=activation, norm_eps=0.01
        )
    )
    masks = f", allowed: {HOLES}, memoryAllowed: {HOLES}" if masked else ""
    x, memory = sequence(T), sequence(S)
    found = compute(
        "decoderBlock(unpackAll(weights), 'decoder', x, memory,"
        f" {{ numHeads, normFirst, activation, eps: 0.01{masks} }})",
        weights=packed_parameters(nn.ModuleDict({"decoder": block})),
        x=x[0].tolist(),
        memory=memory[0].tolist(),
        numHeads=HEADS,
        normFirst=norm_first,
        activation=activation,
    )
    given = (holes(T), holes(S)) if masked else ()
    output, attention, cross = block(x, memory, *given, is_causal=not masked, need_weights=True)
    same(found["output"], output)
    same(found["weights"], attention)
    same(found["crossWeights"], cross)


def test_defaults_are_those_of_the_blocks(compute):
    block = randomised(EncoderBlock(D_MODEL, HEADS, D_FF))
    x = sequence(T)
    found = compute(
        "encoderBlock(unpackAll(weights), 'block', x, { numHeads: 3 }).output",
        weights=packed_parameters(nn.ModuleDict({"block": block})),
        x=x[0].tolist(),
    )
    same(found, block(x))


def test_blocks_stand_on_one_another(compute):
    blocks = nn.ModuleList(randomised(EncoderBlock(D_MODEL, HEADS, D_FF)) for _ in range(3))
    x = sequence(T)
    found = compute(
        "encoderBlocks(unpackAll(weights), 'blocks', 3, x, { numHeads: 3 }).map((b) => b.output)",
        weights=packed_parameters(nn.ModuleDict({"blocks": blocks})),
        x=x[0].tolist(),
    )
    for output, block in zip(found, blocks, strict=True):
        x = block(x)
        same(output, x)


def test_sinusoids(compute):
    found = compute("[0, 1, 50].map((position) => sinusoid(position, 6))")
    same(found, sinusoidal_encoding(51, 6, dtype=torch.float64)[[0, 1, 50]])


def test_tied_logits_order_and_mean(compute):
    rows = sequence(T)[0]
    same(compute("tiedLogits(rows, rows[2])", rows=rows.tolist()), rows @ rows[2])
    order = compute("descending(row)", row=rows[0].tolist())
    assert order == rows[0].argsort(descending=True).tolist()
    assert compute("argmax(row)", row=rows[0].tolist()) == order[0]
    assert compute("argmax([2, 5, 5])") == 1  # the first of equals, as torch
    heads = torch.stack([rows, 2 * rows, sequence(S)[0, :T]])
    same(compute("meanOf(heads)", heads=heads.tolist()), heads.mean(0))


def test_a_tied_matrix_is_packed_once():
    model = nn.ModuleDict({"table": nn.Embedding(7, 3), "head": nn.Linear(3, 7, bias=False)})
    model["head"].weight = model["table"].weight
    assert set(packed_parameters(model)) == {"table.weight"}
