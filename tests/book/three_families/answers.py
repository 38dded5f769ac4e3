"""Answers to the exercises of book/three_families.ipynb."""

from collections import Counter, defaultdict

import numpy as np
import torch

from book.three_families.checks import (
    cut,
    fill,
    hide,
    language_model,
    prefix_mask,
    temper,
)
from companion.generation import next_token_probabilities
from companion.nn import causal_mask
from tests.book.answers import right, wrong

# A prefix mask


@right(prefix_mask)
def corner_filled(source, target):
    mask = causal_mask(source + target)
    mask[:source, :source] = True
    return mask


@right(prefix_mask)
def column_by_column(source, target):
    n = source + target
    rows = [[j < source or j <= i for j in range(n)] for i in range(n)]
    return torch.tensor(rows)


# Temperature


@right(temper)
def divided(logits, temperature):
    return torch.softmax(logits / temperature, dim=-1)


@right(temper)
def by_powers_of_probabilities(logits, temperature):
    """p^(1/T), made to sum to 1: the same, in logarithms."""
    return (logits.log_softmax(-1) / temperature).softmax(-1)


@wrong(temper, "if `temperature` were 1 divided by it")
def multiplied(logits, temperature):
    return torch.softmax(logits * temperature, dim=-1)


@wrong(temper, "it changes its input logits")
def in_place(logits, temperature):
    logits /= temperature
    return logits.softmax(-1)


# Top-k and top-p, your own


@right(cut)
def by_the_package(probabilities, top_k, top_p):
    return next_token_probabilities(probabilities.log(), top_k=top_k, top_p=top_p)


@right(cut)
def row_by_row(probabilities, top_k, top_p):
    result = torch.zeros_like(probabilities)
    for row, kept in zip(probabilities, result, strict=True):
        words = row.argsort(descending=True).tolist()[:top_k]
        total = row[words].sum()
        reached = 0.0
        for word in words:
            if top_p is not None and reached >= top_p:
                break
            kept[word] = row[word]
            reached += (row[word] / total).item()
    return result / result.sum(-1, keepdim=True)


@wrong(cut, "it returned NaN or infinity")
def crossing_word_dropped(probabilities, top_k, top_p):
    p = by_the_package(probabilities, top_k, None)
    ordered, words = p.sort(dim=-1, descending=True)
    kept = ordered * (ordered.cumsum(-1) < (top_p or 2))
    return torch.zeros_like(p).scatter(-1, words, kept / kept.sum(-1, keepdim=True))


@wrong(cut, "it raised TypeError")
def none_forgotten(probabilities, top_k, top_p):
    return row_by_row(probabilities, min(top_k, 4), top_p)


# The puzzle


@right(hide)
def two_fills(ids, chosen, fate, others, mask_id, pad_id):
    hidden = ids.masked_fill(chosen & (fate < 0.8), mask_id)
    hidden = torch.where(chosen & (fate >= 0.9), others, hidden)
    return hidden, torch.where(chosen, ids, pad_id)


@right(hide)
def word_by_word(ids, chosen, fate, others, mask_id, pad_id):
    hidden, targets = ids.clone(), torch.full_like(ids, pad_id)
    for place in chosen.nonzero().tolist():
        place = tuple(place)
        targets[place] = ids[place]
        if fate[place] < 0.8:
            hidden[place] = mask_id
        elif fate[place] >= 0.9:
            hidden[place] = others[place]
    return hidden, targets


@wrong(hide, "it returned 1 result, expected 2")
def without_targets(ids, chosen, fate, others, mask_id, pad_id):
    hidden = torch.where(chosen & (fate < 0.8), mask_id, ids)
    return torch.where(chosen & (fate >= 0.9), others, hidden)


# A better bigram


def counts_by_context(sentences, length):
    counts = defaultdict(Counter)
    for sentence in sentences:
        for i in range(1, len(sentence)):
            counts[tuple(sentence[max(i - length, 0) : i])][sentence[i]] += 1
    return counts


