"""Checks for the exercises of book/scaling.ipynb."""

import math

import numpy as np
import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def bits_per_character(answer) -> str:
    """Check `bits_per_character(log_p, text)` -> what a character of the text cost, in bits.

    log_p (N,): the natural logarithm of the probability of each token of the text.
    """
    climb(BITS_PER_CHARACTER, answer)
    return "one token, several, long ones, letters with accents, spaces and ends of lines"


def _bits_per_character(log_p, text):
    return -sum(log_p) / math.log(2) / len(text)


@ladder(_bits_per_character)
def BITS_PER_CHARACTER(bits_per_character):
    """a token of one letter, to which the model gave the probability 1/4, costs two bits"""
    yield bits_per_character(torch.tensor([0.25]).log(), "a")

    """five tokens that are a character each: their costs add up, and are shared by five
    characters"""
    yield bits_per_character(torch.tensor([0.5, 0.125, 0.25, 0.5, 0.0625]).log(), "aaa b")

    """a token may be long: the cost is shared by the characters of the text, not by the
    tokens"""
    yield bits_per_character(torch.tensor([0.5, 0.125]).log(), "return x")

    """spaces at the beginning of a line are characters, and so is its end"""
    yield bits_per_character(torch.tensor([0.5, 0.125, 0.25]).log(), "    x = 1\n")

    """a letter with an accent is one character, though two bytes"""
    yield bits_per_character(torch.tensor([0.5, 0.125]).log(), "déjà")

    """many tokens: the product of their probabilities is too small for a number, and the sum of
    their logarithms is not"""
    yield bits_per_character(torch.full((500,), 0.125).log(), "abc" * 500)


BITS_PER_CHARACTER.mistakes |= {
    "this is in nats; a bit is ln 2 nats, so divide by it": lambda log_p, text: (
        -sum(log_p) / len(text)
    ),
    "the nats are multiplied by ln 2; to get bits, divide by it": lambda log_p, text: (
        -sum(log_p) * math.log(2) / len(text)
    ),
    "this is the probability, or its inverse; the cost is its "
    "logarithm, and log_p holds that": lambda log_p, text: (-sum(log_p)).exp() / len(text),
    "only the last token is counted": lambda log_p, text: -log_p[-1] / math.log(2) / len(text),
    "divided twice: the mean over the tokens is divided by the "
    "characters once more": lambda log_p, text: -sum(log_p) / len(log_p) / math.log(2) / len(text),
    "this is per word; a word has many characters": lambda log_p, text: (
        -sum(log_p) / math.log(2) / len(text.split())
    ),
    "spaces are left out; they are characters, too": lambda log_p, text: (
        -sum(log_p) / math.log(2) / len(text.replace(" ", ""))
    ),
    "characters that come again are counted once": lambda log_p, text: (
        -sum(log_p) / math.log(2) / len(set(text))
    ),
    "this is per token; divide by the characters of the text": lambda log_p, text: (
        -sum(log_p) / math.log(2) / len(log_p)
    ),
    "spaces and line ends around the text are left out; they are "
    "characters, too": lambda log_p, text: -sum(log_p) / math.log(2) / len(text.strip()),
    "the end of the line is left out; it is a character, too": lambda log_p, text: (
        -sum(log_p) / math.log(2) / len(text.rstrip())
    ),
    "this is per byte; é is two bytes, and one character": lambda log_p, text: (
        -sum(log_p) / math.log(2) / len(text.encode())
    ),
    "spaces and ends of lines are left out; they are characters, too": lambda log_p, text: (
        -sum(log_p) / math.log(2) / len("".join(text.split()))
    ),
    "the probabilities are added up; add up their logarithms": lambda log_p, text: (
        -sum(log_p.exp()).log2() / len(text)
    ),
}


@exercise
def primed_bits(answer) -> str:
    """Check `primed_bits(compress, old, new)` -> bits per character of new, after old was read.

    compress takes bytes and returns bytes; old and new are texts.
    """
    climb(PRIMED_BITS, answer)
    return "nothing compressed, a header, texts that repeat, accents, a real compressor"


