"""The recipe with Muon for the matrices of the blocks, at the same rate."""

import math

import torch
from torch import nn

from book.language_model import LanguageModel, log_probs

PEAK, BATCH = 1e-2, 64


def train(rows, vocab_size, budget):
    model = LanguageModel(vocab_size)
    matrices = [weight for weight in model.blocks.parameters() if weight.dim() == 2]
    chosen = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in chosen]
    optimizers = [
        torch.optim.Muon(matrices, weight_decay=0.02, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, betas=(0.9, 0.99), weight_decay=0.02),
    ]
    for step, spent in enumerate(budget):
        ids = rows[step * BATCH % len(rows) :][:BATCH]
        ids = ids[:, : (ids >= 0).any(dim=0).sum()]  # as far as the longest reaches
        loss = -log_probs(model, ids).sum() / (ids[:, 1:] >= 0).sum()
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rate = PEAK * min((spent + 1e-3) / 0.06, (1 + math.cos(math.pi * spent)) / 2)
        for optimizer in optimizers:
            optimizer.param_groups[0]["lr"] = rate
            optimizer.step()
    return model
