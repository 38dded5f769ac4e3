"""Answers to the exercises of book/one_word_at_a_time.ipynb."""

import math

import torch
import torch.nn.functional as F

from book.one_word_at_a_time.checks import slopes, so_far, states
from tests.book.answers import right, wrong

# 1. One line of the whispering children


@right(slopes)
def by_autograd(w, x):
    x = x.clone().requires_grad_()
    h = 0
    for word in x:
        h = torch.tanh(w * h + word)
    h.backward()
    return x.grad


@right(slopes)
def by_the_chain_rule(w, x):
    h, states = 0.0, []
    for word in x.tolist():
        h = math.tanh(w * h + word)
        states.append(h)
    passed, slopes = 1.0, []
    for h in reversed(states):
        slopes.insert(0, passed * (1 - h**2))
        passed *= w * (1 - h**2)
    return torch.tensor(slopes)


@wrong(slopes, "there is no tanh")
def linear(w, x):
    return torch.tensor([float(w) ** k for k in reversed(range(len(x)))])


@wrong(slopes, "w multiplies the new word")
def w_on_everything(w, x):
    x, h = x.clone().requires_grad_(), 0
    for word in x:
        h = torch.tanh(w * (h + word))
    return torch.autograd.grad(h, x)[0]


@wrong(slopes, "around the whole of w h + x")
def tanh_inside(w, x):
    x, h = x.clone().requires_grad_(), torch.zeros(())
    for word in x:
        h = w * torch.tanh(h) + word
    return torch.autograd.grad(h, x)[0]


@wrong(slopes, "in reverse order")
def last_word_first(w, x):
    return by_autograd(w, x).flip(0)


@wrong(slopes, "the sum of all states")
def sum_of_states(w, x):
    x, h, total = x.clone().requires_grad_(), 0, 0
    for word in x:
        h = torch.tanh(w * h + word)
        total = total + h
    return torch.autograd.grad(total, x)[0]


@wrong(slopes, "the state was returned, not its slope")
def states_instead(w, x):
    h, states = 0.0, []
    for word in x:
        h = torch.tanh(w * h + word)
        states.append(h)
    return torch.stack(states)


@wrong(slopes, "its slope is 1 - h**2")
def slope_without_square(w, x):
    h, states = 0.0, []
    for word in x.tolist():
        h = math.tanh(w * h + word)
        states.append(h)
    passed, slopes = 1.0, []
    for h in reversed(states):
        slopes.insert(0, passed * (1 - h))
        passed *= w * (1 - h)
    return torch.tensor(slopes)


@wrong(slopes, "w is left out")
def no_w(w, x):
    return by_autograd(1.0, x)


@wrong(slopes, "the old state is detached")
def detached(w, x):
    x, h = x.clone().requires_grad_(), torch.zeros(())
    for word in x:
        h = torch.tanh(w * h.detach() + word)
    return torch.autograd.grad(h, x)[0]


@wrong(slopes, "the old state is added")
def residual(w, x):
    x, h = x.clone().requires_grad_(), torch.zeros(())
    for word in x:
        h = h + torch.tanh(w * h + word)
    return torch.autograd.grad(h, x)[0]


@wrong(slopes, "the tanh is around the whole of w h + x")
def slope_of_the_last_state_only(w, x):
    last = states_instead(w, x)[-1]
    return torch.stack([(1 - last**2) * (w * (1 - last**2)) ** k for k in range(len(x))]).flip(0)


@wrong(slopes, "w has lost its sign")
def without_a_sign(w, x):
    return by_autograd(abs(w), x)


@wrong(slopes, "there may be many words")
def the_last_three_only(w, x):
    return torch.cat([torch.zeros(len(x))[:-3], by_autograd(w, x)[-3:]])


@wrong(slopes, "loud words drive")
def with_an_exponential(w, x):
    x, h = x.clone().requires_grad_(), torch.zeros(())
    for word in x:
        power = torch.exp(2 * (w * h + word))
        h = (power - 1) / (power + 1)
    return torch.autograd.grad(h, x)[0]


