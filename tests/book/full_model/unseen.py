"""Answers by somebody who had not read the checks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from companion.nn import FeedForward, MultiHeadAttention
from tests.book.unseen import answers_to

right, wrong = answers_to("full_model")


@right
def shifted(target_ids, bos_id, eos_id, pad_id):
    inputs, asked = [], []
    for row in target_ids.tolist():
        words = [w for w in row if w != pad_id]
        rest = [pad_id] * (len(row) - len(words))
        inputs.append([bos_id] + words + rest)
        asked.append(words + [eos_id] + rest)
    return torch.tensor(inputs), torch.tensor(asked)


wrong("EOS in the last column", "words + [eos_id] + rest", "words + rest + [eos_id]")
wrong("no EOS", "words + [eos_id] + rest", "words + rest + [pad_id]")
wrong(
    "labels begin with BOS, too",
    "words + [eos_id] + rest)",
    "([bos_id] + words + [eos_id] + rest)[:len(row) + 1])",
)


@right
def smoothed_loss(logits, targets, smoothing, pad_id):
    log_p = logits - logits.logsumexp(-1, keepdim=True)
    V = logits.shape[-1]
    q = F.one_hot(targets, V) * (1 - smoothing) + smoothing / V
    each = -(q * log_p).sum(-1)
    real = (targets != pad_id).to(each.dtype)
    return (each * real).sum() / real.sum()


wrong("padding counts", "(targets != pad_id)", "(targets == targets)")
wrong("divides by all places", "/ real.sum()", "/ real.numel()")
wrong(
    "no smoothing",
    "F.one_hot(targets, V) * (1 - smoothing) + smoothing / V",
    "F.one_hot(targets, V)",
)


@right
def parameters(vocab_size, d_model, num_layers, num_heads, d_ff, d_k, d_v):
    lin = lambda i, o: i * o + o
    att = (
        2 * lin(d_model, num_heads * d_k)
        + lin(d_model, num_heads * d_v)
        + lin(num_heads * d_v, d_model)
    )
    ff = lin(d_model, d_ff) + lin(d_ff, d_model)
    norm = 2 * d_model
    return vocab_size * d_model + num_layers * ((att + ff + 2 * norm) + (2 * att + ff + 3 * norm))


wrong("one attention in the decoder", "2 * att + ff", "att + ff")
wrong("d_k is the width of all heads", "num_heads * d_k", "d_k")
wrong("norm has one number", "norm = 2 * d_model", "norm = d_model")


@right("decoder_block")
class MyDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, memory_mask=None):
        T = x.shape[1]
        seen = torch.arange(T)[:, None] >= torch.arange(T)
        x = self.norm1(x + self.self_attention(x, x, x, mask=seen)[0])
        x = self.norm2(x + self.cross_attention(x, memory, memory, mask=memory_mask)[0])
        return self.norm3(x + self.feed_forward(x))


wrong("no causal mask", "mask=seen", "mask=None")
wrong("pre-norm", "self.norm3(x + self.feed_forward(x))", "x + self.feed_forward(self.norm3(x))")
wrong(
    "cross-attention first",
    "self.norm1(x + self.self_attention(x, x, x, mask=seen)[0])",
    "self.norm1(x + self.cross_attention(x, memory, memory, mask=memory_mask)[0])",
    "self.norm2(x + self.cross_attention(x, memory, memory, mask=memory_mask)[0])",
    "self.norm2(x + self.self_attention(x, x, x, mask=seen)[0])",
)
wrong(
    "keys are memory, values are x",
    "(x, memory, memory,",
    "(x, memory, x if x.shape == memory.shape else memory,",
)


@right
def train(model, batches, optimizer):
    kept = []
    for x, y in batches:
        model.zero_grad()
        optimizer.zero_grad()
        loss = -model(x).log_softmax(-1)[torch.arange(len(y)), y].mean()
        loss.backward()
        ps = [p for p in model.parameters() if p.grad is not None]
        norm = math.sqrt(sum(float(p.grad.pow(2).sum()) for p in ps))
        if norm > 1:
            for p in ps:
                p.grad /= norm
        kept.append(float(loss))
        optimizer.step()
    return kept


wrong(
    "clips after the step",
    "if norm > 1:\n            for p in ps: p.grad /= norm",
    "optimizer.step(); continue",
) if False else None
wrong("does not clip", "if norm > 1:", "if False:")
wrong("always scales to 1", "if norm > 1:", "if norm > 0:")
wrong("forgets the step", "        optimizer.step()\n", "")


@right
def shifted(target_ids, bos_id, eos_id, pad_id):
    B = target_ids.shape[0]
    inputs = torch.cat([torch.full((B, 1), bos_id), target_ids], dim=1)
    labels = F.pad(target_ids, (0, 1), value=pad_id)
    number = (target_ids != pad_id).sum(dim=1)
    labels[torch.arange(B), number] = eos_id
    return inputs, labels


wrong("padded with 0", ", value=pad_id", "")


@right
def smoothed_loss(logits, targets, smoothing, pad_id):
    logp = torch.log_softmax(logits, dim=-1)
    at_target = logp.gather(-1, targets[..., None]).squeeze(-1)
    loss = -((1 - smoothing) * at_target + smoothing * logp.mean(dim=-1))
    real = targets != pad_id
    return loss[real].mean()


wrong(
    "nothing for the padding token",
    "logp.mean(dim=-1)",
    "(logp.sum(dim=-1) - logp[..., pad_id]) / (logp.shape[-1] - 1)",
)


@right
def parameters(vocab_size, d_model, num_layers, num_heads, d_ff, d_k, d_v):
    def linear(a, b):
        return a * b + b

    attention = 2 * linear(d_model, num_heads * d_k)
    attention += linear(d_model, num_heads * d_v) + linear(num_heads * d_v, d_model)
    network = linear(d_model, d_ff) + linear(d_ff, d_model)
    norm = 2 * d_model
    encoder = attention + network + 2 * norm
    decoder = 2 * attention + network + 3 * norm
    return vocab_size * d_model + num_layers * (encoder + decoder)


wrong("values as wide as keys", "num_heads * d_v", "num_heads * d_k")

wrong(
    "all heads together as wide as the model",
    "num_heads * d_k",
    "d_model",
    "num_heads * d_v",
    "d_model",
)


@right("decoder_block")
class DecoderBlockAgain(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, memory_mask=None):
        T = x.shape[1]
        causal = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        x = self.norm1(x + self.self_attention(x, x, x, mask=causal)[0])
        x = self.norm2(x + self.cross_attention(x, memory, memory, mask=memory_mask)[0])
        return self.norm3(x + self.feed_forward(x))


wrong("the source's padding is seen", ", mask=memory_mask", "")


@right
def train(model, batches, optimizer):
    losses = []
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


wrong("each entry clipped", "clip_grad_norm_", "clip_grad_value_")


@right
def smoothed_loss(logits, targets, smoothing, pad_id):
    log_p = logits.log_softmax(dim=-1)
    of_target = log_p.gather(-1, targets[..., None])[..., 0]
    of_all = log_p.mean(dim=-1)
    loss = -(1 - smoothing) * of_target - smoothing * of_all
    real = (targets != pad_id).to(loss.dtype)
    return (loss * real).sum() / real.sum()


wrong(
    "the mean of the sentences' means",
    "(loss * real).sum() / real.sum()",
    "((loss * real).sum(dim=1) / real.sum(dim=1)).mean()",
)


@right
def parameters(vocab_size, d_model, num_layers, num_heads, d_ff, d_k, d_v):
    def linear(width_in, width_out):
        return width_in * width_out + width_out

    keys, values = num_heads * d_k, num_heads * d_v
    attention = 2 * linear(d_model, keys) + linear(d_model, values) + linear(values, d_model)
    network = linear(d_model, d_ff) + linear(d_ff, d_model)
    norm = 2 * d_model
    encoder = attention + network + 2 * norm
    decoder = 2 * attention + network + 3 * norm
    return vocab_size * d_model + num_layers * (encoder + decoder)


wrong("one attention in the decoder's block", "2 * attention + network", "attention + network")


@right("decoder_block")
class OtherDecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, memory_mask=None):
        place = torch.arange(x.shape[1], device=x.device)
        mask = place[:, None] >= place[None, :]
        read, _ = self.self_attention(x, x, x, mask=mask)
        x = self.norm1(x + read)
        found, _ = self.cross_attention(x, memory, memory, mask=memory_mask)
        x = self.norm2(x + found)
        return self.norm3(x + self.feed_forward(x))


wrong(
    "no residual around the network",
    "self.norm3(x + self.feed_forward(x))",
    "self.norm3(self.feed_forward(x))",
)


@right
def train(model, batches, optimizer):
    history = []
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        history.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return history


wrong("each entry clipped", "clip_grad_norm_(", "clip_grad_value_(")


@right
def smoothed_loss(logits, targets, smoothing, pad_id):
    log_p = logits.log_softmax(-1)
    V = logits.shape[-1]
    q = F.one_hot(targets, V) * (1 - smoothing) + smoothing / V
    loss = -(q * log_p).sum(-1)
    return loss[targets != pad_id].mean()


wrong("entropy of the target taken off", "(q * log_p)", "(q * log_p - torch.xlogy(q, q))")


@right
def parameters(vocab_size, d_model, num_layers, num_heads, d_ff, d_k, d_v):
    attention = (d_model + 1) * num_heads * (2 * d_k + d_v) + (num_heads * d_v + 1) * d_model
    network = 2 * d_model * d_ff + d_ff + d_model
    blocks = 3 * attention + 2 * network + 5 * 2 * d_model
    return num_layers * blocks + vocab_size * d_model


wrong("half the layers to each stack", "num_layers * blocks", "num_layers // 2 * blocks")
