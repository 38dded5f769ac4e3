"""Right options of the quiz on many machines, computed."""

import torch

from book.many_machines import network, pipeline, tensor_parallel
from companion.nn import EncoderBlock


def ring_bytes() -> str:
    net = network.Network(8)
    network.all_reduce(net, [torch.zeros(800) for _ in range(8)])
    return f"{sum(net.sent) / (4 * 800):g} GB"


def server() -> str:
    both = {}
    for name in ("all_reduce", "server"):
        net = network.Network(8)
        getattr(network, name)(net, [torch.zeros(800) for _ in range(8)])
        both[name] = {"Bytes sent": sum(net.sent), "Bytes through": net.door, "Rounds": net.rounds}
    ring, served = both["all_reduce"], both["server"]
    [less] = [what for what in ring if ring[what] < served[what]]
    return less


def zero3() -> str:
    whole, parts, bytes_ = [torch.zeros(800)] * 4, [torch.zeros(200)] * 4, []
    for stage in (0, 3):
        net = network.Network(4)
        for _ in range(4 if stage else 0):
            network.all_gather(net, parts)
            network.all_gather(net, parts)
            network.reduce_scatter(net, whole)
        if not stage:
            network.all_reduce(net, whole)
        bytes_.append(max(net.sent))
    return f"{bytes_[1] / bytes_[0]:g} times"


def tensor_or_data() -> str:
    """The same ratio of tokens to width, at a width of 64; without biases and norms."""
    width, N = 64, 4
    block = EncoderBlock(width, 4, 4 * width, norm_first=True)
    net, parts = network.Network(N), tensor_parallel.cut(block, N)
    x = torch.randn(1, width, width)
    outputs = tensor_parallel.parallel_block(net, parts, [x] * N)
    sum(output.sum() for output in outputs).backward()
    data = 2 * (N - 1) / N * 4 * 12 * width**2
    ratio = max(net.sent) / data
    return "A third" if ratio < 0.5 else "As much" if ratio < 2 else "Three times"


def bubble() -> str:
    shares = [
        round(100 * pipeline.idle(pipeline.timetable(schedule, 4, 12), 4)[1])
        for schedule in ("GPipe", "1F1B")
    ]
    return f"{shares[0]} %, by" if shares[0] == shares[1] else f"{shares[0]} % by GPipe, and"
