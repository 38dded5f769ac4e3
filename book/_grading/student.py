"""The students' copies of the exercises, derived from the notebooks that hold the solutions.

`book/<folder>/<page>_solutions.ipynb` is the source of `<page>_exercises.ipynb` beside it.
`student_copy` takes out of it what nbgrader's generate_assignment takes out, by the same
preprocessors: regions between BEGIN SOLUTION and END SOLUTION, written answers, hidden tests. Cells
tagged `solution` go whole. Of those tagged `words`, which answer what a coding exercise asks beside
its code, the cell stays, empty; nobody grades it.
"""

import copy
import re
from pathlib import Path

import nbformat
from nbconvert.preprocessors import Preprocessor, TagRemovePreprocessor
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import SaveCells
from traitlets.config import Config

SOLUTIONS, EXERCISES = "_solutions.ipynb", "_exercises.ipynb"

WORDS = "*Your answer in words goes here. It is yours alone: no check reads it.*"

CONFIG = Config(
    TagRemovePreprocessor={"enabled": True, "remove_cell_tags": {"solution"}},
    ClearSolutions={
        "code_stub": {"python": "raise NotImplementedError  # your code goes here"},
        "text_stub": "*Your answer goes here.*",
    },
)

# From a solution one goes back to the exercise, from the copy's exercise on to the solution.
BACK = re.compile(rf"^\[Back to the exercise\]\((\w+){re.escape(EXERCISES)}", re.M)


class Exercises(Preprocessor):
    """The title, the links below the exercises and the places for words, as the copy has them."""

    enabled = True

    def preprocess(self, notebook: nbformat.NotebookNode, resources: dict):
        """Called by nbconvert: `# Solutions: ...` becomes `# Exercises: ...`."""
        title = notebook.cells[0]
        title.source = title.source.replace("# Solutions:", "# Exercises:", 1)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = BACK.sub(rf"[Solution](\1{SOLUTIONS}", cell.source)
            if "words" in cell.metadata.get("tags", []):
                cell.source = WORDS
        return notebook, resources


# nbgrader's own, in its order, without the one that writes into a gradebook.
ITS_OWN = GenerateAssignment.class_traits()["preprocessors"].default()
PREPROCESSORS = [TagRemovePreprocessor, Exercises, *(x for x in ITS_OWN if x is not SaveCells)]


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


def sources(root: Path) -> dict[str, Path]:
    """The notebooks of solutions by their pages' names, self_attention or reproduce_the_model."""
    found = (root / "book").glob(f"[!_]*/*{SOLUTIONS}")
    return {path.name.removesuffix(SOLUTIONS): path for path in sorted(found)}


def source_of(root: Path, page: str) -> nbformat.NotebookNode:
    """The notebook of a page's solutions; ValueError if there is none."""
    if page not in (known := sources(root)):
        raise ValueError(f"no exercises for {page}; there are {', '.join(known)}")
    return nbformat.read(known[page], as_version=4)


def main(root: Path, names: list[str]) -> None:
    """Write the students' copies of these pages, or of all."""
    notebooks = {name: source_of(root, name) for name in names or sources(root)}
    for name, source in notebooks.items():
        path = sources(root)[name].with_name(f"{name}{EXERCISES}")
        nbformat.write(student_copy(source), path)
        print(f"wrote {path.relative_to(root).as_posix()}")
