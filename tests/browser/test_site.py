"""The built book as a reader gets it: from the disk and over http, with the network refused."""

import gzip
import json
import re
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe

from book._press.contents import page_source
from book._press.execute import notebooks
from book._press.path import CHAPTERS

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"
BUILT = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
PAGES = [name for name in BUILT if not name.startswith("_static/")]
ARTICLES = [name for name in PAGES if name.startswith("book/")]
NOTEBOOKS = [path.relative_to(ROOT).with_suffix("").as_posix() for path in notebooks(ROOT)]
MEGABYTE = 1e6

# What sticks out on the right of the window and is not inside a box that scrolls by itself.
STICKING_OUT = """() => [...document.querySelectorAll('body *')].filter(element => {
  if (element.getBoundingClientRect().right <= innerWidth + 1) return false;
  if (!element.checkVisibility({ visibilityProperty: true })) return false;
  for (let box = element.parentElement; box; box = box.parentElement)
    if (getComputedStyle(box).overflowX !== 'visible') return false;
  return true;
}).map(element => element.outerHTML.slice(0, 120))"""

# Names for screen readers that differ from the text on the screen (WCAG 2.5.3).
MISLEADING = """() => [...document.querySelectorAll(
  'a[aria-label], button[aria-label], summary[aria-label], [role=button][aria-label]'
)].filter(element => {
  const text = (element.innerText ?? element.textContent).trim().toLowerCase(); // the latter in SVG
  return text && element.checkVisibility() && !element.ariaLabel.toLowerCase().includes(text);
}).map(element => element.outerHTML.slice(0, 120))"""


@pytest.fixture(params=PAGES)
def page(request, address, open_page):
    """Every page, at both addresses."""
    return open_page(f"{address}/{request.param}")


@pytest.fixture(params=ARTICLES)
def article(request):
    """The name of every page that somebody wrote."""
    return request.param


def test_a_page_is_complete_alone(page):
    # open_page fails for a request to anywhere else and for any error.
    page.wait_for_load_state("networkidle")
    assert page.locator("main").count() == 1


def test_the_first_page_is_the_books_first(open_page, address):
    page = open_page(f"{address}/index.html")
    assert page.url == f"{address}/book/index.html"
    assert page.locator("article h1").count() == 1


def test_formulas_are_typeset_with_the_sites_own_fonts(open_page, address):
    page = open_page(f"{address}/book/notation.html")
    assert page.locator("mjx-container").count() > 0
    assert page.locator("mjx-merror").count() == 0
    page.evaluate("document.fonts.ready")
    loaded = page.evaluate(
        "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"
    )
    assert any(family.startswith("MJXTEX") for family in loaded), loaded


def test_no_formula_is_left_as_source_or_as_an_error(open_page, http_address, article):
    page = open_page(f"{http_address}/{article}")
    assert page.locator("mjx-merror").count() == 0
    text = page.locator("article").inner_text()
    code = "\n".join(page.locator("article pre, article code").all_inner_texts())
    for sign in (r"\(", r"\[", "$$", r"\frac", r"\sqrt"):
        assert text.count(sign) <= code.count(sign), sign


def test_search_finds_a_word(open_page, address):
    page = open_page(f"{address}/search.html?q=attention")
    page.wait_for_selector("#search-results >> text=Search finished")
    links = page.locator("#search-results ul.search li a").evaluate_all(
        "links => links.map(a => a.href)"
    )
    assert any("book/self_attention.html" in link for link in links), links


