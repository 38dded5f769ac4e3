"""Two distant marks: the networks compared, what is read off a curve, and the stored table."""

import pytest
import torch

from book.vision_transformer import marks


def test_every_network_answers_for_an_image_and_convolutions_see_the_vits_patches():
    images = marks.images(1, marks.PATCH)[2][:5]
    for make, _, _ in marks.KINDS.values():
        torch.manual_seed(1)
        assert make()(images).shape == (5, 2)
    network = marks.patch_cnn().eval()
    assert network[0](images).shape == (5, 32, 4, 4)
    changed = images.clone()
    changed[..., :4, :4] += 1  # the first patch: in one layer only its neighbours may read it
    apart = (network[:2](changed) - network[:2](images)).abs().amax((0, 1)) > 0
    assert apart[:2, :2].all() and apart.sum() == 4
    assert sum(p.numel() for p in marks.patch_cnn().parameters()) > sum(
        p.numel() for p in marks.vit().parameters()
    )


def test_marks_lie_on_the_grid_or_anywhere():
    on_grid, anywhere = (marks.images(1, grid)[0][:100, 0].abs() > 0.9 for grid in (4, 1))
    # Each pixel of a mark is 1 or -1: on the grid a patch is a mark whole, or none of it.
    for images, whole in ((on_grid, True), (anywhere, False)):
        patches = images.unfold(1, 4, 4).unfold(2, 4, 4).flatten(3).float().mean(-1)
        assert ((patches < 0.1) | (patches > 0.9)).all() == whole


def test_steps_are_those_of_the_first_time():
    assert marks.steps_to(0.9, [0.5, 0.91, 0.89, 0.95]) == 100
    assert marks.steps_to(0.9, [0.5, 0.6]) is None


def test_ten_starts_at_four_rates_are_stored_and_the_best_rate_is_read():
    rows = marks.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for kind, (_, _, steps) in marks.KINDS.items():
        assert all(len(curve) == steps // marks.EVERY for row in rows for curve in row[kind])
        rate, curves = marks.best(kind)
        ends = [sum(row[kind][i][-1] for row in rows) for i in range(len(marks.RATES))]
        assert sum(curve[-1] for curve in curves) == max(ends)
        assert marks.RATES[ends.index(max(ends))] == rate


@pytest.mark.long
@pytest.mark.parametrize("kind", ["ViT", "convolutions"])
def test_a_stored_run_is_found_again(kind):
    _, found = marks.learned(kind, marks.RATES[2], 5301)
    # Another processor rounds otherwise, and is as another start.
    assert found[-1] == pytest.approx(marks.stored()[0][kind][2][-1], abs=0.03)
