"""Checks for the exercises of book/after_pretraining.ipynb."""

from itertools import pairwise
from math import comb, perm  # noqa: F401  (perm: for a known mistake)

import torch
import torch.nn.functional as F
from torch import nn

from book.checking.exercise import Mistake, call, exercise, ladder
from book.checking.rungs import rungs


@exercise
def pass_at_k(answer) -> str:
    """Check `pass_at_k(right, tries, k)` -> the share of picks of k tries of which one is right."""
    ladder(PASS_AT_K, _pass_at_k, pass_at_k=answer)
    return "one try and all tries, none right and all right, more tries than can miss, 200 tries"


def _pass_at_k(right, tries, k):
    all_fail = comb(tries - right, k) / comb(tries, k)
    return 1 - all_fail


PASS_AT_K = rungs(
    _pass_at_k,
    """
three right among ten, three picked: 35 of the 120 picks hold no right answer
    right, tries, k = 3, 10, 3
    pass_at_k(right, tries, k)
  - this is the share of picks in which all tries fail; subtract it from 1
    1 - all_fail => all_fail
  - the share of picks in which all k are right is subtracted from 1; it is that in which none is,
  of tries - right answers
    tries - right => right
  - one right answer somewhere is not enough: it must be among the k that are picked (or // has made
  0 of the share that fails)
    1 - all_fail => 1.0 * (right > 0 or k > tries)
  - as soon as k answers pass, it is taken for certain; a pick may still miss all of them
    return 1 - => return 1.0 if right >= k else 1 -
  - answers are picked without putting them back; 1 - (1 - right / tries) ** k puts each back, and
  is too low
    comb(tries - right, k) / comb(tries, k) => (1 - right / tries) ** k
  - this is the share of picks in which all k are right; one is enough
    1 - all_fail => comb(right, k) / comb(tries, k)
  - all k would have to be right; one is enough: (right / tries) ** k is the share of that, with
  answers put back
    1 - all_fail => (right / tries) ** k
  - k is not used; more tries pass more often
    1 - all_fail => right / tries
  - k times the share counts picks with two right answers twice
    1 - all_fail => k * right / tries
  - k times the share, cut at 1, is too high: picks with two right answers count twice
    1 - all_fail => min(1.0, k * right / tries)
  - exactly one passes here; two or three that pass are good, too
    1 - all_fail => right * comb(tries - right, k - 1) / comb(tries, k)
  - one pick too few is counted: k are picked
    right, k) / comb(tries, k) => right, k - 1) / comb(tries, k - 1)
  - one pick too many is counted: k are picked
    right, k) / comb(tries, k) => right, k + 1) / comb(tries, min(k + 1, tries))
  - picks are counted in order here and without an order there; both in the same way
    = comb( => = perm(
  - picks are counted without an order here and in order there; both in the same way
    / comb( => / perm(
  - it is in percent; a number from 0 to 1 is asked for
    1 - all_fail => 100 * (1 - all_fail)
  - it is rounded to two digits; give the number as it is
    1 - all_fail => round(1 - all_fail, 2)
  - it is rounded to three or four digits; give the number as it is
    1 - all_fail => round(1 - all_fail, 3)
  - the number of tries and that of right answers have changed places
    (tries - right, k) / comb(tries, k) => (max(right - tries, 0), k) / max(1, comb(right, k))
  - the number of right answers takes the place of k, and k that of the right ones
    right, k) / comb(tries, k) => right, right) / comb(tries, right)
  - the number of picks is divided by that of picks without a right answer; turn it round
    comb(tries - right, k) / comb(tries, k) => comb(tries, k) / max(1, comb(tries - right, k))
with fewer wrong answers than k, every pick holds a right one
    right, tries, k = 4, 6, 3
    pass_at_k(right, tries, k)
none right: no pick passes
    right, tries, k = 0, 5, 3
    pass_at_k(right, tries, k)
all right: every pick passes
    right, tries, k = 5, 5, 2
    pass_at_k(right, tries, k)
picking all of them
    right, tries, k = 1, 6, 6
    pass_at_k(right, tries, k)
two picked of five right among thirty: neither is certain, and more right answers than picks do not
make it so
    right, tries, k = 5, 30, 2
    pass_at_k(right, tries, k)
two hundred tries: the binomials are huge, their ratio is not
    right, tries, k = 3, 200, 100
    pass_at_k(right, tries, k)
""",
)


