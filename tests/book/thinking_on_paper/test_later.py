"""More steps: what the page says of the stored runs, and one of them found again."""

import pytest

from book.thinking_on_paper import later


def test_a_line_has_as_many_symbols_with_dots_as_with_carries():
    assert later.dotted((456, 789)) == "456+789=[[[:1245"
    assert len(later.dotted((5, 6))) == len(later.noting((5, 6)))


def test_at_once_adding_comes_late_and_with_dots_later():
    found = later.stored()
    assert [run["seed"] for run in found] == [701, 702, 703, 704, 705]
    for run in found:
        assert run["carries"][0] > 0.8
        assert run["at once"][0] < 0.1 and run["at once"][2] > 0.9
        assert run["dots"][1] < run["at once"][1] + 0.1


@pytest.mark.long
def test_a_stored_run_is_found_again():
    # Another processor rounds otherwise, and is as another seed.
    assert later.right("carries", 400, 701) == pytest.approx(
        later.stored()[0]["carries"][0], abs=0.15
    )
