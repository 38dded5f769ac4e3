"""What must hold for every model: causality, padding, weights, caches, choices that compose."""

import copy
import itertools
import pickle

import pytest
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim

from companion.models import (
    BERT,
    GPT,
    BERTConfig,
    Forecaster,
    ForecasterConfig,
    GPTConfig,
    Transformer,
    TransformerConfig,
    ViT,
    ViTConfig,
)
from companion.nn import KVCache, attention, causal_mask, padding_mask
from tests.companion.test_validation import refused

SIZES = {"vocab_size": 17, "d_model": 12, "num_layers": 2, "num_heads": 6, "d_ff": 7, "max_len": 19}
GPTS = {
    "learned": {},
    "rotary": {"positions": "rotary"},
    "llama": {
        "positions": "rotary",
        "rope_pairing": "half",
        "norm": "rms",
        "activation": "swiglu",
        "bias": False,
        "tie_weights": False,
        "num_kv_heads": 2,
    },
}
gpts = pytest.mark.parametrize("changes", GPTS.values(), ids=GPTS)
norm_orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post", "pre"])


def ready(model):
    """In float64 and eval mode, with every parameter random."""
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model.double().eval()


def gpt(**changes):
    return ready(GPT(GPTConfig(**SIZES | changes)))


def bert(**changes):
    return ready(BERT(BERTConfig(**SIZES | changes)))


def transformer(**changes):
    return ready(Transformer(TransformerConfig(**SIZES | changes)))


def ids(*shape):
    """Random tokens, none of them padding."""
    return torch.randint(3, 17, shape)


def changed(token_ids, *where):
    """A copy with other tokens there, none of them padding."""
    other = token_ids.clone()
    other[where] = (other[where] - 3 + 5) % 14 + 3
    return other


def padded(token_ids, left=0, right=0):
    return torch.nn.functional.pad(token_ids, (left, right))


def differ(a, b):
    return (a - b).abs().max() > 1e-3


# Causality.


@gpts
@norm_orders
def test_a_gpt_does_not_look_ahead(changes, norm_first):
    model, token_ids = gpt(**changes, norm_first=norm_first), ids(3, 11)
    logits = model(token_ids)
    for t in (1, 5, 10):
        other = model(changed(token_ids, slice(None), slice(t, None)))
        torch.testing.assert_close(other[:, :t], logits[:, :t])
        assert differ(other[:, t], logits[:, t])


@norm_orders
def test_a_transformers_decoder_does_not_look_ahead(norm_first):
    model, source, target = transformer(norm_first=norm_first), ids(3, 7), ids(3, 11)
    logits = model(source, target)
    for t in (1, 5, 10):
        other = model(source, changed(target, slice(None), slice(t, None)))
        torch.testing.assert_close(other[:, :t], logits[:, :t])
        assert differ(other[:, t], logits[:, t])


@norm_orders
def test_a_bert_and_an_encoder_see_every_token_from_everywhere(norm_first):
    token_ids = ids(2, 7)
    for model in (bert(norm_first=norm_first), transformer(norm_first=norm_first)):
        hidden = model.encode(token_ids)
        for t in (0, 3, 6):
            other = model.encode(changed(token_ids, slice(None), t))
            assert ((other - hidden).abs().amax(dim=(0, 2)) > 1e-3).all()


# Padding.


def test_padding_moves_nothing_in_a_bert():
    model, short, long = bert(), ids(1, 5), ids(1, 11)
    batch = torch.cat([padded(short, right=6), long])
    logits = model(batch)
    torch.testing.assert_close(logits[:1, :5], model(short))
    torch.testing.assert_close(logits[1:], model(long))
    everything = torch.ones(1, 1, 1, 11, dtype=torch.bool)
    assert differ(model(batch, everything)[:1, :5], model(short))


