"""What holds for every live figure: names, contrast, width, fallback, widget, place in the book.

Each stands alone on a small page from the disk, with the script that the book publishes, as the
`EXAMPLE` of its own test, `test_<name>_figure.py`, which holds what the page computes to PyTorch.
"""

import math
import re
from importlib import import_module

import pytest
import torch
from playwright.sync_api import expect

from book._press.assets import with_assets
from book.beyond_recurrence import path_figure
from book.page.colours import COLOURS
from book.page.live import LiveFigure, bundle, scripts, without_repetition
from tests.book.conftest import showing
from tests.book.reading import PAGE, close, numbers, press

pytestmark = pytest.mark.browser

EXAMPLES = {
    name: import_module(f"tests.book.{script.parts[-3]}.test_{name}_figure").EXAMPLE
    for name, script in scripts().items()
}


WITH_NUMBERS = [name for name, example in EXAMPLES.items() if example.numbers]


@pytest.fixture(scope="module", params=EXAMPLES)
def figure(request) -> LiveFigure:
    return EXAMPLES[request.param].make()


@pytest.fixture(scope="module")
def phone(browser, figure, tmp_path_factory):
    """The figure on a small phone, shown once for all that is asked of it."""
    with showing(browser, tmp_path_factory.mktemp("figure")) as show:
        yield show(figure, viewport={"width": 360, "height": 740})


def test_every_control_has_a_name_and_changes_are_announced(phone):
    unnamed = phone.locator("input, select, button").evaluate_all(
        "nodes => nodes.filter((n) => !(n.labels?.length || n.ariaLabel || n.textContent))"
        ".map((n) => n.outerHTML)"
    )
    assert unnamed == []
    assert phone.locator("output[aria-live=polite]").count() == 1
    assert phone.get_by_role("status").inner_text()
    assert phone.get_by_role("group").first.get_attribute("aria-label")


@pytest.mark.parametrize("figure", WITH_NUMBERS, indirect=True)
def test_without_javascript_the_first_numbers_stand_there(phone, figure, show):
    plain = show(figure, java_script_enabled=False)
    cells = plain.locator(".companion-live > table td").all_inner_texts()
    assert plain.locator("caption").count() == 1 and cells
    shown = phone.locator("[data-value]").evaluate_all(
        "nodes => nodes.map((n) => +n.dataset.value)"
    )
    first = next(float(cell) for cell in cells if cell)
    assert any(math.isclose(first, number, abs_tol=6e-4) for number in shown)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_and_nothing_overflows_a_phone(phone, scheme):
    phone.evaluate(
        "scheme => { document.documentElement.dataset.theme = scheme;"
        " const [ink, quiet, ground] = scheme === 'dark'"
        " ? ['#ced6dd', '#9ca4af', '#121212'] : ['#222832', '#48566b', '#ffffff'];"
        " const style = document.documentElement.style;"
        " style.setProperty('--pst-color-text-base', ink);"
        " style.setProperty('--pst-color-text-muted', quiet);"
        " style.setProperty('--pst-color-background', ground);"
        " style.background = ground; }",
        scheme,
    )
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    # contrast of every text with its own background, the WCAG way, colours resolved on a canvas
    worst = phone.evaluate(
        """ground => {
        const canvas = document.createElement('canvas');
        const context = canvas.getContext('2d', { willReadFrequently: true });
        const over = (colors) => {
          for (const color of colors) { context.fillStyle = color; context.fillRect(0, 0, 1, 1); }
          return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
        };
        const light = (rgb) => rgb.map((c) => c / 255)
          .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
          .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        let worst = [99, ''];
        for (const node of document.querySelectorAll('.cl *')) {
          const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
          if (!own || node.disabled || !node.getClientRects().length) continue;
          const style = getComputedStyle(node), layers = [];
          for (let at = node; at; at = at.parentElement) {
            layers.unshift(getComputedStyle(at).backgroundColor);
          }
          const color = node.namespaceURI.endsWith('svg') ? style.fill : style.color;
          const a = light(over([ground, ...layers])), b = light(over([ground, ...layers, color]));
          const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          if (ratio < worst[0]) worst = [ratio, node.outerHTML.slice(0, 200)];
        }
        return worst;
        }""",
        {"light": "#ffffff", "dark": "#121212"}[scheme],
    )
    assert worst[0] > 4.5, worst


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_have_the_colours_of_the_concepts(show, scheme):
    page = show(path_figure())
    page.evaluate("scheme => { document.documentElement.dataset.theme = scheme; }", scheme)
    found = page.locator(".cl").evaluate(
        "(node, kinds) => { const style = getComputedStyle(node);"
        " return kinds.map((kind) => style.getPropertyValue(`--${kind}`)); }",
        [*COLOURS, *(f"{kind}-word" for kind in COLOURS)],
    )
    assert found == [
        colour[scheme][part] for part in ("shape", "word") for colour in COLOURS.values()
    ]


