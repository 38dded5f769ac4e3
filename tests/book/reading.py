"""What the tests of live figures share: a model that float16 holds exactly, and reading a page."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from playwright.sync_api import Locator, Page
from torch import nn

from book.page.linker import linked
from book.page.live import KIT, LiveFigure

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A figure</title>
<meta name="viewport" content="width=device-width"><script defer src="figures.js"></script>
<body style="margin: 8px">{}</body></html>"""


def globally(*files: str) -> str:
    """JavaScript that makes what helpers export, as "numerics.js", the names of a page."""
    loads = "".join(f"Object.assign(globalThis, load('{file}'));\n" for file in files)
    return linked(*(KIT / file for file in files)) + loads


class Example(NamedTuple):
    """A figure for the tests of all figures.

    Args:
        make: shows random numbers, so that nothing is true by training.
        numbers: CSS of the elements in which it shows the numbers of its table; None has none.
        table: CSS of these numbers in the table that stands there without JavaScript.
    """

    make: Callable[[], LiveFigure]
    numbers: str | None
    table: str = "td"


def randomised(model: nn.Module) -> nn.Module:
    """The model in float64, with weights that float16 holds exactly."""
    random = torch.Generator().manual_seed(7)
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape, generator=random).mul(0.4).half().double()
    return model.double()


def numbers(found: Locator) -> torch.Tensor:
    """The numbers behind the text of the elements, in full precision."""
    values = found.evaluate_all("nodes => nodes.map((node) => node.dataset.value)")
    assert values, "the page shows no such number"
    return torch.tensor([float(value) for value in values], dtype=torch.float64)


def close(found: torch.Tensor, expected: torch.Tensor, tolerance: float = 1e-9) -> None:
    torch.testing.assert_close(found, expected.flatten().double(), rtol=0, atol=tolerance)


def select(page: Page, label: str) -> Locator:
    return page.get_by_role("combobox", name=label, exact=True)


def press(control: Locator, key: str, times: int = 1) -> None:
    control.focus()
    for _ in range(times):
        control.press(key)
