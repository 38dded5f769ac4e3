"""Debug this run, your own language model: what may be wrong with `own_model`, and how it shows."""

from functools import cache
from itertools import takewhile

import torch
from torch import Tensor

from book.debugging import own_model
from book.debugging.fault import Case, Fault, altered, fault_of, named, smooth
from companion.data import BOS, EOS

EVERY = 20  # steps from one judgement to the next
TEXT = "the dog was near the bridge"


class Run(Case):
    """One training of the language model, with its curves, its model and tools to probe it.

    Attributes:
        loss: the loss at each step.
        judged_at, judged: the steps, and the loss on held-out sentences there.
        moves: how far each step but the last moved the weight that it moved farthest.
        model: what was trained.
    """

    def __init__(self, number: int, fault: Fault | None, steps: int) -> None:
        super().__init__(number, fault)
        self._program = altered(own_model, fault)
        self.held_out = self._program.sentences(200, number + 1_000_000)
        self.loss, self.judged_at, self.judged, self.moves = [], [], [], []
        self._before = None
        self.model = self._program.train(number, self._watch, steps)

    @torch.no_grad()
    def _watch(self, step: int, loss: Tensor, model) -> None:
        now = torch.nn.utils.parameters_to_vector(model.parameters())
        if step > 1:
            self.moves.append((now - self._before).abs().max().item())
        self._before = now
        self.loss.append(loss.item())
        if step % EVERY == 0:
            self.judged_at.append(step)
            self.judged.append(self._program.mean_loss(model, self.held_out).item())

    def _ids(self, text: str) -> Tensor:
        return own_model.LANGUAGE.encode([[BOS, *text.split()]])

    @torch.no_grad()
    def logits(self, text: str, start: int = 0) -> Tensor:
        """The logits after [BOS] and after every word (T, words), read at once from a position."""
        return self.model(self._ids(text), start=start)[0][0]

    @torch.no_grad()
    def cached(self, text: str) -> tuple[Tensor, Tensor]:
        """The same logits, read word by word; and the keys that block 1 has cached (T, d)."""
        logits, cache = [], None
        for place, word in enumerate(self._ids(text)[0]):
            new, cache, _ = self.model(word.view(1, 1), cache, start=place)
            logits.append(new[0, -1])
        return torch.stack(logits), cache[0][0][0].transpose(0, 1).flatten(1)

    def sampler(self, text: str, temperature: float) -> Tensor:
        """The probabilities (words,) from which the word after a text is drawn."""
        return self._program.probabilities(self.logits(text)[-1], temperature)

    @torch.no_grad()
    def maps(self, text: str) -> list[Tensor]:
        """The attention weights of each block, the mean of its heads: who looks at whom."""
        return [weights[0].mean(0) for weights in self.model(self._ids(text))[2]]

    def write(self, seed: int, temperature: float = 0.7) -> str:
        """What the program writes: twelve words, or fewer if it ends the sentence."""
        ids = self._program.write(self.model, self._ids(""), 13, seed, temperature)
        words = (own_model.LANGUAGE.words[i] for i in ids[1:].tolist())
        return " ".join(takewhile(lambda word: word != EOS, words))

    def instruments(self) -> dict:
        """As `Case.instruments` says."""
        at, nats, first = self.judged_at, "loss in nats per word", list(range(1, 61))
        words = ("[BOS]", *TEXT.split())
        gaps = (self.logits(TEXT) - self.cached(TEXT)[0]).abs().amax(1).tolist()
        chances = self.logits("the dog")[-1].softmax(-1)
        sharp, flat = (self.sampler("the dog", temperature) for temperature in (0.5, 1.0))
        likeliest = chances.argmax()
        later = [weights.triu(1).sum(1)[:-1].mean().item() for weights in self.maps(TEXT)]
        return {
            "loss on held-out sentences": (at, self.judged, "step", nats),
            "loss in training": (at, smooth(self.loss, EVERY), "step", nats),
            "the longest move of a weight": (first, self.moves[:60], "step", "how far it moves"),
            "read at once and word by word, do the logits differ?": {
                f"{i}: {word}": gap for i, (word, gap) in enumerate(zip(words, gaps, strict=True))
            },
            "the likeliest word after “the dog”": {
                "the model's probability": chances[likeliest].item(),
                "the sampler's, temperature 1": flat[likeliest].item(),
                "the sampler's, temperature 0.5": sharp[likeliest].item(),
            },
            "all positions raised by 7, do the logits move?": {
                "the largest change": _moved_along(self)
            },
            "how much weight goes to later words?": {
                f"block {i}": weight for i, weight in enumerate(later, 1)
            },
            "what does it write?": self.write(seed=0),
        }


