"""Two schedules: the curve, what counts as right, the stored table, and a run found again."""

import pytest
import torch

from book.full_model import schedules
from companion.training import warmup_schedule


def test_the_papers_curve_peaks_where_it_is_told_and_falls_with_the_root_of_the_step():
    assert schedules.paper(schedules.WARMUP, 0.006) == pytest.approx(0.006)
    assert schedules.paper(50, 0.006) == pytest.approx(0.003)
    assert schedules.paper(400, 0.006) == pytest.approx(0.003)
    ratio = warmup_schedule(700, d_model=48, warmup_steps=100) / warmup_schedule(
        400, d_model=48, warmup_steps=100
    )
    assert schedules.paper(700, 1.0) / schedules.paper(400, 1.0) == pytest.approx(ratio)


def test_a_translation_counts_if_it_is_right_to_the_last_word(monkeypatch):
    pairs = schedules.sentences(3, "plain", 20, "test")
    _, targets = schedules.as_ids(pairs)
    model = schedules.new_model(3)
    monkeypatch.setattr(schedules, "greedy_decode", lambda *how: targets)
    assert schedules.share_right(model, pairs) == 1
    wrong = targets.clone()
    wrong[:5, 1] = schedules.VOCABULARY.id("the")
    monkeypatch.setattr(schedules, "greedy_decode", lambda *how: wrong)
    assert schedules.share_right(model, pairs) == pytest.approx(1 - 5 / len(pairs))


def test_ten_starts_at_three_peaks_are_stored():
    found = schedules.stored()
    assert [*found] == [*schedules.WAYS]
    for results in found.values():
        assert results.shape == (10, len(schedules.PEAKS), 2)
        assert (results[..., 0] > 0.3).all() and (
            (0 <= results[..., 1]) & (results[..., 1] <= 1)
        ).all()


@pytest.mark.long
def test_a_stored_start_is_found_again(monkeypatch):
    monkeypatch.setattr(schedules, "PEAKS", schedules.PEAKS[1:2])
    found, stored = schedules.measure(5301), schedules.stored()
    for way in schedules.WAYS:
        # Another processor rounds otherwise, and is as another start.
        assert torch.tensor(found[way][0]).allclose(stored[way][0, 1], atol=0.1)
