"""Checks for the exercises of book/embeddings.ipynb."""

import torch
import torch.nn.functional as F

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def look_up(answer) -> str:
    """Check `look_up(table, ids)`: the rows of table (V, d) for ids (...), as (..., d)."""
    climb(LOOK_UP, answer)
    return "one word, three, two sentences of three, and an id alone"


def _look_up(table, ids):
    return table[ids]


@ladder(_look_up)
def LOOK_UP(look_up):
    table = torch.tensor([[1.0, 2.0, 6.0, 9.0], [3.0, 5.0, 0.5, 4.0], [7.0, 8.0, -1.0, 10.0]])

    """an id is the number of a row of the table, counted from 0; this one row is the word's
    vector, and nothing is done to its numbers; ids may have any number of axes, here one"""
    yield look_up(table, torch.tensor([2]))

    """the table has three rows, and the largest id that occurs is 1: the number of rows is that
    of the table (a one-hot vector needs its length, num_classes)"""
    yield look_up(table, torch.tensor([1]))

    """word 0 has a vector like any other, the first row of the table"""
    yield look_up(table, torch.tensor([0]))

    """each id gives its own row, in the order of the ids, and a word that comes again its row
    again; ids are places in the table, not numbers to multiply with"""
    yield look_up(table, torch.tensor([2, 0, 2]))

    """two sentences of three words: the result has the shape of the ids and an axis of width d
    behind it, so that ids (B, T) become (B, T, d)"""
    table, ids = torch.arange(35.0).reshape(7, 5), torch.tensor([[0, 4, 1], [1, 3, 2]])
    yield look_up(table, ids)

    """an id alone, without an axis, gives a row alone"""
    yield look_up(table, torch.tensor(2))


LOOK_UP.mistakes |= {
    "ids are counted from 0; here they are counted from 1": lambda table, ids: table[
        (ids - 1) % len(table)
    ],
    "columns were picked, not rows": lambda table, ids: table[:, ids % table.shape[1]],
    "these are one-hot vectors, not yet multiplied with the table": lambda table, ids: F.one_hot(
        ids, len(table)
    ).float(),
    "the rows are multiplied by the root of d; a plain look-up changes "
    "nothing": lambda table, ids: table[ids] * table.shape[1] ** 0.5,
    "the rows of a sentence are added up: this is a bag of words": lambda table, ids: table[
        ids
    ].sum(-2),
    "the rows of a sentence are averaged: this is a bag of words": lambda table, ids: table[
        ids
    ].mean(-2),
    "the ids are put into one row: the result has lost the shape of the ids": lambda table, ids: (
        table[ids.flatten()]
    ),
    "`take` picks single numbers of the table, here repeated; pick rows": lambda table, ids: (
        table.take(ids)[..., None].expand(*ids.shape, table.shape[1])
    ),
}


@exercise
def look_up_gradient(answer) -> str:
    """Check `look_up_gradient(grad_output, ids, vocab_size)`, the table's gradient (V, d).

    grad_output (..., d) is the gradient of what `look_up` has returned for ids (...).
    """
    climb(LOOK_UP_GRADIENT, answer)
    return "words that occur once, twice and four times or never; one sentence and two"


def _gradient(grad_output, ids, vocab_size):
    gradient = torch.zeros(vocab_size, grad_output.shape[-1])
    words = ids.flatten()
    rows = grad_output.flatten(0, -2)
    for word, row in zip(words, rows, strict=True):
        gradient[word] = gradient[word] + row
    return gradient


