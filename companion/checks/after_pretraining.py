"""Checks for the exercises of book/after_pretraining.ipynb."""

from itertools import pairwise
from math import comb, perm

import torch
import torch.nn.functional as F
from torch import nn

from companion.checks.exercise import Mistake, Rung, call, exercise, ladder


@exercise
def pass_at_k(answer) -> str:
    """Check `pass_at_k(right, tries, k)` -> the share of picks of k tries of which one is right."""
    ladder(PASS_AT_K, _pass_at_k, pass_at_k=answer)
    return "one try and all tries, none right and all right, more tries than can miss, 200 tries"


def _pass_at_k(right, tries, k):
    return 1 - comb(tries - right, k) / comb(tries, k)


def _missed(right, tries, k):
    return comb(tries - right, k) / comb(tries, k)


def _drawn_with_return(right, tries, k):
    return 1 - (1 - right / tries) ** k


def _all_right(right, tries, k):
    return comb(right, k) / comb(tries, k)


def _grows_evenly(right, tries, k):
    return k * right / tries


def _never_above_one(right, tries, k):
    return min(1.0, k * right / tries)


def _only_the_first(right, tries, k):
    return right / tries


def _first_k(right, tries, k):
    return float(right > 0)


PASS_AT_K = [
    Rung(
        "three right among ten, three picked: 35 of the 120 picks hold no right answer",
        "right, tries, k = 3, 10, 3\npass_at_k(right, tries, k)",
        {
            "this is the share of picks in which all tries fail; subtract it from 1": _missed,
            "the share of picks in which all k are right is subtracted from 1; it is that in which "
            "none is, of tries - right answers": lambda right, tries, k: (
                1 - _all_right(right, tries, k)
            ),
            "one right answer somewhere is not enough: it must be among the k that are picked (or "
            "// has made 0 of the share that fails)": _first_k,
            "answers are picked without putting them back; 1 - (1 - right / tries) ** k puts each "
            "back, and is too low": _drawn_with_return,
            "this is the share of picks in which all k are right; one is enough": _all_right,
            "k is not used; more tries pass more often": _only_the_first,
            "k times the share counts picks with two right answers twice": _grows_evenly,
            "k times the share, cut at 1, is too high: picks with two right answers count twice": (
                _never_above_one
            ),
            "exactly one passes here; two or three that pass are good, too": (
                lambda right, tries, k: right * comb(tries - right, k - 1) / comb(tries, k)
            ),
            "one pick too few is counted: k are picked": (
                lambda right, tries, k: _pass_at_k(right, tries, k - 1)
            ),
            "one pick too many is counted: k are picked": (
                lambda right, tries, k: _pass_at_k(right, tries, min(k + 1, tries))
            ),
            "picks are counted in order here and without an order there; both in the same way": (
                lambda right, tries, k: 1 - perm(tries - right, k) / comb(tries, k)
            ),
            "picks are counted without an order here and in order there; both in the same way": (
                lambda right, tries, k: 1 - comb(tries - right, k) / perm(tries, k)
            ),
            "it is in percent; a number from 0 to 1 is asked for": (
                lambda right, tries, k: 100 * _pass_at_k(right, tries, k)
            ),
        },
    ),
    Rung(
        "with fewer wrong answers than k, every pick holds a right one",
        "right, tries, k = 4, 6, 3\npass_at_k(right, tries, k)",
    ),
    Rung("none right: no pick passes", "right, tries, k = 0, 5, 3\npass_at_k(right, tries, k)"),
    Rung("all right: every pick passes", "right, tries, k = 5, 5, 2\npass_at_k(right, tries, k)"),
    Rung("picking all of them", "right, tries, k = 1, 6, 6\npass_at_k(right, tries, k)"),
    Rung(
        "two hundred tries: the binomials are huge, their ratio is not",
        "right, tries, k = 3, 200, 100\npass_at_k(right, tries, k)",
    ),
]


@exercise
def answer_loss(answer) -> str:
    """Check `answer_loss(logits, ids, prompt)` -> mean -log p over the tokens of all answers.

    logits (B, T, V), where logits[:, t] is about ids[:, t + 1]; ids (B, T), of which the first
    `prompt` are given, and -1 stands after the end of an answer.
    """
    ladder(ANSWER_LOSS, _answer_loss, answer_loss=answer)
    return "one answer token, several, answers of different length, long prompts, gradients"


