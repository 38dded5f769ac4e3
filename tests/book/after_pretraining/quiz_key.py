"""Right options of the quiz on what comes after pre-training, computed."""

from fractions import Fraction
from itertools import combinations

import torch
import torch.nn.functional as F

from book.after_pretraining.checks import _advantages, _answer_loss, _dpo_loss


def two_of_four() -> str:
    picks = list(combinations([True, False, False, False], 2))
    return str(Fraction(sum(map(any, picks)), len(picks)))


def all_pass() -> str:
    log_p = torch.randn(8, requires_grad=True)
    objective = (_advantages(torch.ones(1, 8))[0] * log_p).sum()
    (gradient,) = torch.autograd.grad(objective, log_p)
    return "Nothing" if not gradient.any() else "To make all"


def both_fall() -> str:
    start = torch.tensor([-4.0])
    before, after = (
        _dpo_loss(start - chosen, start - rejected, start, start, 0.1)
        for chosen, rejected in ((0.0, 0.0), (1.0, 3.0))
    )
    return "It falls" if after < before else "It rises" if after > before else "It stays"


def masked_prompt() -> str:
    """How many predictions have a gradient."""
    ids = torch.full((1, 20), -1)
    ids[0, :12] = torch.arange(12) % 4
    logits = torch.randn(1, 20, 5, requires_grad=True)
    (gradient,) = torch.autograd.grad(_answer_loss(logits, ids, 3), logits)
    assert torch.isclose(
        _answer_loss(logits, ids, 3), F.cross_entropy(logits[0, 2:11], ids[0, 3:12])
    )
    return str(int(gradient.any(-1).sum()))
