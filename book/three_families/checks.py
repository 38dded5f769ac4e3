"""Checks for the exercises of book/three_families.ipynb."""

import numpy as np
import torch

from book.checking.exercise import Mistake, call, climb, exercise
from book.checking.rungs import edited, ladder
from companion.data import BOS, EOS, WORDS, Vocabulary, corpus
from companion.nn import causal_mask


@exercise
def prefix_mask(answer) -> str:
    """Check `prefix_mask(source, target)`: boolean, who may look at whom of source + target words.

    The first `source` words see each other; the last `target` see them, themselves and what stands
    before them. True for "may attend".
    """
    climb(PREFIX_MASK, answer)
    return "sources of 0 to 3 words, targets of 0 to 4"


def _prefix_mask(source, target):
    mask = causal_mask(source + target).clone()
    mask[:source, :source] = True
    return mask


@ladder(_prefix_mask)
def PREFIX_MASK(prefix_mask):
    """without a target every word sees every word"""
    yield prefix_mask(3, 0)

    """without a source it is the causal mask: a word sees itself and what stands before it"""
    yield prefix_mask(0, 3)

    """the words of the source see each other"""
    yield torch.as_tensor(prefix_mask(3, 2))[:3, :3]

    """no word of the source sees one of the target: the corner on the upper right is empty"""
    yield torch.as_tensor(prefix_mask(3, 2))[:3, 3:]

    """every word of the target sees the whole source"""
    yield torch.as_tensor(prefix_mask(3, 2))[3:, :3]

    """of the target a word sees itself and what stands before it"""
    yield torch.as_tensor(prefix_mask(3, 2))[3:, 3:]

    """a source of one word, a longer target"""
    yield prefix_mask(1, 4)


PREFIX_MASK.mistakes |= {
    "this is the causal mask: a word of the source does not see the later ones": edited(
        _prefix_mask, "mask[:source, :source] = True", "pass"
    ),
    "the full corner is one word too small": edited(
        _prefix_mask, "mask[:source, :source]", "mask[: max(source - 1, 0), : max(source - 1, 0)]"
    ),
    "every word sees every word; a word of the target sees later words of the target": edited(
        _prefix_mask, "mask[:source, :source]", "mask[:]"
    ),
    "a word of the target sees later words of the target": edited(
        _prefix_mask, "mask[:source, :source]", "mask[:source, :source] = mask[source:, source:]"
    ),
    "the target's corner is full, not the source's: a word of the target sees later "
    "words of the target": edited(_prefix_mask, "mask[:source, :source]", "mask[source:, source:]"),
    "the mask is transposed: rows look, columns are looked at": edited(
        _prefix_mask, "return mask", "return mask.T"
    ),
    "the mask is inverted: True means 'may attend'": edited(
        _prefix_mask, "return mask", "return ~mask"
    ),
    "a word of the target does not see itself": edited(
        _prefix_mask, "return mask", "mask[source:, source:].fill_diagonal_(False); return mask"
    ),
    "the source sees the target; the corner on the upper right should be empty": edited(
        _prefix_mask, "mask[:source, :source]", "mask[:source]"
    ),
    "the full corner is one word too large: it lets the source see the first word of "
    "the target": edited(_prefix_mask, "mask[:source, :source]", "mask[:, : source + 1]"),
    "the target does not see the source": edited(
        _prefix_mask, "return mask", "mask[source:, :source] = False; return mask"
    ),
}


@exercise
def temper(answer) -> str:
    """Check `temper(logits, temperature)`: (B, V) -> (B, V), the probabilities of the next word.

    The logits may be as large as 300, the temperature as low as 0.02.
    """
    climb(TEMPER, answer)
    return "temperatures of 0.02 to 1, one row and several, logits of up to 300"


def _temper(logits, temperature):
    return (logits / temperature).softmax(-1)


