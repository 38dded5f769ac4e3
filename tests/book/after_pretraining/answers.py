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

# 1. Pass at k


@right(pass_at_k)
def with_binomials(right, tries, k):
    return 1 - math.comb(tries - right, k) / math.comb(tries, k)


@right(pass_at_k)
def as_a_product(right, tries, k):
    missed = 1.0
    for i in range(k):
        missed *= max(0, tries - right - i) / (tries - i)
    return torch.tensor(1 - missed)


@wrong(pass_at_k, "puts each back")
def drawn_with_return(right, tries, k):
    return 1 - (1 - right / tries) ** k


@wrong(pass_at_k, "OverflowError")
def with_factorials(right, tries, k):
    f = math.factorial
    ways = float(f(tries)) / float(f(k)) / float(f(tries - k))
    if tries - right < k:
        return 1.0
    return 1 - float(f(tries - right)) / float(f(k)) / float(f(tries - right - k)) / ways


# 2. Only the answer counts


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


@right(answer_loss)
def token_by_token(logits, ids, prompt):
    losses = [
        logits[row, t - 1].logsumexp(0) - logits[row, t - 1, ids[row, t]]
        for row in range(len(ids))
        for t in range(prompt, ids.shape[1])
        if ids[row, t] != -1
    ]
    return sum(losses) / len(losses)


@wrong(answer_loss, "would be right if `prompt` were 1")
def whole_text(logits, ids, prompt):
    return with_cross_entropy(logits, ids, 1)


@wrong(answer_loss, "carries the gradient")
def without_gradient(logits, ids, prompt):
    return with_a_mask(logits.detach(), ids, prompt)


# 3. Advantages of groups


@right(advantages)
def minus_the_mean(rewards):
    return rewards - rewards.mean(dim=1, keepdim=True)


@right(advantages)
def in_lists(rewards):
    return [[r - sum(row) / len(row) for r in row] for row in rewards.tolist()]


@wrong(advantages, "no baseline is subtracted")
def rewards_alone(rewards):
    return rewards * 1.0


@wrong(advantages, "it changes its input rewards")
def in_place(rewards):
    rewards -= rewards.mean(dim=1, keepdim=True)
    return rewards


# 4. The loss of DPO


@right(dpo_loss)
def as_written(won, lost, won_start, lost_start, beta):
    return -F.logsigmoid(beta * ((won - won_start) - (lost - lost_start))).mean()


@right(dpo_loss)
def with_softplus(won, lost, won_start, lost_start, beta):
    margin = (won - lost) - (won_start - lost_start)
    return F.softplus(-beta * margin).sum() / len(won)


@wrong(dpo_loss, "the model it started from is not used")
def without_reference(won, lost, won_start, lost_start, beta):
    return -F.logsigmoid(beta * (won - lost)).mean()


@wrong(dpo_loss, "where log(sigmoid(x)) is infinite")
def log_of_sigmoid(won, lost, won_start, lost_start, beta):
    return -torch.sigmoid(beta * (won - won_start - lost + lost_start)).log().mean()


# 5. A round that runs


def drawn(model, prompts, tries, length, *, choose=None):
    ids = prompts.repeat_interleave(tries, dim=0)
    with torch.no_grad():
        for _ in range(length):
            p = model(ids)[:, -1].softmax(-1)
            token = torch.multinomial(p, 1) if choose is None else choose(p)
            ids = torch.cat([ids, token], dim=1)
    return ids


