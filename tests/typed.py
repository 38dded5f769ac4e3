"""Ordinary use of the package with its types written out: a type checker reads it, and it runs."""

import tempfile
from typing import Any, Unpack, assert_type

import torch
from torch import Tensor, nn

from companion.data import windows
from companion.generation import generate, stream
from companion.models import (
    BERT,
    GPT,
    BERTConfig,
    GPTConfig,
    Transformer,
    TransformerConfig,
    ViT,
    ViTConfig,
)
from companion.nn import AttentionOptions, EncoderBlock, KVCache, MultiHeadAttention, causal_mask
from companion.pretrained import load, save
from companion.training import History, cosine_schedule, fit, next_token_loss

sizes: dict[str, Any] = {"d_model": 16, "num_layers": 2, "num_heads": 2, "d_ff": 32}
model = GPT(GPTConfig(vocab_size=11, max_len=32, **sizes)).eval()
ids = torch.randint(1, 11, (2, 8))

# Logits, hidden states and weights.
assert_type(model(ids), Tensor)
assert_type(model.hidden_states(ids), Tensor)
hidden, weights = model.hidden_states(ids, need_weights=True)
assert_type(hidden, Tensor)
assert_type(weights[0].sum(-1), Tensor)
output, of_layer = MultiHeadAttention(16, 2)(hidden, mask=causal_mask(8), need_weights=True)
assert_type(of_layer.shape, torch.Size)
bert = BERT(BERTConfig(vocab_size=11, max_len=32, **sizes))
assert_type(bert.encode(ids), Tensor)
translator = Transformer(TransformerConfig(vocab_size=11, max_len=32, **sizes))
logits, kinds = translator(ids, ids, need_weights=True)
assert_type(kinds["cross"][0], Tensor)
assert_type(translator.decode(ids, translator.encode(ids), ids), Tensor)
vit = ViT(ViTConfig(image_size=8, patch_size=4, channels=1, num_classes=3, **sizes))
assert_type(vit(torch.randn(2, 1, 8, 8)), Tensor)

# Caches.
caches = [KVCache() for _ in model.blocks]
for start in range(0, 8, 4):
    logits = model(ids[:, start : start + 4], caches=caches)
assert_type(int(caches[0].length) + 1, int)


class ParallelBlock(EncoderBlock):
    """Attention and feed-forward network side by side."""

    def forward(  # type: ignore[override]  # it returns no weights
        self, x: Tensor, mask: Tensor | None = None, **options: Unpack[AttentionOptions]
    ) -> Tensor:
        normed = self.norm1(x)
        attended, _ = self.self_attention(normed, mask=mask, **options)
        return x + attended + self.feed_forward(normed)


# Training with a loss, an optimizer, a schedule, an evaluation and a report of one's own.
def loss(gpt: GPT, batch: Tensor) -> tuple[Tensor, int]:
    logits = gpt(batch[:, :-1])
    total = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    return total * batch[:, 1:].numel(), batch[:, 1:].numel()


def optimizers(gpt: GPT) -> list[torch.optim.Optimizer]:
    blocks, head = list(gpt.blocks.parameters()), list(gpt.token_embedding.parameters())
    return [torch.optim.AdamW(blocks), torch.optim.SGD(head)]


def schedule(step: int) -> float:
    return cosine_schedule(step, max_lr=1e-2, min_lr=0.0, warmup_steps=1, total_steps=4)


def evaluate(gpt: GPT) -> float:
    return float(next_token_loss(0)(gpt, ids)[0])


def report(history: History) -> None:
    assert_type(history.loss, list[float])


batches = windows(list(range(11)) * 9, batch_size=4, length=9, seed=0)
history = fit(
    model,
    batches,
    steps=4,
    loss=loss,
    learning_rate=schedule,
    optimizer=optimizers,
    evaluate=evaluate,
    report=report,
    progress=False,
)
assert_type(history.learning_rate[-1], float)

# Writing, saving, loading.
assert_type(generate(model, ids, 4, top_k=3, eos_id=0), Tensor)
for _, log_probabilities in stream(model, ids, 4, temperature=0.0):
    assert_type(log_probabilities.exp(), Tensor)
with tempfile.TemporaryDirectory() as folder:
    save(model, folder)
    loaded = load(folder)
    assert_type(loaded, GPT | BERT | ViT)
    assert_type(loaded.config.num_layers, int)
