"""In-context learning: what a frozen language model answers after some examples."""

from collections.abc import Callable, Mapping, Sequence

from book.page.live import LiveFigure, table

Pairs = Sequence[tuple[str, str]]


def prompt_figure(
    tasks: Mapping[str, tuple[Pairs, Pairs]],
    answers: Callable[[Sequence[str]], Sequence[Sequence[tuple[str, float]]]],
) -> LiveFigure:
    """The reader chooses a task and how many examples of it stand in the prompt.

    Args:
        tasks: two or more; the name of each -> its examples, and the words that are asked, in
            pairs of a word and its right answer. All tasks have as many examples.
        answers: from prompts, such as "give: gave\\ngo:", to the most probable next words of each,
            with their probabilities, the most probable first.

    Raises:
        ValueError: there are fewer than two tasks, or one has another number of examples, or no
            word that is asked.
    """
    if len(tasks) < 2:
        raise ValueError(f"the figure compares tasks: it needs two or more, got {len(tasks)}")
    counts = {len(examples) for examples, _ in tasks.values()}
    if len(counts) != 1 or not all(asked for _, asked in tasks.values()):
        raise ValueError(
            "every task needs as many examples, and a word that is asked; got "
            f"{ {name: (len(examples), len(asked)) for name, (examples, asked) in tasks.items()} }"
        )
    questions = [(examples, *pair) for examples, asked in tasks.values() for pair in asked]
    found = []  # prompts with equally many examples are about as long, and are asked together
    for shots in range(counts.pop() + 1):
        shown = [
            "".join(f"{a}: {b}\n" for a, b in examples[:shots]) + f"{word}:"
            for examples, word, _ in questions
        ]
        found.append([[*map(list, best)] for best in answers(shown)])
    words = [
        {"asked": word, "right": right, "answers": each}
        for (_, word, right), *each in zip(questions, *found, strict=True)
    ]
    data = []
    for name, (examples, asked) in tasks.items():
        of_task, words = words[: len(asked)], words[len(asked) :]
        data.append({"name": name, "examples": [*map(list, examples)], "words": of_task})
    first = data[0]["words"][0]["answers"][0]
    rows = [(text if text.strip() else _visible(text), p) for text, p in first]
    caption = f"After “{data[0]['words'][0]['asked']}:”, without an example"
    return LiveFigure(
        __file__,
        {"tasks": data},
        {"task": 0, "word": 0, "shots": 0},
        table(caption, ["next", "probability"], rows),
    )


def _visible(blank: str) -> str:
    return blank.replace("\n", "↵").replace(" ", "␣") or "nothing"
