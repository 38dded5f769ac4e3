"""Checks for the pages "Debug this run": the name of the fault, held against the reader's run."""

from types import ModuleType

from book import debugging
from book.checking.exercise import Mistake, NotAttempted
from book.checking.verdict import Verdict
from book.debugging.fault import named


def the_idea(run, name) -> Verdict:
    """Check what a reader says is wrong with her run of `book.debugging.the_idea`.

    Args:
        run: as the page's first lines made it.
        name: the name of a fault, or "nothing is wrong"; `...` where nothing has been said yet.
    """
    return _verdict(debugging.the_idea, run, name)


def the_model(run, name) -> Verdict:
    """As `the_idea`, for a run of `book.debugging.the_model`."""
    return _verdict(debugging.the_model, run, name)


def what_it_costs(run, name) -> Verdict:
    """As `the_idea`, for a run of `book.debugging.what_it_costs`."""
    return _verdict(debugging.what_it_costs, run, name)


def beyond_language(run, name) -> Verdict:
    """As `the_idea`, for a run of `book.debugging.beyond_language`."""
    return _verdict(debugging.beyond_language, run, name)


def real_models(run, name) -> Verdict:
    """As `the_idea`, for a run of `book.debugging.real_models`."""
    return _verdict(debugging.real_models, run, name)


def own_language_model(run, name) -> Verdict:
    """As `the_idea`, for a run of `book.debugging.own_language_model`."""
    return _verdict(debugging.own_language_model, run, name)


def _verdict(page: ModuleType, run, name) -> Verdict:
    """Whether this is what is wrong; "passed" comes with what the run shows of it."""
    try:
        return Verdict("passed", example=_diagnosed(page, run, name))
    except NotAttempted:
        return Verdict("not attempted")
    except Mistake as found:
        return Verdict("mistake", found.mistake, found.example)


def _diagnosed(page: ModuleType, run, name) -> str:
    """What the run shows of the fault that it has, which is the one that was named.

    Raises:
        NotAttempted: no name was given.
        Mistake: it is no run, no name, or not the name of this run's fault; with what speaks
            against it.
    """
    if name is ... or name == "":
        raise NotAttempted
    if not isinstance(run, page.Run):
        raise Mistake(f"the first argument is a {type(run).__name__}; give the run of this page")
    try:
        said = named(name, page.FAULTS)
    except ValueError as error:
        raise Mistake(str(error)) from error
    fault = run._fault
    if said is fault:
        return run.reveal()[1]
    if said is None:
        wrong, shown = "something is wrong with this run, and it can be measured", fault
    else:
        wrong, shown = f"this run does not have it. With it, {said.would}", said
    raise Mistake(wrong, f"In your run, {shown.value(run)}")
