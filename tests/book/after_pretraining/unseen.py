"""Answers by somebody who had not read the checks."""

from copy import deepcopy
from math import comb

import torch
import torch.nn.functional as F

from tests.book.unseen import answers_to

right, wrong = answers_to("after_pretraining")


@right
def pass_at_k(right, tries, k):
    none = 1.0
    for i in range(k):
        none *= max(tries - right - i, 0) / (tries - i)
    return 1 - none


wrong("with replacement", lambda right, tries, k: 1 - (1 - right / tries) ** k)
wrong("all pass", lambda right, tries, k: comb(right, k) / comb(tries, k))
wrong("one fewer left", "/ (tries - i)", "/ (tries - i + 1)")


@right
def advantages(rewards):
    return torch.stack([row - row.sum() / len(row) for row in rewards])


wrong("mean of all", "row.sum() / len(row)", "rewards.mean()")
wrong("leave one out", "row - row.sum() / len(row)", "row - (row.sum() - row) / (len(row) - 1)")
wrong("sum of group", "row.sum() / len(row)", "row.sum()")
wrong("first group only", "row.sum() / len(row)", "rewards[0].mean()")
wrong("divided by G - 1", "/ len(row)", "/ (len(row) - 1)")


@right
def answer_loss(logits, ids, prompt):
    terms = []
    for b in range(ids.shape[0]):
        for t in range(prompt, ids.shape[1]):
            if ids[b, t] >= 0:
                terms.append(logits[b, t - 1].logsumexp(0) - logits[b, t - 1, ids[b, t]])
    return torch.stack(terms).mean()


wrong("first token of the answer missing", "range(prompt, ids", "range(prompt + 1, ids")
wrong("prompt counts", "range(prompt, ids", "range(1, ids")
wrong("sum", ".mean()", ".sum()")
wrong("ignores token 0, too", "ids[b, t] >= 0", "ids[b, t] > 0")
wrong(
    "sign",
    ".logsumexp(0) - logits[b, t - 1, ids[b, t]]",
    ".logsumexp(0) * -1 + logits[b, t - 1, ids[b, t]]",
)


@right
def dpo_loss(won, lost, won_start, lost_start, beta):
    margin = beta * (won - lost) - beta * (won_start - lost_start)
    return torch.logaddexp(torch.zeros_like(margin), -margin).sum() / len(margin)


wrong(
    "log of sigmoid",
    "torch.logaddexp(torch.zeros_like(margin), -margin).sum() / len(margin)",
    "-torch.sigmoid(margin).log().mean()",
)
wrong("no beta", "beta * ", "")
wrong(
    "beta outside",
    "beta * (won - lost) - beta * (won_start - lost_start)",
    "(won - lost) - (won_start - lost_start)",
    ".sum() /",
    ".sum() * beta /",
)
wrong(
    "divides by beta",
    "beta * (won - lost) - beta * (won_start - lost_start)",
    "((won - lost) - (won_start - lost_start)) / beta",
)
wrong(
    "each gain by itself",
    "torch.logaddexp(torch.zeros_like(margin), -margin).sum() / len(margin)",
    "(F.softplus(-beta * (won - won_start)) + F.softplus(beta * (lost - lost_start))).mean()",
)


@right
def rejection_round(model, prompts, judge, tries, length, epochs, rate):
    rows = []
    with torch.no_grad():
        for prompt in prompts:
            ids = prompt.expand(tries, -1)
            for _ in range(length):
                ids = torch.cat([ids, torch.multinomial(model(ids)[:, -1].softmax(-1), 1)], 1)
            rows += [r for r in ids if judge(prompt.tolist(), r[len(prompt) :].tolist())]
    student = deepcopy(model)
    if not rows:
        return student
    ids, P = torch.stack(rows), prompts.shape[1]
    adam = torch.optim.Adam(student.parameters(), lr=rate)
    for _ in range(epochs):
        logits = student(ids[:, :-1])[:, P - 1 :]
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, P:].flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
    return student


wrong("gradients not cleared", "adam.zero_grad()", "pass")
wrong("trains the model itself", "deepcopy(model)", "model")
wrong("one token too few", "range(length)", "range(length - 1)")
wrong("returns the old one", "    return student\n", "    return model\n") if False else None
wrong("first prompt only", "for prompt in prompts", "for prompt in prompts[:1]")


@right
def pass_at_k(right, tries, k):
    fails = tries - right
    nothing = comb(fails, k)
    return 1 - nothing / comb(tries, k)


wrong(
    "exactly one passes",
    "1 - nothing / comb(tries, k)",
    "right * comb(fails, k - 1) / comb(tries, k)",
)


@right
def advantages(rewards):
    means = rewards.mean(dim=1, keepdim=True)
    return rewards - means


wrong("mean of the whole batch", "rewards.mean(dim=1, keepdim=True)", "rewards.mean()")


@right
def answer_loss(logits, ids, prompt):
    about = logits[:, prompt - 1 : -1]
    asked = ids[:, prompt:]
    return F.cross_entropy(about.flatten(0, 1), asked.flatten(), ignore_index=-1)


wrong("no shift", "prompt - 1 : -1", "prompt:")

wrong(
    "the first token of the answer is left out",
    "prompt - 1 : -1",
    "prompt : -1",
    "ids[:, prompt:]",
    "ids[:, prompt + 1 :]",
)


