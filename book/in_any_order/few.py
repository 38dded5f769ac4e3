"""Few sentences, many passes: masked diffusion, and a GPT as one may train it.

    python -m book.in_any_order.few 701 702 703 704 705 > book/in_any_order/few.json

made the table beside this file. For every seed, which draws sentences, holes and starts: 200 and
1,000 sentences, read again and again by the chapter's network and its GPT, by a GPT with dropout,
and by one that sees its sentences with holes, each at three rates. A row has what they lose along
the way, in nats per sentence above the entropy: on 200 sentences by which one may choose a rate and
when to stop, and on 200 others. The chapter's network has a second row, by a closer bound, for
which its runs were made a second time. A seed takes about half an hour.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from companion.data import (
    BOS,
    CLS,
    EOS,
    SEP,
    WORDS,
    Vocabulary,
    batches,
    corpus,
    sentence_probability,
)
from companion.models import BERT, GPT, BERTConfig, GPTConfig
from companion.training import fit, next_token_loss

MODELS = ("any order", "GPT", "GPT, dropout", "GPT, holes")
SIZES, STEPS = (200, 1000), {3e-4: 2000, 1e-3: 1500, 3e-3: 800}  # of a run, by its rate
BATCH, EVERY, ORDERS = 64, 25, 16
CLOSER = f"any order, {ORDERS} orders"  # the network by its closer bound
MARKS = (25, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1000, 1500, 2000)  # steps
VOCABULARY = Vocabulary((BOS, EOS, *WORDS))
PAD, HIDDEN, FIRST_WORD = VOCABULARY.pad_id, VOCABULARY.mask_id, VOCABULARY.id(EOS) + 1


def new_model(name: str, seed: int) -> BERT | GPT:
    """The chapter's model: one block of width 64, the encoder's matrices drawn wider."""
    torch.manual_seed(seed)
    family, config = (BERT, BERTConfig) if name == "any order" else (GPT, GPTConfig)
    sizes = {"vocab_size": len(VOCABULARY), "d_model": 64, "num_layers": 1, "num_heads": 4}
    sizes |= {"d_ff": 256, "max_len": 20, "norm_first": True, "activation": "gelu"}
    model = family(config(**sizes, dropout=0.3 if name == "GPT, dropout" else 0.0))
    if family is BERT:
        for parameter in model.blocks.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.1)
    return model


def hide(ids: Tensor, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """The ids with m of n words hidden, m uniform on 1 to n, and the targets."""
    is_word = ids >= FIRST_WORD
    n = is_word.sum(1, keepdim=True)
    m = 1 + (n * torch.rand(len(ids), 1, generator=random)).long()
    draw = torch.rand(ids.shape, generator=random).masked_fill(~is_word, 2)
    hidden = draw.argsort(1).argsort(1) < m
    return ids.masked_fill(hidden, HIDDEN), ids.masked_fill(~hidden, PAD)


def any_order_loss(model: BERT, batch: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """The chapter's loss: the words that are asked, weighted by n / m."""
    ids, targets = batch
    asked = targets != PAD
    n, m = ((ids >= FIRST_WORD) | asked).sum(1), asked.sum(1)
    losses = F.cross_entropy(model.head(model.encode(ids)[asked]), targets[asked], reduction="none")
    return ((n / m)[:, None].expand(ids.shape)[asked] * losses).sum(), n.sum()