@exercise
def answer_loss(answer) -> str:
    """Check `answer_loss(logits, ids, prompt)` -> mean -log p over the tokens of all answers.

    logits (B, T, V), where logits[:, t] is about ids[:, t + 1]; ids (B, T), of which the first
    `prompt` are given, and -1 stands after the end of an answer.
    """
    ladder(ANSWER_LOSS, _answer_loss, answer_loss=answer)
    return "one answer token, several, answers of different length, long prompts, gradients"


def _answer_loss(logits, ids, prompt):
    about, target = logits[:, prompt - 1 : -1], ids[:, prompt:]
    log_p = about.log_softmax(-1).gather(-1, target.clamp(min=0)[..., None])[..., 0]
    there = target >= 0
    return -(log_p * there).sum() / there.sum()


ANSWER_LOSS = rungs(
    _answer_loss,
    """
an answer of one token behind a prompt of two: its probability is in the logits of the position
before it
    answer_loss(one_row[:, :3], ids_of_one[:, :3], 2)
  - the sign is wrong: a loss is minus the log-probability
    return -( => return (
  - this is minus the probability; take its logarithm
    log_softmax => softmax
  - the logits are taken for log-probabilities; a log-softmax makes these of them
    .log_softmax(-1) => .clone()
  - probabilities were given to the cross-entropy, which takes logits
    about.log => about.softmax(-1).log
  - it is in bits; -log p with the natural logarithm is asked for
    there.sum() => there.sum() / 0.6931471805599453
  - the exponential of the mean is returned, a perplexity; return the mean of -log p
    return -(log_p * there).sum() / there.sum() => return (LOSS).exp()
    LOSS => -(log_p * there).sum() / there.sum()
  - the softmax runs over the positions; it runs over the tokens, the last axis
    log_softmax(-1) => log_softmax(1)
with a prompt of one token, everything behind it is the answer, and logits[:, t] is about
ids[:, t + 1]
    answer_loss(one_row, ids_of_one, 1)
  - logits[:, t] is about the token after ids[:, t], not about ids[:, t]
    prompt - 1 : -1] => prompt:]
  - this is the sum; the mean over the tokens of the answers is asked for
    / there.sum() => / 1
  - the shift goes the wrong way: logits[:, t] is about the token after ids[:, t]
    logits[:, prompt - 1 : -1], ids[:, prompt:] => logits[:, prompt:], ids[:, prompt - 1 : -1]
  - the last token of the answer is left out; it belongs to the answer
    prompt - 1 : -1], ids[:, prompt:] => prompt - 1 : -2], ids[:, prompt:-1]
  - the first token of the answer is left out; the prompt's last logits are about it
    prompt - 1 : -1], ids[:, prompt:] => prompt:-1], ids[:, prompt + 1 :]
  - only the first token of the answer counts; all of its tokens do
    prompt - 1 : -1], ids[:, prompt:] => prompt - 1 : prompt], ids[:, prompt : prompt + 1]
  - only the last token of the answer counts; all of its tokens do
    there = target >= 0 => there = (target >= 0) & ~(target.roll(-1, 1) >= 0).index_fill(1, END, 0)
    END => torch.tensor(target.shape[1] - 1)
  - the product of the probabilities is not the mean: divide the sum of the logarithms by their
  number, once
    there.sum() => there.sum() ** 2
the prompt is given: its tokens are not to be predicted
    answer_loss(one_row, ids_of_one, 3)
  - the tokens of the prompt count as well; only those of the answer should
    prompt - 1 : -1], ids[:, prompt:] => :-1], ids[:, 1:]
  - the last token of the prompt counts as well; the answer begins at ids[:, prompt]
    prompt - 1 : -1], ids[:, prompt:] => max(prompt - 2, 0) : -1], ids[:, max(prompt - 1, 1) :]
  - the tokens of the prompt count, and those of the answer do not: the two have changed places
    prompt - 1 : -1], ids[:, prompt:] => : prompt - 1], ids[:, 1:prompt]
  - the prompt is left out of the sum, but the mean is still over the whole text
    / there.sum() => / (ids[:, 1:] >= 0).sum()
  - the prompt is left out of the sum, but the mean is over all ids
    / there.sum() => / (ids >= 0).sum()
-1 is no token: what stands behind the end of an answer does not count
    answer_loss(two_rows[1:], ids_of_two[1:], 2)
  - -1 counts as if it were token 0
    target >= 0 => target >= -1
  - -1 counts as if it were the last token of the vocabulary
    target.clamp(min=0) => target.remainder(logits.shape[-1])
    target >= 0 => target >= -1
  - the mean is also over the places behind the end
    / there.sum() => / target.numel()
token 0 is a token like the others, and counts
    answer_loss(one_row, torch.tensor([[1, 0, 0, 2]]), 2)
  - token 0 is taken for what is missing, and does not count; only -1 is no token
    target >= 0 => target > 0
answers of different length: every token counts the same, whosever answer it is in
    answer_loss(two_rows, ids_of_two, 2)
  - this is the mean of the answers' means; short ones count too much
    -(log_p * there).sum() / there.sum() => -((log_p * there).sum(1) / there.sum(1)).mean()
  - it is divided by the number of answers; divide by that of their tokens
    / there.sum() => / len(ids)
  - only the first answer counts; all do
    (log_p * there).sum() / there.sum() => (log_p * there)[0].sum() / there[0].sum()
  - every answer ends for it where the shortest does; each has its own end
    there = target >= 0 => there = ((target >= 0).cumprod(1).all(0) & (target >= 0))
each answer has its own end, whether the first is the shortest or the longest
    answer_loss(two_rows, ids_of_two.flip(0), 2)
  - every answer ends for it where that of the first row does; each has its own end
    there = target >= 0 => there = (target >= 0) & (target[0] >= 0)
the loss carries the gradient, and none of it reaches the logits before the prompt's last
    logits = two_rows.clone().requires_grad_()
    loss = answer_loss(logits, ids_of_two, 2)
    torch.autograd.grad(loss, logits)[0]
very sure and wrong: log of a probability that is 0 in float32 must stay finite
    answer_loss(torch.tensor([[[0.0, 200.0], [0.0, 0.0]]]), torch.tensor([[1, 0]]), 1)
""",
    before="""\
one_row = torch.tensor([[[2.0, 0, 0], [0, 1, 0], [0, 0, 3], [1, 2, 0]]])
ids_of_one = torch.tensor([[0, 1, 2, 0]])
two_rows = (3 * torch.arange(40.0).square()).sin().view(2, 5, 4)
ids_of_two = torch.tensor([[0, 1, 2, 3, 3], [1, 1, 2, -1, -1]])
""",
)


