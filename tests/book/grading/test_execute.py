"""Answers and checks in one process in the sandbox: the same verdicts, and nobody is stopped."""

import ast
import json
import re
import time
from itertools import chain, islice

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from book._grading import execute, flags
from book._grading.execute import ExecuteInSandbox
from book._grading.sandbox import LimitExceeded, Limits, Lost, NoIsolation
from book._grading.student import sources
from tests.book import answers
from tests.book.answers import WRONG
from tests.book.conftest import ROOT
from tests.book.grading.handed_in import ATTENTION, learners_own

pytestmark = pytest.mark.usefixtures("isolation")
UNSCALED = ATTENTION.replace(" / np.sqrt(query.shape[-1])", "")
IMPORTS = ast.Import | ast.ImportFrom
CHECK = "from book.self_attention import checks\n\nchecks.attention(attention).require()"


def checked(source):
    known = {"grade": True, "solution": False}
    return new_code_cell(source, metadata={"nbgrader": known})


def run(*cells, **limits):
    """A notebook of these cells, strings for a learner's own, run; what ran it."""
    cells = [new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    for i, cell in enumerate(cells):
        cell.id = f"cell-{i}"
    notebook, runner = new_notebook(cells=cells), ExecuteInSandbox(Limits(**limits))
    runner.preprocess(notebook, {})
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode("utf8")
    return notebook.cells, runner


def names(cell):
    return [output.get("ename", output.output_type) for output in cell.outputs]


# What a cell shows; nothing of it may stop or swamp the grader.
SHOWN = """
from IPython.display import HTML, display
def f(x): raise ValueError('\\udfff')
print('\\ud800', 'a' * 10**7)
display(HTML('<script>alert(1)</script>'))
for _ in range(1000): display('a')
f('a' * 10**7)"""
WARNED = "import sys\nprint('careful', file=sys.stderr)"
TRAIN = """
import torch
from torch.utils.flop_counter import FlopCounterMode

layer = torch.nn.Linear(2, 1)
for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
    optimizer = kind(layer.parameters(), lr=0.1)
    layer(torch.ones(3, 2)).sum().backward()
    optimizer.step()"""
COMPILED = "torch.compile(layer, backend='eager')(torch.ones(3, 2)).shape"


def solved() -> tuple[str, list[list[NotebookNode]]]:
    """What the experiments behind the answers import; each chapter's answers and checks."""
    imports, chapters = [], []
    for path in sources(ROOT).values():
        if (path.parent / "chapter.toml").exists():
            cells = [x for x in nbformat.read(path, 4).cells if x.cell_type == "code"]
            behind = [x for x in cells if "solution" in x.metadata.get("tags", [])]
            nodes = [node for x in behind for node in ast.walk(ast.parse(x.source))]
            imports += [ast.unparse(x) for x in nodes if isinstance(x, IMPORTS)]
            chapters.append([x for x in cells if x not in behind])
    return "\n".join(imports), chapters


def in_one(cells: list[NotebookNode]) -> NotebookNode:
    """In one cell: to see what each has changed takes longer than to run it. Training is short."""
    source = "\n".join(cell.source for cell in cells)
    source = source.replace("STEPS, BATCH = 400, 64", "STEPS, BATCH = 4, 64")
    return checked(re.sub("^verdict$", "display(verdict)", source, flags=re.M))


def wrong() -> list[tuple[str, list]]:
    """Of each chapter the answers, as a learner's, and a wrong one to each check, the first."""
    found = []
    for chapter in answers.chapters():
        first = {}
        for answer in WRONG:
            if vars(chapter).get(answer.answer.__name__) is answer.answer:  # not made in a loop
                first.setdefault(answer.check, answer)
        assert first
        found.append((learners_own(chapter), [*first.values()]))
    return found


def told(wrong_answers: list) -> NotebookNode:
    """A cell that says which mistakes they are, one behind the other."""
    lines = []
    for answer in wrong_answers:
        of, _, checks = answer.check.__module__.rpartition(".")
        call = f"{checks}.{answer.check.__name__}({answer.answer.__name__})"
        lines.append(f"from {of} import {checks}\nprint({call}.mistake, end='\\f')")
    return checked("\n".join(lines))


@pytest.fixture(scope="module")
def honest(isolation):
    """What nobody has to read, in one process: the cells by what they are, and what ran them."""
    imports, chapters = solved()
    parts = {
        "shown": [SHOWN, checked(SHOWN), WARNED, checked(WARNED), checked("0.5")],
        "trained": ["import torch.distributed.tensor", TRAIN, COMPILED],
        "solved": [imports, *map(in_one, chapters)],
        "wrong": [cell for own, several in wrong() for cell in (own, told(several))],
    }
    cells, runner = run(*chain(*parts.values()), cell=300, total=1800)
    left = iter(cells)
    return {name: [*islice(left, len(part))] for name, part in parts.items()}, runner


@pytest.mark.long
def test_what_is_honest_is_not_flagged(honest):
    """Solutions with all that they import, wrong answers, and what torch changes of itself."""
    cells, runner = honest
    assert (runner.flags, runner.lost) == ([], [])
    assert cells["trained"][2].outputs[0].data["text/plain"] == "torch.Size([3, 1])"
    ours = [cell for chapter in solved()[1] for cell in chapter]
    touched = flags.touched([cell.source for cell in ours])
    for cell, found in zip(ours, touched, strict=True):
        assert bool(found) == execute._is_check(cell), cell.source


@pytest.mark.long
def test_every_solution_passes(honest):
    _, *cells = honest[0]["solved"]
    for cell, chapter in zip(cells, solved()[1], strict=True):
        passed = [x for x in cell.outputs if "Passed" in x.get("data", {}).get("text/plain", "")]
        assert len(passed) == sum(map(execute._is_check, chapter)) > 0
        assert "error" not in names(cell)


@pytest.mark.long
def test_a_wrong_answer_is_told_its_mistake(honest):
    own, said = honest[0]["wrong"][::2], honest[0]["wrong"][1::2]
    assert [cell.outputs for cell in own] == [[]] * len(own)
    for cell, (_, several) in zip(said, wrong(), strict=True):
        *mistakes, nothing = cell.outputs[0].text.split("\f")
        assert not nothing
        assert all(x.mistake in text for x, text in zip(several, mistakes, strict=True)), mistakes


# What a learner runs before a wrong answer is checked: no points, and a person is told.
FLAGGED = {
    "checks.attention = lambda answer: 'passed'": "touches book.self_attention.checks",
    "import gc": "touches gc",
    "type(verdict).require = lambda self: None": "changes book.checking.verdict.Verdict.require",
    "np.allclose = lambda *_, **__: True": "changes numpy.allclose",
    "torch.softmax = torch.sum": "changes torch.softmax",
    "causal_mask.__code__ = (lambda *_: 1).__code__": "changes companion.nn.masks.causal_mask",
    "vars(sys)['modules']['numpy'] = None": "changes sys.modules.numpy",
}
IN_A_CALL = """
def attention(*arrays):
    np.array_equal = lambda *_, **__: True  # what a check computes with it puts back itself
    np.fft.fft = lambda *_, **__: True
    return arrays[0]"""


@pytest.mark.long
def test_what_is_flagged_has_no_points():
    # The checks are there before a first cell, whatever it says: `functions` sees what is imported.
    hidden = """
from importlib import import_module
checks = import_module("book." + "self_attention.checks")
vars(checks)["attention"] = vars(checks)["masked_attention"]"""
    first = f"import sys, torch\nfrom companion.nn import causal_mask\n{ATTENTION}"
    given = checked("from book.self_attention import checks\nverdict = checks.attention(attention)")
    given.source += "\nverdict.require()\nverdict"
    cells = first, given, IN_A_CALL, given.copy(), *FLAGGED
    cells, runner = run(hidden, *cells, total=600)
    assert [len(cell.outputs) for cell in cells[:2]] == [0, 0] and not runner.lost
    assert [names(cell)[-1] for cell in (cells[2], cells[4])] == ["Flagged", "Flagged"]
    assert "In [1] changes book.self_attention.checks.attention" in cells[2].outputs[-1].evalue
    assert "In [5] changes numpy.fft.fft" in cells[2].outputs[-1].evalue
    for i, flag in enumerate(FLAGGED.values(), start=6):
        assert f"In [{i}] {flag}" in "; ".join(runner.flags)


# Each stands for an answer that passes nothing, and stops nothing that comes behind it.
ATTACKS = {
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
    "an exception that ends loops": """
class Passed(StopIteration, GeneratorExit): pass
def attention(*arrays): raise Passed("passed")""",
    "garbage goes through every pipe": """
import os
def attention(*arrays):
    for pipe in range(3, 20):
        try: os.write(pipe, b"garbage" * 100 + b"\\n")
        except OSError: pass""",
    "everything is killed": """
import os, signal
def attention(*arrays): os.kill(-1, signal.SIGKILL)""",
    "sys.exit": """
def attention(*arrays): raise SystemExit(0)""",
}


@pytest.mark.long
def test_attacks_do_not_pass():
    cells = [cell for attack in ATTACKS.values() for cell in (UNSCALED, attack, checked(CHECK))]
    cells, runner = run(*cells, ATTENTION, checked(CHECK), total=600)
    for attack, cell in zip(ATTACKS, cells[2:-2:3], strict=True):
        assert "error" in {output.output_type for output in cell.outputs}, attack
    assert names(cells[-1]) == []  # a right answer, behind all of them
    assert not runner.flags and runner.lost


@pytest.mark.long
def test_what_a_cell_shows_stops_nobody(honest):
    cells = honest[0]["shown"]
    for cell in cells[:2]:
        shown = [output.data for output in cell.outputs if "data" in output]
        assert len(shown) > 50 and "<script" not in json.dumps(shown)
        assert names(cell)[-1] == "ValueError"  # behind however much
        assert len(json.dumps(cell.outputs)) < 500_000
    streams = [cell.outputs[0].name for cell in cells[2:4]]
    assert streams == ["stderr", "stdout"]  # a warning costs no points
    assert cells[4].outputs[0].output_type == "execute_result"  # a number is partial credit


def line(*outputs, changed=()) -> bytes:
    """What the sandbox sends of a cell."""
    return json.dumps({"outputs": outputs, "changed": changed}).encode()


def test_too_much_to_show_is_left_out(monkeypatch):
    monkeypatch.setattr(execute, "MOST_SHOWN", 1000)
    runner, flood = ExecuteInSandbox(Limits()), {"output_type": "stream", "name": "stdout"}
    cells = [new_code_cell(), new_code_cell(), checked("")]
    for cell in cells:
        cell.outputs = runner._shown(cell, line(flood | {"text": "a" * 700}))
    assert [names(cell) for cell in cells] == [["stream"], ["TooMuch"], ["stream"]]


@pytest.mark.parametrize(
    "sent",
    [
        *(b"garbage", b"[" * 100_000, b"\xff", b"3", b"{}", b'{"outputs": 3, "changed": []}'),
        *(line({"output_type": "stream"}), line({"output_type": "error"}), line(changed=[3])),
    ],
    ids=range(9),
)
def test_what_is_sent_instead_of_outputs_costs_the_process(sent):
    with pytest.raises(Lost, match="something else than outputs"):
        ExecuteInSandbox(Limits())._shown(new_code_cell(), sent)


@pytest.mark.long
def test_a_cell_that_takes_too_long_or_too_much_costs_itself_only():
    cells = (
        "x = 1",
        "while True: pass",
        checked("x"),
        "x = bytearray(2**34)",
        "x += 1",
        checked("x"),
        checked("import gc\ngc.isenabled()"),  # so that garbage does not count
    )
    cells, runner = run(*cells, cell=4)
    assert names(cells[1]) == ["LimitExceeded"] and names(cells[3]) == ["MemoryError"]
    assert cells[2].outputs[0].data["text/plain"] == "1"
    assert cells[5].outputs[0].data["text/plain"] == "2"
    assert cells[6].outputs[0].data["text/plain"] == "True"
    assert runner.lost == ["In [2]: it took too long"]


class Endless:
    """A process that begins at once, and comes to no end of its third cell."""

    def __init__(self, sources, limits):
        self.lines = [b'"ready"', line(), line()]

    def line(self, seconds):
        if self.lines:
            return self.lines.pop(0)
        assert seconds <= 0.3  # what is left
        time.sleep(seconds)
        raise LimitExceeded("it took too long")

    def close(self):
        pass


def test_what_takes_too_long_in_all_is_left_out(monkeypatch):
    monkeypatch.setattr(execute, "Sandbox", Endless)
    cells, runner = run("x = 1", checked("x"), "while True: pass", checked("1"), total=0.3)
    assert (names(cells[1]), names(cells[3])) == ([], ["LimitExceeded"])
    assert "too long in all" in cells[3].outputs[0].evalue
    assert runner.lost == ["In [3]: it took too long", "the submission took too long in all"]


def test_where_nothing_runs_in_the_sandbox_nothing_is_graded(monkeypatch):
    monkeypatch.setattr("book._grading.sandbox.bubblewrap", lambda *_: ["false"])
    with pytest.raises(NoIsolation, match="nothing runs in the sandbox: its process has ended"):
        run("x = 1")