def test_reduced_motion_is_respected(show):
    bar = ".cl-sentence path"
    still = show(EXAMPLES["pronoun"].make(), reduced_motion="reduce")
    moving = show(EXAMPLES["pronoun"].make(), reduced_motion="no-preference")
    seconds = "node => getComputedStyle(node).transitionDuration"
    assert still.locator(bar).first.evaluate(seconds) == "0s"
    assert moving.locator(bar).first.evaluate(seconds) != "0s"


def test_a_figure_that_fails_leaves_its_fallback(browser, tmp_path):
    broken = path_figure().to_html().replace('"words"', '"other"')
    (tmp_path / "figures.js").write_text(bundle(), "utf8")
    (tmp_path / "page.html").write_text(PAGE.format(broken + path_figure().to_html()), "utf8")
    page, errors = browser.new_page(), []
    page.on("console", lambda message: errors.append(message.text))
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".companion-live > table")).to_have_count(1)
    expect(page.get_by_role("alert")).to_contain_text("cannot be drawn here (TypeError: ")
    expect(page.locator(".cl")).to_have_count(1)  # the other figure is not drawn into it
    assert len(errors) == 1 and errors[0].startswith("live figure path:")
    page.close()


@pytest.mark.parametrize("broken", ["script", "data"])
def test_a_figure_that_cannot_even_start_leaves_the_others(browser, tmp_path, broken):
    script, html = bundle(["path", "attention"]), path_figure().to_html()
    if broken == "script":
        start = "modules['path.js'] = () => {"
        script = script.replace(start, f"{start} nothing();")
    else:
        html = html.replace('"distance": 17', '"distance": NaN')
    (tmp_path / "figures.js").write_text(script, "utf8")
    whole = EXAMPLES["attention"].make().to_html()
    (tmp_path / "page.html").write_text(PAGE.format(html + whole), "utf8")
    page, errors = browser.new_page(), []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator("[data-figure=path] > table")).to_have_count(1)
    expect(page.locator("[data-figure=path] [role=alert]")).to_have_count(1)
    expect(page.locator("[data-figure=attention] .cl")).to_have_count(1)
    assert len(errors) == 1 and errors[0].startswith("live figure path:")
    page.close()


def test_figures_that_share_their_numbers_show_them_all(browser, tmp_path):
    """The decoder's weights stand in the translator beside it, as in the book."""
    figures = [EXAMPLES[name].make() for name in ("translation", "decoder")]
    html = without_repetition("".join(figure.to_html() for figure in figures))
    assert len(html) < 1.5 * len(figures[0].to_html())
    (tmp_path / "figures.js").write_text(bundle(), "utf8")
    (tmp_path / "page.html").write_text(PAGE.format(html), "utf8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".cl")).to_have_count(2)
    alone = re.findall(r"<td>([^<]+)</td>", figures[1].fallback)
    shown = numbers(page.locator(".cl").nth(1).locator(EXAMPLES["decoder"].numbers))
    close(shown, torch.tensor([float(cell) for cell in alone[: len(shown)]]), 1e-3)
    page.close()


def test_a_figure_for_later_is_its_table_until_a_click(browser, tmp_path):
    figure = EXAMPLES["attention"].make()
    html = figure.to_html().replace(">", ' data-later="Load it">', 1)
    page_text = with_assets(PAGE.format(html), tmp_path)
    assert "application/json" not in page_text
    (tmp_path / "figures.js").write_text(bundle(), "utf8")
    (tmp_path / "page.html").write_text(page_text, "utf8")
    (file,) = tmp_path.glob("later-attention-*.js")
    kept = file.rename(tmp_path / "elsewhere.js")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".companion-live table")).to_be_visible()
    button = page.get_by_role("button", name="Load it")
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("did not arrive")
    kept.rename(file)
    button.click()
    expect(page.locator(".cl [name]").first).to_be_visible()
    expect(button).to_have_count(0)
    cells = re.findall(r"<td>([^<]+)</td>", figure.fallback)
    shown = numbers(page.locator(EXAMPLES["attention"].numbers))
    close(shown, torch.tensor([float(cell) for cell in cells[: len(shown)]]), 1e-3)
    page.close()


