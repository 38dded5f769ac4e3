"""Debug this run, the idea: what may be wrong with `dictionary`, and how a run shows it."""

import math
from copy import deepcopy
from functools import cache

import torch
from torch import Tensor

from book.debugging import dictionary
from book.debugging.fault import Case, Fault, altered, fault_of, named, smooth

PARTS = {
    "queries of head 1": "heads.0.q_proj",
    "keys of head 1": "heads.0.k_proj",
    "values of head 1": "heads.0.v_proj",
    "queries of head 2": "heads.1.q_proj",
    "keys of head 2": "heads.1.k_proj",
    "values of head 2": "heads.1.v_proj",
    "places": "places",
}
EVERY = 10  # steps from one judgement to the next


class Run(Case):
    """One training of attention alone, with its curves, its model and tools to probe it.

    Attributes:
        loss: the loss at each step.
        judged_at: the steps at which the model was judged on held-out dictionaries.
        right: the share of right answers there, for the first key of a question and the second.
        gradient: part of the model -> the norm of its gradient at each step.
        held_out: keys, values, questions and answers that it is not trained on.
        model: what was trained.
        start: the same model before its first step.
    """

    def __init__(self, number: int, fault: Fault | None, steps: int) -> None:
        super().__init__(number, fault)
        program = altered(dictionary, fault)
        self.held_out = dictionary.dictionaries(300, number + 1_000_000_000)
        self.loss, self.judged_at, self.right = [], [], ([], [])
        self.gradient = {part: [] for part in PARTS}
        self.model = program.train(number, self._watch, steps)

    @torch.no_grad()
    def _watch(self, step: int, loss: Tensor, model) -> None:
        if step == 1:
            self.start = deepcopy(model)
        self.loss.append(loss.item())
        for part, name in PARTS.items():
            gradients = [p.grad for p in model.get_submodule(name).parameters()]
            squares = (g.square().sum().item() for g in gradients if g is not None)
            self.gradient[part].append(math.sqrt(sum(squares)))
        if step % EVERY == 0:
            *asked, answers = self.held_out
            logits, _ = model(*asked)
            self.judged_at.append(step)
            for which, right in enumerate((logits.argmax(-1) == answers).float().mean((0, 1))):
                self.right[which].append(right.item())

    @torch.no_grad()
    def weights(self, keys, values, questions) -> Tensor:
        """The attention weights (heads, questions, entries) on one dictionary.

        Args:
            keys, values: of each entry, 1 to 12; 0 for padding.
            questions: pairs of keys.
        """
        asked = (torch.tensor(part)[None] for part in (keys, values, questions))
        return self.model(*asked)[1][0]

    @torch.no_grad()
    def answers(self, keys, values, questions) -> list[list[int]]:
        """The model's answers to pairs of keys, from one dictionary."""
        asked = (torch.tensor(part)[None] for part in (keys, values, questions))
        return self.model(*asked)[0][0].argmax(-1).tolist()

    @torch.no_grad()
    def instruments(self) -> dict:
        """As `Case.instruments` says."""
        keys, _, questions, answers = self.held_out
        logits, weights = self.model(*self.held_out[:3])
        found = (logits.argmax(-1) == answers).float()
        again = (questions[..., None] == keys[:, None, None]).sum(-1) > 1
        parts = {"once": ~again, "again": again}
        at, share = self.judged_at, "share of right answers"
        padding = (keys == dictionary.PAD)[:, None, None].expand_as(weights)
        start = self.start(*self.held_out[:3])[1]
        return {
            "right answers, second key": (at, self.right[1], "step", share),
            "right answers, first key": (at, self.right[0], "step", share),
            "the loss": (at, smooth(self.loss, EVERY), "step", "loss in nats per answer"),
            "which keys does it get right?": {
                f"{name} key, entered {how}": found[..., which][chosen[..., which]].mean().item()
                for which, name in enumerate(("first", "second"))
                for how, chosen in parts.items()
            },
            "the gradient of each part, median": {
                part: torch.tensor(norms).median().item() for part, norms in self.gradient.items()
            },
            "where does a question look?": {
                "all its weights together": weights.sum(-1).mean().item(),
                "the weights on padding": (weights * padding).sum(-1).mean().item(),
                "the largest weight": weights.amax(-1).mean().item(),
                "the largest before training": start.amax(-1).mean().item(),
            },
            "with other values, do the weights move?": {
                "the largest change": _moved_by_values(self)
            },
        }


def train(number: int, chosen: int | None = None) -> Run:
    """The run of a reader's number, which chooses the data, the first weights and the fault.

    With `chosen`, that number chooses the fault, and the other one all the rest.
    """
    return Run(number, fault_of(number if chosen is None else chosen, FAULTS), dictionary.STEPS)


