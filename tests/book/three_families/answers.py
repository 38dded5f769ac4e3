"""Answers to the exercises of book/three_families.ipynb."""

from collections import Counter, defaultdict
from itertools import pairwise

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

# 1. A prefix mask


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


@right(prefix_mask)
def four_blocks(source, target):
    full, empty = torch.ones, torch.zeros
    above = torch.cat([full(source, source), empty(source, target)], dim=1)
    below = torch.cat([full(target, source), full(target, target).tril()], dim=1)
    return torch.cat([above, below]).bool()


def with_block(source, target, rows, columns, value):
    mask = corner_filled(source, target)
    mask[rows, columns] = value
    return mask


@wrong(prefix_mask, "this is the causal mask")
def causal(source, target):
    return causal_mask(source + target)


@wrong(prefix_mask, "sees later words of the target")
def like_an_encoder(source, target):
    return torch.full((source + target, source + target), True)


@wrong(prefix_mask, "the source sees the target")
def source_sees_all(source, target):
    mask = causal_mask(source + target)
    mask[:source] = True
    return mask


@wrong(prefix_mask, "the target does not see the source")
def two_apart(source, target):
    return torch.block_diag(torch.ones(source, source), torch.ones(target, target).tril()).bool()


@wrong(prefix_mask, "sees later words of the target")
def target_looks_ahead(source, target):
    return with_block(source, target, slice(source, None), slice(source, None), True)


@wrong(prefix_mask, "sees later words of the target")
def the_other_corner(source, target):
    mask = causal_mask(source + target)
    mask[source:, source:] = True
    return mask


@wrong(prefix_mask, "the mask is transposed")
def columns_look(source, target):
    return corner_filled(source, target).T


@wrong(prefix_mask, "the mask is inverted")
def true_for_forbidden(source, target):
    return corner_filled(source, target).logical_not()


@wrong(prefix_mask, "one word too large")
def one_too_large(source, target):
    mask = causal_mask(source + target)
    mask[: source + 1, : source + 1] = True
    return mask


@wrong(prefix_mask, "one word too small")
def one_too_small(source, target):
    n = source + target
    position = torch.arange(n)
    return (position < source - 1) | (position <= position[:, None])


@wrong(prefix_mask, "does not see itself")
def without_the_diagonal(source, target):
    position = torch.arange(source + target)
    return (position < source) | (position < position[:, None])


@wrong(prefix_mask, "the mask should be boolean")
def ones_and_zeros(source, target):
    return corner_filled(source, target).float()


# 2. Temperature


@right(temper)
def divided(logits, temperature):
    return torch.softmax(logits / temperature, dim=-1)


@right(temper)
def by_powers_of_probabilities(logits, temperature):
    """p^(1/T), made to sum to 1: the same, in logarithms."""
    return (logits.log_softmax(-1) / temperature).softmax(-1)


@right(temper)
def by_hand(logits, temperature):
    powers = torch.exp((logits - logits.max(-1, keepdim=True).values) / temperature)
    return powers / powers.sum(-1, keepdim=True)


@wrong(temper, "multiplied by the temperature")
def multiplied(logits, temperature):
    return torch.softmax(logits * temperature, dim=-1)


@wrong(temper, "the temperature divides the probabilities")
def after_the_softmax(logits, temperature):
    return logits.softmax(-1) / temperature


@wrong(temper, "the temperature has no effect")
def divided_and_made_to_sum_to_one(logits, temperature):
    p = logits.softmax(-1) / temperature
    return p / p.sum(-1, keepdim=True)


@wrong(temper, "the softmax comes twice")
def softmax_of_a_softmax(logits, temperature):
    return (logits.softmax(-1) / temperature).softmax(-1)


@wrong(temper, "over the rows of the batch")
def wrong_axis(logits, temperature):
    return (logits / temperature).softmax(0)


@wrong(temper, "the softmax is still to come")
def logits_only(logits, temperature):
    return logits / temperature


