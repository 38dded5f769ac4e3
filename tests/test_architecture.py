"""The arrows of the house: who may import whom, and how light an import is."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from book._press.execute import notebooks
from book._press.imports import read_code, read_notebook

ROOT = Path(__file__).parents[1]

# floor of companion -> the floors below that it may import; `validation` may be imported by all.
MAY_IMPORT = {
    "__init__": set(),
    "validation": set(),
    "data": set(),
    "kernels": set(),
    "nn": {"kernels"},
    "models": {"nn"},
    "training": {"nn"},
    "generation": {"nn"},
    "forecasting": {"nn"},
    "pretrained": {"nn", "models"},
    "train": {
        "data",
        "kernels",
        "nn",
        "models",
        "training",
        "generation",
        "forecasting",
        "pretrained",
    },
}
# What the chapters share: each may import these, and none of them a chapter.
SHARED = {"page", "checking", "language_model", "requests", "runs", "sentences", "sizes"}
TOOLS = {"_press", "_grading"}  # they build, hand out and take in: they may look at everything


def imported(path: Path) -> set[str]:
    """The full dotted names that a file imports; `from a import b` counts as a.b."""
    if path.suffix == ".ipynb":
        names = read_notebook(nbformat.read(path, as_version=4)).imports
    else:
        package = ".".join(path.relative_to(ROOT).parent.parts)
        names = read_code(path.read_text("utf8"), package).imports
    return {name for name in names if name.split(".")[0] in ("companion", "book", "tests")}


def room(name: str) -> str:
    """The second part of a dotted name: nn of companion.nn.masks."""
    return name.partition(".")[2].partition(".")[0]


def may_import(name: str, house: str, own: str) -> bool:
    """Whether what stands in the room `own` of a house may import this name."""
    if house == "companion":
        allowed = {own, "validation", "__version__", ""} | MAY_IMPORT[own]
    elif own in TOOLS:
        return not name.startswith("tests")
    else:
        allowed = SHARED | ({own} - SHARED) | {""} if name.startswith("book") else {room(name)}
    return name.startswith((house, "companion")) and room(name) in allowed


def test_arrows_point_down():
    """`companion` imports no book, floors only those below, and no chapter another's."""
    wrong = []
    for path in [*ROOT.glob("companion/**/*.py"), *ROOT.glob("book/**/*.py"), *notebooks(ROOT)]:
        house, own, *_ = path.relative_to(ROOT).with_suffix("").parts
        names = [name for name in imported(path) if not may_import(name, house, own)]
        wrong += [f"{path.relative_to(ROOT)} imports {name}" for name in names]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "house", "own"),
    [
        ("book.page.claim", "companion", "nn"),
        ("companion.models.GPT", "companion", "nn"),
        ("tests.book.answers", "book", "_press"),
        ("book.embeddings.bank_figure", "book", "self_attention"),
        ("book.self_attention", "book", "page"),
    ],
)
def test_a_wrong_arrow_is_seen(name, house, own):
    assert not may_import(name, house, own)


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after the statement."""
    code = f"{statement}; import sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {"matplotlib", "seaborn", "ipywidgets", "anywidget", "IPython", "pandas", "transformers"}
HEAVY |= {"sklearn", "scipy", "book", "huggingface_hub"}


@pytest.mark.parametrize(
    ("parts", "needed"),
    [
        ("", "companion"),
        (".nn, companion.data, companion.models, companion.generation", "torch"),
        (".pretrained", "safetensors"),
        (".training, companion.train.recipes", "torch"),
    ],
)
def test_the_package_needs_nothing_to_draw_with(parts, needed):
    loaded = loaded_by(f"import companion{parts}")
    assert needed in loaded
    assert not loaded & HEAVY