@norm_orders
def test_padding_of_source_or_target_moves_nothing_in_a_transformer(norm_first):
    model = transformer(norm_first=norm_first)
    source, target = ids(1, 5), ids(1, 7)
    long_source, long_target = ids(1, 11), ids(1, 13)
    expected = model(source, target)
    torch.testing.assert_close(model(padded(source, right=3), target), expected)
    torch.testing.assert_close(model(source, padded(target, right=3))[:, :7], expected)
    sources = torch.cat([padded(source, right=6), long_source])
    targets = torch.cat([padded(target, right=6), long_target])
    logits = model(sources, targets)
    torch.testing.assert_close(logits[:1, :7], expected)
    torch.testing.assert_close(logits[1:], model(long_source, long_target))


@gpts
def test_padding_moves_nothing_in_a_gpt(changes):
    model, short, long = gpt(**changes), ids(1, 5), ids(1, 11)
    expected = model(short)
    right = torch.cat([padded(short, right=6), long])
    torch.testing.assert_close(model(right)[:1, :5], expected)
    left = torch.cat([padded(short, left=6), long])
    mask = padding_mask(left, 0)
    positions = torch.stack([(torch.arange(11) - 6).clamp(min=0), torch.arange(11)])
    logits = model(left, mask, positions=positions)
    torch.testing.assert_close(logits[:1, 6:], expected)
    torch.testing.assert_close(logits[1:], model(long))
    assert differ(model(left, positions=positions)[:1, 6:], expected)


def test_the_padding_token_is_the_configurations():
    for pad_id in (0, 7):
        model, token_ids = bert(pad_id=pad_id), torch.tensor([[3, 4, 5, 6, 8], [9, 3, 0, 4, 5]])
        token_ids[1, 2] = pad_id
        _, weights = model(token_ids, need_weights=True)
        assert (weights[0][1, :, :, 2] == 0).all()
        assert (weights[0].sum(dim=(1, 2)) == 0).sum() == 1  # and nothing else is masked
        model = transformer(pad_id=pad_id)
        _, weights = model(token_ids, token_ids, need_weights=True)
        for kind in ("encoder", "decoder", "cross"):
            assert (weights[kind][1][1, :, :, 2] == 0).all()


# The source.


@norm_orders
def test_the_source_matters_and_so_does_its_order(norm_first):
    model, source, target = transformer(norm_first=norm_first), ids(3, 7), ids(3, 11)
    logits = model(source, target)
    assert differ(model(changed(source, slice(None), 3), target), logits)
    swapped = source.clone()
    swapped[:, 0] = 5
    swapped[:, 6] = 9
    back = swapped.clone()
    back[:, 0] = 9
    back[:, 6] = 5
    assert differ(model(swapped, target), model(back, target))


def test_order_matters_in_gpt_and_bert():
    there, back = torch.tensor([[5, 7, 9, 3]]), torch.tensor([[7, 5, 9, 3]])
    for model in (gpt(), gpt(positions="rotary"), bert()):
        assert not torch.allclose(model(there)[:, 3], model(back)[:, 3])


# Weights: none changes the logits, and they are those of the fused computation.


def inputs_of_attention(model, call):
    """(layer, query, key) of every attention that the call goes through, in order."""
    seen = []

    def note(layer, args, kwargs):
        seen.append((layer, args[0], args[1] if len(args) > 1 else args[0]))

    hooks = [
        module.register_forward_pre_hook(note, with_kwargs=True)
        for name, module in model.named_modules()
        if name.endswith("attention")
    ]
    call()
    for hook in hooks:
        hook.remove()
    return seen