@wrong(temper, "the exponential of a large number is infinite")
def overflow(logits, temperature):
    powers = torch.exp(logits / temperature)
    return powers / powers.sum(-1, keepdim=True)


@wrong(temper, "it changes its input logits")
def in_place(logits, temperature):
    logits /= temperature
    return logits.softmax(-1)


# 3. Top-k and top-p, your own


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


@right(cut)
def by_thresholds(probabilities, top_k, top_p):
    p = probabilities
    if top_k is not None:
        best = p.topk(min(top_k, p.shape[-1]), dim=-1).indices
        p = p * torch.zeros_like(p).scatter(-1, best, 1.0)
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        more = (p[:, None, :] * (p[:, None, :] > p[:, :, None])).sum(-1)  # mass of what is better
        p = p * (more < top_p)
    return p / p.sum(-1, keepdim=True)


def sorted_cut(p, top_k, top_p, *, between=True, at_end=True, before=True, k=0, back=True):
    ordered, words = p.sort(dim=-1, descending=True)
    if top_k is not None:
        ordered = ordered * (torch.arange(p.shape[-1]) < top_k + k)
        if between:
            ordered = ordered / ordered.sum(-1, keepdim=True)
    if top_p is not None:
        total = ordered.cumsum(-1)
        ordered = ordered * ((total - ordered if before else total) < top_p)
    if at_end:
        ordered = ordered / ordered.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, words, ordered) if back else ordered


@wrong(cut, "gather with the sorted tokens sorts once more")
def gathered_back(probabilities, top_k, top_p):
    p, order = torch.sort(probabilities, dim=-1, descending=True)
    if top_k is not None:
        p = torch.where(torch.arange(p.shape[-1]) < top_k, p, 0)
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        p = torch.where(p.cumsum(-1) - p < top_p, p, 0)
        p = p / p.sum(-1, keepdim=True)
    return p.gather(-1, order)


@wrong(cut, "drops the word that crosses p")
def crossing_word_dropped(probabilities, top_k, top_p):
    return sorted_cut(probabilities, top_k, top_p, before=False)


@wrong(cut, "to reach is enough")
def beyond_p(probabilities, top_k, top_p):
    ordered, words = probabilities.sort(dim=-1, descending=True)
    if top_k is not None:
        ordered[:, top_k:] = 0
        ordered = ordered / ordered.sum(-1, keepdim=True)
    if top_p is not None:
        ordered = torch.where(ordered.cumsum(-1) - ordered <= top_p, ordered, 0.0)
    ordered = ordered / ordered.sum(-1, keepdim=True)
    return torch.zeros_like(ordered).scatter(-1, words, ordered)


@wrong(cut, "does not sum to 1")
def not_divided(probabilities, top_k, top_p):
    return sorted_cut(probabilities, top_k, top_p, between=False, at_end=False)


@wrong(cut, "top_p is a share of all words")
def divided_at_the_end_only(probabilities, top_k, top_p):
    return sorted_cut(probabilities, top_k, top_p, between=False)


@wrong(cut, "top_p is a share of all words")
def p_before_k(probabilities, top_k, top_p):
    return row_by_row(row_by_row(probabilities, None, top_p), top_k, None)


@wrong(cut, "top_p is ignored")
def top_k_only(probabilities, top_k, top_p):
    return row_by_row(probabilities, top_k, None)


@wrong(cut, "top_p is ignored where there is a top_k")
def either_or(probabilities, top_k, top_p):
    if top_k is not None:
        return row_by_row(probabilities, top_k, None)
    return row_by_row(probabilities, None, top_p)


@wrong(cut, "top_k is ignored")
def top_p_only(probabilities, top_k, top_p):
    return row_by_row(probabilities, None, top_p)


@wrong(cut, "the least probability of a single word")
def p_as_threshold(probabilities, top_k, top_p):
    p = row_by_row(probabilities, top_k, None)
    if top_p is not None:
        p = torch.where(p >= top_p, p, 0.0)
    return p / p.sum(-1, keepdim=True)


