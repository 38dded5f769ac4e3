"""Checks for the exercises of book/one_word_at_a_time.ipynb."""

import torch

from book.checking.exercise import Mistake, call, exercise, ladder, longest_chain
from book.checking.rungs import rungs


@exercise
def slopes(answer) -> str:
    """Check `slopes(w, x)`, (n,): the slope of the last state for each x, of h = tanh(w h + x).

    The state starts at 0; w is a number, x a tensor (n,).
    """
    ladder(SLOPES, _slopes, slopes=answer)
    return "one word, silence, two words, a negative w, many words and loud ones"


def _slopes(w, x):
    x = x.clone().requires_grad_()
    h, states = torch.zeros(()), []
    for step in x:
        h = torch.tanh(w * h + step)
        states.append(h)
    return torch.autograd.grad(states[-1], x)[0]


SLOPES = rungs(
    _slopes,
    """
a single word meets a state of 0, so w plays no part: the state is h = tanh(x), and its slope is
1 - h**2
    x = torch.tensor([0.5])
    slopes(1.5, x)
  - the new word goes through no tanh: it is around the whole of w h + x
    tanh(w * h + step) => tanh(w * h) + step
  - there is no tanh: this is w h + x
    torch.tanh(w * h + step) => (w * h + step)
  - w multiplies the new word as well as the state
    w * h + step => w * (h + step)
  - w multiplies the new word, and not the state
    w * h + step => h + w * step
  - the new word is added twice
    + step => + 2 * step
  - the new word is subtracted
    + step => - step
  - the new word multiplies the state; it is added
    w * h + step => w * h * step
  - the tanh is taken twice
    torch.tanh(w * h + step) => torch.tanh(torch.tanh(w * h + step))
  - the new word is added behind the tanh as well
    torch.tanh(w * h + step) => torch.tanh(w * h + step) + step
  - the state was returned, not its slope
    return torch.autograd.grad(states[-1], x)[0] => return torch.stack(states)
  - the sigmoid was taken; a child squashes by tanh
    torch.tanh => torch.sigmoid
  - a ReLU was taken; a child squashes by tanh
    torch.tanh => torch.relu
  - w multiplies the slope of the last word, too: it is not passed on any further
    return => return w *
  - the state before the first word is 1; it is 0
    torch.zeros => torch.ones
as long as nothing is said all states are 0 and tanh hands on what it gets: each child between a
word and the end multiplies its slope by w
    x = torch.zeros(3)
    slopes(1.5, x)
  - the slopes are in reverse order: the first belongs to the first word
    x)[0] => x)[0].flip(0)
  - the slope of the sum of all states, not of the last one
    grad(states[-1] => grad(sum(states)
  - the slope of the first state, not of the last one
    grad(states[-1] => grad(states[0]
  - the old state has no part in the new one, or none that a gradient gets through
    w * h + step => 0 * w * h + step
  - the old state is detached: it is in the new one, and no gradient gets through
    w * h + => w * h.detach() +
  - the old state is added to the new one; tanh(w h + x) takes its place
    torch.tanh(w * h + step) => h + torch.tanh(w * h + step)
  - w is left out: the old state is added to the new word as it is
    w * h + => h +
  - the old state is divided by w; it is multiplied
    w * h => h / w
two words, the first of them said and the second silent: the tanh is around the whole of w h + x, so
that the old state goes through it once more
    x = torch.tensor([1.0, 0.0])
    slopes(1.5, x)
  - the old state goes through no tanh: it is around the whole of w h + x
    torch.tanh(w * h + step) => w * h + torch.tanh(step)
w is the one that is given, here 1 and not the chapter's, it multiplies the state and not the word,
and every child multiplies by 1 - h**2 of its own state
    x = torch.tensor([1.0, 0.5])
    slopes(1.0, x)
  - w is 1.5, whatever is given
    w * h => 1.5 * h
w may be negative: the sign of a slope changes with every child
    x = torch.tensor([0.1, -0.2, 0.3])
    slopes(-1.5, x)
  - w has lost its sign
    w * h => abs(w) * h
  - w is squared
    w * h => w * w * h
  - the slopes have lost their sign
    x)[0] => x)[0].abs()
there may be many words
    x = torch.linspace(-1, 1, 8)
    slopes(0.5, x)
loud words drive every state to 1, where tanh is flat: all slopes are 0
    x = torch.full((50,), 200.0)
    slopes(1.5, x)
""",
)


