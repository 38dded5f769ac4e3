"""Checks for the exercises of book/embeddings.ipynb."""

import torch
import torch.nn.functional as F

from book.checking.exercise import exercise, ladder
from book.checking.rungs import rungs


@exercise
def look_up(answer) -> str:
    """Check `look_up(table, ids)`: the rows of table (V, d) for ids (...), as (..., d)."""
    ladder(LOOK_UP, _look_up, look_up=answer)
    return "one word, three, two sentences of three, and an id alone"


def _look_up(table, ids):
    return table[ids]


LOOK_UP = rungs(
    _look_up,
    """
an id is the number of a row of the table, counted from 0; this one row is the word's vector, and
nothing is done to its numbers
    table = torch.tensor([[1.0, 2.0, 6.0, 9.0], [3.0, 5.0, 0.5, 4.0], [7.0, 8.0, -1.0, 10.0]])
    look_up(table, torch.tensor([2]))
  - ids are counted from 0; here they are counted from 1
    ids] => (ids - 1) % len(table)]
  - columns were picked, not rows
    [ids] => [:, ids % table.shape[1]]
  - columns of the table were picked, and rows of what is left are expected
    [ids] => .T[ids % table.shape[1]]
  - the table was reshaped to (d, V), which is no transposition, and its columns were picked
    [ids] => .reshape(table.shape[1], -1)[:, ids].mT
  - these are one-hot vectors, not yet multiplied with the table
    table[ids] => F.one_hot(ids, len(table)).float()
  - the rows are multiplied by the root of d; a plain look-up changes nothing
    table[ids] => table[ids] * table.shape[1] ** 0.5
  - the rows are scaled to length 1; a plain look-up changes nothing
    table[ids] => F.normalize(table, dim=1)[ids]
  - rows are added up as far as the id; a word has one row of its own
    table[ids] => table.cumsum(0)[ids]
  - the rows before the id are added up; a word has one row of its own, that of its id
    table[ids] => table.cumsum(0)[ids] - table[ids]
  - the row is multiplied by the id; an id says where a row stands, and is no amount
    table[ids] => table[ids] * ids[..., None]
the table has three rows, and the largest id that occurs is 1: the number of rows is that of the
table (a one-hot vector needs its length, num_classes)
    table = torch.tensor([[1.0, 2.0, 6.0, 9.0], [3.0, 5.0, 0.5, 4.0], [7.0, 8.0, -1.0, 10.0]])
    look_up(table, torch.tensor([1]))
word 0 has a vector like any other, the first row of the table
    table = torch.tensor([[1.0, 2.0, 6.0, 9.0], [3.0, 5.0, 0.5, 4.0], [7.0, 8.0, -1.0, 10.0]])
    look_up(table, torch.tensor([0]))
  - word 0 is taken for padding, and gets zeros; its vector is the first row of the table
    table[ids] => table[ids] * (ids > 0)[..., None]
each id gives its own row, in the order of the ids, and a word that comes again its row again; ids
are places in the table, not numbers to multiply with
    table = torch.tensor([[1.0, 2.0], [3.0, 5.0], [7.0, 8.0]])
    look_up(table, torch.tensor([2, 0, 2]))
  - each word comes once only, and in the order of the table; a look-up repeats a row as often as
  its id occurs
    table[ids] => table[ids.unique()]
  - the rows of a sentence are added up: this is a bag of words
    table[ids] => table[ids].sum(-2)
  - the rows stand in the order of sorted ids; each belongs where its word stands
    [ids] => [ids.sort().values]
  - the rows stand in reverse order
    table[ids] => table[ids].flip(-2)
  - only the vector of the first word is left; each word has one
    table[ids] => table[ids][..., :1, :]
  - only the vector of the last word is left; each word has one
    table[ids] => table[ids][..., -1, :]
  - the rows of a sentence are averaged: this is a bag of words
    table[ids] => table[ids].mean(-2)
two sentences of three words: the result has the shape of the ids and an axis of width d behind it,
so that ids (B, T) become (B, T, d)
    table, ids = torch.arange(35.0).reshape(7, 5), torch.tensor([[0, 4, 1], [1, 3, 2]])
    look_up(table, ids)
  - the ids are put into one row: the result has lost the shape of the ids
    table[ids] => table[ids.flatten()]
  - sentences and words have changed places: the result is (T, B, d), expected (B, T, d)
    table[ids] => table[ids].transpose(0, -2)
  - only the first sentence was looked up
    table[ids] => table[ids if ids.ndim < 2 else ids[0]]
  - the entries stand before the words: (B, d, T); the width d is the last axis
    table[ids] => table[ids].mT
an id alone, without an axis, gives a row alone
    table = torch.tensor([[1.0, 2.0], [3.0, 5.0], [7.0, 8.0]])
    look_up(table, torch.tensor(2))
""",
)


@exercise
def look_up_gradient(answer) -> str:
    """Check `look_up_gradient(grad_output, ids, vocab_size)`, the table's gradient (V, d).

    grad_output (..., d) is the gradient of what `look_up` has returned for ids (...).
    """
    ladder(LOOK_UP_GRADIENT, _gradient, look_up_gradient=answer)
    return "words that occur once, twice and four times or never; one sentence and two"


