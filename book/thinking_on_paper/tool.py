"""A calculator in the sentence, and what a model makes of it when it lies.

    python -m book.thinking_on_paper.tool 701 702 703 > book/thinking_on_paper/tool.json

made the table beside this file. The models are the chapter's, and so are their sums, schedule and
steps. Their texts have a call, `456+789=[456+789>1245]:1245`: the model writes up to `>`, a program
writes `1245]`, which is no target, and the model goes on. A seed draws sums, lies and starts, and
takes about five minutes.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import torch
from torch import Tensor

from book import runs
from companion.models import GPT, GPTConfig
from companion.training import fit, masked_token_loss

SYMBOLS = "0123456789+=:[>]_"
BLANK = SYMBOLS.index("_")
STEPS, LONGER_STEPS, BATCH = 400, 800, 64
ASKED, LONGEST = 600, 44
OFF = (1, 50, 100, 200, 500, 2000)  # a lie is off by at least, and less than the next
WIDTHS = (2, 3, 4, 5)

Sum = tuple[int, int]
Tool = Callable[[Sum], int]
Line = Callable[..., str]


def carries(pair: Sum, width: int = 3) -> str:
    return "".join(str(int(sum(n % 10**k for n in pair) >= 10**k)) for k in range(1, width + 1))


def prompt_of(pair: Sum, width: int = 3) -> str:
    return "+".join(f"{n:0{width}d}" for n in pair) + "="


def calling(pair: Sum, said: int | None = None, width: int = 3) -> str:
    """A sum with a call. What the program says is the sum, if not given; the answer always is."""
    prompt, right = prompt_of(pair, width), sum(pair)
    said = right if said is None else said
    return f"{prompt}[{prompt[:-1]}>{said:0{width + 1}d}]:{right:0{width + 1}d}"


def noting(pair: Sum, width: int = 3) -> str:
    """A sum with its carries before the answer."""
    return f"{prompt_of(pair, width)}{carries(pair, width)}:{sum(pair):0{width + 1}d}"


def at_once(pair: Sum, width: int = 3) -> str:
    """A sum without anything before its answer."""
    return f"{prompt_of(pair, width)}:{sum(pair):0{width + 1}d}"


def encoded(texts: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Ids and targets (N, T): blank in the prompt, where a program writes, and behind the end."""
    ids = torch.full((len(texts), max(map(len, texts))), BLANK)
    targets = ids.clone()
    for i, text in enumerate(texts):
        row = torch.tensor([SYMBOLS.index(symbol) for symbol in text])
        ids[i, : len(row)] = targets[i, : len(row)] = row
        targets[i, : text.index("=") + 1] = BLANK
        if ">" in text:
            targets[i, text.index(">") + 1 : text.index("]") + 1] = BLANK
    return ids[:, :-1], targets[:, 1:]


def practise(model: GPT, batch: Callable, steps: int, peak: float = 3e-3, warmup: int = 50) -> None:
    """The chapter's training: up to the peak, then down to a twentieth of it."""
    fit(
        model,
        batch,
        steps=steps,
        loss=masked_token_loss(BLANK),
        learning_rate=lambda step: peak * min(step / warmup, max(0.05, 1 - step / steps)),
        betas=(0.9, 0.99),
        weight_decay=0.02,
        progress=False,
    )


def learn(texts: Sequence[str], seed: int, peak: float = 3e-3) -> GPT:
    """The chapter's model after one pass over these texts."""
    torch.manual_seed(seed)
    sizes = {"num_layers": 2, "d_model": 64, "num_heads": 4, "d_ff": 256, "dropout": 0.0}
    sizes |= {"vocab_size": len(SYMBOLS), "max_len": LONGEST, "pad_id": BLANK}
    model = GPT(GPTConfig(**sizes))
    ids, targets = encoded(texts)
    steps = len(texts) // BATCH

    def batch(step):
        rows = slice((step - 1) * BATCH, step * BATCH)
        return ids[rows], targets[rows]

    practise(model, batch, steps, peak)
    return model


@torch.no_grad()
def write(model: GPT, pairs: Sequence[Sum], tool: Tool = sum, width: int = 3) -> list[str]:
    """What stands there in the end, greedy; behind a `>` the program writes what `tool` says.

    The tool is given the numbers that the model has written, and says 0 of what are none.
    """
    texts = [prompt_of(pair, width) for pair in pairs]
    to_insert = ["" for _ in texts]
    for _ in range(4 * width + 8):  # as long as a call and its answer are
        ids = torch.tensor([[SYMBOLS.index(symbol) for symbol in text] for text in texts])
        likeliest = model(ids)[:, -1].argmax(-1).tolist()
        for i, found in enumerate(likeliest):
            if to_insert[i]:
                symbol, to_insert[i] = to_insert[i][0], to_insert[i][1:]
            else:
                symbol = SYMBOLS[found]
            texts[i] += symbol
            if symbol == ">" and texts[i].count(">") == 1:
                asked = texts[i][texts[i].find("[") + 1 : -1].split("+")
                numbers = [int(number) for number in asked if number.isdigit()]
                said = tool(tuple(numbers)) if len(numbers) == 2 else 0
                to_insert[i] = f"{said:0{width + 1}d}]"
    return texts


