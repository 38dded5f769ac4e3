"""The chapters' models, trained for real: python -m companion.train <recipe>.

A run has a folder: checkpoint.safetensors, model.json and the tokenizer, run.json (what was asked
for) and metrics.jsonl, a line for each step with its loss, tokens and seconds, and with samples of
what the model makes of its task wherever it was evaluated. Recipes that read a text again and again
also keep best.safetensors, the weights of the lowest validation loss: more passes make the model
recite the text and go on with another one worse. companion.train.load(folder) gives the model and
its tokenizer back, and python -m companion.train sample <folder> writes or translates with them;
both take the best weights where there are any, and else the last. With --resume a run goes on from
its checkpoint, or starts if none was saved yet; with more --steps than before it goes on at the
learning rate that the longer run has there.
Under `torchrun -m companion.train <recipe>` several processes share each batch, and with --shard
the model too; results change by rounding, and by what dropout draws.
"""

import argparse
import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from companion.data import BOS, EOS, BPETokenizer, Vocabulary
from companion.generation import generate, greedy_decode
from companion.models import GPT, Transformer
from companion.train.folder import CHECKPOINT, SHA256, TEXT, Record, describe, load, start
from companion.train.recipes import RECIPES, Recipe, read_text, sentences_of
from companion.training import History, best_precision, fit
from companion.training.precision import PRECISIONS
from companion.training.processes import use_own_gpu
from companion.validation import require_probability

Recipes = Mapping[str, Callable[..., Recipe]]


def positive(text: str) -> int:
    """A whole number above 0, for argparse."""
    if int(text) < 1:
        raise ValueError
    return int(text)


OF_A_RECIPE = {  # each for those whose function takes it
    "steps": (positive, "N", "of training"),
    "dropout": (float, "P", "the share of numbers that are dropped in training"),
    "text": (str, "FILE", "what the recipe text learns from: plain text in UTF-8"),
    "batch_size": (positive, "N", "stretches of text in a batch"),
    "length": (positive, "N", "tokens of a stretch; the model sees and writes no more at once"),
    "vocabulary": (positive, "N", "kinds of tokens"),
    "learning_rate": (float, "X", "the highest, which is reached after a tenth of the steps"),
    "width": (positive, "N", "of the model's vectors"),
    "depth": (positive, "N", "blocks of the model"),
    "heads": (positive, "N", "of each block"),
}


