"""Checks for the exercises of book/attention_on_a_budget.ipynb."""

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def what_it_says(answer) -> str:
    """Check `what_it_says(keys, values, query)`, (n, d_k), (n, d_v), (d_k,) -> (d_v,)."""
    climb(WHAT_IT_SAYS, answer)
    return "one fact and several, keys at right angles and not, a key that was written twice"


def _what_it_says(keys, values, query):
    S = values.T @ keys
    return S @ query


@ladder(_what_it_says)
def WHAT_IT_SAYS(what_it_says):
    """a fact whose key and value are as wide, asked with this key, of length 1: its value"""
    keys, values = torch.tensor([[0.6, 0.8]]), torch.tensor([[1.0, 2]])
    yield what_it_says(keys, values, torch.tensor([0.6, 0.8]))

    """one fact, asked with its own key of length 1: its value"""
    keys, values = torch.tensor([[0.6, 0.8]]), torch.tensor([[1.0, 2, 4]])
    yield what_it_says(keys, values, torch.tensor([0.6, 0.8]))

    """asked with a query that is a little like two keys: a part of both values"""
    keys = torch.tensor([[0.6, 0.8], [0.8, -0.6]])
    values = torch.tensor([[1.0, 2, 4], [8, 16, 32]])
    yield what_it_says(keys, values, torch.tensor([1.0, 0]))

    """two keys at right angles do not disturb each other"""
    keys = torch.tensor([[0.6, 0.8], [0.8, -0.6]])
    values = torch.tensor([[1.0, 2, 4], [8, 16, 32]])
    yield what_it_says(keys, values, torch.tensor([0.6, 0.8]))

    """a key that points away from the query answers with the opposite of its value"""
    keys = torch.tensor([[0.6, 0.8], [-0.8, 0.6]])
    values = torch.tensor([[1.0, 2, 4], [8, 16, 32]])
    yield what_it_says(keys, values, torch.tensor([1.0, 0]))

    """a key that was written twice gives both values"""
    keys = torch.tensor([[0.6, 0.8], [0.8, -0.6], [0.6, 0.8]])
    values = torch.tensor([[1.0, 2, 4], [8, 16, 32], [3, 5, 7]])
    yield what_it_says(keys, values, torch.tensor([0.6, 0.8]))

    """keys that are alike answer for each other; a key or a query of length 2 doubles the answer"""
    keys = torch.tensor([[1.0, 0, 0, 0], [0.5, 0.5, 0.5, 0.5], [0, 0, 2, 0]])
    values = torch.tensor([[1.0, 2], [4, 8], [16, 32]])
    yield what_it_says(keys, values, torch.tensor([1.0, -1, 1, 1]))


WHAT_IT_SAYS.mistakes |= {
    "a softmax is taken; the matrix knows none": (
        lambda keys, values, query: (keys @ query).softmax(0) @ values
    ),
    "only the last fact is read; the matrix is the sum of all": (
        lambda keys, values, query: (keys[-1] @ query) * values[-1]
    ),
    "only the value of the most similar key is given; all values answer, each by its weight": (
        lambda keys, values, query: values[(keys @ query).argmax()]
    ),
    "the weights are divided by the number of facts": edited(
        _what_it_says, "S @ query", "S @ query / len(keys)"
    ),
    "it is divided by the sum of the weights; nothing brings them to 1 here": edited(
        _what_it_says, "S @ query", "S @ query / (keys @ query).sum()"
    ),
    "the keys are brought to length 1; they are added as they are": edited(
        _what_it_says, "values.T @ keys", "values.T @ (keys / keys.norm(dim=1, keepdim=True))"
    ),
    "the matrix is turned round, or asked from the wrong side: values.T @ keys has a row for each "
    "number of the value, and stands on the left of the query": edited(
        _what_it_says, "values.T @ keys", "keys.T @ values"
    ),
    "what was written earlier fades with each new fact; here nothing fades": (
        lambda keys, values, query: _what_it_says(
            keys, values * 0.9 ** torch.arange(len(keys) - 1, -1, -1.0)[:, None], query
        )
    ),
    "the last fact is left out": edited(
        _what_it_says, "values.T @ keys", "values[:-1].T @ keys[:-1]"
    ),
}


@exercise
def bytes_held(answer) -> str:
    """Check `bytes_held(layers, tokens, d, heads, window)` -> bytes, of float32 numbers."""
    climb(BYTES_HELD, answer)
    return "each kind of layer, several together, texts shorter and longer than the window"