def _gradient(grad_output, ids, vocab_size):
    gradient = torch.zeros(vocab_size, grad_output.shape[-1])
    words = ids.flatten()
    rows = grad_output.flatten(0, -2)
    for word, row in zip(words, rows, strict=True):
        gradient[word] = gradient[word] + row
    return gradient


LOOK_UP_GRADIENT = rungs(
    _gradient,
    """
a single word: its row of the table gets the gradient that arrives, and the rows of all words that
do not occur are zeros
    look_up_gradient(torch.tensor([[3.0, 5.0]]), torch.tensor([1]), 3)
  - it counts how often each word occurs, and leaves out the gradients that arrive
    gradient[word] + row => gradient[word] + 1
  - ids are counted from 0; here they are counted from 1
    gradient[word] = gradient[word] => gradient[word - 1] = gradient[word - 1]
  - the table's gradient has the shape of the table, (V, d); this is (d, V)
    return gradient => return gradient.T
  - only the rows of words that occur are left; the gradient has a row for every word
    return gradient => return gradient[words.unique()]
  - this is the way forward: the rows of the gradient are looked up by id
    return gradient => return rows[ids % len(rows)]
  - the sign is turned: a gradient is what is subtracted later, not its negative
    return gradient => return -gradient
  - it begins with ones; what nothing arrives at has a gradient of zero
    torch.zeros => torch.ones
  - every word's row gets what has arrived; a row gets what has arrived at its own word
    return gradient => return gradient.sum(0).expand(vocab_size, -1)
the single word is word 0, a word like any other: row 0 gets the gradient that arrives
    look_up_gradient(torch.tensor([[3.0, 5.0]]), torch.tensor([0]), 3)
  - row 0 gets nothing, as if word 0 were padding; it is a word like any other
    return gradient => return gradient * (torch.arange(vocab_size) > 0)[:, None]
the single word is the last one of the vocabulary: the last row gets the gradient that arrives
    look_up_gradient(torch.tensor([[3.0, 5.0]]), torch.tensor([2]), 3)
  - the last row of the table gets nothing: the loop over the words ends one too early
    return gradient => return gradient * (torch.arange(vocab_size) < vocab_size - 1)[:, None]
two words, each once: what arrives at a place belongs to the word of that place alone
    look_up_gradient(torch.tensor([[3.0, 5.0], [20.0, 70.0]]), torch.tensor([2, 0]), 3)
  - all that arrives is added up, and every word that occurs gets the whole; each gets its own part
    return gradient => return gradient.sum(0) * (gradient != 0).any(1, keepdim=True)
  - only what arrives first counts: the first place, or the first sentence; all of them do
    words = ids.flatten() => words = ids[:1].flatten()
    grad_output.flatten(0, -2) => grad_output[:1].flatten(0, -2)
  - only what arrives last counts: the last place, or the last sentence; all of them do
    words = ids.flatten() => words = ids[-1:].flatten()
    grad_output.flatten(0, -2) => grad_output[-1:].flatten(0, -2)
  - the gradients belong to the words in reverse order
    zip(words, rows => zip(words.flip(0), rows
  - it is divided by the number of all places; the gradients are added up, not averaged
    return gradient => return gradient / len(words)
  - the gradients stand in the order in which they arrive; each goes to the row of its id
    zip(words, rows, strict=True) => enumerate(rows)
a word that occurs twice gets the sum of what arrives at its two places
    grad_output = torch.tensor([[1.0, 200.0], [10.0, 20.0], [100.0, 2.0]])
    look_up_gradient(grad_output, torch.tensor([1, 0, 1]), 3)
  - a word that occurs several times keeps only its last gradient; they should be added
    gradient[word] + row => row
  - a word that occurs several times keeps only its first gradient; they should be added
    zip(words, rows, strict=True) => zip(words.flip(0), rows.flip(0))
    gradient[word] + row => row
  - of the gradients of a word that occurs several times the largest numbers are kept; they should
  be added
    gradient[word] + row => torch.maximum(gradient[word], row)
  - what arrives is multiplied by how often its word occurs; each place counts once
    gradient[word] + row => row * (words == word).sum()
  - a word that occurs several times gets nothing
    return gradient => return gradient * (words.bincount(minlength=vocab_size) == 1)[:, None]
  - the gradients of a word that occurs several times are averaged; they should be added
    return gradient => return gradient / words.bincount(minlength=vocab_size).clamp(min=1)[:, None]
two sentences of two words: what arrives at a place belongs to the word of this place in this
sentence
    grad_output = torch.tensor([[[1.0, 2.0], [3.0, 5.0]], [[10.0, 20.0], [30.0, 50.0]]])
    look_up_gradient(grad_output, torch.tensor([[0, 1], [2, 3]]), 4)
  - ids are flattened column by column and gradients row by row, so that they no longer belong to
  each other
    ids.flatten() => ids.t().flatten()
  - it is divided by the number of sentences; the gradients are added up, not averaged
    return gradient => return gradient / (len(ids) if ids.ndim > 1 else 1)
  - it is divided by the number of words in a sentence; the gradients are added up, not averaged
    return gradient => return gradient / ids.shape[-1]
two sentences: a word's gradients are added over both, and there are vocab_size rows, even for ids
that are larger than any that occurs
    grad_output = torch.arange(30.0).reshape(2, 5, 3)
    look_up_gradient(grad_output, torch.tensor([[4, 1, 4, 4, 0], [1, 2, 6, 0, 4]]), 8)
  - there are as many rows as the largest id asks for; vocab_size says how many there are
    return gradient => return gradient[: words.max() + 1]
""",
)


