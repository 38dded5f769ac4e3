"""The controls of the ViT: what each changes, what tells the order of patches, the ten starts."""

import pytest
import torch
from torch import nn

from book.vision_transformer import controls, steps

SEED = 3


class Fixed(nn.Module):
    """Gives every image of the test logits of its own, whatever it shows."""

    def __init__(self, named):
        super().__init__()
        self.logits = torch.eye(10)[named]

    def forward(self, images):
        return self.logits


class Weighing(nn.Module):
    """Sums an image's pixels, each weighed by its row if places count."""

    def __init__(self, places):
        super().__init__()
        self.weights = torch.arange(8.0)[:, None] if places else torch.ones(8, 1)

    def forward(self, images):
        return (images.double() * self.weights).sum((2, 3))


@pytest.mark.parametrize(("off", "share"), [(0, 1.0), (1, 0.0)])
def test_accuracy_counts_the_digits_that_are_named(off, share):
    labels = steps.parts(SEED)[3]
    assert controls.accuracy(Fixed((labels + off) % 10), SEED, controls.mixed) == share


def test_a_logit_moves_if_places_count_and_does_not_in_a_bag():
    assert controls.moved(Weighing(places=True), SEED) > 1
    assert controls.moved(Weighing(places=False), SEED) < 1e-9
    torch.manual_seed(SEED)
    assert controls.moved(controls.blind().eval(), SEED) < 1e-4
    assert controls.moved(controls.placed().eval(), SEED) > 0.05


@pytest.mark.parametrize("change", [controls.mixed, controls.scrambled])
def test_a_disorder_keeps_the_numbers_and_is_the_same_in_all_images(change):
    numbers = torch.stack([torch.arange(64.0), torch.arange(64.0).flip(0)]).view(2, 1, 8, 8)
    first, second = change(numbers, SEED).flatten(1)
    assert sorted(first.tolist()) == [*range(64)] != first.tolist()
    assert torch.equal(second, 63 - first)
    assert not torch.equal(change(numbers, SEED), change(numbers, SEED + 1))


def patches(images):
    """The patches of an image, as a set of their numbers."""
    cut = images[0, 0].unfold(0, 2, 2).unfold(1, 2, 2).reshape(16, 4)
    return {tuple(patch) for patch in cut.tolist()}


def test_scrambled_patches_stay_whole_and_mixed_pixels_do_not():
    numbers = torch.arange(64.0).view(1, 1, 8, 8)
    assert patches(controls.scrambled(numbers, SEED)) == patches(numbers)
    assert patches(controls.mixed(numbers, SEED)).isdisjoint(patches(numbers))


def test_position_vectors_begin_25_times_as_large_and_all_else_is_the_same():
    networks = []
    for make in (steps.vit, controls.placed):
        torch.manual_seed(SEED)
        networks.append(make())
    small, large = (dict(network.named_parameters()) for network in networks)
    for name, values in small.items():
        times = 25 if name == "positions.weight" else 1
        torch.testing.assert_close(large[name], times * values)


def test_ten_starts_have_every_learner():
    rows = controls.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for row in rows:
        assert set(row["a hundred"]) == {"SVM", *controls.CONTROLS}
        accuracies = row["a hundred"] | row["all"]
        moved = accuracies.pop("a logit moves")
        assert moved >= 0 and all(0 <= share <= 1 for share in accuracies.values())


@pytest.mark.long
@pytest.mark.parametrize("name", [*controls.CONTROLS])
def test_a_stored_start_is_found_again(name):
    make, rate, change = controls.CONTROLS[name]
    found = [
        controls.accuracy(
            controls.learned(make, rate, 5301, some, controls.FEW, change), 5301, change
        )
        for some in controls.HUNDRED
    ]
    # Another processor rounds otherwise: some images of the 500 change sides.
    assert sum(found) / 2 == pytest.approx(controls.stored()[0]["a hundred"][name], abs=0.04)


@pytest.mark.long
def test_a_stored_bag_of_patches_is_found_again():
    network = controls.learned(controls.blind, 2e-3, 5301, slice(None), controls.ALL)
    found = controls.accuracy(network, 5301, controls.scrambled)
    stored = controls.stored()[0]["all"]["no positions, scrambled"]
    assert found == pytest.approx(stored, abs=0.04)
