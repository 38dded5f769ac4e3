"""Every fault of "Debug this run" is told from all others by its symptom; so is a sound run."""

import inspect
from functools import cache

import pytest

from companion import checks
from companion.debugging import (
    beyond_language,
    dictionary,
    forecaster,
    language_model,
    the_idea,
    the_model,
)
from companion.debugging.fault import SOUND, Fault, altered, fault_of, named

PAGES = {
    the_model: (language_model, checks.debugging.the_model, 60),
    the_idea: (dictionary, checks.debugging.the_idea, 60),
    beyond_language: (forecaster, checks.debugging.beyond_language, 60),
}
CASES = [(page, fault) for page in PAGES for fault in (None, *page.FAULTS)]
every_case = pytest.mark.parametrize(
    ("page", "fault"), CASES, ids=lambda part: getattr(part, "name", None) or str(part)
)
SEED = 306


@cache
def run_of(page, fault: Fault | None):
    """A shorter run than the page's, with this fault."""
    return page.train_with(SEED, fault.name if fault else SOUND, steps=PAGES[page][2])


@every_case
def test_a_run_shows_its_own_symptom_and_no_other(page, fault):
    run = run_of(page, fault)
    shown = [other.name for other in page.FAULTS if other.shows_in(other.symptom(run))]
    assert shown == ([fault.name] if fault else [])


@every_case
def test_the_right_name_is_passed_and_shows_the_line(page, fault):
    verdict = PAGES[page][1](run_of(page, fault), fault.name if fault else SOUND)
    verdict.require()
    line = fault.line.strip() if fault else "No line was changed"
    assert line in verdict.example
    if fault:
        assert fault.instead.strip() in verdict.example and fault.measured in verdict.example


@every_case
def test_a_wrong_name_is_told_what_speaks_against_it(page, fault):
    _, check, _ = PAGES[page]
    run = run_of(page, fault)
    for said in (None, *page.FAULTS):
        if said is fault:
            continue
        verdict = check(run, said.name if said else SOUND)
        assert verdict.status == "mistake"
        shown = said or fault
        assert shown.measured in verdict.example
        assert f"{shown.symptom(run):.3g}" in verdict.example or "judged" in shown.name
        if said:
            assert said.would in verdict.mistake
            assert fault is None or fault.measured not in verdict.example


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_fault_is_one_line_of_the_program(page):
    program, _, _ = PAGES[page]
    source = inspect.getsource(program).splitlines()
    for fault in page.FAULTS:
        changed = inspect.getsource(program).replace(fault.line, fault.instead).splitlines()
        assert changed != source
        gone = not fault.instead
        assert len(changed) == len(source) - gone
        if not gone:
            pairs = zip(source, changed, strict=True)
            assert sum(old != new for old, new in pairs) == 1


def test_a_line_that_is_not_in_the_program_is_named():
    fault = Fault("x", "x", "no such line", "", "", "", lambda run: 0.0, above=1)
    with pytest.raises(ValueError, match="stands 0 times"):
        altered(language_model, fault)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_number_chooses_and_every_fault_can_be_chosen(page):
    chosen = [fault_of(number, page.FAULTS) for number in range(200)]
    assert chosen == [fault_of(number, page.FAULTS) for number in range(200)]
    assert set(chosen) == {None, *page.FAULTS}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_what_is_no_diagnosis_is_not_judged(page):
    _, check, _ = PAGES[page]
    run = run_of(page, None)
    assert check(run, ...).status == "not attempted"
    wrong = check(run, "bad luck")
    assert wrong.status == "mistake" and all(fault.name in wrong.mistake for fault in page.FAULTS)
    assert "no suspect" in check(run, 3).mistake
    assert "give the run" in check("run", SOUND).mistake
    assert named(SOUND, page.FAULTS) is None
