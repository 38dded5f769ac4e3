"""The digits and the two marks: parts that do not overlap, labels that are true, equal seeds."""

import sys

import pytest
import torch

from companion.data import SPLITS, digits, same_different, shifted

INK = 0.95  # every pixel of a mark is -1 or 1, and noise of 0.15 does not come near


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


def read(image):
    """The corners and the marks of an image, found by looking at it alone."""
    ink = image[0].abs() > INK
    found = []
    while ink.any():
        row, column = ink.nonzero()[0].tolist()
        first = ink[row].nonzero()[0].item()
        assert ink[row : row + 4, first : first + 4].all() and column == first
        found.append(((row, first), image[0, row : row + 4, first : first + 4].sign()))
        ink[row : row + 4, first : first + 4] = False
    return found


@pytest.mark.parametrize(("image_size", "grid"), [(16, 1), (13, 1), (20, 4), (16, 3)])
def test_the_label_says_whether_the_marks_are_the_same(image_size, grid):
    images, labels = same_different(300, 5, image_size=image_size, grid=grid)
    assert images.shape == (300, 1, image_size, image_size) and images.dtype == torch.float32
    assert labels.float().mean().item() == pytest.approx(0.5, abs=0.1)
    corners = set()
    for image, label in zip(images, labels, strict=True):
        (there, mark), (here, other) = read(image)
        assert torch.equal(mark, other) == bool(label)
        assert max(abs(there[0] - here[0]), abs(there[1] - here[1])) > 4
        corners |= {*there, *here}
    assert corners == set(range(0, image_size - 3, grid))


def test_marks_of_one_split_are_in_no_other():
    marks = {}
    for split in SPLITS:
        images, _ = same_different(2000, 5, split=split, grid=4)
        marks[split] = {tuple(mark.flatten().tolist()) for i in images for _, mark in read(i)}
        assert len(marks[split]) > 1500 or split != "train"
    assert not marks["train"] & marks["test"]
    assert not marks["train"] & marks["validation"]
    assert not marks["test"] & marks["validation"]


def test_equal_seeds_give_equal_images():
    first, again = (same_different(7, 5)[0] for _ in range(2))
    assert torch.equal(first, again)
    assert not torch.equal(first, same_different(7, 6)[0])
    assert not torch.equal(first, same_different(7, 5, split="test")[0])
    assert same_different(0, 5)[0].shape == (0, 1, 16, 16)


def test_what_cannot_be_drawn_is_refused():
    for size, grid in ((8, 1), (8, 4), (3, 1), (2, 1), (15, 13)):
        with pytest.raises(ValueError, match="do not fit"):
            same_different(3, 0, image_size=size, grid=grid)
    assert same_different(3, 0, image_size=9)[0].shape == (3, 1, 9, 9)
    with pytest.raises(ValueError, match="must be one of"):
        same_different(3, 0, split="all")
    with pytest.raises(ValueError, match="grid must be at least 1, got 0"):
        same_different(3, 0, grid=0)
    with pytest.raises(ValueError, match="num_images must be at least 0, got -3"):
        same_different(-3, 0)


def test_without_scikit_learn_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match="pip install scikit-learn"):
        digits(0, "train")