@exercise
def negative_sampling_loss(answer) -> str:
    """Check `negative_sampling_loss(centre, neighbour, made_up)`, the mean over the pairs.

    centre (B, d) and neighbour (B, d) are the vectors e and u of real pairs, made_up (B, k, d)
    those of the made-up neighbours of each. Dot products may be as large as 200.
    """
    ladder(NEGATIVE_SAMPLING_LOSS, _sampled, negative_sampling_loss=answer)
    return "1, 3 and 5 pairs with 2 and 7 made-up neighbours; dot products of 200"


def _sampled(centre, neighbour, made_up):
    real = (centre * neighbour).sum(-1)  # (B,)
    false = (made_up @ centre[:, :, None]).squeeze(-1)  # (B, k)
    of_real = F.logsigmoid(real)
    of_made_up = F.logsigmoid(-false).sum(-1)
    return -(of_real + of_made_up).mean()


NEGATIVE_SAMPLING_LOSS = rungs(
    _sampled,
    """
all dot products are 0, and σ(0) = 1/2: a pair asks 1 + k questions, here one about the real
neighbour and two about made-up ones, and each of them costs -log(1/2); their sum is 3 log 2
    centre, neighbour, made_up = torch.zeros(1, 2), torch.ones(1, 2), torch.ones(1, 2, 2)
    negative_sampling_loss(centre, neighbour, made_up)
  - the mean over the made-up neighbours is taken; the formula has their sum
    F.logsigmoid(-false).sum(-1) => F.logsigmoid(-false).mean(-1)
  - the mean over all 1 + k questions of a pair is taken; the formula adds them up, and takes the
  mean over the pairs only
    return -(of_real + of_made_up) => return -((of_real + of_made_up) / (1 + made_up.shape[1]))
  - the sign is turned: this is the log-likelihood, and a loss is its negative
    return -(of_real + of_made_up).mean() => return (of_real + of_made_up).mean()
  - the made-up neighbours are left out
    (of_real + of_made_up) => (of_real)
  - the real pair is left out
    (of_real + of_made_up) => (of_made_up)
  - the made-up part is taken off; both parts cost something
    (of_real + of_made_up) => (of_real - of_made_up)
  - only the first made-up neighbour of each pair counts; all k do
    F.logsigmoid(-false).sum(-1) => F.logsigmoid(-false)[:, 0]
  - only the last made-up neighbour of each pair counts; all k do
    F.logsigmoid(-false).sum(-1) => F.logsigmoid(-false)[:, -1]
  - only the made-up neighbour with the largest dot product counts, the hardest; all k do
    F.logsigmoid(-false).sum(-1) => F.logsigmoid(-false).amin(-1)
  - only the made-up neighbour with the smallest dot product counts, the easiest; all k do
    F.logsigmoid(-false).sum(-1) => F.logsigmoid(-false).amax(-1)
  - the real pair is weighted with k, the number of made-up neighbours; it counts once
    of_real + of_made_up => made_up.shape[1] * of_real + of_made_up
  - the made-up neighbours are multiplied by k once more: their sum has k terms already
    of_real + of_made_up => of_real + made_up.shape[1] * of_made_up
  - the loss is divided by k
    return - => return -1 / made_up.shape[1] *
  - there is no logarithm: the probabilities themselves are added
    F.logsigmoid => torch.sigmoid
  - this is a softmax over one real and k made-up neighbours; here every pair has a yes-or-no
  question of its own
    F.logsigmoid(real) => torch.cat([real[:, None], false], 1).log_softmax(1)[:, 0]
    of_made_up = F.logsigmoid(-false).sum(-1) => of_made_up = 0
  - each pair has a loss of its own; the mean over the pairs was asked for
    .mean() =>
the real pair has a dot product of log 3 and so a probability of 3/4: it costs -log(3/4)
    three = torch.tensor(3.0).log()
    centre, neighbour, made_up = torch.ones(1, 1), three.reshape(1, 1), torch.zeros(1, 1, 1)
    negative_sampling_loss(centre, neighbour, made_up)
  - the signs are exchanged: a real pair should have a high dot product, a made-up one a low
    (real) => (-real)
    (-false) => (false)
  - a real pair is treated like a made-up one; its dot product has no minus
    (real) => (-real)
  - cosines were taken, of real and made-up pairs; the formula has dot products
    (centre * neighbour).sum(-1) => F.cosine_similarity(centre, neighbour)
    -false => -F.cosine_similarity(made_up, centre[:, None], dim=-1)
  - the vectors of the neighbours are scaled to length 1; the formula takes them as they are
    (centre * neighbour) => (centre * F.normalize(neighbour, dim=-1))
    (made_up @ => (F.normalize(made_up, dim=-1) @
  - the dot products are divided by the root of d, as in attention; here they are not
    = (centre * neighbour) => = centre.shape[1] ** -0.5 * (centre * neighbour)
    = (made_up @ => = centre.shape[1] ** -0.5 * (made_up @
  - the cosine was taken; the formula has the dot product
    (centre * neighbour).sum(-1) => F.cosine_similarity(centre, neighbour)
a made-up pair has a dot product of log 3, too: σ(-log 3) = 1/4 is the probability that it is made
up, and it costs -log(1/4); its dot product comes with a minus
    three = torch.tensor(3.0).log()
    centre, neighbour, made_up = torch.ones(1, 1), torch.zeros(1, 1), three.reshape(1, 1, 1)
    negative_sampling_loss(centre, neighbour, made_up)
  - made-up pairs are treated like real ones: their dot product needs a minus
    -false => false
two made-up pairs, with dot products of log 3 and -log 3: each has a sigmoid and a logarithm of its
own, and these are added
    three = torch.tensor(3.0).log()
    centre, neighbour = torch.ones(1, 1), torch.zeros(1, 1)
    negative_sampling_loss(centre, neighbour, torch.stack([three, -three]).reshape(1, 2, 1))
  - the made-up dot products are added before the sigmoid; the formula adds the logarithms
    F.logsigmoid(-false).sum(-1) => F.logsigmoid(-false.sum(-1))
  - the logarithm of the mean probability of the made-up ones was taken; the formula adds the
  logarithms
    F.logsigmoid(-false).sum(-1) => torch.sigmoid(-false).mean(-1).log()
  - the mean dot product of the made-up ones was taken; each has a sigmoid and a logarithm
    F.logsigmoid(-false).sum(-1) => F.logsigmoid(-false.mean(-1))
  - the made-up probabilities are added before the logarithm; the formula adds the logarithms
    F.logsigmoid(-false).sum(-1) => torch.sigmoid(-false).sum(-1).log()
a made-up neighbour is held against the centre, as the real one is
    centre, neighbour = torch.tensor([[1.0, 2.0]]), torch.tensor([[0.5, 1.0]])
    negative_sampling_loss(centre, neighbour, torch.tensor([[[1.0, 0.0], [-1.0, 2.0]]]))
  - the made-up neighbours are held against the real neighbour; they belong to the centre
    made_up @ centre => made_up @ neighbour
  - the mean over the entries was taken; a dot product is their sum
    (centre * neighbour).sum(-1) => (centre * neighbour).mean(-1)
several pairs: each centre meets its own neighbour and its own made-up ones, and the mean over the
pairs is taken
    centre, neighbour, made_up = torch.randn(3, 5), torch.randn(3, 5), torch.randn(3, 2, 5)
    negative_sampling_loss(centre, neighbour, made_up)
  - the sum over the pairs was asked as a mean
    .mean() => .sum()
  - only the first pair of the batch counts; the mean over all pairs was asked for
    (of_real + of_made_up).mean() => (of_real + of_made_up)[0]
  - the made-up part is added up over the pairs, and only the real one is averaged
    -(of_real + of_made_up).mean() => -(of_real.mean() + of_made_up.sum())
  - the made-up neighbours of all pairs are held against each centre; each pair has its own
    (made_up @ centre[:, :, None]).squeeze(-1) => centre @ made_up.flatten(0, 1).T
  - each centre meets all neighbours of the batch; a dot product belongs to one pair, and there
  are B of them
    of_real = F.logsigmoid(real) => of_real = F.logsigmoid(centre @ neighbour.T).mean()
several pairs with one made-up neighbour each: the loss of a pair is about its own
    centre, neighbour, made_up = torch.randn(3, 5), torch.randn(3, 5), torch.randn(3, 1, 5)
    negative_sampling_loss(centre, neighbour, made_up)
  - the axis of the made-up neighbours is lost if there is one of each: squeeze only the last axis
    squeeze(-1) => squeeze()
a dot product of 200 on the wrong side costs about 200, a number like any other: σ is 0 there, as
far as floats go, so its logarithm cannot be taken afterwards, and a clamp or a small number added
to it would cut the loss off; use F.logsigmoid
    centre, neighbour, made_up = (x * torch.ones(1, 1) for x in (200.0, -1.0, 1.0))
    negative_sampling_loss(centre, neighbour, made_up[None])
  - it is infinite for a large dot product: the sigmoid was rounded to 0 before the logarithm;
  use F.logsigmoid
    F.logsigmoid(real) => torch.sigmoid(real).log()
    F.logsigmoid(-false) => torch.sigmoid(-false).log()
""",
)


