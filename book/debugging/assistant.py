"""An assistant on real weights: MiniLM finds the note, SmolLM2 answers from it, as they should be.

`Debug this run: real models` runs this program with at most one line of it changed.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

BLOCKS, HEADS, KEY_HEADS = 30, 9, 3
ROPE_BASE, EPSILON = 100_000, 1e-5
BITS, GROUP = 6, 32  # of a weight; how many weights share a scale


def rounded(matrix: Tensor) -> Tensor:
    """The matrix in BITS bits, with one scale for each GROUP weights of a row."""
    groups = matrix.view(-1, GROUP)
    largest = groups.abs().amax(dim=1, keepdim=True).clamp_min(1e-12)
    scale = largest / (2 ** (BITS - 1) - 1)
    return (groups / scale).round_().mul_(scale).view_as(matrix)


def normed(x: Tensor, gains: Tensor) -> Tensor:
    """RMSNorm: every vector scaled to a root mean square of 1, then by learned gains."""
    return gains * x / (x.square().mean(dim=-1, keepdim=True) + EPSILON).sqrt()


def rotated(x: Tensor, places: Tensor) -> Tensor:
    """Queries or keys (heads, T, d_k), turned pair by pair by the angles of their places (T,)."""
    d_k = x.shape[-1]
    angles = places[:, None] * ROPE_BASE ** (-torch.arange(0, d_k, 2) / d_k)
    one, two = x[..., ::2], x[..., 1::2]
    turned = one * angles.cos() - two * angles.sin(), one * angles.sin() + two * angles.cos()
    return torch.cat(turned, dim=-1)


class Writer:
    """SmolLM2, from the weights that were published; those of its feed-forward networks rounded."""

    def __init__(self, published: dict[str, Tensor]):
        self.weights = {
            name: rounded(weight) if "feed_forward" in name else weight
            for name, weight in published.items()
        }
        words = self.weights["token_embedding.weight"]
        self.words, self.head = words, words  # they are tied: the file has no head of its own

    def block(self, x: Tensor, number: int, cache: dict) -> Tensor:
        """The stream (T, d) after one more block, whose keys and values the cache keeps."""
        own = {name: self.weights[f"blocks.{number}.{name}.weight"] for name in NAMES}
        read = normed(x, own["norm1"])
        q, k, v = (read @ own[f"self_attention.{name}_proj"].T for name in "qkv")
        q, k, v = (part.unflatten(1, (-1, 64)).transpose(0, 1) for part in (q, k, v))
        earlier = cache.get(number, (k[:, :0], v[:, :0]))
        seen = torch.arange(earlier[0].shape[1] + len(x))
        places = seen[-len(x) :]
        q, k = rotated(q, places), rotated(k, places)
        k, v = cache[number] = [torch.cat(both, 1) for both in zip(earlier, (k, v), strict=True)]
        k, v = (part.repeat_interleave(HEADS // KEY_HEADS, dim=0) for part in (k, v))
        scores = (q @ k.mT / math.sqrt(64)).masked_fill(places[:, None] < seen, -math.inf)
        attended = (scores.softmax(dim=-1) @ v).transpose(0, 1).flatten(1)
        x = x + attended @ own["self_attention.out_proj"].T
        read = normed(x, own["norm2"])
        up, gate = (read @ own[f"feed_forward.{name}_proj"].T for name in ("up", "gate"))
        return x + (F.silu(gate) * up) @ own["feed_forward.down_proj"].T

    def read_out(self, x: Tensor) -> Tensor:
        """Logits (T, words) of the last block's stream, or (words,) of one place of it."""
        x = normed(x, self.weights["final_norm.weight"])
        return x @ self.head.T

    def stream(self, ids: list[int], cache: dict) -> Tensor:
        """The last block's stream (T, d) of the tokens that follow those in the cache."""
        x = self.words[torch.tensor(ids)]
        for number in range(BLOCKS):
            x = self.block(x, number, cache)
        return x

    def logits(self, ids: list[int]) -> Tensor:
        """What it expects after each token (T, words)."""
        return self.read_out(self.stream(ids, {}))

    def next_logits(self, ids: list[int], cache: dict) -> Tensor:
        """What it expects after the last token (words,), which is all that writing needs."""
        return self.read_out(self.stream(ids, cache)[-1])


NAMES = (
    *("norm1", "norm2", "feed_forward.up_proj", "feed_forward.gate_proj", "feed_forward.down_proj"),
    *(f"self_attention.{name}_proj" for name in ("q", "k", "v", "out")),
)


def vectors(encoder, tokenizer, sentences: list[str]) -> Tensor:
    """Each sentence's vector (sentences, d), of length 1: the mean over its tokens, by MiniLM."""
    rows = [tokenizer.encode(sentence) for sentence in sentences]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    real = torch.arange(longest) < torch.tensor([len(row) for row in rows])[:, None]
    hidden = encoder(ids)  # its attention leaves padding out
    mean = (hidden * real[..., None]).sum(dim=1) / real.sum(dim=1, keepdim=True)
    return F.normalize(mean, dim=-1)


def prompt(tokenizer, note: str, question: str) -> list[int]:
    """What SmolLM2 is given to read."""
    asked = f"{note}\n{question}"
    return tokenizer.chat([{"role": "user", "content": asked}])


def write(expects, ids: list[int], end: int, longest: int) -> list[int]:
    """What follows `ids`, the likeliest token each time; `expects` gives logits (words,)."""
    written, cache = [], {}
    while len(written) < longest and end not in written:
        written.append(expects(written[-1:] or ids, cache).argmax().item())
    return written
