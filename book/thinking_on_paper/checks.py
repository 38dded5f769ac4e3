"""Checks for the exercises of book/thinking_on_paper.ipynb."""

from collections import Counter

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def by_hand(answer) -> str:
    """Check `by_hand(a, b, carries)` -> the number that is written by who trusts the carries."""
    climb(BY_HAND, answer)
    return "true carries and false ones, three columns and four"


def _by_hand(a, b, carries):
    number = 0
    for i, carry in enumerate([0, *carries[:-1]]):
        column = a // 10**i % 10 + b // 10**i % 10 + carry
        number += column % 10 * 10**i
    return number + carries[-1] * 10 ** len(carries)


@ladder(_by_hand)
def BY_HAND(by_hand):
    """no column carries, and the notes say so"""
    carries = [0, 0, 0]
    yield by_hand(123, 234, carries)

    """the carry of the units is added to the tens, whether it is true or not"""
    yield by_hand(162, 253, [1, 0, 0])

    """the carry of the tens is added to the hundreds, not to the tens"""
    yield by_hand(123, 234, [0, 1, 0])

    """the last carry is the first digit of the answer, and no column gets it"""
    yield by_hand(162, 253, [0, 0, 1])

    """a column that makes 15 leaves 5, and its carry is what the notes say: none"""
    yield by_hand(126, 239, [0, 0, 0])

    """9 and a carry leave 0, and no carry but the written ones"""
    yield by_hand(152, 247, [1, 0, 0])

    """four columns have four carries"""
    yield by_hand(4567, 8214, [1, 1, 0, 1])


BY_HAND.mistakes |= {
    "this is the true sum: the carries that are given must be used": lambda a, b, carries: a + b,
    "the carries are taken from the left; the first is that of the units": edited(
        _by_hand, "[0, *carries[:-1]]", "[0, *carries[:0:-1]]", "+ carries[-1] *", "+ carries[0] *"
    ),
    "a carry is added to its own column; it belongs to the next one": edited(
        _by_hand, "enumerate([0, *carries[:-1]])", "enumerate(carries)"
    ),
    "a column keeps two digits; only its last one is written": edited(
        _by_hand, "column % 10 *", "column *"
    ),
    "the last carry is left out; it is the first digit": edited(_by_hand, "carries[-1] *", "0 *"),
    "the carries are not added to the columns": edited(_by_hand, "10 + carry", "10"),
    "the carries are taken away": edited(_by_hand, "10 + carry", "10 - carry"),
    "the units get the last carry, as `carries[-1]` is one; nothing is carried into them": edited(
        _by_hand, "[0, *carries[:-1]]", "[carries[-1], *carries[:-1]]"
    ),
    "the digits are in reverse order: that of the units is the last one": edited(
        _by_hand, "column % 10 * 10**i", "column % 10 * 10 ** (len(carries) - 1 - i)"
    ),
}


@exercise
def checked_vote(answers) -> str:
    """Check `checked_vote(answers, a, b)` -> the vote among the answers that pass the nines."""
    climb(CHECKED_VOTE, answers)
    return (
        "votes that the check changes and votes that it does not, ties, and no answer that passes"
    )


def _checked_vote(answers, a, b):
    passed = [answer for answer in answers if (a + b - answer) % 9 == 0]
    counts = Counter(passed or answers)
    return max(counts, key=counts.get)


@ladder(_checked_vote)
def CHECKED_VOTE(checked_vote):
    """the most frequent answer passes, too"""
    answers = [1239, 1245, 1245]
    yield checked_vote(answers, 456, 789)

    """the most frequent answer fails, and has no vote"""
    answers = [342, 340, 342, 342, 340]
    yield checked_vote(answers, 111, 229)

    """the digits of 349 make 16, and 1 and 6 make 7, as 3, 4 and 0 do: it passes, and is the most
    frequent"""
    yield checked_vote([340, 349, 354, 349, 342], 111, 229)

    """of the answers that pass, the most frequent one: not the first, nor the last"""
    answers = [1236, 1239, 1245, 1200, 1239, 1245, 1233, 1236, 1239, 1245, 1239, 1263]
    yield checked_vote(answers, 456, 789)

    """an answer may pass and be wrong; the check knows remainders, not the sum"""
    answers = [1236, 1245, 1254, 1254, 1235, 1245, 1235, 1254, 1235, 1235] + 5 * [1239]
    yield checked_vote(answers, 456, 789)

    """no answer passes: the most frequent of all"""
    answers = [1239, 1239, 1235, 1235, 1235, 1246, 1247]
    yield checked_vote(answers, 456, 789)

    """a tie: the answer that came first"""
    answers = [1245, 1236, 1263, 1254, 1245, 1236, 1263, 1254, 1272]
    yield checked_vote(answers, 456, 789)

    """a sum that 9 divides"""
    answers = [854, 855, 864, 864, 846]
    yield checked_vote(answers, 638, 217)


def _vote(answers):
    counts = Counter(answers)
    return max(counts, key=counts.get)


