"""The loop: what one step computes, and that how a batch is split does not move it."""

import math
import shutil
import signal
import warnings
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from companion.training import (
    class_loss,
    cosine_schedule,
    fit,
    load_checkpoint,
    masked_token_loss,
    next_token_loss,
    save_checkpoint,
    train_step,
    translation_loss,
)
from companion.training.prefetching import MicroBatches

PAD, VOCAB = 0, 23


class Bigram(nn.Module):
    """Logits for the next token from the one before it."""

    def __init__(self, width=5, dropout=0.0):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, width)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, token_ids):
        return self.head(self.norm(self.dropout(self.embedding(token_ids))))


def sentences(step, rows=7, length=11):
    """Random sentences (rows, length) of random lengths, padded at the end."""
    generator = torch.Generator().manual_seed(step)
    token_ids = torch.randint(1, VOCAB, (rows, length), generator=generator)
    lengths = torch.randint(2, length + 1, (rows, 1), generator=generator)
    return token_ids.masked_fill(torch.arange(length) >= lengths, PAD)


def bigram(seed=0, **changes):
    torch.manual_seed(seed)
    return Bigram(**changes).double()


def run(model, batches=sentences, **changes):
    arguments = {"steps": 4, "loss": next_token_loss(PAD), "learning_rate": 0.03, "progress": False}
    return fit(model, batches, **(arguments | changes))


def test_it_is_the_loop_written_out_by_hand():
    by_hand, model = bigram(), bigram()
    optimizer = torch.optim.AdamW(by_hand.parameters(), lr=0.03, weight_decay=0.0)
    losses, norms, tokens = [], [], []
    for step in range(1, 5):
        token_ids = sentences(step)
        tokens.append((token_ids[:, 1:] != PAD).sum().item())
        logits = by_hand(token_ids[:, :-1]).transpose(1, 2)
        loss = F.cross_entropy(logits, token_ids[:, 1:], ignore_index=PAD)
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(by_hand.parameters(), 0.3).item())
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    history = run(model, max_grad_norm=0.3)
    assert min(norms) > 0.3, "nothing was clipped: the test would not see clipping fail"
    assert history.loss == pytest.approx(losses, rel=1e-12)
    assert history.grad_norm == pytest.approx(norms, rel=1e-12)
    assert history.tokens == tokens and len(set(tokens)) > 1
    for ours, theirs in zip(model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("accumulate", [2, 3, 7])
def test_splitting_a_batch_moves_nothing(accumulate):
    whole, parts = bigram(), bigram()
    one, several = run(whole), run(parts, accumulate=accumulate)
    assert several.loss == pytest.approx(one.loss, rel=1e-12)
    assert several.grad_norm == pytest.approx(one.grad_norm, rel=1e-12)
    assert several.tokens == one.tokens


def test_padding_moves_nothing():
    short, long = bigram(), bigram()
    one = run(short)
    other = run(long, lambda step: F.pad(sentences(step), (0, 13), value=PAD))
    assert other.loss == pytest.approx(one.loss, rel=1e-12)
    assert other.grad_norm == pytest.approx(one.grad_norm, rel=1e-12)


def test_a_loss_that_is_not_finite_stops_before_the_weights_change():
    model = bigram()
    before = [p.detach().clone() for p in model.parameters()]

    def infinite(model, batch):
        return model(batch).sum() * math.inf, batch.numel()

    with pytest.raises(FloatingPointError, match="at step 1 the loss is"):
        run(model, loss=infinite)
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True))


