"""Answers by somebody who had not read the checks."""

import math

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("beyond_the_trained_length")


@right
def false_twin(distance, speeds, longest):
    best, found = -2, None
    for other in range(distance + 8, longest + 1):
        score = sum(
            math.cos(s * (other - distance)) for s in torch.as_tensor(speeds).tolist()
        ) / len(speeds)
        if score > best:
            best, found = score, other
    return found


wrong("longest not included", "longest + 1", "longest")
wrong("smallest", "score > best", "-score > best", "best, found = score,", "best, found = -score,")


@right("three_back_bias")
def bias(length, device):
    rows = [[-abs(i - j - 3) for j in range(length)] for i in range(length)]
    return torch.stack(
        [torch.tensor(rows, dtype=torch.float32, device=device) / 2**h for h in (1, 2, 3, 4)]
    )


wrong("positive penalty", "-abs(i", "abs(i")
wrong("smallest from 3 on, not only at 3", "-abs(i - j - 3)", "min(0, i - j - 3)")


@right
def slowed(speeds, factor, trained):
    out = []
    for s in torch.as_tensor(speeds).tolist():
        turns = s * trained / (2 * math.pi)
        share = min(1.0, max(0.0, 2 * turns - 1))
        out.append(share * s + (1 - share) * s / factor)
    return torch.tensor(out)


wrong("share not cut off", "min(1.0, max(0.0, 2 * turns - 1))", "2 * turns - 1")
wrong("share is turns themselves", "2 * turns - 1", "turns")
wrong("slow hands multiplied", "s / factor", "s * factor")
