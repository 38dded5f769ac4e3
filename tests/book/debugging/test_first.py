"""The stored first runs of the pages "Debug this run": what was told, and one page found again."""

import pytest

from book.debugging import first, the_idea
from book.debugging.fault import SOUND, fault_of


@pytest.mark.parametrize("page", first.RUNS, ids=lambda page: page.__name__)
def test_the_stored_runs_have_the_faults_of_today_and_their_own_name_alone_is_passed(page):
    data = first.stored(page)
    assert data["names"] == [*(fault.name for fault in page.FAULTS), SOUND]
    for run, number in zip(data["runs"], first.RUNS[page][3], strict=True):
        fault = fault_of(number, page.FAULTS)
        assert run["truth"] == (fault.name if fault else SOUND)
        passed = [
            name for name, told in zip(data["names"], run["told"], strict=True) if told[:3] == "Yes"
        ]
        assert passed == [run["truth"]]


@pytest.mark.long
def test_the_stored_runs_are_found_again():
    found, data = first.made(the_idea), first.stored(the_idea)
    for ours, theirs in zip(found["runs"], data["runs"], strict=True):
        curve, kept = ours["looks"][0], theirs["looks"][0]
        assert curve["x"] == kept["x"]
        # Another processor rounds otherwise, which training makes larger.
        assert curve["yours"] == pytest.approx(kept["yours"], abs=0.1)
        assert [look["name"] for look in ours["looks"]] == [
            look["name"] for look in theirs["looks"]
        ]
