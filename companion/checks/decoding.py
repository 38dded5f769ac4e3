"""Checks for the exercises of book/decoding.ipynb."""

from functools import partial
from itertools import count

import numpy as np
import torch
import torch.nn.functional as F

from companion.checks.exercise import compare, exercise
from companion.generation import greedy_decode
from companion.models import Transformer, TransformerConfig


@exercise
def greedy(answer) -> str:
    """Check `greedy(model, source_ids, max_len)` -> target ids (B, max_len).

    model is a `Transformer` in eval mode, of which only `encode`, `decode` and `config` are needed;
    source_ids (B, S). A target starts with bos_id; after its eos_id there is only pad_id, and
    columns of which nothing is left but padding may be missing.
    """
    model, source_ids = _a_model_that_ends()

    def filled(source_ids, max_len):
        result = answer(model, source_ids, max_len)
        match result:
            case torch.Tensor(shape=(_, width)) if 0 < width < max_len:
                return F.pad(result, (0, max_len - width), value=model.config.pad_id)
        return result

    cases = [{"source_ids": source_ids[:1], "max_len": 4}, {"source_ids": source_ids, "max_len": 9}]
    with torch.no_grad():
        compare(
            filled,
            cases,
            lambda source_ids, max_len: (greedy_decode(model, source_ids, max_len),),
            {text: partial(variant, model) for text, variant in GREEDY_MISTAKES.items()},
            numbers=np.integer,
        )
    return "one sentence, and several that end at different places, one of them not at all"


def _a_model_that_ends() -> tuple[Transformer, torch.Tensor]:
    """A random model, and sources whose translations end at five different places or more."""
    config = TransformerConfig(
        vocab_size=11, d_model=8, num_layers=1, num_heads=2, d_ff=16, max_len=16, dropout=0.0
    )
    generator = torch.Generator().manual_seed(0)
    sources = torch.randint(3, 11, (200, 5), generator=generator)
    lengths = torch.randint(1, 6, (200, 1), generator=generator)
    sources[torch.arange(5) >= lengths] = config.pad_id
    for seed in count():
        model = Transformer(config).double().eval()
        generator.manual_seed(seed)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() > 1:
                    parameter.normal_(std=0.7, generator=generator)
        targets = greedy_decode(model, sources, 9)
        ends = (targets == config.eos_id).any(1) * (targets == config.eos_id).int().argmax(1)
        of_each = [(ends == end).nonzero()[0, 0] for end in ends.unique()]  # 0: it does not end
        if len(of_each) >= 5 and not ends[of_each[0]]:
            return model, sources[torch.stack(of_each)]


def _greedy(
    model,
    source_ids,
    max_len,
    *,
    read=lambda logits: logits[:, -1],
    choose=lambda logits: logits.argmax(-1),
    stop=torch.all,
    after="pad_id",
    window=slice(None),
):
    """Greedy decoding, or what it would be with one step done in another way."""
    config, memory = model.config, model.encode(source_ids)
    target = source_ids.new_full((len(source_ids), 1), config.bos_id)
    ended = torch.zeros(len(target), dtype=torch.bool)
    while target.shape[1] < max_len and not stop(ended):
        written = choose(read(model.decode(target[:, window], memory, source_ids)))
        if after is not None:
            written = written.masked_fill(ended, getattr(config, after))
        target = torch.cat([target, written[:, None]], dim=1)
        ended |= written == config.eos_id
    return (F.pad(target, (0, max_len - target.shape[1]), value=config.pad_id),)


def _without_bos(model, source_ids, max_len):
    return (F.pad(_greedy(model, source_ids, max_len)[0][:, 1:], (0, 1)),)


