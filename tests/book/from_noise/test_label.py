"""Ten starts of two conditions: the examiners tell painters apart, the best rate is read."""

from statistics import mean

import pytest
import torch

from book.from_noise import label
from book.from_noise.painters import ANY, Examiners
from companion.data import digits

SEED = 5301


def by_digit(listens: bool):
    """A painter of each digit's mean; or, if it does not listen, of the mean of all."""
    images, labels = digits(SEED)
    images = 2 * images - 1
    means = torch.stack([images[labels == digit].mean(0) for digit in range(10)])
    means = torch.cat([means, images.mean(0, keepdim=True)])
    return lambda z, t, digit: means[digit if listens else torch.full_like(digit, ANY)]


def test_a_painter_that_listens_is_told_from_one_that_does_not():
    images, examiners = digits(SEED)[0], Examiners(SEED)
    hears, deaf = (label.examine(by_digit(is_), images, examiners, SEED) for is_ in (True, False))
    assert hears[0] < 0.8 * deaf[0]
    assert hears[1] > 0.95 and deaf[1] == pytest.approx(0.1)


def test_copies_and_means_are_told_apart():
    images, labels = digits(SEED)
    first = torch.stack([2 * images[labels == digit][0] - 1 for digit in range(10)])
    examiners = Examiners(SEED)
    copier = label.examine(lambda z, t, digit: first[digit], images, examiners, SEED)
    typical = label.examine(by_digit(True), images, examiners, SEED)
    assert copier[3] == 1 and typical[3] == 0


def test_a_real_picture_is_not_told_from_others():
    examiners = Examiners(SEED)
    images, _ = digits(SEED)
    assert examiners.told_apart(images[:600]) < 0.6
    assert examiners.told_apart(torch.rand(600, 1, 8, 8)) > 0.99


def test_ten_starts_at_three_rates_are_stored_and_the_best_rate_is_read():
    rows = label.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for name in label.KINDS:
        errors = {rate: mean(error for error, *_ in label.at(rate, name)) for rate in label.RATES}
        assert errors[label.best_rate(name)] == min(errors.values())
        for row in rows:
            assert len(row[name]) == len(label.RATES)
            assert all(error > 0 and max(rest) <= 1 for error, *rest in row[name])


@pytest.mark.long
def test_a_stored_start_is_found_again():
    images, labels = digits(SEED)
    model = label.learned(label.DiT, 2 * images - 1, labels, SEED, label.RATE)
    found = label.examine(model, images, Examiners(SEED), SEED)
    # Another processor rounds otherwise, and is as another start.
    assert found == pytest.approx(label.stored()[0]["norms"][1], abs=0.06)