@exercise
def states(answer) -> str:
    """Check `states(cell, words)`, (n, d) -> (n, d): the state of an nn.RNNCell after every word.

    The state starts at 0; cell(word, state) gives the next one.
    """
    ladder(STATES, _states, states=answer)
    return "one word and several, 1 and 3 wide, cells with and without biases, a second sentence"


def _states(cell, words):
    """The state after each word."""
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        state = cell(word, state)
        found.append(state)
    return torch.stack(found)


BY_HAND = """\
cell = torch.nn.RNNCell(1, 1, bias=False, nonlinearity="relu")  # max(0, word + state / 2)
cell.load_state_dict({"weight_ih": torch.ones(1, 1), "weight_hh": torch.full((1, 1), 0.5)})
"""
STATES = rungs(
    _states,
    """
the first word meets a state of zeros, the cell is called once for each word, and there is one state
for each word, the one after it
    words = torch.tensor([[8.0]])
    states(cell, words)
  - the zeros before the first word are among the states
    stack(found) => stack([0 * words[0], *found])
  - the state before each word was kept, not the one after it
    stack(found) => stack([0 * words[0], *found[:-1]])
  - word and state are exchanged: `cell(word, state)`
    cell(word, state) => cell(state, word)
  - the first word meets a state of ones
    zeros( => ones(
  - the first word meets a state of random numbers
    zeros( => randn(
  - the first word meets itself as a state
    torch.zeros(cell.hidden_size) => words[0]
  - the first word itself is taken for the first state, and the cell never reads it
    torch.zeros(cell.hidden_size), [] => words[0], [words[0]]
    in words: => in words[1:]:
  - every word is read twice
    cell(word, state) => cell(word, cell(word, state))
  - a tanh is written out; this cell has another nonlinearity: call cell(word, state)
    cell(word, state) => torch.tanh(cell.weight_ih @ word + cell.weight_hh @ state)
each state is needed for the next one: the second word meets the first word's state
    words = torch.tensor([[8.0], [0.0], [4.0]])
    states(cell, words)
  - nothing is passed on: every word meets a state of zeros
    cell(word, state) => cell(word, 0 * state)
  - it reads from the last word to the first
    in words: => in words.flip(0):
    stack(found) => stack(found).flip(0)
  - it reads from the last word to the first, and gives the states in that order
    in words: => in words.flip(0):
  - the states are in reverse order
    stack(found) => stack(found).flip(0)
  - the first word is read again and again
    cell(word, state) => cell(words[0], state)
  - every row is the last state: one tensor is written over again and again
    stack(found) => stack(found)[-1:].expand(len(words), -1)
  - only the last state comes back; there is one for each word
    stack(found) => stack(found[-1:])
  - the old state is added to the new one; the new one takes its place
    = cell(word, state) => = state + cell(word, state)
  - the old state and the new one are averaged; the new one takes its place
    = cell(word, state) => = (state + cell(word, state)) / 2
  - each word meets the state before the last one
    cell(word, state) => cell(word, found[-2] if len(found) > 1 else 0 * state)
  - each word meets the first state; it meets the one of the word before it
    cell(word, state) => cell(word, found[0] if found else state)
  - each word meets the word before it, not the state
    cell(word, state) => cell(word, words[len(found) - 1] if found else state)
  - these are the sums of the states so far
    stack(found) => stack(found).cumsum(0)
the gradient of the last state reaches the first word, through all states between them: nothing is
detached, and no number leaves the graph
    words = torch.tensor([[8.0], [0.0], [4.0]], requires_grad=True)
    last = torch.as_tensor(states(cell, words)[-1])
    torch.autograd.grad(last.sum() + 0 * words.sum(), words)[0]
  - the states are detached, or only their numbers are kept: they have no gradient at all, and
  nothing can be learned
    found.append(state) => state = state.detach(); found.append(state)
  - the graph is cut after every word: the last state has a gradient for the last word alone, and
  nothing can be learned of the others
    cell(word, state) => cell(word, state.detach())
three words are three numbers wide, and a cell has biases: all of this is in cell(word, state), and
what it gives is the state
    cell = torch.nn.RNNCell(3, 3)
    words = torch.randn(4, 3)
    states(cell, words)
  - a ReLU is put on every state that comes back; what the cell gives is the state
    found.append(state) => found.append(state.relu())
  - a tanh is put on every state that comes back; what the cell gives is the state
    found.append(state) => found.append(state.tanh())
  - the word is added to the state that comes back; what the cell gives is the state
    found.append(state) => found.append(word + state)
  - the word is added to the state; what the cell gives is the state
    = cell(word, state) => = word + cell(word, state)
a second sentence starts with a state of zeros again
    cell = torch.nn.RNNCell(2, 2)
    words = torch.randn(2, 2)
    states(cell, words)
    states(cell, words)
""",
    before=BY_HAND,
)


