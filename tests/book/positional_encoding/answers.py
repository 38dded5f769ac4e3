"""Answers to the exercises of book/positional_encoding.ipynb."""

import torch

from book.positional_encoding.checks import rotate, three_back_bias, to_halves
from companion.nn import RotaryEmbedding, alibi_bias
from tests.book.answers import right, wrong

# 1. Another layout


@right(to_halves)
def by_slices(encoding):
    return torch.cat([encoding[:, 0::2], encoding[:, 1::2]], dim=-1)


@right(to_halves)
def by_reshape(encoding):
    return encoding.unflatten(-1, (-1, 2)).transpose(-2, -1).flatten(-2)


@right(to_halves)
def by_index_in_float64(encoding):
    columns = torch.arange(encoding.shape[1])
    return encoding.double()[:, columns.argsort(stable=True).sort(stable=True).values][
        :, torch.cat([columns[0::2], columns[1::2]])
    ]


@wrong(to_halves, "there may be a single position")
def squeezed(encoding):
    return torch.cat([encoding[:, 0::2].squeeze(0), encoding[:, 1::2].squeeze(0)], dim=-1)


@wrong(to_halves, "nothing has changed")
def cut_and_pasted(encoding):
    return torch.cat(encoding.chunk(2, dim=1), dim=1)


# 2. A bias of your own


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


@wrong(three_back_bias, "largest at distance 2; it should be at 3")
def a_bonus_for_the_wrong_distance(length, device):
    return (distance(length, device) == 2).float().expand(4, -1, -1)


@wrong(three_back_bias, "largest at 2 distances at once, [4, 2]")
def between_two_and_four(length, device):
    return -((distance(length, device) - 3.0).abs() - 1).abs().expand(2, -1, -1)


@wrong(three_back_bias, "distances at once")
def no_negative_distances(length, device):
    return -(distance(length, device) - 3.0).clamp(min=0).expand(4, -1, -1)


@wrong(three_back_bias, "no preference at all")
def one_head_with_rate_zero(length, device):
    return absolute_value(length, device) * torch.tensor([1.0, 1, 1, 0])[:, None, None]


@wrong(three_back_bias, "no preference at all")
def no_bias(length, device):
    return torch.zeros(1, length, length, device=device)


@wrong(three_back_bias, "returned shape (7, 7), expected (heads, 7, 7)")
def no_heads(length, device):
    return absolute_value(length, device)[0]


@wrong(three_back_bias, "returned shape (7, 7, 4)")
def heads_last(length, device):
    return absolute_value(length, device).permute(1, 2, 0)


@right(three_back_bias)
def integers(length, device):
    return -(distance(length, device) - 3).abs().expand(4, -1, -1)


@wrong(three_back_bias, "returned shape (4, 32, 32), expected (heads, 7, 7)")
def trained_length_only(length, device):
    return absolute_value(32, device)


@wrong(three_back_bias, "the first three queries")
def logarithm(length, device):
    return -((distance(length, device) - 3).abs() / 0.0).expand(4, -1, -1)


@wrong(three_back_bias, "returned ndarray")
def in_numpy(length, device):
    return absolute_value(length, device).numpy()


# 3. Turn it


def angles_of(x, positions):
    width = x.shape[1]
    return positions[:, None] / 10000 ** (torch.arange(0, width, 2) / width)


@right(rotate)
def neighbours(x, positions):
    angle = angles_of(x, positions)
    a, b = x[:, 0::2], x[:, 1::2]
    turned = torch.empty_like(x)
    turned[:, 0::2] = a * angle.cos() - b * angle.sin()
    turned[:, 1::2] = a * angle.sin() + b * angle.cos()
    return turned


@right(rotate)
def halves(x, positions):
    angle = angles_of(x, positions).repeat(1, 2)
    a, b = x.chunk(2, dim=1)
    return x * angle.cos() + torch.cat([-b, a], dim=1) * angle.sin()


@right(rotate)
def complex_numbers(x, positions):
    pairs = torch.view_as_complex(x.unflatten(1, (-1, 2)).contiguous())
    turn = torch.polar(torch.ones(()), angles_of(x, positions))
    return torch.view_as_real(pairs * turn).flatten(1)


@right(rotate)
def the_packages(x, positions):
    return RotaryEmbedding(x.shape[1])(x[None, None], positions)[0, 0]


@right(rotate)
def the_packages_halves(x, positions):
    return RotaryEmbedding(x.shape[1], pairing="half")(x[None, None], positions)[0, 0]


@wrong(rotate, "nothing is turned")
def as_it_was(x, positions):
    return x


@wrong(rotate, "it returned shape")
def one_row_for_all(x, positions):
    return neighbours(x, positions)[0]


@wrong(three_back_bias, "each head has a distance of its own")
def a_distance_for_each_head(length, device):
    i = torch.arange(length, device=device)
    distance = i[:, None] - i
    return -torch.stack([(distance - head).abs().float() for head in range(4)])
