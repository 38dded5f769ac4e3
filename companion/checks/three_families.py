"""Checks for the exercises of book/three_families.ipynb."""

from functools import partial

import numpy as np
import torch

from companion.checks.exercise import Mistake, Rung, call, exercise, ladder
from companion.data import BOS, EOS, WORDS, Vocabulary, corpus
from companion.nn import causal_mask

INVERTED = "the mask is inverted: True means 'may attend'"


@exercise
def prefix_mask(answer) -> str:
    """Check `prefix_mask(source, target)`: boolean, who may look at whom of source + target words.

    The first `source` words see each other; the last `target` see them, themselves and what stands
    before them. True for "may attend".
    """
    ladder(PREFIX_RUNGS, _prefix_mask, prefix_mask=answer)
    return "sources of 0 to 5 words, targets of 0 to 4"


def _prefix_mask(source, target, *, visible=lambda source: source):
    position = torch.arange(source + target)
    return (position < visible(source)) | (position <= position[:, None])


def _only_causal(source, target):
    return causal_mask(source + target)


def _filled(value):
    return lambda source, target: torch.full((source + target, source + target), value)


def _block(rows, columns):
    """What a learner can run to see one block of the mask for three and two words."""
    return f"torch.as_tensor(prefix_mask(3, 2))[{rows}, {columns}]"


PREFIX_RUNGS = [
    Rung(
        "without a source it is the causal mask: a word sees itself and what stands before it",
        "prefix_mask(0, 3)",
        {
            "a word of the target sees later words of the target": _filled(True),
            "the mask is transposed: rows look, columns are looked at": (
                lambda source, target: _only_causal(source, target).T
            ),
            INVERTED: lambda source, target: ~_only_causal(source, target),
            "a word of the target does not see itself": (
                lambda source, target: _only_causal(source, target).tril(-1)
            ),
        },
    ),
    Rung(
        "without a target every word sees every word",
        "prefix_mask(3, 0)",
        {
            "this is the causal mask: a word of the source does not see the later ones": (
                _only_causal
            ),
            "the full corner is one word too small": partial(
                _prefix_mask, visible=lambda source: source - 1
            ),
        },
    ),
    Rung("the words of the source see each other", _block(":3", ":3")),
    Rung(
        "no word of the source sees one of the target: the corner on the upper right is empty",
        _block(":3", "3:"),
        {
            "the source sees the target; the corner on the upper right should be empty": (
                _filled(True)
            ),
            "the full corner is one word too large: it lets the source see the first word of the "
            "target": partial(_prefix_mask, visible=lambda source: source + 1),
        },
    ),
    Rung(
        "every word of the target sees the whole source",
        _block("3:", ":3"),
        {"the target does not see the source": _filled(False)},
    ),
    Rung(
        "of the target a word sees itself and what stands before it",
        _block("3:", "3:"),
        {"a word of the target sees later words of the target": _filled(True)},
    ),
    Rung("a source of one word, a longer target", "prefix_mask(1, 4)"),
    Rung("a longer source, a target of one word", "prefix_mask(5, 1)"),
    Rung(
        "the mask is boolean: True and False, not 1 and 0",
        "str(torch.as_tensor(prefix_mask(2, 1)).dtype)",
    ),
]


@exercise
def temper(answer) -> str:
    """Check `temper(logits, temperature)`: (B, V) -> (B, V), the probabilities of the next word.

    The logits may be as large as 300, the temperature as low as 0.1.
    """
    ladder(TEMPER_RUNGS, _temper, temper=answer)
    return "temperatures of 0.1, 0.5, 1 and 2, one row and several, logits of up to 300"


def _temper(logits, temperature, *, dim=-1):
    return (torch.as_tensor(logits) / temperature).softmax(dim)


def _powers(logits, temperature):
    return (logits / temperature).exp()


def _by_one_maximum(logits, temperature):
    powers = ((logits - logits.max()) / temperature).exp()
    return powers / powers.sum(-1, keepdim=True)


