"""A round against more steps on the demonstrations: what the page says, and a run found again."""

import pytest
import torch

from book.after_pretraining import more_steps
from book.requests import Request, passes


def test_answers_are_judged_as_their_requests_ask():
    class Says(torch.nn.Module):
        """A model that continues each prompt with one sentence."""

        def __init__(self, words):
            super().__init__()
            self.ids = [more_steps.NUMBER[word] for word in (*words, more_steps.EOS)]

        def empty_cache(self):
            return iter(self.ids)

        def forward(self, ids, cache):
            logits = torch.full((*ids.shape, len(more_steps.TOKENS)), -1e9)
            logits[..., next(cache)] = 0.0
            return logits

    words = "this brown dog is near the kennel".split()
    asked = [Request("animal", 7), Request("animal", 8), Request("food", 7)]
    ids, passed = more_steps.answers(Says(words), asked)
    assert [row[:3] for row in ids.tolist()] == [more_steps.prompt_of(one) for one in asked]
    assert passed.tolist() == [passes(one, words) for one in asked] == [True, False, False]


@pytest.mark.long
def test_a_stored_start_is_found_again():
    torch.manual_seed(0)
    found = more_steps.share(more_steps.started(701)[0])
    # Another processor rounds otherwise, and is as another seed.
    assert found == pytest.approx(more_steps.stored()[0]["start"], abs=0.08)


def test_in_every_run_as_many_steps_bring_less_than_the_round_and_three_times_as_many_more():
    found = more_steps.stored()
    assert [run["seed"] for run in found] == [701, 702, 703, 704, 705]
    for run in found:
        order = ("start", "as many steps", "round", "three times")
        assert sorted(order, key=run.get) == list(order)
