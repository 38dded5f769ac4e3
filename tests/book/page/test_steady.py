"""What stands below a figure's numbers and sentences stays there, whatever the reader sets."""

import pytest
from playwright.sync_api import Page

from tests.book.page.test_figures import EXAMPLES

pytestmark = pytest.mark.browser

STEADY = ["bank", "bits", "decoder", "embeddings", "file", "floor", "geometry", "heads", "highway"]
STEADY += ["masks", "names", "objectives", "pairs", "passes", "path", "prompt"]
STEADY += ["pronoun", "roofline", "rotation", "shapes", "silent", "steps", "stream", "teacher"]
STEADY += ["tiles", "whisper"]
LINE = 12  # pixels; a line of text has more

WHERE = """() => {
  const figure = document.querySelector('.cl');
  const last = figure.querySelector('.cl-goals') ?? figure.lastElementChild;
  return last.getBoundingClientRect().top - figure.getBoundingClientRect().top;
}"""


def settings(page: Page):
    """Every control at its ends or at every option; the others as the last one left them.

    Of a long list the first, the longest and the last option stand for all.
    """
    for control in page.locator("select:visible").all():
        if control.is_disabled():  # by an option of another one
            continue
        options = control.locator("option").evaluate_all("all => all.map((o) => o.value)")
        if len(options) > 12:
            options = [options[0], max(options, key=len), options[-1]]
        for option in options:
            control.select_option(option)
            yield f"{control.get_attribute('name')} {option}"
    for control in page.locator(".cl-tabs input").all():
        control.check()
        yield control.get_attribute("value")
    for control in page.locator("input[type=checkbox]:enabled").all():
        for _ in range(2):
            control.click()
            yield control.get_attribute("name")
    for control in page.locator("input[type=range]:enabled:visible").all():
        by_step = control.get_attribute("name") == "step"
        steps = int(control.get_attribute("max")) if by_step else 0
        for key in ("Home", *["ArrowRight"] * steps, "End"):
            control.press(key)
            yield f"{control.get_attribute('name')} {control.input_value()}"


@pytest.mark.parametrize("width", [390, 760])
@pytest.mark.parametrize("name", STEADY)
def test_the_goals_stay_where_they_are(show, name, width):
    figure = EXAMPLES[name].make()
    page = show(figure, viewport={"width": width, "height": 900}, reduced_motion="reduce")
    page.evaluate("() => new Promise(requestAnimationFrame)")
    start = page.evaluate(WHERE)
    moved = {what: page.evaluate(WHERE) - start for what in settings(page)}
    assert {what: by for what, by in moved.items() if abs(by) > LINE} == {}
