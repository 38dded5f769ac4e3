"""Every check ends and none raises, whatever the answer does or returns."""

import asyncio
import builtins
import io
import signal
import sys
import threading
import time
from contextlib import redirect_stdout
from importlib import import_module

import numpy as np
import pytest
import torch

from book._grading.sandbox import Limits
from book.checking import ending, failed
from book.checking.exercise import COULD_NOT_JUDGE, climb, exercise
from book.checking.rungs import ladder
from book.checking.verdict import Verdict
from book.decoding.checks import greedy as greedy_check
from book.multi_head_attention.checks import split_heads
from book.three_families.checks import fill as fill_check
from tests.book.conftest import ROOT


@ladder(lambda x: x / 2)
def HALVE(halve):
    """half of 4 is 2"""
    x = torch.tensor([4.0])
    yield halve(x)

    """each number by itself"""
    x = torch.tensor([1.0, 3.0])
    yield halve(x)


SHOWN = HALVE.rungs[0].code


@exercise
def halve(answer) -> str:
    climb(HALVE, answer)
    return "two tensors"


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """The clock runs out at once, and what a check has replaced is there again behind it."""
    monkeypatch.setattr(ending, "CALL", 0.4)

    def replaced():
        streams = sys.stdout, sys.stderr
        return signal.getsignal(signal.SIGINT), *streams, builtins.input, sys.unraisablehook

    before = replaced()
    yield
    assert replaced() == before
    assert not ending._WATCHES


def loops(x):
    while True:
        pass


def swallows(x):
    while True:
        try:
            loops(x)
        except:  # noqa: E722 (as learners write it)
            pass


def goes_on_at_the_end(x):
    try:
        loops(x)
    finally:
        swallows(x)


def raises_something_else(x):
    try:
        loops(x)
    except BaseException as error:
        raise ValueError("no") from error


def returns_after_all(x):
    try:
        loops(x)
    except BaseException:
        return x / 2


def calls_the_model_without_end(x, model=torch.nn.Linear(1, 1)):  # noqa: B008
    while True:
        x = model(x)


def ignores_ctrl_c(x):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        loops(x)
    finally:
        signal.signal(signal.SIGINT, before)


def waits(x):
    time.sleep(1e6)


def waits_for_a_lock(x):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


ENDLESS = [loops, swallows, goes_on_at_the_end, raises_something_else, returns_after_all]
ENDLESS += [calls_the_model_without_end]


@pytest.mark.parametrize("answer", [*ENDLESS, ignores_ctrl_c, waits, waits_for_a_lock])
def test_an_answer_that_does_not_come_back_is_told_where_it_was(answer):
    if sys.platform == "win32" and answer is waits_for_a_lock:
        pytest.skip("Windows lets nothing interrupt a thread that waits for a lock")
    verdict = halve(answer)
    said = "it did not come back within 0.4 seconds, when this was tried: half of 4 is 2; it was in"
    assert verdict.mistake.startswith(said)
    assert verdict.mistake.endswith("does a loop never end?")
    assert verdict.example == SHOWN


def test_the_place_is_the_learners_own_line():
    # The model's line is torch's: what is named is the loop that calls it.
    assert "in calls_the_model_without_end, line " in halve(calls_the_model_without_end).mistake
    assert ": while True:;" in halve(loops).mistake or ": pass;" in halve(loops).mistake


def test_an_end_that_falls_into_a_destructor_comes_back_without_a_word(capfd):
    class Loops:
        def __del__(self):
            loops(None)

    def drops_them(x):
        while True:
            Loops()

    assert "it was in loops, line " in halve(drops_them).mistake
    assert capfd.readouterr().err == ""


def test_what_else_a_destructor_raises_is_told_as_ever(monkeypatch):
    class Fails:
        def __del__(self):
            raise ValueError("no")

    def drops_one(x):
        Fails()
        return x / 2

    told = []
    with monkeypatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda said: told.append(str(said.exc_value)))
        halve(drops_one).require()
    assert told == 3 * ["no"]


def test_also_in_another_thread():
    found = {}

    def judge():
        found.update((answer, halve(answer)) for answer in ENDLESS)

    thread = threading.Thread(target=judge)
    thread.start()
    thread.join(60)
    told = {answer.__name__: verdict.mistake[:22] for answer, verdict in found.items()}
    assert told == {answer.__name__: "it did not come back w" for answer in ENDLESS}


def test_what_is_returned_may_not_loop_either(monkeypatch):
    monkeypatch.setattr(ending, "CHECK", 0.6)

    class Loops:
        def __array__(self, *given, **named):
            loops(None)

    verdict = halve(lambda x: Loops())
    assert verdict.mistake.startswith("in 0.6 seconds the check has not come to an end")
    assert verdict.example == SHOWN


def test_the_time_is_that_of_a_call_and_not_of_all_together():
    def slow(x):
        time.sleep(0.25)
        return x / 2

    halve(slow).require()  # three times


def test_a_check_ends_before_grading_ends_its_cell():
    assert 2 * ending.CALL < ending.CHECK < Limits().cell


def test_ctrl_c_of_the_learner_reaches_the_prompt():

    def interrupted(x):
        signal.raise_signal(signal.SIGINT)

    # Tests that run in the background ignore it, and so would Python.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            halve(interrupted)
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_is_printed_without_end_is_cut():
    def prints(x):
        while True:
            print("all work and no play")

    out = io.StringIO()
    with redirect_stdout(out):
        verdict = halve(prints)
    assert verdict.mistake.startswith("it printed more than 100000 letters")
    assert verdict.example == SHOWN
    assert len(out.getvalue()) == ending.PRINTED


