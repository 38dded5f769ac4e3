"""The live figure of nearest words: every word's neighbours and the crowds against PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.embeddings import neighbours_figure
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

WORDS = [f"w{i}" for i in range(60)]
GROUPS = {"some": ["w20", "w17", "w0"], "others": ["w41", "w5"]}
OFFERED = [word for group in GROUPS.values() for word in group]
random = torch.Generator().manual_seed(4)
OTHER = torch.randn(35, 3, generator=random)


def vectors(common: float) -> torch.Tensor:
    """Rows that share a part as long as `common`, so that the mean makes a difference."""
    generator = torch.Generator().manual_seed(8)
    rows = torch.randn(60, 4, generator=generator)
    return rows + common * torch.tensor([1.0, -1.0, 0.5, 0.0])


def figure(common: float = 1.0):
    return neighbours_figure({"this": vectors(common), "other": OTHER}, WORDS, GROUPS)


def cosines(rows: torch.Tensor, without: bool) -> torch.Tensor:
    rows = rows.double()
    rows = rows - rows.mean(0) if without else rows
    rows = rows / rows.norm(dim=1, keepdim=True)
    return (rows @ rows.T).fill_diagonal_(-2)


def test_every_word_has_the_neighbours_that_pytorch_finds(show):
    page = show(figure(), reduced_motion="reduce")
    status = page.get_by_role("status")
    for without in (False, True):
        all_cosines = cosines(vectors(1.0), without)
        for word in OFFERED:
            select(page, "word").select_option(word)
            best = all_cosines[WORDS.index(word)].topk(6)
            near = [WORDS[i] for i in best.indices]
            assert page.locator("[data-name=near]").all_text_contents() == near
            close(numbers(page.locator("[data-name=cosine]")), best.values, 1e-6)
            back = WORDS[all_cosines[WORDS.index(near[0])].argmax()]
            said = "Each is the other's" if back == word else f"nearest to “{near[0]}” is “{back}”"
            expect(status).to_contain_text(said)
        press(page.get_by_role("checkbox"), "Space")


def test_dots_stand_at_their_cosines(show):
    page = show(figure(), reduced_motion="reduce", viewport={"width": 700, "height": 700})
    found = page.locator("circle").evaluate_all(
        "all => all.map((c) => c.parentNode.transform.baseVal[0].matrix.e)"
    )
    expected = cosines(vectors(1.0), False)[20].topk(6).values
    left, right = 112, page.locator(".cl-stage svg").evaluate("s => s.viewBox.baseVal.width") - 40
    places = torch.tensor(found).sub(left).div(right - left).mul(1.4).sub(0.4)
    close(places.double(), expected, 1e-4)


def test_random_words_are_near_each_other_until_the_common_part_is_gone(show):
    page = show(figure(common=3.0), reduced_motion="reduce")
    for without in (False, True):
        found = numbers(page.locator("[data-name=mean]"))
        for mean, rows in zip(found, (vectors(3.0), OTHER), strict=True):
            pairs = cosines(rows, without)[~torch.eye(len(rows), dtype=torch.bool)]
            assert abs(mean - pairs.mean()) < 0.03
        press(page.get_by_role("checkbox"), "Space")


def test_goals_are_reached(show):
    page = show(figure(), reduced_motion="reduce")
    as_is, without = (cosines(vectors(1.0), way) for way in (False, True))
    index = {word: WORDS.index(word) for word in OFFERED}
    one_way = [w for w, i in index.items() if as_is[as_is[i].argmax()].argmax() != i]
    changes = [w for w, i in index.items() if as_is[i].argmax() != without[i].argmax()]
    assert "w20" not in one_way and "w20" not in changes and one_way and changes
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    select(page, "word").select_option(one_way[0])
    expect(reached).to_have_count(1)
    select(page, "word").select_option(changes[0])
    expect(reached).to_have_count(1)  # only when it is taken off
    press(page.get_by_role("checkbox"), "Space")
    expect(reached).to_have_count(2)
    wide = neighbours_figure({"wide": torch.eye(60) + 0.001}, WORDS, GROUPS)
    expect(show(wide).locator(".cl-reached", has_text="loner")).to_have_count(1)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"60 words need as many rows, got \(35, 3\)"):
        neighbours_figure({"other": OTHER}, WORDS, GROUPS)
    with pytest.raises(ValueError, match="no row for zebra"):
        neighbours_figure({"this": vectors(1.0)}, WORDS, {"all": ["w1", "zebra"]})


EXAMPLE = Example(figure, "[data-name=cosine]")
