"""BERT: a stack of blocks in which every token sees every other.

Shapes: B batch, T tokens, H heads.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import torch
from torch import Tensor, nn

from companion.models.config import (
    ModelConfig,
    WithWeights,
    built_from,
    headed,
    initialise,
    start_normal,
    typed_as,
)
from companion.nn import EncoderBlock, LearnedPositions, TokenEmbedding, padding_mask
from companion.nn.blocks import ACTIVATIONS, make_dropout, run_blocks
from companion.validation import (
    check_mask_of_model,
    require_choice,
    require_in_range,
    require_positive,
    require_tokens,
)

UNCASED = {"vocab_size": 30522, "max_len": 512}


@dataclass(frozen=True, kw_only=True)
class BERTConfig(ModelConfig):
    """Configuration of a `BERT`: the fields of `ModelConfig`, with BERT's defaults, and these.

    Args:
        pad_id: as there; None if no token is padding.
        type_vocab_size: number of token types (first and second sentence).
        mlm_head: whether `forward` ends in logits over the vocabulary.
    """

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "bert-base": UNCASED | {"d_model": 768, "num_layers": 12, "num_heads": 12, "d_ff": 3072},
        "bert-large": UNCASED | {"d_model": 1024, "num_layers": 24, "num_heads": 16, "d_ff": 4096},
        # sentence-transformers/all-MiniLM-L6-v2
        "minilm-l6": UNCASED
        | {"d_model": 384, "num_layers": 6, "num_heads": 12, "d_ff": 1536, "mlm_head": False},
    }

    pad_id: int | None = 0
    norm_eps: float = 1e-12
    activation: str = "gelu"
    type_vocab_size: int = 2
    mlm_head: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(type_vocab_size=self.type_vocab_size)
        require_choice("mlm_head", self.mlm_head, (True, False))

    def _require_token(self, name: str) -> None:
        if self.pad_id is not None:
            super()._require_token(name)


@built_from(BERTConfig)
class BERT(nn.Module):
    """Summed and normed embeddings, blocks, and a head that guesses masked tokens.

    Args:
        config: a `BERTConfig`.

    Source: Devlin et al. 2019, section 3 (https://arxiv.org/abs/1810.04805).
    """

    def __init__(self, config: BERTConfig) -> None:
        super().__init__()
        self.config = config
        self.token_embedding = TokenEmbedding(config.vocab_size, config.d_model, scale=False)
        self.positions = LearnedPositions(config.max_len, config.d_model)
        self.type_embedding = nn.Embedding(config.type_vocab_size, config.d_model)
        self.embedding_norm = config.norm_layer()
        self.dropout = make_dropout(config.dropout)
        depth = range(config.num_layers)
        self.blocks = nn.ModuleList(EncoderBlock(**config.block()) for _ in depth)
        self.final_norm = config.final_norm()
        self.head = MLMHead(config, self.token_embedding) if config.mlm_head else nn.Identity()
        initialise(self, start_normal)

    @overload
    def encode(
        self,
        token_ids: Tensor,
        mask: Tensor | None = None,
        token_types: Tensor | None = None,
        *,
        need_weights: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def encode(
        self,
        token_ids: Tensor,
        mask: Tensor | None = None,
        token_types: Tensor | None = None,
        *,
        need_weights: Literal[True],
    ) -> WithWeights: ...
    def encode(self, token_ids, mask=None, token_types=None, *, need_weights=False):
        """Return hidden states (B, T, d_model).

        Args:
            token_ids: integers (B, T).
            mask: boolean (T, T), or four dimensions that broadcast to (B, H, T, T); True means "may
                attend". When left out, every token sees all tokens but those equal to pad_id.
            token_types: integers (B, T), all 0 when left out.
            need_weights: also return a list over blocks of weights (B, H, T, T).

        Raises:
            ValueError: shapes do not fit, an id is out of range (checked on the CPU only), or there
                are more than max_len tokens.
            TypeError: the ids are not integers, or the mask is not boolean.
        """
        require_tokens("token_ids", token_ids)
        B, T = token_ids.shape
        check_mask_of_model(mask, (B, self.config.num_heads, T, T))
        if mask is None and self.config.pad_id is not None:
            # Padding then moves nothing:
            # book/transformer_block/transformer_block.ipynb#cell-claim-padding
            mask = padding_mask(token_ids, self.config.pad_id)
        x = self._embed(token_ids, token_types)
        x, weights = run_blocks(self.blocks, x, mask, need_weights=need_weights)
        hidden = self.final_norm(x)
        return (hidden, weights) if need_weights else hidden

    @typed_as(encode)
    def forward(self, token_ids, mask=None, token_types=None, **options):
        """Return logits (B, T, vocab_size), or `encode`'s hidden states without an MLM head.

        Args and errors are those of `encode`.
        """
        return headed(self.head, self.encode(token_ids, mask, token_types, **options))

    if TYPE_CHECKING:
        __call__ = forward

    def _embed(self, token_ids: Tensor, token_types: Tensor | None) -> Tensor:
        if token_types is None:
            token_types = torch.zeros_like(token_ids)
        else:
            remedy = "build the model with a larger type_vocab_size"
            require_in_range("token_types", token_types, self.config.type_vocab_size, remedy)
        if (token_types.shape, token_types.device) != (token_ids.shape, token_ids.device):
            raise ValueError(
                "token_types must have the shape and device of token_ids, got "
                f"{tuple(token_types.shape)} on {token_types.device} and "
                f"{tuple(token_ids.shape)} on {token_ids.device}"
            )
        x = self.token_embedding(token_ids) + self.type_embedding(token_types)
        return self.dropout(self.embedding_norm(self.positions(x)))


class MLMHead(nn.Module):
    """From hidden states to logits: one more layer, then the token embedding as output matrix."""

    def __init__(self, config: BERTConfig, token_embedding: TokenEmbedding) -> None:
        super().__init__()
        self.dense = nn.Linear(config.d_model, config.d_model, bias=config.bias)
        self.activation = ACTIVATIONS[config.activation]
        self.norm = config.norm_layer()
        self.decoder = nn.Linear(config.d_model, config.vocab_size)
        self.decoder.weight = token_embedding.weight

    def forward(self, hidden: Tensor) -> Tensor:
        """(B, T, d_model) -> (B, T, vocab_size)."""
        return self.decoder(self.norm(self.activation(self.dense(hidden))))
