"""What an instructor hands out: a chapter's exercises as an assignment of an nbgrader course.

The course is a folder: `release/<chapter>/<chapter>.ipynb` goes to the students, `source/` keeps
the solutions and hidden tests as they were that day, `gradebook.db` the points.
"""

import os
import sys
from pathlib import Path
from unittest.mock import patch

import nbformat
from nbconvert.preprocessors import TagRemovePreprocessor
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from companion.grading import student

COURSE = Path("course")


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
    for preprocessor in (TagRemovePreprocessor, student.MoveUp):
        notebook, _ = preprocessor(config=student.CONFIG)(notebook, {})
    api = course(folder)
    source = folder / "source" / chapter / f"{chapter}.ipynb"
    source.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, source)
    done = api.generate_assignment(chapter)
    if not done["success"]:
        last = done.get("error") or done.get("log") or ""
        raise RuntimeError(f"nbgrader made no assignment of {chapter}:\n{last[-3000:]}")
    return folder / "release" / chapter / f"{chapter}.ipynb"


def main(root: Path, chapter: str, course: Path) -> None:
    """Make the assignment, and say what to hand out."""
    release = build(root, chapter, course)
    print(f"hand out   {os.path.relpath(release)}")
    print(f"keep       {os.path.relpath(course)} (solutions, hidden tests, gradebook)")
    print(f"then       make grade CHAPTER={chapter} SUBMISSIONS=folder")
