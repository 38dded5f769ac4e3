"""Checks for the pages "Debug this run": the name of the fault, held against the reader's run."""

import functools
from collections.abc import Callable, Sequence

from companion.checks.exercise import Mistake, NotAttempted
from companion.checks.verdict import Verdict
from companion.debugging import beyond_language as beyond
from companion.debugging import the_idea as idea
from companion.debugging import the_model as model
from companion.debugging.fault import Fault, named


def _diagnosis(check: Callable[..., str]) -> Callable[..., Verdict]:
    """Make a check of a run and a name give a `Verdict`; what it returns is shown with "Passed"."""

    @functools.wraps(check)
    def judged(run, name) -> Verdict:
        try:
            return Verdict("passed", example=check(run, name))
        except NotAttempted:
            return Verdict("not attempted")
        except Mistake as found:
            return Verdict("mistake", found.mistake, found.example)

    judged.__annotations__ = check.__annotations__ | {"return": Verdict}
    return judged


@_diagnosis
def the_model(run, name) -> str:
    """Check what a reader says is wrong with her run of `companion.debugging.the_model`.

    Args:
        run: as `train` returned it.
        name: the name of a fault, or "nothing is wrong"; `...` where nothing has been said yet.
    """
    return _diagnosed(run, model.Run, name, model.FAULTS)


@_diagnosis
def the_idea(run, name) -> str:
    """Check what a reader says is wrong with her run of `companion.debugging.the_idea`.

    Args:
        run: as `train` returned it.
        name: the name of a fault, or "nothing is wrong"; `...` where nothing has been said yet.
    """
    return _diagnosed(run, idea.Run, name, idea.FAULTS)


@_diagnosis
def beyond_language(run, name) -> str:
    """Check what a reader says is wrong with her run of `companion.debugging.beyond_language`.

    Args:
        run: as `train` returned it.
        name: the name of a fault, or "nothing is wrong"; `...` where nothing has been said yet.
    """
    return _diagnosed(run, beyond.Run, name, beyond.FAULTS)


def _diagnosed(run, kind: type, name, faults: Sequence[Fault]) -> str:
    """What the run shows of the fault that it has, which is the one that was named.

    Raises:
        NotAttempted: no name was given.
        Mistake: it is no run, no name, or not the name of this run's fault; with what speaks
            against it.
    """
    if name is ... or name == "":
        raise NotAttempted
    if not isinstance(run, kind):
        raise Mistake(
            f"the first argument is a {type(run).__name__}; give the run that `train` returned"
        )
    try:
        said = named(name, faults)
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