@ladder(_gradient)
def LOOK_UP_GRADIENT(look_up_gradient):
    """a single word: its row of the table gets the gradient that arrives, and the rows of all
    words that do not occur are zeros"""
    yield look_up_gradient(torch.tensor([[3.0, 5.0]]), torch.tensor([1]), 3)

    """the single word is word 0, a word like any other: row 0 gets the gradient that arrives"""
    yield look_up_gradient(torch.tensor([[3.0, 5.0]]), torch.tensor([0]), 3)

    """a word that occurs twice gets the sum of what arrives at its two places"""
    grad_output = torch.tensor([[1.0, 200.0], [10.0, 20.0], [100.0, 2.0]])
    yield look_up_gradient(grad_output, torch.tensor([1, 0, 1]), 3)

    """two sentences of two words: what arrives at a place belongs to the word of this place in
    this sentence"""
    grad_output = torch.tensor([[[1.0, 2.0], [3.0, 5.0]], [[10.0, 20.0], [30.0, 50.0]]])
    yield look_up_gradient(grad_output, torch.tensor([[0, 1], [2, 3]]), 4)

    """two sentences, in one of which a word stands twice: it gets the sum from both places (where
    an id comes again, `+=` with all ids at once adds one of its rows only)"""
    grad_output = torch.tensor([[[1.0, 2.0], [30.0, 50.0]], [[5.0, 7.0], [100.0, 200.0]]])
    yield look_up_gradient(grad_output, torch.tensor([[1, 1], [0, 2]]), 3)

    """two sentences: a word's gradients are added over both, and there are vocab_size rows,
    even for ids that are larger than any that occurs"""
    grad_output = torch.arange(30.0).reshape(2, 5, 3)
    yield look_up_gradient(grad_output, torch.tensor([[4, 1, 4, 4, 0], [1, 2, 6, 0, 4]]), 8)


LOOK_UP_GRADIENT.mistakes |= {
    "it counts how often each word occurs, and leaves out the gradients that arrive": edited(
        _gradient, "gradient[word] + row", "gradient[word] + 1"
    ),
    "ids are counted from 0; here they are counted from 1": edited(
        _gradient, "gradient[word] = gradient[word]", "gradient[word - 1] = gradient[word - 1]"
    ),
    "the table's gradient has the shape of the table, (V, d); this is (d, V)": edited(
        _gradient, "return gradient", "return gradient.T"
    ),
    "only the rows of words that occur are left; the gradient has a row for every word": edited(
        _gradient, "return gradient", "return gradient[words.unique()]"
    ),
    "the sign is turned: a gradient is what is subtracted later, not its negative": edited(
        _gradient, "return gradient", "return -gradient"
    ),
    "a word that occurs several times keeps only its last gradient; they should be added": edited(
        _gradient, "gradient[word] + row", "row"
    ),
    "the gradients of a word that occurs several times are averaged; they should be added": edited(
        _gradient,
        "return gradient",
        "return gradient / words.bincount(minlength=vocab_size).clamp(min=1)[:, None]",
    ),
}


@exercise
def negative_sampling_loss(answer) -> str:
    """Check `negative_sampling_loss(centre, neighbour, made_up)`, the mean over the pairs.

    centre (B, d) and neighbour (B, d) are the vectors e and u of real pairs, made_up (B, k, d)
    those of the made-up neighbours of each. Dot products may be as large as 200.
    """
    climb(NEGATIVE_SAMPLING_LOSS, answer)
    return "1 and 3 pairs with 1 to 4 made-up neighbours; dot products of 200"


def _sampled(centre, neighbour, made_up):
    real = (centre * neighbour).sum(-1)  # (B,)
    false = (made_up @ centre[:, :, None]).squeeze(-1)  # (B, k)
    of_real = F.logsigmoid(real)
    of_made_up = F.logsigmoid(-false).sum(-1)
    return -(of_real + of_made_up).mean()


