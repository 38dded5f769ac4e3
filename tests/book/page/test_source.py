"""Source code on a page: of a function, a class or a whole module, without its own docstring."""

from book.debugging import dictionary
from book.page import show_source


def test_a_function_is_shown_without_its_docstring():
    shown = show_source(dictionary.mean_loss).data
    assert shown.startswith("```python\ndef mean_loss(") and shown.endswith("\n```")
    assert "In nats for each answer" not in shown


def test_a_module_is_shown_whole_without_its_own_docstring_alone():
    shown = show_source(dictionary).data
    assert dictionary.__doc__.splitlines()[0] not in shown
    assert "import math\n" in shown and "In nats for each answer" in shown
    for name in ("class Head", "class Reader", "def train("):
        assert name in shown