def _answer_loss(
    logits, ids, prompt, *, first=None, shift=1, ignore=-1, reduction="mean", sign=1.0
):
    first = prompt if first is None else first
    target = ids[:, first:].reshape(-1)
    about = logits[:, first - shift : logits.shape[1] - shift].reshape(len(target), -1)
    if ignore is None:
        target = target.clamp(min=0)
    return sign * F.cross_entropy(about, target, ignore_index=-1, reduction=reduction)


def _mean_of_rows(logits, ids, prompt):
    rows = zip(logits, ids, strict=True)
    return torch.stack([_answer_loss(x[None], i[None], prompt) for x, i in rows]).mean()


def _mean_over_places(logits, ids, prompt):
    return _answer_loss(logits, ids, prompt, reduction="sum") / ids[:, prompt:].numel()


def _mean_over_text(logits, ids, prompt):
    return _answer_loss(logits, ids, prompt, reduction="sum") / (ids[:, 1:] >= 0).sum()


ONE_ROW = """logits = torch.tensor([[[2.0, 0, 0], [0, 1, 0], [0, 0, 3], [1, 2, 0]]])
ids = torch.tensor([[0, 1, 2, 0]])
"""
TWO_ROWS = """logits = torch.randn(2, 5, 4)
ids = torch.tensor([[0, 1, 2, 3, 3], [1, 1, 2, -1, -1]])
"""
ANSWER_LOSS = [
    Rung(
        "with a prompt of one token, everything behind it is the answer, and logits[:, t] is about "
        "ids[:, t + 1]",
        ONE_ROW + "answer_loss(logits, ids, 1)",
        {
            "logits[:, t] is about the token after ids[:, t], not about ids[:, t]": (
                lambda logits, ids, prompt: _answer_loss(logits, ids, prompt, shift=0)
            ),
            "the sign is wrong: a loss is minus the log-probability": (
                lambda logits, ids, prompt: _answer_loss(logits, ids, prompt, sign=-1.0)
            ),
            "this is the sum; the mean over the tokens of the answers is asked for": (
                lambda logits, ids, prompt: _answer_loss(logits, ids, prompt, reduction="sum")
            ),
            "the shift goes the wrong way: logits[:, t] is about the token after ids[:, t]": (
                lambda logits, ids, prompt: F.cross_entropy(
                    logits[:, prompt:].flatten(0, 1), ids[:, prompt - 1 : -1].flatten()
                )
            ),
            "probabilities were given to the cross-entropy, which takes logits": (
                lambda logits, ids, prompt: _answer_loss(logits.softmax(-1), ids, prompt)
            ),
            "the last token of the answer is left out; it belongs to the answer": (
                lambda logits, ids, prompt: _answer_loss(logits[:, :-1], ids[:, :-1], prompt)
            ),
            "the first token of the answer is left out; the prompt's last logits are about it": (
                lambda logits, ids, prompt: _answer_loss(logits, ids, prompt, first=prompt + 1)
            ),
        },
    ),
    Rung(
        "the prompt is given: its tokens are not to be predicted",
        ONE_ROW + "answer_loss(logits, ids, 3)",
        {
            "the tokens of the prompt count as well; only those of the answer should": (
                lambda logits, ids, prompt: _answer_loss(logits, ids, prompt, first=1)
            ),
            "the last token of the prompt counts as well; the answer begins at ids[:, prompt]": (
                lambda logits, ids, prompt: _answer_loss(logits, ids, prompt, first=prompt - 1)
            ),
            "the prompt is left out of the sum, but the mean is still over the whole text": (
                _mean_over_text
            ),
        },
    ),
    Rung(
        "-1 is no token: what stands behind the end of an answer does not count",
        TWO_ROWS + "answer_loss(logits[1:], ids[1:], 2)",
        {
            "-1 counts as if it were token 0": (
                lambda logits, ids, prompt: _answer_loss(logits, ids, prompt, ignore=None)
            ),
            "the mean is also over the places behind the end": _mean_over_places,
        },
    ),
    Rung(
        "answers of different length: every token counts the same, whosever answer it is in",
        TWO_ROWS + "answer_loss(logits, ids, 2)",
        {"this is the mean of the answers' means; short ones count too much": _mean_of_rows},
    ),
    Rung(
        "the loss carries the gradient, and none of it reaches the logits before the prompt's last",
        TWO_ROWS + "logits.requires_grad_()\nloss = answer_loss(logits, ids, 2)\n"
        "torch.autograd.grad(loss, logits)[0]",
    ),
    Rung(
        "very sure and wrong: log of a probability that is 0 in float32 must stay finite",
        "logits = torch.tensor([[[0.0, 200.0], [0.0, 0.0]]])\nids = torch.tensor([[1, 0]])\n"
        "answer_loss(logits, ids, 1)",
    ),
]


