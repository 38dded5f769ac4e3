"""What a language model gives to each answer of 160 questions, in nine forms of asking.

    python -m book.is_it_good.scores > book/is_it_good/scores.json

takes about a quarter of an hour of one core. The chapter reads the file with `stored`, and scores
one form again.
"""

import json
import random
import sys
from collections.abc import Callable
from functools import cache
from importlib.resources import files

import torch
from torch import Tensor

from companion.generation import generate
from companion.models import GPT
from companion.nn import KVCache
from companion.pretrained import load, load_tokenizer

NAME = "SmolLM2-135M-Instruct"
LETTERS = "ABCD"
CUT = 10  # the block that one of the damaged copies lacks
FIRST_LINE = "The following are multiple choice questions (with answers) about common knowledge."
EXAMPLES = (
    ("What do cows eat?", ("stones", "grass", "paper", "glass"), "B"),
    ("What is one plus one?", ("two", "three", "nine", "zero"), "A"),
    ("Which animal says meow?", ("the dog", "the bee", "the owl", "the cat"), "D"),
    ("Where do whales live?", ("in trees", "in caves", "in the sea", "in houses"), "C"),
)
PADDING = (
    "This is well known, and most people learn it at school.",
    "It has been known for a long time and is easy to check.",
    "Many books explain this, with examples and pictures.",
)
FREE = ("chat", "chat, briefly")  # forms in which the model writes its answer
WRITTEN = 24  # tokens of it at most
JUDGED = 40  # questions about which the model is asked as a judge


def listed(options: tuple[str, ...]) -> str:
    """The four options, each on a line behind its letter."""
    return "".join(f"\n{letter}. {option}" for letter, option in zip(LETTERS, options, strict=True))


def plain(question: str) -> str:
    """A question as many collections of texts print it."""
    return f"Question: {question}\nAnswer:"


def with_examples(question: str, options: tuple[str, ...]) -> str:
    """Four questions with their options and letters, then this one."""
    solved = "".join(f"Question: {q}{listed(o)}\nAnswer: {a}\n\n" for q, o, a in EXAMPLES)
    return f"{solved}Question: {question}{listed(options)}\nAnswer:"


# name: the text of a question with its options, whether it is a turn of a conversation, and whether
# the options are shown.
FORMS: dict[str, tuple[Callable, bool, bool]] = {
    "no question": (lambda q, o: "Answer:", False, False),
    "question alone": (lambda q, o: q, False, False),
    "Question, Answer": (lambda q, o: plain(q), False, False),
    "chat": (lambda q, o: q, True, False),
    "chat, briefly": (lambda q, o: f"Answer in as few words as possible.\n\n{q}", True, False),
    "options": (lambda q, o: f"{FIRST_LINE}\n\n{q}{listed(o)}\nAnswer:", False, True),
    "four examples": (with_examples, False, True),
    "chat, options": (lambda q, o: q + listed(o), True, True),
    "chat, letter only": (
        lambda q, o: f"Answer with the letter of the right option only.\n\n{q}{listed(o)}",
        True,
        True,
    ),
}


@cache
def questions() -> tuple[tuple[str, tuple[str, ...], int], ...]:
    """Each question with four options and the number of the right one."""
    read = json.loads(files("book.is_it_good").joinpath("questions.json").read_text("utf8"))
    return tuple((question, tuple(options), right) for question, options, right in read)


@cache
def stored() -> dict:
    """What `main` has printed: log-probabilities in nats."""
    read = json.loads(files("book.is_it_good").joinpath("scores.json").read_text("utf8"))
    for form in (form for model in read["models"].values() for form in model.values()):
        for rows in form.values():
            rows[:] = [[value / 1000 for value in row] for row in rows]
    return read


def prompt_of(tokenizer, form: str, question: str, options: tuple[str, ...]) -> list:
    """The tokens of a question in one of the FORMS."""
    text, chat, _ = FORMS[form]
    said = text(question, options)
    return tokenizer.chat([{"role": "user", "content": said}]) if chat else tokenizer.encode(said)


def lead_of(form: str) -> str:
    """What stands before an answer: a turn begins without a space."""
    return "" if FORMS[form][1] else " "


