"""Words in a plane: points, shares and goals, held to the streams that the figure was given."""

import pytest
import torch
from playwright.sync_api import Page, expect

from book.transformer_block import collapse_figure
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

WORDS = ["A", "B", "C", "D", "E"]


def make_streams() -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    random = torch.Generator().manual_seed(5)
    start = torch.randn(5, 7, generator=random, dtype=torch.float64)
    mean = start.mean(0)
    kept = torch.stack([start, 3 * start, start + 0.2 * mean])
    lost = torch.stack([start, mean + 0.1 * (start - mean), mean + 0.001 * (start - mean)])
    return kept, {"norm alone": lost, "near the identity": kept.flip(0)}


def figure():
    return collapse_figure(WORDS, *make_streams())


def expected_shares(stream: torch.Tensor) -> torch.Tensor:
    return torch.stack([(x - x.mean(0)).norm() / x.norm() for x in stream])


def centres(page: Page) -> torch.Tensor:
    """Where the words are, from the middle of their field, in its pixels: (2, T, 2)."""
    fields = page.locator(".cl-stage rect.cl-axis[rx='8']").evaluate_all(
        "nodes => nodes.map((n) => [+n.getAttribute('x') + n.getAttribute('width') / 2,"
        " +n.getAttribute('y') + n.getAttribute('height') / 2])"
    )
    dots = page.locator(".cl-stage g:has(> circle)").evaluate_all(
        "nodes => nodes.map((n) => n.getAttribute('transform').match(/-?\\d[\\d.]*/g).map(Number))"
    )
    places = torch.tensor(dots, dtype=torch.float64).view(2, len(WORDS), 2)
    return places - torch.tensor(fields, dtype=torch.float64)[:, None]


def test_every_height_is_drawn_from_the_streams(show):
    kept, others = make_streams()
    page = show(figure(), reduced_motion="reduce")
    for name, lost in others.items():
        select(page, "the stack without:").select_option(name)
        press(page.get_by_role("slider"), "Home")
        for height in range(3):
            if height:
                page.get_by_role("button", name="Next").click()
            shown = numbers(page.locator("[data-name=kept], [data-name=lost]"))
            close(shown, torch.stack([expected_shares(x)[height] for x in (kept, lost)]))
            points = centres(page)
            for drawn, stream in zip(points, (kept, lost), strict=True):
                # in the plane distances are those of the projection, whichever way it is turned
                entering = kept[0] - kept[0].mean(0)
                plane = torch.linalg.svd(entering, full_matrices=False).Vh[:2]
                unit = stream[height] / stream[height].square().sum(-1).mean().sqrt()
                flat = unit @ plane.T
                size = float(page.locator(".cl-axis[rx='8']").first.get_attribute("width"))
                found = torch.cdist(drawn, drawn) / (0.47 * size)
                close(found.flatten(), torch.cdist(flat, flat), 1e-6)
                close(drawn.norm(dim=1) / (0.47 * size), flat.norm(dim=1), 1e-6)


def test_the_goals_are_reached(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    expect(page.get_by_text("2 of 3: block 1")).to_be_visible()  # where it opens
    expect(reached).to_have_count(0)
    page.get_by_role("button", name="Next").click()
    expect(reached).to_have_count(1)
    expect(page.get_by_role("status")).to_contain_text("All words are as good as one point")
    select(page, "the stack without:").select_option("near the identity")
    expect(reached).to_have_count(2)


def test_streams_of_other_shapes_are_refused():
    kept, others = make_streams()
    with pytest.raises(ValueError, match="5, d"):
        collapse_figure(WORDS, kept, {"short": others["norm alone"][:2]})


EXAMPLE = Example(
    figure, "[data-name=kept], [data-name=lost]", "tbody tr:nth-child(2) td"
)  # it opens there