@exercise
def advantages(answer) -> str:
    """Check `advantages(rewards)`: rewards (N, G), a group in each row -> (N, G)."""
    ladder(ADVANTAGES, _advantages, advantages=answer)
    return "one group, several, groups that all pass or all fail, one answer"


def _advantages(rewards):
    return rewards - rewards.mean(1, keepdim=True)


def _of_the_batch(rewards):
    return rewards - rewards.mean()


def _of_the_column(rewards):
    return rewards - rewards.mean(0, keepdim=True)


def _divided(rewards, correction=1):
    spread = rewards.std(1, keepdim=True, correction=correction)
    return _advantages(rewards) / (spread + 1e-6)


def _of_the_others(rewards):
    return _advantages(rewards) * rewards.shape[1] / (rewards.shape[1] - 1)


BASELINES = {
    "sum": torch.sum,
    "median": lambda r, dim, keepdim: r.median(dim, keepdim=keepdim).values,
    "best": torch.amax,
    "worst": torch.amin,
}
ADVANTAGES = [
    Rung(
        "one group: each reward minus the mean of the group",
        "rewards = torch.tensor([[3.0, 1.0, 2.0, 2.0, 7.0]])\nadvantages(rewards)",
        {
            "the rewards come back as they are; no baseline is subtracted": lambda r: r.clone(),
            "the sign is turned round: better than the mean is above 0": lambda r: -_advantages(r),
            "the mean is over the other answers only, as in RLOO; take all of the group": (
                _of_the_others
            ),
            "it is divided by the standard deviation, as in GRPO; leave that out": _divided,
            "it is divided by the standard deviation over G; leave that out": (
                lambda r: _divided(r, 0)
            ),
            "the mean is over the groups; take it within each": _of_the_column,
            **{
                f"the {name} of the group is subtracted, not its mean": (
                    lambda r, of=of: r - of(r, 1, keepdim=True)
                )
                for name, of in BASELINES.items()
            },
            "it is divided by the mean; subtract it": lambda r: r / r.mean(1, keepdim=True),
            "the sign is lost: worse than the mean is below 0": lambda r: _advantages(r).abs(),
            "what is worse than the mean is set to 0; it is below 0": (
                lambda r: _advantages(r).clamp(min=0)
            ),
        },
    ),
    Rung(
        "two groups: each has a mean of its own",
        "advantages(torch.tensor([[1.0, 1, 1, 0], [0, 0, 1, 0]]))",
        {
            "one mean for all groups: an easy demand would look good whatever was answered": (
                _of_the_batch
            ),
            "the mean is over the groups; take it within each": _of_the_column,
        },
    ),
    Rung(
        "all pass, or none: nothing to learn", "advantages(torch.tensor([[1.0, 1, 1], [0, 0, 0]]))"
    ),
    Rung(
        "as many groups as answers: rows are the groups",
        "advantages(torch.tensor([[3.0, 1.0], [0.0, -2.0]]))",
    ),
    Rung("a single answer is its own mean", "advantages(torch.tensor([[0.7], [0.2]]))"),
]


@exercise
def dpo_loss(answer) -> str:
    """Check `dpo_loss(won, lost, won_start, lost_start, beta)` -> the mean loss of DPO.

    The first four are log-probabilities (N,) of whole answers: the chosen and the rejected ones,
    for the model and for the model that it started from.
    """
    ladder(DPO_LOSS, _dpo_loss, dpo_loss=answer)
    return "no change yet, pairs in and out of order, several pairs, large differences, gradients"


def _dpo_loss(won, lost, won_start, lost_start, beta):
    return -F.logsigmoid(beta * ((won - won_start) - (lost - lost_start))).mean()


def _summed(*given):
    return _dpo_loss(*given) * len(given[0])


def _of_the_mean(won, lost, won_start, lost_start, beta):
    return -F.logsigmoid(beta * ((won - won_start) - (lost - lost_start)).mean())


