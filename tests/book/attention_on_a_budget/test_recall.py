"""Trained recall: the task, who chooses a rate, the stored table, and a run found again."""

import pytest
import torch

from book.attention_on_a_budget import recall


@pytest.mark.parametrize("times", [1, 4])
def test_the_answer_is_the_last_value_of_its_key(times):
    torch.manual_seed(3)
    ids, answers = recall.recall_task(16, rows=5, times=times)
    for row, said in zip(ids.tolist(), answers.tolist(), strict=True):
        last = dict(zip(row[0:32:2], row[1:32:2], strict=True))
        assert len(last) == 16 // times
        assert said == [last[key] for key in row[32:]]


def test_training_teaches_and_what_is_out_of_sight_is_not_recalled():
    before = recall.recalled("full attention", "stay", 1, 0.0, 7)
    after = recall.recalled("full attention", "stay", 40, 0.03, 7)
    assert after[-1] > before[-1] + 0.2
    few, *_, many = recall.recalled("last 16 tokens", "stay", 40, 0.03, 7)
    assert few > 0.8 and many < 0.2


def test_two_runs_choose_each_rate_and_the_ten_others_are_read(monkeypatch):
    def row(seed):
        # the second rate is best for those who choose, the third for all others
        shares = (
            [[0.1], [0.7], [0.2]] if seed in recall.CHOOSING else [[0.2], [seed / 10**4], [1.0]]
        )
        return {"seed": seed, "stay": {"200": {"add": shares}}}

    seeds = [5304, *recall.CHOOSING, 5301]
    monkeypatch.setattr(recall.runs, "read", lambda *file: [row(seed) for seed in seeds])
    read = recall.stored.__wrapped__  # not what was kept of the real table
    assert read("add", "stay", 200).flatten().tolist() == pytest.approx([0.5304, 0.5301])
    assert read("add", "stay", 200, recall.RATES[2]).flatten().tolist() == [1.0, 1.0]


def test_ten_runs_of_every_model_are_stored():
    for task, (sizes, _) in recall.TASKS.items():
        for steps, models in recall.STEPS.items():
            for model in models:
                for rate in (None, *recall.RATES):
                    shares = recall.stored(model, task, steps, rate)
                    assert shares.shape == (10, len(sizes))
                    assert ((0 <= shares) & (shares <= 1)).all()


@pytest.mark.long
def test_a_stored_run_is_found_again():
    found = recall.recalled("overwrite", "stay", 200, recall.RATES[1], 5301)
    # Another processor rounds otherwise, and is as another seed.
    assert found == pytest.approx(recall.stored("overwrite", "stay", 200)[0].tolist(), abs=0.06)
