"""Checks for the exercises of book/small_change.ipynb."""

import torch

from book.checking.exercise import climb, exercise
from book.checking.rungs import edited, ladder


@exercise
def merge(answer) -> str:
    """Check `merge(weight, down, up, alpha)`, (out, in), (r, in) and (out, r) -> (out, in)."""
    climb(MERGE, answer)
    return "rank 1 and more, several values of alpha, an adapter that has not learned yet"


def _merge(weight, down, up, alpha):
    rank = len(down)
    return weight + alpha / rank * up @ down


@ladder(_merge)
def MERGE(merge):
    """rank 1 and alpha 1: the product of a column and a row is added"""
    weight = torch.arange(6.0).view(3, 2)
    yield merge(weight, torch.tensor([[1.0, 4.0]]), torch.tensor([[2.0], [0.0], [-3.0]]), 1.0)

    """alpha scales what is added, and not the old weights"""
    weight = torch.arange(6.0).view(3, 2)
    yield merge(weight, torch.tensor([[1.0, 4.0]]), torch.tensor([[2.0], [0.0], [-3.0]]), 5.0)

    """with a rank of 3 the scale is alpha / 3"""
    weight, down, up = torch.randn(4, 5), torch.randn(3, 5), torch.randn(4, 3)
    yield merge(weight, down, up, 7.0)

    """a square matrix and a rank as large: `up` comes first, and neither is transposed"""
    weight, down, up = torch.randn(3, 3), torch.randn(3, 3), torch.randn(3, 3)
    yield merge(weight, down, up, 3.0)

    """before training `up` is zero, and the weights stay as they were"""
    yield merge(torch.randn(2, 3), torch.randn(2, 3), torch.zeros(2, 2), 8.0)


MERGE.mistakes |= {
    "the scale is alpha alone; it is divided by the rank": edited(_merge, "alpha / rank", "alpha"),
    "alpha is divided by the number of inputs; divide by the rank, the rows of `down`": edited(
        _merge, "len(down)", "down.shape[1]"
    ),
    "alpha is divided by the number of outputs; divide by the rank, the rows of `down`": edited(
        _merge, "len(down)", "len(up)"
    ),
    "the scale is upside down; it is alpha divided by the rank": edited(
        _merge, "alpha / rank", "rank / alpha"
    ),
    "the change is subtracted from the old weights; it is added": edited(
        _merge, "weight + ", "weight - "
    ),
    "alpha is divided by the square root of the rank; here it is by the rank itself": edited(
        _merge, "alpha / rank", "alpha / rank**0.5"
    ),
    "alpha is not used": edited(_merge, "alpha / rank", "1 / rank"),
    "this is the change alone; the old weights belong to the sum": edited(_merge, "weight + ", ""),
    "the old weights are scaled, too": edited(
        _merge, "weight + alpha / rank * up @ down", "alpha / rank * (weight + up @ down)"
    ),
}


@exercise
def student_loss(answer) -> str:
    """Check `student_loss(student, teacher, temperature, there)`.

    student, teacher: logits (B, T, V); there (B, T): True where there is a next word.
    """
    climb(STUDENT_LOSS, answer)
    return "one position and several, temperatures 1, 2 and 50, padding, gradients"


def _student_loss(student, teacher, temperature, there):
    target = (teacher / temperature).softmax(-1)
    log_p = (student / temperature).log_softmax(-1)
    each = -(target * log_p).sum(-1)
    return temperature**2 * (each * there).sum() / there.sum()


@ladder(_student_loss)
def STUDENT_LOSS(student_loss):
    """one position at temperature 1: the cross-entropy from the teacher to the student"""
    student, teacher = torch.tensor([[[0.0, 1, 3]]]), torch.tensor([[[2.0, 0, 0]]])
    yield student_loss(student, teacher, 1.0, torch.tensor([[True]]))

    """at temperature 2 both sets of logits are divided by 2, and the loss is multiplied by 4"""
    student, teacher = torch.tensor([[[0.0, 1, 3]]]), torch.tensor([[[2.0, 0, 0]]])
    yield student_loss(student, teacher, 2.0, torch.tensor([[True]]))

    """several positions: the mean over all of them"""
    student, teacher = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    yield student_loss(student, teacher, 3.0, torch.ones(2, 3, dtype=torch.bool))

    """only positions that have a next word count, in the sum and in the mean; every one alike"""
    student, teacher = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    there = torch.tensor([[True, True, False], [True, False, False]])
    yield student_loss(student, teacher, 3.0, there)

    """at a high temperature the gradient tends to the difference of the centred logits / V; T²
    keeps it from vanishing"""
    student = torch.tensor([[[0.0, 1, 5]]], requires_grad=True)
    teacher, there = torch.tensor([[[3.0, 0, 0]]]), torch.tensor([[True]])
    loss = student_loss(student, teacher, 50.0, there)
    yield torch.autograd.grad(loss, student)[0]

    """logits of 200 apart: the logarithm is -200 where the probability is 0 in float32; it must
    stay finite, and a small number that is added to the probability would cut it off"""
    student, teacher = torch.tensor([[[0.0, 200.0]]]), torch.tensor([[[1.0, 0.0]]])
    yield student_loss(student, teacher, 1.0, torch.tensor([[True]]))


