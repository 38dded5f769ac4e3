"""Checks for the exercises of book/embeddings.ipynb."""

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

from companion.checks.exercise import Rung, compare, exercise, ladder


@exercise
def look_up(answer) -> str:
    """Check `look_up(table, ids)`: the rows of table (V, d) for ids (...), as (..., d)."""
    table = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    cases = [
        {"table": table, "ids": torch.tensor([2, 0, 2])},
        {"table": torch.randn(7, 5), "ids": torch.tensor([[0, 4, 1], [1, 3, 2]])},
        {"table": torch.randn(11, 3), "ids": torch.tensor([5])},
    ]
    compare(answer, cases, _look_up, LOOK_UP_MISTAKES)
    return "one word, three, and two sentences of three"


def _look_up(table, ids):
    return (table[ids],)


LOOK_UP_MISTAKES = {
    "ids are counted from 0; here they are counted from 1": (
        lambda table, ids: (table[(ids - 1) % len(table)],)
    ),
    "columns were picked, not rows": lambda table, ids: (table[:, ids],),
    "each word comes once only, and in the order of the table; a look-up repeats a row as often as "
    "its id occurs": lambda table, ids: (table[ids.unique()],),
    "these are one-hot vectors, not yet multiplied with the table": (
        lambda table, ids: (F.one_hot(ids, len(table)).float(),)
    ),
    "the rows are multiplied by the root of d; a plain look-up changes nothing": (
        lambda table, ids: (table[ids] * table.shape[1] ** 0.5,)
    ),
    "the rows of a sentence are added up: this is a bag of words": (
        lambda table, ids: (table[ids].sum(-2),)
    ),
    "the rows of a sentence are averaged: this is a bag of words": (
        lambda table, ids: (table[ids].mean(-2),)
    ),
    "the ids are put into one row: the result has lost the shape of the ids": (
        lambda table, ids: (table[ids.flatten()],)
    ),
}


@exercise
def look_up_gradient(answer) -> str:
    """Check `look_up_gradient(grad_output, ids, vocab_size)`, the table's gradient (V, d).

    grad_output (..., d) is the gradient of what `look_up` has returned for ids (...).
    """
    cases = [
        {
            "grad_output": torch.tensor([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]]),
            "ids": torch.tensor([1, 0, 1]),
            "vocab_size": 3,
        },
        {
            "grad_output": torch.randn(2, 5, 3),
            "ids": torch.tensor([[4, 1, 4, 4, 0], [1, 2, 6, 0, 4]]),
            "vocab_size": 7,
        },
        {"grad_output": torch.randn(1, 2), "ids": torch.tensor([3]), "vocab_size": 5},
    ]
    compare(answer, cases, _gradient, GRADIENT_MISTAKES)
    return "words that occur once, twice and four times or never; one sentence and two"


def _gradient(grad_output, ids, vocab_size, *, rows=lambda ids: ids):
    one_hot = F.one_hot(rows(ids.flatten()), vocab_size).to(grad_output.dtype)
    return (one_hot.T @ grad_output.flatten(0, -2),)


def _occurrences(ids, vocab_size):
    return ids.flatten().bincount(minlength=vocab_size)[:, None]


def _one_of_several(grad_output, ids, vocab_size, *, places):
    gradient = torch.zeros(vocab_size, grad_output.shape[-1])
    rows, words = grad_output.flatten(0, -2), ids.flatten().tolist()
    for place in places(range(len(words))):
        gradient[words[place]] = rows[place]
    return (gradient,)


def _mean_of_several(grad_output, ids, vocab_size):
    times = _occurrences(ids, vocab_size).clamp(min=1)
    return (_gradient(grad_output, ids, vocab_size)[0] / times,)


