"""The rule that names a curve, and the runs that it knows."""

import math
from collections import Counter
from itertools import pairwise

import pytest
import torch

from book.is_this_normal import curves, known
from companion.data import BOS, EOS, corpus, sentence_probability

UNIGRAM, BIGRAM, ENTROPY = 4.59, 2.43, 1.36  # of the language, in nats; a test computes them


def portrait(loss, vocab_size=10, validation=None) -> torch.Tensor:
    return torch.tensor(known.portrait(loss, vocab_size, validation), dtype=torch.float64)


def test_a_portrait_has_means_and_peaks_in_units_of_ln_v():
    unit = math.log(10)
    loss = [unit * (1 + (i % 2) / 2) for i in range(64)]
    torch.testing.assert_close(portrait(loss)[:32], torch.full((32,), 1.25).double())
    torch.testing.assert_close(portrait(loss)[32:64], torch.full((32,), 1.5).double())
    assert portrait(loss)[64].isnan() and portrait(loss)[65] == 0
    torch.testing.assert_close(portrait(loss, validation=2 * unit)[64].item(), 0.75)


def test_the_length_of_a_run_does_not_count():
    short = [6 * 0.9**i for i in range(32)]
    long = [value for value in short for _ in range(7)]
    torch.testing.assert_close(portrait(short), portrait(long), equal_nan=True)


def test_what_lies_far_above_is_cut_and_what_is_no_number_is_told():
    high, broken = portrait([1e9] * 40), portrait([1.0] * 40 + [math.nan])
    assert (high[:64] == known.CEILING).all()
    assert broken[65] == 1 and broken[:64].isfinite().all()
    assert known.distance(broken, portrait([1.0] * 40)) == pytest.approx(1)
    with pytest.raises(ValueError, match="none of the 2 losses"):
        portrait([math.nan, math.inf])


def test_a_gap_counts_only_where_both_are_known():
    plain, judged = portrait([1.0] * 40), portrait([1.0] * 40, validation=1 + math.log(10) / 2)
    assert known.distance(plain, judged) == 0
    other = portrait([1.0] * 40, validation=1.0)
    assert known.distance(other, judged) == pytest.approx(0.5)


def test_the_file_has_runs_of_every_kind():
    runs = known.read()
    assert [*runs] == [*curves.KINDS]
    assert {rows.shape for rows in runs.values()} == {(6, 2 * known.BINS + 2)}


def test_most_runs_that_the_rule_has_not_seen_are_named_right():
    """A guess gets one of seventeen."""
    for runs in (known.read(), known.blind(known.read())):
        found, of = known.sureness(runs).right
        assert of == 6 * 17 and found > 0.9 * of


def test_how_sure_a_name_is_counts_runs_that_were_not_seen():
    def runs(*heights):
        rows = torch.zeros(len(heights), 66, dtype=torch.float64)
        rows[:, :64] = torch.tensor(heights)[:, None]
        return rows

    sure = known.sureness({"a": runs(0.0, 0.0), "b": runs(1.0, 1.0), "c": runs(1.05, 1.05)})
    assert sure.right == (6, 6) and sure.when_named["b"] == (2, 2)
    assert sure.refused == (2, 6)  # b and c get each other's name
    sure = known.sureness({"a": runs(0.0, 0.9), "b": runs(1.0, 1.0)})
    assert sure.right == (3, 4)  # without its own run at 0.9, that height is nearer to b
    assert sure.when_named == {"a": (1, 1), "b": (2, 3)}


# What the page claims of its own runs, in nats, with the same bounds; no healthy run keeps them.
CLAIMED = {
    "targets shuffled apart": lambda end, gap: abs(end - UNIGRAM) < 0.25,
    "a token sees only itself": lambda end, gap: 0 < end - BIGRAM < 0.5,
    "targets not shifted": lambda end, gap: ENTROPY - end > 1,
    "padding is counted": lambda end, gap: ENTROPY - end > 0.05,
    "few sentences, many times": lambda end, gap: gap > 1,
    "dropout": lambda end, gap: -gap > 0.1,
}


@pytest.mark.parametrize("name", CLAIMED)
def test_what_the_page_claims_holds_under_six_seeds_and_fails_in_health(name):
    unit = math.log(len(curves.VOCABULARY))

    def holds(row):
        return CLAIMED[name](unit * row[29:32].mean(), unit * row[64])

    runs = known.read()
    assert [bool(holds(row)) for row in runs[name]] == [True] * 6
    assert not any(holds(row) for row in runs["healthy"])


def test_the_levels_are_those_of_the_language():
    """As the page computes them."""
    pairs = Counter(pair for words in corpus(20_000, 0) for pair in pairwise((BOS, *words, EOS)))
    total = sum(pairs.values())
    last, following = Counter(), Counter()
    for (before, after), n in pairs.items():
        last[before] += n
        following[after] += n

    def entropy(counts):
        return -sum(n / total * math.log(n / total) for n in counts.values())

    assert entropy(following) == pytest.approx(UNIGRAM, abs=0.03)
    assert entropy(pairs) - entropy(last) == pytest.approx(BIGRAM, abs=0.05)
    fresh = corpus(300, 1)
    surprise = -sum(math.log(sentence_probability(words)) for words in fresh)
    tokens = sum(len(words) + 1 for words in fresh)
    assert surprise / tokens == pytest.approx(ENTROPY, abs=0.05)


def test_every_kind_says_what_to_do():
    for name in curves.KINDS:
        assert curves.advice(name).endswith((".", "?")) and name not in curves.advice(name)


def test_a_run_leaves_the_loss_of_every_step_and_the_first_is_ln_v(monkeypatch):
    monkeypatch.setattr(curves, "STEPS", 30)
    run = curves.train(1)
    assert len(run.loss) == 30 and all(map(math.isfinite, run.loss))
    assert abs(run.loss[0] - math.log(len(curves.VOCABULARY))) < 0.2
    assert run.judged_at == [20, 30] and 0 < run.accuracy < 1


def test_a_run_that_breaks_leaves_a_nan_behind_its_losses():
    def loss(model, ids):
        total, count = curves.PLAIN(model, ids)
        return total * math.nan, count

    run = curves.train(1, loss=loss)
    assert len(run.loss) == 1 and math.isnan(run.loss[0])
    assert run.judged == [] and run.accuracy < 0.1
    with pytest.raises(ValueError, match="none of the 1 losses"):
        known.of_run(run)