@ladder(_sampled)
def NEGATIVE_SAMPLING_LOSS(negative_sampling_loss):
    """all dot products are 0, and σ(0) = 1/2: a pair asks 1 + k questions, here one about the
    real neighbour and four about made-up ones, and each of them costs -log(1/2); their sum is
    5 log 2"""
    centre, neighbour, made_up = torch.zeros(1, 2), torch.ones(1, 2), torch.ones(1, 4, 2)
    yield negative_sampling_loss(centre, neighbour, made_up)

    """the real pair has a dot product of log 3 and so a probability of 3/4: it costs
    -log(3/4)"""
    three = torch.tensor(3.0).log()
    centre, neighbour, made_up = torch.ones(1, 1), three.reshape(1, 1), torch.zeros(1, 1, 1)
    yield negative_sampling_loss(centre, neighbour, made_up)

    """a made-up pair has a dot product of log 3, too: σ(-log 3) = 1/4 is the probability that
    it is made up, and it costs -log(1/4); its dot product comes with a minus"""
    three = torch.tensor(3.0).log()
    centre, neighbour, made_up = torch.ones(1, 1), torch.zeros(1, 1), three.reshape(1, 1, 1)
    yield negative_sampling_loss(centre, neighbour, made_up)

    """two made-up pairs, with dot products of log 3 and -log 3: each has a sigmoid and a
    logarithm of its own, and these are added"""
    three = torch.tensor(3.0).log()
    centre, neighbour = torch.ones(1, 1), torch.zeros(1, 1)
    yield negative_sampling_loss(centre, neighbour, torch.stack([three, -three]).reshape(1, 2, 1))

    """a made-up neighbour is held against the centre, as the real one is"""
    centre, neighbour = torch.tensor([[1.0, 2.0]]), torch.tensor([[0.5, 1.0]])
    yield negative_sampling_loss(centre, neighbour, torch.tensor([[[1.0, 0.0], [-1.0, 2.0]]]))

    """several pairs: each centre meets its own neighbour and its own made-up ones, and the mean
    over the pairs is taken"""
    centre, neighbour, made_up = torch.randn(3, 5), torch.randn(3, 5), torch.randn(3, 2, 5)
    yield negative_sampling_loss(centre, neighbour, made_up)

    """a dot product of 200 on the wrong side costs about 200, a number like any other: σ is 0
    there, as far as floats go, so its logarithm cannot be taken afterwards, and a clamp or a
    small number added to it would cut the loss off; use F.logsigmoid"""
    centre, neighbour, made_up = (x * torch.ones(1, 1) for x in (200.0, -1.0, 1.0))
    yield negative_sampling_loss(centre, neighbour, made_up[None])


NEGATIVE_SAMPLING_LOSS.mistakes |= {
    "the mean over the made-up neighbours is taken; the formula has their sum": edited(
        _sampled, "F.logsigmoid(-false).sum(-1)", "F.logsigmoid(-false).mean(-1)"
    ),
    "the sign is turned: this is the log-likelihood, and a loss is its negative": edited(
        _sampled, "return -(of_real + of_made_up).mean()", "return (of_real + of_made_up).mean()"
    ),
    "the made-up neighbours are left out": edited(_sampled, "(of_real + of_made_up)", "(of_real)"),
    "there is no logarithm: the probabilities themselves are added": edited(
        _sampled,
        "F.logsigmoid(real)\n    of_made_up = F.logsigmoid",
        "torch.sigmoid(real)\n    of_made_up = torch.sigmoid",
    ),
    "this is a softmax over one real and k made-up neighbours; here every pair has a "
    "yes-or-no question of its own": edited(
        _sampled,
        "F.logsigmoid(real)",
        "torch.cat([real[:, None], false], 1).log_softmax(1)[:, 0]",
        "of_made_up = F.logsigmoid(-false).sum(-1)",
        "of_made_up = 0",
    ),
    "each pair has a loss of its own; the mean over the pairs was asked for": edited(
        _sampled, ".mean()", ""
    ),
    "the signs are exchanged: a real pair should have a high dot product, a made-up "
    "one a low": edited(_sampled, "(real)", "(-real)", "(-false)", "(false)"),
    "made-up pairs are treated like real ones: their dot product needs a minus": edited(
        _sampled, "-false", "false"
    ),
    "the made-up dot products are added before the sigmoid; the formula adds the "
    "logarithms": edited(_sampled, "F.logsigmoid(-false).sum(-1)", "F.logsigmoid(-false.sum(-1))"),
    "the sum over the pairs was asked as a mean": edited(_sampled, ".mean()", ".sum()"),
    "each centre meets all neighbours of the batch; a dot product belongs to one "
    "pair, and there are B of them": edited(
        _sampled,
        "of_real = F.logsigmoid(real)",
        "of_real = F.logsigmoid(centre @ neighbour.T).mean()",
    ),
}