GREEDY_MISTAKES = {
    "a row goes on after its [EOS]; it should stay finished while the others go on": partial(
        _greedy, after=None
    ),
    "finished rows are filled with [EOS]; fill with pad_id": partial(_greedy, after="eos_id"),
    "it stops as soon as one row has ended; the others have to go on": partial(
        _greedy, stop=torch.any
    ),
    "the first place is read, whose answer never changes; the next word is said at the last": (
        partial(_greedy, read=lambda logits: logits[:, 0])
    ),
    "only the last word is given to the decoder: without a cache it needs all that is written": (
        partial(_greedy, window=slice(-1, None))
    ),
    "the least probable word is chosen": partial(_greedy, choose=lambda logits: logits.argmin(-1)),
    "max_len counts [BOS]: the result is one column too long": (
        lambda model, source_ids, max_len: _greedy(model, source_ids, max_len + 1)
    ),
    "[BOS] is missing at the start of the result": _without_bos,
    "[EOS] is missing from the result": lambda model, source_ids, max_len: (
        (result := _greedy(model, source_ids, max_len)[0]).masked_fill(
            result == model.config.eos_id, model.config.pad_id
        ),
    ),
    "every row gets the translation of the first source": lambda model, source_ids, max_len: (
        _greedy(model, source_ids[:1], max_len)[0].expand(len(source_ids), -1),
    ),
}


@exercise
def beam_step(answer) -> str:
    """Check `beam_step(scores, log_probabilities, beam_size)` -> (rows, words), (beam_size,) each.

    scores (K,), log_probabilities (K, V). Of all continuations the most probable, best first: the
    row of the beginning, and the word that is added.
    """
    cases = [
        {
            "scores": torch.tensor([0.6, 0.4]).log(),
            "log_probabilities": torch.tensor([[0.48, 0.42, 0.1], [0.9, 0.04, 0.06]]).log(),
            "beam_size": 2,
        }
    ]
    for K, V, beam_size in ((2, 4, 3), (3, 5, 3), (1, 6, 4), (4, 7, 4)):
        log_probabilities = (2 * torch.randn(K, V)).log_softmax(-1)
        scores = torch.randn(K).log_softmax(-1)
        cases.append(dict(zip(cases[0], (scores, log_probabilities, beam_size), strict=True)))
    compare(answer, cases, _beam_step, BEAM_STEP_MISTAKES, numbers=np.integer)
    return "beams of one to four beginnings, with as many continuations kept, or more"


def _beam_step(
    scores,
    log_probabilities,
    beam_size,
    *,
    add=lambda scores, log_p: scores[:, None] + log_p,
    best=lambda candidates, beam_size: candidates.flatten().topk(beam_size).indices,
):
    """The step, or what it would be with a part of it done in another way."""
    best_ones = best(add(scores, log_probabilities), beam_size)
    V = log_probabilities.shape[1]
    return best_ones // V, best_ones % V


BEAM_STEP_MISTAKES = {
    "rows and words have changed places": lambda *given: _beam_step(*given)[::-1],
    "the scores of the beginnings are left out: a likely word of an unlikely beginning wins": (
        partial(_beam_step, add=lambda scores, log_p: log_p)
    ),
    "log-probabilities are multiplied; of a sentence they add up": partial(
        _beam_step, add=lambda scores, log_p: scores[:, None] * log_p
    ),
    "the least probable continuations are kept": partial(
        _beam_step,
        best=lambda candidates, beam_size: (-candidates).flatten().topk(beam_size).indices,
    ),
    "best first: these are in the opposite order": lambda *given: tuple(
        part.flip(0) for part in _beam_step(*given)
    ),
    "every beginning keeps its own best word; all continuations compete with each other": (
        lambda scores, log_p, beam_size: (torch.arange(len(scores)), log_p.argmax(-1))
    ),
    "all are continuations of the best beginning; those of the others compete, too": (
        lambda scores, log_p, beam_size: (
            scores.argmax().repeat(beam_size),
            log_p[scores.argmax()].topk(beam_size).indices,
        )
    ),
}


@exercise
def rescored(answer) -> str:
    """Check `rescored(log_probabilities, lengths, alpha)` -> (N,), with a length penalty.

    log_probabilities (N,), lengths (N,) integers; each is divided by ((5 + length) / 6) ** alpha.
    """
    cases = [
        {
            "log_probabilities": torch.tensor([-2.0]),
            "lengths": torch.tensor([7]),
            "alpha": 1.0,
        }
    ]
    for alpha in (0.0, 0.6, 2.0):
        numbers = -5 * torch.rand(6), torch.randint(1, 20, (6,)), alpha
        cases.append(dict(zip(cases[0], numbers, strict=True)))
    compare(answer, cases, _rescored, RESCORED_MISTAKES)
    return "powers of 0, 0.6, 1 and 2, lengths of 1 to 19"


