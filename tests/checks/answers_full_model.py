"""Answers to the exercises of book/full_model.ipynb."""

import torch
import torch.nn.functional as F

from companion.checks.full_model import parameters, shifted, smoothed_loss
from tests.checks.answers import right, wrong

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


@wrong(shifted, "two places ahead")
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


@wrong(shifted, "0 is taken for padding")
def padding_is_zero(target_ids, bos_id, eos_id, pad_id):
    inputs, labels = both(target_ids, bos_id, pad_id)
    labels[torch.arange(len(labels)), (target_ids != 0).sum(1)] = eos_id
    return inputs, labels


@wrong(shifted, "it changes its input target_ids")
def in_place(target_ids, bos_id, eos_id, pad_id):
    result = by_counting(target_ids, bos_id, eos_id, pad_id)
    target_ids[target_ids == pad_id] = eos_id
    return result


@wrong(shifted, "it returned float32, expected integers")
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


@wrong(smoothed_loss, "padding is counted like a word")
def padding_counted(logits, targets, smoothing, pad_id):
    return losses_of(logits, targets, smoothing).mean()


@wrong(smoothed_loss, "divided by all places")
def divided_by_all(logits, targets, smoothing, pad_id):
    return (losses_of(logits, targets, smoothing) * (targets != pad_id)).mean()


@wrong(smoothed_loss, "not divided by the number of real tokens")
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


@wrong(parameters, "the biases of the projections are missing")
def without_biases(*sizes):
    return formula(*sizes, b=0)


@wrong(parameters, "all biases are missing")
def matrices_and_factors(V, d, N, h, f, k, v):
    return formula(V, d, N, h, f, k, v, b=0) - 5 * N * d


@wrong(parameters, "the norms are missing")
def without_norms(*sizes):
    return formula(*sizes, norms=0)


@wrong(parameters, "biases and norms are missing")
def matrices_only(V, d, N, h, f, k, v):
    return V * d + N * (3 * (2 * d * h * k + 2 * d * h * v) + 2 * 2 * d * f)


@wrong(parameters, "a shift for every entry as well as a factor")
def norms_without_shift(V, d, N, h, f, k, v):
    return formula(V, d, N, h, f, k, v) - 5 * N * d


@wrong(parameters, "the norm behind the cross-attention is missing")
def two_norms_in_the_decoder(*sizes):
    return formula(*sizes, norms=4)


@wrong(parameters, "the cross-attention is missing")
def one_attention_in_the_decoder(*sizes):
    return formula(*sizes, cross=0)


@wrong(parameters, "the cross-attention and its norm are missing")
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


@wrong(parameters, "d_k and d_v are not used")
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


@wrong(parameters, "it returned float, expected int")
def in_millions(*sizes):
    return formula(*sizes) / 1e6
