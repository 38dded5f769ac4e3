"""Checks for the exercises of book/decoding.ipynb."""

from collections.abc import Callable
from copy import deepcopy
from itertools import count

import torch

from book.checking.exercise import exercise, ladder
from book.checking.rungs import rungs
from companion.generation import greedy_decode
from companion.models import Transformer, TransformerConfig


@exercise
def greedy(answer) -> str:
    """Check `greedy(model, source_ids, max_len)` -> target ids (B, max_len).

    model is a `Transformer` in eval mode, of which only `encode`, `decode` and `config` are needed;
    source_ids (B, S). A target starts with bos_id; after its eos_id there is only pad_id.
    """
    ladder(GREEDY, _greedy, greedy=answer)
    return "one sentence, several that end at different places or not at all, padding, other ids"


def a_translator(**ids: int) -> tuple[Transformer, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A random model, and sources: two without an end, some that end early, two with padding."""
    key = tuple(ids.items())
    if key not in TRANSLATORS:
        TRANSLATORS[key] = _translator(**ids)
    return deepcopy(TRANSLATORS[key])


TRANSLATORS: dict[tuple, tuple] = {}  # it takes a second to find one


def _translator(**ids: int):
    config = TransformerConfig(
        vocab_size=11, d_model=8, num_layers=1, num_heads=2, d_ff=16, max_len=16, dropout=0.0, **ids
    )
    marks = {config.pad_id, config.bos_id, config.eos_id}
    generator = torch.Generator().manual_seed(0)
    words = torch.tensor(sorted({*range(11)} - marks))
    sources = words[torch.randint(8, (120, 5), generator=generator)]
    sources[80:, 3:] = config.pad_id
    for seed in count():
        model = Transformer(config).double().eval()
        generator.manual_seed(seed)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() > 1:
                    parameter.normal_(std=0.7, generator=generator)
        targets = greedy_decode(model, sources, 9)
        ends = (targets == config.eos_id).any(1) * (targets == config.eos_id).int().argmax(1)
        filled = (targets == config.pad_id).sum(1)
        plain = filled == torch.where(ends > 0, 8 - ends, 0)  # no word is a mark
        plain &= (targets == config.bos_id).sum(1) == 1
        whole = torch.arange(len(sources)) < 80
        varied = torch.tensor([len(row.unique()) > 4 for row in targets])
        long = sources[plain & whole & varied & (ends == 0)].unique(dim=0)
        early = [sources[plain & whole & (ends == end)][:1] for end in range(2, 8)]
        short, padded = torch.cat(early), sources[plain & ~whole & (ends != 1)][:2]
        if len(long) >= 2 and len(short) >= 3 and len(padded) == 2:
            return model, long[:2], short, padded


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


GREEDY = rungs(
    _greedy,
    """
every row of the result begins with bos_id
    torch.as_tensor(greedy(model, long[:1], 2))[:, 0]
nothing is drawn: a source that stands there thirty times gets thirty times the same words
    len(torch.as_tensor(greedy(model, long[:1].repeat(30, 1), 2)).unique(dim=0))
a model that says the words of its source, in their order, and then [EOS]: bos_id, the words,
eos_id, and pad_id to the end
    greedy(copier, torch.tensor([[5, 7, 4]]), 8)
  - the model reads the source from its end: its words come in reverse order
    encode(source_ids) => encode(source_ids.flip(1))
  - the target is filled with pad_id from the first word on
    ended, config.pad_id => ended | True, config.pad_id
a model that says [EOS] at once: the row ends there, and has no word at all
    greedy(copier, torch.tensor([[copier.config.eos_id, 7, 4]]), 8)
  - [EOS] is never chosen as the first word; an empty translation is one
    word = model => word = (model
    [:, -1].argmax(-1) => [:, -1] - 1e9 * EOS).argmax(-1)
    EOS => (n == 1) * (torch.arange(11) == config.eos_id)
  - what ends a row is [EOS]; here it goes on after one, since only the last word is looked at, and
  behind [EOS] that is padding
    ended |= => ended =
the same word twice in a row: the most probable word is chosen, whatever was said before it
    greedy(copier, torch.tensor([[5, 5, 7]]), 8)
  - the word that was said last is never said again at once
    word = model => word = (model
    [:, -1].argmax(-1) => [:, -1]).scatter(1, target[:, n - 1 : n], -torch.inf).argmax(-1)
a word that comes again later: the most probable word is chosen, whatever was said before it
    greedy(copier, torch.tensor([[5, 7, 5]]), 8)
  - no word is said twice
    word = model => word = (model
    [:, -1].argmax(-1) => [:, -1]).scatter(1, target[:, :n], -torch.inf).argmax(-1)
the first word after [BOS] is the most probable one
    greedy(model, long[:1], 2)
  - the least probable word is chosen
    argmax => argmin
  - [BOS] is missing at the start of the result
    return target => return target[:, 1:]
  - instead of [BOS] there is one word more; [BOS] is the first of the max_len ids
    (len(source_ids), max_len) => (len(source_ids), max_len + 1)
    range(1, max_len) => range(1, max_len + 1)
    return target => return target[:, 1:]
  - max_len counts [BOS]: the result is one column too long
    (len(source_ids), max_len) => (len(source_ids), max_len + 1)
    range(1, max_len) => range(1, max_len + 1)
  - one word is missing: there is room for max_len - 1 words after [BOS]
    range(1, max_len) => range(1, max_len - 1)
  - a row that has not ended by max_len has no [EOS]; here its last word is replaced by one
    return target => target[~ended, -1] = config.eos_id; return target
max_len counts [BOS]: with max_len = 1 nothing is left to write
    greedy(model, long[:1], 1)
a later word depends on all that is written: decode the whole beginning, and read its last place
    greedy(model, long[:1], 9)
  - the first place is read, whose answer never changes; the next word is said at the last
    [:, -1] => [:, 0]
  - only the last word is given to the decoder: without a cache it needs all that is written
    target[:, :n] => target[:, n - 1 : n]
a row ends with [EOS], and behind it stands pad_id only
    greedy(model, short[:1], 9)
  - a row goes on after its [EOS]; it should stay finished
    torch.where(ended, config.pad_id, word) => word
  - the target ends with its [EOS]; it should be filled with pad_id up to max_len
    return target => return target[:, : 1 + (target != config.pad_id).sum(1).max() - 1]
  - finished rows are filled with [EOS]; fill with pad_id
    ended, config.pad_id => ended, config.eos_id
  - [EOS] is missing from the result
    return target => return target.masked_fill(target == config.eos_id, config.pad_id)
several sources: each row is the translation of its own
    greedy(model, long, 9)
  - the sources have changed places: the rows come in reverse order
    return target => return target.flip(0)
  - every row gets the translation of the first source
    return target => return target[:1].expand(len(target), -1)
rows that end at different places: one stays finished while the others go on
    greedy(model, torch.cat([short, long[:1]]), 9)
  - it stops as soon as one row has ended; the others have to go on
    target[:, n] == config.eos_id => (target[:, n] == config.eos_id).any()
padding in a source is no word: `decode` needs the source ids to leave it out
    greedy(model, padded, 9)
the ids of beginning, end and padding are those of model.config, whatever they are
    model, long, short, padded = a_translator(bos_id=7, eos_id=4, pad_id=3)
    greedy(model, torch.cat([short, long[:1]]), 9)
""",
    before="from book.decoding.checks import Copier, a_translator\n"
    "copier, (model, long, short, padded) = Copier(), a_translator()\n",
)


@exercise
def beam_step(answer) -> str:
    """Check `beam_step(scores, log_probabilities, beam_size)` -> (rows, words), (beam_size,) each.

    scores (K,), log_probabilities (K, V). Of all continuations the most probable, best first: the
    row of the beginning, and the word that is added.
    """
    ladder(BEAM_STEP, _beam_step, beam_step=answer)
    return "beams of one to four beginnings, with fewer continuations kept, as many, and more"


def _beam_step(scores, log_probabilities, beam_size):
    K, V = log_probabilities.shape  # noqa: RUF059 (K is for what learners do with it)
    candidates = scores[:, None] + log_probabilities
    best = candidates.flatten().argsort(descending=True)[:beam_size]
    return best // V, best % V


BEAM_STEP = rungs(
    _beam_step,
    """
two beginnings that are equally probable, and one place: the number of the row and the id of the
best word, two whole numbers
    scores = torch.tensor([0.5, 0.5]).log()
    words = torch.tensor([[0.42, 0.03, 0.55], [0.3, 0.37, 0.33]]).log()
    beam_step(scores, words, 1)
  - rows and words have changed places
    best // V, best % V => best % V, best // V
  - rows are fractions: / is not //
    best // V => best / V
  - the flat index goes down the columns, and is taken apart as if it went along the rows
    candidates.flatten() => candidates.T.flatten()
  - the flat index itself is returned as the word; its remainder by V is the word
    best % V => best
  - the least probable continuations are kept: the sign is turned round, or log-probabilities are
  multiplied; of a sentence they add up
    descending=True => descending=False
  - a flat index is taken apart by the number of beginnings; a row has V entries
    best // V, best % V => best // K, best % K
  - a flat index is taken apart by the beam's size; a row has V entries
    best // V, best % V => best // beam_size, best % beam_size
  - every beginning keeps its own best word; all continuations compete with each other
    best // V, best % V => torch.arange(K), log_probabilities.argmax(-1)
  - as many are kept as there were beginnings; beam_size says how many
    [:beam_size] => [:K]
several continuations may come from one beginning, and none from another
    scores = torch.tensor([0.5, 0.5]).log()
    words = torch.tensor([[0.5, 0.45, 0.05], [0.4, 0.35, 0.25]]).log()
    beam_step(scores, words, 2)
  - every beginning has one child, its best word; one may have several, and another none
    candidates.flatten() => candidates.where(ONE, -torch.inf).flatten()
    ONE => candidates == candidates.amax(1, keepdim=True)
the same word may continue two beginnings: these are two continuations
    scores = torch.tensor([0.5, 0.5]).log()
    words = torch.tensor([[0.1, 0.7, 0.2], [0.15, 0.6, 0.25]]).log()
    beam_step(scores, words, 2)
  - no word comes twice; it may continue several beginnings
    candidates.flatten() => candidates.where(ONE, -torch.inf).flatten()
    ONE => candidates == candidates.amax(0)
one beginning: its best words, best first, as many as the beam has room for
    scores, words = torch.tensor([1.0]).log(), torch.tensor([[0.2, 0.1, 0.4, 0.3]]).log()
    beam_step(scores, words, 3)
  - best first: these are in the opposite order
    [:beam_size] => [:beam_size].flip(0)
  - best first: these are in the order of the table
    [:beam_size] => [:beam_size].sort().values
two equally probable beginnings: all their continuations compete with each other
    scores = torch.tensor([0.5, 0.5]).log()
    words = torch.tensor([[0.5, 0.4, 0.1], [0.2, 0.45, 0.35]]).log()
    beam_step(scores, words, 3)
  - all are continuations of the best beginning; those of the others compete, too
    candidates.flatten() => candidates[scores.argmax()]
    best // V => scores.argmax().repeat(len(best))
beginnings with different scores: a continuation has the score of its beginning plus the
log-probability of its word
    scores = torch.tensor([0.35, 0.65]).log()
    words = torch.tensor([[0.2, 0.1, 0.45, 0.25], [0.05, 0.65, 0.1, 0.2]]).log()
    beam_step(scores, words, 3)
  - the scores of the beginnings are left out: a likely word of an unlikely beginning wins
    scores[:, None] + =>
  - the score of the beginning is a log-probability, and the word's is a probability here; add
  logarithms
    scores[:, None] + log_probabilities => scores[:, None] + log_probabilities.exp()
  - the score of the beginning is a probability here, and the word's a log-probability; add
  logarithms
    scores[:, None] + => scores.exp()[:, None] +
  - the scores are subtracted; log-probabilities of a sentence add up
    scores[:, None] + => -scores[:, None] +
  - the score counts half: log-probabilities add up, each with the weight 1
    scores[:, None] + => 0.5 * scores[:, None] +
  - the word counts half: log-probabilities add up, each with the weight 1
    + log_probabilities => + 0.5 * log_probabilities
  - probabilities are added; those of a sentence multiply, and their logarithms add up
    scores[:, None] + log_probabilities => scores.exp()[:, None] + log_probabilities.exp()
as many beginnings as words: a score belongs to a row, not to a column
    scores = torch.tensor([0.6, 0.3, 0.1]).log()
    words = torch.tensor([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.75, 0.05, 0.2]]).log()
    beam_step(scores, words, 3)
