"""Checks for the exercises of book/three_families.ipynb."""

from functools import partial

import numpy as np
import torch

from companion.checks.exercise import Mistake, call, compare, exercise
from companion.data import BOS, EOS, WORDS, Vocabulary, corpus
from companion.nn import causal_mask


@exercise
def prefix_mask(answer) -> str:
    """Check `prefix_mask(source, target)`: boolean, who may look at whom of source + target words.

    The first `source` words see each other; the last `target` see them, themselves and what stands
    before them. True for "may attend".
    """
    cases = [
        {"source": source, "target": target}
        for source, target in ((2, 2), (3, 2), (1, 4), (5, 1), (0, 3), (4, 0))
    ]
    compare(answer, cases, _prefix_mask, PREFIX_MISTAKES, numbers=np.bool_)
    return "sources of 0 to 5 words, targets of 0 to 4"


def _prefix_mask(source, target, *, visible=lambda source: source):
    position = torch.arange(source + target)
    return ((position < visible(source)) | (position <= position[:, None]),)


def _changed(change):
    def variant(source, target):
        mask = _prefix_mask(source, target)[0].clone()
        change(mask, source)
        return (mask,)

    return variant


def _fill(rows, columns, value):
    def change(mask, source):
        mask[rows(source), columns(source)] = value

    return _changed(change)


def _before(source):
    return slice(source)


def _after(source):
    return slice(source, None)


PREFIX_MISTAKES = {
    "this is the causal mask: a word of the source does not see the later ones": (
        lambda source, target: (causal_mask(source + target),)
    ),
    "everybody sees everybody": (
        lambda source, target: (torch.ones(2 * (source + target,), dtype=torch.bool),)
    ),
    "the source sees the target; the corner on the upper right should be empty": _fill(
        _before, _after, True
    ),
    "the target does not see the source": _fill(_after, _before, False),
    "the target sees its own later words": _fill(_after, _after, True),
    "the source is causal and the target sees all of itself: the two have changed places": (
        _changed(lambda mask, source: mask.tril_()[source:, source:].fill_(True))
    ),
    "the mask is transposed: rows look, columns are looked at": (
        lambda source, target: (_prefix_mask(source, target)[0].T,)
    ),
    "the mask is inverted: True means 'may attend'": (
        lambda source, target: (~_prefix_mask(source, target)[0],)
    ),
    "the full corner is one word too large: it lets the source see the first word of the target": (
        partial(_prefix_mask, visible=lambda source: source + 1)
    ),
    "the full corner is one word too small": partial(
        _prefix_mask, visible=lambda source: source - 1
    ),
    "a word of the target does not see itself": _changed(
        lambda mask, source: mask[source:, source:].fill_diagonal_(False)
    ),
}


@exercise
def temper(answer) -> str:
    """Check `temper(logits, temperature)`: (B, V) -> (B, V), the probabilities of the next word.

    The logits may be as large as 300, the temperature as low as 0.1.
    """
    cases = [
        {"logits": torch.tensor([[0.9, 0.1]]).log(), "temperature": 0.5},
        {"logits": torch.randn(2, 5), "temperature": 2.0},
        {"logits": 3 * torch.randn(5, 3), "temperature": 0.7},
        {"logits": torch.randn(3, 4), "temperature": 1.0},
    ]
    compare(answer, cases, _temper, TEMPER_MISTAKES)
    far = {"logits": torch.tensor([[300.0, 299.9]]), "temperature": 0.1}
    compare(answer, [far], _temper, FAR_MISTAKES)
    return "temperatures of 0.1, 0.5, 0.7, 1 and 2, logits of up to 300"


def _temper(logits, temperature, *, dim=-1):
    return ((logits / temperature).softmax(dim),)


TEMPER_MISTAKES = {
    "the logits are multiplied by the temperature; divide them": (
        lambda logits, temperature: _temper(logits, 1 / temperature)
    ),
    "the temperature divides the probabilities, which no longer sum to 1; divide the logits": (
        lambda logits, temperature: (logits.softmax(-1) / temperature,)
    ),
    "the temperature has no effect: a factor on all probabilities is undone when they are made to "
    "sum to 1; divide the logits": lambda logits, temperature: _temper(logits, 1),
    "the softmax comes twice: the temperature divides probabilities as if they were logits": (
        lambda logits, temperature: _temper(logits.softmax(-1), temperature)
    ),
    "softmax over the rows of the batch; it runs over the vocabulary, the last axis": partial(
        _temper, dim=0
    ),
    "these are the logits divided by the temperature; the softmax is still to come": (
        lambda logits, temperature: (logits / temperature,)
    ),
}
FAR_MISTAKES = {
    "the exponential of a large number is infinite: subtract the largest logit first, as "
    "torch.softmax does": (
        lambda logits, temperature: (
            (powers := (logits / temperature).exp()) / powers.sum(-1, keepdim=True),
        )
    ),
}