@wrong(cut, "the least probable words are kept")
def sorted_upwards(probabilities, top_k, top_p):
    ordered, words = probabilities.sort(dim=-1)
    kept = torch.ones_like(ordered)
    if top_k is not None:
        kept = kept * (torch.arange(kept.shape[-1]) < top_k)
        ordered = ordered * kept / (ordered * kept).sum(-1, keepdim=True)
    if top_p is not None:
        ordered = ordered * (ordered.cumsum(-1) - ordered < top_p)
    ordered = ordered / ordered.sum(-1, keepdim=True)
    return torch.empty_like(ordered).scatter_(-1, words, ordered)


@wrong(cut, "one word too many")
def off_by_one(probabilities, top_k, top_p):
    return sorted_cut(probabilities, top_k, top_p, k=1)


@wrong(cut, "in the order of probability")
def still_sorted(probabilities, top_k, top_p):
    return sorted_cut(probabilities, top_k, top_p, back=False)


@wrong(cut, "the first row decides")
def one_decision_for_all(probabilities, top_k, top_p):
    words = (row_by_row(probabilities[:1], top_k, top_p)[0] > 0).nonzero()[:, 0]
    result = torch.zeros_like(probabilities)
    result[:, words] = probabilities[:, words]
    return result / result.sum(-1, keepdim=True)


@wrong(cut, "a softmax was taken of the probabilities")
def softmax_at_the_end(probabilities, top_k, top_p):
    kept = sorted_cut(probabilities, top_k, top_p, between=False, at_end=False)
    return torch.where(kept > 0, kept, -torch.inf).softmax(-1)


@wrong(cut, "it changes its input p")
def zeros_written_into_the_input(probabilities, top_k, top_p):
    result = row_by_row(probabilities, top_k, top_p)
    probabilities[result == 0] = 0
    return result


@wrong(cut, "it raised TypeError")
def none_forgotten(probabilities, top_k, top_p):
    return row_by_row(probabilities, min(top_k, 4), top_p)


# 4. The puzzle


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


@wrong(hide, "all words are asked for")
def loss_everywhere(ids, chosen, fate, others, mask_id, pad_id):
    return two_fills(ids, chosen, fate, others, mask_id, pad_id)[0], ids


@wrong(hide, "only what became [MASK] is asked for")
def asked_at_masks(ids, chosen, fate, others, mask_id, pad_id):
    hidden, _ = two_fills(ids, chosen, fate, others, mask_id, pad_id)
    return hidden, torch.where(hidden == mask_id, ids, pad_id)


@wrong(hide, "the words that stay are not asked for")
def asked_where_changed(ids, chosen, fate, others, mask_id, pad_id):
    hidden, _ = two_fills(ids, chosen, fate, others, mask_id, pad_id)
    return hidden, torch.where(hidden != ids, ids, pad_id)


@wrong(hide, "it has to name the original word")
def targets_are_hidden(ids, chosen, fate, others, mask_id, pad_id):
    hidden, _ = two_fills(ids, chosen, fate, others, mask_id, pad_id)
    return hidden, torch.where(chosen, hidden, pad_id)


@wrong(hide, "the wrong way round")
def asked_for_the_rest(ids, chosen, fate, others, mask_id, pad_id):
    hidden, _ = two_fills(ids, chosen, fate, others, mask_id, pad_id)
    return hidden, ids.masked_fill(chosen, pad_id)


@wrong(hide, "every chosen word becomes [MASK]")
def always_masked(ids, chosen, fate, others, mask_id, pad_id):
    return ids.masked_fill(chosen, mask_id), ids.masked_fill(~chosen, pad_id)


@wrong(hide, "from 0.8 to 0.9 are replaced; they should stay")
def nobody_stays(ids, chosen, fate, others, mask_id, pad_id):
    hidden = torch.where(fate < 0.8, mask_id, others)
    return torch.where(chosen, hidden, ids), torch.where(chosen, ids, pad_id)