the beam's size is beam_size, whatever the number of beginnings
    scores = torch.tensor([0.7, 0.3]).log()
    words = torch.tensor([[0.5, 0.4, 0.1], [0.2, 0.45, 0.35]]).log()
    beam_step(scores, words, 1), beam_step(scores, words, 5)
random scores: the sum decides, over the whole table
    scores, words = torch.randn(4).log_softmax(-1), torch.randn(4, 7).log_softmax(-1)
    beam_step(scores, words, 6)
""",
)


@exercise
def rescored(answer) -> str:
    """Check `rescored(log_probabilities, lengths, alpha)` -> (N,), with a length penalty.

    log_probabilities (N,), lengths (N,) integers; each is divided by ((5 + length) / 6) ** alpha.
    """
    ladder(RESCORED, _rescored, rescored=answer)
    return "powers of 0, 0.6, 1 and 2, lengths of 1 to 13"


def _rescored(log_probabilities, lengths, alpha):
    return log_probabilities / ((5 + lengths) / 6) ** alpha


RESCORED = rungs(
    _rescored,
    """
seven words and alpha = 1: the divisor is ((5 + 7) / 6) to the power 1, which is 2; all seven count
    rescored(torch.tensor([-4.0]), torch.tensor([7]), 1.0)
  - nothing is done to the scores
     / ((5 + lengths) / 6) ** alpha =>
  - it multiplies; log-probabilities are negative, so that makes long sentences worse
    log_probabilities / => log_probabilities *
  - the penalty is subtracted; it divides
    log_probabilities / => log_probabilities -
  - it multiplies by alpha, and divides by (5 + n) / 6 as it is; alpha is its power
    / ((5 + lengths) / 6) ** alpha => * alpha / ((5 + lengths) / 6)
  - the probability was divided, or the logarithm of the divisor subtracted, which is the same; it
  divides the log-probability
    / ((5 + lengths) / 6) ** alpha => - alpha * ((5 + lengths) / 6).log()
  - the logarithm of the divisor is added; the divisor divides
    / ((5 + lengths) / 6) ** alpha => + alpha * ((5 + lengths) / 6).log()
  - probabilities come back; scores are log-probabilities
    return log_probabilities => return log_probabilities.exp()
  - the penalty is added; it divides
    log_probabilities / => log_probabilities +
  - 6 is added to the length and 6 divides; 5 is added
    (5 + => (6 +
  - 5 is added and 5 divides; 6 divides
    / 6) => / 5)
  - it divides by the length to the power alpha; the paper's divisor is ((5 + n) / 6) ** alpha
    ((5 + lengths) / 6) => lengths.float()
  - the 6 is missing: with it, the divisor of a single word is 1
    (5 + lengths) / 6 => 5.0 + lengths
  - alpha is an argument; here it is always 0.6
    ** alpha => ** 0.6
  - a word too few is counted: all are, and 5 is added to their number
    (5 + lengths) => (4 + lengths)
  - 5 + n / 6 is not (5 + n) / 6
    (5 + lengths) / 6 => 5 + lengths / 6
