"""Press two words: scores follow the caption and the order of its words."""

import pytest
import torch
from playwright.sync_api import expect

from book.picture_and_words import jumble_figure, pairs
from tests.book.reading import Example, close, numbers, select

pytestmark = pytest.mark.browser

ROWS = torch.tensor([[4, 19, 52], [33, 4, 28], [7, 41, 10]])


def made():
    torch.manual_seed(3)
    random = torch.Generator().manual_seed(1)
    images = [torch.rand(2, 64, generator=random) for _ in range(10)]
    both = {"bags": pairs.Pair(), "order": pairs.Pair()}
    return both, ROWS, pairs.pictures(ROWS, images, random)


def figure():
    return jumble_figure(*made())


def test_scores_follow_the_picture_the_caption_and_the_order_of_its_words(show):
    both, rows, seen = made()
    page = show(figure(), reduced_motion="reduce")
    shown = page.locator("[data-name=scores] span[data-value]")
    words = page.get_by_role("group", name="caption").get_by_role("button")

    def agree(picture, row):
        with torch.no_grad():
            said = [
                (pair.see(seen[picture : picture + 1]) @ pair.read(row[None]).T).item()
                for pair in both.values()
            ]
        assert words.all_inner_texts() == pairs.words(row.tolist())
        close(numbers(shown), torch.tensor(said), 1e-4)

    agree(0, rows[1])
    select(page, "picture").select_option("2")
    select(page, "caption").select_option(" ".join(pairs.words(rows[2].tolist())))
    agree(2, rows[2])
    words.nth(0).click()
    expect(words.nth(0)).to_have_attribute("aria-pressed", "true")
    agree(2, rows[2])
    words.nth(2).press("Enter")
    agree(2, rows[2][[2, 1, 0]])
    words.nth(1).click()
    words.nth(1).click()  # held, and let go
    words.nth(1).click()
    words.nth(2).click()
    agree(2, rows[2][[2, 0, 1]])


def test_the_goals_follow_what_the_scores_say(show):
    data = figure().data
    made = figure()
    order = data["orders"].index([1, 0, 2])
    scores = {"bags": [[[0.5] * 6] * 3] * 3, "order": [[[0.1] * 6] * 3] * 3}
    scores["order"][0] = [[0.9 if o != order else 0.4 for o in range(6)]] * 3
    scores["bags"][0] = [[0.5 if o != order else 0.45 for o in range(6)]] * 3
    made.data = data | {"scores": scores}
    page = show(made, reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    words = page.get_by_role("group", name="caption").get_by_role("button")
    expect(reached).to_have_count(0)
    words.nth(0).click()
    words.nth(1).click()  # of another picture's caption
    expect(reached).to_have_count(0)
    select(page, "caption").select_option(" ".join(data["pictures"][0]["words"]))
    expect(reached).to_have_count(1)
    words.nth(0).click()
    words.nth(1).click()
    expect(reached).to_have_count(2)
    words.nth(1).click()
    words.nth(2).click()
    expect(reached).to_have_count(3)
    expect(page.get_by_role("status")).to_contain_text("no lower than in the right order for bags")


def test_one_pair_alone_is_refused():
    both, rows, seen = made()
    with pytest.raises(ValueError, match="two pairs and pictures"):
        jumble_figure({"bags": both["bags"]}, rows, seen)


EXAMPLE = Example(figure, "[data-name=scores] span[data-value]")
