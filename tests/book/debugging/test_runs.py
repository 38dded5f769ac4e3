"""Every fault of "Debug this run" is told from all others by its symptom; so is a sound run."""

import inspect

import pytest

from book.debugging import (
    assistant,
    beyond_language,
    checks,
    dictionary,
    forecaster,
    language_model,
    own_language_model,
    own_model,
    real_models,
    the_idea,
    the_model,
    what_it_costs,
    window_reader,
)
from book.debugging.fault import SOUND, Fault, altered, fault_of, named

# page -> its program, its check, and the steps of a run, shorter than the page's
PAGES = {
    the_idea: (dictionary, checks.the_idea, [20]),
    the_model: (language_model, checks.the_model, [60]),
    what_it_costs: (window_reader, checks.what_it_costs, [20]),
    beyond_language: (forecaster, checks.beyond_language, [20]),
    real_models: (assistant, checks.real_models, []),
    own_language_model: (own_model, checks.own_language_model, [20]),
}
SEED = 306


def of(page, *fault):
    """A parameter: a page, and what is wrong with its run."""
    marks = [pytest.mark.weights] if page is real_models else []
    names = [part.name if part else SOUND for part in fault]
    return pytest.param((page, *fault), marks=marks, id="-".join([page.__name__, *names]))


@pytest.fixture(
    scope="module", params=[of(page, fault) for page in PAGES for fault in (None, *page.FAULTS)]
)
def case(request):
    """A page, what is wrong, and the run; pytest makes all tests of a run before the next one."""
    page, fault = request.param
    return page, fault, page.Run(SEED, fault, *PAGES[page][2])


def test_a_run_shows_its_own_symptom_and_no_other(case):
    page, fault, run = case
    shown = [other.name for other in page.FAULTS if other.shows_in(other.symptom(run))]
    assert shown == ([fault.name] if fault else [])


def test_the_right_name_is_passed_and_shows_the_line(case):
    page, fault, run = case
    verdict = PAGES[page][1](run, fault.name if fault else SOUND)
    verdict.require()
    line = fault.line.strip() if fault else "No line was changed"
    assert line in verdict.example
    if fault:
        assert fault.instead.strip() in verdict.example and fault.measured in verdict.example


def test_a_wrong_name_is_told_what_speaks_against_it(case):
    page, fault, run = case
    _, check, _ = PAGES[page]
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


@pytest.mark.parametrize("page", [of(page) for page in PAGES])
def test_what_is_no_diagnosis_is_not_judged(page):
    (page,) = page
    _, check, steps = PAGES[page]
    run = page.Run(SEED, None, *steps)
    assert check(run, ...).status == "not attempted"
    wrong = check(run, "bad luck")
    assert wrong.status == "mistake" and all(fault.name in wrong.mistake for fault in page.FAULTS)
    assert "no suspect" in check(run, 3).mistake
    assert "give the run" in check("run", SOUND).mistake
    assert named(SOUND, page.FAULTS) is None