@exercise
def cut(answer) -> str:
    """Check `cut(probabilities, top_k, top_p)`: (B, V) -> (B, V), every row sums to 1.

    First the top_k most probable tokens are kept and made to sum to 1; of what is left the fewest
    most probable that reach top_p together. None leaves a cut out.
    """
    four = torch.tensor([[0.25, 0.5, 0.1, 0.15]])
    cases = [
        {"probabilities": four, "top_k": top_k, "top_p": top_p}
        for top_k, top_p in ((None, None), (2, None), (None, 0.8), (2, 0.6), (None, 0.3))
    ]
    eighths = torch.tensor([[0.25, 0.5, 0.125, 0.125]])  # whose sums have no rounding
    cases += [{"probabilities": eighths, "top_k": None, "top_p": 0.75}]
    for B, V in ((3, 7), (5, 11)):
        probabilities = (2 * torch.randn(B, V)).softmax(-1)
        for top_k, top_p in ((3, None), (None, 0.7), (4, 0.85), (3, 0.77), (1, 0.9), (99, 0.999)):
            cases.append({"probabilities": probabilities, "top_k": top_k, "top_p": top_p})
    compare(answer, cases, _cut, CUT_MISTAKES)
    return "4, 7 and 11 words; each cut alone, both and none"


def _cut(
    probabilities,
    top_k,
    top_p,
    *,
    crossing=lambda total, own: total - own,
    reached=torch.ge,
    again=lambda kept: kept / kept.sum(-1, keepdim=True),
    between=lambda kept: kept / kept.sum(-1, keepdim=True),
    larger=True,
    more=0,
    scatter=True,
):
    """Both cuts, or what they would be with one step done in another way."""
    ordered, tokens = probabilities.sort(dim=-1, descending=larger)
    if top_k is not None:
        ordered = between(ordered.masked_fill(torch.arange(ordered.shape[-1]) >= top_k + more, 0.0))
    if top_p is not None:
        ordered = ordered.masked_fill(reached(crossing(ordered.cumsum(-1), ordered), top_p), 0.0)
    ordered = again(ordered)
    return (torch.zeros_like(ordered).scatter(-1, tokens, ordered) if scatter else ordered,)


def _threshold(probabilities, top_k, top_p):
    kept = _cut(probabilities, top_k, None)[0]
    kept = kept if top_p is None else kept.masked_fill(kept < top_p, 0.0)
    return (kept / kept.sum(-1, keepdim=True),)


def _one_for_all(probabilities, top_k, top_p):
    kept = _cut(probabilities[:1], top_k, top_p)[0] > 0
    kept = probabilities * kept
    return (kept / kept.sum(-1, keepdim=True),)


def _as_it_is(kept):
    return kept


CUT_MISTAKES = {
    "top_p drops the word that crosses p; the words that are kept have to reach p": partial(
        _cut, crossing=lambda total, own: total
    ),
    "where words reach top_p exactly, one more is kept: to reach is enough": partial(
        _cut, reached=torch.gt
    ),
    "gather with the sorted tokens sorts once more; scatter brings the numbers back": (
        lambda probabilities, top_k, top_p: (
            _cut(probabilities, top_k, top_p)[0]
            .sort(-1, descending=True)
            .values.gather(-1, probabilities.argsort(-1, descending=True)),
        )
    ),
    "what is left does not sum to 1: divide by its sum": partial(
        _cut, again=_as_it_is, between=_as_it_is
    ),
    "top_p is a share of all words here; top_k cuts first, and what it leaves has to sum to 1": (
        partial(_cut, between=_as_it_is)
    ),
    "top_p is ignored": lambda probabilities, top_k, top_p: _cut(probabilities, top_k, None),
    "top_p is ignored where there is a top_k": lambda probabilities, top_k, top_p: _cut(
        probabilities, top_k, top_p if top_k is None else None
    ),
    "top_k is ignored": lambda probabilities, top_k, top_p: _cut(probabilities, None, top_p),
    "top_p is taken for the least probability of a single word": _threshold,
    "the least probable words are kept": partial(_cut, larger=False),
    "top_k keeps one word too many": partial(_cut, more=1),
    "the result is in the order of probability; bring it back into the order of the words": partial(
        _cut, scatter=False
    ),
    "the first row decides which words are kept in all rows": _one_for_all,
    "a softmax was taken of the probabilities that are left; divide them by their sum": (
        lambda probabilities, top_k, top_p: (
            (kept := _cut(probabilities, top_k, top_p, again=_as_it_is, between=_as_it_is)[0])
            .masked_fill(kept == 0, -torch.inf)
            .softmax(-1),
        )
    ),
}


