"""Drafts fill the gap and leave the rest; the stored table has every seed."""

import pytest
import torch

from book.in_any_order import few, gaps
from companion.data import corpus


def test_every_seed_is_in_the_table():
    runs = gaps.measured()
    assert [run["seed"] for run in runs] == [701, 702, 703, 704]
    for run in runs:
        for writer in gaps.RATES:
            assert max(run[writer].values()) == run[writer]["any of the drafts"]


@pytest.mark.parametrize(
    ("writer", "write"),
    [("any order", gaps.drafts_by_filling), ("GPT", gaps.drafts_from_the_left)],
)
def test_a_draft_fills_the_gap_with_words_and_leaves_the_rest(writer, write):
    long = [words for words in corpus(100, 0) if len(words) > gaps.LAST][:20]
    ids = gaps.encoded(writer, long)
    drafts = write(few.new_model(writer, 0), ids, torch.Generator().manual_seed(0))
    changed = drafts != ids
    assert changed.any(0).nonzero().flatten().tolist() == [3, 4, 5]
    assert (drafts[:, gaps.FIRST : gaps.LAST] >= few.FIRST_WORD).all()


def test_from_the_left_the_right_side_is_not_read():
    ids = gaps.encoded("GPT", [words for words in corpus(100, 0) if len(words) > gaps.LAST])
    others = ids.clone()
    others[:, gaps.LAST :] = others[:, gaps.LAST :].flip(0)
    model = few.new_model("GPT", 0)
    drafts = [
        gaps.drafts_from_the_left(model, rows, torch.Generator().manual_seed(0))
        for rows in (ids, others)
    ]
    gap = slice(gaps.FIRST, gaps.LAST)
    assert torch.equal(drafts[0][:, gap], drafts[1][:, gap])