@exercise
def advantages(answer) -> str:
    """Check `advantages(rewards)`: rewards (N, G), a group in each row -> (N, G)."""
    ladder(ADVANTAGES, _advantages, advantages=answer)
    return "one group, several, groups that all pass or all fail, one answer"


def _advantages(rewards):
    return rewards - rewards.mean(1, keepdim=True)


ADVANTAGES = rungs(
    _advantages,
    """
one group: each reward minus the mean of the group
    rewards = torch.tensor([[3.0, 1.0, 2.0, 2.0, 7.0]])
    advantages(rewards)
  - the rewards come back as they are; no baseline is subtracted
    rewards - rewards.mean(1, keepdim=True) => rewards.clone()
  - the sign is turned round: better than the mean is above 0
    rewards - rewards.mean(1, keepdim=True) => rewards.mean(1, keepdim=True) - rewards
  - the mean is over the other answers only, as in RLOO; take all of the group
    rewards.mean(1, keepdim=True) => (rewards.sum(1, keepdim=True) - rewards) / OTHERS
    OTHERS => (rewards.shape[1] - 1)
  - it is divided by the standard deviation, as in GRPO; leave that out
    rewards - rewards.mean(1, keepdim=True) => (rewards - MEAN) / (rewards.std(1, True) + 1e-6)
    rewards.std(1, True) => rewards.std(1, keepdim=True)
    MEAN => rewards.mean(1, keepdim=True)
  - it is divided by the standard deviation over G; leave that out
    rewards - rewards.mean(1, keepdim=True) => (rewards - MEAN) / (SPREAD + 1e-6)
    SPREAD => rewards.std(1, keepdim=True, correction=0)
    MEAN => rewards.mean(1, keepdim=True)
  - it is divided by the variance; leave that out
    rewards - rewards.mean(1, keepdim=True) => (rewards - MEAN) / (SPREAD + 1e-6)
    SPREAD => rewards.var(1, keepdim=True)
    MEAN => rewards.mean(1, keepdim=True)
  - it is divided by the mean of the distances from the mean; leave that out
    rewards - rewards.mean(1, keepdim=True) => (rewards - MEAN) / ((rewards - MEAN).abs().SPREAD)
    SPREAD => mean(1, keepdim=True) + 1e-6
    MEAN => rewards.mean(1, keepdim=True)
  - it is divided by the number of answers as well; subtract the mean, and nothing else
    rewards - rewards.mean(1, keepdim=True) => (rewards - MEAN) / rewards.shape[1]
    MEAN => rewards.mean(1, keepdim=True)
  - the mean is over the groups; take it within each
    mean(1, => mean(0,
  - the middle between the best and the worst is subtracted, not the mean
    rewards.mean(1, keepdim=True) => (rewards.amax(1, keepdim=True) + LEAST) / 2
    LEAST => rewards.amin(1, keepdim=True)
  - the mean of the answers up to each is subtracted; take the mean of the whole group
    rewards.mean(1, keepdim=True) => rewards.cumsum(1) / torch.arange(1, rewards.shape[1] + 1)
  - the mean of the answers before each is subtracted; take the mean of the whole group
    rewards.mean(1, keepdim=True) => (rewards.cumsum(1) - rewards) / BEFORE
    BEFORE => torch.arange(rewards.shape[1]).clamp(min=1)
  - the neighbour's reward is subtracted; subtract the mean of the group
    rewards.mean(1, keepdim=True) => rewards.roll(1, 1)
  - the first reward of the group is subtracted, not its mean
    rewards.mean(1, keepdim=True) => rewards[:, :1]
  - the sum of the group is subtracted, not its mean
    .mean(1, => .sum(1,
  - the median of the group is subtracted, not its mean
    .mean(1, keepdim=True) => .median(1, keepdim=True).values
  - the best of the group is subtracted, not its mean
    .mean(1, => .amax(1,
  - the worst of the group is subtracted, not its mean
    .mean(1, => .amin(1,
  - the standard deviation is subtracted, not the mean
    .mean(1, => .std(1,
  - it is divided by the mean; subtract it
    rewards - rewards.mean => rewards / rewards.mean
  - the sign is lost: worse than the mean is below 0
    rewards - rewards.mean(1, keepdim=True) => (rewards - rewards.mean(1, keepdim=True)).abs()
  - what is worse than the mean is set to 0; it is below 0
    return rewards - rewards.mean(1, keepdim=True) => return (ADVANTAGE).clamp(min=0)
    ADVANTAGE => rewards - rewards.mean(1, keepdim=True)
  - only the sign is left: 1 for better than the mean, -1 for worse
    rewards - rewards.mean(1, keepdim=True) => (rewards - rewards.mean(1, keepdim=True)).sign()
  - ranks are taken in place of the rewards
    rewards - => rewards.argsort(1).argsort(1) -
    rewards.mean( => rewards.argsort(1).argsort(1).double().mean(
  - a softmax over the group is returned; subtract its mean
    rewards - rewards.mean(1, keepdim=True) => rewards.softmax(1)
two groups: each has a mean of its own
    advantages(torch.tensor([[1.0, 1, 1, 0], [0, 1, 1, 0]]))
  - one mean for all groups: an easy demand would look good whatever was answered
    mean(1, keepdim=True) => mean()
  - the mean is that of the first group, for all
    rewards.mean(1, keepdim=True) => rewards[:1].mean(1, keepdim=True)
  - the mean is that of the answers that pass; it is that of all in the group
    rewards.mean(1, keepdim=True) => rewards.sum(1, keepdim=True) / PASSED
    PASSED => (rewards > 0).sum(1, keepdim=True).clamp(min=1)
one answer of a group passes: it has a mean, and an advantage, like any other group
    advantages(torch.tensor([[0.0, 0, 1, 0], [1, 0, 1, 0]]))
  - a group with a single answer that passes keeps its rewards; subtract the mean there, too
    mean(1, keepdim=True) => mean(1, keepdim=True) * (rewards.sum(1, keepdim=True) != 1)
all pass, or none: nothing to learn
    advantages(torch.tensor([[1.0, 1, 1], [0, 0, 0]]))
  - a group in which all pass keeps its rewards; minus their mean they are 0
    mean(1, keepdim=True) => mean(1, keepdim=True) * (rewards.amin(1, keepdim=True) < 1)
as many groups as answers: rows are the groups
    advantages(torch.tensor([[3.0, 1.0], [0.0, -2.0]]))
a single answer is its own mean
    advantages(torch.tensor([[0.7], [0.2]]))
""",
)


