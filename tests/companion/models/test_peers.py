"""Whole models against torch's stacks and transformers', with the weights carried over."""

import pytest
import torch
from torch import nn
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

from companion.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from companion.nn import KVCache
from tests.companion.nn.test_blocks import layer_state

norm_orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post", "pre"])


def shake(module):
    """Give every parameter a random value, so that no bias is 0 and no norm's weight is 1."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)


def ids(vocab_size, *shape):
    """Random tokens, none of them 0."""
    return torch.randint(1, vocab_size, shape)


# torch.nn: stacks, with one more norm at the end for pre-norm only.


def stack_state(name, layers):
    return {
        f"{name}.{i}.{parameter}": value
        for i, layer in enumerate(layers)
        for parameter, value in layer_state(layer).items()
    }


@norm_orders
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_transformer_equals_torchs_stacks(norm_first, activation):
    B, S, T, d_model, H, d_ff = 3, 7, 5, 22, 11, 13
    layer = (d_model, H, d_ff, 0.0, activation)
    order = {"batch_first": True, "norm_first": norm_first}
    norms = [nn.LayerNorm(d_model) if norm_first else None for _ in range(2)]
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(*layer, **order), 2, norms[0], enable_nested_tensor=False
    ).double()
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(*layer, **order), 2, norms[1]
    ).double()
    shake(encoder), shake(decoder)
    sizes = {"vocab_size": 19, "d_model": d_model, "num_layers": 2, "num_heads": H, "d_ff": d_ff}
    config = TransformerConfig(
        **sizes, max_len=T, norm_first=norm_first, activation=activation, dropout=0.0
    )
    model = Transformer(config).double()
    table = model.token_embedding.weight
    state = {"token_embedding.weight": table, "head.weight": table}
    for name, stack in (("encoder", encoder), ("decoder", decoder)):
        state |= stack_state(f"{name}_blocks", stack.layers)
        if norm_first:
            state |= {f"{name}_norm.{kind}": w for kind, w in stack.norm.state_dict().items()}
    model.load_state_dict(state)

    source, target = ids(19, B, S), ids(19, B, T)
    source[1, 4:], target[2, 3:] = 0, 0
    position = model.positions(torch.zeros(1, S, d_model, dtype=torch.float64))
    embedded_source = table[source] * d_model**0.5 + position
    embedded_target = table[target] * d_model**0.5 + position[:, :T]
    padded = {"memory_key_padding_mask": source == 0, "tgt_key_padding_mask": target == 0}
    causal = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = encoder(embedded_source, src_key_padding_mask=source == 0)
    hidden = decoder(embedded_target, memory, tgt_mask=causal, tgt_is_causal=True, **padded)
    torch.testing.assert_close(model.encode(source), memory)
    torch.testing.assert_close(model.decode(target, memory, source), hidden @ table.T)
    torch.testing.assert_close(model(source, target), hidden @ table.T)


# transformers. Their weights ("eager") are those of the masked computation, so ours must be too.


def projections(name, weights, biases):
    """q_proj, k_proj and v_proj from three matrices and three vectors."""
    state = {}
    for letter, weight, bias in zip("qkv", weights, biases, strict=True):
        state |= {f"{name}.{letter}_proj.weight": weight, f"{name}.{letter}_proj.bias": bias}
    return state


def renamed(state, names):
    """The tensors of a state dict under other names, {theirs: ours}, weight and bias."""
    return {
        f"{ours}.{kind}": state[f"{theirs}.{kind}"]
        for theirs, ours in names.items()
        for kind in ("weight", "bias")
        if f"{theirs}.{kind}" in state
    }


def transposed(state):
    """Matrices of GPT-2's Conv1D, which multiply from the other side, as nn.Linear has them."""
    is_conv = ("attn.weight", "c_proj.weight", "c_fc.weight")
    return {name: value.T if name.endswith(is_conv) else value for name, value in state.items()}


