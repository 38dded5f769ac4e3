"""Checks for the exercises of book/in_any_order.ipynb."""

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def keep_surest(answer) -> str:
    """Check `keep_surest(blank, sure, keep)`, -> (B, T), True at the blanks that are filled."""
    climb(KEEP_SUREST, answer)
    return "one blank and several, words that are surer than blanks, and more to keep than there is"


def _keep_surest(blank, sure, keep):
    rank = sure.masked_fill(~blank, -torch.inf).argsort(1, descending=True).argsort(1)
    return blank & (rank < keep)


@ladder(_keep_surest)
def KEEP_SUREST(keep_surest):
    """every place is blank, and one word is kept: the surest"""
    blank = torch.tensor([[True, True, True, True]])
    sure = torch.tensor([[0.25, 0.125, 0.75, 0.5]])
    yield keep_surest(blank, sure, 1)

    """two are kept, the two surest"""
    blank = torch.tensor([[True, True, True, True, True]])
    sure = torch.tensor([[0.25, 0.875, 0.375, 0.5, 0.125]])
    yield keep_surest(blank, sure, 2)

    """a word that stands is no blank, however sure the network is of it"""
    blank = torch.tensor([[False, True, True, False, True]])
    sure = torch.tensor([[0.875, 0.25, 0.125, 0.75, 0.5]])
    yield keep_surest(blank, sure, 2)

    """log-probabilities are negative, and the largest is still the surest"""
    blank = torch.tensor([[True, False, True, True]])
    sure = torch.tensor([[-2.0, -0.25, -0.5, -1.0]])
    yield keep_surest(blank, sure, 2)

    """each sentence has its own surest blanks"""
    blank = torch.tensor([[True, True, True, False], [True, False, True, True]])
    sure = torch.tensor([[-1.0, -2.0, -1.5, -0.5], [-4.0, -3.0, -6.0, -5.0]])
    yield keep_surest(blank, sure, 1)

    """more are asked for than the sentence has places: all blanks are kept"""
    blank = torch.tensor([[True, False, True]])
    sure = torch.tensor([[-2.0, -0.25, -0.5]])
    yield keep_surest(blank, sure, 4)

    """of four blanks three are kept; the other sentence has one, which is kept"""
    blank = torch.tensor([[True, True, True, True], [False, False, True, False]])
    sure = torch.tensor([[-1.0, -2.0, -1.5, -2.5], [-4.0, -3.0, -6.0, -5.0]])
    yield keep_surest(blank, sure, 3)


KEEP_SUREST.mistakes |= {
    "the least sure are kept": edited(
        _keep_surest,
        "~blank, -torch.inf",
        "~blank, torch.inf",
        "descending=True",
        "descending=False",
    ),
    "places that are no blanks take part in the ranking": edited(
        _keep_surest, ".masked_fill(~blank, -torch.inf)", ""
    ),
    "places that are no blanks are kept as well": edited(
        _keep_surest, "blank & (rank", "~blank | (rank"
    ),
    "one argsort gives the order of the places; a second one gives each its rank": edited(
        _keep_surest, ".argsort(1, descending=True).argsort(1)", ".argsort(1, descending=True)"
    ),
    "all blanks are filled; keep as many as are asked for": lambda blank, sure, keep: blank,
    "the leftmost blanks are kept, whatever is sure": (
        lambda blank, sure, keep: blank & (blank.cumsum(1) <= keep)
    ),
    "one more is kept than is asked for": edited(_keep_surest, "rank < keep", "rank <= keep"),
    "the places are ranked among the sentences; rank those of a sentence": edited(
        _keep_surest, ".argsort(1, descending=True).argsort(1)", ".argsort(0, True).argsort(0)"
    ),
    "as many are kept in each sentence as in that with the fewest blanks": edited(
        _keep_surest, "rank < keep", "rank < blank.sum(1).min().clamp(max=keep)"
    ),
    "the sentences are ranked together; each has a ranking of its own": (
        lambda blank, sure, keep: _keep_surest(
            blank.reshape(1, -1), sure.reshape(1, -1), keep
        ).view(blank.shape)
    ),
    "where too few are blank, places that are no blanks are kept, too": edited(
        _keep_surest, "blank & (rank < keep)", "rank < keep"
    ),
    "places that are no blanks get 0, the surest log-probability; give them -inf": edited(
        _keep_surest, "-torch.inf", "0.0"
    ),
    "these are the blanks that stay; the others, which are filled, were asked for": edited(
        _keep_surest, "rank < keep", "rank >= keep"
    ),
}


@exercise
def lost_in_one_pass(answer) -> str:
    """Check `lost_in_one_pass(joint)`, a tensor with an axis for each place -> nats."""
    climb(LOST_IN_ONE_PASS, answer)
    return "independent words and equal ones, sentences that never occur, two places and three"


def _entropy(p):
    return -torch.special.xlogy(p, p).sum()