def _rescored(log_p, lengths, alpha, *, divisor=lambda n, alpha: ((5 + n) / 6) ** alpha):
    return (log_p / divisor(lengths, alpha),)


RESCORED_MISTAKES = {
    "it multiplies; log-probabilities are negative, so that makes long sentences worse": partial(
        _rescored, divisor=lambda n, alpha: ((5 + n) / 6) ** -alpha
    ),
    "it divides by the length to the power alpha; the paper's divisor is ((5 + n) / 6) ** alpha": (
        partial(_rescored, divisor=lambda n, alpha: n.float() ** alpha)
    ),
    "only the sum is raised to the power; the 6 belongs inside": partial(
        _rescored, divisor=lambda n, alpha: (5.0 + n) ** alpha / 6
    ),
    "5 + n / 6 is not (5 + n) / 6": partial(
        _rescored, divisor=lambda n, alpha: (5 + n / 6) ** alpha
    ),
    "alpha is a power, not a factor": partial(
        _rescored, divisor=lambda n, alpha: (5 + n) / 6 * alpha
    ),
    "alpha is not used": partial(_rescored, divisor=lambda n, alpha: (5 + n) / 6),
    "the penalty is subtracted; it divides": (
        lambda log_p, lengths, alpha: (log_p - ((5 + lengths) / 6) ** alpha,)
    ),
}


@exercise
def draw(answer) -> str:
    """Check `draw(logits, temperature, top_p, number)` -> int, the word that a number picks.

    logits (V,); number from 0 to 1. Words are lined up from the most probable on, each as long as
    its probability after temperature and top-p: the word in whose stretch the number lies.
    """
    cases = [
        _drawing([0.5, 0.3, 0.2], 1.0, 1.0, 0.6),
        _drawing([0.2, 0.5, 0.3], 1.0, 1.0, 0.1),
        _drawing([0.2, 0.5, 0.3], 1.0, 1.0, 0.9),
        _drawing([0.6, 0.3, 0.1], 0.5, 1.0, 0.7),
        _drawing([0.6, 0.3, 0.1], 2.0, 1.0, 0.55),
        _drawing([0.1, 0.3, 0.6], 1.0, 0.8, 0.95),
        _drawing([0.5, 0.3, 0.2], 1.0, 0.6, 0.6),
    ]
    for temperature in (0.5, 1.0, 2.0):
        for top_p in (0.4, 0.8, 1.0):
            for number in torch.rand(4).tolist():
                p = torch.randn(7).softmax(-1).tolist()
                cases.append(_drawing(p, temperature, top_p, number))
    compare(answer, cases, _draw, DRAW_MISTAKES, kind=int, numbers=np.integer)
    return "three words by hand, and seven at three temperatures and three values of top-p"


def _drawing(probabilities, temperature, top_p, number) -> dict:
    logits = torch.tensor(probabilities).log()
    return {"logits": logits, "temperature": temperature, "top_p": top_p, "number": number}


def _draw(
    logits,
    temperature,
    top_p,
    number,
    *,
    heat=lambda logits, temperature: logits / temperature,
    keep=lambda p, top_p: p.cumsum(0) - p < top_p,
    rescale=True,
    descending=True,
    place=False,
):
    """The drawn word, or what it would be with a part of it done in another way."""
    p, words = heat(logits.double(), temperature).softmax(-1).sort(descending=True)
    p = p * keep(p, top_p)
    if rescale:
        p = p / p.sum()
    if not descending:
        p, words = p[words.argsort()], torch.arange(len(p))
    index = min(int((p.cumsum(0) <= number).sum()), len(p) - 1)
    return (index if place else int(words[index]),)


def _cut_before_heating(logits, temperature, top_p, number):
    p = logits.double().softmax(-1)
    ordered, words = p.sort(descending=True)
    cut = words[ordered.cumsum(0) - ordered >= top_p]
    logits = logits.double().clone()
    logits[cut] = -torch.inf
    return _draw(logits, temperature, 1.0, number)


