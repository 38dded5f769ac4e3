"""A reader of pictures: five digits through one linear map, in front of a small GPT.

    nice python -m book.picture_and_words.reader 41 42 43 > book/picture_and_words/reader.json

made the table beside this file. A seed draws starts, batches, who writes the digits, and the exams;
it takes three minutes. The chapter trains one of these readers again.
"""

import json
import sys
from collections.abc import Sequence
from functools import partial
from importlib.resources import files

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book.picture_and_words.pairs import hands, written
from companion.models import GPT, GPTConfig
from companion.nn.blocks import run_blocks
from companion.training import cosine_schedule, fit

VOCABULARY = [*map(str, range(10)), "place", "left", ".", "?", "yes", "no"]
PLACE, LEFT, DOT, ASKS, YES, NO = range(10, 16)
ROW, WIDTH, STEPS, EACH = 5, 64, 1000, 32  # digits in a picture; questions of each kind in a batch


def questions(
    kind: str, count: int, random: torch.Generator, yes: float = 0.5
) -> tuple[Tensor, Tensor, Tensor]:
    """Digits (count, 5), questions of four words (count, 4), and their answers (count,).

    "place" asks which digit stands at a place, from 1; "left" whether one digit stands left of
    another, where both are there once, and `yes` is the share of those that do.
    """
    rand = partial(torch.rand, generator=random)
    if kind == "place":
        row, at = (10 * rand(count, ROW)).long(), (ROW * rand(count)).long()
        asked, answers = (at + 1, torch.full_like(at, DOT)), row[torch.arange(count), at]
    else:
        row = rand(count, 10).argsort(1)[:, :ROW]
        two = rand(count, ROW).argsort(1)[:, :2].sort(1).values
        first, second = row.gather(1, two).unbind(1)
        stands = rand(count) < yes
        asked = torch.where(stands, first, second), torch.where(stands, second, first)
        answers = torch.where(stands, YES, NO)
    head = torch.full_like(answers, {"place": PLACE, "left": LEFT}[kind])
    return row, torch.stack([head, *asked, torch.full_like(answers, ASKS)], 1), answers


class Reader(nn.Module):
    """A GPT whose first five vectors are a picture's patches, each through one linear map.

    Args:
        blocks, words: the size of the entries of the blocks' matrices, and of the vectors of words
            and places, at the start; GPT's own is .02.
    """

    def __init__(self, blocks: float = 0.1, words: float = 0.3) -> None:
        super().__init__()
        self.gpt = GPT(
            GPTConfig(
                vocab_size=len(VOCABULARY), d_model=WIDTH, num_layers=2, num_heads=4, d_ff=128,
                max_len=ROW + 4, pad_id=DOT, dropout=0.0,
            )
        )  # fmt: skip
        self.project = nn.Linear(64, WIDTH)
        for name, parameter in self.gpt.named_parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=blocks if "blocks" in name else words)

    def forward(
        self,
        pictures: Tensor,
        asked: Tensor,
        blind: Sequence[int] = (),
        need_weights: bool = False,
    ):
        """Logits (B, 16) of the answer to questions (B, 4) about pictures (B, 5, 64).

        In the blocks `blind` no word can attend to a patch. With need_weights also a list over
        blocks of weights (B, H, 9, 9).
        """
        gpt = self.gpt
        x = torch.cat([self.project(pictures), gpt.token_embedding(asked)], 1)
        x = gpt.positions(x, None, start=0)
        sees = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        hidden = sees.clone()
        hidden[ROW:, :ROW] = False
        weights = []
        for i, block in enumerate(gpt.blocks):
            mask = hidden if i in blind else sees
            x, given = run_blocks([block], x, mask, need_weights=need_weights)
            weights += given
        logits = gpt.head(gpt.final_norm(x[:, -1]))
        return (logits, weights) if need_weights else logits


