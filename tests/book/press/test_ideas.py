"""The table of ideas: its arguments exist, and the committed page is what the rows give."""

import inspect
from importlib import import_module

import pytest

from book._press.ideas import SOURCE, ideas, page


def test_the_page_is_written_from_the_rows():
    """What it links to is held by `tests/book/test_links.py`."""
    assert SOURCE.with_suffix(".md").read_text("utf8") == page()


@pytest.mark.parametrize("row", ideas(), ids=lambda row: row[0])
def test_an_argument_that_is_named_exists(row):
    _, where, argument, *_ = row
    part, _, name = where.partition(".")
    taken = inspect.signature(getattr(import_module(f"companion.{part}"), name)).parameters
    assert not argument or argument.partition("=")[0] in taken
