"""The painters of the page, held to PyTorch: the chapter's DiT and the best guess."""

import math
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
import torch
from playwright.sync_api import expect

from book.from_noise import denoising_figure
from book.from_noise.figures.denoising import ANY, NOISES, best_guess, painted, rounded
from companion.nn import sinusoidal_encoding
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

CHAPTER = Path(__file__).parents[3] / "book/from_noise/from_noise.ipynb"
LABELS = torch.arange(20) % 10


def pictures() -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randint(17, (20, 1, 8, 8), generator=generator) / 16


def dit():
    """The model of the chapter, small and with random weights."""
    cells = {cell.id: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {"torch": torch}
    exec(cells["block"] + "\n\n" + cells["dit"], names)
    torch.manual_seed(0)
    model = names["DiT"](d=8, layers=2, heads=2)
    for parameter in model.parameters():
        parameter.data = 0.4 * torch.randn_like(parameter)
    return model.eval()


IMAGES, MODEL = pictures(), dit()
FLAT = (2 * IMAGES.flatten(1) - 1).double()
EXACT = rounded(deepcopy(MODEL).double())  # what travels: a byte for each weight
EXACT.waves = sinusoidal_encoding(1001, 8, dtype=torch.float64)


def noise(pair: int, between: float, seed: int = 0) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    noises = torch.randn(NOISES, 64, generator=draw).half().double()
    turn = math.pi / 2 * between
    return (math.cos(turn) * noises[pair] + math.sin(turn) * noises[(pair + 1) % NOISES])[None]


def end(page) -> torch.Tensor:
    return numbers(page.locator("[data-name=end] rect[data-value]"))


def test_the_dit_paints_what_pytorch_paints(show):
    page = show(denoising_figure(IMAGES, LABELS, MODEL))
    close(end(page), painted(EXACT, noise(0, 0), 3, 8))
    for digit, steps, w in ((0, 1, 1), (7, 2, 1), (9, 4, 2), (9, 16, 0), (ANY, 8, 1), (5, 8, 4)):
        select(page, "digit").select_option(str(digit))
        select(page, "steps").select_option(str(steps))
        select(page, "guidance w").select_option(str(w))
        close(end(page), painted(EXACT, noise(0, 0), digit, steps, w), 1e-7)


def test_the_best_guess_paints_what_pytorch_paints(show):
    page = show(denoising_figure(IMAGES, LABELS))
    guess = best_guess(FLAT, LABELS)
    close(end(page), painted(guess, noise(0, 0), 3, 8))
    for digit, steps in ((0, 1), (7, 2), (ANY, 16)):
        select(page, "digit").select_option(str(digit))
        select(page, "steps").select_option(str(steps))
        close(end(page), painted(guess, noise(0, 0), digit, steps))
    expect(page.get_by_role("combobox", name="guidance w")).to_have_count(0)


def test_the_slider_goes_from_noise_to_noise(show):
    page = show(denoising_figure(IMAGES, LABELS, seed=2))
    guess = best_guess(FLAT, LABELS)
    first = page.locator("[data-name=picture]").first.locator("rect[data-value]")
    for pair, between in ((0, 0), (0, 37), (0, 100)):
        page.get_by_role("slider").fill(str(between))
        close(numbers(first), noise(pair, between / 100, seed=2))
    page.get_by_role("button", name="Other noises").click()
    close(numbers(first), noise(1, 1, seed=2))
    close(end(page), painted(guess, noise(1, 1, seed=2), 3, 8))


def test_the_guesses_are_below_their_pictures(show):
    page = show(denoising_figure(IMAGES, LABELS))
    select(page, "steps").select_option("4")
    guess = best_guess(FLAT, LABELS)
    shown = page.locator("[data-name=picture]")
    guesses = page.locator("[data-name=guess]")
    assert (shown.count(), guesses.count()) == (4, 4)
    for k in range(4):
        z = numbers(shown.nth(k).locator("rect[data-value]")).view(1, 64)
        aim = guess(z, torch.full((1,), k / 4, dtype=z.dtype), torch.tensor([3]))
        close(numbers(guesses.nth(k).locator("rect[data-value]")), aim)


def test_the_end_is_said(show):
    page = show(denoising_figure(IMAGES, LABELS))
    select(page, "steps").select_option("1")
    expect(page.get_by_role("status")).to_contain_text(
        "A 3 was asked for, in one step. The picture at the end is closest to the mean 3; a "
        "pixel is 0.00 from it"
    )


def test_the_goals_of_the_painter_without_weights(show):
    page = show(denoising_figure(IMAGES, LABELS))
    average, jump = page.get_by_role("list", name="goals").get_by_role("listitem").all()
    select(page, "steps").select_option("16")
    expect(average).not_to_have_class("cl-reached")
    slider = page.get_by_role("slider")
    slider.fill("100")  # a long way, not the smallest move
    slider.fill("0")
    expect(jump).not_to_have_class("cl-reached")
    press(slider, "ArrowRight", times=100)  # two images of a digit, from end to end
    select(page, "digit").select_option(str(ANY))
    press(slider, "ArrowLeft", times=100)
    expect(jump).to_have_class("cl-reached")
    select(page, "steps").select_option("1")
    expect(average).to_have_class("cl-reached")


def test_the_goals_of_the_dit(show):
    model = dit()
    for parameter in model.parameters():
        parameter.data.zero_()
    model.out.bias.data.fill_(1.0)  # ink everywhere, whatever is asked for
    images = IMAGES.clone()
    images[LABELS == 4] = 1.0
    page = show(denoising_figure(images, LABELS, model, digit=4))
    other, three = page.get_by_role("list", name="goals").get_by_role("listitem").all()
    expect(other).not_to_have_class("cl-reached")
    select(page, "digit").select_option("5")
    expect(other).to_have_class("cl-reached")
    select(page, "digit").select_option(str(ANY))
    page.get_by_role("slider").fill("100")
    expect(three).not_to_have_class("cl-reached")  # always the same


def test_images_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="must be"):
        denoising_figure(IMAGES[:, :, :4], LABELS)
    with pytest.raises(ValueError, match="sixteenths"):
        denoising_figure(IMAGES + 0.01, LABELS)
    with pytest.raises(ValueError, match="every digit"):
        denoising_figure(IMAGES[:5], LABELS[:5])


EXAMPLE = Example(lambda: denoising_figure(IMAGES, LABELS), "[data-name=end] rect[data-value]")
