"""Right options of the quiz on what the stream carries, computed."""

import torch


def superposition() -> str:
    """Two features as opposite arrows in one dimension, against one that is kept alone."""
    torch.manual_seed(0)

    def pays(p: float) -> bool:
        x = torch.rand(100_000, 2) * (torch.rand(100_000, 2) < p)
        difference = x[:, 0] - x[:, 1]
        read = torch.stack([difference, -difference], 1).relu()
        both, alone = (x - read).square().sum(1).mean(), x[:, 1].square().mean()
        return bool(both < 0.9 * alone)

    if not pays(0.1):
        return "Never"
    return "When each is" if pays(1.0) else "When they are seldom"


def pentagon() -> str:
    angle = 2 * torch.pi * torch.arange(5) / 5
    W = torch.stack([angle.cos(), angle.sin()])  # (2, 5)
    read = (W.T @ W[:, 0]).relu()
    return {0: "None", 2: "Two", 4: "Four"}[(read[1:] > 1e-6).sum().item()]
