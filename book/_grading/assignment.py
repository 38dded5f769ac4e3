"""What an instructor hands out: a chapter's exercises as an assignment of an nbgrader course.

The course is a folder: `release/<chapter>/<chapter>.ipynb` goes to the students, `source/` keeps
the solutions and hidden tests as they were that day, `gradebook.db` the points.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urljoin

import nbformat
from nbconvert.preprocessors import TagRemovePreprocessor
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from book._grading import student
from book._press.publish import with_address

COURSE = Path("course")
# Links to the solutions, and to what lies beside the notebook in the repository and nowhere else.
SOLUTION = re.compile(r"\n*^\[Solution\]\(.*\)$", re.M)
BESIDE = re.compile(r"\]\((?![\w+.-]+:|#)([^)]*)\)")
INSTALLED = re.compile(r"git\+https://[^\s\"\\]+")
# https://github.com/you/yours.git, git@github.com:you/yours.git; a name or token before @ goes.
ORIGIN = re.compile(r"(?:\w+://)?(?:[^/@]+@)?([\w-]+(?:\.[\w-]+)+)[:/](.+?)(?:\.git)?/?")


def course(folder: Path) -> NbGraderAPI:
    """nbgrader's view of the course in this folder, which is made where there is none."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "nbgrader_config.py"
    if not settings.exists():  # for nbgrader's own commands, the formgrader for one
        settings.write_text(
            'c = get_config()\nc.CourseDirectory.course_id = "transformer"\n'
            'c.ExportApp.plugin_class = "book._grading.export.Points"\n'
        )
    config = Config(student.CONFIG, Application={"log_level": "WARN"})
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    directory = CourseDirectory(root=str(folder), course_id="transformer", config=config)
    with patch.dict(os.environ, PATH=programs), Gradebook(directory.db_url, directory.course_id):
        pass  # it is made by a program of the environment, which may not be active
    return NbGraderAPI(coursedir=directory, config=config)


def source_of(root: Path, chapter: str) -> NotebookNode:
    """The notebook of a chapter's solutions; ValueError where there is none."""
    known = [x for x in student.sources(root) if (root / "book" / x / "chapter.toml").exists()]
    if chapter not in known:
        raise ValueError(f"{chapter} is no chapter with exercises; there are {', '.join(known)}")
    return student.source_of(root, chapter)


def build(root: Path, chapter: str, folder: Path) -> Path:
    """Make the assignment and its student release; the path of the notebook to hand out.

    Raises ValueError if there are no exercises, RuntimeError if nbgrader does not take them.
    """
    notebook = source_of(root, chapter)
    for preprocessor in (TagRemovePreprocessor, student.Exercises):
        notebook, _ = preprocessor(config=student.CONFIG)(notebook, {})
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = SOLUTION.sub("", cell.source)
    api = course(folder)
    source = folder / "source" / chapter / f"{chapter}.ipynb"
    source.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, source)
    done = api.generate_assignment(chapter)
    if not done["success"]:
        last = done.get("error") or done.get("log") or ""
        raise RuntimeError(f"nbgrader made no assignment of {chapter}:\n{last[-3000:]}")
    release = folder / "release" / chapter / f"{chapter}.ipynb"
    shutil.copy(root / "AGENTS.md", release.parent)  # how a program may tutor
    return release


def published(root: Path) -> tuple[str, str]:
    """The address of `origin`, and the latest tag that leads to HEAD: what students install.

    Raises ValueError if there is no such tag, or if `origin` is no public address.
    """
    tag = _git(root, "describe", "--tags", "--abbrev=0")
    origin = _git(root, "remote", "get-url", "origin")
    missing = []
    if not (found := ORIGIN.fullmatch(origin)):
        missing.append(
            f"students install the package from origin, which is {origin!r}; it has to be public: "
            "git remote set-url origin https://github.com/you/yours"
        )
    if not tag:
        missing.append(
            "students install the package as a tag names it, and HEAD has none: "
            "git tag autumn && git push origin autumn"
        )
    if missing:
        raise ValueError("\n".join([*missing, "(make grade needs neither)"]))
    return f"https://{found[1]}/{found[2]}", tag


def _git(root: Path, *words: str) -> str:
    """What git says; "" if it fails, as it does when there is no tag or no origin."""
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    return done.stdout.strip()


def main(root: Path, chapter: str, course: Path) -> None:
    """Make the assignment, whose first cell installs the package of a tag; say what to hand out."""
    source_of(root, chapter)
    address, tag = published(root)
    installed, here = f"git+{address}@{tag}", f"{address}/blob/{tag}/book/{chapter}/"
    release = build(root, chapter, course)
    notebook = nbformat.read(release, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = BESIDE.sub(lambda link: f"]({urljoin(here, link[1])})", cell.source)
        cell.source = INSTALLED.sub(installed, cell.source)
    nbformat.write(notebook, release)
    agents = release.with_name("AGENTS.md")
    agents.write_text(with_address(agents.read_text("utf8"), address.split("/", 3)[3], tag), "utf8")
    print(f"hand out   {os.path.relpath(release)}")
    print(f"installs   {installed} (push the tag)")
    print(f"keep       {os.path.relpath(course)} (solutions, hidden tests, gradebook)")
    print(f"then       make grade CHAPTER={chapter} SUBMISSIONS=folder")