OVERFLOW = (
    "the exponential of a large number is infinite: subtract the largest logit first, as "
    "torch.softmax does"
)
TEMPER_RUNGS = [
    Rung(
        "at temperature 1 the probabilities are those of the softmax",
        "logits = torch.tensor([[2.0, 1.0, 0.0]])\ntemper(logits, 1.0)",
        {
            "the softmax comes twice: the temperature divides probabilities as if they were "
            "logits": lambda logits, temperature: _temper(logits.softmax(-1), temperature),
            "softmax over the rows of the batch; it runs over the vocabulary, the last axis": (
                partial(_temper, dim=0)
            ),
            "these are the logits divided by the temperature; the softmax is still to come": (
                lambda logits, temperature: logits / temperature
            ),
            "this is the logarithm of the probabilities": (
                lambda logits, temperature: _temper(logits, temperature).log()
            ),
        },
    ),
    Rung(
        "half the temperature squares the probabilities, then makes them sum to 1 again",
        "logits = torch.tensor([[0.9, 0.1]]).log()\ntemper(logits, 0.5)",
        {
            "the logits are multiplied by the temperature; divide them": (
                lambda logits, temperature: _temper(logits, 1 / temperature)
            ),
            "the temperature divides the probabilities, which no longer sum to 1; divide the "
            "logits": lambda logits, temperature: logits.softmax(-1) / temperature,
            "the temperature has no effect: a factor on all probabilities is undone when they are "
            "made to sum to 1; divide the logits": lambda logits, temperature: _temper(logits, 1),
            "the powers of the probabilities do not sum to 1: divide them by their sum": _powers,
        },
    ),
    Rung(
        "above 1 the outsiders gain: at temperature 2 the probabilities become their square roots",
        "logits = torch.tensor([[0.64, 0.36]]).log()\ntemper(logits, 2.0)",
    ),
    Rung(
        "each row is a distribution of its own: normalise over the vocabulary, the last axis",
        "logits = torch.tensor([[1.0, 2.0], [0.0, 3.0], [1.0, 1.0]])\ntemper(logits, 0.5)",
        {
            "softmax over the rows of the batch; it runs over the vocabulary, the last axis": (
                partial(_temper, dim=0)
            ),
            "softmax over the whole batch: every row has to sum to 1 by itself": (
                lambda logits, temperature: _temper(logits.flatten(), temperature).view_as(logits)
            ),
        },
    ),
    Rung(
        "logits of 300 are allowed",
        "logits = torch.tensor([[300.0, 299.9]])\ntemper(logits, 0.1)",
        {
            OVERFLOW: lambda logits, temperature: (
                (powers := _powers(logits, temperature)) / powers.sum(-1, keepdim=True)
            )
        },
    ),
    Rung(
        "every row has a largest logit of its own, which may be far below that of another row",
        "logits = torch.tensor([[300.0, 299.9], [-300.0, -299.9]])\ntemper(logits, 0.1)",
        {
            "the largest logit of the whole batch is subtracted; each row needs its own": (
                _by_one_maximum
            )
        },
    ),
    Rung(
        "the logits may be a transposed tensor",
        "logits = torch.tensor([[1.0, 2.0], [0.0, 3.0], [1.0, 1.0]]).T\ntemper(logits, 2.0)",
    ),
    Rung("many words", "logits = 3 * torch.randn(5, 40)\ntemper(logits, 0.7)"),
]


@exercise
def cut(answer) -> str:
    """Check `cut(probabilities, top_k, top_p)`: (B, V) -> (B, V), every row sums to 1.

    First the top_k most probable tokens are kept and made to sum to 1; of what is left the fewest
    most probable that reach top_p together. None leaves a cut out.
    """
    ladder(CUT_RUNGS, _cut, cut=answer)
    return "4, 7 and 11 words; each cut alone, both and none; one row and several"


def _sum_to_1(kept):
    return kept / kept.sum(-1, keepdim=True)


def _as_it_is(kept):
    return kept


