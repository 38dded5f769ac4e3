"""Checks for the exercises of book/one_word_at_a_time.ipynb."""

import torch

from companion.checks.exercise import Mistake, Rung, call, exercise, ladder, longest_chain


@exercise
def slopes(answer) -> str:
    """Check `slopes(w, x)`, (n,): the slope of the last state for each x, of h = tanh(w h + x).

    The state starts at 0; w is a number, x a tensor (n,).
    """
    ladder(SLOPES, _slopes, slopes=answer)
    return "one word, silence, two words, a negative w, many words and loud ones"


def _slopes(w, x, follow=lambda w, h, x: torch.tanh(w * h + x), of=lambda states: states[-1]):
    x = x.clone().requires_grad_()
    h, states = torch.zeros(()), []
    for step in x:
        h = follow(w, h, step)
        states.append(h)
    return torch.autograd.grad(of(torch.stack(states)), x)[0]


SLOPES = [
    Rung(
        "a single word meets a state of 0, so w plays no part: the state is h = tanh(x), and its "
        "slope is 1 - h**2",
        "x = torch.tensor([0.5])\nslopes(1.5, x)",
        {
            "the new word goes through no tanh: it is around the whole of w h + x": (
                lambda w, x: torch.ones(1)
            ),
            "w multiplies the new word as well as the state": (
                lambda w, x: _slopes(w, x, lambda w, h, x: torch.tanh(w * (h + x)))
            ),
            "the state was returned, not its slope": lambda w, x: torch.tanh(x),
            "the sigmoid was taken; a child squashes by tanh": (
                lambda w, x: _slopes(w, x, lambda w, h, x: torch.sigmoid(w * h + x))
            ),
            "w multiplies the slope of the last word, too: it is not passed on any further": (
                lambda w, x: w * _slopes(w, x)
            ),
        },
    ),
    Rung(
        "as long as nothing is said all states are 0 and tanh hands on what it gets: each child "
        "between a word and the end multiplies its slope by w",
        "x = torch.zeros(3)\nslopes(1.5, x)",
        {
            "the slopes are in reverse order: the first belongs to the first word": (
                lambda w, x: _slopes(w, x).flip(0)
            ),
            "the slope of the sum of all states, not of the last one": (
                lambda w, x: _slopes(w, x, of=torch.sum)
            ),
            "the old state has no part in the new one, or none that a gradient gets through": (
                lambda w, x: _slopes(w, x, lambda w, h, x: torch.tanh(x))
            ),
            "the old state is added to the new one; tanh(w h + x) takes its place": (
                lambda w, x: _slopes(w, x, lambda w, h, x: h + torch.tanh(w * h + x))
            ),
        },
    ),
    Rung(
        "w is the one that is given, here 1 and not the chapter's, it multiplies the state and not "
        "the word, the tanh is around the whole of w h + x, and every child multiplies by 1 - h**2 "
        "of its own state",
        "x = torch.tensor([1.0, 0.5])\nslopes(1.0, x)",
    ),
    Rung("w may be negative", "x = torch.tensor([0.1, -0.2, 0.3])\nslopes(-1.5, x)"),
    Rung("there may be many words", "x = torch.linspace(-1, 1, 8)\nslopes(0.5, x)"),
    Rung(
        "loud words drive every state to 1, where tanh is flat: all slopes are 0",
        "x = torch.full((50,), 200.0)\nslopes(1.5, x)",
    ),
]


@exercise
def states(answer) -> str:
    """Check `states(cell, words)`, (n, d) -> (n, d): the state of an nn.RNNCell after every word.

    The state starts at 0; cell(word, state) gives the next one.
    """
    ladder(STATES, _states, states=answer)
    return "one word and several, 1 and 3 wide, cells with and without biases, a second sentence"


def _states(cell, words, step=lambda cell, word, state: cell(word, state)):
    """The state after each word."""
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        state = step(cell, word, state)
        found.append(state)
    return torch.stack(found)


