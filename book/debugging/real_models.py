"""Debug this run, real models: what may be wrong with `assistant`, and how it shows.

Nothing is trained here: a run is the program, put together from published weights.
"""

import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from book.debugging import assistant
from book.debugging.fault import Case, Fault, altered, fault_of, named, smooth
from companion.data import standard_library_text
from companion.data.sampling import seeded

if TYPE_CHECKING:
    from companion.pretrained import PretrainedTokenizer

THINGS = ("copper lamp", "old boat", "red bicycle", "violin", "globe", "telescope")
PLACES = ("cellar", "attic", "kitchen", "garden shed", "library", "hall")
PEOPLE = ("Marta", "Jonas", "Irene", "Oscar", "Paula", "Victor")


class Published(NamedTuple):
    """The weights of SmolLM2, MiniLM as a model, and the tokenizers of both."""

    weights: dict[str, Tensor]
    words: "PretrainedTokenizer"
    encoder: torch.nn.Module
    pieces: "PretrainedTokenizer"


@cache
def published() -> Published:
    """What pip fetches; loaded once, since no run changes it."""
    # Not above: it is slow to import, and the other pages do without.
    from companion.pretrained import load, load_tokenizer

    writer, reader = "SmolLM2-135M-Instruct", "all-MiniLM-L6-v2"
    return Published(
        load(writer).state_dict(), load_tokenizer(writer), load(reader), load_tokenizer(reader)
    )


class Run(Case):
    """The assistant with notes of a reader's number, and tools to probe it.

    Attributes:
        notes, questions: six of each; the first question is about the first note, and so on.
        program: what runs, whose functions can be called.
        writer: the program's SmolLM2.
        words: its tokenizer.
        text: the ids of an English text.
    """

    @torch.no_grad()
    def __init__(self, number: int, fault: Fault | None) -> None:
        super().__init__(number, fault)
        torch.manual_seed(number)
        self.program = altered(assistant, fault)
        self.writer = self.program.Writer(published().weights)
        self.words = published().words
        self.notes, self.questions = _notes(number)
        english = standard_library_text(kind="docstrings", split="test")
        start = seeded("text", number).randrange(len(english) - 1000)
        self.text = self.words.encode(english[start : start + 1000])[1:129]

    @torch.no_grad()
    def vectors(self, sentences: list[str]) -> Tensor:
        """The vectors (sentences, 384) of sentences that the program encodes together."""
        return self.program.vectors(published().encoder, published().pieces, sentences)

    def similarity(self) -> Tensor:
        """The cosine of each question (row) with each note."""
        return self.vectors(self.questions) @ self.vectors(self.notes).T

    def prompt(self, question: int) -> list[int]:
        """The ids that SmolLM2 reads for a question, with the note that was found for it."""
        found = self.similarity()[question].argmax().item()
        return self.program.prompt(self.words, self.notes[found], self.questions[question])

    @torch.no_grad()
    def answer(self, question: int, longest: int = 12) -> str:
        """What it writes, special tokens included."""
        ids = self.prompt(question)
        written = self.program.write(self.writer.next_logits, ids, self.words.eos_id, longest)
        return self.words.decode(written, special_tokens=True)

    @torch.no_grad()
    def losses(self) -> Tensor:
        """The loss in nats on each token of the English text but the first."""
        return F.cross_entropy(
            self.writer.logits(self.text)[:-1], torch.tensor(self.text[1:]), reduction="none"
        )

    def turned(self, entry: int, place: int) -> Tensor:
        """A vector of 64 entries of which only this one is 1, as RoPE turns it to a place."""
        alone = F.one_hot(torch.tensor([[entry]]), 64).float()
        return self.program.rotated(alone, torch.tensor([place]))[0, 0]

    def rounding(self, name: str) -> float:
        """How far a matrix is from the one that was published, as a share of its length."""
        there = published().weights[name]
        return ((self.writer.weights[name] - there).norm() / there.norm()).item()

    @torch.no_grad()
    def instruments(self) -> dict:
        """As `Case.instruments` says."""
        losses, found = self.losses(), self.similarity()
        places = list(range(0, 4001, 200))
        own = {f"question {i + 1}": found[i, i].item() for i in range(6)}

        def turned(entry):
            still = self.turned(entry, 0)
            cosines = [(still @ self.turned(entry, place)).item() for place in places]
            return places, cosines, "places away", f"cosine of entry {entry} with itself"

        matrix = "blocks.10.feed_forward.down_proj.weight"
        return {
            "loss on English": (
                list(range(8, 120, 16)),
                smooth(losses[:112].tolist(), 16),
                "token of the passage",
                "loss in nats per token",
            ),
            "does a question find its note? (cosine)": own,
            "what does it answer?": self.answer(0),
            "what is it given to read?": self.words.decode(self.prompt(0), special_tokens=True),
            "RoPE, entry 30": turned(30),
            "RoPE, entry 63": turned(63),
            "a sentence beside a longer one": {"how far its vector moves": _company(self)},
            "a matrix and the published one": {"distance, as a share": self.rounding(matrix)},
            "head and word vectors": {"mean cosine": _tied(self)},
        }


