"""Right options of the quiz on pretrained models, computed."""

import pickle
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import nn

from companion.models import BERT, GPT, BERTConfig, GPTConfig
from companion.pretrained.loading import FAMILIES

LLAMA = {"norm": "rms", "activation": "swiglu", "bias": False, "positions": "rotary"}
LLAMA |= {"tie_weights": False, "max_len": 8192}

called = []


def note_down(text: str) -> None:
    called.append(text)


class Sender:
    def __reduce__(self):
        return note_down, ("by the file",)


def reading_a_pickle() -> str:
    called.clear()
    pickle.loads(pickle.dumps(Sender()))
    return "Any function that the file names has run" if called else "Nothing yet"


def first_bytes() -> str:
    return str(8 + int.from_bytes(bytes.fromhex("7800000000000000"), "little"))


def where_the_keys_are() -> str:
    width = 768
    _, layout = FAMILIES["gpt2"].place("blocks.0.self_attention.k_proj.weight")
    places = torch.arange(width * 3 * width).reshape(layout.shape((width, width)))
    first = layout.ours(places)[0]  # what makes the first entry of a key
    rows, columns = first // (3 * width), first % (3 * width)
    if len(set(columns.tolist())) == 1:
        return f"Column {columns[0]}"
    return f"Row {rows[0]}"


def other_pairing() -> str:
    sizes = {"vocab_size": 11, "d_model": 12, "num_layers": 1, "num_heads": 2, "d_ff": 7}
    config = GPTConfig(**sizes, **LLAMA, rope_pairing="half")
    published, other = GPT(config), GPT(replace(config, rope_pairing="interleaved"))
    report = other.load_state_dict(published.state_dict())
    ids = torch.randint(11, (2, 5))
    assert not torch.allclose(published.eval()(ids), other.eval()(ids))
    return "Missing" if report.missing_keys else "Nothing"


def largest_part() -> str:
    sizes = {"vocab_size": 128256, "d_model": 4096, "num_layers": 32, "num_heads": 32}
    with torch.device("meta"):
        model = GPT(GPTConfig(**sizes, **LLAMA, d_ff=14336, num_kv_heads=8))
    parts = {"The attention": 0, "The feed-forward": 0, "The table": 0}
    for name, parameter in model.named_parameters():
        if "self_attention" in name:
            parts["The attention"] += parameter.numel()
        elif "feed_forward" in name:
            parts["The feed-forward"] += parameter.numel()
        else:
            parts["The table"] += parameter.numel()
    return max(parts, key=parts.get)


def norm_of_a_shifted_vector() -> str:
    x = torch.randn(7)
    rms, layer = nn.RMSNorm(7), lambda x: F.layer_norm(x, (7,))
    stays = {
        name: torch.allclose(norm(x), norm(x + 3), atol=1e-4)
        for name, norm in (("RMSNorm", rms), ("LayerNorm", layer))
    }
    same, changed = sorted(stays, key=stays.get, reverse=True)
    assert stays[same] and not stays[changed]
    return f"{same} gives the same as before, {changed} does not"


def random_or_fresh() -> str:
    sizes = {"vocab_size": 11, "d_model": 12, "num_layers": 1, "num_heads": 2, "d_ff": 7}
    model, ids = BERT(BERTConfig(**sizes, max_len=5)).eval(), torch.randint(1, 11, (2, 5))
    before = model(ids)
    for name, parameter in model.named_parameters():
        if name.endswith("bias") and "decoder" not in name:
            torch.nn.init.zeros_(parameter)
        elif parameter.dim() == 1 and "decoder" not in name:
            torch.nn.init.ones_(parameter)
    if torch.equal(model(ids), before):
        return "Because in a fresh model biases are 0 and norms are 1"
    return "Because fresh models"
