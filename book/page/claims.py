"""A claim that the page measures: its sentence, its number, its bound, and an error outside it."""

import math
import numbers
import re

from IPython.display import display

MIMETYPE = "application/vnd.companion.claim+json"


class Claim:
    """A sentence about a measured number, and the bound that the number must keep.

    Attributes:
        sentence: what is claimed: plain words, with *emphasis* and `code` at most.
        value: what was measured.
        bound: those of "above", "below", "near" and "within" that were given, with their values.
        repeated: {"drawn": what every seed draws anew} or {"stored": how many runs a file holds},
            or empty.
        held: whether the value lies inside the bound. NaN never does.
    """

    def __init__(
        self,
        sentence: str,
        value: float,
        bound: dict[str, float],
        repeated: dict[str, str] | None = None,
    ):
        self.sentence = sentence
        self.value = value
        self.bound = bound
        self.repeated = repeated or {}
        self.held = not (
            math.isnan(value)
            or ("above" in bound and value <= bound["above"])
            or ("below" in bound and value >= bound["below"])
            or ("near" in bound and abs(value - bound["near"]) > bound["within"])
        )

    @property
    def demand(self) -> str:
        """The bound in words: "above 0.9", "above 0, below 1", "within 0.1 of 1", "exactly 1"."""
        if self.bound.get("within") == 0:
            return f"exactly {short(self.bound['near'])}"
        if "near" in self.bound:
            return f"within {short(self.bound['within'])} of {short(self.bound['near'])}"
        return ", ".join(f"{side} {short(limit)}" for side, limit in self.bound.items())

    def __repr__(self) -> str:
        verdict = "holds" if self.held else "DOES NOT HOLD"
        return f"{verdict}: {self.sentence} {short(self.value)} (must be {self.demand})"

    def _repr_mimebundle_(self, **_) -> dict:
        fields = {"sentence": self.sentence, "value": self.value, "held": self.held}
        if not math.isfinite(self.value):
            fields["value"] = str(self.value)  # JSON has no such numbers
        fields |= {"bound": self.bound, "repeated": self.repeated}
        return {"text/plain": repr(self), MIMETYPE: fields}

    @classmethod
    def shown(cls, fields: dict) -> "Claim":
        """The claim that a cell has shown, from its output of type `MIMETYPE`."""
        value = float(fields["value"])
        return cls(fields["sentence"], value, fields["bound"], fields["repeated"])


def short(number: float) -> str:
    """A number as a page shows it, in about three digits: 0.982, 12.3, 4,321, 8.9e-08."""
    if abs(number) < 1e12 and number == round(number):
        return f"{number:,.0f}"
    if 1e-3 <= abs(number) < 1e6:
        return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"
    return f"{number:.2g}"


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def typeset(text: str) -> str:
    """The numbers in a text as people write them: −2.3·10⁻⁸ for -2.3e-08, and 0.03 for 3e-02."""

    def without_e(found: re.Match) -> str:
        exponent = int(found[2])
        if abs(exponent) <= 3:
            return f"{float(found[0]):g}"
        return f"{found[1]}·10{str(exponent).translate(RAISED)}"

    text = re.sub(r"(\d[\d.]*)e([+-]\d+)\b", without_e, text)
    return re.sub(r"(?<![\w)])-(?=\d)", "−", text)


def claim(
    sentence: str,
    value: float,
    *,
    above: float | None = None,
    below: float | None = None,
    near: float | None = None,
    within: float | None = None,
    drawn: str | None = None,
    stored: str | None = None,
) -> None:
    """Claim that a measured number keeps a bound; show it in one line, and raise if it does not.

    In the book the claim is a card, with the range of the number over other seeds, which
    `make claims` has measured. For that, the sentence stands in the cell as a plain string, and in
    no other claim of the chapter.

    Args:
        sentence: what is claimed.
        value: the number that decides it; a tensor or array of one element is one, too.
        above: the value must be larger.
        below: the value must be smaller.
        near: the value must lie around it, at most `within` away.
        within: given with `near`, and only with it.
        drawn: what another seed draws anew, as in "starts and sentences"; the book says it beside
            the range. Not a word of it is measured, so a test refuses it where no seed moves the
            number.
        stored: of a number from a committed file, how many runs it is of, as in "five runs".
            With neither, the claim is one that no seed can change.

    Raises:
        AssertionError: the value is outside the bound, or NaN.
        TypeError: the value is no number; of True and False, say what was counted.
        ValueError: no sentence, no bound, one that is NaN, bounds that do not go together, or
            `drawn` and `stored` at once.
    """
    if not isinstance(sentence, str) or not sentence.strip():
        raise ValueError(f"a claim needs a sentence that says what is claimed, got {sentence!r}")
    given = {"above": above, "below": below, "near": near, "within": within}
    bound = {
        name: _number(name, limit, sentence) for name, limit in given.items() if limit is not None
    }
    if set(bound) not in ({"above"}, {"below"}, {"above", "below"}, {"near", "within"}):
        raise ValueError(
            f"the claim {sentence!r} has {' and '.join(bound) or 'no bound'}; "
            "give above, below, both of these, or near and within"
        )
    for name, limit in bound.items():
        if math.isnan(limit):  # no value is outside of it
            raise ValueError(f"{name} of the claim {sentence!r} is NaN; look how it is computed")
    repeated = {
        name: words for name, words in (("drawn", drawn), ("stored", stored)) if words is not None
    }
    if len(repeated) > 1:
        raise ValueError(f"the claim {sentence!r} is drawn anew or stored, not both")
    made = Claim(sentence, _number("value", value, sentence), bound, repeated)
    display(made)
    if not made.held:
        raise AssertionError(f"{sentence} {made.value:.4g} is not {made.demand}")


def _number(name: str, given, sentence: str) -> float:
    if hasattr(given, "item") and getattr(given, "size", None) is not None:
        given = given.item()  # torch and numpy say what is wrong with more than one element
    if isinstance(given, bool) or not isinstance(given, numbers.Real):
        raise TypeError(
            f"{name} of the claim {sentence!r} must be a number, got {given!r}; "
            "of what is true or false, give a count or a share"
        )
    return float(given)
