"""Checks for the exercises of book/scaling.ipynb."""

import math

import numpy as np

from book.checking.exercise import exercise, ladder
from book.checking.rungs import rungs


@exercise
def bits_per_character(answer) -> str:
    """Check `bits_per_character(log_p, text)` -> what a character of the text cost, in bits.

    log_p (N,): the natural logarithm of the probability of each token of the text.
    """
    ladder(BITS_PER_CHARACTER, _bits_per_character, bits_per_character=answer)
    return "one token, several, long ones, letters with accents, spaces and ends of lines"


def _bits_per_character(log_p, text):
    return -sum(log_p) / math.log(2) / len(text)


BITS_PER_CHARACTER = rungs(
    _bits_per_character,
    """
    a token of one letter, to which the model gave the probability 1/4, costs two bits
        bits_per_character(torch.tensor([0.25]).log(), "a")
      - this is in nats; a bit is ln 2 nats, so divide by it
        / math.log(2) =>
      - the nats are multiplied by ln 2; to get bits, divide by it
        / math.log(2) => * math.log(2)
      - the sign is wrong: what is less probable costs more
        -sum => sum
      - this is the probability, or its inverse; the cost is its logarithm, and log_p holds that
        -sum(log_p) / math.log(2) => math.exp(-sum(log_p))
      - the logarithm of a logarithm is taken: log_p is one already
        -sum(log_p) / math.log(2) => (-sum(log_p)).log2()
      - the logarithms were made probabilities again, which do not add up; their logarithms do
        sum(log_p) => sum(log_p.exp())
      - decimal digits are counted: a bit is ln 2 nats, not ln 10
        math.log(2) => math.log(10)
      - this is how many characters a bit pays for, the inverse of what is asked for
        -sum(log_p) / math.log(2) / len(text) => len(text) / -sum(log_p) * math.log(2)
      - the characters are one too few
        len(text) => (len(text) - 1)
      - the first token is left out; it costs, too
        sum(log_p) => sum(log_p[1:])
      - the last token is left out; it costs, too
        sum(log_p) => sum(log_p[:-1])
    five tokens that are a character each: their costs add up, and are shared by five characters
        bits_per_character(torch.tensor([0.5, 0.125, 0.25, 0.5, 0.0625]).log(), "aaa b")
      - this is what the whole text cost; divide by its characters
        / len(text) =>
      - only the first token is counted
        sum(log_p) => log_p[0]
      - only the last token is counted
        sum(log_p) => log_p[-1]
      - these are the bits of the mean probability; the logarithms are averaged, since costs add up
        -sum(log_p) / math.log(2) => -log_p.exp().mean().log2() * len(log_p)
      - every token counts with the cost of the most surprising one; each has its own
        sum(log_p) => min(log_p) * len(log_p)
      - every token counts with the cost of the least surprising one; each has its own
        sum(log_p) => max(log_p) * len(log_p)
      - every token counts with the median cost; each has its own
        sum(log_p) => log_p.median() * len(log_p)
      - whole bits are counted; a token may cost a part of one
        -sum(log_p) / math.log(2) => sum((-log_p / math.log(2)).add(0.999).floor())
      - divided twice: the mean over the tokens is divided by the characters once more
        sum(log_p) => sum(log_p) / len(log_p)
      - this is per word; a word has many characters
        len(text) => len(text.split())
      - spaces are left out; they are characters, too
        len(text) => len(text.replace(" ", ""))
      - characters that come again are counted once
        len(text) => len(set(text))
    a token may be long: the cost is shared by the characters of the text, not by the tokens
        bits_per_character(torch.tensor([0.5, 0.125]).log(), "return x")
      - this is per token; divide by the characters of the text
        len(text) => len(log_p)
    spaces at the beginning of a line are characters, and so is its end
        bits_per_character(torch.tensor([0.5, 0.125, 0.25]).log(), "    x = 1\\n")
      - spaces and line ends around the text are left out; they are characters, too
        len(text) => len(text.strip())
      - the end of the line is left out; it is a character, too
        len(text) => len(text.rstrip())
    a letter with an accent is one character, though two bytes
        bits_per_character(torch.tensor([0.5, 0.125]).log(), "déjà")
      - this is per byte; é is two bytes, and one character
        len(text) => len(text.encode())
      - Latin letters alone are counted; every character counts
        len(text) => sum(c.isascii() for c in text)
    many cheap tokens
        bits_per_character(torch.full((500,), 0.9).log(), "abc" * 500)
    """,
)


@exercise
def primed_bits(answer) -> str:
    """Check `primed_bits(compress, old, new)` -> bits per character of new, after old was read.

    compress takes bytes and returns bytes; old and new are texts.
    """
    ladder(PRIMED_BITS, _primed_bits, primed_bits=answer)
    return "nothing compressed, a header, texts that repeat, accents, a real compressor"