def _lost_in_one_pass(joint):
    axes = range(joint.dim())
    places = [joint.movedim(axis, 0).reshape(joint.shape[axis], -1).sum(1) for axis in axes]
    return sum(_entropy(p) for p in places) - _entropy(joint)


@ladder(_lost_in_one_pass)
def LOST_IN_ONE_PASS(lost_in_one_pass):
    """two words that follow each other: one coin instead of two; what never occurs adds 0, though
    0 * log(0) is NaN"""
    joint = torch.tensor([[0.5, 0.0], [0.0, 0.5]])
    yield lost_in_one_pass(joint)

    """words that mostly go together; places with different vocabularies"""
    joint = torch.tensor([[0.375, 0.0625, 0.0625], [0.125, 0.25, 0.125]])
    yield lost_in_one_pass(joint)

    """two words that know nothing of each other lose nothing"""
    joint = torch.tensor([[0.125, 0.375], [0.125, 0.375]])
    yield lost_in_one_pass(joint)

    """three places: each has its own marginal"""
    joint = torch.tensor([[[0.5, 0.125], [0.0, 0.125]], [[0.0, 0.0], [0.125, 0.125]]])
    yield lost_in_one_pass(joint)


LOST_IN_ONE_PASS.mistakes |= {
    "these are bits; take natural logarithms": (
        lambda joint: _lost_in_one_pass(joint) / torch.log(torch.tensor(2.0))
    ),
    "this is the entropy of the sentences; compare it with that of the words": _entropy,
    "the sign is turned: what independent draws lose is never negative": (
        lambda joint: -_lost_in_one_pass(joint)
    ),
    "the entropy of the sentences is not subtracted": edited(
        _lost_in_one_pass, " - _entropy(joint)", ""
    ),
    "this is per word; per sentence it is not divided by the number of places": (
        lambda joint: _lost_in_one_pass(joint) / joint.dim()
    ),
    "marginals are means here, and do not add up to 1; sum over the other places": edited(
        _lost_in_one_pass, ".sum(1)", ".mean(1)"
    ),
    "each place is summed over; for its marginal sum over all the others": (
        lambda joint: sum(_entropy(joint.sum(i)) for i in range(joint.dim())) - _entropy(joint)
    ),
    "the marginal of the first place is left out": edited(
        _lost_in_one_pass, "for p in places)", "for p in places[1:])"
    ),
    "the marginal of the last place is left out": edited(
        _lost_in_one_pass, "for p in places)", "for p in places[:-1])"
    ),
    "only two places are counted; there is one for each axis": (
        lambda joint: (
            _entropy(joint.sum(0).flatten()) + _entropy(joint.flatten(1).sum(1)) - _entropy(joint)
        )
    ),
    "only neighbouring places are compared; the first and the last may depend on each other, too": (
        lambda joint: (
            _lost_in_one_pass(joint)
            if joint.dim() == 2
            else _lost_in_one_pass(joint.sum(2)) + _lost_in_one_pass(joint.sum(0))
        )
    ),
    "0.01 is added in the logarithms, and shifts them all; only 0 · log(0) needs care": edited(
        _lost_in_one_pass,
        "_entropy(p) for",
        "-torch.special.xlogy(p, p + 0.01).sum() for",
        "- _entropy(joint)",
        "+ torch.special.xlogy(joint, joint + 0.01).sum()",
    ),
    "a marginal is a sum of probabilities, not the largest of them": edited(
        _lost_in_one_pass, ".sum(1)", ".amax(1)"
    ),
    "`reshape` alone mixes the places; for a marginal sum over the other axes": edited(
        _lost_in_one_pass, "joint.movedim(axis, 0)", "joint"
    ),
}


@exercise
def any_order_loss(answer) -> str:
    """Check `any_order_loss(losses, hidden, is_word)`, all (B, T) -> the mean over sentences."""
    climb(ANY_ORDER_LOSS, answer)
    return "all hidden and one hidden, padding, sentences of different lengths"


def _any_order_loss(losses, hidden, is_word):
    n, m = is_word.sum(1), hidden.sum(1)
    return (n / m * (losses * hidden).sum(1)).mean()


@ladder(_any_order_loss)
def ANY_ORDER_LOSS(any_order_loss):
    """all three words are hidden: the sum of their losses"""
    losses = torch.tensor([[1.0, 2.0, 4.0]])
    hidden = torch.tensor([[True, True, True]])
    is_word = torch.tensor([[True, True, True]])
    yield any_order_loss(losses, hidden, is_word)

    """two of five are hidden: they stand for all five"""
    losses = torch.tensor([[1.0, 2.0, 4.0, 8.0, 16.0]])
    hidden = torch.tensor([[False, True, True, False, False]])
    is_word = torch.tensor([[True, True, True, True, True]])
    yield any_order_loss(losses, hidden, is_word)

    """two of three words are hidden; what is no word has no part in n"""
    losses = torch.tensor([[8.0, 1.0, 2.0, 4.0, 16.0]])
    hidden = torch.tensor([[False, True, False, True, False]])
    is_word = torch.tensor([[False, True, True, True, False]])
    yield any_order_loss(losses, hidden, is_word)

    """two sentences: each has its own n and m, and both count the same"""
    losses = torch.tensor([[1.0, 2.0, 4.0, 8.0], [3.0, 5.0, 7.0, 9.0]])
    hidden = torch.tensor([[False, True, False, True], [True, False, False, False]])
    is_word = torch.tensor([[True, True, True, True], [True, True, True, False]])
    yield any_order_loss(losses, hidden, is_word)


