"""Answers in the sandbox, checks outside: the same verdicts, out of the reach of attacks."""

import re
from importlib import import_module
from inspect import getsource
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from companion import checks
from companion.grading import judge
from companion.grading.judge import Notebook
from companion.grading.sandbox import Limits
from tests.checks import answers
from tests.checks.answers import RIGHT, WRONG
from tests.checks.answers_self_attention import four_steps, no_scale
from tests.grading.test_grade import WRONG as UNSCALED
from tests.grading.test_grade import apart

pytestmark = apart
CHAPTERS = [
    import_module(f"tests.checks.{path.stem}")
    for path in sorted(Path(answers.__file__).parent.glob("answers_*.py"))
]
IMPORTS = ["from companion import checks", "import torch"]


@pytest.fixture(scope="module")
def notebook():
    notebook = Notebook(IMPORTS, Limits(cell=60, total=3600))
    yield notebook
    notebook.close()


def names(outputs):
    return [output.get("ename", output.output_type) for output in outputs]


def learners_own(answers) -> str:
    """A module of answers as a learner would have written it: without what marks them."""
    text = re.sub(
        r"^@(right|wrong)\(.*?\)\n(?=@|def|class)", "", getsource(answers), flags=re.M | re.S
    )
    return re.sub(
        r"^from (companion|tests)\.checks[. ].*? import (\([^)]*\)|.*)", "", text, flags=re.M
    )


def same_places(verdict):
    return re.sub(r", line \d+", "", verdict.mistake)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda module: module.__name__)
def test_verdicts_are_those_of_one_process(notebook, chapter):
    assert notebook.run(learners_own(chapter)) == []
    # One right and one wrong answer to each exercise: the first of its check.
    here = {}
    for answer in RIGHT + WRONG:
        if answer.answer.__module__ == chapter.__name__:
            here.setdefault((answer.check, bool(answer.mistake)), answer)
    assert here
    notebook.trusted["verdicts"] = verdicts = []
    for answer in here.values():
        module, check = answer.check.__module__.split(".")[-1], answer.check.__name__
        call = f"checks.{module}.{check}({answer.answer.__name__})"
        assert notebook.grade(f"verdicts.append({call})") == []
        direct = answer.check(answer.answer)
        assert (verdicts[-1].status, verdicts[-1].mistake) == (direct.status, direct.mistake), (
            answer
        )