alpha = 0: it is a power, and any number to the power 0 is 1, so that nothing is done to the score,
whatever the length
    rescored(torch.tensor([-2.0]), torch.tensor([7]), 0.0)
  - only the sum is raised to the power; the 6 belongs inside
    ((5 + lengths) / 6) ** alpha => ((5.0 + lengths) ** alpha / 6)
  - only the 6 is raised to the power; the whole of (5 + n) / 6 is
    / 6) ** alpha => / 6**alpha)
  - alpha divides the length within the bracket; it is the power of the whole
    (5 + lengths) / 6) ** alpha => (5 + alpha * lengths) / 6)
  - alpha is a power, not a factor
    / 6) ** alpha => / 6 * alpha)
  - alpha is not used
     ** alpha =>
one word: the divisor is 1, whatever alpha is
    rescored(torch.tensor([-2.0]), torch.tensor([1]), 3.0)
13 words and alpha = 2: the divisor is 3 to the power 2
    rescored(torch.tensor([-9.0]), torch.tensor([13]), 2.0)
four words and alpha = 1: the divisor is 1.5, no whole number
    rescored(torch.tensor([-3.0]), torch.tensor([4]), 1.0)
  - the divisor is rounded to a whole number: // is not /
    / 6 => // 6
sentences of different lengths: each has a divisor of its own, and they keep their order
    log_p, lengths = torch.tensor([-4.0, -1.0, -9.0, -6.0]), torch.tensor([7, 1, 13, 4])
    rescored(log_p, lengths, 0.6)
