"""Folders that are damaged or hostile, and a hub that is far away, lacks the model, or has it."""

import json
import pickle
import re
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import huggingface_hub
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from companion.pretrained import load, load_tokenizer
from companion.pretrained.folder import Tensors
from tests.companion.pretrained.conftest import ids, random_model


def refused(folder, error, *parts):
    with pytest.raises(error) as raised:
        load(folder)
    for part in parts:
        assert part in str(raised.value), str(raised.value)


def test_no_such_folder(tmp_path):
    for path in (tmp_path / "nowhere", str(tmp_path / "nowhere"), "./nowhere", "a/b/c", "~/x"):
        refused(path, FileNotFoundError, "there is no folder", "config.json")
    with pytest.raises(TypeError, match="name_or_folder must be a name on the hub or the path"):
        load(None)


@pytest.mark.parametrize("lone", [True, False])
def test_an_adapter_is_refused(saved, lone):
    """transformers would add it to the weights beside it, or to those that it names."""
    folder = saved("gpt2")[1]
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    if lone:
        (folder / "config.json").unlink()
    refused(folder, ValueError, str(folder), "adapter_config.json", "merge_and_unload")


def test_a_file_is_no_folder(saved):
    folder = saved("gpt2")[1]
    refused(folder / "model.safetensors", ValueError, "is a file; give the folder")


@pytest.mark.parametrize("size", [0, 7, 8, 100, -1, -1000])
def test_a_truncated_file(size, saved):
    path = saved("gpt2")[1] / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    refused(path.parent, ValueError, str(path), "is truncated, damaged or not a safetensors file")


@pytest.fixture(scope="module")
def gpt2_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt2")
    random_model("gpt2").save_pretrained(folder)
    return folder, (folder / "model.safetensors").read_bytes()


@given(data=st.data())
def test_no_damage_to_the_header_passes_unnoticed_or_crashes(gpt2_folder, data):
    folder, good = gpt2_folder
    length = struct.unpack("<Q", good[:8])[0]
    at = data.draw(st.integers(0, 7 + length))
    byte = data.draw(st.integers(0, 255))
    (folder / "model.safetensors").write_bytes(good[:at] + bytes([byte]) + good[at + 1 :])
    try:
        load(folder)
    except ValueError as error:
        assert str(folder) in str(error)
    # Else: another spelling of the same header, as white space, or two tensors of one shape whose
    # places were exchanged. The format has no checksum.


def test_offsets_outside_of_the_file(saved):
    path = saved("gpt2")[1] / "model.safetensors"
    good = path.read_bytes()
    (length,) = struct.unpack("<Q", good[:8])
    header = json.loads(good[8 : 8 + length])
    for offsets in ([0, 10**12], [-8, 0], [8, 0], [0, 2**63]):
        header["transformer.wte.weight"]["data_offsets"] = offsets
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + good[8 + length :])
        refused(path.parent, ValueError, "is truncated, damaged or not a safetensors file")
    path.write_bytes(struct.pack("<Q", 2**62) + good[8:])
    refused(path.parent, ValueError, "is truncated, damaged or not a safetensors file")


