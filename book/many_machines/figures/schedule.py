"""When each stage of a pipeline works and waits, by three schedules."""

from book.many_machines.pipeline import held, idle, timetable
from book.page.live import LiveFigure, table

SCHEDULES = ("GPipe", "1F1B", "split")
MOST_STAGES, MOST_BATCHES = 8, 32


def schedule_figure(
    *, schedule: str = "GPipe", stages: int = 4, batches: int = 8, ratio: float = 2.0
) -> LiveFigure:
    """The timetable of a schedule, its idle time, and what its stages hold.

    Args:
        schedule: "GPipe", "1F1B" or "split".
        stages, batches: numbers of stages, 2 to 8, and of micro-batches, 1 to 32.
        ratio: how long backward takes, if forward takes 1: from 1 to 3.

    Raises:
        ValueError: the figure has no such schedule.
    """
    in_reach = 2 <= stages <= MOST_STAGES and 1 <= batches <= MOST_BATCHES and 1 <= ratio <= 3
    if schedule not in SCHEDULES or not in_reach:
        raise ValueError(
            f"the figure has {', '.join(SCHEDULES)} with 2 to {MOST_STAGES} stages, 1 to "
            f"{MOST_BATCHES} micro-batches and ratios from 1 to 3; got {schedule!r} with "
            f"{stages}, {batches} and {ratio}"
        )
    jobs = timetable(schedule, stages, batches, ratio)
    time, share = idle(jobs, stages)
    fallback = table(
        f"{schedule}: {stages} stages, {batches} micro-batches",
        ["measured", "number"],
        [
            ("idle time of a stage, in forward passes", time),
            ("of all time, per cent", 100 * share),
            ("micro-batches that the first stage holds", held(jobs, 0)),
        ],
    )
    data = {"schedules": SCHEDULES, "stages": MOST_STAGES, "batches": MOST_BATCHES}
    value = {"schedule": schedule, "stages": stages, "batches": batches, "ratio": ratio}
    return LiveFigure(__file__, data, value, fallback)
