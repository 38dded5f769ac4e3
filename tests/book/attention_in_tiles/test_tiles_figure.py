"""The live figure of tiles: running softmax and bytes moved, held to PyTorch at every step."""

import math

import pytest
import torch
from playwright.sync_api import expect

from book.attention_in_tiles import tiles_figure
from companion.nn import scaled_dot_product_attention
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser


def problem(T: int, S: int, d: int = 3) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(7)
    draw = lambda *shape: torch.randn(*shape, generator=random, dtype=torch.float64)  # noqa: E731
    return 2 * draw(T, d), draw(S, d), 10 * draw(S)


def tiles(T: int, S: int, block: int, causal: bool) -> list[tuple[range, range]]:
    """The queries and keys of every tile that somebody may look at, a row of tiles at a time."""
    found = []
    for first in range(0, T, block):
        rows = range(first, min(first + block, T))
        sight = min(S, rows.stop + S - T) if causal else S
        for start in range(0, sight, block):
            found.append((rows, range(start, min(start + block, sight))))
    return found


def held(query, key, value, i: int, seen: int, causal: bool) -> list[float]:
    """Of the first `seen` keys of query i: largest score, sum, blend, blend / sum; by softmax."""
    scores = key[:seen] @ query[i] / math.sqrt(query.shape[1])
    if causal:
        late = torch.arange(seen) > i + len(key) - len(query)
        scores = scores.masked_fill(late, -math.inf)
    if (scores == -math.inf).all():
        return [-math.inf, 0.0, 0.0, math.nan]
    largest = scores.max()
    weights = (scores - largest).exp()
    blend = weights @ value[:seen]
    return [x.item() for x in (largest, weights.sum(), blend, scores.softmax(0) @ value[:seen])]


def check(page, problem, block: int, causal: bool, step: int) -> None:
    query, key, value = problem
    done = tiles(len(query), len(key), block, causal)[:step]
    expected = []
    for i in range(len(query)):
        seen = max((columns.stop for rows, columns in done if i in rows), default=0)
        expected.append(held(*problem, i, seen, causal))
    for j, name in enumerate(("max", "sum", "blend", "blend / sum")):
        found = numbers(page.locator(f'[data-name=running] [data-name="{name}"]'))
        torch.testing.assert_close(
            found, torch.tensor([row[j] for row in expected], dtype=torch.float64), equal_nan=True
        )
    exact, _ = scaled_dot_product_attention(query, key, value[:, None], is_causal=causal)
    close(numbers(page.locator('[data-name="exact"]')), exact)
    if done:
        rows, columns = done[-1]
        scores = (query @ key.T / math.sqrt(query.shape[1]))[rows.start : rows.stop]
        shown = [
            score
            for i, row in zip(rows, scores[:, columns.start : columns.stop].tolist(), strict=True)
            for j, score in zip(columns, row, strict=True)
            if not causal or j <= i + len(key) - len(query)
        ]
        close(
            numbers(page.locator("[data-name=scores] [data-value]")),
            torch.tensor(shown, dtype=torch.float64),
        )


def moved(problem, block: int, causal: bool, step: int) -> tuple[int, int]:
    """Bytes that these steps copy out of the problem's tensors, and into the output."""
    query, key, value = (x.float() for x in problem)
    read = written = 0
    done = tiles(len(query), len(key), block, causal)
    for i, (rows, columns) in enumerate(done[:step]):
        blocks = [key[columns.start : columns.stop], value[columns.start : columns.stop]]
        if columns.start == 0:
            blocks.append(query[rows.start : rows.stop])
        read += sum(x.clone().nbytes for x in blocks)
        if i + 1 == len(done) or done[i + 1][0] != rows:
            written += torch.empty(len(rows)).nbytes
    return read, written


def count(page, name: str) -> int:
    return int(numbers(page.locator(f"[data-name={name}]")).item())


@pytest.mark.parametrize(("T", "S"), [(5, 5), (4, 7), (7, 4)])
def test_bytes_are_counted_at_every_step(show, T, S):
    given = problem(T, S)
    page = show(tiles_figure(*given))
    scores = (given[0] @ given[1].T).float()  # written, read, written as weights, read
    whole = sum(x.float().nbytes for x in given) + 2 * scores.nbytes
    assert count(page, "table-read") == whole
    assert count(page, "table-written") == 2 * scores.nbytes + torch.empty(T).nbytes
    assert count(page, "table-moved") == whole + count(page, "table-written")
    for block, causal in ((1, False), (2, True), (3, False)):
        select(page, "block size").select_option(str(block))
        page.get_by_role("checkbox", name="causal").set_checked(causal)
        press(page.get_by_role("slider", name="tile"), "Home")
        for step in range(len(tiles(T, S, block, causal)) + 1):
            read, written = moved(given, block, causal, step)
            assert (count(page, "read"), count(page, "written")) == (read, written)
            assert count(page, "moved") == read + written
            press(page.get_by_role("slider", name="tile"), "ArrowRight")


def test_tiles_must_fit_and_two_goals_say_so(show):
    given = problem(6, 6, 4)
    page = show(tiles_figure(*given, capacity=45))
    reached, slider = page.locator(".cl-goals .cl-reached"), page.get_by_role("slider")
    for block, fits, goals in ((6, False, 0), (2, True, 0), (3, True, 1), (1, True, 2)):
        press(slider, "Home")
        select(page, "block size").select_option(str(block))
        held = torch.empty(3, block)  # maximum, sum and blend of every query
        tile = torch.empty(block, block)
        room = sum(x[:block].float().nbytes for x in given) + held.nbytes + tile.nbytes
        assert count(page, "room") == room
        assert (room <= 45 * 4) == fits
        says = "They fit." if fits else "do not fit"
        expect(page.get_by_text(says)).to_be_visible()
        press(slider, "End")
        expect(reached).to_have_count(goals)


@pytest.mark.parametrize(("T", "S"), [(5, 5), (4, 7), (7, 4)])
def test_every_step_equals_the_running_softmax(show, T, S):
    given = problem(T, S)
    page = show(tiles_figure(*given))
    slider = page.get_by_role("slider", name="tile")
    for block in (2, 1, 3):
        select(page, "block size").select_option(str(block))
        for causal in (False, True):
            page.get_by_role("checkbox", name="causal").set_checked(causal)
            press(slider, "Home")
            count = len(tiles(T, S, block, causal))
            for step in range(count + 1):
                assert slider.input_value() == str(step)
                check(page, given, block, causal, step)
                press(slider, "ArrowRight")
            assert slider.input_value() == str(count)
            found = numbers(page.locator('[data-name="blend / sum"]')).nan_to_num(0.0)
            close(found, numbers(page.locator('[data-name="exact"]')))
            expect(page.get_by_role("status")).to_contain_text(
                "The last tile: blend / sum is exact"
            )


def test_the_buttons_step_and_stop_at_both_ends(show):
    given = problem(4, 4)
    page = show(tiles_figure(*given))
    back, forward = (page.get_by_role("button", name=name) for name in ("Back", "Next tile"))
    forward.press("Enter")
    check(page, given, 2, False, 2)
    back.click()
    back.click()
    expect(back).to_be_disabled()
    check(page, given, 2, False, 0)
    press(page.get_by_role("slider"), "End")
    expect(forward).to_be_disabled()
    select(page, "block size").select_option("4")  # one tile is left, and the step follows
    check(page, given, 4, False, 1)
    expect(forward).to_be_disabled()


EXAMPLE = Example(lambda: tiles_figure(*problem(3, 3)), "[data-name=running] td[data-name=exact]")
