"""Right options of the quiz on the full model, computed."""

import torch

from companion.nn import MultiHeadAttention, TokenEmbedding, causal_mask, sinusoidal_encoding
from companion.training import label_smoothing_loss, warmup_schedule


def row_five() -> str:
    target = "le chat noir ne la cherche pas".split()
    reads, says = ["[BOS]", *target], [*target, "[EOS]"]
    (row,) = [place for place, word in enumerate(says) if word == "la"]
    allowed = causal_mask(len(reads))[row].tolist()
    assert row + 1 == 5
    return " ".join(word for word, seen in zip(reads, allowed, strict=True) if seen)


def bridge() -> str:
    decoder_side, memory = torch.randn(1, 7, 12), torch.randn(1, 8, 12)
    found, weights = MultiHeadAttention(12, 1)(decoder_side, memory, need_weights=True)
    assert found.shape == decoder_side.shape
    return " × ".join(map(str, weights[0, 0].shape))


def square_root() -> str:
    d_model, ids = 512, torch.arange(300)
    small, scaled = (TokenEmbedding(300, d_model, scale=scale) for scale in (False, True))
    scaled.load_state_dict(small.state_dict())
    position = sinusoidal_encoding(300, d_model).square().mean().sqrt()
    word, lifted = (table(ids).square().mean().sqrt() for table in (small, scaled))
    return "The words are tiny" if word < position / 10 < position < lifted else "Nothing"


def smoothed() -> str:
    logits = torch.zeros(1, 5, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([logits], max_iter=200, tolerance_grad=1e-12)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        loss = label_smoothing_loss(logits, torch.tensor([2]), smoothing=0.1, pad_id=None)
        loss.backward()
        return loss

    optimizer.step(loss)
    return f"{logits.softmax(-1)[0, 2].item():.3g}"


def four_times_wider() -> str:
    narrow, wide = (
        [warmup_schedule(step, d_model=d, warmup_steps=50) for step in range(1, 400)]
        for d in (128, 512)
    )
    if narrow.index(max(narrow)) != wide.index(max(wide)):
        return "It is reached four times as late"
    ratio = max(wide) / max(narrow)
    sizes = {0.5: "It becomes half", 0.25: "It becomes a quarter", 1.0: "It stays"}
    return sizes[round(ratio, 6)]
