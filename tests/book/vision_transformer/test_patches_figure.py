"""The scene of an image in a ViT: every step's numbers against the model's own, taken by hooks."""

import re

import pytest
import torch
from playwright.sync_api import expect

from book.vision_transformer import patches_figure
from companion.models import ViT, ViTConfig
from tests.book.reading import Example, close, numbers, press, randomised, select

pytestmark = pytest.mark.browser

SIZES = {"image_size": 6, "patch_size": 2, "channels": 1, "num_classes": 5}
SIZES |= {"d_model": 12, "num_layers": 2, "num_heads": 3, "d_ff": 7, "dropout": 0.0}
LABELS = torch.tensor([3, 0])
ROUNDED = 6e-5  # the page gets four decimals


def pictures() -> torch.Tensor:
    return torch.rand(len(LABELS), 1, 6, 6, generator=torch.Generator().manual_seed(1))


MODEL, IMAGES = randomised(ViT(ViTConfig(**SIZES))).eval(), pictures()


@torch.no_grad()
def passed(image: torch.Tensor) -> tuple[list, list, torch.Tensor]:
    """What a forward pass of the model holds: tokens at every stage, weights, probabilities."""
    stages, take = [], lambda module, inputs, output: stages.append(output[0])
    handles = [MODEL.positions.register_forward_hook(take)]
    before = MODEL.positions.register_forward_pre_hook(
        lambda module, inputs: stages.append(inputs[0][0])
    )
    logits, weights = MODEL(image[None].double(), need_weights=True)
    for handle in (*handles, before):
        handle.remove()
    blocks = [stages[1]]
    for block in MODEL.blocks:
        blocks.append(block(blocks[-1][None])[0])
    looks = [layer[0, :, 0].mean(0) for layer in weights]
    return [stages[0], *blocks], looks, logits.softmax(-1)


def check(page, step: int, example: int = 0) -> None:
    """The page shows the numbers of a step from 0 (image) to 7 (head)."""
    stages, looks, probabilities = passed(IMAGES[example])
    image = IMAGES[example, 0]
    cut = torch.stack([image[r : r + 2, c : c + 2].flatten() for r in (0, 2, 4) for c in (0, 2, 4)])
    close(numbers(page.locator("[data-name=pixel]")), cut, ROUNDED)
    stage = min(max(step - 3, 0), 3)
    close(numbers(page.locator("[data-name=token]")), stages[stage], ROUNDED)
    close(numbers(page.locator("[data-name=place]")), MODEL.positions.weight, ROUNDED)
    block = min(max(step - 5, 0), 1)
    close(numbers(page.locator(".cl-attention[data-value]")), looks[block], ROUNDED)
    close(numbers(page.locator("[data-name=probability]")), probabilities, ROUNDED)


def test_every_step_shows_the_numbers_of_the_model(show):
    page = show(patches_figure(MODEL, IMAGES, LABELS), reduced_motion="reduce")
    expect(page.get_by_role("status")).to_contain_text("the image is a sentence of 9 words")
    press(page.get_by_role("slider", name="step"), "Home")
    for step in range(8):
        check(page, step)
        if step < 7:
            page.get_by_role("button", name="Next").click()
    select(page, "image").select_option("1")
    for step in range(7, -1, -1):
        check(page, step, example=1)
        press(page.get_by_role("slider", name="step"), "ArrowLeft")


def test_the_captions_follow_the_patch_and_the_image(show):
    page = show(patches_figure(MODEL, IMAGES, LABELS), reduced_motion="reduce")
    said = page.get_by_role("status")
    line = page.get_by_role("slider", name="step")
    press(line, "Home")
    expect(said).to_contain_text("A handwritten 3: 6 × 6 numbers")
    press(line, "ArrowRight")
    inside = ", ".join(f"{pixel:.2f}" for pixel in IMAGES[0, 0, 2:4, 4:6].flatten().tolist())
    expect(said).to_contain_text(f"Patch 6 holds {inside}.")
    press(page.get_by_role("slider", name="follow patch"), "ArrowLeft", times=4)
    press(line, "ArrowRight")
    expect(said).to_contain_text("Patches 2 and 5 touched in the image. Here they are 3 places")
    press(line, "ArrowRight")
    stages, looks, probabilities = passed(IMAGES[0])
    start = f"{stages[0][2, 0]:.2f}".replace("-", "\u2212")
    expect(said).to_contain_text(f"Patch 2 becomes ({start}, ")
    press(line, "ArrowRight", times=3)
    most = int(looks[1][1:].argmax()) + 1
    expect(said).to_contain_text(f"most from patch {most} ({looks[1][most]:.2f})")
    press(line, "ArrowRight")
    best = int(probabilities.argmax())
    expect(said).to_contain_text(f"The model says {best} with")


def test_what_is_seen_belongs_to_the_step(show):
    page = show(patches_figure(MODEL, IMAGES, LABELS), reduced_motion="reduce")
    line = page.get_by_role("slider", name="step")

    def visible(css: str) -> int:
        seen = "nodes => nodes.filter((n) => getComputedStyle(n).visibility === 'visible').length"
        return page.locator(css).evaluate_all(seen)

    press(line, "Home")
    tokens, places, answers = [], [], []
    for _ in range(8):
        tokens.append(visible("[data-name=token]") // 12)
        places.append(visible("[data-name=place]") // 12)
        answers.append(visible("[data-name=probability]"))
        press(line, "ArrowRight")
    assert tokens == [0, 0, 0, 9, 10, 10, 10, 10]
    assert places == [0, 0, 0, 0, 10, 0, 0, 0]
    assert answers == [0] * 7 + [5]


def test_a_colour_image_is_refused():
    model = ViT(ViTConfig(**SIZES | {"channels": 3}))
    with pytest.raises(ValueError, match="grey images, got 3 channels"):
        patches_figure(model, torch.rand(1, 3, 6, 6), torch.tensor([0]))


def test_two_goals_are_reached_and_not_before(show):
    images = IMAGES.clone()
    images[1, 0, 4:, 4:] = 0  # the last patch of the second image is paper alone
    page = show(patches_figure(MODEL, images, LABELS), reduced_motion="reduce")
    reached, line = page.locator(".cl-reached"), page.get_by_role("slider", name="step")
    choose = select(page, "image").select_option
    most = torch.stack([torch.stack(passed(image)[1])[:, 1:].amax(1) for image in images])
    example, block = divmod(int(most.argmax()), 2)
    choose(str(1 - example))
    press(line, "End")
    expect(reached).to_have_count(0)
    press(line, "Home")
    choose(str(example))
    expect(reached).to_have_count(0)
    press(line, "ArrowRight", times=5 + block)
    expect(reached).to_have_text([re.compile("takes most")])
    press(line, "Home")
    choose("1")
    press(page.get_by_role("slider", name="follow patch"), "End")
    press(line, "ArrowRight", times=2)
    expect(reached).to_have_count(1)
    press(line, "ArrowRight")
    expect(reached).to_have_count(2)


EXAMPLE = Example(lambda: patches_figure(MODEL, IMAGES, LABELS), "[data-name=probability]")
