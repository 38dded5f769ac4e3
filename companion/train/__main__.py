"""The chapters' models, trained for real: python -m companion.train <recipe>.

A folder takes what a run makes: checkpoint.safetensors, model.json and the tokenizer, run.json
(what was asked for) and metrics.jsonl, a line for each step, with samples of what the model makes
of its task wherever it was evaluated. companion.train.load(folder) gives the model and its
tokenizer back; python -m companion.train sample <folder> writes or translates with them. With
--resume a run goes on from its checkpoint, or starts if none was saved yet; with more --steps than
before it goes on at the learning rate that the longer run has there.
Under `torchrun -m companion.train <recipe>` several processes share each batch; results change by
rounding, and by what dropout draws.
"""

import argparse
import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from companion.data import BOS, EOS, BPETokenizer
from companion.generation import generate, greedy_decode
from companion.models import GPT, Transformer
from companion.train.folder import CHECKPOINT, METRICS, Metrics, describe, load, start
from companion.train.recipes import RECIPES, Recipe, sentences_of
from companion.training import History, fit
from companion.training.loop import PRECISIONS
from companion.training.processes import use_own_gpu
from companion.validation import require_probability

OF_A_RECIPE = ("dropout", "width", "depth", "text")  # each for those whose function takes it


def main(
    arguments: list[str] | None = None,
    *,
    recipes: Mapping[str, Callable[..., Recipe]] = RECIPES,
    program: str = "python -m companion.train",
) -> None:
    """Train as the command line says: one of the recipes, functions of `steps`, `seed` and more."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["sample"]:
        sample(arguments[1:], program)
        return
    parser = command_line(recipes, program)
    options = parser.parse_args(arguments)
    options.steps = options.steps or usual_steps(recipes[options.recipe])
    options.out = options.out or Path("runs") / options.recipe
    checkpoint = options.out / CHECKPOINT
    make = recipes[options.recipe]
    own = {name: chosen for name in OF_A_RECIPE if (chosen := getattr(options, name)) is not None}
    if options.recipe == "text" and options.text is None:
        parser.error("text needs a file to learn from: --text FILE")
    request = {"recipe": options.recipe, "steps": options.steps, "seed": options.seed} | own
    history = History()
    is_main = os.environ.get("RANK", "0") == "0"
    try:
        if "text" in own:
            request["sha256"] = hashlib.sha256(Path(options.text).read_bytes()).hexdigest()
        if is_main:
            check_device(options.device)
            require_probability(dropout=own.get("dropout", 0.0))
        if unknown := own.keys() - inspect.signature(make).parameters:
            raise ValueError(f"{options.recipe} has no --{' and no --'.join(sorted(unknown))}")
        if options.device == "cuda":
            use_own_gpu()
        torch.manual_seed(options.seed)
        recipe = make(options.steps, options.seed, **own)
        if is_main:
            history = start(options.out, request, options.resume)
            if not checkpoint.exists():  # one that does has its own, which must not be lost
                describe(options.out, recipe.model, recipe.tokenizer)
    except (ValueError, OSError) as error:
        parser.error(str(error))

    metrics = Metrics(options.out / METRICS, history) if is_main else None
    model = recipe.model.to(options.device)
    if options.compile:
        model.compile()
    has_bf16 = options.device == "cuda" and torch.cuda.is_bf16_supported()
    if options.device == "cuda":
        torch.set_float32_matmul_precision("high")  # TF32
    try:
        fit(
            model,
            recipe.batches,
            steps=options.steps,
            loss=recipe.loss,
            learning_rate=recipe.learning_rate,
            evaluate=recipe.evaluate,
            evaluate_every=options.evaluate_every,
            accumulate=options.accumulate,
            mixed_precision=options.mixed_precision or ("bf16" if has_bf16 else "no"),
            checkpoint=checkpoint,
            checkpoint_every=options.checkpoint_every,
            resume=options.resume and checkpoint.exists(),
            report=metrics and metrics.add,
            **recipe.arguments,
        )
    except KeyboardInterrupt as interrupt:
        message = is_main and str(interrupt)  # empty for a second Ctrl-C
        parser.exit(130, f"{message}, or the command with --resume\n" if message else None)
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def command_line(recipes: Mapping, program: str) -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    listed = "; ".join(f"{name}: {make.__doc__.rstrip('.')}" for name, make in recipes.items())
    usual = ", ".join(f"{name} {usual_steps(make)}" for name, make in recipes.items())
    default = "%(default)s if left out"
    parser.add_argument("recipe", choices=recipes, help=listed)
    parser.add_argument("--out", type=Path, help="folder for the run; runs/<recipe> if left out")
    parser.add_argument("--resume", action="store_true", help="go on from what the folder has")
    best = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", choices=("cpu", "cuda", "mps"), default=best, help=default)
    parser.add_argument("--steps", type=positive, help=f"of training; if left out, {usual}")
    parser.add_argument("--seed", type=seed, default=0, help=default)
    parser.add_argument("--dropout", type=float, help="0.1 if left out")
    parser.add_argument("--text", type=str, metavar="FILE", help="what the recipe text learns from")
    for name in ("--width", "--depth"):
        parser.add_argument(name, type=positive, help="of a model that comes in any size")
    parts = f"parts of a batch, one after the other, to use less memory; {default}"
    parser.add_argument("--accumulate", type=positive, default=1, metavar="PARTS", help=parts)
    usual = "bf16 on a GPU that has it, no elsewhere, if left out"
    parser.add_argument("--mixed-precision", choices=PRECISIONS, help=usual)
    parser.add_argument("--compile", action="store_true", help="compile the model first")
    for name in ("--evaluate-every", "--checkpoint-every"):
        parser.add_argument(name, type=positive, default=200, metavar="STEPS", help=default)
    return parser


def sample(arguments: list[str], program: str) -> None:
    """Write or translate with the model of a run, and print it."""
    parser = argparse.ArgumentParser(prog=f"{program} sample", description=sample.__doc__)
    default = "%(default)s if left out"
    parser.add_argument("run", type=Path, help="the folder of a run of gpt, library, text, ...")
    parser.add_argument("--prompt", help="the text to go on with, or the sentence to translate")
    parser.add_argument("--tokens", type=positive, default=100, help=f"at most; {default}")
    parser.add_argument("--temperature", type=float, default=1.0, help=f"0 is greedy; {default}")
    parser.add_argument("--seed", type=seed, default=0, help=default)
    options = parser.parse_args(arguments)
    try:
        model, tokenizer = load(options.run)
        print(written(model, tokenizer, options))
    except (ValueError, OSError) as error:
        parser.error(str(error))


def written(model, tokenizer, options: argparse.Namespace) -> str:
    """What a GPT writes after the prompt, or a Transformer as its translation."""
    draw = {"generator": torch.Generator().manual_seed(options.seed)}
    draw["temperature"] = options.temperature
    if isinstance(model, Transformer):
        if options.prompt is None:
            raise ValueError("a translation needs a sentence: --prompt")
        source = tokenizer.encode([options.prompt.split()])
        ids = greedy_decode(model, source, model.config.max_len)
    elif isinstance(model, GPT) and isinstance(tokenizer, BPETokenizer):
        prompt = torch.tensor([tokenizer.encode(options.prompt or "\n")])
        room = min(options.tokens, max(0, model.config.max_len - prompt.shape[1]))
        return tokenizer.decode(generate(model, prompt, room, **draw)[0].tolist())
    elif isinstance(model, GPT):
        prompt = tokenizer.encode([[BOS, *(options.prompt or "").split()]])
        room = min(options.tokens, max(0, model.config.max_len - prompt.shape[1]))
        ids = generate(model, prompt, room, eos_id=tokenizer.id(EOS), **draw)
    else:
        raise ValueError(f"a {type(model).__name__} neither writes nor translates")
    (sentence,) = sentences_of(ids, tokenizer)
    return " ".join(sentence)


def usual_steps(make: Callable[..., Recipe]) -> int:
    return inspect.signature(make).parameters["steps"].default


def positive(text: str) -> int:
    """A whole number above 0, for argparse."""
    if int(text) < 1:
        raise ValueError
    return int(text)


def seed(text: str) -> int:
    """A whole number that, a few times over, still fits torch's generators, for argparse."""
    if abs(int(text)) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text} is out of range; choose one below 2**32")
    return int(text)


def check_device(device: str) -> None:
    """Raise unless this machine has the device."""
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.mps.is_available()}
    if not there[device]:
        available = ", ".join(name for name, is_there in there.items() if is_there)
        raise ValueError(f"there is no device {device} here; choose --device {available}")


if __name__ == "__main__":
    main()
