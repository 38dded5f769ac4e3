"""Answers by somebody who had not read the checks."""

import math

import numpy as np

from tests.book.unseen import answers_to

right, wrong = answers_to("scaling")


@right
def bits_per_character(log_p, text):
    return sum(-l / math.log(2) for l in log_p.tolist()) / len(text)


wrong("nats", " / math.log(2)", "")
wrong("bytes", "len(text)", "len(text.encode())")
wrong("not divided", " / len(text)", "")
wrong("ends stripped", "len(text)", "len(text.strip())")
wrong(
    "a product that becomes 0",
    "sum(-l / math.log(2) for l in log_p.tolist())",
    "-log_p.double().exp().prod().log2().item()",
)


@right
def primed_bits(compress, old, new):
    size = lambda t: len(compress(bytes(t, "utf-8")))
    return 8 * (size(old + new) - size(old)) / len(new)


wrong("bytes", "8 * (", "(")
wrong("divides by both", "len(new)", "len(old + new)")
wrong("length of old not compressed", "- size(old)", "- len(old.encode())")
wrong("separator between them", "old + new", "old + ' ' + new")


@right
def fit_power_law(sizes, losses, floors):
    best = None
    for f in floors:
        if f >= min(losses):
            continue
        A = np.stack([np.log(sizes), np.ones(len(sizes))], 1)
        (slope, height), *_ = np.linalg.lstsq(A, np.log(np.asarray(losses) - f), rcond=None)
        law = f + np.exp(height) * np.asarray(sizes, float) ** slope
        error = ((law - losses) ** 2).sum()
        if best is None or error < best[0]:
            best = (error, f, float(np.exp(height)), float(-slope))
    return best[1:]


wrong("exponent with its sign", "float(-slope)", "float(slope)")
wrong("first floor", "if best is None or error < best[0]", "if best is None")
wrong("largest floor", "error < best[0]", "f > best[1]")
wrong("log10", "np.log(sizes)", "np.log10(sizes)")
wrong(
    "relative errors",
    "((law - losses) ** 2).sum()",
    "(((law - losses) / np.asarray(losses)) ** 2).sum()",
)


@right
def bits_per_character(log_p, text):
    nats = -float(log_p.sum())
    return nats / math.log(2) / len(text)


wrong("per byte", "len(text)", "len(text.encode())")


@right
def primed_bits(compress, old, new):
    both = len(compress((old + new).encode()))
    first = len(compress(old.encode()))
    return 8 * (both - first) / len(new)


wrong("per byte of the new text", "len(new)", "len(new.encode())")


@right
def fit_power_law(sizes, losses, floors):
    x = np.log(np.array(sizes, dtype=float))
    losses = np.array(losses, dtype=float)
    best, least = None, float("inf")
    for floor in floors:
        if floor >= losses.min():
            continue
        y = np.log(losses - floor)
        slope, height = np.polyfit(x, y, 1)
        factor, exponent = np.exp(height), -slope
        law = floor + factor * np.array(sizes, dtype=float) ** -exponent
        error = ((law - losses) ** 2).sum()
        if error < least:
            best, least = (floor, factor, exponent), error
    return best


wrong("compared among logarithms", "((law - losses) ** 2)", "((slope * x + height - y) ** 2)")


@right
def bits_per_character(log_p, text):
    nats = -log_p.sum().item()
    return nats / math.log(2) / len(text)


wrong("spaces are not counted", "len(text)", 'len("".join(text.split()))')


@right
def primed_bits(compress, old, new):
    both = len(compress((old + new).encode()))
    first = len(compress(old.encode()))
    return (both - first) * 8 / len(new)


wrong("per byte of the new text", "/ len(new)", "/ len(new.encode())")


@right
def fit_power_law(sizes, losses, floors):
    x, y = np.log(np.asarray(sizes, float)), np.asarray(losses, float)
    best, least = None, math.inf
    for floor in floors:
        if floor >= y.min():
            continue
        slope, height = np.polyfit(x, np.log(y - floor), 1)
        factor, exponent = math.exp(height), -slope
        law = floor + factor * np.exp(-exponent * x)
        error = ((law - y) ** 2).sum()
        if error < least:
            best, least = (floor, factor, exponent), error
    return best


wrong(
    "the worst of the laws",
    "error < least",
    "error > least",
    "best, least = None, math.inf",
    "best, least = None, -1",
)


@right
def primed_bits(compress, old, new):
    both = len(compress((old + new).encode("utf-8")))
    alone = len(compress(old.encode("utf-8")))
    return 8 * (both - alone) / len(new)


wrong(
    "takes off the length of the old text before compression",
    'len(compress(old.encode("utf-8")))',
    'len(old.encode("utf-8"))',
)


@right
def bits_per_character(log_p, text):
    nats = -sum(log_p.tolist())
    return nats * math.log2(math.e) / len(text)


wrong("times ln 2 instead of divided by it", "log2(math.e", "log(2")


@right
def primed_bits(compress, old, new):

    def size(text):
        return 8 * len(compress(bytes(text, "utf-8")))

    return (size(old + new) - size(old)) / len(new)


wrong("old is not subtracted", "(size(old + new) - size(old)", "size(old + new")


@right
def fit_power_law(sizes, losses, floors):
    sizes, losses = (np.asarray(sizes, float), np.asarray(losses, float))
    table = np.column_stack([np.ones_like(sizes), np.log(sizes)])
    found = []
    for floor in floors:
        if floor >= losses.min():
            continue
        (height, slope), *_ = np.linalg.lstsq(table, np.log(losses - floor), rcond=None)
        said = floor + np.exp(height) * sizes**slope
        error = ((said - losses) ** 2).sum()
        found.append((error, floor, np.exp(height), -slope))
    _, floor, factor, exponent = min(found)
    return (floor, float(factor), float(exponent))


wrong(
    "logarithms to base 10, undone with exp",
    "), np.log",
    "), np.log10",
    "table, np.log",
    "table, np.log10",
)