class Reads(TorchDispatchMode):
    """Counts how often Python asks for a value: each time it would wait for a GPU."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.count += operation is torch.ops.aten._local_scalar_dense.default
        return operation(*args, **(kwargs or {}))


def test_the_next_batch_is_prepared_before_the_one_wait_for_the_gradient():
    model, reads = bigram(), Reads()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    before, seen = model.head.weight.detach().clone(), []

    def made_ahead():
        seen.append((reads.count, model.head.weight.grad is not None))
        assert torch.equal(model.head.weight, before)

    def loss(model, ids):  # ours look for ids out of range, which takes two reads on a CPU
        logits = model(ids[:, :-1]).transpose(1, 2)
        return F.cross_entropy(logits, ids[:, 1:], reduction="sum"), ids.numel()

    parts = MicroBatches([sentences(1)[:3], sentences(1)[3:]])
    parts.then = made_ahead
    with reads:
        train_step(model, optimizer, loss, parts, step=1)
    assert seen == [(0, True)]
    assert not torch.equal(model.head.weight, before)


def test_on_a_cpu_no_gpu_is_touched(monkeypatch):
    def touched(*_, **__):
        pytest.fail("CUDA was asked for")

    run(bigram(), checkpoint=None)  # imports what torch imports at the first step
    monkeypatch.setattr(torch.Tensor, "pin_memory", touched)
    for name in ("init", "set_device", "synchronize", "get_rng_state"):
        monkeypatch.setattr(torch.cuda, name, touched)
    run(bigram(), checkpoint=None)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("mixed_precision", ["no", "bf16"])
def test_on_a_gpu_a_step_waits_once(mixed_precision):
    model = bigram().float().cuda()

    def loss(model, batch):
        assert batch.is_cuda
        return next_token_loss(PAD)(model, batch)

    with warnings.catch_warnings(record=True) as waits:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            losses = run(model, steps=6, loss=loss, mixed_precision=mixed_precision).loss
        finally:
            torch.cuda.set_sync_debug_mode("default")
    waits = [warning for warning in waits if "synchronizing" in str(warning.message)]
    assert len(waits) <= 7  # one in each step, and at most one to begin with
    assert losses == pytest.approx(run(bigram().float(), steps=6).loss, rel=2e-2)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_it_trains_where_the_model_is():
    model, before = bigram().to("cuda:1"), torch.cuda.memory_allocated(0)
    assert run(model).loss == pytest.approx(run(bigram()).loss, rel=1e-9)
    assert {p.device for p in model.parameters()} == {torch.device("cuda:1")}
    assert torch.cuda.memory_allocated(0) == before


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_run_begun_on_a_gpu_goes_on_there_and_on_a_cpu(tmp_path):
    path = tmp_path / "run.safetensors"
    whole = run(bigram(dropout=0.3).cuda(), steps=7)
    run(bigram(dropout=0.3).cuda(), steps=3, checkpoint=path)
    shutil.copy(path, tmp_path / "copy.safetensors")
    rest = run(bigram(seed=1, dropout=0.3).cuda(), steps=7, checkpoint=path, resume=True)
    assert rest.loss == pytest.approx(whole.loss, rel=1e-9)
    elsewhere = bigram(seed=1, dropout=0.3)
    history = run(elsewhere, steps=7, checkpoint=tmp_path / "copy.safetensors", resume=True)
    assert history.loss[:3] == rest.loss[:3] and len(history.loss) == 7


def test_resuming_is_not_starting_again(tmp_path):
    path = tmp_path / "run.safetensors"
    straight, first, second = (bigram(dropout=0.3).float() for _ in range(3))
    torch.manual_seed(1)
    whole = run(straight, steps=7)
    torch.manual_seed(1)
    run(first, steps=3, checkpoint=path)
    torch.manual_seed(2)
    rest = run(second, steps=7, checkpoint=path, resume=True)
    assert rest == whole
    for ours, theirs in zip(second.parameters(), straight.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_a_resumed_run_has_the_decay_and_the_betas_of_its_own_call(tmp_path):
    path, model = tmp_path / "run.safetensors", bigram()
    run(model, steps=1, checkpoint=path)
    before = model.head.weight.detach().clone()

    def flat(model, batch):
        return sum(0.0 * p.sum() for p in model.parameters()), 1

    changes = {"loss": flat, "learning_rate": 0.1, "weight_decay": 0.5, "betas": (0.0, 0.999)}
    run(model, steps=2, checkpoint=path, resume=True, **changes)
    torch.testing.assert_close(model.head.weight, 0.95 * before, rtol=1e-14, atol=0)


def test_the_rate_is_the_schedules():
    rates = [0.01, 0.0, 0.03]
    model, weights = bigram(), []

    def watch(model, batch):
        weights.append(model.head.weight.detach().clone())
        return next_token_loss(PAD)(model, batch)

    history = run(model, steps=3, loss=watch, learning_rate=lambda step: rates[step - 1])
    assert history.learning_rate == rates
    assert history.step == [1, 2, 3]
    weights.append(model.head.weight)
    assert [not torch.equal(*pair) for pair in pairwise(weights)] == [True, False, True]


def test_matrices_decay_and_vectors_do_not():
    model = bigram()
    before = {name: p.detach().clone() for name, p in model.named_parameters()}

    def flat(model, batch):
        return sum(0.0 * p.sum() for p in model.parameters()), 1

    run(model, steps=1, loss=flat, learning_rate=0.1, weight_decay=0.5)
    for name, parameter in model.named_parameters():
        kept = 0.95 if parameter.dim() == 2 else 1.0
        torch.testing.assert_close(parameter, kept * before[name], rtol=1e-14, atol=0)
    assert {p.dim() for p in model.parameters()} == {1, 2}


def test_a_parameter_that_is_frozen_or_not_used_stays_as_it_is():
    model = bigram()
    model.spare = nn.Linear(2, 3).double()
    model.embedding.weight.requires_grad_(False)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    run(model, weight_decay=0.5)
    still = {name for name, p in model.named_parameters() if torch.equal(p, before[name])}
    assert still == {"embedding.weight", "spare.weight", "spare.bias"}


@pytest.mark.parametrize(("dtype", "count"), [(torch.bfloat16, 257), (torch.float16, 70_000)])
def test_a_loss_in_half_precision_is_divided_by_the_whole_number(dtype, count):
    def loss(model, batch):  # the count is no number of that dtype
        return (0 * model(batch).sum() + 256).to(dtype), count

    assert run(bigram(), steps=1, loss=loss).loss == [pytest.approx(256 / count)]


def test_gradients_from_before_do_not_count():
    clean, littered = bigram(), bigram()
    littered(sentences(99)).sum().backward()
    assert run(littered).loss == run(clean).loss


@pytest.mark.parametrize(("every", "expected"), [(None, [5]), (2, [2, 4, 5]), (5, [5])])
def test_evaluation_happens_when_it_should_and_how_it_should(every, expected):
    model, modes = bigram(dropout=0.1), []

    def evaluate(model):
        modes.append((model.training, torch.is_grad_enabled()))
        return {"norm": model.head.weight.norm().item()}

    def loss(model, batch):
        assert model.training
        return next_token_loss(PAD)(model, batch)

    history = run(model, steps=5, loss=loss, evaluate=evaluate, evaluate_every=every)
    assert history.evaluated_at == expected
    assert modes == [(False, False)] * len(expected)
    assert history.evaluations[-1] == {"norm": model.head.weight.norm().item()}
    assert not model.training


def test_half_precision_is_for_the_forward_pass_and_gone_afterwards():
    model = bigram().float()
    hidden, losses = [], []
    model.head.register_forward_hook(lambda module, inputs, output: hidden.append(output.dtype))

    def loss(model, batch):
        total, count = next_token_loss(PAD)(model, batch)
        losses.append(total.dtype)
        return total, count

    run(model, steps=1, loss=loss, mixed_precision="bf16")
    assert set(hidden) == {torch.bfloat16}
    assert set(losses) == {torch.float32}
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    hidden.clear()
    model(sentences(1))
    run(model, steps=1)
    assert set(hidden) == {torch.float32}


@pytest.fixture
def handler():
    """Python's own for Ctrl-C, which is missing where tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_finishes_the_step_saves_and_says_how_to_go_on(tmp_path, handler):
    path = tmp_path / "run.safetensors"

    def interrupted(step):
        if step == 3:
            signal.raise_signal(signal.SIGINT)
        return sentences(step)

    with pytest.raises(KeyboardInterrupt, match=r"after step 3 of 7; saved to .*resume=True"):
        run(bigram(), interrupted, steps=7, checkpoint=path)
    assert signal.getsignal(signal.SIGINT) is handler
    assert len(load_checkpoint(path)["history"]["loss"]) == 3
    resumed = run(bigram(seed=1), steps=7, checkpoint=path, resume=True)
    assert resumed == run(bigram(), steps=7)