def _cut(
    probabilities,
    top_k,
    top_p,
    *,
    crossing=lambda total, own: total - own,
    reached=torch.ge,
    again=_sum_to_1,
    between=_sum_to_1,
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
    return torch.zeros_like(ordered).scatter(-1, tokens, ordered) if scatter else ordered


def _threshold(probabilities, top_k, top_p):
    kept = _cut(probabilities, top_k, None)
    return _sum_to_1(kept if top_p is None else kept.masked_fill(kept < top_p, 0.0))


def _one_for_all(probabilities, top_k, top_p):
    return _sum_to_1(probabilities * (_cut(probabilities[:1], top_k, top_p) > 0))


def _gathered(probabilities, top_k, top_p):
    kept = _cut(probabilities, top_k, top_p).sort(-1, descending=True).values
    return kept.gather(-1, probabilities.argsort(-1, descending=True))


def _softmax_of_the_rest(probabilities, top_k, top_p):
    kept = _cut(probabilities, top_k, top_p, again=_as_it_is, between=_as_it_is)
    return kept.masked_fill(kept == 0, -torch.inf).softmax(-1)


def _uncut(probabilities, top_k, top_p):
    return probabilities


NOT_DIVIDED = {
    "what is left does not sum to 1: divide by its sum": partial(
        _cut, again=_as_it_is, between=_as_it_is
    )
}
ALWAYS = {
    "the least probable words are kept": partial(_cut, larger=False),
    "gather with the sorted tokens sorts once more; scatter brings the numbers back": _gathered,
    "the result is in the order of probability; bring it back into the order of the words": partial(
        _cut, scatter=False
    ),
    "a softmax was taken of the probabilities that are left; divide them by their sum": (
        _softmax_of_the_rest
    ),
}
FOUR = "p = torch.tensor([[0.1, 0.5, 0.15, 0.25]])\n"
TOP_P_IGNORED = {
    "top_p is ignored": lambda probabilities, top_k, top_p: _cut(probabilities, top_k, None)
}
CUT_RUNGS = [
    Rung(
        "None leaves a cut out: without both nothing changes", f"{FOUR}cut(p, None, None)", ALWAYS
    ),
    Rung(
        "top_k = 1 leaves the most probable word alone, with probability 1",
        f"{FOUR}cut(p, 1, None)",
        {
            **NOT_DIVIDED,
            "top_k keeps one word too many": partial(_cut, more=1),
            "top_k is ignored": _uncut,
            **ALWAYS,
        },
    ),
    Rung(
        "top_k = 2 leaves two words, in their places, which sum to 1",
        f"{FOUR}cut(p, 2, None)",
        {**NOT_DIVIDED, **ALWAYS},
    ),
    Rung("k may be larger than the vocabulary: then every word stays", f"{FOUR}cut(p, 9, None)"),
    Rung(
        "a word that has top_p alone is enough",
        f"{FOUR}cut(p, None, 0.3)",
        {
            "top_p drops the word that crosses p; the words that are kept have to reach p": partial(
                _cut, crossing=lambda total, own: total
            ),
            "top_p is ignored": _uncut,
            **NOT_DIVIDED,
            **ALWAYS,
        },
    ),
    Rung(
        "top_p keeps the fewest words that reach p together, with the one that crosses it",
        f"{FOUR}cut(p, None, 0.8)",
        {
            "top_p drops the word that crosses p; the words that are kept have to reach p": partial(
                _cut, crossing=lambda total, own: total
            ),
            "top_p is taken for the least probability of a single word": _threshold,
            **NOT_DIVIDED,
            **ALWAYS,
        },
    ),
    Rung(
        "where words have exactly p together no more are kept",
        "p = torch.tensor([[0.25, 0.5, 0.125, 0.125]])\ncut(p, None, 0.75)",
        {
            "where words reach top_p exactly, one more is kept: to reach is enough": partial(
                _cut, reached=torch.gt
            )
        },
    ),
    Rung(
        "with both, no more than k words are left, however large top_p is",
        f"{FOUR}cut(p, 2, 0.95)",
        {
            "top_k is ignored where there is a top_p": lambda probabilities, top_k, top_p: _cut(
                probabilities, None, top_p
            )
        },
    ),
    Rung(
        "with both, top_k cuts first; of what it leaves, made to sum to 1, top_p takes its share",
        f"{FOUR}cut(p, 3, 0.53)",
        {
            "top_p is ignored where there is a top_k": lambda probabilities, top_k, top_p: _cut(
                probabilities, top_k, None
            ),
            "top_p is a share of all words here; top_k cuts first, and what it leaves has to sum "
            "to 1": partial(_cut, between=_as_it_is),
        },
    ),
    Rung(
        "every row is cut by itself",
        "p = torch.tensor([[0.7, 0.2, 0.1], [0.2, 0.35, 0.45]])\ncut(p, None, 0.6)",
        {"the first row decides which words are kept in all rows": _one_for_all},
    ),
    Rung(
        "every row is cut by itself, by top_k, too",
        "p = torch.tensor([[0.7, 0.2, 0.1], [0.2, 0.35, 0.45]])\ncut(p, 2, None)",
        {"the first row decides which words are kept in all rows": _one_for_all},
    ),
    Rung("both cuts, several rows", "p = (2 * torch.randn(3, 7)).softmax(-1)\ncut(p, 4, 0.85)"),
    Rung("top_k of several rows", "p = (2 * torch.randn(5, 11)).softmax(-1)\ncut(p, 3, None)"),
    Rung("top_p of several rows", "p = (2 * torch.randn(5, 11)).softmax(-1)\ncut(p, None, 0.7)"),
    Rung(
        "the probabilities may be a transposed tensor",
        "p = (2 * torch.randn(7, 3)).softmax(0).T\ncut(p, 99, 0.9)",
    ),
]


@exercise
def hide(answer) -> str:
    """Check `hide(ids, chosen, fate, others, mask_id, pad_id)` -> (hidden, targets), both (B, T).

    Of the chosen tokens those with a fate below 0.8 become mask_id, those from 0.8 to 0.9 stay, and
    those from 0.9 on become what stands in `others`. Targets are pad_id where nothing is asked.
    """
    ladder(HIDE_RUNGS, _hide, hide=answer)
    return "none, one and many chosen; each of the three fates, and their limits"


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
    seen=lambda chosen: chosen,
    asked=lambda chosen, fate: chosen,
    answer=lambda ids, hidden: ids,
):
    """BERT's corruption, or what it would be with one step done in another way."""
    hidden = ids.masked_fill(seen(chosen) & masked(fate), mask_id)
    hidden = torch.where(seen(chosen) & other(fate), others, hidden)
    return hidden, answer(ids, hidden).masked_fill(~asked(chosen, fate), pad_id)


