"""Answers to the exercises of book/transformer_block.ipynb."""

import torch
import torch.nn.functional as F
from torch import nn

from book.transformer_block.checks import add_and_norm, diagnose, rms_norm, spreads, tap
from tests.book.answers import right, wrong

# Where did the norm go?


@right(rms_norm)
def by_the_formula(x, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt()


@right(rms_norm)
def by_torch(x, eps):
    return F.rms_norm(x, (x.shape[-1],), eps=eps)


@wrong(rms_norm, "a single vector is normed as well")
def two_axes_at_least(x, eps):
    return (x.mT / (x.mT.square().mean(-2, keepdim=True) + eps).sqrt()).mT


# Before or after


@right(add_and_norm)
def two_lines(x, sub_layer, norm, norm_first):
    if norm_first:
        return x + sub_layer(norm(x))
    return norm(x + sub_layer(x))


@right(add_and_norm)
def in_steps(x, sub_layer, norm, norm_first):
    identity = nn.Identity()
    before, after = (norm, identity) if norm_first else (identity, norm)
    found = sub_layer(before(x))
    return after(torch.add(found, x))


@wrong(add_and_norm, "sentences and layers of any size")
def the_first_sentence(x, sub_layer, norm, norm_first):
    x = x[:1]
    return x + sub_layer(norm(x)) if norm_first else norm(x + sub_layer(x))


# A residual with a tap


@right(tap)
class ReZero(nn.Module):
    def __init__(self, sub_layer):
        super().__init__()
        self.sub_layer = sub_layer
        self.tap = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return x + self.tap * self.sub_layer(x)


@right(tap)
class TapInAList(nn.Module):
    def __init__(self, sub_layer):
        super().__init__()
        self.parts = nn.ModuleList([sub_layer])
        self.register_parameter("alpha", nn.Parameter(torch.zeros(1)))

    def forward(self, x):
        return torch.addcmul(x, self.alpha, self.parts[0](x))


@wrong(tap, "x itself goes past the tap")
class NothingAdded(ReZero):
    def forward(self, x):
        return self.tap * self.sub_layer(x)


@wrong(tap, "it raised AttributeError: cannot assign module before Module.__init__")
class SuperForgotten(nn.Module):
    def __init__(self, sub_layer):
        self.sub_layer = sub_layer


# Averages of averages


@right(spreads)
def matrix_powers(weights, depth):
    powers = [torch.linalg.matrix_power(weights, k + 1) for k in range(depth)]
    return torch.stack([(p.max(0).values - p.min(0).values).max() for p in powers])


@right(spreads)
def one_layer_after_the_other(weights, depth):
    found, words = torch.empty(depth), torch.eye(len(weights))
    for k in range(depth):
        words = weights @ words
        found[k] = (words[:, None] - words[None]).abs().max()
    return found


@wrong(spreads, "one number for each depth")
def the_last_only(weights, depth):
    return matrix_powers(weights, depth)[-1]


# The block as a patient


def hides(block, T=5):
    """Whether a word moves the others when the mask hides it from them."""
    x = torch.randn(2, T, 8)
    other = x.clone()
    other[:, 0] = torch.randn(2, 8)
    mask = torch.eye(T, dtype=torch.bool)
    return torch.allclose(block(x, mask)[:, 1:], block(other, mask)[:, 1:], atol=1e-4)


def normalised(y):
    return y.mean(-1).abs().max() < 1e-4 and (y.var(-1, unbiased=False) - 1).abs().max() < 1e-2


@right(diagnose)
def one_symptom_after_the_other(block):
    x = torch.randn(2, 5, 8)
    y = block(x)
    yes, eye = torch.ones(5, 5, dtype=torch.bool), torch.eye(5, dtype=torch.bool)
    if not torch.allclose(y, block(x), atol=1e-4):
        return "dropout left on"
    if not torch.allclose(y, block(x, yes), atol=1e-4):
        return "mask inverted"
    if torch.allclose(y, block(x, eye), atol=1e-4):
        return "mask ignored"
    if not hides(block):
        return "norm over the words"
    if normalised(y):
        return "post-norm"
    large = 1e4 * x
    return "none" if (block(large) - large).abs().max() < 1e3 else "no residual"


@right(diagnose)
def with_sentences_of_one_word(block):
    """A sentence of one word has no neighbour, and no spread over its words."""
    x = torch.randn(1, 1, 8)
    if (block(x) - block(x)).abs().max() > 1e-4:
        return "dropout left on"
    far = block(1e5 * x)
    if far.abs().max() < 1e3:
        return "post-norm" if far.mean().abs() < 1e-3 else "no residual"
    if torch.allclose(block(x) - x, block(2 * x) - 2 * x, atol=1e-3):
        moved, both = block(3 * x) - 3 * x, block(x + 1) - x - 1
        turned = block(-x) + x
        if torch.allclose(moved, turned, atol=1e-3) and torch.allclose(moved, both, atol=1e-3):
            return "norm over the words"
    yes = torch.ones(3, 3, dtype=torch.bool)
    x = torch.randn(1, 3, 8)
    if not torch.allclose(block(x, yes), block(x), atol=1e-4):
        return "mask inverted"
    same = torch.allclose(block(x, yes.tril()), block(x), atol=1e-4)
    return "mask ignored" if same else "none"


@wrong(diagnose, "the fault 'none' was called 'dropout left on'")
def to_the_last_digit(block):
    x = torch.randn(2, 5, 8)
    return "none" if (block(x) == block(x)).all() else "dropout left on"


@wrong(diagnose, "that it never called")
def all_are_well(block):
    return "none"


@wrong(diagnose, "the fault 'norm over the words' was called 'mask ignored'")
def whoever_leaks_ignores_the_mask(block):
    found = one_symptom_after_the_other(block)
    return "mask ignored" if found == "norm over the words" else found


@wrong(diagnose, "the fault 'post-norm' was called 'no residual'")
def only_the_scale(block):
    found = one_symptom_after_the_other(block)
    return "no residual" if found == "post-norm" else found


@wrong(diagnose, "the fault 'dropout left on' was called")
def called_once_only(block):
    """Without a second call of the same input, noise looks like any other fault."""
    x = torch.randn(2, 5, 8)
    y, eye = block(x), torch.eye(5, dtype=torch.bool)
    return (
        "mask inverted"
        if not torch.allclose(y, block(x, torch.ones_like(eye)), atol=1e-4)
        else one_symptom_after_the_other(block)
    )


@wrong(diagnose, "it returned ['none'], expected one of")
def a_list_of_suspects(block):
    return [one_symptom_after_the_other(block)]