class Bomb:
    """Its pickle writes a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.safetensors"])
def test_nothing_is_unpickled(name, saved, tmp_path):
    folder = saved("gpt2")[1]
    (folder / "model.safetensors").unlink()
    torch.save({"wte.weight": Bomb(tmp_path / "trace")}, folder / name)
    if name == "pytorch_model.bin":
        refused(folder, FileNotFoundError, "its pytorch_model.bin is a pickle", "Only safetensors")
    else:
        refused(folder, ValueError, "not a safetensors file")
    (folder / name).write_bytes(pickle.dumps(Bomb(tmp_path / "trace")))
    with pytest.raises((FileNotFoundError, ValueError)):
        load(folder)
    assert not (tmp_path / "trace").exists()
    pickle.loads((folder / name).read_bytes()).close()
    assert (tmp_path / "trace").exists()  # the bomb is one


def test_a_folder_without_weights(saved):
    folder = saved("gpt2")[1]
    (folder / "model.safetensors").unlink()
    refused(folder, FileNotFoundError, "there is no model.safetensors in", "save_pretrained")
    (folder / "config.json").unlink()
    refused(folder, FileNotFoundError, "there is no config.json in")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (b"", "damaged or not JSON"),
        (b'{"model_type": "gpt2",', "damaged or not JSON"),
        (b"\xff\xfe", "damaged or not JSON"),
        (b"[1]", "must hold a JSON object, got list"),
        (b"{}", "model_type = None"),
    ],
)
def test_a_broken_config(text, part, saved):
    folder = saved("gpt2")[1]
    (folder / "config.json").write_bytes(text)
    refused(folder, ValueError, str(folder / "config.json"), part)


def test_broken_indices(saved):
    folder = saved("bert with MLM head", max_shard_size="9KB")[1]
    index = folder / "model.safetensors.index.json"
    good = json.loads(index.read_text())
    load(folder)
    shard = sorted(folder.glob("model-*.safetensors"))[1]
    shard.rename(folder / "elsewhere")
    refused(folder, FileNotFoundError, "is incomplete", f"names {shard.name}, not there")
    (folder / "elsewhere").rename(shard)
    for name in ("../model.safetensors", "/etc/passwd", "pytorch_model.bin", 3):
        index.write_text(json.dumps({"weight_map": good["weight_map"] | {"x": name}}))
        refused(folder, ValueError, "must name safetensors files beside it", str(name))
    for weight_map in (None, [], {}):
        index.write_text(json.dumps({"weight_map": weight_map}))
        refused(folder, ValueError, "has no weight_map")
    index.write_text("{")
    refused(folder, ValueError, "damaged or not JSON")
    kept = {k: v for k, v in good["weight_map"].items() if v != shard.name}
    index.write_text(json.dumps({"weight_map": kept}))
    refused(folder, ValueError, "missing: ")


def test_the_index_decides_which_file_a_tensor_is_read_from(saved):
    theirs, folder = saved("llama", max_shard_size="9KB")
    index = json.loads((folder / "model.safetensors.index.json").read_text())["weight_map"]
    name, files = "model.layers.1.mlp.up_proj.weight", sorted(set(index.values()))
    assert files[0] < index[name] < files[-1]
    for stale in (folder / files[0], folder / files[-1]):
        wrong = torch.ones_like(theirs.get_parameter(name))
        save_file(load_file(stale) | {name: wrong}, stale)
    x = ids(2, 17)
    torch.testing.assert_close(load(folder)(x), theirs(x).logits, rtol=2e-5, atol=2e-5)


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "a.GGUF"])
def test_a_pointer_of_git_lfs_says_how_to_get_the_file(name, saved):
    folder = saved("gpt2")[1]
    (folder / name).write_bytes(POINTER)
    read = load_tokenizer if name == "tokenizer.json" else load
    with pytest.raises(ValueError, match=rf"{name} is .*`git lfs pull`"):
        read(folder / name if name == "a.GGUF" else folder)


def test_tensors_are_read_when_they_are_taken(saved):
    theirs, folder = saved("gpt2")
    tensors = Tensors(folder)
    expected = theirs.transformer.h[1].attn.c_attn.weight
    assert tensors.shapes["transformer.h.1.attn.c_attn.weight"] == (22, 66)
    assert tensors.dtypes["transformer.h.1.attn.c_attn.weight"] == "F64"
    assert torch.equal(tensors.take("transformer.h.1.attn.c_attn.weight"), expected)


# The hub: one that nobody answers for, and one of our own on this machine.


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """hub(address): from now on the hub is there, and nothing has been downloaded before."""

    def use(address):
        constants = huggingface_hub.constants
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, address)
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)

    return use


def test_no_network(hub):
    hub("http://127.0.0.1:9")
    for name in ("gpt2", "sentence-transformers/all-MiniLM-L6-v2"):
        refused(
            name, ConnectionError, f"there is no folder {name!r} here", "from the hub", "folder"
        )


COMMIT = "c" * 40


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as a download asks for. It has the models in `folders`, by name."""

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.partition("?")[0].strip("/").removeprefix("api/models/")
        name, action, rest = [*re.split("/(revision|tree|resolve)/", path), "", ""][:3]
        folder = self.server.folders.get(name)
        if folder is None:
            self.reply(b"{}", 404, {"X-Error-Code": "RepoNotFound"})
        elif action == "revision":
            self.reply(json.dumps({"id": name, "sha": COMMIT, "siblings": []}).encode())
        elif action == "tree":
            files = [
                {"type": "file", "path": p.name, "size": p.stat().st_size, "oid": p.name}
                for p in sorted(folder.iterdir())
            ]
            self.reply(json.dumps(files).encode())
        else:
            file = rest.removeprefix(f"{COMMIT}/")
            self.server.sent.add(file)
            headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{file}"'}
            self.reply((folder / file).read_bytes(), 200, headers)

    def reply(self, body, status=200, headers=()):
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **dict(headers)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@pytest.fixture
def own_hub(hub):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.folders, server.sent = {}, set()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    hub(f"http://127.0.0.1:{server.server_port}")
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_name_that_the_hub_does_not_know(own_hub):
    refused("some-one/some-thing", ValueError, "no model of that name", "check the name")


def test_a_model_of_the_hub_is_downloaded_once(own_hub, hub, saved):
    theirs, folder = saved("bert with MLM head", max_shard_size="9KB")
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(1))
    own_hub.folders["some-one/bert"] = folder
    x = ids(2, 5, start=1)
    torch.testing.assert_close(load("some-one/bert")(x), theirs(x).logits)
    shards = {path.name for path in folder.glob("*.safetensors")}
    assert own_hub.sent == {"config.json", "model.safetensors.index.json"} | shards
    own_hub.sent.clear()
    torch.testing.assert_close(load("some-one/bert")(x), theirs(x).logits)
    assert not own_hub.sent
    hub("http://127.0.0.1:9")  # the network is gone; what has been downloaded is there
    torch.testing.assert_close(load("some-one/bert")(x), theirs(x).logits)


def test_a_model_of_the_hub_with_shards_of_other_names(own_hub, saved):
    theirs, folder = saved("bert with MLM head", max_shard_size="9KB")
    index = folder / "model.safetensors.index.json"
    for path in folder.glob("*.safetensors"):  # as those of Qwen3.5 are called
        path.rename(folder / path.name.replace("model-", "model.safetensors-"))
    index.write_text(index.read_text().replace("model-", "model.safetensors-"))
    (folder / "model.fp16.safetensors").touch()
    own_hub.folders["some-one/bert"] = folder
    x = ids(2, 5, start=1)
    torch.testing.assert_close(load("some-one/bert")(x), theirs(x).logits)
    assert "model.fp16.safetensors" not in own_hub.sent


def test_a_model_of_the_hub_without_safetensors(own_hub, saved):
    folder = saved("gpt2")[1]
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    own_hub.folders["some-one/pickled"] = folder
    refused("some-one/pickled", FileNotFoundError, "no model.safetensors", "Only safetensors")
    assert own_hub.sent == {"config.json", "generation_config.json"}


def test_a_folder_goes_before_a_name(own_hub, saved, monkeypatch):
    theirs, folder = saved("gpt2")
    monkeypatch.chdir(folder.parent)
    x = ids(2, 5)
    torch.testing.assert_close(load(folder.name)(x), theirs(x).logits)
    assert not own_hub.sent
