"""Several processes train like one, each on a device of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from companion.training.processes import join_processes, use_own_gpu

pytestmark = pytest.mark.long
SCRIPT = Path(__file__).with_name("one_of_several.py")
needs_shards = pytest.mark.skipif(
    not hasattr(torch.cpu.current_stream(), "record_event"),
    reason="torch 2.6 shards on GPUs alone",
)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """What one process reports, and what each of two does."""
    folder = tmp_path_factory.mktemp("reports")
    subprocess.run([sys.executable, SCRIPT, folder], check=True, timeout=600)
    one, *two = (json.loads(path.read_text()) for path in sorted(folder.glob("?-?.json")))
    return {"1": [one], "2": two}


def test_losses_and_gradients_are_those_of_one(reports):
    (one,), (first, second) = reports["1"], reports["2"]
    assert first["processes"] == second["processes"] == 2
    for name in ("loss", "grad_norm", "weights"):
        assert first[name] == second[name]
        assert first[name] == pytest.approx(one[name], rel=1e-12)


@pytest.mark.parametrize("tied", [True, False])
@needs_shards
def test_shared_weights_are_those_of_one_process(reports, tied):
    """Two that share the weights, two that share each batch, and one alone: the same run."""
    shared, *runs = (
        report["sharded"][f"{way}, {tied}"]
        for report in (*reports["1"], *reports["2"])
        for way in ("shared", "sharded")
    )
    for run in runs:
        for name in ("loss", "grad_norm", "weights"):
            assert run[name] == pytest.approx(shared[name], rel=1e-12, abs=1e-13)
        assert run["tokens"] == shared["tokens"]
    for report in reports["2"]:
        by_hand, run = (report["sharded"][name] for name in ("by hand", "sharded, True"))
        assert by_hand == {**run, "evaluations": [], "evaluated_at": []}


@needs_shards
def test_an_evaluation_has_the_whole_model_and_is_shared_out(reports):
    (one,), two = reports["1"], reports["2"]
    for tied in (True, False):
        (alone,) = one["sharded"][f"shared, {tied}"]["evaluations"]
        assert alone["calls"] == 4
        for report in two:
            for way in ("shared", "sharded"):
                (found,) = report["sharded"][f"{way}, {tied}"]["evaluations"]
                assert found["calls"] == 2
                assert found["loss"] == pytest.approx(alone["loss"], rel=1e-12)
                assert (found["written"], found["is"]) == (alone["written"], "GPT")


@needs_shards
def test_a_sharded_run_goes_on_from_its_folder_bit_for_bit(reports):
    for report in (*reports["1"], *reports["2"]):
        assert report["sharded"]["resumed"] == report["sharded"]["straight"]
        assert report["sharded"]["names"] == ["3"]


@needs_shards
def test_another_number_of_processes_goes_on(reports):
    (one,) = reports["1"]
    going_on, whole = (one["sharded"][name] for name in ("by another number", "straight"))
    for name in ("loss", "grad_norm", "weights"):
        assert going_on[name] == pytest.approx(whole[name], rel=1e-12, abs=1e-13)


@needs_shards
def test_what_was_sharded_can_be_saved(reports):
    for report in (*reports["1"], reports["2"][0], reports["2"][1]):
        assert report["sharded"].get("saved", True)
    assert sum("saved" in report["sharded"] for report in reports["2"]) == 1


@needs_shards
def test_a_sharded_run_that_diverges_leaves_the_weights_before_it(reports):
    assert all(report["sharded"]["diverged"] for report in (*reports["1"], *reports["2"]))


@needs_shards
def test_where_one_process_fails_all_save_and_stop(reports):
    assert [r["sharded"]["failed"] for r in reports["1"]] == [["ZeroDivisionError", 1]]
    ends = sorted(report["sharded"]["failed"] for report in reports["2"])
    assert ends == [["KeyboardInterrupt", 1], ["ZeroDivisionError", 1]]


@needs_shards
def test_all_processes_skip_the_steps_whose_gradient_overflows(reports):
    for report in (*reports["1"], *reports["2"]):
        for shard in (True, False):
            run = report["sharded"][f"fp16, {shard}"]
            assert run["skipped"] == reports["1"][0]["sharded"]["fp16, False"]["skipped"]
            assert 1 in run["skipped"] and 12 not in run["skipped"]


def test_the_replica_is_what_is_compiled(reports):
    """So that torch may exchange gradients while the backward pass still computes."""
    assert [report["compiled"] for report in reports["1"]] == [["Sequential"]]
    assert [report["compiled"] for report in reports["2"]] == [["DistributedDataParallel"]] * 2


def test_accumulation_adds_to_it(reports):
    for report in (*reports["1"], *reports["2"]):
        assert report["accumulated"] == pytest.approx(report["loss"], rel=1e-12)


def test_each_draws_its_own_dropout(reports):
    first, second = reports["2"]
    assert first["drawn"] != second["drawn"]


def test_no_step_draws_what_another_seed_drew_a_step_before(reports):
    for report in reports["2"]:
        assert report["seeds"][0] != report["seeds"][1]


def test_a_resumed_run_is_the_same_run_wherever_the_file_is(reports):
    for report in (*reports["1"], *reports["2"]):
        assert report["resumed"]["same"]
    first, second = (report["resumed"] for report in reports["2"])
    assert {first["has_file"], second["has_file"]} == {True, False}
    assert first["loss"] == second["loss"]


def test_the_processes_exchange_on_the_cpu_too(monkeypatch):
    """NCCL alone, torch's choice on a machine with GPUs, knows no tensor of the CPU."""
    begun = []
    monkeypatch.setattr(torch.distributed, "is_torchelastic_launched", lambda: True)
    monkeypatch.setattr(torch.distributed, "init_process_group", begun.append)
    for is_there in (True, False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=is_there: there)
        join_processes()
    assert begun == ["cpu:gloo,cuda:nccl", "gloo"]


def test_what_one_process_knows_all_come_to_know(reports):
    assert [report["flags"] for report in reports["1"]] == [[False, False]]
    assert [report["flags"] for report in reports["2"]] == [[False, True]] * 2


@pytest.fixture
def chosen(monkeypatch):
    """The GPUs that were made the current one, on a machine that seems to have two."""
    chosen = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    return chosen


def test_under_torchrun_each_process_takes_the_gpu_of_its_rank(monkeypatch, chosen):
    use_own_gpu()
    assert chosen == []
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("LOCAL_RANK", "1")
    use_own_gpu()
    assert chosen == [1]
    monkeypatch.setenv("LOCAL_RANK", "2")
    with pytest.raises(ValueError, match="started process 3 on this machine, which has 2 GPUs"):
        use_own_gpu()
    assert chosen == [1]