GRADIENT_MISTAKES = {
    "a word that occurs several times keeps only its last gradient; they should be added": (
        partial(_one_of_several, places=iter)
    ),
    "a word that occurs several times keeps only its first gradient; they should be added": (
        partial(_one_of_several, places=reversed)
    ),
    "the gradients of a word that occurs several times are averaged; they should be added": (
        _mean_of_several
    ),
    "it counts how often each word occurs, and leaves out the gradients that arrive": (
        lambda grad_output, ids, vocab_size: (
            _occurrences(ids, vocab_size).expand(-1, grad_output.shape[-1]).to(grad_output.dtype),
        )
    ),
    "ids are counted from 0; here they are counted from 1": partial(
        _gradient, rows=lambda ids: ids - 1 + (ids == 0) * (ids.max() + 1)
    ),
    "the table's gradient has the shape of the table, (V, d); this is (d, V)": (
        lambda grad_output, ids, vocab_size: (_gradient(grad_output, ids, vocab_size)[0].T,)
    ),
    "only the rows of words that occur are left; the gradient has a row for every word": (
        lambda grad_output, ids, vocab_size: (
            _gradient(grad_output, ids, vocab_size)[0][ids.unique()],
        )
    ),
    "this is the way forward: the rows of the gradient are looked up by id": (
        lambda grad_output, ids, vocab_size: (grad_output.flatten(0, -2)[ids],)
    ),
    "the sign is turned: a gradient is what is subtracted later, not its negative": (
        lambda grad_output, ids, vocab_size: (-_gradient(grad_output, ids, vocab_size)[0],)
    ),
}


@exercise
def negative_sampling_loss(answer) -> str:
    """Check `negative_sampling_loss(centre, neighbour, made_up)`, the mean over the pairs.

    centre (B, d) and neighbour (B, d) are the vectors e and u of real pairs, made_up (B, k, d)
    those of the made-up neighbours of each. Dot products may be as large as 200.
    """
    cases = [
        {
            "centre": torch.tensor([[1.0, 2.0]]),
            "neighbour": torch.tensor([[0.5, 1.0]]),
            "made_up": torch.tensor([[[1.0, 0.0], [-1.0, 2.0]]]),
        },
        {
            "centre": torch.randn(3, 5),
            "neighbour": torch.randn(3, 5),
            "made_up": torch.randn(3, 2, 5),
        },
        {
            "centre": torch.randn(5, 3),
            "neighbour": torch.randn(5, 3),
            "made_up": torch.randn(5, 7, 3),
        },
    ]
    compare(answer, cases, _sampled, SAMPLED_MISTAKES)
    far = {
        "centre": torch.tensor([[200.0]]),
        "neighbour": torch.tensor([[-1.0]]),
        "made_up": torch.tensor([[[1.0]]]),
    }
    compare(answer, [far], _sampled, OVERFLOW_MISTAKES, otherwise=CUT_OFF)
    return "1, 3 and 5 pairs with 2 and 7 made-up neighbours; dot products of 200"


def _sampled(
    centre, neighbour, made_up, *, real=1, false=-1, over=torch.sum, of=F.logsigmoid, mean=True
):
    """The loss, or what it would be with one step done in another way."""
    dots = (centre * neighbour).sum(-1)  # (B,)
    made_up_dots = (made_up @ centre[:, :, None]).squeeze(-1)  # (B, k)
    losses = -(of(real * dots) + over(of(false * made_up_dots), dim=-1))
    return (losses.mean() if mean else losses.sum(),)


def _softmax_over_pairs(centre, neighbour, made_up):
    words = torch.cat([neighbour[:, None], made_up], dim=1)  # (B, 1 + k, d)
    return (-(words @ centre[:, :, None]).squeeze(-1).log_softmax(-1)[:, 0].mean(),)


def _only(part):
    def loss(centre, neighbour, made_up):
        if part == "real":
            return _sampled(centre, neighbour, made_up, over=lambda x, dim: 0)
        both, real = _sampled(centre, neighbour, made_up), _only("real")(centre, neighbour, made_up)
        return (both[0] - real[0],)

    return loss


SAMPLED_MISTAKES = {
    "made-up pairs are treated like real ones: their dot product needs a minus": partial(
        _sampled, false=1
    ),
    "the signs are exchanged: a real pair should have a high dot product, a made-up one a low": (
        partial(_sampled, real=-1, false=1)
    ),
    "the mean over the made-up neighbours is taken; the formula has their sum": partial(
        _sampled, over=torch.mean
    ),
    "the sum over the pairs was asked as a mean": partial(_sampled, mean=False),
    "the sign is turned: this is the log-likelihood, and a loss is its negative": (
        lambda centre, neighbour, made_up: (-_sampled(centre, neighbour, made_up)[0],)
    ),
    "the made-up neighbours are left out": _only("real"),
    "the real pair is left out": _only("made up"),
    "each centre meets all neighbours of the batch; a dot product belongs to one pair, and there "
    "are B of them": lambda centre, neighbour, made_up: (
        _only("made up")(centre, neighbour, made_up)[0] - F.logsigmoid(centre @ neighbour.T).mean(),
    ),
    "the made-up neighbours are held against the real neighbour; they belong to the centre": (
        lambda centre, neighbour, made_up: (
            _only("real")(centre, neighbour, made_up)[0]
            + _only("made up")(neighbour, centre, made_up)[0],
        )
    ),
    "the made-up dot products are added before the sigmoid; the formula adds the logarithms": (
        lambda centre, neighbour, made_up: _sampled(centre, neighbour, made_up.sum(1, keepdim=True))
    ),
    "there is no logarithm: the probabilities themselves are added": partial(
        _sampled, of=torch.sigmoid
    ),
    "this is a softmax over one real and k made-up neighbours; here every pair has a yes-or-no "
    "question of its own": _softmax_over_pairs,
}
OVERFLOW_MISTAKES = {
    "it is infinite for a large dot product: the sigmoid was rounded to 0 before the logarithm; "
    "use F.logsigmoid": partial(_sampled, of=lambda x: x.sigmoid().log()),
}
CUT_OFF = (
    "it is right for small dot products and wrong for a large one: a small number added inside the "
    "logarithm, or a clamp, cuts the loss off; use F.logsigmoid"
)


