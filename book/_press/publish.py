"""The book under its own address: `python -m book._press.publish you/yours folder`.

What is committed names no real repository: `PLACEHOLDER` is written for an address. This
command clones the last commit into a new folder and puts the address in. Colab's buttons open the
notebooks on the clone's one branch, `published`; the notebooks install the package, and links show
files, as they are in the commit. The branch is a single commit, ready to be pushed, and the site
is built in the folder (`.github/workflows/book.yml`).

Only the standard library is needed, so that no environment has to be made first.
"""

import argparse
import re
import subprocess
from pathlib import Path

PLACEHOLDER = "OWNER/transformer-companion"
BRANCH = "published"


def with_placeholder(source: str) -> str:
    """A cell's code, the same before and after it was published: it installs the placeholder."""
    installed = f"git+https://github.com/{PLACEHOLDER}"
    return re.sub(r"git\+https://github\.com/[^\s\"]+", installed, source)


def with_address(text: str, name: str, commit: str) -> str:
    """The text of a file with the address of a repository put in.

    Args:
        text: what is committed.
        name: the repository's, owner/name.
        commit: what is installed, and shows the files that are linked to.
    """
    before, after = f"https://github.com/{PLACEHOLDER}", f"https://github.com/{name}"
    changes = {
        f"git+{before}": f"git+{after}@{commit}",
        f"{before}/blob/main/": f"{after}/blob/{commit}/",
        f"{before}\n  branch: main\n": f"{after}\n  branch: {BRANCH}\n",  # of _config.yml
        before: after,
        _site(PLACEHOLDER): _site(name),
    }
    return re.sub("|".join(map(re.escape, changes)), lambda found: changes[found[0]], text)


def by_itself(folder: Path, name: str, commit: str) -> str:
    """The folder's README where no file lies beside it, as on PyPI: links to files as addresses."""

    def address(found: re.Match) -> str:
        picture, path = found["picture"] or "", found["path"]
        if not (folder / path.partition("#")[0]).is_file():
            return found[0]
        host = "raw.githubusercontent.com" if picture else "github.com"
        tree = commit if picture else f"blob/{commit}"
        return f"{picture}](https://{host}/{name}/{tree}/{path})"

    readme = (folder / "README.md").read_text("utf8")
    return re.sub(r"(?P<picture>!\[[^]]*)?\]\((?P<path>[^)\s]+)\)", address, readme)


def _site(name: str) -> str:
    """Where GitHub Pages shows a repository: owner/owner.github.io at the root of the host."""
    owner, _, project = name.partition("/")
    host = f"{owner}.github.io"
    return f"https://{host}/" if project.lower() == host.lower() else f"https://{host}/{project}/"


def publish(root: Path, name: str, folder: Path) -> None:
    """Clone the last commit of `root` into `folder`, with the address of the repository `name`.

    Raises:
        ValueError: `name` is not of the form owner/name.
        subprocess.CalledProcessError: git failed, for one since the folder is not empty.
    """
    if not re.fullmatch(r"[\w-]+/[\w.-]+", name):
        raise ValueError(f"{name!r} names no repository; it must be of the form owner/name")
    _git(root, "clone", "--quiet", ".", folder.resolve())
    commit = _git(folder, "rev-parse", "HEAD").strip()
    _git(folder, "checkout", "--quiet", "--orphan", BRANCH)
    for file in filter(None, _git(folder, "grep", "-lIz", "OWNER").split("\0")):
        path = folder / file
        path.write_bytes(with_address(path.read_bytes().decode("utf8"), name, commit).encode())
    (folder / "README.md").write_text(by_itself(folder, name, commit), "utf8")  # the wheel's
    # GitHub lets no workflow push workflows. The files stay in the folder, for the tests.
    _git(folder, "rm", "-r", "--quiet", "--cached", "--ignore-unmatch", ".github")
    identity = ["-c", "user.name=publish", "-c", "user.email=publish@localhost"]
    _git(folder, *identity, "commit", "--quiet", "--all", "-m", f"{name} at {commit}")


def _git(folder: Path, *words: str | Path) -> str:
    done = subprocess.run(["git", "-C", folder, *words], check=True, stdout=subprocess.PIPE)
    return done.stdout.decode("utf8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Put a repository's own address into the book.")
    parser.add_argument("name", help="the repository's on GitHub: owner/name")
    parser.add_argument("folder", type=Path, help="where the clone goes")
    arguments = parser.parse_args()
    publish(Path.cwd(), arguments.name, arguments.folder)
