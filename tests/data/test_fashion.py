"""Fashion-MNIST: what is fetched, what is checked, what is said when it cannot be had."""

import gzip
import hashlib
import http.client
import io
import re
import urllib.request
from pathlib import Path

import pytest
import torch

from companion.data import fashion, fashion_mnist


def idx(values):
    """An uint8 tensor as an IDX file, compressed."""
    sizes = b"".join(size.to_bytes(4, "big") for size in values.shape)
    return gzip.compress(b"\0\0\x08" + bytes([values.dim()]) + sizes + bytes(values.flatten()))


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A place with four small files, which `fashion` takes for the published ones."""
    generator = torch.Generator().manual_seed(0)
    parts, files = {}, {}
    place = tmp_path / "published"
    place.mkdir()
    for prefix, size in (("train", 7), ("t10k", 3)):
        images = torch.randint(256, (size, 28, 28), generator=generator).byte()
        labels = torch.randint(10, (size,), generator=generator).byte()
        parts[prefix] = images, labels
        for kind, values in (("images-idx3", images), ("labels-idx1", labels)):
            name = f"{prefix}-{kind}-ubyte.gz"
            (place / name).write_bytes(idx(values))
            files[name] = hashlib.md5((place / name).read_bytes()).hexdigest()
    assert files.keys() == fashion.FILES.keys()
    monkeypatch.setattr(fashion, "FILES", files)
    monkeypatch.setattr(fashion, "SOURCES", ((tmp_path / "nowhere").as_uri(), place.as_uri()))
    return parts


def test_both_parts_are_fetched_once(published, tmp_path, monkeypatch):
    folder = tmp_path / "cache" / "here"
    for split, prefix in (("train", "train"), ("test", "t10k")):
        images, labels = fashion_mnist(split, folder)
        assert torch.equal(images[:, 0], published[prefix][0]) and images.dtype == torch.uint8
        assert torch.equal(labels, published[prefix][1].long()) and labels.dtype == torch.int64
        assert images.shape[1:] == (1, 28, 28)
    assert {path.name for path in folder.iterdir()} == fashion.FILES.keys()
    monkeypatch.setattr(fashion, "SOURCES", ())
    assert len(fashion_mnist("test", folder)[1]) == 3


def test_without_a_network_it_says_what_to_do(published, tmp_path, monkeypatch):
    monkeypatch.setattr(fashion, "SOURCES", ((tmp_path / "nowhere").as_uri(),))
    told = r"train-images.*could not be downloaded.*nowhere.*github\.com/zalandoresearch"
    with pytest.raises(ConnectionError, match=told) as raised:
        fashion_mnist("train", tmp_path / "cache")
    assert str(tmp_path / "cache") in str(raised.value)
    assert not (tmp_path / "cache").exists()


def test_a_connection_that_breaks_off_is_answered_from_the_next_source(
    published, tmp_path, monkeypatch
):
    def opened(address, **_):
        if "nowhere" not in address:
            return original(address)
        body = io.BytesIO()
        body.read = lambda: (_ for _ in ()).throw(http.client.IncompleteRead(b"half"))
        return body

    original = urllib.request.urlopen
    monkeypatch.setattr(urllib.request, "urlopen", opened)
    assert len(fashion_mnist("test", tmp_path / "cache")[1]) == 3


def test_several_processes_may_fetch_at_once(published, tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    write = Path.write_bytes

    def interleaved(path, contents):  # before the file is in its place, another brings them all
        write(path, contents)
        monkeypatch.setattr(Path, "write_bytes", write)
        fashion_mnist("test", folder)

    monkeypatch.setattr(Path, "write_bytes", interleaved)
    assert len(fashion_mnist("test", folder)[1]) == 3
    assert {path.name for path in folder.iterdir()} == {n for n in fashion.FILES if "t10k" in n}


def test_another_file_than_the_published_one_is_not_kept(published, tmp_path):
    place = tmp_path / "published" / "t10k-labels-idx1-ubyte.gz"
    place.write_bytes(b"Please log in to the wireless network")
    with pytest.raises(ConnectionError, match="MD5 sum"):
        fashion_mnist("test", tmp_path / "cache")
    folder = tmp_path / "cache"
    assert not (folder / place.name).exists()
    (folder / place.name).write_bytes(b"half of it")
    with pytest.raises(ValueError, match=re.escape(f"delete {folder / place.name}")):
        fashion_mnist("test", folder)


def test_there_is_no_third_part():
    with pytest.raises(ValueError, match="choose one of train, test"):
        fashion_mnist("validation")
    assert len(fashion.FASHION_CLASSES) == 10
