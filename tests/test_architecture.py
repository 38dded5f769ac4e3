"""The arrows of the house: who in `companion` may import whom, and how light an import is."""

import subprocess
import sys
from pathlib import Path

import pytest

from book._press.imports import read_code

PACKAGE = Path(__file__).parents[1] / "companion"

# floor -> the floors below that it may import; the leaf `validation` may be imported by all.
MAY_IMPORT = {
    "validation": set(),
    "data": set(),
    "kernels": set(),
    "nn": {"kernels"},
    "models": {"nn"},
    "training": {"nn"},
    "generation": {"nn"},
    "forecasting": {"nn"},
    "debugging": {"data", "pretrained"},
    "own_language_model": set(),  # the reader's own file: it needs nothing but torch
    "pretrained": {"nn", "models"},
    "train": {
        "data",
        "kernels",
        "nn",
        "models",
        "training",
        "generation",
        "forecasting",
        "own_language_model",
        "pretrained",
    },
}
ANYTHING = {"page", "checks", "grading"}


def floor(path: Path) -> str:
    """The first part of a module's name below `companion`: "nn" for companion/nn/masks.py."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def imported(path: Path) -> set[str]:
    """The full dotted names that a module imports; `from a import b` counts as a.b."""
    package = ".".join(path.relative_to(PACKAGE.parent).parent.parts)
    return read_code(path.read_text("utf8"), package).imports


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_arrows_point_down(path):
    here = floor(path)
    assert here in MAY_IMPORT.keys() | ANYTHING, f"{here} is new: give it a floor in this test"
    names = imported(path)
    assert not {name for name in names if name.split(".")[0] in {"tests", "book"}}
    floors = {name.split(".")[1] for name in names if name.startswith("companion.")}
    assert here == "page" or "page" not in floors, "the page is on top: nothing imports it"
    if here in ANYTHING:
        return
    allowed = MAY_IMPORT[here] | {here, "validation", "__version__"}
    assert floors <= allowed, f"{here} must not import {floors - allowed}"


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after the statement."""
    code = f"{statement}; import sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {"matplotlib", "seaborn", "ipywidgets", "anywidget", "IPython", "pandas", "transformers"}
HEAVY |= {"sklearn", "scipy"}


def test_importing_the_package_is_light():
    assert not loaded_by("import companion") & HEAVY


def test_parts_and_data_need_torch_at_most():
    loaded = loaded_by("import companion.nn, companion.data")
    assert "torch" in loaded
    assert not loaded & HEAVY


def test_reading_published_weights_needs_no_hub():
    loaded = loaded_by("import companion.pretrained")
    assert "safetensors" in loaded
    assert not loaded & (HEAVY | {"huggingface_hub"})


def test_training_needs_nothing_to_draw_with():
    loaded = loaded_by("import companion.training, companion.train.recipes")
    assert "torch" in loaded
    assert not loaded & HEAVY
