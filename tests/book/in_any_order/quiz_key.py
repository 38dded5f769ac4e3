"""Right options of the quiz on writing in any order, computed."""

import torch

from book.in_any_order.checks import _any_order_loss, _lost_in_one_pass, _who_wrote


def two_sentences() -> str:
    joint = torch.tensor([[0.5, 0.0], [0.0, 0.5]])
    return f"{_lost_in_one_pass(joint):.2f}, "


def weight() -> str:
    """What one nat more in one of the two hidden words adds."""
    hidden = torch.arange(8)[None] < 2
    losses = torch.ones(2, 1, 8)
    losses[1, 0, 0] += 1
    words = torch.ones(1, 8, dtype=torch.bool)
    less, more = (_any_order_loss(row, hidden, words) for row in losses)
    return f"{more - less:g}"


def orders() -> str:
    """Whether two words cost the same in both orders, by a random table of sentences."""
    joint = torch.rand(4, 5, generator=torch.Generator().manual_seed(0)).double()
    joint /= joint.sum()
    first, second = joint.sum(1, keepdim=True), joint.sum(0, keepdim=True)
    left, right = first * (joint / first), second * (joint / second)
    if torch.allclose(left, right):
        return "Both write the same"
    return "Left" if (joint * left.log()).sum() > (joint * right.log()).sum() else "Random"


def passes() -> str:
    blanks, count = 11, 0
    while blanks > 0:
        blanks, count = blanks - 3, count + 1
    return str(count)


def bayes() -> str:
    """Whether each author's next words, asked one after the other, name the author of each book."""
    log_p = torch.full((5, 5), 0.01).fill_diagonal_(0.96).log()
    found = _who_wrote(log_p, torch.zeros(5)).argmax(1)
    return "By asking after each author" if found.tolist() == [*range(5)] else "Not at all"
