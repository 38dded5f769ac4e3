"""Answers to the exercises of book/decoding.ipynb."""

import torch
import torch.nn.functional as F

from book.decoding.checks import beam_step, cached, draw, greedy, rescored, search
from companion.generation import beam_search
from tests.book.answers import right, wrong

# 1. Greedy, with your own hands


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


@wrong(greedy, "filled with pad_id up to max_len")
def until_all_have_ended(model, source_ids, max_len):
    target = recomputing_everything(model, source_ids, max_len)
    return target[:, : int((target != model.config.pad_id).sum(1).max())]


@right(greedy)
def a_beam_of_one(model, source_ids, max_len):
    return beam_search(model, source_ids, max_len, beam_size=1)


def loop(model, source_ids, max_len, *, at=-1, fill=None, stop=torch.all):
    memory = model.encode(source_ids)
    target = torch.full((len(source_ids), 1), model.config.bos_id)
    ended = torch.zeros(len(source_ids), dtype=torch.bool)
    while target.shape[1] < max_len and not stop(ended):
        word = model.decode(target, memory, source_ids)[:, at].argmax(-1)
        if fill is not None:
            word[ended] = fill
        ended |= word == model.config.eos_id
        target = torch.cat([target, word[:, None]], dim=1)
    return F.pad(target, (0, max_len - target.shape[1]), value=model.config.pad_id)


@wrong(greedy, "a row goes on after its [EOS]")
def nobody_is_finished(model, source_ids, max_len):
    return loop(model, source_ids, max_len)


@wrong(greedy, "a row goes on after its [EOS]")
def always_to_the_end(model, source_ids, max_len):
    return loop(model, source_ids, max_len, stop=lambda ended: False)


@wrong(greedy, "filled with [EOS]; fill with pad_id")
def filled_with_the_end(model, source_ids, max_len):
    return loop(model, source_ids, max_len, fill=model.config.eos_id)


@wrong(greedy, "filled with [EOS]; fill with pad_id")
def filled_to_the_end(model, source_ids, max_len):
    return loop(model, source_ids, max_len, fill=model.config.eos_id, stop=lambda ended: False)


@wrong(greedy, "as soon as one row has ended")
def stops_with_the_first(model, source_ids, max_len):
    return loop(model, source_ids, max_len, fill=model.config.pad_id, stop=torch.any)


@wrong(greedy, "the first place is read")
def reads_the_first_place(model, source_ids, max_len):
    return loop(model, source_ids, max_len, at=0, fill=model.config.pad_id)


@wrong(greedy, "only the last word is given")
def the_last_word_only(model, source_ids, max_len):
    config, memory = model.config, model.encode(source_ids)
    target = torch.full((len(source_ids), max_len), config.pad_id)
    target[:, 0] = config.bos_id
    for length in range(1, max_len):
        word = model.decode(target[:, length - 1 : length], memory, source_ids)[:, 0].argmax(-1)
        over = (target == config.eos_id).any(1)
        target[:, length] = word.masked_fill(over, config.pad_id)
    return target


@wrong(greedy, "the least probable word")
def smallest_loss_or_so(model, source_ids, max_len):
    class Turned:
        config, encode = model.config, model.encode

        def decode(self, *given):
            return -model.decode(*given)

    return recomputing_everything(Turned(), source_ids, max_len)


@wrong(greedy, "one column too long")
def without_counting_the_beginning(model, source_ids, max_len):
    return recomputing_everything(model, source_ids, max_len + 1)


@wrong(greedy, "[BOS] is missing")
def without_the_beginning(model, source_ids, max_len):
    return recomputing_everything(model, source_ids, max_len)[:, 1:]


@wrong(greedy, "[EOS] is missing")
def without_the_end(model, source_ids, max_len):
    target = recomputing_everything(model, source_ids, max_len)
    return torch.where(target == model.config.eos_id, model.config.pad_id, target)


@wrong(greedy, "the translation of the first source")
def always_the_first_source(model, source_ids, max_len):
    return recomputing_everything(model, source_ids[:1].expand_as(source_ids), max_len)


@wrong(greedy, "it raised TypeError: Transformer.decode() missing")
def without_the_source(model, source_ids, max_len):
    memory = model.encode(source_ids)
    return model.decode(torch.full((len(source_ids), 1), 1), memory).argmax(-1)


@right(greedy)
def words_in_lists(model, source_ids, max_len):
    return recomputing_everything(model, source_ids, max_len).tolist()


# 2. One step of a beam


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