CHECKED_VOTE.mistakes |= {
    "all vote, as if none were checked or passed; what fails has no vote": lambda answers, a, b: (
        _vote(answers)
    ),
    "the first answer that passes is taken, however often others come; let them vote": edited(
        _checked_vote, "return max(counts, key=counts.get)", "return (passed or answers)[0]"
    ),
    "the last answer that passes is taken; let those that pass vote": edited(
        _checked_vote, "return max(counts, key=counts.get)", "return (passed or answers)[-1]"
    ),
    "the sum itself is used; the check knows remainders by 9 only": edited(
        _checked_vote, "(a + b - answer) % 9 == 0", "answer == a + b"
    ),
    "the remainders of both are added, and not reduced again": edited(
        _checked_vote, "(a + b - answer) % 9 == 0", "a % 9 + b % 9 == answer % 9"
    ),
    "these are remainders by 10; the check takes those by 9": edited(_checked_vote, "% 9", "% 10"),
    "this is the rarest answer; take the most frequent": edited(_checked_vote, "max(", "min("),
    "in a tie the smallest number is taken; take the one that came first": edited(
        _checked_vote, "Counter(passed or answers)", "Counter(sorted(passed or answers))"
    ),
    "in a tie the last one is taken; take the one that came first": edited(
        _checked_vote, "Counter(passed or answers)", "Counter((passed or answers)[::-1])"
    ),
    "if none passes, all vote": edited(_checked_vote, "passed or answers", "passed or answers[:1]"),
    "where none passes, the last answer is taken": edited(
        _checked_vote, "passed or answers", "passed or answers[-1:]"
    ),
    "the digits of an answer are added once; where that makes two digits, add these, too": edited(
        _checked_vote, "(a + b - answer) % 9 == 0", "sum(map(int, str(answer))) == (a + b) % 9"
    ),
    "the remainders are multiplied; in the check of a sum they are added": edited(
        _checked_vote, "a + b", "a * b"
    ),
    "those that fail vote; those that pass should": edited(_checked_vote, "== 0", "!= 0"),
    "the answer comes with how often it came; return it alone": edited(
        _checked_vote, "max(counts, key=counts.get)", "counts.most_common(1)[0]"
    ),
    "in a tie the largest number is taken; take the one that came first": edited(
        _checked_vote, "Counter(passed or answers)", "Counter(sorted(passed or answers)[::-1])"
    ),
}


@exercise
def priced_advantages(answer) -> str:
    """Check `priced_advantages(right, lengths, cost)`, all (N, G) but the cost -> (N, G)."""
    climb(PRICED_ADVANTAGES, answer)
    return "no price and several, one group and two, groups in which all are right"


def _priced_advantages(right, lengths, cost):
    reward = right - cost * lengths
    return reward - reward.mean(1, keepdim=True)


@ladder(_priced_advantages)
def PRICED_ADVANTAGES(priced_advantages):
    """tokens are free: right or wrong, minus the mean of the group, and divided by nothing"""
    right = torch.tensor([[1.0, 0, 0, 1, 0]])
    lengths = torch.tensor([[9.0, 9, 6, 6, 6]])
    yield priced_advantages(right, lengths, 0.0)

    """as many groups as answers: the groups are the rows"""
    right = torch.tensor([[1.0, 0], [1, 1]])
    lengths = torch.tensor([[9.0, 5], [6, 8]])
    yield priced_advantages(right, lengths, 0.5)

    """all are right: those who wrote less are ahead"""
    right = torch.ones(2, 4)
    lengths = torch.tensor([[9.0, 6, 6, 6], [8, 5, 9, 6]])
    yield priced_advantages(right, lengths, 0.125)

    """wrong answers pay for their tokens as well"""
    right = torch.tensor([[0.0, 1, 0, 0]])
    lengths = torch.tensor([[9.0, 9, 6, 5]])
    yield priced_advantages(right, lengths, 0.125)

    """each group has a mean of its own"""
    right = torch.tensor([[1.0, 0, 1], [0, 0, 1]])
    lengths = torch.tensor([[9.0, 6, 6], [6, 9, 5]])
    yield priced_advantages(right, lengths, 0.25)


PRICED_ADVANTAGES.mistakes |= {
    "no baseline is subtracted; take the mean of each group away": edited(
        _priced_advantages, "- reward.mean(1, keepdim=True)", "- 0"
    ),
    "the deviation of the group divides it, as in GRPO; only the mean is subtracted": edited(
        _priced_advantages,
        "return reward - reward.mean(1, keepdim=True)",
        "return (reward - reward.mean(1, keepdim=True)) / (reward.std(1, keepdim=True) + 1e-6)",
    ),
    "tokens are paid for, not charged": edited(_priced_advantages, "- cost", "+ cost"),
    "only right answers are charged; every answer pays for its tokens": edited(
        _priced_advantages, "cost * lengths", "cost * lengths * right"
    ),
    "the lengths make no difference here: an answer pays the cost for each of its tokens": edited(
        _priced_advantages, "- cost * lengths", "- cost"
    ),
    "one mean is taken for all groups; each has its own": edited(
        _priced_advantages, "mean(1, keepdim=True)", "mean()"
    ),
    "the mean is that of a column; a group is a row": edited(
        _priced_advantages, "mean(1,", "mean(0,"
    ),
    "the baseline is the mean without the price; subtract that of what is paid": edited(
        _priced_advantages, "- reward.mean", "- right.mean"
    ),
    "rewards below 0 become 0; they stay what they are": edited(
        _priced_advantages, "right - cost * lengths", "(right - cost * lengths).clamp(min=0)"
    ),
    "each token takes the share `cost` of what is left; it takes `cost` itself": edited(
        _priced_advantages, "right - cost * lengths", "right * (1 - cost) ** lengths"
    ),
    "the means of the groups are taken from the columns; a mean has to keep its axis, as with "
    "keepdim=True": edited(_priced_advantages, "mean(1, keepdim=True)", "mean(1)"),
}