def by_hand(layer, query, key, mask):
    """softmax(Q K^T / sqrt(d_k)) with the masked scores left out."""
    q = layer.q_proj(query).unflatten(2, (layer.num_heads, -1)).transpose(1, 2)
    k = layer.k_proj(key).unflatten(2, (layer.num_kv_heads, -1)).transpose(1, 2)
    if layer.rope is not None:
        q, k = layer.rope(q), layer.rope(k)
    k = k.repeat_interleave(layer.num_heads // layer.num_kv_heads, dim=1)
    e = (q @ k.transpose(2, 3) / layer.d_k**0.5).exp() * mask
    return e / e.sum(dim=-1, keepdim=True)


@gpts
def test_a_gpts_weights_belong_to_its_logits(changes):
    model, token_ids = gpt(**changes), ids(2, 7)
    mask = torch.rand(2, 1, 7, 7) < 0.6
    mask |= torch.eye(7, dtype=torch.bool)
    seen = inputs_of_attention(model, lambda: model(token_ids, mask))
    logits, weights = model(token_ids, mask, need_weights=True)
    torch.testing.assert_close(logits, model(token_ids, mask))
    assert len(weights) == len(seen) == 2
    for found, (layer, query, key) in zip(weights, seen, strict=True):
        torch.testing.assert_close(found, by_hand(layer, query, key, mask & causal_mask(7)))


def test_a_berts_weights_belong_to_its_logits():
    model, token_ids = bert(), ids(2, 7)
    token_ids[1, 4:] = 0
    seen = inputs_of_attention(model, lambda: model(token_ids))
    logits, weights = model(token_ids, need_weights=True)
    torch.testing.assert_close(logits, model(token_ids))
    hidden, of_hidden = model.encode(token_ids, need_weights=True)
    torch.testing.assert_close(hidden, model.encode(token_ids))
    assert len(weights) == len(of_hidden) == len(seen) == 2
    for found, again, (layer, query, key) in zip(weights, of_hidden, seen, strict=True):
        torch.testing.assert_close(found, by_hand(layer, query, key, padding_mask(token_ids, 0)))
        torch.testing.assert_close(again, found)


@norm_orders
def test_a_transformers_weights_belong_to_its_logits(norm_first):
    model, source, target = transformer(norm_first=norm_first), ids(2, 5), ids(2, 7)
    source[1, 3:], target[1, 4:] = 0, 0
    seen = inputs_of_attention(model, lambda: model(source, target))
    logits, weights = model(source, target, need_weights=True)
    torch.testing.assert_close(logits, model(source, target))
    assert weights.keys() == {"encoder", "decoder", "cross"}
    in_order = weights["encoder"] + [
        w for both in zip(weights["decoder"], weights["cross"], strict=True) for w in both
    ]
    over_source, over_target = padding_mask(source, 0), padding_mask(target, 0) & causal_mask(7)
    masks = [over_source] * 2 + [over_target, over_source] * 2
    assert len(in_order) == len(seen) == 6
    for found, mask, (layer, query, key) in zip(in_order, masks, seen, strict=True):
        torch.testing.assert_close(found, by_hand(layer, query, key, mask))


# Caches.


@gpts
def test_a_gpt_counts_on_from_its_caches(changes):
    model, token_ids = gpt(**changes), ids(2, 11)
    logits, caches = model(token_ids), [KVCache() for _ in model.blocks]
    for start, stop in ((0, 3), (3, 4), (4, 4), (4, 11)):
        found, weights = model(token_ids[:, start:stop], caches=caches, need_weights=True)
        torch.testing.assert_close(found, logits[:, start:stop])
        assert weights[1].shape == (2, 6, stop - start, stop)


@gpts
@pytest.mark.parametrize("window", [None, 3])
def test_a_gpt_counts_on_from_caches_of_fixed_size(changes, window):
    model, token_ids = gpt(**changes, sliding_window=window), ids(2, 11)
    mask = padding_mask(token_ids, 3)
    wide = F.pad(mask, (0, 4), value=True)
    with torch.no_grad():
        logits, caches = model(token_ids, mask), [KVCache(capacity=15) for _ in model.blocks]
        for start, stop in ((0, 3), (3, 4), (4, 11)):
            found = model(token_ids[:, start:stop], wide, caches=caches)
            torch.testing.assert_close(found, logits[:, start:stop])


def test_rotations_and_masks_are_made_once_for_all_blocks(monkeypatch):
    made = []
    plain = torch.Tensor.cos
    monkeypatch.setattr(torch.Tensor, "cos", lambda x: made.append("cos") or plain(x))
    monkeypatch.setattr(attention, "causal_mask", lambda *_, **__: made.append("mask"))
    llama, translator, token_ids = gpt(**GPTS["llama"]), transformer(), ids(2, 7)
    mask = padding_mask(token_ids, 0)
    llama(token_ids, mask)
    assert made == ["cos"]
    caches = [KVCache() for _ in llama.blocks]
    for start, stop in ((0, 4), (4, 7)):
        llama(token_ids[:, start:stop], caches=caches)
    assert made == ["cos"] * 3
    translator(token_ids, token_ids)  # two sums with sinusoids
    assert made == ["cos"] * 5


@norm_orders
def test_a_transformer_decodes_what_its_caches_do_not_hold(norm_first):
    model, source, target = transformer(norm_first=norm_first), ids(2, 5), ids(2, 11)
    source[1, 3:], target[1, 6] = 0, 0
    logits, memory = model(source, target), model.encode(source)
    caches, done = [KVCache(), KVCache()], 0
    for stop in (1, 2, 7, 11):
        found, weights = model.decode(
            target[:, :stop], memory, source, caches=caches, need_weights=True
        )
        torch.testing.assert_close(found, logits[:, done:stop])
        assert weights["decoder"][1].shape == (2, 6, stop - done, stop)
        assert weights["cross"][1].shape == (2, 6, stop - done, 5)
        done = stop
    assert caches[0].memory.length == 5


def test_a_memory_is_projected_once():
    model, source, target = transformer(), ids(2, 5), ids(2, 3)
    memory, caches = model.encode(source), [KVCache(), KVCache()]
    logits = model.decode(target, memory, source)[:, 1:]
    model.decode(target[:, :1], memory, source, caches=caches)
    nothing = torch.zeros_like(memory)  # the memory itself is not looked at any more
    again = model.decode(target, nothing, source, caches=caches)
    torch.testing.assert_close(again, logits)
    assert differ(model.decode(target, nothing, source)[:, 1:], logits)


def test_caches_that_do_not_fit_are_refused():
    model, token_ids = gpt(), ids(2, 5)
    with pytest.raises(ValueError, match="each of the 2 blocks, got 1, 1 of"):
        model(token_ids, caches=[KVCache()])
    with pytest.raises(TypeError, match=r"list of KVCache\(\), got \[\(\), \(\)\]"):
        model(token_ids, caches=[(), ()])
    with pytest.raises(TypeError, match=r"list of KVCache\(\), got <.*KVCache"):
        model(token_ids, caches=KVCache())
    with pytest.raises(ValueError, match="got 2, 1 of them different"):
        model(token_ids, caches=[KVCache()] * 2)
    model, source = transformer(), ids(2, 7)
    memory = model.encode(source)
    caches = [KVCache(), KVCache()]
    model.decode(token_ids, memory, source, caches=caches)
    with pytest.raises(ValueError, match="length 7, but key has length 5"):
        model.decode(token_ids, memory[:, :5], source[:, :5], caches=caches)
    with pytest.raises(ValueError, match="hold 5 tokens, but target_ids has 1; give the whole"):
        model.decode(token_ids[:, -1:], memory, source, caches=caches)
    fixed = [KVCache(capacity=9), KVCache(capacity=9)]
    with pytest.raises(ValueError, match=r"grow with the target .*capacity=9"):
        model.decode(token_ids, memory, source, caches=fixed)


@pytest.mark.parametrize("capacity", [None, 9])
def test_caches_that_an_error_left_between_two_blocks_are_refused(capacity):
    model, token_ids = gpt(positions="rotary"), ids(2, 5)
    caches = [KVCache(capacity) for _ in model.blocks]
    with torch.no_grad():
        model(token_ids[:, :4], caches=caches)
        hook = model.blocks[1].register_forward_pre_hook(lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model(token_ids[:, 4:], caches=caches)
        hook.remove()
        with pytest.raises(ValueError, match=r"numbers of tokens, got 5, 4; .* begin again"):
            model(token_ids[:, 4:], caches=caches)


def test_a_memory_that_does_not_fit_is_refused():
    model, source, target = transformer(), ids(2, 7), ids(2, 5)
    memory = model.encode(source)
    with pytest.raises(TypeError, match=r"memory must be a torch\.Tensor, got NoneType"):
        model.decode(target, None, source)
    with pytest.raises(ValueError, match=r"memory must have shape \(B, S, d_model\)"):
        model.decode(target, memory[..., :3], source)
    for wrong in ((target[:1], memory, source), (target, memory[:, :3], source)):
        with pytest.raises(ValueError, match="must agree in batch and source length, got"):
            model.decode(*wrong)
    with pytest.raises(ValueError, match="must agree in batch and source length, got"):
        model(source[:1], target)


# Choices compose.

CHOICES = list(
    itertools.product(
        (False, True), ("layer", "rms"), ("relu", "swiglu"), ("learned", "rotary"), (1, 3, 6)
    )
)


def every_parameter_learns(model, logits):
    logits.log_softmax(-1)[..., 3].sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        if not name.endswith("k_proj.bias"):  # adding a vector to all keys changes no weight
            assert parameter.grad.abs().max() > 1e-9, name


@pytest.mark.parametrize("choices", CHOICES, ids=lambda choices: "-".join(map(str, choices)))
def test_choices_compose_in_a_gpt(choices):
    names = ("norm_first", "norm", "activation", "positions", "num_kv_heads")
    model, token_ids = gpt(**dict(zip(names, choices, strict=True))), ids(2, 7)
    logits, weights = model(token_ids, need_weights=True)
    torch.testing.assert_close(model(token_ids), logits)
    caches = [KVCache() for _ in model.blocks]
    cached = [model(token_ids[:, t : t + 1], caches=caches) for t in range(7)]
    torch.testing.assert_close(torch.cat(cached, dim=1), logits)
    assert caches[0].key.shape == (2, choices[-1], 7, 2)
    assert (weights[1].triu(1) == 0).all()
    every_parameter_learns(model, logits)


@pytest.mark.parametrize("family", [bert, transformer])
@norm_orders
@pytest.mark.parametrize("norm", ["layer", "rms"])
@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "swiglu"])
@pytest.mark.parametrize("bias", [True, False])
def test_choices_compose_in_bert_and_transformer(family, norm_first, norm, activation, bias):
    choices = {"norm_first": norm_first, "norm": norm, "activation": activation, "bias": bias}
    model = family(**choices, d_k=3, d_v=5)
    inputs = (ids(2, 7),) if family is bert else (ids(2, 7), ids(2, 5))
    logits, _ = model(*inputs, need_weights=True)
    torch.testing.assert_close(model(*inputs), logits)
    every_parameter_learns(model, logits)


