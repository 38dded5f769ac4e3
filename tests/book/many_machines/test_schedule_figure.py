"""A schedule to move: idle time, its share and what is held are those of the Python timetable."""

from itertools import product

import pytest
import torch
from playwright.sync_api import expect

from book.many_machines import schedule_figure
from book.many_machines.pipeline import held, idle, timetable
from tests.book.reading import Example, close, numbers

pytestmark = pytest.mark.browser

SHOWN = "[data-name=idle], [data-name=share], [data-name=most]"


def slide(page, **places):
    for name, place in places.items():
        page.get_by_role("slider", name=name.replace("_", " ")).fill(str(place))


def test_every_number_is_that_of_the_timetable(show):
    page = show(schedule_figure())
    schedules, cases = ("GPipe", "1F1B", "split"), ((2, 1, 1), (4, 8, 2), (5, 3, 1.5), (8, 20, 3))
    for schedule, (p, m, ratio) in product(schedules, cases):
        page.get_by_role("radio", name=schedule).check()
        slide(page, stages=p, micro=m, backward=ratio)
        jobs = timetable(schedule, p, m, ratio)
        time, share = idle(jobs, p)
        most = max(held(jobs, stage) for stage in range(p))
        expected = torch.tensor([time, 100 * share, most], dtype=torch.float64)
        close(numbers(page.locator(SHOWN)), expected)
        expect(page.locator(".cl-F")).to_have_count(p * m)
        expect(page.locator(".cl-W")).to_have_count(p * m if schedule == "split" else 0)


def test_a_cell_is_where_its_job_is(show):
    page = show(schedule_figure(stages=3, batches=4))
    cells = page.locator(".cl-F, .cl-B").evaluate_all(
        "cells => cells.map((cell) => ['x', 'width'].map((name) => +cell.getAttribute(name)))"
    )
    jobs = timetable("GPipe", 3, 4)
    drawn = torch.tensor(cells, dtype=torch.float64)
    unit = drawn[0, 1]  # the first job is a forward pass, which takes 1
    starts = sorted((job.start, job.stop - job.start) for job in jobs)
    found = torch.stack([(drawn[:, 0] - drawn[:, 0].min()) / unit, drawn[:, 1] / unit], dim=1)
    drawn = sorted(found.round(decimals=6).tolist())
    close(torch.tensor(drawn, dtype=torch.float64).flatten(), torch.tensor(starts))


def test_the_goals_are_reached_and_not_before(show):
    page = show(schedule_figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    slide(page, stages=6, micro=32)
    expect(reached).to_have_count(1)
    page.get_by_role("radio", name="1F1B").check()
    expect(reached).to_have_count(2)
    slide(page, stages=8, micro=8)
    expect(reached).to_have_count(2)
    page.get_by_role("radio", name="split").check()
    expect(reached).to_have_count(3)


def test_a_schedule_that_the_figure_has_not_is_refused():
    with pytest.raises(ValueError, match="got 'interleaved' with 4, 8"):
        schedule_figure(schedule="interleaved")
    with pytest.raises(ValueError, match="1 to 32 micro-batches"):
        schedule_figure(batches=33)


EXAMPLE = Example(schedule_figure, SHOWN)