""",
)


@exercise
def draw(answer) -> str:
    """Check `draw(logits, temperature, top_p, number)` -> int, the word that a number picks.

    logits (V,); number from 0 to 1. Words are lined up from the most probable on, each as long as
    its probability after temperature and top-p: the word in whose stretch the number lies.
    """
    ladder(DRAW, _draw, draw=answer)
    return "three words by hand, and seven at three temperatures and three values of top-p"


def _draw(logits, temperature, top_p, number):
    heated = logits.double() / temperature
    p, words = heated.softmax(-1).sort(descending=True)
    p = p * (p.cumsum(0) - p < top_p)
    p = p / p.sum()
    place = min(int((p.cumsum(0) <= number).sum()), len(p) - 1)
    return int(words[place])


DRAW = rungs(
    _draw,
    """
the number is the only chance: the same number gives the same word each time
    logits = torch.tensor([0.5, 0.3, 0.2]).log()
    len({int(draw(logits, 1.0, 1.0, 0.0)) for time in range(30)})
number = 0 picks the most probable word
    logits = torch.tensor([0.5, 0.3, 0.2]).log()
    draw(logits, 1.0, 1.0, 0.0)
  - the words are lined up from the least probable on; the most probable one comes first
    p = p / p.sum() => p, words = (p / p.sum()).flip(0), words.flip(0)
  - it is the word whose probability is nearest to the number; the number is a place on the line
    place = min(int((p.cumsum(0) <= number).sum()), len(p) - 1) => place = NEAREST
    NEAREST => (p / p.sum() - number).abs().argmin()
  - one word too far: count only the ends that the number has passed, not that of its own stretch
    int((p.cumsum(0) <= number).sum()) => int((p.cumsum(0) <= number).sum()) + 1
the id is an int; of a tensor, `.item()` makes one
    logits = torch.tensor([0.5, 0.3, 0.2]).log()
    isinstance(draw(logits, 1.0, 1.0, 0.0), (int, np.integer))
