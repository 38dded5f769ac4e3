"""Ten starts: what is called learned and when training stops, the best rate, the stored table."""

from functools import partial

import pytest
import torch
from torch import nn

from book.beyond_recurrence import learners


class Namer(nn.Module):
    """Names the letter so many places after the first in the alphabet, and learns nothing."""

    def __init__(self, after):
        super().__init__()
        self.after = after
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, tokens):
        said = (tokens[:, 0] + self.after) % learners.LETTERS
        return self.scale * nn.functional.one_hot(said, learners.LETTERS)


@pytest.mark.parametrize(("after", "share", "steps"), [(0, 1.0, 38), (1, 0.0, 200)])
def test_the_first_letter_is_asked_and_who_names_it_stops_early(after, share, steps):
    model, taken = learners.train(partial(Namer, after), 8, 0.003, 1)
    assert taken == steps  # 0.9 ** 37 > 0.02 > 0.9 ** 38
    assert learners.accuracy(model, 8, 1) == share


def test_the_models_differ_in_what_they_name():
    models = {name: make() for name, make in learners.MODELS.items()}
    sizes = [sum(p.numel() for p in model.parameters()) for model in models.values()]
    assert max(sizes) < 1.03 * min(sizes)
    tokens, _ = learners.recall_batch(torch.Generator().manual_seed(1), 8)
    for model in models.values():
        assert model(tokens).shape == (32, learners.LETTERS)
    for name, bias in {"LSTM, bias 1": 1, "LSTM, remembers": 5}.items():
        gates = models[name].carry.layer.bias_hh_l0.chunk(4)
        assert [(gate == bias).all().item() for gate in gates] == [False, True, False, False]


def test_ten_starts_at_three_rates_are_stored_and_the_best_rate_is_read():
    rows = learners.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for row in rows:
        assert list(row) == ["seed", *learners.MODELS]
    for name in learners.MODELS:
        for at, n in enumerate(learners.LENGTHS):
            by_rate = [
                list(zip(*runs, strict=True))
                for runs in zip(*(row[name][at] for row in rows), strict=True)
            ]
            assert all(0 <= share <= 1 for shares, _ in by_rate for share in shares)
            assert all(38 <= steps <= 200 for _, taken in by_rate for steps in taken)
            rate, shares, taken = learners.at_best_rate(name, n)
            assert [tuple(shares), tuple(taken)] == by_rate[learners.RATES.index(rate)]
            assert sum(shares) == max(sum(found) for found, _ in by_rate)


@pytest.mark.long
@pytest.mark.parametrize(("name", "rate"), [("RNN", 0), ("Transformer", 1), ("LSTM, remembers", 2)])
def test_a_stored_run_is_found_again(name, rate):
    share, steps = learners.examine(name, 8, learners.RATES[rate], 5301)
    # Another processor rounds otherwise, and is as another start.
    assert [share, steps] == pytest.approx(learners.stored()[0][name][0][rate], abs=0.2, rel=0.3)
