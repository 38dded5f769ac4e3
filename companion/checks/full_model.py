"""Checks for the exercises of book/full_model.ipynb."""

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

from companion.checks.exercise import compare, exercise


@exercise
def shifted(answer) -> str:
    """Check `shifted(target_ids, bos_id, eos_id, pad_id)` -> (inputs, labels), both (B, T + 1).

    target_ids (B, T) are padded and without special tokens. At a place where nothing is asked, the
    inputs may hold [EOS] as well as padding.
    """
    ids = {"bos_id": 1, "eos_id": 2, "pad_id": 0}
    other = {"bos_id": 7, "eos_id": 0, "pad_id": 9}
    cases = [
        {"target_ids": torch.tensor([[5, 6, 8], [4, 0, 0]]), **ids},
        {"target_ids": torch.tensor([[3, 4, 5, 6, 8], [3, 9, 9, 9, 9], [5, 3, 4, 9, 9]]), **other},
        {"target_ids": torch.tensor([[4, 4]]), **ids},
    ]

    def tidied(target_ids, bos_id, eos_id, pad_id):
        """The answer, with padding for an [EOS] that is read where nothing is asked."""
        result = answer(target_ids, bos_id, eos_id, pad_id)
        match result:
            case (torch.Tensor() as inputs, torch.Tensor() as labels):
                if inputs.shape == labels.shape:
                    idle = (inputs == eos_id) & (labels == pad_id)
                    return inputs.masked_fill(idle, pad_id), labels
        return result

    compare(tidied, cases, _shifted, SHIFTED_MISTAKES, numbers=np.integer)
    return "sentences of 1 to 5 words, in batches of one, two and three"


def _shifted(target_ids, bos_id, eos_id, pad_id):
    more = F.pad(target_ids, (0, 1), value=pad_id)
    end = (target_ids != pad_id).sum(1, keepdim=True)
    labels = more.scatter(1, end, eos_id)
    return F.pad(target_ids, (1, 0), value=bos_id), labels


def _but(*, inputs=None, labels=None):
    """The right answer with other inputs or other labels."""

    def variant(target_ids, bos_id, eos_id, pad_id):
        given = (target_ids, bos_id, eos_id, pad_id)
        right = _shifted(*given)
        return (inputs(*given) if inputs else right[0]), (labels(*given) if labels else right[1])

    return variant


def _end_in_last_column(target_ids, bos_id, eos_id, pad_id):
    return F.pad(target_ids, (0, 1), value=eos_id)


def _end_everywhere(target_ids, bos_id, eos_id, pad_id):
    return F.pad(target_ids, (0, 1), value=pad_id).where(
        F.pad(target_ids != pad_id, (0, 1)), eos_id
    )


SHIFTED_MISTAKES = {
    "[EOS] stands in the last column of every row; it belongs behind the row's last word": _but(
        labels=_end_in_last_column
    ),
    "the padding of the labels was filled with [EOS]: it would be asked for again and again": _but(
        labels=_end_everywhere
    ),
    "there is no [EOS]: the model would never learn to stop": _but(
        labels=lambda target_ids, bos_id, eos_id, pad_id: F.pad(target_ids, (0, 1), value=pad_id)
    ),
    "there is no [BOS]: the first word would be read before it is said": _but(
        inputs=lambda target_ids, bos_id, eos_id, pad_id: F.pad(target_ids, (0, 1), value=pad_id)
    ),
    "inputs and labels have changed places: return what is read first": (
        lambda *given: _shifted(*given)[::-1]
    ),
    "nothing is shifted: at each place the model is asked for the word that it reads there": _but(
        labels=lambda *given: _shifted(*given)[0]
    ),
    "the labels are two places ahead: a word is never asked for": _but(
        labels=lambda target_ids, bos_id, eos_id, pad_id: _shifted(
            F.pad(target_ids[:, 1:], (0, 1), value=pad_id), bos_id, eos_id, pad_id
        )[1]
    ),
    "it is the shift of T places: the last word, or its [EOS], is cut off": (
        lambda target_ids, bos_id, eos_id, pad_id: (
            F.pad(target_ids, (1, 0), value=bos_id)[:, :-1],
            target_ids,
        )
    ),
    "the labels start with [BOS], too": _but(
        labels=lambda target_ids, bos_id, eos_id, pad_id: F.pad(
            _shifted(target_ids, bos_id, eos_id, pad_id)[1], (1, 0), value=bos_id
        )
    ),
    "0 is taken for padding; it is pad_id": (
        lambda target_ids, bos_id, eos_id, pad_id: (
            F.pad(target_ids, (1, 0), value=bos_id),
            F.pad(target_ids, (0, 1), value=pad_id).scatter(
                1, (target_ids != 0).sum(1, keepdim=True), eos_id
            ),
        )
    ),
}


