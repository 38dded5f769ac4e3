"""The ViT that reads a drawing in the page, held to PyTorch."""

import itertools

import pytest
import torch
from playwright.sync_api import expect

from book.vision_transformer import digit_figure
from companion.models import ViT, ViTConfig
from tests.book.reading import Example, close, numbers, press, randomised, select

pytestmark = pytest.mark.browser

SIZES = {"image_size": 6, "patch_size": 2, "channels": 1, "num_classes": 5}
SIZES |= {"d_model": 12, "num_layers": 2, "num_heads": 3, "d_ff": 7, "dropout": 0.0}
LABELS = torch.tensor([3, 0, 2, 0, 1, 4, 3])


def vit(**changes) -> ViT:
    return randomised(ViT(ViTConfig(**SIZES | changes))).eval()


def pictures(size: int = 6) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randint(17, (len(LABELS), 1, size, size), generator=generator) / 16


MODEL, IMAGES = vit(), pictures()


def pixels(page) -> torch.Tensor:
    return numbers(page.locator("[data-name=paper] rect[data-value]"))


def check(page, expected, view: str = "rollout", model: ViT = MODEL) -> None:
    """The page holds these pixels, 0 to 16, and shows the model's numbers for them."""
    close(pixels(page), torch.as_tensor(expected), 0)
    size = model.config.image_size
    image = torch.as_tensor(expected).double().view(1, 1, size, size) / 16
    with torch.no_grad():
        logits, weights = model(image, need_weights=True)
    rows = page.locator("[data-name=answers] [data-logit]")
    found = rows.evaluate_all("nodes => nodes.map((n) => +n.dataset.logit)")
    close(torch.tensor(found, dtype=torch.float64), logits)
    close(numbers(rows), logits.softmax(-1))
    if view == "rollout":
        eye = torch.eye(weights[0].shape[-1], dtype=torch.float64)
        shares = eye
        for layer in weights:
            shares = (layer[0].mean(0) + eye) / 2 @ shares
    else:
        layer, head = map(int, view.split("."))
        shares = weights[layer][0, head]
    close(numbers(page.locator("[data-name=map] text")), shares[0, 1:])


def example(number: int, images: torch.Tensor = IMAGES) -> torch.Tensor:
    """The pixels of the first image of a class."""
    return (16 * images[LABELS.tolist().index(number)]).flatten()


def test_every_example_and_every_view_equal_pytorch(show):
    page = show(digit_figure(MODEL, IMAGES, LABELS))
    check(page, example(0))
    for number in range(5):
        select(page, "begin with").select_option(str(number))
        check(page, example(number))
    for layer, head in itertools.product(range(2), range(3)):
        select(page, "where it looks").select_option(f"{layer}.{head}")
        check(page, example(4), f"{layer}.{head}")


@pytest.mark.parametrize(
    "changes",
    [{"activation": "relu", "num_layers": 1}, {"patch_size": 3, "num_heads": 4, "norm_eps": 0.5}],
)
def test_other_models_equal_pytorch(show, changes):
    model = vit(**changes)
    check(show(digit_figure(model, IMAGES, LABELS)), example(0), model=model)


def test_drawing_by_keyboard(show):
    page = show(digit_figure(MODEL, IMAGES, LABELS))
    page.get_by_role("button", name="Clear").click()
    expected = torch.zeros(6, 6)
    check(page, expected.flatten())
    expect(page.get_by_role("status")).to_contain_text("An empty image")
    select(page, "brush").select_option("hard")
    paper = page.get_by_role("application")
    press(paper, "ArrowUp", times=9)  # stays inside
    press(paper, "ArrowLeft", times=9)
    press(paper, "Space")
    expected[0, 0] = 16
    select(page, "brush").select_option("soft")
    press(paper, "ArrowDown", times=2)
    press(paper, "ArrowRight", times=5)
    press(paper, "Space")
    expected[2, 5] = 16
    expected[1, 5] = expected[3, 5] = expected[2, 4] = 6
    check(page, expected.flatten())
    assert "Row 3, column 6: ink 16 of 16" in paper.get_attribute("aria-label")
    press(paper, "ArrowUp")
    press(paper, "Space")  # ink does not fade under a softer touch
    expected[1, 5], expected[0, 5], expected[1, 4] = 16, 6, 6
    check(page, expected.flatten())
    select(page, "brush").select_option("eraser")
    press(paper, "Space")
    expected[1, 5] = 0
    check(page, expected.flatten())
    expect(select(page, "begin with")).to_have_value("own")


