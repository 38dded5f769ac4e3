"""Answers to the exercises of book/full_model.ipynb."""

import torch
import torch.nn.functional as F
from torch import nn

from book.full_model.checks import (
    decoder_block,
    parameters,
    shifted,
    smoothed_loss,
    train,
)
from companion.nn import FeedForward, MultiHeadAttention
from tests.book.answers import right, wrong

# Shift it


@right(shifted)
def by_counting(target_ids, bos_id, eos_id, pad_id):
    B = len(target_ids)
    inputs = torch.cat([target_ids.new_full((B, 1), bos_id), target_ids], dim=1)
    labels = torch.cat([target_ids, target_ids.new_full((B, 1), pad_id)], dim=1)
    labels[torch.arange(B), (target_ids != pad_id).sum(1)] = eos_id
    return inputs, labels


@right(shifted)
def with_the_end_read(target_ids, bos_id, eos_id, pad_id):
    """[BOS] words [EOS] in one tensor, and two windows of it, as companion's loss has it."""
    rows = []
    for row in target_ids.tolist():
        words = [word for word in row if word != pad_id]
        row = [bos_id, *words, eos_id]
        rows.append(row + [pad_id] * (target_ids.shape[1] + 2 - len(row)))
    whole = torch.tensor(rows)
    return whole[:, :-1], whole[:, 1:]


@wrong(shifted, "ids are integers")
def as_floats(target_ids, bos_id, eos_id, pad_id):
    return tuple(x.float() for x in by_counting(target_ids, bos_id, eos_id, pad_id))


# A little doubt


@right(smoothed_loss)
def by_torch(logits, targets, smoothing, pad_id):
    return F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, label_smoothing=smoothing
    )


@right(smoothed_loss)
def against_a_distribution(logits, targets, smoothing, pad_id):
    V = logits.shape[-1]
    wanted = (1 - smoothing) * F.one_hot(targets, V) + smoothing / V
    losses = -(wanted * logits.log_softmax(-1)).sum(-1)
    return losses[targets != pad_id].mean()


@wrong(smoothed_loss, "token 0 is a word like any other")
def zero_is_padding(logits, targets, smoothing, pad_id):
    losses = F.cross_entropy(logits.mT, targets, reduction="none", label_smoothing=smoothing)
    return losses[targets != 0].mean()


@wrong(smoothed_loss, "`smoothing` has no effect")
def plain_cross_entropy(logits, targets, smoothing, pad_id):
    return F.cross_entropy(logits.mT, targets, ignore_index=pad_id)


# A row of Table 3


@right(parameters)
def part_by_part(vocab_size, d_model, num_layers, num_heads, d_ff, d_k, d_v):
    def linear(n, m):
        return n * m + m

    norm = 2 * d_model
    attention = (
        2 * linear(d_model, num_heads * d_k)
        + linear(d_model, num_heads * d_v)
        + linear(num_heads * d_v, d_model)
    )
    feed_forward = linear(d_model, d_ff) + linear(d_ff, d_model)
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    return vocab_size * d_model + num_layers * (encoder + decoder)


@right(parameters)
def multiplied_out(V, d, N, h, f, k, v):
    per_layer = 3 * (2 * h * k * d + 2 * h * v * d + 2 * h * k + h * v + d)
    per_layer += 2 * (2 * d * f + f + d) + 10 * d
    return V * d + N * per_layer


@wrong(parameters, "the same holds for the sizes of the paper")
def two_heads_for_ever(V, d, N, h, *sizes):
    return part_by_part(V, d, N, min(h, 2), *sizes)


# The decoder's block


def block(forward):
    """A class of the exercise's form: its parts, and a forward of its own."""

    class MyDecoderBlock(nn.Module):
        def __init__(self, d_model, num_heads, d_ff):
            super().__init__()
            self.self_attention = MultiHeadAttention(d_model, num_heads)
            self.cross_attention = MultiHeadAttention(d_model, num_heads)
            self.feed_forward = FeedForward(d_model, d_ff)
            self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    MyDecoderBlock.forward = forward
    MyDecoderBlock.__name__ = forward.__name__
    return MyDecoderBlock


def causal(x):
    return torch.ones(x.shape[1], x.shape[1]).tril().bool()


@right(decoder_block)
@block
def three_lines(self, x, memory, memory_mask=None):
    x = self.norm1(x + self.self_attention(x, mask=causal(x))[0])
    x = self.norm2(x + self.cross_attention(x, memory, mask=memory_mask)[0])
    return self.norm3(x + self.feed_forward(x))


@right(decoder_block)
@block
def with_is_causal_and_names(self, x, memory, memory_mask=None):
    attended, _ = self.self_attention(x, x, x, is_causal=True)
    x = self.norm1(attended + x)
    found, _ = self.cross_attention(x, memory, memory, mask=memory_mask)
    x = self.norm2(found + x)
    return self.norm3(self.feed_forward(x) + x)


@wrong(decoder_block, "may look at any word of the source")
@block
def causal_over_the_source(self, x, memory, memory_mask=None):
    x = self.norm1(x + self.self_attention(x, mask=causal(x))[0])
    seen = torch.ones(x.shape[1], memory.shape[1]).tril().bool()
    x = self.norm2(x + self.cross_attention(x, memory, mask=seen)[0])
    return self.norm3(x + self.feed_forward(x))


@wrong(decoder_block, "memory_mask says which words of the source")
@block
def memory_mask_on_the_words(self, x, memory, memory_mask=None):
    hidden = causal(x) if memory_mask is None else causal(x) & memory_mask[..., : x.shape[1]]
    x = self.norm1(x + self.self_attention(x, mask=hidden)[0])
    x = self.norm2(x + self.cross_attention(x, memory)[0])
    return self.norm3(x + self.feed_forward(x))


# A loop that trains


@right(train)
def twelve_lines(model, batches, optimizer):
    losses = []
    model.train()
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


@right(train)
def by_hand(model, batches, optimizer):
    losses = torch.zeros(len(batches))
    for step, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        loss = -model(x).log_softmax(-1)[torch.arange(len(y)), y].mean()
        loss.backward()
        found = [p for p in model.parameters() if p.grad is not None]
        norm = torch.stack([p.grad.square().sum() for p in found]).sum().sqrt()
        for p in found:
            p.grad *= min(1.0, 1.0 / norm.item())
        optimizer.step()
        losses[step] = loss.detach()
    return losses


@wrong(train, "one loss for each batch")
def the_last_loss(model, batches, optimizer):
    return twelve_lines(model, batches, optimizer)[-1]