def _primed_bits(compress, old, new):
    before = len(compress(old.encode()))
    after = len(compress((old + new).encode()))
    return 8 * (after - before) / len(new)


@ladder(_primed_bits)
def PRIMED_BITS(primed_bits):
    """what was read before is free: only what the new text adds counts, here eight bits a
    character"""

    def compress(data):
        return data  # as it is

    yield primed_bits(compress, "some old text, ", "abcd")

    """what the compressor has read, it need not write again"""

    def compress(data):
        return bytes(sorted(set(data)))  # each byte once

    yield primed_bits(compress, "aaaabc", "cabdde")

    """what begins a compressed file is paid for once, with the old text"""

    def compress(data):
        return b"HEAD" + bytes(sorted(set(data)))

    yield primed_bits(compress, "some old text, ", "abcd")

    """the old text comes first"""

    def compress(data):
        return data + data[-3:] * data.startswith(b"new")

    yield primed_bits(compress, "old", "new text")

    """three characters, of three, three and two bytes in UTF-8, which `encode()` gives: the bits
    of eight bytes are divided by the three characters"""

    def compress(data):
        return data

    yield primed_bits(compress, "some old text, ", "日本é")

    """a real compressor"""
    import zlib

    old = "def read(self, size):\n    return self.file.read(size)\n"
    yield primed_bits(zlib.compress, old, old.replace("read", "write"))


PRIMED_BITS.mistakes |= {
    "this is the sum of the bits; divide by the characters of the new text": edited(
        _primed_bits, "/ len(new)", ""
    ),
    "the old text is paid for, too: subtract what it costs alone": edited(
        _primed_bits, "(after - before)", "after"
    ),
    "this is what the old text costs": edited(_primed_bits, "(after - before)", "before"),
    "the old text is subtracted, but the characters are still those of both texts": edited(
        _primed_bits, "len(new)", "len(old + new)"
    ),
    "this is per character of the old text": edited(_primed_bits, "len(new)", "len(old)"),
    "the sign is wrong: what is longer costs more": edited(
        _primed_bits, "(after - before)", "(before - after)"
    ),
    "the new text is compressed alone, so nothing that was read is of use; join the "
    "two first": edited(_primed_bits, "after - before", "len(compress(new.encode()))"),
    "there is something between the two texts that is in neither": edited(
        _primed_bits, "(old + new)", '(old + " " + new)'
    ),
    "the length of the old text before compression is subtracted; subtract that after it": edited(
        _primed_bits, "before = len(compress(old.encode()))", "before = len(old.encode())"
    ),
    "a line end was put between the two texts; join them as they are": edited(
        _primed_bits, "(old + new)", '(old + "\\n" + new)'
    ),
    "what the new text costs alone is subtracted; subtract what the old one costs": edited(
        _primed_bits, "compress(old.encode())", "compress(new.encode())"
    ),
}


@exercise
def fit_power_law(answer) -> str:
    """Check `fit_power_law(sizes, losses, floors)` -> (floor, factor, exponent).

    For each floor below all losses, the straight line of least squares through ln(loss - floor)
    over ln(size); of these, the one whose floor + factor * size ** -exponent has the least sum of
    squared differences from the losses.
    """
    climb(FIT_POWER_LAW, answer)
    return "two sizes, more sizes than a line can pass, several floors, floors that are too high"


def _fit_power_law(sizes, losses, floors):
    sizes, losses = np.asarray(sizes, dtype=float), np.asarray(losses, dtype=float)
    found = []
    for floor in floors:
        if floor < min(losses):
            x, y = np.log(sizes), np.log(losses - floor)
            slope, height = np.polyfit(x, y, 1)
            factor, exponent = np.exp(height), -slope
            curve = floor + factor * sizes**-exponent
            error = np.sum((curve - losses) ** 2)
            found.append((float(error), float(floor), float(factor), float(exponent)))
    return min(found)[1:]


