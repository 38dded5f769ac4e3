"""The students' copies of the exercises, derived from the notebooks that hold the solutions.

`book/exercises/solutions/<chapter>.ipynb` is the source, and for a page that belongs to no chapter
`book/exercises/<folder>/solutions/<page>.ipynb`. `student_copy` takes out of it what
nbgrader's generate_assignment takes out, by the same preprocessors: regions between BEGIN SOLUTION
and END SOLUTION, written answers, hidden tests. Cells tagged `solution` go whole.
"""

import copy
import re
from pathlib import Path
from posixpath import basename, dirname, join, normpath

import nbformat
from nbconvert.preprocessors import Preprocessor, TagRemovePreprocessor
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import SaveCells
from traitlets.config import Config

STUDENTS = Path("book/exercises")
SOLUTIONS = STUDENTS / "solutions"

CONFIG = Config(
    TagRemovePreprocessor={"enabled": True, "remove_cell_tags": {"solution"}},
    ClearSolutions={
        "code_stub": {"python": "raise NotImplementedError  # your code goes here"},
        "text_stub": "*Your answer goes here.*",
    },
)

# From a solution one goes back to the exercise, from the copy's exercise on to the solution.
BACK = re.compile(r"^\[Back to the exercise\]\(\.\./", re.M)
# ](target) of a Markdown link, up to its anchor, unless it has a scheme or is an anchor alone.
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)[^)#\s]+")


class MoveUp(Preprocessor):
    """The copy lies one folder above the solutions: its title and its links say so."""

    enabled = True

    def preprocess(self, notebook: nbformat.NotebookNode, resources: dict):
        """Called by nbconvert: `# Solutions: ...` becomes `# Exercises: ...`, ../x becomes x."""
        title = notebook.cells[0]
        title.source = title.source.replace("# Solutions:", "# Exercises:", 1)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                source = BACK.sub("[Solution](", cell.source)
                cell.source = LINK.sub(lambda link: normpath(join(SOLUTIONS.name, link[0])), source)
        return notebook, resources


# nbgrader's own, in its order, without the one that writes into a gradebook.
ITS_OWN = GenerateAssignment.class_traits()["preprocessors"].default()
PREPROCESSORS = [TagRemovePreprocessor, MoveUp, *(x for x in ITS_OWN if x is not SaveCells)]


def student_copy(source: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without its solutions, outputs and hidden tests; cells keep their ids.

    Raises:
        RuntimeError: a solution or hidden test has no end, or stands in a cell for something else.
        nbgrader.nbgraderformat.ValidationError: a cell's nbgrader metadata are not complete.
    """
    notebook, resources = copy.deepcopy(source), {}
    for preprocessor in PREPROCESSORS:
        notebook, resources = preprocessor(config=CONFIG)(notebook, resources)
    return notebook


def pages(root: Path) -> list[str]:
    """All that have a source: the chapters, then pages of their own, as reproducing/the_model."""
    sources = (root / STUDENTS).glob(f"**/{SOLUTIONS.name}/*.ipynb")
    names = (path.parents[1].relative_to(root / STUDENTS) / path.stem for path in sources)
    return sorted(map(Path.as_posix, names), key=lambda name: ("/" in name, name))


def source_path(page: str) -> Path:
    """Where the solutions of one of the `pages` are, in the repository."""
    return STUDENTS / dirname(page) / SOLUTIONS.name / f"{basename(page)}.ipynb"


def source_of(root: Path, page: str) -> nbformat.NotebookNode:
    """The notebook of a page's solutions; ValueError if there is none."""
    if page not in pages(root):
        raise ValueError(f"no exercises for {page}; there are {', '.join(pages(root))}")
    return nbformat.read(root / source_path(page), as_version=4)


def main(root: Path, names: list[str]) -> None:
    """Write the students' copies of these pages, or of all."""
    sources = {name: source_of(root, name) for name in names or pages(root)}
    for name, source in sources.items():
        path = root / STUDENTS / f"{name}.ipynb"
        nbformat.write(student_copy(source), path)
        print(f"wrote {path.relative_to(root).as_posix()}")
