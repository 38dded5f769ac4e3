"""What an attention layer remembers: keys and values of the tokens that it has seen."""

import torch

from companion.validation import require_positive


class KVCache:
    """Keys and values of the tokens that one attention layer has seen, so that each is made once.

    Left to itself it grows with the text. With a capacity its tensors have their full size from the
    first token on and never move, and nothing that a step does depends on how full it is: the step
    can be compiled once, or replayed as a CUDA graph. What is written in place has no gradient:
    torch refuses a backward pass through an earlier step.

    Args:
        capacity: number of tokens that there is room for; None for as many as come.

    Attributes:
        key: (B, num_kv_heads, length, d_k), or None while empty; with a capacity the whole
            (B, num_kv_heads, capacity, d_k), zeros behind the tokens held.
        value: likewise, d_v wide.
        closed: whether it holds a memory, complete: the keys and values of a cross-attention.
    """

    def __init__(self, capacity: int | None = None) -> None:
        if capacity is not None:
            require_positive(capacity=capacity)
        self.capacity, self.closed = capacity, False
        self.key: torch.Tensor | None = None
        self.value: torch.Tensor | None = None
        self._held: torch.Tensor | None = None  # with a capacity: the number of tokens
        self._room: tuple[torch.Tensor, torch.Tensor] | None = None  # key and value begin with it
        self._memory: KVCache | None = None

    @property
    def length(self) -> int | torch.Tensor:
        """Number of tokens held: an int; with a capacity a tensor (), so that no GPU must wait."""
        if self.key is None:
            return 0
        return self.key.shape[-2] if self._held is None else self._held

    @property
    def memory(self) -> "KVCache":
        """The cache of the cross-attention, where this one is a decoder block's."""
        if self._memory is None:
            self._memory = KVCache()
        return self._memory

    def append(self, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Add keys (B, H, T, d_k) and values of new tokens; return those of all tokens so far.

        Raises:
            ValueError: the cache holds a memory, or is too small (seen on the CPU, outside compiled
                code; elsewhere torch's own indexing stops).
        """
        if self.closed:
            raise ValueError("the cache holds a memory and takes no more; start a new KVCache()")
        if self.capacity is not None:
            self._write(key, value)
        elif self.key is None:
            self.key, self.value = key, value
        elif torch.is_grad_enabled():
            self.key = torch.cat([self.key, key], dim=-2)
            self.value = torch.cat([self.value, value], dim=-2)
            self._room = None
        else:
            self._extend(key, value)
        return self.key, self.value

    def visible(self, T: int, *, is_causal: bool) -> torch.Tensor:
        """With a capacity: which keys the last T tokens may attend to, boolean (T, capacity)."""
        query_at = self.length - T + torch.arange(T, device=self.key.device)[:, None]
        last = query_at if is_causal else self.length - 1
        return torch.arange(self.capacity, device=self.key.device).expand(T, -1) <= last

    def select(self, rows: torch.Tensor) -> None:
        """Keep these rows of the batch, in this order; a row may be taken more than once.

        `memory` stays as it is, since the beginnings of a beam share theirs.
        """
        key, value = self.key[rows], self.value[rows]
        if self.capacity is not None and key.shape == self.key.shape:
            self.key.copy_(key), self.value.copy_(value)
        elif self._fits(self._room, key, self.length):
            self.key, self.value = self._place(0, key, value)
        else:
            self.key, self.value, self._room = key, value, None

    def _extend(self, key: torch.Tensor, value: torch.Tensor) -> None:
        """Write behind what is held, into the room there or into one of twice the size.

        So a token is copied about once in its life, where torch.cat would copy all of the past.
        """
        start, stop = self.length, self.length + key.shape[-2]
        if not self._fits(self._room, self.key, stop):
            held = self.key, self.value
            self._room = tuple(x.new_empty(*x.shape[:-2], 2 * stop, x.shape[-1]) for x in held)
            self._place(0, *held)
        self.key, self.value = self._place(start, key, value)

    def _place(self, start: int, key: torch.Tensor, value: torch.Tensor) -> list[torch.Tensor]:
        """Write keys and values into the room from `start` on; return all up to their end."""
        stop = start + key.shape[-2]
        for room, new in zip(self._room, (key, value), strict=True):
            room[..., start:stop, :] = new
        return [room[..., :stop, :] for room in self._room]

    @staticmethod
    def _fits(room, key: torch.Tensor, stop: int) -> bool:
        """Whether there is a room of this batch for `stop` tokens that may be written to here."""
        if room is None or room[0].shape[0] != key.shape[0] or room[0].shape[-2] < stop:
            return False
        return torch.is_inference_mode_enabled() or not room[0].is_inference()

    def _write(self, key: torch.Tensor, value: torch.Tensor) -> None:
        """Put keys and values at their places in the tensors of fixed size."""
        T = key.shape[-2]
        if self.key is None:
            self.key, self.value = (
                x.new_zeros(*x.shape[:-2], self.capacity, x.shape[-1]) for x in (key, value)
            )
            self._held = torch.zeros((), dtype=torch.int64, device=key.device)
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
