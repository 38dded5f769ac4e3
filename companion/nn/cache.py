"""What an attention layer remembers: keys and values of the tokens that it has seen."""

import copy
import sys

import torch

from companion.validation import require_positive


class KVCache:
    """Keys and values of the tokens that one attention layer has seen, so that each is made once.

    Left to itself it grows with the text. With a capacity its tensors have their full size from the
    first token on and never move, and nothing that a step does depends on how full it is. So one
    compiled step, or one CUDA graph, serves all tokens: `generate` runs a compiled model over such
    caches. What is written in place has no gradient: torch refuses a backward pass through an
    earlier step. To continue one text in two ways, copy.deepcopy the cache.

    >>> import torch
    >>> from companion.nn import KVCache, MultiHeadAttention
    >>> layer, cache, x = MultiHeadAttention(12, 3), KVCache(), torch.randn(1, 5, 12)
    >>> read, _ = layer(x[:, :4], is_causal=True, cache=cache)
    >>> step, _ = layer(x[:, 4:], is_causal=True, cache=cache)
    >>> whole, _ = layer(x, is_causal=True)
    >>> torch.allclose(torch.cat([read, step], dim=1), whole, atol=1e-5), cache.length
    (True, 5)

    Args:
        capacity: number of tokens that there is room for; None for any number.

    Attributes:
        key: (B, num_kv_heads, length, d_k), or None while empty; with a capacity the whole
            (B, num_kv_heads, capacity, d_k), zeros behind the tokens held.
        value: likewise, d_v wide.
        is_memory: whether these are the keys and values of a cross-attention, which never grow.
    """

    def __init__(self, capacity: int | None = None) -> None:
        if capacity is not None:
            require_positive(capacity=capacity)
        self.capacity, self.is_memory = capacity, False
        self.key: torch.Tensor | None = None
        self.value: torch.Tensor | None = None
        self._held: torch.Tensor | None = None  # with a capacity: the number of tokens
        self._memory: KVCache | None = None

    @property
    def length(self) -> int | torch.Tensor:
        """Number of tokens held: an int, or with a capacity a tensor (), which no GPU waits for."""
        if self.key is None:
            return 0
        return self.key.shape[-2] if self._held is None else self._held

    @property
    def memory(self) -> "KVCache":
        """The cache of the cross-attention, where this one is a decoder block's."""
        if self._memory is None:
            self._memory = KVCache()
        return self._memory

    def __deepcopy__(self, memo: dict) -> "KVCache":
        """Clone the tensors, since torch deep-copies none that a gradient flows through."""
        twin = copy.copy(self)
        for name, held in vars(self).items():
            own = held.clone() if isinstance(held, torch.Tensor) else copy.deepcopy(held, memo)
            setattr(twin, name, own)
        return twin

    def num_keys(self, T: int) -> int:
        """How many keys T new tokens attend to: all tokens so far, or the whole capacity."""
        return self.length + T if self.capacity is None else self.capacity

    def append(self, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Add keys (B, H, T, d_k) and values of new tokens; return those of all tokens so far.

        Raises:
            ValueError: the cache is another layer's or another batch's, holds a memory, or is too
                small (seen on the CPU, outside compiled code; elsewhere torch's indexing stops).
        """
        if self.is_memory:
            raise ValueError("cache is a cross-attention's; self-attention needs its own KVCache()")
        if self.key is not None:
            self._require_sizes(*key.shape[:2], key.shape[-1], value.shape[-1])
        if self.capacity is not None:
            self._write(key, value)
        elif self.key is None:
            self.key, self.value = key, value
        else:
            self.key = torch.cat([self.key, key], dim=-2)
            self.value = torch.cat([self.value, value], dim=-2)
        return self.key, self.value

    def visible(self, T: int, *, is_causal: bool, window: int | None = None) -> torch.Tensor:
        """With a capacity: which keys the last T tokens may attend to, boolean (T, capacity)."""
        at = torch.arange(self.capacity, device=self.key.device).expand(T, -1)
        query_at = self.length - T + torch.arange(T, device=self.key.device)[:, None]
        seen = at <= (query_at if is_causal else self.length - 1)
        return seen if window is None or not is_causal else seen & (at > query_at - window)

    def select(self, rows: torch.Tensor) -> None:
        """Keep these rows of the batch, in this order; a row may be taken more than once.

        `memory` stays as it is, since the beginnings of a beam share theirs.
        """
        key, value = self.key[rows], self.value[rows]
        if self.capacity is not None and key.shape == self.key.shape:
            self.key.copy_(key), self.value.copy_(value)
        else:
            self.key, self.value = key, value

    def hold(self, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Take in keys and values of a memory, which is complete."""
        self.key, self.value, self.is_memory = key, value, True
        return key, value

    def held_memory(self, S: int, *sizes: int) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Keys and values of a memory of S tokens, made by an earlier call; None at the first.

        Raises:
            ValueError: the cache has a capacity, or is self-attention's, or another memory's.
        """
        if self.capacity is not None:
            raise ValueError(
                "the cache of a memory is full after one call and has no capacity, got one of "
                f"{self.capacity}; start with KVCache()"
            )
        if self.key is None:
            return None
        if not self.is_memory:
            raise ValueError(
                "the cache is one of self-attention, this call is cross-attention; "
                "give it its own KVCache()"
            )
        self._require_sizes(*sizes)
        if (held := self.key.shape[-2]) != S:
            raise ValueError(
                f"the cache holds a memory of length {held}, but key has length {S}; "
                "start a new KVCache() for each memory"
            )
        return self.key, self.value

    def _require_sizes(self, *expected: int) -> None:
        """Raise unless what is held has this (batch, num_kv_heads, d_k, d_v)."""
        found = (*self.key.shape[:2], self.key.shape[-1], self.value.shape[-1])
        if found != expected:
            raise ValueError(
                f"the cache holds (batch, num_kv_heads, d_k, d_v) = {found}, but this call "
                f"needs {expected}; start a new KVCache() for each layer and each batch"
            )

    def _write(self, key: torch.Tensor, value: torch.Tensor) -> None:
        """Put keys and values at their places in the tensors of fixed size."""
        T = key.shape[-2]
        if self.key is None:
            self.key, self.value = (
                x.new_zeros(*x.shape[:-2], self.capacity, x.shape[-1]) for x in (key, value)
            )
            self._held = torch.zeros((), dtype=torch.int64, device=key.device)
            if "torch._dynamo" in sys.modules and not torch.compiler.is_compiling():
                # A CUDA graph of torch.compile writes only to inputs that are known not to move.
                for held in (self.key, self.value, self._held):
                    torch._dynamo.mark_static_address(held, guard=False)
        if not torch.compiler.is_compiling():
            if key.device.type == "cpu" and self._held + T > self.capacity:
                raise ValueError(
                    f"the cache has room for {self.capacity} tokens and holds {int(self._held)}: "
                    f"{T} more do not fit; start with a larger KVCache(capacity=...)"
                )
            if self.key.is_inference() and not torch.is_inference_mode_enabled():
                self.key, self.value, self._held = (
                    x.clone() for x in (self.key, self.value, self._held)
                )
        at = self._held + torch.arange(T, device=key.device)
        self.key.index_copy_(-2, at, key)
        self.value.index_copy_(-2, at, value)
        self._held.add_(T)