@exercise
def analogies(answer) -> str:
    """Check `analogies(vectors, a, b, c)`: for each question the id d with a : b = c : d.

    vectors (V, d); a, b and c are ids (n,). Rows are scaled to length 1 first; the answer is the
    row with the largest cosine to b - a + c, and never one of the three.
    """
    climb(ANALOGIES, answer)
    return "one question about words to follow by hand, and many about 11 and 29 words"


def _analogies(vectors, a, b, c):
    rows = F.normalize(vectors, dim=1)
    columns = F.normalize(vectors, dim=1)
    wanted = rows[b] - rows[a] + rows[c]
    cosines = wanted @ columns.T  # (n, V), times the length of what is wanted
    for given in (a, b, c):
        cosines = cosines.scatter(1, given[:, None], -torch.inf)
    return cosines.argmax(1)


@ladder(_analogies)
def ANALOGIES(analogies):
    """all rows have length 1, and row 3 is exactly b - a + c: a is word 0, b word 1, c word 2,
    and the answer is the id of that row"""
    vectors = torch.tensor(
        [
            [0.6, 0, 0.8],
            [-0.6, 0, 0.8],
            [0.6, 0.8, 0],
            [-0.6, 0.8, 0],
            [0, -0.6, 0.8],
            [0.96, 0.28, 0],
            [0.28, 0.96, 0],
            [-0.96, -0.28, 0],
            [0.6, -0.8, 0],
            [-0.92, -0.392, 0],
            [0.224, 0.912, -0.344],
        ]
    )
    yield analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))

    """c itself is nearest to b - a + c, since b is near a; the three given words are never the
    answer"""
    vectors = torch.tensor([[1.0, 0], [0.96, 0.28], [0, 1], [-0.28, 0.96], [-1, 0]])
    yield analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))

    """b is nearest to b - a + c, since c is near a; the three given words are never the
    answer"""
    vectors = torch.tensor([[1.0, 0], [0, 1], [0.96, -0.28], [-0.28, 0.96], [-1, 0]])
    yield analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))

    """all other words have negative cosines: the given ones must not win with a 0 in place of
    theirs"""
    vectors = torch.tensor([[1.0, 0], [1, 0.2], [1, 0.1], [-1, -0.1], [-1, 0.5]])
    yield analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))

    """word 4 is long, and word 3 points where b - a + c does: a cosine does not ask for the
    length of the word that is found"""
    vectors = torch.tensor(
        [[0.6, 0, 0.8], [-0.6, 0, 0.8], [0.6, 0.8, 0], [-0.6, 0.8, 0], [0, 9, 0]]
    )
    yield analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))

    """word 0 is four times as long as the others: rows are scaled to length 1 *before* b - a +
    c"""
    vectors = torch.tensor(
        [[2.4, 0, 3.2], [-0.6, 0, 0.8], [0.6, 0.8, 0], [-0.6, 0.8, 0], [-0.6, 0, -0.8]]
    )
    yield analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))

    """two questions: each excludes its own three words, and may find a word that another one
    was given"""
    vectors = torch.tensor(
        [[0.6, 0, 0.8], [-0.6, 0, 0.8], [0.6, 0.8, 0], [-0.6, 0.8, 0], [0, -0.6, 0.8]]
    )
    yield analogies(vectors, torch.tensor([0, 3]), torch.tensor([1, 2]), torch.tensor([2, 1]))

    """37 questions about 29 words of all lengths: each word, a row, is scaled to length 1"""
    vectors = torch.randn(29, 5) * (0.5 + 3 * torch.rand(29, 1))
    a, b, c = torch.stack([torch.randperm(29)[:3] for question in range(37)], 1)
    yield analogies(vectors, a, b, c)


