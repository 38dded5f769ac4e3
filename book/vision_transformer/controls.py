"""A hundred images, mixed pixels, large positions, none, patches in disorder: ten starts of each.

    python -m book.vision_transformer.controls {5301..5310} > controls.json

made the table, which lies beside this file. Networks, rates and schedule are the chapter's. A seed
draws the split of the digits, the starts, and both disorders: half a minute.
"""

from collections.abc import Callable
from statistics import mean

import torch
from sklearn.svm import SVC
from torch import Tensor, nn

from book import runs
from book.vision_transformer import steps
from companion.data import batches

FEW, ALL = 150, 300  # steps on a hundred images, and on all
HUNDRED = steps.IMAGES["a hundred"]  # two sets of them


def mlp() -> nn.Module:
    """Three layers that read the pixels."""
    layers = [nn.Flatten(), nn.Linear(64, 128), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))


def placed() -> nn.Module:
    """The ViT, but its position vectors begin with entries of size 0.5 instead of 0.02."""
    network = steps.vit()
    with torch.no_grad():
        network.positions.weight.mul_(25)
    return network


def blind() -> nn.Module:
    """The ViT without positions."""
    network = steps.vit()
    network.positions = nn.Identity()  # adds nothing
    return network


def drawn(count: int, seed: int) -> Tensor:
    """A disorder of so many pixels or patches."""
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))


def as_they_are(images: Tensor, seed: int) -> Tensor:
    return images


def mixed(images: Tensor, seed: int) -> Tensor:
    """Images (N, 1, 8, 8) whose pixels stand in the seed's disorder, the same in all of them."""
    return images.flatten(1)[:, drawn(64, seed)].reshape(-1, 1, 8, 8)


def scrambled(images: Tensor, seed: int) -> Tensor:
    """Images (N, 1, 8, 8) whose 16 patches stand in the seed's disorder."""
    cut = images.reshape(-1, 4, 2, 4, 2).permute(0, 1, 3, 2, 4)
    cut = cut.reshape(-1, 16, 2, 2)[:, drawn(16, seed)].reshape(-1, 4, 4, 2, 2)
    return cut.permute(0, 1, 3, 2, 4).reshape(-1, 1, 8, 8)


Change = Callable[[Tensor, int], Tensor]
NETWORKS = steps.NETWORKS | {"MLP": (mlp, 2e-3)}  # and the rate of each
LARGE = "ViT, large positions"
CONTROLS: dict[str, tuple[Callable[[], nn.Module], float, Change]] = {
    **{name: (*NETWORKS[name], as_they_are) for name in ("MLP", "CNN", "ViT")},
    **{f"{name}, mixed pixels": (*NETWORKS[name], mixed) for name in ("CNN", "ViT")},
    LARGE: (placed, 2e-3, as_they_are),
}


def learned(
    make: Callable[[], nn.Module],
    rate: float,
    seed: int,
    some: slice,
    count: int,
    change: Change = as_they_are,
) -> nn.Module:
    """A network after so many steps on some images, all of them changed."""
    images, labels = steps.parts(seed)[:2]
    torch.manual_seed(seed)
    network = make()
    batch = batches(change(images[some], seed), labels[some], batch_size=64, seed=seed)
    return steps.trained(network, batch, rate, count)


def svm(seed: int, some: slice) -> float:
    """The accuracy of a support vector machine that has learned some images."""
    images, labels, test_images, test_labels = steps.parts(seed)
    fitted = SVC(C=10).fit(images[some].flatten(1), labels[some])
    return fitted.score(test_images.flatten(1), test_labels)


@torch.no_grad()
def accuracy(network: nn.Module, seed: int, change: Change = as_they_are) -> float:
    """The share of the test images, all of them changed, that a network names."""
    images, labels = steps.parts(seed)[2:]
    return (network(change(images, seed)).argmax(1) == labels).double().mean().item()


@torch.no_grad()
def moved(network: nn.Module, seed: int) -> float:
    """By how much scrambling the patches of the test images moves a logit, at most."""
    images = steps.parts(seed)[2]
    return (network(scrambled(images, seed)) - network(images)).abs().max().item()


def of_a_hundred(seed: int) -> dict[str, float]:
    """The accuracy of each learner after a hundred images, the mean of two sets."""
    found = {"SVM": mean(svm(seed, some) for some in HUNDRED)}
    for name, (make, rate, change) in CONTROLS.items():
        found[name] = mean(
            accuracy(learned(make, rate, seed, some, FEW, change), seed, change) for some in HUNDRED
        )
    return found


def of_all(seed: int) -> dict[str, float]:
    """Accuracies after all images, as they are and scrambled, and by how much a logit moves."""
    everything = slice(None)
    cnn = learned(*NETWORKS["CNN"], seed, everything, ALL)
    vit = learned(*NETWORKS["ViT"], seed, everything, ALL)
    bag = learned(blind, 2e-3, seed, everything, ALL)
    used = learned(*NETWORKS["ViT"], seed, everything, ALL, scrambled)
    return {
        "CNN": accuracy(cnn, seed),
        "ViT": accuracy(vit, seed),
        "ViT, scrambled": accuracy(vit, seed, scrambled),
        "no positions": accuracy(bag, seed),
        "no positions, scrambled": accuracy(bag, seed, scrambled),
        "trained on scrambled": accuracy(used, seed, scrambled),
        "a logit moves": moved(bag, seed),
    }


def measure(seed: int) -> dict:
    """{"seed", "a hundred": {learner: accuracy}, "all": see `of_all`}."""
    parts = {"a hundred": of_a_hundred(seed), "all": of_all(seed)}
    return {"seed": seed} | {
        images: {name: round(number, 6) for name, number in found.items()}
        for images, found in parts.items()
    }


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "controls.json")


if __name__ == "__main__":
    torch.set_num_threads(1)
    runs.write(measure)
