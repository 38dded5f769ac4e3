"""Answers to the exercises of book/positional_encoding.ipynb."""

import torch

from companion.checks.positional_encoding import three_back_bias, to_halves
from companion.nn import alibi_bias
from tests.checks.answers import right, wrong

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


@wrong(to_halves, "nothing has changed")
def cut_and_pasted(encoding):
    return torch.cat(encoding.chunk(2, dim=1), dim=1)


@wrong(to_halves, "the cosines come first")
def cosines_first(encoding):
    return torch.cat([encoding[:, 1::2], encoding[:, 0::2]], dim=1)


@wrong(to_halves, "every second position")
def every_second_position(encoding):
    return torch.cat([encoding[0::2], encoding[1::2]])


@wrong(to_halves, "the way back")
def the_way_back(encoding):
    length, width = encoding.shape
    return encoding.reshape(length, 2, width // 2).transpose(1, 2).reshape(length, width)


@wrong(to_halves, "below the sines")
def one_below_the_other(encoding):
    return torch.cat([encoding[:, 0::2], encoding[:, 1::2]])


@wrong(to_halves, "in reverse order")
def cosines_backwards(encoding):
    return torch.cat([encoding[:, 0::2], encoding[:, 1::2].flip(-1)], dim=-1)


@wrong(to_halves, "it changes its input encoding")
def written_into_itself(encoding):
    encoding[:] = by_slices(encoding)
    return encoding


@wrong(to_halves, "it changes its input encoding")
def overwritten_before_use(encoding):
    half = encoding.shape[1] // 2
    encoding[:, :half] = encoding[:, 0::2]
    encoding[:, half:] = encoding[:, 1::2]
    return encoding


@wrong(to_halves, "shape (1, 4), expected (1, 6)")
def width_of_four(encoding):
    return encoding[:, [0, 2, 1, 3]]


@wrong(to_halves, "only the sines")
def only_sines(encoding):
    return encoding[:, ::2]


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


@wrong(three_back_bias, "smallest at distance 0")
def alibi(length, device):
    return alibi_bias(4, length, device=device)


@wrong(three_back_bias, "largest at distance 3")
def not_negative(length, device):
    return -absolute_value(length, device)


@wrong(three_back_bias, "smallest at distance 0; it should be at 3")
def three_ahead(length, device):
    return -(distance(length, device) + 3.0).abs().expand(4, -1, -1)


@wrong(three_back_bias, "smallest at distance 2; it should be at 3")
def off_by_one(length, device):
    return -(distance(length, device) - 2.0).abs().expand(4, -1, -1)


@wrong(three_back_bias, "smallest at 2 distances at once, [4, 2]")
def between_two_and_four(length, device):
    return -((distance(length, device) - 3.0).abs() - 1).abs().expand(2, -1, -1)


@wrong(three_back_bias, "distances at once")
def no_negative_distances(length, device):
    return -(distance(length, device) - 3.0).clamp(min=0).expand(4, -1, -1)


@wrong(three_back_bias, "distances at once")
def one_head_with_rate_zero(length, device):
    return absolute_value(length, device) * torch.tensor([1.0, 1, 1, 0])[:, None, None]


@wrong(three_back_bias, "smallest at 7 distances at once")
def no_bias(length, device):
    return torch.zeros(1, length, length, device=device)


@wrong(three_back_bias, "returned shape (7, 7), expected (heads, 7, 7)")
def no_heads(length, device):
    return absolute_value(length, device)[0]


@wrong(three_back_bias, "returned shape (7, 7, 4)")
def heads_last(length, device):
    return absolute_value(length, device).permute(1, 2, 0)


@wrong(three_back_bias, "expected floating numbers")
def integers(length, device):
    return -(distance(length, device) - 3).abs().expand(4, -1, -1)


@wrong(three_back_bias, "returned shape (4, 32, 32), expected (heads, 7, 7)")
def trained_length_only(length, device):
    return absolute_value(32, device)


@wrong(three_back_bias, "NaN or infinite")
def logarithm(length, device):
    return -((distance(length, device) - 3).abs() / 0.0).expand(4, -1, -1)


@wrong(three_back_bias, "returned ndarray")
def in_numpy(length, device):
    return absolute_value(length, device).numpy()
