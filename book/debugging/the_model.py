"""Debug this run, the model: what may be wrong with `language_model`, and how a run shows it."""

import math
from copy import deepcopy

import torch
from torch import Tensor
from torch.nn import functional as F

from book.debugging import language_model
from book.debugging.fault import Case, Fault, altered, fault_of, named, smooth
from companion.data import BOS, EOS

PARTS = ("words", "places", "blocks.0", "blocks.1", "norm", "head")
EVERY = 20  # steps from one judgement to the next


class Run(Case):
    """One training of the language model, with its curves, its model and tools to probe it.

    Attributes:
        loss: the loss that the program reports at each step.
        judged_at, judged: the steps, and the loss on held-out sentences there.
        gradient: part of the model -> the norm of its gradient at each step.
        update: part of the model -> how long each step was, as a share of the part's own length.
        agreement: the cosine between the gradient of a step, from the second on, and the last one.
        model: what was trained.
        start: the same model before its first step.
    """

    def __init__(self, number: int, fault: Fault | None, steps: int) -> None:
        super().__init__(number, fault)
        self._program = altered(language_model, fault)
        self.held_out = self._program.sentences(200, number + 1_000_000)
        self.loss, self.judged_at, self.judged = [], [], []
        self.gradient = {part: [] for part in PARTS}
        self.update = {part: [] for part in PARTS}
        self.agreement = []
        self._before, self._gradient = {}, None
        self.model = self._program.train(number, self._watch, steps)
        self._note_update(self.model)
        self.model.eval()

    def _watch(self, step: int, loss: Tensor, model) -> None:
        if step == 1:
            self.start = deepcopy(model)
        self._note_update(model)
        self.loss.append(loss.item())
        for part in PARTS:
            gradients = [p.grad for p in model.get_submodule(part).parameters()]
            lengths = [g.norm() for g in gradients if g is not None]
            self.gradient[part].append(torch.tensor(lengths).norm().item())
        gradient = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
        if step > 1:
            self.agreement.append(F.cosine_similarity(gradient, self._gradient, dim=0).item())
        self._gradient = gradient
        if step % EVERY == 0:
            self.judged_at.append(step)
            self.judged.append(self._program.judge(model, self.held_out))

    def _note_update(self, model) -> None:
        now = {part: _vector(model, part) for part in PARTS}
        for part, before in self._before.items():
            self.update[part].append(((now[part] - before).norm() / before.norm()).item())
        self._before = now

    def judge(self) -> float:
        """The loss on the held-out sentences, as the program judges the model between two steps."""
        self.model.train()
        loss = self._program.judge(self.model, self.held_out)
        self.model.eval()
        return loss

    def _ids(self, text: str) -> Tensor:
        return language_model.LANGUAGE.encode([[BOS, *text.split()]])

    @torch.no_grad()
    def probabilities(self, text: str) -> dict[str, float]:
        """The five most probable next words after a text, such as "the dog"."""
        logits, _, _ = self.model(self._ids(text))
        best = logits[0, -1].softmax(-1).topk(5)
        words = [language_model.LANGUAGE.words[i] for i in best.indices]
        return dict(zip(words, best.values.tolist(), strict=True))

    @torch.no_grad()
    def maps(self, text: str) -> list[Tensor]:
        """The attention weights of each block, the mean of its heads: who looks at whom."""
        _, _, maps = self.model(self._ids(text))
        return [weights[0].mean(0) for weights in maps]

    @torch.no_grad()
    def write(self, text: str = "", *, longest: int = 14, seed: int = 0) -> str:
        """A sentence that the model writes, drawn word by word."""
        generator = torch.Generator().manual_seed(seed)
        ids = self._ids(text)
        for _ in range(longest - ids.shape[1]):
            logits, _, _ = self.model(ids)
            drawn = torch.multinomial(logits[:, -1].softmax(-1), 1, generator=generator)
            ids = torch.cat([ids, drawn], dim=1)
        words = language_model.LANGUAGE.words
        return " ".join(words[i] for i in ids[0, 1:].tolist())

    @torch.no_grad()
    def moved(self) -> dict[str, float]:
        """How far each part is from where it began, as a share of its length there."""
        pairs = {part: (_vector(self.start, part), _vector(self.model, part)) for part in PARTS}
        return {part: ((b - a).norm() / a.norm()).item() for part, (a, b) in pairs.items()}

    @torch.no_grad()
    def instruments(self) -> dict:
        """As `Case.instruments` says."""
        loss, nats = smooth(self.loss, EVERY), "loss in nats per word"
        words = self.maps("the dog was near the bridge")
        later = {f"block {i}": weights.triu(1).sum(1)[:-1] for i, weights in enumerate(words, 1)}
        expected = self.probabilities("the dog")
        return {
            "loss on held-out sentences": (self.judged_at, self.judged, "step", nats),
            "loss in training": (self.judged_at, loss, "step", nats),
            "the gradient of each part, median": {
                part: torch.tensor(norms).median().item() for part, norms in self.gradient.items()
            },
            "the longest step of each part": {p: max(steps) for p, steps in self.update.items()},
            "how far each part has moved": self.moved(),
            "do two gradients in a row agree?": (
                self.judged_at[1:],
                smooth(self.agreement[EVERY - 1 :], EVERY),
                "step",
                "cosine of a gradient and the one before",
            ),
            "how much weight goes to later words?": {
                block: weights.mean().item() for block, weights in later.items()
            },
            "judged twice, is it the same loss?": {"once": self.judge(), "again": self.judge()},
            "what does it expect after “the dog”?": ", ".join(
                f"{word} {chance:.2f}" for word, chance in expected.items()
            ),
            "what does it write?": self.write(seed=1),
        }


