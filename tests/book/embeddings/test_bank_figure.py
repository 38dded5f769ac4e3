"""The live figure of a word between two meanings: its cosines and places against PyTorch."""

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import expect

from book.embeddings import bank_figure
from companion.data import Vocabulary
from companion.data.lexicon import HOMONYMS, MATES
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

VOCABULARY = Vocabulary()
random = torch.Generator().manual_seed(5)
# Not centred, so that there is a common part.
VECTORS = torch.randn(len(VOCABULARY), 7, generator=random) + 0.7
TWELVE = [mate for pair in MATES.values() for mate in pair]


def rows(words, common: bool) -> torch.Tensor:
    """Their vectors as the figure shows them, with the common part or without it."""
    unit = F.normalize(VECTORS.half().double(), dim=1)
    if not common:
        unit = F.normalize(unit - unit[VOCABULARY.encode([TWELVE])[0]].mean(0), dim=1)
    return unit[VOCABULARY.encode([list(words)])[0]]


def check(page, word: str, common: bool, mix: int) -> None:
    here, first, second = rows((word, *MATES[word]), common)
    others = rows([mate for mate in TWELVE if mate not in MATES[word]], common)
    mixed = F.normalize((1 - mix / 100) * first + mix / 100 * second, dim=0)
    pairs = [first @ second, (others @ first).mean(), here @ mixed]
    close(numbers(page.locator("[data-name=cosines] [data-value]")), torch.stack(pairs))
    basis = torch.linalg.qr(torch.stack([first, second], dim=1)).Q
    explained = (basis.T @ here).square().sum()
    expect(page.get_by_role("status")).to_contain_text(f"gives {100 * explained:.0f} % of the")


def places(page, name: str) -> torch.Tensor:
    """Where the dots of a class are in the drawing, y upwards."""
    found = page.locator(f"svg .{name}[transform]").evaluate_all(
        "nodes => nodes.map((node) => node.transform.baseVal[0].matrix).map((m) => [m.e, -m.f])"
    )
    return torch.tensor([at for at in found if at != [0, 0]], dtype=torch.float64)


def test_every_number_equals_pytorchs(show):
    page = show(bank_figure(VECTORS, VOCABULARY), reduced_motion="reduce")
    check(page, "bank", common=True, mix=25)
    press(page.get_by_role("checkbox"), "Space")
    check(page, "bank", common=False, mix=25)
    press(page.locator("input[name=mix]"), "ArrowRight", times=6)
    check(page, "bank", common=False, mix=55)
    select(page, "word").select_option("seal")
    check(page, "seal", common=False, mix=55)


@pytest.mark.parametrize("common", [True, False])
def test_the_company_is_drawn_where_it_falls_on_the_plane_of_the_mates(show, common):
    page = show(bank_figure(VECTORS, VOCABULARY), reduced_motion="reduce")
    if not common:
        press(page.get_by_role("checkbox"), "Space")
    first, second = rows(MATES["bank"], common)
    plane = torch.stack([F.normalize(second - first, dim=0), F.normalize(first + second, dim=0)])
    for name, cues in zip(("cl-crowd0", "cl-crowd1"), HOMONYMS["bank"], strict=True):
        true = torch.pdist(rows(cues, common) @ plane.T)
        drawn = torch.pdist(places(page, name))
        close(drawn / drawn.mean(), true / true.mean(), 1e-4)


def test_the_mixture_is_moved_by_keys_and_dragged_along_its_way(show):
    page = show(bank_figure(VECTORS, VOCABULARY), reduced_motion="reduce")
    handle = page.get_by_role("slider", name="mixture, moved with the arrow keys")
    place = "node => { const b = node.getBoundingClientRect();"
    place += " return [b.x + b.width / 2, b.y + b.height / 2]; }"
    middle = handle.locator("circle").last
    ends = {}
    for key, mix in (("ArrowLeft", 0), ("ArrowRight", 100)):
        press(handle, key, times=20)
        check(page, "bank", common=True, mix=mix)
        assert handle.get_attribute("aria-valuenow") == str(mix)
        ends[mix] = middle.evaluate(place)
    page.mouse.move(*ends[100])
    page.mouse.down()
    page.mouse.move(*ends[0])
    page.mouse.up()
    check(page, "bank", common=True, mix=0)


def test_goals_are_reached_by_what_they_ask_for(show):
    # bank is the sum of its mates, and all words share a large part
    vectors = VECTORS + 3
    bank, *mates = (VOCABULARY.id(word) for word in ("bank", *MATES["bank"]))
    vectors[bank] = vectors[mates].mean(0)
    page = show(bank_figure(vectors, VOCABULARY), reduced_motion="reduce")
    goals = page.get_by_role("listitem")
    expect(page.locator(".cl-reached")).to_have_count(0)
    mixture = page.locator("input[name=mix]")
    press(mixture, "Home")
    expect(goals.nth(0)).to_have_class("cl-reached")
    press(page.get_by_role("checkbox"), "Space")
    expect(goals.nth(1)).not_to_have_class("cl-reached")
    press(mixture, "ArrowRight", times=20)  # past the best one; what is reached stays reached
    expect(goals.nth(1)).to_have_class("cl-reached")


def test_vectors_of_another_vocabulary_are_refused():
    with pytest.raises(ValueError, match=r"\(5, 7\).*expected one row for each of the 6"):
        bank_figure(VECTORS[:5], VOCABULARY)


EXAMPLE = Example(lambda: bank_figure(VECTORS, VOCABULARY), "[data-name=cosines] [data-value]")