def test_the_scheme_follows_the_system_and_the_switch(open_page, http_address):
    url = f"{http_address}/book/self_attention.html"
    ground = "getComputedStyle(document.body).backgroundColor"
    light = open_page(url, color_scheme="light").evaluate(ground)
    page = open_page(url, color_scheme="dark")
    dark = page.evaluate(ground)
    assert dark != light
    for _ in range(3):  # auto, light and dark in turn
        page.locator("button.theme-switch-button").first.click()
        if page.evaluate("document.documentElement.dataset.mode") == "light":
            break
    assert page.evaluate(ground) == light


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_no_page_breaks_a_rule_of_accessibility(open_page, http_address, article, scheme, width):
    size = {"width": width, "height": 900}
    page = open_page(f"{http_address}/{article}", color_scheme=scheme, viewport=size)
    # preload: axe would fetch the style sheets again, from where they never were.
    options = {"resultTypes": ["violations"], "preload": False}
    found = Axe().run(page, options=options).response["violations"]
    grave = [rule for rule in found if rule["impact"] in ("serious", "critical")]
    assert [(rule["id"], node["html"]) for rule in grave for node in rule["nodes"]] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_small_phone(open_page, http_address, article, scheme):
    size = {"width": 360, "height": 640}
    page = open_page(f"{http_address}/{article}", viewport=size, color_scheme=scheme)
    assert page.evaluate(STICKING_OUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_names_for_screen_readers_are_those_on_the_screen(open_page, http_address, article):
    page = open_page(f"{http_address}/{article}")
    assert page.evaluate(MISLEADING) == []


WITH_STRIP = [name for name in ARTICLES if name.removeprefix("book/")[:-5] in CHAPTERS]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", WITH_STRIP)
def test_a_chapter_says_where_it_is_above_its_title(open_page, http_address, name, width):
    page = open_page(f"{http_address}/{name}", viewport={"width": width, "height": 900})
    strip = page.locator("nav.here")
    title = page.locator("article h1")
    assert strip.locator("b").inner_text() == title.evaluate("node => node.firstChild.data")
    (drawing,) = [svg for svg in strip.locator("svg").all() if svg.is_visible()]
    assert drawing.get_attribute("class") == ("named" if width == 1280 else "small")
    assert drawing.locator(".lit").count() > 0
    for box in drawing.locator("rect").all():
        assert box.bounding_box()["height"] >= 24
    for target in drawing.locator("a").evaluate_all(
        "all => all.map((a) => a.getAttribute('href'))"
    ):
        assert f"book/{target}" in ARTICLES
    # The title stands where it did before any script had run.
    top = title.bounding_box()["y"]
    plain = open_page(
        f"{http_address}/{name}",
        viewport={"width": width, "height": 900},
        java_script_enabled=False,
    )
    assert plain.locator("article h1").bounding_box()["y"] == pytest.approx(top, abs=1)


def test_every_picture_has_a_text_alternative(open_page, http_address, article):
    pictures = open_page(f"{http_address}/{article}").locator("article img")
    for alt in pictures.evaluate_all("all => all.map(img => img.getAttribute('alt'))"):
        assert alt, "a picture has no alternative"
        assert not re.search(r"\.(png|svg)$", alt), alt


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_can_be_opened_in_colab_and_downloaded(open_page, http_address, name):
    page = open_page(f"{http_address}/{name}.html")
    repository = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["repository"]
    path = urlparse(repository["url"]).path
    colab = (
        f"https://colab.research.google.com/github{path}/blob/{repository['branch']}/{name}.ipynb"
    )
    assert page.locator(f'a[href="{colab}"]').count() >= 1
    link = page.locator("a.btn-download-source-button").first.get_attribute("href")
    downloaded = (SITE / name).parent.joinpath(link).read_text("utf8")
    committed = page_source((ROOT / f"{name}.ipynb").read_text("utf8"), ".ipynb")
    assert json.loads(downloaded) == json.loads(committed)


def weight(url: str) -> int:
    """Bytes of the site's file behind the address, compressed as a web server would."""
    return len(gzip.compress((SITE / unquote(urlparse(url).path).lstrip("/")).read_bytes(), 6))


def test_a_page_is_light(open_page, http_address, article):
    page = open_page(f"{http_address}/{article}")
    page.evaluate("document.fonts.ready")
    names = "performance.getEntriesByType('resource').map(entry => entry.name)"
    urls = {page.url, *page.evaluate(names)}
    weights = {url: weight(url) for url in urls if url.startswith(http_address)}
    own = sum(size for url, size in weights.items() if "/_static/" not in url)
    assert own <= 0.3 * MEGABYTE
    assert sum(weights.values()) <= 0.75 * MEGABYTE, weights
