"""Who wrote this book? A GPT asked backwards, an any-order network, and the GPT asked forwards."""

from collections.abc import Sequence

import torch

from book.page.live import LiveFigure, table


def asked_figure(
    books: Sequence[str],
    authors: Sequence[str],
    wrote: Sequence[str],
    answers: tuple[Sequence[str], Sequence[str]],
    chances: torch.Tensor,
) -> LiveFigure:
    """Books, and two ways to ask for their authors: once backwards, or forwards after each author.

    Args:
        books: names of the books that can be chosen.
        authors: names of all authors.
        wrote: the author of each book.
        answers: to the backwards question about each book, of the GPT and of the other network.
        chances: (books, authors), the GPT's probability of the book after "author wrote".

    Raises:
        ValueError: the numbers of books or authors differ.
    """
    if not len(books) == len(wrote) == len(answers[0]) == len(answers[1]):
        raise ValueError("every book needs its author and two answers")
    if chances.shape != (len(books), len(authors)):
        raise ValueError(
            f"chances must have the shape {(len(books), len(authors))}, got {tuple(chances.shape)}"
        )
    index = {name: i for i, name in enumerate(authors)}
    data = {
        "authors": [*authors],
        "books": [
            {
                "name": book,
                "author": index[author],
                "gpt": gpt,
                "other": other,
                "chances": [round(p, 4) for p in row],
            }
            for book, author, gpt, other, row in zip(
                books, wrote, *answers, chances.tolist(), strict=True
            )
        ],
    }
    rows = [(author, round(p, 4)) for author, p in zip(authors, chances[0].tolist(), strict=True)]
    caption = f"How probable {books[0]} is after each author wrote"
    fallback = table(caption, ["author", "p"], rows[:1] + sorted(rows[1:], key=lambda r: -r[1])[:5])
    return LiveFigure(__file__, data, {"book": 0, "author": 0}, fallback)