ANY_ORDER_LOSS.mistakes |= {
    "hidden words are added up without the weight n / m": edited(_any_order_loss, "n / m * ", ""),
    "the weight is 1 / m: that is a mean over words, and a sentence has n of them": edited(
        _any_order_loss, "n / m", "1 / m"
    ),
    "the weight is m / n; it is the other way round": edited(_any_order_loss, "n / m", "m / n"),
    "words that can be seen are counted, too": edited(
        _any_order_loss, "(losses * hidden)", "(losses * is_word)"
    ),
    "n counts every place, not only the words": edited(
        _any_order_loss, "is_word.sum(1)", "losses.shape[1]"
    ),
    "the sentences are added up; take their mean": edited(_any_order_loss, ".mean()", ".sum()"),
    "one n and one m are taken for the whole batch": edited(
        _any_order_loss, "is_word.sum(1), hidden.sum(1)", "is_word.sum(), hidden.sum()"
    ),
    "all losses are added, those of places that are not hidden, too": edited(
        _any_order_loss, "(losses * hidden)", "losses"
    ),
    "the sum is divided by the number of words; the mean over the sentences was asked for": edited(
        _any_order_loss, ".mean()", ".sum() / n.sum()"
    ),
    "`//` rounds the weight n / m down; divide with `/`": edited(
        _any_order_loss, "n / m", "n // m"
    ),
}


@exercise
def who_wrote(answer) -> str:
    """Check `who_wrote(log_p, log_prior)`, (A, B) and (A,) -> (B, A), p(author | book)."""
    climb(WHO_WROTE, answer)
    return "equal and unequal priors, more books than authors, numbers too small to exponentiate"


def _who_wrote(log_p, log_prior):
    return (log_p + log_prior[:, None]).softmax(0).T


@ladder(_who_wrote)
def WHO_WROTE(who_wrote):
    """one book, three authors who are equally likely"""
    log_p = torch.tensor([[0.5], [0.25], [0.25]]).log()
    log_prior = torch.tensor([1.0, 1.0, 1.0]).div(3).log()
    yield who_wrote(log_p, log_prior)

    """three books: a row for each, which adds up to 1"""
    log_p = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]]).log()
    log_prior = torch.tensor([0.5, 0.5]).log()
    yield who_wrote(log_p, log_prior)

    """an author who is talked about more often"""
    log_p = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]]).log()
    log_prior = torch.tensor([0.25, 0.75]).log()
    yield who_wrote(log_p, log_prior)

    """log-probabilities of long texts: exp(-1000) is 0 in a computer"""
    log_p = torch.tensor([[-1000.0, -2003.0], [-1001.0, -2001.0], [-1002.0, -2000.0]])
    log_prior = torch.tensor([0.5, 0.25, 0.25]).log()
    yield who_wrote(log_p, log_prior)


WHO_WROTE.mistakes |= {
    "the prior is left out": edited(_who_wrote, " + log_prior[:, None]", ""),
    "logarithms are multiplied; what is multiplied are probabilities, so add their logarithms": (
        edited(_who_wrote, "log_p + log_prior", "log_p * log_prior")
    ),
    "this normalises over the books; a book asks who of the authors": edited(
        _who_wrote, ".softmax(0)", ".softmax(1)"
    ),
    "these are log-probabilities": edited(_who_wrote, "softmax", "log_softmax"),
    "this is p(author, book); divide by its sum over the authors": (
        lambda log_p, log_prior: (log_p + log_prior[:, None]).exp().T
    ),
    "of each book's numbers the largest must be subtracted, not the largest of all": (
        lambda log_p, log_prior: (
            ((x := (log_p + log_prior[:, None] - log_p.max()).exp()) / x.sum(0)).T
        )
    ),
    "exponentiate last: small numbers become 0 before they are divided": (
        lambda log_p, log_prior: (
            (
                (log_p.exp() * log_prior.exp()[:, None])
                / (log_p.exp() * log_prior.exp()[:, None]).sum(0)
            ).T
        )
    ),
    "the logarithm of the prior is subtracted; add it": edited(
        _who_wrote, "log_p + log", "log_p - log"
    ),
    "rows do not sum to 1: multiply by the prior first, then divide by the sum": edited(
        _who_wrote,
        "(log_p + log_prior[:, None]).softmax(0)",
        "(log_p.softmax(0) * log_prior.exp()[:, None])",
    ),
    "`reshape` mixes authors and books; exchange the two axes": edited(
        _who_wrote, ".T", ".reshape(log_p.mT.shape)"
    ),
}