ANALOGIES.mistakes |= {
    "there is no arithmetic: the nearest word to c was taken": edited(
        _analogies, "rows[b] - rows[a] + rows[c]", "rows[c]"
    ),
    "the farthest word was taken, not the nearest: the largest cosine, not the smallest": edited(
        _analogies, "-torch.inf", "torch.inf", "argmax", "argmin"
    ),
    "the three given words are allowed as answers; exclude them": edited(
        _analogies, "(a, b, c)", "()"
    ),
    "only the third word is excluded; a and b must not be the answer either": edited(
        _analogies, "(a, b, c)", "(c,)"
    ),
    "the cosines of the given words are set to 0, and 0 wins where all others are "
    "negative; set them to -inf": edited(_analogies, "-torch.inf", "0.0"),
    "the answers are compared by dot product, so that long vectors win; use the cosine": edited(
        _analogies, "columns = F.normalize(vectors, dim=1)", "columns = vectors"
    ),
    "the rows are not scaled to length 1, neither in the sum nor as answers": edited(
        _analogies,
        "F.normalize(vectors, dim=1)\n    columns = F.normalize(vectors, dim=1)",
        "vectors\n    columns = vectors",
    ),
    "the rows are not scaled to length 1 before b - a + c": edited(
        _analogies, "rows = F.normalize(vectors, dim=1)", "rows = vectors"
    ),
    "the columns are scaled to length 1; a word is a row, dim=1": edited(
        _analogies,
        "rows = F.normalize(vectors, dim=1)",
        "rows = F.normalize(vectors, dim=0)",
        "columns = F.normalize(vectors, dim=1)",
        "columns = rows",
    ),
    "the fourth best is taken; the given words are not always the first three: exclude "
    "them, then take the best": edited(
        _analogies, "(a, b, c)", "()", "argmax(1)", "topk(4).indices[:, 3]"
    ),
}


@exercise
def expected_loss(answer) -> str:
    """Check `expected_loss(scores, together, noise, k)`, the loss without drawing, per real pair.

    scores (V, V) holds the dot product of every centre with every neighbour, together (V, V) how
    often they occur as a pair, noise (V,) the probability of each as a made-up neighbour.
    """
    climb(EXPECTED_LOSS, answer)
    return "2 and 5 words with 1, 2 and 3 made-up neighbours"


def _expected(scores, together, noise, k):
    centres = together.sum(1, keepdim=True)
    made_up = k * centres * noise  # how often each is to be expected
    real = together * F.logsigmoid(scores)
    false = made_up * F.logsigmoid(-scores)
    return -(real + false).sum() / together.sum()


