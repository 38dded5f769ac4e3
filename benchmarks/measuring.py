"""What the benchmarks share: time, memory, the machine, and a table of results."""

import json
import os
import platform
import statistics
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.benchmark import Timer

SECONDS_PER_TURN = 0.1  # a turn in a round is repeated until it takes about that long


def seconds_by_turns(
    runs: Mapping[str, Callable[[], object]], rounds: int
) -> dict[str, list[float]]:
    """Name -> seconds in each of some rounds, in which the runs take turns."""
    turns = {}
    for name, run in runs.items():
        timer = Timer("run()", globals={"run": run}, num_threads=torch.get_num_threads())
        timer.timeit(1)  # the first call allocates
        turns[name] = timer, max(1, int(SECONDS_PER_TURN / timer.timeit(1).mean))
    seconds = {name: [] for name in runs}
    for _ in range(rounds):
        for name, (timer, number) in turns.items():
            seconds[name].append(timer.timeit(number).mean)
    return seconds


def ratio(seconds: Sequence[float], others: Sequence[float]) -> float:
    """The median over rounds of the ratio within a round, which a change of load moves little."""
    return statistics.median(one / other for one, other in zip(seconds, others, strict=True))


def peak_bytes(run: Callable[[], object], device: str) -> int:
    """The most bytes allocated at once while `run` runs, beyond what was there before."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        return torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        run()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    changes = [event for event in events if event["name"] == "[memory]"]
    held = peak = 0
    for change in sorted(changes, key=lambda event: event["ts"]):
        held += change["args"]["Bytes"]
        peak = max(peak, held)
    return peak


def machine(device: str) -> str:
    if device == "cuda":
        return torch.cuda.get_device_name()
    cpuinfo = Path("/proc/cpuinfo")
    names = [
        line.partition(":")[2].strip()
        for line in (cpuinfo.read_text().splitlines() if cpuinfo.exists() else ())
        if line.startswith("model name")
    ]
    name = names[0] if names else platform.processor()
    return f"{name}, {os.cpu_count()} cores, {torch.get_num_threads()} threads"


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    for row in (header, ["---"] * len(header), *rows):
        print("| " + " | ".join(row) + " |")