def _always(fate):
    return torch.ones_like(fate, dtype=torch.bool)


def _never(fate):
    return torch.zeros_like(fate, dtype=torch.bool)


def _one_sentence(chosen, fate):
    """What a learner can run: three words, of which these are chosen, with these fates."""
    return (
        "ids = torch.tensor([[5, 6, 7]])\nothers = torch.tensor([[11, 12, 13]])\n"
        f"chosen = torch.tensor([{chosen}])\nfate = torch.tensor([{fate}], dtype=torch.float64)\n"
        "hide(ids, chosen, fate, others, 2, 3)"
    )


FORMS = {
    "targets and hidden words have changed places: return what the model sees first": (
        lambda *given: _hide(*given)[::-1]
    ),
    "all words are asked for; only the chosen ones are": partial(
        _hide, asked=lambda chosen, fate: _always(fate)
    ),
    "where nothing is asked the targets are 0; they should be pad_id": (
        lambda ids, chosen, fate, others, mask_id, pad_id: _hide(
            ids, chosen, fate, others, mask_id, 0
        )
    ),
    "where nothing is asked the targets are -100; they should be pad_id": (
        lambda ids, chosen, fate, others, mask_id, pad_id: _hide(
            ids, chosen, fate, others, mask_id, -100
        )
    ),
    "the targets are the wrong way round: they hold the words that were not chosen": partial(
        _hide, asked=lambda chosen, fate: ~chosen
    ),
    "words that were not chosen are changed, too": partial(
        _hide, seen=lambda chosen: torch.ones_like(chosen)
    ),
}
HIDDEN_TARGETS = {
    "the targets hold what the model gets to see; it has to name the original word": partial(
        _hide, answer=lambda ids, hidden: hidden
    )
}
MASKS_ALONE = (
    "only what became [MASK] is asked for; those that stay or are replaced were chosen, too"
)
HIDE_RUNGS = [
    Rung(
        "a chosen word with a fate below 0.8 becomes mask_id, and is asked for; no other word is",
        _one_sentence([False, True, False], [0.3, 0.3, 0.95]),
        FORMS | HIDDEN_TARGETS,
    ),
    Rung(
        "where no word is chosen, none is changed and none is asked for",
        _one_sentence([False, False, False], [0.3, 0.85, 0.95]),
        FORMS,
    ),
    Rung(
        "a chosen word with a fate from 0.9 on becomes the other word, and is asked for",
        _one_sentence([False, True, False], [0.3, 0.95, 0.95]),
        {
            "every chosen word becomes [MASK]": partial(_hide, masked=_always, other=_never),
            "a chosen word with a fate from 0.9 on stays; it should be replaced": partial(
                _hide, other=_never
            ),
            MASKS_ALONE: partial(_hide, asked=lambda chosen, fate: chosen & (fate < 0.8)),
            **HIDDEN_TARGETS,
        },
    ),
    Rung(
        "a chosen word with a fate from 0.8 to 0.9 stays, and is asked for",
        _one_sentence([False, True, False], [0.3, 0.85, 0.95]),
        {
            "the words that stay are not asked for; they were chosen, too": partial(
                _hide, asked=lambda chosen, fate: chosen & ((fate < 0.8) | (fate >= 0.9))
            ),
            "the chosen words from 0.8 to 0.9 are replaced; they should stay": partial(
                _hide, other=lambda fate: fate >= 0.8
            ),
        },
    ),
    Rung(
        "a fate of exactly 0.8 stays, one of exactly 0.9 is replaced",
        _one_sentence([True, True, False], [0.8, 0.9, 0.95]),
    ),
    Rung(
        "all three fates in one sentence",
        _one_sentence([True, True, True], [0.3, 0.85, 0.95]),
    ),
    Rung(
        "several sentences",
        "ids, others = torch.randint(4, 50, (3, 29)), torch.randint(50, 90, (3, 29))\n"
        "chosen, fate = torch.rand(3, 29) < 0.6, torch.rand(3, 29)\n"
        "hide(ids, chosen, fate, others, 1, 3)",
    ),
]


