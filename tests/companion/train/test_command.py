"""The command: what it writes, that it goes on after a kill, that two processes do as one."""

import itertools
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file

from companion.data import BOS, EOS, translation_pairs
from companion.generation import generate
from companion.models import GPT
from companion.train import load
from companion.train.__main__ import main
from companion.train.folder import metrics_line
from companion.train.recipes import RECIPES, Recipe, read_text
from companion.training import History, save_checkpoint
from tests.companion.training.test_processes import needs_shards

SMALL = ["gpt", "--device", "cpu", "--steps", "6", "--evaluate-every", "4"]


def metrics(folder, *, timed=False):
    """The lines of the metrics; without how long each step took, which no run repeats."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines if not timed else []:
        del line["seconds"]
    return lines


def test_a_skipped_step_has_a_line_that_every_json_reads():
    history = History(loss=[2.0], learning_rate=[0.1], grad_norm=[float("inf")], tokens=[3])
    line = metrics_line(history, 1, None)
    assert json.loads(line, parse_constant=pytest.fail)["grad_norm"] is None


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
    recipe = RECIPES["gpt"](6)
    real = [(recipe.batches(step)[:, 1:] != recipe.tokenizer.pad_id).sum() for step in range(1, 7)]
    assert [line["tokens"] for line in lines] == real
    assert {path.name for path in whole.iterdir()} == {
        "checkpoint.safetensors",
        "metrics.jsonl",
        "model.json",
        "run.json",
        "vocabulary.json",
    }


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize("shared", [[], pytest.param(["--shard"], marks=needs_shards)])
def test_two_processes_have_the_losses_of_one(tmp_path, shared):
    alike = ["--dropout", "0", "--steps", "2", "--evaluate-every", "2"]
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    command = [sys.executable, *launch, "-m", "companion.train", *SMALL, *alike]
    subprocess.run([*command, *shared, "--out", tmp_path / "two"], check=True, timeout=600)
    main([*SMALL, *alike, "--out", str(tmp_path / "one")])
    one, two = metrics(tmp_path / "one"), metrics(tmp_path / "two")
    assert len(two) == len(one) == 2
    for ours, theirs in zip(two, one, strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-6)
        assert ours["tokens"] == theirs["tokens"]
    ours, theirs = (lines[-1]["evaluation"]["validation_loss"] for lines in (two, one))
    assert ours == pytest.approx(theirs, rel=1e-5)


def refused(capsys, *arguments):
    """What the command says when it refuses."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as exit:
        main([str(argument) for argument in arguments])
    assert exit.value.code == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 2, "the message drowns in the options"
    return said


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


@pytest.fixture
def gpu(monkeypatch):
    """A GPU as the command sees it, which computes nothing; what is done with it, in order."""
    done = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("companion.train.__main__.use_own_gpu", lambda: done.append("own GPU"))
    monkeypatch.setattr(torch.nn.Module, "to", lambda model, device: done.append(device) or model)
    monkeypatch.setattr(
        "companion.train.__main__.fit",
        lambda *_, mixed_precision, **__: done.append(mixed_precision),
    )
    return done


@pytest.mark.parametrize(("major", "precision"), [(7, "fp16"), (9, "bf16")])
def test_every_process_takes_its_own_gpu_in_the_format_it_is_built_for(
    gpu, monkeypatch, tmp_path, major, precision
):
    """A T4 (7.5) makes tensors of bfloat16 and says so, but only emulates what it computes."""
    kind = SimpleNamespace(major=major, minor=5)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device=None: kind)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: (major, 5))
    monkeypatch.setattr(torch.cuda, "_check_bf16_tensor_supported", lambda device: True)
    monkeypatch.setattr(torch.version, "cuda", "12.4")
    assert torch.cuda.is_bf16_supported()
    before = torch.get_float32_matmul_precision()
    main(["gpt", "--device", "cuda", "--out", str(tmp_path / "run")])
    assert gpu == ["own GPU", "cuda", precision]
    assert torch.get_float32_matmul_precision() == before


def test_a_model_is_shared_out_among_processes_alone(tmp_path, capsys):
    assert "torchrun" in refused(capsys, *SMALL, "--shard", "--out", tmp_path / "run")


def test_the_format_can_be_chosen(gpu, tmp_path):
    chosen = ["--mixed-precision", "no"]
    main(["gpt", "--device", "cuda", *chosen, "--out", str(tmp_path / "run")])
    assert gpu[-1] == "no"


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