def shares(counter, vocab_size):
    p = torch.zeros(vocab_size)
    if counter:
        p[list(counter)] = torch.tensor(list(counter.values()), dtype=torch.float)
    return p / p.sum().clamp(min=1)


@right(language_model)
def three_counts_mixed(sentences, vocab_size):
    counts = {n: counts_by_context(sentences, n) for n in (0, 1, 2)}
    single = shares(counts[0][()], vocab_size) + 1e-5
    single = single / single.sum()

    def next_word(before):
        p = single
        for n, weight in ((1, 0.9), (2, 0.7)):
            seen = shares(counts[n][tuple(before[-n:])], vocab_size)
            p = weight * seen + (1 - weight * seen.sum()) * p
        return p

    return next_word


@right(language_model)
def backing_off_by_how_often(sentences, vocab_size):
    """Four words back, each trusted the more, the more often it was seen (Witten and Bell)."""
    counts = [counts_by_context(sentences, n) for n in range(5)]

    def next_word(before):
        p = np.full(vocab_size, 1 / vocab_size)
        for n in range(5):
            seen = counts[n].get(tuple(before[max(len(before) - n, 0) :]))
            if seen:
                total, kinds = sum(seen.values()), len(seen)
                own = np.zeros(vocab_size)
                own[list(seen)] = list(seen.values())
                p = (own + kinds * p) / (total + kinds)
        return p

    return next_word


@wrong(language_model, "no better than counting single words")
def single_words(sentences, vocab_size):
    p = torch.full((vocab_size,), 0.01)
    for sentence in sentences:
        p[sentence] += 1
    return lambda before: p / p.sum()


@wrong(language_model, "not clearly better than counting pairs")
def one_added_to_every_triple(sentences, vocab_size):
    """Most of the probability goes to what never occurs."""
    counts = counts_by_context(sentences, 2)

    def next_word(before):
        p = shares(counts[tuple(before[-2:])], vocab_size)
        total = sum(counts[tuple(before[-2:])].values())
        return (p * total + 0.1) / (total + 0.1 * vocab_size)

    return next_word


@wrong(language_model, "probability 0")
def without_smoothing(sentences, vocab_size):
    triples, pairs = (counts_by_context(sentences, n) for n in (2, 1))

    def next_word(before):
        seen = triples[tuple(before[-2:])] or pairs[tuple(before[-1:])]
        return shares(seen, vocab_size) if seen else torch.full((vocab_size,), 1 / vocab_size)

    return next_word


@wrong(language_model, "do not sum to 1")
def weights_that_sum_to_more(sentences, vocab_size):
    triples, pairs, single = (counts_by_context(sentences, n) for n in (2, 1, 0))

    def next_word(before):
        parts = triples[tuple(before[-2:])], pairs[tuple(before[-1:])], single[()]
        return sum(
            w * shares(part, vocab_size) for w, part in zip((0.7, 0.4, 0.1), parts, strict=True)
        )

    return next_word


@wrong(language_model, "negative or NaN")
def logarithms(sentences, vocab_size):
    model = three_counts_mixed(sentences, vocab_size)
    return lambda before: model(before).log()


@wrong(language_model, "returned Counter, expected a tensor")
def the_counts_themselves(sentences, vocab_size):
    counts = counts_by_context(sentences, 2)
    return lambda before: counts[tuple(before[-2:])]


@wrong(language_model, "expected a function next_word")
def a_table(sentences, vocab_size):
    return torch.full((vocab_size, vocab_size), 1 / vocab_size)


@wrong(language_model, "next_word returned shape")
def a_row_of_a_batch(sentences, vocab_size):
    model = three_counts_mixed(sentences, vocab_size)
    return lambda before: model(before)[None]


@wrong(language_model, "at the beginning of a sentence there is only [BOS]")
def two_words_needed(sentences, vocab_size):
    counts = counts_by_context(sentences, 2)

    def next_word(before):
        one, two = before[-2], before[-1]
        return shares(counts[one, two], vocab_size) + 1e-3

    return next_word


# An encoder that writes