@wrong(slopes, "not passed on any further")
def one_w_too_many(w, x):
    return w * by_autograd(w, x)


@wrong(slopes, "it changes its input x")
def in_place(w, x):
    result = by_autograd(w, x)
    for t in range(1, len(x)):
        x[t] = torch.tanh(w * x[t - 1] + x[t])
    return result


@right(slopes)
def list_of_numbers(w, x):
    return by_autograd(w, x).tolist()


# 2. Unroll it


@right(states)
def a_loop(cell, words):
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        state = cell(word, state)
        found.append(state)
    return torch.stack(found)


@right(states)
def the_formula(cell, words):
    state, found = torch.zeros(1, cell.hidden_size), []
    for x in words:
        pulled = F.linear(x[None], cell.weight_ih, cell.bias_ih)
        pulled = pulled + F.linear(state, cell.weight_hh, cell.bias_hh)
        state = torch.relu(pulled) if cell.nonlinearity == "relu" else torch.tanh(pulled)
        found.append(state)
    return torch.cat(found)


@wrong(states, "there is one state for each word")
def the_last(cell, words):
    state = torch.zeros(cell.hidden_size)
    for word in words:
        state = cell(word, state)
    return state


@wrong(states, "the zeros before the first word")
def zeros_too(cell, words):
    found = [torch.zeros(cell.hidden_size)]
    for word in words:
        found.append(cell(word, found[-1]))
    return torch.stack(found)


@wrong(states, "the state before each word")
def kept_too_early(cell, words):
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        found.append(state)
        state = cell(word, state)
    return torch.stack(found)


@wrong(states, "nothing is passed on")
def all_words_at_once(cell, words):
    return cell(words)


@wrong(states, "a tanh is written out")
def always_tanh(cell, words):
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        pulled = F.linear(word, cell.weight_ih) + F.linear(state, cell.weight_hh)
        state = torch.tanh(pulled)
        found.append(state)
    return torch.stack(found)


@wrong(states, "all of this is in cell(word, state)")
def biases_forgotten(cell, words):
    squash = torch.relu if cell.nonlinearity == "relu" else torch.tanh
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        state = squash(F.linear(word, cell.weight_ih) + F.linear(state, cell.weight_hh))
        found.append(state)
    return torch.stack(found)


@wrong(states, "the sums of the states so far")
def added_up(cell, words):
    return a_loop(cell, words).cumsum(0)


@wrong(states, "every row is the last state")
def written_over(cell, words):
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        state.copy_(cell(word, state).detach())
        found.append(state)
    return torch.stack(found)


LAST = {}  # the state of a cell that was left behind


@wrong(states, "a second sentence starts with")
def goes_on(cell, words):
    state, found = LAST.pop(cell, torch.zeros(cell.hidden_size)), []
    for word in words:
        state = cell(word, state)
        found.append(state)
    LAST[cell] = state
    return torch.stack(found)


@wrong(states, "word and state are exchanged")
def exchanged(cell, words):
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        state = cell(state, word)
        found.append(state)
    return torch.stack(found)


@wrong(states, "from the last word to the first")
def from_the_right(cell, words):
    return a_loop(cell, words.flip(0)).flip(0)


@right(states)
def a_list(cell, words):
    return [*a_loop(cell, words)]


# 3. Everybody so far


@right(so_far)
def a_triangle(words):
    sees = torch.ones(len(words), len(words)).tril()
    return sees / sees.sum(dim=1, keepdim=True) @ words


@right(so_far)
def running_sums(words):
    return words.cumsum(0) / torch.arange(1, len(words) + 1)[:, None]


@right(so_far)
def row_by_row(words):
    return torch.stack([words[: t + 1].mean(0) for t in range(len(words))])


@wrong(so_far, "the first row is the average of the first word alone")
def among_later_words(words):
    return upper_triangle(words).flip(0)


@wrong(so_far, "the second row is the sum of the first two")
def from_the_end(words):
    return torch.cat([words[:1], upper_triangle(words)[1:]])


