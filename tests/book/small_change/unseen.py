"""Answers by somebody who had not read the checks."""

import torch
import torch.nn.functional as F

from tests.book.unseen import answers_to

right, wrong = answers_to("small_change")


@right
def merge(weight, down, up, alpha):
    rank = down.shape[0]
    return weight + alpha / rank * (up @ down)


wrong("not divided by the rank", "alpha / rank", "alpha")
wrong("divided by d_out", "down.shape[0]", "up.shape[0]")
wrong("times the rank", "alpha / rank", "alpha * rank")
wrong("the order of the chapter's A B", "up @ down", "down @ up")
wrong("whole division of the scale", "alpha / rank", "alpha // rank")


@right("merge")
def merge_in_a_loop(weight, down, up, alpha):
    merged = weight.clone()
    r = len(down)
    for i in range(r):
        merged += (alpha / r) * torch.outer(up[:, i], down[i])
    return merged


wrong("the scaled weight", "merged = weight.clone()", "merged = (1 - alpha / len(down)) * weight")


@right
def student_loss(student, teacher, temperature, there):
    with torch.no_grad():
        target = torch.softmax(teacher / temperature, dim=-1)
    log_q = F.log_softmax(student / temperature, dim=-1)
    each = -(target * log_q).sum(-1)
    return each[there].mean() * temperature**2


wrong("divided by the square", "* temperature**2", "/ temperature**2")
wrong(
    "summed where there is a next word, divided by all positions",
    "each[there].mean()",
    "(each * there).mean()",
)
wrong("the temperature for the teacher alone", "student / temperature", "student")
wrong(
    "log of softmax, which is minus infinity where the student is sure",
    "F.log_softmax(student / temperature, dim=-1)",
    "torch.softmax(student / temperature, dim=-1).log()",
)
wrong("the sign", "each = -(", "each = (")
wrong("the mask the other way round", "each[there]", "each[~there]")


@right("student_loss")
def student_loss_by_library(student, teacher, temperature, there):
    student, teacher = student[there], teacher[there].detach()
    soft = F.softmax(teacher / temperature, 1)
    return temperature**2 * F.cross_entropy(student / temperature, soft)


def mean_of_means(student, teacher, temperature, there):
    soft = (teacher / temperature).softmax(-1).detach()
    each = -(soft * (student / temperature).log_softmax(-1)).sum(-1) * there
    return (each.sum(1) / there.sum(1).clamp(min=1)).mean() * temperature**2


wrong("the mean of each text, then the mean of these", mean_of_means)


@right
def reordered(first, bias, second, order):
    return first[order], bias[order], second[:, order]


wrong("the bias stays", "bias[order]", "bias")
wrong(
    "the second layer in the inverse order",
    "second[:, order]",
    "second[:, torch.as_tensor(order).argsort()]",
)
wrong(
    "the given weights come back: the same function, but not in that order",
    "first[order], bias[order], second[:, order]",
    "first, bias, second",
)


@right("reordered")
def reordered_in_a_loop(first, bias, second, order):
    new_first, new_bias = torch.empty_like(first), torch.empty_like(bias)
    new_second = torch.empty_like(second)
    for i, old in enumerate(int(o) for o in order):
        new_first[i] = first[old]
        new_bias[i] = bias[old]
        new_second[:, i] = second[:, old]
    return new_first, new_bias, new_second


wrong(
    "i and old exchanged everywhere",
    "new_first[i] = first[old]",
    "new_first[old] = first[i]",
    "new_bias[i] = bias[old]",
    "new_bias[old] = bias[i]",
    "new_second[:, i] = second[:, old]",
    "new_second[:, old] = second[:, i]",
)


@right
def merge(weight, down, up, alpha):
    rank, d_in = down.shape
    scale = alpha / rank
    change = torch.einsum("or,ri->oi", up, down)
    return weight + scale * change


wrong("the change alone", "return weight + scale", "return scale")


@right
def student_loss(student, teacher, temperature, there):
    total, count = 0.0, 0
    for b in range(student.shape[0]):
        for t in range(student.shape[1]):
            if there[b, t]:
                p = torch.softmax(teacher[b, t] / temperature, dim=0)
                log_q = F.log_softmax(student[b, t] / temperature, dim=0)
                total = total - (p * log_q).sum()
                count += 1
    return total / count * temperature**2


wrong("times the temperature once", "temperature**2", "temperature")


@right
def reordered(first, bias, second, order):
    order = torch.as_tensor(order)
    new_first = torch.stack([first[unit] for unit in order])
    new_bias = torch.stack([bias[unit] for unit in order])
    new_second = torch.stack([second[:, unit] for unit in order], dim=1)
    return new_first, new_bias, new_second


wrong(
    "second stays", "return new_first, new_bias, new_second", "return new_first, new_bias, second"
)


wrong(
    "second put back",
    "second[:, unit] for unit in order]",
    "second[:, unit] for unit in order.argsort()]",
)


@right
def merge(weight, down, up, alpha):
    rank = up.shape[1]
    change = torch.einsum("or,ri->oi", up, down)
    return weight + change * (alpha / rank)


wrong("the adapter instead of the layer", "return weight + change", "return change")


@right
def student_loss(student, teacher, temperature, there):
    log_q = torch.log_softmax(student / temperature, dim=-1)
    p = torch.softmax(teacher / temperature, dim=-1)
    each = -torch.sum(p * log_q, dim=-1)
    return temperature**2 * (each * there).sum() / there.sum()


wrong(
    "log of the softmax: infinite where the student is sure",
    "torch.log_softmax(student / temperature, dim=-1)",
    "torch.log(torch.softmax(student / temperature, dim=-1))",
)


@right
def reordered(first, bias, second, order):
    return first[order, :], bias[order], second[:, order]


wrong("the bias stays", "bias[order]", "bias")


@right
def reordered(first, bias, second, order):
    return first[order], bias[order], second[:, order]


wrong("the inverse order for all three", "    return", "    order = order.argsort()\n    return")
wrong(
    "exchanges pairs, which works for orders that undo themselves",
    "    return first[order], bias[order], second[:, order]",
    "    new = first.clone(), bias.clone(), second.clone()\n"
    "    for i, unit in enumerate(order):\n"
    "        new[0][unit], new[1][unit], new[2][:, unit] = first[i], bias[i], second[:, i]\n"
    "    return new",
)


@right
def student_loss(student, teacher, temperature, there):
    log_q = (student / temperature).log_softmax(dim=-1)
    p = (teacher / temperature).softmax(dim=-1)
    cross = -(p * log_q).sum(dim=-1)
    return temperature**2 * cross[there].mean()


wrong("softmax over the positions", "softmax(dim=-1)", "softmax(dim=1)")


@right
def merge(weight, down, up, alpha):
    r = down.shape[0]
    change = torch.einsum("or,ri->oi", up, down)
    return weight + alpha / r * change


wrong("d_in taken for the rank", "0", "1")


@right
def student_loss(student, teacher, temperature, there):
    z = student / temperature
    log_q = z - z.logsumexp(-1, keepdim=True)
    p = torch.softmax(teacher / temperature, -1)
    each = -(p * log_q).sum(-1)
    count = there.sum()
    each = torch.where(there, each, torch.zeros_like(each))
    return each.sum() / count * temperature * temperature


wrong(
    "KL divergence instead of the cross-entropy",
    "-(p * log_q",
    "(p * (torch.log_softmax(teacher / temperature, -1) - log_q)",
)
