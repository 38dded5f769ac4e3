"""Answers by somebody who had not read the checks."""

import torch

from tests.book.unseen import answers_to

right, wrong = answers_to("who_copies")


@right
def looks_at(ids):
    last, out = {}, []
    for t, token in enumerate(ids):
        out.append(last.get(token, -2) + 1)
        last[token] = t
    return out


wrong("the copy itself", "last.get(token, -2) + 1", "last.get(token, -1)")
wrong(
    "itself counts as a copy",
    "        out.append(last.get(token, -2) + 1)\n        last[token] = t",
    "        last[token] = t\n        out.append(last.get(token, -2) + 1)",
)
wrong("the one before the copy", "last.get(token, -2) + 1", "max(last.get(token, 0) - 1, -1)")


@right
def induction_scores(weights, period):
    B, H, T, _ = weights.shape
    score = [
        sum(weights[:, h, t, t - period + 1].sum() for t in range(period, T)) for h in range(H)
    ]
    return torch.stack(score) / (B * (T - period))


wrong("the copy itself", "t - period + 1", "t - period")
wrong(
    "first text only", "weights[:, h, t", "weights[:1, h, t", "(B * (T - period))", "(T - period)"
)
wrong("sum", " / (B * (T - period))", "")
wrong("last query only", "range(period, T)", "range(T - 1, T)", "(B * (T - period))", "B")


@right
def costs_of_silence(layer, x, loss):
    def run(head):
        def hook(module, args):
            y = args[0].clone()
            if head is not None:
                y[..., head * layer.d_v : (head + 1) * layer.d_v] = 0
            return (y,)

        handle = layer.out_proj.register_forward_pre_hook(hook)
        try:
            return loss(layer(x, is_causal=True)[0])
        finally:
            handle.remove()

    whole = run(None)
    return torch.stack([torch.as_tensor(run(h) - whole) for h in range(layer.num_heads)])


wrong(
    "the width of a key",
    "head * layer.d_v : (head + 1) * layer.d_v",
    "head * layer.d_k : (head + 1) * layer.d_k",
)
wrong(
    "interleaved heads",
    "y[..., head * layer.d_v : (head + 1) * layer.d_v] = 0",
    "y[..., head :: layer.num_heads] = 0",
)
wrong("hook stays", "            handle.remove()", "            pass")
wrong("zeroes the weights for good", lambda layer, x, loss: _zeroed(layer, x, loss))
wrong(
    "mean of the head instead of zero",
    "layer.d_v] = 0",
    "layer.d_v] = y[..., head * layer.d_v:(head + 1) * layer.d_v].mean()",
)


def _zeroed(layer, x, loss):
    with torch.no_grad():
        whole, out = loss(layer(x, is_causal=True)[0]), []
        for h in range(layer.num_heads):
            w = layer.out_proj.weight[:, h * layer.d_v : (h + 1) * layer.d_v]
            old = w.clone()
            w.zero_()
            out.append(torch.as_tensor(loss(layer(x, is_causal=True)[0]) - whole))
            if h < layer.num_heads - 1:
                w.copy_(old)
    return torch.stack(out)


@right
def looks_at(ids):
    last, result = {}, []
    for t, token in enumerate(ids):
        result.append(last[token] + 1 if token in last else -1)
        last[token] = t
    return result


wrong("the token, not its place", "last[token] + 1 if", "ids[last[token] + 1] if")


@right
def induction_scores(weights, period):
    B, H, T, _ = weights.shape
    scores = torch.zeros(H)
    for h in range(H):
        found = [weights[:, h, t, t - period + 1] for t in range(period, T)]
        scores[h] = torch.stack(found).mean()
    return scores


wrong("divided by all tokens", "torch.stack(found).mean()", "torch.stack(found).sum() / (B * T)")


@right
def costs_of_silence(layer, x, loss):
    with torch.no_grad():
        whole = loss(layer(x, is_causal=True)[0])
        costs = []
        for head in range(layer.num_heads):
            own = slice(head * layer.d_v, (head + 1) * layer.d_v)

            def silence(module, args, own=own):
                joined = args[0].clone()
                joined[..., own] = 0
                return (joined,)

            handle = layer.out_proj.register_forward_pre_hook(silence)
            without = loss(layer(x, is_causal=True)[0])
            handle.remove()
            costs.append(float(without) - float(whole))
    return torch.tensor(costs)


wrong("not causal", "layer(x, is_causal=True)", "layer(x)")


wrong(
    "every num_heads-th number",
    "slice(head * layer.d_v, (head + 1) * layer.d_v)",
    "slice(head, None, layer.num_heads)",
)


@right
def looks_at(ids):
    last, result = {}, []
    for t, token in enumerate(ids):
        result.append(last.get(token, -2) + 1)
        last[token] = t
    return result


wrong(
    "the token that followed, not its position",
    "last.get(token, -2) + 1",
    "ids[last[token] + 1] if token in last else -1",
)


@right
def induction_scores(weights, period):
    T = weights.shape[-1]
    picked = [weights[:, :, t, t - period + 1] for t in range(period, T)]
    return torch.stack(picked).mean(dim=(0, 1))


wrong("sum over the tokens", ".mean(dim=(0, 1))", ".sum(dim=0).mean(dim=0)")


@right
@torch.no_grad()
def costs_of_silence(layer, x, loss):
    whole = float(loss(layer(x, is_causal=True)[0]))
    width, costs = layer.d_v, []
    for head in range(layer.num_heads):

        def silence(module, inputs, head=head):
            heads = inputs[0].clone()
            heads[..., head * width : (head + 1) * width] = 0
            return (heads,)

        with layer.out_proj.register_forward_pre_hook(silence):
            costs.append(float(loss(layer(x, is_causal=True)[0])) - whole)
    return torch.tensor(costs)


wrong("the sign: loss with all less the loss without", "- whole)", "* -1 + whole)")
wrong("all heads up to this one", "head * width : (head + 1) * width]", ": (head + 1) * width]")


@right
def looks_at(ids):
    last, result = {}, []
    for t, token in enumerate(ids):
        result.append(last[token] + 1 if token in last else -1)
        last[token] = t
    return result


wrong("None where there is none", "else -1", "else None")


@right
def induction_scores(weights, period):
    query = torch.arange(period, weights.shape[-1])
    return weights[:, :, query, query - period + 1].mean(dim=(0, 2))


wrong("largest weight", "mean", "amax")
wrong("for each text", "(0, 2)", "2")


@right
def induction_scores(weights, period):
    B, H, T, _ = weights.shape
    total, count = (torch.zeros(H, dtype=weights.dtype), 0)
    for t in range(period, T):
        total = total + weights[:, :, t, t - period + 1].sum(dim=0)
        count += B
    return total / count


wrong("looks at the copy itself", "period + 1", "period")


@right
def costs_of_silence(layer, x, loss):
    H, width = (layer.num_heads, layer.d_v)

    def run():
        return loss(layer(x, is_causal=True)[0])

    whole, costs = (run(), [])
    for head in range(H):
        keep = torch.ones(H * width, dtype=x.dtype, device=x.device)
        keep[head * width : (head + 1) * width] = 0
        handle = layer.out_proj.register_forward_pre_hook(lambda module, args: (args[0] * keep,))
        try:
            costs.append(run() - whole)
        finally:
            handle.remove()
    return torch.stack([torch.as_tensor(cost) for cost in costs])


wrong("loss with all heads less that without one", "run() - whole", "whole - run()")