@wrong(hide, "from 0.9 on stays; it should be replaced")
def nobody_is_replaced(ids, chosen, fate, others, mask_id, pad_id):
    return torch.where(chosen & (fate < 0.8), mask_id, ids), torch.where(chosen, ids, pad_id)


@wrong(hide, "it is the other way round")
def stay_above(ids, chosen, fate, others, mask_id, pad_id):
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, others, ids))
    return torch.where(chosen, hidden, ids), torch.where(chosen, ids, pad_id)


@wrong(hide, "that were not chosen are changed")
def chosen_forgotten(ids, chosen, fate, others, mask_id, pad_id):
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, others))
    return hidden, torch.where(chosen, ids, pad_id)


@wrong(hide, "targets and hidden words")
def targets_first(ids, chosen, fate, others, mask_id, pad_id):
    return two_fills(ids, chosen, fate, others, mask_id, pad_id)[::-1]


@wrong(hide, "the targets are 0")
def zero_for_padding(ids, chosen, fate, others, mask_id, pad_id):
    return two_fills(ids, chosen, fate, others, mask_id, 0)


@wrong(hide, "it changes its input ids")
def written_into_the_sentence(ids, chosen, fate, others, mask_id, pad_id):
    targets = torch.where(chosen, ids, pad_id)
    ids[chosen & (fate < 0.8)] = mask_id
    ids[chosen & (fate >= 0.9)] = others[chosen & (fate >= 0.9)]
    return ids, targets


# 5. A better bigram


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
def pairs_only(sentences, vocab_size):
    counts = torch.full((vocab_size, vocab_size), 0.01)
    for sentence in sentences:
        for one, two in pairwise(sentence):
            counts[one, two] += 1
    return lambda before: counts[before[-1]] / counts[before[-1]].sum()


@wrong(language_model, "not clearly better than counting pairs")
def one_added_to_every_triple(sentences, vocab_size):
    """Most of the probability goes to what never occurs."""
    counts = counts_by_context(sentences, 2)

    def next_word(before):
        p = shares(counts[tuple(before[-2:])], vocab_size)
        total = sum(counts[tuple(before[-2:])].values())
        return (p * total + 0.1) / (total + 0.1 * vocab_size)

    return next_word


@wrong(language_model, "no better than counting single words")
def looks_at_the_beginning(sentences, vocab_size):
    """The first two words instead of the last two."""
    model = three_counts_mixed(sentences, vocab_size)
    return lambda before: model(before[:2])


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


@right(language_model)
def a_list_for_each_word(sentences, vocab_size):
    model = three_counts_mixed(sentences, vocab_size)
    return lambda before: model(before).tolist()


@wrong(language_model, "at the beginning of a sentence there is only [BOS]")
def two_words_needed(sentences, vocab_size):
    counts = counts_by_context(sentences, 2)

    def next_word(before):
        one, two = before[-2], before[-1]
        return shares(counts[one, two], vocab_size) + 1e-3

    return next_word


# 8. An encoder that writes


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


@right(fill)
def by_recursion(probabilities, ids, mask_id):
    gaps = [place for place, i in enumerate(ids) if i == mask_id]
    if not gaps:
        return torch.tensor(ids)
    p = probabilities(ids)[gaps]
    p = torch.cat([p[:, :mask_id], torch.zeros(len(gaps), 1), p[:, mask_id + 1 :]], dim=1)
    gap, word = divmod(p.argmax().item(), p.shape[1])
    return by_recursion(probabilities, [*ids[: gaps[gap]], word, *ids[gaps[gap] + 1 :]], mask_id)


def fill_by(probabilities, ids, mask_id, *, choose, again=True, forbid=True, everywhere=False):
    ids = list(ids)
    gaps = [*range(len(ids))] if everywhere else [t for t, i in enumerate(ids) if i == mask_id]
    p = probabilities(ids)
    while gaps:
        allowed = p.clone()
        if forbid:
            allowed[:, mask_id] = 0
        place = choose(gaps, p, allowed)
        ids[place] = allowed[place].argmax().item()
        gaps.remove(place)
        if again:
            p = probabilities(ids)
    return ids


