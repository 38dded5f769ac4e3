"""GPT: a stack of causal blocks that predicts the next token. Llama is one of its configurations.

Shapes: B batch, T tokens, S tokens with those in the cache, H heads.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

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
from companion.nn import (
    EncoderBlock,
    KVCache,
    LearnedPositions,
    RotaryEmbedding,
    RotaryScaling,
    TokenEmbedding,
)
from companion.nn.blocks import make_dropout, run_blocks
from companion.nn.masks import causal
from companion.validation import (
    check_mask_of_model,
    require_caches,
    require_choice,
    require_even,
    require_heads,
    require_positive,
    require_positive_number,
    require_tokens,
)

# GPT-2 has no padding token; 50257 = 50,000 merges + 256 bytes + the end of a text.
GPT2 = {"vocab_size": 50257, "max_len": 1024, "pad_id": None}


@dataclass(frozen=True, kw_only=True)
class GPTConfig(ModelConfig):
    """Configuration of a `GPT`: the fields of `ModelConfig`, with GPT-2's defaults, and these.

    Llama is norm="rms", activation="swiglu", bias=False, positions="rotary", rope_pairing="half",
    tie_weights=False, and fewer num_kv_heads.

    Args:
        pad_id: fills the rows of `generate` after their end; the model itself never looks at it,
            since no token sees what stands to its right. None if no token can be spared (GPT-2):
            rows are then filled with the token that ended them.
        num_kv_heads: number of key and value heads (grouped-query attention); num_heads when None.
        qkv_bias: whether the projections of query, key and value add a bias; as `bias` when None.
        qk_norm: whether an RMSNorm over each head's query and key comes before the rotation.
        sliding_window: how many tokens a token sees, itself included; all before it when None.
        positions: "learned" (at most max_len of them) or "rotary" (no limit).
        rope_base, rope_pairing, rope_scaling: `base`, `pairing` and `scaling` of the
            `RotaryEmbedding`.
        tie_weights: whether the token embedding is the output matrix, too.
    """

    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "gpt2": GPT2 | {"d_model": 768, "num_layers": 12, "num_heads": 12, "d_ff": 3072},
        "gpt2-medium": GPT2 | {"d_model": 1024, "num_layers": 24, "num_heads": 16, "d_ff": 4096},
        "gpt2-large": GPT2 | {"d_model": 1280, "num_layers": 36, "num_heads": 20, "d_ff": 5120},
        "gpt2-xl": GPT2 | {"d_model": 1600, "num_layers": 48, "num_heads": 25, "d_ff": 6400},
    }

    pad_id: int | None = 0
    norm_first: bool = True
    activation: str = "gelu_tanh"
    num_kv_heads: int | None = None
    qkv_bias: bool | None = None
    qk_norm: bool = False
    sliding_window: int | None = None
    positions: str = "learned"
    rope_base: float = 10000.0
    rope_pairing: str = "interleaved"
    rope_scaling: RotaryScaling | None = None
    tie_weights: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_heads(self.d_model, self.num_heads, self.num_kv_heads, self.d_k, self.d_v)
        require_choice("positions", self.positions, ("learned", "rotary"))
        require_choice("tie_weights", self.tie_weights, (True, False))
        require_choice("rope_pairing", self.rope_pairing, ("interleaved", "half"))
        require_choice("qkv_bias", self.qkv_bias, (None, True, False))
        require_choice("qk_norm", self.qk_norm, (True, False))
        if self.sliding_window is not None:
            require_positive(sliding_window=self.sliding_window)
        require_positive_number(rope_base=self.rope_base)
        if self.positions == "rotary":
            require_even(d_k=self.key_width)
        if not isinstance(self.rope_scaling, RotaryScaling | None):
            raise TypeError(
                "rope_scaling must be a RotaryScaling or None, got "
                f"{type(self.rope_scaling).__name__}"
            )

    def _require_token(self, name: str) -> None:
        if self.pad_id is not None:
            super()._require_token(name)

    def block(self) -> dict[str, Any]:
        """The arguments of every `EncoderBlock`."""
        rope = None
        if self.positions == "rotary":
            rope = RotaryEmbedding(
                self.key_width,
                base=self.rope_base,
                pairing=self.rope_pairing,
                scaling=self.rope_scaling,
            )
        names = ("num_kv_heads", "qkv_bias", "qk_norm", "sliding_window")
        return super().block() | {name: getattr(self, name) for name in names} | {"rope": rope}


@built_from(GPTConfig)
class GPT(nn.Module):
    """Embeddings, causal blocks, a last norm (pre-norm only), and the output matrix.

    >>> sizes = {"vocab_size": 11, "d_model": 12, "num_layers": 2, "num_heads": 3, "d_ff": 48}
    >>> model = GPT(GPTConfig(**sizes, max_len=32))  # or GPTConfig.preset("gpt2")
    >>> model(torch.randint(11, (2, 5))).shape  # logits
    torch.Size([2, 5, 11])

    Args:
        config: a `GPTConfig`.

    Source: Radford et al. 2019, section 2.3
    (https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf);
    Llama: Touvron et al. 2023, section 2.2 (https://arxiv.org/abs/2302.13971).
    """

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.token_embedding = TokenEmbedding(config.vocab_size, config.d_model, scale=False)
        block = config.block()
        self.rope, self.positions = block["rope"], None  # one rotation serves all blocks
        if self.rope is None:
            self.positions = LearnedPositions(config.max_len, config.d_model)
        self.dropout = make_dropout(config.dropout)
        self.blocks = nn.ModuleList(EncoderBlock(**block) for _ in range(config.num_layers))
        self.final_norm = config.final_norm()
        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tie_weights:
            self.head.weight = self.token_embedding.weight
        self._initialise()

    def _initialise(self) -> None:
        """Normal; what is added to the residual stream starts smaller, the more often it is."""
        initialise(self, start_normal)
        std = 0.02 / math.sqrt(2 * self.config.num_layers)
        for block in self.blocks:
            nn.init.normal_(block.self_attention.out_proj.weight, std=std)
            nn.init.normal_(block.feed_forward.down_proj.weight, std=std)

    @overload
    def hidden_states(
        self,
        token_ids: Tensor,
        mask: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        caches: Sequence[KVCache] | None = None,
        need_weights: Literal[False] = False,
    ) -> Tensor: ...
    @overload
    def hidden_states(
        self,
        token_ids: Tensor,
        mask: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        caches: Sequence[KVCache] | None = None,
        need_weights: Literal[True],
    ) -> WithWeights: ...
    def hidden_states(
        self, token_ids, mask=None, *, positions=None, caches=None, need_weights=False
    ):
        """Return what the head reads, (B, T, d_model).

        Args:
            token_ids: integers (B, T); with caches, the new tokens only.
            mask: boolean (T, S), or four dimensions that broadcast to (B, H, T, S); True means "may
                attend". No token sees a later one in any case.
            positions: integers (T,) or (B, T); counted on from the caches when left out.
            caches: one `KVCache` for each block, filled in place.
            need_weights: also return a list over blocks of weights (B, H, T, S).

        Raises:
            ValueError: shapes do not fit, an id is out of range (checked on the CPU only), or there
                are more tokens than learned positions.
            TypeError: the ids are not integers, or the mask is not boolean.
        """
        require_tokens("token_ids", token_ids)
        require_caches(caches, self.blocks)
        (B, T), start = token_ids.shape, caches[0].length if caches else 0
        S = caches[0].num_keys(T) if caches else T
        check_mask_of_model(mask, (B, self.config.num_heads, T, S), start)
        x, rotation = self.token_embedding(token_ids), None
        if self.rope is None:
            x = self.positions(x, positions, start=start)
        else:
            rotation = self.rope.rotation(x, positions, start=start)
        is_causal = True  # a cache of fixed size makes its own mask
        if caches is None or caches[0].capacity is None:
            mask = causal(mask, T, S, window=self.config.sliding_window, device=x.device)
            is_causal = mask is None
        options = {"is_causal": is_causal, "rotation": rotation, "need_weights": need_weights}
        x, weights = run_blocks(self.blocks, self.dropout(x), mask, caches=caches, **options)
        hidden = self.final_norm(x)
        return (hidden, weights) if need_weights else hidden

    @typed_as(hidden_states)
    def forward(self, token_ids, mask=None, **options):
        """Return logits (B, T, vocab_size); logits[:, t] predicts what follows token_ids[:, t].

        Args and errors are those of `hidden_states`.
        """
        return headed(self.head, self.hidden_states(token_ids, mask, **options))

    if TYPE_CHECKING:
        __call__ = forward
