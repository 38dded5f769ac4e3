"""The recipes: what they ask of their models, and that these can learn it."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from companion.data import Vocabulary
from companion.train.recipes import RECIPES, hide_words
from companion.training import fit
from companion.training.prefetching import Prefetcher

SMALL = ["gpt", "bert", "translation", "lorenz"]


def recipe_of(name):
    return RECIPES[name](steps=30, seed=0)


@pytest.mark.long
@pytest.mark.parametrize("name", SMALL)
def test_a_recipe_learns_and_says_how_well(name):
    recipe = recipe_of(name)
    before = recipe.evaluate(recipe.model.eval())
    history = fit(
        recipe.model,
        recipe.batches,
        steps=8,
        loss=recipe.loss,
        learning_rate=recipe.learning_rate,
        evaluate=recipe.evaluate,
        progress=False,
        **recipe.arguments,
    )
    (after,) = history.evaluations
    assert after["validation_loss"] < before["validation_loss"] - 0.2
    assert len(after["samples"]) == 5
    assert all(isinstance(sample, str) for sample in after["samples"])


class Dtypes(TorchDispatchMode):
    """Keeps the dtypes of the tensors that operations make on the device "meta"."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        tensors = (leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor))
        self.seen |= {tensor.dtype for tensor in tensors if tensor.device.type == "meta"}
        return result


@pytest.mark.parametrize("name", SMALL)
def test_nothing_is_float64_on_the_device(name):
    """Apple's GPUs have no float64; "meta" stands for them here."""
    recipe = recipe_of(name)
    with Dtypes() as dtypes:
        model = recipe.model.to("meta")
        (part,) = Prefetcher(recipe.batches, torch.device("meta"), 20)(15)
        total, _ = recipe.loss(model, part)
        total.backward()
    assert torch.float32 in dtypes.seen
    assert torch.float64 not in dtypes.seen


def test_words_are_hidden_in_the_papers_shares():
    words = Vocabulary()
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(4, len(words), (1000, 40), generator=generator)
    ids[:, 0], ids[:, 30], ids[:, 31:] = words.cls_id, words.sep_id, words.pad_id
    before = ids.clone()
    shown, targets = hide_words(ids, words, generator)
    assert torch.equal(ids, before)
    hidden = targets != words.pad_id
    assert torch.equal(targets[hidden], ids[hidden])
    assert torch.equal(shown[~hidden], ids[~hidden])
    assert not hidden[:, [0, *range(30, 40)]].any()

    real = 29 * 1000
    masked, kept = shown == words.mask_id, shown == ids
    assert hidden.sum() / real == pytest.approx(0.15, abs=0.01)
    assert (hidden & masked).sum() / hidden.sum() == pytest.approx(0.8, abs=0.03)
    assert (hidden & kept).sum() / hidden.sum() == pytest.approx(0.1, abs=0.03)