@exercise
def hide(answer) -> str:
    """Check `hide(ids, chosen, fate, others, mask_id, pad_id)` -> (hidden, targets), both (B, T).

    Of the chosen tokens those with a fate below 0.8 become mask_id, those from 0.8 to 0.9 stay, and
    those from 0.9 on become what stands in `others`. Targets are pad_id where nothing is asked.
    """
    by_hand = {
        "ids": torch.tensor([[5, 6, 7, 8, 9]]),
        "chosen": torch.tensor([[True, True, True, False, False]]),
        "fate": torch.tensor([[0.3, 0.85, 0.95, 0.1, 0.95]]),
        "others": torch.tensor([[11, 12, 13, 14, 15]]),
        "mask_id": 2,
        "pad_id": 0,
    }
    cases = [by_hand]
    for B, T, mask_id, pad_id in ((3, 29, 1, 3), (2, 41, 0, 1)):
        draws = {
            "ids": torch.randint(4, 50, (B, T)),
            "chosen": torch.rand(B, T) < 0.6,
            "fate": torch.rand(B, T),
            "others": torch.randint(50, 90, (B, T)),
        }
        cases.append(draws | {"mask_id": mask_id, "pad_id": pad_id})
    compare(answer, cases, _hide, HIDE_MISTAKES, numbers=np.integer)
    return "one sentence of 5 words, five of 29 and 41"


def _hide(
    ids,
    chosen,
    fate,
    others,
    mask_id,
    pad_id,
    *,
    masked=lambda fate: fate < 0.8,
    other=lambda fate: fate >= 0.9,
    seen=None,
    asked=lambda chosen, fate: chosen,
    answer=lambda ids, hidden: ids,
):
    """BERT's corruption, or what it would be with one step done in another way."""
    seen = chosen if seen is None else seen(chosen)
    hidden = ids.masked_fill(seen & masked(fate), mask_id)
    hidden = torch.where(seen & other(fate), others, hidden)
    return hidden, answer(ids, hidden).masked_fill(~asked(chosen, fate), pad_id)


HIDE_MISTAKES = {
    "all words are asked for; only the chosen ones are": partial(
        _hide, asked=lambda chosen, fate: torch.ones_like(chosen)
    ),
    "only what became [MASK] is asked for; those that stay or are replaced were chosen, too": (
        partial(_hide, asked=lambda chosen, fate: chosen & (fate < 0.8))
    ),
    "the words that stay are not asked for; they were chosen, too": partial(
        _hide, asked=lambda chosen, fate: chosen & ((fate < 0.8) | (fate >= 0.9))
    ),
    "the targets hold what the model gets to see; it has to name the original word": partial(
        _hide, answer=lambda ids, hidden: hidden
    ),
    "the targets are the wrong way round: they hold the words that were not chosen": partial(
        _hide, asked=lambda chosen, fate: ~chosen
    ),
    "every chosen word becomes [MASK]": partial(
        _hide,
        masked=lambda fate: torch.ones_like(fate, dtype=torch.bool),
        other=lambda fate: torch.zeros_like(fate, dtype=torch.bool),
    ),
    "the chosen words from 0.8 on are all replaced; those below 0.9 should stay": partial(
        _hide, other=lambda fate: fate >= 0.8
    ),
    "none is replaced by another word": partial(
        _hide, other=lambda fate: torch.zeros_like(fate, dtype=torch.bool)
    ),
    "those that stay and those that are replaced have changed places": partial(
        _hide, other=lambda fate: (fate >= 0.8) & (fate < 0.9)
    ),
    "words that were not chosen are changed, too": partial(
        _hide, seen=lambda chosen: torch.ones_like(chosen)
    ),
    "targets and hidden words have changed places: return what the model sees first": (
        lambda *given: _hide(*given)[::-1]
    ),
    "where nothing is asked the targets are 0; they should be pad_id": (
        lambda ids, chosen, fate, others, mask_id, pad_id: _hide(
            ids, chosen, fate, others, mask_id, 0
        )
    ),
}


