"""Writing with a compiled step: a cache of fixed size and `torch.compile`, beside a growing cache.

    python benchmarks/compiled_step.py > book/writing_with_a_cache/compiled_step.json

A chapter shows the numbers, so they lie in the package. All ways write the same tokens greedily,
which is checked. Each is timed in rounds in which they take turns; a number is the median over the
rounds. Each setting has a process and a compiler's cache of its own, so that each compiles all of
it. Needs a C++ compiler.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import torch
from decoding import companion_model
from measuring import machine, ratio, seconds_by_turns

from companion.generation import generate
from companion.nn import KVCache

ROUNDS = 7
NEW = 256
SETTINGS = ((64, 2, NEW), (64, 2, 16 * NEW), (256, 4, NEW))  # d_model, num_layers, capacity
THREADS = 1


@torch.no_grad()
def write(model, step, caches: list[KVCache], start: torch.Tensor) -> torch.Tensor:
    """The tokens that follow `start`: the first from the model itself, all others from `step`."""
    for cache in caches:
        if cache.key is not None:
            cache.length.zero_()  # what was held is written over
    written = [model(start, caches=caches)[:, -1:].argmax(-1)]
    for _ in range(NEW - 1):
        written.append(step(written[-1], caches=caches)[:, -1:].argmax(-1))
    return torch.cat(written, dim=1)


def measure(d_model: int, num_layers: int, capacity: int) -> dict:
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    model, start = companion_model(d_model, num_layers, capacity + 1), torch.ones(1, 1).long()
    fixed = [KVCache(capacity=capacity) for _ in model.blocks]
    step = torch.compile(model, fullgraph=True)
    runs = {
        "growing": lambda: write(model, model, [KVCache() for _ in model.blocks], start),
        "compiled": partial(write, model, step, fixed, start),
        "generate": lambda: generate(model, start, NEW, temperature=0)[:, 1:],
    }
    began = time.perf_counter()
    first = runs["compiled"]()
    compiling = time.perf_counter() - began
    assert all(torch.equal(run(), first) for run in runs.values())
    seconds = seconds_by_turns(runs, ROUNDS)
    compiling -= statistics.median(seconds["compiled"])
    faster = ratio(seconds["growing"], seconds["compiled"])
    saved = statistics.median(seconds["growing"]) * (1 - 1 / faster)
    return {
        "d_model": d_model,
        "num_layers": num_layers,
        "capacity": capacity,
        "tokens_per_second": {name: NEW / statistics.median(of) for name, of in seconds.items()},
        "times_as_fast": faster,
        "seconds_to_compile": compiling,
        "tokens_until_it_pays": NEW * compiling / saved if faster > 1 else None,
    }


def main() -> None:
    torch.set_num_threads(THREADS)
    rows = []
    for setting in SETTINGS:
        print(*setting, "...", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
                rows.append(fresh.submit(measure, *setting).result())
    about = {"machine": machine("cpu"), "torch": torch.__version__, "new": NEW}
    print(json.dumps(about | {"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
