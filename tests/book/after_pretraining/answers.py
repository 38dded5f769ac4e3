"""Answers to the exercises of book/after_pretraining.ipynb."""

import math
from copy import deepcopy

import torch
import torch.nn.functional as F

from book.after_pretraining.checks import (
    advantages,
    answer_loss,
    dpo_loss,
    pass_at_k,
    rejection_round,
)
from tests.book.answers import right, wrong

# Pass at k


@right(pass_at_k)
def with_binomials(right, tries, k):
    return 1 - math.comb(tries - right, k) / math.comb(tries, k)


@right(pass_at_k)
def as_a_product(right, tries, k):
    missed = 1.0
    for i in range(k):
        missed *= max(0, tries - right - i) / (tries - i)
    return torch.tensor(1 - missed)


@wrong(pass_at_k, "OverflowError")
def with_factorials(right, tries, k):
    f = math.factorial
    ways = float(f(tries)) / float(f(k)) / float(f(tries - k))
    if tries - right < k:
        return 1.0
    return 1 - float(f(tries - right)) / float(f(k)) / float(f(tries - right - k)) / ways


# Only the answer counts


@right(answer_loss)
def with_a_mask(logits, ids, prompt):
    log_p = logits[:, :-1].log_softmax(-1)
    target = ids[:, 1:]
    counts = (target >= 0) & (torch.arange(1, ids.shape[1]) >= prompt)
    each = log_p.gather(-1, target.clamp(min=0)[..., None])[..., 0]
    return -(each * counts).sum() / counts.sum()


@right(answer_loss)
def with_cross_entropy(logits, ids, prompt):
    target = ids.clone()
    target[:, :prompt] = -1
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, 1:].flatten(), ignore_index=-1)


@wrong(answer_loss, "`prompt` has no effect")
def whole_text(logits, ids, prompt):
    return with_cross_entropy(logits, ids, 1)


@wrong(answer_loss, "carries the gradient")
def without_gradient(logits, ids, prompt):
    return with_a_mask(logits.detach(), ids, prompt)


# Advantages of groups


@right(advantages)
def minus_the_mean(rewards):
    return rewards - rewards.mean(dim=1, keepdim=True)


@right(advantages)
def in_lists(rewards):
    return [[r - sum(row) / len(row) for r in row] for row in rewards.tolist()]


@wrong(advantages, "it changes its input rewards")
def in_place(rewards):
    rewards -= rewards.mean(dim=1, keepdim=True)
    return rewards


# The loss of DPO


@right(dpo_loss)
def as_written(won, lost, won_start, lost_start, beta):
    return -F.logsigmoid(beta * ((won - won_start) - (lost - lost_start))).mean()


@right(dpo_loss)
def with_softplus(won, lost, won_start, lost_start, beta):
    margin = (won - lost) - (won_start - lost_start)
    return F.softplus(-beta * margin).sum() / len(won)


@wrong(dpo_loss, "where log(sigmoid(x)) is infinite")
def log_of_sigmoid(won, lost, won_start, lost_start, beta):
    return -torch.sigmoid(beta * (won - won_start - lost + lost_start)).log().mean()


# A round that runs


def sampled(p):
    return torch.multinomial(p, 1)


def drawn(model, prompts, tries, length, choose=sampled):
    ids = prompts.repeat_interleave(tries, dim=0)
    with torch.no_grad():
        for _ in range(length):
            ids = torch.cat([ids, choose(model(ids)[:, -1].softmax(-1))], dim=1)
    return ids


def trained_on(model, ids, epochs, rate, *, first, last=None, sign=1.0, zero=True):
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(epochs if len(ids) else 0):
        about = model(ids)[:, first - 1 : -1][:, :last].flatten(0, 1)
        loss = sign * F.cross_entropy(about, ids[:, first:][:, :last].flatten())
        if zero:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def passed(ids, good):
    return ids[good]


@right(rejection_round)
def one_round(
    model, prompts, judge, tries, length, epochs, rate, copy=deepcopy, keep=passed, choose=sampled,
    **how,
):  # fmt: skip
    P = prompts.shape[1]
    ids = drawn(model, prompts, tries, length, choose)
    good = torch.tensor([bool(judge(row[:P].tolist(), row[P:].tolist())) for row in ids])
    return trained_on(copy(model), keep(ids, good), epochs, rate, **{"first": P} | how)