@exercise
def so_far(answer) -> str:
    """Check `so_far(words)`, (n, d) -> (n, d): each row the average of the rows up to it.

    No row of the result may wait for another one.
    """
    ladder(SO_FAR, _so_far, so_far=answer)
    short, long = (
        longest_chain(call(answer, words=torch.rand(n, 2, requires_grad=True))) for n in (16, 128)
    )
    if long > 2 * short:
        raise Mistake(
            "the numbers are right, but each row waits for the one before: make every row from "
            "the words themselves",
            f"16 words: {short} operations in a row; 128 words: {long}",
        )
    return "sentences of 1 to 12 words, and the longest chain for 16 and 128 words"


def _so_far(words):
    ones = torch.ones(len(words), len(words))
    seen = ones.tril()
    counts = seen.sum(1, keepdim=True)
    return seen / counts @ words


SO_FAR = rungs(
    _so_far,
    """
one word is its own average: a row sees its own word, too, and is divided by how many words it sees,
which is 1
    words = torch.tensor([[8.0, 2.0]])
    so_far(words)
  - each row averages the words before its own; its own belongs to them
    tril() => tril(-1)
    keepdim=True) => keepdim=True).clamp(min=1)
  - each row averages the words before its own, and nothing stands in the first: 0 / 0
    tril() => tril(-1)
  - the words before its own are added, and divided by one word more
    / counts => .tril(-1) / counts
  - t words are divided by t - 1
    / counts => / (counts - 1)
  - t words are divided by t + 1
    / counts => / (counts + 1)
the first row is the average of the first word alone: it is divided by 1, and no later word has a
share in it
    words = torch.tensor([[8.0], [0.0], [1.0]])
    so_far(words)[0]
  - the first row is divided by the length of the sentence: row t of the table of weights (not
  column t) sums to 1, so that t words are divided by t
    / counts => / len(words)
  - the columns of the table of weights sum to 1; its rows have to
    sum(1, keepdim=True) => sum(0, keepdim=True)
  - the counts are in reverse order: the first row is divided by the number of all words
    / counts => / counts.flip(0)
  - the first row is the average of the whole sentence, later words included
    seen = ones.tril() => seen = ones
  - each row sees its own word and all later ones: the table is the wrong way round, tril is right
    tril() => triu()
  - each row sees the next word, too
    tril() => tril(1)
  - a softmax is taken of a table of ones and zeros; what is not seen weighs e**0 = 1 there, and is
  -infinity before a softmax
    seen / counts @ => seen.softmax(1) @
  - the average is taken over the numbers of a word, axis 1; words are rows
    seen / counts @ words => words.cumsum(1) / torch.arange(1, words.shape[1] + 1)
the second row is the sum of the first two words, divided by two
    words = torch.tensor([[8.0], [0.0], [1.0]])
    so_far(words)[1]
  - these are sums: divide by the number of words so far
    / counts =>
  - each row's own word counts double
    seen = ones.tril() => seen = ones.tril() + torch.eye(len(words))
  - each word comes back as it is: no other word has a share in it
    seen / counts @ words => words
  - every row is divided by the root of the number of words
    / counts => / counts.sqrt()
in the third row all three words have equal shares
    words = torch.tensor([[8.0], [0.0], [1.0]])
    so_far(words)[2]
  - the average so far and the new word are averaged as if they were two words
    seen / counts @ words => (0.5 ** (counts - counts.T + (counts.T > 1))).tril() @ words
  - each word weighs twice what the one before it weighs; all words so far have equal shares
    seen = ones.tril() => seen = ones.tril() * 2.0 ** torch.arange(len(words))
  - the averages so far are averaged again
    seen / counts @ words => seen / counts @ (seen / counts @ words)
  - only a word and the one before it are averaged; all words so far have a share
    ones.tril() => ones.tril().triu(-1)
one row for each word, and each number of a word is averaged by itself
    words = torch.randn(12, 4)
    so_far(words)
""",
)