def train(number: int, chosen: int | None = None) -> Run:
    """The run of a reader's number, which chooses the data, the first weights and the fault.

    With `chosen`, that number chooses the fault, and the other one all the rest.
    """
    return Run(number, fault_of(number if chosen is None else chosen, FAULTS), language_model.STEPS)


def train_with(number: int, name: str, steps: int = language_model.STEPS) -> Run:
    """The run of the same number with a fault of your choice, or with "nothing is wrong"."""
    return Run(number, named(name, FAULTS), steps)


def _vector(model, part: str) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.get_submodule(part).parameters()])


# What tells each fault from all others: numbers of a run.


@torch.no_grad()
def _future(run: Run) -> float:
    _, _, maps = run.model(run.held_out[:, :-1])
    return max(weights.triu(1).max().item() for weights in maps)


@torch.no_grad()
def _repeats(run: Run) -> float:
    inputs = run.held_out[:, :-1]
    logits, _, _ = run.model(inputs)
    real = inputs != language_model.PAD
    return (logits.argmax(-1) == inputs)[real].float().mean().item()


@torch.no_grad()
def _after_the_end(run: Run) -> float:
    rows = run.held_out[:50]
    logits, _, _ = run.model(rows)
    ends = logits[rows == language_model.LANGUAGE.id(EOS)]
    return ends.softmax(-1)[:, language_model.PAD].mean().item()


def _height(run: Run) -> float:
    return math.log(len(language_model.LANGUAGE)) - min(run.loss)


def _longest_update(run: Run) -> float:
    return max(max(run.update[part]) for part in ("blocks.0", "blocks.1", "head"))


def _gradient(run: Run) -> float:
    norm = torch.tensor([run.gradient[part] for part in PARTS]).norm(dim=0)  # of each step
    return norm[-100:].median().item()


def _disagreement(run: Run) -> float:
    return abs(run.judge() - run.judge())


@torch.no_grad()
def _places(run: Run) -> float:
    _, stream, _ = run.model(run._ids("dog dog dog dog dog"))
    words = stream[0][0, 1:]
    return ((words - words[0]).norm(dim=-1).max() / words[0].norm()).item()


def _words_moved(run: Run) -> float:
    return run.moved()["words"]


@torch.no_grad()
def _last_block(run: Run) -> float:
    return max(run.gradient["blocks.1"])


def _learnt_by_heart(run: Run) -> float:
    return run.judged[-1] - sum(run.loss[-EVERY:]) / EVERY


