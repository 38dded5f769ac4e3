"""A claim shows its number, keeps its bound, and refuses what it could not decide."""

import numpy as np
import pytest
import torch

from book.page import claim
from book.page.claims import MIMETYPE, Claim, short, typeset


@pytest.mark.parametrize(
    ("value", "bound"),
    [
        (0.95, {"above": 0.9}),
        (0.05, {"below": 0.1}),
        (0.5, {"above": 0.4, "below": 0.6}),
        (1.0, {"near": 0.98, "within": 0.05}),
        (3, {"near": 3, "within": 0}),
        (torch.tensor(0.95), {"above": 0.9}),
        (torch.tensor([[7]]), {"above": 0}),
        (np.float32(0.95), {"above": 0.9}),
        (float("inf"), {"above": 1}),
    ],
)
def test_a_claim_that_holds_prints_one_line(value, bound, capsys):
    claim("Most are right.", value, **bound)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("holds: Most are right. ")


@pytest.mark.parametrize(
    ("value", "bound", "demand"),
    [
        (0.9, {"above": 0.9}, "above 0.9"),
        (0.9, {"below": 0.9}, "below 0.9"),
        (0.7, {"above": 0.4, "below": 0.6}, "above 0.4, below 0.6"),
        (0.3, {"above": 0.4, "below": 0.6}, "above 0.4, below 0.6"),
        (0.9, {"near": 1, "within": 0.05}, "within 0.05 of 1"),
        (2, {"near": 3, "within": 0}, "exactly 3"),
        (float("nan"), {"above": 0}, "above 0"),
        (float("nan"), {"below": 0}, "below 0"),
        (float("nan"), {"near": 0, "within": 1}, "within 1 of 0"),
    ],
)
def test_a_claim_outside_its_bound_shows_its_number_and_raises(value, bound, demand, capsys):
    with pytest.raises(AssertionError, match=f"Most are right. {value:g} is not {demand}"):
        claim("Most are right.", value, **bound)
    assert "DOES NOT HOLD: Most are right." in capsys.readouterr().out


@pytest.mark.parametrize(
    "bound",
    [
        {},
        {"near": 1},
        {"within": 1},
        {"above": 1, "near": 1, "within": 1},
        {"above": 1, "within": 1},
    ],
)
def test_bounds_that_decide_nothing_are_refused(bound):
    with pytest.raises(ValueError, match="give above, below, both of these, or near and within"):
        claim("Most are right.", 1, **bound)


@pytest.mark.parametrize("bound", ["above", "below", "near", "within"])
def test_a_bound_that_is_not_a_number_is_refused(bound):
    limits = {"near": 1, "within": 1} if bound in ("near", "within") else {}
    with pytest.raises(ValueError, match=f"{bound} of the claim 'Most are right.' is NaN"):
        claim("Most are right.", 1, **limits | {bound: float("nan")})


@pytest.mark.parametrize("value", [True, np.True_, torch.tensor(True), "1", None, 1j, [1]])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(TypeError, match=r"value of the claim 'Most are right.' must be a number"):
        claim("Most are right.", value, above=0)
    with pytest.raises(TypeError, match="above of the claim"):
        claim("Most are right.", 1, above="0")


def test_a_claim_says_what_is_repeated(monkeypatch):
    made = []
    monkeypatch.setattr("book.page.claims.display", made.append)
    claim("Most are right.", 0.95, above=0.9, drawn="starts")
    claim("Most are right.", 0.95, above=0.9, stored="two runs")
    bundles = [one._repr_mimebundle_()[MIMETYPE] for one in made]
    assert [one["repeated"] for one in bundles] == [{"drawn": "starts"}, {"stored": "two runs"}]
    assert [Claim.shown(one).repeated for one in bundles] == [one.repeated for one in made]
    with pytest.raises(ValueError, match="drawn anew or stored, not both"):
        claim("Most are right.", 0.95, above=0.9, drawn="starts", stored="two runs")


def test_a_claim_needs_a_sentence():
    with pytest.raises(ValueError, match="needs a sentence"):
        claim(" ", 1, above=0)


def test_the_bundle_holds_the_claim_as_data():
    bundle = Claim("Most are right.", 0.95, {"above": 0.9})._repr_mimebundle_()
    assert bundle["text/plain"] == "holds: Most are right. 0.95 (must be above 0.9)"
    expected = {"sentence": "Most are right.", "value": 0.95, "held": True, "bound": {"above": 0.9}}
    assert bundle[MIMETYPE] == expected | {"repeated": {}}
    assert Claim("No.", float("nan"), {"above": 0})._repr_mimebundle_()[MIMETYPE]["value"] == "nan"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (1.0, "1"),
        (0.98234, "0.982"),
        (12.34, "12.3"),
        (4321.7, "4,322"),
        (8.94e-8, "8.9e-08"),
        (124439808, "124,439,808"),
        (-0.5, "-0.5"),
        (float("inf"), "inf"),
        (123456, "123,456"),
    ],
)
def test_numbers_are_short(number, text):
    assert short(number) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("must be below 2.3e-08", "must be below 2.3·10⁻⁸"),
        ("-2.3e-08 to 1e+12", "−2.3·10⁻⁸ to 1·10¹²"),
        ("2e+00, 3e-02 and 6e+02", "2, 0.03 and 600"),
        ("2017-06, T-1 and f(x)-1", "2017-06, T-1 and f(x)-1"),
        ("above -0.3 (-1)", "above −0.3 (−1)"),
    ],
)
def test_numbers_are_written_as_people_write_them(text, written):
    assert typeset(text) == written
