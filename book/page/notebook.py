"""The page around the experiments: a chapter's set-up, the boxed remark, the table."""

import random
import re
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from IPython import get_ipython
from IPython.display import Markdown, display

from book.page import pictures, plots
from book.page.claims import short, typeset

SENTENCE = 30  # characters: what is as long is no number with its unit


def setup(seed: int = 0) -> tuple[int, torch.device]:
    """Seed all randomness, set the style of the plots, choose the device; print one line.

    Inside a notebook, figures are from now on shown with their text alternative (`plots.figure`).

    Args:
        seed: for `random`, `numpy.random` and torch on every device.

    Returns:
        The seed, and the device: "cuda" where there is one, otherwise "cpu".

    Raises:
        ValueError: the seed is not between 0 and 2**32 - 1, the range of numpy's seeds.
    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed = {seed} must lie between 0 and 2**32 - 1; choose another one")
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (libraries that a chapter calls draw from the global state)
    torch.manual_seed(seed)
    plots.use_style()
    shell = get_ipython()
    if shell is not None:
        pictures.show_with_alt(shell.display_formatter)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    where = (
        torch.cuda.get_device_name(device)
        if device.type == "cuda"
        else f"CPU, {torch.get_num_threads()} thread(s)"
    )
    print(f"torch {torch.__version__} on {where}; seed {seed}")
    return seed, device


def note(text: str, title: str = "Note") -> None:
    """Show a boxed remark in the output of a cell.

    It is a quotation in Markdown, since that is the one box that the book, Jupyter and Colab all
    draw, with emphasis, links, `code` and $formulas$ inside.

    Args:
        text: CommonMark with $math$.
        title: the first line of the box, in bold.

    Raises:
        ValueError: the text is empty.
    """
    if not text.strip():
        raise ValueError("note() needs a text to show, got an empty one")
    lines = f"**{title}**\n\n{text}".splitlines()
    display(Markdown("\n".join(f"> {line}".rstrip() for line in lines)))


def table(columns: Sequence[str], rows: Iterable[Sequence[str | float]]) -> None:
    """Show results as a table, the same in the book, Jupyter and Colab.

    Args:
        columns: their headings, Markdown with $formulas$; the first is that of the rows' names.
        rows: a name and what was measured, a cell for each column. A number is shown in about
            three digits; what is to have others is given as text. A column without any digit,
            or with a sentence in it, is read from the left, like words.

    Raises:
        ValueError: a row has more or fewer cells than there are columns, or there is no row.
    """
    rows = [[cell if isinstance(cell, str) else short(cell) for cell in row] for row in rows]
    if not rows:
        raise ValueError(f"table() needs rows to show under {', '.join(columns)}; got none")
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"the row {row} has {len(row)} cells for {len(columns)} columns")
    numbers = [
        any(map(str.isdigit, "".join(column))) and max(map(len, column)) < SENTENCE
        for column in zip(*rows, strict=True)
    ]
    ruler = [":--", *("--:" if some else ":--" for some in numbers[1:])]
    for row in rows:
        for i in range(1, len(row)):
            if numbers[i]:  # no line ends between a number and its unit
                row[i] = re.sub(r"(?<=\d) ", "\u00a0", typeset(row[i]))
    whole = [[cell.replace("|", "\\|") for cell in cells] for cells in (columns, ruler, *rows)]
    lines = [" | ".join(cells) for cells in whole]
    display(Markdown("\n".join(f"| {line} |" for line in lines)))
