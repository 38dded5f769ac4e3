"""Right options of the quiz on the Vision Transformer, computed."""

import torch
from torch import nn

from companion.data import digits
from companion.models import ViT, ViTConfig

SMALL = {"channels": 3, "num_classes": 7, "d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 8}


def how_many_tokens() -> str:
    model = ViT(ViTConfig(**SMALL, image_size=96, patch_size=8))
    return str(model.encode(torch.randn(1, 3, 96, 96)).shape[1])


def blind_model() -> str:
    torch.manual_seed(0)
    model = ViT(ViTConfig(**SMALL, image_size=6, patch_size=3)).eval()
    model.positions = nn.Identity()
    image = torch.randn(1, 3, 6, 6)
    other = torch.cat([image[..., 3:], image[..., :3]], dim=3)  # left and right half exchanged
    same = torch.allclose(model(image), model(other), atol=1e-5)
    return "The same logits for both" if same else "Different logits"


def halving_the_patch() -> str:
    counts = []
    for patch_size in (16, 8):
        with torch.device("meta"):
            model = ViT(ViTConfig.preset("vit-base-16", patch_size=patch_size))
        counts.append(sum(parameter.numel() for parameter in model.parameters()))
    change = counts[1] / counts[0]
    if abs(change - 1) < 0.01:
        return "It changes by less than one part in a hundred"
    return "It becomes four times" if change > 1 else "It falls to a quarter"


def whole_marks() -> str:
    """Every corner of a mark of 4 in an image of 16, held against the grid of patches."""
    corners = torch.cartesian_prod(torch.arange(13), torch.arange(13))
    whole = (corners % 4 == 0).all(1).double().mean()
    shares = {"About three in ten": 0.3, "About one in ten": 0.1, "Half of them": 0.5, "All": 1}
    return min(shares, key=lambda name: abs(shares[name] - whole))


def rollout_by_hand() -> str:
    weights = torch.tensor([[0.6, 0.4], [0.3, 0.7]])
    return f"{((weights + torch.eye(2)) / 2)[0, 1]:.1f}"


def what_a_map_must_beat() -> str:
    """Ink beats chance on its own: patches without ink can be blanked at no cost."""
    images, _ = digits(0, "test")
    ink = images.unfold(2, 2, 2).unfold(3, 2, 2).sum((1, 4, 5)).flatten(1)  # (N, patches)
    empty = (ink == 0).float().mean()
    most_ink = ink.topk(4).values.sum(1) / ink.sum(1)
    tells = empty > 0.1 and most_ink.mean() > 1.5 * 4 / 16
    return "That rollout points at patches" if tells else "That the attention weights"
