"""Answers by somebody who had not read the checks."""

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("decoding")


@right
def rescored(log_probabilities, lengths, alpha):
    return torch.tensor(
        [float(s) / ((5 + int(n)) / 6) ** alpha for s, n in zip(log_probabilities, lengths)]
    )


wrong("multiplies", "float(s) /", "float(s) *")
wrong("6 not raised", "((5 + int(n)) / 6) ** alpha", "((5 + int(n)) ** alpha / 6)")


@right
def greedy(model, source_ids, max_len):
    cfg, memory = model.config, model.encode(source_ids)
    B = len(source_ids)
    target = torch.full((B, 1), cfg.bos_id)
    while target.shape[1] < max_len:
        word = model.decode(target, memory, source_ids)[:, -1].argmax(-1)
        over = (target == cfg.eos_id).any(1)
        word = word.masked_fill(over, cfg.pad_id)
        target = torch.cat([target, word[:, None]], 1)
    return target


wrong("goes on after EOS", "word = word.masked_fill(over, cfg.pad_id)", "")
wrong("first place instead of last", "[:, -1]", "[:, 0]")
wrong(
    "stops at the first ended row",
    "        target = torch.cat([target, word[:, None]], 1)\n",
    "        target = torch.cat([target, word[:, None]], 1)\n        if (word == cfg.eos_id).any(): break\n",
)


@right
def beam_step(scores, log_probabilities, beam_size):
    cand = [
        (float(scores[r] + log_probabilities[r, w]), r, w)
        for r in range(len(scores))
        for w in range(log_probabilities.shape[1])
    ]
    cand.sort(key=lambda t: -t[0])
    return torch.tensor([r for _, r, _ in cand[:beam_size]]), torch.tensor(
        [w for *_, w in cand[:beam_size]]
    )


wrong("scores forgotten", "scores[r] + log", "0 * scores[r] + log")
wrong(
    "best of each beginning",
    lambda scores, log_probabilities, beam_size: (
        lambda v: (v[0].topk(beam_size).indices, v[1][v[0].topk(beam_size).indices])
    )((scores[:, None] + log_probabilities).max(1)),
)
wrong("as many as there are beginnings", "[:beam_size]", "[:len(scores)]")


@right
def draw(logits, temperature, top_p, number):
    p = (logits / temperature).softmax(-1).tolist()
    order = sorted(range(len(p)), key=lambda i: -p[i])
    kept, mass = [], 0.0
    for i in order:
        if mass >= top_p:
            break
        kept.append(i)
        mass += p[i]
    end = 0.0
    for i in kept:
        end += p[i] / mass
        if number < end:
            return i
    return kept[-1]


wrong("multiplies by the temperature", "logits / temperature", "logits * temperature")
wrong("order of ids, not of probability", "for i in kept:", "for i in sorted(kept):")
wrong("temperature ignored", "logits / temperature", "logits")
wrong("random instead of number", "if number < end", "if float(torch.rand(())) < end")


@right
def cached(x, W_q, W_k, W_v, keys, values):
    keys = torch.vstack([keys, x @ W_k])
    values = torch.vstack([values, x @ W_v])
    s = (keys * (x @ W_q)).sum(1) / keys.shape[1] ** 0.5
    w = torch.exp(s - s.max())
    w = w / w.sum()
    return (w[:, None] * values).sum(0), keys, values


wrong(
    "attends before appending",
    "s = (keys * (x @ W_q)).sum(1)",
    "s = (keys[:-1] * (x @ W_q)).sum(1)",
    "(w[:, None] * values).sum(0)",
    "(w[:, None] * values[:-1]).sum(0)",
    "s.max()",
    "(s.max() if len(s) else 0)",
)
wrong("W on the left", "x @ W_q", "W_q.T @ x") if False else None
wrong("scale by d", "keys.shape[1] ** 0.5", "len(x) ** 0.5")
wrong("values and keys exchanged", ".sum(0), keys, values", ".sum(0), values, keys")


@right
def search(next_log_probabilities, bos, eos, beam_size, max_len):
    beam, done = [(0.0, [bos])], []
    for _ in range(max_len - 1):
        children = sorted(
            (
                (s + float(l), ids + [w])
                for s, ids in beam
                for w, l in enumerate(next_log_probabilities(ids))
            ),
            key=lambda p: -p[0],
        )[:beam_size]
        done += [p for p in children if p[1][-1] == eos]
        beam = [p for p in children if p[1][-1] != eos]
        beam_size = beam_size
    best = max(done, key=lambda p: p[0])
    return torch.tensor(best[1])