the number picks the word in whose stretch it lies: of 0.5, 0.3 and 0.2 the second goes from 0.5
to 0.8
    logits = torch.tensor([0.5, 0.3, 0.2]).log()
    [draw(logits, 1.0, 1.0, number) for number in (0.4, 0.6, 0.78, 0.83)]
  - a second softmax is taken of what is kept; divide it by its sum
    p = p / p.sum() => p = p.where(p > 0, -torch.inf).softmax(0)
  - a second softmax is taken of all probabilities, zeros included; divide by their sum
    p = p / p.sum() => p = p.softmax(0)
  - it is the last word whose stretch has ended; the number lies in the next one
    words[place] => words[max(place - 1, 0)]
  - the probabilities are compared with the number one by one; the ends of the stretches are, the
  cumulative sums
    p.cumsum(0) <= number => p > number
  - it is always the most probable word: the number is not used, or top_p = 1 leaves nothing else
    number).sum() => 0).sum()
the words are lined up from the most probable on, and it is the id that is returned
    logits = torch.tensor([0.2, 0.5, 0.3]).log()
    [draw(logits, 1.0, 1.0, number) for number in (0.1, 0.3, 0.6, 0.9)]
  - it gives the place in the sorted row; the word is what stood there
    words[place] => place
  - the words are lined up by their ids; the most probable one comes first
    p / p.sum() => (p / p.sum())[words.argsort()]
    words[place] => place
the temperature divides the logits: below 1 it sharpens, above 1 it flattens
    logits = torch.tensor([0.6, 0.3, 0.1]).log()
    [draw(logits, t, 1.0, number) for t in (2.0, 0.5) for number in (0.55, 0.7, 0.82)]
  - the temperature multiplies the logits; it divides them
    / temperature => * temperature
  - the temperature is not used
     / temperature =>
top_p keeps the fewest words that reach it together, here the first three of five for 0.8
    logits = torch.tensor([0.4, 0.3, 0.2, 0.06, 0.04]).log()
    draw(logits, 1.0, 0.8, 0.95)
what top_p keeps is rescaled to sum to 1 before the number is used: here 0.4, 0.3 and 0.2 are
divided by 0.9, and the first word's stretch goes to 0.44
    logits = torch.tensor([0.4, 0.3, 0.2, 0.06, 0.04]).log()
    [draw(logits, 1.0, 0.8, number) for number in (0.1, 0.39, 0.42, 0.5, 0.73, 0.76, 0.95)]
  - top_p is not used
    < top_p => < 2
  - the word that reaches top_p is cut; it is the last one that is kept
    p.cumsum(0) - p < top_p => (p.cumsum(0) < top_p - 1e-6) | (p == p.max())
  - a word is kept if its own probability is large enough, at least 1 - top_p of the largest; the
  fewest words that reach top_p together are kept
    p.cumsum(0) - p < top_p => p >= (1 - top_p) * p.max()
  - a word is kept if its own probability is large enough, at least top_p of the largest; the
  fewest words that reach top_p together are kept
    p.cumsum(0) - p < top_p => p >= top_p * p.max()
  - one word too many is kept: the one that reaches top_p is the last
    p.cumsum(0) - p < top_p => p.cumsum(0) - p - p.roll(1) * (p < p.max()) < top_p
  - top_p is taken for a share of the number of words; it is one of probability
    p.cumsum(0) - p < top_p => torch.arange(len(p)) < top_p * len(p)
  - what is kept does not sum to 1: rescale it before the number is used
    p = p / p.sum() =>
  - what is kept is divided by top_p; its sum is more than that
    / p.sum() => / top_p
top_p below the largest probability: one word is always kept
    logits = torch.tensor([0.1, 0.6, 0.3]).log()
    draw(logits, 1.0, 0.2, 0.9)
top_p where the words do not come in order: the cut belongs to the sorted row
    logits = torch.tensor([0.1, 0.2, 0.3, 0.4]).log()
    [draw(logits, 1.0, 0.65, number) for number in (0.3, 0.6, 0.95)]
temperature and top_p together: the temperature comes first
    logits = torch.tensor([0.6, 0.3, 0.1]).log()
    [draw(logits, t, top_p, number) for t, top_p in ((2.0, 0.7), (0.5, 0.7), (3.0, 0.85))
     for number in (0.02, 0.18, 0.34, 0.46, 0.57, 0.68, 0.76, 0.83, 0.9, 0.97)]
  - top_p cuts before the temperature is used; the temperature comes first
    logits.double() / temperature => logits.double()
    p = p / p.sum() => p = p ** (1 / temperature) / (p ** (1 / temperature)).sum()
a low temperature: exp of large logits overflows unless the largest is taken off
    logits = torch.tensor([1.0, 2.0, 3.0, 4.0])
    [draw(logits, 0.01, 1.0, number) for number in (0.2, 0.9)]