STUDENT_LOSS.mistakes |= {
    "the teacher's logits are not divided by the temperature": edited(
        _student_loss, "(teacher / temperature)", "teacher"
    ),
    "the student's logits are not divided by the temperature": edited(
        _student_loss, "(student / temperature)", "student"
    ),
    "the factor T² is missing: without it gradients shrink as the temperature rises": edited(
        _student_loss, "temperature**2", "1"
    ),
    "the factor is T; it is T², since the gradient is divided by T twice": edited(
        _student_loss, "temperature**2", "temperature"
    ),
    "KL alone; the cross-entropy from the teacher to the student adds its entropy": edited(
        _student_loss, "target * log_p", "target * (log_p - target.log())"
    ),
    "teacher and student are exchanged: the teacher's probabilities weigh the student's logarithms":
        edited(_student_loss, "target * log_p", "log_p.exp() * target.log()"),
    "the mean over the words of the vocabulary was taken; a cross-entropy is their sum": edited(
        _student_loss, "(target * log_p).sum(-1)", "(target * log_p).mean(-1)"
    ),
    "the mean is also over positions that have no next word": edited(
        _student_loss, "/ there.sum()", "/ there.numel()"
    ),
    "positions without a next word count in the sum": edited(
        _student_loss, "(each * there)", "each"
    ),
    "the teacher's likeliest word is the target; all of its probabilities are": edited(
        _student_loss,
        "(teacher / temperature).softmax(-1)",
        "torch.nn.functional.one_hot(teacher.argmax(-1), teacher.shape[-1])",
    ),
    "this is the mean of the sentences' means; every position counts the same": edited(
        _student_loss,
        "(each * there).sum() / there.sum()",
        "((each * there).sum(1) / there.sum(1)).mean()",
    ),
    "the softmax runs over the positions; it runs over the vocabulary, the last axis": edited(
        _student_loss,
        "temperature).softmax(-1)",
        "temperature).softmax(1)",
        "temperature).log_softmax(-1)",
        "temperature).log_softmax(1)",
    ),
}  # fmt: skip


@exercise
def reordered(answer) -> str:
    """Check `reordered(first, bias, second, order)` -> the three of the same function.

    first (hidden, in), bias (hidden,), second (out, hidden); order (hidden,), of numbers.
    """
    climb(REORDERED, answer)
    return "two units exchanged, orders that are not their own inverse, square matrices"


def _reordered(first, bias, second, order):
    return first[order], bias[order], second[:, order]


@ladder(_reordered)
def REORDERED(reordered):
    """two units change places; a row of `first` and a column of `second` belong to each"""
    first, bias = torch.tensor([[1.0, 2], [3, 4]]), torch.zeros(2)
    second = torch.tensor([[5.0, 6], [7, 8], [9, 10]])
    yield reordered(first, bias, second, torch.tensor([1, 0]))

    """each unit takes its bias along"""
    first, second = torch.arange(6.0).view(2, 3), torch.arange(4.0).view(2, 2)
    yield reordered(first, torch.tensor([3.0, -4.0]), second, torch.tensor([1, 0]))

    """four units in a circle: place i gets unit order[i], and so does the layer behind"""
    first, bias, second = torch.randn(4, 2), torch.randn(4), torch.randn(3, 4)
    yield reordered(first, bias, second, torch.tensor([2, 0, 3, 1]))

    """square matrices, where a wrong axis has the right shape"""
    first, bias, second = torch.randn(4, 4), torch.randn(4), torch.randn(4, 4)
    yield reordered(first, bias, second, torch.tensor([2, 0, 3, 1]))


REORDERED.mistakes |= {
    "the biases stay where they were; each belongs to its unit": edited(
        _reordered, "bias[order]", "bias.clone()"
    ),
    "the layer behind still reads the old order": edited(
        _reordered, "second[:, order]", "second.clone()"
    ),
    "the layer behind goes the other way: place i has unit order[i] there, too": edited(
        _reordered, "second[:, order]", "second[:, order.argsort()]"
    ),
    "the rows of `second` are its outputs; the units are its columns": (
        lambda first, bias, second, order: (
            first[order],
            bias[order],
            second[order[: len(second)] % len(second)],
        )
    ),
    "unit i goes to place order[i]; place i is to get unit order[i]": edited(
        _reordered,
        "first[order], bias[order], second[:, order]",
        "first[order.argsort()], bias[order.argsort()], second[:, order.argsort()]",
    ),
}