wrong("first complete one", "    best = max", "    done = done[:1]\n    best = max")
wrong("one word too many", "range(max_len - 1)", "range(max_len)")
wrong("greedy", "[:beam_size]", "[:1]")
wrong("stops at the first EOS", "        beam_size = beam_size", "        if done: break")


@right
def rescored(log_probabilities, lengths, alpha):
    penalty = ((5 + lengths) / 6) ** alpha
    return log_probabilities / penalty


wrong("the 6 is outside the power", "((5 + lengths) / 6) ** alpha", "(5 + lengths) ** alpha / 6")


@right
def greedy(model, source_ids, max_len):
    c = model.config
    B = source_ids.shape[0]
    target = torch.full((B, 1), c.bos_id, device=source_ids.device)
    ended = torch.zeros(B, dtype=torch.bool, device=source_ids.device)
    with torch.no_grad():
        memory = model.encode(source_ids)
        for _ in range(max_len - 1):
            word = model.decode(target, memory, source_ids)[:, -1].argmax(dim=-1)
            word = torch.where(ended, c.pad_id, word)
            ended = ended | (word == c.eos_id)
            target = torch.cat([target, word[:, None]], dim=1)
    return target


wrong(
    "an end is forced on who has none",
    "    return target",
    "    target[~ended, -1] = c.eos_id\n    return target",
)


@right
def beam_step(scores, log_probabilities, beam_size):
    V = log_probabilities.shape[1]
    total = scores[:, None] + log_probabilities
    best = total.flatten().topk(beam_size).indices
    return best // V, best % V


wrong(
    "one child for each beginning",
    "best = total.flatten().topk(beam_size).indices\n    return best // V, best % V",
    "score, word = total.max(dim=1)\n"
    "    rows = score.topk(beam_size).indices\n"
    "    return rows, word[rows]",
)

wrong("log-probabilities are multiplied", "scores[:, None] +", "scores[:, None] *")


@right
def draw(logits, temperature, top_p, number):
    p = torch.softmax(logits / temperature, dim=0)
    p, ids = p.sort(descending=True)
    ends = p.cumsum(0)
    before = torch.cat([torch.zeros(1), ends[:-1]])
    p = p[before < top_p]
    p = p / p.sum()
    place = (p.cumsum(0) <= number).sum()
    place = place.clamp(max=len(p) - 1)
    return ids[place].item()


wrong(
    "temperature after the softmax",
    "torch.softmax(logits / temperature, dim=0)",
    "torch.softmax(logits, dim=0) / temperature",
)


@right
def cached(x, W_q, W_k, W_v, keys, values):
    q = x @ W_q
    keys = torch.cat([keys, (x @ W_k)[None]])
    values = torch.cat([values, (x @ W_v)[None]])
    weights = torch.softmax(keys @ q / q.shape[0] ** 0.5, dim=0)
    return weights @ values, keys, values


wrong(
    "the new token comes first",
    "[keys, (x @ W_k)[None]]",
    "[(x @ W_k)[None], keys]",
    "[values, (x @ W_v)[None]]",
    "[(x @ W_v)[None], values]",
)


@right
def search(next_log_probabilities, bos, eos, beam_size, max_len):
    beam, complete = [(0.0, [bos])], []
    for _ in range(max_len - 1):
        children = []
        for score, ids in beam:
            for word, log_p in enumerate(next_log_probabilities(ids).tolist()):
                children.append((score + log_p, ids + [word]))
        children.sort(key=lambda child: child[0], reverse=True)
        beam = []
        for child in children[:beam_size]:
            if child[1][-1] == eos:
                complete.append(child)
            else:
                beam.append(child)
        if not beam:
            break
    return torch.tensor(max(complete, key=lambda child: child[0])[1])


wrong("stops at the first complete sentence", "if not beam:", "if complete or not beam:")

wrong(
    "a length penalty",
    "max(complete, key=lambda child: child[0])",
    "max(complete, key=lambda child: child[0] / len(child[1]))",
)


@right
def greedy(model, source_ids, max_len):
    c = model.config
    memory = model.encode(source_ids)
    out = source_ids.new_full((len(source_ids), 1), c.bos_id)
    ended = torch.zeros(len(source_ids), dtype=torch.bool, device=source_ids.device)
    while out.shape[1] < max_len:
        logits = model.decode(out, memory, source_ids)
        word = logits[:, -1].argmax(dim=-1)
        word = torch.where(ended, c.pad_id, word)
        out = torch.cat([out, word.unsqueeze(1)], dim=1)
        ended = ended | (word == c.eos_id)
    return out