@right(rejection_round)
def one_prompt_after_the_other(model, prompts, judge, tries, length, epochs, rate):
    """With AdamW, whose decay is 0, and minibatches."""
    kept = []
    for prompt in prompts:
        for _ in range(tries):
            ids = prompt.tolist()
            for _ in range(length):
                p = model(torch.tensor([ids]))[0, -1].softmax(-1)
                ids.append(torch.multinomial(p, 1).item())
            row = torch.tensor(ids)
            if judge(prompt.tolist(), ids[len(prompt) :]):
                kept.append(row)
    model = deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    for _ in range(epochs if kept else 0):
        for rows in torch.stack(kept).split(16):
            log_p = model(rows[:, :-1]).log_softmax(-1).gather(-1, rows[:, 1:, None])[..., 0]
            optimizer.zero_grad()
            (-log_p[:, prompts.shape[1] - 1 :].mean()).backward()
            optimizer.step()
    return model


def changed(**how):
    return lambda *given: one_round(*given, **how)


for text, how in {
    "changes its input model": {"copy": lambda model: model},
    "the sign of the loss is turned": {"sign": -1.0},
    "gradients of earlier epochs are still there": {"zero": False},
    "tokens of the prompt were trained on": {"first": 1},
    "only the first token of the answers": {"last": 1},
    "answers to a prompt are the same": {"choose": lambda p: p.argmax(-1, keepdim=True)},
    "not drawn from the model's": {"choose": lambda p: torch.randint(6, (len(p), 1))},
    "drawn from the model's probabilities": {"choose": lambda p: torch.multinomial(p**2, 1)},
    "answers that failed are trained on as well": {"keep": lambda ids, good: ids},
    "what failed is trained on": {"keep": lambda ids, good: ids[~good]},
    "only a part of what passed": {"keep": lambda ids, good: ids[good][: good.sum() // 2 + 1]},
    "each different answer is trained on once": {"keep": lambda ids, good: ids[good].unique(dim=0)},
    "more often than `epochs` times": {"keep": lambda ids, good: ids[good].repeat(2, 1)},
    "nothing passes there is nothing to learn": {
        "keep": lambda ids, good: ids[good] if good.any() else ids
    },
}.items():
    wrong(rejection_round, text)(changed(**how))


@wrong(rejection_round, "the judge was asked 2 times, expected 120")
def one_try_each(model, prompts, judge, tries, *more):
    return one_round(model, prompts, judge, 1, *more)


@wrong(rejection_round, "has not changed")
def forgot_to_train(model, prompts, judge, tries, length, epochs, rate):
    return one_round(model, prompts, judge, tries, length, 0, rate)


@wrong(rejection_round, "there is only one epoch")
def a_single_step(model, prompts, judge, tries, length, epochs, rate):
    return one_round(model, prompts, judge, tries, length, 1, rate)


@wrong(rejection_round, "one epoch too many")
def one_epoch_more(model, prompts, judge, tries, length, epochs, rate):
    return one_round(model, prompts, judge, tries, length, epochs + 1, rate)


@wrong(rejection_round, "got an answer of 7 tokens, expected 4")
def judged_with_the_prompt(model, prompts, judge, *more):
    return one_round(model, prompts, lambda prompt, y: judge(prompt, prompt + y), *more)


@wrong(rejection_round, "the judge is given tensors")
def judged_as_tensors(model, prompts, judge, *more):
    return one_round(model, prompts, lambda *both: judge(*map(torch.tensor, both)), *more)


@wrong(rejection_round, "drawn for another")
def prompts_in_another_order(model, prompts, judge, tries, *more):
    asked = iter(prompts.repeat(tries, 1).tolist())
    return one_round(model, prompts, lambda _, y: judge(next(asked), y), tries, *more)


@wrong(rejection_round, "the answer, without the prompt and of the whole length")
def judge_that_is_asked_the_other_way_round(model, prompts, judge, *more):
    return one_round(model, prompts, lambda prompt, y: judge(y, prompt), *more)


@right(rejection_round)
def into_another_copy_and_row_by_row(model, prompts, judge, tries, length, epochs, rate):
    P, student, result = prompts.shape[1], deepcopy(model), deepcopy(model)
    ids = [row for p in prompts for row in drawn(model, p[None], tries, length).tolist()]
    good = [torch.tensor([row]) for row in ids if judge(row[:P], row[P:])]
    optimizer = torch.optim.Adam(student.parameters(), lr=rate)
    for _ in range(epochs if good else 0):
        optimizer.zero_grad()
        for row in good:
            loss = F.cross_entropy(student(row)[0, P - 1 : -1], row[0, P:]) / len(good)
            loss.backward()
        optimizer.step()
    result.load_state_dict(student.state_dict())
    return result


def drawn_from(model, prompts, tries, length, read):
    ids = prompts.repeat_interleave(tries, dim=0)
    for _ in range(length):
        ids = torch.cat([ids, sampled(model(read(ids))[:, -1].softmax(-1))], dim=1)
    return ids


def trained_otherwise(sees=lambda ids, P: (ids, ids), loss=F.cross_entropy, draws=None, best=None):
    """A round in which what is fed and what is asked, the loss or the optimizer is another."""

    def round_of(model, prompts, judge, tries, length, epochs, rate):
        P, student = prompts.shape[1], deepcopy(model)
        ids = (
            draws(model, prompts, tries, length) if draws else drawn(model, prompts, tries, length)
        )
        good = torch.tensor([bool(judge(row[:P].tolist(), row[P:].tolist())) for row in ids])
        optimizer = (best or torch.optim.Adam)(student.parameters(), lr=rate)
        for _ in range(epochs if good.any() else 0):
            fed, asked = sees(ids[good], P)
            optimizer.zero_grad()
            loss(student(fed)[:, -asked.shape[1] :].flatten(0, 1), asked.flatten()).backward()
            optimizer.step()
        return student

    return round_of


for text, how in {
    "rows that do not begin with a prompt": {"sees": lambda x, P: (x[:, P:-1], x[:, P + 1 :])},
    "logits[:, t] is about the token after ids[:, t]": {"sees": lambda x, P: (x, x[:, P:])},
    "to say again what it has just read": {"sees": lambda x, P: (x[:, :-1], x[:, P - 1 : -1])},
    "not 2 that becomes most probable": {"sees": lambda x, P: (x[:, :-1], 0 * x[:, P:])},
    "all tokens of the answers are predicted, and": {
        "sees": lambda x, P: (x[:, :-1], x[:, P + 1 :])
    },
    "with a step of Adam at the given rate": {
        "sees": lambda x, P: (x[:, :-1], x[:, P:]),
        "best": torch.optim.SGD,
    },
    "too fast for a step of Adam": {
        "sees": lambda x, P: (x[:, :-1], x[:, P:]),
        "best": lambda parameters, lr: torch.optim.Adam(parameters, lr=2.0),
    },
    "each token follows what the model says": {
        "draws": lambda model, prompts, tries, length: drawn_from(
            model, prompts, tries, length, lambda ids: ids[:, -1:]
        )
    },
}.items():
    wrong(rejection_round, text)(trained_otherwise(**how))


@wrong(rejection_round, "each token follows what the model says")
def all_tokens_at_once(model, prompts, judge, tries, length, epochs, rate):
    ids = prompts.repeat_interleave(tries, dim=0)
    p = model(ids)[:, -1].softmax(-1)
    ids = torch.cat([ids, torch.multinomial(p, length, replacement=True)], dim=1)
    good = torch.tensor(
        [bool(judge(row[:-length].tolist(), row[-length:].tolist())) for row in ids]
    )
    return trained_on(deepcopy(model), ids[good], epochs, rate, first=prompts.shape[1])


@wrong(rejection_round, "answers that failed are trained on as well")
def failed_ones_made_less_probable(model, prompts, judge, tries, length, epochs, rate):
    P, ids, student = prompts.shape[1], drawn(model, prompts, tries, length), deepcopy(model)
    sign = torch.tensor([1.0 if judge(row[:P], row[P:]) else -0.01 for row in ids.tolist()])
    optimizer = torch.optim.Adam(student.parameters(), lr=rate)
    for _ in range(epochs):
        log_p = student(ids).log_softmax(-1)[:, P - 1 : -1].gather(-1, ids[:, P:, None])
        optimizer.zero_grad()
        (-(sign[:, None] * log_p[..., 0]).mean()).backward()
        optimizer.step()
    return student


@wrong(rejection_round, "expected the trained model")
def returns_the_answers(model, prompts, judge, tries, length, epochs, rate):
    ids = drawn(model, prompts, tries, length)
    return [row for row in ids.tolist() if judge(row[:2], row[2:])]


@wrong(rejection_round, "the judge was never asked")
def no_judge(model, prompts, judge, tries, length, epochs, rate):
    ids = drawn(model, prompts, tries, length)
    return trained_on(deepcopy(model), ids, epochs, rate, first=prompts.shape[1])
