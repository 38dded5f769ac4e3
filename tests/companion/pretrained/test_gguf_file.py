"""A small Llama of transformers in a GGUF file: quantised, damaged, of another kind."""

import os

import gguf
import pytest
import torch
from gguf import GGMLQuantizationType as Type
from gguf.quants import dequantize, quantize
from tokenizers import pre_tokenizers

from companion.pretrained import load, load_tokenizer
from companion.pretrained.gguf_file import TYPES, read_gguf
from tests.companion.pretrained.conftest import MODELS, ids, random_model

LITTLE, BIG = gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG
WIDE = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2}
WIDE |= {"intermediate_size": 96, "rms_norm_eps": 1e-2}
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "model.layers.": "blk.",
}


def neighbours(weight, heads):
    """The rows of q or k as llama.cpp orders them: halves of a head become neighbours."""
    return weight.reshape(heads, 2, -1, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """written(type, tied, drop, extra, **metadata) -> (their model, with that, and the file)."""

    def write(
        kind=Type.F32,
        *,
        tied=False,
        drop=None,
        extra=None,
        architecture="llama",
        rope=None,
        endian=LITTLE,
        vocab_size=23,
        **metadata,
    ):
        changes = WIDE | {"tie_word_embeddings": tied}
        if rope is not None:
            changes["rope_parameters"] = rope
        model, config, settings = MODELS["llama"]
        monkeypatch.setitem(MODELS, "llama", (model, config, settings | changes))
        theirs = random_model("llama").float()
        path = tmp_path / "model.gguf"
        writer = gguf.GGUFWriter(path, architecture, endianess=endian)
        if vocab_size is None:
            writer.add_token_list([f"<{number}>" for number in range(23)])
        else:
            writer.add_vocab_size(vocab_size)
        writer.add_context_length(17)
        writer.add_embedding_length(64)
        writer.add_block_count(metadata.pop("llama__block_count", 3))  # no name twice
        writer.add_feed_forward_length(metadata.pop("llama__feed_forward_length", 96))
        writer.add_head_count(4)
        writer.add_head_count_kv(2)
        writer.add_layer_norm_rms_eps(1e-2)
        writer.add_rope_freq_base(10000.0)
        for name, value in metadata.items():
            kinds = {str: writer.add_string, bool: writer.add_bool, float: writer.add_float32}
            kinds.get(type(value), writer.add_uint32)(name.replace("__", "."), value)
        for name, parameter in theirs.named_parameters():
            numbers = parameter.detach().numpy()
            if numbers.ndim == 2:
                stored = quantize(numbers, kind)
                parameter.data = torch.from_numpy(dequantize(stored, kind).copy())
                if "q_proj" in name or "k_proj" in name:
                    stored = neighbours(stored, 4 if "q_proj" in name else 2)
            else:
                stored, kind_here = numbers, Type.F32
            for long, short in NAMES.items():
                name = name.replace(long, short)
            if name != drop:
                raw = kind if numbers.ndim == 2 else kind_here
                writer.add_tensor(name, stored, raw_dtype=raw)
        for name, tensor in (extra or {}).items():
            writer.add_tensor(name, tensor.numpy())
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return theirs, path

    return write


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("tied", [True, False])
def test_the_same_logits(kind, tied, written):
    theirs, path = written(Type[kind], tied=tied)
    ours, x = load(path), ids(2, 17)
    torch.testing.assert_close(ours(x), theirs(x).logits, rtol=2e-5, atol=2e-4)
    assert (ours.head.weight is ours.token_embedding.weight) == tied
    assert not ours.training
    assert {parameter.dtype for parameter in ours.parameters()} == {torch.float32}
    assert load(path, dtype=torch.bfloat16).head.weight.dtype == torch.bfloat16


def test_a_file_is_read_again_only_when_it_has_changed(written):
    _, path = written()
    first = read_gguf(path)
    assert read_gguf(path) is first
    os.utime(path, (0, 0))
    assert read_gguf(path) is not first


def test_another_quantisation_is_refused_by_name(written):
    _, path = written(Type.Q5_0)
    with pytest.raises(ValueError, match=r"keeps .*weight as Q5_0; companion reads Q4_1, Q8_0"):
        load(path)


@pytest.mark.parametrize("share", [0, 0.001, 0.01, 0.1, 0.5, 0.999])
def test_a_truncated_file(share, written):
    _, path = written()
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match="is truncated, damaged or not a GGUF file") as raised:
        load(path)
    assert str(path) in str(raised.value)


def test_everything_is_accounted_for(written):
    _, path = written(drop="blk.1.attn_q.weight")
    with pytest.raises(ValueError, match=r"missing: blk\.1\.attn_q\.weight") as raised:
        load(path)
    assert str(path) in str(raised.value)
    _, path = written(llama__block_count=2)
    with pytest.raises(ValueError, match=r"unexpected: blk\.2\."):
        load(path)


