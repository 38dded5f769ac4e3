"""Checks for the exercises of book/from_noise.ipynb."""

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def move(answer) -> str:
    """Check `move(z, guess, t, s)`: the picture at time s, from that at time t and a guess."""
    climb(MOVE, answer)
    return "from noise and from half way, to the end and not quite, one picture and several"


def _move(z, guess, t, s):
    return z + (s - t) / (1 - t) * (guess - z)


@ladder(_move)
def MOVE(move):
    """from pure noise, a quarter of the time is a quarter of the way"""
    z, guess = torch.tensor([-0.6, 1.2]), torch.tensor([0.2, 0.4])
    yield move(z, guess, 0.0, 0.25)

    """from half way, the part counts in the time that is left: 0.1 of 0.5"""
    z, guess = torch.tensor([-0.6, 1.2]), torch.tensor([0.2, 0.4])
    yield move(z, guess, 0.5, 0.6)

    """to the end: the whole guess is kept"""
    z, guess = torch.tensor([0.3, -0.1]), torch.tensor([0.9, -1.0])
    yield move(z, guess, 0.6, 1.0)

    """a batch of pictures"""
    z = torch.arange(8.0).view(2, 1, 2, 2) / 8
    guess = torch.tensor([1.0, -1.0]).view(2, 1, 1, 1).expand(2, 1, 2, 2)
    yield move(z, guess, 0.25, 0.5)


MOVE.mistakes |= {
    "the part is taken of the whole time; divide by the time that is left, 1 - t": edited(
        _move, " / (1 - t)", ""
    ),
    "it is divided by the time that is left at s; at t 1 - t is left": edited(
        _move, "(1 - t)", "max(1 - s, 1e-3)"
    ),
    "the step goes as far as from time 0; it begins at time t": edited(
        _move, "(s - t) / (1 - t)", "s"
    ),
    "the whole guess is kept, whatever s is": edited(_move, "(s - t) / (1 - t)", "1"),
    "what stays of the noise, (1 - s) / (1 - t), is what goes to the guess": edited(
        _move, "(s - t)", "(1 - s)"
    ),
    "the guess is added, not the way to the guess": edited(_move, "(guess - z)", "guess"),
    "the step leads away from the guess": edited(_move, "z + ", "z - "),
    "the part is (s - t) / s, so that t / s of z stays; divide by the time that is left, 1 "
    "- t": edited(_move, "(1 - t)", "s"),
    "new noise is drawn; z has noise already, of which a part stays": (
        lambda z, guess, t, s: s * guess + (1 - s) * torch.randn_like(z)
    ),
    "the noise is scaled by the root of 1 - s²; here its share at time s is 1 - s": (
        lambda z, guess, t, s: s * guess + (1 - s**2) ** 0.5 * (z - t * guess) / (1 - t)
    ),
}


@exercise
def best_guess(answer) -> str:
    """Check `best_guess(z, t, images)`, (B, D), a number and (N, D) -> (B, D)."""
    climb(BEST_GUESS, answer)
    return "pure noise, half way and near the end, one image and several, one picture and several"


def _best_guess(z, t, images):
    distance = (z[:, None] - t * images).square().sum(-1)
    weights = (-distance / (2 * (1 - t) ** 2)).softmax(1)
    return weights @ images


