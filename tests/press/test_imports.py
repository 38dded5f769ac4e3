"""What a notebook depends on, on a tiny package, and that nothing of the real one is missed."""

import re
from inspect import getfile, unwrap
from pathlib import Path

import nbformat
import pytest

from book._press.execute import notebooks
from book._press.imports import dependencies, read_code, read_notebook
from companion import page
from companion.page import gallery

ROOT = Path(__file__).parents[2]
FILES = {
    "__init__.py": "",
    "nn/__init__.py": "from companion.nn.masks import mask\n",
    "nn/masks.py": "mask = 1\n",
    "nn/alone.py": "def late():\n    from companion import validation\n",
    "validation.py": "",
    "page/__init__.py": "",
    "page/near.py": "from .far import x\nfrom ..validation import y\n",
    "page/far.py": "Path(__file__).with_name('record.json')\n",
    "page/record.json": "{}",
    "page/gallery/heads.py": "from companion.page import near\n",
    "page/gallery/path.py": "",
    "page/quizzes/one.toml": "",
    "page/figures/one.js": "",
    "page/figures/types.d.ts": "",
    "page/__pycache__/near.pyc": "",
}

LATE = {"nn/masks.py", "nn/alone.py", "validation.py"}
NEAR = {"page/near.py", "page/far.py", "page/record.json", "validation.py"}


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        (tmp_path / "companion" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "companion" / name).write_text(text)
    return tmp_path


def needs(root, *sources):
    """Names of the files that a notebook of these cells depends on, without any `__init__`."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    found = dependencies(read_notebook(notebook), root)
    names = {file.relative_to(root / "companion").as_posix() for file in found}
    return {name for name in names if not name.endswith("__init__.py")}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import torch", set()),
        ("import companion", set()),
        ("import companion.nn", {"nn/masks.py"}),
        ("from companion.nn import mask", {"nn/masks.py"}),
        ("from companion import nn as parts", {"nn/masks.py"}),
        ("def f():\n  from companion.nn import alone", LATE),
        ("import companion.page.near", NEAR),
        ("from companion.page import heads_figure", {"page/gallery/heads.py", *NEAR}),
        ("from companion.page import path_figure", {"page/gallery/path.py"}),
        ("%time from companion import validation", {"validation.py"}),
        ("%%time\nx = 1\nfrom companion import validation", {"validation.py"}),
        ("!python -m companion.validation", {"validation.py"}),
        ("# text\n1 +", set()),
    ],
)  # fmt: skip
def test_what_a_cell_imports(root, source, expected):
    assert needs(root, source) == expected


def test_the_package_is_imported_with_its_module(root):
    found = dependencies(read_code("import companion.nn.masks"), root)
    assert root / "companion" / "__init__.py" in found
    assert root / "companion" / "nn" / "__init__.py" in found


def test_a_data_file_belongs_to_who_names_it_and_a_script_to_nobody(root):
    assert needs(root, "quiz('one')") == {"page/quizzes/one.toml"}
    assert needs(root, "quiz('two')") == set()


def test_relative_imports_are_resolved():
    code = read_code("from . import a\nfrom .b import c\nfrom ..d import e", "companion.x")
    assert code.imports == {"companion.x.a", "companion.x.b.c", "companion.d.e"}


@pytest.mark.parametrize("name", gallery.functions())
def test_who_names_a_figure_depends_on_its_module_and_on_no_other_figure(name):
    found = dependencies(read_code(f"from companion.page import {name}"), ROOT)
    function = getattr(page, name)
    figures = {file for file in found if file.parent.name == "gallery"}
    assert {file for file in figures if file.stem != "__init__"} == {
        Path(getfile(unwrap(function)))
    }


def test_a_chapter_depends_on_the_figures_that_stand_in_it():
    """However it comes to them: a name in its code is enough."""
    modules = gallery.functions()
    for path in notebooks(ROOT):
        notebook = nbformat.read(path, as_version=4)
        words = set(re.findall(r"\w+", "\n".join(cell.source for cell in notebook.cells)))
        found = dependencies(read_notebook(notebook), ROOT)
        stems = {file.stem for file in found if file.parent.name == "gallery"} - {"__init__"}
        shown = {modules[name].rpartition(".")[2] for name in words & modules.keys() - {"quiz"}}
        assert stems - {"quiz"} == shown, path


def test_every_data_file_of_the_real_package_belongs_to_a_notebook():
    """One that no string names would change outputs unseen."""
    needed = set()
    for path in notebooks(ROOT):
        needed |= dependencies(read_notebook(nbformat.read(path, as_version=4)), ROOT)
    data = {
        file
        for file in (ROOT / "companion").rglob("*")
        if file.is_file() and file.suffix not in (".py", ".pyc", ".js", ".ts")
    }
    assert data and data <= needed
    assert not [file for file in needed if "grading" in file.parts or file.suffix in (".js", ".ts")]
