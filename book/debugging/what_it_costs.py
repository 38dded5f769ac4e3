"""Debug this run, what it costs: what may be wrong with `window_reader`, and how a run shows it."""

from copy import deepcopy
from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from book.debugging import window_reader
from book.debugging.fault import Case, Fault, altered, fault_of, named

EVERY = 20  # steps from one judgement to the next
JUDGED = 100  # held-out ledgers in each judgement
WAYS = ("at once", "in chunks", "LSTM")
LENGTH, WINDOW, CHUNK = window_reader.LENGTH, window_reader.WINDOW, window_reader.CHUNK


class Run(Case):
    """One training of the reader with a window and of the LSTM, and tools to probe them.

    Attributes:
        loss: "window" and "LSTM" -> the loss at each step.
        judged_at: the steps at which both were judged on held-out ledgers.
        right: way of reading -> the share of right answers there, of the first `JUDGED` ledgers.
        held_out: rows and answers that they are not trained on.
        reader, lstm: what was trained.
        lstm_start: the LSTM before its first step.
        tiled: the program's own tiled attention: (q, k, v, added to the scores).
    """

    def __init__(self, number: int, fault: Fault | None, steps: int) -> None:
        super().__init__(number, fault)
        self._program = altered(window_reader, fault)
        self.tiled = self._program.tiled
        self.held_out = window_reader.ledgers(300, number + 1_000_000_000)
        self.loss = {"window": [], "LSTM": []}
        self.judged_at, self.right = [], {way: [] for way in WAYS}
        self.reader, self.lstm = self._program.train(number, self._watch, steps)

    def _watch(self, step: int, losses, models) -> None:
        self.reader, self.lstm = models
        if step == 1:
            self.lstm_start = deepcopy(self.lstm)
        for curve, loss in zip(self.loss.values(), losses, strict=True):
            curve.append(loss.item())
        if step % EVERY == 0:
            self.judged_at.append(step)
            for way, right in self.answers_right(JUDGED).items():
                self.right[way].append(right.mean().item())

    @torch.no_grad()
    def logits(self, rows: Tensor, way: str) -> Tensor:
        """Logits (B, T, values) after every row, read in one of the `WAYS`."""
        if way == "in chunks":
            return self._program.read_in_chunks(self.reader, rows)[0]
        return (self.lstm if way == "LSTM" else self.reader)(rows)

    def answers_right(self, ledgers: int | None = None) -> dict[str, Tensor]:
        """Way of reading -> which held-out answers are right (ledgers, LENGTH), 1 or 0."""
        rows, answers = (part[:ledgers] for part in self.held_out)
        return {way: (self.logits(rows, way).argmax(-1) == answers).float() for way in WAYS}

    def cached(self) -> list[int]:
        """How many entries are in the cache after each chunk of a ledger."""
        return self._program.read_in_chunks(self.reader, self.held_out[0][:1])[1]

    def influence(self, way: str, ledger: int = 0) -> Tensor:
        """How far the answer at a place (row) moves when the value at a place (column) changes."""
        rows = self.held_out[0][ledger]
        changed = rows.repeat(LENGTH, 1, 1)
        places = torch.arange(LENGTH)
        changed[places, places, 2] = rows[:, 2] % window_reader.VALUES + 1
        moved = self.logits(changed, way).softmax(-1) - self.logits(rows[None], way).softmax(-1)
        return moved.abs().sum(-1).T / 2

    def forget_gates(self) -> tuple[float, float]:
        """The mean forget gate of the LSTM at its bias, before training and after it."""
        layers = self.lstm_start.lstm, self.lstm.lstm
        biases = [(layer.bias_ih_l0 + layer.bias_hh_l0).chunk(4)[1] for layer in layers]
        return tuple(bias.sigmoid().mean().item() for bias in biases)

    @torch.no_grad()
    def instruments(self) -> dict:
        """As `Case.instruments` says."""
        right = self.answers_right()
        ages = age_of_answers(self.held_out[0])
        at, share, steps = self.judged_at, "share of right answers", list(range(0, 28, 2))

        def by_age(way):
            chosen = [(ages == age) | (ages == age + 1) for age in steps]
            shares = [right[way][rows].mean().item() for rows in chosen]
            return steps, shares, "rows since the value was entered", share

        rows = list(range(LENGTH))
        ways = ("in chunks", "at once", "LSTM")
        return {
            **{f"right answers, {way}": (at, self.right[way], "step", share) for way in ways},
            "in chunks, row by row": (rows, right["in chunks"].mean(0).tolist(), "row", share),
            "in chunks, by the age of the value": by_age("in chunks"),
            "at once, by the age of the value": by_age("at once"),
            "how many entries are cached?": {
                f"after {8 * i} rows": entries for i, entries in enumerate(self.cached(), 1)
            },
            "how far are the tiles from PyTorch?": {
                f"{keys} keys": self._from_torch(keys) for keys in (4, 15, 16)
            },
            "the mean forget gate of the LSTM": dict(
                zip(("before training", "after it"), self.forget_gates(), strict=True)
            ),
        }

    def _from_torch(self, keys: int) -> float:
        q, k, v, added = random_heads(self.number, keys)
        whole = scaled_dot_product_attention(q, k, v, enable_gqa=True)
        return (self.tiled(q, k, v, added) - whole).abs().max().item()


def train(number: int, chosen: int | None = None) -> Run:
    """The run of a reader's number, which chooses ledgers, first weights and the fault.

    With `chosen`, that number chooses the fault, and the other one all the rest.
    """
    return Run(number, fault_of(number if chosen is None else chosen, FAULTS), window_reader.STEPS)