def test_a_second_ctrl_c_does_not_wait(tmp_path, handler):
    def impatient(step):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the second Ctrl-C was held back")

    path = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        run(bigram(), impatient, checkpoint=path)
    assert not path.exists()


def test_a_finished_run_has_nothing_left_to_do(tmp_path):
    path = tmp_path / "run.safetensors"
    model = bigram()
    whole = run(model, checkpoint=path)
    again = bigram(seed=1)
    assert run(again, batches=pytest.fail, checkpoint=path, resume=True) == whole
    assert torch.equal(again.head.weight, model.head.weight)


def test_tensors_and_numpys_numbers_are_kept_as_numbers(tmp_path):
    path, rate = tmp_path / "run.safetensors", lambda step: np.float32(0.25)
    options = {"evaluate": lambda model: torch.tensor(0.5), "learning_rate": rate}
    history = run(bigram(), checkpoint=path, **options)
    assert history.evaluations == [0.5] and type(history.evaluations[0]) is float
    saved = load_checkpoint(path)["history"]
    assert history.learning_rate == saved["learning_rate"] == [0.25] * 4
    assert saved["evaluations"] == [0.5]
    found = {"all": [torch.ones(2), np.float32(0.5), np.int64(3)], "text": ("a", None)}
    run(bigram(), checkpoint=tmp_path / "nested.safetensors", evaluate=lambda model: found)
    (saved,) = load_checkpoint(tmp_path / "nested.safetensors")["history"]["evaluations"]
    assert saved == {"all": [[1.0, 1.0], 0.5, 3], "text": ["a", None]}
    (several,) = run(bigram(), evaluate=lambda model: torch.ones(2)).evaluations
    assert torch.equal(several, torch.ones(2))


