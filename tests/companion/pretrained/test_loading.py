"""Models of transformers, saved and loaded here: the same logits, and nothing unaccounted for."""

import json
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForCausalLM,
    BertConfig,
    GPT2Config,
    LlamaConfig,
    LlamaForCausalLM,
    ViTConfig,
)

from companion.generation import generate
from companion.models import BERT, GPT, ViT
from companion.pretrained import load, save
from tests.companion.pretrained.conftest import LLAMA_3, MODELS, ids

# Llama's norms and angles are computed in float32 by transformers, even in a float64 model.
ROTARY = {"rtol": 2e-5, "atol": 2e-5}


def inputs(model):
    return torch.randn(2, 2, 15, 15).double() if isinstance(model, ViT) else ids(2, 17, start=6)


def outputs(theirs, x):
    """The logits of their model, or the hidden states where there is no head."""
    found = theirs(x)
    if hasattr(found, "prediction_logits"):
        return found.prediction_logits
    if hasattr(found, "logits"):
        return found.logits
    return found.last_hidden_state


@pytest.mark.parametrize("name", MODELS)
def test_the_same_logits(name, saved):
    theirs, folder = saved(name)
    ours = load(folder)
    family = name.partition(" ")[0].rstrip(",")
    assert type(ours) is {"bert": BERT, "vit": ViT}.get(family, GPT)
    assert not ours.training
    assert all(parameter.dtype == torch.float64 for parameter in ours.parameters())
    x = inputs(ours)
    expected = outputs(theirs, x)
    if name == "gpt2 without head":
        expected = expected @ theirs.wte.weight.T
    if name == "vit with pooler":
        torch.testing.assert_close(ours.encode(x), expected, rtol=1e-9, atol=1e-9)
        expected = expected[:, 0]
    close = ROTARY if getattr(ours, "rope", None) else {"rtol": 1e-9, "atol": 1e-9}
    torch.testing.assert_close(ours(x), expected, **close, check_dtype=False)


def test_loading_imports_no_compiler(saved):
    """Two seconds of every chapter that loads a model."""
    _, folder = saved("llama")
    code = "import sys; from companion.pretrained import load; load(sys.argv[1]);"
    code += "print('torch._dynamo' in sys.modules)"
    command = [sys.executable, "-c", code, folder]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_bert_takes_its_padding_from_the_folder(saved):
    theirs, folder = saved("bert, relu, other padding")
    ours, x = load(folder), ids(2, 7, start=6)
    x[1, 4:] = 5
    types = torch.randint(3, (2, 7))
    expected = theirs(x, attention_mask=(x != 5).long(), token_type_ids=types).logits
    torch.testing.assert_close(ours(x, token_types=types), expected)
    assert ours.config.pad_id == 5


@pytest.mark.parametrize("name", ["gpt2", "llama, grouped, wide heads", "llama 3"])
@pytest.mark.parametrize("use_cache", [True, False])
def test_greedy_writing_is_that_of_transformers(name, use_cache, saved):
    theirs, folder = saved(name)
    prompt = ids(2, 4, start=4)
    theirs.generation_config.eos_token_id = None
    options = {"max_new_tokens": 11, "do_sample": False, "pad_token_id": 0}
    expected = theirs.generate(prompt, attention_mask=torch.ones_like(prompt), **options)
    found = generate(load(folder), prompt, 11, temperature=0, use_cache=use_cache)
    assert torch.equal(found, expected)
    assert len(set(found.flatten().tolist())) > 4


@pytest.mark.parametrize("name", ["gpt2", "llama, one key head, tied", "bert with MLM head"])
def test_tied_matrices_are_one(name, saved):
    ours = load(saved(name)[1])
    output = ours.head.decoder if isinstance(ours, BERT) else ours.head
    assert output.weight is ours.token_embedding.weight


@pytest.mark.parametrize("name", ["gpt2 untied", "llama"])
def test_untied_matrices_are_two(name, saved):
    ours = load(saved(name)[1])
    assert not torch.equal(ours.head.weight, ours.token_embedding.weight)


