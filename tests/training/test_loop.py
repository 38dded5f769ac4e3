"""The loop: what one step computes, and that how a batch is split does not move it."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from companion.training import fit, next_token_loss

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
    losses, norms = [], []
    for step in range(1, 5):
        token_ids = sentences(step)
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
    for ours, theirs in zip(model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("accumulate", [2, 3, 7])
def test_splitting_a_batch_moves_nothing(accumulate):
    whole, parts = bigram(), bigram()
    one, several = run(whole), run(parts, accumulate=accumulate)
    assert several.loss == pytest.approx(one.loss, rel=1e-12)
    assert several.grad_norm == pytest.approx(one.grad_norm, rel=1e-12)


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
