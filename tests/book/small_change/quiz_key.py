"""Right options of the quiz on a small change to a large model, computed."""

import copy

import torch
from torch import nn

from book.small_change.adapters import Adapter
from book.small_change.checks import _student_loss


def merged_cost() -> str:
    adapter = Adapter(nn.Linear(6, 5), rank=2)
    nn.init.normal_(adapter.up)
    merged, x = adapter.merged(), torch.randn(3, 6)
    assert torch.allclose(merged(x), adapter(x), atol=1e-4)
    before, after = (sum(p.numel() for p in m.parameters()) for m in (adapter.linear, merged))
    return "Exactly" if after == before else "Two more" if after > before else "Less"


def adam_bytes() -> str:
    adapter = Adapter(nn.Linear(512, 256).requires_grad_(False), rank=4)
    optimizer = torch.optim.Adam([p for p in adapter.parameters() if p.requires_grad])
    adapter(torch.randn(2, 512)).sum().backward()
    optimizer.step()
    kept = [x for state in optimizer.state.values() for x in state.values() if x.dim()]
    return f"{sum(x.numel() * x.element_size() for x in kept):,}"


def rate_ratio() -> str:
    """How far Adam's first step moves an output, of a full matrix and beside an adapter."""
    torch.manual_seed(0)
    layer = nn.Linear(64, 64, bias=False)
    adapter = Adapter(copy.deepcopy(layer).requires_grad_(False), rank=8, alpha=16)
    x, moved = torch.randn(1, 64).sign(), []
    with torch.no_grad():  # what an entry of the thin product reads has size 1
        adapter.down.copy_(torch.eye(8, 64))
    for module, weight in ((layer, layer.weight), (adapter, adapter.up)):
        before = module(x).detach()
        optimizer = torch.optim.Adam([weight], lr=1e-3)
        module(x).sum().backward()
        optimizer.step()
        moved.append((module(x) - before).abs().mean().item())
    ratio = round(moved[0] / moved[1])
    return {10: "Ten", 4: "Four", 8: "Eight"}[ratio]


def draws() -> str:
    """The logits that a hundred visits with the same target lead to."""
    came = torch.tensor([[[0.0, 60.0, 0.0]]])
    there, logits = torch.tensor([[True]]), torch.zeros(1, 1, 3, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.3)
    for _ in range(100):
        optimizer.zero_grad()
        _student_loss(logits, came, 1.0, there).backward()
        optimizer.step()
    share = logits.softmax(-1)[0, 0, 1].item()
    return "All probability" if share > 0.95 else "Half on"
