"""What must be shared: the share of digits read follows the layers and the outputs."""

from itertools import product

import pytest
import torch
from playwright.sync_api import expect

from book.small_change import shared_figure
from tests.book.reading import Example, close, numbers

pytestmark = pytest.mark.browser

LAYERS = ("first", "middle", "last")
READS = {
    (10, *LAYERS): (0.75, 0.875), (10, "first", "middle"): (0.0625, 0.125),
    (10, "last"): (0.25, 0.125), (128, *LAYERS): (0.875, 0.875),
    (128, "last"): (0.75, 0.5), (128, "first", "last"): (0.875, 0.75),
    (128, "middle", "last"): (0.875, 0.75),
}  # fmt: skip
RUNS = [
    {"extra": extra, "shared": shared, "reads": reads}
    for extra in (10, 128)
    for kept in product((True, False), repeat=3)
    for shared in [[layer for layer, there in zip(LAYERS, kept, strict=True) if there]]
    for reads in READS.get((extra, *shared), (0.125, 0.0625))
]


def figure():
    return shared_figure(RUNS)


def test_every_choice_of_layers_shows_the_mean_of_its_runs(show):
    page = show(figure(), reduced_motion="reduce")
    for extra, kept in product((10, 128), product((True, False), repeat=3)):
        page.get_by_role("radio", name=f"{extra} meaningless").check()
        for layer, there in zip(LAYERS, kept, strict=True):
            page.get_by_role("checkbox", name=f"share the {layer} layer").set_checked(there)
        shared = [layer for layer, there in zip(LAYERS, kept, strict=True) if there]
        runs = [r["reads"] for r in RUNS if r["extra"] == extra and r["shared"] == shared]
        close(numbers(page.locator("[data-name=reads]")), torch.tensor(sum(runs) / 2))
    expect(page.get_by_role("status")).to_contain_text("nothing shared, students read 9 %")


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    share = [page.get_by_role("checkbox", name=f"share the {layer}") for layer in LAYERS]
    for box, count in zip(share, (0, 0, 1), strict=True):
        box.check()
        expect(reached).to_have_count(count)
    page.get_by_role("radio", name="128 meaningless").check()
    share[0].uncheck()
    expect(reached).to_have_count(1)
    share[1].uncheck()  # the last layer alone
    expect(reached).to_have_count(2)
    share[2].uncheck()
    share[0].check()
    share[1].check()  # the first two
    expect(reached).to_have_count(3)


def test_a_choice_without_a_run_is_refused():
    with pytest.raises(ValueError, match="no run shares"):
        shared_figure(RUNS[2:])


EXAMPLE = Example(figure, "[data-name=reads]")
