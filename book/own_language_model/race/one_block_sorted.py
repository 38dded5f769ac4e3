"""The recipe with one block, and sentences of like length in a batch."""

import math

import torch
from torch import nn

from book.language_model import LanguageModel, log_probs

WIDTH, LAYERS, PEAK, BATCH, POOL = 64, 1, 1e-2, 64, 16


def by_length(rows):
    """Batches, of which each POOL were sorted by length and come in any order."""
    while True:
        for pool in rows.split(BATCH * POOL):
            lengths = (pool >= 0).sum(dim=1)
            batches = pool[lengths.argsort()].split(BATCH)
            for number in torch.randperm(len(batches)).tolist():
                ids = batches[number]
                yield ids[:, : (ids >= 0).any(dim=0).sum()]


def train(rows, vocab_size, budget):
    model = LanguageModel(vocab_size, d=WIDTH, layers=LAYERS, heads=WIDTH // 16)
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.02)
    batches, usual = by_length(rows), (rows[:, 1:] >= 0).sum() / len(rows) * BATCH
    for spent in budget:
        loss = -log_probs(model, next(batches)).sum() / usual  # each sentence weighs the same
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rate = PEAK * min((spent + 1e-3) / 0.06, (1 + math.cos(math.pi * spent)) / 2)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
    return model
