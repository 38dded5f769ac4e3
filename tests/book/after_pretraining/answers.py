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


@wrong(pass_at_k, "subtract it from 1")
def share_that_fails(right, tries, k):
    return math.comb(tries - right, k) / math.comb(tries, k)


@wrong(pass_at_k, "all k are right")
def all_of_them(right, tries, k):
    return math.comb(right, k) / math.comb(tries, k)


@wrong(pass_at_k, "k is not used")
def the_first_only(right, tries, k):
    return right / tries


@wrong(pass_at_k, "counts picks with two right answers twice")
def k_times(right, tries, k):
    return k * right / tries


@wrong(pass_at_k, "cut at 1, is too high")
def k_times_at_most_one(right, tries, k):
    return min(1, k * right / tries)


@wrong(pass_at_k, "must be among the k that are picked")
def any_right_at_all(right, tries, k):
    return 1.0 if right else 0.0


@wrong(pass_at_k, "fewer wrong answers than k")
def product_below_zero(right, tries, k):
    if tries - right < k:
        return 0.0
    return with_binomials(right, tries, k)


@wrong(pass_at_k, "OverflowError")
def with_factorials(right, tries, k):
    f = math.factorial
    ways = float(f(tries)) / float(f(k)) / float(f(tries - k))
    if tries - right < k:
        return 1.0
    return 1 - float(f(tries - right)) / float(f(k)) / float(f(tries - right - k)) / ways


@wrong(pass_at_k, "none right")
def at_least_one_is_right(right, tries, k):
    return with_binomials(max(right, 1), tries, k)


@wrong(pass_at_k, "all right")
def all_is_as_none(right, tries, k):
    return 0.0 if right in (0, tries) else with_binomials(right, tries, k)


@wrong(pass_at_k, "picking all of them")
def the_share_of_all(right, tries, k):
    return right / tries if k == tries else with_binomials(right, tries, k)


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


@wrong(answer_loss, "tokens of the prompt count as well")
def whole_text(logits, ids, prompt):
    return with_cross_entropy(logits, ids, 1)


@wrong(answer_loss, "the last token of the prompt counts as well")
def one_early(logits, ids, prompt):
    return with_cross_entropy(logits, ids, prompt - 1)


@wrong(answer_loss, "the first token of the answer is left out")
def one_late(logits, ids, prompt):
    return with_cross_entropy(logits, ids, prompt + 1)


@wrong(answer_loss, "is about the token after ids[:, t]")
def not_shifted(logits, ids, prompt):
    target = ids[:, prompt:]
    about = logits[:, prompt:]
    return F.cross_entropy(about.flatten(0, 1), target.flatten(), ignore_index=-1)


@wrong(answer_loss, "the sign is wrong")
def mean_log_probability(logits, ids, prompt):
    return -with_a_mask(logits, ids, prompt)


@wrong(answer_loss, "this is the sum")
def added_up(logits, ids, prompt):
    return with_a_mask(logits, ids, prompt) * (ids[:, prompt:] >= 0).sum()


@wrong(answer_loss, "still over the whole text")
def over_the_whole_text(logits, ids, prompt):
    return added_up(logits, ids, prompt) / (ids[:, 1:] >= 0).sum()


@wrong(answer_loss, "as if it were token 0")
def padding_is_a_token(logits, ids, prompt):
    return with_cross_entropy(logits, ids.clamp(min=0), prompt)


@wrong(answer_loss, "over the places behind the end")
def mean_over_places(logits, ids, prompt):
    return added_up(logits, ids, prompt) / ids[:, prompt:].numel()


@wrong(answer_loss, "short ones count too much")
def mean_of_means(logits, ids, prompt):
    rows = range(len(ids))
    each = [with_a_mask(logits[i : i + 1], ids[i : i + 1], prompt) for i in rows]
    return torch.stack(each).mean()


@wrong(answer_loss, "carries the gradient")
def without_gradient(logits, ids, prompt):
    return with_a_mask(logits.detach(), ids, prompt)


@wrong(answer_loss, "must stay finite")
def log_of_softmax(logits, ids, prompt):
    counts = (ids[:, 1:] >= 0) & (torch.arange(1, ids.shape[1]) >= prompt)
    p = logits[:, :-1].softmax(-1).gather(-1, ids[:, 1:].clamp(min=0)[..., None])[..., 0]
    return -p[counts].log().mean()


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


@wrong(advantages, "the sign is turned round")
def mean_minus_reward(rewards):
    return rewards.mean(1, keepdim=True) - rewards


@wrong(advantages, "as in GRPO")
def as_in_grpo(rewards):
    return (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-6)


@wrong(advantages, "standard deviation over G")
def as_in_numpy(rewards):
    spread = rewards.std(1, keepdim=True, correction=0)
    return (rewards - rewards.mean(1, keepdim=True)) / (spread + 1e-6)


@wrong(advantages, "as in RLOO")
def leave_one_out(rewards):
    others = (rewards.sum(1, keepdim=True) - rewards) / (rewards.shape[1] - 1)
    return rewards - others


@wrong(advantages, "it changes its input rewards")
def in_place(rewards):
    rewards -= rewards.mean(dim=1, keepdim=True)
    return rewards


@wrong(advantages, "take it within each")
def down_the_columns(rewards):
    return rewards - rewards.mean(0)


@wrong(advantages, "one mean for all groups")
def mean_of_everything(rewards):
    return rewards - rewards.mean()


@wrong(advantages, "nothing to learn")
def equal_groups_stay(rewards):
    same = rewards.std(1, keepdim=True) == 0
    return torch.where(same, rewards, rewards - rewards.mean(1, keepdim=True))


