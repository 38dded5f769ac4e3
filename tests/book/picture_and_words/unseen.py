"""Answers by somebody who had not read the checks."""

import torch
import torch.nn.functional as F

from tests.book.unseen import answers_to

right, wrong = answers_to("picture_and_words")


@right
def marks(says_yes, is_yes):
    hit = (says_yes == is_yes).float()
    yes = hit[is_yes].mean()
    no = hit[~is_yes].mean()
    return hit.mean(), (yes + no) / 2, yes - no


wrong("the tilt has the other sign", "yes - no", "no - yes")
wrong(
    "the tilt is how much more often it says yes than it should",
    "yes - no",
    "says_yes.float().mean() - is_yes.float().mean()",
)
wrong(
    "balanced and tilt in the wrong order", "(yes + no) / 2, yes - no", "yes - no, (yes + no) / 2"
)


@right("marks")
def marks_by_counting(says_yes, is_yes):
    tp = fn = tn = fp = 0
    for said, true in zip(says_yes.tolist(), is_yes.tolist(), strict=True):
        if true:
            tp, fn = tp + said, fn + (not said)
        else:
            tn, fp = tn + (not said), fp + said
    sensitivity = tp / (tp + fn)
    specificity = tn / (tn + fp)
    n = tp + fn + tn + fp
    return (tp + tn) / n, (sensitivity + specificity) / 2, sensitivity - specificity


wrong(
    "the shares of all questions, not of those with this answer",
    "tp / (tp + fn)",
    "tp / len(is_yes)",
    "tn / (tn + fp)",
    "tn / len(is_yes)",
)
wrong("only two numbers", ", sensitivity - specificity\n", "\n")


@right
def contrastive(pictures, captions, log_scale):
    pictures = F.normalize(pictures, dim=-1)
    captions = F.normalize(captions, dim=-1)
    scores = log_scale.exp() * pictures @ captions.T
    n = len(pictures)
    target = torch.arange(n)
    to_captions = F.cross_entropy(scores, target)
    to_pictures = F.cross_entropy(scores[:, :n].T, target)
    return (to_captions + to_pictures) / 2


wrong("normalised along the batch", "dim=-1", "dim=0")
wrong("the sum of both", "(to_captions + to_pictures) / 2", "to_captions + to_pictures")
wrong("second loss not transposed: both are over captions", "scores[:, :n].T", "scores[:, :n]")
wrong("the last n captions belong to the pictures", "scores[:, :n].T", "scores[:, -n:].T")


@right("contrastive")
def contrastive_by_hand(pictures, captions, log_scale):
    n, m = len(pictures), len(captions)
    assert n <= m
    a = pictures / pictures.norm(dim=1, keepdim=True)
    b = captions / captions.norm(dim=1, keepdim=True)
    cosines = torch.einsum("nd,md->nm", a, b)
    scores = cosines * torch.exp(log_scale)
    loss = 0.0
    for i in range(n):
        loss = loss + torch.logsumexp(scores[i], 0) - scores[i, i]
        loss = loss + torch.logsumexp(scores[:, i], 0) - scores[i, i]
    return loss / (2 * n)


wrong(
    "log of sum of exp, without subtracting a maximum",
    "torch.logsumexp(scores[i], 0)",
    "scores[i].exp().sum().log()",
    "torch.logsumexp(scores[:, i], 0)",
    "scores[:, i].exp().sum().log()",
)


@right
def with_swapped(captions, left):
    swapped = captions.clone()
    rows = torch.arange(len(captions))
    swapped[rows, left] = captions[rows, left + 1]
    swapped[rows, left + 1] = captions[rows, left]
    return torch.cat([captions, swapped])


wrong("no copy: the given captions are changed", "captions.clone()", "captions")
wrong("swapped ones first", "[captions, swapped]", "[swapped, captions]")
wrong(
    "joined along the words",
    "torch.cat([captions, swapped])",
    "torch.cat([captions, swapped], dim=1)",
)


