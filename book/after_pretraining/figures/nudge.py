"""One group of answers, its rewards, and what steps towards them do to its probabilities."""

from collections.abc import Sequence

from book.page.live import LiveFigure, table


def nudge_figure(
    request: str, answers: Sequence[str], chances: Sequence[float], rewards: Sequence[float]
) -> LiveFigure:
    """A policy over a few fixed answers, each with a logit of its own, and steps up its rewards.

    Nothing is sampled: the page moves the logits by 0.2 times the gradient of
    sum(advantage * log p) - beta * KL(p || p0), where the sum counts every answer once, p is the
    softmax of the logits and p0 the first p. The advantage is the reward minus the group's mean, or
    the reward itself where the reader leaves the mean out. p0 is the chance of an answer to the
    power of one over its tokens (its words and the end), as a share: by whole chances, the group
    would nearly always belong to one or two answers.

    Args:
        request: what was asked for.
        answers: what was written, two to eight of them.
        chances: how probable they are, or how much so among each other, above 0.
        rewards: 1 for an answer that passes, 0 for one that does not; the reader may change them.

    Raises:
        ValueError: other numbers of answers, a chance that is not above 0, or another reward.
    """
    if not 2 <= len(answers) <= 8 or not len(answers) == len(chances) == len(rewards):
        sizes = len(answers), len(chances), len(rewards)
        raise ValueError(f"two to eight answers need as many chances and rewards, got {sizes}")
    if min(chances) <= 0:
        raise ValueError(f"every chance must be above 0, got {min(chances)}")
    if not set(rewards) <= {0, 1}:
        raise ValueError(f"every reward must be 0 or 1, got {list(rewards)}")
    per_token = [
        chance ** (1 / (len(words.split()) + 1))
        for words, chance in zip(answers, chances, strict=True)
    ]
    shares = [chance / sum(per_token) for chance in per_token]
    mean = sum(rewards) / len(rewards)
    rows = [
        (words, share, float(reward), reward - mean)
        for words, share, reward in zip(answers, shares, rewards, strict=True)
    ]
    return LiveFigure(
        __file__,
        {"request": request, "answers": list(answers), "chances": shares},
        {"step": 0, "moves": 0, "beta": 0.0, "baseline": True}
        | {"rewards": [int(reward) for reward in rewards]},
        table(f"Answers to “{request}”", ["", "probability", "reward", "advantage"], rows),
    )
