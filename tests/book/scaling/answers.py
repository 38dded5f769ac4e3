"""Answers to the exercises of book/scaling.ipynb."""

import math

import numpy as np
import torch

from book.scaling.checks import bits_per_character, fit_power_law, primed_bits
from tests.book.answers import right, wrong

# 1. Bits per character


@right(bits_per_character)
def in_torch(log_p, text):
    return -log_p.sum() / math.log(2) / len(text)


@right(bits_per_character)
def with_numpy(log_p, text):
    nats = -np.asarray(log_p, dtype=np.float64).sum()
    return float(nats * np.log2(np.e)) / len(text)


@right(bits_per_character)
def token_by_token(log_p, text):
    bits = 0.0
    for one in log_p.tolist():
        bits += -one / math.log(2)
    return bits / len(list(text))


@right(bits_per_character)
def mean_times_tokens(log_p, text):
    return -log_p.mean() * len(log_p) / len(text) / torch.tensor(2.0).log()


@wrong(bits_per_character, "in nats")
def nats(log_p, text):
    return -log_p.sum().item() / len(text)


@wrong(bits_per_character, "multiplied by ln 2")
def times_ln_2(log_p, text):
    return -log_p.sum() * math.log(2) / len(text)


@wrong(bits_per_character, "the sign is wrong")
def negative(log_p, text):
    return log_p.sum() / math.log(2) / len(text)


@wrong(bits_per_character, "holds that")
def perplexity(log_p, text):
    return torch.exp(-log_p.sum()) / len(text)


@wrong(bits_per_character, "two bits")
def logarithm_of_a_logarithm(log_p, text):
    return -torch.log2(-log_p).sum() / len(text)


@wrong(bits_per_character, "the whole text")
def all_of_it(log_p, text):
    return -log_p.sum() / math.log(2)


@wrong(bits_per_character, "only the first")
def first_token(log_p, text):
    return -log_p[0] / math.log(2) / len(text)


@wrong(bits_per_character, "only the last")
def last_token(log_p, text):
    return -log_p[-1] / math.log(2) / len(text)


@wrong(bits_per_character, "divided twice")
def mean_over_characters(log_p, text):
    return -log_p.mean() / math.log(2) / len(text)


@wrong(bits_per_character, "per token")
def for_each_token(log_p, text):
    return -log_p.mean() / math.log(2)


@wrong(bits_per_character, "per word")
def for_each_word(log_p, text):
    return -log_p.sum() / math.log(2) / len(text.split())


@wrong(bits_per_character, "spaces are left out")
def letters_only(log_p, text):
    return -log_p.sum() / math.log(2) / len("".join(text.split()))


@wrong(bits_per_character, "counted once")
def different_characters(log_p, text):
    return -log_p.sum() / math.log(2) / len(set(text))


@wrong(bits_per_character, "around the text")
def without_indentation(log_p, text):
    return -log_p.sum() / math.log(2) / len(text.strip())


@wrong(bits_per_character, "end of the line")
def without_the_end(log_p, text):
    return -log_p.sum() / math.log(2) / sum(map(len, text.splitlines()))


@wrong(bits_per_character, "per byte")
def for_each_byte(log_p, text):
    return -log_p.sum() / math.log(2) / len(text.encode())


@wrong(bits_per_character, "many cheap tokens")
def only_a_hundred(log_p, text):
    return -log_p[:100].sum() / math.log(2) / len(text)


# 2. A compressor that has read before


@right(primed_bits)
def difference_of_lengths(compress, old, new):
    both = len(compress((old + new).encode("utf8")))
    return (both - len(compress(old.encode("utf8")))) * 8 / len(new)


@right(primed_bits)
def with_bytes(compress, old, new):
    first, second = bytes(old, "utf8"), bytes(new, "utf8")
    return np.subtract(len(compress(first + second)), len(compress(first))) / len(new) * 8


@wrong(primed_bits, "in bytes")
def bytes_for_each(compress, old, new):
    return (len(compress((old + new).encode())) - len(compress(old.encode()))) / len(new)


@wrong(primed_bits, "sum of the bits")
def not_divided(compress, old, new):
    return 8 * (len(compress((old + new).encode())) - len(compress(old.encode())))


