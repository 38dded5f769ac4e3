"""What a notebook depends on, on two tiny packages, and that nothing of the real ones is missed."""

import re
from pathlib import Path

import nbformat
import pytest

from book._press.execute import notebooks
from book._press.imports import dependencies, read_code, read_notebook
from book.page import live

ROOT = Path(__file__).parents[3]
FILES = {
    "companion/__init__.py": "",
    "companion/nn/__init__.py": "from companion.nn.masks import mask\n",
    "companion/nn/masks.py": "mask = 1\n",
    "companion/nn/alone.py": "def late():\n    from companion import validation\n",
    "companion/validation.py": "",
    "book/__init__.py": "",
    "book/page/__init__.py": "",
    "book/page/near.py": "from companion.validation import y\nfrom .far import x\n",
    "book/page/far.py": "Path(__file__).with_name('record.json')\n",
    "book/page/record.json": "{}",
    "book/page/kit/kit.js": "",
    "book/page/figures/quiz.py": "from ..far import x\nwith_name('quiz.toml')\n",
    "book/page/figures/quiz.js": "",
    "book/page/__pycache__/near.pyc": "",
    "book/one/__init__.py": "from book.one.figures.heads import heads_figure\n",
    "book/one/figures/heads.py": "from book.page import near\nwith_suffix('.js'), 'heads.js'\n",
    "book/one/figures/heads.js": "",
    "book/one/checks.py": "import companion.nn.alone\n",
    "book/one/quiz.toml": "",
    "book/one/record.json": "",
    "book/two/__init__.py": "",
    "book/two/quiz.toml": "",
    "book/two/data.json": "",
}

MASKS = {"companion/nn/masks.py"}
LATE = MASKS | {"companion/nn/alone.py", "companion/validation.py"}
FAR = {"book/page/far.py", "book/page/record.json"}
NEAR = FAR | {"book/page/near.py", "companion/validation.py"}
QUIZ = FAR | {"book/page/figures/quiz.py"}
# Who imports a chapter imports its figures; `record.json` is the name of a file that one reads.
ONE = NEAR | {"book/one/figures/heads.py", "book/one/record.json"}


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def needs(root, *sources):
    """Names of the files that a notebook of these cells depends on, without any `__init__`."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    found = dependencies(read_notebook(notebook), root)
    names = {file.relative_to(root).as_posix() for file in found}
    return {name for name in names if not name.endswith("__init__.py")}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import torch", set()),
        ("import companion", set()),
        ("import companion.nn", MASKS),
        ("from companion.nn import mask", MASKS),
        ("from companion import nn as parts", MASKS),
        ("def f():\n  from companion.nn import alone", LATE),
        ("import book.page.near", NEAR),
        ("from book.one import heads_figure", ONE),
        ("from book.one import checks", ONE | LATE | {"book/one/checks.py"}),
        ("from book import two", set()),
        ("%time from companion import validation", {"companion/validation.py"}),
        ("%%time\nx = 1\nfrom book.page import far", FAR),
        ("!python -m companion.validation", {"companion/validation.py"}),
        ("run('from book.page.near import y')", NEAR),
        ("# text\n1 +", set()),
    ],
)  # fmt: skip
def test_what_a_cell_imports(root, source, expected):
    assert needs(root, source) == expected


def test_the_package_is_imported_with_its_module(root):
    found = dependencies(read_code("import book.one.checks"), root)
    for package in ("book", "book/one", "companion", "companion/nn"):
        assert root / package / "__init__.py" in found


def test_a_data_file_belongs_to_who_names_it_and_a_script_to_nobody(root):
    assert needs(root, "from book import two\nread(two, 'data.json')") == {"book/two/data.json"}
    assert needs(root, "from book import one\nread(one, 'data.json')") == ONE  # of another folder
    assert needs(root, "from book import two\nread(two, 'data')") == set()
    asked = "from book import two\nfrom book.page.figures.quiz import quiz\nquiz(two)"
    assert needs(root, asked) == QUIZ | {"book/two/quiz.toml"}
    asked = asked.replace("two", "one")
    assert needs(root, asked) == QUIZ | ONE | {"book/one/quiz.toml"}
    assert needs(root, "import book.page.kit, book.one; 'kit.js', 'heads.js'") == ONE


def test_relative_imports_are_resolved():
    code = read_code("from . import a\nfrom .b import c\nfrom ..d import e", "companion.x")
    assert code.imports == {"companion.x.a", "companion.x.b.c", "companion.d.e"}


def folders(files: set[Path]) -> set[str]:
    """The chapters' folders among those of some files."""
    inside = [file.relative_to(ROOT).parts for file in files]
    return {parts[1] for parts in inside if parts[0] == "book" and len(parts) > 2} - SHARED


SHARED = {"page", "checking"}
FIGURES = {f"{name}_figure": script for name, script in live.scripts().items()}
FIGURES["quiz"] = FIGURES.pop("quiz_figure")


@pytest.mark.parametrize("name", FIGURES)
def test_who_names_a_figure_depends_on_its_module_and_on_no_other_chapter(name):
    script = FIGURES[name]
    chapter = script.parts[-3]
    found = dependencies(read_code(f"from book.{chapter} import {name}"), ROOT)
    if name not in {
        "translator_figure",
        "begin_figure",
        "five_figure",
    }:  # the press's, which no notebook shows
        assert script.with_suffix(".py") in found
    assert folders(found) == {chapter} - SHARED


def test_a_notebook_depends_on_the_figures_that_stand_in_it_and_on_its_own_folder():
    """However it comes to them: a name in its code is enough."""
    for path in notebooks(ROOT):
        notebook = nbformat.read(path, as_version=4)
        code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        found = dependencies(read_notebook(notebook), ROOT)
        for name in {*re.findall(r"\w+", code)} & FIGURES.keys():
            assert FIGURES[name].with_suffix(".py") in found, (path, name)
        assert folders(found) <= {path.parent.name}, path


def test_every_data_file_of_the_real_packages_belongs_to_a_notebook():
    """One that no string names would change outputs unseen."""
    needed = set()
    for path in notebooks(ROOT):
        needed |= dependencies(read_notebook(nbformat.read(path, as_version=4)), ROOT)
    data = {
        file
        for package in ("companion", "book")
        for file in (ROOT / package).rglob("[!.]*.*")
        if file.is_file()
        and file.suffix not in (".py", ".pyc", ".js", ".ts", ".md", ".ipynb", ".typed", ".wat")
        and file.parent.name != "kit"
        and not any(part[0] in "._" for part in file.relative_to(ROOT).parts)
    }
    # in pages
    from_the_press = {"chapter.toml", "claims.json", "model.json", "ideas.toml", "race.json"}
    assert {file.name for file in data} > from_the_press | {"quiz.toml", "colours.json"}
    assert {file for file in data - needed if file.name not in from_the_press} == set()
    assert not [file for file in needed if file.suffix == ".js" or file.name in from_the_press]
    assert not [file for file in needed if {"_grading", "_press"} & {*file.parts}]