def with_holes(ids: Tensor, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """The ids with up to half of the words hidden, at a random rate, and all targets."""
    rate = 0.5 * torch.rand(len(ids), 1, generator=random)
    holes = (torch.rand(ids.shape, generator=random) < rate) & (ids >= FIRST_WORD)
    return ids.masked_fill(holes, HIDDEN), ids


def holes_loss(model: GPT, batch: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """The next token, always the true one, behind words of which some are hidden."""
    seen, ids = batch
    targets = ids[:, 1:]
    logits = model(seen[:, :-1])[targets != PAD]
    targets = targets[targets != PAD]
    return F.cross_entropy(logits, targets, reduction="sum"), torch.tensor(len(targets))


@torch.no_grad()
def price_left_to_right(model: GPT, ids: Tensor) -> Tensor:
    """-log p of each sentence, its end included."""
    log_p = model(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
    return -log_p.masked_fill(ids[:, 1:] == PAD, 0).sum(1)


@torch.no_grad()
def price_in_any_order(model: BERT, ids: Tensor, random: torch.Generator) -> Tensor:
    """-log p of each sentence's words, one at a time in a random order.

    The network writes in all orders, so that a sentence's probability is the mean of p over them.
    The mean of -log p is an upper bound on its price; `closer`, of several orders, a closer one.
    """
    seen, cost = ids.masked_fill(ids >= FIRST_WORD, HIDDEN), torch.zeros(len(ids))
    while (blank := seen == HIDDEN).any():
        logits = model(seen)
        logits[..., :FIRST_WORD] = -torch.inf  # words only
        log_p = logits.log_softmax(-1).gather(-1, ids[..., None])[..., 0]
        urge = torch.rand(ids.shape, generator=random).masked_fill(~blank, -1)
        now = blank & F.one_hot(urge.argmax(1), ids.shape[1]).bool()
        cost -= log_p.masked_fill(~now, 0).sum(1)
        seen = torch.where(now, ids, seen)
    return cost


def closer(prices: Tensor) -> Tensor:
    """-log of the mean p (N,), of prices (orders, N)."""
    return math.log(len(prices)) - (-prices).logsumexp(0)


def measure(
    name: str, told: list[list[str]], seed: int
) -> Callable[[BERT | GPT], dict[str, list[float]]]:
    """What a model loses on sentences to choose by and on others, by the name of its row."""
    first, last = (CLS, SEP) if name == "any order" else (BOS, EOS)
    fresh = [corpus(200, seed + apart) for apart in (1000, 2000)]
    lengths = Counter(map(len, told))

    def loses(model, sentences):
        ids = VOCABULARY.encode([(first, *words, last) for words in sentences])
        entropy = torch.tensor([-math.log(sentence_probability(words)) for words in sentences])
        if name != "any order":
            return {name: (price_left_to_right(model, ids) - entropy).mean().item()}
        # It is told the length, whose price is that of the counts (half a sentence for each).
        of_length = torch.tensor(
            [-math.log((lengths[len(words)] + 0.5) / (len(told) + 7)) for words in sentences]
        )
        random = torch.Generator().manual_seed(seed)
        prices = torch.stack([price_in_any_order(model, ids, random) for _ in range(ORDERS)])
        return {
            row: (price + of_length - entropy).mean().item()
            for row, price in ((name, prices[0]), (CLOSER, closer(prices)))
        }

    def of_both(model):
        chosen, others = (loses(model, sentences) for sentences in fresh)
        return {row: [round(chosen[row], 3), round(others[row], 3)] for row in chosen}

    return of_both


def run(name: str, count: int, rate: float, seed: int) -> list[dict]:
    """The rows of one model: what it loses at those of `MARKS` that its steps reach."""
    told = corpus(count, seed)
    first, last = (CLS, SEP) if name == "any order" else (BOS, EOS)
    ids = VOCABULARY.encode([(first, *words, last) for words in told])
    text = batches(ids, batch_size=BATCH, seed=seed, pad_id=PAD)
    losses = {"any order": any_order_loss, "GPT, holes": holes_loss}
    change = {"any order": hide, "GPT, holes": with_holes}.get(name)
    loses, at_mark, steps = measure(name, told, seed), [], STEPS[rate]
    steps_so_far: Iterator[int] = iter(range(EVERY, steps + 1, EVERY))

    def batch(step):
        draw = torch.Generator().manual_seed(100_000 * seed + step)
        return change(text(step), draw) if change else text(step)

    def evaluate(model):
        if next(steps_so_far) in MARKS:
            at_mark.append(loses(model))
        return 0.0

    fit(
        new_model(name, seed),
        batch,
        steps=steps,
        loss=losses.get(name, next_token_loss(PAD)),
        learning_rate=lambda step: rate * min(1, step / 50),
        betas=(0.9, 0.99),
        weight_decay=0.02,
        evaluate=evaluate,
        evaluate_every=EVERY,
        progress=False,
    )
    rows = []
    for row in at_mark[0]:
        chosen, others = zip(*(lost[row] for lost in at_mark), strict=True)
        run_of = {"seed": seed, "sentences": count, "model": row, "rate": rate}
        rows.append(run_of | {"to choose by": chosen, "others": others})
    return rows


def measured() -> list[dict]:
    """The committed table: a row for each run, two for one of the network for any order."""
    return json.loads(files("book.in_any_order").joinpath("few.json").read_text("utf8"))


def main(seeds: Sequence[int]) -> None:
    """Print the table of these seeds."""
    found = []
    for seed in seeds:
        for count in SIZES:
            for name in MODELS:
                for rate in STEPS:
                    found += run(name, count, rate, seed)
                    print(found[-1], file=sys.stderr, flush=True)
    print("[\n" + ",\n".join(json.dumps(row) for row in found) + "\n]")


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]])