@wrong(so_far, "only a word and the one before it")
def pairs(words):
    return torch.cat([words[:1], (words[1:] + words[:-1]) / 2])


@wrong(so_far, "as if they were two words")
def halves(words):
    found = [words[0]]
    for word in words[1:]:
        found.append((found[-1] + word) / 2)
    return torch.stack(found)


@wrong(so_far, "each number of a word is averaged by itself")
def along_the_words(words):
    return (
        a_triangle(words).mean(1, keepdim=True).expand_as(words)
        if len(words) > 3
        else (a_triangle(words))
    )


@wrong(so_far, "each row waits")
def running_average(words):
    mean, found = torch.zeros_like(words[0]), []
    for t, word in enumerate(words, start=1):
        mean = mean + (word - mean) / t
        found.append(mean)
    return torch.stack(found)


@wrong(so_far, "these are sums")
def sums_so_far(words):
    return torch.cumsum(words, dim=0)


@wrong(so_far, "divided by the length of the sentence")
def shares_of_n(words):
    return words.cumsum(0) / len(words)


@wrong(so_far, "later words included")
def of_everything(words):
    return words.mean(0).expand(len(words), -1)


@wrong(so_far, "its own word and all later ones")
def upper_triangle(words):
    sees = torch.ones(len(words), len(words)).triu()
    return sees / sees.sum(dim=1, keepdim=True) @ words


@wrong(so_far, "each row averages the words before its own; its")
def without_itself(words):
    means = [words[:t].mean(0) if t else torch.zeros_like(words[0]) for t in range(len(words))]
    return torch.stack(means)


@wrong(so_far, "expected (1, 2)")
def one_average(words):
    return words.mean(dim=0)


@wrong(slopes, "the sigmoid was taken")
def by_sigmoid(w, x):
    x = x.clone().requires_grad_()
    h = torch.zeros(())
    for step in x:
        h = torch.sigmoid(w * h + step)
    return torch.autograd.grad(h, x)[0]


def _read(cell, words, state):
    found = []
    for word in words:
        state = cell(word, state)
        found.append(state)
    return torch.stack(found)


@wrong(states, "a state of ones")
def from_ones(cell, words):
    return _read(cell, words, torch.ones(cell.hidden_size))


@wrong(states, "gives the states in that order")
def in_the_order_of_reading(cell, words):
    return _read(cell, words.flip(0), torch.zeros(cell.hidden_size))


@wrong(states, "again and again")
def the_first_word_only(cell, words):
    return _read(cell, words[:1].expand_as(words), torch.zeros(cell.hidden_size))


@wrong(states, "they have no gradient at all")
def cut_after_every_word(cell, words):
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        state = cell(word, state).detach()
        found.append(state)
    return torch.stack(found)


@wrong(states, "they have no gradient at all")
def no_graph_at_all(cell, words):
    with torch.no_grad():
        return a_loop(cell, words)


@wrong(states, "they have no gradient at all")
def only_the_numbers(cell, words):
    return a_loop(cell, words).tolist()


@wrong(states, "a state of random numbers")
def random_beginning(cell, words):
    state, found = torch.randn(cell.hidden_size), []
    for word in words:
        state = cell(word, state)
        found.append(state)
    return torch.stack(found)


@wrong(slopes, "the old state has no part")
def old_state_dropped(w, x):
    slope = torch.zeros(len(x))
    slope[-1] = 1 - x[-1].tanh() ** 2
    return slope


@wrong(states, "the graph is cut after every word")
def each_word_learns_for_itself(cell, words):
    state, found = torch.zeros(cell.hidden_size), []
    for word in words:
        state = cell(word, state.detach())
        found.append(state)
    return torch.stack(found)


@wrong(so_far, "each row sees the next word")
def one_diagonal_too_many(words):
    table = torch.ones(len(words), len(words)).tril(1)
    return table / table.sum(1, keepdim=True) @ words


@wrong(so_far, "a softmax is taken of a table of ones and zeros")
def softmax_of_the_triangle(words):
    return torch.ones(len(words), len(words)).tril().softmax(dim=-1) @ words
