"""Checks for the exercises of book/after_pretraining.ipynb."""

from itertools import pairwise
from math import comb, prod

import torch
import torch.nn.functional as F
from torch import nn

from book.checking.exercise import Mistake, call, climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def pass_at_k(answer) -> str:
    """Check `pass_at_k(right, tries, k)` -> the share of picks of k tries of which one is right."""
    climb(PASS_AT_K, answer)
    return "three right of ten, none right, more tries than can miss, and 200 tries"


def _pass_at_k(right, tries, k):
    all_fail = comb(tries - right, k) / comb(tries, k)
    return 1 - all_fail


@ladder(_pass_at_k)
def PASS_AT_K(pass_at_k):
    """three right among ten, three picked: 35 of the 120 picks hold no right answer"""
    yield pass_at_k(3, 10, 3)

    """with fewer wrong answers than k, every pick holds a right one"""
    yield pass_at_k(4, 6, 3)

    """none right: no pick passes"""
    yield pass_at_k(0, 5, 3)

    """two picked of five right among thirty: neither is certain, and more right answers than
    picks do not make it so"""
    yield pass_at_k(5, 30, 2)

    """two hundred tries: the binomials are huge, their ratio is not"""
    yield pass_at_k(3, 200, 100)


PASS_AT_K.mistakes |= {
    "this is the share of picks in which all tries fail; subtract it from 1": edited(
        _pass_at_k, "1 - all_fail", "all_fail"
    ),
    "the share of picks in which all k are right is subtracted from 1; it is that in "
    "which none is, of tries - right answers": edited(_pass_at_k, "tries - right", "right"),
    "it is 1 wherever any answer is right; one must be among the k that are picked "
    "(// makes 0 of the share that fails)": edited(
        _pass_at_k, "1 - all_fail", "1.0 * (right > 0 or k > tries)"
    ),
    "answers are picked without putting them back; 1 - (1 - right / tries) ** k puts "
    "each back, and is too low": edited(
        _pass_at_k, "comb(tries - right, k) / comb(tries, k)", "(1 - right / tries) ** k"
    ),
    "this is the share of picks in which all k are right; one is enough": edited(
        _pass_at_k, "1 - all_fail", "comb(right, k) / comb(tries, k)"
    ),
    "k is not used; more tries pass more often": edited(
        _pass_at_k, "1 - all_fail", "right / tries"
    ),
    "k times the share counts picks with two right answers twice": edited(
        _pass_at_k, "1 - all_fail", "k * right / tries"
    ),
    "k times the share, cut at 1, is too high: picks with two right answers count twice": edited(
        _pass_at_k, "1 - all_fail", "min(1.0, k * right / tries)"
    ),
    "exactly one passes here; two or three that pass are good, too": edited(
        _pass_at_k, "1 - all_fail", "right * comb(tries - right, k - 1) / comb(tries, k)"
    ),
    "this is the share with one right answer and one try less; a product of 1 - k / i goes from "
    "i = tries - right + 1 up to i = tries": lambda right, tries, k: (
        1 - prod(1 - k / i for i in range(tries - right + 1, tries)) if tries - right >= k else 1
    ),
}


@exercise
def answer_loss(answer) -> str:
    """Check `answer_loss(logits, ids, prompt)` -> mean -log p over the tokens of all answers.

    logits (B, T, V), where logits[:, t] is about ids[:, t + 1]; ids (B, T), of which the first
    `prompt` are given, and -1 stands after the end of an answer.
    """
    climb(ANSWER_LOSS, answer)
    return "one answer token, several, answers of different length, long prompts, gradients"


def _answer_loss(logits, ids, prompt):
    about, target = logits[:, prompt - 1 : -1], ids[:, prompt:]
    log_p = about.log_softmax(-1).gather(-1, target.clamp(min=0)[..., None])[..., 0]
    there = target >= 0
    return -(log_p * there).sum() / there.sum()


