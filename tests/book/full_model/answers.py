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

# 1. Shift it


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


@right(shifted)
def where_the_padding_starts(target_ids, bos_id, eos_id, pad_id):
    inputs = F.pad(target_ids, (1, 0), value=bos_id)
    labels = F.pad(target_ids, (0, 1), value=pad_id)
    first = (labels == pad_id) & (inputs != pad_id)
    return inputs, torch.where(first, eos_id, labels)


def both(target_ids, bos_id, last):
    B = len(target_ids)
    inputs = torch.cat([torch.full((B, 1), bos_id), target_ids], 1)
    return inputs, torch.cat([target_ids, torch.full((B, 1), last)], 1)


@wrong(shifted, "[EOS] is read as well")
def all_of_it_is_read(target_ids, bos_id, eos_id, pad_id):
    inputs, labels = by_counting(target_ids, bos_id, eos_id, pad_id)
    return torch.cat([inputs, torch.full_like(inputs[:, :1], eos_id)], dim=1), labels


@wrong(shifted, "in the last column of every row")
def end_in_the_last_column(target_ids, bos_id, eos_id, pad_id):
    return both(target_ids, bos_id, eos_id)


@wrong(shifted, "asked for again and again")
def end_instead_of_padding(target_ids, bos_id, eos_id, pad_id):
    inputs, labels = both(target_ids, bos_id, eos_id)
    return inputs, labels.masked_fill(labels == pad_id, eos_id)


@wrong(shifted, "there is no [EOS]")
def without_an_end(target_ids, bos_id, eos_id, pad_id):
    return both(target_ids, bos_id, pad_id)


@wrong(shifted, "there is no [BOS]")
def without_a_beginning(target_ids, bos_id, eos_id, pad_id):
    return F.pad(target_ids, (0, 1), value=pad_id), by_counting(target_ids, bos_id, eos_id, pad_id)[
        1
    ]


@wrong(shifted, "changed places")
def labels_first(target_ids, bos_id, eos_id, pad_id):
    inputs, labels = by_counting(target_ids, bos_id, eos_id, pad_id)
    return labels, inputs


@wrong(shifted, "nothing is shifted")
def asked_for_what_it_reads(target_ids, bos_id, eos_id, pad_id):
    inputs, _ = by_counting(target_ids, bos_id, eos_id, pad_id)
    return inputs, inputs.clone()


@wrong(shifted, "the model reads [BOS], w1, w2")
def shifted_twice(target_ids, bos_id, eos_id, pad_id):
    inputs, labels = by_counting(target_ids, bos_id, eos_id, pad_id)
    return inputs, F.pad(labels[:, 1:], (0, 1), value=pad_id)


@wrong(shifted, "it is the shift of T places")
def as_for_running_text(target_ids, bos_id, eos_id, pad_id):
    start = torch.full_like(target_ids[:, :1], bos_id)
    return torch.cat([start, target_ids[:, :-1]], dim=1), target_ids


@wrong(shifted, "the labels start with [BOS]")
def beginning_on_both(target_ids, bos_id, eos_id, pad_id):
    inputs, labels = by_counting(target_ids, bos_id, eos_id, pad_id)
    return inputs, torch.cat([inputs[:, :1], labels], dim=1)


@wrong(shifted, "padding need not be 0")
def padding_is_zero(target_ids, bos_id, eos_id, pad_id):
    inputs, labels = both(target_ids, bos_id, pad_id)
    labels[torch.arange(len(labels)), (target_ids != 0).sum(1)] = eos_id
    return inputs, labels


@wrong(shifted, "it changes its input target_ids")
def in_place(target_ids, bos_id, eos_id, pad_id):
    result = by_counting(target_ids, bos_id, eos_id, pad_id)
    target_ids[target_ids == pad_id] = eos_id
    return result


@wrong(shifted, "ids are integers")
def as_floats(target_ids, bos_id, eos_id, pad_id):
    return tuple(x.float() for x in by_counting(target_ids, bos_id, eos_id, pad_id))


# 2. A little doubt


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


@right(smoothed_loss)
def word_by_word(logits, targets, smoothing, pad_id):
    losses = []
    for row, target in zip(logits.flatten(0, 1), targets.flatten().tolist(), strict=True):
        if target != pad_id:
            log_p = row - row.logsumexp(0)
            losses.append(-(1 - smoothing) * log_p[target] - smoothing * log_p.mean())
    return torch.stack(losses).mean()


