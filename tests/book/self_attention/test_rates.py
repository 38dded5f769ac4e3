"""The recall that is trained with its scores divided and without, at six rates."""

import pytest
import torch

from book.self_attention import rates


def test_the_answer_is_the_value_of_the_key_that_is_asked():
    keys, values, asked, answer = rates.recall_batch(torch.Generator().manual_seed(1))
    for row in range(64):
        pairs = dict(zip(keys[row].tolist(), values[row].tolist(), strict=True))
        assert len(pairs) == 8  # no key twice
        assert pairs[asked[row].item()] == answer[row]


def test_training_teaches_it_and_no_training_does_not():
    adam = rates.OPTIMIZERS["Adam"]
    assert rates.accuracy(1, adam, 0.003, rates.SCALES["scaled"], steps=0) < 0.2
    assert rates.accuracy(1, adam, 0.003, rates.SCALES["scaled"], steps=100) > 0.8


def test_the_scores_are_multiplied_by_the_scale():
    torch.manual_seed(1)
    model = rates.Recall(0.0)  # every key gets the same weight
    keys, values, asked, _ = rates.recall_batch(torch.Generator().manual_seed(1))
    assert torch.allclose(model(keys, values, asked), model(keys, values, asked.flip(0)))
    model.scale = 1.0
    assert not torch.allclose(model(keys, values, asked), model(keys, values, asked.flip(0)))


def test_ten_starts_have_an_accuracy_for_each_rate():
    starts = rates.stored()
    assert [start["seed"] for start in starts] == list(range(5301, 5311))
    for start in starts:
        for name in rates.OPTIMIZERS:
            assert list(start[name]) == list(rates.SCALES)
            for row in start[name].values():
                assert len(row) == len(rates.RATES) and all(0 <= share <= 1 for share in row)


@pytest.mark.long
def test_a_stored_start_is_found_again():
    again, start = rates.measure(5301), rates.stored()[0]
    for name in rates.OPTIMIZERS:
        for kind in rates.SCALES:  # where training is unstable, rounding decides
            ours, theirs = torch.tensor(again[name][kind]), torch.tensor(start[name][kind])
            assert ((ours - theirs).abs() < 0.1).sum() >= 4
