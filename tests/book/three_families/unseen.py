"""Answers by somebody who had not read the checks."""

from collections import Counter, defaultdict

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("three_families")


@right
def prefix_mask(source, target):
    n = source + target
    return torch.tensor([[k < source or k <= q for k in range(n)] for q in range(n)])


wrong("source sees the target", "k < source or k <= q", "k < source or k <= q or q < source")
wrong("target sees all of the target", "k < source or k <= q", "k < source or q >= source")
wrong(
    "source only of itself",
    "k < source or k <= q",
    "(k < source and q < source) or (source <= k <= q)",
)


@right
def temper(logits, temperature):
    z = logits / temperature
    return (z - z.logsumexp(-1, keepdim=True)).exp()


wrong("multiplies", "logits / temperature", "logits * temperature")
wrong("after the softmax", lambda logits, temperature: logits.softmax(-1) / temperature)
wrong("over all numbers", "logsumexp(-1, keepdim=True)", "flatten().logsumexp(0)")


@right
def cut(probabilities, top_k, top_p):
    rows = []
    for row in probabilities.tolist():
        order = sorted(range(len(row)), key=lambda i: -row[i])
        if top_k is not None:
            order = order[:top_k]
        total = sum(row[i] for i in order)
        keep, mass = order, total
        if top_p is not None:
            keep, mass = [], 0.0
            for i in order:
                if mass / total >= top_p:
                    break
                keep.append(i)
                mass += row[i]
        rows.append([row[i] / mass if i in keep else 0.0 for i in range(len(row))])
    return torch.tensor(rows)


wrong(
    "sorted order returned",
    "[row[i] / mass if i in keep else 0.0 for i in range(len(row))]",
    "[row[i] / mass if i in keep else 0.0 for i in sorted(range(len(row)), key=lambda i: -row[i])]",
)
wrong(
    "first row's words for all",
    "for row in probabilities.tolist():\n        order = sorted(range(len(row)), key=lambda i: -row[i])",
    "for row in probabilities.tolist():\n        order = sorted(range(len(row)), key=lambda i: -float(probabilities[0, i]))",
)
wrong(
    "in place: zeroes the others",
    "    rows = []",
    "    rows = []\n    if top_k is not None: probabilities[probabilities < probabilities.topk(min(top_k, probabilities.shape[1]), -1).values[:, -1:]] = 0",
)


@right
def hide(ids, chosen, fate, others, mask_id, pad_id):
    seen, asked = ids.clone(), torch.full_like(ids, pad_id)
    for b, t in chosen.nonzero().tolist():
        asked[b, t] = ids[b, t]
        f = float(fate[b, t])
        if f < 0.8:
            seen[b, t] = mask_id
        elif f >= 0.9:
            seen[b, t] = others[b, t]
    return seen, asked


wrong(
    "words that stay are not asked for",
    "asked[b, t] = ids[b, t]\n        f",
    "f",
    "seen[b, t] = mask_id",
    "seen[b, t] = mask_id; asked[b, t] = ids[b, t]",
    "seen[b, t] = others[b, t]",
    "seen[b, t] = others[b, t]; asked[b, t] = ids[b, t]",
)
wrong("0.8 at the bound is masked", "f < 0.8", "f <= 0.8")
wrong("all chosen are masked", "if f < 0.8", "if True")
wrong(
    "targets show the mask", "return seen, asked", "return seen, torch.where(chosen, seen, pad_id)"
)


@right
def fill(probabilities, ids, mask_id):
    ids = list(ids)
    while mask_id in ids:
        p = probabilities(list(ids)).tolist()
        _, t, w = max(
            (
                (p[t][w], t, w)
                for t in range(len(ids))
                if ids[t] == mask_id
                for w in range(len(p[t]))
                if w != mask_id
            ),
            key=lambda c: (c[0], -c[1]),
        )
        ids[t] = w
    return ids


wrong("writes into ids", "ids = list(ids)", "ids = ids")
wrong("rightmost at a tie", "(c[0], -c[1])", "(c[0], c[1])")


@right
def language_model(sentences, vocab_size):
    counts = [defaultdict(Counter) for _ in range(4)]
    for s in sentences:
        for t in range(1, len(s)):
            for n in range(4):
                if t - n >= 0:
                    counts[n][tuple(s[t - n : t])][s[t]] += 1

    def next_word(before):
        p = torch.full((vocab_size,), 1 / vocab_size)
        for n in range(4):
            if n > len(before):
                break
            c = counts[n].get(tuple(before[len(before) - n :]))
            if c:
                total, kinds = sum(c.values()), len(c)
                q = torch.zeros(vocab_size)
                for w, k in c.items():
                    q[w] = k
                p = (q + 1.5 * kinds * p) / (total + 1.5 * kinds) if n else (q + p) / (total + 1)
        return p / p.sum()

    return next_word


wrong("pairs only", "range(4):\n            if n >", "range(2):\n            if n >")
wrong(
    "returns probabilities of a fixed context",
    "return next_word\n",
    "return next_word([sentences[0][0]])\n",
)


@right
def prefix_mask(source, target):
    length = source + target
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(length):
            mask[i, j] = j < source or j <= i
    return mask