@exercise
def analogies(answer) -> str:
    """Check `analogies(vectors, a, b, c)`: for each question the id d with a : b = c : d.

    vectors (V, d); a, b and c are ids (n,). Rows are scaled to length 1 first; the answer is the
    row with the largest cosine to b - a + c, and never one of the three.
    """
    by_hand = torch.tensor([[2.0, 0.0], [1.0, 1.5], [0.0, 1.0], [-1.0, 1.0], [-0.5, 1.0]])
    a, b, c = (torch.tensor([word]) for word in (0, 1, 2))
    behind = torch.tensor([[1.0, 0.0], [1.0, 0.2], [1.0, 0.1], [-1.0, -0.1], [-1.0, 0.5]])
    cases = [{"vectors": rows, "a": a, "b": b, "c": c} for rows in (by_hand, behind)]
    for words, width in ((11, 3), (29, 5)):
        scales = 0.5 + 3 * torch.rand(words, 1)
        ids = torch.stack([torch.randperm(words)[:3] for _ in range(37)], dim=1)
        given = dict(zip("abc", ids, strict=True))
        cases.append({"vectors": torch.randn(words, width) * scales, **given})
    compare(answer, cases, _analogies, ANALOGIES_MISTAKES, numbers=np.integer)
    return "76 questions about 5, 11 and 29 words, one with negative cosines only"


def _unit(vectors):
    return F.normalize(vectors, dim=1)


def _analogies(
    vectors,
    a,
    b,
    c,
    *,
    prepare=_unit,
    answers=_unit,
    step=lambda a, b, c: b - a + c,
    given="abc",
    fill=-torch.inf,
):
    """The best answers, or what they would be with one step done in another way."""
    rows = prepare(vectors)
    similarity = step(rows[a], rows[b], rows[c]) @ answers(vectors).T  # (n, V)
    ids = {"a": a, "b": b, "c": c}
    for name in given:
        similarity = similarity.scatter(1, ids[name][:, None], fill)
    return (similarity.argmax(1),)


def _raw(vectors):
    return vectors


def _columns(vectors):
    return F.normalize(vectors, dim=0)


def _all_excluded(vectors, a, b, c):
    unit = _unit(vectors)
    similarity = (unit[b] - unit[a] + unit[c]) @ unit.T
    return similarity.index_fill(1, torch.cat([a, b, c]), -9).argmax(1)


ANALOGIES_MISTAKES = {
    "the three given words are allowed as answers; exclude them": partial(_analogies, given=""),
    "only the third word is excluded; a and b must not be the answer either": partial(
        _analogies, given="c"
    ),
    "the cosines of the given words are set to 0, and 0 wins where all others are negative; "
    "set them to -inf": partial(_analogies, fill=0.0),
    "every question excludes the words of all questions; it should exclude its own three": (
        lambda vectors, a, b, c: (_all_excluded(vectors, a, b, c),)
    ),
    "the columns are scaled to length 1; a word is a row, dim=1": partial(
        _analogies, prepare=_columns, answers=_columns
    ),
    "the step goes the wrong way: a - b + c instead of b - a + c": partial(
        _analogies, step=lambda a, b, c: a - b + c
    ),
    "this is a + b - c; the step from a to b is b - a, and it is added to c": partial(
        _analogies, step=lambda a, b, c: a + b - c
    ),
    "there is no arithmetic: the nearest word to c was taken": partial(
        _analogies, step=lambda a, b, c: c
    ),
    "the rows are not scaled to length 1, neither in the sum nor as answers": partial(
        _analogies, prepare=_raw, answers=_raw
    ),
    "the rows are not scaled to length 1 before b - a + c": partial(_analogies, prepare=_raw),
    "the answers are compared by dot product, so that long vectors win; use the cosine": partial(
        _analogies, answers=_raw
    ),
    "the farthest word was taken, not the nearest: the largest cosine, not the smallest": (
        lambda vectors, a, b, c: _farthest(vectors, a, b, c)
    ),
}


