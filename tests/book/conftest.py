"""What the tests of the book share: where it is, and each of its chapters."""

from pathlib import Path

import nbformat
import pytest

from companion.page.execute import chapters

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `chapter` runs once for every notebook of the table of contents."""
    if "chapter" in metafunc.fixturenames:
        metafunc.parametrize("chapter", chapters(ROOT), ids=lambda path: path.stem, indirect=True)


@pytest.fixture
def chapter(request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    """A chapter's notebook as it is committed."""
    return nbformat.read(request.param, as_version=4)