@wrong(primed_bits, "is paid for, too")
def both_texts(compress, old, new):
    return 8 * len(compress((old + new).encode())) / len(new)


@wrong(primed_bits, "what the old text costs")
def old_text(compress, old, new):
    return 8 * len(compress(old.encode())) / len(new)


@wrong(primed_bits, "those of both texts")
def over_both(compress, old, new):
    cost = len(compress((old + new).encode())) - len(compress(old.encode()))
    return 8 * cost / len(old + new)


@wrong(primed_bits, "of the old text")
def over_the_old(compress, old, new):
    cost = len(compress((old + new).encode())) - len(compress(old.encode()))
    return 8 * cost / len(old)


@wrong(primed_bits, "sign is wrong")
def the_wrong_way_round(compress, old, new):
    return 8 * (len(compress(old.encode())) - len(compress((old + new).encode()))) / len(new)


@wrong(primed_bits, "compressed alone")
def unprimed(compress, old, new):
    return 8 * len(compress(new.encode())) / len(new)


@wrong(primed_bits, "not as it is compressed")
def less_the_old_characters(compress, old, new):
    plain = len(compress(b"")) + len(old.encode())
    return 8 * (len(compress((old + new).encode())) - plain) / len(new)


@wrong(primed_bits, "it was read first")
def new_before_old(compress, old, new):
    return 8 * (len(compress((new + old).encode())) - len(compress(old.encode()))) / len(new)


@wrong(primed_bits, "that is in neither")
def with_a_space(compress, old, new):
    return 8 * (len(compress(f"{old} {new}".encode())) - len(compress(old.encode()))) / len(new)


@wrong(primed_bits, "that is in neither")
def with_a_line_between(compress, old, new):
    return 8 * (len(compress(f"{old}\n{new}".encode())) - len(compress(old.encode()))) / len(new)


@wrong(primed_bits, "per byte")
def for_each_byte_of_it(compress, old, new):
    cost = len(compress((old + new).encode())) - len(compress(old.encode()))
    return 8 * cost / len(new.encode())


@wrong(primed_bits, "paid for once")
def with_another_beginning(compress, old, new):
    cost = len(compress((old + new).encode())) - len(compress(old.encode()))
    return 8 * (cost + len(compress(b""))) / len(new)


@wrong(primed_bits, "compressed alone")
def each_alone(compress, old, new):
    empty = len(compress(b""))
    return 8 * (len(compress(new.encode())) - empty) / len(new)


@wrong(primed_bits, "a real compressor")
def only_the_end_was_read(compress, old, new):
    old = old[-20:]
    return 8 * (len(compress((old + new).encode())) - len(compress(old.encode()))) / len(new)


# 3. A floor and a power law


@right(fit_power_law)
def with_a_loop(sizes, losses, floors):
    best = None
    for floor in floors:
        if min(losses) <= floor:
            continue
        x = [math.log(n) for n in sizes]
        y = [math.log(loss - floor) for loss in losses]
        mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
        across = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
        slope = across / sum((a - mean_x) ** 2 for a in x)
        factor = math.exp(mean_y - slope * mean_x)
        error = sum(
            (floor + factor * n**slope - loss) ** 2 for n, loss in zip(sizes, losses, strict=True)
        )
        if best is None or error < best[0]:
            best = error, (floor, factor, -slope)
    return best[1]


@right(fit_power_law)
def with_torch(sizes, losses, floors):
    n, loss = torch.tensor(sizes).double(), torch.tensor(losses).double()
    lines = torch.stack([torch.ones_like(n), n.log()], dim=1)
    found = {}
    for floor in [floor for floor in floors if floor < loss.min()]:
        height, slope = torch.linalg.lstsq(lines, (loss - floor).log()[:, None]).solution[:, 0]
        error = (floor + height.exp() * n**slope - loss).square().mean()
        found[float(error)] = [torch.tensor(floor), height.exp(), -slope]
    return found[min(found)]


def choose(sizes, losses, floors, *, error=None, line=None, pick=min):
    """The right answer, with one of its parts exchanged."""
    n, loss = np.array(sizes), np.array(losses)
    found = []
    for floor in floors:
        if floor >= loss.min():
            continue
        x, y = np.log(n), np.log(loss - floor)
        slope, height = (line or (lambda x, y: np.polyfit(x, y, 1)))(x, y)
        curve = floor + np.exp(height) * n**slope
        off = error(curve, loss, floor) if error else ((curve - loss) ** 2).sum()
        found.append((off, floor, np.exp(height), -slope))
    return pick(found)[1:]