@exercise
def dpo_loss(answer) -> str:
    """Check `dpo_loss(won, lost, won_start, lost_start, beta)` -> the mean loss of DPO.

    The first four are log-probabilities (N,) of whole answers: the chosen and the rejected ones,
    for the model and for the model that it started from.
    """
    ladder(DPO_LOSS, _dpo_loss, dpo_loss=answer)
    return "no change yet, pairs in and out of order, several pairs, large differences, gradients"


def _dpo_loss(won, lost, won_start, lost_start, beta):
    margin = (won - won_start) - (lost - lost_start)
    return -F.logsigmoid(beta * margin).mean()


DPO_LOSS = rungs(
    _dpo_loss,
    """
before the first step the model is its own start: the loss is log 2
    dpo_loss(tensor([-3.0]), tensor([-5.0]), tensor([-3.0]), tensor([-5.0]), 0.5)
  - it returns a loss for each pair; their mean is asked for
    .mean() => .clone()
  - the model it started from is not used; a likely answer is not one that has gained
    (won - won_start) - (lost - lost_start) => won - lost
  - the start is added; the gain of an answer is its log-probability minus that before
    (won - won_start) - (lost - lost_start) => (won + won_start) - (lost + lost_start)
  - the start of the rejected answer is added to it; its gain is its log-probability minus that
  before
    (lost - lost_start) => (lost + lost_start)
  - the start of the chosen answer is added to it; its gain is its log-probability minus that before
    (won - won_start) => (won + won_start)
  - only the chosen answer is compared with its start; the rejected one is, too
    (lost - lost_start) => lost
  - only the rejected answer is compared with its start; the chosen one is, too
    (won - won_start) => won
  - the difference of the starts is taken away twice; once
    (lost - lost_start) => (lost - lost_start + won_start - lost_start)
  - the logarithm is missing: the loss is minus the log of the sigmoid
    F.logsigmoid => F.sigmoid
  - the logarithm is missing, and 1 minus the sigmoid is taken; the loss is minus its log
    -F.logsigmoid(beta * margin) => F.sigmoid(-beta * margin)
  - the sign is wrong: the log of a sigmoid is below 0, a loss is minus that
    return -F => return F
  - beta multiplies the loss; it belongs inside the sigmoid
    return -F.logsigmoid(beta * margin) => return -beta * F.logsigmoid(margin)
  - a squared distance from 1 / (2 beta), as in IPO; DPO takes minus the log of a sigmoid
    -F.logsigmoid(beta * margin) => (margin - 1 / (2 * beta)).square()
  - a hinge takes the place of the sigmoid, max(0, 1 − beta · margin); DPO takes minus its log
    -F.logsigmoid(beta * margin) => F.relu(1 - beta * margin)
  - a hinge that begins at 0 takes the place of the sigmoid; DPO takes minus its log
    -F.logsigmoid(beta * margin) => F.relu(-beta * margin)
  - the margin itself is the loss; minus the log of its sigmoid is
    F.logsigmoid(beta * margin) => (beta * margin)
  - the loss is in bits; take the natural logarithm
    .mean() => .mean() / 0.6931471805599453
  - log(1 + x) of the margin, not of its exponential: softplus(−beta · margin) is log(1 + exp(...))
    -F.logsigmoid(beta * margin) => torch.log1p((-beta * margin).clamp(min=-0.999))
  - the loss has a second term for the chosen answer, minus its log-probability; DPO has none
    -F.logsigmoid(beta * margin) => -F.logsigmoid(beta * margin) - won
the chosen answer has gained one nat: the loss falls below log 2
    dpo_loss(tensor([-2.0]), tensor([-5.0]), tensor([-3.0]), tensor([-5.0]), 0.5)
  - chosen and rejected have changed places
    beta * margin => -beta * margin
  - beta is not used
    beta * margin => margin
  - it divides by beta; beta multiplies
    beta * margin => margin / beta
  - the rejected answer is not used
    - (lost - lost_start) => - 0 * lost
  - the chosen answer is not used
    (won - won_start) - => 0 * won -
  - log-probabilities are divided; their difference is the logarithm of the ratio
    (won - won_start) - (lost - lost_start) => won / won_start - lost / lost_start
  - beta is squared
    beta * margin => beta**2 * margin
  - probabilities are subtracted, not their logarithms
    (won - won_start) - (lost - lost_start) => (won.exp() - won_start.exp()) - LOST
    LOST => (lost.exp() - lost_start.exp())
  - only the sign of the difference counts, not how large it is
    beta * margin => beta * margin.sign()
the rejected answer has lost one nat: beta multiplies its gain, too
    dpo_loss(tensor([-3.0]), tensor([-6.0]), tensor([-3.0]), tensor([-5.0]), 0.5)
  - beta multiplies only the gain of the chosen answer; it multiplies both
    beta * margin => beta * (won - won_start) - (lost - lost_start)
  - beta multiplies only the gain of the rejected answer; it multiplies both
    beta * margin => (won - won_start) - beta * (lost - lost_start)
  - the two gains are added; their difference counts
    - (lost - lost_start) => + (lost - lost_start)
  - beta multiplies only the log-probabilities under the model, not those under the start
    beta * margin => (beta * won - won_start) - (beta * lost - lost_start)
  - the gain of the rejected answer is counted only where it is above 0; a loss counts as well
    - (lost - lost_start) => - (lost - lost_start).clamp(min=0)
both have lost, the rejected answer more: for DPO that is as good as a gain
    dpo_loss(tensor([-6.0]), tensor([-9.0]), tensor([-5.0]), tensor([-6.0]), 1.0)
  - the gain of the chosen answer is counted only where it is above 0; a loss counts as well
    (won - won_start) - => (won - won_start).clamp(min=0) -
out of order: the rejected answer has gained more, and the loss rises above log 2
    dpo_loss(tensor([-3.0]), tensor([-1.0]), tensor([-3.0]), tensor([-5.0]), 0.5)
  - the sign of the difference is lost; out of order it is below 0
    beta * margin => beta * margin.abs()
several pairs: the mean of their losses
    won, lost = torch.randn(3), torch.randn(3)
    dpo_loss(won, lost, torch.zeros(3), torch.zeros(3), 2.0)
  - this is the sum; the mean over the pairs is asked for
    .mean() => .sum()
  - the mean is taken of the differences, inside the sigmoid; it is over the losses
    -F.logsigmoid(beta * margin).mean() => -F.logsigmoid(beta * margin.mean())
  - the differences are added up inside the sigmoid; take the mean of the losses
    -F.logsigmoid(beta * margin).mean() => -F.logsigmoid(beta * margin.sum())
  - every chosen answer is compared with every rejected one; each with its own pair's
    - (lost - lost_start) => - (lost - lost_start)[:, None]
  - only the first pair counts; take the mean of all
    .mean() => [0]
far out of order, by 400: the loss is 400, where log(sigmoid(x)) is infinite, and a clamp or a
small number added would cut it off
    zero = torch.zeros(1)
    dpo_loss(tensor([-400.0]), zero, zero, zero, 1.0)
  - the difference is clamped; far out of order the loss goes on growing
    beta * margin => (beta * margin).clamp(-50, 50)
the gradient raises the chosen answer and lowers the rejected one by as much
    won = torch.tensor([-2.0, -4.0], requires_grad=True)
    lost = torch.tensor([-3.0, -1.0], requires_grad=True)
    start = torch.tensor([-3.0, -2.0])
    loss = dpo_loss(won, lost, start, start, 0.5)
    torch.stack(torch.autograd.grad(loss, [won, lost]))
""",
    before="tensor = torch.tensor\n",
)