@ladder(_answer_loss)
def ANSWER_LOSS(answer_loss):
    one_row = torch.tensor([[[2.0, 0, 0], [0, 1, 0], [0, 0, 3], [1, 2, 0]]])
    ids_of_one = torch.tensor([[0, 1, 2, 0]])
    two_rows = (3 * torch.arange(40.0).square()).sin().view(2, 5, 4)
    ids_of_two = torch.tensor([[0, 1, 2, 3, 3], [1, 1, 2, -1, -1]])

    """an answer of one token behind a prompt of two: its probability is in the logits of the
    position before it"""
    yield answer_loss(one_row[:, :3], ids_of_one[:, :3], 2)

    """with a prompt of one token, everything behind it is the answer, and logits[:, t] is about
    ids[:, t + 1]"""
    yield answer_loss(one_row, ids_of_one, 1)

    """the prompt is given: its tokens are not to be predicted"""
    yield answer_loss(one_row, ids_of_one, 3)

    """-1 is no token: what stands behind the end of an answer does not count"""
    yield answer_loss(two_rows[1:], ids_of_two[1:], 2)

    """token 0 is a token like the others, and counts"""
    yield answer_loss(one_row, torch.tensor([[1, 0, 0, 2]]), 2)

    """the loss is a tensor with a history, from which a gradient can be had"""
    logits = two_rows.clone().requires_grad_()
    yield torch.as_tensor(answer_loss(logits, ids_of_two, 2)).requires_grad

    """answers of different length: every token counts the same, whosever answer it is in"""
    yield answer_loss(two_rows, ids_of_two, 2)

    """the loss carries the gradient, and none of it reaches the logits before the prompt's
    last"""
    logits = two_rows.clone().requires_grad_()
    loss = answer_loss(logits, ids_of_two, 2)
    yield torch.autograd.grad(loss, logits)[0]

    """very sure and wrong: log of a probability that is 0 in float32 must stay finite"""
    yield answer_loss(torch.tensor([[[0.0, 200.0], [0.0, 0.0]]]), torch.tensor([[1, 0]]), 1)


ANSWER_LOSS.mistakes |= {
    "the sign is wrong: a loss is minus the log-probability": edited(
        _answer_loss, "return -(", "return ("
    ),
    "probabilities were given to the cross-entropy, which takes logits": edited(
        _answer_loss, "about.log", "about.softmax(-1).log"
    ),
    "the exponential of the mean is returned, a perplexity; return the mean of -log p": edited(
        _answer_loss, "-(", "(-(", "there.sum()", "there.sum()).exp()"
    ),
    "logits[:, t] is about the token after ids[:, t], not about ids[:, t]": edited(
        _answer_loss, "prompt - 1 : -1]", "prompt:]"
    ),
    "this is the sum; the mean over the tokens of the answers is asked for": edited(
        _answer_loss, "/ there.sum()", "/ 1"
    ),
    "the last token of the prompt counts as well; the answer begins at ids[:, prompt]": edited(
        _answer_loss,
        "prompt - 1 : -1], ids[:, prompt:]",
        "max(prompt - 2, 0) : -1], ids[:, max(prompt - 1, 1) :]",
    ),
    "the prompt is left out of the sum, but the mean is still over the whole text": edited(
        _answer_loss, "/ there.sum()", "/ (ids[:, 1:] >= 0).sum()"
    ),
    "-1 counts as if it were token 0": edited(_answer_loss, "target >= 0", "target >= -1"),
    "the mean is also over the places behind the end": edited(
        _answer_loss, "/ there.sum()", "/ target.numel()"
    ),
    "this is the mean of the answers' means; short ones count too much": edited(
        _answer_loss,
        "-(log_p * there).sum() / there.sum()",
        "-((log_p * there).sum(1) / there.sum(1)).mean()",
    ),
    "nothing can be learned from it; the loss carries the gradient: no .item(), detach, no_grad": (
        lambda logits, ids, prompt: _answer_loss(logits, ids, prompt).item()
    ),
    "token 0 is left out like padding; only -1 marks what is behind an end": edited(
        _answer_loss, "target >= 0", "target > 0"
    ),
}