@exercise
def fill(answer) -> str:
    """Check `fill(probabilities, ids, mask_id)`: ids with every gap filled, the surest gap first.

    probabilities(ids) takes T ids and gives (T, V), as a masked language model does.
    """
    ladder(FILL_RUNGS, _fill, fill=answer)
    return (
        "no gap, one and several; gaps that depend on each other; ties; a model that likes [MASK]"
    )


def _fill(
    probabilities,
    ids,
    mask_id,
    *,
    pick=lambda gaps, p: max(gaps, key=lambda t: (p[t].max().item(), -t)),
    once=False,
    words=lambda p, mask_id: p.index_fill(-1, torch.tensor([mask_id]), 0.0),
    at=lambda ids, mask_id: [t for t, i in enumerate(ids) if i == mask_id],
):
    """Fill the gaps one by one, or as it would be with one step done in another way."""
    ids = list(ids)
    gaps, p = at(ids, mask_id), words(probabilities(ids), mask_id)
    while gaps:
        place = pick(gaps, p)
        ids[place] = p[place].argmax().item()
        gaps.remove(place)
        if gaps and not once:
            p = words(probabilities(ids), mask_id)
    return ids


TABLE = """\
def model(ids):  # the same answers, whatever it reads; 0 is [MASK]
    return torch.tensor([{}])[: len(ids)]
"""
PAIRS = """\
def model(ids):  # surest of the {surest}; each depends on the other
    first = [0.0, {first}] if ids[1] == 0 else [0.0, 0.1, 0.1, 0.8]
    second = [0.0, {second}] if ids[0] == 0 else [0.0, 0.8, 0.1, 0.1]
    return torch.tensor([first, second])
ids = [0, 0]
fill(model, ids, 0)"""