def answer_loss(model: nn.Module, batch: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    """For `fit`: the cross-entropy of the answers alone."""
    pictures, asked, answers = batch
    found = F.cross_entropy(model(pictures, asked), answers, reduction="sum")
    return found, torch.tensor(float(len(answers)))


def trained(
    seed: int,
    images: Sequence[Tensor],
    yes: float,
    *,
    steps: int = STEPS,
    rate: float = 3e-3,
    blocks: float = 0.1,
    words: float = 0.3,
    **options,
):
    """A reader after its training, where a share `yes` of the questions "left" is answered so.

    Args:
        options: of `fit`, as `evaluate`.

    Returns:
        The reader, and what `fit` tells of its training.
    """
    torch.manual_seed(seed)

    def batches(step: int) -> tuple[Tensor, ...]:
        random = torch.Generator().manual_seed(100_000 * (seed + 1) + step)
        parts = [questions(kind, EACH, random, yes) for kind in ("place", "left")]
        rows, asked, answers = map(torch.cat, zip(*parts, strict=True))
        return written(rows, images, random), asked, answers

    learning_rate = partial(
        cosine_schedule, max_lr=rate, min_lr=rate / 20, warmup_steps=50, total_steps=steps
    )
    options |= {"loss": answer_loss, "learning_rate": learning_rate, "progress": False}
    options |= {"betas": (0.9, 0.99), "weight_decay": 0.02}
    history = fit(reader := Reader(blocks, words), batches, steps=steps, **options)
    return reader, history


@torch.no_grad()
def examined(
    reader: Reader, seed: int, images: Sequence[Tensor], kind: str, yes: float = 0.5,
    shown: str = "its picture", count: int = 400,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """What it answers to fresh questions, and what is right, both (count,).

    Args:
        shown: "its picture", "a blank one", or "another": that of the question before.
    """
    random = torch.Generator().manual_seed(50_000 + seed)
    rows, asked, answers = questions(kind, count, random, yes)
    seen = written(rows, images, random)
    seen = {"its picture": seen, "a blank one": 0 * seen, "another": seen.roll(1, 0)}[shown]
    return reader(seen, asked).argmax(1), answers


def share(said: Tensor, answers: Tensor, of: int | None = None) -> float:
    """The share that is right, of all questions or of those with one answer."""
    right = said == answers
    return (right if of is None else right[answers == of]).float().mean().item()


def exams(reader: Reader, seed: int, images: Sequence[Tensor]) -> dict[str, float]:
    """Shares right: of "place" by what is shown; of "left" in two exams, and by the answer."""
    of = partial(examined, reader, seed, images)
    found = {shown: share(*of("place", shown=shown)) for shown in ("its picture", "a blank one")}
    found["another"] = share(*of("place", shown="another"))
    found["four of five yes"] = share(*of("left", 0.8))
    found["blank, four of five yes"] = share(*of("left", 0.8, "a blank one"))
    balanced = of("left")
    found |= {"balanced": share(*balanced)}
    return found | {"yes": share(*balanced, YES), "no": share(*balanced, NO)}


@torch.no_grad()
def exchanged(
    reader: Reader, seed: int, images: Sequence[Tensor], count: int = 400
) -> tuple[float, float]:
    """After one digit was exchanged for another: how often it says the new one, where that is the
    digit asked for; how often it is still right, where it is one of the others."""
    random = torch.Generator().manual_seed(60_000 + seed)
    rows, asked, _ = questions("place", count, random)
    every, at = torch.arange(count), asked[:, 1] - 1
    new = (rows + 1 + (9 * torch.rand(rows.shape, generator=random)).long()) % 10
    found = []
    for moved in (at, (at + 1 + (4 * torch.rand(count, generator=random)).long()) % ROW):
        changed = rows.index_put((every, moved), new[every, moved])
        said = reader(written(changed, images, random), asked).argmax(1)
        found.append(share(said, changed[every, at]))
    return tuple(found)


def measured() -> list[dict]:
    """The committed table: how each reader was trained, and its shares right."""
    return json.loads(files("book.picture_and_words").joinpath("reader.json").read_text("utf8"))


STARTS = ((0.02, 0.02), (0.1, 0.02), (0.02, 0.3))  # of blocks, of words and places
ASKED = [
    *({"yes": yes, "steps": STEPS} for yes in (0.8, 0.5)),
    {"yes": 0.8, "steps": 400},
    *({"yes": 0.8, "steps": 400, "blocks": blocks, "words": words} for blocks, words in STARTS),
]


def main(seeds: Sequence[int]) -> None:
    """Print the table of these seeds."""
    table = []
    for seed in seeds:
        seen, fresh = hands(seed, "train"), hands(seed, "test")
        for asked in ASKED:
            found = exams(trained(seed, seen, **asked)[0], seed, fresh)
            kept = {name: round(number, 4) for name, number in found.items()}
            table.append(json.dumps({"seed": seed, "asked": asked} | kept))
            print(table[-1], file=sys.stderr, flush=True)
    print("[\n" + ",\n".join(table) + "\n]")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main([int(seed) for seed in sys.argv[1:]])