def _primed_bits(compress, old, new):
    before = len(compress(old.encode()))
    after = len(compress((old + new).encode()))
    return 8 * (after - before) / len(new)


PRIMED_BITS = rungs(
    _primed_bits,
    """
    what was read before is free: only what the new text adds counts, here eight bits a character
        def compress(data):
            return data  # as it is
        primed_bits(compress, "some old text, ", "abcd")
      - this is in bytes; a byte has eight bits
        8 * =>
      - this is the sum of the bits; divide by the characters of the new text
        / len(new) =>
      - the old text is paid for, too: subtract what it costs alone
        (after - before) => after
      - this is what the old text costs
        (after - before) => before
      - the size of an empty text is subtracted, not that of the old one
        compress(old.encode()) => compress(b"")
      - the old text is subtracted, but the characters are still those of both texts
        len(new) => len(old + new)
      - this is per character of the old text
        len(new) => len(old)
      - the sign is wrong: what is longer costs more
        (after - before) => (before - after)
      - bytes were divided by 8; a byte has eight bits
        8 * (after - before) => (after - before) / 8
      - there is a logarithm of 2 in it: bytes become bits without one, times eight
        8 * => 8 * math.log(2) *
      - what is subtracted is the size of the new text; it is the old one that is free
        before = len(compress(old.encode())) => before = len(compress(new.encode()))
      - this is how many times longer the file becomes; subtract the sizes
        8 * (after - before) / len(new) => after / before
      - two rates are subtracted, of both texts and of the old one; subtract the sizes first
        (after - before) / len(new) => (after / len(old + new) - before / len(old))
      - there are seven bits in a byte here; there are eight
        8 * => 7 *
    what the compressor has read, it need not write again
        def compress(data):
            return bytes(sorted(set(data)))  # each byte once
        primed_bits(compress, "aaaabc", "cabdde")
      - nothing is compressed: this is the size of the new text itself
        after - before => len(new.encode())
      - this is per byte of the compressed text; divide by the characters of the new one
        len(new) => len(compress(new.encode()))
      - the new text is compressed alone, so nothing that was read is of use; join the two first
        after - before => len(compress(new.encode()))
      - the old text is subtracted as it is, not as it is compressed
        len(compress(old.encode())) => len(old.encode())
    what begins a compressed file is paid for once, with the old text
        def compress(data):
            return b"HEAD" + bytes(sorted(set(data)))
        primed_bits(compress, "some old text, ", "abcd")
      - the compressor read the compressed old text; it has to read the old text itself
        (old + new).encode() => compress(old.encode()) + new.encode()
    the old text comes first
        def compress(data):
            return data + data[-3:] * data.startswith(b"new")
        primed_bits(compress, "old", "new text")
      - the new text stands before the old one, so it was read first
        old + new => new + old
      - there is something between the two texts that is in neither
        (old + new) => (old + " " + new)
    three characters, of three, three and two bytes in UTF-8, which `encode()` gives
        def compress(data):
            return data
        primed_bits(compress, "some old text, ", "日本é")
      - characters that Latin-1 does not have are lost; `encode()` gives UTF-8, which has all
        .encode() => .encode("latin-1", "ignore")
      - characters that ASCII does not have are lost; `encode()` gives UTF-8, which has all
        .encode() => .encode("ascii", "ignore")
      - the texts are encoded as UTF-16; `encode()` gives UTF-8
        .encode() => .encode("utf-16-le")
    a letter with an accent is one character, though two bytes
        def compress(data):
            return data
        primed_bits(compress, "some old text, ", "déjà")
      - this is per byte; é is two bytes, and one character
        len(new) => len(new.encode())
    a real compressor
        import zlib
        old = "def read(self, size):\\n    return self.file.read(size)\\n"
        primed_bits(zlib.compress, old, old.replace("read", "write"))
    """,
)


@exercise
def fit_power_law(answer) -> str:
    """Check `fit_power_law(sizes, losses, floors)` -> (floor, factor, exponent).

    For each floor below all losses, the straight line of least squares through ln(loss - floor)
    over ln(size); of these, the one whose floor + factor * size ** -exponent has the least sum of
    squared differences from the losses.
    """
    ladder(FIT_POWER_LAW, _fit_power_law, fit_power_law=answer)
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


