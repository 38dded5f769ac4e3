"""Two marks on a ViT's patches, dragged by pointer and keyboard: the answers against PyTorch."""

import pytest
import torch
from playwright.sync_api import expect

from book.vision_transformer import marks_figure
from book.vision_transformer.distant_marks import same_different
from companion.models import ViT, ViTConfig
from tests.book.reading import Example, close, numbers, press, randomised, select

pytestmark = pytest.mark.browser

SIZES = {"image_size": 16, "patch_size": 4, "channels": 1, "num_classes": 2}
SIZES |= {"d_model": 12, "num_layers": 2, "num_heads": 3, "d_ff": 7, "dropout": 0.0}
MODEL = randomised(ViT(ViTConfig(**SIZES))).eval()


def different() -> torch.Tensor:
    images, labels = same_different(40, 3, split="test", grid=4)
    return images[labels == 0][:8]


IMAGES = different()


def marks() -> list[list[torch.Tensor]]:
    """Of every image its two marks (4, 4), in the order of the patches."""
    corners = [(r, c) for r in range(0, 16, 4) for c in range(0, 16, 4)]
    cuts = [[image[0, r : r + 4, c : c + 4] for r, c in corners] for image in IMAGES]
    return [[cut for cut in cuts_of if (cut.abs() == 1).all()] for cuts_of in cuts]


def image_of(corners, pair: int = 0, same: bool = True) -> torch.Tensor:
    """The picture that the page should show; the noise is read off the page's data."""
    data = marks_figure(MODEL, IMAGES).data
    image = torch.tensor(data["background"]).view(16, 16)
    for which, (row, column) in enumerate(corners):
        image[row : row + 4, column : column + 4] = marks()[pair][0 if same else which]
    return image


def check(page, corners, pair: int = 0, same: bool = True) -> None:
    image = image_of(corners, pair, same)
    close(numbers(page.locator("[data-name=pixel]")), image, 0)
    with torch.no_grad():
        answer = MODEL(image[None, None].double()).softmax(-1)[0].flip(0)
    close(numbers(page.locator("[data-name=answers] [data-value]")), answer)
    said = "the same" if answer[0] > answer[1] else "different"
    expect(page.get_by_role("status")).to_contain_text(f"The model says “{said}”")
    right = "right" if (said == "the same") == same else "wrong"
    expect(page.get_by_role("status")).to_contain_text(f": {right}.")
    held = []
    for row, column in corners:
        patches = [
            (r // 4) * 4 + c // 4 + 1
            for r in range(row, row + 4)
            for c in range(column, column + 4)
        ]
        held.append(", ".join(f"{p} ({patches.count(p)})" for p in sorted(set(patches))))
    rows = page.locator("[data-name=pieces] li")
    for which, text in enumerate(held):
        expect(rows.nth(which)).to_contain_text(f"mark {'AB'[which]}: patch")
        expect(rows.nth(which)).to_contain_text(f" {text}")


def test_the_background_is_noise_only():
    background = torch.tensor(marks_figure(MODEL, IMAGES).data["background"])
    assert (background.abs() == 1).sum() == 0


def test_pairs_and_copies_equal_pytorch(show):
    page = show(marks_figure(MODEL, IMAGES))
    start = [(4, 0), (8, 8)]
    check(page, start)
    page.get_by_role("checkbox", name="B is a copy of A").uncheck()
    check(page, start, same=False)
    for pair in (3, 7):
        select(page, "marks").select_option(str(pair))
        check(page, start, pair, same=False)


def test_marks_move_by_keyboard_and_stay_apart(show):
    page = show(marks_figure(MODEL, IMAGES), reduced_motion="reduce")
    a, b = (page.get_by_role("slider", name=f"mark {name}") for name in "AB")
    press(b, "ArrowDown")
    check(page, [(4, 0), (9, 8)])
    expect(page.locator(".cl-reached").filter(has_text="into four")).to_have_count(0)
    press(b, "ArrowRight")
    check(page, [(4, 0), (9, 9)])
    assert b.get_attribute("aria-valuetext") == "row 10, column 10"
    expect(page.locator(".cl-reached")).to_contain_text(["Cut mark B into four"])
    press(a, "ArrowLeft")  # stays inside
    press(a, "ArrowDown", times=2)
    press(a, "ArrowRight", times=7)  # stops with a pixel between the marks
    check(page, [(6, 4), (9, 9)])


def test_a_mark_moves_by_pointer(show):
    page = show(marks_figure(MODEL, IMAGES), reduced_motion="reduce")
    box = page.locator("svg").bounding_box()
    cell = (box["width"] - 2) / 16 if box["width"] < 306 else 19
    handle = page.get_by_role("slider", name="mark A").bounding_box()
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 4 * cell, box["y"] + 3 * cell, steps=6)
    page.mouse.up()
    check(page, [(1, 2), (8, 8)])


def test_a_wrong_answer_and_equal_cuts_are_goals(show):
    model = randomised(ViT(ViTConfig(**SIZES)))
    model.head.bias.data = torch.tensor([9.0, -9.0]).double()  # says "different", whatever it sees
    page = show(marks_figure(model, IMAGES), reduced_motion="reduce")
    items = page.get_by_role("list", name="goals").get_by_role("listitem")
    expect(items.nth(1)).to_have_class("cl-reached")
    expect(items.nth(2)).not_to_have_class("cl-reached")
    press(page.get_by_role("slider", name="mark B"), "ArrowDown")
    expect(items.nth(2)).not_to_have_class("cl-reached")
    press(page.get_by_role("slider", name="mark A"), "ArrowRight")  # cut, but otherwise
    expect(items.nth(2)).not_to_have_class("cl-reached")
    press(page.get_by_role("slider", name="mark A"), "ArrowLeft")
    press(page.get_by_role("slider", name="mark A"), "ArrowDown")
    expect(items.nth(2)).to_have_class("cl-reached")


def test_other_models_and_images_are_refused():
    with pytest.raises(ValueError, match="needs patches of 4 and 2 classes, got 4 and 3"):
        marks_figure(ViT(ViTConfig(**SIZES | {"num_classes": 3})), IMAGES)
    cut = IMAGES.roll(1, dims=3)
    with pytest.raises(ValueError, match="two whole marks"):
        marks_figure(MODEL, cut)


EXAMPLE = Example(lambda: marks_figure(MODEL, IMAGES), "[data-name=answers] [data-value]")
