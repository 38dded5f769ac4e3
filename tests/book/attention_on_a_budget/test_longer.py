"""Recall with more steps: what the page says of the stored runs, and one of them found again."""

import pytest
import torch

from book.attention_on_a_budget import longer


def test_in_every_run_both_rules_come_close_to_full_attention_where_facts_stay():
    found = longer.stored()
    assert [run["seed"] for run in found] == [701, 702, 703, 704, 705]
    for run in found:
        stay, change = run["stay"], run["change"]
        assert stay["add"][0] - stay["overwrite"][0] > 0.05
        for rule in ("add", "overwrite"):
            assert 0 <= stay["full attention"][1] - stay[rule][1] < 0.06
        assert change["overwrite"][1] > 0.98 and change["full attention"][1] > 0.98
        assert change["add"][0] < change["add"][1] < 0.9


@pytest.mark.parametrize("times", [1, 4])
def test_the_answer_is_the_last_value_of_its_key(times):
    torch.manual_seed(3)
    ids, answers = longer.recall_task(16, rows=5, times=times)
    for row, said in zip(ids.tolist(), answers.tolist(), strict=True):
        last = dict(zip(row[0:32:2], row[1:32:2], strict=True))
        assert len(last) == 16 // times
        assert said == [last[key] for key in row[32:]]


@pytest.mark.long
def test_a_stored_run_is_found_again():
    found = longer.recalled("overwrite", "stay", longer.STEPS[0], 701)
    # Another processor rounds otherwise, and is as another seed.
    assert found == pytest.approx(longer.stored()[0]["stay"]["overwrite"][0], abs=0.06)