@ladder(_fit_power_law)
def FIT_POWER_LAW(fit_power_law):
    """a floor of 0 and two sizes: the line goes through both, so four times the size halves the
    loss"""
    yield fit_power_law([100.0, 400.0], [4.0, 2.0], [0.0])

    """a floor above 0: it is what is above the floor that falls as a power"""
    yield fit_power_law([100.0, 400.0], [5.0, 3.0], [1.0])

    """three sizes that no line passes: the line of least squares, not that through two of
    them"""
    yield fit_power_law([10.0, 100.0, 1000.0], [4.0, 3.0, 2.5], [0.0])

    """of several floors the one with the least error: these losses have the floor 1"""
    sizes, losses = [10.0, 100.0, 1000.0], [5.0, 3.0, 2.0]
    yield fit_power_law(sizes, losses, [1.5, -2.0, 1.0, 1.9, 0.5])

    """the error is that of the losses, not of their logarithms, and squared"""
    sizes, losses = [10.0, 100.0, 1e3, 1e4, 1e5], [5.4, 4.0, 2.5, 1.7, 1.5]
    yield fit_power_law(sizes, losses, [0.2 * i - 0.4 for i in range(10)])

    """the error is that of all sizes: of these floors, the highest fits the first size best"""
    sizes, losses = [10.0, 100.0, 1e3, 1e4], [6.0, 4.0, 2.2, 2.0]
    yield fit_power_law(sizes, losses, [0.0, 0.5, 1.0, 1.5])

    """no floor lies at or above the smallest loss, wherever that stands: there is no logarithm
    there; lower floors may come behind it"""
    sizes, losses = [10.0, 1000.0, 100.0], [5.0, 2.0, 3.0]
    yield fit_power_law(sizes, losses, [2.5, 2.0, 1.0, 0.5])


FIT_POWER_LAW.mistakes |= {
    "the exponent has the wrong sign: the loss falls, and the formula has the minus "
    "already": edited(
        _fit_power_law,
        "factor, exponent = np.exp(height), -slope",
        "factor, exponent = np.exp(height), slope",
    ),
    "the factor is still a logarithm": edited(_fit_power_law, "float(factor)", "float(height)"),
    "the line's height is a natural logarithm, and 10 to its power was taken": edited(
        _fit_power_law,
        "factor, exponent = np.exp(height), -slope",
        "factor, exponent = 10**height, -slope",
    ),
    "the logarithms are to base 10, and exp was taken of the line's height": edited(
        _fit_power_law,
        "np.log(sizes), np.log(losses - floor)",
        "np.log10(sizes), np.log10(losses - floor)",
    ),
    "slope and height of the line are exchanged": edited(
        _fit_power_law, "slope, height =", "height, slope ="
    ),
    "only the first and the last size are used": edited(
        _fit_power_law, "np.polyfit(x, y, 1)", "np.polyfit(x[[0, -1]], y[[0, -1]], 1)"
    ),
    "it is always the first floor; choose the one with the least error": edited(
        _fit_power_law, "min(found)[1:]", "found[0][1:]"
    ),
    "it is always the last floor; choose the one with the least error": edited(
        _fit_power_law, "min(found)[1:]", "found[-1][1:]"
    ),
    "the line is drawn over the sizes, not over their logarithms": edited(
        _fit_power_law, "np.log(sizes)", "sizes"
    ),
    "the highest floor is taken, not the one with the least error": edited(
        _fit_power_law, "min(found)[1:]", "max(found, key=lambda fit: fit[1])[1:]"
    ),
    "the floor with the largest error is taken": edited(_fit_power_law, "min(found)", "max(found)"),
    "the error is measured in the logarithms above the floor, not in the losses": edited(
        _fit_power_law, "(curve - losses) ** 2", "(np.log(curve - floor) - y) ** 2"
    ),
    "the absolute differences are summed, not the squared ones": edited(
        _fit_power_law, "(curve - losses) ** 2", "abs(curve - losses)"
    ),
    "the floor is missing in the curve that is compared with the losses": edited(
        _fit_power_law, "curve = floor + factor", "curve = factor"
    ),
    "the logarithms of the sizes are to base 10, those of the losses are natural; take one "
    "base": edited(_fit_power_law, "np.log(sizes)", "np.log10(sizes)"),
}
