"""How often do texts of SmolLM2 go in circles, written greedily and drawn with top-p?

    python -m book.decoding.circles {5301..5310} > circles.json

made the table, which lies beside this file. A seed draws twelve beginnings and what is drawn from
them; a text has 160 tokens, or ends before. A minute for a seed.
"""

import random
from collections.abc import Sequence
from itertools import product, takewhile

import torch

from book import runs
from companion.generation import generate
from companion.models import GPT
from companion.pretrained import load, load_tokenizer

NAME = "SmolLM2-135M-Instruct"
WAYS = {"greedy": {"temperature": 0}, "top-p 0.95": {"top_p": 0.95}}
LENGTHS = (40, 80, 160)  # tokens
BEGINNINGS = [
    f"{when}, {who} {did}"
    for when, who, did in product(
        ("Yesterday", "Last summer", "One morning", "Ten years ago", "After the war"),
        ("my sister", "the old teacher", "a young doctor", "our neighbour", "the village"),
        ("went to", "wrote about", "talked about", "waited for", "dreamed of"),
    )
]


def repeated(ids: Sequence[int], n: int = 4) -> float:
    """The share of a text's runs of n tokens that it has had before."""
    found = [tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)]
    return (len(found) - len(set(found))) / max(1, len(found))


def continued(
    model: GPT, rows: list[list[int]], new: int, seed: int, ends: Sequence[int], **how: float
) -> list[list[int]]:
    """What a model writes after each row of tokens: `new` tokens, or up to one of `ends`."""
    longest = max(map(len, rows))
    begun = torch.tensor([[0] * (longest - len(row)) + row for row in rows])
    real = torch.tensor([[i >= longest - len(row) for i in range(longest)] for row in rows])
    draws = torch.Generator().manual_seed(seed)
    ids = generate(model, begun, new, prompt_mask=real, generator=draws, eos_id=ends, **how)
    return [list(takewhile(lambda token: token not in ends, row[longest:])) for row in ids.tolist()]


def measure(seed: int) -> dict:
    """For each beginning and way: its first 40 tokens, what each length repeats, and its length."""
    model, tokenizer = load(NAME), load_tokenizer(NAME)
    begun = random.Random(seed).sample(BEGINNINGS, 12)
    rows = [tokenizer.encode(text) for text in begun]
    ends = [tokenizer.eos_id, *tokenizer.encode("<|endoftext|>")]
    row = {"seed": seed, "begun": begun}
    for way, how in WAYS.items():
        texts = continued(model, rows, max(LENGTHS), seed, ends, **how)
        row[way] = {
            "texts": [tokenizer.decode(ids[: LENGTHS[0]]) for ids in texts],
            "again": {n: [round(repeated(ids[:n]), 4) for ids in texts] for n in LENGTHS},
            "tokens": [len(ids) for ids in texts],
        }
    return row


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "circles.json")


if __name__ == "__main__":
    runs.write(measure)