FAULTS = (
    Fault(
        name="no causal mask",
        what="A word may look at the words to its right.",
        line="        scores = scores.masked_fill(~allowed, -math.inf)\n",
        instead="",
        would="a word gives weight to later words, those that it should predict among them",
        measured="the largest weight on a later word",
        symptom=_future,
        above=0.05,
    ),
    Fault(
        name="the targets are not shifted",
        what="Every word is asked for itself, not for the word after it.",
        line="inputs, targets = ids[:, :-1], ids[:, 1:]",
        instead="inputs, targets = ids[:, :-1], ids[:, :-1]",
        would="the best guess for the next word is the word that was just read",
        measured="how often it is, on held-out sentences",
        symptom=_repeats,
        above=0.5,
    ),
    Fault(
        name="padding counts in the loss",
        what="The empty places behind the end of a sentence are predicted, too, and counted.",
        line="return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)",
        instead="return F.cross_entropy(logits.flatten(0, 1), targets.flatten())",
        would="the model has been taught what comes after the end of a sentence: [PAD]",
        measured="its probability for [PAD] after [EOS]",
        symptom=_after_the_end,
        above=0.5,
    ),
    Fault(
        name="softmax twice",
        what="The probabilities are handed to `cross_entropy`, which expects logits.",
        line="return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)",
        instead="return F.cross_entropy(logits.softmax(dim=-1).flatten(0, 1), targets.flatten(), "
        "ignore_index=PAD)",
        would="the loss cannot fall by more than 1 below where it began, ln(number of words): "
        "cross_entropy takes a softmax itself, and that of numbers from 0 to 1 is nearly flat",
        measured="nats from ln(number of words) down to the least loss reported",
        symptom=_height,
        below=1.0,
    ),
    Fault(
        name="the learning rate is far too high",
        what="Each step is a hundred times as long as it should be.",
        line="STEPS, BATCH, LEARNING_RATE, DROPOUT = 200, 16, 3e-3, 0.1",
        instead="STEPS, BATCH, LEARNING_RATE, DROPOUT = 200, 16, 3e-1, 0.1",
        would="one step carries the weights far from where they were",
        measured="the longest step of a block or of the head, as a share of its length",
        symptom=_longest_update,
        above=0.5,
    ),
    Fault(
        name="gradients are not cleared",
        what="`zero_grad` is never called.",
        line="        optimizer.zero_grad()\n",
        instead="",
        would="a step's gradient is the sum of all before it: it grows, and hardly turns any more",
        measured="the median norm of the gradient, over the last hundred steps",
        symptom=_gradient,
        above=8,
    ),
    Fault(
        name="dropout is on while it is judged",
        what="`eval` is not called before the model is judged.",
        line="    model.eval()\n",
        instead="",
        would="the same model, judged twice on the same sentences, gets two different losses",
        measured="the difference of two judgements",
        symptom=_disagreement,
        above=1e-5,
    ),
    Fault(
        name="positions are not added",
        what="The blocks are not told where a word stands.",
        line="        x = x + self.places(torch.arange(ids.shape[1]))\n",
        instead="",
        would="the same word at two positions enters the first block as the same vector",
        measured='how far "dog" is from "dog" four words on, as a share of its length',
        symptom=_places,
        below=1e-5,
    ),
    Fault(
        name="the word embeddings are frozen",
        what="The optimiser leaves the words' vectors as they were drawn.",
        line="self.words = nn.Embedding(len(LANGUAGE), d)",
        instead="self.words = nn.Embedding(len(LANGUAGE), d).requires_grad_(False)",
        would="the words' vectors end where they began",
        measured="how far they have moved, as a share of their length",
        symptom=_words_moved,
        below=1e-6,
    ),
    Fault(
        name="the last block's output is not used",
        what="The head reads the stream before the last block.",
        line="return self.head(self.norm(stream[-1])), stream, maps",
        instead="return self.head(self.norm(stream[-2])), stream, maps",
        would="no gradient reaches the last block",
        measured="the largest norm of its gradient in any step",
        symptom=_last_block,
        below=1e-9,
    ),
    Fault(
        name="every step sees the same batch",
        what="The loop asks for batch 1 again and again.",
        line="loss = mean_loss(model, batch(step))",
        instead="loss = mean_loss(model, batch(1))",
        would="its own sentences are learnt by heart, and held-out ones are not predicted",
        measured="the held-out loss less the training loss, at the end, in nats",
        symptom=_learnt_by_heart,
        above=1,
    ),
)