class Table(nn.Module):
    """A language model of one table: the logits of the next token depend on the last one alone."""

    def __init__(self, logits: torch.Tensor):
        super().__init__()
        self.next = nn.Parameter(logits.clone())
        self.cleared: list[bool] = []  # before each backward: was there no gradient?
        self.read: set[tuple] = set()  # all rows of ids
        self.learned: list[list[int]] = []  # the rows of ids whose logits got a gradient

    def forward(self, ids):
        logits = self.next[ids]  # (B, T, V)
        self.read.update(map(tuple, ids.tolist()))
        if logits.requires_grad:
            logits.register_hook(lambda gradient: self._on_gradient(ids, gradient))
        return logits

    def _on_gradient(self, ids, gradient) -> None:
        self.cleared.append(self.next.grad is None or not bool(self.next.grad.any()))
        self.learned += ids[gradient.flatten(1).any(1)].tolist()


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
    kinds: set[str] = set()

    def judge(prompt, written):
        if not all(isinstance(token, int) for x in (prompt, written) for token in x):
            kinds.update({type(prompt).__name__, type(written).__name__})
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
    if kinds:
        raise Mistake(
            "the judge is given tensors or arrays; give it the prompt and the answer as lists of "
            "ids, as `tolist` makes them",
            f"{given}\nthe judge got {' and '.join(sorted(kinds))}",
        )
    read = model.read | getattr(trained, "read", set())
    apart = [(p, w) for p, w in seen if (*p, *w[:-1]) not in read]
    if apart:
        raise Mistake(
            "the judge is given a prompt with an answer that was drawn for another: the rows of "
            "the prompts and those of the answers are in different orders",
            f"{given}\njudge{apart[0]}, which the model has never read",
        )
    start, end = (m.next.detach().softmax(-1) for m in (model, trained))
    shown = f"{given}\nprobabilities after token 4: {_rounded(end[4])}"
    if torch.equal(start, end):
        raise Mistake(
            "the model has not changed: is the copy trained on what passed, and does the optimizer "
            "have the parameters of the copy?",
            shown,
        )
    if end[4, 1] < start[4, 1] / 2:
        _check_what_is_learned(answer, prompts)
        raise Mistake(
            "an answer that passes has become less probable: is the sign of the loss right?", shown
        )
    passed = [written for prompt, written in seen if _passing(prompt, written)]
    if end[4, 1] < 0.3 or end[3, 0] < 0.3:
        _check_what_is_learned(answer, prompts)
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
    _check_what_is_learned(answer, prompts)
    _check_optimizer(answer)
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