FILL_RUNGS = [
    Rung(
        "without a gap the words stay as they are, even where the model prefers others",
        TABLE.format("[0.0, 0.1, 0.9], [0.0, 0.9, 0.1]") + "ids = [1, 2]\nfill(model, ids, 0)",
        {
            "words that are no gaps are replaced, too": partial(
                _fill, at=lambda ids, mask_id: [*range(len(ids))]
            )
        },
    ),
    Rung(
        "one gap gets the most probable word at its place",
        TABLE.format("[0.0, 0.1, 0.9], [0.0, 0.2, 0.8], [0.0, 0.9, 0.1]")
        + "ids = [1, 0, 2]\nfill(model, ids, 0)",
        {
            "words that are no gaps are replaced, too": partial(
                _fill, at=lambda ids, mask_id: [*range(len(ids))]
            )
        },
    ),
    Rung(
        "[MASK] itself is never written, even where the model finds it most probable",
        TABLE.format("[0.5, 0.1, 0.4]") + "ids = [0]\nfill(model, ids, 0)",
        {
            "[MASK] is written where it is most probable; take the best of the other words": (
                partial(_fill, words=lambda p, mask_id: p)
            )
        },
    ),
    Rung(
        "two gaps that do not depend on each other both get their best word",
        TABLE.format("[0.0, 0.1, 0.9], [0.0, 0.8, 0.2]") + "ids = [0, 0]\nfill(model, ids, 0)",
    ),
    Rung(
        "the gap of which the model is surest is filled first, and then the model is asked again",
        PAIRS.format(surest="second", first="0.4, 0.3, 0.3", second="0.2, 0.7, 0.1"),
        {
            "the gaps are filled from left to right; the surest one comes first": partial(
                _fill, pick=lambda gaps, p: gaps[0]
            ),
            "the model is asked once for all gaps; ask it again after every word that was put in": (
                partial(_fill, once=True)
            ),
        },
    ),
    Rung(
        "the surest gap may be the first one",
        PAIRS.format(surest="first", first="0.2, 0.7, 0.1", second="0.4, 0.3, 0.3"),
        {
            "the gaps are filled from right to left; the surest one comes first": partial(
                _fill, pick=lambda gaps, p: gaps[-1]
            ),
        },
    ),
    Rung(
        "after a word was put in, the order of the other gaps is decided anew",
        """\
def model(ids):  # the third gap, once filled, makes the second surer than the first
    if ids[2] == 0:
        return torch.tensor([[0.0, 0.6, 0.4], [0.0, 0.5, 0.5], [0.0, 0.1, 0.9]])
    if ids[1] == 0:
        return torch.tensor([[0.0, 0.6, 0.4], [0.0, 0.1, 0.9], [0.0, 0.1, 0.9]])
    return torch.tensor([[0.0, 0.2, 0.8], [0.0, 0.1, 0.9], [0.0, 0.1, 0.9]])
ids = [0, 0, 0]
fill(model, ids, 0)""",
    ),
    Rung(
        "how sure the model is of [MASK] does not count when the surest gap is chosen",
        """\
def model(ids):  # of the first gap it is surest that it is [MASK]
    second = [0.0, 0.3, 0.7] if ids[0] == 0 else [0.0, 0.9, 0.1]
    return torch.tensor([[0.8, 0.1, 0.1], second])
ids = [0, 0]
fill(model, ids, 0)""",
    ),
    Rung(
        "at a tie the leftmost gap comes first",
        """\
def model(ids):  # equally sure of both; the second depends on the first
    second = [0.0, 0.8, 0.2] if ids[0] == 0 else [0.0, 0.2, 0.8]
    first = [0.0, 0.8, 0.2] if ids[1] == 0 else [0.0, 0.2, 0.8]
    return torch.tensor([first, second])
ids = [0, 0]
fill(model, ids, 0)""",
    ),
    Rung(
        "mask_id may be any id",
        """\
def model(ids):
    return torch.tensor([[0.6, 0.1, 0.2, 0.1], [0.1, 0.6, 0.1, 0.2]])[: len(ids)]
ids = [3, 3]
fill(model, ids, 3)""",
    ),
]


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
        for part in (corpus(2000, seed=1), corpus(36, seed=2))
    )
    _try_on_three_sentences(answer)
    next_word = _trained(answer, read, size)
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
        raise Mistake(
            f"it is not clearly better than counting pairs of words{_why(answer)}", example
        )
    return f"{asked} fresh words: {nats['yours']:.2f} nats each; pairs need {nats['two words']:.2f}"