@exercise
def smoothed_loss(answer) -> str:
    """Check `smoothed_loss(logits, targets, smoothing, pad_id)`, the mean over the real tokens.

    logits (B, T, V), targets (B, T). A share `smoothing` of the target's probability is spread
    evenly over all V tokens, the target and the padding token included.
    """
    by_hand = torch.tensor([[[3.0, 1.0, 1.0, 3.0], [1.0, 1.0, 1.0, 1.0]]]).log()
    cases = [{"logits": by_hand, "targets": torch.tensor([[3, 0]]), "smoothing": 0.0, "pad_id": 0}]
    cases += [cases[0] | {"smoothing": 0.5}]
    for shape, pad_id in (((2, 5, 7), 0), ((3, 4, 5), 2)):
        logits = 2 * torch.randn(shape)
        targets = torch.randint(shape[-1], shape[:2])
        targets[targets == pad_id] += 1
        targets[0, -2:] = pad_id
        cases.append({"logits": logits, "targets": targets, "smoothing": 0.1, "pad_id": pad_id})
    compare(answer, cases, _smoothed, SMOOTHED_MISTAKES)
    return "smoothing of 0, 0.1 and 0.5; batches of 1, 2 and 3 with padding"


def _smoothed(
    logits,
    targets,
    smoothing,
    pad_id,
    *,
    dim=-1,
    smooth=lambda log_p, smoothing: smoothing * log_p.mean(-1),
    keep=lambda smoothing: 1 - smoothing,
    real=lambda targets, pad_id: targets != pad_id,
    per=lambda losses, real: losses.sum() / real.sum(),
):
    """The loss, or what it would be with one step done in another way."""
    log_p = logits.log_softmax(dim)  # (B, T, V)
    right = log_p.gather(-1, targets[..., None]).squeeze(-1)
    losses = -(keep(smoothing) * right + smooth(log_p, smoothing))
    asked = real(targets, pad_id)
    return (per(losses.masked_fill(~asked, 0.0), asked),)


def _to_the_others(logits, targets, smoothing, pad_id):
    V = logits.shape[-1]
    share = smoothing * V / (V - 1)  # spread over all, this leaves `smoothing` to the others
    return _smoothed(logits, targets, share, pad_id)


SMOOTHED_MISTAKES = {
    "padding is counted like a word": partial(
        _smoothed, real=lambda targets, pad_id: torch.ones_like(targets, dtype=torch.bool)
    ),
    "padding is left out of the sum, but the sum is divided by all places; divide by the number of "
    "real tokens": partial(_smoothed, per=lambda losses, real: losses.mean()),
    "the sum was not divided by the number of real tokens": partial(
        _smoothed, per=lambda losses, real: losses.sum()
    ),
    "the mean of each sentence was taken first, so that a word of a short sentence counts more": (
        partial(_smoothed, per=lambda losses, real: (losses.sum(1) / real.sum(1)).mean())
    ),
    "there is no smoothing": partial(
        _smoothed, keep=lambda smoothing: 1, smooth=lambda log_p, smoothing: 0
    ),
    "the target keeps all of its probability, and the smoothing is added on top": partial(
        _smoothed, keep=lambda smoothing: 1
    ),
    "the smoothing is shared by the other tokens only; here the target has its share of it, too": (
        _to_the_others
    ),
    "the smoothing is not divided by V: every token gets all of it": partial(
        _smoothed, smooth=lambda log_p, smoothing: smoothing * log_p.sum(-1)
    ),
    "softmax over the places; it runs over the vocabulary, the last axis": partial(
        _smoothed, dim=1
    ),
    "the sign is turned: this is the log-likelihood, and a loss is its negative": (
        lambda *given: (-_smoothed(*given)[0],)
    ),
    "smoothing and the rest have changed places": partial(
        _smoothed,
        keep=lambda smoothing: smoothing,
        smooth=lambda log_p, smoothing: (1 - smoothing) * log_p.mean(-1),
    ),
}