def test_drawing_by_pointer(show):
    page = show(digit_figure(MODEL, IMAGES, LABELS))
    page.get_by_role("button", name="Clear").click()
    select(page, "brush").select_option("hard")
    box = page.locator("[data-name=paper]").bounding_box()

    def at(row, column):
        x = box["x"] + (column + 0.5) * box["width"] / 6
        return x, box["y"] + (row + 0.5) * box["height"] / 6

    page.mouse.move(*at(1, 1))
    page.mouse.down()
    page.mouse.move(*at(1, 4), steps=12)
    page.mouse.up()
    page.mouse.move(*at(5, 5), steps=4)  # not pressed: nothing
    expected = torch.zeros(6, 6)
    expected[1, 1:5] = 16
    check(page, expected.flatten())


def test_the_drawing_moves(show):
    page = show(digit_figure(MODEL, IMAGES, LABELS))
    expected = example(0).view(6, 6)
    ways = {"to the left": (0, -1), "to the right": (0, 1), "up": (-1, 0), "down": (1, 0)}
    for name, (down, right) in ways.items():
        page.get_by_role("button", name=f"one pixel {name}").click()
        moved = torch.zeros(8, 8)
        moved[1 + down : 7 + down, 1 + right : 7 + right] = expected
        expected = moved[1:7, 1:7].clone()
        check(page, expected.flatten())


def test_the_answer_is_said(show):
    page = show(digit_figure(MODEL, IMAGES, LABELS))
    with torch.no_grad():
        probabilities = MODEL(example(0).double().view(1, 1, 6, 6) / 16).softmax(-1)[0]
    first, second = probabilities.topk(2).indices.tolist()
    expect(page.get_by_role("status")).to_contain_text(f"It reads a {first} ")
    expect(page.get_by_role("status")).to_contain_text(f"then a {second} ")


def test_a_spoilt_example_and_an_own_drawing_are_goals(show):
    model = vit(num_classes=9)
    model.head.weight.data.zero_()
    model.head.bias.data = torch.eye(9)[8].mul(9).double()  # reads an 8 in everything
    page = show(digit_figure(model, IMAGES, LABELS))
    spoilt, drawn = page.get_by_role("list", name="goals").get_by_role("listitem").all()
    expect(spoilt).to_have_class("cl-reached")  # the example is a 0
    expect(drawn).not_to_have_class("cl-reached")
    page.get_by_role("button", name="Clear").click()
    expect(drawn).to_have_class("cl-reached")


def test_an_example_that_is_read_rightly_is_not_spoilt(show):
    model = vit()
    model.head.weight.data.zero_()
    model.head.bias.data = torch.eye(5)[0].mul(4).double()  # reads a 0 in everything
    page = show(digit_figure(model, IMAGES, LABELS))
    reached = page.locator(".cl-reached")
    page.get_by_role("button", name="one pixel up").click()
    expect(reached).to_have_count(0)
    page.get_by_role("button", name="Clear").click()
    expect(reached).to_have_count(0)
    select(page, "begin with").select_option("2")
    expect(reached).to_have_count(1)
    expect(reached).to_contain_text("Spoil an example")


@pytest.mark.parametrize(
    "change", [{"channels": 3}, {"norm_first": False}, {"norm": "rms"}, {"bias": False}]
)
def test_a_model_that_the_page_cannot_compute_is_refused(change):
    with pytest.raises(ValueError, match="the figure computes"):
        digit_figure(ViT(ViTConfig(**SIZES | change)), IMAGES, LABELS)
    with pytest.raises(ValueError, match="without a gate"):
        digit_figure(ViT(ViTConfig(**SIZES, activation="swiglu")), IMAGES, LABELS)


EXAMPLE = Example(lambda: digit_figure(MODEL, IMAGES, LABELS), "[data-name=answers] [data-value]")
