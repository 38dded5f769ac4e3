"""A world of 4,096 names, a small GPT that is told some of its facts, and what the model believes.

Every probability is summed over all names and all answers: no question is sampled, so nothing here
has an error bar but what another world would change.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from companion.models import GPT, GPTConfig

SIDE = 64  # first names, and last names
ANSWERS = 64  # days on which one may be born, and badges that one may wear
START, BORN, WEARS, UNKNOWN = range(2 * SIDE + 2 * ANSWERS, 2 * SIDE + 2 * ANSWERS + 4)
FIRST_OF = {BORN: 2 * SIDE, WEARS: 2 * SIDE + ANSWERS}  # where the answers begin in the vocabulary
EVERYONE = torch.arange(SIDE * SIDE)
RATE = 4e-3

FIRST = [
    front + back
    for front in ("Al", "Bel", "Cor", "Dan", "Er", "Fel", "Gal", "Hor")
    for back in ("a", "en", "ia", "ix", "on", "or", "us", "yn")
]
LAST = [
    front + back
    for front in ("Ash", "Black", "Clay", "East", "Fair", "Green", "Hart", "King")
    for back in ("bury", "dale", "field", "ford", "ham", "ley", "ton", "wood")
]
DAYS = [
    f"{day} {month}"
    for month, last in (("January", 31), ("February", 28), ("March", 5))
    for day in range(1, last + 1)
]
BADGES = [
    f"{colour} {animal}"
    for colour in ("red", "blue", "green", "grey", "white", "black", "brown", "golden")
    for animal in ("fox", "owl", "hare", "swan", "bear", "wolf", "deer", "crow")
]


class World:
    """2,048 real people among 4,096 names, and the texts in which some are spoken of.

    The r-th best known is spoken of, and asked about, with a probability proportional to
    r ** -tail.

    Attributes:
        p: how often each name is asked about, (4096,); 0 if it is nobody's.
        day: the day of birth that goes with each name, arbitrary; nobody's names have one, too.
        badge: the badge, which follows from the name: the colour from the end of the first name,
            the animal from the end of the last.
        told: the people of the texts on days of birth, one for each text.
        count: how often each name is in `told`.
    """

    def __init__(self, seed: int, tail: float = 1.0, told: int = 4000):
        draw = torch.Generator().manual_seed(seed)
        real = torch.randperm(SIDE * SIDE, generator=draw)[: SIDE * SIDE // 2]
        self.p = torch.zeros(SIDE * SIDE)
        self.p[real] = torch.arange(1.0, len(real) + 1) ** -tail
        self.p /= self.p.sum()
        self.day = torch.randint(ANSWERS, (SIDE * SIDE,), generator=draw)
        first, last = EVERYONE // SIDE, EVERYONE % SIDE
        self.badge = 8 * (first % 8) + last % 8
        self.told = self.p.multinomial(told, replacement=True, generator=draw)
        self.told_badge = self.p.multinomial(told // 2, replacement=True, generator=draw)
        self.count = torch.bincount(self.told, minlength=SIDE * SIDE)

    def texts(self, told: Tensor | None = None) -> Tensor:
        """What the model reads: the days of birth of `told` (else of all texts), and the badges."""
        told = self.told if told is None else told
        days = text(told, BORN, FIRST_OF[BORN] + self.day[told])
        badges = text(self.told_badge, WEARS, FIRST_OF[WEARS] + self.badge[self.told_badge])
        return torch.cat([days, badges])


def name_of(i: int) -> str:
    """The name with a number, as "Alia Ashbury"."""
    return f"{FIRST[i // SIDE]} {LAST[i % SIDE]}"


def text(names: Tensor, question: int, answer: Tensor | int) -> Tensor:
    """Rows of five tokens: start, first name, last name, question, answer."""
    columns = [START, names // SIDE, SIDE + names % SIDE, question, answer]
    return torch.stack([torch.zeros_like(names) + column for column in columns], 1)


def new_model() -> GPT:
    """A GPT of one block and 67,000 weights, drawn from torch's generator."""
    return GPT(
        GPTConfig(
            vocab_size=UNKNOWN + 1,
            max_len=8,
            d_model=64,
            num_heads=4,
            num_layers=1,
            d_ff=128,
            dropout=0.0,
            tie_weights=False,
            pad_id=None,
        )
    )


def teach(
    model: GPT,
    rows: Tensor,
    epochs: int,
    rate: float,
    after: Callable[[int], None] = lambda epoch: None,
    answers_only: bool = False,
) -> None:
    """Train on texts with AdamW, in batches of 100; `after(epoch)` is called after each epoch.

    All tokens of a text count, or its answer alone where `answers_only` says so.
    """
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=0.01, fused=True)
    counted = slice(3 if answers_only else 0, None)
    for epoch in range(1, epochs + 1):
        for batch in torch.randperm(len(rows)).split(100):
            logits = model(rows[batch, :-1])[:, counted]
            loss = cross_entropy(logits.flatten(0, 1), rows[batch, 1:][:, counted].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        after(epoch)


@torch.no_grad()
def beliefs(model: GPT, question: int) -> Tensor:
    """The probabilities of the 64 answers, and of "unknown" last, for every name: (4096, 65)."""
    logits = model(text(EVERYONE, question, UNKNOWN)[:, :-1])[:, 3]
    first = FIRST_OF[question]
    return torch.cat([logits[:, first : first + ANSWERS], logits[:, UNKNOWN:]], 1).softmax(1)


@torch.no_grad()
def spoken_of(model: GPT) -> Tensor:
    """How often it begins a text on each name's day of birth, if it writes by itself: (4096,)."""
    tokens = text(EVERYONE, BORN, UNKNOWN)
    log_p = model(tokens[:, :-1]).log_softmax(2)
    begun = log_p[:, :3].gather(2, tokens[:, 1:4, None]).sum((1, 2)).exp()
    return begun / begun.sum()
