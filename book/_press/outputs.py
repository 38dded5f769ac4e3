"""Give a notebook the outputs that it keeps: `make outputs CHAPTER=self_attention`.

The notebook is run. Its cells tagged `keep_output` get the output and the count that nbval compares
with; the others have none.
"""

import sys
from pathlib import Path

import nbformat

from book._press.execute import ChapterError, cell_timeout, execute, notebooks


def write_outputs(root: Path, name: str) -> int:
    """Run the notebook `name` of `_toc.yml` and write the outputs that it keeps; how many cells do.

    Raises:
        ValueError: there is no such notebook.
        ChapterError: a cell failed. The file is as it was then.
    """
    paths = {path.stem: path for path in notebooks(root)}
    if name not in paths:
        raise ValueError(f"no notebook {name!r}; there are {', '.join(paths)}")
    notebook = nbformat.read(paths[name], as_version=4)
    executed = execute(paths[name], timeout=cell_timeout(root)).notebook
    kept = 0
    for cell, made in zip(notebook.cells, executed.cells, strict=True):
        if "keep_output" in cell.metadata.get("tags", []):
            cell.outputs, cell.execution_count = made.outputs, made.execution_count
            kept += 1
        elif cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(notebook, paths[name])
    return kept


if __name__ == "__main__":
    try:
        print(f"{write_outputs(Path.cwd(), sys.argv[1])} cells of {sys.argv[1]} keep their output")
    except (ValueError, ChapterError) as error:
        sys.exit(f"error: {error}")