BY_HAND = """\
cell = torch.nn.RNNCell(1, 1, bias=False, nonlinearity="relu")  # max(0, word + state / 2)
cell.load_state_dict({"weight_ih": torch.ones(1, 1), "weight_hh": torch.full((1, 1), 0.5)})
"""
STATES = [
    Rung(
        "the first word meets a state of zeros, the cell is called once for each word, and there "
        "is "
        "one state for each word, the one after it",
        f"{BY_HAND}words = torch.tensor([[8.0]])\nstates(cell, words)",
        {
            "the zeros before the first word are among the states": (
                lambda cell, words: torch.cat([0 * words[:1], _states(cell, words)])
            ),
            "the state before each word was kept, not the one after it": (
                lambda cell, words: 0 * words
            ),
            "word and state are exchanged: `cell(word, state)`": (
                lambda cell, words: _states(
                    cell, words, lambda cell, word, state: cell(state, word)
                )
            ),
            "the first word meets a state of ones": (
                lambda cell, words: torch.stack([cell(words[0], torch.ones(1))])
            ),
            "a tanh is written out; this cell has another nonlinearity: call cell(word, state)": (
                lambda cell, words: words.tanh()
            ),
        },
    ),
    Rung(
        "each state is needed for the next one: the second word meets the first word's state",
        f"{BY_HAND}words = torch.tensor([[8.0], [0.0], [4.0]])\nstates(cell, words)",
        {
            "nothing is passed on: every word meets a state of zeros": (
                lambda cell, words: _states(
                    cell, words, lambda cell, word, state: cell(word, 0 * state)
                )
            ),
            "it reads from the last word to the first": (
                lambda cell, words: _states(cell, words.flip(0)).flip(0)
            ),
            "it reads from the last word to the first, and gives the states in that order": (
                lambda cell, words: _states(cell, words.flip(0))
            ),
            "the first word is read again and again": (
                lambda cell, words: _states(cell, words[:1].expand_as(words))
            ),
            "every row is the last state: one tensor is written over again and again": (
                lambda cell, words: _states(cell, words)[-1:].expand(len(words), -1)
            ),
        },
    ),
    Rung(
        "the state before the first word is zeros, not the word, and every word is read; a cell "
        "has "
        "biases too, and vectors wider than one number: all of this is in cell(word, state)",
        "cell = torch.nn.RNNCell(3, 3)\nwords = torch.randn(4, 3)\nstates(cell, words)",
    ),
    Rung(
        "a second sentence starts with a state of zeros again",
        "cell = torch.nn.RNNCell(2, 2)\nwords = torch.randn(2, 2)\nstates(cell, words)\n"
        "states(cell, words)",
    ),
]


@exercise
def so_far(answer) -> str:
    """Check `so_far(words)`, (n, d) -> (n, d): each row the average of the rows up to it.

    No row of the result may wait for another one.
    """
    ladder(SO_FAR, lambda words: words.cumsum(0) / _count(words), so_far=answer)
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


def _count(words):
    return torch.arange(1, len(words) + 1)[:, None]


WORDS = "words = torch.tensor([[8.0], [0.0], [1.0]])\n"
SO_FAR = [
    Rung(
        "one word is its own average: a row sees its own word, too, and is divided by how many "
        "words "
        "it sees, which is 1",
        "words = torch.tensor([[8.0, 2.0]])\nso_far(words)",
    ),
    Rung(
        "the first row is the average of the first word alone: it is divided by 1, and no later "
        "word "
        "has a share in it",
        f"{WORDS}so_far(words)[0]",
        {
            "the first row is divided by the length of the sentence: row t of the table of weights "
            "(not column t) sums to 1, so that t words are divided by t": (
                lambda words: words.cumsum(0) / len(words)
            ),
            "the first row is the average of the whole sentence, later words included": (
                lambda words: words.mean(0, keepdim=True)
            ),
        },
    ),
    Rung(
        "the second row is the sum of the first two words, divided by two",
        f"{WORDS}so_far(words)[1]",
        {
            "these are sums: divide by the number of words so far": lambda words: words.cumsum(0),
        },
    ),
    Rung(
        "in the third row all three words have equal shares",
        f"{WORDS}so_far(words)[2]",
        {
            "the average so far and the new word are averaged as if they were two words": (
                lambda words: [[], [], [2.5]]
            ),
        },
    ),
    Rung(
        "one row for each word, and each number of a word is averaged by itself",
        "words = torch.randn(12, 4)\nso_far(words)",
    ),
]