@exercise
def parameters(answer) -> str:
    """Check `parameters(vocab_size, d_model, num_layers, num_heads, d_ff, d_k, d_v)` -> int.

    The number of parameters of the Transformer of the paper: post-norm, every projection with a
    bias, sinusoids for positions, one matrix for both embeddings and the output.
    """
    names = ("vocab_size", "d_model", "num_layers", "num_heads", "d_ff", "d_k", "d_v")
    rows = [
        (7, 4, 1, 1, 3, 4, 4),
        (7, 4, 2, 2, 3, 1, 5),
        (37000, 512, 6, 8, 2048, 64, 64),  # base
        (37000, 512, 6, 8, 2048, 16, 64),  # (B)
        (37000, 256, 6, 8, 2048, 32, 32),  # (C)
        (37000, 512, 2, 8, 2048, 64, 64),  # (C)
        (37000, 1024, 6, 16, 4096, 64, 64),  # big
    ]
    cases = [dict(zip(names, row, strict=True)) for row in rows]
    compare(answer, cases, _counted, PARAMETERS_MISTAKES, kind=int, numbers=np.integer)
    return "two small models, and five rows of Table 3, base and big among them"


def _counted(
    V, d, N, h, ff, d_k, d_v, *, bias=1, tables=1, norms=5, shifts=1, attentions=3, stacks=2
):
    """The formula, or what it would be with something forgotten."""
    attention = 2 * (d + bias) * h * d_k + (d + bias) * h * d_v + (h * d_v + bias) * d
    feed_forward = (d + bias) * ff + (ff + bias) * d
    blocks = attentions * attention + stacks * feed_forward + norms * (1 + shifts) * d
    return (tables * V * d + N * blocks,)


PARAMETERS_MISTAKES = {
    "the biases of the projections are missing": partial(_counted, bias=0),
    "all biases are missing, those of the projections and the shifts of the norms": partial(
        _counted, bias=0, shifts=0
    ),
    "the norms are missing: each has a factor and a shift for every entry": partial(
        _counted, norms=0
    ),
    "biases and norms are missing": partial(_counted, bias=0, norms=0),
    "the norms have a shift for every entry as well as a factor": partial(_counted, shifts=0),
    "the norm behind the cross-attention is missing: a decoder block has three": partial(
        _counted, norms=4
    ),
    "the cross-attention is missing: a decoder block has two attentions": partial(
        _counted, attentions=2
    ),
    "the cross-attention and its norm are missing": partial(_counted, attentions=2, norms=4),
    "the output matrix is counted apart; it is the embedding, used twice": partial(
        _counted, tables=2
    ),
    "source, target and output have a matrix each; it is one, used three times": partial(
        _counted, tables=3
    ),
    "the embedding is missing": partial(_counted, tables=0),
    "there is one stack only; num_layers is the number of blocks of each of the two": partial(
        _counted, attentions=1, norms=2, stacks=1
    ),
    "d_k and d_v are not used: they need not be d_model / num_heads": (
        lambda V, d, N, h, ff, d_k, d_v: _counted(V, d, N, h, ff, d // h, d // h)
    ),
    "the number of heads is not used: d_k and d_v are the widths of one head": (
        lambda V, d, N, h, ff, d_k, d_v: _counted(V, d, N, 1, ff, d_k, d_v)
    ),
    "there are norms behind the stacks as well, which only pre-norm models have": (
        lambda V, d, N, *sizes: (_counted(V, d, N, *sizes)[0] + 4 * d,)
    ),
    "the output has a bias for every token; here it has none": (
        lambda V, *sizes: (_counted(V, *sizes)[0] + V,)
    ),
}