def answer_of(text: str, width: int = 3) -> str:
    """The digits behind the first colon, one more than each number has."""
    return text.partition(":")[2][: width + 1]


def share(conditions: Iterable[bool]) -> float:
    found = list(conditions)
    return round(sum(found) / len(found), 4)


def is_right(text: str, pair: Sum, width: int = 3) -> bool:
    return answer_of(text, width) == f"{sum(pair):0{width + 1}d}"


def examined(model: GPT, pairs: Sequence[Sum], tool: Tool = sum) -> dict[str, float]:
    """Shares of these sums that are right, call, and end in what the tool says."""
    rows = list(zip(write(model, pairs, tool), pairs, strict=True))
    return {
        "right": share(is_right(*row) for row in rows),
        "calls": share("[" in text for text, _ in rows),
        "repeats": share(answer_of(text) == f"{tool(pair):04d}" for text, pair in rows),
    }


def repeated(model: GPT, pairs: Sequence[Sum], lie: Tool) -> list[float]:
    """The share of lies that are repeated, by how far they are off: `OFF`."""
    rows = list(zip(write(model, pairs, lie), pairs, strict=True))
    said = [
        (abs(lie(pair) - sum(pair)), answer_of(text) == f"{lie(pair):04d}") for text, pair in rows
    ]
    return [share(same for off, same in said if low <= off < high) for low, high in pairwise(OFF)]


def pair_of(width: int, draw: torch.Generator) -> Sum:
    """Two numbers of at most this many digits."""
    first, second = torch.randint(10**width, (2,), generator=draw).tolist()
    return first, second


def by_width(line: Line, most: int, seed: int) -> dict[str, list[float]]:
    """Trained on sums of 1 to `most` digits, asked 100 of each of `WIDTHS`: the shares that are
    right, and those that are copied into a call."""
    draw = torch.Generator().manual_seed(seed)
    widths = torch.randint(1, most + 1, (LONGER_STEPS * BATCH,), generator=draw).tolist()
    model = learn([line(pair_of(width, draw), width=width) for width in widths], seed)
    found = {"right": [], "copied": []}
    for width in WIDTHS:
        pairs = [pair_of(width, draw) for _ in range(100)]
        rows = list(zip(write(model, pairs, width=width), pairs, strict=True))
        calls = [f"{prompt_of(pair, width)}[{prompt_of(pair, width)[:-1]}>" for pair in pairs]
        found["right"].append(share(is_right(*row, width) for row in rows))
        found["copied"].append(
            share(row[0].startswith(call) for row, call in zip(rows, calls, strict=True))
        )
    return found


def run(seed: int) -> dict:
    """Everything that the table says of a seed."""
    draw = torch.Generator().manual_seed(seed)
    count = 4 * STEPS * BATCH + ASKED
    numbers = torch.randperm(1_000_000, generator=draw)[:count].tolist()
    pairs = [divmod(number, 1000) for number in numbers]  # none occurs twice
    off_by = torch.randint(1, 2000, (count,), generator=draw).tolist()
    lies = {pair: (sum(pair) + off) % 2000 for pair, off in zip(pairs, off_by, strict=True)}

    def slip(pair: Sum) -> int:  # one unit off, without a carry
        return sum(pair) + (1 if sum(pair) % 10 < 9 else -1)

    tools = {"true": sum, "lies": lambda pair: lies.get(pair, 0), "slips": slip}
    asked, told = pairs[:ASKED], pairs[ASKED:]
    once = told[: STEPS * BATCH]
    says = torch.randint(4, (len(told),), generator=draw).tolist()  # half of the results are true
    unsure = [
        calling(pair, (sum, sum, tools["lies"], slip)[i](pair))
        for pair, i in zip(told, says, strict=True)
    ]
    models = {
        "trusting": learn([calling(pair) for pair in once], seed),
        "wary": learn(unsure[: len(once)], seed),
        "wary, four times the steps": learn(unsure, seed),
    }
    sparing = learn([(calling if "1" in carries(pair) else at_once)(pair) for pair in once], seed)
    return {
        "seed": seed,
        "exam": {
            name: {kind: examined(model, asked, tool) for kind, tool in tools.items()}
            for name, model in models.items()
        },
        "repeated": {name: repeated(model, asked, tools["lies"]) for name, model in models.items()},
        "sparing": {
            name: examined(sparing, [pair for pair in asked if ("1" in carries(pair)) == carry])
            for name, carry in (("with a carry", True), ("without", False))
        },
        "widths": {
            "carries, to 3": by_width(noting, 3, seed),
            "tool, to 3": by_width(calling, 3, seed),
            "tool, to 6": by_width(calling, 6, seed),
        },
    }


def measured() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "tool.json")


if __name__ == "__main__":
    runs.write(run)