seven words: temperature, cut, scale, line and number in this order
    logits = torch.randn(7)
    [draw(logits, t, top_p, number) for t in (0.5, 1.0, 2.0) for top_p in (0.4, 0.8, 1.0)
     for number in (0.03, 0.21, 0.47, 0.66, 0.88)]
""",
)


@exercise
def search(answer) -> str:
    """Check `search(next_log_probabilities, bos, eos, beam_size, max_len)` -> ids, bos to eos.

    next_log_probabilities takes a beginning, a list of ids, and gives log-probabilities (V,). Of
    all continuations of the beam's beginnings the beam_size best are kept; those that end with eos
    are complete and leave the beam. The most probable complete one of at most max_len ids.
    """
    ladder(SEARCH, _search, search=answer)
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


SEARCH = rungs(
    _search,
    """
a language with a single sentence: it comes back whole, from bos to eos
    follows = language({0: {2: 1.0}, 2: {3: 1.0}})
    search(follows, 0, 1, 1, 5)
  - bos is missing at the start of the result
    best[1] => best[1][1:]
  - eos is missing from the result
    best[1] => best[1][:-1]
the probability of a sentence is that of all its words: their log-probabilities add up
    ends = {4: {1: 0.97, 7: 0.03}, 5: {1: 0.95, 7: 0.05}, 6: {1: 0.9, 7: 0.1}}
    follows = language({0: {2: 0.4, 3: 0.6}, 2: {4: 1.0}, 3: {5: 0.9, 6: 0.1}} | ends)
    search(follows, 0, 1, 3, 6)
  - only the last word's probability counts; the log-probabilities of all words add up
    score + p => p
  - the sentence that was completed last is given; the most probable one was asked for
    best = max(complete or beam or [(0.0, [bos])]) => best = (complete or [(0.0, [bos])])[-1]
  - the longest complete sentence is given; the most probable one was asked for
    max(complete or beam or [(0.0, [bos])]) => max(complete, key=lambda node: len(node[1]))
  - the beam is sorted by the last word's probability; that of the whole beginning decides
    [*ids, word]) for => [*ids, word], p) for
    sorted(grown, reverse=True) => sorted(grown, key=lambda node: -node[2])
    for score, ids in beam => for score, ids, *_ in beam
  - probabilities are added; their logarithms are
    score + p, => score + 2.718281828**p,
  - the least probable complete sentence is given
    max(complete => min(complete
a sentence may end at once: bos and eos are the most probable one
    follows = language({0: {1: 0.9, 2: 0.1}})
    search(follows, 0, 1, 2, 5)
  - a sentence is not allowed to end at once; eos is a word like any other
    children = => row[eos] -= 99 * (len(ids) == 1); children =
the most probable sentence comes back to a word
    follows = language({0: {2: 1.0}, (0, 2): {3: 1.0}, 3: {2: 0.9, 4: 0.1},
                        (0, 2, 3, 2): {1: 1.0}})
    search(follows, 0, 1, 2, 6)
  - no word is said twice; any word may follow
    for word, p in enumerate(row)] => for word, p in enumerate(row) if word not in ids]
the most probable sentence says a word twice in a row
    follows = language({0: {2: 1.0}, (0, 2): {2: 0.9, 3: 0.1}, (0, 2, 2): {1: 1.0}})
    search(follows, 0, 1, 2, 5)
  - the word that was said last is never said again at once; any word may follow
    children = => row[ids[-1]] -= 99; children =
eos costs what its log-probability says, as any word does
    follows = language({0: {2: 0.6, 3: 0.4}, 2: {4: 0.7, 1: 0.3}, 3: {1: 1.0}})
    search(follows, 0, 1, 3, 6)
  - the end costs nothing: the log-probability of eos is left out
    score + p, => score + (p if word != eos else 1e-6),
the best first word does not begin the best sentence: a beam of two keeps both
    follows = language({0: {2: 0.4, 3: 0.6}, 2: {4: 1.0}, 3: {5: 0.55, 6: 0.45}})
    search(follows, 0, 1, 2, 6)
  - it is greedy: only one beginning is kept
    [:beam_size] => [:1]
a beam of one is greedy: what was dropped cannot come back
    follows = language({0: {2: 0.4, 3: 0.6}, 2: {4: 1.0}, 3: {5: 0.55, 6: 0.45}})
    search(follows, 0, 1, 1, 6)
  - nothing is dropped: only the beam_size best continuations are kept
    [:beam_size] =>
all continuations compete with each other: two may come from one beginning, none from another
    then = {3: {6: 0.6, 4: 0.4}, 4: {6: 0.5, 7: 0.5}, 5: {7: 1.0}}
    follows = language({0: {2: 0.6, 3: 0.4}, 2: {4: 0.52, 5: 0.48}} | then)
    search(follows, 0, 1, 2, 6)
  - every beginning keeps its own best word; all continuations compete with each other
    grown += children => grown += [max(children)] if len(ids) > 1 else children
