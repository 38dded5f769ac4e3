"""Ten draws of English: a head is missed where it helped, and nowhere else; and what is stored."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from book.who_copies import english

ONCE = torch.randperm(20, generator=torch.Generator().manual_seed(0))
IDS = torch.stack([ONCE.repeat(2), ONCE.flip(0).repeat(2)])  # pairs recur in the second half
WORDS = len(ONCE)


class Block(nn.Module):
    """Of two heads the first writes what comes next, in the first or the second copy of a text."""

    def __init__(self, copy: int | None):
        super().__init__()
        self.copy = copy
        self.self_attention = nn.Module()
        self.self_attention.out_proj = nn.Linear(2 * WORDS, WORDS, bias=False)
        both = torch.eye(WORDS).repeat(1, 2)
        self.self_attention.out_proj.weight = nn.Parameter(both)

    def forward(self, stream, is_causal):
        assert is_causal
        merged = torch.zeros(*stream.shape[:2], 2 * WORDS)
        if self.copy is not None:
            here = slice(WORDS * self.copy, WORDS * self.copy + WORDS)
            merged[:, here, :WORDS] = 20 * stream.roll(-1, 1)[:, here]
        return stream + self.self_attention.out_proj(merged)


class Model(nn.Module):
    """An idle block and one that knows what comes next in one of the two copies."""

    def __init__(self, copy: int):
        super().__init__()
        self.config = SimpleNamespace(d_model=2 * WORDS, num_heads=2)
        self.token_embedding = lambda ids: F.one_hot(ids, WORDS).float()
        self.blocks = nn.ModuleList([Block(None), Block(copy)])
        self.final_norm = self.head = nn.Identity()


@pytest.mark.parametrize("copy", [0, 1])
def test_a_head_is_missed_in_the_tokens_that_it_knows(copy):
    silent = {"induction": [(1, 0)], "random": [(0, 0), (1, 1)]}
    found = english.losses(Model(copy), IDS, silent)
    rise = {
        name: [after - before for before, after in zip(found["nothing"], found[name], strict=True)]
        for name in silent
    }
    where, elsewhere = (1, 0) if copy == 0 else (0, 1)
    assert found["nothing"][where] < 1e-3
    assert rise["induction"][where] > 2
    # One pair is new that spans the two copies: its first token stands in the first.
    assert rise["induction"][elsewhere] == 0
    assert 0 < rise["induction"][2] < rise["induction"][where]
    assert rise["random"] == [0, 0, 0]
    assert found["share"] == pytest.approx(19 / 23, abs=1e-4)  # of the pairs from the 16th on


def test_a_pair_recurs_if_it_came_earlier_in_the_same_text():
    ids = torch.tensor([[1, 2, 1, 2, 3], [2, 3, 3, 3, 2]])
    assert english.recurring(ids).int().tolist() == [[0, 0, 1, 0], [0, 0, 1, 0]]


class Looks(nn.Module):
    """Nine blocks of nine heads: the fifth of the first eight blocks looks at one place only."""

    def __init__(self, back: int):
        super().__init__()
        self.back = back

    def hidden_states(self, ids, need_weights):
        B, T = ids.shape
        maps = torch.rand(9, B, 9, T, T, generator=torch.Generator().manual_seed(1)) / T
        t = torch.arange(self.back, T)
        maps[:8, :, 4] = 0.0
        maps[:8, :, 4, t, t - self.back] = 1.0
        return ids, list(maps)


def test_the_heads_that_look_behind_the_same_token_are_found_and_controls_are_others():
    behind, before = (Looks(back) for back in (english.N - 1, 1))
    planted = {(block, 4) for block in range(8)}
    found = english.drawn_heads(behind, torch.Generator().manual_seed(3))
    assert set(found["induction"]) == planted
    assert len(set(found["random"])) == 8
    assert all(head != 4 and block in range(8) for block, head in found["random"])
    others = english.drawn_heads(before, torch.Generator().manual_seed(3))
    assert not planted & {*others["induction"], *others["random"]}


def test_each_of_ten_draws_has_three_losses_of_each():
    rows = english.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for row in rows:
        assert list(row) == ["seed", "share", "nothing", "induction", "random"]
        for name in ("nothing", "induction", "random"):
            recurs, new, together = row[name]
            mean = row["share"] * recurs + (1 - row["share"]) * new
            assert together == pytest.approx(mean, abs=1e-3)


@pytest.mark.long
@pytest.mark.weights
def test_a_stored_draw_is_found_again():
    found, stored = english.measure(5301), english.stored()[0]
    assert found["share"] == stored["share"]
    assert found["nothing"] == pytest.approx(stored["nothing"], abs=0.02)
    for name in ("induction", "random"):  # rounded otherwise, it may be another head
        assert found[name] == pytest.approx(stored[name], abs=0.2)
