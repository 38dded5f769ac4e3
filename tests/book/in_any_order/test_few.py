"""The stored runs on few sentences are what the script beside them finds."""

import math

import pytest
import torch

from book.in_any_order import few
from companion.data import BOS, CLS, EOS, SEP, corpus


def ids_of(count, first=CLS, last=SEP):
    return few.VOCABULARY.encode([(first, *words, last) for words in corpus(count, 0)])


def test_every_seed_has_a_run_of_each_model_at_each_rate():
    found = [(row["seed"], row["sentences"], row["model"], row["rate"]) for row in few.measured()]
    every = {
        (seed, count, name, rate)
        for seed in (701, 702, 703, 704, 705)
        for count in few.SIZES
        for name in (*few.MODELS, few.CLOSER)
        for rate in few.STEPS
    }
    assert set(found) == every
    assert len(found) == len(every)
    for row in few.measured():
        reached = sum(mark <= few.STEPS[row["rate"]] for mark in few.MARKS)
        assert len(row["others"]) == len(row["to choose by"]) == reached


def test_holes_are_words_and_every_token_stays_a_target():
    ids = ids_of(300, BOS, EOS)
    seen, targets = few.with_holes(ids, torch.Generator().manual_seed(0))
    assert torch.equal(targets, ids)
    gone = seen != ids
    assert (seen[gone] == few.HIDDEN).all()
    assert (ids[gone] >= few.FIRST_WORD).all()
    assert gone.sum() / (ids >= few.FIRST_WORD).sum() == pytest.approx(0.25, abs=0.03)


def test_a_model_that_knows_nothing_pays_the_same_in_both_ways():
    plain, filled = ids_of(5, BOS, EOS), ids_of(5)
    words = (filled >= few.FIRST_WORD).sum(1)
    gpt, filler = few.new_model("GPT", 0), few.new_model("any order", 0)
    for model in (gpt, filler):
        for parameter in model.parameters():
            torch.nn.init.zeros_(parameter)
    size = len(few.VOCABULARY)
    assert torch.allclose(few.price_left_to_right(gpt, plain), (words + 1) * math.log(size))
    price = few.price_in_any_order(filler, filled, torch.Generator().manual_seed(0))
    assert torch.allclose(price, words * math.log(size - few.FIRST_WORD))


def test_the_closer_bound_is_that_of_the_mean_probability(monkeypatch):
    monkeypatch.setattr(few, "ORDERS", 3)
    told = corpus(20, 3)
    model = few.new_model("any order", 3)
    for parameter in model.parameters():  # so that a sentence's price hangs on the order
        parameter.data *= 4
    found = few.measure("any order", told, 3)(model)
    fresh = corpus(200, 3 + 2000)
    ids = few.VOCABULARY.encode([(CLS, *words, SEP) for words in fresh])
    random = torch.Generator().manual_seed(3)
    price = [few.price_in_any_order(model, ids, random).double() for _ in range(few.ORDERS)]
    mean = torch.stack([(-each).exp() for each in price]).mean(0)
    apart = (price[0] + mean.log()).mean().item()
    assert abs(apart) > 0.1
    assert found["any order"][1] - found[few.CLOSER][1] == pytest.approx(apart, abs=2e-3)


@pytest.mark.long
@pytest.mark.parametrize("name", few.MODELS)
def test_the_first_measurement_of_a_run_is_found_again(name, monkeypatch):
    monkeypatch.setattr(few, "STEPS", {1e-3: few.EVERY})
    stored = {
        row["model"]: row["others"][0]
        for row in few.measured()
        if (row["seed"], row["sentences"], row["rate"]) == (701, 200, 1e-3)
    }
    for row in few.run(name, 200, 1e-3, 701):  # another processor sums in another order
        assert row["others"] == pytest.approx([stored[row["model"]]], abs=0.02)
