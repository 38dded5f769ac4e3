"""Small random models of transformers, saved as it saves published ones."""

import pytest
import torch
import transformers
from torch import nn
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    ViTConfig,
    ViTForImageClassification,
    ViTModel,
)

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

BERT = {
    "vocab_size": 23,
    "hidden_size": 22,
    "num_hidden_layers": 3,
    "num_attention_heads": 11,
    "intermediate_size": 13,
    "max_position_embeddings": 17,
    "type_vocab_size": 3,
}
GPT2 = {"vocab_size": 23, "n_embd": 22, "n_head": 11, "n_inner": 13, "n_positions": 17}
GPT2 |= {"n_layer": 3, "bos_token_id": 1, "eos_token_id": 1}
LLAMA = {
    "vocab_size": 23,
    "hidden_size": 20,
    "num_hidden_layers": 3,
    "num_attention_heads": 10,
    "intermediate_size": 13,
    "max_position_embeddings": 17,
}
GROUPED = {"num_key_value_heads": 5}
LLAMA_3 = {
    "rope_type": "llama3",
    "rope_theta": 50.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
VIT = {
    "hidden_size": 22,
    "num_hidden_layers": 3,
    "num_attention_heads": 11,
    "intermediate_size": 13,
    "image_size": 15,
    "patch_size": 5,
    "num_channels": 2,
}
MODELS = {
    "bert with MLM head": (BertForMaskedLM, BertConfig, BERT),
    "bert for pre-training": (BertForPreTraining, BertConfig, BERT),
    "bert with pooler": (BertModel, BertConfig, BERT),
    "bert, relu, other padding": (
        BertForMaskedLM,
        BertConfig,
        BERT | {"hidden_act": "relu", "pad_token_id": 5, "layer_norm_eps": 1e-3},
    ),
    "bert, gelu_new": (BertModel, BertConfig, BERT | {"hidden_act": "gelu_new"}),
    "gpt2": (GPT2LMHeadModel, GPT2Config, GPT2),
    "gpt2 without head": (GPT2Model, GPT2Config, GPT2),
    "gpt2 untied": (GPT2LMHeadModel, GPT2Config, GPT2 | {"tie_word_embeddings": False}),
    "gpt2, d_ff left out, gelu": (
        GPT2LMHeadModel,
        GPT2Config,
        GPT2 | {"n_inner": None, "activation_function": "gelu", "layer_norm_epsilon": 1e-2},
    ),
    "llama": (LlamaForCausalLM, LlamaConfig, LLAMA),
    "llama, grouped, wide heads": (
        LlamaForCausalLM,
        LlamaConfig,
        LLAMA | {"num_key_value_heads": 5, "head_dim": 6, "rms_norm_eps": 1e-2},
    ),
    "llama, one key head, tied": (
        LlamaForCausalLM,
        LlamaConfig,
        LLAMA | {"num_key_value_heads": 1, "tie_word_embeddings": True, "pad_token_id": 3},
    ),
    "llama 3": (
        LlamaForCausalLM,
        LlamaConfig,
        LLAMA | {"head_dim": 14, "num_key_value_heads": 2, "rope_parameters": LLAMA_3},
    ),
    "llama, linear": (
        LlamaForCausalLM,
        LlamaConfig,
        LLAMA | {"rope_parameters": {"rope_type": "linear", "factor": 3.0, "rope_theta": 700.0}},
    ),
    "mistral": (MistralForCausalLM, MistralConfig, LLAMA | GROUPED | {"sliding_window": 5}),
    "mistral, no window": (
        MistralForCausalLM,
        MistralConfig,
        LLAMA | GROUPED | {"sliding_window": None, "head_dim": 6},
    ),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config, LLAMA | GROUPED),
    "qwen2, every head": (Qwen2ForCausalLM, Qwen2Config, LLAMA | {"num_key_value_heads": 10}),
    "qwen2, window": (
        Qwen2ForCausalLM,
        Qwen2Config,
        LLAMA | GROUPED | {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 0},
    ),
    "qwen3": (
        Qwen3ForCausalLM,
        Qwen3Config,
        LLAMA | GROUPED | {"head_dim": 6, "rms_norm_eps": 1e-2, "tie_word_embeddings": True},
    ),
    "vit": (ViTForImageClassification, ViTConfig, VIT | {"num_labels": 7}),
    "vit with pooler": (ViTModel, ViTConfig, VIT | {"hidden_act": "gelu_new"}),
}


def random_model(name):
    """One of `MODELS` in float64; no bias is 0, no norm's weight is 1."""
    model, config, settings = MODELS[name]
    theirs = model(config(**settings, attn_implementation="sdpa")).double().eval()
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.5)
    return theirs


@pytest.fixture
def saved(tmp_path):
    """Save one of `MODELS`: saved(name) -> (their model, its folder)."""

    def save(name, **options):
        theirs, folder = random_model(name), tmp_path / "model"
        theirs.save_pretrained(folder, **options)
        return theirs, folder

    return save


def ids(*shape, start=0):
    """Random tokens of the models above."""
    return torch.randint(start, 23, shape)