def _farthest(vectors, a, b, c):
    return _analogies(vectors, a, b, c, step=lambda a, b, c: a - b - c)


@exercise
def expected_loss(answer) -> str:
    """Check `expected_loss(scores, together, noise, k)`, the loss without drawing, per real pair.

    scores (V, V) holds the dot product of every centre with every neighbour, together (V, V) how
    often they occur as a pair, noise (V,) the probability of each as a made-up neighbour.
    """
    cases = [
        {
            "scores": torch.tensor([[0.0, 1.0], [-1.0, 2.0]]),
            "together": torch.tensor([[1.0, 3.0], [0.0, 4.0]]),
            "noise": torch.tensor([0.25, 0.75]),
            "k": 2,
        }
    ]
    for words, k in ((5, 1), (7, 3)):
        together = torch.randint(0, 9, (words, words)).float()
        noise = torch.rand(words)
        scores = torch.randn(words, words)
        cases.append({"scores": scores, "together": together, "noise": noise / noise.sum(), "k": k})
    compare(answer, cases, _expected, EXPECTED_MISTAKES)
    return "2, 5 and 7 words with 1, 2 and 3 made-up neighbours"


def _expected(
    scores,
    together,
    noise,
    k,
    *,
    made_up=lambda together, noise, k: k * together.sum(1, keepdim=True) * noise,
    sign=-1,
    per=lambda together: together.sum(),
):
    real = together * F.logsigmoid(scores)
    false = made_up(together, noise, k) * F.logsigmoid(sign * scores)
    return (-(real + false).sum() / per(together),)


EXPECTED_MISTAKES = {
    "k is left out: there are k made-up pairs for every real one": partial(
        _expected, made_up=lambda together, noise, k: together.sum(1, keepdim=True) * noise
    ),
    "every centre gets equally many made-up neighbours; it should get k for each real one": (
        partial(_expected, made_up=lambda together, noise, k: k * noise)
    ),
    "the counts of the neighbours were taken, those of the centres are needed: sum over dim 1": (
        partial(
            _expected, made_up=lambda together, noise, k: k * together.sum(0, keepdim=True) * noise
        )
    ),
    "the noise belongs to the centres here; it is that of the neighbours, along the columns": (
        partial(
            _expected,
            made_up=lambda together, noise, k: k * together.sum(1, keepdim=True) * noise[:, None],
        )
    ),
    "only pairs that occur are made up here; a draw does not ask whether its pair occurs: take the "
    "centre's count, the sum of its row": partial(
        _expected, made_up=lambda together, noise, k: k * together * noise
    ),
    "every centre gets the made-up neighbours of all real pairs; it should get those of its own": (
        partial(_expected, made_up=lambda together, noise, k: k * together.sum() * noise)
    ),
    "the counts of the centres lie along the columns: a sum of shape (V,) lines up with the last "
    "axis; keepdim=True keeps it standing along the rows": partial(
        _expected, made_up=lambda together, noise, k: k * together.sum(1) * noise
    ),
    "the noise is left out: all words are made up equally often": partial(
        _expected,
        made_up=lambda together, noise, k: (
            k * together.sum(1, keepdim=True) / len(noise) * torch.ones_like(noise)
        ),
    ),
    "made-up pairs are treated like real ones: their score needs a minus": partial(
        _expected, sign=1
    ),
    "the sum was not divided by the number of real pairs": partial(
        _expected, per=lambda together: 1
    ),
    "the sum was divided by the number of cells; divide by the number of real pairs": partial(
        _expected, per=lambda together: together.numel()
    ),
    "the sign is turned: this is the log-likelihood, and a loss is its negative": (
        lambda scores, together, noise, k: (-_expected(scores, together, noise, k)[0],)
    ),
}


