"""What the tests of the book share: where it is, its chapters and its other notebooks."""

from pathlib import Path

import nbformat
import pytest

from book._press.execute import chapters, notebooks

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `chapter`, or for `notebook`, runs once for every one of the book."""
    for name, paths in {"chapter": chapters, "notebook": notebooks}.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, paths(ROOT), ids=name_in_book, indirect=True)


def name_in_book(path: Path) -> str:
    """self_attention, or exercises/self_attention, or exercises/solutions/self_attention."""
    return path.relative_to(ROOT / "book").with_suffix("").as_posix()


@pytest.fixture
def chapter(request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    """A chapter as it is committed."""
    return nbformat.read(request.param, as_version=4)


@pytest.fixture
def notebook(request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    """A chapter, the exercises of one or their solutions, as committed."""
    return nbformat.read(request.param, as_version=4)
