"""A program writes into the sentence what a model has called for, and nobody learns its digits."""

import pytest
import torch
from torch import nn

from book.thinking_on_paper import tool


class Writes(nn.Module):
    """Continues 456+789= with one text, whatever has been put in."""

    def __init__(self, text):
        super().__init__()
        self.ids = [tool.SYMBOLS.index(symbol) for symbol in text]

    def forward(self, ids):
        at = ids.shape[1] - len("456+789=")
        following = torch.tensor(self.ids[at] if at < len(self.ids) else tool.BLANK)
        one = nn.functional.one_hot(following, len(tool.SYMBOLS)).float()
        return one.expand(*ids.shape, -1)


def test_every_seed_is_in_the_table():
    runs = tool.measured()
    assert [run["seed"] for run in runs] == [701, 702, 703]
    for run in runs:
        assert {len(shares) for shares in run["repeated"].values()} == {len(tool.OFF) - 1}
        assert {len(found["right"]) for found in run["widths"].values()} == {len(tool.WIDTHS)}


def test_what_is_learned_is_the_call_and_the_answer():
    text = tool.calling((456, 789))
    assert text == "456+789=[456+789>1245]:1245"
    ids, targets = tool.encoded([text, tool.at_once((1, 2))])
    for row, target, whole, learned in zip(
        ids, targets, (text, "001+002=:0003"), ("[456+789>:1245", ":0003"), strict=True
    ):
        assert "".join(tool.SYMBOLS[i] for i in row if i != tool.BLANK) == whole[: len(row)]
        assert "".join(tool.SYMBOLS[i] for i in target if i != tool.BLANK) == learned


def test_carries_are_those_of_units_tens_and_hundreds():
    assert tool.carries((456, 789)) == "111"
    assert tool.carries((638, 217)) == "100"
    assert tool.carries((460, 540)) == "011"  # nothing is left over
    assert tool.noting((638, 217)) == "638+217=100:0855"


@pytest.mark.parametrize(
    ("writes", "expected"),
    [
        ("[456+789>     :1245", "[456+789>1000]:1245"),
        ("[12+789>     :1245", "[12+789>1000]:1245"),
        ("[456+>     :1245", "[456+>0000]:1245"),  # no two numbers
        (":1245", ":1245"),
    ],
)
def test_the_program_writes_behind_the_first_call(writes, expected):
    asked = []

    def said(pair):
        asked.append(pair)
        return 1000

    model = Writes(writes.replace(" ", "0"))
    (text,) = tool.write(model, [(456, 789)], said)
    assert text.rstrip("_") == "456+789=" + expected
    assert len(asked) == ("1000" in expected)
    assert tool.answer_of(text) == "1245"


def test_a_lie_is_counted_where_it_is_off_by():
    model = Writes("[456+789>     :1250".replace(" ", "0"))
    pairs = [(456, 793), (600, 600), (575, 575), (525, 525), (375, 375)]  # the least of each: 1, 50
    said = dict(zip(pairs, (1250, 1250, 1250, 850, 1250), strict=True))
    found = tool.repeated(model, pairs, lambda pair: said.get(pair, 1250))  # the call's is another
    assert found == [1, 1, 1, 0, 1]