@exercise
def advantages(answer) -> str:
    """Check `advantages(rewards)`: rewards (N, G), a group in each row -> (N, G)."""
    climb(ADVANTAGES, answer)
    return "one group, several, groups that all pass or all fail, one answer"


def _advantages(rewards):
    return rewards - rewards.mean(1, keepdim=True)


@ladder(_advantages)
def ADVANTAGES(advantages):
    """one group: each reward minus the mean of the group"""
    rewards = torch.tensor([[3.0, 1.0, 2.0, 2.0, 7.0]])
    yield advantages(rewards)

    """as many groups as answers: rows are the groups, and each has a mean of its own"""
    yield advantages(torch.tensor([[3.0, 1.0, 2.5], [0.0, -2.0, 5.5], [1.0, 1.5, 4.0]]))

    """two groups: each has a mean of its own"""
    yield advantages(torch.tensor([[1.0, 1, 1, 0], [0, 1, 1, 0]]))

    """all pass, or none: nothing to learn"""
    yield advantages(torch.tensor([[1.0, 1, 1], [0, 0, 0]]))

    """a single answer is its own mean"""
    yield advantages(torch.tensor([[0.7], [0.2]]))


ADVANTAGES.mistakes |= {
    "the rewards come back as they are; no baseline is subtracted": lambda rewards: rewards.clone(),
    "the median of the group is subtracted, not its mean": lambda rewards: (
        rewards - rewards.median(1, keepdim=True).values
    ),
    "the answer itself is left out of the mean; it is that of the whole group": lambda rewards: (
        rewards - (rewards.sum(1, keepdim=True) - rewards) / (rewards.shape[1] - 1)
    ),
    "a mean is subtracted from a column; it is that of a row: keepdim=True": edited(
        _advantages, ", keepdim=True", ""
    ),
    "the best of the group is subtracted, not its mean": lambda rewards: (
        rewards - rewards.amax(1, keepdim=True)
    ),
    "it is divided by the mean; subtract it": lambda rewards: (
        rewards / rewards.mean(1, keepdim=True)
    ),
    "the sign is lost: worse than the mean is below 0": lambda rewards: (
        rewards - rewards.mean(1, keepdim=True)
    ).abs(),
    "what is worse than the mean is set to 0; it is below 0": lambda rewards: (
        rewards - rewards.mean(1, keepdim=True)
    ).clamp(min=0),
    "the mean is that of a column, over the groups; it is that of a row, a group's answers": (
        lambda rewards: rewards - rewards.mean(0)
    ),
    "each is divided by the standard deviation of its group as well; only the mean is "
    "subtracted": lambda rewards: _advantages(rewards) / (rewards.std(1, keepdim=True) + 1e-6),
    "the answer itself is left out of the mean, and where it is alone nothing is subtracted; the "
    "mean is that of the whole group": lambda rewards: (
        rewards - (rewards.sum(1, keepdim=True) - rewards) / max(1, rewards.shape[1] - 1)
    ),
}


@exercise
def dpo_loss(answer) -> str:
    """Check `dpo_loss(won, lost, won_start, lost_start, beta)` -> the mean loss of DPO.

    The first four are log-probabilities (N,) of whole answers: the chosen and the rejected ones,
    for the model and for the model that it started from.
    """
    climb(DPO_LOSS, answer)
    return "no change yet, pairs in and out of order, several pairs, large differences, gradients"


def _dpo_loss(won, lost, won_start, lost_start, beta):
    margin = (won - won_start) - (lost - lost_start)
    return -F.logsigmoid(beta * margin).mean()