only beam_size of all continuations are kept, not as many of each beginning
    ends = {5: {1: 0.6, 6: 0.4}, 6: {1: 0.6, 5: 0.4}}
    then = {2: {5: 0.51, 6: 0.49}, 3: {7: 0.4, 4: 0.3, 5: 0.3}}
    search(language({0: {2: 0.4, 3: 0.35, 4: 0.25}} | then | ends), 0, 1, 2, 6)
  - every beginning keeps beam_size words of its own; of all continuations beam_size are kept
    grown += children => grown += sorted(children)[-beam_size:]
    [:beam_size] =>
the best sentence ends later than another one: the first complete one is not yet the result
    follows = language({0: {2: 0.4, 3: 0.6}, 2: {1: 1.0}, 3: {4: 0.95, 2: 0.05}})
    search(follows, 0, 1, 2, 5)
  - it stops with the first complete sentence; a longer one can still be more probable
    if node[1][-1] != eos => if not complete
a sentence can be overtaken by a longer one even where beam_size of them are complete
    follows = language({0: {2: 0.6, 3: 0.4}, 2: {4: 1.0}, 4: {5: 0.9, 1: 0.1}})
    search(follows, 0, 1, 2, 6)
  - it stops when beam_size sentences are complete; a longer one can still be more probable
    != eos => != eos and len(complete) < beam_size
the best sentence ends sooner than the others: keep it, and compare sums, not means
    follows = language({0: {2: 0.55, 3: 0.45}, 2: {1: 1.0}, 3: {4: 1.0}, 4: {5: 1.0}})
    search(follows, 0, 1, 2, 6)
  - only sentences that end at the last step count, or the best mean per word wins; all complete
  ones are kept, and the most probable one was asked for
    max(complete or beam or [(0.0, [bos])]) => max(complete, key=lambda x: x[0] / len(x[1]))
what is not among the beam_size best is dropped, even if it ends: eos has 0.15 here, no place
in a beam of two, and in the end no rival
    then = {2: {4: 0.25, 5: 0.2, 6: 0.2, 7: 0.18, 3: 0.17}, 3: {4: 0.3, 5: 0.25, 6: 0.25, 7: 0.2}}
    search(language({0: {2: 0.5, 3: 0.35, 1: 0.15}} | then), 0, 1, 2, 6)
  - sentences that end count although they are not among the beam_size best
    node for node in kept if node[1][-1] == eos => node for node in grown if node[1][-1] == eos
