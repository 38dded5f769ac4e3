"""What is handed out installs the package of a tag."""

import subprocess

import nbformat
import pytest

from book._grading.__main__ import main
from book._grading.assignment import published
from book._grading.student import SOLUTIONS
from tests.book.grading.handed_in import CHAPTER, repository

COMMITTED = '%pip install --quiet "transformer-companion @ git+https://github.com/OWNER/any"'
OURS = "https://github.com/ada/lectures"
LINKS = {
    f"[a]({CHAPTER}.ipynb#why)": f"[a]({OURS}/blob/autumn/book/{CHAPTER}/{CHAPTER}.ipynb#why)",
    "[b](../glossary.md#entropy)": f"[b]({OURS}/blob/autumn/book/glossary.md#entropy)",
    "[c](https://a.b/../c)": "[c](https://a.b/../c)",
    "[d](#d)": "[d](#d)",
}


def git(root, *words):
    identity = ["-c", "user.name=ada", "-c", "user.email=ada@localhost"]
    subprocess.run(["git", "-C", root, *identity, *words], check=True, capture_output=True)


@pytest.fixture
def root(tmp_path):
    """A clone of ada's fork, with one tag, autumn, and a commit after it."""
    root = repository(tmp_path / "clone")
    path = root / "book" / CHAPTER / f"{CHAPTER}{SOLUTIONS}"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[
        0
    ].source += f"\n\n{' '.join(LINKS)}\n\n[Back to the exercise]({CHAPTER}_exercises.ipynb#1)"
    notebook.cells[1].source = COMMITTED
    nbformat.write(notebook, path)
    git(root, "init", "--quiet")
    git(root, "remote", "add", "origin", f"{OURS}.git")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "First")
    git(root, "tag", "autumn")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "Second")
    return root


def test_the_notebook_installs_the_latest_tag(root, tmp_path, capsys):
    main(root, ["assignment", CHAPTER, "--course", str(tmp_path / "course")])
    path = tmp_path / "course" / "release" / CHAPTER / f"{CHAPTER}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    assert cells[1].source == COMMITTED.replace("https://github.com/OWNER/any", f"{OURS}@autumn")
    assert f"installs   git+{OURS}@autumn (push the tag)" in capsys.readouterr().out
    assert cells[0].source == "\n\n".join(["# Exercises: Small", " ".join(LINKS.values())])
    rules = path.with_name("AGENTS.md").read_text("utf8")
    assert "do not write the answer" in rules and "https://ada.github.io/lectures/" in rules


def test_without_a_tag_nothing_is_made_and_it_says_how_to_tag(root, tmp_path, capsys):
    git(root, "tag", "-d", "autumn")
    with pytest.raises(SystemExit):
        main(root, ["assignment", CHAPTER, "--course", str(tmp_path / "course")])
    assert "git tag autumn && git push origin autumn" in capsys.readouterr().err
    assert not (tmp_path / "course").exists()


@pytest.mark.parametrize(
    "origin",
    [
        OURS,
        f"{OURS}/",
        "git@github.com:ada/lectures.git",
        "ssh://git@github.com/ada/lectures",
        "https://ada:secret@github.com/ada/lectures.git",
    ],
)
def test_every_spelling_of_the_address_becomes_the_public_one(root, origin):
    git(root, "remote", "set-url", "origin", origin)
    assert published(root) == (OURS, "autumn")


@pytest.mark.parametrize("origin", ["/srv/lectures.git", "../lectures", "file:///srv/lectures"])
def test_an_origin_on_the_disk_is_refused(root, origin):
    git(root, "remote", "set-url", "origin", origin)
    with pytest.raises(ValueError, match="git remote set-url origin https://"):
        published(root)


def test_all_that_is_missing_is_said_at_once(root):
    git(root, "tag", "-d", "autumn")
    git(root, "remote", "remove", "origin")
    with pytest.raises(
        ValueError, match=r"(?s)set-url origin .*git tag autumn .*grade needs neither"
    ):
        published(root)


def test_no_origin_is_refused(root):
    git(root, "remote", "remove", "origin")
    with pytest.raises(ValueError, match="which is ''"):
        published(root)