wrong(
    "stops when the first row has ended",
    "ended = ended | (word == c.eos_id)",
    "ended = ended | (word == c.eos_id)\n        if ended.any():\n            break",
)


@right
def beam_step(scores, log_probabilities, beam_size):
    V = log_probabilities.shape[1]
    together = (scores.unsqueeze(1) + log_probabilities).reshape(-1)
    order = together.argsort(descending=True)[:beam_size]
    return torch.div(order, V, rounding_mode="floor"), order.remainder(V)


wrong(
    "divided by the number of beginnings",
    "V = log_probabilities.shape[1]",
    "V = log_probabilities.shape[0]",
)


@right
def draw(logits, temperature, top_p, number):
    p = torch.softmax(logits / temperature, dim=-1)
    order = p.argsort(descending=True).tolist()
    kept, mass = [], 0.0
    for word in order:
        kept.append(word)
        mass += p[word].item()
        if mass >= top_p:
            break
    end = 0.0
    for word in kept:
        end += p[word].item() / mass
        if number < end:
            return word
    return kept[-1]


wrong(
    "the rank instead of the id",
    "for word in kept:",
    "for rank, word in enumerate(kept):",
    "            return word",
    "            return rank",
)


@right
def search(next_log_probabilities, bos, eos, beam_size, max_len):
    beam, complete = [(0.0, [bos])], []
    for _ in range(max_len - 1):
        children = []
        for score, ids in beam:
            log_p = next_log_probabilities(ids)
            children += [(score + lp, [*ids, word]) for word, lp in enumerate(log_p.tolist())]
        children.sort(key=lambda child: child[0], reverse=True)
        kept = children[:beam_size]
        complete += [child for child in kept if child[1][-1] == eos]
        beam = [child for child in kept if child[1][-1] != eos]
        if not beam:
            break
    return torch.tensor(max(complete, key=lambda child: child[0])[1])


wrong("[BOS] not counted in max_len", "range(max_len - 1)", "range(max_len)")


@right
def greedy(model, source_ids, max_len):
    c, memory, B = model.config, model.encode(source_ids), len(source_ids)
    target = torch.full((B, max_len), c.pad_id)
    target[:, 0] = c.bos_id
    ended = torch.zeros(B, dtype=torch.bool)
    for t in range(1, max_len):
        word = model.decode(target[:, :t], memory, source_ids)[:, -1].argmax(dim=-1)
        word[ended] = c.pad_id
        target[:, t] = word
        ended |= word == c.eos_id
        if ended.all():
            break
    return target


wrong("fills up with eos", "word[ended] = c.pad_id", "word[ended] = c.eos_id")


@right
def beam_step(scores, log_probabilities, beam_size):
    V = log_probabilities.shape[1]
    total = scores[:, None] + log_probabilities
    best = total.flatten().topk(beam_size).indices
    return best // V, best % V


wrong("scores along the words", "scores[:, None]", "scores[None, :]")


@right
def draw(logits, temperature, top_p, number):
    p, ids = (logits / temperature).softmax(-1).sort(descending=True)
    kept = p[p.cumsum(-1) - p < top_p]
    ends = (kept / kept.sum()).cumsum(-1)
    place = (ends <= number).sum()
    return int(ids[place.clamp(max=len(kept) - 1)])


wrong("one stretch too far", "(ends <= number).sum()", "(ends <= number).sum() + 1")


@right
def search(next_log_probabilities, bos, eos, beam_size, max_len):
    beam, complete = [(0.0, [bos])], []
    for _ in range(max_len - 1):
        children = []
        for score, ids in beam:
            for word, log_p in enumerate(next_log_probabilities(ids).tolist()):
                children.append((score + log_p, ids + [word]))
        children.sort(key=lambda child: child[0], reverse=True)
        children = children[:beam_size]
        complete += [child for child in children if child[1][-1] == eos]
        beam = [child for child in children if child[1][-1] != eos]
        if not beam:
            break
    return torch.tensor(max(complete)[1])


wrong("best of all, finished or not", "max(complete)", "max(complete + beam)")


@right
def rescored(log_probabilities, lengths, alpha):
    return log_probabilities * ((lengths + 5) / 6) ** (-alpha)


wrong(
    "multiplies by the penalty instead of dividing",
    "lengths + 5) / 6) ** (-alpha)",
    "5 + lengths) / 6) ** alpha",
)