@ladder(_best_guess)
def BEST_GUESS(best_guess):
    """at time 0 the picture says nothing, and the guess is the mean of the images"""
    z = torch.tensor([[0.75]])
    images = torch.tensor([[-1.0], [0.5], [1.0]])
    yield best_guess(z, 0.0, images)

    """half way, the more probable image weighs more, and the other one counts"""
    z = torch.tensor([[0.25]])
    images = torch.tensor([[-0.5], [1.0]])
    yield best_guess(z, 0.5, images)

    """all pixels of a picture decide together: the squares of their differences are added"""
    z = torch.tensor([[0.5, -0.25, 0.125]])
    images = torch.tensor([[1.0, -1.0, 1.0], [1.0, 0.5, -0.5]])
    yield best_guess(z, 0.25, images)

    """each picture of a batch has its own weights"""
    z = torch.tensor([[0.5, 0.0], [-0.5, 0.25], [0.25, 1.0]])
    images = torch.tensor([[1.0, -1.0], [-1.0, 0.5]])
    yield best_guess(z, 0.5, images)

    """near the end, the nearest image takes nearly all"""
    z = torch.tensor([[0.5, 0.1]])
    images = torch.tensor([[1.0, -1.0], [0.5, 0.5], [-1.0, 1.0]])
    yield best_guess(z, 0.9, images)

    """far from all images: exp of a long distance is 0 in a computer, and 0 / 0 is no weight"""
    z = torch.tensor([[3.0, -4.0]])
    images = torch.tensor([[1.0, -1.0], [0.99, -1.0], [-1.0, 1.0]])
    yield best_guess(z, 0.9, images)


BEST_GUESS.mistakes |= {
    "the picture is compared with the images as they are; at time t they are t times as strong": (
        edited(_best_guess, "t * images", "images")
    ),
    "the most probable image is taken alone; take the mean, by weight": edited(
        _best_guess, "weights @ images", "images[weights.argmax(1)]"
    ),
    "the weights sum to 1 over the pictures; they must over the images": edited(
        _best_guess, "softmax(1)", "softmax(0)"
    ),
    "the distance is over twice 1 - t; the variance is its square": edited(
        _best_guess, "(1 - t) ** 2", "(1 - t)"
    ),
    "the distance is over the variance; it must be over twice the variance": edited(
        _best_guess, "(2 * (1 - t) ** 2)", "(1 - t) ** 2"
    ),
    "densities become 0 before they are divided by their sum; take a softmax of logarithms": (
        lambda z, t, images: (
            (
                (w := (-torch.cdist(z, t * images).square() / (2 * (1 - t) ** 2)).exp())
                / w.sum(1, keepdim=True)
            )
            @ images
        )
    ),
    "what all pixels differ by is added as it is; the distance has their squares": edited(
        _best_guess, ".square()", ".abs()"
    ),
    "the furthest image weighs most; a large distance makes an image improbable": edited(
        _best_guess, "(-distance", "(distance"
    ),
    "the distance is not squared": edited(_best_guess, ".sum(-1)", ".sum(-1).sqrt()"),
    "the standard deviation is 1 - t, the share of the noise, not t": edited(
        _best_guess, "(1 - t) ** 2", "max(t, 1e-3) ** 2"
    ),
    "these are means of faded images, t times as strong; the images themselves are guessed": edited(
        _best_guess, "weights @ images", "weights @ (t * images)"
    ),
}


@exercise
def share_of_copies(answer) -> str:
    """Check `share_of_copies(pictures, training, held, q)` -> a share from 0 to 1."""
    climb(SHARE_OF_COPIES, answer)
    return "copies and none, one pixel and several, several quantiles"


def _share_of_copies(pictures, training, held, q):
    limit = torch.cdist(held, training).min(1).values.quantile(q)
    return (torch.cdist(pictures, training).min(1).values < limit).float().mean()


