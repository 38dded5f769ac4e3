"""Answers by somebody who had not read the checks."""

from collections import Counter

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("thinking_on_paper")


@right
def by_hand(a, b, carries):
    n = len(carries)
    A, B = str(a).zfill(n)[::-1], str(b).zfill(n)[::-1]
    digits = [(int(A[i]) + int(B[i]) + (carries[i - 1] if i else 0)) % 10 for i in range(n)]
    return carries[-1] * 10**n + sum(d * 10**i for i, d in enumerate(digits))


wrong("subtracts", "+ int(B[i])", "- int(B[i])")
wrong("carry of the same column", "(carries[i - 1] if i else 0)", "carries[i]")
wrong("two digits written", ") % 10 for", ") for")
wrong("last carry in front of units", "carries[i - 1] if i else 0", "carries[i - 1]")


@right
def checked_vote(answers, a, b):
    voters = [x for x in answers if x % 9 == (a % 9 + b % 9) % 9] or answers
    best = max(Counter(voters).values())
    return next(x for x in voters if voters.count(x) == best)


wrong("no check", " if x % 9 == (a % 9 + b % 9) % 9]", "]")
wrong("None if none passes", " or answers", "\n    if not voters: return None")
wrong("remainder by 10", "% 9", "% 10")
wrong("fails if none passes", " or answers", "")
wrong("rejects those that pass", "x % 9 ==", "x % 9 !=")
wrong("0 remainder passes always", "x % 9 == (a", "x % 9 == 0 or x % 9 == (a")


@right
def priced_advantages(right, lengths, cost):
    out = []
    for r, l in zip(right, lengths):
        pay = [float(x) - cost * float(n) for x, n in zip(r, l)]
        out.append([p - sum(pay) / len(pay) for p in pay])
    return torch.tensor(out)


wrong("mean of all", "sum(pay) / len(pay)", "(right.float() - cost * lengths).mean()")
wrong("cost added", "- cost", "+ cost")
wrong(
    "over the other axis",
    lambda right, lengths, cost: (lambda p: p - p.mean(0))(right.float() - cost * lengths),
)
wrong(
    "changes lengths",
    "    out = []",
    "    out = []; lengths *= 2; lengths //= 2; lengths += 0 * 1; right *= 1; lengths.mul_(-1).mul_(-1); lengths[0, 0] += 1",
) if False else None
wrong("share of tokens", "cost * float(n)", "cost * float(n) / float(l.sum())")
wrong("cost once per answer", "cost * float(n)", "cost")


@right
def by_hand(a, b, carries):
    number, incoming = 0, 0
    for i, carry in enumerate(carries):
        column = a // 10**i % 10 + b // 10**i % 10 + incoming
        number += column % 10 * 10**i
        incoming = carry
    number += incoming * 10 ** len(carries)
    return number


wrong("the true carries", "incoming = carry", "incoming = column // 10")


@right
def checked_vote(answers, a, b):
    wanted = (a % 9 + b % 9) % 9
    voters = [answer for answer in answers if answer % 9 == wanted]
    if not voters:
        voters = answers
    most = max(Counter(voters).values())
    for answer in voters:
        if voters.count(answer) == most:
            return answer


wrong("in a tie, the smallest wins", "for answer in voters:", "for answer in sorted(voters):")


@right
def priced_advantages(right, lengths, cost):
    rewards = right.float() - cost * lengths
    return rewards - rewards.mean(dim=1, keepdim=True)


wrong("the mean over the sums", "dim=1", "dim=0")


wrong("the baseline does not know the cost", "- rewards.mean(", "- right.float().mean(")


@right
def by_hand(a, b, carries):
    result, carried = 0, 0
    for i, carry in enumerate(carries):
        column = a // 10**i % 10 + b // 10**i % 10 + carried
        result += 10**i * (column % 10)
        carried = carry
    return result + carried * 10 ** len(carries)


wrong("the last carry in the column before", "10 ** len(carries)", "10 ** (len(carries) - 1)")


@right
def checked_vote(answers, a, b):
    rest = (a % 9 + b % 9) % 9
    votes = [answer for answer in answers if answer % 9 == rest] or list(answers)
    counts = Counter(votes)
    most = max(counts.values())
    for answer in votes:
        if counts[answer] == most:
            return answer


wrong(
    "the check is ignored: all vote",
    "[answer for answer in answers if answer % 9 == rest] or list(answers)",
    "list(answers)",
)


@right
def priced_advantages(right, lengths, cost):
    reward = right.float() - cost * lengths
    return reward - reward.mean(dim=1, keepdim=True)


wrong(
    "divided by the deviation too",
    "    return reward - reward.mean(dim=1, keepdim=True)",
    "    return (reward - reward.mean(dim=1, keepdim=True)) / (reward.std(dim=1, keepdim=True) + 1e-6)",
)


@right
def checked_vote(answers, a, b):
    passed = [x for x in answers if x % 9 == (a % 9 + b % 9) % 9]
    return Counter(passed or answers).most_common(1)[0][0]


wrong("the digits, added once", "x % 9 ==", "sum(map(int, str(x))) ==")
wrong("a product", "a % 9 + b % 9", "a % 9 * (b % 9)")
wrong(
    "a tie goes to the larger",
    "Counter(passed or answers).most_common(1)[0][0]",
    "max(passed or answers, key=lambda x: ((passed or answers).count(x), x))",
)
wrong("answer and its count", "[0][0]", "[0]")


@right
def priced_advantages(right, lengths, cost):
    rewards = right.float() - cost * lengths
    return rewards - rewards.mean(dim=1, keepdim=True)


wrong("a share of the reward", "right.float() - cost * lengths", "right * (1 - cost) ** lengths")
wrong("the means meet the columns", ", keepdim=True", "")


@right
def by_hand(a, b, carries):
    columns = len(carries)
    top, bottom = (str(a).zfill(columns)[::-1], str(b).zfill(columns)[::-1])
    digits, incoming = ([], 0)
    for x, y, carry in zip(top, bottom, carries):
        digits.append(str((int(x) + int(y) + incoming) % 10))
        incoming = carry
    digits.append(str(incoming))
    return int("".join(reversed(digits)))


wrong("each carry goes into its own column", "+ incoming", "+ carry")


@right
def checked_vote(answers, a, b):
    passed = []
    for answer in answers:
        if (a % 9 + b % 9 - answer % 9) % 9 == 0:
            passed.append(answer)
    if not passed:
        passed = answers
    [(winner, _)] = Counter(passed).most_common(1)
    return winner


wrong(
    "in a tie the largest answer wins",
    "    [(winner, _)] = Counter(passed).most_common(1)",
    "    counts = Counter(passed)\n    winner = max(counts, key=lambda answer: (counts[answer], answer))",
)


@right
def priced_advantages(right, lengths, cost):
    paid = right.float() - cost * lengths.float()
    mean = paid.sum(dim=1) / paid.shape[1]
    return paid - mean[:, None]


wrong(
    "only right answers pay for their tokens",
    "- cost * lengths.float(",
    "* (1 - cost * lengths.float()",
)
