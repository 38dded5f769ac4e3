"""The book under a fork's address, with the commands that the workflow runs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

from book._press.execute import output_key
from book._press.publish import PLACEHOLDER, publish, with_address

ROOT = Path(__file__).parents[3]
HERE = f"https://github.com/{PLACEHOLDER}"
FORK = "https://github.com/ada/lectures"
CONFIG = f"""\
repository:
  url: {HERE}
  branch: main
html:
  baseurl: https://{PLACEHOLDER.replace("/", ".github.io/")}/
"""
README = """\
[![The front](book/front.jpg)](book/index.md)
[once](#once), [a chapter](book/one/one.ipynb#cell-x), [torch](https://pytorch.org), `a[0](x)`
"""
WORKFLOW = ROOT / ".github" / "workflows" / "book.yml"
PICTURE = bytes(range(256)) + HERE.encode()


def git(folder, *words):
    identity = ["-c", "user.name=ada", "-c", "user.email=ada@localhost"]
    command = ["git", "-C", folder, *identity, *words]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode().strip()


@pytest.fixture
def clone(tmp_path):
    """A clone of a fork: a configuration, one notebook, and the command."""
    clone = tmp_path / "clone"
    text, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    cells = [
        text(f"# √2\n\n[The table]({HERE}/blob/main/benchmarks/one.md) of [this book]({HERE})."),
        code(f'%pip install --quiet "transformer-companion @ git+{HERE}"'),
    ]
    notebook = nbformat.writes(nbformat.v4.new_notebook(cells=cells))
    files = {
        name: (ROOT / name).read_bytes()
        for name in ("book/_press/__init__.py", "book/_press/publish.py")
    }
    files |= {
        "_config.yml": CONFIG.encode(),
        "book/one/one.ipynb": notebook.encode(),
        "requirements.txt": b"torch==2.13.0\n",
        "README.md": README.encode(),
        "book/front.jpg": b"",
        "book/index.md": b"",
        "picture.bin": PICTURE,
        ".github/workflows/book.yml": b"on: push\n",
    }
    for name, content in files.items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_bytes(content)
    git(tmp_path, "init", "--quiet", "--bare", "origin")
    git(clone, "init", "--quiet")
    git(clone, "remote", "add", "origin", tmp_path / "origin")
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "-m", "First")
    return clone


def run_of_job(job, clone):
    """Run what the workflow's job runs in the clone, up to the first `make`, but for installing."""
    steps = yaml.safe_load(WORKFLOW.read_text("utf8"))["jobs"][job]["steps"]
    for step in steps:
        if command := step.get("run"):
            if command.startswith("make"):
                break
            if command.startswith("sudo"):
                continue
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            environment = os.environ | {"GITHUB_REPOSITORY": "ada/lectures", "PATH": path}
            subprocess.run(["bash", "-ec", command], cwd=clone, env=environment, check=True)


def test_the_workflow_pushes_a_branch_that_colab_can_open(clone, tmp_path):
    origin, commit = tmp_path / "origin", git(clone, "rev-parse", "HEAD")
    (clone / "book" / "one" / "one.ipynb").write_text("not committed")
    run_of_job("publish", clone)
    config = yaml.safe_load(git(origin, "show", "published:_config.yml"))
    assert config["repository"] == {"url": FORK, "branch": "published"}
    assert config["html"]["baseurl"] == "https://ada.github.io/lectures/"
    text, install = json.loads(git(origin, "show", "published:book/one/one.ipynb"))["cells"]
    assert "".join(install["source"]) == (
        f'%pip install --quiet "transformer-companion @ git+{FORK}@{commit}"'
    )
    assert f"({FORK}/blob/{commit}/benchmarks/one.md) of [this book]({FORK})" in "".join(
        text["source"]
    )


def test_the_readme_leads_to_the_files_wherever_it_is_shown(clone, tmp_path):
    publish(clone, "ada/lectures", tmp_path / "copy")
    commit = git(clone, "rev-parse", "HEAD")
    raw = f"https://raw.githubusercontent.com/ada/lectures/{commit}/book/front.jpg"
    page = f"{FORK}/blob/{commit}/book"
    assert (tmp_path / "copy" / "README.md").read_text("utf8") == (
        f"[![The front]({raw})]({page}/index.md)\n"
        f"[once](#once), [a chapter]({page}/one/one.ipynb#cell-x), [torch](https://pytorch.org), "
        "`a[0](x)`\n"
    )


def test_the_branch_is_one_commit_without_workflows_and_is_replaced(clone, tmp_path):
    origin = tmp_path / "origin"
    run_of_job("publish", clone)
    (clone / "later").touch()
    git(clone, "rm", "--quiet", "picture.bin")
    git(clone, "add", "later")
    git(clone, "commit", "--quiet", "-m", "Second")
    subprocess.run(["rm", "-r", clone / "published"], check=True)  # an Action has a fresh clone
    run_of_job("publish", clone)
    files = git(origin, "ls-tree", "-r", "--name-only", "published").split()
    assert "later" in files and "picture.bin" not in files
    assert not [file for file in files if file.startswith(".github")]
    assert git(origin, "rev-list", "--count", "published") == "1"


def test_the_job_that_tests_has_the_same_files_and_the_workflows_too(clone):
    run_of_job("book", clone)
    published = clone / "published"
    assert (published / ".github" / "workflows" / "book.yml").is_file()
    assert (published / "picture.bin").read_bytes() == PICTURE
    assert HERE not in (published / "book" / "one" / "one.ipynb").read_text("utf8")


GH = """\
#!/bin/sh
case "$1 $2 $3" in
"release list --repo") printf 'v1.1.0\\nv1.0.0\\n';;
"release download v1."?.0) tar -czC "$SITES/$3" .;;
*) exit 1;;
esac
"""


def test_the_site_of_each_release_stays_under_its_tag(tmp_path):
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    for tag in ("v1.0.0", "v1.1.0"):
        (tmp_path / "sites" / tag / "book").mkdir(parents=True)
        (tmp_path / "sites" / tag / "book" / "paper.html").write_text(tag)
    html = tmp_path / "published" / "_build" / "html"
    html.mkdir(parents=True)
    steps = yaml.safe_load(WORKFLOW.read_text("utf8"))["jobs"]["book"]["steps"]
    (step,) = [step["run"] for step in steps if "gh release" in step.get("run", "")]
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    names = {"GITHUB_REPOSITORY": "ada/lectures", "SITES": str(tmp_path / "sites"), "PATH": path}
    command = ["bash", "-e", "-o", "pipefail", "-c", step]
    subprocess.run(command, cwd=tmp_path, env=os.environ | names, check=True)
    kept = {path.parent.name: (path / "paper.html").read_text() for path in html.glob("*/book")}
    assert kept == {"v1.0.0": "v1.0.0", "v1.1.0": "v1.1.0"}


def test_outputs_do_not_depend_on_the_address(clone, tmp_path):
    publish(clone, "ada/lectures", tmp_path / "copy")
    before = output_key(clone, clone / "book" / "one" / "one.ipynb")
    assert output_key(tmp_path / "copy", tmp_path / "copy" / "book" / "one" / "one.ipynb") == before


def test_a_site_of_the_owner_is_at_the_root_of_the_host():
    site = yaml.safe_load(with_address(CONFIG, "Ada/ada.github.io", ""))["html"]["baseurl"]
    assert site == "https://Ada.github.io/"


@pytest.mark.parametrize("name", ["ada", "ada/", "ada/a/b", "https://github.com/ada/a"])
def test_what_names_no_repository_is_refused(clone, tmp_path, name):
    with pytest.raises(ValueError, match=re.escape(f"'{name}' names no repository")):
        publish(clone, name, tmp_path / "copy")


def test_a_folder_in_use_is_left_alone(clone, tmp_path):
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "mine").touch()
    with pytest.raises(subprocess.CalledProcessError):
        publish(clone, "ada/lectures", tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["mine"]


def test_every_address_of_this_repository_has_a_form_that_publishing_knows():
    paths = [path for path in ROOT.glob("*.*") if path.is_file()]
    paths += [*ROOT.glob("book/**/*.md"), *ROOT.glob("book/**/*.ipynb")]
    texts = {path: with_address(path.read_text("utf8"), "ada/lectures", "") for path in paths}
    assert not [path for path, text in texts.items() if "OWNER/" in text or "OWNER." in text]
    assert yaml.safe_load(texts[ROOT / "_config.yml"])["repository"]["branch"] == "published"
