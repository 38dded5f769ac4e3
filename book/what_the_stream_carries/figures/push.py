"""One word's vector, pushed: the verb that comes next, for several lengths of the push."""

from collections.abc import Mapping, Sequence

from book.page.live import LiveFigure, table


def push_figure(
    times: Sequence[float], places: Sequence[str], tasks: Mapping[str, Mapping]
) -> LiveFigure:
    """Add a vector to one word of a text, at a place in the model: the next words' probabilities.

    Args:
        times: what the vector is multiplied by before it is added, 0 and 1 among them.
        places: where it is added.
        tasks: by name, each with its "text", its "words" (an even number: the first half is what
            the model says by itself), the "other" noun and the words' probabilities after it,
            "true"; and for each place a list with the words' probabilities for each of the times.

    Raises:
        ValueError: a task has not one row of probabilities for each of the times.
    """
    for name, task in tasks.items():
        for place in places:
            shape = {len(row) for row in task[place]}
            if len(task[place]) != len(times) or shape != {len(task["words"])}:
                raise ValueError(
                    f"{name}, {place}: {len(times)} rows of {len(task['words'])} probabilities "
                    f"are needed, got {len(task[place])} of {sorted(shape)}"
                )
    data = {"times": list(times), "places": list(places), "tasks": dict(tasks)}
    name, task = next(iter(tasks.items()))
    rows = list(zip(task["words"], task[places[0]][list(times).index(1)], strict=True))
    fallback = table(f"{task['text']} ..., with one vector added", ["next", "probability"], rows)
    value = {"task": name, "place": places[0], "level": list(times).index(1)}
    return LiveFigure(__file__, data, value, fallback)
