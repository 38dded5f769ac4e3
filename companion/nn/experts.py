"""A feed-forward layer in parts: a router gives each token a few of them."""

import torch
from torch import Tensor, nn

from companion.nn.blocks import FeedForward
from companion.validation import require_features, require_positive, require_positive_number


class Experts(nn.Module):
    """Feed-forward layers of which a router gives each token k, for a block's `feed_forward`.

    A token's output is the sum of what its k experts say, each times the probability that the
    router gives it; with k above 1 these are divided by their sum. Only chosen experts compute.

    `load` (num_experts,) holds the share of the last call's choices that each expert got, and
    `balance_loss` is num_experts times the sum of load x mean probability: 1 where both are even,
    num_experts where one expert has all. Its gradient goes through the probabilities. Add a
    hundredth of it to the loss, or call `update_bias` after each step.

    Args:
        d_model: width of input and output.
        d_ff: width of each expert's hidden layer.
        num_experts: how many there are.
        k: how many a token gets.
        activation, bias: of each expert, see `FeedForward`.

    Source: Shazeer et al. 2017 (https://arxiv.org/abs/1701.06538); k = 1 and the loss: Fedus, Zoph
    and Shazeer 2021, section 2.2 (https://arxiv.org/abs/2101.03961).
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        num_experts: int,
        k: int = 1,
        *,
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        require_positive(num_experts=num_experts, k=k)
        if k > num_experts:
            raise ValueError(
                f"k must be at most num_experts, since a token gets k different experts; got "
                f"{k} of {num_experts}"
            )
        self.d_model, self.k = d_model, k
        self.experts = nn.ModuleList(
            FeedForward(d_model, d_ff, activation=activation, bias=bias) for _ in range(num_experts)
        )
        self.router = nn.Linear(d_model, num_experts, bias=False)
        self.register_buffer("choice_bias", torch.zeros(num_experts))
        even = torch.full((num_experts,), 1 / num_experts)
        self.register_buffer("load", even, persistent=False)
        self.balance_loss: Tensor | None = None

    def route(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The probabilities (..., num_experts) of all experts for x, and the k chosen (..., k).

        Chosen are the largest sums of probability and `choice_bias`.
        """
        dtype = torch.promote_types(x.dtype, torch.float32)
        probabilities = self.router(x).softmax(-1, dtype=dtype)
        return probabilities, (probabilities + self.choice_bias).topk(self.k).indices

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, d_model) -> (B, T, d_model)."""
        require_features("x", x, "(B, T, d_model)", self.d_model)
        tokens = x.flatten(0, 1)
        probabilities, chosen = self.route(tokens)
        weights = probabilities.gather(1, chosen)
        if self.k > 1:
            weights = weights / weights.sum(1, keepdim=True)
        counts = torch.bincount(chosen.flatten(), minlength=len(self.experts))
        order = chosen.flatten().argsort()  # by expert
        rows = order // self.k
        parts = zip(self.experts, tokens[rows].split(counts.tolist()), strict=True)
        said = torch.cat([expert(part[None])[0] for expert, part in parts])
        said = (said * weights.flatten()[order, None]).to(x.dtype)
        some, share = max(len(tokens), 1), probabilities.sum(0)
        self.load = counts.to(probabilities.dtype) / (some * self.k)
        self.balance_loss = len(counts) * (self.load * share / some).sum()
        return torch.zeros_like(tokens).index_add(0, rows, said).view_as(x)

    def update_bias(self, push: float) -> None:
        """Raise by `push` the `choice_bias` of experts with less than an even load, lower the rest.

        It decides who is chosen, not with what weight. Call it after each step of training.

        Source: Wang et al. 2024 (https://arxiv.org/abs/2408.15664).
        """
        require_positive_number(push=push)
        missing = 1 / len(self.experts) - self.load
        self.choice_bias += push * missing.sign().to(self.choice_bias.dtype)

    def __getstate__(self) -> dict:
        """Without the loss of the last call: a copy or a file has no part in its graph."""
        return self.__dict__ | {"balance_loss": None}
