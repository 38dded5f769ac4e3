"""Checks for the pages "Debug this run": the name of the fault, held against the reader's run."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from book.checking.exercise import Mistake, NotAttempted
from book.checking.verdict import Verdict
from book.debugging.fault import named


def _check_of(page: str) -> Callable[..., Verdict]:
    def check(run, name) -> Verdict:
        """Check what a reader says is wrong with her run of this page's program.

        Args:
            run: as the page's first lines made it.
            name: the name of a fault, or "nothing is wrong"; `...` where nothing was said yet.
        """
        module = import_module(f"book.debugging.{page}")
        try:  # "passed" comes with what the run shows of its fault
            return Verdict("passed", example=_diagnosed(module, run, name))
        except NotAttempted:
            return Verdict("not attempted")
        except Mistake as found:
            return Verdict("mistake", found.mistake, found.example)

    check.__name__ = check.__qualname__ = page
    return check


the_idea = _check_of("the_idea")
the_model = _check_of("the_model")
what_it_costs = _check_of("what_it_costs")
beyond_language = _check_of("beyond_language")
real_models = _check_of("real_models")
own_language_model = _check_of("own_language_model")


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
