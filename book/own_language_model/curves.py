"""Curves of a training and how far it has come, as HTML for the chapter's bench."""

import html
from collections.abc import Mapping, Sequence

WIDTH, HEIGHT, EDGE = 640, 220, 34
DASHES = ("none", "6 4", "2 3")


def progress(step: int, steps: int, loss: float) -> str:
    """A bar of a training that is at `step` of `steps`, with the loss there."""
    return (
        f'<progress value="{step}" max="{steps}"></progress> step {step:,} of {steps:,}, '
        f"loss {loss:.2f}. Interrupt the kernel to stop here."
    )


def beside(runs: Mapping[str, Sequence[float]], every: int = 5) -> str:
    """The losses of up to three runs as curves over the same steps, and where each stands.

    Args:
        runs: by name, the loss of every step, two or more each.
        every: a curve has the mean of so many steps as one point.

    Raises:
        ValueError: there is no run or a fourth one, or one with fewer than two steps.
    """
    if not 1 <= len(runs) <= len(DASHES):
        raise ValueError(f"one to {len(DASHES)} curves can be told apart, got {len(runs)}")
    if min(map(len, runs.values())) < 2:
        raise ValueError("a curve needs two steps or more; let it run a little longer")
    shortest = min(map(len, runs.values()))
    most = max(max(losses[:shortest]) for losses in runs.values())
    least = min(min(losses[:shortest]) for losses in runs.values())
    drawn, said = [], []
    for dash, (name, losses) in zip(DASHES, runs.items(), strict=False):
        parts = [losses[i : i + every] for i in range(0, shortest, every)]
        points = [
            (
                EDGE + (WIDTH - EDGE - 8) * (i * every + (len(part) - 1) / 2) / (shortest - 1),
                8 + (HEIGHT - EDGE - 8) * (most - sum(part) / len(part)) / ((most - least) or 1),
            )
            for i, part in enumerate(parts)
        ]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        drawn.append(
            f'<path d="M{path}" fill="none" stroke="currentColor" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>'
        )
        mark = {"none": "solid", "6 4": "dashed", "2 3": "dotted"}[dash]
        said.append(f"{name} ({mark}): **{losses[shortest - 1]:.2f}** after {shortest:,} steps")
    label = html.escape("Loss over steps: " + "; ".join(said).replace("**", ""))
    texts = (
        f'<text x="{EDGE - 6}" y="14" text-anchor="end">{most:.1f}</text>'
        f'<text x="{EDGE - 6}" y="{HEIGHT - EDGE}" text-anchor="end">{least:.1f}</text>'
        f'<text x="{EDGE}" y="{HEIGHT - 12}">step 0</text>'
        f'<text x="{WIDTH - 8}" y="{HEIGHT - 12}" text-anchor="end">{shortest:,}</text>'
    )
    picture = (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}" '
        f'style="max-width: 100%; font: 12px sans-serif" fill="currentColor">'
        f"{''.join(drawn)}{texts}</svg>"
    )
    return f"{'; '.join(said)} (nats per token, batch by batch).\n\n<div>{picture}</div>"