@exercise
def analogies(answer) -> str:
    """Check `analogies(vectors, a, b, c)`: for each question the id d with a : b = c : d.

    vectors (V, d); a, b and c are ids (n,). Rows are scaled to length 1 first; the answer is the
    row with the largest cosine to b - a + c, and never one of the three.
    """
    ladder(ANALOGIES, _analogies, analogies=answer)
    return "one question about words to follow by hand, and many about 11 and 29 words"


def _analogies(vectors, a, b, c):
    rows = F.normalize(vectors, dim=1)
    columns = F.normalize(vectors, dim=1)
    wanted = rows[b] - rows[a] + rows[c]
    cosines = wanted @ columns.T  # (n, V), times the length of what is wanted
    for given in (a, b, c):
        cosines = cosines.scatter(1, given[:, None], -torch.inf)
    return cosines.argmax(1)


ANALOGIES = rungs(
    _analogies,
    """
all rows have length 1, and row 3 is exactly b - a + c: a is word 0, b word 1, c word 2, and the
answer is the id of that row
    vectors = torch.tensor([[0.6, 0, 0.8], [-0.6, 0, 0.8], [0.6, 0.8, 0], [-0.6, 0.8, 0],
                            [0, -0.6, 0.8], [0.96, 0.28, 0], [0.28, 0.96, 0], [-0.96, -0.28, 0],
                            [0.6, -0.8, 0], [-0.92, -0.392, 0], [0.224, 0.912, -0.344]])
    analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))
  - the step goes the wrong way: a - b + c instead of b - a + c
    rows[b] - rows[a] => rows[a] - rows[b]
  - this is a + b - c; the step from a to b is b - a, and it is added to c
    rows[b] - rows[a] + rows[c] => rows[b] + rows[a] - rows[c]
  - there is no arithmetic: the nearest word to c was taken
    rows[b] - rows[a] + rows[c] => rows[c]
  - the step from a to b is not added to c: the word nearest to b - a was taken
    rows[b] - rows[a] + rows[c] => rows[b] - rows[a]
  - all three are added up; a is subtracted: b - a + c
    rows[b] - rows[a] => rows[b] + rows[a]
  - both a and b are subtracted from c; a is subtracted and b added: b - a + c
    rows[b] - rows[a] + rows[c] => rows[c] - rows[b] - rows[a]
  - c is subtracted; it is added: b - a + c
    + rows[c] => - rows[c]
  - a is not subtracted: this is b + c
    rows[b] - rows[a] + => rows[b] +
  - b is left out: this is c - a
    rows[b] - rows[a] => -rows[a]
  - the cosines to b and c are multiplied and divided by that to a (3CosMul); here the vectors are
  added
    cosines = wanted => near = (rows @ rows.T + 1) / 2; cosines = wanted
    wanted @ columns.T => near[b] * near[c] / (near[a] + 1e-3)
  - the direction of the step alone is compared, d - c with b - a; the word nearest to b - a + c was
  asked for
    rows[b] - rows[a] + rows[c] => rows[b] - rows[a]
    wanted @ columns.T => F.cosine_similarity(wanted[:, None], rows - rows[c][:, None], dim=-1)
  - the mean of all rows is subtracted first; only the length of the rows is changed
    F.normalize(vectors, dim=1) => F.normalize(vectors - vectors.mean(0), dim=1)
  - the largest number was taken whatever its sign: a row opposite to b - a + c is far, not near
    wanted @ columns.T => (wanted @ columns.T).abs()
  - the fourth best word was taken, as if the three given ones were always the first three
    cosines.argmax(1) => (wanted @ columns.T).topk(4).indices[:, 3]
  - the second best word was taken, as if one given word were always the first
    cosines.argmax(1) => (wanted @ columns.T).topk(2).indices[:, 1]
  - the farthest word was taken, not the nearest: the largest cosine, not the smallest
    -torch.inf => torch.inf
    argmax => argmin
  - the largest cosine is returned; the id of its row was asked for
    argmax => amax
  - there is one answer for each question, its id; these are several
    .argmax(1) => .topk(2).indices
c itself is nearest to b - a + c, since b is near a; the three given words are never the answer
    vectors = torch.tensor([[1.0, 0], [0.96, 0.28], [0, 1], [-0.28, 0.96], [-1, 0]])
    analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))
  - c is not excluded; it is given, and so never the answer
    (a, b, c) => (a, b)
b is nearest to b - a + c, since c is near a; the three given words are never the answer
    vectors = torch.tensor([[1.0, 0], [0, 1], [0.96, -0.28], [-0.28, 0.96], [-1, 0]])
    analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))
  - the three given words are allowed as answers; exclude them
    (a, b, c) => ()
  - only the third word is excluded; a and b must not be the answer either
    (a, b, c) => (c,)
  - b is not excluded; it is given, and so never the answer
    (a, b, c) => (a, c)
a is nearest to b - a + c; the three given words are never the answer
    vectors = torch.tensor([[1.0, 0], [0.6, 0.8], [0.6, -0.8], [0.28, 0.96], [-1, 0]])
    analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))
  - a is not excluded; it is given, and so never the answer
    (a, b, c) => (b, c)
all other words have negative cosines: the given ones must not win with a 0 in place of theirs
    vectors = torch.tensor([[1.0, 0], [1, 0.2], [1, 0.1], [-1, -0.1], [-1, 0.5]])
    analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))
  - the cosines of the given words are set to 0, and 0 wins where all others are negative;
  set them to -inf
    -torch.inf => 0.0
word 4 is long, and word 3 points where b - a + c does: a cosine does not ask for the length of the
word that is found
    vectors = torch.tensor([[0.6, 0, 0.8], [-0.6, 0, 0.8], [0.6, 0.8, 0], [-0.6, 0.8, 0],
                            [0, 9, 0]])
    analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))
  - the answers are compared by dot product, so that long vectors win; use the cosine
    columns = F.normalize(vectors, dim=1) => columns = vectors
  - the rows are not scaled to length 1, neither in the sum nor as answers
    F.normalize(vectors, dim=1) => vectors
word 0 is four times as long as the others: rows are scaled to length 1 *before* b - a + c
    vectors = torch.tensor([[2.4, 0, 3.2], [-0.6, 0, 0.8], [0.6, 0.8, 0], [-0.6, 0.8, 0],
                            [-0.6, 0, -0.8]])
    analogies(vectors, torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))
  - the rows are not scaled to length 1 before b - a + c
    rows = F.normalize(vectors, dim=1) => rows = vectors
  - the columns are scaled to length 1; a word is a row, dim=1
    dim=1 => dim=0
two questions: each excludes its own three words, and may find a word that another one was given
    vectors = torch.tensor([[0.6, 0, 0.8], [-0.6, 0, 0.8], [0.6, 0.8, 0], [-0.6, 0.8, 0],
                            [0, -0.6, 0.8]])
    analogies(vectors, torch.tensor([0, 3]), torch.tensor([1, 2]), torch.tensor([2, 1]))
  - every question excludes the words of all questions; it should exclude its own three
    cosines.scatter(1, given[:, None], -torch.inf) => cosines.index_fill(1, given, -torch.inf)
  - every question excludes the words of the first one; it should exclude its own three
    cosines.scatter(1, given[:, None], -torch.inf) => cosines.index_fill(1, given[:1], -torch.inf)
  - every question excludes the words of the last one; it should exclude its own three
    cosines.scatter(1, given[:, None], -torch.inf) => cosines.index_fill(1, given[-1:], -torch.inf)
  - one answer comes back for all questions together; each has its own
    cosines.argmax(1) => cosines.amax(0).argmax(keepdim=True)
37 questions about 29 words of all lengths
    vectors = torch.randn(29, 5) * (0.5 + 3 * torch.rand(29, 1))
    a, b, c = torch.stack([torch.randperm(29)[:3] for question in range(37)], 1)
    analogies(vectors, a, b, c)
""",
)