@wrong(fit_power_law, "wrong sign")
def the_slope_itself(sizes, losses, floors):
    floor, factor, exponent = choose(sizes, losses, floors)
    return floor, factor, -exponent


@wrong(fit_power_law, "still a logarithm")
def height_of_the_line(sizes, losses, floors):
    floor, factor, exponent = choose(sizes, losses, floors)
    return floor, math.log(factor), exponent


@wrong(fit_power_law, "10 to its power")
def ten_to_the_height(sizes, losses, floors):
    floor, factor, exponent = choose(sizes, losses, floors)
    return floor, 10 ** math.log(factor), exponent


@wrong(fit_power_law, "are exchanged")
def height_first(sizes, losses, floors):
    floor, factor, exponent = choose(sizes, losses, floors)
    return floor, math.exp(-exponent), -math.log(factor)


@wrong(fit_power_law, "through the losses, not through their logarithms")
def logarithm_of_sizes_only(sizes, losses, floors):
    slope, height = np.polyfit(np.log(sizes), np.array(losses) - floors[0], 1)
    return floors[0], math.exp(height), -slope


@wrong(fit_power_law, "over the sizes, not")
def logarithm_of_losses_only(sizes, losses, floors):
    slope, height = np.polyfit(sizes, np.log(np.array(losses) - floors[0]), 1)
    return floors[0], math.exp(height), -slope


@wrong(fit_power_law, "error of the fit")
def the_error_as_well(sizes, losses, floors):
    floor, factor, exponent = choose(sizes, losses, floors)
    curve = floor + factor * np.array(sizes) ** -exponent
    return ((curve - np.array(losses)) ** 2).sum(), floor, factor, exponent


@wrong(fit_power_law, "not subtracted")
def floor_only_reported(sizes, losses, floors):
    slope, height = np.polyfit(np.log(sizes), np.log(losses), 1)
    return floors[0], math.exp(height), -slope


@wrong(fit_power_law, "first and the last")
def through_the_ends(sizes, losses, floors):
    return choose(sizes, losses, floors, line=lambda x, y: np.polyfit(x[[0, -1]], y[[0, -1]], 1))


@wrong(fit_power_law, "always the first floor")
def the_first_of_them(sizes, losses, floors):
    return choose(sizes, losses, floors, pick=lambda found: found[0])


@wrong(fit_power_law, "always the last floor")
def the_last_of_them(sizes, losses, floors):
    return choose(sizes, losses, floors, pick=lambda found: found[-1])


@wrong(fit_power_law, "the lowest floor")
def the_lowest_of_them(sizes, losses, floors):
    return choose(sizes, losses, sorted(floors), pick=lambda found: found[0])


@wrong(fit_power_law, "the highest floor")
def the_highest_of_them(sizes, losses, floors):
    return choose(sizes, losses, sorted(floors), pick=lambda found: found[-1])


@wrong(fit_power_law, "the largest error")
def the_worst_of_them(sizes, losses, floors):
    return choose(sizes, losses, floors, pick=max)


@wrong(fit_power_law, "in the logarithms above the floor")
def error_in_logarithms(sizes, losses, floors):
    def off(curve, loss, floor):
        return (np.log((curve - floor) / (loss - floor)) ** 2).sum()

    return choose(sizes, losses, floors, error=off)


@wrong(fit_power_law, "absolute differences")
def absolute_error(sizes, losses, floors):
    return choose(sizes, losses, floors, error=lambda curve, loss, _: abs(curve - loss).sum())


@wrong(fit_power_law, "no floor lies at or above")
def floors_anywhere(sizes, losses, floors):
    n, loss = torch.tensor(sizes).double(), torch.tensor(losses).double()
    found = []
    for floor in floors:
        x, y = n.log(), (loss - floor).log()
        slope = ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()
        factor = (y.mean() - slope * x.mean()).exp()
        error = (floor + factor * n**slope - loss).square().sum()
        found.append((error, floor, factor, -slope))
    return found[int(torch.stack([fit[0] for fit in found]).argmin())][1:]