@wrong(advantages, "rows are the groups")
def an_axis_only_where_it_must_be(rewards):
    mean = rewards.mean(1)
    return rewards - (mean if len(mean) == rewards.shape[1] else mean[:, None])


@wrong(advantages, "its own mean")
def alone_it_stays(rewards):
    return rewards + 0.0 if rewards.shape[1] == 1 else rewards - rewards.mean(1, keepdim=True)


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


@wrong(dpo_loss, "the start is added")
def start_added(won, lost, won_start, lost_start, beta):
    return -F.logsigmoid(beta * ((won + won_start) - (lost + lost_start))).mean()


@wrong(dpo_loss, "the logarithm is missing")
def only_the_sigmoid(won, lost, won_start, lost_start, beta):
    return -torch.sigmoid(beta * (won - won_start - lost + lost_start)).mean()


@wrong(dpo_loss, "the sign is wrong")
def log_sigmoid(*given):
    return -as_written(*given)


@wrong(dpo_loss, "beta multiplies the loss")
def beta_outside(won, lost, won_start, lost_start, beta):
    return -beta * F.logsigmoid(won - won_start - lost + lost_start).mean()


@wrong(dpo_loss, "have changed places")
def turned_round(won, lost, won_start, lost_start, beta):
    return as_written(lost, won, lost_start, won_start, beta)


@wrong(dpo_loss, "beta is not used")
def without_beta(won, lost, won_start, lost_start, beta):
    return as_written(won, lost, won_start, lost_start, 1)


@wrong(dpo_loss, "it divides by beta")
def divided(won, lost, won_start, lost_start, beta):
    return as_written(won, lost, won_start, lost_start, 1 / beta)


@wrong(dpo_loss, "the rejected answer is not used")
def chosen_alone(won, lost, won_start, lost_start, beta):
    return -F.logsigmoid(beta * (won - won_start)).mean()


@wrong(dpo_loss, "the two gains are added")
def gains_added(won, lost, won_start, lost_start, beta):
    return -F.logsigmoid(beta * (won - won_start + lost - lost_start)).mean()


@wrong(dpo_loss, "this is the sum")
def summed(*given):
    return as_written(*given) * len(given[0])


@wrong(dpo_loss, "inside the sigmoid; it is over the losses")
def mean_inside(won, lost, won_start, lost_start, beta):
    return -F.logsigmoid(beta * (won - won_start - lost + lost_start).mean())


@wrong(dpo_loss, "a loss for each pair")
def for_each_pair(won, lost, won_start, lost_start, beta):
    return -F.logsigmoid(beta * (won - won_start - lost + lost_start))


@wrong(dpo_loss, "where log(sigmoid(x)) is infinite")
def log_of_sigmoid(won, lost, won_start, lost_start, beta):
    return -torch.sigmoid(beta * (won - won_start - lost + lost_start)).log().mean()


@wrong(dpo_loss, "lowers the rejected one by as much")
def rejected_is_fixed(won, lost, won_start, lost_start, beta):
    return as_written(won, lost.detach() + 0 * lost, won_start, lost_start, beta)


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
_picks("exactly one passes", lambda r, n, k: r * math.comb(n - r, k - 1) / math.comb(n, k))
_picks("one pick too few", lambda r, n, k: 1 - math.comb(n - r, k - 1) / math.comb(n, k - 1))
_picks(
    "one pick too many", lambda r, n, k: 1 - math.comb(n - r, k + 1) / max(1, math.comb(n, k + 1))
)
_picks("in order here and without", lambda r, n, k: 1 - math.perm(n - r, k) / math.comb(n, k))
_picks("without an order here", lambda r, n, k: 1 - math.comb(n - r, k) / math.perm(n, k))
_picks("in percent", lambda r, n, k: 100 * (1 - math.comb(n - r, k) / math.comb(n, k)))

wrong(advantages, "the sum of the group")(lambda r: r - r.sum(1, keepdim=True))
wrong(advantages, "the median of the group")(lambda r: r - r.median(1, keepdim=True).values)
wrong(advantages, "the best of the group")(lambda r: r - r.amax(1, keepdim=True))
wrong(advantages, "the worst of the group")(lambda r: r - r.amin(1, keepdim=True))
wrong(advantages, "divided by the mean")(lambda r: r / r.mean(1, keepdim=True))
wrong(advantages, "the sign is lost")(lambda r: (r - r.mean(1, keepdim=True)).abs())
wrong(advantages, "is set to 0")(lambda r: (r - r.mean(1, keepdim=True)).relu())


@wrong(answer_loss, "the wrong way")
def shifted_back(logits, ids, prompt):
    return F.cross_entropy(logits[:, prompt:].flatten(0, 1), ids[:, prompt - 1 : -1].flatten())


@wrong(answer_loss, "which takes logits")
def softmax_first(logits, ids, prompt):
    p = logits[:, prompt - 1 : -1].softmax(-1)
    return F.cross_entropy(p.flatten(0, 1), ids[:, prompt:].flatten(), ignore_index=-1)


@wrong(answer_loss, "the last token of the answer is left out")
def without_the_last(logits, ids, prompt):
    about, target = logits[:, prompt - 1 : -2], ids[:, prompt:-1]
    return F.cross_entropy(about.flatten(0, 1), target.flatten(), ignore_index=-1)


@wrong(dpo_loss, "log-probabilities are divided")
def ratio_of_logarithms(won, lost, won_start, lost_start, beta):
    return -F.logsigmoid(beta * (won / won_start - lost / lost_start)).mean()


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