def test_several_files(saved):
    theirs, folder = saved("bert with MLM head", max_shard_size="9KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 2
    assert not (folder / "model.safetensors").exists()
    x = ids(2, 5, start=1)
    torch.testing.assert_close(load(folder)(x), theirs(x).logits)


def test_types_and_devices(saved):
    theirs, folder = saved("gpt2")
    assert load(str(folder), dtype=torch.float32).head.weight.dtype == torch.float32
    theirs.to(torch.bfloat16).save_pretrained(folder)
    assert load(folder).head.weight.dtype == torch.bfloat16
    state = load_file(folder / "model.safetensors")
    state["transformer.ln_f.weight"] = state["transformer.ln_f.weight"].float()
    save_file(state, folder / "model.safetensors")
    ours = load(folder, device="cpu")
    assert {p.dtype for p in ours.parameters()} == {torch.float32}  # the most precise of all
    assert load(folder, device="meta").head.weight.is_meta
    for wrong in (torch.int8, "float32"):
        with pytest.raises(TypeError, match=r"dtype must be a floating torch\.dtype, got"):
            load(folder, dtype=wrong)


def test_a_model_keeps_nothing_of_the_file(saved):
    folder = saved("bert with pooler")[1]
    ours, x = load(folder), ids(1, 3)
    before = ours(x)
    path = folder / "model.safetensors"
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(bytes(path.stat().st_size // 2))
    assert torch.equal(ours(x), before)


def changed(folder, change):
    """Rewrite the tensors of a folder: change(state) changes them, or returns others."""
    path = folder / "model.safetensors"
    state = load_file(path)
    save_file(change(state) or state, path)


def test_names_of_older_files(saved):
    theirs, folder = saved("bert with MLM head")

    def as_tensorflow(state):
        assert all(name.startswith(("bert.", "cls.")) for name in state)
        state = {
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
                "LayerNorm.bias", "LayerNorm.beta"
            ): tensor
            for name, tensor in state.items()
        }
        embeddings = state["bert.embeddings.word_embeddings.weight"]
        return state | {
            "bert.embeddings.position_ids": torch.arange(17)[None],
            "cls.predictions.decoder.weight": embeddings.clone(),
            "cls.predictions.decoder.bias": state.pop("cls.predictions.bias"),
        }

    changed(folder, as_tensorflow)
    x = ids(2, 5, start=1)
    torch.testing.assert_close(load(folder)(x), theirs(x).logits)


def test_buffers_and_prefixes_of_older_gpt2_and_llama(saved):
    theirs, folder = saved("gpt2")
    bare = "transformer."

    def as_on_the_hub(state):
        state = {name.removeprefix(bare): tensor for name, tensor in state.items()}
        masks = {f"h.{i}.attn.bias": torch.ones(1, 1, 17, 17).tril() for i in range(3)}
        return state | masks | {"h.1.attn.masked_bias": torch.tensor(-1e4)}

    changed(folder, as_on_the_hub)
    x = ids(2, 5)
    torch.testing.assert_close(load(folder)(x), theirs(x).logits)

    theirs, folder = saved("llama, one key head, tied")
    frequencies = "model.layers.0.self_attn.rotary_emb.inv_freq"
    changed(folder, lambda state: state.update({frequencies: torch.ones(1)}))
    torch.testing.assert_close(load(folder)(x), theirs(x).logits, **ROTARY)


OLDER = {
    "gpt2": ["n_embd", "n_head", "n_layer", "n_positions", "vocab_size", "n_inner"],
    "bert with MLM head": [
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "max_position_embeddings",
        "type_vocab_size",
    ],
    "llama": [
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "max_position_embeddings",
    ],
    "vit": [
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "image_size",
        "patch_size",
        "num_channels",
        "id2label",
    ],
}


@pytest.mark.parametrize(
    ("name", "changes", "part"),
    [
        (
            "qwen2",
            {"use_sliding_window": True, "sliding_window": 3, "layer_types": None}
            | {"max_window_layers": 1},
            "full",
        ),
        ("qwen3", {"attention_bias": True}, "attention_bias = True"),
        ("qwen2", {"model_type": "qwen2_moe"}, "model_type = 'qwen2_moe' is not what"),
        ("mistral", {"layer_types": ["full_attention", "sliding_attention"] * 2}, "full_attention"),
        ("mistral", {"layer_types": ["full_attention"] * 3}, "full_attention"),
    ],
)
def test_what_llamas_descendants_have_and_companion_lacks(name, changes, part, saved):
    _, folder = saved(name)
    edited(folder, **changes)
    with pytest.raises(ValueError, match=part):
        load(folder)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("qwen2, every head", {"num_key_value_heads": None}),
        ("qwen2, window", {"sliding_window": None, "layer_types": None}),
    ],
)
def test_where_null_is_not_left_out(name, changes, saved):
    _, folder = saved(name)
    edited(folder, **changes)
    ours, x = load(folder), ids(2, 17)
    theirs = AutoModelForCausalLM.from_pretrained(folder).eval()
    assert ours.config.sliding_window is None
    torch.testing.assert_close(ours(x), theirs(x).logits, **ROTARY, check_dtype=False)


