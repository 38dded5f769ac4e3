"""What a machine sends in a step of training, by four ways to share a model out."""

from book.page.live import LiveFigure, table

WAYS = ("data parallel", "ZeRO 3", "tensor parallel", "pipeline")


def traffic(width: int, tokens: int, machines: int, blocks: int) -> list[float]:
    """Bytes in bfloat16 that the busiest machine sends in a step, in the order of WAYS.

    tokens: in the batch of all machines together. Biases and norms are left out.
    """
    ring = 2 * (machines - 1) / machines  # an all-reduce, in units of what is reduced
    weights, activations = 12 * width**2 * blocks, tokens * width
    numbers = ring * weights, 1.5 * ring * weights, 4 * ring * activations * blocks, 2 * activations
    return [2 * number for number in numbers]


def traffic_figure(
    *, width: int = 4096, tokens: int = 65536, machines: int = 8, blocks: int = 32
) -> LiveFigure:
    """Four bars, for a width, a batch and a number of machines.

    Args:
        width, machines: powers of 2, 64 to 16384 and 2 to 64.
        tokens: of a batch: 2 ** (k / 2), rounded, for a whole number k from 12 to 48.
        blocks: of the model, which stay.

    Raises:
        ValueError: no slider can show it.
    """
    places = {
        "width": width.bit_length() - 1,
        "tokens": round(2 * (tokens.bit_length() - 1)),
        "machines": machines.bit_length() - 1,
    }
    shown = {"width": (width, 6, 14), "machines": (machines, 1, 6), "tokens": (tokens, 6, 24)}
    for name, (number, least, most) in shown.items():
        if number & (number - 1) or not 2**least <= number <= 2**most:
            raise ValueError(
                f"{name} starts as a power of 2 from {2**least} to {2**most}, got {number}"
            )
    found = traffic(width, tokens, machines, blocks)
    fallback = table(
        f"{blocks} blocks of width {width}, {tokens} tokens, {machines} machines",
        ["way", "gigabytes sent in a step"],
        [(way, sent / 1e9) for way, sent in zip(WAYS, found, strict=True)],
    )
    return LiveFigure(__file__, {"ways": WAYS, "blocks": blocks}, places, fallback)