@pytest.mark.parametrize("found", [{(1, 2): 0.5}, {"a": [{3: 0.5}]}])
def test_keys_that_json_lacks_are_refused_and_the_step_is_saved(tmp_path, found):
    path = tmp_path / "run.safetensors"
    with pytest.raises(TypeError, match=r"evaluate must return .* strings as keys"):
        run(bigram(), checkpoint=path, evaluate=lambda model: found)
    assert len(load_checkpoint(path)["history"]["loss"]) == 4


@pytest.mark.parametrize("part", ["evaluate", "report"])
def test_what_looks_at_a_run_costs_none_of_its_steps(tmp_path, part):
    """A value that JSON lacks, or a fault in what the user wrote."""
    path, looks = tmp_path / "run.safetensors", []

    def look(_):
        looks.append(1)
        if len(looks) == 3 or part == "evaluate":
            return {1, 2} if part == "evaluate" else 1 / 0
        return None

    error, message = (
        (TypeError, "evaluate must return")
        if part == "evaluate"
        else (ZeroDivisionError, "division")
    )
    with pytest.raises(error, match=message):
        run(bigram(), steps=7, checkpoint=path, **{part: look})
    done = 7 if part == "evaluate" else 3
    assert len(load_checkpoint(path)["history"]["loss"]) == done
    assert run(bigram(seed=1), steps=7, checkpoint=path, resume=True) == run(bigram(), steps=7)


