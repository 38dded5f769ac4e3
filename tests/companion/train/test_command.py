"""The command: what it writes, that it goes on after a kill, that two processes do as one."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from companion.data import BOS, EOS, translation_pairs
from companion.generation import generate
from companion.models import GPT
from companion.train import load
from companion.train.__main__ import main

SMALL = ["gpt", "--device", "cpu", "--steps", "6", "--evaluate-every", "4"]


def metrics(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run without a break."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    main([*SMALL, "--out", str(folder)])
    return folder


def test_a_run_writes_its_metrics_with_samples(whole):
    lines = metrics(whole)
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5, 6]
    evaluated = [line for line in lines if "evaluation" in line]
    assert [line["step"] for line in evaluated] == [4, 6]
    assert len(evaluated[0]["evaluation"]["samples"]) == 5
    assert {path.name for path in whole.iterdir()} == {
        "checkpoint.safetensors",
        "metrics.jsonl",
        "model.json",
        "run.json",
        "vocabulary.json",
    }


def test_killed_at_any_moment_the_same_command_goes_on(tmp_path):
    script = Path(__file__).with_name("killed_commands.py")
    subprocess.run([sys.executable, script, tmp_path], check=True, timeout=600)
    moments = {path.name for path in tmp_path.iterdir()} - {"whole"}
    assert {"half", "1", "5"} <= moments
    expected = load_file(tmp_path / "whole" / "checkpoint.safetensors")
    for moment in moments:
        ended = load_file(tmp_path / moment / "checkpoint.safetensors")
        assert ended.keys() == expected.keys()
        assert all(torch.equal(ended[name], expected[name]) for name in expected), moment
        assert metrics(tmp_path / moment) == metrics(tmp_path / "whole"), moment
        assert len(list((tmp_path / moment).iterdir())) == 3


def test_ctrl_c_saves_and_says_how_to_go_on(whole, tmp_path):
    folder = tmp_path / "stopped"
    command = [sys.executable, "-m", "companion.train", *SMALL, "--out", folder]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    process, path = subprocess.Popen(command, **pipes), folder / "metrics.jsonl"
    while process.poll() is None and not (path.exists() and path.read_text().endswith("\n")):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=600)
    assert process.returncode == 130
    assert 1 <= len(metrics(folder)) < 6
    assert f"saved to {folder}/checkpoint.safetensors" in error
    assert "--resume" in error
    main([*SMALL, "--out", str(folder), "--resume"])
    assert metrics(folder) == metrics(whole)
    expected, ended = (load_file(run / "checkpoint.safetensors") for run in (whole, folder))
    assert ended.keys() == expected.keys()
    assert all(torch.equal(ended[name], expected[name]) for name in expected)


def test_two_processes_have_the_losses_of_one(tmp_path):
    alike = ["--dropout", "0", "--steps", "2", "--evaluate-every", "2"]
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    command = [sys.executable, *launch, "-m", "companion.train", *SMALL, *alike]
    subprocess.run([*command, "--out", tmp_path / "two"], check=True, timeout=600)
    main([*SMALL, *alike, "--out", str(tmp_path / "one")])
    one, two = metrics(tmp_path / "one"), metrics(tmp_path / "two")
    assert len(two) == len(one) == 2
    for ours, theirs in zip(two, one, strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-6)
    ours, theirs = (lines[-1]["evaluation"]["validation_loss"] for lines in (two, one))
    assert ours == pytest.approx(theirs, rel=1e-5)


def refused(capsys, *arguments):
    """What the command says when it refuses."""
    with pytest.raises(SystemExit) as exit:
        main([str(argument) for argument in arguments])
    assert exit.value.code == 2
    return capsys.readouterr().err


def test_a_second_ctrl_c_promises_nothing(capsys, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("companion.train.__main__.fit", interrupted)
    with pytest.raises(SystemExit) as exit:
        main([*SMALL, "--out", str(tmp_path / "run")])
    assert exit.value.code == 130
    assert "--resume" not in capsys.readouterr().err


def test_the_help_tells_what_is_taken_if_an_option_is_left_out(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["--help"])
    assert exit.value.code == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "gpt: A GPT that learns to write sentences of the generated language; bert:" in told
    assert "gpt 2000, bert 3000" in told
    for option in ("--device", "--seed", "--dropout", "--mixed-precision", "--evaluate-every"):
        assert "if left out" in told.rpartition(option)[2].partition(" --")[0], option


def test_every_process_takes_its_own_gpu_before_the_model_goes_there(monkeypatch, tmp_path):
    done = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("companion.train.__main__.use_own_gpu", lambda: done.append("own GPU"))
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: True)
    monkeypatch.setattr(torch.nn.Module, "to", lambda model, device: done.append(device) or model)
    numerics = []
    monkeypatch.setattr(
        "companion.train.__main__.fit", lambda *_, **options: numerics.append(options)
    )
    before = torch.get_float32_matmul_precision()
    main(["gpt", "--device", "cuda", "--out", str(tmp_path / "run")])
    assert done == ["own GPU", "cuda"]
    assert numerics[0]["mixed_precision"] == "bf16"
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision(before)


def test_unknown_recipes_and_numbers_are_refused(capsys, tmp_path):
    assert "invalid choice: 'gtp' (choose from" in refused(capsys, "gtp", "--out", tmp_path)
    assert "--steps: invalid positive value: '0'" in refused(capsys, *SMALL, "--steps", "0")
    out = tmp_path / "run"
    assert "got 1.5" in refused(capsys, *SMALL, "--dropout", "1.5", "--out", out)
    assert not out.exists()


def test_what_a_recipe_does_not_take_is_refused(capsys, tmp_path):
    said = refused(capsys, *SMALL, "--width", "32", "--depth", "2", "--out", tmp_path / "run")
    assert "gpt has no --depth and no --width" in said
    assert not (tmp_path / "run").exists()


def test_a_device_that_is_not_there_is_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    said = refused(capsys, "gpt", "--device", "cuda", "--out", tmp_path / "run")
    assert "there is no device cuda here; choose --device cpu" in said
    assert not (tmp_path / "run").exists()


def test_a_folder_in_use_is_refused(capsys, tmp_path, whole):
    assert "whole is not empty; add --resume" in refused(capsys, *SMALL, "--out", whole)
    (tmp_path / "note").touch()
    said = refused(capsys, *SMALL, "--out", tmp_path)
    assert "is not empty; choose another --out" in said  # there is nothing to resume


def test_a_run_that_came_to_no_step_can_be_begun_again(tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(ValueError, match="64 rows cannot be split into 65 parts"):
        main([*SMALL, "--accumulate", "65", "--out", str(folder)])
    main([*SMALL, "--steps", "1", "--out", str(folder)])
    assert [line["step"] for line in metrics(folder)] == [1]


def test_a_damaged_note_of_what_was_asked_for_is_named(capsys, tmp_path, whole):
    shutil.copytree(whole, tmp_path / "run")
    (tmp_path / "run" / "run.json").write_text("")
    said = refused(capsys, *SMALL, "--resume", "--out", tmp_path / "run")
    assert "run/run.json is damaged" in said


def test_resume_starts_where_nothing_was_saved(tmp_path):
    folder = tmp_path / "run"
    main([*SMALL, "--steps", "1", "--resume", "--out", str(folder)])
    assert [line["step"] for line in metrics(folder)] == [1]


def test_resume_takes_no_folder_of_something_else(capsys, tmp_path):
    (tmp_path / "note").touch()
    said = refused(capsys, *SMALL, "--resume", "--out", tmp_path)
    assert "is not empty, and has no run; choose another --out" in said
    assert [path.name for path in tmp_path.iterdir()] == ["note"]


def test_another_run_is_not_resumed(capsys, tmp_path, whole):
    said = refused(capsys, *SMALL, "--resume", "--seed", "3", "--out", whole)
    assert "'seed': 0" in said
    assert "'seed': 3" in said
    assert "ask for the same" in said


def test_a_finished_run_can_go_on(tmp_path, whole):
    folder = tmp_path / "longer"
    shutil.copytree(whole, folder)
    main([*SMALL, "--resume", "--steps", "8", "--out", str(folder)])
    assert [line["step"] for line in metrics(folder)] == list(range(1, 9))
    assert metrics(folder)[:6] == metrics(whole)
    assert json.loads((folder / "run.json").read_text())["steps"] == 8


def test_a_run_can_be_used(whole, capsys):
    model, words = load(whole)
    assert type(model) is GPT and not model.training
    saved = load_file(whole / "checkpoint.safetensors")
    assert torch.equal(model.final_norm.weight, saved["model.final_norm.weight"])
    main(["sample", str(whole), "--prompt", "the dog", "--temperature", "0", "--tokens", "7"])
    prompt = words.encode([[BOS, "the", "dog"]])
    (expected,) = words.decode(generate(model, prompt, 7, temperature=0, eos_id=words.id(EOS)))
    said = capsys.readouterr().out.split()
    assert said == [word for word in expected if word not in (BOS, EOS)]
    assert "unknown word 'unicorn'" in refused(capsys, "sample", whole, "--prompt", "unicorn")
    assert "there is no model.json" in refused(capsys, "sample", whole.parent)


def test_a_run_on_a_text_of_ones_own(tmp_path, capsys, monkeypatch):
    compiled = []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda model: compiled.append(type(model)))
    text, folder = tmp_path / "own.txt", tmp_path / "run"
    text.write_text("".join(f"{number} bottles of beer on the wall.\n" for number in range(700)))
    command = ["text", "--device", "cpu", "--width", "64", "--depth", "1", "--out", str(folder)]
    assert "--text FILE" in refused(capsys, *command)
    main([*command, "--text", str(text), "--steps", "2", "--compile"])
    model, _ = load(folder)
    capsys.readouterr()
    assert model.config.d_model == 64 and compiled == [GPT]
    main(["sample", str(folder), "--prompt", "9 bottles", "--tokens", "5"])
    assert capsys.readouterr().out.startswith("9 bottles")
    tokenizer = (folder / "tokenizer.json").read_bytes()
    text.write_text(text.read_text().replace("beer", "wine"))  # as many tokens as before
    again = [*command, "--text", str(text), "--steps", "3", "--resume"]
    assert "ask for the same, or another --out" in refused(capsys, *again)
    assert (folder / "tokenizer.json").read_bytes() == tokenizer
    text.write_text("short")
    assert "give a longer one" in refused(
        capsys, *command[:-1], tmp_path / "other", "--text", text, "--steps", "2"
    )


def test_a_translation_can_be_asked_for(tmp_path, capsys):
    folder = tmp_path / "run"
    main(["translation", "--device", "cpu", "--steps", "1", "--out", str(folder)])
    sentence = " ".join(translation_pairs(1, 0)[0].source)
    main(["sample", str(folder), "--prompt", sentence])
    assert "a translation needs a sentence" in refused(capsys, "sample", folder)


def test_a_damaged_checkpoint_is_refused(capsys, tmp_path):
    (tmp_path / "checkpoint.safetensors").write_bytes(b"damaged")
    assert "is damaged" in refused(capsys, *SMALL, "--resume", "--out", tmp_path)


def test_a_seed_that_no_generator_takes_is_refused(capsys, tmp_path):
    said = refused(capsys, *SMALL, "--seed", 2**70, "--out", tmp_path)
    assert "argument --seed" in said and "below 2**32" in said