@exercise
def count_vectors(answer) -> str:
    """Check `count_vectors(sentences, vocab_size, window, d)`: vectors (V, d) by counting.

    sentences are lists of ids. Positive PMI of the counts within the window, its singular value
    decomposition, and the rows U √S of the d largest directions, whose signs are free: what is
    compared are the dot products of all rows.
    """
    rungs = [
        Rung(
            "two neighbours count both ways: with PMI log 2 for each other, each row times "
            "itself is log 2",
            _rows_of("[[0, 1], [0, 1]], 2, 2, 2"),
            COUNTED_MISTAKES,
        ),
        Rung(
            "a word that never occurs has zeros, not NaN: 0 / 0 is no PMI",
            _rows_of("[[0, 2]], 3, 2, 3"),
        ),
        Rung(
            "a pair that is never seen has PMI 0, not minus infinity",
            _rows_of("[[0, 1, 2, 3]], 4, 1, 4"),
            COUNTED_MISTAKES,
        ),
        Rung(
            "no pair crosses the end of a sentence",
            _rows_of("[[0, 1], [2, 3, 0]], 4, 1, 4"),
            COUNTED_MISTAKES,
        ),
        Rung(
            "with a window of 2 the neighbours are up to two places away, on both sides",
            _rows_of("[[0, 1, 2, 3, 4]], 5, 2, 5"),
            COUNTED_MISTAKES,
        ),
        Rung(
            "a pair rarer than chance has PMI 0, not a negative one",
            _rows_of("[[0, 1], [0, 1], [0, 1], [2, 3], [2, 3], [2, 3], [0, 3]], 4, 1, 4"),
            COUNTED_MISTAKES,
        ),
        Rung(
            "a word that repeats within the window is its own neighbour",
            _rows_of("[[0, 0, 1]], 2, 1, 2"),
        ),
        Rung(
            "with d below V only the d largest directions are kept",
            _rows_of("[[0, 1, 2, 0, 3, 1], [2, 3, 4, 1, 1], [4, 0]], 5, 2, 2"),
            COUNTED_MISTAKES,
        ),
        Rung(
            "the result has a row for each word of the vocabulary and d columns",
            "tuple(count_vectors([[0, 1, 2, 0, 3, 1], [4, 0]], 5, 2, 3).shape)",
        ),
    ]
    ladder(rungs, _counted, count_vectors=answer)
    return "corpora of one to seven sentences, windows of 1 and 2, rare, unseen and repeated words"


def _rows_of(inputs: str) -> str:
    return f"rows = torch.as_tensor(count_vectors({inputs})).double()\nrows @ rows.T"


def _counted(
    sentences,
    vocab_size,
    window,
    d,
    *,
    ways=((0, 1), (1, 0)),
    crossing=False,
    ratio=lambda pmi: pmi.clamp(min=0),
    rows=lambda U, S: U * S.sqrt(),
    counts=False,
    reach=0,
):
    """The vectors, or what they would be with one step done in another way."""
    together = torch.zeros(vocab_size, vocab_size, dtype=torch.float64)
    if crossing:
        sentences = [[word for sentence in sentences for word in sentence]]
    for sentence in sentences:
        for i, word in enumerate(sentence):
            for other in sentence[i + 1 : i + 1 + window + reach]:
                for way in ways:
                    pair = (word, other)
                    together[pair[way[0]], pair[way[1]]] += 1
    of_centre, of_neighbour = together.sum(1, keepdim=True), together.sum(0, keepdim=True)
    pmi = (together * together.sum() / (of_centre * of_neighbour)).log()
    pmi = together if counts else ratio(pmi.where(together > 0, 0))
    U, S, _ = torch.linalg.svd(pmi)
    return rows(U, S)[:, :d]


COUNTED_MISTAKES = {
    "only the neighbour to the right is counted: each pair counts both ways": partial(
        _counted, ways=((0, 1),)
    ),
    "the singular values are left out: the rows are those of U √S": partial(
        _counted, rows=lambda U, S: U
    ),
    "the rows are those of U S: take the root of the singular values": partial(
        _counted, rows=lambda U, S: U * S
    ),
    "the counts themselves are factorised, not their PMI": partial(_counted, counts=True),
    "the window runs across the end of a sentence: count within each sentence": partial(
        _counted, crossing=True
    ),
    "the window is one too small: range(1, window) leaves the last place out": partial(
        _counted, reach=-1
    ),
    "negative PMI is kept: take its positive part": partial(_counted, ratio=lambda pmi: pmi),
    "the smallest directions are kept, not the largest": partial(
        _counted, rows=lambda U, S: (U * S.sqrt()).flip(1)
    ),
}
