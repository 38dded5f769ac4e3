"""A word leaves its row for one of two clouds: every height's numbers are PyTorch's."""

import pytest
import torch
from playwright.sync_api import expect

from book.contextual_embeddings import leaving_figure
from book.contextual_embeddings.homonyms import HomonymSentence, homonym_sentences
from companion.data.lexicon import HOMONYMS
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

HEIGHTS = ("row", "position", "block 1", "block 2")
WORDS = ("bat", "bank")
SENTENCES: dict[str, list[HomonymSentence]] = {
    word: homonym_sentences(11, 5, homonym=word) for word in WORDS
}


def senses(word: str) -> torch.Tensor:
    return torch.tensor([sentence.sense for sentence in SENTENCES[word]])


def stream(word: str) -> torch.Tensor:
    """One row, scattered, then moved along a direction according to the sense; of bank less so."""
    random = torch.Generator().manual_seed(len(word))
    draw = torch.randn(3, 11, 7, generator=random, dtype=torch.float64)
    away = torch.randn(7, generator=random, dtype=torch.float64)
    side = (2 * senses(word) - 1)[:, None] * away
    row = torch.ones(1, 11, 7, dtype=torch.float64)
    steps = torch.stack([draw[0] * 0.3, draw[1] + 0.2 * side, draw[2] + len(word) * side])
    return torch.cat([row, row + steps])


def figure():
    return leaving_figure(HEIGHTS, {word: stream(word) for word in WORDS}, SENTENCES)


def judged(word: str, height: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Share nearer to the own mean, and distance of the means, in the plane of the last height."""
    vectors, side = stream(word), senses(word)
    last = vectors[-1]
    across = last[side == 1].mean(0) - last[side == 0].mean(0)
    across = across / across.norm()
    centred = last - last.mean(0)
    beside = centred - torch.outer(centred @ across, across)
    up = torch.linalg.eigh(beside.T @ beside).eigenvectors[:, -1]
    points = vectors[height] @ torch.stack([across, up]).T
    means = torch.stack([points[side == sense].mean(0) for sense in (0, 1)])
    right = torch.cdist(points, means).argmin(1) == side
    return right.double().mean(), (means[0] - means[1]).norm()


@pytest.mark.parametrize("word", WORDS)
def test_every_height_shows_what_pytorch_finds_in_the_plane(show, word):
    page = show(figure(), reduced_motion="reduce")
    select(page, "word").select_option(word)
    press(page.get_by_role("slider", name="step"), "Home")
    press(page.get_by_role("slider", name="step"), "ArrowRight")
    for height in (1, 2, 3):
        expect(page.get_by_text(f"{height + 1} of 4: {HEIGHTS[height]}")).to_be_visible()
        found = numbers(page.locator("[data-name=share], [data-name=gap]"))
        close(found, torch.stack(judged(word, height)))
        press(page.get_by_role("slider", name="step"), "ArrowRight")
    page.get_by_role("slider", name="step").press("Home")
    expect(page.get_by_role("status")).to_contain_text("one and the same row")


def test_the_ring_says_which_sentence_it_is(show):
    page = show(figure(), reduced_motion="reduce")
    press(page.get_by_role("slider", name="the ring"), "ArrowRight", times=4)
    sentence = " ".join(SENTENCES["bat"][4].words)
    expect(page.get_by_role("status")).to_contain_text(f"The ring is “{sentence}”.")


def test_it_opens_on_the_two_clouds_with_their_names_and_fits_a_screen(show):
    page = show(figure(), reduced_motion="reduce", viewport={"width": 740, "height": 800})
    expect(page.get_by_text(f"4 of 4: {HEIGHTS[3]}")).to_be_visible()
    for cues in HOMONYMS["bat"]:
        expect(page.locator("svg").get_by_text(", ".join(cues[:3]))).to_be_visible()
    assert page.locator(".cl").bounding_box()["height"] <= 640
    page.get_by_role("slider", name="step").press("Home")  # one point has no two names
    for cues in HOMONYMS["bat"]:
        expect(page.locator("svg").get_by_text(", ".join(cues[:3]))).not_to_be_visible()


def test_goals_are_reached(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    enough = [height for height in (1, 2, 3) if judged("bank", height)[0] >= 0.9]
    gaps = {word: judged(word, 3)[1] for word in WORDS}
    assert enough and enough[0] > 1 and max(gaps, key=gaps.get) == "bank"
    expect(reached).to_have_count(0)  # the first word is no answer
    press(page.get_by_role("slider", name="step"), "Home")
    select(page, "word").select_option("bank")
    expect(reached).to_have_count(0)
    press(page.get_by_role("slider", name="step"), "ArrowRight", times=enough[0])
    expect(reached).to_have_count(1 + (enough[0] == 3))
    press(page.get_by_role("slider", name="step"), "End")
    expect(reached).to_have_count(2)  # the word whose means end farthest from each other


EXAMPLE = Example(figure, "[data-name=gap]")