BOTTLES = "".join(f"{number} bottles of beer on the wall.\n" for number in range(700))
OWN = ["text", "--device", "cpu", "--width", "64", "--depth", "1", "--heads", "2"]
OWN += ["--length", "32", "--batch-size", "3", "--vocabulary", "300", "--learning-rate", "0.01"]


def test_a_run_on_a_text_of_ones_own(tmp_path, capsys, monkeypatch):
    text, folder = tmp_path / "own.txt", tmp_path / "run"
    text.write_text(BOTTLES)
    command = [*OWN, "--out", str(folder)]
    assert "--text FILE" in refused(capsys, *command)
    main([*command, "--text", str(text), "--steps", "10"])
    model, tokenizer = load(folder)
    assert isinstance(model, GPT) and len(tokenizer) == model.config.vocab_size == 300
    assert (model.config.d_model, model.config.num_layers) == (64, 1)
    assert (model.config.num_heads, model.config.max_len) == (2, 32)
    lines = metrics(folder)
    assert {line["tokens"] for line in lines} == {3 * 32}
    assert max(line["learning_rate"] for line in lines) == pytest.approx(0.01)
    capsys.readouterr()
    main(["sample", str(folder), "--prompt", "9 bottles", "--tokens", "5"])
    assert capsys.readouterr().out.startswith("9 bottles")
    text.write_text("short")
    other = [*OWN, "--out", tmp_path / "other", "--text", text]
    assert "a longer one, or a smaller --length" in refused(capsys, *other, "--steps", "2")
    assert "width is 64; choose a multiple of 5" in refused(capsys, *other, "--heads", "5")
    assert "learning_rate must be finite" in refused(capsys, *other, "--learning-rate", "inf")


def test_a_run_goes_on_with_the_same_text_wherever_it_lies(tmp_path, capsys):
    text, moved = tmp_path / "own.txt", tmp_path / "elsewhere" / "it.txt"
    text.write_bytes(BOTTLES.encode())
    command = [*OWN, "--out", str(tmp_path / "run")]
    main([*command, "--text", str(text), "--steps", "1"])
    tokenizer = (tmp_path / "run" / "tokenizer.json").read_bytes()
    moved.parent.mkdir()
    moved.write_bytes(b"\xef\xbb\xbf" + BOTTLES.replace("\n", "\r\n").encode())  # by Notepad
    command += ["--text", str(moved), "--resume"]
    main([*command, "--steps", "2", "--dropout", "0.1"])  # as if it were left out
    assert len(metrics(tmp_path / "run")) == 2
    moved.write_text(BOTTLES.replace("beer", "wine"))  # as many tokens as before
    said = refused(capsys, *command, "--steps", "3")
    assert "sha256 of the text" in said and "ask for the same, or another --out" in said
    assert "width" not in said and "it.txt" not in said  # they are no reason
    assert (tmp_path / "run" / "tokenizer.json").read_bytes() == tokenizer


@pytest.mark.parametrize(
    ("encoding", "told"),
    [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("latin-1", "0xe9"), ("cp1252", "0x93")],
)
def test_a_text_in_another_encoding_is_refused_with_what_to_do(tmp_path, capsys, encoding, told):
    text, content = tmp_path / "own.txt", "“Hélas!”" if encoding == "cp1252" else "Hélas!"
    text.write_bytes(content.encode(encoding))
    said = refused(capsys, *OWN, "--text", text, "--out", tmp_path / "run")
    assert str(text) in said and told in said and "save it as UTF-8" in said
    assert not (tmp_path / "run").exists()


def test_a_text_is_a_file_with_words(tmp_path, capsys):
    for name, content in {"empty": b"", "blank": b"\xef\xbb\xbf \n\n"}.items():
        (tmp_path / name).write_bytes(content)
        assert f"{name} is empty" in refused(capsys, *OWN, "--text", tmp_path / name)
    assert "is a folder; --text takes one file" in refused(capsys, *OWN, "--text", tmp_path)
    assert "nothing is not there" in refused(capsys, *OWN, "--text", tmp_path / "nothing")
    for ends in ("\n", "\r\n", "\r"):
        (tmp_path / "own").write_bytes(f"one{ends}two".encode("utf-8-sig"))
        assert read_text(tmp_path / "own") == "one\ntwo"


