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
wrong("the scale is left out", "alpha / rank * ", "")
wrong("divided by d_in", "down.shape[0]", "down.shape[1]")
wrong("divided by d_out", "down.shape[0]", "up.shape[0]")
wrong("divided by the root of the rank", "alpha / rank", "alpha / rank**0.5")
wrong("the rank divided by alpha", "alpha / rank", "rank / alpha")
wrong("times the rank", "alpha / rank", "alpha * rank")
wrong("the adapter alone", "weight + alpha", "alpha")
wrong("subtracted", "weight + alpha", "weight - alpha")
wrong("the order of the chapter's A B", "up @ down", "down @ up")
wrong("the product transposed", "(up @ down)", "(down.T @ up.T)")
wrong(
    "as the chapter multiplies: inputs first, for the transposed weight",
    "weight + alpha / rank * (up @ down)",
    "weight.T + alpha / rank * (down.T @ up.T)",
)
wrong("whole division of the scale", "alpha / rank", "alpha // rank")


@right("merge")
def merge_in_a_loop(weight, down, up, alpha):
    merged = weight.clone()
    r = len(down)
    for i in range(r):
        merged += (alpha / r) * torch.outer(up[:, i], down[i])
    return merged


wrong("changes the old weights", "weight.clone()", "weight")
wrong("the last direction is left out", "range(r)", "range(r - 1)")
wrong("the scaled weight", "merged = weight.clone()", "merged = (1 - alpha / len(down)) * weight")


@right
def student_loss(student, teacher, temperature, there):
    with torch.no_grad():
        target = torch.softmax(teacher / temperature, dim=-1)
    log_q = F.log_softmax(student / temperature, dim=-1)
    each = -(target * log_q).sum(-1)
    return each[there].mean() * temperature**2


wrong("no factor of the temperature", " * temperature**2", "")
wrong("times the temperature, not its square", "temperature**2", "temperature")
wrong("divided by the square", "* temperature**2", "/ temperature**2")
wrong("KL, not cross-entropy", "(target * log_q)", "(target * (log_q - (target + 1e-30).log()))")
wrong("all positions", "each[there].mean()", "each.mean()")
wrong(
    "summed where there is a next word, divided by all positions",
    "each[there].mean()",
    "(each * there).mean()",
)
wrong("a sum, not a mean", "each[there].mean()", "each[there].sum()")
wrong("the teacher gets a gradient", "with torch.no_grad():", "with torch.enable_grad():")
wrong("the temperature for the teacher alone", "student / temperature", "student")
wrong("the temperature for the student alone", "teacher / temperature", "teacher")
wrong("softmax over the positions", "dim=-1", "dim=1")
wrong(
    "log of softmax, which is minus infinity where the student is sure",
    "F.log_softmax(student / temperature, dim=-1)",
    "torch.softmax(student / temperature, dim=-1).log()",
)
wrong(
    "a small number in the logarithm: finite, but wrong where the student is sure",
    "F.log_softmax(student / temperature, dim=-1)",
    "(torch.softmax(student / temperature, dim=-1) + 1e-8).log()",
)
wrong("the mean over the words too", ".sum(-1)", ".mean(-1)")
wrong("the sign", "each = -(", "each = (")
wrong(
    "only the teacher's best word",
    "    log_q",
    "    target = F.one_hot(target.argmax(-1), target.shape[-1]).to(student.dtype)\n    log_q",
)
wrong(
    "multiplied by the temperature",
    "student / temperature",
    "student * temperature",
    "teacher / temperature",
    "teacher * temperature",
)
wrong("the mask the other way round", "each[there]", "each[~there]")


def the_other_way(student, teacher, temperature, there):
    q = F.softmax(student / temperature, -1)
    log_p = F.log_softmax(teacher.detach() / temperature, -1)
    return -(q * log_p).sum(-1)[there].mean() * temperature**2


wrong("the student's probabilities times the logarithm of the teacher's", the_other_way)


@right("student_loss")
def student_loss_by_library(student, teacher, temperature, there):
    student, teacher = student[there], teacher[there].detach()
    soft = F.softmax(teacher / temperature, 1)
    return temperature**2 * F.cross_entropy(student / temperature, soft)


wrong(
    "the student is cut off, not the teacher",
    "student[there], teacher[there].detach()",
    "student[there].detach(), teacher[there]",
)


def mean_of_means(student, teacher, temperature, there):
    soft = (teacher / temperature).softmax(-1).detach()
    each = -(soft * (student / temperature).log_softmax(-1)).sum(-1) * there
    return (each.sum(1) / there.sum(1).clamp(min=1)).mean() * temperature**2


wrong("the mean of each text, then the mean of these", mean_of_means)


@right
def reordered(first, bias, second, order):
    return first[order], bias[order], second[:, order]


wrong("the second layer's outputs are reordered", "second[:, order]", "second[order % len(second)]")
wrong("the second layer stays", "second[:, order]", "second")
wrong("the bias stays", "bias[order]", "bias")
wrong("the first layer's inputs are reordered", "first[order]", "first[:, order % first.shape[1]]")
wrong("only the second layer", "first[order], bias[order]", "first, bias")
wrong(
    "the second layer in the inverse order",
    "second[:, order]",
    "second[:, torch.as_tensor(order).argsort()]",
)
wrong(
    "place order[i] has the old unit i",
    "return first",
    "order = torch.as_tensor(order).argsort()\n    return first",
)
wrong("the second transposed", "second[:, order]", "second.T[order]")
wrong(
    "the given weights come back: the same function, but not in that order",
    "first[order], bias[order], second[:, order]",
    "first, bias, second",
)
wrong("only two of the three", ", second[:, order]", "")


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
    "i and old exchanged in the first layer",
    "new_first[i] = first[old]",
    "new_first[old] = first[i]",
)
wrong(
    "i and old exchanged everywhere",
    "new_first[i] = first[old]",
    "new_first[old] = first[i]",
    "new_bias[i] = bias[old]",
    "new_bias[old] = bias[i]",
    "new_second[:, i] = second[:, old]",
    "new_second[:, old] = second[:, i]",
)
wrong("the bias in the inverse order", "new_bias[i] = bias[old]", "new_bias[old] = bias[i]")
wrong(
    "written over while it is read",
    "new_first, new_bias = torch.empty_like(first), torch.empty_like(bias)",
    "new_first, new_bias = first.clone(), bias.clone(); first, bias = new_first, new_bias",
)
