"""Checks for the exercises of book/one_word_at_a_time.ipynb."""

import torch
from torch import nn

from companion.checks.exercise import Mistake, call, compare, exercise, longest_chain


@exercise
def slopes(answer) -> str:
    """Check `slopes(w, x)`, (n,): the slope of the last state for each x, of h = tanh(w h + x).

    The state starts at 0; w is a number, x a tensor (n,).
    """
    cases = [
        {"w": 1.5, "x": torch.tensor([0.5, -0.25])},
        {"w": 0.5, "x": torch.tensor([1.0, 0.0, -1.0])},
        {"w": 1.0, "x": torch.linspace(-1, 1, 8)},
        {"w": -1.5, "x": torch.linspace(-0.1, 0.2, 5)},
    ]
    compare(answer, cases, _slopes, SLOPES_MISTAKES)
    return "2, 3, 5 and 8 children, w = 1.5, 1, 0.5 and -1.5"


def _slopes(w, x, *, squash=torch.tanh, follow=lambda w, h, x: w * h + x, of=lambda states: -1):
    x = x.clone().requires_grad_()
    h, states = torch.zeros(()), []
    for step in x:
        h = squash(follow(w, h, step))
        states.append(h)
    return torch.autograd.grad(states[of(states)], x)


SLOPES_MISTAKES = {
    "there is no tanh: the slope is that of the linear line of children": (
        lambda w, x: _slopes(w, x, squash=lambda h: h)
    ),
    "w multiplies the new word as well as the state": (
        lambda w, x: _slopes(w, x, follow=lambda w, h, x: w * (h + x))
    ),
    "tanh is applied to the state only, before the new word is added": (
        lambda w, x: _slopes(w, x, squash=lambda h: h, follow=lambda w, h, x: w * torch.tanh(h) + x)
    ),
    "the slopes are in reverse order: the first belongs to the first word": (
        lambda w, x: (_slopes(w, x)[0].flip(0),)
    ),
    "the slope of the sum of all states, not of the last one": lambda w, x: _sum_of_slopes(w, x),
    "the states were returned, not the slopes": lambda w, x: (_states(w, x),),
    "the slope of tanh is 1 - h**2, not 1 - h": (
        lambda w, x: _slopes_by_hand(w, x, lambda h: 1 - h)
    ),
    "w multiplies the slope of the last word, too: it is not passed on any further": (
        lambda w, x: (w * _slopes(w, x)[0],)
    ),
}


def _states(w, x):
    h, states = torch.zeros(()), []
    for step in x:
        h = torch.tanh(w * h + step)
        states.append(h)
    return torch.stack(states)


def _sum_of_slopes(w, x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(_states(w, x).sum(), x)


def _slopes_by_hand(w, x, slope):
    passed, slopes = 1.0, []
    for h in _states(w, x).flip(0):
        slopes.append(passed * slope(h))
        passed = passed * slope(h) * w
    return (torch.stack(slopes[::-1]),)


@exercise
def states(answer) -> str:
    """Check `states(cell, words)`, (n, d) -> (n, d): the state of an nn.RNNCell after every word.

    The state starts at 0; cell(word, state) gives the next one.
    """
    by_hand = nn.RNNCell(1, 1, bias=False, nonlinearity="relu")
    by_hand.weight_ih.data, by_hand.weight_hh.data = torch.tensor([[1.0]]), torch.tensor([[0.5]])
    cases = [{"cell": by_hand, "words": torch.tensor([[8.0], [0.0], [4.0]])}]
    for n, d in ((1, 2), (4, 3), (9, 4)):
        cases.append({"cell": nn.RNNCell(d, d), "words": torch.randn(n, d)})
    with torch.no_grad():
        compare(answer, cases, _states_of, STATES_MISTAKES)
    return "sentences of 1, 3, 4 and 9 words, 1 to 4 wide"


def _read(cell, words, *, step=lambda cell, word, state: cell(word, state)):
    """All states, the first zeros included."""
    found = [torch.zeros_like(words[0])]
    for word in words:
        found.append(step(cell, word, found[-1]))
    return torch.stack(found)


def _states_of(cell, words):
    return (_read(cell, words)[1:],)


STATES_MISTAKES = {
    "only the last state was returned": lambda cell, words: (_read(cell, words)[-1],),
    "the zeros before the first word are among the states: there is one state for each word": (
        lambda cell, words: (_read(cell, words),)
    ),
    "the state before each word was kept, not the one after it": (
        lambda cell, words: (_read(cell, words)[:-1],)
    ),
    "nothing is passed on: every word meets a state of zeros": (
        lambda cell, words: (
            _read(cell, words, step=lambda cell, word, state: cell(word, 0 * state))[1:],
        )
    ),
    "word and state are exchanged: `cell(word, state)`": (
        lambda cell, words: (
            _read(cell, words, step=lambda cell, word, state: cell(state, word))[1:],
        )
    ),
    "it reads from the last word to the first": (
        lambda cell, words: (_read(cell, words.flip(0))[1:].flip(0),)
    ),
}


@exercise
def so_far(answer) -> str:
    """Check `so_far(words)`, (n, d) -> (n, d): each row the average of the rows up to it.

    No row of the result may wait for another one.
    """
    cases = [
        {"words": torch.tensor([[8.0], [0.0], [4.0]])},
        *({"words": torch.randn(n, d)} for n, d in ((1, 2), (5, 3), (12, 4))),
    ]
    compare(answer, cases, _so_far, SO_FAR_MISTAKES)
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


def _shares(words, keep=torch.tril):
    """Equal shares of those that a row sees."""
    sees = keep(torch.ones(len(words), len(words)))
    return sees / sees.sum(1, keepdim=True)


def _so_far(words):
    return (_shares(words) @ words,)


SO_FAR_MISTAKES = {
    "these are sums: divide by the number of words so far": (lambda words: (words.cumsum(0),)),
    "every sum is divided by the length of the whole sentence; word t has t words so far": (
        lambda words: (words.cumsum(0) / len(words),)
    ),
    "every row is the average of the whole sentence, later words included": (
        lambda words: (_shares(words, lambda sees: sees) @ words,)
    ),
    "each row averages its own word and those after it, not those before it": (
        lambda words: (_shares(words, torch.triu) @ words,)
    ),
    "its own word is missing from each average": (
        lambda words: (torch.cat([torch.zeros_like(words[:1]), _so_far(words)[0][:-1]]),)
    ),
    "one average was returned; there is one for each word": lambda words: (words.mean(0),),
}