def _bytes_held(layers, tokens, d, heads, window):
    numbers = {
        "full": tokens * 2 * d,
        "window": min(tokens, window) * 2 * d,
        "matrix": heads * (d // heads) ** 2,
    }
    return 4 * sum(numbers[kind] for kind in layers)


@ladder(_bytes_held)
def BYTES_HELD(bytes_held):
    """a layer of full attention keeps a key and a value of each token, each d numbers for all heads
    together, four bytes a number"""
    yield bytes_held(["full"], 10, 32, 4, 16)

    """two layers keep twice as much"""
    yield bytes_held(["full", "full"], 10, 32, 4, 16)

    """a text longer than the window: it keeps the window, whatever else was read"""
    yield bytes_held(["window"], 100, 32, 4, 16)

    """a text shorter than the window: it keeps what there is"""
    yield bytes_held(["window"], 10, 32, 4, 16)

    """a matrix in one head is as wide and as high as the model"""
    yield bytes_held(["matrix"], 100, 32, 1, 16)

    """each of several heads has a small matrix of its own"""
    yield bytes_held(["matrix"], 100, 32, 8, 16)

    """a mixture"""
    yield bytes_held(["matrix", "matrix", "full", "window"], 5000, 64, 8, 128)


BYTES_HELD.mistakes |= {
    "keys are counted without values": edited(
        _bytes_held, "tokens * 2 * d", "tokens * d", "window) * 2 * d", "window) * d"
    ),
    "the window is counted in full though the text is shorter": edited(
        _bytes_held, "min(tokens, window)", "window"
    ),
    "the window is not counted: all tokens are kept": edited(
        _bytes_held, "min(tokens, window)", "tokens"
    ),
    "the matrix is d x d in spite of its heads: each head has d / heads in both directions": edited(
        _bytes_held, "heads * (d // heads) ** 2", "d * d"
    ),
    "one head's matrix is counted; there are several": edited(
        _bytes_held, "heads * (d // heads)", "(d // heads)"
    ),
    "numbers are counted, not bytes; float32 has four": edited(_bytes_held, "4 * sum", "sum"),
    "the matrix is counted twice; a head has one, of keys and values together": edited(
        _bytes_held, "heads * (d // heads) ** 2", "2 * heads * (d // heads) ** 2"
    ),
    "the cache of one head is counted; each of them has keys and values": edited(
        _bytes_held,
        "tokens * 2 * d",
        "tokens * 2 * d // heads",
        "window) * 2 * d",
        "window) * 2 * d // heads",
    ),
    "the matrix is multiplied by the tokens; there is one, however long the text": edited(
        _bytes_held, "heads * (d // heads) ** 2", "tokens * heads * (d // heads) ** 2"
    ),
}


@exercise
def overwrite_part(answer) -> str:
    """Check `overwrite_part(S, key, value, beta)`, (d_v, d_k), (d_k,), (d_v,) -> (d_v, d_k)."""
    climb(OVERWRITE_PART, answer)
    return "empty and full matrices, all, half and nothing replaced, keys of any length"


def _overwrite_part(S, key, value, beta):
    missing = value - S @ key
    return S + beta * torch.outer(missing, key) / (key @ key)


@ladder(_overwrite_part)
def OVERWRITE_PART(overwrite_part):
    """an empty matrix, a key of length 1, beta = 1: the outer product, a row for each
    number of the value and a column for each of the key"""
    S, key, value = torch.zeros(2, 2), torch.tensor([0.6, 0.8]), torch.tensor([1.0, 2])
    yield overwrite_part(S, key, value, 1.0)

    """what was there, S @ key, is replaced, not added to"""
    S, key = torch.tensor([[0.6, 0.8], [3, -2]]), torch.tensor([0.6, 0.8])
    yield overwrite_part(S, key, torch.tensor([1.0, 2]), 1.0)

    """a value of another width than the key"""
    S, key = torch.tensor([[0.6, 0.8], [3, -2], [1, 5]]), torch.tensor([0.6, 0.8])
    yield overwrite_part(S, key, torch.tensor([1.0, 2, 4]), 1.0)

    """beta = 0 changes nothing"""
    S, key = torch.tensor([[0.6, 0.8], [3, -2], [1, 5]]), torch.tensor([0.6, 0.8])
    yield overwrite_part(S, key, torch.tensor([1.0, 2, 4]), 0.0)

    """beta = 1/4: the matrix then says a quarter of the new value, and three of the old one"""
    S, key = torch.tensor([[0.6, 0.8], [3, -2], [1, 5]]), torch.tensor([0.6, 0.8])
    yield overwrite_part(S, key, torch.tensor([1.0, 2, 4]), 0.25)

    """a key of another length: the matrix says the new value at this key"""
    S, key = torch.tensor([[0.6, 0.8], [3, -2], [1, 5]]), torch.tensor([2.0, 1])
    yield overwrite_part(S, key, torch.tensor([1.0, 2, 4]), 1.0)

    """a longer key, and half of the value"""
    S = torch.arange(8.0).reshape(2, 4)
    yield overwrite_part(S, torch.tensor([1.0, 0, 2, -1]), torch.tensor([3.0, 7]), 0.5)


OVERWRITE_PART.mistakes |= {
    "the old value is not taken away": edited(_overwrite_part, "value - S @ key", "value"),
    "beta weighs the new value only; the old one goes by the same share": edited(
        _overwrite_part, "value - S @ key", "beta * value - S @ key", "S + beta *", "S +"
    ),
    "beta is the share of the new value; that of the old one is 1 - beta": edited(
        _overwrite_part, "S + beta", "S + (1 - beta)"
    ),
    "the whole matrix fades; only what it says about this key may go": edited(
        _overwrite_part, "value - S @ key", "value", "return S", "return (1 - beta) * S"
    ),
    "the key's length is not divided out: with a key of length 1 it would be right": edited(
        _overwrite_part, " / (key @ key)", ""
    ),
    "it is divided by the key's length; by its square, since the key stands twice": edited(
        _overwrite_part, "(key @ key)", "key.norm()"
    ),
    "the matrix is asked from the wrong side: what it says about the key is S @ key": edited(
        _overwrite_part, "S @ key", "key @ S"
    ),
    "the old value is taken away twice": edited(_overwrite_part, "value - S", "value - 2 * S"),
}


@exercise
def what_was_written(answer) -> str:
    """Check `what_was_written(keys, values, beta)`, (T, d_k), (T, d_v), (T,) -> U (T, d_v)."""
    climb(WHAT_WAS_WRITTEN, answer)
    return "keys at right angles, repeated and alike, all and a part replaced, a text of six"


def _what_was_written(keys, values, beta):
    earlier = (beta[:, None] * (keys @ keys.T)).tril(-1)
    return torch.linalg.solve(torch.eye(len(keys)) + earlier, beta[:, None] * values)


@ladder(_what_was_written)
def WHAT_WAS_WRITTEN(what_was_written):
    """one fact: the matrix was empty, so all of the value is missing, whatever the key's length"""
    keys, values = torch.tensor([[2.0, 1.0]]), torch.tensor([[1.0, 2, 4]])
    yield what_was_written(keys, values, torch.tensor([1.0]))

    """beta = 1/2 writes half of it"""
    keys, values = torch.tensor([[0.6, 0.8]]), torch.tensor([[1.0, 2, 4]])
    yield what_was_written(keys, values, torch.tensor([0.5]))

    """keys at right angles: each value is written as it is"""
    keys, values = torch.eye(3)[:2], torch.tensor([[1.0, 2, 4], [3, 5, 9]])
    yield what_was_written(keys, values, torch.ones(2))

    """the same key again: only the difference is written"""
    keys = torch.tensor([[0.6, 0.8], [0.6, 0.8]])
    values = torch.tensor([[1.0, 2, 4], [3, 5, 9]])
    yield what_was_written(keys, values, torch.ones(2))

    """three times the same key: the second write has changed what the third one finds"""
    keys = torch.tensor([[0.6, 0.8], [0.6, 0.8], [0.6, 0.8]])
    values = torch.tensor([[1.0, 2], [3, 5], [10, 6]])
    yield what_was_written(keys, values, torch.ones(3))

    """a part is replaced, another one at each position"""
    keys = torch.tensor([[0.6, 0.8], [0.6, 0.8], [0.6, 0.8]])
    values = torch.tensor([[1.0, 2], [3, 5], [10, 6]])
    yield what_was_written(keys, values, torch.tensor([0.5, 1.0, 0.25]))

    """keys of other lengths, used as they are: what the matrix says of a longer key is larger"""
    keys, values = torch.tensor([[2.0, 1.0], [1.0, 3.0]]), torch.tensor([[1.0, 2], [3, 5]])
    yield what_was_written(keys, values, torch.ones(2))

    """six keys that are alike"""
    i = torch.arange(6.0)
    keys = torch.stack([(i * k).cos() for k in (1, 2, 3)], dim=1)
    keys = keys / keys.norm(dim=1, keepdim=True)
    values = torch.stack([i, i * i - 3], dim=1)
    yield what_was_written(keys, values, 1 / (1 + i))


WHAT_WAS_WRITTEN.mistakes |= {
    "the values are given back: what the matrix says already is to be taken away": (
        lambda keys, values, beta: values * 1.0
    ),
    "the earlier values are taken away as they came, not what was written of them": (
        lambda keys, values, beta: (
            beta[:, None] * (values - (keys @ keys.T).tril(-1) @ (beta[:, None] * values))
        )
    ),
    "a position takes itself away, too: the diagonal does not belong to it": edited(
        _what_was_written, ".tril(-1)", ".tril()"
    ),
    "later positions are taken away: keep what is below the diagonal": edited(
        _what_was_written, ".tril(-1)", ".triu(1)"
    ),
    "beta weighs the values, but not what is taken away": edited(
        _what_was_written, "(beta[:, None] * (keys @ keys.T))", "(keys @ keys.T)"
    ),
    "the first beta is taken for all; each position has its own": edited(
        _what_was_written, "earlier = (", "beta = beta[:1].expand(len(keys)); earlier = ("
    ),
    "it is divided by the key's squared length; this rule uses the keys as they are": (
        lambda keys, values, beta: _what_was_written(keys, values, beta / keys.square().sum(1))
    ),
    "beta stands at the column; it belongs to the position that writes, the row": edited(
        _what_was_written, "beta[:, None] * (keys", "beta * (keys"
    ),
    "beta weighs a second time what is written already with its beta": edited(
        _what_was_written,
        "(beta[:, None] * (keys @ keys.T))",
        "(beta[:, None] * (keys @ keys.T) * beta)",
    ),
}