ONE_PAIR = "tensor = torch.tensor\n"
DPO_LOSS = [
    Rung(
        "before the first step the model is its own start: the loss is log 2",
        ONE_PAIR + "dpo_loss(tensor([-3.0]), tensor([-5.0]), tensor([-3.0]), tensor([-5.0]), 0.5)",
        {
            "it returns a loss for each pair; their mean is asked for": (
                lambda won, lost, won_start, lost_start, beta: (
                    -F.logsigmoid(beta * ((won - won_start) - (lost - lost_start)))
                )
            ),
            "the model it started from is not used; a likely answer is not one that has gained": (
                lambda won, lost, won_start, lost_start, beta: (
                    -F.logsigmoid(beta * (won - lost)).mean()
                )
            ),
            "the start is added; the gain of an answer is its log-probability minus that before": (
                lambda won, lost, won_start, lost_start, beta: (
                    -F.logsigmoid(beta * ((won + won_start) - (lost + lost_start))).mean()
                )
            ),
            "the logarithm is missing: the loss is minus the log of the sigmoid": (
                lambda won, lost, won_start, lost_start, beta: (
                    -torch.sigmoid(beta * ((won - won_start) - (lost - lost_start))).mean()
                )
            ),
            "the sign is wrong: the log of a sigmoid is below 0, a loss is minus that": (
                lambda *given: -_dpo_loss(*given)
            ),
            "the two gains are added; their difference counts": (
                lambda won, lost, won_start, lost_start, beta: (
                    -F.logsigmoid(beta * (won + won_start - lost - lost_start)).mean()
                )
            ),
            "beta multiplies the loss; it belongs inside the sigmoid": (
                lambda won, lost, won_start, lost_start, beta: (
                    -beta * F.logsigmoid(won - won_start - lost + lost_start).mean()
                )
            ),
        },
    ),
    Rung(
        "the chosen answer has gained one nat: the loss falls below log 2",
        ONE_PAIR + "dpo_loss(tensor([-2.0]), tensor([-5.0]), tensor([-3.0]), tensor([-5.0]), 0.5)",
        {
            "chosen and rejected have changed places": (
                lambda won, lost, won_start, lost_start, beta: _dpo_loss(
                    lost, won, lost_start, won_start, beta
                )
            ),
            "beta is not used": lambda *given: _dpo_loss(*given[:4], 1.0),
            "it divides by beta; beta multiplies": lambda *given: _dpo_loss(
                *given[:4], 1 / given[4]
            ),
            "the rejected answer is not used": (
                lambda won, lost, won_start, lost_start, beta: (
                    -F.logsigmoid(beta * (won - won_start)).mean()
                )
            ),
            "log-probabilities are divided; their difference is the logarithm of the ratio": (
                lambda won, lost, won_start, lost_start, beta: (
                    -F.logsigmoid(beta * (won / won_start - lost / lost_start)).mean()
                )
            ),
        },
    ),
    Rung(
        "both have lost, the rejected answer more: for DPO that is as good as a gain",
        ONE_PAIR + "dpo_loss(tensor([-6.0]), tensor([-9.0]), tensor([-5.0]), tensor([-5.0]), 1.0)",
        {
            "the rejected answer is not used": (
                lambda won, lost, won_start, lost_start, beta: (
                    -F.logsigmoid(beta * (won - won_start)).mean()
                )
            ),
            "the two gains are added; their difference counts": (
                lambda won, lost, won_start, lost_start, beta: (
                    -F.logsigmoid(beta * (won - won_start + lost - lost_start)).mean()
                )
            ),
        },
    ),
    Rung(
        "several pairs: the mean of their losses",
        "won, lost = torch.randn(3), torch.randn(3)\n"
        "dpo_loss(won, lost, torch.zeros(3), torch.zeros(3), 2.0)",
        {
            "this is the sum; the mean over the pairs is asked for": _summed,
            "the mean is taken of the differences, inside the sigmoid; it is over the losses": (
                _of_the_mean
            ),
        },
    ),
    Rung(
        "far out of order, by 400: the loss is 400, where log(sigmoid(x)) is infinite, and a clamp "
        "or a small number added would cut it off",
        "zero = torch.zeros(1)\ndpo_loss(torch.tensor([-400.0]), zero, zero, zero, 1.0)",
    ),
    Rung(
        "the gradient raises the chosen answer and lowers the rejected one by as much",
        "won = torch.tensor([-2.0, -4.0], requires_grad=True)\n"
        "lost = torch.tensor([-3.0, -1.0], requires_grad=True)\n"
        "start = torch.tensor([-3.0, -2.0])\n"
        "loss = dpo_loss(won, lost, start, start, 0.5)\n"
        "torch.stack(torch.autograd.grad(loss, [won, lost]))",
    ),
]


