"""What counts as a circle, and that texts of different beginnings are written as each alone."""

import pytest
import torch

from book.decoding import circles
from companion.generation import generate
from companion.models import GPT, GPTConfig
from companion.pretrained import load, load_tokenizer


def test_runs_that_were_there_before_are_counted():
    assert circles.repeated([1, 2, 3, 4, 5, 6, 7]) == 0
    assert circles.repeated([1, 2, 3, 4] * 3) == pytest.approx(5 / 9)
    assert circles.repeated([1, 2, 3]) == 0  # too short for one run


@pytest.fixture
def small():
    torch.manual_seed(1)
    config = GPTConfig(
        vocab_size=100,
        d_model=16,
        num_layers=1,
        num_heads=2,
        d_ff=32,
        max_len=64,
        positions="rotary",
    )
    model = GPT(config)
    for p in model.parameters():  # so that it matters what is looked at
        torch.nn.init.normal_(p)
    return model


def test_a_beginning_is_continued_as_if_it_were_alone(small):
    rows = [[3, 1, 4], [1, 5, 9, 2, 6], [5]]
    found = circles.continued(small, rows, 20, 1, [99], temperature=0)
    for row, text in zip(rows, found, strict=True):
        alone = generate(small, torch.tensor([row]), 20, temperature=0)
        assert text == alone[0, len(row) :].tolist()


def test_a_text_ends_before_its_first_end(small):
    whole = circles.continued(small, [[3, 1, 4]], 20, 1, [99], temperature=0)[0]
    end = whole[4]
    cut = circles.continued(small, [[3, 1, 4]], 20, 1, [99, end], temperature=0)[0]
    assert cut == whole[: whole.index(end)]


def test_ten_runs_have_twelve_beginnings_each():
    rows = circles.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for row in rows:
        assert len(set(row["begun"])) == 12 and set(row["begun"]) <= set(circles.BEGINNINGS)
        for way in circles.WAYS:
            assert len(row[way]["texts"]) == len(row[way]["tokens"]) == 12
            assert list(row[way]["again"]) == [str(n) for n in circles.LENGTHS]
            assert all(0 <= share <= 1 for n in row[way]["again"].values() for share in n)


@pytest.mark.weights
@pytest.mark.long
def test_stored_texts_are_found_again():
    row = circles.stored()[0]
    model, tokenizer = load(circles.NAME), load_tokenizer(circles.NAME)
    begun = [tokenizer.encode(text) for text in row["begun"]]
    texts = circles.continued(model, begun, 40, row["seed"], [tokenizer.eos_id, 0], temperature=0)
    same = [tokenizer.decode(ids) for ids in texts]
    # Where two tokens are as likely, another processor's rounding may choose the other.
    assert sum(a == b for a, b in zip(same, row["greedy"]["texts"], strict=True)) >= 9