def train(number: int, chosen: int | None = None) -> Run:
    """The run of a reader's number, which chooses the data, the first weights and the fault.

    With `chosen`, that number chooses the fault, and the other one all the rest.
    """
    return Run(number, fault_of(number if chosen is None else chosen, FAULTS), own_model.STEPS)


@cache
def train_with(number: int, name: str, steps: int = own_model.STEPS) -> Run:
    """The run of the same number with a fault of your choice, or with "nothing is wrong"."""
    return Run(number, named(name, FAULTS), steps)


# What tells each fault from all others: numbers of a run.


def _future(run: Run) -> float:
    one, other = run.logits(TEXT), run.logits(TEXT.replace("bridge", "dog"))
    return (one[:-1] - other[:-1]).abs().max().item()


def _moved_along(run: Run) -> float:
    return (run.logits(TEXT) - run.logits(TEXT, start=7)).abs().max().item()


def _same_keys(run: Run) -> float:
    _, keys = run.cached("dog dog dog dog")
    return (keys[1] - keys[4]).norm().item()


def _first_step(run: Run) -> float:
    return run.moves[0] / own_model.LEARNING_RATE


def _colder(run: Run) -> float:
    return (run.sampler(TEXT, 0.5).max() - run.sampler(TEXT, 1.0).max()).item()


def _likeliest(run: Run) -> float:
    return run.sampler(TEXT, 1.0)[run.logits(TEXT)[-1].argmax()].item()


FAULTS = (
    Fault(
        name="the norm runs over the words",
        what="The root mean square is taken over the sentence, not over a word's vector.",
        line="square = x.square().mean(dim=-1, keepdim=True)",
        instead="square = x.square().mean(dim=1, keepdim=True)",
        would="a later word changes what is predicted before it, although no map shows it",
        measured="how far earlier logits move when the last word is replaced",
        symptom=_future,
        above=1e-3,
    ),
    Fault(
        name="the queries are not rotated",
        what="Only the keys are turned by their positions.",
        line="        q = rotate(q, places)\n",
        instead="",
        would="the same sentence at later positions has other logits",
        measured="how far they move at most when all positions are raised by 7",
        symptom=_moved_along,
        above=0.05,
    ),
    Fault(
        name="a cached word stands at position 0",
        what="The words of every call are counted from 0, whatever is in the cache.",
        line="places = torch.arange(start, start + T)",
        instead="places = torch.arange(T)",
        would='read word by word, "dog" gets the same key wherever it stands',
        measured='the distance of two keys of "dog" in the cache, three words apart',
        symptom=_same_keys,
        below=1e-5,
    ),
    Fault(
        name="the warm-up is never set",
        what="The optimiser keeps the full learning rate from the first step on.",
        line='        optimizer.param_groups[0]["lr"] = LEARNING_RATE * min(1, step / WARM_UP)\n',
        instead="",
        would="the first step is as long as any",
        measured="the longest move of a weight in the first step, in full learning rates",
        symptom=_first_step,
        above=0.5,
    ),
    Fault(
        name="the temperature multiplies",
        what="The logits are multiplied by the temperature, not divided by it.",
        line="return (logits / temperature).softmax(dim=-1)",
        instead="return (logits * temperature).softmax(dim=-1)",
        would="at a lower temperature the likeliest word becomes less likely",
        measured="how much likelier it is at 0.5 than at 1",
        symptom=_colder,
        below=0,
    ),
    Fault(
        name="the likeliest words are cut off",
        what="The sampler leaves out what it should keep.",
        line="logits = logits.masked_fill(logits < least, -math.inf)",
        instead="logits = logits.masked_fill(logits > least, -math.inf)",
        would="the model's likeliest word is never drawn",
        measured="the probability with which the sampler draws it",
        symptom=_likeliest,
        below=1e-6,
    ),
)