@ladder(_temper)
def TEMPER(temper):
    """at temperature 1 the probabilities are those of the softmax"""
    logits = torch.tensor([[2.0, 1.0, 0.0]])
    yield temper(logits, 1.0)

    """half the temperature squares the probabilities, then makes them sum to 1 again"""
    logits = torch.tensor([[0.9, 0.1]]).log()
    yield temper(logits, 0.5)

    """each row is a distribution of its own: normalise over the vocabulary, the last axis"""
    logits = torch.tensor([[1.0, 2.0], [0.0, 3.0], [1.0, 1.0]])
    yield temper(logits, 0.5)

    """divided by a low temperature the logits are large, and stay apart"""
    logits = torch.tensor([[40.0, 39.9]])
    yield temper(logits, 0.1)

    """every row has a largest logit of its own, which may be far below that of another row"""
    logits = torch.tensor([[300.0, 299.9], [-300.0, -299.9]])
    yield temper(logits, 0.1)

    """at a low temperature every power of a probability is 0 in float32: divide the logits,
    before the softmax"""
    logits = torch.zeros(1, 10)
    yield temper(logits, 0.02)

    """many words"""
    logits = 3 * torch.randn(5, 40)
    yield temper(logits, 0.7)


TEMPER.mistakes |= {
    "softmax over the rows of the batch; it runs over the "
    "vocabulary, the last axis": lambda logits, temperature: (logits / temperature).softmax(0),
    "these are the logits divided by the temperature; the "
    "softmax is still to come": lambda logits, temperature: logits / temperature,
    "the temperature divides the probabilities, which no longer "
    "sum to 1; divide the logits": lambda logits, temperature: logits.softmax(-1) / temperature,
    "the temperature has no effect: divide the logits by it; a "
    "factor on the probabilities would be undone as soon as "
    "they are made to sum to 1": lambda logits, temperature: (logits).softmax(-1),
    "the powers of the probabilities do not sum to 1: divide "
    "them by their sum": lambda logits, temperature: (logits / temperature).exp(),
    "softmax over the whole batch: every row has to sum to 1 by "
    "itself": lambda logits, temperature: (
        (logits / temperature).flatten().softmax(0).view_as(logits)
    ),
    "the exponential of a large number is infinite: subtract "
    "the largest logit first, as torch.softmax does": lambda logits, temperature: (
        (e := (logits / temperature).exp()) / e.sum(1)[:, None]
    ),
    "the largest logit of the whole batch is subtracted; each "
    "row needs its own": lambda logits, temperature: (
        (e := ((logits - logits.max()) / temperature).exp()) / e.sum(1)[:, None]
    ),
    "the logits are divided by the root of the temperature; divide by the "
    "temperature": lambda logits, temperature: (logits / temperature**0.5).softmax(-1),
}


@exercise
def cut(answer) -> str:
    """Check `cut(probabilities, top_k, top_p)`: (B, V) -> (B, V), every row sums to 1.

    First the top_k most probable tokens are kept and made to sum to 1; of what is left the fewest
    most probable that reach top_p together. None leaves a cut out.
    """
    climb(CUT, answer)
    return "3, 4 and 7 words; each cut alone, both and none; one row and several"


def _cut(probabilities, top_k, top_p):
    p, words = probabilities.sort(dim=-1, descending=True)
    rank = torch.arange(p.shape[-1])
    if top_k is not None:
        p = p * (rank < top_k)
        p = p / p.sum(dim=-1, keepdim=True)
    if top_p is not None:
        before = p.cumsum(-1) - p
        p = p * (before < top_p)
        p = p / p.sum(-1, keepdim=True)
    result = torch.zeros_like(p).scatter(-1, words, p)
    return result


@ladder(_cut)
def CUT(cut):
    """None leaves a cut out: without both nothing changes"""
    p = torch.tensor([[0.1, 0.5, 0.15, 0.25]])
    yield cut(p, None, None)

    """top_k = 1 leaves the most probable word alone, with probability 1"""
    p = torch.tensor([[0.1, 0.5, 0.15, 0.25]])
    yield cut(p, 1, None)

    """top_k = 2 leaves two words, in their places, which sum to 1"""
    p = torch.tensor([[0.1, 0.5, 0.15, 0.25]])
    yield cut(p, 2, None)

    """k may be larger than the vocabulary: then every word stays"""
    p = torch.tensor([[0.1, 0.5, 0.15, 0.25]])
    yield cut(p, 9, None)

    """a word that has top_p alone is enough"""
    p = torch.tensor([[0.1, 0.5, 0.15, 0.25]])
    yield cut(p, None, 0.3)

    """top_p keeps the fewest words that reach p together, with the one that crosses it"""
    p = torch.tensor([[0.1, 0.5, 0.15, 0.25]])
    yield cut(p, None, 0.8)

    """where words have exactly p together no more are kept"""
    p = torch.tensor([[0.25, 0.5, 0.125, 0.125]])
    yield cut(p, None, 0.75)

    """with both, no more than k words are left, however large top_p is"""
    p = torch.tensor([[0.1, 0.5, 0.15, 0.25]])
    yield cut(p, 2, 0.95)

    """with both, top_k cuts first; of what it leaves, made to sum to 1, top_p takes its
    share"""
    p = torch.tensor([[0.1, 0.5, 0.15, 0.25]])
    yield cut(p, 3, 0.53)

    """every row is cut by itself"""
    p = torch.tensor([[0.2, 0.7, 0.1], [0.2, 0.35, 0.45]])
    yield cut(p, None, 0.6)

    """of words that are equally probable at the k-th place, top_k keeps as many as make k"""
    p = torch.tensor([[0.4, 0.2, 0.2, 0.2]])
    yield (torch.as_tensor(cut(p, 2, None)) > 0).sum()

    """both cuts, several rows"""
    p = (2 * torch.randn(3, 7)).softmax(-1)
    yield cut(p, 4, 0.85)