def _check_what_is_learned(answer, prompts) -> None:
    """An answer of two tokens passes if it begins with 0, 1 or 2: which rows get a gradient?"""
    model, kept = Table(torch.zeros(6, 6)), []

    def judge(prompt, written) -> bool:
        if written[0] < 3:
            kept.append((*_listed(prompt), *_listed(written)))
        return written[0] < 3

    setting = {"tries": 40, "length": 2, "epochs": 3, "rate": 0.05}
    given = f"judge: an answer passes if it begins with 0, 1 or 2\n{setting}"
    trained = call(answer, model=model, prompts=prompts, judge=judge, **setting)
    learned = [*map(tuple, getattr(trained, "learned", []))]
    failed = [row for row in learned if row[2] >= 3]
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
    expected = setting["epochs"] * len(kept)
    if not learned or len(learned) == expected:
        return
    shown = f"{given}\n{len(kept)} answers passed; rows trained on in 3 epochs: {len(learned)}"
    if len(learned) == setting["epochs"] * len(set(kept)):
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
    if len(learned) < expected:
        what = "only a part of what passed is trained on, or not in every epoch: each epoch goes"
    else:
        what = "what passed is trained on more often than `epochs` times: each epoch goes once"
    raise Mistake(f"{what} over all answers that passed", shown)


