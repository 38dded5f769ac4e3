"""Checks for the exercises of book/decoding.ipynb."""

from collections.abc import Callable

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder
from companion.models import Transformer, TransformerConfig


@exercise
def greedy(answer) -> str:
    """Check `greedy(model, source_ids, max_len)` -> target ids (B, max_len).

    model is a `Transformer` in eval mode, of which only `encode`, `decode` and `config` are needed;
    source_ids (B, S). A target starts with bos_id; after its eos_id there is only pad_id.
    """
    climb(GREEDY, answer)
    return "one sentence, several that end at different places or not at all, padding, other ids"


def a_translator(**ids: int) -> tuple[Transformer, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A model without a language, and sources: two without an end, some that end, two padded."""
    config = TransformerConfig(
        vocab_size=11, d_model=8, num_layers=1, num_heads=2, d_ff=16, max_len=16, dropout=0.0, **ids
    )
    model = Transformer(config).double().eval()
    phase, *sources = TRANSLATORS[config.bos_id]
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            if p.dim() > 1:
                angles = phase + 31 * i + torch.arange(1, p.numel() + 1).double().square()
                p.copy_(1.2 * angles.sin().view_as(p))
    return model, *map(torch.tensor, sources)


# bos_id -> a phase, and sources that end at different places with it; found by trying.
TRANSLATORS = {
    1: (
        207,
        [[4, 4, 10, 9, 7], [4, 5, 7, 5, 3]],
        [[8, 5, 7, 10, 9], [5, 4, 7, 5, 9], [10, 8, 10, 3, 3]],
        [[9, 10, 5, 0, 0], [6, 4, 4, 0, 0]],
    ),
    7: (
        18,
        [[2, 10, 5, 8, 10], [10, 10, 5, 2, 1]],
        [[5, 9, 5, 2, 10], [2, 10, 0, 1, 1], [9, 10, 10, 9, 0], [9, 10, 6, 5, 2], [5, 5, 1, 9, 8]],
        [[9, 10, 2, 3, 3], [5, 1, 1, 3, 3]],
    ),
}


class Copier(Transformer):
    """Says the words of its source, one after the other, then [EOS]; behind an end it goes on."""

    def __init__(self) -> None:
        config = TransformerConfig(
            vocab_size=11, d_model=2, num_layers=1, num_heads=1, d_ff=2, max_len=16, dropout=0.0
        )
        super().__init__(config)
        self.decoder_blocks = torch.nn.ModuleList()  # nothing to cache
        self.eval()

    def forward(self, source_ids, target_ids):
        return self.decode(target_ids, self.encode(source_ids), source_ids)

    def encode(self, source_ids):
        return source_ids[..., None].double().repeat(1, 1, 2)

    def decode(self, target_ids, memory, source_ids, **_):
        ends = source_ids.new_full((len(source_ids), target_ids.shape[1]), self.config.eos_id)
        said = torch.cat([memory[..., 0].round().long(), ends], dim=1)[:, : target_ids.shape[1]]
        return 9.0 * torch.nn.functional.one_hot(said, 11)


def _greedy(model, source_ids, max_len):
    config, memory = model.config, model.encode(source_ids)
    target = source_ids.new_full((len(source_ids), max_len), config.pad_id)
    target[:, 0] = config.bos_id
    ended = torch.zeros(len(target), dtype=torch.bool)
    for n in range(1, max_len):
        word = model.decode(target[:, :n], memory, source_ids)[:, -1].argmax(-1)
        target[:, n] = torch.where(ended, config.pad_id, word)
        ended |= target[:, n] == config.eos_id
    return target


@ladder(_greedy)
def GREEDY(greedy):
    copier, (model, long, short, padded) = Copier(), a_translator()

    """every row of the result begins with bos_id"""
    yield torch.as_tensor(greedy(model, long[:1], 2))[:, 0]

    """nothing is drawn: a source that stands there thirty times gets thirty times the same
    words"""
    yield len(torch.as_tensor(greedy(model, long[:1].repeat(30, 1), 2)).unique(dim=0))

    """a model that says the words of its source, in their order, and then [EOS]: bos_id, the
    words, eos_id, and pad_id to the end"""
    yield greedy(copier, torch.tensor([[5, 7, 4]]), 8)

    """a model that says [EOS] at once: the row ends there, and has no word at all"""
    yield greedy(copier, torch.tensor([[copier.config.eos_id, 7, 4]]), 8)

    """max_len counts [BOS]: with max_len = 1 nothing is left to write"""
    yield greedy(model, long[:1], 1)

    """a later word depends on all that is written: decode the whole beginning, and read its
    last place"""
    yield greedy(model, long[:1], 9)

    """a row ends with [EOS], and behind it stands pad_id only"""
    yield greedy(model, short[:1], 9)

    """several sources: each row is the translation of its own"""
    yield greedy(model, long, 9)

    """rows that end at different places: one stays finished while the others go on"""
    yield greedy(model, torch.cat([short, long[:1]]), 9)

    """padding in a source is no word: `decode` needs the source ids to leave it out"""
    yield greedy(model, padded, 9)

    """the ids of beginning, end and padding are those of model.config, whatever they are"""
    model, long, short, padded = a_translator(bos_id=7, eos_id=4, pad_id=3)
    yield greedy(model, torch.cat([short, long[:1]]), 9)


GREEDY.mistakes |= {
    "[BOS] is missing at the start of the result": edited(
        _greedy, "return target", "return target[:, 1:]"
    ),
    "max_len counts [BOS]: the result is one column too long": edited(
        _greedy,
        "(len(source_ids), max_len)",
        "(len(source_ids), max_len + 1)",
        "range(1, max_len)",
        "range(1, max_len + 1)",
    ),
    "the first place is read, whose answer never changes; the next word is said at "
    "the last": edited(_greedy, "[:, -1]", "[:, 0]"),
    "only the last word is given to the decoder: without a cache it needs all that is "
    "written": edited(_greedy, "target[:, :n]", "target[:, n - 1 : n]"),
    "a row goes on after its [EOS]; it should stay finished": edited(
        _greedy, "torch.where(ended, config.pad_id, word)", "word"
    ),
    "the target ends with its [EOS]; it should be filled with pad_id up to max_len": edited(
        _greedy,
        "return target",
        "return target[:, : 1 + (target != config.pad_id).sum(1).max() - 1]",
    ),
    "finished rows are filled with [EOS]; fill with pad_id": edited(
        _greedy, "ended, config.pad_id", "ended, config.eos_id"
    ),
    "[EOS] is missing from the result": edited(
        _greedy,
        "return target",
        "return target.masked_fill(target == config.eos_id, config.pad_id)",
    ),
    "every row gets the translation of the first source": edited(
        _greedy, "return target", "return target[:1].expand(len(target), -1)"
    ),
    "a row without an end gets an [EOS] at its last place; it stays without": edited(
        _greedy, "return target", "target[~ended, -1] = config.eos_id\n    return target"
    ),
    "it stops as soon as one row has ended; the others have to go on": edited(
        _greedy, "target[:, n] == config.eos_id", "(target[:, n] == config.eos_id).any()"
    ),
    "finished rows are filled with [EOS] until the last one ends; fill with pad_id": edited(
        _greedy,
        "ended, config.pad_id",
        "ended, config.eos_id",
        "    return target",
        "        if ended.all():\n            break\n    return target",
    ),
    "the least probable word is taken; argmax gives the most probable one": edited(
        _greedy, ".argmax(-1)", ".argmin(-1)"
    ),
    "the last place of the whole target is read, behind what is written; decode this alone": (
        edited(_greedy, "target[:, :n]", "target")
    ),
}


@exercise
def beam_step(answer) -> str:
    """Check `beam_step(scores, log_probabilities, beam_size)` -> (rows, words), (beam_size,) each.

    scores (K,), log_probabilities (K, V). Of all continuations the most probable, best first: the
    row of the beginning, and the word that is added.
    """
    climb(BEAM_STEP, answer)
    return "beams of one to four beginnings, with fewer continuations kept, as many, and more"


def _beam_step(scores, log_probabilities, beam_size):
    K, V = log_probabilities.shape  # noqa: RUF059 (K is for what learners do with it)
    candidates = scores[:, None] + log_probabilities
    best = candidates.flatten().argsort(descending=True)[:beam_size]
    return best // V, best % V


@ladder(_beam_step)
def BEAM_STEP(beam_step):
    """two beginnings that are equally probable, and one place: the number of the row and the id
    of the best word, two whole numbers"""
    scores = torch.tensor([0.5, 0.5]).log()
    words = torch.tensor([[0.45, 0.55], [0.37, 0.63]]).log()
    yield beam_step(scores, words, 1)

    """two beginnings and two words: a score belongs to a row, not to a column"""
    scores, words = torch.tensor([0.3, 0.7]).log(), torch.tensor([[0.2, 0.8], [0.6, 0.4]]).log()
    yield beam_step(scores, words, 1)

    """several continuations may come from one beginning, and none from another"""
    scores = torch.tensor([0.5, 0.5]).log()
    words = torch.tensor([[0.5, 0.45, 0.05], [0.4, 0.35, 0.25]]).log()
    yield beam_step(scores, words, 2)

    """the same word may continue two beginnings: these are two continuations"""
    scores = torch.tensor([0.5, 0.5]).log()
    words = torch.tensor([[0.1, 0.7, 0.2], [0.15, 0.6, 0.25]]).log()
    yield beam_step(scores, words, 2)

    """one beginning: its best words, best first, as many as the beam has room for"""
    scores, words = torch.tensor([0.8]).log(), torch.tensor([[0.2, 0.1, 0.4, 0.3]]).log()
    yield beam_step(scores, words, 3)

    """beginnings with different scores: a continuation has the score of its beginning plus the
    log-probability of its word"""
    scores = torch.tensor([0.35, 0.65]).log()
    words = torch.tensor([[0.2, 0.1, 0.45, 0.25], [0.05, 0.65, 0.1, 0.2]]).log()
    yield beam_step(scores, words, 3)

    """as many beginnings as words: a score belongs to a row, not to a column"""
    scores = torch.tensor([0.6, 0.3, 0.1]).log()
    words = torch.tensor([[0.2, 0.5, 0.3], [0.15, 0.05, 0.8], [0.75, 0.05, 0.2]]).log()
    yield beam_step(scores, words, 3)

    """the beam's size is beam_size, whatever the number of beginnings"""
    scores = torch.tensor([0.7, 0.3]).log()
    words = torch.tensor([[0.5, 0.4, 0.1], [0.2, 0.45, 0.35]]).log()
    yield beam_step(scores, words, 1), beam_step(scores, words, 5)

    """random scores: the sum decides, over the whole table"""
    scores, words = torch.randn(4).log_softmax(-1), torch.randn(4, 7).log_softmax(-1)
    yield beam_step(scores, words, 6)


BEAM_STEP.mistakes |= {
    "rows and words have changed places": edited(
        _beam_step, "best // V, best % V", "best % V, best // V"
    ),
    "the least probable continuations are kept: the sign is turned round": edited(
        _beam_step, "descending=True", "descending=False"
    ),
    "every beginning keeps its own best word; all continuations compete with each other": edited(
        _beam_step, "best // V, best % V", "torch.arange(K), log_probabilities.argmax(-1)"
    ),
    "a flat index is a row times V plus a word: divide by V, not by K": edited(
        _beam_step, "best // V, best % V", "best // K, best % K"
    ),
    "the log-probabilities are multiplied; of a sentence they add up": edited(
        _beam_step, "scores[:, None] +", "scores[:, None] *"
    ),
    "best first: these are in the opposite order": edited(
        _beam_step, "[:beam_size]", "[:beam_size].flip(0)"
    ),
    "all are continuations of the best beginning; those of the others compete, too": edited(
        _beam_step,
        "candidates.flatten()",
        "candidates[scores.argmax()]",
        "best // V",
        "scores.argmax().repeat(len(best))",
    ),
    "the scores of the beginnings are left out: a likely word of an unlikely "
    "beginning wins": edited(_beam_step, "scores[:, None] +", ""),
    "a score is added to a column, a word; it belongs to a row, a beginning: scores[:, None]": (
        edited(_beam_step, "scores[:, None] +", "scores +")
    ),
}


@exercise
def rescored(answer) -> str:
    """Check `rescored(log_probabilities, lengths, alpha)` -> (N,), with a length penalty.

    log_probabilities (N,), lengths (N,) integers; each is divided by ((5 + length) / 6) ** alpha.
    """
    climb(RESCORED, answer)
    return "powers of 0, 0.6, 1 and 2, lengths of 1 to 13"


def _rescored(log_probabilities, lengths, alpha):
    return log_probabilities / ((5 + lengths) / 6) ** alpha


@ladder(_rescored)
def RESCORED(rescored):
    """seven words and alpha = 1: the divisor is ((5 + 7) / 6) to the power 1, which is 2; all
    seven count"""
    yield rescored(torch.tensor([-4.0]), torch.tensor([7]), 1.0)

    """alpha = 0: it is a power, and any number to the power 0 is 1, so that nothing is done to
    the score, whatever the length"""
    yield rescored(torch.tensor([-2.0]), torch.tensor([7]), 0.0)

    """13 words and alpha = 2: the divisor is 3 to the power 2"""
    yield rescored(torch.tensor([-9.0]), torch.tensor([13]), 2.0)

    """four words and alpha = 1: the divisor is (5 + 4) / 6 = 1.5, with what is behind the point"""
    yield rescored(torch.tensor([-6.0]), torch.tensor([4]), 1.0)

    """sentences of different lengths: each has a divisor of its own, and they keep their
    order"""
    log_p, lengths = torch.tensor([-4.0, -1.0, -9.0, -6.0]), torch.tensor([7, 1, 13, 4])
    yield rescored(log_p, lengths, 0.6)


RESCORED.mistakes |= {
    "it multiplies; log-probabilities are negative, so "
    "that makes long sentences worse": lambda log_probabilities, lengths, alpha: (
        log_probabilities * ((5 + lengths) / 6) ** alpha
    ),
    "the penalty is subtracted; it divides": lambda log_probabilities, lengths, alpha: (
        log_probabilities - ((5 + lengths) / 6) ** alpha
    ),
    "it divides by the length to the power alpha; the "
    "paper's divisor is ((5 + n) / 6) ** alpha": lambda log_probabilities, lengths, alpha: (
        log_probabilities / lengths.float() ** alpha
    ),
    "5 + n / 6 is not (5 + n) / 6": lambda log_probabilities, lengths, alpha: (
        log_probabilities / (5 + lengths / 6) ** alpha
    ),
    "only the sum is raised to the power; the 6 "
    "belongs inside": lambda log_probabilities, lengths, alpha: (
        log_probabilities / ((5.0 + lengths) ** alpha / 6)
    ),
    "// makes a whole number of (5 + n) / 6; take /": lambda log_probabilities, lengths, alpha: (
        log_probabilities / ((5 + lengths) // 6) ** alpha
    ),
    "alpha is a power, not a factor": lambda log_probabilities, lengths, alpha: (
        log_probabilities / ((5 + lengths) / 6 * alpha)
    ),
    "alpha is not used": lambda log_probabilities, lengths, alpha: (
        log_probabilities / ((5 + lengths) / 6)
    ),
}


@exercise
def draw(answer) -> str:
    """Check `draw(logits, temperature, top_p, number)` -> int, the word that a number picks.

    logits (V,); number from 0 to 1. Words are lined up from the most probable on, each as long as
    its probability after temperature and top-p: the word in whose stretch the number lies.
    """
    climb(DRAW, answer)
    return "three words by hand, and seven at three temperatures and three values of top-p"


def _draw(logits, temperature, top_p, number):
    heated = logits.double() / temperature
    p, words = heated.softmax(-1).sort(descending=True)
    p = p * (p.cumsum(0) - p < top_p)
    p = p / p.sum()
    place = min(int((p.cumsum(0) <= number).sum()), len(p) - 1)
    return int(words[place])


@ladder(_draw)
def DRAW(draw):
    """the number is the only chance: the same number gives the same word each time"""
    logits = torch.tensor([0.5, 0.3, 0.2]).log()
    yield len({int(draw(logits, 1.0, 1.0, 0.0)) for time in range(30)})

    """top_p = 1 keeps all words, also the last, which reaches it: 0.99 is in its stretch"""
    logits = torch.tensor([0.5, 0.3, 0.2]).log()
    yield draw(logits, 1.0, 1.0, 0.99)

    """the number picks the word in whose stretch it lies: of 0.5, 0.3 and 0.2 the second goes
    from 0.5 to 0.8"""
    logits = torch.tensor([0.5, 0.3, 0.2]).log()
    yield [draw(logits, 1.0, 1.0, number) for number in (0.4, 0.6, 0.78, 0.83)]

    """the words are lined up from the most probable on, and it is the id that is returned"""
    logits = torch.tensor([0.2, 0.5, 0.3]).log()
    yield [draw(logits, 1.0, 1.0, number) for number in (0.1, 0.3, 0.6, 0.9)]

    """top_p keeps the fewest words that reach it together, here the first three of five for
    0.8"""
    logits = torch.tensor([0.4, 0.3, 0.2, 0.06, 0.04]).log()
    yield draw(logits, 1.0, 0.8, 0.95)

    """top_p may be reached exactly: of two words that are equally probable the first has reached
    0.5, and the second is dropped"""
    yield draw(torch.zeros(2), 1.0, 0.5, 0.9)

    """what top_p keeps is rescaled to sum to 1 before the number is used: here 0.4, 0.3 and 0.2
    are divided by 0.9, and the first word's stretch goes to 0.44"""
    logits = torch.tensor([0.4, 0.3, 0.2, 0.06, 0.04]).log()
    yield [draw(logits, 1.0, 0.8, number) for number in (0.1, 0.39, 0.42, 0.5, 0.73, 0.76, 0.95)]

    """top_p below the largest probability: one word is always kept"""
    logits = torch.tensor([0.1, 0.6, 0.3]).log()
    yield draw(logits, 1.0, 0.2, 0.9)

    """top_p where the words do not come in order: the cut belongs to the sorted row"""
    logits = torch.tensor([0.1, 0.2, 0.3, 0.4]).log()
    yield [draw(logits, 1.0, 0.65, number) for number in (0.3, 0.6, 0.95)]

    """the temperature divides the logits: below 1 it sharpens, above 1 it flattens"""
    logits = torch.tensor([0.6, 0.3, 0.1]).log()
    yield [draw(logits, t, 1.0, number) for t in (2.0, 0.5) for number in (0.55, 0.7, 0.82)]

    """temperature and top_p together: the temperature comes first"""
    logits = torch.tensor([0.6, 0.3, 0.1]).log()
    yield [
        draw(logits, t, top_p, number)
        for t, top_p in ((2.0, 0.7), (0.5, 0.7), (3.0, 0.85))
        for number in (0.02, 0.18, 0.34, 0.46, 0.57, 0.68, 0.76, 0.83, 0.9, 0.97)
    ]

    """a low temperature: exp of large logits overflows unless the largest is taken off"""
    logits = torch.tensor([1.0, 2.0, 3.0, 4.0])
    yield [draw(logits, 0.01, 1.0, number) for number in (0.2, 0.9)]

    """seven words: temperature, cut, scale, line and number in this order"""
    logits = torch.randn(7)
    yield [
        draw(logits, t, top_p, number)
        for t in (0.5, 1.0, 2.0)
        for top_p in (0.4, 0.8, 1.0)
        for number in (0.03, 0.21, 0.47, 0.66, 0.88)
    ]


DRAW.mistakes |= {
    "it is always the most probable word; the number picks one, in whose stretch it lies": edited(
        _draw, "number).sum()", "0).sum()"
    ),
    "it gives the place in the sorted row; the word is what stood there": edited(
        _draw, "words[place]", "place"
    ),
    "the words are lined up by their ids; the most probable one comes first": edited(
        _draw, "p / p.sum()", "(p / p.sum())[words.argsort()]", "words[place]", "place"
    ),
    "the temperature multiplies the logits; it divides them": edited(
        _draw, "/ temperature", "* temperature"
    ),
    "top_p is not used": edited(_draw, "< top_p", "< 2"),
    "the word that reaches top_p is cut; it is the last one that is kept": edited(
        _draw, "p.cumsum(0) - p < top_p", "(p.cumsum(0) < top_p - 1e-6) | (p == p.max())"
    ),
    "what is kept does not sum to 1: rescale it before the number is used": edited(
        _draw, "p = p / p.sum()", ""
    ),
    "top_p cuts before the temperature is used; the temperature comes first": edited(
        _draw,
        "logits.double() / temperature",
        "logits.double()",
        "p = p / p.sum()",
        "p = p ** (1 / temperature) / (p ** (1 / temperature)).sum()",
    ),
    "top_p is held against each word's own probability; it is the sum of the words so far that "
    "reaches it": edited(_draw, "(p.cumsum(0) - p < top_p)", "((p >= top_p) | (p.cumsum(0) == p))"),
    "the words are lined up from the least probable on; the most probable one comes first": edited(
        _draw, "descending=True", "descending=False"
    ),
    "it is one word too far: the number lies in the first stretch that ends above it": edited(
        _draw, "number).sum()), len(p) - 1", "number).sum()) + 1, int((p > 0).sum()) - 1"
    ),
}


@exercise
def search(answer) -> str:
    """Check `search(next_log_probabilities, bos, eos, beam_size, max_len)` -> ids, bos to eos.

    next_log_probabilities takes a beginning, a list of ids, and gives log-probabilities (V,). Of
    all continuations of the beam's beginnings the beam_size best are kept; those that end with eos
    are complete and leave the beam. The most probable complete one of at most max_len ids.
    """
    climb(SEARCH, answer)
    return "languages by hand, each with one trap, and random ones, beams of one to four and of 30"


def language(follows: dict, V: int = 8, eos: int = 1) -> Callable:
    """Log-probabilities (V,) of what follows a beginning, or its last id, or else eos."""

    def next_log_probabilities(ids):
        row = 1e-9 * torch.arange(1.0, V + 1)  # the others: hardly anything, and no two alike
        beginning = tuple(map(int, ids))
        here = follows.get(beginning, follows.get(beginning[-1], {eos: 1.0}))
        for word, p in here.items():
            row[word] = p
        return row.log()

    return next_log_probabilities


def random_language(seed: int) -> Callable:
    """Six words; every beginning goes on with probabilities of its own."""

    def next_log_probabilities(ids):
        number = sum(int(word) * 31**place for place, word in enumerate(ids))
        generator = torch.Generator().manual_seed(1000 * seed + number % 99991)
        logits = 1.5 * torch.randn(6, generator=generator)
        logits[0] = -20.0  # no sentence begins twice
        return logits.log_softmax(-1)

    return next_log_probabilities


def _search(next_log_probabilities, bos, eos, beam_size, max_len):
    beam, complete = [(0.0, [bos])], []
    for _ in range(max_len - 1):
        grown = []
        for score, ids in beam:
            row = next_log_probabilities(ids).tolist()
            children = [(score + p, [*ids, word]) for word, p in enumerate(row)]
            grown += children
        kept = sorted(grown, reverse=True)[:beam_size]
        complete += [node for node in kept if node[1][-1] == eos]
        beam = [node for node in kept if node[1][-1] != eos]
    best = max(complete or beam or [(0.0, [bos])])
    return torch.tensor(best[1])


@ladder(_search)
def SEARCH(search):
    """a language with a single sentence: it comes back whole, from bos to eos"""
    follows = language({0: {2: 1.0}, 2: {3: 1.0}})
    yield search(follows, 0, 1, 1, 5)

    """the probability of a sentence is that of all its words: their log-probabilities add up"""
    ends = {4: {1: 0.97, 7: 0.03}, 5: {1: 0.95, 7: 0.05}, 6: {1: 0.9, 7: 0.1}}
    follows = language({0: {2: 0.4, 3: 0.6}, 2: {4: 1.0}, 3: {5: 0.9, 6: 0.1}} | ends)
    yield search(follows, 0, 1, 3, 6)

    """a sentence may end at once: bos and eos are the most probable one"""
    follows = language({0: {1: 0.9, 2: 0.1}})
    yield search(follows, 0, 1, 2, 5)

    """the most probable sentence comes back to a word"""
    follows = language({0: {2: 1.0}, (0, 2): {3: 1.0}, 3: {2: 0.9, 4: 0.1}, (0, 2, 3, 2): {1: 1.0}})
    yield search(follows, 0, 1, 2, 6)

    """the best first word does not begin the best sentence: a beam of two keeps both"""
    follows = language({0: {2: 0.4, 3: 0.6}, 2: {4: 1.0}, 3: {5: 0.55, 6: 0.45}})
    yield search(follows, 0, 1, 2, 6)

    """a beam of one is greedy: what was dropped cannot come back"""
    follows = language({0: {2: 0.4, 3: 0.6}, 2: {4: 1.0}, 3: {5: 0.55, 6: 0.45}})
    yield search(follows, 0, 1, 1, 6)

    """all continuations compete with each other: two may come from one beginning, none from
    another"""
    then = {3: {6: 0.6, 4: 0.4}, 4: {6: 0.5, 7: 0.5}, 5: {7: 1.0}}
    follows = language({0: {2: 0.6, 3: 0.4}, 2: {4: 0.52, 5: 0.48}} | then)
    yield search(follows, 0, 1, 2, 6)

    """only beam_size of all continuations are kept, not as many of each beginning"""
    ends = {5: {1: 0.6, 6: 0.4}, 6: {1: 0.6, 5: 0.4}}
    then = {2: {5: 0.51, 6: 0.49}, 3: {7: 0.4, 4: 0.3, 5: 0.3}}
    yield search(language({0: {2: 0.4, 3: 0.35, 4: 0.25}} | then | ends), 0, 1, 2, 6)

    """the best sentence ends later than another one: the first complete one is not yet the
    result"""
    follows = language({0: {2: 0.4, 3: 0.6}, 2: {1: 1.0}, 3: {4: 0.95, 2: 0.05}})
    yield search(follows, 0, 1, 2, 5)

    """the best sentence ends sooner than the others: keep it, and compare sums, not means"""
    follows = language({0: {2: 0.55, 3: 0.45}, 2: {1: 1.0}, 3: {4: 1.0}, 4: {5: 1.0}})
    yield search(follows, 0, 1, 2, 6)

    """what is not among the beam_size best is dropped, even if it ends: eos has 0.15 here, no
    place in a beam of two, and in the end no rival"""
    then = {2: {4: 0.25, 5: 0.2, 6: 0.2, 7: 0.18, 3: 0.17}, 3: {4: 0.3, 5: 0.25, 6: 0.25, 7: 0.2}}
    yield search(language({0: {2: 0.5, 3: 0.35, 1: 0.15}} | then), 0, 1, 2, 6)

    """a sentence of max_len ids may win; bos and eos count among them"""
    follows = language({0: {2: 0.4, 3: 0.6}, 3: {4: 1.0}, 4: {5: 1.0}})
    yield search(follows, 0, 1, 2, 5)

    """a sentence that does not reach its eos within max_len ids cannot win, however probable"""
    follows = language({0: {2: 0.4, 3: 0.6}, 3: {4: 1.0}, 4: {5: 1.0}})
    yield search(follows, 0, 1, 2, 4)

    """a beam that is larger than the number of words"""
    follows = language({0: {2: 0.4, 3: 0.6}, 2: {4: 1.0}, 3: {5: 0.55, 6: 0.45}})
    yield search(follows, 0, 1, 30, 4)

    """bos and eos are arguments: here they are 2 and 0"""
    follows = language({2: {3: 0.45, 4: 0.55}, 4: {0: 0.6, 5: 0.4}}, eos=0)
    yield search(follows, 2, 0, 2, 6)

    """random languages, in which a beginning decides what follows"""
    yield tuple(
        search(random_language(seed), 0, 1, 1 + seed % 4, 5 + seed % 3)
        for seed in (2, 3, 5, 7, 9, 14, 19, 27, 35, 43, 55, 59)
    )


SEARCH.mistakes |= {
    "bos is missing at the start of the result": edited(_search, "best[1]", "best[1][1:]"),
    "eos is missing from the result": edited(_search, "best[1]", "best[1][:-1]"),
    "only the last word's probability counts; the log-probabilities of all words add up": edited(
        _search, "score + p", "p"
    ),
    "the least probable complete sentence is given": edited(
        _search, "max(complete", "min(complete"
    ),
    "no word is said twice; any word may follow": edited(
        _search,
        "for word, p in enumerate(row)]",
        "for word, p in enumerate(row) if word not in ids]",
    ),
    "it is greedy: only one beginning is kept": edited(_search, "[:beam_size]", "[:1]"),
    "every beginning keeps its own best word; all continuations compete with each other": edited(
        _search, "grown += children", "grown += [max(children)] if len(ids) > 1 else children"
    ),
    "every beginning keeps beam_size words of its own; of all continuations beam_size "
    "are kept": edited(
        _search, "grown += children", "grown += sorted(children)[-beam_size:]", "[:beam_size]", ""
    ),
    "it stops with the first complete sentence; a longer one can still be more probable": edited(
        _search, "if node[1][-1] != eos", "if not complete"
    ),
    "only sentences that end at the last step count, or the best mean per word wins; "
    "all complete ones are kept, and the most probable one was asked for": edited(
        _search,
        "max(complete or beam or [(0.0, [bos])])",
        "max(complete, key=lambda x: x[0] / len(x[1]))",
    ),
    "sentences of max_len + 1 ids are looked at; bos and eos count among the max_len": edited(
        _search, "range(max_len - 1)", "range(max_len)"
    ),
    "a beginning that has not reached its eos may win; only complete sentences can": edited(
        _search, "complete or beam or", "complete + beam or"
    ),
    "the sentence that was completed last is given; the most probable one is asked for": edited(
        _search,
        "max(complete or beam or [(0.0, [bos])])",
        "complete[-1]",
        "reverse=True",  # of two that are as probable the last, not the first
        "key=lambda node: -node[0]",
    ),
}


@exercise
def cached(answer) -> str:
    """Check `cached(x, W_q, W_k, W_v, keys, values)` -> (output, keys, values) for one new token.

    x (d,); W_q and W_k (d, d_k), W_v (d, d_v); keys (n, d_k) and values (n, d_v) of the tokens
    before, of which there may be none. The output (d_v,) attends to those and to the token itself.
    """
    climb(CACHED, answer)
    return "an empty cache, and caches of one, two, three and seven tokens"


def _cached(x, W_q, W_k, W_v, keys, values):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    keys, values = torch.cat([keys, key[None]]), torch.cat([values, value[None]])
    scores = keys @ query / W_k.shape[1] ** 0.5
    return scores.softmax(-1) @ values, keys, values


@ladder(_cached)
def CACHED(cached):
    """an empty cache, and all vectors one number wide: the output is the token's own value, x @
    W_v, its key x @ W_k and its value stand in the caches"""
    x, W = torch.tensor([2.0]), torch.tensor([[1.0]])
    yield cached(x, 3 * W, 5 * W, 7 * W, torch.zeros(0, 1), torch.zeros(0, 1))

    """an empty cache, all vectors two numbers wide: x stands on the left of the matrices"""
    x, W = torch.tensor([1.0, 2.0]), torch.tensor([[1.0, 3.0], [0.0, 2.0]])
    yield cached(x, W, 2 * W, 3 * W, torch.zeros(0, 2), torch.zeros(0, 2))

    """an empty cache: the token attends to itself alone, so the output is its own value; its
    key and its value are all there is; output, keys and values are returned in this order"""
    x, W_q, W_k, W_v = (torch.randn(size) for size in ((3,), (3, 2), (3, 2), (3, 4)))
    yield cached(x, W_q, W_k, W_v, torch.zeros(0, 2), torch.zeros(0, 4))

    """the caches come back with the new key and value at their end"""
    x, W = torch.tensor([2.0]), torch.tensor([[1.0]])
    keys, values = torch.tensor([[7.0], [8.0]]), torch.tensor([[1.0], [0.0]])
    yield cached(x, W, 3 * W, 5 * W, keys, values)[1:]

    """the weights are a softmax of query times key; with d_k = 1 there is nothing to scale"""
    x, W = torch.tensor([1.0]), torch.tensor([[1.0]])
    keys, values = torch.tensor([[2.0], [3.0]]), torch.tensor([[1.0], [0.0]])
    yield cached(x, 0.5 * W, W, 5 * W, keys, values)[0]

    """the scores are divided by the square root of d_k"""
    x, W, W_v = torch.ones(3), torch.full((3, 4), 0.25), torch.ones(3, 2)
    yield cached(x, W, W, W_v, torch.zeros(1, 4), torch.zeros(1, 2))

    """d, d_k and d_v all differ, and there are seven tokens in the cache"""
    x, W_q, W_k, W_v = (torch.randn(size) for size in ((5,), (5, 3), (5, 3), (5, 2)))
    yield cached(x, W_q, W_k, W_v, torch.randn(7, 3), torch.randn(7, 2))


CACHED.mistakes |= {
    "the query is put into the cache; later tokens ask for this token's key": edited(
        _cached, "key[None]", "query[None]"
    ),
    "the token does not attend to itself; its own key and value come into the cache first": edited(
        _cached, "scores = keys", "scores = keys[:-1]", "@ values,", "@ values[:-1],"
    ),
    "the cache is replaced by the new token; the old ones stay in it": edited(
        _cached, "[keys, key[None]]", "[key[None]]", "[values, value[None]]", "[value[None]]"
    ),
    "the new key and value stand in front; a later token comes behind": edited(
        _cached,
        "[keys, key[None]]",
        "[key[None], keys]",
        "[values, value[None]]",
        "[value[None], values]",
    ),
    "all values count alike; the weights are a softmax of the scores": edited(
        _cached, "/ W_k", "* 0 / W_k"
    ),
    "the scores are divided by the square root of the number of keys; d_k is their width": edited(
        _cached, "W_k.shape[1]", "len(keys)"
    ),
    "the scores are not divided by the square root of d_k": edited(
        _cached, " / W_k.shape[1] ** 0.5", ""
    ),
    "the scores are divided by d_k; it is its square root": edited(_cached, " ** 0.5", ""),
    "the matrices stand on the wrong side of x: x @ W_q, x @ W_k and x @ W_v": edited(
        _cached, "x @ W_q, x @ W_k, x @ W_v", "W_q @ x, W_k @ x, W_v @ x"
    ),
    "a sigmoid squeezes each score by itself; a softmax makes the weights sum to 1": edited(
        _cached, ".softmax(-1)", ".sigmoid()"
    ),
}
