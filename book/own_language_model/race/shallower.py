"""The recipe with one block."""

import math

import torch
from torch import nn

from book.language_model import LanguageModel, log_probs

WIDTH, LAYERS, PEAK, BATCH = 64, 1, 1e-2, 64


def train(rows, vocab_size, budget):
    model = LanguageModel(vocab_size, d=WIDTH, layers=LAYERS, heads=WIDTH // 16)
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.02)
    for step, spent in enumerate(budget):
        ids = rows[step * BATCH % len(rows) :][:BATCH]
        ids = ids[:, : (ids >= 0).any(dim=0).sum()]  # as far as the longest reaches
        loss = -log_probs(model, ids).sum() / (ids[:, 1:] >= 0).sum()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rate = PEAK * min((spent + 1e-3) / 0.06, (1 + math.cos(math.pi * spent)) / 2)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
    return model
