"""Images or steps? The chapter's CNN and ViT on a hundred images and on all, with more steps.

    python -m book.vision_transformer.steps 701 702 703 704 705 > book/vision_transformer/steps.json

made the table beside this file. Networks, rates and schedule are the chapter's. A seed decides the
split of the digits and the starts, and takes half a minute.
"""

from collections.abc import Callable
from functools import cache, partial

import torch
from torch import nn

from book import runs
from companion.data import batches, digits
from companion.models import ViT, ViTConfig
from companion.training import class_loss, cosine_schedule, fit

STEPS = (150, 600)
IMAGES = {
    "a hundred": (slice(0, 100), slice(100, 200)),
    "all": (slice(None),),
}


def cnn() -> nn.Module:
    layers = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)]
    return nn.Sequential(*layers)


def vit() -> nn.Module:
    return ViT(
        ViTConfig(
            image_size=8,
            patch_size=2,
            channels=1,
            num_classes=10,
            d_model=48,
            num_layers=2,
            num_heads=4,
            d_ff=96,
            dropout=0.0,
        )
    )


NETWORKS = {"CNN": (cnn, 3e-3), "ViT": (vit, 2e-3)}  # with the chapter's rates


@cache
def parts(seed: int) -> list[torch.Tensor]:
    """Images and labels to train on, and those of the test."""
    return [*digits(seed), *digits(seed, "test")]


def trained(
    network: nn.Module, batch: Callable[[int], tuple], rate: float, steps: int, **more
) -> nn.Module:
    """The network after so many steps of the chapter's schedule; `more` is for `fit`."""
    schedule = partial(
        cosine_schedule,
        max_lr=rate,
        min_lr=rate / 20,
        warmup_steps=steps // 10,
        total_steps=steps,
    )
    options = {"steps": steps, "loss": class_loss(), "weight_decay": 0.05, "progress": False}
    fit(network, batch, learning_rate=schedule, **options, **more)
    return network.eval()


def accuracy(name: str, seed: int, some: slice, steps: int) -> float:
    """The share of the test images that a network names after training on some images."""
    make, rate = NETWORKS[name]
    images, labels, test_images, test_labels = parts(seed)
    torch.manual_seed(seed)
    network = make()
    batch = batches(images[some], labels[some], batch_size=64, seed=seed)
    trained(network, batch, rate, steps)
    with torch.no_grad():
        right = network(test_images).argmax(1) == test_labels
    return right.double().mean().item()


def mean(name: str, seed: int, images: str, steps: int) -> float:
    """The accuracy, as the mean of the sets of so many images."""
    found = [accuracy(name, seed, some, steps) for some in IMAGES[images]]
    return round(sum(found) / len(found), 4)


def measure(seed: int) -> dict:
    """Accuracies: {"seed", images: {network: [after few steps, after many]}}."""
    return {"seed": seed} | {
        images: {name: [mean(name, seed, images, steps) for steps in STEPS] for name in NETWORKS}
        for images in IMAGES
    }


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "steps.json")


if __name__ == "__main__":
    runs.write(measure)
