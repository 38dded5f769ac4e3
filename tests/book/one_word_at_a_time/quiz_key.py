"""Right options of the quiz on reading one word at a time, computed."""

from fractions import Fraction

import torch
from torch import nn


def waiting(operation) -> int:
    """Most tanhs that wait for each other on a way back through the graph that autograd keeps."""
    behind = [before for before, _ in operation.next_functions if before is not None]
    return operation.name().startswith("Tanh") + max(map(waiting, behind), default=0)


def ticks() -> str:
    weight, state = torch.randn(3, 3, requires_grad=True), torch.zeros(3)
    for word in torch.randn(40, 3):
        state = torch.tanh(weight @ state + word)
    return str(waiting(state.grad_fn))


def whisper() -> str:
    words = torch.zeros(10, dtype=torch.float64, requires_grad=True)
    state = torch.zeros((), dtype=torch.float64)
    for word in words:
        state = 0.5 * state + word
    state.backward()
    return str(Fraction(words.grad[0].item()))


def average() -> str:
    words = torch.zeros(10, dtype=torch.float64, requires_grad=True)
    words.mean().backward()
    return str(Fraction(words.grad[0].item()).limit_denominator(1000))


def louder() -> str:
    words = torch.zeros(50, dtype=torch.float64, requires_grad=True)
    state = torch.zeros((), dtype=torch.float64)
    for word in words:
        state = 1.1 * state + word
    state.backward()
    ratio = (words.grad[0] / words.grad[-1]).item()
    return "It counts more than a hundred times" if ratio > 100 else "It counts 1.1 times"


def kept() -> str:
    _, state = nn.RNN(8, 64)(torch.randn(1000, 8))
    return f"{state.numel():,}"


def shuffled() -> str:
    words = torch.tensor([3.0, 1.0, 4.0, 1.5, 9.0])
    other = words[[4, 0, 2, 1, 3]]

    def last_child(words):
        heard = torch.tensor(0.0)
        for word in words:
            heard = 0.5 * heard + word
        return heard

    notices = not torch.allclose(last_child(words), last_child(other))
    averages = not torch.allclose(words.mean(), other.mean())
    return {
        (True, True): "Both notice",
        (False, True): "Only the child that averages",
        (True, False): "Only the last child of the line",
        (False, False): "Neither",
    }[notices, averages]