class Reader:
    """A model that has read the beginning that many prompts share, and goes on from there."""

    def __init__(self, model: GPT, prompts: list[list[int]]):
        last = min(map(len, prompts)) - 1  # of every prompt something is left to read
        same = (len({prompt[i] for prompt in prompts}) == 1 for i in range(last))
        self.start = next((i for i, equal in enumerate(same) if not equal), last)
        self.model, self.shared = model, [KVCache() for _ in model.blocks]
        if self.start:
            model.hidden_states(torch.tensor([prompts[0][: self.start]]), caches=self.shared)

    def read(self, prompts: list[list[int]]) -> tuple[Tensor, list[KVCache]]:
        """The log-probabilities (B, V) of what follows prompts of one length; their caches."""
        caches = continued(self.shared, len(prompts))
        ids = torch.tensor(prompts)[:, self.start :]
        hidden = self.model.hidden_states(ids, caches=caches)
        return self.model.head(hidden[:, -1]).log_softmax(-1), caches

    def score(self, prompts: list[list[int]], answers: list[list[list[int]]]):
        """What `read` finds (B, V), and for each prompt the log-probabilities of its answers."""
        first, caches = self.read(prompts)
        flat, each = [answer for four in answers for answer in four], len(answers[0])
        found = first.repeat_interleave(each, 0)[range(len(flat)), [a[0] for a in flat]].tolist()
        width = max(map(len, flat)) - 1
        if width:
            rows = torch.tensor([(answer[:-1] + [0] * width)[:width] for answer in flat])
            hidden = self.model.hidden_states(rows, caches=continued(caches, each))
            for i, answer in enumerate(flat):
                following = self.model.head(hidden[i, : len(answer) - 1]).log_softmax(-1)
                found[i] += following[range(len(answer) - 1), answer[1:]].sum().item()
        return first, [found[i : i + each] for i in range(0, len(flat), each)]


def continued(caches: list[KVCache], times: int) -> list[KVCache]:
    """Caches that hold every row so many times, and grow by themselves."""
    new = [KVCache() for _ in caches]
    for one, old in zip(new, caches, strict=True):
        if old.key is not None:
            one.key = old.key.repeat_interleave(times, 0)
            one.value = old.value.repeat_interleave(times, 0)
    return new


def alike(prompts: list[list[int]], most: int = 12) -> list[list[int]]:
    """Numbers of prompts of equal length, at most so many together."""
    groups = {}
    for i, prompt in enumerate(prompts):
        groups.setdefault(len(prompt), []).append(i)
    return [group[k : k + most] for group in groups.values() for k in range(0, len(group), most)]


def score_form(model: GPT, tokenizer, form: str, asked=None) -> dict[str, list]:
    """The log-probability of each letter and of each answer's text, for each question."""
    asked = questions() if asked is None else asked
    lead, shown = lead_of(form), FORMS[form][2]
    prompts = [prompt_of(tokenizer, form, question, options) for question, options, _ in asked]
    answers = [[tokenizer.encode(lead + option) for option in options] for _, options, _ in asked]
    reader = Reader(model, prompts)
    letters = [tokenizer.encode(lead + letter)[0] for letter in LETTERS]
    found = {name: [[]] * len(asked) for name in (("text", "letter") if shown else ("text",))}
    for group in alike(prompts):
        first, sums = reader.score([prompts[i] for i in group], [answers[i] for i in group])
        for i, row, four in zip(group, first[:, letters].tolist(), sums, strict=True):
            found["text"][i] = four
            if shown:
                found["letter"][i] = row
    return found


def written(model: GPT, tokenizer, form: str, asked=None) -> list[str]:
    """What the model writes when it is asked without options, the most probable token each time."""
    asked = questions() if asked is None else asked
    prompts = [prompt_of(tokenizer, form, question, options) for question, options, _ in asked]
    found = [""] * len(prompts)
    for group in alike(prompts, most=40):
        ids = torch.tensor([prompts[i] for i in group])
        texts = generate(model, ids, WRITTEN, temperature=0, eos_id=tokenizer.eos_id)
        for i, text in zip(group, texts[:, ids.shape[1] :].tolist(), strict=True):
            found[i] = tokenizer.decode(text).strip()
    return found


def grades(model: GPT, tokenizer, answers: list[str], asked=None) -> list[float]:
    """How much the model, which is told the right answer, prefers Yes to No, in nats."""
    asked = questions() if asked is None else asked
    yes, no = (tokenizer.encode(word)[0] for word in ("Yes", "No"))
    prompts = []
    for (question, options, right), answer in zip(asked, answers, strict=True):
        text = (
            f"Question: {question}\n\nRight answer: {sentence(options[right])}\n\n"
            f"A student's answer: {answer}\n\nIs the student right? Reply with Yes or No only."
        )
        prompts.append(tokenizer.chat([{"role": "user", "content": text}]))
    reader, found = Reader(model, prompts), [0.0] * len(prompts)
    for group in alike(prompts):
        logp, _ = reader.read([prompts[i] for i in group])
        for i, preferred in zip(group, (logp[:, yes] - logp[:, no]).tolist(), strict=True):
            found[i] = preferred
    return found


def round_again(model: GPT, bits: int = 4, block: int = 32) -> GPT:
    """Every matrix, in place, rounded to whole multiples of a scale of its own per block."""
    for weight in model.parameters():
        if weight.dim() == 2:
            groups = weight.view(-1, block)
            scale = groups.abs().amax(1, keepdim=True).clamp_min(1e-12) / (2 ** (bits - 1) - 1)
            weight.copy_((groups / scale).round().mul(scale).view_as(weight))
    return model