@ladder(_share_of_copies)
def SHARE_OF_COPIES(share_of_copies):
    """a picture is near if its nearest training image is nearer than the median of real ones; each
    picture, a row of torch.cdist(pictures, training), has one that is nearest"""
    training = torch.tensor([[0.0], [10.0]])
    held = torch.tensor([[1.0], [3.0], [13.5]])  # 1, 3 and 3.5 away: the limit is 3
    pictures = torch.tensor([[0.5], [12.0], [13.2], [7.1], [18.0], [4.0], [5.0], [-9.0]])
    yield share_of_copies(pictures, training, held, 0.5)

    """another quantile: q = 1 is the largest of the real distances, q = 0 the least"""
    training = torch.tensor([[0.0], [10.0]])
    held = torch.tensor([[1.0], [2.0], [13.0], [14.0]])  # 1, 2, 3 and 4 away
    pictures = torch.tensor([[1.5], [12.5], [-3.5], [0.5], [19.0]])
    yield [share_of_copies(pictures, training, held, q) for q in (1.0, 0.0)]

    """a quantile between two distances, not their squares: a quarter of the way from 3 to 5"""
    training = torch.tensor([[0.0], [20.0]])
    held = torch.tensor([[1.0], [3.0], [25.0], [9.0]])  # 1, 3, 5 and 9 away
    pictures = torch.tensor([[3.2], [23.4], [-3.6], [4.8], [0.5], [7.5], [29.0]])
    yield share_of_copies(pictures, training, held, 5 / 12)

    """a picture has many pixels: the distance is over all of them, the root of summed squares"""
    training = torch.tensor([[0.0, 0.0], [9.0, 1.0]])
    held = torch.tensor([[0.0, 1.5], [9.0, 3.5], [11.9, 1.0], [0.0, 3.2]])
    pictures = torch.tensor([[1.5, 1.5], [1.9, 1.6], [9.0, 2.0], [2.0, 2.0], [0.0, 2.72]])
    yield share_of_copies(pictures, training, held, 0.5)

    """a picture is near if it is nearer than the limit, not if it is just as far"""
    training, held = torch.tensor([[0.0]]), torch.tensor([[1.0], [2.0], [3.0]])
    yield share_of_copies(torch.tensor([[2.0], [1.0], [-2.0]]), training, held, 0.5)


SHARE_OF_COPIES.mistakes |= {
    "pictures are compared with the held-out images; these only say which distance is normal": (
        edited(_share_of_copies, "cdist(pictures, training)", "cdist(pictures, held)")
    ),
    "the mean distance to all training images is taken; take that to the nearest": edited(
        _share_of_copies,
        "(held, training).min(1).values",
        "(held, training).mean(1)",
        "(pictures, training).min(1).values",
        "(pictures, training).mean(1)",
    ),
    "this is the share of pictures that are far; those that are near are copies": edited(
        _share_of_copies, "values < limit", "values >= limit"
    ),
    "this is a number of pictures; return a share": edited(
        _share_of_copies, ".float().mean()", ".float().sum()"
    ),
    "the limit is the mean of the real distances; take their quantile": edited(
        _share_of_copies, ".quantile(q)", ".mean()"
    ),
    "this is the quantile of all distances; of each held-out image only the nearest counts": edited(
        _share_of_copies, "(held, training).min(1).values.quantile", "(held, training).quantile"
    ),
    "the limit is the median, whatever q is": edited(
        _share_of_copies, ".quantile(q)", ".quantile(0.5)"
    ),
    "the limit is the quantile of 1 - q": edited(
        _share_of_copies, ".quantile(q)", ".quantile(1 - q)"
    ),
    "the limit comes from the pictures themselves; it must come from images that are real": edited(
        _share_of_copies, "cdist(held, training)", "cdist(pictures, training)"
    ),
    "training and held-out images have changed places": edited(
        _share_of_copies,
        "cdist(held, training)",
        "cdist(training, held)",
        "cdist(pictures, training)",
        "cdist(pictures, held)",
    ),
    "the differences of the pixels are added; the distance is the root of the sum of their "
    "squares": edited(
        _share_of_copies,
        "cdist(held, training)",
        "cdist(held, training, 1)",
        "cdist(pictures, training)",
        "cdist(pictures, training, 1)",
    ),
    "a picture at the limit is counted; nearer than the limit is near": edited(
        _share_of_copies, "values < limit", "values <= limit"
    ),
    "the comparison is turned round: farther than the limit is counted, nearer is a copy": edited(
        _share_of_copies, "values < limit", "values > limit"
    ),
}