def gpt2_state(theirs):
    state = transposed(theirs.state_dict())
    ours = {
        "token_embedding.weight": state["transformer.wte.weight"],
        "positions.weight": state["transformer.wpe.weight"],
        "head.weight": state["lm_head.weight"],
    }
    ours |= renamed(state, {"transformer.ln_f": "final_norm"})
    for i in range(theirs.config.n_layer):
        block, h = f"blocks.{i}", f"transformer.h.{i}"
        qkv = (state[f"{h}.attn.c_attn.{kind}"].chunk(3) for kind in ("weight", "bias"))
        ours |= projections(f"{block}.self_attention", *qkv)
        names = {
            f"{h}.attn.c_proj": f"{block}.self_attention.out_proj",
            f"{h}.mlp.c_fc": f"{block}.feed_forward.up_proj",
            f"{h}.mlp.c_proj": f"{block}.feed_forward.down_proj",
            f"{h}.ln_1": f"{block}.norm1",
            f"{h}.ln_2": f"{block}.norm2",
        }
        ours |= renamed(state, names)
    return ours


def llama_state(theirs):
    names = {
        "model.embed_tokens": "token_embedding",
        "model.norm": "final_norm",
        "lm_head": "head",
    }
    for i in range(theirs.config.num_hidden_layers):
        block, layer = f"blocks.{i}", f"model.layers.{i}"
        for letter in "qkv":
            names[f"{layer}.self_attn.{letter}_proj"] = f"{block}.self_attention.{letter}_proj"
        names[f"{layer}.self_attn.o_proj"] = f"{block}.self_attention.out_proj"
        for kind in ("up", "gate", "down"):
            names[f"{layer}.mlp.{kind}_proj"] = f"{block}.feed_forward.{kind}_proj"
        names[f"{layer}.input_layernorm"] = f"{block}.norm1"
        names[f"{layer}.post_attention_layernorm"] = f"{block}.norm2"
    return renamed(theirs.state_dict(), names)


def bert_state(theirs):
    state = {name.removeprefix("bert."): value for name, value in theirs.state_dict().items()}
    embeddings = "embeddings"
    ours = {
        "token_embedding.weight": state[f"{embeddings}.word_embeddings.weight"],
        "positions.weight": state[f"{embeddings}.position_embeddings.weight"],
        "type_embedding.weight": state[f"{embeddings}.token_type_embeddings.weight"],
    }
    head = "cls.predictions"
    names = {
        f"{embeddings}.LayerNorm": "embedding_norm",
        f"{head}.transform.dense": "head.dense",
        f"{head}.transform.LayerNorm": "head.norm",
        f"{head}.decoder": "head.decoder",
    }
    for i in range(theirs.config.num_hidden_layers):
        block, layer = f"blocks.{i}", f"encoder.layer.{i}"
        for letter, name in zip("qkv", ("query", "key", "value"), strict=True):
            names[f"{layer}.attention.self.{name}"] = f"{block}.self_attention.{letter}_proj"
        names |= {
            f"{layer}.attention.output.dense": f"{block}.self_attention.out_proj",
            f"{layer}.attention.output.LayerNorm": f"{block}.norm1",
            f"{layer}.intermediate.dense": f"{block}.feed_forward.up_proj",
            f"{layer}.output.dense": f"{block}.feed_forward.down_proj",
            f"{layer}.output.LayerNorm": f"{block}.norm2",
        }
    return ours | renamed(state, names)


def carried_over(ours, theirs, state):
    """Both models in float64 and eval mode, with the same random weights."""
    shake(theirs)
    ours, theirs = ours.double().eval(), theirs.double().eval()
    ours.load_state_dict(state(theirs))
    return ours, theirs


def gpt2_pair():
    sizes = {"vocab_size": 23, "n_embd": 22, "n_head": 11, "n_inner": 13, "n_positions": 17}
    theirs = GPT2LMHeadModel(GPT2Config(**sizes, n_layer=3, attn_implementation="eager"))
    sizes = {"vocab_size": 23, "d_model": 22, "num_heads": 11, "d_ff": 13, "max_len": 17}
    return carried_over(GPT(GPTConfig(**sizes, num_layers=3)), theirs, gpt2_state)


def llama_pair():
    theirs = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=23,
            hidden_size=20,
            num_hidden_layers=3,
            num_attention_heads=10,
            num_key_value_heads=5,
            head_dim=6,
            intermediate_size=13,
            rms_norm_eps=1e-3,
            rope_parameters={"rope_type": "default", "rope_theta": 500.0},
            attn_implementation="eager",
        )
    )
    config = GPTConfig(
        vocab_size=23,
        d_model=20,
        num_layers=3,
        num_heads=10,
        num_kv_heads=5,
        d_k=6,
        d_v=6,
        d_ff=13,
        max_len=17,
        norm="rms",
        norm_eps=1e-3,
        activation="swiglu",
        bias=False,
        positions="rotary",
        rope_base=500.0,
        rope_pairing="half",
        tie_weights=False,
    )
    return carried_over(GPT(config), theirs, llama_state)