@cache
def train_with(number: int, name: str, steps: int = window_reader.STEPS) -> Run:
    """The run of the same number with a fault of your choice, or with "nothing is wrong"."""
    return Run(number, named(name, FAULTS), steps)


def age_of_answers(rows: Tensor) -> Tensor:
    """How many entries ago the name that is called got its value (B, T); -1 if it has none."""
    called, entered = rows[..., 0], rows[..., 1]
    places = torch.arange(rows.shape[1])
    same = (called[:, :, None] == entered[:, None]) & (places <= places[:, None])
    latest = torch.where(same, places, -1).amax(-1)
    return torch.where(latest < 0, -1, places - latest)


# What tells each fault from all others: numbers of a run.


def random_heads(number: int, keys: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Queries (1, 4, 3, 8), keys and values (1, 2, keys, 8) and nothing to add to their scores."""
    drawn = torch.Generator().manual_seed(number)
    q, k, v = (torch.randn(1, *s, 8, generator=drawn) for s in ((4, 3), (2, keys), (2, keys)))
    return 3 * q, k, v, torch.zeros(keys)


def _order(run: Run) -> float:
    q, k, v, added = random_heads(run.number, 16)
    return (
        (run.tiled(q, k, v, added) - run.tiled(q, k.flip(2), v.flip(2), added)).abs().max().item()
    )


def _last_key(run: Run) -> float:
    q, k, v, added = random_heads(run.number, 15)
    raised = v.clone()
    raised[:, :, -1] += 1
    return (run.tiled(q, k, raised, added) - run.tiled(q, k, v, added)).abs().max().item()


def _stranger(run: Run) -> float:
    q, k, v, added = random_heads(run.number, 16)
    raised = v.clone()
    raised[:, 1] += 1
    moved = run.tiled(q, k, raised, added) - run.tiled(q, k, v, added)
    return moved[:, 1].abs().max().item()


def _cache(run: Run) -> float:
    return run.cached()[-1]


@torch.no_grad()
def _second_chunk(run: Run) -> float:
    rows, cache = run.held_out[0][:1], None
    for start in (0, CHUNK):
        _, cache = run.reader.read(rows[:, start : start + CHUNK], cache, start)
    return cache[2].max().item()


def _by_later(run: Run) -> float:
    return run.influence("at once").triu(1).max().item()


def _beyond_window(run: Run) -> float:
    return run.influence("at once").tril(-WINDOW).max().item()


def _gate(run: Run) -> float:
    return run.forget_gates()[0]


FAULTS = (
    Fault(
        name="the sum is not rescaled",
        what="When a tile has a larger score, what was found before is not shrunk.",
        line="found = found * shrink + weights @ v[:, :, tile]",
        instead="found = found + weights @ v[:, :, tile]",
        would="the order in which the tiles are read changes the result",
        measured="how far the tiled result moves when 16 random keys come in the opposite order",
        symptom=_order,
        above=1e-3,
    ),
    Fault(
        name="a tile that is not full is left out",
        what="The loop over tiles stops before the last keys if they do not fill a tile.",
        line="for first in range(0, k.shape[2], TILE):",
        instead="for first in range(0, k.shape[2] - TILE + 1, TILE):",
        would="the last of 15 keys counts for nothing",
        measured="how far the tiled result moves when the value of the last of 15 keys is raised",
        symptom=_last_key,
        below=1e-9,
    ),
    Fault(
        name="key heads are handed out in turn",
        what="In the tiled attention, neighbouring query heads get different key heads; they are "
        "trained to share one.",
        line="part.repeat_interleave(q.shape[1] // k.shape[1], dim=1)",
        instead="part.repeat(1, q.shape[1] // k.shape[1], 1, 1)",
        would="query head 2 reads key head 2",
        measured="how far its result moves when the values of key head 2 are raised by 1",
        symptom=_stranger,
        above=0.1,
    ),
    Fault(
        name="the cache is not trimmed",
        what="Entries that the window has left behind stay in the cache.",
        line="keep = slice(1 - WINDOW, None)",
        instead="keep = slice(None)",
        would="the cache grows with the ledger",
        measured="how many entries it holds at the end",
        symptom=_cache,
        above=WINDOW,
    ),
    Fault(
        name="places start again in each chunk",
        what="The rows of every chunk are counted from zero, whatever is in the cache.",
        line="places = torch.arange(start, start + rows.shape[1])",
        instead="places = torch.arange(rows.shape[1])",
        would="the second chunk has the places of the first",
        measured="the highest place in the cache after two chunks of 8 rows",
        symptom=_second_chunk,
        below=CHUNK,
    ),
    Fault(
        name="attention is not causal",
        what="An answer may use entries that are made only later.",
        line="seen = (age >= 0) & (age < WINDOW)",
        instead="seen = age < WINDOW",
        would="a later entry moves an earlier answer",
        measured="how much of an answer's probability a later entry moves, at most",
        symptom=_by_later,
        above=1e-3,
    ),
    Fault(
        name="the window is left out",
        what="An answer may use any earlier entry that there is.",
        line="seen = (age >= 0) & (age < WINDOW)",
        instead="seen = age >= 0",
        would="read at once, an entry moves answers more than a window later",
        measured="how much of it an entry moves that the window has left behind, at most",
        symptom=_beyond_window,
        above=1e-3,
    ),
    Fault(
        name="the forget gates start half shut",
        what="The LSTM's forget gates keep the bias that torch gives them.",
        line="        nn.init.constant_(self.lstm.bias_hh_l0.detach()[d : 2 * d], 4.0)"
        "  # input, forget, ...\n",
        instead="",
        would="an untrained LSTM forgets half of its memory at every entry",
        measured="the mean forget gate before training, at its bias",
        symptom=_gate,
        below=0.8,
    ),
)
