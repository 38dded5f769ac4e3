"""A student of 200 sentences, told the words that came, its teacher's probabilities or the truth.

    python -m book.small_change.told {5301..5310} > told.json

made the table, which lies beside this file. A seed draws the sentences of the teacher, of the
students and of the test, the starts and the order of the sentences: 7 seconds.
"""

import torch
from torch import Tensor

from book import runs
from book.small_change import targets
from book.small_change.truth import Truth, ids_of
from companion.data import corpus

PREFIX = "this brown dog is near the"  # for the chapter's figure


def after(prefix: str) -> Tensor:
    """Token ids (1, T) of a prefix, and any token in place of the word that comes."""
    ids = ids_of([prefix.split()])[:, :-1]  # without the end
    return torch.cat([ids, ids[:, :1]], dim=1)


def gaps(
    seed: int, said: Tensor, truth: Truth, ids: Tensor, test: Tensor, steps: int = targets.STEPS
) -> dict[str, float]:
    """By target: how far a student of these sentences ends from the truth, in nats a word.

    Args:
        said: the teacher's probabilities (positions, V) at the sentences' prefixes.
        ids: the sentences (N, T).
        test: fresh sentences, at whose prefixes a student is compared with the truth.
    """
    told = {"words": targets.words_at(ids), "teacher": said, "truth": targets.truth_at(truth, ids)}
    true, found = targets.truth_at(truth, test), {}
    for name, target in told.items():
        student = targets.learn(targets.STUDENT, ids, target, seed + 2, steps)
        found[name] = targets.divergence(true, targets.probabilities_at(student, test))
    return found


def measure(seed: int) -> dict:
    """{"seed", "words", "teacher", "truth": gaps, "said": by the teacher after `PREFIX`}."""
    few, test = ids_of(corpus(200, seed + 30_000)), ids_of(corpus(500, seed + 10_000))
    teacher = targets.teacher_of(seed)
    found = gaps(seed, targets.probabilities_at(teacher, few), Truth(), few, test)
    said = targets.probabilities_at(teacher, after(PREFIX))[-1]
    return (
        {"seed": seed}
        | {name: round(gap, 4) for name, gap in found.items()}
        | {"said": [round(p, 5) for p in said.tolist()]}
    )


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "told.json")


if __name__ == "__main__":
    torch.set_num_threads(1)
    runs.write(measure)