@wrong(beam_step, "changed places")
def words_first(scores, log_probabilities, beam_size):
    rows, words = over_one_axis(scores, log_probabilities, beam_size)
    return words, rows


@wrong(beam_step, "scores of the beginnings are left out")
def the_word_alone(scores, log_probabilities, beam_size):
    flat = log_probabilities.flatten().topk(beam_size).indices
    return flat // log_probabilities.shape[1], flat % log_probabilities.shape[1]


@wrong(beam_step, "they add up")
def product_of_logs(scores, log_probabilities, beam_size):
    flat = (scores[:, None] * log_probabilities).flatten().topk(beam_size).indices
    return flat // log_probabilities.shape[1], flat % log_probabilities.shape[1]


@wrong(beam_step, "least probable")
def the_smallest(scores, log_probabilities, beam_size):
    flat = (scores[:, None] + log_probabilities).flatten().argsort()[:beam_size]
    return flat // log_probabilities.shape[1], flat % log_probabilities.shape[1]


@wrong(beam_step, "opposite order")
def best_last(scores, log_probabilities, beam_size):
    flat = (scores[:, None] + log_probabilities).flatten().argsort()[-beam_size:]
    return flat // log_probabilities.shape[1], flat % log_probabilities.shape[1]


@wrong(beam_step, "keeps its own best word")
def greedy_side_by_side(scores, log_probabilities, beam_size):
    return torch.arange(len(scores)), log_probabilities.argmax(1)


@wrong(beam_step, "continuations of the best beginning")
def only_the_leader(scores, log_probabilities, beam_size):
    leader = scores.argmax()
    words = log_probabilities[leader].topk(beam_size).indices
    return torch.full_like(words, leader), words


# 3. The longer, the cheaper


@right(rescored)
def as_it_is_written(log_probabilities, lengths, alpha):
    return log_probabilities / ((5 + lengths) / 6) ** alpha


@right(rescored)
def by_logarithms(log_probabilities, lengths, alpha):
    return log_probabilities * torch.exp(-alpha * torch.log((5 + lengths) / 6))


@wrong(rescored, "it multiplies")
def times(log_probabilities, lengths, alpha):
    return log_probabilities * ((5 + lengths) / 6) ** alpha


@wrong(rescored, "by the length to the power alpha")
def mean_per_word(log_probabilities, lengths, alpha):
    return log_probabilities / lengths**alpha


@wrong(rescored, "the 6 belongs inside")
def six_outside(log_probabilities, lengths, alpha):
    return 6 * log_probabilities / (5 + lengths) ** alpha


@wrong(rescored, "5 + n / 6 is not")
def brackets_forgotten(log_probabilities, lengths, alpha):
    return log_probabilities / (5 + lengths / 6) ** alpha


@wrong(rescored, "alpha is not used")
def always_the_mean(log_probabilities, lengths, alpha):
    return log_probabilities / ((5 + lengths) / 6)


@wrong(rescored, "not a factor")
def alpha_times(log_probabilities, lengths, alpha):
    return log_probabilities / (alpha * (5 + lengths) / 6)


@wrong(rescored, "it divides")
def taken_off(log_probabilities, lengths, alpha):
    return log_probabilities - ((5 + lengths) / 6) ** alpha


# 4. A sampler


@right(draw)
def from_the_best_on(logits, temperature, top_p, number):
    p, words = (logits / temperature).softmax(-1).sort(descending=True)
    p[p.cumsum(0) - p >= top_p] = 0
    reached = (p / p.sum()).cumsum(0)
    return words[(reached > number).nonzero()[0, 0]].item()


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


@wrong(draw, "the number is not used")
def always_the_best(logits, temperature, top_p, number):
    return int(logits.argmax())


@wrong(draw, "place in the sorted row")
def the_place(logits, temperature, top_p, number):
    p = (logits / temperature).softmax(-1).sort(descending=True).values
    p[p.cumsum(0) - p >= top_p] = 0
    return int(((p / p.sum()).cumsum(0) > number).nonzero()[0, 0])


@wrong(draw, "lined up by their ids")
def as_they_come(logits, temperature, top_p, number):
    p, words = (logits / temperature).softmax(-1).sort(descending=True)
    p[p.cumsum(0) - p >= top_p] = 0
    row = torch.zeros_like(p).scatter(0, words, p / p.sum())
    return min(int((row.cumsum(0) <= number).sum()), len(p) - 1)


@wrong(draw, "it divides them")
def hotter_is_sharper(logits, temperature, top_p, number):
    return from_the_best_on(logits, 1 / temperature, top_p, number)