class Versioned(Bigram):
    def get_extra_state(self):
        return {"version": 2}


@pytest.mark.parametrize(
    "kept, message",
    [
        (torch.eye(3).to_sparse(), r"kept is of torch\.float32, torch\.sparse_coo"),
        (torch.ones(3, dtype=torch.complex128), r"kept is of torch\.complex128"),
        (None, r"_extra_state must be a tensor, got dict"),
    ],
)
def test_what_no_checkpoint_holds_is_refused_before_the_first_step(tmp_path, kept, message):
    model, steps = Versioned() if kept is None else bigram(), []
    model.register_buffer("kept", kept)
    with pytest.raises(TypeError, match=message):
        run(model, lambda step: steps.append(step), checkpoint=tmp_path / "run.safetensors")
    assert steps == []


def test_an_optimizer_that_no_checkpoint_holds_is_refused_after_one_step(tmp_path):
    class Counts(torch.optim.SGD):
        def step(self, closure=None):
            self.state[self.param_groups[0]["params"][0]]["steps"] = 1

    def sgd(model):
        return Counts(model.parameters(), lr=0.1)

    steps, path = [], tmp_path / "run.safetensors"
    with pytest.raises(TypeError, match=r"optimizer\.0\.steps must be a tensor, got int"):
        run(bigram(), lambda s: steps.append(s) or sentences(s), optimizer=sgd, checkpoint=path)
    assert steps == [1]


def test_who_reports_a_run_cannot_spoil_it(tmp_path):
    def report(history):
        history.loss.clear()
        history.grad_norm[-1] = {1, 2}
        for evaluation in history.evaluations:
            evaluation["accuracy"] = {1, 2}

    path = tmp_path / "run.safetensors"
    options = {"evaluate": lambda model: {"accuracy": 0.5}, "evaluate_every": 2}
    history = run(bigram(), report=report, checkpoint=path, **options)
    assert history == run(bigram(), **options)
    assert len(load_checkpoint(path)["history"]["loss"]) == 4


def test_what_is_frozen_in_a_model_in_training_mode_stays_so():
    model = nn.Sequential(bigram(), nn.BatchNorm1d(11, momentum=0.5).double()).train()
    model[1].eval(), model[1].requires_grad_(False)
    before = model[1].running_mean.clone()
    seen = []
    options = {"evaluate": lambda model: seen.append(model[1].training), "evaluate_every": 2}
    run(model, lambda step: sentences(step, length=12), **options)
    assert torch.equal(model[1].running_mean, before) and not model.training
    run(model, lambda step: sentences(step, length=12))  # all of it was in evaluation mode
    assert not torch.equal(model[1].running_mean, before)