# Copies, precision, devices, compilation.


def examples(**changes):
    return (
        (gpt(**changes), (ids(2, 7),)),
        (gpt(**GPTS["llama"] | changes), (ids(2, 7),)),
        (bert(**changes), (ids(2, 7),)),
        (bert(mlm_head=False, **changes), (ids(2, 7),)),
        (transformer(**changes), (ids(2, 7), ids(2, 5))),
    )


def test_copies_give_the_same_logits_and_keep_what_is_tied():
    for model, inputs in examples():
        logits = model(*inputs)
        again = type(model)(model.config).double().eval()
        again.load_state_dict(model.state_dict())
        for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), again):
            torch.testing.assert_close(twin(*inputs), logits, rtol=0, atol=0)
            assert len(list(twin.parameters())) == len(list(model.parameters()))


def test_one_matrix_embeds_and_makes_the_logits():
    for model in (gpt(), transformer()):
        assert model.head.weight is model.token_embedding.weight
    model = bert()
    assert model.head.decoder.weight is model.token_embedding.weight


def test_dropout_acts_in_training_only():
    for model, inputs in examples():
        assert torch.equal(model(*inputs), model(*inputs))
        model.train()
        assert differ(model(*inputs), model(*inputs))


def test_half_precision_gives_nearly_the_same_logits():
    for model, inputs in examples():
        expected = model(*inputs)
        close = {"rtol": 0.05, "atol": 0.05 * expected.abs().max().item(), "check_dtype": False}
        model = model.float()
        with torch.autocast("cpu", torch.bfloat16):
            torch.testing.assert_close(model(*inputs), expected, **close)
        model = model.to(torch.bfloat16)
        logits, _ = model(*inputs, need_weights=True)
        assert logits.dtype == torch.bfloat16
        torch.testing.assert_close(logits, expected, **close)


