"""Three views of positions, held to PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.positional_encoding import positions_figure
from companion.nn import RotaryEmbedding, sinusoidal_encoding
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser


def test_waves_equal_the_encoding(show):
    page = show(positions_figure())
    table = sinusoidal_encoding(64, 16, dtype=torch.float64)
    close(numbers(page.locator("[data-name^=wave-]")), table[3])
    press(page.get_by_role("slider", name="position"), "ArrowRight", times=4)
    close(numbers(page.locator("[data-name^=wave-]")), table[7])
    press(page.get_by_role("slider", name="columns"), "End")
    wide = sinusoidal_encoding(64, 128, dtype=torch.float64)[7]
    for name in (0, 1, 18, 126, 127):
        close(numbers(page.locator(f"[data-name=wave-{name}]")), wide[name])
    press(page.get_by_role("slider", name="columns"), "Home")
    close(numbers(page.locator("[data-name^=wave-]")), sinusoidal_encoding(8, 4)[7], 1e-7)


def test_similarity_depends_on_distance_alone(show):
    page = show(positions_figure())
    page.get_by_role("radio", name="similarity").check()
    slider = page.get_by_role("slider", name="position")
    for position in (3, 4, 63):
        press(slider, "End") if position == 63 else None
        table = sinusoidal_encoding(100, 16, dtype=torch.float64)
        expected = torch.stack(
            [table[position] @ table[position + d] for d in (1, 2, 4, 8, 16, 32)]
        )
        close(numbers(page.locator("[data-name=similarity] td[data-value]")), expected)
        press(slider, "ArrowRight")


def test_rotation_equals_rotary_embedding(show):
    page = show(positions_figure())
    page.get_by_role("radio", name="waves").focus()
    page.keyboard.press("ArrowLeft")  # round to the last of the three
    rope = RotaryEmbedding(8)

    def check(i: int, j: int, pair: int) -> None:
        vectors = torch.zeros(2, 1, 1, 8, dtype=torch.float64)
        vectors[0, ..., 2 * pair : 2 * pair + 2] = torch.tensor([1, 0.25])
        vectors[1, ..., 2 * pair : 2 * pair + 2] = torch.tensor([0.75, 0.75])
        query, key = rope(vectors[:1], torch.tensor([i])), rope(vectors[1:], torch.tensor([j]))
        close(numbers(page.locator("[data-name=product]")), (query * key).sum())

    check(5, 2, 0)
    before = numbers(page.locator("[data-name=product]"))
    page.get_by_role("button", name="Both one place later").click(click_count=3)
    check(8, 5, 0)
    close(numbers(page.locator("[data-name=product]")), before)
    select(page, "pair of entries").select_option("1")
    check(8, 5, 1)
    press(page.get_by_role("slider", name="query"), "End")
    check(63, 5, 1)
    press(page.get_by_role("slider", name="key"), "Home")
    check(63, 0, 1)
    expect(page.get_by_role("button", name="Both one place later")).to_be_disabled()


def test_goals_are_about_the_rotation(show):
    page = show(positions_figure())
    reached = page.locator(".cl-reached")
    page.get_by_role("radio", name="rotation").check()
    page.locator("input[name=i]").fill("40")
    expect(reached).to_have_count(0)
    page.locator("input[name=j]").fill("37")
    expect(reached).to_have_count(1)
    page.locator("input[name=j]").fill("26")
    expect(reached).to_have_count(1)
    page.locator("input[name=j]").fill("27")  # 13 steps: nearly all of the angle between them
    expect(reached).to_have_count(2)


EXAMPLE = Example(positions_figure, "[data-name^=wave-]")