@right("with_swapped")
def with_swapped_in_a_loop(captions, left):
    out = captions.tolist()
    for caption, at in zip(captions.tolist(), left.tolist(), strict=True):
        caption[at], caption[at + 1] = caption[at + 1], caption[at]
        out.append(caption)
    return torch.tensor(out, dtype=captions.dtype)


wrong(
    "exchanges the first and the last word",
    "caption[at], caption[at + 1] = caption[at + 1], caption[at]",
    "caption[0], caption[-1] = caption[-1], caption[0]",
)


@right
def marks(says_yes, is_yes):
    right = says_yes == is_yes
    of_yes = right[is_yes].float().mean().item()
    of_no = right[~is_yes].float().mean().item()
    return right.float().mean().item(), (of_yes + of_no) / 2, of_yes - of_no


wrong(
    "the share of all questions, not of those with this answer",
    "right[is_yes].float()",
    "(right & is_yes).float()",
    "right[~is_yes].float()",
    "(right & ~is_yes).float()",
)


@right
def contrastive(pictures, captions, log_scale):
    n = len(pictures)
    pictures = pictures / pictures.norm(dim=-1, keepdim=True)
    captions = captions / captions.norm(dim=-1, keepdim=True)
    scale = log_scale.exp()
    scores = scale * (pictures @ captions.T)
    total = 0
    for i in range(n):
        total = total + scores[i].logsumexp(0) - scores[i, i]
        total = total + scores[:, i].logsumexp(0) - scores[i, i]
    return total / (2 * n)


wrong("the scale is a number that is not learned", "log_scale.exp()", "log_scale.exp().item()")


@right
def with_swapped(captions, left):
    swapped = captions.clone()
    for row, place in enumerate(left.tolist()):
        swapped[row, place] = captions[row, place + 1]
        swapped[row, place + 1] = captions[row, place]
    return torch.cat([captions, swapped])


wrong("no copy", "captions.clone()", "captions")


wrong("the left neighbour", "place + 1", "place - 1")


@right
def contrastive(pictures, captions, log_scale):
    n = pictures.shape[0]
    a = pictures / pictures.norm(dim=1, keepdim=True)
    b = captions / captions.norm(dim=1, keepdim=True)
    table = log_scale.exp() * (a @ b.mT)
    mine = torch.arange(n, device=pictures.device)
    by_picture = F.cross_entropy(table, mine)
    by_caption = F.cross_entropy(table[:, :n].mT, mine)
    return 0.5 * (by_picture + by_caption)


wrong("the scale is used without exp", "log_scale.exp() *", "log_scale *")


@right
def with_swapped(captions, left):
    n, k = captions.shape
    order = torch.arange(k).repeat(n, 1)
    rows = torch.arange(n)
    order[rows, left] = left + 1
    order[rows, left + 1] = left
    return torch.cat([captions, captions.gather(1, order)])


wrong(
    "the swapped ones first",
    "[captions, captions.gather(1, order)]",
    "[captions.gather(1, order), captions]",
)


@right
def contrastive(pictures, captions, log_scale):
    n = len(pictures)
    scores = log_scale.exp() * F.normalize(pictures, dim=-1) @ F.normalize(captions, dim=-1).T
    right = torch.arange(n, device=pictures.device)
    return (F.cross_entropy(scores, right) + F.cross_entropy(scores[:, :n].T, right)) / 2


wrong("captions choose among captions", "scores[:, :n].T", "scores[:, :n]")


@right
def contrastive(pictures, captions, log_scale):
    n = pictures.shape[0]
    pic, cap = (F.normalize(pictures, dim=-1), F.normalize(captions, dim=-1))
    table = torch.einsum("nd,md->nm", pic, cap) * torch.exp(log_scale)
    goal = torch.arange(n, device=table.device)
    return 0.5 * (F.cross_entropy(table, goal) + F.cross_entropy(table[:, :n].t(), goal))


wrong(
    "hard negatives are left out of the first loss",
    "(F.cross_entropy(table",
    "(F.cross_entropy(table[:, :n]",
)