def test_another_optimizer_can_be_made():
    def sgd(model):
        matrix, *others = model.parameters()
        groups = [{"params": [matrix], "lr_scale": 0.0}, {"params": others}]
        return torch.optim.SGD(groups, lr=1.0, momentum=0.5)

    model = bigram()
    before = [parameter.clone() for parameter in model.parameters()]
    history = run(model, optimizer=sgd, learning_rate=0.1, steps=20)
    assert history.loss[-1] < history.loss[0]
    moved = [not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True)]
    assert moved == [False] + [True] * (len(moved) - 1)


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="came with torch 2.9")
def test_torchs_muon_and_an_adamw_train_a_model_together(tmp_path):
    def both(model):
        matrices = [model.embedding.weight, model.head.weight]
        vectors = [p for p in model.parameters() if p.dim() < 2]
        adamw = torch.optim.AdamW([{"params": vectors, "lr_scale": 0.3}], fused=True)
        return [torch.optim.Muon(matrices), adamw]

    by_hand, losses = bigram(), []
    muon, adamw = both(by_hand)
    for step in range(1, 21):
        rate = 0.02 / step
        muon.param_groups[0]["lr"], adamw.param_groups[0]["lr"] = rate, 0.3 * rate
        total, count = next_token_loss(PAD)(by_hand, sentences(step))
        by_hand.zero_grad()
        (total / count).backward()
        nn.utils.clip_grad_norm_(by_hand.parameters(), 1.0)
        muon.step(), adamw.step()
        losses.append((total / count).item())
    path = tmp_path / "run.safetensors"
    options = {"optimizer": both, "learning_rate": lambda step: 0.02 / step}
    whole = run(bigram(), steps=20, **options)
    assert whole.loss == pytest.approx(losses, rel=1e-12)
    run(bigram(), steps=7, checkpoint=path, **options)
    assert run(bigram(1), steps=20, checkpoint=path, resume=True, **options) == whole
    with pytest.raises(ValueError, match=r"Muon and AdamW in the file, AdamW and AdamW here"):
        options["optimizer"] = lambda m: [torch.optim.AdamW(o.param_groups) for o in both(m)]
        run(bigram(), steps=20, checkpoint=path, resume=True, **options)


def test_a_longer_run_is_not_taken_for_a_shorter_one(tmp_path):
    path = tmp_path / "run.safetensors"
    run(bigram(), steps=4, checkpoint=path)
    with pytest.raises(ValueError, match="4 steps already, more than steps = 3; ask for 4 or more"):
        run(bigram(), steps=3, checkpoint=path, resume=True)


@pytest.mark.parametrize("state", [{}, {"history": [1, 2]}])
def test_only_a_checkpoint_of_fit_is_resumed(tmp_path, state):
    path = tmp_path / "other.safetensors"
    model = bigram()
    groups = [{"params": [p for p in model.parameters() if p.dim() == dims]} for dims in (2, 1)]
    save_checkpoint(path, model, torch.optim.AdamW(groups), **state)
    with pytest.raises(ValueError, match=r"other\.safetensors has no history .* of fit"):
        run(bigram(), checkpoint=path, resume=True)


def test_a_checkpoint_that_cannot_be_written_is_told_before_the_first_step(tmp_path):
    (tmp_path / "file").touch()

    def batches(step):
        raise AssertionError("a step was made")

    with pytest.raises(OSError, match="file"):
        run(bigram(), batches, checkpoint=tmp_path / "file" / "run.safetensors")
    with pytest.raises(AssertionError):
        run(bigram(), batches, checkpoint=tmp_path / "new" / "run.safetensors")
    assert list((tmp_path / "new").iterdir()) == []