def test_models_are_built_and_run_on_the_meta_device():
    with torch.device("meta"):
        for config_type, model_type in ((GPTConfig, GPT), (BERTConfig, BERT)):
            model = model_type(config_type(**SIZES))
            assert model(torch.empty(2, 5, dtype=torch.int64)).shape == (2, 5, 17)
        model = Transformer(TransformerConfig(**SIZES))
        source, target = torch.empty(2, 7, dtype=torch.int64), torch.empty(2, 5, dtype=torch.int64)
        logits = model(source, target)
        assert logits.shape == (2, 5, 17) and logits.is_meta


def exported_examples(windows=(3, 5, 13)):
    """Every kind of model, of one layer, inputs, which sizes are open, and inputs of others.

    Sliding windows are shorter than the four and seven tokens, between them, and longer.
    """
    lengths = Dim("T", max=19), Dim("S", max=19)
    # The two others have no part that these have not.
    _, llama, mlm, _, translator = examples(num_layers=1)
    sliding = ((gpt(num_layers=1, sliding_window=n), (ids(2, 7),)) for n in windows)
    for model, inputs in (llama, mlm, translator, *sliding):
        sizes = tuple({0: Dim("B", max=9), 1: length} for length in lengths[: len(inputs)])
        yield model, inputs, sizes, tuple(ids(3, 4 + i) for i in range(len(inputs)))
    small = {"d_model": 12, "num_layers": 1, "num_heads": 3, "d_ff": 7, "dropout": 0.0}
    vit = ViT(ViTConfig(**small, image_size=8, patch_size=4, channels=1, num_classes=3))
    sight = {"features": 2, "window": 6, "horizon": 3, "patch_size": 3, "step_scale": 1.0}
    for model, shape in (
        (vit, (1, 8, 8)),
        (Forecaster(ForecasterConfig(**small, **sight)), (6, 2)),
    ):
        batches = ((torch.randn(size, *shape).double(),) for size in (2, 3))
        inputs, others = batches
        yield model.double().eval(), inputs, ({0: Dim("B", max=9)},), others


