"""Losses against torch's cross entropy, and what padding must not do to them."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from companion.training import (
    class_loss,
    label_smoothing_loss,
    masked_token_loss,
    mean_loss,
    next_token_loss,
    translation_loss,
)

PAD, VOCAB = 3, 17


def example(seed=0, shape=(5, 7)):
    """Logits and targets; about a third of the targets is padding."""
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(*shape, VOCAB, generator=generator, dtype=torch.float64)
    targets = torch.randint(VOCAB, shape, generator=generator)
    return logits, targets.masked_fill(torch.rand(shape, generator=generator) < 0.3, PAD)


def torchs(logits, targets, smoothing, **options):
    return F.cross_entropy(
        logits.flatten(0, -2), targets.flatten(), label_smoothing=smoothing, **options
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
@pytest.mark.parametrize("shape", [(11,), (5, 7), (2, 3, 5)])
def test_it_is_torchs_with_its_gradient(smoothing, shape):
    logits, targets = example(shape=shape)
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    loss = label_smoothing_loss(ours, targets, smoothing=smoothing, pad_id=PAD)
    expected = torchs(theirs, targets, smoothing, ignore_index=PAD)
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=0)
    loss.backward()
    expected.backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-12, atol=1e-15)


def test_without_a_pad_id_every_token_is_real():
    logits, targets = example()
    ours = label_smoothing_loss(logits, targets, smoothing=0.2, pad_id=None)
    torch.testing.assert_close(ours, torchs(logits, targets, 0.2), rtol=1e-12, atol=0)


def test_a_value_that_can_be_worked_out():
    logits = torch.tensor([[math.log(3.0), 0.0]], dtype=torch.float64)  # probabilities 3/4 and 1/4
    loss = label_smoothing_loss(logits, torch.tensor([0]), smoothing=0.5, pad_id=None)
    expected = 0.75 * math.log(4 / 3) + 0.25 * math.log(4)  # target 3/4 and 1/4 as well
    assert loss.item() == pytest.approx(expected, rel=1e-14)


def test_nothing_but_padding_is_zero_and_pulls_nothing():
    logits, _ = example()
    logits.requires_grad_()
    targets = torch.full((5, 7), PAD)
    loss = label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=PAD)
    loss.backward()
    assert loss.item() == 0.0
    assert logits.grad.abs().max() == 0.0


def test_the_logits_of_padding_do_not_matter():
    logits, targets = example()
    loud = torch.where((targets == PAD)[..., None], 1e30 * logits, logits)
    one, other = (
        label_smoothing_loss(x, targets, smoothing=0.1, pad_id=PAD) for x in (logits, loud)
    )
    assert one == other


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(dtype):
    logits, targets = example(shape=(101, 31))
    logits = logits.to(dtype)
    loss = label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=PAD)
    assert loss.dtype == torch.float32
    exact = torchs(logits.double(), targets, 0.1, ignore_index=PAD)
    assert loss.item() == pytest.approx(exact.item(), rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"smoothing": 1.0}, ValueError, "smoothing must be in"),
        ({"smoothing": -0.1}, ValueError, "smoothing must be in"),
        ({"targets": torch.zeros(7, 5).long()}, ValueError, r"\(5, 7, 17\) and \(7, 5\)"),
        ({"targets": torch.zeros(5, 7)}, TypeError, "targets must be int64 or int32"),
        ({"targets": torch.full((5, 7), VOCAB)}, ValueError, r"targets must lie in \[0, 17\)"),
        ({"targets": torch.full((5, 7), -1)}, ValueError, r"targets must lie in \[0, 17\)"),
        ({"targets": torch.full((5, 7), -100), "pad_id": None}, ValueError, "got values from -100"),
        ({"pad_id": 1.0}, TypeError, "pad_id must be an int, or None .*; got 1.0"),
        ({"pad_id": "[PAD]"}, TypeError, r"pad_id must be an int, or None .*; got '\[PAD\]'"),
        (
            {"logits": torch.zeros(5, 7, VOCAB).long()},
            TypeError,
            "logits must be a floating tensor",
        ),
        ({"logits": [0.0]}, TypeError, "logits must be a torch.Tensor"),
    ],
)
def test_it_refuses(changes, error, message):
    logits, targets = example()
    good = {"logits": logits, "targets": targets, "smoothing": 0.1, "pad_id": PAD}
    with pytest.raises(error, match=message):
        label_smoothing_loss(**(good | changes))


class Recorder:
    """A model that keeps what it was called with and answers with given logits."""

    def __init__(self, logits):
        self.logits = logits

    def __call__(self, *inputs):
        self.inputs = inputs
        return self.logits


def test_a_language_model_is_asked_for_what_follows():
    logits, tokens = example()
    tokens = F.pad(tokens, (1, 0), value=5)  # (5, 8): one token more than there are logits
    model = Recorder(logits)
    total, count = next_token_loss(PAD)(model, tokens)
    assert torch.equal(model.inputs[0], tokens[:, :-1])
    expected = torchs(logits, tokens[:, 1:], 0.0, ignore_index=PAD, reduction="sum")
    torch.testing.assert_close(total, expected, rtol=1e-12, atol=0)
    assert count == (tokens[:, 1:] != PAD).sum()


def test_a_masked_model_is_asked_where_there_are_targets():
    logits, targets = example()
    tokens = torch.full_like(targets, 11)
    model = Recorder(logits)
    total, count = masked_token_loss(PAD)(model, (tokens, targets))
    assert model.inputs[0] is tokens
    expected = torchs(logits, targets, 0.0, ignore_index=PAD, reduction="sum")
    torch.testing.assert_close(total, expected, rtol=1e-12, atol=0)
    assert count == (targets != PAD).sum()


def test_a_classifier_is_asked_once_for_each_input():
    logits, targets = example(shape=(11,))
    images = torch.zeros(11, 2)
    model = Recorder(logits)
    for smoothing in (0.0, 0.3):
        total, count = class_loss(smoothing=smoothing)(model, (images, targets))
        assert model.inputs == (images,)
        expected = torchs(logits, targets, smoothing, reduction="sum")
        torch.testing.assert_close(total, expected, rtol=1e-12, atol=0)
        assert count == 11  # a label equal to some padding token counts, too


def test_a_translator_reads_the_target_one_token_late():
    logits, target = example()
    target = F.pad(target, (1, 0), value=5)
    source = torch.full((5, 13), 2)
    model = Recorder(logits)
    total, count = translation_loss(PAD, smoothing=0.3)(model, (source, target))
    assert model.inputs[0] is source
    assert torch.equal(model.inputs[1], target[:, :-1])
    expected = torchs(logits, target[:, 1:], 0.3, ignore_index=PAD, reduction="sum")
    torch.testing.assert_close(total, expected, rtol=1e-12, atol=0)
    assert count == (target[:, 1:] != PAD).sum()


def test_a_target_that_others_ignore_is_wrong_where_nobody_looks():
    """-100, where values are not looked at: an error, as for any other wrong target."""
    loss = torch.compile(
        lambda logits, targets: label_smoothing_loss(logits, targets, smoothing=0.0, pad_id=None),
        backend="eager",
    )
    with pytest.raises(IndexError):
        loss(torch.zeros(2, 4), torch.tensor([1, -100]))


@pytest.mark.parametrize("examples", [[torch.ones(2, 3).long()], {"ids": torch.ones(2, 3).long()}])
def test_examples_of_another_kind_are_told(examples):
    with pytest.raises(TypeError, match="examples must be a tensor or a tuple of tensors, got "):
        mean_loss(nn.Linear(1, 1), next_token_loss(None), examples)


def test_losses_are_mapped_over_examples():
    logits, targets = torch.randn(3, 4, 5), torch.randint(5, (3, 4))

    def loss(logits, targets):
        return label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=None)

    mapped = torch.func.vmap(loss)(logits, targets)
    alone = [loss(*pair) for pair in zip(logits, targets, strict=True)]
    torch.testing.assert_close(mapped, torch.stack(alone))
