"""Ten starts: who is right where, what the tasks ask, and the stored table."""

import pytest
import torch
from torch import nn

from book.beyond_the_trained_length import two_tasks


class Scripted(nn.Module):
    """Says the token three back, up to this position."""

    def __init__(self, up_to):
        super().__init__()
        self.up_to = up_to

    def forward(self, ids):
        said = ids.roll(3, dims=1)
        said[:, self.up_to :] = (said[:, self.up_to :] + 1) % 20
        return nn.functional.one_hot(said, 20)


def test_accuracy_is_told_by_position():
    found = [
        two_tasks.accuracy_by_position(Scripted(n), two_tasks.three_back, 1) for n in (160, 32)
    ]
    assert found == [[1.0] * 20, [1.0] * 4 + [0.0] * 16]


def test_the_tasks_ask_for_the_fact_and_for_the_latest_name():
    random = torch.Generator().manual_seed(1)
    for row, answers in zip(*two_tasks.look_up(random, 8, 40), strict=True):
        colours = {fact // 8: fact % 8 for fact in row[:6].tolist()}
        asked = [token - 48 if 48 <= token < 54 else None for token in row[6:].tolist()]
        expected = [two_tasks.NOT_ASKED if name is None else colours[name] for name in asked]
        assert answers.tolist() == [two_tasks.NOT_ASKED] * 6 + expected
    for row, answers in zip(*two_tasks.who_speaks(random, 8, 40), strict=True):
        for at, answer in enumerate(answers.tolist()):
            assert answer == [token for token in row[: at + 1].tolist() if token < 8][-1]


def test_a_layer_without_positions_reads_earlier_tokens_in_any_order_and_others_do_not():
    ids = torch.arange(8)[None]
    other = ids[:, [2, 0, 1, 3, 4, 5, 6, 7]]
    for scheme, same in {"none": True, "rotary": False, "ALiBi": False}.items():
        model = two_tasks.Reader(20, scheme).eval()
        assert torch.allclose(model(ids)[:, -1], model(other)[:, -1], atol=1e-5) == same


def test_ten_starts_of_each_layer_are_stored():
    rows = two_tasks.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for row in rows:
        assert list(row) == ["seed", *two_tasks.RUNS]
    for name in two_tasks.RUNS:
        curves = two_tasks.curves(name)
        assert curves.shape == (10, 20) and 0 <= curves.min() <= curves.max() <= 1


@pytest.mark.long
def test_a_stored_run_is_found_again():
    name = "who speaks, ALiBi"
    task = two_tasks.RUNS[name][0]
    model = two_tasks.learned(*two_tasks.RUNS[name], 5301)
    found = two_tasks.accuracy_by_position(model, task, 5301)
    # Another processor rounds otherwise, and is as another start.
    assert found == pytest.approx(two_tasks.stored()[0][name], abs=0.1)