@pytest.mark.long
def test_a_compiled_model_is_one_graph_and_gives_the_same():
    for model, inputs, _, _ in exported_examples():
        compiled = torch.compile(model, backend="eager", fullgraph=True)
        torch.testing.assert_close(compiled(*inputs), model(*inputs))


@pytest.mark.long
def test_an_exported_model_takes_other_sizes():
    for model, inputs, sizes, others in exported_examples():
        exported = torch.export.export(model, inputs, dynamic_shapes=sizes).module()
        torch.testing.assert_close(exported(*others), model(*others))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning", "ignore:# The axis name")
def test_an_onnx_model_takes_other_sizes():
    for model, inputs, sizes, others in exported_examples(windows=()):
        model.float()  # the runtime has no convolution in float64
        inputs, others = (
            tuple(x.float() if x.is_floating_point() else x for x in given)
            for given in (inputs, others)
        )
        program = torch.onnx.export(model, inputs, dynamic_shapes=sizes, dynamo=True, verbose=False)
        (found,) = program(*others)
        torch.testing.assert_close(found, model(*others), rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings(
    "ignore:There is a performance drop",
    "ignore::torch.jit.TracerWarning",
    "ignore:.*torch.jit.trace",
)
def test_models_are_mapped_over_examples_and_traced():
    """What asks no tensor for its values can be: per-example gradients, fake tensors, jit."""
    for model, inputs in examples():
        alone = torch.func.vmap(lambda *one, m=model: m(*(x[None] for x in one))[0])(*inputs)
        torch.testing.assert_close(alone, model(*inputs))
        with FakeTensorMode(allow_non_fake_inputs=True) as fake:
            fakes = [fake.from_tensor(x) for x in inputs]
            assert model(*fakes).shape[:2] == inputs[-1].shape
        traced = torch.jit.trace(model, inputs, check_trace=False)
        torch.testing.assert_close(traced(*inputs), model(*inputs))


@pytest.mark.parametrize("length", [5, 1])
def test_an_empty_batch(length):
    for model, inputs in examples():
        output = model(*(token_ids[:0, :length] for token_ids in inputs))
        assert output.shape[:2] == (0, length)


# Bad input.


def test_ids_out_of_range_are_refused():
    good, high, low = ids(2, 5), ids(2, 5), ids(2, 5)
    high[1, 2], low[0, 4] = 17, -1
    for bad, got in ((high, "17"), (low, "-1")):
        for call in (gpt(), bert(), bert().encode, transformer().encode):
            refused(ValueError, lambda c=call, b=bad: c(b), "[0, 17)", got, "tokenizer")
        refused(ValueError, lambda b=bad: transformer()(b, good), "[0, 17)", got)
        refused(ValueError, lambda b=bad: transformer()(good, b), "[0, 17)", got)
    refused(
        ValueError, lambda: bert()(good, None, good), "token_types", "[0, 2)", "type_vocab_size"
    )


def test_a_mask_of_numbers_is_refused_in_words_of_the_model():
    for model in (gpt(), bert()):
        with pytest.raises(TypeError, match=r"mask == 1 .* score_bias, which attentions"):
            model(ids(2, 5), torch.ones(5, 5))
        with pytest.raises(
            TypeError, match=r"mask == 1 .* \(B, S\) becomes mask\[:, None, None, :\]"
        ):
            model(ids(2, 5), torch.ones(2, 5))


def test_a_padding_mask_of_two_dimensions_is_told_what_to_become():
    hint = "a padding mask (B, S) becomes mask[:, None, None, :]"
    real = torch.ones(2, 5, dtype=torch.bool)
    for model in (gpt(), bert()):
        refused(ValueError, lambda m=model: m(ids(2, 5), real), "(2, 6, 5, 5)", hint)
        refused(ValueError, lambda m=model: m(ids(2, 5), real[:, :3]), "got shape (2, 3)")
        model(ids(2, 5), real[:, None, None, :])


def test_a_padding_mask_is_not_taken_for_another_where_it_has_its_shape():
    either = ("(5, 5) may be", "mask[:, None, None, :]", "mask[None, None]")
    right = torch.arange(5) < torch.tensor([[5], [2], [3], [5], [4]])
    position = torch.arange(5)
    for model in (gpt(), bert()):
        for padding in (right, right.flip(1)):
            refused(ValueError, lambda m=model, p=padding: m(ids(5, 5), p), *either)
        for mask in (
            causal_mask(5),
            causal_mask(5, window=2),
            (position[:, None] - position).abs() < 2,
            position[:, None] // 3 == position // 3,  # two documents
            (position != 3).expand(5, 5),  # means the same either way
            right[None, None],
        ):
            torch.testing.assert_close(
                model(ids_of_five := ids(5, 5), mask), model(ids_of_five, mask.expand(1, 1, 5, 5))
            )
        model(ids(4, 5), causal_mask(5))
    for caches in ([KVCache(), KVCache()], [KVCache(capacity=5), KVCache(capacity=5)]):
        with torch.no_grad():
            model = gpt()
            model(ids(3, 2), caches=caches)
            left = torch.arange(5) >= torch.tensor([[0], [1], [2]])
            refused(
                ValueError, lambda m=model, c=caches, p=left: m(ids(3, 3), p, caches=c), "(3, 5)"
            )
            model(ids(3, 3), causal_mask(3, 5), caches=caches)


def test_a_model_built_from_fields_is_told_of_its_configuration():
    for model_type in (GPT, BERT, Transformer, ViT, Forecaster):
        name = model_type.__name__
        write = f"write {name}({name}Config(vocab_size=..., max_len=...))"
        refused(
            TypeError, lambda m=model_type: m(vocab_size=50, max_len=8), f"{name}() takes", write
        )
        for wrong in ((), ({"vocab_size": 50},), ("gpt2",)):
            said = f"config must be a {name}Config, got {type(next(iter(wrong), None)).__name__}"
            refused(TypeError, lambda m=model_type, w=wrong: m(*w), said)
        refused(TypeError, lambda m=model_type: m(config=3), f"{name}Config, got int")

    class Wider(GPT):
        def __init__(self, config, dropout):
            super().__init__(config)
            self.extra = dropout

    assert Wider(GPTConfig(**SIZES), dropout=3).extra == 3


def test_ids_without_values_are_refused_by_weights_that_have_some():
    nothing = ids(2, 5).to("meta")
    for call in (gpt(), bert(), transformer().encode):
        refused(ValueError, lambda c=call: c(nothing), "_ids are on the meta device", "on cpu")
    refused(ValueError, lambda: gpt()(ids(2, 5), positions=nothing), "positions are on the meta")
    refused(ValueError, lambda: bert()(ids(2, 5), None, nothing), "token_types", "meta")


def test_ids_of_another_shape_or_type_are_refused():
    good = ids(2, 5)
    for call, name in ((gpt(), "token_ids"), (bert(), "token_ids"), (bert().encode, "token_ids")):
        refused(ValueError, lambda c=call: c(good[0]), name, "(B, T)", "(5,)", "ids[None]")
        refused(TypeError, lambda c=call: c(good.float()), name, "torch.float32")
        refused(TypeError, lambda c=call: c(good.tolist()), name, "list")
    model = transformer()
    refused(ValueError, lambda: model(good[0], good), "source_ids", "(5,)")
    refused(ValueError, lambda: model(good, good[0]), "target_ids", "(5,)")
    refused(TypeError, lambda: model(good, good.float()), "target_ids", "torch.float32")
    refused(ValueError, lambda: model(good, ids(3, 5)), "batch", "3", "2")
    refused(ValueError, lambda: bert()(good, None, torch.zeros(2, 4).long()), "(2, 4)", "(2, 5)")


def test_more_tokens_than_learned_positions_are_refused():
    for model in (gpt(), bert()):
        assert model(ids(1, 19)).shape[1] == 19
        refused(
            ValueError, lambda m=model: m(ids(1, 20)), "positions 0 to 19", "max_len = 19", "larger"
        )
    model, caches = gpt(), [KVCache(), KVCache()]
    model(ids(1, 19), caches=caches)
    refused(
        ValueError, lambda: model(ids(1, 1), caches=caches), "positions 19 to 19", "max_len = 19"
    )


def test_rotary_and_sinusoidal_positions_have_no_limit():
    assert gpt(positions="rotary")(ids(1, 23)).shape == (1, 23, 17)
    assert transformer()(ids(1, 23), ids(1, 29)).shape == (1, 29, 17)