def _trained(answer, sentences: list[list[int]], size: int):
    """The learner's next_word."""
    next_word = call(answer, sentences=sentences, vocab_size=size)
    if not callable(next_word):
        raise Mistake(
            f"it returned {type(next_word).__name__}, expected a function next_word(before)",
            f"language_model(sentences, {size}) with {len(sentences)} sentences",
        )
    return next_word


FEW = [[0, 2, 3, 4, 1], [0, 2, 3, 4, 1], [0, 5, 3, 6, 1]]  # of 8 words, 0 begins and 1 ends


def _try_on_three_sentences(answer) -> None:
    """What is asked of every answer, where it can be seen by eye; 7 occurs nowhere."""
    next_word = _trained(answer, FEW, 8)
    for before, idea in (
        ([0], "at the beginning of a sentence there is only [BOS] to go by"),
        ([0, 2], "words that it has seen"),
        ([0, 7], "a word that was never seen"),
        ([0, 2, 3, 4, 6, 5, 3], "a longer sentence than any it was trained on"),
    ):
        example = f"next_word = language_model({FEW}, 8)\nnext_word({before})"
        try:
            _probability_of(0, call(next_word, before=before), 8, example)
        except Mistake as mistake:
            raise Mistake(
                f"{mistake.mistake} ({idea})", f"{example}\n{mistake.example}"
            ) from mistake


def _why(answer) -> str:
    """What keeps an answer from being better than pairs, if three sentences can tell."""
    next_word = _trained(answer, FEW, 8)
    after = [
        [_probability_of(word, next_word(before), 8, "") for word in (4, 6)]
        for before in ([0, 2, 3], [0, 5, 3])
    ]
    if np.allclose(*after):
        return ": the last word decides alone, what stands before it changes nothing"
    if max(map(max, after)) < 0.3:
        return ": nearly all probability goes to words that never followed"
    return ""


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
    if not isinstance(probabilities, torch.Tensor | np.ndarray | list | tuple):
        raise Mistake(
            f"next_word returned {type(probabilities).__name__}, expected a tensor", example
        )
    if isinstance(probabilities, torch.Tensor):
        probabilities = probabilities.detach()
    probabilities = np.asarray(probabilities, dtype=float)
    if probabilities.shape != (size,):
        raise Mistake(
            f"next_word returned shape {probabilities.shape}, expected ({size},)", example
        )
    if not (probabilities >= 0).all():
        raise Mistake("a probability is negative or NaN", example)
    if abs(probabilities.sum() - 1) > 1e-3:
        raise Mistake("the probabilities do not sum to 1", f"{example}\n{probabilities.sum():.4f}")
    return float(probabilities[word])