def test_a_checkpoint_is_not_overwritten_by_another_run(tmp_path):
    path = tmp_path / "run.safetensors"
    run(bigram(), checkpoint=path)
    contents = path.read_bytes()
    with pytest.raises(ValueError, match=r"run\.safetensors is there already.*resume=True"):
        run(bigram(), checkpoint=path)
    assert path.read_bytes() == contents


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"steps": 0}, ValueError, "steps must be at least 1"),
        ({"accumulate": 0}, ValueError, "accumulate must be at least 1"),
        ({"accumulate": 8}, ValueError, "7 rows cannot be split into 8 parts"),
        ({"mixed_precision": "fp8"}, ValueError, "mixed_precision must be one of 'no', 'bf16', 'f"),
        ({"evaluate_every": 2}, ValueError, "evaluate_every needs evaluate"),
        ({"checkpoint_every": 2}, ValueError, "need checkpoint"),
        ({"resume": True}, ValueError, "need checkpoint"),
        ({"resume": True, "checkpoint": "none"}, FileNotFoundError, "there is no checkpoint none"),
        ({"batches": lambda step: torch.zeros(3, 5).long()}, ValueError, "step 1 has no real"),
        (
            {"batches": [torch.ones(3, 5).long()]},
            TypeError,
            "a function, .* got list; companion.data",
        ),
        (
            {"loss": lambda model, ids: model(ids).mean()},
            TypeError,
            "loss must return .* got Tensor",
        ),
        ({"max_grad_norm": -1.0}, ValueError, "max_grad_norm must be positive, got -1.0"),
        ({"max_grad_norm": None}, TypeError, "max_grad_norm must be a number"),
        ({"optimizer": lambda model: None}, TypeError, "optimizer must be .* a NoneType"),
        *[
            ({"optimizer": lambda model: SGD} | changes, ValueError, "are AdamW's, .* `optimizer`")
            for changes in ({"weight_decay": 0.1}, {"betas": (0.9, 0.95)})
        ],
        ({"learning_rate": -0.1}, ValueError, "learning_rate must be at least 0 .* got -0.1"),
        ({"learning_rate": "0.1"}, TypeError, r"a function, .*\(step\), got str; .* a number"),
        ({"learning_rate": lambda step: None}, TypeError, "learning_rate must be a number, got N"),
        ({"learning_rate": lambda step: math.nan}, ValueError, "learning_rate must be .* got nan"),
        ({"loss": lambda model, ids: (model(ids).sum(), None)}, TypeError, "Tensor and NoneType"),
        ({"loss": lambda model, ids: (model(ids).sum(), -3)}, ValueError, "step 1 has no real"),
        (
            {"loss": lambda model, ids: (model(ids).sum(-1), 3)},
            ValueError,
            r"of shape \(\), got a sum of shape \(7, \d+\); .* \.sum\(\)",
        ),
        (
            {"loss": lambda model, ids: (model(ids).sum(), torch.tensor([3]))},
            ValueError,
            r"got a number of shape \(1,\)",
        ),
    ],
)
def test_it_refuses(changes, error, message):
    with pytest.raises(error, match=message):
        run(bigram(), **changes)


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)


def lbfgs(model):
    return torch.optim.LBFGS(model.parameters())