def edited(folder, **changes):
    """Change values of config.json."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("name", OLDER)
def test_what_a_config_leaves_out_is_what_transformers_takes(name, saved):
    theirs, folder = saved(name)
    values = json.loads((folder / "config.json").read_text())
    kept = {key: values[key] for key in ["model_type", *OLDER[name]]}
    (folder / "config.json").write_text(json.dumps(kept))
    ours = load(folder)
    x = inputs(ours)
    close = ROTARY if name == "llama" else {}
    torch.testing.assert_close(ours(x), outputs(theirs, x), **close, check_dtype=False)


def test_rope_as_older_configs_write_it(saved):
    theirs, folder = saved("llama 3")
    scaling = {"type" if key == "rope_type" else key: v for key, v in LLAMA_3.items()}
    base = scaling.pop("rope_theta")
    edited(folder, rope_parameters=None, rope_theta=base, rope_scaling=scaling)
    x = ids(2, 17)
    torch.testing.assert_close(load(folder)(x), theirs(x).logits, **ROTARY, check_dtype=False)


@pytest.mark.parametrize("name", ["gpt2", "bert with MLM head"])
@pytest.mark.parametrize(
    ("stored", "pad_id"), [(-1, None), (0, 0), (22, 22), (23, None), (None, None)]
)
def test_a_padding_token_outside_of_the_vocabulary_is_none(name, stored, pad_id, saved):
    theirs, folder = saved(name)
    edited(folder, pad_token_id=stored)
    ours, x = load(folder), ids(2, 17)
    assert ours.config.vocab_size == 23 and ours.config.pad_id == pad_id
    attended = torch.ones_like(x) if pad_id is None else (x != pad_id).long()
    if name == "gpt2":  # which never looks at it
        attended = None
    torch.testing.assert_close(ours(x), theirs(x, attention_mask=attended).logits)
    save(ours, folder / "again")
    assert load(folder / "again").config.pad_id == pad_id


SCALED = {key: value for key, value in LLAMA_3.items() if not key.startswith("original")}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("llama 3", {"rope_parameters": SCALED, "original_max_position_embeddings": 8}),
        ("llama 3", {"original_max_position_embeddings": 8}),
        ("llama 3", {"rope_parameters": SCALED}),
        ("llama", {"hidden_act": "swish"}),
        ("bert with MLM head", {"hidden_act": "gelu_python"}),
        ("bert with MLM head", {"hidden_act": "gelu_fast"}),
        ("gpt2", {"activation_function": "gelu_accurate"}),
        ("gpt2", {"activation_function": "gelu_python_tanh"}),
        ("vit", {"image_size": [15, 15], "patch_size": [5, 5]}),
        ("vit", {"id2label": None, "num_labels": 7}),
        ("vit", {"id2label": {"0": "a", "1": "b"}, "num_labels": 7}),
    ],
)
def test_other_spellings_are_read_as_by_transformers(name, changes, saved):
    written, folder = saved(name)
    edited(folder, **changes)
    theirs = type(written).from_pretrained(folder).eval()
    ours = load(folder)
    x = inputs(ours)
    close = ROTARY if getattr(ours, "rope", None) else {}
    torch.testing.assert_close(ours(x), theirs(x).logits, **close, check_dtype=False)


def test_where_a_config_has_both_names_for_rope_it_is_read_as_by_transformers(saved):
    _, folder = saved("llama 3")
    linear = {"rope_type": "linear", "factor": 3.0, "rope_theta": 700.0}
    edited(folder, rope_scaling=linear)  # beside rope_parameters, which say "llama3"
    theirs, x = LlamaForCausalLM.from_pretrained(folder).eval(), ids(2, 17)
    torch.testing.assert_close(load(folder)(x), theirs(x).logits, **ROTARY, check_dtype=False)


# Every setting that transformers has for a family is read, refused unless it is what companion's
# model does, or stands here, since it changes no logits of a model in eval mode.

OF_EVERY_MODEL = {
    *("transformers_version", "architectures", "output_hidden_states", "return_dict", "dtype"),
    *("chunk_size_feed_forward", "is_encoder_decoder", "label2id", "problem_type", "id2label"),
    *("_name_or_path", "output_attentions", "initializer_range", "use_cache", "bos_token_id"),
    *("eos_token_id", "attn_pdrop", "embd_pdrop", "attention_probs_dropout_prob"),
    *("classifier_dropout", "pretraining_tp", "encoder_stride", "pooler_output_size"),
    *("pooler_act", "summary_type", "summary_use_proj", "summary_activation"),
    *("summary_proj_to_labels", "summary_first_dropout", "tokenizer_class", "prefix"),
}


class Recorder(dict):
    """A config.json that notes which keys were asked for."""

    def __init__(self, values):
        super().__init__(values)
        self.asked = set()

    def get(self, key, default=None):
        self.asked.add(key)
        return super().get(key, default)


@pytest.mark.parametrize("name", OLDER)
def test_every_setting_of_transformers_is_accounted_for(name, saved, monkeypatch):
    recorders = []

    def recorded(path):
        recorders.append(Recorder(json.loads(path.read_text())))
        return recorders[-1]

    monkeypatch.setattr("companion.pretrained.loading.read_json", recorded)
    load(saved(name)[1])
    config = dict(zip(OLDER, (GPT2Config, BertConfig, LlamaConfig, ViTConfig), strict=True))[name]
    unread = config().to_dict().keys() - recorders[0].asked - OF_EVERY_MODEL
    assert not unread


REFUSED = [
    ("bert with MLM head", {"position_embedding_type": "relative_key"}),
    ("bert with MLM head", {"is_decoder": True}),
    ("bert with MLM head", {"add_cross_attention": True}),
    ("bert with MLM head", {"hidden_act": "silu"}),
    ("bert with MLM head", {"tie_word_embeddings": False}),
    ("bert with MLM head", {"pruned_heads": {"1": [0]}}),
    ("gpt2", {"activation_function": "silu"}),
    ("gpt2", {"scale_attn_weights": False}),
    ("gpt2", {"is_causal": False}),
    ("gpt2", {"num_attention_heads": 2}),
    ("llama", {"is_causal": False}),
    ("gpt2", {"scale_attn_by_inverse_layer_idx": True}),
    ("gpt2", {"reorder_and_upcast_attn": True}),
    ("gpt2", {"add_cross_attention": True}),
    ("gpt2", {"quantization_config": {"bits": 4}}),
    ("gpt2", {"auto_map": {"AutoModel": "their_code.Model"}}),
    ("llama", {"hidden_act": "gelu"}),
    ("llama", {"attention_bias": True}),
    ("llama", {"mlp_bias": True}),
    ("llama", {"sliding_window": 4096}),
    ("llama", {"rope_scaling": {"rope_type": "yarn", "factor": 2.0}, "rope_parameters": None}),
    ("llama", {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}),
    ("llama", {"rope_parameters": {"rope_type": "llama3", "factor": 2.0}}),
    ("llama", {"rope_parameters": {"partial_rotary_factor": 0.5}}),
    ("llama", {"rope_parameters": [1.0]}),
    ("qwen3", {"rope_parameters": {"full_attention": {"rope_theta": 1e6}}}),
    ("vit", {"qkv_bias": False}),
    ("vit", {"hidden_act": ["gelu"]}),
    ("vit", {"model_type": "deit"}),
    ("vit", {"model_type": None}),
]


@pytest.mark.parametrize(("name", "changes"), REFUSED)
def test_what_companion_does_not_have_is_refused_by_name(name, changes, saved):
    folder = saved(name)[1]
    load(folder)
    edited(folder, **changes)
    with pytest.raises(ValueError) as raised:
        load(folder)
    message, key = str(raised.value), next(iter(changes))
    assert message.startswith(f"{folder / 'config.json'}: ")
    key = {"rope_parameters": "rope_scaling"}.get(key, key)
    inner = changes.get("rope_parameters")
    assert key in message or (isinstance(inner, dict) and next(iter(inner)) in message)


@pytest.mark.parametrize(
    ("name", "changes", "part"),
    [
        ("bert with MLM head", {"hidden_size": None}, "no 'hidden_size'"),
        ("bert with MLM head", {"num_attention_heads": 7}, "d_model = 22 does not divide"),
        ("gpt2", {"n_embd": "22"}, "must be an int"),
        ("llama", {"num_hidden_layers": -1}, "num_layers must be at least 1"),
        ("llama", {"num_key_value_heads": 3}, "must be a multiple of num_kv_heads"),
        ("llama", {"pad_token_id": "none"}, "pad_token_id must be an int, got 'none'"),
        ("vit", {"id2label": 3}, "id2label must be an object, got 3"),
        ("vit", {"image_size": [15, 20]}, r"image_size = \[15, 20\] is not square"),
        ("vit", {"patch_size": []}, r"patch_size = \[\] is not square"),
        ("vit", {"num_labels": "7"}, "num_classes must be an int"),
    ],
)
def test_values_that_make_no_model(name, changes, part, saved):
    folder = saved(name)[1]
    edited(folder, **changes)
    with pytest.raises(ValueError, match=part) as raised:
        load(folder)
    assert "config.json" in str(raised.value)


def test_everything_that_does_not_match_is_told_at_once(saved):
    folder = saved("gpt2")[1]

    def spoil(state):
        del state["transformer.h.1.ln_1.bias"], state["transformer.wpe.weight"]
        state["transformer.h.0.attn.c_attn.weight"] = torch.ones(66, 22)
        state["transformer.h.2.mlp.c_fc.weight"] = torch.ones(22, 14)
        state["score.weight"] = torch.ones(2, 22)
        state["transformer.h.3.ln_1.bias"] = torch.ones(22)
        state["ln_f.bias"] = torch.ones(22)

    changed(folder, spoil)
    with pytest.raises(ValueError) as raised:
        load(folder)
    lines = str(raised.value).splitlines()
    assert lines[0] == (
        f"the weights are not those of the GPT that {folder / 'config.json'} describes:"
    )
    assert lines[1] == "  missing: wpe.weight, h.1.ln_1.bias"
    assert lines[2] == (
        "  wrong shape: transformer.h.0.attn.c_attn.weight is (66, 22), expected (22, 66), "
        "transformer.h.2.mlp.c_fc.weight is (22, 14), expected (22, 13)"
    )
    assert sorted(lines[3].removeprefix("  unexpected: ").split(", ")) == [
        "score.weight",
        "transformer.h.3.ln_1.bias",
    ]
    assert lines[4] in ("  twice: ln_f.bias", "  twice: transformer.ln_f.bias")
    assert len(lines) == 5


def test_a_base_model_without_its_head_is_refused_as_that(saved):
    theirs, folder = saved("llama")
    theirs.model.save_pretrained(folder)
    with pytest.raises(
        ValueError, match=r"missing: lm_head\.weight\n  a base model without its head"
    ):
        load(folder)
    changed(folder, lambda state: [state.pop("norm.weight")] and None)
    with pytest.raises(ValueError, match=r"missing: norm\.weight, lm_head\.weight$"):
        load(folder)


def test_long_lists_are_cut(saved):
    folder = saved("llama")[1]
    edited(folder, num_hidden_layers=5)
    with pytest.raises(ValueError, match=r"missing: layers\.3\..* and 10 more$"):
        load(folder)
    edited(folder, num_hidden_layers=2)
    with pytest.raises(ValueError, match=r"unexpected: model\.layers\.2\..* and 1 more$"):
        load(folder)


def test_a_head_for_another_task_is_not_dropped_in_silence(saved):
    folder = saved("bert with pooler")[1]
    changed(folder, lambda state: state.update({"classifier.weight": torch.ones(2, 22)}))
    with pytest.raises(ValueError, match=r"unexpected: classifier\.weight$"):
        load(folder)


@pytest.mark.parametrize(
    ("name", "copy", "original"),
    [
        ("gpt2", "lm_head.weight", "transformer.wte.weight"),
        (
            "bert with MLM head",
            "cls.predictions.decoder.weight",
            "bert.embeddings.word_embeddings.weight",
        ),
    ],
)
def test_a_tied_matrix_may_be_there_twice_but_not_differ(name, copy, original, saved):
    theirs, folder = saved(name)
    changed(folder, lambda state: state.update({copy: state[original].clone()}))
    x = ids(2, 5, start=1)
    torch.testing.assert_close(load(folder)(x), theirs(x).logits)
    changed(folder, lambda state: state.update({copy: state[original] + 1}))
    with pytest.raises(ValueError, match=f"{original} and {copy} with different values"):
        load(folder)


def test_quantised_weights_are_refused(saved):
    folder = saved("gpt2")[1]
    name = "transformer.h.0.mlp.c_fc.weight"
    changed(folder, lambda state: state.update({name: state[name].to(torch.int8)}))
    for dtype in (None, torch.float32):
        with pytest.raises(ValueError, match=r"h\.0\.mlp\.c_fc\.weight|up_proj.* as I8"):
            load(folder, dtype=dtype)
