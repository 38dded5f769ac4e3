"""The commands, in a copy of the Makefile: what they say, refuse and leave behind."""

import os
import re
import shutil
import subprocess

import pytest


@pytest.fixture
def clone(root, tmp_path):
    """A folder with a space in its name and just what make reads before it builds anything."""
    clone = tmp_path / "a clone"
    clone.mkdir()
    for name in ("Makefile", "requirements.txt", "pyproject.toml", "_config.yml", "_toc.yml"):
        shutil.copy(root / name, clone)
    for name in ("book", "companion"):
        (clone / name).mkdir()
    return clone


def make(folder, *words):
    return subprocess.run(["make", "-C", folder, *words], capture_output=True, text=True)


@pytest.mark.parametrize("words", [(), ("-s", "help")])
def test_make_alone_lists_the_commands(clone, words):
    done = make(clone, *words)
    assert done.returncode == 0, done.stderr
    for command in "book test figures browser slides serve claims chapter clean".split():
        assert f"make {command} — " in done.stdout


@pytest.mark.parametrize("answer", ["echo 3.9", "echo not found >&2; exit 127"])
def test_another_python_is_refused_before_anything_is_installed(clone, answer):
    python = clone / "python"
    python.write_text(f"#!/bin/sh\n{answer}\n")
    python.chmod(0o755)
    done = make(clone, "book", "PYTHON=./python")
    assert done.returncode != 0
    assert "install on CPython 3.11 3.12 3.13; ./python gives: " in done.stdout
    assert "make PYTHON=/path/to/python3.12" in done.stdout
    assert not (clone / ".venv").exists()


def test_the_readme_names_the_pythons_that_make_accepts(root):
    supported = re.search(r"^SUPPORTED := (.*)", (root / "Makefile").read_text("utf8"), re.M)[1]
    first, *_, last = supported.split()
    assert f"CPython {first} to {last}" in (root / "README.md").read_text("utf8")


def test_clean_removes_what_the_commands_make(clone):
    before = sorted(clone.rglob("*"))
    for name in (".venv/bin", "_build/html", "companion/__pycache__", "dist", "x.egg-info"):
        (clone / name).mkdir(parents=True)
    done = make(clone, "clean")
    assert done.returncode == 0, done.stderr
    assert sorted(clone.rglob("*")) == before


@pytest.mark.parametrize("command", ["test", "book", "clean"])
def test_nothing_is_removed_through_a_link(clone, tmp_path, command):
    """What a link leads to is another clone's; a venv is cleared as `python -m venv` does it."""
    venv, build = tmp_path / "venv", tmp_path / "build"
    kept = [venv / "pyvenv.cfg", build / "html/index.html"]
    for file in kept:
        file.parent.mkdir(parents=True)
        file.touch()
    (clone / ".venv").symlink_to(venv)
    (clone / "_build").symlink_to(build)
    python = clone / "python"
    python.write_text(
        """#!/bin/sh
        case "$1" in -c) echo 3.12; exit;; esac
        shift 3
        rm -rf "$1"/*
        mkdir -p "$1/bin"
        printf '#!/bin/sh\\n' > "$1/bin/python"
        cp "$1/bin/python" "$1/bin/jupyter-book"
        chmod +x "$1/bin/"*
        """
    )
    python.chmod(0o755)
    make(clone, command, "PYTHON=./python")
    assert all(file.exists() for file in kept)
    assert not (clone / ".venv").is_symlink()


def test_a_finished_environment_is_not_made_again(clone):
    (clone / ".venv").mkdir()
    (clone / ".venv" / ".complete").touch()
    assert "pip install" not in make(clone, "-n", "test").stdout
    later = (clone / ".venv" / ".complete").stat().st_mtime + 1  # file times are coarse
    os.utime(clone / "requirements.txt", (later, later))
    assert "pip install" in make(clone, "-n", "test").stdout


def test_after_a_figures_script_or_a_style_sheet_no_page_is_made_again(clone):
    (clone / ".venv").mkdir()
    (clone / "_build").mkdir()
    script, sheet = clone / "book/one/figures/word.js", clone / "book/_assets/book.css"
    module, claims = clone / "companion/nn.py", clone / "book/one/claims.json"
    for file in (script, sheet, module, claims):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (clone / ".venv" / ".complete").touch()
    built = clone / "_build" / ".site-solutions-yes"

    def commands(*changed):
        built.touch()
        for file in changed:
            later = built.stat().st_mtime + 1
            os.utime(file, (later, later))
        done = make(clone, "-n", "book")
        assert done.returncode == 0, done.stderr
        earlier = built.stat().st_mtime - 1
        for file in changed:
            os.utime(file, (earlier, earlier))
        return done.stdout

    assert "book._press" not in commands()
    for asset in (script, sheet):
        assert "python -m book._press.assets" in commands(asset)
        assert "jupyter-book build" not in commands(asset)
        for file in (module, claims):
            said = commands(file, asset)
            assert (
                said.index("validate") < said.index("rm -rf _build/html") < said.index("--all -W")
            )
            assert "book._press.assets" not in said