wrong("words of the target see all", "j <= i", "i >= source")


@right
def temper(logits, temperature):
    scaled = logits / temperature
    scaled = scaled - scaled.max(dim=1, keepdim=True).values
    e = scaled.exp()
    return e / e.sum(dim=1, keepdim=True)


wrong("times the temperature", "logits / temperature", "logits * temperature")


@right
def cut(probabilities, top_k, top_p):
    result = torch.zeros_like(probabilities)
    for b, row in enumerate(probabilities):
        p, order = row.sort(descending=True)
        if top_k is not None:
            p, order = p[:top_k], order[:top_k]
            p = p / p.sum()
        if top_p is not None:
            before = p.cumsum(0) - p
            n = int((before < top_p).sum())
            p, order = p[:n], order[:n]
        result[b, order] = p / p.sum()
    return result


wrong("the word that crosses p is cut", "before < top_p", "before + p <= top_p")


wrong("no new sum between the cuts", "            p = p / p.sum()\n", "")


@right
def hide(ids, chosen, fate, others, mask_id, pad_id):
    seen, targets = ids.clone(), torch.full_like(ids, pad_id)
    B, T = ids.shape
    for b in range(B):
        for t in range(T):
            if chosen[b, t]:
                targets[b, t] = ids[b, t]
                if fate[b, t] < 0.8:
                    seen[b, t] = mask_id
                elif fate[b, t] >= 0.9:
                    seen[b, t] = others[b, t]
    return seen, targets


wrong("writes into the ids", "seen, targets = ids.clone()", "seen, targets = ids")


@right
def fill(probabilities, ids, mask_id):
    ids = list(ids)
    while mask_id in ids:
        p = probabilities(ids)
        surest, place, choice = -1.0, None, None
        for t in range(len(ids)):
            if ids[t] == mask_id:
                row = p[t].tolist()
                row[mask_id] = -1.0
                if max(row) > surest:
                    surest, place, choice = max(row), t, row.index(max(row))
        ids[place] = choice
    return ids


wrong("at a tie the rightmost", "max(row) > surest", "max(row) >= surest")
wrong(
    "the margin over the second",
    "max(row) > surest",
    "(ahead := max(row) - sorted(row)[-2]) > surest",
    "surest, place, choice = max(row)",
    "surest, place, choice = ahead",
)
wrong(
    "the share without the mask",
    "max(row) > surest",
    "(share := max(row) / (sum(row) + 1)) > surest",
    "surest, place, choice = max(row)",
    "surest, place, choice = share",
)


@right
def language_model(sentences, vocab_size):
    single = torch.ones(vocab_size)
    pairs, triples = defaultdict(Counter), defaultdict(Counter)
    for s in sentences:
        for i in range(1, len(s)):
            single[s[i]] += 1
            pairs[s[i - 1]][s[i]] += 1
            if i >= 2:
                triples[s[i - 2], s[i - 1]][s[i]] += 1
    single = single / single.sum()

    def next_word(before):
        p = single
        for counts in (pairs.get(before[-1]), triples.get(tuple(before[-2:]))):
            if counts:
                seen = torch.zeros(vocab_size)
                for word, n in counts.items():
                    seen[word] = n
                p = (seen + 2 * p) / (seen.sum() + 2)
        return p

    return next_word


wrong(
    "pairs only",
    "(pairs.get(before[-1]), triples.get(tuple(before[-2:])))",
    "(pairs.get(before[-1]),)",
)


wrong("the end is never counted", "range(1, len(s))", "range(1, len(s) - 1)")


@right
def prefix_mask(source, target):
    length = source + target
    i = torch.arange(length).view(-1, 1)
    j = torch.arange(length).view(1, -1)
    return (j < source) | (j <= i)


wrong("True for may not", "(j < source) | (j <= i)", "~((j < source) | (j <= i))")


@right
def temper(logits, temperature):
    scaled = logits / temperature
    scaled = scaled - scaled.amax(dim=-1, keepdim=True)
    e = scaled.exp()
    return e / e.sum(dim=-1, keepdim=True)


wrong("the temperature is ignored", "logits / temperature", "logits")


@right
def cut(probabilities, top_k, top_p):
    p = probabilities.clone()
    for row in p:
        places = sorted(range(len(row)), key=lambda i: -row[i].item())
        if top_k is not None:
            for i in places[top_k:]:
                row[i] = 0
            row /= row.sum()
        if top_p is not None:
            so_far = 0.0
            for i in places:
                share = row[i].item()
                if so_far >= top_p:
                    row[i] = 0
                so_far += share
            row /= row.sum()
    return p


wrong("keeps the least probable", "-row[i].item()", "row[i].item()")


@right
def hide(ids, chosen, fate, others, mask_id, pad_id):
    seen = ids.clone()
    seen[chosen & (fate < 0.8)] = mask_id
    swap = chosen & (fate >= 0.9)
    seen[swap] = others[swap]
    targets = torch.full_like(ids, pad_id)
    targets[chosen] = ids[chosen]
    return seen, targets


