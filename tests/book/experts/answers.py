"""Answers to the exercises of book/experts.ipynb."""

import torch

from book.experts.checks import has_room, read_narrow, switch_loss
from tests.book.answers import right, wrong

# The loss that balances


@right(switch_loss)
def expert_by_expert(probabilities, chosen):
    count = probabilities.shape[1]
    shares = [(chosen == i).float().mean() * probabilities[:, i].mean() for i in range(count)]
    return count * sum(shares)


@right(switch_loss)
def with_one_hot(probabilities, chosen):
    used = torch.nn.functional.one_hot(chosen, probabilities.shape[1]).double()
    return (used.mean(0) @ probabilities.double().mean(0) * probabilities.shape[1]).item()


@wrong(switch_loss, "one expert has all tokens and all probability")
def over_the_used_experts(probabilities, chosen):
    used = chosen.unique()
    load = torch.stack([(chosen == i).float().mean() for i in used])
    return len(used) * (load * probabilities.mean(0)[used]).sum()


# Who finds room


@right(has_room)
def by_counting(chosen, most):
    counts, kept = {}, []
    for expert in chosen.tolist():
        counts[expert] = counts.get(expert, 0) + 1
        kept.append(counts[expert] <= most)
    return kept


@right(has_room)
def with_cumsum(chosen, most):
    same = torch.nn.functional.one_hot(chosen)
    return (same.cumsum(0) * same).sum(1) <= most


# A narrow cache


@right(read_narrow)
def keys_made_again(query, kept, up_k, up_v):
    keys, values = kept @ up_k.T, kept @ up_v.T
    return (keys @ query / query.numel() ** 0.5).softmax(0) @ values


@right(read_narrow)
def token_by_token(query, kept, up_k, up_v):
    narrow = query @ up_k
    scores = [(narrow @ token) / len(query) ** 0.5 for token in kept]
    weights = [(score - max(scores)).exp() for score in scores]
    read = sum(w * token for w, token in zip(weights, kept, strict=True)) / sum(weights)
    return (up_v @ read).tolist()