LEARNER = "companion.grading.learner"
# Each is run by the learner before a wrong answer is checked.
ATTACKS = {
    "the check and its verdict are patched": """
from companion.checks import exercise, self_attention, verdict
verdict.Verdict.__post_init__ = lambda self: object.__setattr__(self, "status", "passed")
verdict.Verdict.require = lambda self: None
exercise.compare = exercise.call = lambda *_, **__: True
np.allclose = np.array_equal = torch.allclose = torch.equal = lambda *_, **__: True
self_attention.attention = lambda answer: verdict.Verdict("passed")""",
    "an object that equals everything": """
class Equal(np.ndarray):
    __eq__ = __le__ = __sub__ = lambda *_: True
inner = attention
attention = lambda *arrays: inner(*arrays).view(Equal)""",
    "a proxy that says that it is an array": """
class Array:
    __class__ = np.ndarray
    shape, dtype, ndim = (2, 2), np.dtype(float), 2
    def __getattr__(self, name): return lambda *_, **__: True
attention = lambda *arrays: Array()""",
    "what the process sends is forged": f"""
import {LEARNER} as learner
learner.Learner.serve_call = lambda self, *_: self.encode(("result", True, [], [], []))[0]""",
    "it answers that there is nothing to check": f"""
import {LEARNER} as learner
learner.Learner.serve_name = lambda self, *_: self.encode(("result", {{"yours": 0}}))[0]""",
    "the expected numbers are looked for in memory": """
import gc
def attention(query, key, value):
    for x in gc.get_objects():
        if isinstance(x, dict) and "expected" in x: return x["expected"]
    return query @ key.T @ value""",
    "results that are not of the right form": f"""
import {LEARNER} as learner
learner.Learner.serve_call = lambda self, *_: self.encode((["result"], {{}}))[0]""",
    "the grader is told of errors that it does not know": f"""
import {LEARNER} as learner
forged = ("raised", ["KeyboardInterrupt", "GeneratorExit", "object"], "stop", "")
learner.Learner.serve_begin = lambda self, *_: self.encode(forged)[0]""",
    "an exception whose name is a check's own": """
from companion.checks.exercise import NotAttempted
class Passed(StopIteration, GeneratorExit): pass
def attention(*arrays): raise Passed("passed")""",
    "garbage goes through every pipe": """
import os
def attention(*arrays):
    for pipe in range(3, 20):
        try: os.write(pipe, b"garbage" * 100)
        except OSError: pass""",
    "the process ends without a word": """
import os
def attention(*arrays): os._exit(0)""",
    "everything is killed": """
import os, signal
def attention(*arrays): os.kill(-1, signal.SIGKILL)""",
    "sys.exit": """
def attention(*arrays): raise SystemExit(0)""",
    "a size that nobody has": f"""
import {LEARNER} as learner
def attention(*arrays):
    learner.InteractiveShell.instance()
    import gc
    peer = next(x for x in gc.get_objects() if type(x) is learner.Learner)
    peer.send(b"\\xff" * 8)""",
    "a tree without an end": f"""
import {LEARNER} as learner, json
from companion.grading.wire import frame
def attention(*arrays):
    import gc
    peer = next(x for x in gc.get_objects() if type(x) is learner.Learner)
    peer.send(frame(b"[" * 100_000, b""))""",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_attacks_do_not_pass(notebook, attack):
    if "learner" in attack or "exercise" in attack or "np.allclose" in attack:
        notebook.close()  # a process of its own, in which nothing is left of the one before
    notebook.done.clear()
    assert notebook.run(f"import torch\n{UNSCALED}") == []
    notebook.run(attack)
    outputs = notebook.grade("checks.self_attention.attention(attention).require()")
    assert names(outputs)[-1:] and "error" in {x.output_type for x in outputs}
    assert checks.self_attention.attention(four_steps).status == "passed"  # nothing changed here
    assert checks.self_attention.attention(no_scale).status == "mistake"


# What a process says that a cell has shown; nothing of it may stop or swamp the grader.
SHOWN = {
    "half of a letter": "print('\\ud800')",
    "an error without an end": f"""
import {LEARNER} as learner
endless = {{"output_type": "error", "ename": "E", "evalue": "", "traceback": iter(int, 1)}}
learner.Learner.serve_run = lambda self, *_: self.encode(("result", [endless]))[0]""",
    "an error that cannot be": f"""
import {LEARNER} as learner
forged = ("raised", ["ExceptionGroup"], "", "")
learner.Learner.serve_run = lambda self, *_: self.encode(forged)[0]""",
    "an error without a name": f"""
import {LEARNER} as learner
learner.Learner.serve_run = lambda self, *_: self.encode(("raised", 5, "", ""))[0]""",
}


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
def test_what_a_cell_shows_stops_nobody(notebook, shown):
    notebook.close()
    notebook.done.clear()
    outputs = [*notebook.run(shown), *notebook.run("print('next')")]
    nbformat.writes(new_notebook(cells=[new_code_cell(outputs=outputs)])).encode("utf8")
    assert notebook.run("print('at last')")


def test_too_much_to_show_is_left_out(notebook, monkeypatch):
    monkeypatch.setattr(judge, "MOST_SHOWN", 1000)
    notebook.close()  # the one before does not say what a cell has shown
    notebook.done.clear()
    notebook.shown = 0
    assert names(notebook.run("print('a' * 500)")) == ["stream"]
    assert names(notebook.run("print('a' * 500)")) == ["TooMuch"]
