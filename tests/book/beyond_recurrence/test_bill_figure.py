"""The live figure of what a layer costs, held to the operations that torch counts."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from book.beyond_recurrence import bill_figure
from companion.nn import FeedForward, MultiHeadAttention
from tests.book.reading import Example, numbers, press, select

pytestmark = pytest.mark.browser


def make():
    return bill_figure(lstm=16, matrices=8, pairs=4, feed_forward=16)


def counted(n: int, d: int, fed: bool) -> list[int]:
    """Of an LSTM and of attention, by torch's counter, on tensors without numbers."""
    with torch.device("meta"):
        x, attention = torch.randn(1, n, d), MultiHeadAttention(d, num_heads=1)
        network = FeedForward(d, 4 * d)
        # nn.LSTM takes one step at a time: two products of (1, d) with (d, 4 d) for every word.
        gates = [torch.randn(d, 4 * d) for _ in range(2)]
    costs = []
    for layer in (
        lambda: [x[0] @ gate for gate in gates],
        lambda: attention(x, need_weights=True),
    ):
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            layer()
            if fed:
                network(x)
        costs.append(counter.get_total_flops())
    return costs


def check(page, n: int, d: int, fed: bool) -> None:
    lstm, attention = counted(n, d, fed)
    totals = numbers(page.locator("[data-name=LSTM-total], [data-name=attention-total]"))
    assert totals.tolist() == [lstm, attention]
    ratio = numbers(page.locator("[data-name=ratio]")).item()
    assert ratio == pytest.approx(attention / lstm, abs=1e-12)
    share = numbers(page.locator("[data-name=share]")).item()
    assert share == pytest.approx(4 * n * n * d / attention, abs=1e-12)


def test_every_bill_is_the_one_that_torch_counts(show):
    page = show(make())
    check(page, 256, 512, False)
    press(page.get_by_role("slider", name="words"), "ArrowRight", times=3)
    check(page, 304, 512, False)
    select(page, "width d").select_option("128")
    check(page, 304, 128, False)
    page.get_by_role("checkbox").check()
    check(page, 304, 128, True)
    press(page.get_by_role("slider", name="words"), "Home")
    check(page, 16, 128, True)


def test_two_goals_need_the_feed_forward_network(show):
    page = show(bill_figure(16, 8, 4, 16, n=256, d=128))
    reached = page.locator(".cl-goals .cl-reached")
    assert numbers(page.locator("[data-name=ratio]")).item() == 1  # at n = 2 d, but without it
    assert reached.count() == 0
    page.get_by_role("checkbox").check()
    assert reached.count() == 1
    press(page.get_by_role("slider", name="words"), "ArrowRight", times=29)
    assert reached.count() == 1
    press(page.get_by_role("slider", name="words"), "ArrowRight", times=3)  # n = 6 d
    assert numbers(page.locator("[data-name=share]")).item() == 0.5
    assert reached.count() == 2


@pytest.mark.parametrize(("n", "d"), [(20, 512), (0, 512), (8208, 512), (256, 64)])
def test_a_start_that_the_sliders_do_not_have(n, d):
    with pytest.raises(ValueError, match=f"got {n}, {d}"):
        bill_figure(16, 8, 4, 16, n=n, d=d)


EXAMPLE = Example(make, "[data-name=ratio], [data-name=share]")
