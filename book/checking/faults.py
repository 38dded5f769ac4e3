"""Exercises in which the learner names a fault from outside: what a wrong name is told."""

from collections.abc import Callable, Mapping

import torch

from book.checking.exercise import Mistake, call


def check_name(
    answer: Callable, faulty: Callable, fault: str, symptoms: Mapping[str, str], what: str
) -> None:
    """Give an answer something with a fault, or with none, and hold the name that it says to it.

    Args:
        answer: names the fault of a function of x and a mask.
        faulty: what any fault gives with the same weights: (fault, x, mask) -> tensors.
        fault: the one that is given, a name of `symptoms`.
        symptoms: what can be seen of each fault from outside, and of "none".
        what: what is given, in a word.

    Raises:
        Mistake: it says another name.
    """
    calls = []

    def patient(x, mask=None):
        calls.append((x.detach().clone(), mask))
        return faulty(fault, x, mask)

    said = call(answer, **{what: patient})
    if not isinstance(said, str) or said not in symptoms:
        names = ", ".join(map(repr, symptoms))
        raise Mistake(f"it returned {said!r}, expected one of {names}", f"fault = {fault!r}")
    if said == fault:
        return
    if not calls:
        raise Mistake(f"it said {said!r} of a {what} that it never called", f"fault = {fault!r}")
    same = all(_alike(faulty(fault, *given), faulty(said, *given)) for given in calls)
    seen = (
        "on all that it was called with, the two give the same, so that these inputs cannot tell"
        if same
        else f"of {said!r} one would see: {symptoms[said]}"
    )
    lengths = sorted({x.shape[-2] for x, _ in calls})
    masks = ", ".join(dict.fromkeys(_kind(mask) for _, mask in calls))
    if all(torch.allclose(x, x[..., :1, :].expand_as(x)) for x, _ in calls):
        masks += "; the words of a text were all alike"
    raise Mistake(
        f"a {what} with the fault {fault!r} was called {said!r}; {seen}; of {fault!r} one sees: "
        f"{symptoms[fault]}; it was called with {lengths} words and these masks: {masks}",
        f"fault = {fault!r}; x is {[tuple(x.shape) for x, _ in calls]}",
    )


def _alike(some, others) -> bool:
    pairs = [(some, others)] if torch.is_tensor(some) else zip(some, others, strict=True)
    return all(torch.allclose(x, y, rtol=1e-4, atol=1e-4, equal_nan=True) for x, y in pairs)


def _kind(mask) -> str:
    """What a mask lets through, in words."""
    if mask is None:
        return "none"
    forms = {
        "all True": torch.ones_like(mask),
        "all False": torch.zeros_like(mask),
        "causal": torch.ones_like(mask).tril(),
        "each word itself only": torch.eye(*mask.shape[-2:]).to(mask).expand_as(mask),
    }
    return next((name for name, form in forms.items() if torch.equal(mask, form)), "another")