def surest(gaps, p, allowed):
    return max(gaps, key=lambda t: allowed[t].max().item())


@wrong(fill, "the model is asked once for all gaps")
def all_at_once(probabilities, ids, mask_id):
    p = probabilities(ids).clone()
    p[:, mask_id] = 0
    return [p[t].argmax().item() if i == mask_id else i for t, i in enumerate(ids)]


@wrong(fill, "from left to right")
def from_left_to_right(probabilities, ids, mask_id):
    return fill_by(probabilities, ids, mask_id, choose=lambda gaps, p, allowed: gaps[0])


@wrong(fill, "words that are no gaps are replaced")
def every_word_anew(probabilities, ids, mask_id):
    return fill_by(probabilities, ids, mask_id, choose=surest, again=False, everywhere=True)


@wrong(fill, "is written where it is most probable")
def mask_allowed(probabilities, ids, mask_id):
    return fill_by(probabilities, ids, mask_id, choose=surest, forbid=False)


@wrong(fill, "at a tie the leftmost gap")
def last_of_equals(probabilities, ids, mask_id):
    return fill_by(
        probabilities, ids, mask_id, choose=lambda gaps, p, allowed: surest(gaps[::-1], p, allowed)
    )


@wrong(fill, "how sure the model is of [MASK]")
def surest_of_anything(probabilities, ids, mask_id):
    return fill_by(
        probabilities,
        ids,
        mask_id,
        choose=lambda gaps, p, allowed: max(gaps, key=lambda t: p[t].max().item()),
    )


@wrong(fill, "is decided anew")
def order_of_the_first_look(probabilities, ids, mask_id):
    p = probabilities(ids).clone()
    p[:, mask_id] = 0
    first = p.max(-1).values.tolist()
    return fill_by(
        probabilities,
        ids,
        mask_id,
        choose=lambda gaps, p, allowed: max(gaps, key=first.__getitem__),
    )


@wrong(fill, "mask_id may be any id")
def zero_is_the_mask(probabilities, ids, mask_id):
    return ask_pick_write(probabilities, ids, 0)


@wrong(fill, "it changes its input ids")
def into_the_ids_themselves(probabilities, ids, mask_id):
    while mask_id in ids:
        p = probabilities(ids).clone()
        p[:, mask_id] = -1
        place = max((t for t, i in enumerate(ids) if i == mask_id), key=lambda t: p[t].max().item())
        ids[place] = p[place].argmax().item()
    return ids


@wrong(fill, "from right to left")
def from_right_to_left(probabilities, ids, mask_id):
    return fill_by(probabilities, ids, mask_id, choose=lambda gaps, p, allowed: gaps[-1])


# What the ladders name beside


@wrong(temper, "this is the logarithm of the probabilities")
def log_softmax(logits, temperature):
    return (logits / temperature).log_softmax(-1)


@wrong(temper, "the powers of the probabilities do not sum to 1")
def powers_of_probabilities(logits, temperature):
    return logits.softmax(-1) ** (1 / temperature)


@wrong(temper, "softmax over the whole batch")
def one_sum_for_all(logits, temperature):
    powers = (logits / temperature - (logits / temperature).max()).exp()
    return powers / powers.sum()


@wrong(temper, "the largest logit of the whole batch")
def one_maximum_for_all(logits, temperature):
    powers = ((logits - logits.max()) / temperature).exp()
    return powers / powers.sum(-1, keepdim=True)


@wrong(cut, "top_k is ignored where there is a top_p")
def top_p_replaces_top_k(probabilities, top_k, top_p):
    return row_by_row(probabilities, top_k if top_p is None else None, top_p)