@ladder(_expected)
def EXPECTED_LOSS(expected_loss):
    """all scores are 0, so that every question costs log 2; five real pairs with one made-up
    neighbour each, which may also be a real one, are ten questions, and per real pair they cost
    2 log 2"""
    together, noise = torch.tensor([[2.0, 3.0], [0.0, 0.0]]), torch.tensor([0.5, 0.5])
    yield expected_loss(torch.zeros(2, 2), together, noise, 1)

    """three made-up neighbours for each real pair: four questions, which cost 4 log 2"""
    together, noise = torch.tensor([[2.0, 3.0], [0.0, 0.0]]), torch.tensor([0.5, 0.5])
    yield expected_loss(torch.zeros(2, 2), together, noise, 3)

    """a centre has as many made-up pairs as real ones, k times: the sum of its row of `together`,
    not of a column; here these are five, whichever neighbours are made up"""
    together, noise = torch.tensor([[2.0, 3.0], [0.0, 0.0]]), torch.tensor([0.25, 0.75])
    yield expected_loss(torch.zeros(2, 2), together, noise, 1)

    """made-up pairs have high scores, log 3: σ(-log 3) = 1/4 is the probability that one is
    made up, and each costs -log(1/4)"""
    scores, noise = torch.tensor([[1.0, 3.0], [3.0, 1.0]]).log(), torch.tensor([0.0, 1.0])
    yield expected_loss(scores, torch.tensor([[1.0, 0.0], [0.0, 0.0]]), noise, 1)

    """the noise says how often a word is drawn as a neighbour, a column; the centre, a row, is
    that of the real pair"""
    scores, noise = torch.tensor([[1.0, 3.0], [7.0, 5.0]]).log(), torch.tensor([0.25, 0.75])
    yield expected_loss(scores, torch.tensor([[1.0, 0.0], [0.0, 1.0]]), noise, 2)

    """a centre that occurs three times as often gets three times as many made-up neighbours:
    the count of a centre is the sum of its row of `together`"""
    scores, noise = torch.tensor([[1.0, 3.0], [7.0, 5.0]]).log(), torch.tensor([0.25, 0.75])
    yield expected_loss(scores, torch.tensor([[1.0, 3.0], [0.0, 4.0]]), noise, 2)

    """five words, some of which never occur together"""
    scores, together = torch.randn(5, 5), torch.randint(0, 9, (5, 5)).float()
    yield expected_loss(scores, together, torch.rand(5).softmax(0), 3)


EXPECTED_LOSS.mistakes |= {
    "the sum was not divided by the number of real pairs": edited(
        _expected, ".sum() / together.sum()", ".sum()"
    ),
    "the sum was divided by the number of cells; divide by the number of real pairs": edited(
        _expected, ".sum() / together.sum()", ".mean()"
    ),
    "every centre gets equally many made-up neighbours; it should get k for each real one": edited(
        _expected, "k * centres * noise", "k * noise.expand_as(scores)"
    ),
    "every centre gets the made-up neighbours of all real pairs; it should get those "
    "of its own": edited(_expected, "k * centres", "k * together.sum() * torch.ones_like(centres)"),
    "made-up pairs are treated like real ones: their score needs a minus": edited(
        _expected, "-scores", "scores"
    ),
    "only pairs that occur are made up here; a draw does not ask whether its pair "
    "occurs: take the centre's count, the sum of its row": edited(
        _expected, "k * centres", "k * together"
    ),
    "the noise is left out: all words are made up equally often": edited(
        _expected, "* noise", "* torch.full_like(noise, 1 / len(noise))"
    ),
    "the noise belongs to the centres here; it is that of the neighbours, along the "
    "columns": edited(_expected, "* noise", "* noise[:, None]"),
    "every centre gets the mean number of made-up neighbours; it should get k for each real "
    "one of its own": edited(
        _expected, "k * centres * noise", "k * centres.mean() * noise.expand_as(scores)"
    ),
}


@exercise
def count_vectors(answer) -> str:
    """Check `count_vectors(sentences, vocab_size, window, d)`: vectors (V, d) by counting.

    Positive PMI of the counts within the window, its singular value decomposition, and the rows
    U √S of the d largest directions; their dot products are compared, as signs are free.
    """
    climb(COUNT_VECTORS, answer)
    return "corpora of one to seven sentences, windows of 1 and 2, rare, unseen and repeated words"


def _counted(sentences, vocab_size, window, d):
    together = torch.zeros(vocab_size, vocab_size, dtype=torch.float64)
    for sentence in sentences:
        for i, word in enumerate(sentence):
            for away, other in enumerate(sentence[i + 1 : i + 1 + window], start=1):
                together[word, other] += away >= 1
                together[other, word] += away >= 1
    share = together / together.sum()
    of_centre, of_neighbour = share.sum(1, keepdim=True), share.sum(0, keepdim=True)
    pmi = (share / (of_centre * of_neighbour)).log()
    pmi = pmi.where(together > 0, 0).clamp(min=0)
    U, S, _ = torch.linalg.svd(pmi)
    return (U * S.sqrt())[:, :d]