@wrong(draw, "the temperature is not used")
def never_heated(logits, temperature, top_p, number):
    return from_the_best_on(logits, 1.0, top_p, number)


@wrong(draw, "top_p is not used")
def never_cut(logits, temperature, top_p, number):
    return from_the_best_on(logits, temperature, 1.0, number)


@wrong(draw, "it is the last one that is kept")
def stops_before_it_is_reached(logits, temperature, top_p, number):
    p, words = (logits / temperature).softmax(-1).sort(descending=True)
    inside = p.cumsum(0) <= top_p
    inside[0] = True
    p = p * inside
    reached = (p / p.sum()).cumsum(0)
    return words[min(int((reached <= number).sum()), len(p) - 1)].item()


@wrong(draw, "does not sum to 1")
def as_they_were(logits, temperature, top_p, number):
    p, words = (logits / temperature).softmax(-1).sort(descending=True)
    p[p.cumsum(0) - p >= top_p] = 0
    return words[min(int((p.cumsum(0) <= number).sum()), len(p) - 1)].item()


@wrong(draw, "the temperature comes first")
def cut_first(logits, temperature, top_p, number):
    p, words = logits.softmax(-1).sort(descending=True)
    logits = logits.clone()
    logits[words[p.cumsum(0) - p >= top_p]] = -torch.inf
    return from_the_best_on(logits, temperature, 1.0, number)


# 5. A whole beam search


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


def searched(next_log_probabilities, bos, eos, beam_size, max_len, *, stay=False, first=False):
    beam, complete = [(0.0, [bos])], []
    for _ in range(max_len - 1):
        grown = []
        for score, ids in beam:
            if ids[-1] == eos:
                grown.append((score, ids))
                continue
            row = next_log_probabilities(ids).tolist()
            grown += [(score + p, [*ids, word]) for word, p in enumerate(row)]
        beam = sorted(grown, reverse=True)[:beam_size]
        complete += [item for item in beam if item[1][-1] == eos]
        if first and complete:
            break
        if not stay:
            beam = [item for item in beam if item[1][-1] != eos]
    return complete or beam


@wrong(search, "it is greedy")
def one_beginning(next_log_probabilities, bos, eos, beam_size, max_len):
    ids = [bos]
    while ids[-1] != eos and len(ids) < max_len:
        ids = [*ids, int(next_log_probabilities(ids).argmax())]
    return torch.tensor(ids)


@wrong(search, "stops with the first complete")
def the_first_that_ends(next_log_probabilities, bos, eos, beam_size, max_len):
    found = searched(next_log_probabilities, bos, eos, beam_size, max_len, first=True)
    return torch.tensor(max(found)[1])


@wrong(search, "every beginning keeps beam_size words of its own")
def as_many_for_each_beginning(next_log_probabilities, bos, eos, beam_size, max_len):
    beam, complete = [(0.0, [bos])], []
    while beam and len(beam[0][1]) < max_len:
        grown = []
        for score, ids in beam:
            row = next_log_probabilities(ids)
            best = row.topk(min(beam_size, len(row)))
            for p, word in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                (complete if word == eos else grown).append((score + p, [*ids, word]))
        beam = grown
    return torch.tensor(max(complete)[1])


@right(search)
def complete_ones_stay_in_the_beam(next_log_probabilities, bos, eos, beam_size, max_len):
    """What they push out is less probable, and cannot overtake them any more."""
    found = searched(next_log_probabilities, bos, eos, beam_size, max_len, stay=True)
    return torch.tensor(max(found)[1])


@wrong(search, "only the last word's probability counts")
def the_last_word_alone(next_log_probabilities, bos, eos, beam_size, max_len):
    beam, complete = [[bos]], []
    for _ in range(max_len - 1):
        grown = [
            (p, [*ids, word])
            for ids in beam
            for word, p in enumerate(next_log_probabilities(ids).tolist())
        ]
        kept = sorted(grown, key=lambda item: -item[0])[:beam_size]
        complete += [item for item in kept if item[1][-1] == eos]
        beam = [ids for _, ids in kept if ids[-1] != eos]
    return torch.tensor(max(complete, key=lambda item: item[0])[1] if complete else beam[0])


