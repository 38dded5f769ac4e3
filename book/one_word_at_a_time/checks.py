"""Checks for the exercises of book/one_word_at_a_time.ipynb."""

import torch

from book.checking.exercise import Mistake, call, climb, exercise, longest_chain
from book.checking.rungs import edited, ladder


@exercise
def slopes(answer) -> str:
    """Check `slopes(w, x)`, (n,): the slope of the last state for each x, of h = tanh(w h + x).

    The state starts at 0; w is a number, x a tensor (n,).
    """
    climb(SLOPES, answer)
    return "one word, silence, two words, a negative w, many words and loud ones"


def _slopes(w, x):
    x = x.clone().requires_grad_()
    h, states = torch.zeros(()), []
    for step in x:
        h = torch.tanh(w * h + step)
        states.append(h)
    return torch.autograd.grad(states[-1], x)[0]


@ladder(_slopes)
def SLOPES(slopes):
    """a single word meets a state of 0, so w plays no part: the state is h = tanh(x), and its
    slope is 1 - h**2"""
    x = torch.tensor([0.5])
    yield slopes(1.5, x)

    """as long as nothing is said all states are 0 and tanh hands on what it gets: each child
    between a word and the end multiplies its slope by w"""
    x = torch.zeros(3)
    yield slopes(1.5, x)

    """two words, the first of them said and the second silent: the tanh is around the whole of
    w h + x, so that the old state goes through it once more"""
    x = torch.tensor([1.0, 0.0])
    yield slopes(1.5, x)

    """w is the one that is given, here 1 and not the chapter's, it multiplies the state and not
    the word, and every child multiplies by 1 - h**2 of its own state"""
    x = torch.tensor([1.0, 0.5])
    yield slopes(1.0, x)

    """w may be negative: the sign of a slope changes with every child"""
    x = torch.tensor([0.1, -0.2, 0.3])
    yield slopes(-1.5, x)

    """loud words drive every state to 1, where tanh is flat: all slopes are 0"""
    x = torch.full((50,), 200.0)
    yield slopes(1.5, x)


SLOPES.mistakes |= {
    "the new word goes through no tanh: it is around the whole of w h + x": edited(
        _slopes, "tanh(w * h + step)", "tanh(w * h) + step"
    ),
    "there is no tanh: this is w h + x": edited(
        _slopes, "torch.tanh(w * h + step)", "(w * h + step)"
    ),
    "w multiplies the new word as well as the state": edited(
        _slopes, "w * h + step", "w * (h + step)"
    ),
    "the state was returned, not its slope": edited(
        _slopes, "return torch.autograd.grad(states[-1], x)[0]", "return torch.stack(states)"
    ),
    "the sigmoid was taken; a child squashes by tanh": edited(
        _slopes, "torch.tanh", "torch.sigmoid"
    ),
    "w multiplies the slope of the last word, too: it is not passed on any further": edited(
        _slopes, "return", "return w *"
    ),
    "the slopes are in reverse order: the first belongs to the first word": edited(
        _slopes, "x)[0]", "x)[0].flip(0)"
    ),
    "the slope of the sum of all states, not of the last one": edited(
        _slopes, "grad(states[-1]", "grad(sum(states)"
    ),
    "the old state has no part in the new one, or none that a gradient gets through": edited(
        _slopes, "w * h + step", "0 * w * h + step"
    ),
    "the old state is detached: it is in the new one, and no gradient gets through": edited(
        _slopes, "w * h +", "w * h.detach() +"
    ),
    "the old state is added to the new one; tanh(w h + x) takes its place": edited(
        _slopes, "torch.tanh(w * h + step)", "h + torch.tanh(w * h + step)"
    ),
    "w is left out: the old state is added to the new word as it is": edited(
        _slopes, "w * h +", "h +"
    ),
    "only the old state is squashed, before w multiplies it; all of w h + x is to be": edited(
        _slopes, "torch.tanh(w * h + step)", "w * torch.tanh(h) + step"
    ),
    "the state is cut off at -1 and 1; a child squashes it by tanh": edited(
        _slopes, "torch.tanh(w * h + step)", "(w * h + step).clamp(-1, 1)"
    ),
}


@exercise
def states(answer) -> str:
    """Check `states(cell, words)`, (n, d) -> (n, d): the state of an nn.RNNCell after every word.

    The state starts at 0; cell(word, state) gives the next one.
    """
    climb(STATES, answer)
    return "one word and several, 1 and 3 wide, cells with and without biases, a second sentence"


def _states(cell, words):
    """The state after each word."""
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        state = cell(word, state)
        found.append(state)
    return torch.stack(found)


@ladder(_states)
def STATES(states):
    cell = torch.nn.RNNCell(1, 1, bias=False, nonlinearity="relu")  # max(0, word + state / 2)
    cell.load_state_dict({"weight_ih": torch.ones(1, 1), "weight_hh": torch.full((1, 1), 0.5)})

    """the first word meets a state of zeros, the cell is called once for each word, and there
    is one state for each word, the one after it"""
    words = torch.tensor([[8.0]])
    yield states(cell, words)

    """each state is needed for the next one: the second word meets the first word's state"""
    words = torch.tensor([[8.0], [0.0], [4.0]])
    yield states(cell, words)

    """the gradient of the last state reaches the first word, through all states between them:
    nothing is detached, and no number leaves the graph"""
    words = torch.tensor([[8.0], [0.0], [4.0]], requires_grad=True)
    last = torch.as_tensor(states(cell, words)[-1])
    yield torch.autograd.grad(last.sum() + 0 * words.sum(), words)[0]

    """three words are three numbers wide, and a cell has biases: all of this is in cell(word,
    state), and what it gives is the state"""
    cell = torch.nn.RNNCell(3, 3)
    words = torch.randn(4, 3)
    yield states(cell, words)

    """a second sentence starts with a state of zeros again"""
    cell = torch.nn.RNNCell(2, 2)
    words = torch.randn(2, 2)
    states(cell, words)
    yield states(cell, words)