LINEAR = {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0}


@pytest.mark.parametrize(
    ("rope", "changes"),
    [
        (LINEAR, {"llama__rope__scale_linear": 4.0}),
        (LINEAR, {"llama__rope__scaling__factor": 4.0}),
        (LINEAR, {"llama__rope__scaling__type": "linear", "llama__rope__scaling__factor": 4.0}),
        (None, {"llama__rope__scaling__type": "none", "llama__rope__scaling__factor": 4.0}),
        (None, {"llama__rope__scaling__type": "linear"}),
        (None, {"vocab_size": None}),
        (None, {"llama__feed_forward_length": [96, 96, 96]}),
        (None, {"llama__expert_count": 0, "llama__attention__causal": True, "split__count": 1}),
        (None, {"llama__logit_scale": 0.0, "llama__tensor_data_layout": "Meta AI original pth"}),
    ],
)
def test_settings_are_honoured_and_those_that_say_nothing_read(rope, changes, written):
    theirs, path = written(rope=rope, **changes)
    x = ids(2, 17)
    torch.testing.assert_close(load(path)(x), theirs(x).logits, rtol=2e-5, atol=2e-4)


@pytest.mark.parametrize("end", ["bos", "eos"])
def test_a_tokenizer_that_adds_tokens_is_refused(end, written):
    names = {"tokenizer__ggml__model": "gpt2", "tokenizer__ggml__pre": "smollm"}
    _, path = written(**names, **{f"tokenizer__ggml__add_{end}_token": True})
    with pytest.raises(ValueError, match=f"add_{end}_token = True"):
        load_tokenizer(path)


def test_added_tokens_that_are_not_special_are_found_in_a_text(tmp_path):
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([*alphabet, "ab", "<my thought>", "<|im_end|>"])
    writer.add_token_types([1] * 257 + [4, 3])
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(258)
    writer.add_eot_token_id(257)
    writer.add_pad_token_id(256)
    writer.add_chat_template("{{ pad_token }}{{ eos_token }}{{ messages[0].content }}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    tokenizer = load_tokenizer(tmp_path / "model.gguf")
    ids = tokenizer.encode("ab<my thought><|im_end|>")
    assert ids == [256, 257, 258]
    assert tokenizer.decode(ids) == "ab<my thought>"
    assert tokenizer.eos_id == (258, 257)
    assert tokenizer.chat([{"role": "user", "content": "ab"}]) == [256, 258, 256]


def test_a_name_in_capitals_is_a_file_of_that_kind(written):
    theirs, path = written()
    path, x = path.rename(path.with_name("MODEL.GGUF")), ids(2, 17)
    torch.testing.assert_close(load(path)(x), theirs(x).logits, rtol=2e-5, atol=2e-4)


def test_rotary_angles_with_factors_of_their_own_are_refused(written):
    _, path = written(extra={"rope_freqs.weight": torch.ones(8)})
    with pytest.raises(ValueError, match=r"rope_freqs\.weight: .*Llama 3\.1, is not read; get"):
        load(path)


def test_a_sliding_window_is_honoured(written):
    theirs, path = written(llama__attention__sliding_window=5)
    ours, x = load(path), ids(2, 17)
    assert ours.config.sliding_window == 5
    torch.testing.assert_close(ours(x)[:, :5], theirs(x).logits[:, :5], rtol=2e-5, atol=2e-4)


def test_another_byte_order_is_refused(written):
    _, path = written(endian=BIG)
    with pytest.raises(ValueError, match=r"byte order of another machine.*gguf-convert-endian"):
        load(path)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"architecture": "qwen2"}, "general.architecture = 'qwen2' is not what"),
        ({"llama__rope__dimension_count": 8}, r"rope.dimension_count = 8 \(only 16\)"),
        ({"llama__expert_count": 4}, r"no llama.expert_count = 4"),
        ({"llama__rope__scaling__type": "yarn"}, "rope.scaling.type = 'yarn'"),
        ({"llama__rope__scaling__attn_factor": 2.0}, "attn_factor = 2.0"),
        ({"llama__attention__causal": False}, "attention.causal = False"),
        ({"llama__attention__scale": 0.5}, "no llama.attention.scale = 0.5"),
        ({"llama__attn_logit_softcapping": 30.0}, "softcapping = 30.0"),
        ({"llama__logit_scale": 2.0}, "logit_scale = 2.0"),
        ({"split__count": 3}, "one file of 3"),
    ],
)
def test_what_companion_does_not_have_is_refused_by_name(changes, part, written):
    _, path = written(**changes)
    with pytest.raises(ValueError, match=part) as raised:
        load(path)
    assert str(raised.value).startswith(f"{path}: ")
