"""Two marks, the same or not: a ViT, CNNs and a ViT behind a convolution, with equal care.

    python benchmarks/vision.py > benchmarks/vision.md

Every kind of network gets every learning rate of `RATES`, and the best on validation images of one
seed is kept for it. What is printed is measured on other seeds and on test images, whose marks are
in no other split. The marks lie at any pixel; for the ViT alone also on the grid of its patches.
"""

import argparse
import statistics
import sys
import time
from functools import partial

import torch
from measuring import machine, print_table
from torch import nn

from book.vision_transformer.distant_marks import same_different
from companion.data import batches
from companion.models import ViT, ViTConfig
from companion.training import class_loss, cosine_schedule, fit

RATES = (1e-3, 2e-3)
TUNING_SEED, TUNING_STEPS = 100, 400
SEEDS = (101, 102, 103)
NUM_TRAIN, NUM_TEST, BATCH = 50_000, 1_000, 128


def vit(image_size: int = 16, patch_size: int = 4, channels: int = 1) -> ViT:
    """Two blocks, d_model 48."""
    return ViT(
        ViTConfig(
            image_size=image_size,
            patch_size=patch_size,
            channels=channels,
            num_classes=2,
            d_model=48,
            num_layers=2,
            num_heads=4,
            d_ff=96,
            dropout=0.0,
        )
    )


def convolution(before: int, after: int, size: int = 3) -> list[nn.Module]:
    """One layer of a CNN."""
    conv = nn.Conv2d(before, after, size, padding=size // 2)
    return [conv, nn.BatchNorm2d(after), nn.ReLU()]


def cnn(width: int, pooled: bool = False) -> nn.Sequential:
    """Four layers of convolution and two dense ones; `pooled`: the mean over all places first."""
    body = [*convolution(1, width), *convolution(width, width), nn.MaxPool2d(2)]
    body += [*convolution(width, 2 * width), nn.MaxPool2d(2), *convolution(2 * width, 2 * width)]
    body += [nn.AdaptiveAvgPool2d(1)] if pooled else []
    features = 2 * width * (1 if pooled else 16)
    head = [nn.Flatten(), nn.Linear(features, 64), nn.ReLU(), nn.Linear(64, 2)]
    return nn.Sequential(*body, *head)


def hybrid() -> nn.Sequential:
    """One convolution, of 5 x 5 pixels, and a ViT on what it finds."""
    stem = [*convolution(1, 32, 5), nn.MaxPool2d(2)]
    return nn.Sequential(*stem, vit(image_size=8, patch_size=2, channels=32))


NETWORKS = {
    "ViT, patches of 4 x 4": vit,
    "CNN": partial(cnn, 32),
    "CNN, pooled": partial(cnn, 32, pooled=True),
    "convolution, then ViT": hybrid,
}


def trained(make, grid: int, rate: float, steps: int, seed: int) -> tuple[nn.Module, float]:
    """A network, trained, and the seconds that it took."""
    torch.manual_seed(seed)
    model = make()
    images, labels = same_different(NUM_TRAIN, seed, grid=grid)
    schedule = {"min_lr": rate / 20, "warmup_steps": steps // 10, "total_steps": steps}
    started = time.process_time()
    fit(
        model,
        batches(images, labels, batch_size=BATCH, seed=seed),
        steps=steps,
        loss=class_loss(),
        learning_rate=partial(cosine_schedule, max_lr=rate, **schedule),
        weight_decay=0.05,
        progress=False,
    )
    return model, time.process_time() - started


@torch.no_grad()
def accuracy(model: nn.Module, grid: int, split: str, seed: int) -> float:
    images, labels = same_different(NUM_TEST, seed, split=split, grid=grid)
    return (model(images).argmax(dim=1) == labels).float().mean().item()


def row(name: str, make, grid: int, steps: int) -> tuple:
    """Choose the rate on validation images, then measure on test images of other seeds."""
    found = {}
    for rate in RATES:
        model, _ = trained(make, grid, rate, TUNING_STEPS, TUNING_SEED)
        found[rate] = accuracy(model, grid, "validation", TUNING_SEED)
        print(f"{name}, grid {grid}, rate {rate}: {found[rate]:.3f}", file=sys.stderr, flush=True)
    rate = max(found, key=found.get)
    tests, seconds = [], []
    for seed in SEEDS:
        model, took = trained(make, grid, rate, steps, seed)
        tests.append(accuracy(model, grid, "test", seed))
        seconds.append(took)
        print(f"{name}, grid {grid}, seed {seed}: {tests[-1]:.3f}", file=sys.stderr, flush=True)
    place = "any pixel" if grid == 1 else "the patch grid"
    count = sum(parameter.numel() for parameter in model.parameters())
    return (
        name,
        place,
        f"{count:,}",
        f"{rate:g}",
        f"{statistics.mean(tests):.3f}",
        f"{min(tests):.3f} to {max(tests):.3f}",
        f"{statistics.mean(seconds):.0f} s",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=800)
    steps = parser.parse_args().steps
    torch.set_num_threads(1)
    header = ["network", "marks on", "parameters", "rate", "accuracy", "seeds", "CPU time"]
    first = next(iter(NETWORKS))
    rows = [row(first, NETWORKS[first], 4, steps)]
    rows += [row(name, make, 1, steps) for name, make in NETWORKS.items()]
    print("# Two marks, the same or not\n")
    print(f"{machine('cpu')};")
    print(f"{NUM_TRAIN:,} images of 16 x 16 pixels, {steps} steps of {BATCH}; accuracy on")
    print(f"{NUM_TEST:,} test images, mean over seeds {', '.join(map(str, SEEDS))}; chance is 0.5.")
    print(f"Learning rates chosen from {', '.join(f'{rate:g}' for rate in RATES)} on validation")
    print(f"images of seed {TUNING_SEED}, after {TUNING_STEPS} steps.\n")
    print_table(header, rows)


if __name__ == "__main__":
    main()
