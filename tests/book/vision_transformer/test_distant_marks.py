"""The two marks: parts that do not overlap, labels that are true, equal seeds."""

import pytest
import torch

from book.vision_transformer.distant_marks import same_different
from companion.data import SPLITS

INK = 0.95  # every pixel of a mark is -1 or 1, and noise of 0.15 does not come near


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
