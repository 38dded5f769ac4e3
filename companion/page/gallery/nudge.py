"""One group of answers, its rewards, and what steps towards them do to its probabilities."""

from collections.abc import Sequence

from companion.page.live import LiveFigure, table


def nudge_figure(
    demand: str, answers: Sequence[str], chances: Sequence[float], rewards: Sequence[float]
) -> LiveFigure:
    """REINFORCE on a group of answers, each with a logit of its own, by the exact gradient.

    A step adds to each logit the gradient of sum(advantage * log p) - beta * KL(p || p0) over the
    answers of the group, where p is the softmax of the logits and p0 the first p.

    Args:
        demand: what was asked for.
        answers: what was written, two to eight of them.
        chances: how probable they are among each other, above 0; they are made to sum to 1.
        rewards: 1 for an answer that passes, 0 for one that does not.

    Raises:
        ValueError: other numbers of answers, or a chance that is not above 0.
    """
    if not 2 <= len(answers) <= 8 or not len(answers) == len(chances) == len(rewards):
        sizes = len(answers), len(chances), len(rewards)
        raise ValueError(f"two to eight answers need as many chances and rewards, got {sizes}")
    if min(chances) <= 0:
        raise ValueError(f"every chance must be above 0, got {min(chances)}")
    shares = [chance / sum(chances) for chance in chances]
    mean = sum(rewards) / len(rewards)
    rows = [
        (words, share, float(reward), reward - mean)
        for words, share, reward in zip(answers, shares, rewards, strict=True)
    ]
    return LiveFigure(
        "nudge",
        {"demand": demand, "answers": list(answers), "chances": shares},
        {"step": 0, "moves": 0, "beta": 0.0, "baseline": True}
        | {"rewards": [int(reward) for reward in rewards]},
        table(f"Answers to “{demand}”", ["", "probability", "reward", "advantage"], rows),
    )