def without_block(model: GPT, number: int = CUT) -> GPT:
    """The model, in place, without one of its blocks."""
    del model.blocks[number]
    return model


def pairs(count: int = JUDGED) -> list[tuple[str, str, str, str]]:
    """Of some questions: the question, the right answer, a wrong one, and a harmless sentence."""
    rng = random.Random(0)
    found = []
    for question, options, right in rng.sample(questions(), count):
        wrong = rng.choice([option for i, option in enumerate(options) if i != right])
        found.append((question, options[right], wrong, rng.choice(PADDING)))
    return found


def judge_prompt(tokenizer, question: str, first: str, second: str) -> list[int]:
    """The model is asked which of two answers is better."""
    text = (
        f"Question: {question}\n\nAnswer A: {first}\n\nAnswer B: {second}\n\n"
        "Which answer is better? Reply with A or B only."
    )
    return tokenizer.chat([{"role": "user", "content": text}])


def sentence(text: str) -> str:
    """An answer as a sentence of its own."""
    return text[0].upper() + text[1:] + "."


def judge(model: GPT, tokenizer) -> dict[str, list]:
    """How much the judge prefers A, in nats: with the right answer as A, and as B."""
    a, b = (tokenizer.encode(letter)[0] for letter in "AB")
    found = {"both short": [], "wrong padded": [], "right padded": []}
    for question, right, wrong, more in pairs():
        for name, rows in found.items():
            good = sentence(right) + (f" {more}" if name == "right padded" else "")
            bad = sentence(wrong) + (f" {more}" if name == "wrong padded" else "")
            orders = [judge_prompt(tokenizer, question, *two) for two in ((good, bad), (bad, good))]
            reader = Reader(model, orders)
            logps = [reader.read([prompt])[0][0] for prompt in orders]
            rows.append([(logp[a] - logp[b]).item() for logp in logps])
    return found


def padded(model: GPT, tokenizer) -> dict[str, list]:
    """Of right and wrong, then both padded: log-probability, tokens and characters."""
    prompts = [tokenizer.encode(plain(question)) for question, *_ in pairs()]
    reader, found = Reader(model, prompts), {"text": [], "tokens": [], "chars": []}
    for prompt, (_, right, wrong, more) in zip(prompts, pairs(), strict=True):
        texts = [f" {right}.", f" {wrong}.", f" {right}. {more}", f" {wrong}. {more}"]
        answers = [tokenizer.encode(text) for text in texts]
        found["text"] += reader.score([prompt], [answers])[1]
        found["tokens"].append([len(answer) for answer in answers])
        found["chars"].append([len(text) - 1 for text in texts])
    return found


def of_the_key() -> dict[str, list[str]]:
    """What a grader must accept and what it must refuse: the right options, and the next ones."""
    return {
        name: [sentence(options[(right + shift) % 4]) for _, options, right in questions()]
        for name, shift in (("right", 0), ("wrong", 1))
    }


def thousandths(rows: list[list[float]]) -> list[list[int]]:
    """Numbers as they are stored."""
    return [[round(1000 * value) for value in row] for row in rows]


def copies() -> dict[str, Callable[[GPT], GPT]]:
    """What is done to the model for each of three copies."""
    return {"whole": lambda model: model, "rounded": round_again, "block cut": without_block}


@torch.no_grad()
def main() -> None:
    """Print all scores as JSON, and say on the other channel how far it is."""
    tokenizer = load_tokenizer(NAME)
    tokens = {
        lead: [[len(tokenizer.encode(lead + o)) for o in options] for _, options, _ in questions()]
        for lead in ("", " ")
    }
    found = {"tokens": tokens, "models": {}}
    for name, damage in copies().items():
        model = damage(load(NAME, dtype=torch.float32).eval())
        found["models"][name] = {}
        for form in FORMS:
            scores = score_form(model, tokenizer, form)
            found["models"][name][form] = {k: thousandths(rows) for k, rows in scores.items()}
            print(name, form, file=sys.stderr, flush=True)
        if name == "whole":
            found["judge"] = {k: thousandths(v) for k, v in judge(model, tokenizer).items()}
            found["padded"] = padded(model, tokenizer)
            found["padded"]["text"] = thousandths(found["padded"]["text"])
            found["written"] = {form: written(model, tokenizer, form) for form in FREE}
            found["grades"] = {
                name: [round(1000 * grade) for grade in grades(model, tokenizer, answers)]
                for name, answers in (found["written"] | of_the_key()).items()
            }
    print(json.dumps(found, separators=(",", ":")).replace('],"', '],\n"'))


if __name__ == "__main__":
    main()