@right
def dpo_loss(won, lost, won_start, lost_start, beta):
    gain_won = won - won_start
    gain_lost = lost - lost_start
    margin = beta * (gain_won - gain_lost)
    return F.softplus(-margin).mean()


wrong(
    "mean of the margins before the log-sigmoid",
    "F.softplus(-margin).mean()",
    "F.softplus(-margin.mean())",
)


@right
def rejection_round(model, prompts, judge, tries, length, epochs, rate):
    P = prompts.shape[1]
    ids = prompts.repeat_interleave(tries, dim=0)
    with torch.no_grad():
        for _ in range(length):
            p = torch.softmax(model(ids)[:, -1], dim=-1)
            ids = torch.cat([ids, torch.multinomial(p, 1)], dim=1)
    passed = [judge(row[:P].tolist(), row[P:].tolist()) for row in ids]
    good = ids[torch.tensor(passed)]
    new = deepcopy(model)
    if len(good) == 0:
        return new
    optimizer = torch.optim.Adam(new.parameters(), lr=rate)
    for _ in range(epochs):
        logits = new(good)[:, P - 1 : -1]
        loss = F.cross_entropy(logits.flatten(0, 1), good[:, P:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return new


wrong("the judge gets prompt and answer as the answer", "row[P:].tolist()", "row.tolist()")


@right
def advantages(rewards):
    means = rewards.sum(dim=1) / rewards.shape[1]
    return rewards - means.unsqueeze(1)


wrong(
    "one mean for all groups",
    "rewards.sum(dim=1) / rewards.shape[1]",
    "rewards.mean().repeat(len(rewards))",
)


@right
def answer_loss(logits, ids, prompt):
    targets = ids[:, prompt:]
    log_p = F.log_softmax(logits[:, prompt - 1 : -1], dim=-1)
    there = targets != -1
    picked = log_p.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -picked[there].mean()


wrong(
    "the mean of the answers' means",
    "picked[there].mean()",
    "((picked * there).sum(1) / there.sum(1)).mean()",
)


@right
def rejection_round(model, prompts, judge, tries, length, epochs, rate):
    student = deepcopy(model)
    rows = prompts.repeat_interleave(tries, dim=0)
    start = prompts.shape[1]
    with torch.no_grad():
        for _ in range(length):
            p = model(rows)[:, -1].softmax(dim=-1)
            rows = torch.cat([rows, torch.multinomial(p, 1)], dim=1)
    verdicts = [bool(judge(r[:start].tolist(), r[start:].tolist())) for r in rows]
    good = rows[torch.tensor(verdicts)]
    if len(good) == 0:
        return student
    optimizer = torch.optim.Adam(student.parameters(), lr=rate)
    for _ in range(epochs):
        logits = student(good)[:, start - 1 : -1]
        loss = F.cross_entropy(logits.flatten(0, 1), good[:, start:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return student


wrong("the model itself is trained", "deepcopy(model)", "model")


@right
def pass_at_k(right, tries, k):
    if tries - right < k:
        return 1.0
    misses = 1.0
    for i in range(tries - right + 1, tries + 1):
        misses *= 1 - k / i
    return 1 - misses


wrong("the product ends one too low", "tries + 1", "tries")


@right
def advantages(rewards):
    G = rewards.shape[1]
    baseline = rewards.sum(dim=1, keepdim=True) / G
    return rewards - baseline


wrong(
    "leaves each answer out of its baseline",
    "rewards.sum(dim=1, keepdim=True) / G",
    "(rewards.sum(dim=1, keepdim=True) - rewards) / max(G - 1, 1)",
)


@right
def dpo_loss(won, lost, won_start, lost_start, beta):
    margin = (won - won_start) - (lost - lost_start)
    return -F.logsigmoid(beta * margin).mean()


wrong("hinge", "-F.logsigmoid(beta * margin)", "F.relu(1 - beta * margin)")


@right
def pass_at_k(right, tries, k):
    hits = sum(comb(right, j) * comb(tries - right, k - j) for j in range(1, k + 1))
    return hits / comb(tries, k)


wrong(
    "gives the probability that nothing passes",
    "    hits = sum(comb(right, j) * comb(tries - right, k - j) for j in range(1, k + 1))\n    return hits / comb(tries, k)",
    "    return comb(tries - right, k) / comb(tries, k)",
)


@right
def advantages(rewards):
    G = rewards.shape[1]
    return torch.stack([group - group.sum() / G for group in rewards])


wrong(
    "leaves each reward out of the mean that is subtracted from it",
    "    return torch.stack([group - group.sum() / G for group in rewards])",
    "    others = (rewards.sum(1, keepdim=True) - rewards) / (G - 1)\n    return rewards - others",
)


@right
def dpo_loss(won, lost, won_start, lost_start, beta):
    gain_of_won = won - won_start
    gain_of_lost = lost - lost_start
    return F.softplus(beta * (gain_of_lost - gain_of_won)).mean()


wrong(
    "logarithm of a sigmoid that becomes 0: infinite far out of order",
    "    gain_of_won = won - won_start\n    gain_of_lost = lost - lost_start\n    return F.softplus(beta * (gain_of_lost - gain_of_won)).mean()",
    "    margin = beta * (won - won_start - (lost - lost_start))\n    return -torch.log(torch.sigmoid(margin)).mean()",
)