class Table(nn.Module):
    """A language model of one table: the logits of the next token depend on the last one alone."""

    def __init__(self, logits: torch.Tensor):
        super().__init__()
        self.next = nn.Parameter(logits.clone())
        self.cleared: list[bool] = []  # before each backward: was there no gradient?

    def forward(self, ids):
        logits = self.next[ids]  # (B, T, V)
        if logits.requires_grad:
            logits.register_hook(lambda _: self.cleared.append(not self._has_gradient()))
        return logits

    def _has_gradient(self) -> bool:
        return self.next.grad is not None and bool(self.next.grad.any())


@exercise
def rejection_round(answer) -> str:
    """Check `rejection_round(model, prompts, judge, tries, length, epochs, rate)` -> a new model.

    model(ids (B, T)) -> logits (B, T, V); prompts (N, P). For each prompt `tries` answers of
    `length` tokens are drawn; judge(prompt, answer), two lists, says which pass; a copy of the
    model is trained on these, on the tokens of the answers alone.
    """
    V, tries = 6, 60
    model = Table(torch.zeros(V, V))
    prompts = torch.tensor([[5, 4], [5, 3]])
    seen: list[tuple] = []

    def judge(prompt, written):
        seen.append((_listed(prompt), _listed(written)))
        return _passing(*seen[-1])

    setting = {"tries": tries, "length": 3, "epochs": 20, "rate": 0.05}
    given = "a model that knows nothing yet: 6 tokens, all equally probable\n"
    given += f"prompts = [[5, 4], [5, 3]], {setting}\n"
    given += "judge: after [5, 4] an answer passes if it begins with 1, after [5, 3] with 0; "
    given += "one with a 5 never does"
    trained = call(answer, model=model, prompts=prompts, judge=judge, **setting)
    if not isinstance(trained, nn.Module):
        raise Mistake(f"it returned {type(trained).__name__}, expected the trained model", given)
    _check_draws(seen, prompts, tries, setting["length"], given)
    start, end = (m.next.detach().softmax(-1) for m in (model, trained))
    shown = f"{given}\nprobabilities after token 4: {_rounded(end[4])}"
    if torch.equal(start, end):
        raise Mistake("the model has not changed: is the copy trained on what passed?", shown)
    if end[4, 1] < start[4, 1] / 2:
        raise Mistake(
            "an answer that passes has become less probable: is the sign of the loss right?", shown
        )
    passed = [written for prompt, written in seen if _passing(prompt, written)]
    if end[4, 1] < 0.3 or end[3, 0] < 0.3:
        _check_training(answer, model, prompts, setting, given)
        raise Mistake(
            "what passed has hardly become more probable: were the answers that failed thrown "
            "away? And was the copy trained for all the epochs?",
            shown,
        )
    if not any(trained.cleared[1:]):
        raise Mistake("gradients of earlier epochs are still there: optimizer.zero_grad()", given)
    _check_prompt_is_given(start, end, given)
    _check_every_token_counts(passed, start, end, given)
    _check_nothing_passes(answer, model, prompts, setting)
    _check_drawn_from_the_model(answer, prompts, setting)
    return "a model that knows nothing, one that is sure, a judge who rejects everything"


def _passing(prompt: list[int], written: list[int]) -> bool:
    """The judge of the exercise: after 4 a 1, after 3 a 0, and no 5."""
    return written[0] == prompt[-1] - 3 and 5 not in written


def _listed(x) -> list[int]:
    return x.tolist() if isinstance(x, torch.Tensor) else [int(token) for token in x]


def _rounded(row: torch.Tensor) -> str:
    return ", ".join(f"{number:.2f}" for number in row.tolist())