def trained_on(model, ids, epochs, rate, *, first, last=None, sign=1.0):
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(epochs):
        about = model(ids)[:, first - 1 : -1][:, :last].flatten(0, 1)
        loss = sign * F.cross_entropy(about, ids[:, first:][:, :last].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def one_round(
    model, prompts, judge, tries, length, epochs, rate, *, keep=True, choose=None, **training
):
    P = prompts.shape[1]
    ids = drawn(model, prompts, tries, length, choose=choose)
    good = torch.tensor([bool(judge(row[:P].tolist(), row[P:].tolist())) for row in ids])
    kept = ids[good] if keep else ids
    if not len(kept):
        return deepcopy(model)
    return trained_on(deepcopy(model), kept, epochs, rate, **{"first": P} | training)


@right(rejection_round)
def as_described(model, prompts, judge, tries, length, epochs, rate):
    return one_round(model, prompts, judge, tries, length, epochs, rate)


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


@wrong(rejection_round, "changes its input model")
def without_a_copy(model, prompts, judge, tries, length, epochs, rate):
    ids = drawn(model, prompts, tries, length)
    P = prompts.shape[1]
    good = torch.tensor([judge(row[:P].tolist(), row[P:].tolist()) for row in ids])
    return trained_on(model, ids[good], epochs, rate, first=P) if good.any() else model


@wrong(rejection_round, "answers that failed are trained on as well")
def trained_on_everything(model, prompts, judge, tries, length, epochs, rate):
    return one_round(model, prompts, judge, tries, length, epochs, rate, keep=False)


@wrong(rejection_round, "is the sign of the loss right")
def away_from_what_passed(model, prompts, judge, tries, length, epochs, rate):
    return one_round(model, prompts, judge, tries, length, epochs, rate, sign=-1.0)


@wrong(rejection_round, "all answers to a prompt are the same")
def the_most_probable(model, prompts, judge, tries, length, epochs, rate):
    def choose(p):
        return p.argmax(-1, keepdim=True)

    return one_round(model, prompts, judge, tries, length, epochs, rate, choose=choose)


@wrong(rejection_round, "not drawn from the model's probabilities")
def drawn_evenly(model, prompts, judge, tries, length, epochs, rate):
    def choose(p):
        return torch.randint(p.shape[1], (len(p), 1))

    return one_round(model, prompts, judge, tries, length, epochs, rate, choose=choose)


@wrong(rejection_round, "gradients of earlier epochs are still there")
def never_zeroed(model, prompts, judge, tries, length, epochs, rate):
    ids, P = drawn(model, prompts, tries, length), prompts.shape[1]
    good = ids[torch.tensor([bool(judge(row[:P].tolist(), row[P:].tolist())) for row in ids])]
    student = deepcopy(model)
    optimizer = torch.optim.Adam(student.parameters(), lr=rate)
    for _ in range(epochs if len(good) else 0):
        logits = student(good)[:, P - 1 : -1]
        F.cross_entropy(logits.flatten(0, 1), good[:, P:].flatten()).backward()
        optimizer.step()
    return student


@wrong(rejection_round, "not drawn from the model's probabilities")
def drawn_from_the_first_place(model, prompts, judge, tries, length, epochs, rate):
    def after_the_first(ids):
        return model(ids)[:, :1]

    ids, P = drawn(after_the_first, prompts, tries, length), prompts.shape[1]
    good = torch.tensor([bool(judge(row[:P].tolist(), row[P:].tolist())) for row in ids])
    student = deepcopy(model)
    return trained_on(student, ids[good], epochs, rate, first=P) if good.any() else student


@wrong(rejection_round, "tokens of the prompt were trained on")
def prompt_not_masked(model, prompts, judge, tries, length, epochs, rate):
    return one_round(model, prompts, judge, tries, length, epochs, rate, first=1)


@wrong(rejection_round, "only the first token of the answers")
def first_token_only(model, prompts, judge, tries, length, epochs, rate):
    return one_round(model, prompts, judge, tries, length, epochs, rate, last=1)


@wrong(rejection_round, "the judge was asked 2 times, expected 120")
def one_try_each(model, prompts, judge, tries, length, epochs, rate):
    return one_round(model, prompts, judge, 1, length, epochs, rate)


@wrong(rejection_round, "expected 3: without the prompt")
def judged_with_the_prompt(model, prompts, judge, tries, length, epochs, rate):
    def whole(prompt, written):
        return judge(prompt, prompt + written)

    return one_round(model, prompts, whole, tries, length, epochs, rate)


@wrong(rejection_round, "expected the trained model")
def returns_the_answers(model, prompts, judge, tries, length, epochs, rate):
    ids = drawn(model, prompts, tries, length)
    return [row for row in ids.tolist() if judge(row[:2], row[2:])]


@wrong(rejection_round, "nothing passes there is nothing to learn")
def learns_from_everything_if_nothing_passes(model, prompts, judge, tries, length, epochs, rate):
    P = prompts.shape[1]
    ids = drawn(model, prompts, tries, length)
    good = torch.tensor([bool(judge(row[:P].tolist(), row[P:].tolist())) for row in ids])
    kept = ids[good] if good.any() else ids
    return trained_on(deepcopy(model), kept, epochs, rate, first=P)


@wrong(rejection_round, "has not changed")
def forgot_to_train(model, prompts, judge, tries, length, epochs, rate):
    return one_round(model, prompts, judge, tries, length, 0, rate)


@wrong(rejection_round, "the judge was never asked")
def no_judge(model, prompts, judge, tries, length, epochs, rate):
    ids = drawn(model, prompts, tries, length)
    return trained_on(deepcopy(model), ids, epochs, rate, first=prompts.shape[1])


def _picks(text, formula):
    wrong(pass_at_k, text)(lambda right, tries, k: formula(right, tries, k))


_picks("is subtracted from 1; it is that", lambda r, n, k: 1 - math.comb(r, k) / math.comb(n, k))
_picks("in percent", lambda r, n, k: 100 * (1 - math.comb(n - r, k) / math.comb(n, k)))

wrong(advantages, "the sign is lost")(lambda r: (r - r.mean(1, keepdim=True)).abs())


@wrong(rejection_round, "the judge is given tensors")
def judged_as_tensors(model, prompts, judge, tries, length, epochs, rate):
    def with_tensors(prompt, written):
        return judge(torch.tensor(prompt), torch.tensor(written))

    return one_round(model, prompts, with_tensors, tries, length, epochs, rate)


@wrong(rejection_round, "drawn for another")
def prompts_in_another_order(model, prompts, judge, tries, length, epochs, rate):
    P = prompts.shape[1]
    ids = drawn(model, prompts, tries, length)
    asked = prompts.repeat(tries, 1).tolist()
    good = torch.tensor(
        [bool(judge(p, row[P:].tolist())) for p, row in zip(asked, ids, strict=True)]
    )
    student = deepcopy(model)
    return trained_on(student, ids[good], epochs, rate, first=P) if good.any() else student


def on_what_passed(model, prompts, judge, tries, length, epochs, rate, *, change):
    P = prompts.shape[1]
    ids = drawn(model, prompts, tries, length)
    good = torch.tensor([bool(judge(row[:P].tolist(), row[P:].tolist())) for row in ids])
    kept, student = change(ids[good]), deepcopy(model)
    return trained_on(student, kept, epochs, rate, first=P) if len(kept) else student


@wrong(rejection_round, "only a part of what passed")
def the_first_half(*given):
    return on_what_passed(*given, change=lambda kept: kept[: (len(kept) + 1) // 2])


@wrong(rejection_round, "each different answer is trained on once")
def without_repeats(*given):
    return on_what_passed(*given, change=lambda kept: kept.unique(dim=0))


@wrong(rejection_round, "more often than `epochs` times")
def everything_twice(*given):
    return on_what_passed(*given, change=lambda kept: torch.cat([kept, kept]))


def trained_with(model, prompts, judge, tries, length, epochs, rate, *, make, again=False):
    P = prompts.shape[1]
    ids = drawn(model, prompts, tries, length)
    good = torch.tensor([bool(judge(row[:P].tolist(), row[P:].tolist())) for row in ids])
    kept, student = ids[good], deepcopy(model)
    optimizer = make(student.parameters(), lr=rate)
    for _ in range(epochs if len(kept) else 0):
        if again:
            optimizer = make(student.parameters(), lr=rate)
        logits = student(kept)[:, P - 1 : -1]
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), kept[:, P:].flatten()).backward()
        optimizer.step()
    return student


@wrong(rejection_round, "every epoch begins with a new optimizer")
def a_new_adam_each_time(*given):
    return trained_with(*given, make=torch.optim.Adam, again=True)


@wrong(rejection_round, "a weight decay pulls them to 0")
def with_adamw(*given):
    return trained_with(*given, make=torch.optim.AdamW)


@wrong(rejection_round, "one epoch too many")
def one_epoch_more(model, prompts, judge, tries, length, epochs, rate):
    given = model, prompts, judge, tries, length, epochs + 1, rate
    return trained_with(*given, make=torch.optim.Adam)


@wrong(rejection_round, "not drawn from the model's probabilities")
def at_half_the_temperature(model, prompts, judge, tries, length, epochs, rate):
    def choose(p):
        return torch.multinomial(p**2, 1)

    return one_round(model, prompts, judge, tries, length, epochs, rate, choose=choose)


@wrong(rejection_round, "there is only one epoch")
def a_single_step(model, prompts, judge, tries, length, epochs, rate):
    given = model, prompts, judge, tries, length, 1, rate
    return trained_with(*given, make=torch.optim.Adam)


@wrong(rejection_round, "what failed is trained on")
def on_what_failed(model, prompts, judge, tries, length, epochs, rate):
    def wanted(prompt, written):
        return not judge(prompt, written)

    return one_round(model, prompts, wanted, tries, length, epochs, rate)