@ladder(_counted)
def COUNT_VECTORS(count_vectors):
    """two neighbours count both ways: with PMI log 2 for each other, each row times itself is
    log 2"""
    rows = torch.as_tensor(count_vectors([[0, 1], [0, 1]], 2, 1, 2)).double()
    yield rows @ rows.T

    """a row for each word of the vocabulary, with d numbers"""
    yield list(torch.as_tensor(count_vectors([[0, 1, 2]], 3, 1, 2)).shape)

    """three words in a row, window 1: P(c) is the share of the counted pairs, in which the word
    in the middle stands twice as often as each at the ends"""
    rows = torch.as_tensor(count_vectors([[0, 1, 2]], 3, 1, 3)).double()
    yield rows @ rows.T

    """a word that never occurs has zeros, not NaN: 0 / 0 is no PMI"""
    rows = torch.as_tensor(count_vectors([[0, 2]], 3, 2, 3)).double()
    yield rows @ rows.T

    """a pair that is never seen has PMI 0, not minus infinity"""
    rows = torch.as_tensor(count_vectors([[0, 1, 2, 3]], 4, 1, 4)).double()
    yield rows @ rows.T

    """no pair crosses the end of a sentence"""
    rows = torch.as_tensor(count_vectors([[0, 1], [2, 3, 0]], 4, 1, 4)).double()
    yield rows @ rows.T

    """with a window of 2 the neighbours are up to two places away, on both sides"""
    rows = torch.as_tensor(count_vectors([[0, 1, 2, 3, 4]], 5, 2, 5)).double()
    yield rows @ rows.T

    """a pair rarer than chance has PMI 0, not a negative one"""
    sentences = [[0, 1], [0, 1], [0, 1], [2, 3], [2, 3], [2, 3], [0, 3]]
    rows = torch.as_tensor(count_vectors(sentences, 4, 1, 4)).double()
    yield rows @ rows.T

    """a pair counts as often as it occurs, also within one sentence"""
    rows = torch.as_tensor(count_vectors([[0, 1, 0, 2, 1]], 3, 1, 3)).double()
    yield rows @ rows.T

    """a word that repeats within the window is its own neighbour"""
    rows = torch.as_tensor(count_vectors([[0, 0, 1]], 2, 1, 2)).double()
    yield rows @ rows.T

    """with d below V only the d largest directions are kept"""
    sentences = [[0, 1, 2, 0, 3, 1], [2, 3, 4, 1, 1], [4, 0]]
    rows = torch.as_tensor(count_vectors(sentences, 5, 2, 2)).double()
    yield rows @ rows.T


COUNT_VECTORS.mistakes |= {
    "the singular values are left out: the rows are those of U √S": edited(
        _counted, "U * S.sqrt()", "U"
    ),
    "the rows are those of U S: take the root of the singular values": edited(
        _counted, "S.sqrt()", "S"
    ),
    "the counts themselves are factorised, not their PMI": edited(
        _counted, "svd(pmi)", "svd(together)"
    ),
    "only the neighbour to the right is counted: each pair counts both ways": edited(
        _counted, "together[other, word] += away >= 1", "pass"
    ),
    "the window runs across the end of a sentence: count within each sentence": edited(
        _counted, "in sentences", "in [[word for sentence in sentences for word in sentence]]"
    ),
    "the window is one too small: range(1, window) leaves the last place out": edited(
        _counted, "i + 1 + window", "i + window"
    ),
    "negative PMI is kept: take its positive part": edited(_counted, ".clamp(min=0)", ""),
    "the smallest directions are kept, not the largest": edited(
        _counted, "S.sqrt()", "S.sqrt()).flip(1"
    ),
    "these are logarithms to base 2; PMI has natural ones": edited(_counted, ".log()", ".log2()"),
    "1 is added to every count; take the counts as they are": edited(
        _counted, "share = together /", "together += 1\n    share = together /"
    ),
    "the logarithms of the counts are factorised, not their PMI": edited(
        _counted, "svd(pmi)", "svd(together.log1p())"
    ),
}