@exercise
def language_model(answer) -> str:
    """Check `language_model(sentences, vocab_size)`, which returns a function `next_word(before)`.

    sentences is a list of lists of ids, each from [BOS] to [EOS]. next_word(before) takes a list of
    ids that starts with [BOS], and returns probabilities (vocab_size,). On fresh sentences the
    model should do clearly better than counting pairs of words.
    """
    vocabulary = Vocabulary((BOS, EOS, *WORDS))
    size = len(vocabulary)
    read, fresh = (
        [[vocabulary.id(word) for word in (BOS, *sentence, EOS)] for sentence in part]
        for part in (corpus(2000, seed=1), corpus(60, seed=2))
    )
    next_word = call(answer, sentences=read, vocab_size=size)
    if not callable(next_word):
        raise Mistake(
            f"it returned {type(next_word).__name__}, expected a function next_word(before)",
            f"language_model(sentences, {size}) with {len(read)} sentences",
        )
    unigram, bigram = _counted(read, size)
    nats = {"one word": 0.0, "two words": 0.0, "yours": 0.0}
    for sentence in fresh:
        for place in range(1, len(sentence)):
            before, word = sentence[:place], sentence[place]
            text = " ".join(vocabulary.words[i] for i in before)
            example = f"before = {before}\nwhich says: {text}"
            own = _probability_of(word, call(next_word, before=before), size, example)
            if not own > 0:
                raise Mistake(
                    "a word that did come had probability 0, so that the loss is infinite: leave a "
                    "little for what was never counted",
                    f"{example}\nand then came: {vocabulary.words[word]}",
                )
            nats["yours"] -= np.log(own)
            nats["one word"] -= np.log(unigram[word])
            nats["two words"] -= np.log(bigram[before[-1], word])
    asked = sum(len(sentence) - 1 for sentence in fresh)
    nats = {name: total / asked for name, total in nats.items()}
    example = "\n".join(f"counting {name}: {value:.2f} nats" for name, value in nats.items())
    example = example.replace("counting yours", "yours")
    if nats["yours"] > nats["one word"] - 0.1:
        raise Mistake("it is no better than counting single words", example)
    if nats["yours"] > nats["two words"] - 0.1:
        raise Mistake("it is not clearly better than counting pairs of words", example)
    return f"{asked} fresh words: {nats['yours']:.2f} nats each; pairs need {nats['two words']:.2f}"


def _counted(sentences: list[list[int]], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities by single words (V,), and by pairs (V, V) with a little of the former."""
    counts = np.zeros((size, size))
    for sentence in sentences:
        np.add.at(counts, (sentence[:-1], sentence[1:]), 1)
    unigram = (counts.sum(0) + 0.01) / (counts.sum(0) + 0.01).sum()
    bigram = counts / counts.sum(1, keepdims=True).clip(1)
    return unigram, 0.95 * bigram + (1 - 0.95 * bigram.sum(1, keepdims=True)) * unigram


def _probability_of(word: int, probabilities, size: int, example: str) -> float:
    """The word's probability, once the others have been looked at."""
    if not isinstance(probabilities, torch.Tensor | np.ndarray):
        raise Mistake(
            f"next_word returned {type(probabilities).__name__}, expected a tensor", example
        )
    if tuple(probabilities.shape) != (size,):
        raise Mistake(
            f"next_word returned shape {tuple(probabilities.shape)}, expected ({size},)", example
        )
    probabilities = np.asarray(probabilities, dtype=float)
    if not (probabilities >= 0).all():
        raise Mistake("a probability is negative or NaN", example)
    if abs(probabilities.sum() - 1) > 1e-3:
        raise Mistake("the probabilities do not sum to 1", f"{example}\n{probabilities.sum():.4f}")
    return float(probabilities[word])
