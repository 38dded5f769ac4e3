"""Ten starts of each kind of notes: what stands in them, and who is found to add."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from book.thinking_on_paper import controls
from book.thinking_on_paper.tool import SYMBOLS

PAIRS = [(456, 789), (638, 217), (123, 321)]


class Continues(nn.Module):
    """Writes notes, and then the sum of the prompt or one more."""

    config = SimpleNamespace(positions="none", pad_id=None)
    blocks = ()  # nothing is cached

    def __init__(self, notes: str, off: int):
        super().__init__()
        self.notes, self.off = notes, off
        self.head = nn.Identity()

    def forward(self, ids, **_):
        found = torch.zeros(*ids.shape, len(SYMBOLS))
        for i, row in enumerate(ids.tolist()):
            text = "".join(SYMBOLS[symbol] for symbol in row)
            right = int(text[:3]) + int(text[4:7]) + self.off
            whole = f"{text[:8]}{self.notes}:{right:04d}"
            found[i, -1, SYMBOLS.index(whole[len(text)])] = 1
        return found


def test_notes_are_of_five_kinds():
    assert {kind: controls.texts(kind, PAIRS)[1] for kind in controls.KINDS} == {
        "at once": "638+217=:0855",
        "carries": "638+217=100:0855",
        "dots": "638+217=[[[:0855",
        "another sum's": "638+217=111:0855",
        "inverted": "638+217=011:0855",
    }
    assert controls.texts("another sum's", PAIRS)[0] == "456+789=000:1245"  # the last one's


@pytest.mark.parametrize("able", controls.KINDS)
def test_who_adds_is_found_to_and_nobody_else(able, monkeypatch):
    texts = {kind: controls.texts(kind, PAIRS) for kind in controls.KINDS}
    monkeypatch.setattr(controls, "sums", lambda steps, seed: (PAIRS, PAIRS))
    monkeypatch.setattr(
        controls,
        "learn",
        lambda told, seed: Continues(told[0][8:].partition(":")[0], told != texts[able]),
    )
    expected = {kind: float(kind == able) for kind in controls.KINDS}
    assert controls.measure(7) == {"seed": 7} | expected


def test_each_of_ten_starts_has_a_share_for_every_kind():
    rows = controls.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for row in rows:
        assert list(row) == ["seed", *controls.KINDS]
        assert all(0 <= row[kind] <= 1 for kind in controls.KINDS)


@pytest.mark.long
def test_a_stored_start_is_found_again():
    # Where a processor rounds otherwise, it is as another start.
    found, stored = controls.measure(5301), controls.stored()[0]
    assert found == {name: pytest.approx(value, abs=0.3) for name, value in stored.items()}
