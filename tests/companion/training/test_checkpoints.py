"""Checkpoints: what is written comes back, and nothing else does."""

import io
import json
import os
import pickle
import warnings
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from companion.training import load_checkpoint, save_checkpoint
from companion.training.checkpoints import require_savable
from companion.training.sharding import Places, save_folder


class Tied(nn.Module):
    """An embedding that is also the head, and buffers of several kinds."""

    def __init__(self, width=5, tied=True):
        super().__init__()
        self.embedding = nn.Embedding(7, width)
        self.norm = nn.BatchNorm1d(width)
        self.head = nn.Linear(width, 7, bias=False)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(self, token_ids):
        return self.head(self.norm(self.embedding(token_ids)))


def trained(seed=0, **changes):
    """A model and its optimizer after two steps, in bfloat16 in part."""
    torch.manual_seed(seed)
    model = Tied(**changes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, betas=(0.8, 0.95))
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randint(7, (11,))).square().sum().backward()
        optimizer.step()
    return model, optimizer


def same(one, other) -> bool:
    """Whether two state dicts are equal bit for bit, and in their types."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def test_everything_comes_back(tmp_path):
    path = tmp_path / "new" / "folder" / "model.safetensors"
    model, optimizer = trained(0)
    state = {"step": 12, "loss": [0.1, 1 / 3, float("inf")], "name": "ß", "best": {"of": None}}
    save_checkpoint(path, model, optimizer, **state)
    drawn = torch.rand(3)

    other, its_optimizer = trained(1)
    assert load_checkpoint(path, other, its_optimizer) == state
    assert same(other.state_dict(), model.state_dict())
    assert same(its_optimizer.state_dict(), optimizer.state_dict())
    assert torch.equal(torch.rand(3), drawn)
    assert other.head.weight is other.embedding.weight
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_tied_weight_is_written_once(tmp_path):
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, Tied())
    names = [name for name in load_file(path) if name.startswith("model.")]
    assert "model.embedding.weight" in names
    assert "model.head.weight" not in names


def test_a_model_alone_leaves_the_random_state_as_it_is(tmp_path):
    path = tmp_path / "model.safetensors"
    model, _ = trained(0)
    save_checkpoint(path, model)
    other, _ = trained(1)
    before = torch.get_rng_state()
    assert load_checkpoint(path, other) == {}
    assert torch.equal(torch.get_rng_state(), before)
    assert same(other.state_dict(), model.state_dict())


def test_the_dtypes_of_a_model_are_kept(tmp_path):
    path = tmp_path / "model.safetensors"
    model, other = nn.Linear(3, 5).bfloat16(), nn.Linear(3, 5).bfloat16()
    save_checkpoint(path, model)
    load_checkpoint(path, other)
    assert same(other.state_dict(), model.state_dict())


def test_another_dtype_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, nn.Linear(3, 5))
    with pytest.raises(ValueError, match=r"weight: \(5, 3\) float32 in the file, .* bfloat16 here"):
        load_checkpoint(path, nn.Linear(3, 5).bfloat16())


class Shared(nn.Module):
    """Tensors that are parts of others: views of a buffer, a Parameter of another's memory."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(7, 5), nn.Linear(5, 7)
        self.head.weight.data = self.embedding.weight.data
        self.register_buffer("all", torch.arange(8.0) + torch.randint(9, ()))
        self.register_buffer("first", self.all[:4])
        self.register_buffer("turned", self.all.view(2, 4).T)


def test_tensors_that_share_memory_are_saved(tmp_path):
    path, model, other = tmp_path / "model.safetensors", Shared(), Shared()
    save_checkpoint(path, model)
    load_checkpoint(path, other)
    assert same(other.state_dict(), model.state_dict())


def test_a_history_of_any_length_is_saved(tmp_path, monkeypatch):
    """As tensors: the JSON of a file's header may have 100 MB."""
    path, losses = tmp_path / "model.safetensors", [0.1] * 5_000
    save_checkpoint(path, nn.Linear(3, 5), history={"loss": losses, "at": [1, 2], "other": []})
    assert load_checkpoint(path)["history"] == {"loss": losses, "at": [1, 2], "other": []}
    with safe_open(path, framework="pt") as file:
        assert sum(map(len, file.metadata().values())) < 1_000


def test_a_link_stays_one_and_what_it_names_is_written(tmp_path):
    (tmp_path / "disk").mkdir()
    path, link = tmp_path / "disk" / "model.safetensors", tmp_path / "link.safetensors"
    link.symlink_to(path)
    for bias in (1.0, 2.0):
        model = nn.Linear(3, 5)
        nn.init.constant_(model.bias, bias)
        save_checkpoint(link, model)
        load_checkpoint(path, other := nn.Linear(3, 5))
        assert link.is_symlink() and same(other.state_dict(), model.state_dict())


def test_a_checkpoint_may_be_read_by_whom_the_umask_says(tmp_path):
    path, umask = tmp_path / "model.safetensors", os.umask(0o027)
    try:
        save_checkpoint(path, nn.Linear(3, 5))
    finally:
        os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("kept", [0, 3, 8, 100, 0.5, 0.999])
