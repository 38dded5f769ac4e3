"""In-context learning: what a frozen language model answers after some examples."""

from collections.abc import Callable, Mapping, Sequence

from book.page.live import LiveFigure, table

Pairs = Sequence[tuple[str, str]]


def prompt_figure(
    tasks: Mapping[str, tuple[Pairs, Pairs]], answers: Callable[[str], Sequence[tuple[str, float]]]
) -> LiveFigure:
    """The reader chooses a task and how many examples of it stand in the prompt.

    Args:
        tasks: two or more; the name of each -> its examples, and the words that are asked, in
            pairs of a word and its right answer. All tasks have as many examples.
        answers: from a prompt, such as "give: gave\\ngo:", to the most probable next words, each
            with its probability, the most probable first.

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
    data = []
    for name, (examples, asked) in tasks.items():
        words = []
        for word, right in asked:
            prompts = [
                "".join(f"{a}: {b}\n" for a, b in examples[:shots]) + f"{word}:"
                for shots in range(len(examples) + 1)
            ]
            found = [[list(answer) for answer in answers(prompt)] for prompt in prompts]
            words.append({"asked": word, "right": right, "answers": found})
        data.append({"name": name, "examples": [list(pair) for pair in examples], "words": words})
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
