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


@right
def false_twin(distance, speeds, longest):
    candidates = torch.arange(distance + 8, longest + 1)
    turned = (candidates - distance)[:, None] * speeds
    agreement = turned.cos().mean(dim=1)
    return candidates[agreement.argmax()].item()


wrong("longest is left out", "longest + 1", "longest")


@right("three_back_bias")
def bias(length, device):
    place = torch.arange(length, device=device)
    distance = place[:, None] - place
    rates = torch.tensor([1.0, 0.5, 0.25, 0.125], device=device)
    return -rates[:, None, None] * (distance - 3).abs()


wrong("nearer than 3 is a bonus", "(distance - 3).abs()", "(distance - 3)")


@right
def slowed(speeds, factor, trained):
    turns = speeds * trained / (2 * math.pi)
    share = (2 * turns - 1).clamp(0, 1)
    return share * speeds + (1 - share) * speeds / factor


wrong("the share grows to a half only", "(2 * turns - 1)", "(turns - 0.5)")

wrong("a turn is pi", "(2 * math.pi)", "math.pi")


@right("three_back_bias")
def bias(length, device):
    place = torch.arange(length, device=device)
    distance = place.unsqueeze(1) - place.unsqueeze(0)
    rates = torch.tensor([0.5, 1.0, 2.0, 4.0], device=device).view(4, 1, 1)
    return -rates * (distance - 3).abs()


wrong("added to the scores with a plus", "-rates", "rates")


@right
def slowed(speeds, factor, trained):
    turns = speeds * trained / (2 * math.pi)
    share = ((turns - 0.5) / 0.5).clamp(0, 1)
    return share * speeds + (1 - share) * speeds / factor


wrong("the share not cut off above 1", ".clamp(0, 1)", ".clamp(min=0)")


@right
def false_twin(distance, speeds, longest):
    candidates = torch.arange(distance + 8, longest + 1)
    angles = (candidates - distance)[:, None] * speeds
    return candidates[angles.cos().mean(dim=1).argmax()].item()


wrong("hands may be opposite", "angles.cos()", "angles.cos().abs()")
wrong("the worst hand decides", ".mean(dim=1)", ".amin(dim=1)")


@right
def slowed(speeds, factor, trained):
    turns = speeds * trained / (2 * math.pi)
    share = ((turns - 0.5) / 0.5).clamp(0, 1)
    return share * speeds + (1 - share) * speeds / factor


wrong("turns of one and of 32, as in the paper", "(turns - 0.5) / 0.5", "(turns - 1) / 31")