def losses_of(logits, targets, smoothing):
    wanted = (1 - smoothing) * F.one_hot(targets, logits.shape[-1]) + smoothing / logits.shape[-1]
    return -(wanted * logits.log_softmax(-1)).sum(-1)


@wrong(smoothed_loss, "padding gets no share")
def nothing_for_padding(logits, targets, smoothing, pad_id):
    log_p = logits.log_softmax(-1)
    right = log_p.gather(-1, targets[..., None]).squeeze(-1)
    words = log_p[..., torch.arange(log_p.shape[-1]) != pad_id].mean(-1)
    return (-(1 - smoothing) * right - smoothing * words)[targets != pad_id].mean()


@wrong(smoothed_loss, "token 0 is a word like any other")
def zero_is_padding(logits, targets, smoothing, pad_id):
    losses = F.cross_entropy(logits.mT, targets, reduction="none", label_smoothing=smoothing)
    return losses[targets != 0].mean()


@wrong(smoothed_loss, "padding is counted like a word")
def padding_counted(logits, targets, smoothing, pad_id):
    return losses_of(logits, targets, smoothing).mean()


@wrong(smoothed_loss, "divided by all places")
def divided_by_all(logits, targets, smoothing, pad_id):
    return (losses_of(logits, targets, smoothing) * (targets != pad_id)).mean()


@wrong(smoothed_loss, "not their sum")
def only_the_sum(logits, targets, smoothing, pad_id):
    return losses_of(logits, targets, smoothing)[targets != pad_id].sum()


@wrong(smoothed_loss, "the mean of each sentence")
def mean_of_means(logits, targets, smoothing, pad_id):
    real = targets != pad_id
    each = (losses_of(logits, targets, smoothing) * real).sum(1) / real.sum(1)
    return each.mean()


@wrong(smoothed_loss, "there is no smoothing")
def plain_cross_entropy(logits, targets, smoothing, pad_id):
    return F.cross_entropy(logits.mT, targets, ignore_index=pad_id)


@wrong(smoothed_loss, "added on top")
def on_top(logits, targets, smoothing, pad_id):
    real, log_p = targets != pad_id, logits.log_softmax(-1)
    plain = F.nll_loss(log_p[real], targets[real])
    return plain - smoothing * log_p[real].mean()


@wrong(smoothed_loss, "shared by the other tokens only")
def for_the_others_only(logits, targets, smoothing, pad_id):
    V, real = logits.shape[-1], targets != pad_id
    wanted = torch.full_like(logits, smoothing / (V - 1))
    wanted.scatter_(-1, targets[..., None], 1 - smoothing)
    return -(wanted * logits.log_softmax(-1)).sum(-1)[real].mean()


@wrong(smoothed_loss, "not divided by V")
def all_of_it_for_everybody(logits, targets, smoothing, pad_id):
    wanted = (1 - smoothing) * F.one_hot(targets, logits.shape[-1]) + smoothing
    return -(wanted * logits.log_softmax(-1)).sum(-1)[targets != pad_id].mean()


@wrong(smoothed_loss, "softmax over the places")
def over_the_places(logits, targets, smoothing, pad_id):
    log_p, real = logits.log_softmax(1), targets != pad_id
    right = log_p.gather(2, targets[:, :, None])[:, :, 0]
    return -((1 - smoothing) * right + smoothing * log_p.mean(2))[real].mean()


@wrong(smoothed_loss, "log-likelihood")
def without_the_minus(logits, targets, smoothing, pad_id):
    return -against_a_distribution(logits, targets, smoothing, pad_id)


@wrong(smoothed_loss, "have changed places")
def the_wrong_share(logits, targets, smoothing, pad_id):
    return against_a_distribution(logits, targets, 1 - smoothing, pad_id)


@wrong(smoothed_loss, "it returned shape (1,), expected ()")
def one_for_each_sentence(logits, targets, smoothing, pad_id):
    real = targets != pad_id
    return (losses_of(logits, targets, smoothing) * real).sum(1) / real.sum(1)


# 3. A row of Table 3


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


def formula(V, d, N, h, f, k, v, *, b=1, norms=5, cross=1, tables=1):
    attention = 2 * (d * h * k + b * h * k) + d * h * v + b * h * v + h * v * d + b * d
    feed_forward = 2 * d * f + b * (f + d)
    return tables * V * d + N * ((2 + cross) * attention + 2 * feed_forward + norms * 2 * d)


