"""Answers by somebody who had not read the checks."""

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("from_noise")


@right
def move(z, guess, t, s):
    return (z * (1 - s) + guess * (s - t)) / (1 - t)


wrong(
    "share s - t",
    "return (z * (1 - s) + guess * (s - t)) / (1 - t)",
    "return z + (s - t) * (guess - z)",
)
wrong("from the guess", "z * (1 - s) + guess * (s - t)", "guess * (1 - s) + z * (s - t)")
wrong(
    "in place",
    "return (z * (1 - s) + guess * (s - t)) / (1 - t)",
    "z += (s - t) / (1 - t) * (guess - z); return z",
)


@right
def best_guess(z, t, images):
    rows = []
    for row in z:
        l = torch.stack([-((row - t * x) ** 2).sum() / (2 * (1 - t) ** 2) for x in images])
        w = (l - l.max()).exp()
        rows.append((w[:, None] * images).sum(0) / w.sum())
    return torch.stack(rows)


wrong("nearest image", lambda z, t, images: images[torch.cdist(z, t * images).argmin(1)])
wrong("no 2", "(2 * (1 - t) ** 2)", "((1 - t) ** 2)")
wrong("mean over pixels", ".sum() / (2", ".mean() / (2")
wrong("plain mean of images", "w = (l - l.max()).exp()", "w = torch.ones_like(l)")
wrong("first picture only", "for row in z:", "for row in z[:1].expand_as(z):")


@right
def share_of_copies(pictures, training, held, q):
    near = lambda rows: torch.stack([(training - r).pow(2).sum(1).sqrt().min() for r in rows])
    limit = near(held).quantile(q)
    return (near(pictures) < limit).float().mean()


wrong("<= the limit", "< limit", "<= limit")
wrong("1 - q", ".quantile(q)", ".quantile(1 - q)")
wrong("mean over all training images", ".sqrt().min()", ".sqrt().mean()")
wrong("fixed quantile", ".quantile(q)", ".quantile(0.05)")
wrong("q of the maximum", ".quantile(q)", ".max() * q")


@right
def move(z, guess, t, s):
    share = (s - t) / (1 - t)
    return z + share * (guess - z)


wrong("over the time left afterwards", "(1 - t)", "(1 - s)")
wrong("over the time left afterwards, or a little", "(1 - t)", "max(1 - s, 1e-3)")
wrong("new noise", "z + share * (guess - z)", "s * guess + (1 - s) * torch.randn_like(z)")


@right
def best_guess(z, t, images):
    squared = ((z[:, None] - t * images) ** 2).sum(-1)
    weights = torch.softmax(-squared / (2 * (1 - t) ** 2), dim=1)
    return weights @ images


wrong("mean over pixels", ".sum(-1)", ".mean(-1)")
wrong("a deviation of t", "(1 - t) ** 2", "max(t, 1e-3) ** 2")


@right
def share_of_copies(pictures, training, held, q):
    def nearest(a):
        return torch.cdist(a, training).min(dim=1).values

    limit = nearest(held).quantile(q)
    return (nearest(pictures) < limit).float().mean()


wrong(
    "quantile of all distances",
    "nearest(held).quantile(q)",
    "torch.cdist(held, training).quantile(q)",
)

wrong(
    "pictures against the held-out images",
    "(nearest(pictures) < limit)",
    "(torch.cdist(pictures, held).min(dim=1).values < limit)",
)


@right
def best_guess(z, t, images):
    apart = z.unsqueeze(1) - t * images.unsqueeze(0)
    log_p = -apart.square().sum(dim=2) / (2 * (1 - t) ** 2)
    return log_p.softmax(dim=1) @ images


wrong("the images not faded", "t * images.unsqueeze(0)", "images.unsqueeze(0)")


@right
def share_of_copies(pictures, training, held, q):
    def nearest(rows):
        apart = rows.flatten(1)[:, None] - training.flatten(1)[None]
        return apart.pow(2).sum(dim=-1).sqrt().min(dim=1).values

    limit = nearest(held).quantile(q)
    return (nearest(pictures) < limit).float().mean()


wrong("the number instead of the share", ".float().mean()", ".sum()")


@right
def move(z, guess, t, s):
    left = (1 - s) / (1 - t)
    return left * z + (1 - left) * guess


wrong(
    "the shares of picture and guess are exchanged",
    "    left = (1 - s) / (1 - t)\n    return left * z + (1 - left) * guess",
    "    share = (s - t) / (1 - t)\n    return share * z + (1 - share) * guess",
)
