"""The bench's curves: where they lie, what is said of them, and what is refused."""

import re

import pytest
from markdown_it import MarkdownIt

from book.own_language_model.curves import HEIGHT, beside, progress


def points(page: str) -> list[list[tuple[float, float]]]:
    found = re.findall(r'<path d="M([^"]+)"', page)
    return [[tuple(map(float, point.split())) for point in path.split("L")] for path in found]


def test_a_lower_loss_lies_lower_and_both_curves_end_where_the_shorter_does():
    page = beside({"new": [5.0, 4.0, 3.0, 1.0], "old": [5.0, 4.5, 4.0, 3.5, 0.0]}, every=1)
    new, old = points(page)
    assert len(new) == len(old) == 4
    assert [x for x, _ in new] == [x for x, _ in old] == sorted(x for x, _ in new)
    assert new[0] == old[0] and all(a[1] > b[1] for a, b in zip(new[1:], old[1:], strict=True))
    assert new[-1][1] < HEIGHT
    per_nat = (new[-1][1] - new[0][1]) / 4
    assert old[-1][1] - old[0][1] == pytest.approx(1.5 * per_nat, abs=0.1)
    assert "new (solid): **1.00** after 4 steps; old (dashed): **3.50** after 4 steps" in page


def test_the_bench_shows_the_picture_and_not_its_source():
    page = MarkdownIt().enable("table").render(beside({"<new>": [2.0, 1.0]}))
    assert "<svg viewBox" in page and "&lt;svg" not in page
    assert "&lt;new&gt;" in re.search(r'aria-label="([^"]*)"', page)[1]


def test_means_of_several_steps_are_drawn():
    (path,) = points(beside({"one": [4.0, 2.0, 2.0, 0.0]}, every=2))
    assert len(path) == 2
    ((_, first), (_, last)), (top, bottom) = path, (8, HEIGHT - 34)
    assert (first - top) / (bottom - top) == pytest.approx(0.25, abs=0.01)
    assert (last - top) / (bottom - top) == pytest.approx(0.75, abs=0.01)


def test_progress_says_how_far_it_is():
    assert '<progress value="30" max="200">' in progress(30, 200, 3.21)
    assert "step 30 of 200, loss 3.21" in progress(30, 200, 3.21)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="told apart, got 0"):
        beside({})
    with pytest.raises(ValueError, match="two steps"):
        beside({"short": [1.0], "long": [2.0, 1.0]})