def _notes(number: int) -> tuple[list[str], list[str]]:
    draw = seeded("notes", number)
    things, places, people = (draw.sample(words, 6) for words in (THINGS, PLACES, PEOPLE))
    notes = [f"The {a} is kept in the {b}." for a, b in zip(things[:3], places, strict=False)]
    notes += [
        f"Ever since the house was bought from its first owner, more than twenty years ago, {b} "
        f"looks after the {a}."
        for a, b in zip(things[3:], people, strict=False)
    ]
    questions = [f"Where is the {thing} kept?" for thing in things[:3]]
    return notes, questions + [f"Who looks after the {thing}?" for thing in things[3:]]


def start(number: int, chosen: int | None = None) -> Run:
    """The run of a reader's number, which chooses the notes, the text and the fault.

    With `chosen`, that number chooses the fault, and the other one all the rest.
    """
    return Run(number, fault_of(number if chosen is None else chosen, FAULTS))


def start_with(number: int, name: str) -> Run:
    """The run of the same number with a fault of your choice, or with "nothing is wrong"."""
    return Run(number, named(name, FAULTS))


# What tells each fault from all others: numbers of a run.


def _neighbours(run: Run) -> float:
    return (run.turned(0, 0) @ run.turned(1, 1)).abs().item()


def _slowest(run: Run) -> float:
    return math.acos(min(1, (run.turned(63, 0) @ run.turned(63, 1000)).item()))


@torch.no_grad()
def _doubled(run: Run) -> float:
    stream = run.writer.words[run.text[:1]]
    once, twice = run.writer.read_out(stream), run.writer.read_out(2 * stream)
    return (twice.norm() / once.norm()).item()


def _special_tokens(run: Run) -> float:
    special = run.words.encode("<|im_start|><|im_end|>")
    return sum(token in special for token in run.prompt(0))


def _worst_rounding(run: Run) -> float:
    return run.rounding("blocks.10.feed_forward.down_proj.weight")


def _tied(run: Run) -> float:
    chosen = run.text[:100]
    return F.cosine_similarity(run.writer.head[chosen], run.writer.words[chosen]).mean().item()


def _company(run: Run) -> float:
    short, long = run.notes[0], run.notes[3]
    return (run.vectors([short])[0] - run.vectors([short, long])[0]).norm().item()


def _after_the_end(run: Run) -> float:
    end = run.words.eos_id

    def only_the_end(ids, cache):
        return F.one_hot(torch.tensor(end), end + 1)

    return len(run.program.write(only_the_end, run.text[:3], end, 8)) - 1


FAULTS = (
    Fault(
        name="RoPE turns the wrong pairs",
        what="Entries half a head apart form a pair; these weights were stored for neighbours.",
        line="one, two = x[..., ::2], x[..., 1::2]",
        instead="one, two = x.chunk(2, dim=-1)",
        would="entries 0 and 1 are not turned into each other",
        measured="the product of entry 0, turned to place 0, and entry 1, turned to place 1",
        symptom=_neighbours,
        below=0.01,
    ),
    Fault(
        name="the base of RoPE is another model's",
        what="The base is that of the paper of RoPE, and not what this model was trained with.",
        line="ROPE_BASE, EPSILON = 100_000, 1e-5",
        instead="ROPE_BASE, EPSILON = 10_000, 1e-5",
        would="the slowest pair turns much faster",
        measured="its angle after 1000 tokens, in radians",
        symptom=_slowest,
        above=0.05,
    ),
    Fault(
        name="the final norm is missing",
        what="The head reads the last block's stream as it is.",
        line='        x = normed(x, self.weights["final_norm.weight"])\n',
        instead="",
        would="the logits grow with the stream that they are read from",
        measured="how many times longer they become when the stream is doubled",
        symptom=_doubled,
        above=1.5,
    ),
    Fault(
        name="the chat format is missing",
        what="Note and question are handed over as plain text.",
        line='return tokenizer.chat([{"role": "user", "content": asked}])',
        instead="return tokenizer.encode(asked)",
        would="no special token says who speaks",
        measured="how many there are in the prompt",
        symptom=_special_tokens,
        below=1,
    ),
    Fault(
        name="one scale for a whole matrix",
        what="The largest weight of a matrix sets the step for all of its weights.",
        line="largest = groups.abs().amax(dim=1, keepdim=True).clamp_min(1e-12)",
        instead="largest = groups.abs().max()",
        would="rounding moves the weights far from the published ones",
        measured="the distance from them of the last matrix of block 11, as a share of its length",
        symptom=_worst_rounding,
        above=0.08,
    ),
    Fault(
        name="the head is not tied",
        what="The head is drawn at random, since the file has no matrix of this name.",
        line="self.words, self.head = words, words",
        instead="self.words, self.head = words, 0.02 * torch.randn(words.shape)",
        would="a token's row in the head is not its vector",
        measured="the mean cosine of the two",
        symptom=_tied,
        below=0.5,
    ),
    Fault(
        name="padding counts in the mean",
        what="The mean over the tokens includes those that only fill a row up.",
        line="mean = (hidden * real[..., None]).sum(dim=1) / real.sum(dim=1, keepdim=True)",
        instead="mean = hidden.mean(dim=1)",
        would="a sentence has another vector when it is encoded beside a longer one",
        measured="how far it moves (all vectors have length 1)",
        symptom=_company,
        above=0.01,
    ),
    Fault(
        name="it does not stop at the end",
        what="Nobody looks whether the token that ends an answer has been written.",
        line="while len(written) < longest and end not in written:",
        instead="while len(written) < longest:",
        would="it writes on after the end of an answer",
        measured="how many tokens follow, of seven, if the end comes first",
        symptom=_after_the_end,
        above=0.5,
    ),
)