@wrong(parameters, "d_v is not used")
def values_as_wide_as_keys(V, d, N, h, f, k, v):
    return formula(V, d, N, h, f, k, k)


@wrong(parameters, "of W^O, are missing")
def no_bias_behind_the_heads(V, d, N, *sizes):
    return formula(V, d, N, *sizes) - 3 * N * d


@wrong(parameters, "the second bias of the feed-forward networks")
def one_bias_in_each_network(V, d, N, *sizes):
    return formula(V, d, N, *sizes) - 2 * N * d


@wrong(parameters, "the same holds for the sizes of the paper")
def two_heads_for_ever(V, d, N, h, *sizes):
    return formula(V, d, N, min(h, 2), *sizes)


@wrong(parameters, "a d_k larger by one")
def queries_without_keys(V, d, N, h, f, k, v):
    return formula(V, d, N, h, f, k, v) - 3 * N * h * k * (d + 1)


@wrong(parameters, "the biases of the projections are missing")
def without_biases(*sizes):
    return formula(*sizes, b=0)


@wrong(parameters, "biases of the projections")
def matrices_and_factors(V, d, N, h, f, k, v):
    return formula(V, d, N, h, f, k, v, b=0) - 5 * N * d


@wrong(parameters, "the norms are missing")
def without_norms(*sizes):
    return formula(*sizes, norms=0)


@wrong(parameters, "biases of the projections")
def matrices_only(V, d, N, h, f, k, v):
    return V * d + N * (3 * (2 * d * h * k + 2 * d * h * v) + 2 * 2 * d * f)


@wrong(parameters, "a shift for every entry as well as a factor")
def norms_without_shift(V, d, N, h, f, k, v):
    return formula(V, d, N, h, f, k, v) - 5 * N * d


@wrong(parameters, "the norm behind the cross-attention")
def two_norms_in_the_decoder(*sizes):
    return formula(*sizes, norms=4)


@wrong(parameters, "the cross-attention is missing")
def one_attention_in_the_decoder(*sizes):
    return formula(*sizes, cross=0)


@wrong(parameters, "the cross-attention is missing")
def two_equal_stacks(*sizes):
    return formula(*sizes, cross=0, norms=4)


@wrong(parameters, "the output matrix is counted apart")
def untied(*sizes):
    return formula(*sizes, tables=2)


@wrong(parameters, "a matrix each")
def three_tables(*sizes):
    return formula(*sizes, tables=3)


@wrong(parameters, "the embedding is missing")
def blocks_only(*sizes):
    return formula(*sizes, tables=0)


@wrong(parameters, "there is one stack only")
def encoder_only(V, d, N, h, f, k, v):
    attention = 2 * (d + 1) * h * k + (d + 1) * h * v + (h * v + 1) * d
    return V * d + N * (attention + 2 * d * f + f + d + 4 * d)