@right(fill)
def ask_pick_write(probabilities, ids, mask_id):
    ids = list(ids)
    while mask_id in ids:
        p = torch.as_tensor(probabilities(ids)).clone()
        p[:, mask_id] = -1
        sure, words = p.max(-1)
        sure[torch.tensor([i != mask_id for i in ids])] = -1
        place = sure.argmax().item()
        ids[place] = words[place].item()
    return ids


@right(fill)
def with_plain_lists(probabilities, ids, mask_id):
    ids = ids[:]
    for _ in range(ids.count(mask_id)):
        rows = torch.as_tensor(probabilities(ids)).tolist()
        best = None
        for place, row in enumerate(rows):
            if ids[place] != mask_id:
                continue
            for word, p in enumerate(row):
                if word != mask_id and (best is None or p > best[0]):
                    best = p, place, word
        ids[best[1]] = best[2]
    return ids


@wrong(fill, "mask_id may be any id")
def zero_is_the_mask(probabilities, ids, mask_id):
    return ask_pick_write(probabilities, ids, 0)


# What the ladders name beside


@wrong(language_model, "the last word decides alone")
def pairs_with_a_good_rest(sentences, vocab_size):
    pairs, single = (counts_by_context(sentences, n) for n in (1, 0))
    rest = shares(single[()], vocab_size) + 1e-5
    rest = rest / rest.sum()
    return lambda before: (
        0.9 * shares(pairs[tuple(before[-1:])], vocab_size)
        + rest * (1 - 0.9 * shares(pairs[tuple(before[-1:])], vocab_size).sum())
    )


# What only one input shows.


@wrong(prefix_mask, "a source of one word, a longer target")
def target_of_two_words_at_most(source, target):
    mask = corner_filled(source, target)
    mask[:, source + 3 :] = False
    return mask


@wrong(language_model, "it predicts the word that it has just read")
def counts_the_word_itself(sentences, vocab_size):
    return triples_and_pairs(sentences, vocab_size, following=0)


@wrong(language_model, "in the other order than that in which they were counted")
def context_turned_round(sentences, vocab_size):
    return triples_and_pairs(sentences, vocab_size, read=lambda before: before[-2:][::-1])


def triples_and_pairs(sentences, vocab_size, following=1, read=lambda before: before[-2:]):
    triples, pairs = {}, {}
    for sentence in sentences:
        for i in range(len(sentence) - 1):
            word = sentence[min(i + following, len(sentence) - 1)]
            for table, key in (
                (triples, tuple(sentence[max(0, i - 1) : i + 1])),
                (pairs, sentence[i]),
            ):
                table.setdefault(key, torch.zeros(vocab_size))[word] += 1

    def next_word(before):
        p = torch.full((vocab_size,), 1 / vocab_size)
        for weight, table, key in (
            (0.9, pairs, before[-1]),
            (0.8, triples, tuple(read(before))),
        ):
            if key in table:
                p = weight * table[key] / table[key].sum() + (1 - weight) * p
        return p

    return next_word


@wrong(language_model, "it goes by the first words of the sentence")
def goes_by_the_beginning(sentences, vocab_size):
    return triples_and_pairs(sentences, vocab_size, read=lambda before: before[:2])


@wrong(language_model, "it expects the end a word too early")
def counts_the_word_behind_the_next(sentences, vocab_size):
    return triples_and_pairs(sentences, vocab_size, following=2)


@wrong(language_model, "it expects words that stood before")
def counts_backwards(sentences, vocab_size):
    pairs = torch.full((vocab_size, vocab_size), 0.01)
    for sentence in sentences:
        pairs[sentence[1:], sentence[:-1]] += 1
    return lambda before: pairs[before[-1]] / pairs[before[-1]].sum()


@wrong(language_model, "most probability goes to words that never followed, as to one that")
def softmax_of_probabilities(sentences, vocab_size):
    next_word = triples_and_pairs(sentences, vocab_size)
    return lambda before: next_word(before).requires_grad_().softmax(0)
