"""Counted memory, on computations whose tensors can be counted by hand."""

import torch

from book.attention_in_tiles.memory import peak_bytes

FLOATS = 100 * 4  # bytes of a vector of 100 float32


def test_tensors_that_live_at_the_same_time():
    def run():
        a = torch.ones(100)
        b = a + 1
        c = a + b  # three at once
        del a, b
        return c + 1

    assert peak_bytes(run) == 3 * FLOATS


def test_views_and_what_is_done_in_place_are_no_new_memory():
    def run():
        a = torch.ones(100)
        a.add_(1)
        return a.view(10, 10).transpose(0, 1)[2:]

    assert peak_bytes(run) == FLOATS


def test_what_was_there_before_is_not_counted():
    before = torch.ones(100)
    assert peak_bytes(lambda: before.mul_(2)) == 0
    assert peak_bytes(lambda: before * 2) == FLOATS


def test_what_is_kept_for_the_backward_pass_and_gradients_count():
    x = torch.ones(100, requires_grad=True)
    # exp keeps its result; in the backward pass ones and the product stand beside it.
    assert peak_bytes(lambda: x.exp().backward(torch.ones(100))) == 3 * FLOATS