STATES.mistakes |= {
    "the zeros before the first word are among the states": edited(
        _states, "stack(found)", "stack([0 * words[0], *found])"
    ),
    "the state before each word was kept, not the one after it": edited(
        _states, "stack(found)", "stack([0 * words[0], *found[:-1]])"
    ),
    "word and state are exchanged: `cell(word, state)`": edited(
        _states, "cell(word, state)", "cell(state, word)"
    ),
    "the first word meets a state of ones": edited(_states, "zeros(", "ones("),
    "the first word meets a state of random numbers": edited(_states, "zeros(", "randn("),
    "a tanh is written out; this cell has another nonlinearity: call cell(word, state)": edited(
        _states, "cell(word, state)", "torch.tanh(cell.weight_ih @ word + cell.weight_hh @ state)"
    ),
    "nothing is passed on: every word meets a state of zeros": edited(
        _states, "cell(word, state)", "cell(word, 0 * state)"
    ),
    "it reads from the last word to the first": edited(
        _states, "in words:", "in words.flip(0):", "stack(found)", "stack(found).flip(0)"
    ),
    "the first word is read again and again": edited(
        _states, "cell(word, state)", "cell(words[0], state)"
    ),
    "every row is the last state, as when one tensor is written over": edited(
        _states, "stack(found)", "stack(found)[-1:].expand(len(words), -1)"
    ),
    "these are the sums of the states so far": edited(
        _states, "stack(found)", "stack(found).cumsum(0)"
    ),
    "the states have no gradient to the words, as where one of them is detached, or only its "
    "numbers are kept": edited(
        _states, "found.append(state)", "state = state.detach(); found.append(state)"
    ),
    "only the last state is returned; there is one for each word": edited(
        _states, "torch.stack(found)", "found[-1]"
    ),
    "a tanh is taken of what the cell gives; that is the next state already": edited(
        _states, "cell(word, state)", "torch.tanh(cell(word, state))"
    ),
}


@exercise
def so_far(answer) -> str:
    """Check `so_far(words)`, (n, d) -> (n, d): each row the average of the rows up to it.

    No row of the result may wait for another one.
    """
    climb(SO_FAR, answer)
    short, long = (
        longest_chain(call(answer, words=torch.rand(n, 2, requires_grad=True))) for n in (16, 128)
    )
    if long > 2 * short:
        raise Mistake(
            "the numbers are right, but the chain of operations grows with the sentence, as where "
            "each row waits for the one before: make every row from the words, in a few steps",
            f"16 words: {short} operations in a row; 128 words: {long}",
        )
    return "sentences of 1 to 12 words, and the longest chain for 16 and 128 words"


def _so_far(words):
    ones = torch.ones(len(words), len(words))
    seen = ones.tril()
    counts = seen.sum(1, keepdim=True)
    return seen / counts @ words


@ladder(_so_far)
def SO_FAR(so_far):
    """one word is its own average: a row sees its own word, too, and is divided by how many
    words it sees, which is 1"""
    words = torch.tensor([[8.0, 2.0]])
    yield so_far(words)

    """the first row is the average of the first word alone: it is divided by 1, so that its row of
    weights (not a column) sums to 1, and no later word has a share in it"""
    words = torch.tensor([[8.0], [3.0], [1.0]])
    yield so_far(words)[0]

    """the second row is the sum of the first two words, divided by two"""
    words = torch.tensor([[8.0], [3.0], [1.0]])
    yield so_far(words)[1]

    """in the third row all three words have equal shares"""
    words = torch.tensor([[8.0], [3.0], [1.0]])
    yield so_far(words)[2]

    """one row for each word, and each number of a word is averaged by itself"""
    words = torch.randn(12, 4)
    yield so_far(words)


SO_FAR.mistakes |= {
    "each row averages the words before its own; its own belongs to them": edited(
        _so_far, "tril()", "tril(-1)", "keepdim=True)", "keepdim=True).clamp(min=1)"
    ),
    "the first row is divided by the length of the sentence: row t of the table of "
    "weights (not column t) sums to 1, so that t words are divided by t": edited(
        _so_far, "/ counts", "/ len(words)"
    ),
    "the first row is the average of the whole sentence, later words included": edited(
        _so_far, "seen = ones.tril()", "seen = ones"
    ),
    "each row sees its own word and all later ones: the table is the wrong way round, "
    "tril is right": edited(_so_far, "tril()", "triu()"),
    "each row sees the next word, too": edited(_so_far, "tril()", "tril(1)"),
    "a softmax is taken of a table of ones and zeros; what is not seen weighs e**0 = "
    "1 there, and is -infinity before a softmax": edited(
        _so_far, "seen / counts @", "seen.softmax(1) @"
    ),
    "these are sums: divide by the number of words so far": edited(_so_far, "/ counts", ""),
    "the average so far and the new word are averaged as if they were two words": edited(
        _so_far,
        "seen / counts @ words",
        "(0.5 ** (counts - counts.T + (counts.T > 1))).tril() @ words",
    ),
    "column t of the table is divided by t, not row t: a sum over the columns has to keep its "
    "axis, as with keepdim=True": edited(_so_far, "/ counts", "/ counts.T"),
}