@exercise
def expected_loss(answer) -> str:
    """Check `expected_loss(scores, together, noise, k)`, the loss without drawing, per real pair.

    scores (V, V) holds the dot product of every centre with every neighbour, together (V, V) how
    often they occur as a pair, noise (V,) the probability of each as a made-up neighbour.
    """
    ladder(EXPECTED_LOSS, _expected, expected_loss=answer)
    return "2 and 5 words with 1, 2 and 3 made-up neighbours"


def _expected(scores, together, noise, k):
    centres = together.sum(1, keepdim=True)
    made_up = k * centres * noise  # how often each is to be expected
    real = together * F.logsigmoid(scores)
    false = made_up * F.logsigmoid(-scores)
    return -(real + false).sum() / together.sum()


EXPECTED_LOSS = rungs(
    _expected,
    """
all scores are 0, so that every question costs log 2; five real pairs with one made-up neighbour
each are ten questions, and per real pair they cost 2 log 2
    together, noise = torch.tensor([[2.0, 3.0], [0.0, 0.0]]), torch.tensor([0.5, 0.5])
    expected_loss(torch.zeros(2, 2), together, noise, 1)
  - the sum was not divided by the number of real pairs
    .sum() / together.sum() => .sum()
  - the sum was divided by the number of cells; divide by the number of real pairs
    .sum() / together.sum() => .mean()
  - the sum was divided by the number of all pairs, real and made up; divide by that of real pairs
    / together.sum() => / (together + made_up).sum()
  - the sign is turned: this is the log-likelihood, and a loss is its negative
    return - => return
  - the made-up pairs are left out
    real + false => real
  - the real pairs are left out
    real + false => false
  - there is no logarithm: the probabilities themselves are added
    F.logsigmoid => torch.sigmoid
  - made-up neighbours that are the centre itself are left out; the draw does not ask
    k * centres * noise => k * centres * noise * (1 - torch.eye(len(noise)))
  - the mean over the centres was taken; the mean over the real pairs was asked for
    / together.sum() =>
    (real + false).sum() => ((real + false).sum(1) / together.sum(1).clamp(min=1)).mean()
  - the sum was divided by the number of words; divide by the number of real pairs
    / together.sum() => / len(together)
  - the sum was divided by the number of cells in which a pair occurs; divide by that of real pairs,
  which count as often as they occur
    / together.sum() => / (together > 0).sum()
  - the made-up part is taken off; both parts cost something
    real + false => real - false
three made-up neighbours for each real pair: four questions, which cost 4 log 2
    together, noise = torch.tensor([[2.0, 3.0], [0.0, 0.0]]), torch.tensor([0.5, 0.5])
    expected_loss(torch.zeros(2, 2), together, noise, 3)
  - k is left out: there are k made-up pairs for every real one
    k * centres => centres
  - every centre gets equally many made-up neighbours; it should get k for each real one
    k * centres * noise => k * noise.expand_as(scores)
  - every centre gets the made-up neighbours of all real pairs; it should get those of its own
    k * centres => k * together.sum() * torch.ones_like(centres)
  - the made-up part is divided by k, or averaged over the k; their costs are added up
    k * centres => centres / k
  - the sum was divided by k, too
    return - => return -1 / max(k, 1) *
  - k multiplies the real pairs; it is the number of made-up ones
    k * centres => centres
    together * F => k * together * F
  - only pairs that never occur are made up; a draw does not ask whether its pair occurs
    centres * noise => centres * noise * (together == 0)
without made-up neighbours, k = 0, only the real pairs' scores count, log 3 and 0 here: -log σ of
each, as often as the pair occurs
    scores = torch.tensor([[3.0, 1.0], [5.0, 7.0]]).log()
    expected_loss(scores, torch.tensor([[2.0, 3.0], [0.0, 0.0]]), torch.tensor([0.5, 0.5]), 0)
  - a real pair costs 1 - log σ(S) or the like; it costs -log σ(S)
    real = together * F.logsigmoid(scores) => real = -together * (1 - F.logsigmoid(scores))
  - every cell counts once; a real pair counts as often as it occurs
    real = together * => real =
  - every pair that occurs counts once; it counts as often as it occurs
    real = together * => real = (together > 0) *
  - the real pairs' scores have a minus; only those of made-up pairs have one
    real = together * F.logsigmoid(scores) => real = together * F.logsigmoid(-scores)
made-up pairs have high scores, log 3: σ(-log 3) = 1/4 is the probability that one is made up, and
each costs -log(1/4)
    scores, noise = torch.tensor([[1.0, 3.0], [3.0, 1.0]]).log(), torch.tensor([0.0, 1.0])
    expected_loss(scores, torch.tensor([[1.0, 0.0], [0.0, 0.0]]), noise, 1)
  - made-up pairs are treated like real ones: their score needs a minus
    -scores => scores
  - a made-up pair costs -log(1 - log σ(S)) or the like; it costs -log σ(-S)
    F.logsigmoid(-scores) => (1 - F.logsigmoid(scores))
  - only pairs that occur are made up here; a draw does not ask whether its pair occurs: take the
  centre's count, the sum of its row
    k * centres => k * together
the noise says how often a word is drawn as a neighbour, a column; the centre, a row, is that of the
real pair
    scores, noise = torch.tensor([[1.0, 3.0], [7.0, 5.0]]).log(), torch.tensor([0.25, 0.75])
    expected_loss(scores, torch.tensor([[1.0, 0.0], [0.0, 1.0]]), noise, 2)
  - the noise is taken twice, for the centre and for the neighbour; a centre is drawn from the real
  pairs, as often as it occurs
    k * centres * noise => k * together.sum() * noise[:, None] * noise
  - the noise is raised to the power 3/4 again; it is the distribution already
    * noise => * noise**0.75
  - the noise is raised to the power 3/4 and scaled to sum 1 again; it is the distribution already
    * noise => * noise**0.75 / (noise**0.75).sum()
  - only the likeliest word of the noise is made up
    * noise => * (noise == noise.max())
  - the noise is left out, and each word is drawn with probability 1
    * noise => * torch.ones_like(noise)
  - the noise is left out: all words are made up equally often
    * noise => * torch.full_like(noise, 1 / len(noise))
  - the noise belongs to the centres here; it is that of the neighbours, along the columns
    * noise => * noise[:, None]
a centre that occurs three times as often gets three times as many made-up neighbours: the count of
a centre is the sum of its row of `together`
    scores, noise = torch.tensor([[1.0, 3.0], [7.0, 5.0]]).log(), torch.tensor([0.25, 0.75])
    expected_loss(scores, torch.tensor([[1.0, 3.0], [0.0, 4.0]]), noise, 2)
  - the counts of the neighbours were taken, those of the centres are needed: sum over dim 1
    together.sum(1, keepdim=True) => together.sum(0, keepdim=True)
  - the counts of the neighbours were taken, along the rows; those of the centres are needed
    together.sum(1, keepdim=True) => together.sum(0)[:, None]
  - the counts of the centres lie along the columns: a sum of shape (V,) lines up with the last
  axis; keepdim=True keeps it standing along the rows
    together.sum(1, keepdim=True) => together.sum(1)
five words, some of which never occur together
    scores, together = torch.randn(5, 5), torch.randint(0, 9, (5, 5)).float()
    expected_loss(scores, together, torch.rand(5).softmax(0), 3)
""",
)


