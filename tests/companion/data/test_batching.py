import pytest
import torch

from companion.data import batches, padded, windows

ROWS = torch.arange(23)[:, None] + torch.arange(5) * 100
LABELS = torch.arange(23)


def test_padded_fills_on_the_right():
    ids = padded([[5, 6, 7], [8], [], torch.tensor([9, 9])], 3)
    assert ids.dtype == torch.int64
    assert ids.tolist() == [[5, 6, 7], [8, 3, 3], [3, 3, 3], [9, 9, 3]]
    assert padded([], 0).shape == (0, 0)


def test_every_row_comes_once_before_any_comes_again():
    batch = batches(LABELS, batch_size=7, seed=0)
    turns = [torch.cat([batch(1 + 3 * turn + i) for i in range(3)]).tolist() for turn in range(4)]
    for turn in turns:
        assert len(set(turn)) == 21 and set(turn) <= set(range(23))
    assert len({tuple(turn) for turn in turns}) == 4
    assert {row for turn in turns for row in turn} == set(range(23))


def test_several_tensors_keep_their_rows_together():
    rows, labels = batches(ROWS, LABELS, batch_size=7, seed=0)(5)
    assert rows.shape == (7, 5)
    assert torch.equal(rows, ROWS[labels])


def test_a_step_has_the_same_batch_whenever_it_is_asked():
    batch, again = (batches(LABELS, batch_size=7, seed=4) for _ in range(2))
    later = batch(9)
    assert all(torch.equal(batch(step), again(step)) for step in (9, 2, 1))
    assert torch.equal(later, again(9)) and not torch.equal(batch(8), later)
    assert not torch.equal(later, batches(LABELS, batch_size=7, seed=5)(9))


def test_the_batches_are_the_ones_they_always_were():
    """Recorded values: the models of the chapters were trained on these orders."""
    batch = batches(LABELS, batch_size=7, seed=4)
    recorded = {
        1: [8, 12, 17, 2, 7, 6, 22],
        2: [19, 21, 20, 4, 15, 18, 10],
        3: [11, 3, 0, 5, 14, 16, 1],
        4: [4, 18, 19, 7, 11, 21, 3],
        9: [2, 22, 11, 1, 12, 3, 18],
    }
    for step in (9, 1, 4, 2, 3):
        assert batch(step).tolist() == recorded[step]


def test_the_data_are_shuffled_once_in_an_epoch(monkeypatch):
    shuffles, randperm = [], torch.randperm
    monkeypatch.setattr(
        torch, "randperm", lambda *args, **options: shuffles.append(1) or randperm(*args, **options)
    )
    batch = batches(LABELS, batch_size=7, seed=4)
    for step in range(1, 10):
        batch(step)
    assert len(shuffles) == 3


def test_torchs_own_generator_is_left_alone():
    state = torch.get_rng_state()
    batches(LABELS, batch_size=7, seed=0)(1)
    windows(LABELS, batch_size=3, length=5, seed=0)(1)
    assert torch.equal(state, torch.get_rng_state())


def test_columns_of_padding_are_cut_where_the_whole_batch_has_them():
    ids = torch.tensor([[1, 2, 0, 0, 0], [0, 3, 0, 0, 0], [1, 0, 4, 0, 0], [0, 0, 0, 0, 0]])
    two = batches(ids[:2], batch_size=2, seed=1, pad_id=0)(1)
    assert sorted(two.tolist()) == [[0, 3], [1, 2]]
    assert batches(ids[:3], batch_size=3, seed=1, pad_id=0)(1).shape == (3, 3)
    assert batches(ids[3:], batch_size=1, seed=1, pad_id=0)(1).shape == (1, 0)
    assert batches(ids, batch_size=4, seed=1)(1).shape == (4, 5)
    rows, labels = batches(ids[:2], torch.tensor([0, 0]), batch_size=2, seed=1, pad_id=0)(1)
    assert rows.shape == (2, 2) and labels.tolist() == [0, 0]  # labels have no columns


def test_windows_are_stretches_of_the_text():
    text = list(range(100, 150))
    batch = windows(text, batch_size=11, length=8, seed=0)
    starts = set()
    for step in range(1, 60):
        ids = batch(step)
        assert ids.shape == (11, 8) and ids.dtype == torch.int64
        assert torch.equal(ids - ids[:, :1], torch.arange(8).expand(11, 8))
        starts |= set(ids[:, 0].tolist())
    assert starts == set(range(100, 143))
    assert torch.equal(batch(3), windows(text, batch_size=11, length=8, seed=0)(3))
    assert not torch.equal(batch(3), batch(4))


def test_there_is_no_step_before_the_first():
    rows = torch.arange(6)
    for batch in (
        batches(rows, batch_size=2, seed=0),
        windows(rows, batch_size=2, length=3, seed=0),
    ):
        with pytest.raises(ValueError, match="step must be at least 1, got 0"):
            batch(0)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="at least one tensor"):
        batches(batch_size=3, seed=0)
    with pytest.raises(ValueError, match=r"tensors with \[4, 23\] rows"):
        batches(ROWS, LABELS[:4], batch_size=3, seed=0)
    with pytest.raises(ValueError, match="batch_size is 24; choose 1 to 23"):
        batches(ROWS, batch_size=24, seed=0)
    with pytest.raises(ValueError, match="length is 24; choose 1 to 23"):
        windows(LABELS, batch_size=2, length=24, seed=0)
    with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
        windows(LABELS, batch_size=0, length=8, seed=0)
    for wrong in (
        lambda: batches(ROWS, batch_size=2.5, seed=0),
        lambda: windows(LABELS, batch_size=2, length=2.5, seed=0),
        lambda: windows(LABELS, batch_size=2, length=3, seed=0)(1.0),  # would be another batch
    ):
        with pytest.raises(TypeError, match="must be an int, got"):
            wrong()
    for make in (
        lambda: batches(ROWS, batch_size=3, seed=None),
        lambda: windows(LABELS, batch_size=2, length=3, seed=None),
    ):
        with pytest.raises(TypeError, match="seed is None"):
            make()