max_len counts all ids, bos and eos among them
    follows = language({0: {2: 0.4, 3: 0.6}, 3: {4: 1.0}, 4: {5: 1.0}})
    search(follows, 0, 1, 2, 5), search(follows, 0, 1, 2, 4)
  - a beginning without eos wins at the end; only complete sentences count
    max(complete or beam or => max(complete + beam or
  - one step too many: max_len counts bos, too
    range(max_len - 1) => range(max_len)
  - one step is missing: from bos to max_len ids there are max_len - 1
    range(max_len - 1) => range(max_len - 2)
a beam that is larger than the number of words
    follows = language({0: {2: 0.4, 3: 0.6}, 2: {4: 1.0}, 3: {5: 0.55, 6: 0.45}})
    search(follows, 0, 1, 30, 4)
bos and eos are arguments: here they are 2 and 0
    follows = language({2: {3: 0.45, 4: 0.55}, 4: {0: 0.6, 5: 0.4}}, eos=0)
    search(follows, 2, 0, 2, 6)
random languages, in which a beginning decides what follows
    tuple(search(random_language(seed), 0, 1, 1 + seed % 4, 5 + seed % 3)
          for seed in (2, 3, 5, 7, 9, 14, 19, 27, 35, 43, 55, 59))
""",
    before="from book.decoding.checks import language, random_language\n",
)


@exercise
def cached(answer) -> str:
    """Check `cached(x, W_q, W_k, W_v, keys, values)` -> (output, keys, values) for one new token.

    x (d,); W_q and W_k (d, d_k), W_v (d, d_v); keys (n, d_k) and values (n, d_v) of the tokens
    before, of which there may be none. The output (d_v,) attends to those and to the token itself.
    """
    ladder(CACHED, _cached, cached=answer)
    return "an empty cache, and caches of one, two, three and seven tokens"


def _cached(x, W_q, W_k, W_v, keys, values):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    keys, values = torch.cat([keys, key[None]]), torch.cat([values, value[None]])
    scores = keys @ query / W_k.shape[1] ** 0.5
    return scores.softmax(-1) @ values, keys, values


CACHED = rungs(
    _cached,
    """
an empty cache, and all vectors one number wide: the output is the token's own value, x @ W_v, its
key x @ W_k and its value stand in the caches
    x, W = torch.tensor([2.0]), torch.tensor([[1.0]])
    cached(x, 3 * W, 5 * W, 7 * W, torch.zeros(0, 1), torch.zeros(0, 1))
  - the value is x itself; it is x @ W_v
    x @ W_v => x
  - the key is x itself; it is x @ W_k
    x @ W_k => x
  - the query is kept as the key, and the key as the query
    = x @ W_q, x @ W_k => = x @ W_k, x @ W_q
  - key and value have changed places
    x @ W_k, x @ W_v => x @ W_v, x @ W_k
  - sigmoids of the scores are the weights; a softmax makes them sum to 1
    scores.softmax(-1) => scores.sigmoid()
  - exponentials of the scores are the weights, not divided by their sum
    scores.softmax(-1) => scores.exp()
an empty cache: the token attends to itself alone, so the output is its own value; its key and its
value are all there is; output, keys and values are returned in this order
    x, W_q, W_k, W_v = (torch.randn(size) for size in ((3,), (3, 2), (3, 2), (3, 4)))
    cached(x, W_q, W_k, W_v, torch.zeros(0, 2), torch.zeros(0, 4))
  - the query is put into the cache; later tokens ask for this token's key
    key[None] => query[None]
  - the caches come back without the new token
    @ values, keys, values => @ values, keys[:-1], values[:-1]
  - the token does not attend to itself; its own key and value come into the cache first
    scores = keys => scores = keys[:-1]
    @ values, => @ values[:-1],
the caches come back with the new key and value at their end
    x, W = torch.tensor([2.0]), torch.tensor([[1.0]])
    keys, values = torch.tensor([[7.0], [8.0]]), torch.tensor([[1.0], [0.0]])
    cached(x, W, 3 * W, 5 * W, keys, values)[1:]
  - the cache is replaced by the new token; the old ones stay in it
    [keys, key[None]] => [key[None]]
    [values, value[None]] => [value[None]]
  - the new key and value stand in front; a later token comes behind
    [keys, key[None]] => [key[None], keys]
    [values, value[None]] => [value[None], values]
  - the newest token's place is taken by the new one; the old ones stay in the cache
    [keys, key[None]] => [keys[:-1], key[None]]
    [values, value[None]] => [values[:-1], value[None]]
a query of zeros: all scores are 0, and the softmax, exp of each over the sum of all exp, gives all
keys the same weight, the token's own among them
    x, W = torch.tensor([2.0]), torch.tensor([[1.0]])
    keys, values = torch.tensor([[7.0], [8.0]]), torch.tensor([[1.0], [0.0]])
    cached(x, 0 * W, W, 5 * W, keys, values)[0]
  - the token attends to itself alone; the cache is what it should look at
    scores = keys => scores = keys[-1:]
    @ values, => @ values[-1:],
  - the token asks with its key; it asks with its query, x @ W_q
    keys @ query => keys @ key
the weights are a softmax of query times key; with d_k = 1 there is nothing to scale
    x, W = torch.tensor([1.0]), torch.tensor([[1.0]])
    keys, values = torch.tensor([[2.0], [3.0]]), torch.tensor([[1.0], [0.0]])
    cached(x, 0.5 * W, W, 5 * W, keys, values)[0]
  - only the new key is scored, and the old ones have a score of 0; the query meets every key
    scores = keys @ query => scores = keys @ query * NEW
    NEW => (torch.arange(len(keys)) == len(keys) - 1)
  - the most similar key takes all of the weight; a softmax shares it
    scores.softmax(-1) => (scores == scores.max()).float()
  - the scores are divided by their sum, without an exponential
    scores.softmax(-1) => (scores / scores.sum())
  - a softmax was taken of negative scores: the least similar key gets the largest weight
    scores.softmax(-1) => (-scores).softmax(-1)
  - all values count alike; the weights are a softmax of the scores
    / W_k => * 0 / W_k
  - there is no softmax: the scores themselves are the weights
    scores.softmax(-1) => scores
  - the scores are divided by the square root of the number of keys; d_k is their width
    W_k.shape[1] => len(keys)
the scores are divided by the square root of d_k
    x, W, W_v = torch.ones(3), torch.full((3, 4), 0.25), torch.ones(3, 2)
    cached(x, W, W, W_v, torch.zeros(1, 4), torch.zeros(1, 2))
  - the scores are not divided by the square root of d_k
     / W_k.shape[1] ** 0.5 =>
  - the scores are divided by d_k; it is its square root
     ** 0.5 =>
  - the scores are divided by the square root of the width of x; a key is d_k wide
    W_k.shape[1] => len(x)
  - the scores are divided by the square root of the width of a value; a key is d_k wide
    W_k.shape[1] => W_v.shape[1]
d, d_k and d_v all differ, and there are seven tokens in the cache
    x, W_q, W_k, W_v = (torch.randn(size) for size in ((5,), (5, 3), (5, 3), (5, 2)))
    cached(x, W_q, W_k, W_v, torch.randn(7, 3), torch.randn(7, 2))
""",
)
