"""The stored runs' painters, training and examiners are the page's."""

from pathlib import Path

import nbformat
import pytest
import torch

from book.from_noise import painters, thirty
from companion.data import digits

CHAPTER = Path(__file__).parents[3] / "book/from_noise/from_noise.ipynb"
SEED, STEPS = 7, 45


@pytest.fixture(scope="module")
def page() -> dict:
    """What the chapter's cells define, for the seed."""
    cells = {cell.id: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {"seed": SEED, "device": "cpu"}
    for name in ("images", "sampler-code", "best-guess", "painted", "block", "dit", "train"):
        exec(cells[name], names)
    exec(cells["errors"].partition("\nerrors =")[0], names)
    exec(cells["examiners"], names)
    exec(cells["baselines"].partition("\nchance =")[0], names)
    return names


@pytest.fixture(scope="module")
def model() -> painters.DiT:
    images, labels = digits(SEED)
    return painters.learned(painters.DiT, 2 * images - 1, labels, SEED, steps=STEPS)


def test_the_dit_learns_what_that_of_the_page_learns(page, model):
    torch.manual_seed(SEED)
    theirs = page["learn"](page["DiT"](), steps=STEPS).state_dict()
    assert theirs.keys() == model.state_dict().keys()
    for name, weights in model.state_dict().items():
        torch.testing.assert_close(weights, theirs[name])


def test_it_paints_and_is_examined_as_on_the_page(page, model):
    pictures = painters.paint(model, SEED)
    assert torch.equal(pictures, page["grey"](page["paint"](model, page["noise"], page["asked"])))
    examiners, verdict = painters.Examiners(SEED), page["examine"](pictures)
    assert examiners.right(pictures) == pytest.approx(verdict["right"])
    assert examiners.told_apart(pictures) == pytest.approx(verdict["told apart"])
    held = page["held"], page["held_labels"]
    ours = painters.error(model, 2 * held[0] - 1, held[1], SEED)
    assert ours == pytest.approx(page["error"](model, *held))


def test_blends_and_what_is_near_to_a_training_picture_are_as_on_the_page(page):
    images, _ = thirty.thirty(SEED)
    pictures = thirty.blended(images, SEED)
    page["chance"] = torch.Generator().manual_seed(SEED + 2)
    drawn = [page["gaussian"](three) for three in (2 * images - 1).split(3)]
    theirs = page["grey"](torch.stack(drawn, dim=1).view(600, 1, 8, 8))
    assert (pictures != theirs).double().mean() < 0.01  # rounding to grey levels
    share = painters.Examiners(SEED).copies(pictures, images)
    assert 0.2 < share < 0.98
    assert share == pytest.approx(page["examine"](pictures, training=images)["copies"])


def test_every_patch_reads_the_token_and_answers_in_its_own_place():
    torch.manual_seed(0)
    token, z = painters.InContext(), torch.randn(2, 1, 8, 8)
    torch.nn.init.normal_(token.out.weight)

    def patches_that_differ(z, digits):
        pixels = token(z, torch.zeros(2), torch.tensor(digits)).view(2, 4, 2, 4, 2)
        return (pixels[0] != pixels[1]).any(3).any(1)

    z[1] = z[0]
    assert patches_that_differ(z, [3, 8]).all()
    assert not any("modulate" in name for name, _ in token.named_parameters())
    token.blocks = token.blocks[:0]  # nothing goes from place to place
    z[1, 0, 2:4, 6:] += 1
    assert patches_that_differ(z, [3, 8]).nonzero().tolist() == [[1, 3]]