CUT.mistakes |= {
    "gather with the sorted tokens sorts once more; scatter brings the numbers back": edited(
        _cut, "torch.zeros_like(p).scatter(-1, words, p)", "p.gather(-1, words)"
    ),
    "a softmax was taken of the probabilities at the end; divide them by their sum": edited(
        _cut, "return result", "return result.masked_fill(result == 0, -torch.inf).softmax(-1)"
    ),
    "the result is in the order of probability; bring it back into the order of the words": edited(
        _cut, "return result", "return p"
    ),
    "what is left does not sum to 1: divide by its sum": edited(
        _cut,
        "p = p / p.sum(dim=-1, keepdim=True)",
        "pass",
        "p = p / p.sum(-1, keepdim=True)",
        "pass",
    ),
    "top_k keeps one word too many": edited(_cut, "rank < top_k", "rank < top_k + 1"),
    "top_k is ignored": edited(_cut, "(rank < top_k)", "1"),
    "top_p is ignored": edited(_cut, "(before < top_p)", "1"),
    "where words reach top_p exactly, one more is kept: to reach is enough": edited(
        _cut, "before < top_p", "before <= top_p"
    ),
    "top_k is ignored where there is a top_p": edited(
        _cut, "if top_k is not None:", "if top_k is not None and top_p is None:"
    ),
    "top_p is ignored where there is a top_k": edited(
        _cut, "if top_p is not None:", "if top_p is not None and top_k is None:"
    ),
    "top_p is a share of all words here; top_k cuts first, and what it leaves has to "
    "sum to 1": edited(
        _cut,
        "p = p / p.sum(dim=-1, keepdim=True)",
        "pass",
        "result =",
        "p = p / p.sum(-1, keepdim=True); result =",
    ),
    "what top_p leaves does not sum to 1: divide by its sum, as after top_k": edited(
        _cut, "p = p / p.sum(-1, keepdim=True)", "pass"
    ),
    "the sort is ascending, so that the least probable words are kept": edited(
        _cut, "descending=True", "descending=False"
    ),
}


@exercise
def hide(answer) -> str:
    """Check `hide(ids, chosen, fate, others, mask_id, pad_id)` -> (hidden, targets), both (B, T).

    Of the chosen tokens those with a fate below 0.8 become mask_id, those from 0.8 to 0.9 stay, and
    those from 0.9 on become what stands in `others`. Targets are pad_id where nothing is asked.
    """
    climb(HIDE, answer)
    return "one and many chosen; each of the three fates, and their limits"


def _hide(ids, chosen, fate, others, mask_id, pad_id):
    hidden = torch.where(chosen & (fate < 0.8), mask_id, ids)
    hidden = torch.where(chosen & (fate >= 0.9), others, hidden)
    targets = torch.where(chosen, ids, pad_id)
    return hidden, targets


