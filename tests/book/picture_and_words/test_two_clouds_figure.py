"""Two clouds: numbers, points and goals follow the step and the run."""

import pytest
import torch
from playwright.sync_api import expect
from torch.nn.functional import normalize

from book.picture_and_words import pairs, two_clouds_figure
from tests.book.reading import Example, close, numbers, press

pytestmark = pytest.mark.browser

STEPS = (0, 100, 200)


def runs():
    """Run "14" meets; run "100" stays apart, and finds its captions."""
    random = torch.Generator().manual_seed(2)
    base = torch.randn(80, 12, generator=random)
    found = {}
    for name, shifts in (("14", (3.0, 1.0, 0.0)), ("100", (3.0, 2.0, 1.0))):
        moments = []
        for step, shift in zip(STEPS, shifts, strict=True):
            noise = torch.randn(80, 12, generator=random) * (5.0 if step == 0 else 0.03)
            push = shift * torch.eye(12)[0]
            moments.append((step, normalize(base + push), normalize(base + noise - push)))
        found[name] = moments
    return found


def figure():
    return two_clouds_figure(runs())


def test_numbers_and_points_follow_the_step_and_the_run(show):
    page = show(figure(), reduced_motion="reduce")
    slider = page.get_by_role("slider", name="steps:")
    for name, moments in runs().items():
        page.get_by_role("radio", name=f"scale {name}", exact=True).check()
        press(slider, "Home")
        for _, seen, read in moments:
            own = ((seen @ read.T).argmax(1) == torch.arange(80)).float().mean()
            expected = torch.stack(
                [
                    (seen.mean(0) - read.mean(0)).norm(),
                    torch.tensor(pairs.told_apart(seen, read)),
                    own,
                ]
            )
            shown = page.locator("[data-name=gap], [data-name=apart], [data-name=found]")
            close(numbers(shown), expected, 1e-6)
            slider.press("ArrowRight")


def test_the_distance_of_the_drawn_centres_is_the_gap():
    moments = runs()["100"]
    for (_, seen, read), drawn in zip(moments, figure().data["runs"]["100"], strict=True):
        assert abs(drawn["gap"] - (seen.mean(0) - read.mean(0)).norm()) < 1e-6
        points = torch.tensor(drawn["points"])
        along = points[0, :, 0].mean() - points[1, :, 0].mean()
        assert abs(along - drawn["gap"]) < 0.15  # sixty of eighty points
        direction = normalize(seen.mean(0) - read.mean(0), dim=0)
        middle = (seen.mean(0) + read.mean(0)) / 2
        close(points[0, :, 0].double(), ((seen[:60] - middle) @ direction), 1e-3)


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    slider = page.get_by_role("slider", name="steps:")
    expect(reached).to_have_count(0)
    page.get_by_role("radio", name="scale 100", exact=True).check()
    expect(reached).to_have_count(0)
    press(slider, "End")
    expect(reached).to_have_count(1)
    page.get_by_role("radio", name="scale 14", exact=True).check()
    expect(reached).to_have_count(2)


def test_runs_with_different_steps_are_refused():
    with pytest.raises(ValueError, match="same steps"):
        two_clouds_figure(runs() | {"30": runs()["14"][:2]})


EXAMPLE = Example(figure, "[data-name=gap], [data-name=apart], [data-name=found]")