@ladder(_dpo_loss)
def DPO_LOSS(dpo_loss):
    tensor = torch.tensor

    """before the first step the model is its own start: the loss is log 2"""
    yield dpo_loss(tensor([-3.0]), tensor([-5.0]), tensor([-3.0]), tensor([-5.0]), 0.5)

    """the chosen answer has gained one nat: the loss falls below log 2"""
    yield dpo_loss(tensor([-2.0]), tensor([-5.0]), tensor([-3.0]), tensor([-5.0]), 0.5)

    """the rejected answer has lost one nat: beta multiplies its gain, too"""
    yield dpo_loss(tensor([-3.0]), tensor([-6.0]), tensor([-3.0]), tensor([-5.0]), 0.5)

    """out of order: the rejected answer has gained more, and the loss rises above log 2"""
    yield dpo_loss(tensor([-3.0]), tensor([-1.0]), tensor([-3.0]), tensor([-5.0]), 0.5)

    """several pairs: the mean of their losses"""
    won, lost = torch.randn(3), torch.randn(3)
    yield dpo_loss(won, lost, torch.zeros(3), torch.zeros(3), 2.0)

    """far out of order, by 400: the loss is 400, where log(sigmoid(x)) is infinite, and a clamp
    or a small number added would cut it off"""
    zero = torch.zeros(1)
    yield dpo_loss(tensor([-400.0]), zero, zero, zero, 1.0)

    """the gradient raises the chosen answer and lowers the rejected one by as much"""
    won = torch.tensor([-2.0, -4.0], requires_grad=True)
    lost = torch.tensor([-3.0, -1.0], requires_grad=True)
    start = torch.tensor([-3.0, -2.0])
    loss = dpo_loss(won, lost, start, start, 0.5)
    yield torch.stack(torch.autograd.grad(loss, [won, lost]))


DPO_LOSS.mistakes |= {
    "it returns a loss for each pair; their mean is asked for": edited(
        _dpo_loss, ".mean()", ".clone()"
    ),
    "the model it started from is not used; a likely answer is not one that has gained": edited(
        _dpo_loss, "(won - won_start) - (lost - lost_start)", "won - lost"
    ),
    "the logarithm is missing: the loss is minus the log of the sigmoid": edited(
        _dpo_loss, "F.logsigmoid", "F.sigmoid"
    ),
    "beta multiplies the loss; it belongs inside the sigmoid": edited(
        _dpo_loss, "return -F.logsigmoid(beta * margin)", "return -beta * F.logsigmoid(margin)"
    ),
    "this is IPO's squared loss; that of DPO is minus the log of the sigmoid": edited(
        _dpo_loss,
        "-F.logsigmoid(beta * margin).mean()",
        "(margin - 1 / (2 * beta)).square().mean()",
    ),
    "the rejected answer is not used": edited(_dpo_loss, "- (lost - lost_start)", "- 0 * lost"),
    "this is the sum; the mean over the pairs is asked for": edited(_dpo_loss, ".mean()", ".sum()"),
    "the mean is taken of the differences, inside the sigmoid; it is over the losses": edited(
        _dpo_loss, "-F.logsigmoid(beta * margin).mean()", "-F.logsigmoid(beta * margin.mean())"
    ),
    "this is a hinge, 0 beyond a margin; the loss is minus the log of the sigmoid": edited(
        _dpo_loss, "-F.logsigmoid(beta * margin)", "F.relu(1 - beta * margin)"
    ),
    "the log-probabilities are divided; the log of a ratio is their difference": edited(
        _dpo_loss, "(won - won_start) - (lost - lost_start)", "won / won_start - lost / lost_start"
    ),
}


class Record:
    """What a table and its copies, which share it, have read and learned."""

    def __init__(self) -> None:
        self.read: set[tuple] = set()  # all rows of ids
        self.rows: list[list[int]] = []  # those whose logits got a gradient
        self.places: set[int] = set()  # at which they got one
        self.cleared: list[bool] = []  # before each backward: was there no gradient?

    def __deepcopy__(self, memo):
        return self


class Table(nn.Module):
    """A language model of one table: the logits of the next token depend on the last one alone."""

    def __init__(self, logits: torch.Tensor):
        super().__init__()
        self.next = nn.Parameter(logits.clone())
        self.record = Record()

    def forward(self, ids):
        logits = self.next[ids]  # (B, T, V)
        self.record.read.update(map(tuple, ids.tolist()))
        if logits.requires_grad:
            logits.register_hook(lambda gradient: self._on_gradient(ids, gradient))
        return logits

    def _on_gradient(self, ids, gradient) -> None:
        self.record.cleared.append(self.next.grad is None or not bool(self.next.grad.any()))
        learned = gradient.any(-1)  # (B, T)
        self.record.rows += ids[learned.any(1)].tolist()
        self.record.places.update(learned.any(0).nonzero()[:, 0].tolist())