@ladder(_hide)
def HIDE(hide):
    """a chosen word with a fate below 0.8 becomes mask_id, and is asked for; no other word
    is"""
    ids, others = torch.tensor([[5, 6, 7]]), torch.tensor([[11, 12, 13]])
    chosen = torch.tensor([[False, True, False]])
    fate = torch.tensor([[0.3, 0.3, 0.95]], dtype=torch.float64)
    yield hide(ids, chosen, fate, others, 2, 3)

    """a chosen word with a fate from 0.9 on becomes the other word, and is asked for"""
    ids, others = torch.tensor([[5, 6, 7]]), torch.tensor([[11, 12, 13]])
    chosen = torch.tensor([[False, True, False]])
    fate = torch.tensor([[0.3, 0.95, 0.95]], dtype=torch.float64)
    yield hide(ids, chosen, fate, others, 2, 3)

    """a chosen word with a fate from 0.8 to 0.9 stays, and is asked for"""
    ids, others = torch.tensor([[5, 6, 7]]), torch.tensor([[11, 12, 13]])
    chosen = torch.tensor([[False, True, False]])
    fate = torch.tensor([[0.3, 0.85, 0.95]], dtype=torch.float64)
    yield hide(ids, chosen, fate, others, 2, 3)

    """a fate of exactly 0.8 stays, one of exactly 0.9 is replaced"""
    ids, others = torch.tensor([[5, 6, 7]]), torch.tensor([[11, 12, 13]])
    chosen = torch.tensor([[True, True, False]])
    fate = torch.tensor([[0.8, 0.9, 0.95]], dtype=torch.float64)
    yield hide(ids, chosen, fate, others, 2, 3)

    """several sentences"""
    ids, others = torch.randint(4, 50, (3, 29)), torch.randint(50, 90, (3, 29))
    chosen, fate = torch.rand(3, 29) < 0.6, torch.rand(3, 29)
    yield hide(ids, chosen, fate, others, 1, 3)


HIDE.mistakes |= {
    "targets and hidden words have changed places: return what the model sees first": edited(
        _hide, "return hidden, targets", "return targets, hidden"
    ),
    "all words are asked for; only the chosen ones are": edited(
        _hide, "torch.where(chosen, ids, pad_id)", "ids"
    ),
    "where nothing is asked the targets are -100; they should be pad_id": edited(
        _hide, "ids, pad_id)", "ids, -100)"
    ),
    "the targets are the wrong way round: they hold the words that were not chosen": edited(
        _hide, "torch.where(chosen, ids, pad_id)", "torch.where(chosen, pad_id, ids)"
    ),
    "the targets hold what the model gets to see; it has to name the original word": edited(
        _hide, "torch.where(chosen, ids,", "torch.where(chosen, hidden,"
    ),
    "words that were not chosen are changed, too": edited(
        _hide, "chosen & (fate <", " (fate <", "chosen & (fate >", " (fate >"
    ),
    "every chosen word becomes [MASK]": edited(
        _hide, "chosen & (fate < 0.8)", "chosen", "chosen & (fate >= 0.9)", "chosen & False"
    ),
    "a chosen word with a fate from 0.9 on stays; it should be replaced": edited(
        _hide, "chosen & (fate >= 0.9)", "chosen & False"
    ),
    "words that were not chosen are exchanged for others; only chosen ones may be": edited(
        _hide, "chosen & (fate >= 0.9)", "(fate >= 0.9)"
    ),
    "where nothing is asked the targets are mask_id; they should be pad_id": edited(
        _hide, "ids, pad_id)", "ids, mask_id)"
    ),
}


@exercise
def fill(answer) -> str:
    """Check `fill(probabilities, ids, mask_id)`: ids with every gap filled, the surest gap first.

    probabilities(ids) takes T ids and gives (T, V), as a masked language model does.
    """
    climb(FILL, answer)
    return (
        "no gap, one and several; gaps that depend on each other; ties; a model that likes [MASK]"
    )


def _fill(probabilities, ids, mask_id):
    ids = list(ids)
    while mask_id in ids:
        p = probabilities(ids) + 0
        p[:, mask_id] = 0.0
        gaps = [t for t, i in enumerate(ids) if i == mask_id]
        place = max(gaps, key=lambda t: p[t].max())
        ids[place] = p[place].argmax().item()
    return ids


