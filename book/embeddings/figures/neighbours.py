"""The words nearest to a word in a large table, and where the cosines of random words lie."""

from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F

from book.page.live import LiveFigure, table

SHOWN = 6  # neighbours of a word
PAIRS = 4000  # random ones
LOWEST, HIGHEST, BINS = -0.4, 1.0, 28


def neighbours_figure(
    tables: Mapping[str, torch.Tensor],
    words: Sequence[str],
    groups: Mapping[str, Sequence[str]],
) -> LiveFigure:
    """The nearest words of the reader's word, with and without what all rows share (their mean).

    Below them, on the same scale, stand the cosines of random pairs of rows, in every table.

    Args:
        tables: name -> vectors (V, d); the words are those of the first one.
        words: one for each row of the first table.
        groups: heading -> words that the reader can choose from; the first one is shown.

    Raises:
        ValueError: the first table has another number of rows, or a word of a group is not there.
    """
    first = next(iter(tables.values()))
    if len(first) != len(words):
        raise ValueError(f"{len(words)} words need as many rows, got {tuple(first.shape)}")
    offered = list(dict.fromkeys(word for group in groups.values() for word in group))
    if missing := set(offered) - set(words):
        raise ValueError(f"the table has no row for {', '.join(sorted(missing))}")
    index = {word: i for i, word in enumerate(words)}
    ids = torch.tensor([index[word] for word in offered])
    found = {word: [] for word in offered}
    for unit in _both_ways(first):
        similarity, nearest = _nearest(unit, ids, SHOWN)
        back = _nearest(unit, nearest[:, 0], 1)[1][:, 0]
        for row, word in enumerate(offered):
            near = [words[i] for i in nearest[row]]
            cosines = similarity[row].tolist()
            way = {"near": near, "cosines": cosines, "back": words[back[row]]}
            found[word].append(way)
    crowds = [{"name": name, "ways": _crowd(vectors)} for name, vectors in tables.items()]
    word = offered[0]
    rows = zip(found[word][0]["near"], found[word][0]["cosines"], strict=True)
    return LiveFigure(
        __file__,
        {
            "words": found,
            "groups": {name: list(group) for name, group in groups.items()},
            "crowds": crowds,
            "lowest": LOWEST,
            "highest": HIGHEST,
        },
        {"word": word, "without": False},
        table(f"Nearest to “{word}”", ["word", "cosine"], list(rows)),
    )


def _both_ways(vectors: torch.Tensor) -> list[torch.Tensor]:
    """The rows as they are and without their mean, each scaled to length 1."""
    vectors = vectors.detach().cpu()
    return [F.normalize(rows, dim=1) for rows in (vectors, vectors - vectors.mean(0))]


def _nearest(unit: torch.Tensor, ids: torch.Tensor, count: int) -> tuple:
    """Cosines and ids (n, count) of the rows nearest to these rows, themselves left out."""
    similarity = (unit[ids] @ unit.T).scatter(1, ids[:, None], -2)
    return similarity.topk(count)


def _crowd(vectors: torch.Tensor) -> list[dict]:
    """The cosines of random pairs of rows: their mean, and shares of evenly spaced bins."""
    random = torch.Generator().manual_seed(0)
    one, other = torch.randint(len(vectors), (2, PAIRS), generator=random)
    ways = []
    for unit in _both_ways(vectors):
        cosines = (unit[one] * unit[other]).sum(1)[one != other].double()
        counts = cosines.clamp(LOWEST, HIGHEST).histc(BINS, LOWEST, HIGHEST)
        shares = (counts / counts.sum()).tolist()
        ways.append({"mean": cosines.mean().item(), "shares": shares})
    return ways
