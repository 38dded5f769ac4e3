"""What stands below a figure's numbers and sentences stays there, whatever the reader sets."""

from importlib import import_module

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

STEADY = ["bits", "file", "floor", "names", "passes", "path", "roofline", "silent", "steps"]
STEADY += ["tiles"]
LINE = 12  # pixels; a line of text has more

WHERE = (
    "() => document.querySelector('.cl-goals').getBoundingClientRect().top"
    " - document.querySelector('.cl').getBoundingClientRect().top"
)


def settings(page: Page):
    """Every control at its ends or at every option; the others as the last one left them."""
    for control in page.locator("select:enabled").all():
        for option in control.locator("option").evaluate_all("all => all.map((o) => o.value)"):
            control.select_option(option)
            yield f"{control.get_attribute('name')} {option}"
    for control in page.locator("input[type=checkbox]:enabled").all():
        for _ in range(2):
            control.click()
            yield control.get_attribute("name")
    for control in page.locator("input[type=range]:enabled").all():
        for key in ("Home", "End"):
            control.press(key)
            yield f"{control.get_attribute('name')} {key}"


@pytest.mark.parametrize("width", [390, 760])
@pytest.mark.parametrize("name", STEADY)
def test_the_goals_stay_where_they_are(show, name, width):
    figure = import_module(f"tests.browser.test_{name}_figure").EXAMPLE.make()
    page = show(figure, viewport={"width": width, "height": 900}, reduced_motion="reduce")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    start = page.evaluate(WHERE)
    moved = {what: page.evaluate(WHERE) - start for what in settings(page)}
    assert {what: by for what, by in moved.items() if abs(by) > LINE} == {}