def test_what_is_printed_is_shown(capsys):
    def prints(x):
        print("half of", x.tolist(), file=sys.stderr)
        print("half of", x.tolist())
        return x / 2

    halve(prints).require()
    assert capsys.readouterr() == 2 * ("half of [4.0]\nhalf of [1.0, 3.0]\nhalf of [4.0]\n",)


def test_questions_are_not_asked():
    assert halve(lambda x: input("Which half? ")).mistake.startswith("it asks for input")


def raising(error: type[BaseException]):
    def answer(x):
        raise error

    return answer


async def waits_for_itself(x):
    await asyncio.sleep(0)


def never_returns(x):
    return never_returns(x)


ODD = {
    "it calls sys.exit, when this": lambda x: sys.exit(),
    "it raised KeyboardInterrupt, when": raising(KeyboardInterrupt),
    "it raised GeneratorExit": raising(GeneratorExit),
    "it raised MemoryError": raising(MemoryError),
    "it raised RecursionError": never_returns,
    "it returned a generator, which has computed nothing yet": lambda x: (i / 2 for i in x),
    "it returned a map, which has": lambda x: map(abs, x),
    "it returned a coroutine, which has": waits_for_itself,
}


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("told, answer", ODD.items(), ids=range(len(ODD)))
def test_other_ways_out_are_mistakes(told, answer):
    verdict = halve(answer)
    assert verdict.mistake.startswith(told)
    assert verdict.example.endswith(SHOWN)


def test_an_error_of_the_check_is_a_verdict_that_says_so(monkeypatch):
    monkeypatch.setattr(failed, "difference", int)  # int(result, expected)
    verdict = split_heads(lambda x, num_heads: x)
    assert verdict.mistake.startswith(f"{COULD_NOT_JUDGE} (TypeError: ")
    assert "\nin example, line " in verdict.example


def test_the_checks_of_the_chapters_end_too(monkeypatch):
    monkeypatch.setattr(ending, "CALL", 2.0)  # for two cores with much else to do

    def fill(probabilities, ids, mask_id):
        ids = list(ids)
        while mask_id in ids:
            p, best = probabilities(ids).max(dim=-1)  # [MASK] among them
            place = max((i for i, x in enumerate(ids) if x == mask_id), key=p.tolist().__getitem__)
            ids[place] = best[place].item()
        return ids

    def greedy(model, source_ids, max_len, *more):
        ids = torch.ones(len(source_ids), 1, dtype=torch.long)
        while True:
            logits = model(source_ids, ids)
            ids = torch.cat([ids, logits[:, -1:].argmax(-1)], dim=1)

    for check, answer in {fill_check: fill, greedy_check: greedy}.items():
        verdict = check(answer)
        assert "did not come back within 2 seconds" in verdict.mistake
        assert f"it was in {answer.__name__}, line " in verdict.mistake
        assert f"{answer.__name__}(" in verdict.example


class Fails:
    """Whatever is asked of it, it fails; but what Python needs."""

    def __getattr__(self, name):
        raise RuntimeError(f"no {name}")

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    def __repr__(self):
        raise RuntimeError("no text")

    def __len__(self):
        raise RuntimeError("no length")

    def __array__(self, *given, **named):
        raise RuntimeError("no array")

    __hash__ = None


ENDLESS_LIST: list = []
ENDLESS_LIST.append(ENDLESS_LIST)
RESULTS = {
    "booleans": lambda: torch.ones(2, 7, 7, dtype=torch.bool),
    "complex": lambda: torch.ones(2, 3, dtype=torch.complex64),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "meta": lambda: torch.empty(2, 3, device="meta"),
    "float8": lambda: torch.ones(2, 3).to(torch.float8_e4m3fn),
    "huge": lambda: torch.ones(1).expand(100, 10**6),
    "empty": lambda: torch.zeros(0, 3),
    "dicts": lambda: {"a": {"b": torch.ones(2)}},
    "ragged": lambda: [torch.ones(2), [1.0, [2.0]]],
    "endless": lambda: ENDLESS_LIST,
    "fails": Fails,
    "failing": lambda: (Fails(), Fails()),
    "objects": lambda: np.array([1, "a", None], dtype=object),
    "text": lambda: "x",
    "function": lambda: lambda *given, **named: Fails(),
}
CHECKS = {
    f"{name}.{check.__name__}": check
    for name in sorted(path.parent.name for path in ROOT.glob("book/[!_]*/checks.py"))
    for chapter in [import_module(f"book.{name}.checks")]
    for check in vars(chapter).values()
    if hasattr(check, "__wrapped__") and check.__module__ == chapter.__name__
    if check.__annotations__.get("return") is Verdict
}


# A third of the kinds for each check, in turn: most of it is the engine, which all share.
@pytest.mark.parametrize("turn, name", [*enumerate(sorted(CHECKS))])
def test_every_check_can_judge_whatever_is_returned(turn, name, monkeypatch):
    monkeypatch.setattr(ending, "CALL", 20.0)
    for kind, make in [*RESULTS.items()][turn % 3 :: 3]:
        verdict = CHECKS[name](lambda *given, make=make, **named: make())
        assert verdict.status == "mistake", kind
        assert COULD_NOT_JUDGE not in verdict.mistake, (kind, verdict)
        assert verdict._repr_html_() and len(repr(verdict)) < 20_000, kind