@exercise
def rejection_round(answer) -> str:
    """Check `rejection_round(model, prompts, judge, tries, length, epochs, rate)` -> a new model.

    model(ids (B, T)) -> logits (B, T, V); prompts (N, P). For each prompt `tries` answers of
    `length` tokens are drawn; judge(prompt, answer), two lists, says which pass; a copy of the
    model is trained on these, on the tokens of the answers alone.
    """
    V, tries = 6, 60
    model = Table(torch.zeros(V, V))
    prompts = torch.tensor([[5, 0, 4], [5, 2, 3]])
    seen: list[tuple] = []
    kinds: set[str] = set()

    def judge(prompt, written):
        if not all(isinstance(token, int) for x in (prompt, written) for token in x):
            kinds.update({type(prompt).__name__, type(written).__name__})
        seen.append((_listed(prompt), _listed(written)))
        return _passing(*seen[-1])

    setting = {"tries": tries, "length": 4, "epochs": 20, "rate": 0.05}
    given = "a model that knows nothing yet: 6 tokens, all equally probable\n"
    given += f"prompts = {prompts.tolist()}, {setting}\n"
    given += "judge: after 4 an answer passes if it begins with 1, after 3 with 0; "
    given += "one with a 5 never does"
    trained = call(answer, model=model, prompts=prompts, judge=judge, **setting)
    if not isinstance(trained, nn.Module):
        raise Mistake(f"it returned {type(trained).__name__}, expected the trained model", given)
    _check_draws(seen, prompts, tries, setting["length"], given)
    if kinds:
        raise Mistake(
            "the judge is given tensors or arrays; give it the prompt and the answer as lists of "
            "ids, as `tolist` makes them",
            f"{given}\nthe judge got {' and '.join(sorted(kinds))}",
        )
    read = model.record.read
    apart = [(p, w) for p, w in seen if (*p, *w[:-1]) not in read]
    if apart:
        prompt, written = apart[0]
        moved = any((*p, *written[:-1]) in read for p in prompts.tolist())
        raise Mistake(
            "the judge is given a prompt with an answer that was drawn for another: the rows of "
            "the prompts and those of the answers are in different orders"
            if moved
            else "the model has not read what an answer's last token was to be drawn from: each "
            "token follows what the model says of prompt and answer so far",
            f"{given}\njudge{apart[0]}; the model never read {[*prompt, *written[:-1]]}",
        )
    start, end = (m.next.detach().softmax(-1) for m in (model, trained))
    shown = f"{given}\nprobabilities after token 4: {_rounded(end[4])}"
    if torch.equal(start, end):
        raise Mistake(
            "the model that it returns has not changed: return the copy, which is trained on what "
            "passed; the optimizer has its parameters, and its gradients are there at the step",
            shown,
        )
    _check_what_is_learned(answer, prompts)
    if len(model.record.cleared) > 1 and not any(model.record.cleared[1:]):
        raise Mistake("gradients of earlier epochs are still there: optimizer.zero_grad()", given)
    if end[4, 1] < 0.3 or end[3, 0] < 0.3:
        raise Mistake(
            "after all epochs what passed has hardly become more probable; with a step of Adam at "
            "the given rate in each of them it does",
            shown,
        )
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
    for prompt, written in seen:
        if len(written) != length:
            raise Mistake(
                f"the judge got an answer of {len(written)} tokens, expected {length}: the "
                "prompt comes first, then the answer, without the prompt and of the whole length",
                f"{given}\njudge({prompt}, {written})",
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


def _check_what_is_learned(answer, prompts) -> None:
    """Of all answers of two tokens 1, 2 alone passes: which rows get a gradient, where and how?"""
    model, kept, P = Table(torch.zeros(6, 6)), [], prompts.shape[1]

    def judge(prompt, written) -> bool:
        kept.extend([(*prompt, *written)] * (written == [1, 2]))
        return written == [1, 2]

    setting = {"tries": 400, "length": 2, "epochs": 3, "rate": 0.05}
    given = f"judge: an answer passes if it is [1, 2]\n{setting}"
    trained = call(answer, model=model, prompts=prompts, judge=judge, **setting)
    learned, places = [*map(tuple, model.record.rows)], sorted(model.record.places)
    bare = [row for row in learned if [*row[:P]] not in prompts.tolist()]
    if bare:
        raise Mistake(
            "the copy is trained on rows that do not begin with a prompt; the tokens of an answer "
            "are predicted behind its prompt",
            f"{given}\none of these rows: {[*bare[0]]}",
        )
    failed = [row for row in learned if row[P:] != (1, 2)[: len(row) - P]]
    if failed and len(failed) == len(learned):
        raise Mistake(
            "what failed is trained on, and what passed is thrown away: it is the other way round",
            f"{given}\nall of the {len(learned)} rows that were trained on had failed",
        )
    if failed:
        raise Mistake(
            "answers that failed are trained on as well: they are to be thrown away",
            f"{given}\nof {len(learned)} rows that were trained on, {len(failed)} had failed",
        )
    if places != [P - 1, P]:
        said = {
            (*range(P + 1),): "the tokens of the prompt were trained on as well; they are given, "
            "only the answer's are to be predicted",
            (P - 1,): "only the first token of the answers was trained on; all of them belong to "
            "what passed",
        }
        other = "all tokens of the answers are predicted, and no others: logits[:, t] is about the "
        raise Mistake(
            said.get((*places,), f"{other}token after ids[:, t]"),
            f"{given}\nplaces whose logits have a gradient: {places}, expected {[P - 1, P]}",
        )
    shown = f"{given}\n{len(kept)} answers passed; rows trained on in 3 epochs: {len(learned)}"
    expected = setting["epochs"] * len(kept)
    if len(learned) == setting["epochs"] * len(set(kept)) < expected:
        raise Mistake(
            "each different answer is trained on once; one that was drawn and passed several times "
            "counts as often",
            shown,
        )
    if len(learned) == len(kept):
        raise Mistake("there is only one epoch, whatever `epochs` says", shown)
    if abs(len(learned) - expected) == len(kept):
        which = "many" if len(learned) > expected else "few"
        raise Mistake(f"there is one epoch too {which}: train `epochs` times over all", shown)
    if len(learned) != expected:
        less = len(learned) < expected
        what = "only a part of what passed is trained on, or not in every epoch: each epoch goes"
        more = "what passed is trained on more often than `epochs` times: each epoch goes once"
        raise Mistake(f"{what if less else more} over all answers that passed", shown)
    change = (trained.next - model.next).detach()
    shown = f"{given}\nlogits after token 1, by how much they have changed: {_rounded(change[1])}"
    if change[1, 2] < 0 < change[1].median():
        raise Mistake(
            "what passed becomes less probable, and all else more: the sign of the loss is turned",
            shown,
        )
    if change[1].argmax() == 1:
        raise Mistake(
            "the model learns to say again what it has just read: the targets are not shifted, "
            "logits[:, t] is about the token after ids[:, t]",
            shown,
        )
    if change[1].argmax() != 2:
        raise Mistake("it is not 2 that becomes most probable after 1: are the targets ids?", shown)
    if change.abs().max() > 4 * setting["rate"] * len(model.record.cleared):
        raise Mistake("the logits change too fast for a step of Adam at the given rate", shown)


def _check_nothing_passes(answer, model, prompts, setting) -> None:
    try:
        result = call(answer, model=model, prompts=prompts, judge=lambda *_: False, **setting)
    except Mistake as found:
        if not found.mistake.startswith("it returned None"):
            raise
        raise Mistake(
            "where nothing passes it returned None; return the model as it was", found.example
        ) from found
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