@pytest.fixture
def clock(monkeypatch):
    """What the command takes for the time, in a list."""
    seconds = [1000.0]
    monkeypatch.setattr("companion.train.folder.time.perf_counter", lambda: seconds[0])
    return seconds


def judged(clock, losses, text_tokens=None):
    """A recipe whose steps take a minute, and its evaluations an hour and have these losses."""

    def recipe(steps: int = 6, seed: int = 0) -> Recipe:
        """A recipe on a clock."""

        def loss(model, rows):
            clock[0] += 60
            return model(rows).square().sum(), 50

        def evaluate(model):
            clock[0] += 3600
            return {"validation_loss": next(losses), "samples": []}

        return Recipe(
            model=torch.nn.Linear(3, 1),
            batches=lambda step: torch.full((2, 3), float(step)),
            loss=loss,
            learning_rate=lambda step: 0.1,
            evaluate=evaluate,
            arguments={},
            text_tokens=text_tokens,
        )

    def train(folder, *arguments):
        command = ["judged", "--device", "cpu", "--evaluate-every", "1", *arguments]
        main([*command, "--out", str(folder)], recipes={"judged": recipe})
        weights = load_file(folder / "checkpoint.safetensors")["model.weight"]
        best = folder / "best.safetensors"
        return weights, load_file(best)["model.weight"] if best.exists() else None

    return train


def test_a_step_has_its_time_and_a_run_says_how_long_it_takes(clock, tmp_path, capsys):
    train = judged(clock, itertools.count())
    train(tmp_path, "--steps", "3")
    assert "minutes" not in capsys.readouterr().out  # it is over before anything can be said
    clock[0] += 10_000
    train(tmp_path, "--steps", "9", "--resume")
    assert [line["seconds"] for line in metrics(tmp_path, timed=True)] == [60] * 9
    said = capsys.readouterr().out
    assert "9 steps: about 2.0 more minutes" in said and "passes" not in said
    kept = tmp_path / "metrics.jsonl"
    kept.write_text(kept.read_text()[:-30])  # the last line was half written
    train(tmp_path, "--steps", "10", "--resume")
    seconds = [line["seconds"] for line in metrics(tmp_path, timed=True)]
    assert seconds == [60] * 8 + [None, 60]
    assert len(metrics(tmp_path)) == 10


@pytest.mark.parametrize(("steps", "is_told"), [(8, False), (9, True)])
def test_too_many_passes_are_told_at_once(clock, tmp_path, capsys, steps, is_told):
    judged(clock, itertools.count(), text_tokens=10)(tmp_path, "--steps", str(steps))
    said = capsys.readouterr().out
    assert said.startswith(f"{5 * steps:.1f} passes over 10 tokens of text")
    assert ("fewer --steps or a longer text" in said) == is_told


def test_the_best_weights_are_kept_where_a_text_is_read_again(clock, tmp_path):
    train = judged(clock, iter([3.0, 1.0, 2.0, 1.5, 0.5]), text_tokens=10)
    expected = judged(clock, itertools.count())
    _, best = train(tmp_path / "run", "--steps", "3")
    two, none = expected(tmp_path / "two", "--steps", "2")
    assert torch.equal(best, two) and none is None
    last, best = train(tmp_path / "run", "--steps", "4", "--resume")
    assert torch.equal(best, two) and not torch.equal(last, best)  # 1.5 is no better than 1
    last, best = train(tmp_path / "run", "--steps", "5", "--resume")
    assert torch.equal(best, last)


def test_the_best_weights_are_those_that_are_used(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    model, _ = load(tmp_path / "run")
    assert torch.equal(model.final_norm.weight, load(whole)[0].final_norm.weight)
    torch.nn.init.constant_(model.final_norm.weight, 7.0)
    save_checkpoint(tmp_path / "run" / "best.safetensors", model, loss=0.0)
    again, _ = load(tmp_path / "run")
    assert torch.equal(again.final_norm.weight, model.final_norm.weight)


def test_a_run_that_diverges_says_so_without_a_traceback(tmp_path, capsys):
    (tmp_path / "own.txt").write_text(BOTTLES)
    command = [*OWN, "--text", str(tmp_path / "own.txt"), "--out", str(tmp_path / "run")]
    with pytest.raises(SystemExit) as exit:
        main([*command, "--learning-rate", "1e30", "--steps", "9"])
    assert exit.value.code == 1
    assert "Lower the learning rate" in capsys.readouterr().err


@pytest.mark.long
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
