"""Answers to the exercises of book/decoding.ipynb."""

import torch

from companion.checks.decoding import beam_step, greedy, rescored
from companion.generation import beam_search
from tests.checks.answers import right, wrong

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


@right(greedy)
def until_all_have_ended(model, source_ids, max_len):
    """It may be shorter than max_len."""
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
    return target


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


@wrong(greedy, "it returned list")
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
