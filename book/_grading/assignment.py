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

import nbformat
from nbconvert.preprocessors import TagRemovePreprocessor
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from book._grading import student

COURSE = Path("course")
INSTALLED = re.compile(r"git\+https://[^\s\"\\]+")
# https://github.com/you/yours.git, git@github.com:you/yours.git; a name or token before @ goes.
ORIGIN = re.compile(r"(?:\w+://)?(?:[^/@]+@)?([\w-]+(?:\.[\w-]+)+)[:/](.+?)(?:\.git)?/?")


def course(folder: Path) -> NbGraderAPI:
    """nbgrader's view of the course in this folder, which is made where there is none."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "nbgrader_config.py"
    if not settings.exists():  # for nbgrader's own commands, the formgrader for one
        settings.write_text('c = get_config()\nc.CourseDirectory.course_id = "transformer"\n')
    config = Config(student.CONFIG, Application={"log_level": "WARN"})
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    directory = CourseDirectory(root=str(folder), course_id="transformer", config=config)
    with patch.dict(os.environ, PATH=programs), Gradebook(directory.db_url, directory.course_id):
        pass  # it is made by a program of the environment, which may not be active
    return NbGraderAPI(coursedir=directory, config=config)


def build(root: Path, chapter: str, folder: Path) -> Path:
    """Make the assignment and its student release; the path of the notebook to hand out.

    Raises ValueError if there are no exercises, RuntimeError if nbgrader does not take them.
    """
    notebook = student.source_of(root, chapter)
    for preprocessor in (TagRemovePreprocessor, student.Exercises):
        notebook, _ = preprocessor(config=student.CONFIG)(notebook, {})
    api = course(folder)
    source = folder / "source" / chapter / f"{chapter}.ipynb"
    source.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, source)
    shutil.copy(root / "AGENTS.md", source.parent)  # how a program may tutor; nbgrader passes it on
    done = api.generate_assignment(chapter)
    if not done["success"]:
        last = done.get("error") or done.get("log") or ""
        raise RuntimeError(f"nbgrader made no assignment of {chapter}:\n{last[-3000:]}")
    return folder / "release" / chapter / f"{chapter}.ipynb"


def installed_from(root: Path) -> str:
    """What students install: the package of `origin` at the latest tag that leads to HEAD.

    Raises ValueError if there is no such tag, or if `origin` is no public address.
    """
    tag = _git(root, "describe", "--tags", "--abbrev=0")
    origin = _git(root, "remote", "get-url", "origin")
    if not tag:
        raise ValueError(
            "students install the package as a tag names it, and HEAD has none: "
            "git tag autumn && git push origin autumn"
        )
    if not (found := ORIGIN.fullmatch(origin)):
        raise ValueError(
            f"students install the package from origin, which is {origin!r}: "
            "git remote set-url origin https://github.com/you/yours"
        )
    return f"git+https://{found[1]}/{found[2]}@{tag}"


def _git(root: Path, *words: str) -> str:
    """What git says; "" if it fails, as it does when there is no tag or no origin."""
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    return done.stdout.strip()


def main(root: Path, chapter: str, course: Path) -> None:
    """Make the assignment, whose first cell installs the package of a tag; say what to hand out."""
    if not (root / "book" / chapter / "chapter.toml").exists():
        raise ValueError(f"{chapter} is no chapter; an assignment is made of a chapter's exercises")
    installed = installed_from(root)
    release = build(root, chapter, course)
    release.write_text(INSTALLED.sub(installed, release.read_text("utf8")), "utf8")
    print(f"hand out   {os.path.relpath(release)}")
    print(f"installs   {installed} (push the tag)")
    print(f"keep       {os.path.relpath(course)} (solutions, hidden tests, gradebook)")
    print(f"then       make grade CHAPTER={chapter} SUBMISSIONS=folder")