def _check_draws(seen, prompts, tries, length, given) -> None:
    expected = tries * len(prompts)
    if not seen:
        raise Mistake("the judge was never asked", given)
    if any(len(written) != length for _, written in seen):
        got = len(seen[0][1])
        raise Mistake(
            f"the judge got an answer of {got} tokens, expected {length}: without the prompt, and "
            "of the whole length",
            f"{given}\njudge({seen[0][0]}, {seen[0][1]})",
        )
    if len(seen) != expected:
        raise Mistake(
            f"the judge was asked {len(seen)} times, expected {expected}: `tries` answers for each "
            "of the prompts",
            given,
        )
    for prompt in prompts.tolist():
        answers = {tuple(written) for p, written in seen if p == prompt}
        if not answers:
            raise Mistake(f"the judge never got the prompt {prompt}", given)
        if len(answers) == 1:
            raise Mistake(
                "all answers to a prompt are the same: draw each from the model's probabilities",
                f"{given}\njudge({prompt}, {list(*answers)}), again and again",
            )


def _check_training(answer, model, prompts, setting, given) -> None:
    """A judge whom only the answer 1, 2, 0 pleases: what is learned of it, and how fast?"""
    setting = setting | {"tries": 1000}
    given = "judge: only the answer [1, 2, 0] passes, of 1000 for each prompt"

    def learned(judge=lambda _, written: _listed(written) == [1, 2, 0], **changed):
        torch.default_generator.manual_seed(0)
        trained = call(answer, model=model, prompts=prompts, judge=judge, **(setting | changed))
        return trained.next.detach()

    change = learned() - model.next.detach()
    shown = "\n".join(
        [given, *(f"logits after {i}: {_rounded(row)}" for i, row in enumerate(change))]
    )
    if min(change[1, 1], change[2, 2], change[0, 0]) > 0.01:
        raise Mistake(
            "the model learns to say again what it has just read: the targets are not shifted, "
            "logits[:, t] is about the token after ids[:, t]",
            shown,
        )
    for name, other in {"rate": 0.2, "epochs": 1}.items():
        if torch.equal(change, learned(**{name: other}) - model.next.detach()):
            raise Mistake(
                f"`{name}` makes no difference: {name}={setting[name]} and {name}={other} give "
                "the same model",
                given,
            )
    step = (learned(epochs=1) - model.next.detach()).abs().max()
    if not 0.9 < step / setting["rate"] < 50:
        raise Mistake(
            "these are not the steps of Adam: its first one moves a parameter by the rate, "
            f"{setting['rate']}, however long the gradient is",
            f"{given}, epochs=1\nthe largest change of a parameter: {step:.4f}",
        )


def _check_prompt_is_given(start, end, given) -> None:
    """After token 5 only the prompts go on: no answer that passes has it."""
    if (end[5] - start[5]).abs().max() > 0.05:
        raise Mistake(
            "the tokens of the prompt were trained on as well; they are given, only the answer's "
            "are to be predicted",
            f"{given}\nprobabilities after token 5: {_rounded(end[5])}",
        )


def _check_every_token_counts(passed, start, end, given) -> None:
    """The tokens behind the first are trained on, too: the likelihood of all of them rises."""
    inside = [(a, b) for row in passed for a, b in pairwise(row) if a < 3]
    gain = sum((end[a, b] / start[a, b]).log() for a, b in inside)
    if not gain > 0:
        raise Mistake(
            "only the first token of the answers was trained on; all of them belong to what passed",
            given,
        )


def _check_nothing_passes(answer, model, prompts, setting) -> None:
    result = call(answer, model=model, prompts=prompts, judge=lambda *_: False, **setting)
    if not isinstance(result, nn.Module) or not torch.equal(result.next, model.next):
        raise Mistake(
            "where nothing passes there is nothing to learn: return the model as it was",
            "judge: nothing passes",
        )


def _check_drawn_from_the_model(answer, prompts, setting) -> None:
    """A model that counts: drawn from its probabilities, k is mostly followed by k + 1."""
    steps: list[tuple[int, int]] = []

    def judge(prompt, written) -> bool:
        steps.extend(pairwise([_listed(prompt)[-1], *_listed(written)]))
        return False

    logits = 4.0 * torch.eye(6).roll(1, dims=1)
    call(answer, model=Table(logits), prompts=prompts, judge=judge, **setting)
    share = sum(b == (a + 1) % 6 for a, b in steps) / max(1, len(steps))
    if not 0.8 < share < 0.99:
        raise Mistake(
            "answers are not drawn from the model's probabilities: use the softmax of its logits "
            "after the last token, at temperature 1",
            "a model that gives k + 1 the probability .92 after k (and 0 after 5) wrote it in "
            f"{share:.2f} of all places",
        )