def test_two_figures_for_later_that_are_asked_for_at_once_get_their_own_numbers(browser, tmp_path):
    html = "".join(
        EXAMPLES[name].make().to_html().replace(">", f' data-later="{name}">', 1)
        for name in ("path", "attention")
    )
    (tmp_path / "page.html").write_text(with_assets(PAGE.format(html), tmp_path), "utf8")
    (tmp_path / "figures.js").write_text(bundle(), "utf8")
    page, errors = browser.new_page(), []
    page.on("console", lambda message: errors.append(message.text))
    page.goto((tmp_path / "page.html").as_uri())
    page.evaluate("document.querySelectorAll('.cl > button').forEach((button) => button.click())")
    expect(page.locator(".cl-title")).to_have_count(2)
    assert errors == []
    page.close()


@pytest.mark.parametrize("figure", WITH_NUMBERS, indirect=True)
def test_as_a_widget_the_figure_follows_the_kernel_and_tells_it(browser, figure):
    """The anywidget module, imported as Jupyter does it, with a stand-in for the kernel's model."""
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.route("**/*", lambda route: route.fulfill(content_type="text/html", body="<body></body>"))
    page.goto("http://notebook.test/")
    page.evaluate(
        """async ([esm, traits]) => {
        const file = new Blob([esm], { type: 'text/javascript' });
        const { default: widget } = await import(URL.createObjectURL(file));
        const listeners = [];
        window.saved = [];
        window.fromKernel = (value) => { traits.value = value; listeners.forEach((f) => f()); };
        const model = {
          get: (name) => traits[name],
          set: (name, content) => { traits[name] = content; listeners.forEach((f) => f()); },
          save_changes: () => saved.push(structuredClone(traits.value)),
          on: (event, f) => { if (event === 'change:value') listeners.push(f); },
          off: (event, f) => listeners.splice(listeners.indexOf(f), 1),
        };
        const el = document.body.appendChild(document.createElement('div'));
        window.close_ = widget.render({ model, el });
        window.listening = () => listeners.length;
        }""",
        [figure._esm, {"data": figure.data, "value": figure.value}],
    )
    lines = page.locator("input[type=range], select")
    control = (lines if lines.count() else page.locator("input:checked")).first
    is_radio = control.get_attribute("type") == "radio"
    group = page.locator(f"input[name='{control.get_attribute('name')}']:checked")
    now = (lambda: group.input_value()) if is_radio else control.input_value
    before = now()
    press(control, "ArrowRight" if control.get_attribute("type") == "range" else "ArrowDown")
    after = now()
    key = control.get_attribute("name").partition("-")[0]  # of radio buttons it has a number
    assert after != before
    assert [str(saved[key]) for saved in page.evaluate("saved")] == [after]
    assert page.evaluate("saved")[0].keys() == figure.value.keys()
    assert page.locator(":is(input, select, button):not([data-lm-suppress-shortcuts])").count() == 0
    page.evaluate("value => fromKernel(value)", figure.value)
    assert now() == before
    page.evaluate("close_()")
    assert page.evaluate("listening()") == 0 and complaints == []
    page.close()
