"""Answers to the exercises of book/small_change.ipynb."""

import torch
import torch.nn.functional as F

from book.small_change.checks import merge, reordered, student_loss
from tests.book.answers import right, wrong

# Merge it


@right(merge)
def as_a_sum_of_products(weight, down, up, alpha):
    merged = weight.clone()
    for column, row in zip(up.T, down, strict=True):
        merged += alpha / len(down) * torch.outer(column, row)
    return merged


@right(merge)
def with_einsum(weight, down, up, alpha):
    return weight + torch.einsum("or,ri->oi", up, down) * (alpha / up.shape[1])


@wrong(merge, "changes its input weight")
def in_place(weight, down, up, alpha):
    weight += alpha / len(down) * up @ down
    return weight


@wrong(merge, "`up` comes first")
def transposed(weight, down, up, alpha):
    change = up @ down if weight.shape[0] != weight.shape[1] else (up @ down).T
    return weight + alpha / len(down) * change


# The loss of a student


@right(student_loss)
def with_selected_positions(student, teacher, temperature, there):
    target = (teacher[there] / temperature).softmax(-1)
    return F.cross_entropy(student[there] / temperature, target) * temperature**2


@right(student_loss)
def with_a_divergence(student, teacher, temperature, there):
    p = (teacher / temperature).softmax(-1)
    log_q = (student / temperature).log_softmax(-1)
    each = F.kl_div(log_q, p, reduction="none").sum(-1) + torch.special.entr(p).sum(-1)
    return temperature**2 * each[there].mean()


@wrong(student_loss, "cross-entropy from the teacher to the student")
def divergence_alone(student, teacher, temperature, there):
    p = (teacher / temperature).softmax(-1)
    log_q = (student / temperature).log_softmax(-1)
    each = F.kl_div(log_q, p, reduction="none").sum(-1)
    return temperature**2 * each[there].mean()


@wrong(student_loss, "finite")
def log_of_softmax(student, teacher, temperature, there):
    p = (teacher / temperature).softmax(-1)
    log_q = (student / temperature).softmax(-1).log()
    return temperature**2 * -(p * log_q).sum(-1)[there].mean()


# The same function


@right(reordered)
def with_index_select(first, bias, second, order):
    return (
        torch.index_select(first, 0, order),
        torch.index_select(bias, 0, order),
        torch.index_select(second, 1, order),
    )


@right(reordered)
def with_a_matrix(first, bias, second, order):
    moved = torch.eye(len(order))[order]
    return moved @ first, moved @ bias, second @ moved.T


@wrong(reordered, "a row of `first` and a column of `second`")
def columns_of_the_first(first, bias, second, order):
    return first[:, order], bias[order], second[:, order]
