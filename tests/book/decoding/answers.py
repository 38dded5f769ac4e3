"""Answers to the exercises of book/decoding.ipynb."""

import torch

from book.decoding.checks import beam_step, cached, draw, greedy, rescored, search
from companion.generation import beam_search
from tests.book.answers import right, wrong

# Greedy, with your own hands


@right(greedy)
def recomputing_everything(model, source_ids, max_len):
    config, memory = model.config, model.encode(source_ids)
    target = torch.full((len(source_ids), 1), config.bos_id)
    ended = torch.zeros(len(source_ids), dtype=torch.bool)
    for _ in range(max_len - 1):
        word = model.decode(target, memory, source_ids)[:, -1].argmax(-1)
        word = torch.where(ended, config.pad_id, word)
        ended = ended | (word == config.eos_id)
        target = torch.cat([target, word[:, None]], dim=1)
    return target


@right(greedy)
def sentence_by_sentence(model, source_ids, max_len):
    config = model.config
    result = torch.full((len(source_ids), max_len), config.pad_id)
    for row, source in zip(result, source_ids, strict=True):
        row[0] = config.bos_id
        for length in range(1, max_len):
            logits = model(source[None], row[None, :length])
            row[length] = logits[0, -1].softmax(-1).argmax()
            if row[length] == config.eos_id:
                break
    return result


@right(greedy)
def a_beam_of_one(model, source_ids, max_len):
    return beam_search(model, source_ids, max_len, beam_size=1)


@wrong(greedy, "it raised TypeError: Transformer.decode() missing")
def without_the_source(model, source_ids, max_len):
    memory = model.encode(source_ids)
    return model.decode(torch.full((len(source_ids), 1), 1), memory).argmax(-1)


# One step of a beam


@right(beam_step)
def over_one_axis(scores, log_probabilities, beam_size):
    flat = (scores[:, None] + log_probabilities).flatten().topk(beam_size).indices
    return flat // log_probabilities.shape[1], flat % log_probabilities.shape[1]


@right(beam_step)
def by_sorting_a_list(scores, log_probabilities, beam_size):
    K, V = log_probabilities.shape
    candidates = [(scores[k] + log_probabilities[k, v], k, v) for k in range(K) for v in range(V)]
    best = sorted(candidates, key=lambda candidate: -candidate[0])[:beam_size]
    return torch.tensor([k for _, k, _ in best]), torch.tensor([v for _, _, v in best])


@right(beam_step)
def by_probabilities(scores, log_probabilities, beam_size):
    joint = scores.double().exp()[:, None] * log_probabilities.double().exp()
    return torch.unravel_index(joint.flatten().argsort(descending=True)[:beam_size], joint.shape)


# The longer, the cheaper


@right(rescored)
def as_it_is_written(log_probabilities, lengths, alpha):
    return log_probabilities / ((5 + lengths) / 6) ** alpha


@right(rescored)
def by_logarithms(log_probabilities, lengths, alpha):
    return log_probabilities * torch.exp(-alpha * torch.log((5 + lengths) / 6))


# A sampler


@right(draw)
def from_the_best_on(logits, temperature, top_p, number):
    p, words = (logits / temperature).softmax(-1).sort(descending=True)
    p[p.cumsum(0) - p >= top_p] = 0
    reached = (p / p.sum()).cumsum(0)
    return words[(reached > number).nonzero()[0, 0]].item()


@wrong(draw, "top_p keeps the fewest words that reach it together")
def without_the_word_that_reaches_it(logits, temperature, top_p, number):
    p, words = (logits / temperature).softmax(-1).sort(descending=True)
    p[1:][p.cumsum(0)[1:] > top_p] = 0
    return int(words[((p / p.sum()).cumsum(0) <= number).sum().clamp(max=len(p) - 1)])


@right(draw)
def word_by_word(logits, temperature, top_p, number):
    p = (logits.double() / temperature).softmax(-1).tolist()
    kept, reached = [], 0.0
    for word in sorted(range(len(p)), key=lambda word: -p[word]):
        kept.append(word)
        reached += p[word]
        if reached >= top_p:
            break
    number, before = number * reached, 0.0
    for word in kept:
        before += p[word]
        if number < before:
            return word
    return kept[-1]


# A whole beam search


@right(search)
def with_lists(next_log_probabilities, bos, eos, beam_size, max_len):
    beam, best = [([bos], 0.0)], ([bos], -float("inf"))
    for _ in range(max_len - 1):
        grown = [
            ([*ids, word], score + p)
            for ids, score in beam
            for word, p in enumerate(next_log_probabilities(ids).tolist())
        ]
        kept = sorted(grown, key=lambda item: item[1], reverse=True)[:beam_size]
        best = max([best, *(item for item in kept if item[0][-1] == eos)], key=lambda x: x[1])
        beam = [item for item in kept if item[0][-1] != eos]
    return torch.tensor(best[0])


@right(search)
def with_tensors_and_an_early_stop(next_log_probabilities, bos, eos, beam_size, max_len):
    beam, scores = [[bos]], torch.zeros(1)
    best, best_score = None, -torch.inf
    while beam and len(beam[0]) < max_len and scores.max() > best_score:
        rows = torch.stack([next_log_probabilities(ids) for ids in beam])
        table = scores[:, None] + rows
        top = table.flatten().topk(min(beam_size, table.numel()))
        grown = [[*beam[i // rows.shape[1]], i % rows.shape[1]] for i in top.indices.tolist()]
        alive = [i for i, ids in enumerate(grown) if ids[-1] != eos]
        for ids, score in zip(grown, top.values.tolist(), strict=True):
            if ids[-1] == eos and score > best_score:
                best, best_score = ids, score
        beam, scores = [grown[i] for i in alive], top.values[alive]
    return torch.tensor(best)


@right(search)
def complete_ones_stay_in_the_beam(next_log_probabilities, bos, eos, beam_size, max_len):
    """What they push out is less probable, and cannot overtake them any more."""
    beam = [(0.0, [bos])]
    for _ in range(max_len - 1):
        grown = [(score, ids) for score, ids in beam if ids[-1] == eos]
        for score, ids in beam:
            if ids[-1] != eos:
                row = next_log_probabilities(ids).tolist()
                grown += [(score + p, [*ids, word]) for word, p in enumerate(row)]
        beam = sorted(grown, reverse=True)[:beam_size]
    return torch.tensor(max(item for item in beam if item[1][-1] == eos)[1])


# A cache


@right(cached)
def joined(x, W_q, W_k, W_v, keys, values):
    keys = torch.cat([keys, (x @ W_k)[None]])
    values = torch.cat([values, (x @ W_v)[None]])
    weights = (keys @ (x @ W_q) / W_k.shape[1] ** 0.5).softmax(0)
    return weights @ values, keys, values


@right(cached)
def with_torch(x, W_q, W_k, W_v, keys, values):
    keys, values = torch.vstack([keys, x @ W_k]), torch.vstack([values, x @ W_v])
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend((x @ W_q)[None, None], keys[None], values[None])[0, 0], keys, values
