"""Answers to the exercises of book/decoding.ipynb."""

import torch
import torch.nn.functional as F

from companion.checks.decoding import greedy
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
