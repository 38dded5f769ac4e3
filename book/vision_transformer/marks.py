"""Two distant marks: a ViT and convolutions over the same patches, at four learning rates.

    python -m book.vision_transformer.marks {5301..5310} > marks.json

made the table, which lies beside this file. A seed draws marks, starts and the order of the images:
a minute and a half.
"""

from functools import cache
from statistics import mean

import torch
from torch import Tensor, nn

from book import runs
from book.vision_transformer.distant_marks import same_different
from book.vision_transformer.steps import trained
from companion.data import batches
from companion.models import ViT, ViTConfig

RATES, EVERY = (1e-3, 2e-3, 4e-3, 8e-3), 50
PATCH = 4  # pixels, as the marks


class Mix(nn.Module):
    """Every patch takes from the eight around it, and adds that to itself."""

    def __init__(self, d: int):
        super().__init__()
        around = [nn.BatchNorm2d(d), nn.Conv2d(d, d, 3, padding=1)]
        self.layers = nn.Sequential(*around, nn.GELU(), nn.Conv2d(d, d, 1))

    def forward(self, x: Tensor) -> Tensor:
        """(B, d, H, W), and the same shape."""
        return x + self.layers(x)


def patch_cnn(d: int = 32) -> nn.Module:
    """Four residual layers of convolutions over patches, then a dense head."""
    cut = nn.Conv2d(1, d, PATCH, stride=PATCH)  # as PatchEmbedding: no pixel twice
    dense = [nn.Flatten(), nn.Linear(16 * d, 64), nn.ReLU(), nn.Linear(64, 2)]
    return nn.Sequential(cut, *(Mix(d) for _ in range(4)), *dense)


def vit() -> ViT:
    """The chapter's ViT, for larger images and two answers."""
    return ViT(
        ViTConfig(
            image_size=16,
            patch_size=PATCH,
            channels=1,
            num_classes=2,
            d_model=48,
            num_layers=2,
            num_heads=4,
            d_ff=96,
            dropout=0.0,
        )
    )


# name: the network, the grid on which marks lie, and the steps
KINDS = {
    "ViT": (vit, PATCH, 200),
    "convolutions": (patch_cnn, PATCH, 600),
    "ViT, any pixel": (vit, 1, 200),
}


@cache
def images(seed: int, grid: int) -> list[Tensor]:
    """Images and answers to train on, and those of the test."""
    unseen = same_different(1000, seed, split="test", grid=grid)
    return [*same_different(40_000, seed, grid=grid), *unseen]


def learned(kind: str, rate: float, seed: int) -> tuple[nn.Module, list[float]]:
    """A network of a kind, and its accuracy on unseen marks after every 50 steps."""
    make, grid, steps = KINDS[kind]
    seen, answers, unseen, right = images(seed, grid)
    torch.manual_seed(seed)
    network, found = make(), []

    def judge(model: nn.Module) -> None:
        with torch.no_grad():
            found.append((model(unseen).argmax(1) == right).double().mean().item())

    batch = batches(seen, answers, batch_size=128, seed=seed)
    trained(network, batch, rate, steps, evaluate=judge, evaluate_every=EVERY)
    return network, found


def measure(seed: int) -> dict:
    """{"seed", kind: [[accuracies of each rate]]}."""
    return {"seed": seed} | {
        kind: [[round(right, 3) for right in learned(kind, rate, seed)[1]] for rate in RATES]
        for kind in KINDS
    }


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "marks.json")


def best(kind: str) -> tuple[float, list[list[float]]]:
    """The rate that ends best on average over the seeds, and the accuracies of each seed."""
    curves = zip(*(row[kind] for row in stored()), strict=True)
    return max(
        zip(RATES, map(list, curves), strict=True), key=lambda one: mean(c[-1] for c in one[1])
    )


def steps_to(share: float, accuracies: list[float]) -> int | None:
    """After how many steps so many are right for the first time; None if never."""
    return next((EVERY * i for i, right in enumerate(accuracies, 1) if right >= share), None)


if __name__ == "__main__":
    torch.set_num_threads(1)
    runs.write(measure)
