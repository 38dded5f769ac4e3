"""Who sends least: four bars follow width, tokens and machines, as Python counts them."""

import pytest
import torch
from playwright.sync_api import expect

from book.many_machines import network, tensor_parallel, traffic_figure
from book.many_machines.figures.traffic import WAYS, traffic
from companion.nn import EncoderBlock
from tests.book.reading import Example, close, numbers

pytestmark = pytest.mark.browser

SHOWN = ", ".join(f"[data-name='{way}']" for way in WAYS)


def slide(page, **places):
    for name, place in places.items():
        page.get_by_role("slider", name=name).fill(str(place))


def test_every_number_is_that_of_python(show):
    page = show(traffic_figure(blocks=6))
    for width, tokens, machines in ((6, 12, 1), (9, 21, 3), (14, 48, 6)):
        slide(page, width=width, tokens=tokens, machines=machines)
        count = traffic(2**width, round(2 ** (tokens / 2)), 2**machines, 6)
        close(numbers(page.locator(SHOWN)), torch.tensor(count).double() / 1e9, 1e-6)


def test_tensor_parallel_sends_what_the_messages_say():
    width, tokens, N = 16, 10, 4
    block = EncoderBlock(width, 4, 4 * width, norm_first=True)
    net = network.Network(N)
    x = torch.randn(1, tokens, width)
    parts = tensor_parallel.cut(block, N)
    outputs = tensor_parallel.parallel_block(net, parts, [x] * N)
    sum(output.sum() for output in outputs).backward()
    data, zero3, tensor, _ = traffic(width, tokens, N, 1)
    assert max(net.sent) / 4 == tensor / 2  # numbers
    net = network.Network(N)
    network.all_reduce(net, [torch.zeros(12 * width**2)] * N)
    assert max(net.sent) / 4 == data / 2
    network.all_gather(net, [torch.zeros(3 * width**2)] * N)
    assert max(net.sent) / 4 == zero3 / 2


def test_the_goals_are_reached_and_not_before(show):
    page = show(traffic_figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    slide(page, tokens=26)
    expect(reached).to_have_count(0)
    slide(page, tokens=27)  # 11,585 tokens, near three times 4,096
    expect(reached).to_have_count(1)
    slide(page, width=9)
    slide(page, tokens=21)
    expect(reached).to_have_count(2)
    expect(page.get_by_role("status")).to_contain_text("0.94 times")
    slide(page, tokens=44)
    expect(reached).to_have_count(3)


def test_sizes_that_no_slider_has_are_refused():
    with pytest.raises(ValueError, match=r"width starts as a power of 2 .* got 1000"):
        traffic_figure(width=1000)
    with pytest.raises(ValueError, match=r"machines starts .* got 128"):
        traffic_figure(machines=128)


EXAMPLE = Example(traffic_figure, SHOWN)
