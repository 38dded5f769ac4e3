"""The digits: parts that do not overlap, labels that are true, equal seeds."""

import sys

import pytest
import torch

from companion.data import SPLITS, digits, shifted


def test_the_digits_are_scikit_learns_and_each_is_in_one_part():
    from sklearn.datasets import load_digits

    found = load_digits()
    parts = [digits(3, split) for split in SPLITS]
    assert [len(labels) for _, labels in parts] == [1097, 200, 500]
    images, labels = (torch.cat(both) for both in zip(*parts, strict=True))
    assert images.shape == (1797, 1, 8, 8) and images.dtype == torch.float32
    assert (images.min(), images.max()) == (0, 1)

    def pairs(pixels, targets):
        return sorted(zip(pixels.flatten(1).tolist(), targets.tolist(), strict=True))

    ours = pairs((images * 16).round().long(), labels)
    theirs = pairs(torch.tensor(found.images).long(), torch.tensor(found.target))
    assert ours == theirs


def test_the_seed_decides_the_parts():
    images, labels = digits(3, "test")
    again, other = digits(3, "test"), digits(4, "test")
    assert torch.equal(images, again[0]) and torch.equal(labels, again[1])
    assert not torch.equal(labels, other[1])
    assert digits(3)[1].bincount(minlength=10).min() > 80  # mixed: every digit is everywhere
    with pytest.raises(ValueError, match="must be one of 'train', 'validation', 'test'"):
        digits(3, "all")
    with pytest.raises(TypeError, match="seed=0"):
        digits(0.5)


def test_images_move_by_their_own_number_of_pixels():
    images = torch.arange(2 * 3 * 5 * 7.0).view(2, 3, 5, 7) + 1
    moved = shifted(images, torch.tensor([1, 0]), torch.tensor([-2, 3]))
    assert moved.shape == images.shape
    assert torch.equal(moved[0, :, 1:, :-2], images[0, :, :-1, 2:])
    assert torch.equal(moved[1, :, :, 3:], images[1, :, :, :-3])
    assert not moved[0, :, 0].any() and not moved[0, :, :, -2:].any()
    assert not moved[1, :, :, :3].any()
    still = torch.zeros(2, dtype=torch.int64)
    assert torch.equal(shifted(images, still, still), images)
    with torch.device("meta"):  # where new tensors go that are not told where their images are
        assert torch.equal(shifted(images, still, still), images)


def test_without_scikit_learn_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match="pip install scikit-learn"):
        digits(0, "train")
