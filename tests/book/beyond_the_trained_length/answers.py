"""Answers to the exercises of book/beyond_the_trained_length.ipynb."""

import math

import torch

from book.beyond_the_trained_length.checks import false_twin, slowed, three_back_bias
from companion.nn import RotaryScaling, alibi_bias
from tests.book.answers import right, wrong

# The false twin


@right(false_twin)
def in_a_loop(distance, speeds, longest):
    def agreement(other):
        return sum(math.cos(speed * (other - distance)) for speed in speeds.tolist())

    return max(range(distance + 8, longest + 1), key=agreement)


@right(false_twin)
def by_arrows(distance, speeds, longest):
    far = torch.arange(longest + 1)[:, None] * speeds
    hands = torch.cat([far.sin(), far.cos()], dim=1)
    return (hands @ hands[distance])[distance + 8 :].argmax() + distance + 8


@wrong(false_twin, "it returned None, not always")
def nothing_where_one_distance_is_left(distance, speeds, longest):
    return in_a_loop(distance, speeds, longest) if longest > distance + 8 else None


@wrong(false_twin, "the longest distance counts")
def without_the_last(distance, speeds, longest):
    return in_a_loop(distance, speeds, longest - 1)


# A bias of your own


def distance(length, device):
    position = torch.arange(length, device=device)
    return position[:, None] - position


@right(three_back_bias)
def absolute_value(length, device):
    rates = torch.tensor([0.5, 1, 2, 4], device=device)[:, None, None]
    return -rates * (distance(length, device) - 3).abs()


@right(three_back_bias)
def parabola_for_one_head_and_causal(length, device):
    far = distance(length, device)
    return (-((far - 3.0) ** 2)).masked_fill(far < 0, -torch.inf)[None]


@right(three_back_bias)
def all_or_nothing(length, device):
    return torch.where(distance(length, device) == 3, 0.0, -10.0).expand(4, -1, -1)


@right(three_back_bias)
def symmetric_for_what_is_hidden(length, device):
    return -(distance(length, device.type).abs() - 3).abs()[None]


@right(three_back_bias)
def no_number_for_what_is_hidden(length, device):
    return -((distance(length, device) + 1) / 4).log().abs()[None]


@wrong(three_back_bias, "the bias is smallest at distance 3")
def one_rate_of_two_is_negative(length, device):
    rates = torch.tensor([1, -1], device=device)[:, None, None]
    return -rates * (distance(length, device) - 3).abs()


@wrong(three_back_bias, "not made on the device")
def always_on_the_cpu(length, device):
    distance = torch.arange(length)[:, None] - torch.arange(length)
    return -torch.ones(2, 1, 1) * (distance - 3).abs()


@wrong(three_back_bias, "largest at distance 0")
def alibi(length, device):
    return alibi_bias(4, length, device=device)


@wrong(three_back_bias, "smallest at distance 3")
def not_negative(length, device):
    return -absolute_value(length, device)


@wrong(three_back_bias, "three places ahead")
def three_ahead(length, device):
    return -(distance(length, device) + 3.0).abs().expand(4, -1, -1)


@wrong(three_back_bias, "largest at distance 2; it should be at 3")
def off_by_one(length, device):
    return -(distance(length, device) - 2.0).abs().expand(4, -1, -1)


@wrong(three_back_bias, "largest at 2 distances at once, [4, 2]")
def between_two_and_four(length, device):
    return -((distance(length, device) - 3.0).abs() - 1).abs().expand(2, -1, -1)


@wrong(three_back_bias, "distances at once")
def no_negative_distances(length, device):
    return -(distance(length, device) - 3.0).clamp(min=0).expand(4, -1, -1)


@wrong(three_back_bias, "no preference at all")
def one_head_with_rate_zero(length, device):
    return absolute_value(length, device) * torch.tensor([1.0, 1, 1, 0])[:, None, None]


@wrong(three_back_bias, "returned shape (7, 7), expected (heads, 7, 7)")
def no_heads(length, device):
    return absolute_value(length, device)[0]


@wrong(three_back_bias, "returned shape (4, 32, 32), expected (heads, 7, 7)")
def trained_length_only(length, device):
    return absolute_value(32, device)


@wrong(three_back_bias, "the first three queries")
def logarithm(length, device):
    return -((distance(length, device) - 3).abs() / 0.0).expand(4, -1, -1)


@wrong(three_back_bias, "returned ndarray")
def in_numpy(length, device):
    return absolute_value(length, device).numpy()


@wrong(three_back_bias, "each head has a distance of its own")
def a_distance_for_each_head(length, device):
    i = torch.arange(length, device=device)
    distance = i[:, None] - i
    return -torch.stack([(distance - head).abs().float() for head in range(4)])


# Slow hands only


@right(slowed)
def the_packages(speeds, factor, trained):
    scaling = RotaryScaling(factor=factor, original_len=trained, slow_turns=0.5, fast_turns=1.0)
    return scaling(speeds)


@right(slowed)
def one_by_one(speeds, factor, trained):
    found = []
    for speed in speeds.tolist():
        turns = speed * trained / (2 * math.pi)
        if turns >= 1:
            found.append(speed)
        elif turns <= 0.5:
            found.append(speed / factor)
        else:
            kept = 2 * turns - 1
            found.append(speed * (kept + (1 - kept) / factor))
    return found


@wrong(slowed, "of 0.6 turns a fifth")
def geometric_mean(speeds, factor, trained):
    kept = (2 * speeds * trained / (2 * math.pi) - 1).clamp(0, 1)
    return speeds**kept * (speeds / factor) ** (1 - kept)