@ladder(_fill)
def FILL(fill):
    """without a gap the words stay as they are, even where the model prefers others; what it
    returns is its own"""
    table = torch.tensor([[0.0, 0.1, 0.9], [0.0, 0.9, 0.1]])
    ids = [1, 2]
    yield fill(lambda ids: table, ids, 0)

    """one gap gets the most probable word at its place"""
    table = torch.tensor([[0.0, 0.1, 0.9], [0.0, 0.2, 0.8], [0.0, 0.9, 0.1]])
    ids = [1, 0, 2]
    yield fill(lambda ids: table, ids, 0)

    """[MASK] itself is never written, even where the model finds it most probable"""
    table = torch.tensor([[0.5, 0.1, 0.4]])
    ids = [0]
    yield fill(lambda ids: table, ids, 0)

    """the gap of which the model is surest is filled first, and then the model is asked
    again"""

    def model(ids):  # surest of the second; each depends on the other
        first = [0.0, 0.4, 0.3, 0.3] if ids[1] == 0 else [0.0, 0.1, 0.1, 0.8]
        second = [0.0, 0.2, 0.7, 0.1] if ids[0] == 0 else [0.0, 0.8, 0.1, 0.1]
        return torch.tensor([first, second])

    ids = [0, 0]
    yield fill(model, ids, 0)

    """the surest gap may be the first one"""

    def model(ids):  # surest of the first; each depends on the other
        first = [0.0, 0.2, 0.7, 0.1] if ids[1] == 0 else [0.0, 0.1, 0.1, 0.8]
        second = [0.0, 0.4, 0.3, 0.3] if ids[0] == 0 else [0.0, 0.8, 0.1, 0.1]
        return torch.tensor([first, second])

    ids = [0, 0]
    yield fill(model, ids, 0)

    """after a word was put in, the order of the other gaps is decided anew"""

    def model(ids):  # the third gap, once filled, makes the second surer than the first
        if ids[2] == 0:
            return torch.tensor([[0.0, 0.6, 0.4], [0.0, 0.5, 0.5], [0.0, 0.1, 0.9]])
        if ids[1] == 0:
            return torch.tensor([[0.0, 0.6, 0.4], [0.0, 0.1, 0.9], [0.0, 0.1, 0.9]])
        return torch.tensor([[0.0, 0.2, 0.8], [0.0, 0.1, 0.9], [0.0, 0.1, 0.9]])

    ids = [0, 0, 0]
    yield fill(model, ids, 0)

    """how sure the model is of [MASK] does not count when the surest gap is chosen"""

    def model(ids):  # of the first gap it is surest that it is [MASK]
        second = [0.0, 0.3, 0.7] if ids[0] == 0 else [0.0, 0.9, 0.1]
        return torch.tensor([[0.8, 0.1, 0.1], second])

    ids = [0, 0]
    yield fill(model, ids, 0)

    """how surest is meant: the gap whose best word has the largest probability, as the model gives
    it, comes first; without [MASK] the other gap's would be the larger share"""

    def model(ids):  # .4 of .5 and .65 of .9; each depends on the other
        first = [0.5, 0.4, 0.1] if ids[1] == 0 else [0.5, 0.1, 0.4]
        second = [0.1, 0.65, 0.25] if ids[0] == 0 else [0.1, 0.25, 0.65]
        return torch.tensor([first, second])

    ids = [0, 0]
    yield fill(model, ids, 0)

    """the largest probability decides, not how far it is ahead of the second"""

    def model(ids):  # .5 by .05, and .4 by .2; each depends on the other
        first = [0.0, 0.5, 0.45, 0.05] if ids[1] == 0 else [0.0, 0.1, 0.1, 0.8]
        second = [0.2, 0.4, 0.2, 0.2] if ids[0] == 0 else [0.0, 0.1, 0.1, 0.8]
        return torch.tensor([first, second])

    ids = [0, 0]
    yield fill(model, ids, 0)

    """at a tie the leftmost gap comes first"""

    def model(ids):  # equally sure of both; the second depends on the first
        second = [0.0, 0.8, 0.2] if ids[0] == 0 else [0.0, 0.2, 0.8]
        first = [0.0, 0.8, 0.2] if ids[1] == 0 else [0.0, 0.2, 0.8]
        return torch.tensor([first, second])

    ids = [0, 0]
    yield fill(model, ids, 0)

    """mask_id may be any id"""
    table = torch.tensor([[0.6, 0.1, 0.2, 0.1], [0.1, 0.6, 0.1, 0.2]])
    ids = [3, 3]
    yield fill(lambda ids: table, ids, 3)