@wrong(search, "every beginning keeps its own best word")
def side_by_side(next_log_probabilities, bos, eos, beam_size, max_len):
    first = next_log_probabilities([bos])
    beam = [(first[i].item(), [bos, i]) for i in first.topk(beam_size).indices.tolist()]
    complete = [item for item in beam if item[1][-1] == eos]
    beam = [item for item in beam if item[1][-1] != eos]
    for _ in range(max_len - 2):
        rows = [(score, ids, next_log_probabilities(ids)) for score, ids in beam]
        beam = [(score + row.max().item(), [*ids, int(row.argmax())]) for score, ids, row in rows]
        complete += [item for item in beam if item[1][-1] == eos]
        beam = [item for item in beam if item[1][-1] != eos]
    return torch.tensor(max(complete or beam)[1])


@wrong(search, "the best mean per word wins")
def long_sentences_favoured(next_log_probabilities, bos, eos, beam_size, max_len):
    found = searched(next_log_probabilities, bos, eos, beam_size, max_len)
    return torch.tensor(max(found, key=lambda item: item[0] / (len(item[1]) - 1))[1])


@wrong(search, "the least probable")
def smallest_sum(next_log_probabilities, bos, eos, beam_size, max_len):
    return torch.tensor(min(searched(next_log_probabilities, bos, eos, beam_size, max_len))[1])


@wrong(search, "bos is missing")
def words_and_the_end(next_log_probabilities, bos, eos, beam_size, max_len):
    return with_lists(next_log_probabilities, bos, eos, beam_size, max_len)[1:]


@wrong(search, "eos is missing")
def without_the_last(next_log_probabilities, bos, eos, beam_size, max_len):
    return with_lists(next_log_probabilities, bos, eos, beam_size, max_len)[:-1]


# 6. A cache


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


@wrong(cached, "does not attend to itself")
def the_past_alone(x, W_q, W_k, W_v, keys, values):
    weights = (keys @ (x @ W_q) / W_k.shape[1] ** 0.5).softmax(0)
    return (weights @ values, *joined(x, W_q, W_k, W_v, keys, values)[1:])


@wrong(cached, "are not divided by the square root of d_k")
def unscaled(x, W_q, W_k, W_v, keys, values):
    return joined(x, W_q * W_k.shape[1] ** 0.5, W_k, W_v, keys, values)


@wrong(cached, "it is its square root")
def scaled_twice(x, W_q, W_k, W_v, keys, values):
    return joined(x, W_q / W_k.shape[1] ** 0.5, W_k, W_v, keys, values)


@wrong(cached, "d_k is their width")
def by_the_number_of_keys(x, W_q, W_k, W_v, keys, values):
    factor = (W_k.shape[1] / (len(keys) + 1)) ** 0.5
    return joined(x, W_q * factor, W_k, W_v, keys, values)


@wrong(cached, "in front")
def newest_first(x, W_q, W_k, W_v, keys, values):
    output = joined(x, W_q, W_k, W_v, keys, values)[0]
    return output, torch.vstack([x @ W_k, keys]), torch.vstack([x @ W_v, values])


@wrong(cached, "the cache is replaced")
def forgets(x, W_q, W_k, W_v, keys, values):
    return joined(x, W_q, W_k, W_v, keys[:0], values[:0])


@wrong(cached, "the query is put into the cache")
def keeps_the_query(x, W_q, W_k, W_v, keys, values):
    keys, values = torch.vstack([keys, x @ W_q]), torch.vstack([values, x @ W_v])
    return (keys @ (x @ W_q) / W_k.shape[1] ** 0.5).softmax(0) @ values, keys, values


@wrong(cached, "all values count alike")
def a_plain_mean(x, W_q, W_k, W_v, keys, values):
    _, keys, values = joined(x, W_q, W_k, W_v, keys, values)
    return values.mean(0), keys, values


@wrong(greedy, "[EOS] is never chosen as the first word")
def never_empty(model, source_ids, max_len):
    config, memory = model.config, model.encode(source_ids)
    target = torch.full((len(source_ids), 1), config.bos_id)
    ended = torch.zeros(len(source_ids), dtype=torch.bool)
    for n in range(max_len - 1):
        logits = model.decode(target, memory, source_ids)[:, -1].double()
        if n == 0:
            logits = logits.index_fill(1, torch.tensor([config.eos_id]), -torch.inf)
        word = torch.where(ended, config.pad_id, logits.argmax(-1))
        ended = ended | (word == config.eos_id)
        target = torch.cat([target, word[:, None]], dim=1)
    return target


@wrong(search, "no word is said twice")
def each_word_once(next_log_probabilities, bos, eos, beam_size, max_len):
    def without_repeats(ids):
        row = next_log_probabilities(ids).clone()
        row[ids] = -torch.inf
        return row

    return with_lists(without_repeats, bos, eos, beam_size, max_len)