FIT_POWER_LAW = rungs(
    _fit_power_law,
    """
    a floor of 0 and two sizes: the line goes through both, so four times the size halves the loss
        fit_power_law([100.0, 400.0], [4.0, 2.0], [0.0])
      - the exponent has the wrong sign: the loss falls, and the formula has the minus already
        factor, exponent = np.exp(height), -slope => factor, exponent = np.exp(height), slope
      - the factor is still a logarithm
        float(factor) => float(height)
      - the line's height is a natural logarithm, and 10 to its power was taken
        factor, exponent = np.exp(height), -slope => factor, exponent = 10**height, -slope
      - slope and height of the line are exchanged
        slope, height = => height, slope =
      - the line goes through the losses, not through their logarithms
        np.log(losses - floor) => losses - floor
      - the line runs over the sizes, not over their logarithms
        np.log(sizes) => sizes
      - this is the error of the fit and its parts; only floor, factor and exponent are asked for
        [1:] =>
      - factor and exponent have changed places
        float(factor), float(exponent) => float(exponent), float(factor)
      - the floor comes last; it should come first
        min(found)[1:] => min(found)[2:] + min(found)[1:2]
      - the line runs over the logarithms of the losses: ln size is x, and comes first
        np.polyfit(x, y, 1) => np.polyfit(y, x, 1)
      - the logarithms are decimal ones, and exp undoes natural ones
        x, y = np.log(sizes), np.log(losses - floor) => x, y = np.log10([sizes, losses - floor])
      - the logarithms are to the base 2, and exp undoes natural ones
        x, y = np.log(sizes), np.log(losses - floor) => x, y = np.log2([sizes, losses - floor])
    a floor above 0: it is what is above the floor that falls as a power
        fit_power_law([100.0, 400.0], [5.0, 3.0], [1.0])
      - the floor is not subtracted before the logarithm
        np.log(losses - floor) => np.log(losses)
    three sizes that no line passes: the line of least squares, not that through two of them
        fit_power_law([10.0, 100.0, 1000.0], [4.0, 3.0, 2.5], [0.0])
      - only the first and the last size are used
        np.polyfit(x, y, 1) => np.polyfit(x[[0, -1]], y[[0, -1]], 1)
      - larger models weigh more in the fit; all weigh the same
        np.polyfit(x, y, 1) => np.polyfit(x, y, 1, w=sizes)
    of several floors the one with the least error: these losses have the floor 1
        sizes, losses = [10.0, 100.0, 1000.0], [5.0, 3.0, 2.0]
        fit_power_law(sizes, losses, [1.5, -2.0, 1.0, 1.9, 0.5])
      - it is always the first floor; choose the one with the least error
        min(found)[1:] => found[0][1:]
      - it is always the last floor; choose the one with the least error
        min(found)[1:] => found[-1][1:]
      - the lowest floor is taken, not the one with the least error
        min(found)[1:] => min(found, key=lambda fit: fit[1])[1:]
      - the highest floor is taken, not the one with the least error
        min(found)[1:] => max(found, key=lambda fit: fit[1])[1:]
      - the floor with the largest error is taken
        min(found) => max(found)
      - the floor is not added again before the error is measured
        curve = floor + => curve =
    the error is that of the losses, not of their logarithms, and squared
        sizes, losses = [10.0, 100.0, 1e3, 1e4, 1e5], [5.4, 4.0, 2.5, 1.7, 1.5]
        fit_power_law(sizes, losses, [0.2 * i - 0.4 for i in range(10)])
      - the sum of the differences is taken, in which errors of both signs cancel; square them
        np.sum((curve - losses) ** 2) => abs(np.sum(curve - losses))
      - only the loss of the last size is compared; sum the squares over all sizes
        np.sum((curve - losses) ** 2) => (curve[-1] - losses[-1]) ** 2
      - only the loss of the first size is compared; sum the squares over all sizes
        np.sum((curve - losses) ** 2) => (curve[0] - losses[0]) ** 2
      - only the largest difference counts; sum the squares of all
        np.sum((curve - losses) ** 2) => np.max(abs(curve - losses))
      - the differences are relative ones, shares of the losses, or those of their logarithms
        (curve - losses) ** 2 => ((curve - losses) / losses) ** 2
      - the error is measured in the logarithms above the floor, not in the losses
        (curve - losses) ** 2 => (np.log(curve - floor) - y) ** 2
      - the absolute differences are summed, not the squared ones
        (curve - losses) ** 2 => abs(curve - losses)
    the error is that of all sizes: of these floors, the highest fits the first size best
        sizes, losses = [10.0, 100.0, 1e3, 1e4], [6.0, 4.0, 2.2, 2.0]
        fit_power_law(sizes, losses, [0.0, 0.5, 1.0, 1.5])
    no floor lies at or above the smallest loss, wherever that stands: there is no logarithm there
        sizes, losses = [10.0, 1000.0, 100.0], [5.0, 2.0, 3.0]
        fit_power_law(sizes, losses, [2.5, 2.0, 1.0, 0.5])
    """,
)
