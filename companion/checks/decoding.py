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