@wrong(parameters, "d_v is not used")
def widths_from_the_model(V, d, N, h, f, k, v):
    return formula(V, d, N, h, f, d // h, d // h)


@wrong(parameters, "the number of heads is not used")
def widths_of_all_heads_together(V, d, N, h, f, k, v):
    return formula(V, d, N, 1, f, k, v)


@wrong(parameters, "norms behind the stacks")
def two_final_norms(V, d, N, h, f, k, v):
    return formula(V, d, N, h, f, k, v) + 2 * 2 * d


@wrong(parameters, "a bias for every token")
def head_with_bias(V, *sizes):
    return formula(V, *sizes) + V


@wrong(parameters, "as an int")
def in_millions(*sizes):
    return formula(*sizes) / 1e6


# 6. The decoder's block


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


def variant(name, text, forward):
    forward.__name__ = name
    wrong(decoder_block, text)(block(forward))


def pre_norm(self, x, memory, memory_mask=None):
    read = self.norm1(x)
    x = x + self.self_attention(read, mask=causal(x))[0]
    x = x + self.cross_attention(self.norm2(x), memory, mask=memory_mask)[0]
    return x + self.feed_forward(self.norm3(x))


def sees_the_future(self, x, memory, memory_mask=None):
    x = self.norm1(x + self.self_attention(x)[0])
    x = self.norm2(x + self.cross_attention(x, memory, mask=memory_mask)[0])
    return self.norm3(x + self.feed_forward(x))


def ignores_the_source(self, x, memory, memory_mask=None):
    x = self.norm1(x + self.self_attention(x, mask=causal(x))[0])
    x = self.norm2(x + self.cross_attention(x, x)[0])
    return self.norm3(x + self.feed_forward(x))


def asks_with_the_source(self, x, memory, memory_mask=None):
    x = self.norm1(x + self.self_attention(x, mask=causal(x))[0])
    x = self.norm2(x + self.cross_attention(memory, x)[0])
    return self.norm3(x + self.feed_forward(x))


def source_first(self, x, memory, memory_mask=None):
    x = self.norm2(x + self.cross_attention(x, memory, mask=memory_mask)[0])
    x = self.norm1(x + self.self_attention(x, mask=causal(x))[0])
    return self.norm3(x + self.feed_forward(x))


def adds_nothing(self, x, memory, memory_mask=None):
    x = self.norm1(self.self_attention(x, mask=causal(x))[0])
    x = self.norm2(self.cross_attention(x, memory, mask=memory_mask)[0])
    return self.norm3(self.feed_forward(x))


def forgets_the_memory_mask(self, x, memory, memory_mask=None):
    return three_lines.forward(self, x, memory)


def causal_over_the_source(self, x, memory, memory_mask=None):
    x = self.norm1(x + self.self_attention(x, mask=causal(x))[0])
    seen = torch.ones(x.shape[1], memory.shape[1]).tril().bool()
    x = self.norm2(x + self.cross_attention(x, memory, mask=seen)[0])
    return self.norm3(x + self.feed_forward(x))


def memory_mask_on_the_words(self, x, memory, memory_mask=None):
    hidden = causal(x) if memory_mask is None else causal(x) & memory_mask[..., : x.shape[1]]
    x = self.norm1(x + self.self_attention(x, mask=hidden)[0])
    x = self.norm2(x + self.cross_attention(x, memory)[0])
    return self.norm3(x + self.feed_forward(x))


def no_feed_forward(self, x, memory, memory_mask=None):
    x = self.norm1(x + self.self_attention(x, mask=causal(x))[0])
    return self.norm3(self.norm2(x + self.cross_attention(x, memory, mask=memory_mask)[0]))


def both_find_first(self, x, memory, memory_mask=None):
    found = self.cross_attention(x, memory, mask=memory_mask)[0]
    x = self.norm1(x + self.self_attention(x, mask=causal(x))[0])
    x = self.norm2(x + found)
    return self.norm3(x + self.feed_forward(x))


for forward, text in {
    pre_norm: "this is pre-norm",
    sees_the_future: "the self-attention sees later words",
    ignores_the_source: "its keys and values come from memory",
    asks_with_the_source: "its keys and values come from memory",
    source_first: "the cross-attention comes first",
    adds_nothing: "nothing is added",
    forgets_the_memory_mask: "memory_mask has no effect",
    causal_over_the_source: "may look at any word of the source",
    memory_mask_on_the_words: "memory_mask says which words of the source",
    no_feed_forward: "the feed-forward network is missing",
    both_find_first: "with what the self-attention has made of it",
}.items():
    variant(forward.__name__, text, forward)


# 7. A loop that trains


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


def loop(body):
    """A wrong loop: body(step, clip, zero, back, ...) does the steps of one batch in some order."""

    def trained(model, batches, optimizer):
        losses = []
        for x, y in batches:
            losses.append(body(model, x, y, optimizer))
        return losses

    trained.__name__ = body.__name__
    return trained


def loss_of(model, x, y):
    return F.cross_entropy(model(x), y)


def clip(model):
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@wrong(train, "the gradients of the step before are still there")
@loop
def never_zeroed(model, x, y, optimizer):
    loss = loss_of(model, x, y)
    loss.backward()
    clip(model)
    optimizer.step()
    return loss.item()


@wrong(train, "nothing is learned")
@loop
def zeroed_before_the_step(model, x, y, optimizer):
    loss = loss_of(model, x, y)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


@wrong(train, "nothing is learned")
@loop
def without_a_step(model, x, y, optimizer):
    loss = loss_of(model, x, y)
    loss.backward()
    return loss.item()


@wrong(train, "gradients are not clipped")
@loop
def unclipped(model, x, y, optimizer):
    loss = loss_of(model, x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(train, "every parameter is clipped by itself")
@loop
def one_norm_for_each(model, x, y, optimizer):
    loss = loss_of(model, x, y)
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        nn.utils.clip_grad_norm_([parameter], 1.0)
    optimizer.step()
    return loss.item()


@wrong(train, "gradients are not clipped")
@loop
def clipped_before_there_is_a_gradient(model, x, y, optimizer):
    loss = loss_of(model, x, y)
    optimizer.zero_grad()
    clip(model)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong(train, "each number of the gradient was cut")
@loop
def clipped_by_value(model, x, y, optimizer):
    loss = loss_of(model, x, y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


@wrong(train, "a gradient shorter than 1 was made longer")
@loop
def always_of_length_1(model, x, y, optimizer):
    loss = loss_of(model, x, y)
    optimizer.zero_grad()
    loss.backward()
    norm = torch.stack([p.grad.square().sum() for p in model.parameters()]).sum().sqrt()
    for p in model.parameters():
        p.grad /= norm
    optimizer.step()
    return loss.item()


@wrong(train, "the sum over the examples")
@loop
def summed(model, x, y, optimizer):
    loss = F.cross_entropy(model(x), y, reduction="sum")
    optimizer.zero_grad()
    loss.backward()
    clip(model)
    optimizer.step()
    return loss.item()


@wrong(train, "probabilities were given to the cross-entropy")
@loop
def softmax_twice(model, x, y, optimizer):
    loss = F.cross_entropy(model(x).softmax(-1), y)
    optimizer.zero_grad()
    loss.backward()
    clip(model)
    optimizer.step()
    return loss.item()


@wrong(train, "those before each step, not after it")
@loop
def loss_after_the_step(model, x, y, optimizer):
    optimizer.zero_grad()
    loss_of(model, x, y).backward()
    clip(model)
    optimizer.step()
    return loss_of(model, x, y).item()


@wrong(train, "plain numbers")
@loop
def keeps_the_graphs(model, x, y, optimizer):
    loss = loss_of(model, x, y)
    optimizer.zero_grad()
    loss.backward()
    clip(model)
    optimizer.step()
    return loss


@wrong(train, "one loss for each batch")
def the_last_loss(model, batches, optimizer):
    return twelve_lines(model, batches, optimizer)[-1]


@wrong(train, "the first batch is used again")
def one_batch_again(model, batches, optimizer):
    return twelve_lines(model, [batches[0]] * len(batches), optimizer)


@wrong(train, "its own optimizer")
def own_optimizer(model, batches, optimizer):
    return twelve_lines(model, batches, torch.optim.SGD(model.parameters(), lr=1.0))


@wrong(shifted, "the input begins with [EOS]")
def end_in_front(target_ids, bos_id, eos_id, pad_id):
    labels = F.pad(target_ids, (0, 1), value=pad_id)
    labels = labels.scatter(1, (target_ids != pad_id).sum(1, keepdim=True), eos_id)
    return F.pad(target_ids, (1, 0), value=eos_id), labels


@wrong(shifted, "written over the last word")
def end_over_the_last_word(target_ids, bos_id, eos_id, pad_id):
    last = (target_ids != pad_id).sum(1, keepdim=True) - 1
    labels = F.pad(target_ids.scatter(1, last, eos_id), (0, 1), value=pad_id)
    return F.pad(target_ids, (1, 0), value=bos_id), labels


@wrong(train, "`return` stands behind the loop")
def returns_in_the_loop(model, batches, optimizer):
    losses = []
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        return losses


class _Parts(nn.Module):
    """The parts of a decoder's block, and the right forward in steps that can be replaced."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def mask(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril()

    def norms(self):
        return self.norm1, self.norm2, self.norm3

    def forward(self, x, memory, memory_mask=None):
        first, second, third = self.norms()
        x = first(x + self.self_attention(x, x, x, mask=self.mask(x.shape[1]))[0])
        x = second(x + self.cross_attention(x, memory, memory, mask=memory_mask)[0])
        return third(x + self.feed_forward(x))


@wrong(decoder_block, "norm1 is used for all three")
class OneNorm(_Parts):
    def norms(self):
        return self.norm1, self.norm1, self.norm1


@wrong(decoder_block, "norm3 is missing")
class NoLastNorm(_Parts):
    def norms(self):
        return self.norm1, self.norm2, nn.Identity()


@wrong(decoder_block, "its mask has True on the diagonal")
class StrictMask(_Parts):
    def mask(self, T):
        return torch.ones(T, T, dtype=torch.bool).tril(-1)


# More of what goes wrong in the same places


@wrong(smoothed_loss, "the model's probability is smoothed")
def smoothed_model(logits, targets, smoothing, pad_id):
    p = logits.softmax(-1).gather(-1, targets[..., None])[..., 0]
    losses = -torch.log((1 - smoothing) * p + smoothing / logits.shape[-1])
    return losses[targets != pad_id].mean()


@wrong(smoothed_loss, "the mean of the logits is added")
def spread_over_logits(logits, targets, smoothing, pad_id):
    right = logits.log_softmax(-1).gather(-1, targets[..., None])[..., 0]
    losses = -((1 - smoothing) * right + smoothing * logits.mean(-1))
    return losses[targets != pad_id].mean()


@wrong(smoothed_loss, "the target's own entropy is taken off")
def divergence(logits, targets, smoothing, pad_id):
    V = logits.shape[-1]
    wanted = (1 - smoothing) * F.one_hot(targets, V) + smoothing / V
    losses = F.kl_div(logits.log_softmax(-1), wanted, reduction="none").sum(-1)
    return losses[targets != pad_id].mean()


@wrong(smoothed_loss, "it is smoothed twice")
def twice(logits, targets, smoothing, pad_id):
    return by_torch(logits, targets, 1 - (1 - smoothing) ** 2, pad_id)


def second_and_third_exchanged(self, x, memory, memory_mask=None):
    x = self.norm1(x + self.self_attention(x, mask=causal(x))[0])
    x = self.norm3(x + self.cross_attention(x, memory, mask=memory_mask)[0])
    return self.norm2(x + self.feed_forward(x))


def first_and_second_exchanged(self, x, memory, memory_mask=None):
    x = self.norm2(x + self.self_attention(x, mask=causal(x))[0])
    x = self.norm1(x + self.cross_attention(x, memory, mask=memory_mask)[0])
    return self.norm3(x + self.feed_forward(x))


def always_the_first_x(self, x, memory, memory_mask=None):
    y = self.norm1(x + self.self_attention(x, mask=causal(x))[0])
    y = self.norm2(x + self.cross_attention(y, memory, mask=memory_mask)[0])
    return self.norm3(x + self.feed_forward(y))


def memory_normed(self, x, memory, memory_mask=None):
    return three_lines_of(self, x, self.norm2(memory), causal(x), memory_mask)


def the_wrong_way_round(self, x, memory, memory_mask=None):
    return three_lines_of(self, x, memory, causal(x).mT, memory_mask)


def three_lines_of(self, x, memory, mask, memory_mask):
    x = self.norm1(x + self.self_attention(x, mask=mask)[0])
    x = self.norm2(x + self.cross_attention(x, memory, mask=memory_mask)[0])
    return self.norm3(x + self.feed_forward(x))


def network_too_early(self, x, memory, memory_mask=None):
    x = self.norm1(x + self.self_attention(x, mask=causal(x))[0])
    y = self.norm2(x + self.cross_attention(x, memory, mask=memory_mask)[0])
    return self.norm3(y + self.feed_forward(x))


for forward, text in {
    second_and_third_exchanged: "norm2 and norm3 have changed places",
    first_and_second_exchanged: "norm1 and norm2 have changed places",
    always_the_first_x: "each sum adds the x of the beginning",
    memory_normed: "memory is normed before it is read",
    the_wrong_way_round: "the causal mask is the wrong way round",
    network_too_early: "the feed-forward network reads what the self-attention gave",
}.items():
    variant(forward.__name__, text, forward)


@wrong(train, "the losses are means of all so far")
def running_means(model, batches, optimizer):
    losses = twelve_lines(model, batches, optimizer)
    return [sum(losses[:n]) / n for n in range(1, len(losses) + 1)]


@wrong(train, "the losses are sums of all so far")
def running_sums(model, batches, optimizer):
    losses = twelve_lines(model, batches, optimizer)
    return [sum(losses[:n]) for n in range(1, len(losses) + 1)]


@wrong(train, "the sum of absolute values was cut to 1")
def another_norm(model, batches, optimizer):
    losses = []
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=1)
        optimizer.step()
        losses.append(loss.item())
    return losses
