"""Models of any width: how they are counted, their losses, schedules, the matrices' own rate."""

import pytest
import torch

from book import sizes
from book.language_model import NOTHING, log_probs
from companion.data import corpus


def test_the_embedding_is_what_the_count_leaves_out():
    assert sizes.parameters(8) - sizes.parameters(8, embedding=False) == 8 * len(sizes.NUMBER)


def test_the_loss_is_that_of_the_language_models_own_log_probabilities():
    torch.manual_seed(0)
    model, rows = sizes.model_of(8), sizes.ids_of(corpus(20, 1))
    with torch.no_grad():
        expected = -log_probs(model, rows)[rows[:, 1:] != NOTHING]
        torch.testing.assert_close(sizes.losses(model, rows), expected)


def test_too_short_a_text_is_refused():
    with pytest.raises(ValueError, match="need 64 sentences, got 63"):
        sizes.trained(4, 2, sizes.ids_of(corpus(63, 0)), 0)


def test_a_schedule_planned_for_longer_is_stopped_on_its_way():
    text = sizes.ids_of(corpus(6 * sizes.BATCH, 0))
    whole = sizes.trained(4, 6, text, 0).state_dict()
    same = sizes.trained(4, 6, text, 0, planned=6).state_dict()
    torch.testing.assert_close(same, whole, rtol=0, atol=0)
    cut = sizes.trained(4, 6, text, 0, planned=18)
    # its warm-up is longer than the other's whole schedule is high
    assert not torch.allclose(cut.embedding.weight, whole["embedding.weight"], atol=1e-3)


def test_the_rate_of_the_matrices_is_theirs_alone():
    text = sizes.ids_of(corpus(2 * sizes.BATCH, 0))
    torch.manual_seed(3)
    start = sizes.model_of(4)
    moved = sizes.trained(4, 2, text, 3, matrices=0.0)
    for (name, old), new in zip(start.named_parameters(), moved.parameters(), strict=True):
        inside = name.startswith("blocks") and old.dim() == 2
        assert torch.equal(old, new) == inside, name
