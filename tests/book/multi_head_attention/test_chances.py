"""Second chances for a single head: what is counted as right, the kinds, and the stored table."""

import pytest
import torch
from torch import nn

from book.multi_head_attention import chances
from companion.nn import EncoderBlock


class Reader(nn.Module):
    """Names these two words of each sentence, whatever they are."""

    def __init__(self, *places):
        super().__init__()
        self.places = list(places)

    def forward(self, ids):
        return nn.functional.one_hot(ids[:, self.places], len(chances.VOCABULARY)).float()


def test_subject_object_and_both_are_told_apart():
    assert chances.examine(Reader(1, 4), 1) == [1, 1, 1]
    assert chances.examine(Reader(4, 1), 1) == [0, 0, 0]
    assert chances.examine(Reader(1, 1), 1) == [1, 0, 0]


def test_kinds_are_what_they_name():
    layers = {kind: make() for kind, make in chances.KINDS.items()}
    assert layers["1 head"].num_heads == 1 and layers["4 heads"].num_heads == 4
    sizes = {kind: sum(p.numel() for p in layers[kind].parameters()) for kind in layers}
    assert sizes["1 head"] == sizes["2 heads"] == sizes["4 heads"]
    assert sizes["1 head, then 1 head"] == 2 * sizes["1 head"]
    assert isinstance(layers["1 head, whole block"], EncoderBlock)
    x = torch.randn(2, 5, 64)
    for layer in layers.values():
        attended, weights = layer(x, need_weights=True)
        assert attended.shape == x.shape and weights.shape[-2:] == (5, 5)
    one = chances.VerbReader(layers["1 head"])
    assert one(chances.sentences(3, 1, "train")).shape == (3, 2, len(chances.VOCABULARY))


def test_twelve_starts_at_three_rates_are_stored_and_the_best_rate_is_read():
    rows = chances.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5313))
    for kind in chances.KINDS:
        by_rate = [[row[kind][i] for row in rows] for i in range(len(chances.RATES))]
        best = chances.at_best_rate(kind)
        assert best in by_rate
        both = [sum(shares[2] for shares in found) for found in by_rate]
        assert both[by_rate.index(best)] == max(both)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "rate"), [("1 head, then 1 head", 1), ("4 heads", 2)])
def test_a_stored_run_is_found_again(kind, rate):
    found = chances.examine(chances.learned(kind, chances.RATES[rate], 5301), 5301)
    # Another processor rounds otherwise, and is as another start.
    assert found == pytest.approx(chances.stored()[0][kind][rate], abs=0.2)
