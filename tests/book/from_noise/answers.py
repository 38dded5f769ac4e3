"""Answers to the exercises of book/from_noise.ipynb."""

import math

import torch

from book.from_noise.checks import best_guess, move, share_of_copies
from tests.book.answers import right, wrong

# From one time to another


@right(move)
def by_speed(z, guess, t, s):
    speed = (guess - z) / (1 - t)
    return z + (s - t) * speed


@right(move)
def by_what_stays(z, guess, t, s):
    stays = (1 - s) / (1 - t)
    return stays * z + (1 - stays) * guess


@wrong(move, "half way")
def of_the_time_that_is_gone(z, guess, t, s):
    part = (s - t) / s
    return z + part * (guess - z) if t else z + s * (guess - z)


# The best guess


@right(best_guess)
def in_loops(z, t, images):
    found = []
    for picture in z:
        weights = [
            math.exp(-float(((picture - t * image) ** 2).sum()) / 2 / (1 - t) ** 2)
            for image in images
        ]
        total = sum(weights)
        found.append(sum(w / total * image for w, image in zip(weights, images, strict=True)))
    return torch.stack(found)


@right(best_guess)
def as_attention(z, t, images):
    scores = t * z @ images.T - t**2 * (images * images).sum(1) / 2
    return torch.softmax(scores / (1 - t) ** 2, dim=-1) @ images


@wrong(best_guess, "the distance is not squared")
def with_distances_not_squared(z, t, images):
    return (-torch.cdist(z, t * images) / (2 * (1 - t) ** 2)).softmax(-1) @ images


# Share of copies


@right(share_of_copies)
def with_loops(pictures, training, held, q):
    def away(rows):
        return torch.stack([(training - row).norm(dim=1).min() for row in rows])

    limit = torch.quantile(away(held), q)
    return sum(bool(d < limit) for d in away(pictures)) / len(pictures)


@right(share_of_copies)
def with_squares(pictures, training, held, q):
    squared = [(rows[:, None] - training).square().sum(-1).amin(1) for rows in (pictures, held)]
    near, real = (part.sqrt() for part in squared)
    return near.lt(real.quantile(q)).double().mean()


@wrong(share_of_copies, "over all of them")
def by_the_worst_pixel(pictures, training, held, q):
    def away(rows):
        return (rows[:, None] - training).abs().amax(-1).amin(1)

    return (away(pictures) < away(held).quantile(q)).float().mean()
