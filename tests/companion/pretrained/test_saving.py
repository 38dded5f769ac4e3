"""What `save` writes, transformers reads, and its logits are ours."""

import json
import os
from dataclasses import replace

import pytest
import torch
from torch import distributed, nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForImageClassification,
    AutoModelForMaskedLM,
    AutoTokenizer,
)

from companion.data import BPETokenizer
from companion.models import (
    BERT,
    GPT,
    BERTConfig,
    GPTConfig,
    Transformer,
    TransformerConfig,
    ViT,
    ViTConfig,
)
from companion.nn import RotaryScaling
from companion.pretrained import load, load_tokenizer, save
from tests.companion.pretrained.conftest import ids

SIZES = {"d_model": 22, "num_layers": 3, "num_heads": 11, "d_ff": 13}
TOKENS = SIZES | {"vocab_size": 23, "max_len": 17}
LLAMA = TOKENS | {"positions": "rotary", "norm": "rms", "norm_eps": 1e-3, "activation": "swiglu"}
LLAMA |= {"bias": False, "d_k": 6, "d_v": 6, "tie_weights": False}
HALF = LLAMA | {"rope_pairing": "half", "d_model": 20, "num_heads": 10, "num_kv_heads": 5}
SLOW = {"rope_scaling": RotaryScaling(factor=8.0, original_len=16), "rope_base": 50.0}
CAUSAL, MASKED = AutoModelForCausalLM, AutoModelForMaskedLM
WRITTEN = {
    "gpt2": (GPT, GPTConfig(**TOKENS), CAUSAL),
    "gpt2 untied, gelu": (GPT, GPTConfig(**TOKENS, tie_weights=False, activation="gelu"), CAUSAL),
    "llama": (GPT, GPTConfig(**HALF), CAUSAL),
    "llama 3": (GPT, GPTConfig(**HALF, **SLOW), CAUSAL),
    "linear, padded": (
        GPT,
        GPTConfig(**HALF, rope_scaling=RotaryScaling(factor=3.0), pad_id=None),
        CAUSAL,
    ),
    "llama, neighbours": (GPT, GPTConfig(**LLAMA), CAUSAL),
    "mistral": (GPT, GPTConfig(**HALF, sliding_window=5), CAUSAL),
    "qwen2": (GPT, GPTConfig(**HALF, qkv_bias=True), CAUSAL),
    "qwen3, neighbours, tied": (
        GPT,
        GPTConfig(**LLAMA | {"tie_weights": True}, qk_norm=True, sliding_window=5),
        CAUSAL,
    ),
    "bert": (BERT, BERTConfig(**TOKENS), MASKED),
    "bert without head": (BERT, BERTConfig(**TOKENS, mlm_head=False), AutoModel),
    "vit": (
        ViT,
        ViTConfig(**SIZES, image_size=15, patch_size=5, channels=2, num_classes=7),
        AutoModelForImageClassification,
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_transformers_reads_the_folder_and_gives_our_logits(name, tmp_path):
    kind, config, theirs = WRITTEN[name]
    ours = kind(config).double().eval()
    for parameter in ours.parameters():
        nn.init.normal_(parameter, std=0.5)
    save(ours, tmp_path / "model")
    theirs, info = theirs.from_pretrained(
        tmp_path / "model", output_loading_info=True, dtype=torch.float64
    )
    unread = [key for key in info["missing_keys"] if "pooler" not in key]
    assert not unread and not info["unexpected_keys"] and not info["mismatched_keys"]
    x = torch.randn(2, 2, 15, 15).double() if kind is ViT else ids(2, 17, start=1)
    found = theirs.eval()(x)
    logits = found.last_hidden_state if theirs.__class__.__name__ == "BertModel" else found.logits
    # transformers makes its rotations in float32
    torch.testing.assert_close(ours(x), logits, rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(load(tmp_path / "model")(x), ours(x))


@pytest.mark.parametrize(
    ("config", "part"),
    [
        (GPTConfig(**TOKENS, norm_first=False), "gpt2 has no place for norm_first = False"),
        (GPTConfig(**TOKENS, norm="rms", bias=False), "norm = 'rms', .*bias = False"),
        (GPTConfig(**TOKENS, sliding_window=5), "sliding_window = 5"),
        (GPTConfig(**HALF | {"d_v": 5}), "llama has no place for d_v = 5"),
        (GPTConfig(**HALF | {"activation": "relu"}), "activation = 'relu'"),
        (GPTConfig(**HALF, qkv_bias=True, qk_norm=True), "qwen3 has no place for qkv_bias = True"),
        (GPTConfig(**TOKENS, activation="swiglu"), "gpt2 has no place for activation = 'swiglu'"),
        (GPTConfig(**LLAMA | {"d_model": 20}), "llama has no place for num_heads = 11"),
        (BERTConfig(**TOKENS, activation="swiglu"), "bert has no place for activation = 'swiglu'"),
    ],
)
def test_what_has_no_place_is_refused_by_name(config, part, tmp_path):
    model = BERT(config) if isinstance(config, BERTConfig) else GPT(config)
    with pytest.raises(ValueError, match=part):
        save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def tie(model):
    model.head.weight = model.token_embedding.weight


def untie(model):
    model.head.weight = nn.Parameter(model.head.weight.clone())


def without_bias(model):
    model.blocks[1].feed_forward.up_proj.bias = None


def with_an_adapter(model):
    model.blocks[2].adapter = nn.Linear(22, 22)


@pytest.mark.parametrize(
    ("change", "is_tied", "part"),
    [
        (tie, False, "head.weight"),
        (untie, True, "head.weight"),
        (without_bias, True, "blocks.1.feed_forward.up_proj.bias"),
        (with_an_adapter, True, "blocks.2.adapter"),
    ],
)
def test_a_model_that_was_changed_is_refused_by_name(change, is_tied, part, tmp_path):
    model = GPT(GPTConfig(**TOKENS, tie_weights=is_tied))
    change(model)
    with pytest.raises(ValueError, match=f"not those of its configuration: {part}"):
        save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_long_list_of_changes_is_cut(tmp_path):
    model = GPT(GPTConfig(**TOKENS))
    for module in [*model.modules()]:
        if isinstance(module, nn.Linear):
            nn.utils.parametrize.register_parametrization(module, "weight", nn.Identity())
    with pytest.raises(ValueError, match=r"configuration: (\S+, ){7}\S+ and \d+ more; copy"):
        save(model, tmp_path / "model")


def test_weights_that_are_sharded_are_refused_by_name(tmp_path):
    model = GPT(GPTConfig(**TOKENS))
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        fully_shard(model, mesh=init_device_mesh("cpu", (1,)))
        with pytest.raises(ValueError, match="a part of the weights only; gather them"):
            save(model, tmp_path / "model")
        gathered = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))
    finally:
        distributed.destroy_process_group()
    whole = GPT(model.config)
    whole.load_state_dict(gathered)
    save(whole, tmp_path / "model")
    again = load(tmp_path / "model").state_dict()
    assert all(torch.equal(again[name], tensor) for name, tensor in gathered.items())


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated")  # torch's own use
def test_a_compiled_model_is_saved_and_one_that_computes_otherwise_is_refused(tmp_path):
    model = GPT(GPTConfig(**TOKENS))
    save(torch.compile(model), tmp_path / "compiled")
    assert torch.equal(load(tmp_path / "compiled").head.weight, model.head.weight)

    class Louder(GPT):
        pass

    with pytest.raises(TypeError, match="a GPT, a BERT or a ViT, got Louder"):
        save(Louder(model.config), tmp_path / "louder")


def test_the_folder_is_as_open_as_the_umask_says_and_takes_a_tokenizer(tmp_path):
    umask, pieces = os.umask(0o027), BPETokenizer.train(["a text of pieces"], 262)
    try:
        save(GPT(WRITTEN["gpt2"][1]), tmp_path)
        pieces.save(tmp_path / "tokenizer.json")
    finally:
        os.umask(umask)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o640}
    for theirs in (load_tokenizer(tmp_path), AutoTokenizer.from_pretrained(tmp_path)):
        assert theirs.encode("of a piece") == pieces.encode("of a piece")


def test_nothing_is_overwritten_and_other_models_are_refused(tmp_path):
    model = GPT(GPTConfig(**TOKENS))
    save(model, tmp_path)
    written = (tmp_path / "config.json").read_text()
    assert json.loads(written)["model_type"] == "gpt2"
    with pytest.raises(ValueError, match=r"config\.json is there already"):
        save(GPT(replace(model.config, d_ff=7)), tmp_path)
    assert (tmp_path / "config.json").read_text() == written
    config = TransformerConfig(**TOKENS)
    with pytest.raises(TypeError, match="a GPT, a BERT or a ViT, got Transformer"):
        save(Transformer(config), tmp_path / "other")