@exercise
def count_vectors(answer) -> str:
    """Check `count_vectors(sentences, vocab_size, window, d)`: vectors (V, d) by counting.

    sentences are lists of ids. Positive PMI of the counts within the window, its singular value
    decomposition, and the rows U √S of the d largest directions, whose signs are free: what is
    compared are the dot products of all rows.
    """
    ladder(COUNT_VECTORS, _counted, count_vectors=answer)
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


COUNT_VECTORS = rungs(
    _counted,
    """
two neighbours count both ways: with PMI log 2 for each other, each row times itself is log 2
    rows = torch.as_tensor(count_vectors([[0, 1], [0, 1]], 2, 2, 2)).double()
    rows @ rows.T
  - the singular values are left out: the rows are those of U √S
    U * S.sqrt() => U
  - the rows are those of U S: take the root of the singular values
    S.sqrt() => S
  - the counts themselves are factorised, not their PMI
    svd(pmi) => svd(together)
  - only the neighbour to the right is counted: each pair counts both ways
    together[other, word] += away >= 1 => pass
  - every word is its own neighbour at distance 0; only other places count
    zeros(vocab_size, vocab_size => tensor(sum(sentences, [])
    dtype=torch.float64) => dtype=torch.long).bincount(minlength=vocab_size).double().diag()
  - the logarithm is that of base 2; PMI has the natural one here
    .log() => .log2()
  - there is no logarithm: PMI is that of the quotient
    .log() =>
  - 1 is added before the logarithm
    .log() => .log1p()
  - no PMI is above 0: either the counts are not divided by their total, which makes shares of
  them, or P(c) or P(o) is not in the denominator
    share / (of_centre * of_neighbour) => share / of_centre
  - P(c) and P(o) are not in the denominator, and the total is
    share / (of_centre * of_neighbour) => together * together.sum()
  - 1 is added to every count; only a cell that is not empty has a PMI
    share = => together += 1; share =
  - the logarithm is that of base 10; PMI has the natural one here
    .log() => .log10()
  - only pairs exactly `window` places apart count; nearer ones do, too
    away >= 1 => away == window
  - a pair counts once, however often it occurs
    += away >= 1 => = 1
three words in a row, window 1: P(c) is the share of the counted pairs, in which the word in the
middle stands twice as often as each at the ends
    rows = torch.as_tensor(count_vectors([[0, 1, 2]], 3, 1, 3)).double()
    rows @ rows.T
  - P(c) is the word's share of the text; it is its share of the counted pairs, the sum of its row
    share = => words = torch.tensor(sum(sentences, [])).bincount(minlength=vocab_size); share =
    (of_centre * of_neighbour) => (words[:, None] * words / words.sum() ** 2)
  - P(o) is raised to the power 3/4; here it is the share itself
    of_neighbour) => of_neighbour**0.75 / (of_neighbour**0.75).sum())
a word that never occurs has zeros, not NaN: 0 / 0 is no PMI
    rows = torch.as_tensor(count_vectors([[0, 2]], 3, 2, 3)).double()
    rows @ rows.T
a pair that is never seen has PMI 0, not minus infinity
    rows = torch.as_tensor(count_vectors([[0, 1, 2, 3]], 4, 1, 4)).double()
    rows @ rows.T
no pair crosses the end of a sentence
    rows = torch.as_tensor(count_vectors([[0, 1], [2, 3, 0]], 4, 1, 4)).double()
    rows @ rows.T
  - the window runs across the end of a sentence: count within each sentence
    in sentences => in [[word for sentence in sentences for word in sentence]]
with a window of 2 the neighbours are up to two places away, on both sides
    rows = torch.as_tensor(count_vectors([[0, 1, 2, 3, 4]], 5, 2, 5)).double()
    rows @ rows.T
  - near pairs count more than distant ones, as in GloVe; each counts 1, however far apart
    away >= 1 => 1 / away
  - to the left the window is right, to the right it ends one too early
    [word, other] += away >= 1 => [word, other] += away < window
  - to the right the window is right, to the left it ends one too early
    [other, word] += away >= 1 => [other, word] += away < window
  - the window is one too small: range(1, window) leaves the last place out
    i + 1 + window => i + window
  - the window is one too large
    i + 1 + window => i + 2 + window
a pair rarer than chance has PMI 0, not a negative one
    sentences = [[0, 1], [0, 1], [0, 1], [2, 3], [2, 3], [2, 3], [0, 3]]
    rows = torch.as_tensor(count_vectors(sentences, 4, 1, 4)).double()
    rows @ rows.T
  - negative PMI is kept: take its positive part
    .clamp(min=0) =>
a pair counts as often as it occurs, also within one sentence
    rows = torch.as_tensor(count_vectors([[0, 1, 0, 2, 1]], 3, 1, 3)).double()
    rows @ rows.T
  - a neighbour that stands twice in the window counts once; it counts as often as it occurs
    sentence[i + 1 : => {*sentence[max(i - window, 0) : i], *sentence[i + 1 :
    window], start => window]}, start
    together[other, word] += away >= 1 => pass
a word that repeats within the window is its own neighbour
    rows = torch.as_tensor(count_vectors([[0, 0, 1]], 2, 1, 2)).double()
    rows @ rows.T
with d below V only the d largest directions are kept
    sentences = [[0, 1, 2, 0, 3, 1], [2, 3, 4, 1, 1], [4, 0]]
    rows = torch.as_tensor(count_vectors(sentences, 5, 2, 2)).double()
    rows @ rows.T
  - the smallest directions are kept, not the largest
    S.sqrt() => S.sqrt()).flip(1
the result has a row for each word of the vocabulary and d columns
    tuple(count_vectors([[0, 1, 2, 0, 3, 1], [4, 0]], 5, 2, 3).shape)
""",
)