SGD = sgd(bigram())
WRONG_CALLS = [
    ({"optimizer": SGD}, r"optimizer\(model\), got SGD; write optimizer=lambda model: torch"),
    ({"optimizer": [SGD]}, "got list; write optimizer=lambda"),
    ({"optimizer": torch.optim.SGD}, "got SGD; write optimizer=lambda"),
    ({"optimizer": partial(torch.optim.SGD, lr=0.1)}, "got SGD; write optimizer=lambda"),
    ({"optimizer": lambda: SGD}, "got one with other arguments .*; write optimizer=lambda"),
    ({"optimizer": lbfgs}, "LBFGS asks for several losses in a step"),
    ({"optimizer": lambda m: [sgd(m), lbfgs(m)]}, "LBFGS asks for several losses in a step"),
    ({"optimizer": lambda m: torch.optim.SparseAdam(m.parameters())}, "SparseAdam takes sparse"),
    (
        {"learning_rate": torch.optim.lr_scheduler.StepLR(SGD, 3)},
        r"\(step\), got StepLR; .* number",
    ),
    ({"learning_rate": None}, "got NoneType; it may be a number"),
    ({"learning_rate": cosine_schedule}, "other arguments .*'max_lr'"),
    ({"loss": nn.CrossEntropyLoss()}, r"loss\(model, batch\), got CrossEntropyLoss; next_token"),
    ({"loss": next_token_loss}, r"got one with other arguments .*; next_token_loss\(pad_id\)"),
    ({"loss": None}, "got NoneType; next_token_loss"),
    ({"evaluate": 0.5}, r"evaluate\(model\), got float"),
    ({"report": lambda: None}, r"report\(history\), got one with other arguments"),
    ({"weight_decay": "0.1"}, "weight_decay must be a number"),
    ({"betas": 0.9}, "betas must be two numbers, got 0.9"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG_CALLS)
def test_what_is_called_wrongly_is_told_before_the_first_step(changes, message):
    with pytest.raises(TypeError, match=message):
        run(bigram(), lambda step: pytest.fail("a step was made"), **changes)


@pytest.mark.parametrize(
    ("batch", "loss", "error", "message"),
    [
        ((1, 1), next_token_loss(0), TypeError, r"token_ids \(B, T\), got \(Tensor \(7, 11\), T"),
        ("numpy", next_token_loss(0), TypeError, r"token_ids \(B, T\), got ndarray"),
        ("row", next_token_loss(0), TypeError, r"token_ids \(B, T\), got Tensor \(11,\)"),
        ("two", masked_token_loss(0), TypeError, r"\(token_ids, targets\), got Tensor \(2, 11\)"),
        (None, translation_loss(0), TypeError, r"\(source_ids, target_ids\), got Tensor"),
        ((1, 1, 1), class_loss(), TypeError, r"\(inputs, labels\), got \(Tensor .*, T.*, T"),
        ("meta", next_token_loss(0), ValueError, "a batch is on the meta device"),
    ],
)
def test_a_batch_of_another_kind_is_told(batch, loss, error, message):
    ids = sentences(1)
    kinds = {"numpy": ids.numpy(), "row": ids[0], "two": ids[:2], "meta": ids.to("meta"), None: ids}
    batch = tuple(ids for _ in batch) if isinstance(batch, tuple) else kinds[batch]
    with pytest.raises(error, match=message):
        run(bigram(), lambda step: batch, loss=loss)


def test_an_optimizer_of_another_model_is_told():
    with pytest.raises(ValueError, match="the SGD holds parameters that are not the model's"):
        run(bigram(), optimizer=lambda model: [torch.optim.SGD(model.head.parameters()), SGD])


def test_only_what_the_optimizer_holds_is_clipped():
    """And gradients of the others do not pile up from step to step."""
    alone, model = bigram(), bigram()
    alone.embedding.requires_grad_(False)

    def head(model):
        return torch.optim.SGD([*model.norm.parameters(), *model.head.parameters()])

    assert run(model, optimizer=head) == run(alone, optimizer=head)


def test_a_loss_without_a_gradient_is_told():
    with pytest.raises(ValueError, match="the loss has no gradient"):
        run(bigram(), loss=lambda model, ids: (model(ids).sum().detach(), 3))
    sparse = nn.Sequential(nn.Embedding(VOCAB, 5, sparse=True), nn.Linear(5, VOCAB))
    with pytest.raises(TypeError, match="a gradient is sparse"):
        run(sparse, optimizer=sgd)


def test_a_loss_may_be_a_module_of_ones_own():
    class Loss(nn.Module):
        def forward(self, model, batch):
            return next_token_loss(PAD)(model, batch)

    assert run(bigram(), loss=Loss()) == run(bigram())


def test_what_shares_models_out_is_left_to_fit(tmp_path):
    with pytest.raises(TypeError, match="itself, but got a DataParallel; give the module inside"):
        run(nn.DataParallel(bigram()))
    with pytest.raises(ValueError, match=r"shard=True shares .* and this one was started"):
        run(bigram(), shard=True)
    with pytest.raises(ValueError, match="is a folder: a run with shard=True has a folder"):
        run(bigram(), checkpoint=tmp_path)


def test_it_refuses_what_cannot_learn():
    with pytest.raises(ValueError, match="no parameter of the model requires a gradient"):
        run(bigram().requires_grad_(False))
    with pytest.raises(TypeError, match=r"model must be a torch\.nn\.Module, got str"):
        run("bigram")
    with pytest.raises(ValueError, match="on the meta device, where nothing is computed"):
        run(bigram().to("meta"))
    with pytest.raises(TypeError, match=r"float16 are too coarse for AdamW.*model\.float\(\)"):
        run(bigram().half())