@cache
def train_with(number: int, name: str, steps: int = dictionary.STEPS) -> Run:
    """The run of the same number with a fault of your choice, or with "nothing is wrong"."""
    return Run(number, named(name, FAULTS), steps)


# What tells each fault from all others: numbers of a run.


@torch.no_grad()
def _maps(model, run: Run) -> tuple[Tensor, Tensor]:
    """Weights (B, heads, questions, entries) on held-out dictionaries, and what is padding."""
    keys, values, questions, _ = run.held_out
    return model(keys, values, questions)[1], keys == dictionary.PAD


@torch.no_grad()
def _first_scores(run: Run) -> float:
    """How sharp the weights are before anything is learnt: the mean largest of full rows."""
    weights, padding = _maps(run.start, run)
    return weights[~padding.any(-1)].amax(-1).mean().item()


def _row_sums(run: Run) -> float:
    weights, _ = _maps(run.model, run)
    return (weights.sum(-1) - 1).abs().max().item()


def _on_entries(run: Run) -> float:
    weights, padding = _maps(run.model, run)
    return (weights * ~padding[:, None, None, :]).sum(-1)[padding.any(-1)].mean().item()


@torch.no_grad()
def _moved_by_values(run: Run) -> float:
    keys, values, questions, _ = run.held_out
    others = values % dictionary.VALUES + 1
    weights = [run.model(keys, entered, questions)[1] for entered in (values, others)]
    return (weights[0] - weights[1]).abs().max().item()


def _second_head(run: Run) -> float:
    return max(run.gradient["values of head 2"])


def _queries(run: Run) -> float:
    return max(run.gradient["queries of head 1"])


@torch.no_grad()
def _places(run: Run) -> float:
    entered = run.model.enter(torch.ones(1, dictionary.ENTRIES, dtype=torch.long))[0]
    return ((entered - entered[0]).norm(dim=-1).max() / entered[0].norm()).item()


FAULTS = (
    Fault(
        name="the scores are not divided by the root of d_k",
        what="The softmax gets the dot products as they are; d_k is 256 here.",
        line="        scores = scores / math.sqrt(k.shape[-1])\n",
        instead="",
        would="a question looks at one entry from the very first step, before anything is learnt",
        measured="the largest weight of a question at the start, in the mean over full rows",
        symptom=_first_scores,
        above=0.7,
    ),
    Fault(
        name="the softmax runs over the questions",
        what="The weights are normalised down the columns of the map, not along its rows.",
        line="weights = scores.softmax(dim=-1)",
        instead="weights = scores.softmax(dim=-2)",
        would="the weights of a question do not add up to 1",
        measured="how far they are from it at most",
        symptom=_row_sums,
        above=0.01,
    ),
    Fault(
        name="the mask is upside down",
        what="The entries are hidden, and the padding is seen.",
        line="scores = scores.masked_fill(~real[:, None, :], -1e9)",
        instead="scores = scores.masked_fill(real[:, None, :], -1e9)",
        would="where there is padding, questions look at nothing else",
        measured="the weight on entries that are no padding, in rows with both",
        symptom=_on_entries,
        below=0.01,
    ),
    Fault(
        name="keys and values have changed places",
        what="The scores come from the entries' values, and their keys are fetched.",
        line="found = [head(asked, entered, self.values(values), keys != PAD) "
        "for head in self.heads]",
        instead="found = [head(asked, self.values(values), entered, keys != PAD) "
        "for head in self.heads]",
        would="where a question looks depends on the values, which it is to find out",
        measured="the largest change of a weight when all values are replaced",
        symptom=_moved_by_values,
        above=0.01,
    ),
    Fault(
        name="the second head is dropped",
        what="Both answers are read from what the first head has fetched.",
        line="logits = [self.answers[0](one), self.answers[1](two)]",
        instead="logits = [self.answers[0](one), self.answers[1](one)]",
        would="no gradient reaches the second head",
        measured="the largest norm of the gradient of its values in any step",
        symptom=_second_head,
        below=1e-9,
    ),
    Fault(
        name="the weights are cut off from the gradient",
        what="A stray `detach`: the values learn, queries and keys do not.",
        line="return weights @ v, weights",
        instead="return weights.detach() @ v, weights",
        would="no gradient reaches the queries of either head",
        measured="the largest norm of the gradient of the first head's queries in any step",
        symptom=_queries,
        below=1e-9,
    ),
    Fault(
        name="positions are not added",
        what="An entry does not know whether it came before or after another.",
        line="        entered = entered + self.places(torch.arange(keys.shape[1]))\n",
        instead="",
        would="the same key at two places is the same vector, so the last entry cannot be told",
        measured="how far key 1 is from key 1 at another place, as a share of its length",
        symptom=_places,
        below=1e-5,
    ),
)
