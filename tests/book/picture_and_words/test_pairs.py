"""What captions, pictures, questions and exams are, and what a reader that is blind can see."""

import pytest
import torch
from torch.nn.functional import normalize

from book.picture_and_words import pairs, reader
from book.picture_and_words.checks import _contrastive, _marks


@pytest.fixture
def random():
    return torch.Generator().manual_seed(4)


def test_a_swap_exchanges_two_neighbours_and_a_shuffle_keeps_the_words(random):
    rows = pairs.captions(200, random)
    assert all(len(set(row)) == 3 for row in rows.tolist())
    swaps = {
        tuple((rows[i] == word).nonzero().item() for word in new)
        for i, new in enumerate(pairs.swapped(rows, random))
    }
    assert swaps == {(1, 0, 2), (0, 2, 1)}
    mixed = pairs.shuffled(rows, random)
    assert (mixed != rows).any() and (mixed.sort(1).values == rows.sort(1).values).all()
    told = pairs.naming(rows, 1, random)
    assert ((told == pairs.KINDS).sum(1) == 2).all() and ((told == rows).sum(1) == 1).all()


def test_a_thing_is_its_digit_in_its_ink(random):
    images = [torch.full((1, 64), (digit + 1) / 10) for digit in range(10)]
    seen = pairs.pictures(torch.tensor([[4, 37, 52]]), images, random).view(3, 3, 64)[..., 0]
    expected = torch.tensor([[0.5, 0, 0], [0.8, 0.8, 0], [0, 0.3, 0.3]])
    torch.testing.assert_close(seen, expected)
    assert pairs.words([4, 37, 52]) == ["red-4", "yellow-7", "cyan-2"]


def test_the_loss_is_that_of_the_exercise(random):
    torch.manual_seed(1)
    pair, rows = pairs.Pair(), pairs.captions(6, random)
    images, read = torch.rand(6, 3, 192), torch.stack([rows, pairs.swapped(rows, random)], 1)
    total, count = pairs.contrastive(pair, (images, read))
    every = pair.read(torch.cat([read[:, 0], read[:, 1]]))
    torch.testing.assert_close(total / count, _contrastive(pair.see(images), every, pair.log_scale))


def test_a_plane_tells_clouds_apart_that_have_a_gap_and_no_others(random):
    cloud = normalize(torch.randn(2, 400, 8, generator=random), dim=-1)
    assert pairs.gap(*cloud) < 0.2 and pairs.told_apart(*cloud) < 0.65
    moved = cloud[0] + 3 * torch.eye(8)[2]
    assert abs(pairs.gap(moved, cloud[0]) - 3) < 1e-5
    assert pairs.told_apart(moved, cloud[0]) > 0.99


def test_questions_have_true_answers_and_as_many_yes_as_asked_for(random):
    rows, asked, answers = reader.questions("place", 300, random)
    assert (rows[torch.arange(300), asked[:, 1] - 1] == answers).all()
    rows, asked, answers = reader.questions("left", 300, random, 0.8)
    at = [(rows == asked[:, i : i + 1]).float() for i in (1, 2)]
    assert all((there.sum(1) == 1).all() for there in at)
    stands = at[0].argmax(1) < at[1].argmax(1)
    assert (stands == (answers == reader.YES)).all()
    assert 0.7 < stands.float().mean() < 0.9


def test_a_blind_block_hides_the_picture_from_the_words():
    torch.manual_seed(2)
    model, asked = reader.Reader(0.4, 0.5).eval(), torch.tensor([[10, 3, 12, 13]])
    with torch.no_grad():
        one, other = torch.rand(2, 1, 5, 64)
        for blind, differs in (((), True), ((0,), True), ((1,), True), ((0, 1), False)):
            apart = (model(one, asked, blind) - model(other, asked, blind)).abs().max()
            assert (apart > 1e-4) == differs
        logits, weights = model(one, asked, (1,), need_weights=True)
    torch.testing.assert_close(logits, model(one, asked, (1,)))
    assert weights[1][:, :, 5:, :5].max() == 0 < weights[0][:, :, 5:, :5].min()


def test_exams_say_what_a_reader_gets_right():
    class Says(reader.Reader):
        def forward(self, pictures, asked, blind=(), need_weights=False):
            return torch.eye(16)[reader.YES].expand(len(asked), -1)

    images = [torch.rand(3, 64) for _ in range(10)]
    found = reader.exams(Says(), 5, images)
    assert found["yes"] == 1 and found["no"] == found["its picture"] == 0
    assert abs(found["four of five yes"] - 0.8) < 0.06
    said, answers = reader.examined(Says(), 5, images, "left")
    share = _marks(said == reader.YES, answers == reader.YES)[0]
    assert abs(share - found["balanced"]) < 1e-6


@pytest.mark.parametrize("module", [pairs, reader])
def test_the_tables_have_every_run(module):
    rows = module.measured()
    seeds = {row["seed"] for row in rows}
    assert len(seeds) >= 3 and len(rows) == len(seeds) * len(module.ASKED)
    for seed in seeds:
        asked = [row["asked"] for row in rows if row["seed"] == seed]
        assert all(one in asked for one in module.ASKED)
