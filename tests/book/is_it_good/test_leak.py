"""Ten starts: who has read a set bets on it and wins, who has not loses; and what is stored."""

from collections import Counter
from math import log

import pytest
import torch
from torch import nn

from book.is_it_good import leak
from book.language_model import NOTHING
from companion.data import corpus, sentence_probability

READ, UNREAD = corpus(leak.SET, 1), corpus(leak.SET, 2)
ROWS_OF = leak.numbering(READ + UNREAD)


class Remembers(nn.Module):
    """Gives every sentence that it has read its share of them, and hardly anything to others."""

    def __init__(self, sentences):
        super().__init__()
        rows = ROWS_OF(sentences).tolist()
        self.size = int(ROWS_OF(READ + UNREAD).max()) + 1
        self.after = Counter(tuple(row[: i + 1]) for row in rows for i in range(len(row)))

    def forward(self, ids):
        logits = torch.empty(*ids.shape, self.size)
        for b, row in enumerate(ids.tolist()):
            for t in range(len(row)):
                seen = [self.after[(*row[: t + 1], word)] for word in range(self.size)]
                logits[b, t] = torch.tensor(seen).clamp(min=1e-9).log()
        return logits


def test_a_model_gains_on_the_sentences_that_it_has_read_and_on_no_others():
    found = {k: leak.asked(Remembers(s), ROWS_OF, READ) for k, s in ((1, READ), (0, UNREAD))}
    times = Counter(map(tuple, READ))
    for sentence, gain in zip(READ, found[1]["gains"], strict=True):
        q = times[tuple(sentence)] / len(READ)
        assert gain == pytest.approx(log(q / sentence_probability(sentence)), abs=2e-3)
    assert sum(found[1]["gains"]) > 100
    assert sum(found[0]["gains"]) < -100


def test_the_sentences_own_probability_and_their_tokens_do_not_depend_on_the_model():
    one, other = (leak.asked(Remembers(s), ROWS_OF, READ) for s in (READ, UNREAD))
    assert (one["own"], one["tokens"]) == (other["own"], other["tokens"])
    assert one["own"] == pytest.approx(sum(log(sentence_probability(s)) for s in READ), abs=1e-3)
    assert one["tokens"] == (ROWS_OF(READ) != NOTHING).sum() - len(READ)  # all but the first


def test_each_set_is_as_often_in_the_training_text_as_it_says():
    training, sets, fresh = leak.drawn(3)
    assert len(training) == leak.STEPS * leak.BATCH
    assert len(fresh) == leak.HONEST * leak.SET
    counts = Counter(map(tuple, training))
    rare = {k: min(counts[tuple(s)] for s in sentences) for k, sentences in sets.items()}
    assert rare[0] == 0
    assert all(rare[k] >= k for k in leak.COPIES)
    assert rare[2] < 8 < rare[32]


def test_each_of_ten_starts_has_all_sets():
    rows = leak.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for row in rows:
        assert list(row["sets"]) == [str(k) for k in leak.COPIES]
        assert len(row["honest"]) == leak.HONEST
        for found in (*row["sets"].values(), *row["honest"]):
            assert len(found["gains"]) == leak.SET
            assert found["own"] < 0 < found["tokens"]


@pytest.mark.long
def test_a_stored_start_is_found_again():
    found, stored = leak.measure(5301), leak.stored()[0]
    for k, again in found["sets"].items():
        assert again["own"] == pytest.approx(stored["sets"][k]["own"], abs=0.01)
        assert again["tokens"] == stored["sets"][k]["tokens"]
    # Where a processor rounds otherwise, it is as another start: the order of the sets is left.
    sums = {k: sum(of["gains"]) for k, of in found["sets"].items()}
    assert max(sums["0"], sums["2"]) < log(20) < sums["32"]
    assert sums["2"] < sums["8"] < sums["32"]
    assert max(sum(of["gains"]) for of in found["honest"]) < log(20)