def main(
    arguments: list[str] | None = None,
    *,
    recipes: Recipes = RECIPES,
    program: str = "python -m companion.train",
) -> None:
    """Train as the command line says: one of the recipes, functions of `steps`, `seed` and more."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["sample"]:
        sample(arguments[1:], program)
        return
    parser = command_line(recipes, program)
    options = parser.parse_args(arguments)
    make = recipes[options.recipe]
    own = {name: chosen for name in OF_A_RECIPE if (chosen := getattr(options, name)) is not None}
    options.out = options.out or Path("runs") / options.recipe
    checkpoint = options.out / CHECKPOINT
    history = History()
    is_main = os.environ.get("RANK", "0") == "0"
    try:
        if unknown := own.keys() - of_recipe(make).keys():
            listed = " and no ".join(map(option, sorted(unknown)))
            raise ValueError(f"{options.recipe} has no {listed}")
        own = of_recipe(make) | own | {"seed": options.seed}
        request = {"recipe": options.recipe} | own
        if TEXT in own:
            if own[TEXT] is None:
                raise ValueError(f"{options.recipe} needs a file to learn from: --text FILE")
            own[TEXT] = read_text(own[TEXT])
            request[SHA256] = hashlib.sha256(own[TEXT].encode()).hexdigest()
        if options.shard and not torch.distributed.is_torchelastic_launched():
            raise ValueError("--shard needs processes: torchrun --nproc_per_node 2 -m ... --shard")
        if is_main:
            check_device(options.device)
            require_probability(dropout=own.get("dropout", 0.0))
        if options.device == "cuda":
            use_own_gpu()
        torch.manual_seed(options.seed)
        recipe = make(**own)
        if is_main:
            history = start(options.out, request, options.resume)
            if not checkpoint.exists():  # one that does has its own, which must not be lost
                describe(options.out, recipe.model, recipe.tokenizer)
        record = Record(options.out, recipe, own["steps"], history) if is_main else None
    except (ValueError, OSError) as error:
        parser.error(str(error))

    try:
        fit(
            recipe.model.to(options.device),
            recipe.batches,
            steps=own["steps"],
            loss=recipe.loss,
            learning_rate=recipe.learning_rate,
            evaluate=record.evaluate if record else recipe.evaluate,
            evaluate_every=options.evaluate_every,
            accumulate=options.accumulate,
            mixed_precision=options.mixed_precision or best_precision(options.device),
            compile=options.compile,
            shard=options.shard,
            checkpoint=checkpoint,
            checkpoint_every=options.checkpoint_every,
            resume=options.resume and checkpoint.exists(),
            report=record and record.add,
            **recipe.arguments,
        )
    except FloatingPointError as error:  # the learning rate was too high, say
        parser.exit(1, f"{parser.prog}: {error}\n")
    except KeyboardInterrupt as interrupt:
        message = is_main and str(interrupt)  # empty for a second Ctrl-C
        parser.exit(130, f"{message}, or the command with --resume\n" if message else None)
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def command_line(recipes: Recipes, program: str) -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(program, "%(prog)s RECIPE [options]", description=__doc__)
    default = "%(default)s if left out"
    listed = "; ".join(f"{name}: {str(make.__doc__).rstrip('.')}" for name, make in recipes.items())
    parser.add_argument("recipe", choices=recipes, metavar="RECIPE", help=listed)
    parser.add_argument("--out", type=Path, help="folder for the run; runs/<recipe> if left out")
    parser.add_argument("--resume", action="store_true", help="go on from what the folder has")
    best = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", choices=("cpu", "cuda", "mps"), default=best, help=default)
    parser.add_argument("--seed", type=seed, default=0, help=default)
    for name, (read, metavar, what) in OF_A_RECIPE.items():
        usual = {recipe: of_recipe(make).get(name) for recipe, make in recipes.items()}
        listed = ", ".join(f"{recipe} {taken}" for recipe, taken in usual.items() if taken)
        what += f"; if left out, {listed}" if listed else ""
        parser.add_argument(option(name), type=read, metavar=metavar, help=what)
    parts = f"parts of a batch, one after the other, to use less memory; {default}"
    parser.add_argument("--accumulate", type=positive, default=1, metavar="PARTS", help=parts)
    formats = (
        "bf16 or fp16, whichever the GPU is built for, and no (float32) elsewhere, if left out"
    )
    parser.add_argument("--mixed-precision", choices=PRECISIONS, help=formats)
    parser.add_argument("--compile", action="store_true", help="compile the model first")
    parts = "each process keeps a part of the weights, not all of them, for a model that is large"
    parser.add_argument("--shard", action="store_true", help=parts)
    for name in ("--evaluate-every", "--checkpoint-every"):
        parser.add_argument(name, type=positive, default=200, metavar="STEPS", help=default)
    return parser


def of_recipe(make: Callable[..., Recipe]) -> dict[str, Any]:
    """What a recipe can be asked for, with what it takes if it is not; None where it must be."""
    parameters = inspect.signature(make).parameters.items()
    return {name: None if one.default is one.empty else one.default for name, one in parameters}


def option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def sample(arguments: list[str], program: str) -> None:
    """Write or translate with the model of a run, and print it."""
    prog, usage = f"{program} sample", "%(prog)s RUN [options]"
    parser = argparse.ArgumentParser(prog, usage, description=sample.__doc__)
    default = "%(default)s if left out"
    parser.add_argument(
        "run", metavar="RUN", type=Path, help="the folder of a run of gpt, library, text, ..."
    )
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


def written(
    model: nn.Module, tokenizer: Vocabulary | BPETokenizer | None, options: argparse.Namespace
) -> str:
    """What a GPT writes after the prompt, or a Transformer as its translation."""
    generator = torch.Generator().manual_seed(options.seed)

    def further(model: GPT, prompt: torch.Tensor, eos_id: int | None = None) -> torch.Tensor:
        room = min(options.tokens, max(0, model.config.max_len - prompt.shape[1]))
        heat = options.temperature
        return generate(model, prompt, room, temperature=heat, eos_id=eos_id, generator=generator)

    if isinstance(model, GPT) and isinstance(tokenizer, BPETokenizer):
        prompt = torch.tensor([tokenizer.encode(options.prompt or "\n")])
        return tokenizer.decode(further(model, prompt)[0].tolist())
    if isinstance(model, GPT) and isinstance(tokenizer, Vocabulary):
        prompt = tokenizer.encode([[BOS, *(options.prompt or "").split()]])
        ids = further(model, prompt, tokenizer.id(EOS))
    elif isinstance(model, Transformer) and isinstance(tokenizer, Vocabulary):
        if options.prompt is None:
            raise ValueError("a translation needs a sentence: --prompt")
        source = tokenizer.encode([options.prompt.split()])
        ids = greedy_decode(model, source, model.config.max_len)
    else:
        raise ValueError(f"a {type(model).__name__} neither writes nor translates")
    (sentence,) = sentences_of(ids, tokenizer)
    return " ".join(sentence)


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