wrong(
    "fate decides for all words, chosen or not",
    "chosen & (fate < 0.8)",
    "fate < 0.8",
    "chosen & (fate >= 0.9)",
    "fate >= 0.9",
)


@right
def fill(probabilities, ids, mask_id):
    ids = list(ids)
    while mask_id in ids:
        table = probabilities(ids)
        best = None
        for place, token in enumerate(ids):
            if token != mask_id:
                continue
            row = table[place].clone()
            row[mask_id] = -1
            top, word = row.max(dim=0)
            if best is None or top.item() > best[0]:
                best = (top.item(), place, word.item())
        ids[best[1]] = best[2]
    return ids


wrong("from left to right", "if best is None or top.item() > best[0]", "if best is None")


@right
def temper(logits, temperature):
    return (logits / temperature).softmax(dim=-1)


wrong("temperature left out", "logits / temperature", "logits")
wrong(
    "divides and clips",
    "(logits / temperature)",
    "(logits / temperature).clamp(-30, 30)",
)


@right
def fill(probabilities, ids, mask_id):
    ids = list(ids)
    while mask_id in ids:
        p = probabilities(ids).clone()
        p[[i for i, word in enumerate(ids) if word != mask_id]] = -1
        p[:, mask_id] = -1
        place, word = divmod(int(p.argmax()), p.shape[1])
        ids[place] = word
    return ids


wrong("writes into what the model returned", ".clone()", "")


@right
def hide(ids, chosen, fate, others, mask_id, pad_id):
    seen = torch.where(chosen & (fate < 0.8), mask_id, ids)
    seen = torch.where(chosen & (fate >= 0.9), others, seen)
    targets = torch.where(chosen, ids, pad_id)
    return seen, targets


wrong("targets elsewhere are the mask", "ids, pad_id)\n", "ids, mask_id)\n")


@right
def prefix_mask(source, target):
    place = torch.arange(source + target)
    row, column = torch.meshgrid(place, place, indexing="ij")
    return torch.logical_or(column < source, column <= row)


wrong("words of the target do not see themselves", "<=", "<")


@right
def cut(probabilities, top_k, top_p):
    p, order = torch.sort(probabilities, dim=1, descending=True, stable=True)
    rank = torch.arange(p.shape[1]).expand_as(p)
    if top_k is not None:
        p = torch.where(rank < top_k, p, 0.0)
        p = p / p.sum(dim=1, keepdim=True)
    if top_p is not None:
        before = torch.cat([torch.zeros(len(p), 1, dtype=p.dtype), p.cumsum(dim=1)[:, :-1]], dim=1)
        p = torch.where(before < top_p, p, 0.0)
        p = p / p.sum(dim=1, keepdim=True)
    return torch.gather(p, 1, torch.argsort(order, dim=1))


wrong(
    "the word with which p is reached is dropped",
    "before < top_p",
    "(p.cumsum(dim=1) < top_p) | (rank == 0)",
)


@right
def hide(ids, chosen, fate, others, mask_id, pad_id):
    seen = ids.clone()
    masked = chosen & (fate < 0.8)
    swapped = chosen & (fate >= 0.9)
    seen[masked] = mask_id
    seen[swapped] = others[swapped]
    targets = torch.full_like(ids, pad_id)
    targets[chosen] = ids[chosen]
    return (seen, targets)


wrong(
    "words that were not chosen are corrupted, too",
    "    masked = chosen & (fate < 0.8)\n    swapped = chosen & (fate >= 0.9)",
    "    masked = fate < 0.8\n    swapped = fate >= 0.9",
)


@right
def fill(probabilities, ids, mask_id):
    text = list(ids)
    for _ in range(text.count(mask_id)):
        p = probabilities(list(text))
        best, where, what = (-1.0, None, None)
        for t, token in enumerate(text):
            if token != mask_id:
                continue
            row = p[t].tolist()
            row[mask_id] = -1.0
            word = max(range(len(row)), key=row.__getitem__)
            if row[word] > best:
                best, where, what = (row[word], t, word)
        text[where] = what
    return text


wrong("mask_id counts as a best word and can be written", "            row[mask_id] = -1.0", "")


@right
def language_model(sentences, vocab_size):
    triples, pairs, singles = ({}, {}, torch.zeros(vocab_size))
    for s in sentences:
        for i in range(1, len(s)):
            singles[s[i]] += 1
            pairs.setdefault(s[i - 1], torch.zeros(vocab_size))[s[i]] += 1
            if i > 1:
                triples.setdefault((s[i - 2], s[i - 1]), torch.zeros(vocab_size))[s[i]] += 1

    def next_word(before):
        parts = [
            (0.72, triples.get(tuple(before[-2:]))),
            (0.23, pairs.get(before[-1])),
            (0.04, singles),
            (0.01, torch.ones(vocab_size)),
        ]
        p, weight = (torch.zeros(vocab_size), 0.0)
        for share, counts in parts:
            weight += share
            if counts is not None:
                p += weight * counts / counts.sum()
                weight = 0.0
        return p

    return next_word


wrong(
    "the weight of a context never seen is lost: does not sum to 1",
    "weight +",
    "weight ",
    "                weight = 0.0",
    "",
)
