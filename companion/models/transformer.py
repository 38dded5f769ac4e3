"""The original Transformer: an encoder reads the source, a decoder writes the target.

Shapes: B batch, S source tokens, T target tokens, H heads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from torch import Tensor, nn

from companion.models.config import ModelConfig, WithWeights, built_from, initialise
from companion.nn import (
    DecoderBlock,
    EncoderBlock,
    KVCache,
    SinusoidalPositions,
    TokenEmbedding,
    padding_mask,
)
from companion.nn.blocks import make_dropout, run_blocks
from companion.nn.masks import causal
from companion.validation import require_caches, require_even, require_features, require_tokens

# About 37,000 tokens shared by English and German (section 5.1); max_len is ours.
PAPER = {"vocab_size": 37000, "num_layers": 6, "max_len": 512}


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(ModelConfig):
    """Configuration of a `Transformer`: the fields of `ModelConfig`, and these.

    Args:
        max_len: of a target that `greedy_decode` or `beam_search` writes; `forward` has no limit.
        bos_id: the token that a target starts with.
        eos_id: the token that ends a target.
    """

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "base": PAPER | {"d_model": 512, "num_heads": 8, "d_ff": 2048, "dropout": 0.1},
        "big": PAPER | {"d_model": 1024, "num_heads": 16, "d_ff": 4096, "dropout": 0.3},
    }

    bos_id: int = 1
    eos_id: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        require_even(d_model=self.d_model)
        for name in ("bos_id", "eos_id"):
            self._require_token(name)
            if getattr(self, name) == self.pad_id:
                raise ValueError(
                    f"{name} and pad_id are both {self.pad_id}, but padding is masked; "
                    "give them different tokens"
                )


@built_from(TransformerConfig)
class Transformer(nn.Module):
    """Encoder and decoder; one matrix embeds source and target and makes the logits.

    Args:
        config: a `TransformerConfig`.

    Source: Vaswani et al. 2017, figure 1 and section 3 (https://arxiv.org/abs/1706.03762).
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.token_embedding = TokenEmbedding(config.vocab_size, config.d_model)
        self.positions = SinusoidalPositions(config.d_model)
        self.dropout = make_dropout(config.dropout)
        depth = range(config.num_layers)
        self.encoder_blocks = nn.ModuleList(EncoderBlock(**config.block()) for _ in depth)
        self.decoder_blocks = nn.ModuleList(DecoderBlock(**config.block()) for _ in depth)
        self.encoder_norm, self.decoder_norm = config.final_norm(), config.final_norm()
        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.head.weight = self.token_embedding.weight
        for blocks in (self.encoder_blocks, self.decoder_blocks):  # as torch.nn.Transformer starts
            initialise(blocks, nn.init.xavier_uniform_)

    @overload
    def forward(
        self, source_ids: Tensor, target_ids: Tensor, *, need_weights: Literal[False] = False
    ) -> Tensor: ...
    @overload
    def forward(
        self, source_ids: Tensor, target_ids: Tensor, *, need_weights: Literal[True]
    ) -> tuple[Tensor, dict[str, list[Tensor]]]: ...
    def forward(self, source_ids, target_ids, *, need_weights=False):
        """Return logits (B, T, vocab_size); logits[:, t] predicts what follows target_ids[:, t].

        Tokens equal to pad_id are masked, in the source and in the target.

        Args:
            source_ids: integers (B, S).
            target_ids: integers (B, T), the decoder's input: it starts with bos_id.
            need_weights: also return a dict of lists over blocks: "encoder" (B, H, S, S), "decoder"
                (B, H, T, T) and "cross" (B, H, T, S).

        Raises:
            ValueError: shapes do not fit, or an id is out of range (checked on the CPU only).
            TypeError: the ids are not integers.
        """
        if need_weights:
            memory, encoder = self.encode(source_ids, need_weights=True)
            logits, weights = self.decode(target_ids, memory, source_ids, need_weights=True)
            return logits, {"encoder": encoder, **weights}
        return self.decode(target_ids, self.encode(source_ids), source_ids)

    if TYPE_CHECKING:
        __call__ = forward

    @overload
    def encode(self, source_ids: Tensor, *, need_weights: Literal[False] = False) -> Tensor: ...
    @overload
    def encode(self, source_ids: Tensor, *, need_weights: Literal[True]) -> WithWeights: ...
    def encode(self, source_ids, *, need_weights=False):
        """Return memory (B, S, d_model); with `need_weights` also the encoder's list of weights."""
        require_tokens("source_ids", source_ids)
        # Padding then moves no logit: book/full_model/full_model.ipynb#cell-claim-padding
        mask = padding_mask(source_ids, self.config.pad_id)
        x = self.dropout(self.positions(self.token_embedding(source_ids)))
        x, weights = run_blocks(self.encoder_blocks, x, mask, need_weights=need_weights)
        memory = self.encoder_norm(x)
        return (memory, weights) if need_weights else memory

    @overload
    def decode(
        self,
        target_ids: Tensor,
        memory: Tensor,
        source_ids: Tensor,
        *,
        caches: Sequence[KVCache] | None = None,
        need_weights: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def decode(
        self,
        target_ids: Tensor,
        memory: Tensor,
        source_ids: Tensor,
        *,
        caches: Sequence[KVCache] | None = None,
        need_weights: Literal[True],
    ) -> tuple[Tensor, dict[str, list[Tensor]]]: ...
    def decode(self, target_ids, memory, source_ids, *, caches=None, need_weights=False):
        """Return the logits of `forward`, given the encoder's memory (B, S, d_model).

        Args:
            target_ids: integers (B, T), the whole target so far, with caches too.
            memory: what `encode` made of source_ids.
            source_ids: integers (B, S); they tell which of the memory is padding.
            caches: one `KVCache` for each block, filled in place; the tokens that they hold already
                are not computed again, and the logits are those of the others only.
            need_weights: also return a dict of lists over blocks, "decoder" and "cross".

        Raises:
            ValueError: shapes do not fit, an id is out of range (checked on the CPU only), or the
                caches hold more than the target.
            TypeError: the ids are not integers, or the memory is not floating.
        """
        require_tokens("target_ids", target_ids)
        require_tokens("source_ids", source_ids)
        require_features("memory", memory, "(B, S, d_model)", self.config.d_model)
        if memory.shape[:2] != source_ids.shape or target_ids.shape[0] != source_ids.shape[0]:
            raise ValueError(
                "target_ids (B, T), memory (B, S, d_model) and source_ids (B, S) must agree in "
                f"batch and source length, got {tuple(target_ids.shape)}, "
                f"{tuple(memory.shape)} and {tuple(source_ids.shape)}"
            )
        mask = padding_mask(target_ids, self.config.pad_id)
        memory_mask = padding_mask(source_ids, self.config.pad_id)
        require_caches(caches, self.decoder_blocks)
        fixed = [cache.capacity for cache in caches or () if cache.capacity is not None]
        if fixed:
            raise ValueError(
                "the caches of an encoder-decoder grow with the target that it is given, got "
                f"KVCache(capacity={fixed[0]}); start with KVCache()"
            )
        past = caches[0].length if caches else 0
        if past > target_ids.shape[1]:
            raise ValueError(
                f"the caches hold {past} tokens, but target_ids has {target_ids.shape[1]}; "
                "give the whole target so far, not its last token alone"
            )
        T = target_ids.shape[1]
        mask = causal(mask, T - past, T, device=memory.device)
        x = self.dropout(self.positions(self.token_embedding(target_ids[:, past:]), start=past))
        x, weights = run_blocks(
            self.decoder_blocks,
            x,
            memory,
            mask,
            memory_mask,
            is_causal=False,
            caches=caches,
            need_weights=need_weights,
        )
        logits = self.head(self.decoder_norm(x))
        if not need_weights:
            return logits
        decoder, cross = (list(kind) for kind in zip(*weights, strict=True))
        return logits, {"decoder": decoder, "cross": cross}