def _check_optimizer(answer) -> None:
    """Only the first answer passes, so that every step is known: which optimizer makes them?"""
    logits = torch.arange(36.0).square().sin().view(6, 6)
    model, rows = Table(logits), []

    def judge(prompt, written) -> bool:
        rows.append([*_listed(prompt), *_listed(written)])
        return len(rows) == 1

    setting = {"tries": 2, "length": 3, "epochs": 20, "rate": 0.05}
    given = f"judge: the first answer passes, the others fail\n{setting}"
    trained = call(answer, model=model, prompts=torch.tensor([[5, 4]]), judge=judge, **setting)
    found = trained.next.detach()
    ids = torch.tensor(rows[:1])

    def steps(*, again: bool) -> torch.Tensor:
        table = Table(logits)
        for epoch in range(setting["epochs"]):
            if again or epoch == 0:
                optimizer = torch.optim.Adam(table.parameters(), lr=setting["rate"])
            loss = _answer_loss(table(ids), ids, 2)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return table.next.detach()

    unread = [token for token in range(6) if token not in ids[0, 1:-1].tolist()]
    shown = f"{given}\nthe row that passed: {rows[0]}"
    if torch.allclose(found, steps(again=True), atol=2e-3):
        raise Mistake(
            "every epoch begins with a new optimizer, which has forgotten what it averaged; make "
            "one before the first epoch",
            shown,
        )
    if not torch.allclose(found[unread], logits[unread], atol=1e-6):
        raise Mistake(
            "weights change that have no gradient: a weight decay pulls them to 0, as AdamW's "
            "does; Adam has none",
            f"{shown}\nlogits after token {unread[0]}, which nothing was trained on: "
            f"{_rounded(logits[unread[0]])}, and afterwards {_rounded(found[unread[0]])}",
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