FILL.mistakes |= {
    "words that are no gaps are replaced, too": edited(
        _fill,
        "while mask_id in ids",
        "for place in range(len(ids))",
        "place = max(gaps, key=lambda t: p[t].max())",
        "pass",
    ),
    "[MASK] is written where it is most probable; take the best of the other words": edited(
        _fill,
        "while mask_id in ids",
        "for _ in range(ids.count(mask_id))",
        "p[:, mask_id] = 0.0",
        "pass",
    ),
    "the gaps are filled from left to right; the surest one comes first": edited(
        _fill, "max(gaps, key=lambda t: p[t].max())", "gaps[0]"
    ),
    "the model is asked once for all gaps, or always about the same list; ask it "
    "again after every word that was put in": edited(
        _fill, "p = probabilities(ids) + 0", 'p = p if "p" in locals() else probabilities(ids) + 0'
    ),
    "the gaps are filled from right to left; the surest one comes first": edited(
        _fill, "max(gaps, key=lambda t: p[t].max())", "gaps[-1]"
    ),
    "the order of the gaps is fixed at the start; it is decided anew after each word": edited(
        _fill,
        "place = max(gaps,",
        'order = order if "order" in locals() else sorted(gaps,',
        "p[t].max())",
        "-p[t].max()); place = order.pop(0)",
    ),
    "the gap was chosen by how sure the model is of [MASK], too, which is never written": edited(
        _fill, "key=lambda t: p[t].max()", "key=lambda t: probabilities(ids)[t].max()"
    ),
    "the gap was chosen by its best word's share of all words but [MASK]; its probability decides, "
    "as the model gives it": edited(
        _fill, "key=lambda t: p[t].max()", "key=lambda t: p[t].max() / p[t].sum()"
    ),
    "the gap was chosen by how far its best word is ahead of the second; its probability "
    "decides": edited(_fill, "p[t].max())", "p[t].topk(2).values.diff().neg())"),
    "at a tie the rightmost gap came first; at a tie the leftmost gap does": edited(
        _fill, "max(gaps,", "max(gaps[::-1],"
    ),
    "the model's surest place is written, whether it is a gap or not; choose among the "
    "gaps": edited(
        _fill,
        "while mask_id in ids",
        "for _ in range(ids.count(mask_id))",
        "[t for t, i in enumerate(ids) if i == mask_id]",
        "range(len(ids))",
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
        raise Mistake(f"it is no better than counting single words{_why(answer)}", example)
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
            shown = mistake.example.removeprefix(example).lstrip("\n")
            raise Mistake(f"{mistake.mistake} ({idea})", f"{example}\n{shown}") from mistake


def _why(answer) -> str:
    """What keeps an answer from being better, if a few sentences can tell; they show no more."""
    seen = _seen_after_few(answer)
    return f"; tried on a few sentences, {seen}" if seen else ""


def _seen_after_few(answer) -> str:
    """What it says after a few sentences that nobody expects; or nothing."""

    def after(sentences, *contexts):
        """(contexts, 8): what an answer that has read these sentences says after each context."""
        next_word = _trained(answer, sentences, 8)
        said = [torch.as_tensor(next_word(list(before))).detach() for before in contexts]
        return torch.stack(said).double().numpy()

    pairs, other, end = after(FEW, [0, 2, 3], [0, 5, 3], [0, 2, 3, 4])
    last = after([*FEW, [0, 2, 5, 6, 1]], [0, 2, 3], [0, 2, 5])
    if np.allclose(*last):
        return "the last word changes nothing"
    if pairs[3] > 0.35 and end[3] > 0.35:
        return "it goes by the first words of the sentence; the last ones decide"
    if min(pairs[3], other[3]) > 0.35:
        return "it predicts the word that it has just read; count which word comes next"
    first, turned = after([[0, 2, 3, 4, 1], [0, 3, 2, 5, 1]], [0, 2, 3], [0, 3, 2])
    if min(first[5], turned[4]) > 0.35:
        return (
            "the two words before are looked up in the other order than that in which they were "
            "counted"
        )
    if min(pairs[1], other[1]) > 0.35:
        return "it expects the end a word too early; count the next word, not the one behind it"
    if min(pairs[[0, 2, 5]].sum(), other[[0, 2, 5]].sum()) > 0.7:
        return "it expects words that stood before; count which word comes next"
    if max(pairs[4], other[6]) < 0.35:
        unseen = ", as to one that was seen nowhere" * bool(pairs[7] > 0.05)
        return f"most probability goes to words that never followed{unseen}"
    [rare] = after(FEW, [0, 7, 3])
    if rare[1] > 0.35:
        return (
            "after two words that never stood together it expects the word behind the next one; "
            "there, too, count the next one"
        )
    if end[1] < 0.35:
        return "it does not expect the end; [EOS] is counted and predicted like any word"
    if np.allclose(pairs[[4, 6]], other[[4, 6]]):
        return "the last word decides alone, what stands before it changes nothing"
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
