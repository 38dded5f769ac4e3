"""Answers to the exercises of book/thinking_on_paper.ipynb."""

from collections import defaultdict

import torch

from book.thinking_on_paper.checks import by_hand, checked_vote, priced_advantages
from tests.book.answers import right, wrong

# By hand, with these carries


@right(by_hand)
def digit_by_digit(a, b, carries):
    n = len(carries)
    top, bottom = (f"{x:0{n}d}"[::-1] for x in (a, b))
    into = 0
    text = ""
    for upper, lower, carry in zip(top, bottom, carries, strict=True):
        text = str(int(upper) + int(lower) + into)[-1] + text
        into = carry
    return int(str(into) + text)


@right(by_hand)
def from_the_true_columns(a, b, carries):
    total, into, place = 0, 0, 1
    for carry in carries:
        total += (a % 10 + b % 10 + into) % 10 * place
        a, b, into, place = a // 10, b // 10, carry, 10 * place
    return torch.tensor(total + into * place)


@wrong(by_hand, "IndexError")
def one_carry_too_many(a, b, carries):
    number = 0
    for i in range(len(carries) + 1):
        number += (a // 10**i + b // 10**i + carries[i]) % 10 * 10**i
    return number


# A vote with a check


def nine(number):
    return sum(map(int, str(number))) % 9


@right(checked_vote)
def with_sums_of_digits(answers, a, b):
    passed = [x for x in answers if nine(x) == (nine(a) + nine(b)) % 9]
    voters = passed if passed else answers
    return max(voters, key=lambda x: (voters.count(x), -voters.index(x)))


@right(checked_vote)
def counted_in_a_dictionary(answers, a, b):
    for those in ([x for x in answers if x % 9 == (a + b) % 9], answers):
        votes = defaultdict(int)
        for x in those:
            votes[x] += 1
        if votes:
            return sorted(votes, key=votes.get, reverse=True)[0]


@wrong(checked_vote, "of the answers that pass, the most frequent")
def checked_after_the_vote(answers, a, b):
    best = max(answers, key=answers.count)
    if (a + b - best) % 9 == 0:
        return best
    return next((x for x in answers if (a + b - x) % 9 == 0), best)


# A price for each token


@right(priced_advantages)
def in_loops(right, lengths, cost):
    rows = []
    for hits, tokens in zip(right.tolist(), lengths.tolist(), strict=True):
        paid = [hit - cost * n for hit, n in zip(hits, tokens, strict=True)]
        rows.append([x - sum(paid) / len(paid) for x in paid])
    return rows


@right(priced_advantages)
def each_part_by_itself(right, lengths, cost):
    hits = right - right.mean(dim=-1)[:, None]
    tokens = lengths - lengths.mean(dim=-1)[:, None]
    return hits - cost * tokens


@wrong(checked_vote, "all vote, as if none were checked or passed")
def vote_of_those_that_9_divides_so_often(answers, a, b):
    passed = [x for x in answers if x // 9 == (a + b) % 9] or answers
    return max(passed, key=passed.count)