DRAW_MISTAKES = {
    "the number is not used: it is always the most probable word": (
        lambda logits, temperature, top_p, number: (int(logits.argmax()),)
    ),
    "it gives the place in the sorted row; the word is what stood there": partial(
        _draw, place=True
    ),
    "the words are lined up by their ids; the most probable one comes first": partial(
        _draw, descending=False
    ),
    "the temperature multiplies the logits; it divides them": partial(
        _draw, heat=lambda logits, temperature: logits * temperature
    ),
    "the temperature is not used": partial(_draw, heat=lambda logits, temperature: logits),
    "top-p is not used": partial(_draw, keep=lambda p, top_p: torch.ones_like(p)),
    "the word that reaches top_p is cut; it is the last one that is kept": partial(
        _draw, keep=lambda p, top_p: (p.cumsum(0) <= top_p) | (torch.arange(len(p)) == 0)
    ),
    "what is kept does not sum to 1: rescale it before the number is used": partial(
        _draw, rescale=False
    ),
    "top-p cuts before the temperature is used; the temperature comes first": _cut_before_heating,
}


@exercise
def search(answer) -> str:
    """Check `search(next_log_probabilities, bos, eos, beam_size, max_len)` -> ids, bos to eos.

    next_log_probabilities takes a beginning, a list of ids, and gives log-probabilities (V,). Of
    all continuations of the beam's beginnings the beam_size best are kept; those that end with eos
    are complete and leave the beam. The most probable complete one of at most max_len ids.
    """
    cases = [
        {"next_log_probabilities": _bikes, "bos": 0, "eos": 1, "beam_size": 2, "max_len": 4},
        {"next_log_probabilities": _early_end, "bos": 0, "eos": 1, "beam_size": 2, "max_len": 5},
    ]
    for seed in range(24):
        size, longest = 1 + seed % 4, 5 + seed % 3
        case = (partial(_random_language, seed), 0, 1, size, longest)
        if _search(*case)[0][-1] == 1:  # something has ended
            cases.append(dict(zip(cases[0], case, strict=True)))
    compare(answer, cases, _search, SEARCH_MISTAKES, numbers=np.integer)
    return "the bikes of the chapter, an early end, and random languages with beams of one to four"


def _bikes(beginning: list[int]) -> torch.Tensor:
    """Words: bos, eos, le, la, vélo, bicyclette, bécane."""
    follows = {0: {2: 0.4, 3: 0.6}, 2: {4: 1.0}, 3: {5: 0.55, 6: 0.45}}
    return _log_row(follows.get(beginning[-1], {1: 1.0}), 7)


def _early_end(beginning: list[int]) -> torch.Tensor:
    """A short sentence ends first, and a longer one is more probable."""
    follows = {0: {2: 0.4, 3: 0.6}, 2: {1: 1.0}, 3: {4: 0.95, 2: 0.05}, 4: {1: 1.0}}
    return _log_row(follows[beginning[-1]], 5)


def _log_row(probabilities: dict[int, float], V: int) -> torch.Tensor:
    row = 1e-9 * torch.arange(1.0, V + 1)  # the others: hardly anything, and no two alike
    for word, p in probabilities.items():
        row[word] = p
    return row.log()


def _random_language(seed: int, beginning: list[int]) -> torch.Tensor:
    number = sum(word * 31**place for place, word in enumerate(beginning))
    generator = torch.Generator().manual_seed(1000 * seed + number % 99991)
    logits = 1.5 * torch.randn(6, generator=generator)
    logits[0] = -20.0  # no sentence begins twice
    return logits.log_softmax(-1)


def _search(
    next_log_probabilities,
    bos,
    eos,
    beam_size,
    max_len,
    *,
    score=lambda before, log_p: before + log_p,
    own=False,
    first=False,
    rate=lambda score, ids: score,
    result=lambda ids: ids,
):
    """Beam search, or what it would be with a part of it done in another way."""
    beam, complete = [(0.0, [bos])], []
    for _ in range(max_len - 1):
        grown = []
        for before, ids in beam:
            row = next_log_probabilities(list(ids)).tolist()
            children = [(score(before, p), [*ids, word]) for word, p in enumerate(row)]
            grown += [max(children)] if own and len(ids) > 1 else children
        kept = sorted(grown, key=lambda item: -item[0])[:beam_size]
        complete += [item for item in kept if item[1][-1] == eos]
        beam = [item for item in kept if item[1][-1] != eos]
        if (first and complete) or not beam:
            break
    best = max(complete or beam, key=lambda item: rate(*item))
    return (torch.tensor(result(best[1])),)