# Llama's norms, angles and weights are computed in float32 by transformers, even here.
ROUNDED = {"rtol": 2e-5, "atol": 2e-5}
gpts = pytest.mark.parametrize(
    ("pair", "close"), [(gpt2_pair, {}), (llama_pair, ROUNDED)], ids=["gpt2", "llama"]
)


def same_weights(ours, theirs, **close):
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, **close)


@gpts
def test_gpt_equals_transformers(pair, close):
    ours, theirs = pair()
    token_ids = ids(23, 2, 17)
    expected = theirs(token_ids, output_attentions=True)
    torch.testing.assert_close(ours(token_ids), expected.logits, **close)
    logits, weights = ours(token_ids, need_weights=True)
    torch.testing.assert_close(logits, expected.logits, **close)
    same_weights(weights, expected.attentions, **close, check_dtype=False)


@gpts
def test_gpt_with_a_cache_equals_transformers(pair, close):
    ours, theirs = pair()
    token_ids, caches, past = ids(23, 2, 13), [KVCache() for _ in ours.blocks], None
    for start, stop in ((0, 5), (5, 6), (6, 13)):
        expected = theirs(token_ids[:, start:stop], past_key_values=past, use_cache=True)
        past = expected.past_key_values
        logits = ours(token_ids[:, start:stop], caches=caches)
        torch.testing.assert_close(logits, expected.logits, **close)


@gpts
def test_gpt_padded_on_the_left_equals_transformers(pair, close):
    ours, theirs = pair()
    theirs.set_attn_implementation("sdpa")  # "eager" gives NaN for a row of padding in float64
    token_ids, real = ids(23, 2, 7), torch.ones(2, 7, dtype=torch.bool)
    real[1, :3] = False
    positions = (real.cumsum(1) - 1).clamp(min=0)
    expected = theirs(token_ids, attention_mask=real.long(), position_ids=positions).logits
    logits = ours(token_ids, real[:, None, None], positions=positions)
    torch.testing.assert_close(logits[real], expected[real], **close)


BERT_SIZES = {
    "vocab_size": 23,
    "hidden_size": 22,
    "num_hidden_layers": 3,
    "num_attention_heads": 11,
    "intermediate_size": 13,
    "max_position_embeddings": 17,
    "type_vocab_size": 3,
    "attn_implementation": "eager",
}


def bert_pair(mlm_head):
    if mlm_head:
        theirs = BertForMaskedLM(BertConfig(**BERT_SIZES))
    else:
        theirs = BertModel(BertConfig(**BERT_SIZES), add_pooling_layer=False)
    sizes = {"vocab_size": 23, "d_model": 22, "num_layers": 3, "num_heads": 11, "d_ff": 13}
    config = BERTConfig(**sizes, max_len=17, type_vocab_size=3, mlm_head=mlm_head)
    return carried_over(BERT(config), theirs, bert_state)


@pytest.mark.parametrize("mlm_head", [True, False])
def test_bert_equals_transformers(mlm_head):
    ours, theirs = bert_pair(mlm_head)
    token_ids, types = ids(23, 2, 7), torch.randint(3, (2, 7))
    token_ids[1, 4:] = 0
    real = token_ids != 0
    expected = theirs(
        token_ids,
        attention_mask=real.long(),
        token_type_ids=types,
        output_attentions=True,
        output_hidden_states=True,
    )
    expected_output = expected.logits if mlm_head else expected.last_hidden_state
    hidden = expected.hidden_states[-1]
    output, weights = ours(token_ids, token_types=types, need_weights=True)
    for found in (ours(token_ids, None, types), ours(token_ids, real[:, None, None], types)):
        torch.testing.assert_close(found, expected_output)
    torch.testing.assert_close(output, expected_output)
    torch.testing.assert_close(ours.encode(token_ids, token_types=types), hidden)
    same_weights(weights, expected.attentions)


def test_bert_without_types_or_padding_equals_transformers():
    ours, theirs = bert_pair(True)
    token_ids = ids(23, 2, 17)
    torch.testing.assert_close(ours(token_ids), theirs(token_ids).logits)