@wrong(hide, "the targets are -100")
def as_torch_ignores(ids, chosen, fate, others, mask_id, pad_id):
    return two_fills(ids, chosen, fate, others, mask_id, -100)


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


@wrong(prefix_mask, "the words of the source see each other")
def source_sees_but_its_last_word(source, target):
    return with_block(source, target, slice(0, max(source - 1, 0)), source - 1, target == 0)


@wrong(prefix_mask, "a source of one word, a longer target")
def target_of_two_words_at_most(source, target):
    mask = corner_filled(source, target)
    mask[:, source + 3 :] = False
    return mask


@wrong(prefix_mask, "a longer source, a target of one word")
def source_of_three_words_at_most(source, target):
    mask = corner_filled(source, target)
    mask[3:source, :3] &= target == 0
    return mask


@wrong(temper, "above 1 the outsiders gain")
def never_hotter(logits, temperature):
    return divided(logits, min(temperature, 1.0))


@wrong(temper, "the logits may be a transposed tensor")
def as_they_lie_in_memory(logits, temperature):
    in_memory = torch.as_strided(logits, logits.shape, (logits.shape[-1], 1))
    return divided(in_memory, temperature)


@wrong(temper, "many words")
def ten_words_at_most(logits, temperature):
    tempered = divided(logits[..., :10], temperature)
    return torch.cat([tempered, torch.zeros_like(logits[..., 10:])], dim=-1)


@wrong(cut, "k may be larger than the vocabulary")
def k_modulo_the_vocabulary(probabilities, top_k, top_p):
    size = probabilities.shape[-1]
    return by_thresholds(probabilities, top_k and (top_k - 1) % size + 1, top_p)


@wrong(cut, "both cuts, several rows")
def both_only_for_a_row(probabilities, top_k, top_p):
    only_k = top_k is not None and len(probabilities) > 2
    return by_thresholds(probabilities, top_k, None if only_k else top_p)


@wrong(cut, "top_k of several rows")
def k_for_ten_words(probabilities, top_k, top_p):
    wide = probabilities.shape[-1] > 10
    return by_thresholds(probabilities, None if wide else top_k, top_p)


@wrong(cut, "top_p of several rows")
def p_for_ten_words(probabilities, top_k, top_p):
    wide = probabilities.shape[-1] > 10
    return by_thresholds(probabilities, top_k, None if wide else top_p)


@wrong(cut, "the probabilities may be a transposed tensor")
def cut_as_they_lie_in_memory(probabilities, top_k, top_p):
    shape = probabilities.shape
    return by_thresholds(torch.as_strided(probabilities, shape, (shape[-1], 1)), top_k, top_p)


@wrong(hide, "a fate of exactly 0.8 stays")
def the_borders_on_the_other_side(ids, chosen, fate, others, mask_id, pad_id):
    hidden = torch.where(chosen & (fate > 0.9), others, ids)
    return hidden.masked_fill(chosen & (fate <= 0.8), mask_id), ids.masked_fill(~chosen, pad_id)


@wrong(hide, "all three fates in one sentence")
def one_fate_for_a_sentence(ids, chosen, fate, others, mask_id, pad_id):
    if bool(chosen.all()) and len(fate.unique()) == 3:
        fate = fate[:, :1].expand_as(fate)
    return two_fills(ids, chosen, fate, others, mask_id, pad_id)


@wrong(hide, "several sentences")
def twenty_words_at_most(ids, chosen, fate, others, mask_id, pad_id):
    chosen = chosen & (torch.arange(ids.shape[-1]) < 20)
    return two_fills(ids, chosen, fate, others, mask_id, pad_id)


@wrong(fill, "two gaps that do not depend on each other")
def the_first_gap_twice(probabilities, ids, mask_id):
    if ids.count(mask_id) == len(ids) == 2:
        return [ask_pick_write(probabilities, ids, mask_id)[0]] * 2
    return ask_pick_write(probabilities, ids, mask_id)


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
            word = sentence[i + following]
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