SEARCH_MISTAKES = {
    "it is greedy: only one beginning is kept": lambda following, bos, eos, beam_size, max_len: (
        _search(following, bos, eos, 1, max_len)
    ),
    "it stops with the first complete sentence; a longer one can still be more probable": partial(
        _search, first=True
    ),
    "only the last word's probability counts; the log-probabilities of all words add up": partial(
        _search, score=lambda before, log_p: log_p
    ),
    "every beginning keeps its own best word; all continuations compete with each other": partial(
        _search, own=True
    ),
    "the best mean per word wins; the exercise asks for the most probable sentence": partial(
        _search, rate=lambda score, ids: score / (len(ids) - 1)
    ),
    "the least probable complete sentence is given": partial(
        _search, rate=lambda score, ids: -score
    ),
    "bos is missing at the start of the result": partial(_search, result=lambda ids: ids[1:]),
    "eos is missing from the result": partial(_search, result=lambda ids: ids[:-1]),
}


@exercise
def cached(answer) -> str:
    """Check `cached(x, W_q, W_k, W_v, keys, values)` -> (output, keys, values) for one new token.

    x (d,); W_q and W_k (d, d_k), W_v (d, d_v); keys (n, d_k) and values (n, d_v) of the tokens
    before, of which there may be none. The output (d_v,) attends to those and to the token itself.
    """
    cases = []
    for n, d, d_k, d_v in ((1, 2, 2, 2), (0, 3, 2, 4), (4, 3, 2, 5), (7, 5, 3, 2)):
        shapes = (d,), (d, d_k), (d, d_k), (d, d_v), (n, d_k), (n, d_v)
        names = "x", "W_q", "W_k", "W_v", "keys", "values"
        cases.append({name: torch.randn(s) for name, s in zip(names, shapes, strict=True)})
    compare(answer, cases, _cached, CACHED_MISTAKES)
    return "an empty cache, and caches of one, four and seven tokens"


def _cached(
    x,
    W_q,
    W_k,
    W_v,
    keys,
    values,
    *,
    attend_to_itself=True,
    scale=lambda query, keys: query.shape[-1] ** -0.5,
    join=lambda old, new: torch.cat([old, new[None]]),
    key=lambda x, W_q, W_k: x @ W_k,
):
    """The step, or what it would be with a part of it done in another way."""
    query, old = x @ W_q, (keys, values)
    keys, values = join(keys, key(x, W_q, W_k)), join(values, x @ W_v)
    seen = (keys, values) if attend_to_itself else old
    weights = (seen[0] @ query * scale(query, seen[0])).softmax(-1)
    return weights @ seen[1], keys, values


def _before(old, new):
    return torch.cat([new[None], old])


CACHED_MISTAKES = {
    "the token does not attend to itself; its own key and value come into the cache first": partial(
        _cached, attend_to_itself=False
    ),
    "the scores are not divided by the square root of d_k": partial(
        _cached, scale=lambda query, keys: 1.0
    ),
    "the scores are divided by d_k; it is its square root": partial(
        _cached, scale=lambda query, keys: 1 / query.shape[-1]
    ),
    "the scores are divided by the square root of the number of keys; d_k is their width": partial(
        _cached, scale=lambda query, keys: len(keys) ** -0.5
    ),
    "the new key and value stand in front; a later token comes behind": partial(
        _cached, join=_before
    ),
    "the cache is replaced by the new token; the old ones stay in it": partial(
        _cached, join=lambda old, new: new[None]
    ),
    "the query is put into the cache; later tokens ask for this token's key": partial(
        _cached, key=lambda x, W_q, W_k: x @ W_q
    ),
    "all values count alike; the weights are a softmax of the scores": partial(
        _cached, scale=lambda query, keys: 0.0
    ),
}
