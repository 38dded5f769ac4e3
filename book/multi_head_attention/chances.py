"""Second chances for a single head: more starts and rates than the page has time for.

    python -m book.multi_head_attention.chances {5301..5312} > chances.json

made the table, which lies beside this file. A seed draws the sentences, their order and the start
of the model. Every kind of reader meets the same three learning rates.
"""

from collections.abc import Callable
from statistics import mean

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from book import runs
from book.sentences import who_did_it_sentences
from companion.data import Vocabulary
from companion.data.lexicon import ACTORS, TRANSITIVE_VERBS
from companion.nn import EncoderBlock, MultiHeadAttention, SinusoidalPositions, TokenEmbedding

STEPS, RATES = 500, (0.001, 0.003, 0.01)
VOCABULARY = Vocabulary(("the", *ACTORS, *TRANSITIVE_VERBS))
NOUNS, VERB = [1, 4], 2  # their positions in "the dog bites the man"


class OneAfterTheOther(nn.Module):
    """Two layers of one head each."""

    def __init__(self):
        super().__init__()
        self.first = MultiHeadAttention(64, 1)
        self.second = MultiHeadAttention(64, 1)

    def forward(self, x, need_weights=True):
        x = x + self.first(x)[0]  # a residual connection: what was there stays
        attended, weights = self.second(x, need_weights=need_weights)
        return x + attended, weights


class NetworkFirst(nn.Module):
    """One head, whose inputs go through a feed-forward network."""

    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
        self.attention = MultiHeadAttention(64, 1)

    def forward(self, x, need_weights=True):
        values_with_roles = x + self.network(x)
        return self.attention(values_with_roles, need_weights=need_weights)


KINDS: dict[str, Callable[[], nn.Module]] = {
    "1 head": lambda: MultiHeadAttention(64, 1),
    "1 head, whole block": lambda: EncoderBlock(64, 1, 256, norm_first=True),
    "1 head, then 1 head": OneAfterTheOther,
    "1 head after a network": NetworkFirst,
    "2 heads": lambda: MultiHeadAttention(64, 2),
    "4 heads": lambda: MultiHeadAttention(64, 4),
}


class VerbReader(nn.Module):
    """From the verb's vector, scores of every word as subject and object."""

    def __init__(self, layer: nn.Module):
        super().__init__()
        self.embedding = TokenEmbedding(len(VOCABULARY), 64, scale=False)
        self.positions = SinusoidalPositions(64)
        self.attention = layer
        self.head = nn.Linear(64, 2 * len(VOCABULARY))

    def forward(self, ids: Tensor) -> Tensor:
        """Scores (B, 2, words) of sentences (B, 5)."""
        words = self.positions(self.embedding(ids))
        attended, _ = self.attention(words, need_weights=True)
        return self.head(attended[:, VERB]).unflatten(1, (2, -1))


def sentences(count: int, seed: int, split: str) -> Tensor:
    """Token ids (count, 5)."""
    drawn = who_did_it_sentences(count, seed, split=split)
    return VOCABULARY.encode([sentence.words for sentence in drawn])


def learned(kind: str, rate: float, seed: int) -> VerbReader:
    """A reader after its training, which is the page's."""
    ids_of_all = sentences(8000, seed, "train")
    torch.manual_seed(seed)
    model = VerbReader(KINDS[kind]())
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, STEPS, pct_start=0.4)
    for _ in range(STEPS):
        ids = ids_of_all[torch.randint(len(ids_of_all), (64,))]
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids[:, NOUNS].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def examine(model: nn.Module, seed: int) -> list[float]:
    """Shares of a thousand new sentences: subject right, object right, both right."""
    ids = sentences(1000, seed, "test")
    right = model(ids).argmax(-1) == ids[:, NOUNS]
    return [*right.double().mean(0).tolist(), right.all(1).double().mean().item()]


def measure(seed: int) -> dict:
    """{"seed", "1 head": [what `examine` says at each rate], and so on for every kind}."""
    row = {"seed": seed}
    for kind in KINDS:
        row[kind] = [examine(learned(kind, rate, seed), seed) for rate in RATES]
    return row


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "chances.json")


def at_best_rate(kind: str) -> list[list[float]]:
    """What the runs of a kind are right in, at the rate at which most have both right."""
    by_rate = zip(*(row[kind] for row in stored()), strict=True)
    return list(max(by_rate, key=lambda shares: mean(both for _, _, both in shares)))


if __name__ == "__main__":
    torch.set_num_threads(1)
    runs.write(measure)