def test_a_truncated_file_is_noticed(tmp_path, kept):
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, *trained())
    contents = path.read_bytes()
    path.write_bytes(contents[: kept if isinstance(kept, int) else int(kept * len(contents))])
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged.*use another checkpoint"):
        load_checkpoint(path)


def test_a_foreign_file_is_refused(tmp_path):
    path = tmp_path / "published.safetensors"
    save_file({"weight": torch.zeros(3)}, path)
    with pytest.raises(ValueError, match=r"published\.safetensors was not written by.*pretrained"):
        load_checkpoint(path)
    save_file({"weight": torch.zeros(3)}, path, {"format": "pt"})
    with pytest.raises(ValueError, match="was not written by"):
        load_checkpoint(path)


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_nothing_is_unpickled(tmp_path):
    path, trace = tmp_path / "bomb.pt", tmp_path / "exploded"
    path.write_bytes(pickle.dumps(Bomb(trace)))
    with pytest.raises(ValueError, match=r"bomb\.pt is damaged, or not a safetensors file"):
        load_checkpoint(path)
    assert not trace.exists()
    pickle.loads(path.read_bytes())
    assert trace.exists(), "the bomb is a dud: the test would not see an unpickling"


def save_sharded(path, model, optimizer, **state):
    """What `save_checkpoint` does with a sharded model, in a process that is alone."""
    with warnings.catch_warnings(action="ignore"):  # torch's, that it is alone
        save_folder(path, require_savable(model, optimizer, state) | RANDOM)


RANDOM = {"random.cpu": torch.get_rng_state()}


def test_the_folder_of_a_sharded_model_comes_back(tmp_path):
    path, state = tmp_path / "run", {"step": 12, "loss": [1 / 3, float("inf")]}
    model, optimizer = trained(0)
    save_sharded(path, model, optimizer, step=11)
    save_sharded(path, model, optimizer, **state)
    assert [part.name for part in tmp_path.iterdir()] == ["run"]
    assert [part.name for part in path.iterdir()] == ["2"]
    other, its_optimizer = trained(1)
    assert load_checkpoint(path) == load_checkpoint(path, other, its_optimizer) == state
    assert same(other.state_dict(), model.state_dict())
    assert same(its_optimizer.state_dict(), optimizer.state_dict())
    with pytest.raises(ValueError, match=r"embedding\.weight: \(7, 5\) float32 in the file"):
        load_checkpoint(path, Tied(width=3))


@pytest.mark.parametrize("killed", ["save", "os.replace", "shutil.rmtree"])
def test_who_is_killed_while_saving_a_folder_leaves_a_whole_one(tmp_path, monkeypatch, killed):
    path, (model, optimizer) = tmp_path / "run", trained(0)
    save_sharded(path, model, optimizer, step=1)

    def die(*_, **__):
        raise SystemExit

    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        where = (
            "torch.distributed.checkpoint." if killed == "save" else "companion.training.sharding."
        )
        patched.setattr(where + killed, die)
        save_sharded(path, model, optimizer, step=2)
    assert load_checkpoint(path, *trained(1)) == {"step": 2 if killed == "shutil.rmtree" else 1}
    save_sharded(path, model, optimizer, step=3)
    assert load_checkpoint(path, *trained(1)) == {"step": 3}
    assert [part.name for part in tmp_path.iterdir()] == ["run"] and len(list(path.iterdir())) == 1


def test_a_path_is_read_as_any_python_pickles_it():
    kind = type(Path())
    for module in ("pathlib", "pathlib._local"):  # the second by Python 3.13
        pickled = f"c{module}\n{kind.__name__}\n(S'a'\ntR.".encode()
        assert Places(io.BytesIO(pickled)).load() == Path("a")


def test_of_a_folder_only_the_places_are_unpickled(tmp_path):
    path, trace = tmp_path / "run", tmp_path / "exploded"
    save_sharded(path, *trained(0))
    (metadata,) = path.rglob(".metadata")
    contents = metadata.read_bytes()
    for name in ("system", "load"):  # of os, which torch's own modules import, and of torch
        metadata.write_bytes(f"ctorch.serialization\nos.{name}\n(S'touch {trace}'\ntR.".encode())
        with pytest.raises(ValueError, match=r"UnpicklingError: .* has no place in a checkpoint"):
            load_checkpoint(path)
    metadata.write_bytes(pickle.dumps(Bomb(trace)))
    with pytest.raises(ValueError, match=r"run is damaged.*has no place in a checkpoint"):
        load_checkpoint(path)
    assert not trace.exists()
    metadata.write_bytes(contents[:-20])
    with pytest.raises(ValueError, match=r"run is damaged"):
        load_checkpoint(path)
    metadata.write_bytes(contents)
    (data,) = path.rglob("*.distcp")
    data.write_bytes(data.read_bytes()[:-3000])
    with pytest.raises(ValueError, match=r"run is damaged.*use another checkpoint"):
        load_checkpoint(path, *trained(0))


