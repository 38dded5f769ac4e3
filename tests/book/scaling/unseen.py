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
