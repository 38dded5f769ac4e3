"""What a person has to read: source that touches the checks, functions that have changed."""

import numpy as np
import pytest
import torch

import book.self_attention
from book._grading.flags import changed, functions, touched
from book.checking import results, verdict
from book.self_attention import checks
from tests.book.answers import chapters
from tests.book.grading.handed_in import learners_own

GIVEN = "from book.self_attention import checks\n\nchecks.attention(attention)"
OURS = "book.self_attention.checks"
TOUCHED = {
    "import gc": "gc",
    "from gc import get_objects as objects": "gc",
    "import numpy as np, gc as np2": "gc",
    "def f():\n    import gc\n    return gc.get_objects()": "gc",
    "import sys\nsys.modules['torch'] = None": "sys.modules",
    "import sys as s\ndel s.modules['torch']": "sys.modules",
    "from sys import modules": "sys.modules",
    "import book\nbook.checking.verdict.Verdict = dict": "book.checking",
    "import book as b\nb.checking.exercise.ours.cache_clear()": "book.checking",
    "from book.checking.verdict import Verdict": "book.checking",
    "from book.checking import *": "book.checking",
    "import book.checking.exercise as e": "book.checking",
    "from book import checking as c": "book.checking",
    "from book import *": "book.*",
    "checks.attention = print": OURS,  # from the instructor's cell
    "import math as checks\nchecks.attention = print": OURS,
    "from book.self_attention import checks as c": OURS,
    "from book.self_attention.checks import ATTENTION": OURS,
    "import book.self_attention\nbook.self_attention.checks.attention = print": OURS,
    "from book import self_attention as s\ns.checks._attention()": OURS,
    "import book.embeddings.checks as c": "book.embeddings.checks",
    "from importlib import import_module as f\nf('book.self_attention.checks')": OURS,
    "__import__('gc').get_objects()": "gc",
    "exec('import sys; sys.modules.clear()')": "sys.modules",
    "%%time\nimport gc": "gc",
    "await f()\nimport gc": "gc",
    "import book._grading.worker as w": "book._grading",
}
HONEST = [
    "import sys\nprint(sys.version, model.modules())",
    "gc = 0.5\nprint(gc)",
    "modules = [1]\nsys = 'modules'",
    "from companion.nn import causal_mask\nimport companion\ncompanion.nn",
    "from book.self_attention import attention_figure\nfrom book.page import setup, table",
    "import book.language_model as book\nbook.LanguageModel.checks",
    "notebook.checking = 'a notebook.checking'",
    "'''This checks what gcd gives.'''",
    "checks = 3\nprint(checks)  # gc",
    "def f(:\n  import gc",
    "import gc\0",
    "(" * 10_000 + ")" * 10_000,
    "print(f'{x:\\d}')",
]


@pytest.mark.parametrize(("source", "name"), TOUCHED.items())
def test_what_touches_the_checks_is_found(source, name):
    assert touched([GIVEN, source])[1:] == [[name]]


def test_what_another_cell_has_imported_is_known():
    assert touched(["import sys as s", "s.modules.clear()"]) == [[], ["sys.modules"]]


@pytest.mark.parametrize(
    ("source", "found"),
    {
        GIVEN: [],
        f"x = 1\n{GIVEN}  # how far?": [],
        "from book.self_attention import checks": [],
        "checks.attention( attention )": [],
        f"{GIVEN}\nchecks.attention = print": [OURS],
        f"if True:\n    {GIVEN.splitlines()[0]}": [OURS],
        f"x{'.a' * 900}\nimport gc": ["gc"],
    }.items(),
    ids=range(7),
)
def test_statements_of_ours_are_held_against_nobody(source, found):
    assert touched([GIVEN, source], [GIVEN]) == [[], found]


@pytest.mark.parametrize("source", HONEST)
def test_other_source_is_not_flagged(source):
    assert touched([GIVEN, source])[1:] == [[]]


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.__name__)
def test_the_source_of_right_and_wrong_answers_is_not_flagged(chapter):
    assert touched([GIVEN, learners_own(chapter)])[1:] == [[]]


def anything(*_, **__):
    return True


PATCHES = {
    "torch.softmax": (torch, "softmax"),
    "torch.nn.functional.softmax": (torch.nn.functional, "softmax"),
    "torch.nn.modules.linear.Linear.forward": (torch.nn.Linear, "forward"),
    "numpy.allclose": (np, "allclose"),
    "book.self_attention.checks": (book.self_attention, "checks"),
    "book.self_attention.checks.attention": (checks, "attention"),
    "book.checking.verdict.Verdict.require": (verdict.Verdict, "require"),
    "book.checking.results.np": (results, "np"),
    "book.checking.results.close.__code__": (results.close, "__code__"),
    "book.checking.results.show.__defaults__": (results.show, "__defaults__"),
}


@pytest.mark.parametrize("name", PATCHES)
def test_a_function_that_is_not_what_it_was_is_found(name, monkeypatch):
    before = functions()
    owner, attribute = PATCHES[name]
    new = {"__code__": anything.__code__, "__defaults__": (1,)}.get(attribute, anything)
    monkeypatch.setattr(owner, attribute, new)
    assert name.partition(".__")[0] in changed(before)
    monkeypatch.undo()
    assert changed(before) == []


def test_a_module_that_is_gone_or_another_is_found(monkeypatch):
    before = functions()
    monkeypatch.delitem(__import__("sys").modules, "book.checking.verdict")
    assert "sys.modules.book.checking.verdict" in changed(before)


def test_what_is_new_or_no_function_is_not_found(monkeypatch):
    before = functions()
    monkeypatch.setattr(torch, "new", anything, raising=False)
    monkeypatch.setattr(np, "pi", 3)
    torch.manual_seed(3)
    np.set_printoptions(precision=3)
    assert changed(before) == []