def test_a_folder_and_a_missing_file_are_named(tmp_path):
    with pytest.raises(ValueError, match=str(tmp_path)):
        load_checkpoint(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no checkpoint .*none\.safetensors"):
        load_checkpoint(tmp_path / "none.safetensors")


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"width": 3}, r"embedding\.weight: \(7, 5\) float32 in the file, \(7, 3\) float32 here"),
        (
            {"tied": False},
            r"head\.weight: \(7, 5\) float32 tied to .* in the file, \(7, 5\) float32 here",
        ),
    ],
)
def test_another_model_is_refused_and_left_alone(tmp_path, changes, difference):
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, *trained(0))
    model, optimizer = trained(1, **changes)
    before = json.dumps([model.state_dict(), optimizer.state_dict()], default=torch.Tensor.tolist)
    with pytest.raises(ValueError, match=difference):
        load_checkpoint(path, model, optimizer)
    after = json.dumps([model.state_dict(), optimizer.state_dict()], default=torch.Tensor.tolist)
    assert after == before


def test_names_on_one_side_only_are_listed(tmp_path):
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, nn.Linear(3, 5, bias=False))
    with pytest.raises(ValueError, match=r"bias: missing in the file, \(5,\) float32 here"):
        load_checkpoint(path, nn.Linear(3, 5))
    save_checkpoint(path, nn.Linear(3, 5))
    with pytest.raises(ValueError, match=r"bias: \(5,\) float32 in the file, missing here"):
        load_checkpoint(path, nn.Linear(3, 5, bias=False))


class Stack(nn.Module):
    """Two layers with tied weights, one of which may be compiled alone."""

    def __init__(self, compiled=False):
        super().__init__()
        first = nn.Linear(3, 3)
        self.first = torch.compile(first, backend="eager") if compiled else first
        self.second = nn.Linear(3, 3)
        self.second.weight = first.weight


def all_compiled():
    return torch.compile(Stack(), backend="eager")


def part_compiled():
    return Stack(compiled=True)


@pytest.mark.parametrize("compiled", [all_compiled, part_compiled])
@pytest.mark.parametrize("compiled_first", [True, False])
def test_a_compiled_model_has_the_checkpoint_of_the_plain_one(tmp_path, compiled, compiled_first):
    path = tmp_path / "model.safetensors"
    saved, loaded = (compiled(), Stack()) if compiled_first else (Stack(), compiled())
    save_checkpoint(path, saved, torch.optim.AdamW(saved.parameters()))
    assert {"model.first.weight", "model.second.bias"} <= load_file(path).keys()
    load_checkpoint(path, loaded, torch.optim.AdamW(loaded.parameters()))
    assert len(list(loaded.parameters())) == 3
    for ours, theirs in zip(loaded.parameters(), saved.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_how_the_optimizer_computes_is_not_taken_from_the_file(tmp_path):
    """What was trained on a GPU, where AdamW is fused, goes on without one, and back."""
    path = tmp_path / "model.safetensors"
    model, optimizer = trained()
    optimizer.param_groups[0] |= {"fused": True, "lr": 0.3}
    save_checkpoint(path, model, optimizer)
    other, its_optimizer = trained(1)
    load_checkpoint(path, other, its_optimizer)
    assert its_optimizer.param_groups[0]["fused"] is None
    assert its_optimizer.param_groups[0]["lr"] == 0.3


def test_another_optimizer_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    model, optimizer = trained()
    save_checkpoint(path, model)
    with pytest.raises(ValueError, match="was saved without an optimizer"):
        load_checkpoint(path, model, optimizer)
    save_checkpoint(path, model, optimizer)
    groups = [{"params": [p]} for p in model.parameters()]
    with pytest.raises(ValueError, match=r"model\.safetensors; .*\s+group 0: .* in the file"):
        load_checkpoint(path, model, torch.optim.AdamW(groups))
    with pytest.raises(ValueError, match="class: AdamW in the file, SGD here"):
        load_checkpoint(path, model, torch.optim.SGD(model.parameters(), lr=0.1))
    other = torch.optim.AdamW(reversed(list(model.parameters())))
    before = other.state_dict()
    with pytest.raises(ValueError, match=r"group 0: \[\(7, 5\), .* in the file, \[\(5,\), .* here"):
        load_checkpoint(path, model, other)
    assert same(other.state_dict(), before)


def test_an_optimizer_that_keeps_more_than_tensors_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    model = nn.Linear(3, 5)
    optimizer = torch.optim.LBFGS(model.parameters())

    def closure():
        loss = model(torch.ones(2, 3)).square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    with pytest.raises(TypeError, match=r"optimizer\.0\.func_evals must be a tensor, got int"):
        save_checkpoint(path, model, optimizer)
    adam = torch.optim.AdamW(model.parameters(), lr=torch.tensor(0.1), capturable=True)
    with pytest.raises(TypeError, match="Tensor is not JSON"):
        save_checkpoint(path, model, adam)
    assert not path.exists()


def test_a_state_that_json_does_not_have_leaves_the_last_checkpoint(tmp_path):
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, Tied(), step=1)
    with pytest.raises(TypeError, match=r"the state must be numbers.*Tensor"):
        save_checkpoint(path, Tied(), step=torch.zeros(2))
    assert load_checkpoint(path) == {"step": 1}
