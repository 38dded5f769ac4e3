"""The built book as a reader gets it: from the disk and over http, with the network refused."""

import gzip
import json
import posixpath
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
import torch
import yaml
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from matplotlib.colors import to_rgb
from playwright.sync_api import Page, expect

from book._press.contents import page_source
from book._press.execute import notebooks
from book._press.path import chapters_of
from book.page.colours import COLOURS
from tests.book.conftest import opening
from tests.book.page.test_figures import EXAMPLES
from tests.book.reading import close, numbers

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[3]
SITE = ROOT / "_build" / "html"
BUILT = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
PAGES = [name for name in BUILT if not name.startswith("_static/")]
ARTICLES = [n for n in PAGES if n.startswith("book/") and not n.endswith("_slides.html")]
CHAPTERS = chapters_of((ROOT / "book" / "index.md").read_text("utf8"), ROOT)
WITH_STRIP = {f"book/{chapter.address}" for chapter in CHAPTERS}


def kind(name: str) -> str:
    """Of a page's file: a chapter, exercises, solutions, a broken run, or what else lies there."""
    stem, folder = Path(name).stem, Path(name).parent.name
    found = re.search(r"^debug_|_exercises$|_solutions$", stem)
    return found[0] if found else "chapter" if stem == folder else folder


ONE_OF_EACH_KIND = {kind(name): name for name in reversed(ARTICLES)}.values()


def stands_elsewhere(name: str) -> bool:
    """A page of exercises of which all is on the page of their solutions, too, if there is one."""
    solved = name.replace("_exercises.html", "_solutions.html")
    return solved != name and solved in ARTICLES and name not in ONE_OF_EACH_KIND


LOOKED_AT = [name for name in ARTICLES if not stands_elsewhere(name)]
NOTEBOOKS = [path.relative_to(ROOT).with_suffix("").as_posix() for path in notebooks(ROOT)]
MEGABYTE = 1e6

# What is hidden until there is a guess is looked at, too.
OPENED, VEILED = (
    f"() => document.querySelectorAll('details.veiled').forEach((veil) => {{ veil.open = {on}; }})"
    for on in ("true", "false")
)

# What sticks out on the right of the window and is not inside a box that scrolls by itself.
STICKING_OUT = """() => [...document.querySelectorAll('body *')].filter(element => {
  if (element.getBoundingClientRect().right <= innerWidth + 1) return false;
  if (!element.checkVisibility({ visibilityProperty: true })) return false;
  for (let box = element.parentElement; box; box = box.parentElement)
    if (getComputedStyle(box).overflowX !== 'visible') return false;
  return true;
}).map(element => element.outerHTML.slice(0, 120))"""

# Folds of the text, not of a figure, of which nothing is seen below the summary.
SHUT = """() => [...document.querySelectorAll('article details')].filter(fold =>
  !fold.closest('.companion-live') && fold.parentElement.checkVisibility() &&
  ![...fold.children].some(
    part => part.localName !== 'summary' && part.getBoundingClientRect().height > 0) &&
  fold.children.length > 1
).map(fold => fold.outerHTML.slice(0, 120))"""

# Controls of figures that are smaller than WCAG 2.5.8 asks, a box to tick with its label.
SMALL = """() => [...document.querySelectorAll(
  '.cl :is(input, select, summary, .cl-handle, button:not(.cl-word))'
)].map(control => control.closest('label') ?? control).filter(control => {
  const { width, height } = control.getBoundingClientRect();
  return control.checkVisibility({ visibilityProperty: true }) && Math.min(width, height) < 23.5;
}).map(control => control.outerHTML.slice(0, 120))"""

# Names for screen readers that differ from the text on the screen (WCAG 2.5.3).
MISLEADING = """() => [...document.querySelectorAll(
  'a[aria-label], button[aria-label], summary[aria-label], [role=button][aria-label]'
)].filter(element => {
  const text = (element.innerText ?? element.textContent).trim().toLowerCase(); // the latter in SVG
  return text && element.checkVisibility() && !element.ariaLabel.toLowerCase().includes(text);
}).map(element => element.outerHTML.slice(0, 120))"""


def weight(url: str) -> int:
    """Bytes of the site's file behind the address, compressed as a web server would."""
    return len(gzip.compress((SITE / unquote(urlparse(url).path).lstrip("/")).read_bytes(), 6))


@pytest.fixture(scope="module", params=LOOKED_AT)
def desktop(request, browser, site, http_address):
    """A page that somebody wrote, opened once for all that is asked of it: light, 1280 px."""
    size = {"width": 1280, "height": 900}
    with opening(browser, site) as open_page:
        address = f"{http_address}/{request.param}"
        yield open_page(address, color_scheme="light", viewport=size)


@pytest.fixture(scope="module", params=LOOKED_AT)
def phone(request, browser, site):
    """The same from the disk: dark, 390 px."""
    size = {"width": 390, "height": 900}
    with opening(browser, site) as open_page:
        yield open_page(f"{site.as_uri()}/{request.param}", color_scheme="dark", viewport=size)


@pytest.fixture(scope="module")
def plain(desktop, browser, site):
    """`plain()` -> the same page where no script runs, opened once."""
    with opening(browser, site) as open_page:
        options = {"viewport": desktop.viewport_size, "java_script_enabled": False}
        yield cache(lambda: open_page(desktop.url, **options))


def place(page: Page) -> str:
    """The page's file, from the site's folder."""
    path = unquote(urlparse(page.url).path)
    return path.removeprefix(SITE.as_posix()).lstrip("/")


def in_scheme(page: Page, scheme: str) -> Page:
    """The page after the reader's system has changed to light or dark."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("name => document.documentElement.dataset.theme === name", arg=scheme)
    # One that a scroll moves runs for ever; only those of the clock come to an end.
    page.wait_for_function(
        "document.getAnimations()"
        ".every((a) => a.playState !== 'running' || a.timeline !== document.timeline)"
    )
    return page


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_concepts_have_their_colours_in_formulas_and_links(open_page, address, scheme):
    page = open_page(f"{address}/book/self_attention/self_attention.html", color_scheme=scheme)
    formula = page.locator("div.math").filter(has=page.locator("mjx-msqrt")).first
    for kind, letter in {"q": "1D444", "k": "1D43E", "v": "1D449"}.items():
        link = page.locator(f"article a[href$='#{COLOURS[kind]['concept']}']")
        rgb = [round(255 * x) for x in to_rgb(COLOURS[kind][scheme]["word"])]
        for found in (formula.locator(f".mjx-c{letter}"), link):
            colours = {*found.evaluate_all("all => all.map(x => getComputedStyle(x).color)")}
            assert colours == {f"rgb({', '.join(map(str, rgb))})"}, kind


def test_search_finds_a_word(open_page, address):
    page = open_page(f"{address}/search.html?q=attention")
    page.wait_for_selector("#search-results >> text=Search finished")
    links = page.locator("#search-results ul.search li a").evaluate_all(
        "links => links.map(a => a.href)"
    )
    assert any("book/self_attention/self_attention.html" in link for link in links), links


def results(page: Page) -> list[str]:
    """The pages that a search has found, in its order."""
    page.wait_for_selector("#search-results >> text=Search finished")
    links = page.locator("#search-results ul.search li > a")
    found = links.evaluate_all("links => links.map((a) => new URL(a.href).pathname)")
    return [path.partition("/book/")[2].removesuffix(".html") for path in found]


def test_search_puts_chapters_before_exercises_and_these_before_solutions(open_page, address):
    found = results(open_page(f"{address}/search.html?q=masked+attention"))
    assert "self_attention/self_attention" in found[:2]
    first = {name: found.index(name) for name in reversed(found)}
    chapters, exercises, solutions, package = (
        [place for name, place in first.items() if re.search(pattern, name)]
        for pattern in (r"^(\w+)/\1$", "_exercises$", "_solutions$", "^api/")
    )
    assert max(chapters) < min(exercises) <= max(exercises) < min(solutions)
    assert max(exercises) < min(package)


def test_the_scheme_follows_the_system_and_the_switch(open_page, http_address):
    url = f"{http_address}/book/self_attention/self_attention.html"
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


# Pages from the disk and over http: whoever opens them fails for a request to anywhere else and
# for any error.


@pytest.mark.parametrize("name", sorted({*PAGES} - {*ARTICLES}))
def test_a_page_that_nobody_wrote_is_complete(open_page, address, name):
    page = open_page(f"{address}/{name}")
    page.wait_for_load_state("networkidle")
    assert page.locator("main").count() == 1


def test_a_page_is_complete_on_the_disk(phone):
    phone.wait_for_load_state("networkidle")
    assert phone.locator("main").count() == 1
    for said in phone.locator(".companion-live output[aria-live=polite]").all_text_contents():
        assert said, "a live figure says nothing"


def test_a_page_is_complete_and_light(desktop):
    """Its files weigh, compressed, what a reader on a slow line can wait for."""
    desktop.wait_for_load_state("networkidle")
    assert desktop.locator("main").count() == 1
    desktop.evaluate("document.fonts.ready")
    names = "performance.getEntriesByType('resource').map(entry => entry.name)"
    urls = {desktop.url, *desktop.evaluate(names)}
    weights = {url: weight(url) for url in urls if url.startswith("http://127.0.0.1:")}
    own = sum(size for url, size in weights.items() if "/_static/" not in url)
    assert own <= 0.3 * MEGABYTE
    assert sum(weights.values()) <= 0.75 * MEGABYTE, weights


def test_no_formula_is_left_as_source_or_as_an_error(desktop):
    assert desktop.locator("mjx-merror").count() == 0
    desktop.evaluate(OPENED)
    text = desktop.locator("article").inner_text()
    desktop.evaluate(VEILED)
    code = "\n".join(desktop.locator("article pre, article code").all_inner_texts())
    for sign in (r"\(", r"\[", "$$", r"\frac", r"\sqrt"):
        assert text.count(sign) <= code.count(sign), sign


def test_no_output_is_a_long_list(desktop):
    outputs = desktop.locator(".cell_output pre").all_inner_texts()
    assert [text[:80] for text in outputs if len(text.splitlines()) > 40] == []


# A page has thousands of words, in few colours on few grounds, and two rules about colours, which
# take longer than all others. They look at one of each, and at the words of figures, which may lie
# on what they are not in.
ONE_OF_EACH_COLOUR = """() => {
  const seen = new Set(), grounds = new Map();
  const ground = (box) => {
    if (box && !grounds.has(box)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(box);
      const own = [backgroundColor, backgroundImage, opacity];
      grounds.set(box, [...own, ground(box.parentElement)].join(' '));
    }
    return grounds.get(box);
  };
  for (const node of document.querySelectorAll('body *')) {
    const words = (x) => x.nodeType === Node.TEXT_NODE && x.data.trim();
    if (![...node.childNodes].some(words) || node.closest('svg, script, style')) continue;
    if (!node.checkVisibility({ visibilityProperty: true })) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(node);
    const around = [node.parentElement.localName, getComputedStyle(node.parentElement).color];
    const look = [node.localName, color, fontSize, fontWeight, ...around, ground(node)].join(' ');
    node.toggleAttribute('data-looked-at', !seen.has(look) || node.closest('.companion-live'));
    seen.add(look);
  }
}"""
SELECTORS = {"color-contrast": "[data-looked-at]", "link-in-text-block": "a[data-looked-at]"}
RULES = [{"id": rule, "selector": selector} for rule, selector in SELECTORS.items()]
AXE = Axe(f"{AXE_SCRIPT}; axe.configure({json.dumps({'rules': RULES})})")

# What depends on the colours or on the width of the window; the rest is the same on a phone.
ON_A_PHONE = [*SELECTORS, "target-size", "scrollable-region-focusable"]


def broken(page: Page, **options: object) -> list[tuple[str, str]]:
    """The grave findings of axe: rule and element."""
    page.evaluate(ONE_OF_EACH_COLOUR)
    # preload: axe would fetch the style sheets again, from where they never were.
    options = {"resultTypes": ["violations"], "preload": False, **options}
    found = AXE.run(page, options=options).response["violations"]
    grave = [rule for rule in found if rule["impact"] in ("serious", "critical")]
    return [(rule["id"], node["html"]) for rule in grave for node in rule["nodes"]]


def broken_in(page: Page, own: str, other: str, **options: object) -> list[tuple[str, str]]:
    """The same with all that is hidden until there is a guess.

    A page's own colours are the same in any width, and it is seen light on a desk and dark on a
    phone. What stands around it is the same on all pages of a kind, of which one is seen in all.
    """
    page.evaluate(OPENED)
    if place(page) in ONE_OF_EACH_KIND:
        found = broken(page) + broken(in_scheme(page, other), runOnly=list(SELECTORS))
        in_scheme(page, own)
    else:
        found = broken(page, **options)
    page.evaluate(VEILED)
    return found


def test_no_page_breaks_a_rule_of_accessibility(desktop):
    assert broken_in(desktop, "light", "dark") == []


# What stands in sight between a question and the end of its section.
IN_SIGHT = """host => {
  const seen = [];
  let node = host.closest('.cell').nextElementSibling;
  for (; node && !node.matches('section, .cell.tag_asks'); node = node.nextElementSibling)
    if (!node.matches('details.veiled:not([open])')) seen.push(node.innerText);
  return seen.join('').trim();
}"""


def test_an_answer_is_veiled_until_there_is_a_guess(desktop):
    questions = desktop.locator(".companion-live[data-figure=prediction]")
    for question in questions.all():
        assert question.evaluate(IN_SIGHT) == ""
    veil = desktop.locator("details.veiled").first
    if veil.count() == 0:
        return
    question = desktop.locator(".cell.tag_asks:has(+ details.veiled)").first
    assert not veil.locator("> :not(summary)").first.is_visible()
    for control in question.locator("input[type=radio]").all()[:1]:
        control.check()
    button = question.locator("button.cl-main")
    button.click()
    assert veil.locator("> :not(summary)").first.is_visible()
    button.click()  # guess again
    assert not veil.locator("> :not(summary)").first.is_visible()
    veil.locator("summary").first.click()  # without a guess
    assert veil.locator("> :not(summary)").first.is_visible()
    veil.evaluate("veil => { veil.open = false; }")
    desktop.evaluate("scrollTo(0, 0)")


def test_who_lectures_sees_all_answers_while_she_reads(desktop):
    switch = desktop.get_by_label("Show all answers")
    veils = desktop.locator("details.veiled")
    if veils.count() == 0:
        assert switch.count() == 0
        return
    switch.check()
    assert desktop.locator("details.veiled:not([open])").count() == 0
    asked = desktop.locator(".companion-live[data-figure=prediction] button.cl-main")
    assert not any(button.is_visible() for button in asked.all())  # nothing is left to guess
    if place(desktop) in ONE_OF_EACH_KIND:  # what remembers it is the same on all
        desktop.reload()
        assert switch.is_checked() and desktop.locator("details.veiled:not([open])").count() == 0
    switch.uncheck()
    assert desktop.locator("details.veiled[open]").count() == 0
    assert all(button.is_visible() for button in asked.all())


def test_without_scripts_and_on_paper_no_answer_is_veiled(desktop, plain):
    if desktop.locator("details.veiled").count() == 0:
        return
    answers = "details.veiled > :is(p, .cell)"
    assert plain().locator(answers).first.is_visible()
    desktop.emulate_media(media="print")
    assert desktop.locator(answers).first.is_visible()
    desktop.emulate_media(media="screen")
    assert not desktop.locator(answers).first.is_visible()


def test_on_paper_folds_are_open_and_a_quiz_has_all_its_questions(desktop):
    desktop.emulate_media(media="print")
    shut = desktop.evaluate(SHUT)
    missing = desktop.locator(".cl-question:not(:visible)").count()
    desktop.emulate_media(media="screen")
    assert shut == []
    assert missing == 0


def test_a_button_leads_only_to_an_address_that_there_is(desktop):
    assert desktop.locator('.bd-header-article .dropdown:visible a[href*="/OWNER/"]').count() == 0


def test_names_for_screen_readers_are_those_on_the_screen(desktop):
    assert desktop.evaluate(MISLEADING) == []


def check_strip(page: Page, kind: str, plain: Callable[[], Page]) -> None:
    """Where the chapter is in the model stands above its title, which stays where it is."""
    if place(page) not in WITH_STRIP:
        opens_on_the_model = place(page) == "book/paper.html"
        assert page.locator("nav.here").count() == opens_on_the_model
        return
    strip = page.locator("nav.here")
    title = page.locator("article h1")
    assert strip.locator("b").inner_text() == title.evaluate("node => node.firstChild.data")
    (drawing,) = [svg for svg in strip.locator("svg").all() if svg.is_visible()]
    assert drawing.get_attribute("class") == kind
    assert drawing.locator(".lit").count() > 0
    for box in drawing.locator("rect").all():
        assert box.bounding_box()["height"] >= 24
    targets = drawing.locator("a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    assert targets
    for target in targets:
        assert posixpath.normpath(f"{place(page)}/../{target}") in WITH_STRIP
    # The title stands where it did before any script had run.
    top = title.bounding_box()["y"]
    assert plain().locator("article h1").bounding_box()["y"] == pytest.approx(top, abs=1)


def test_a_chapter_says_where_it_is_above_its_title(desktop, plain):
    names = [f"book/{chapter.address}" for chapter in CHAPTERS]
    parts_are_met = place(desktop) in names[names.index("book/full_model/full_model.html") :]
    check_strip(desktop, "named" if parts_are_met else "small", plain)


def test_every_picture_has_a_text_alternative(desktop):
    pictures = desktop.locator("article img")
    for alt in pictures.evaluate_all("all => all.map(img => img.getAttribute('alt'))"):
        assert alt, "a picture has no alternative"
        assert not re.search(r"\.(png|svg)$", alt), alt


def test_a_notebook_can_be_opened_in_colab_and_downloaded(desktop):
    name = place(desktop).removesuffix(".html")
    buttons = desktop.locator('a[href^="https://colab.research.google.com/"]')
    if name not in NOTEBOOKS:
        assert buttons.count() == 0
        return
    repository = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["repository"]
    path = urlparse(repository["url"]).path
    colab = (
        f"https://colab.research.google.com/github{path}/blob/{repository['branch']}/{name}.ipynb"
    )
    assert desktop.locator(f'a[href="{colab}"]').count() >= 1
    link = desktop.locator("a.btn-download-source-button").first.get_attribute("href")
    downloaded = (SITE / name).parent.joinpath(link).read_text("utf8")
    committed = page_source((ROOT / f"{name}.ipynb").read_text("utf8"), ".ipynb")
    assert json.loads(downloaded) == json.loads(committed)


def test_every_notebook_is_a_page(site):
    assert {f"{name}.html" for name in NOTEBOOKS} | WITH_STRIP <= {*ARTICLES}


def test_every_page_says_something_of_its_own_to_who_has_not_opened_it(site):
    said = {}
    for name in ARTICLES:
        page = (site / name).read_text("utf8")
        said.setdefault(re.search('name="description" content="([^"]+)"', page)[1], []).append(name)
    assert [names for names in said.values() if len(names) > 1] == []


def test_a_claim_near_its_bound_was_measured_under_twenty_seeds(site):
    page = (site / "book" / "claims.html").read_text("utf8")
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in page.split("<tr")]
    kept = [row for row in rows if len(row) == 6 and "%" in row[-1]]
    assert len(kept) > 100
    for _claim, _bound, repeated, _least, _most, margin in kept:
        if float(re.search(r"([\d−]+)%", margin)[1].replace("−", "-")) < 20:
            assert int(re.search(r"of (\d+)", repeated)[1]) >= 20


def figures_of(page: Page) -> list[str]:
    shown = page.locator(".companion-live:not([data-from])")
    return shown.evaluate_all("all => all.map((host) => host.dataset.figure)")


def test_the_front_page_has_a_gpt_that_no_page_loads_unasked(open_page, address):
    page = open_page(f"{address}/book/index.html")
    names = "performance.getEntriesByType('resource').map((entry) => entry.name)"
    assert not [name for name in page.evaluate(names) if "/later-" in name]
    gpt = page.locator("[data-figure=writer]")
    expect(gpt.locator("table")).to_be_visible()
    gpt.get_by_role("button", name="Load the GPT").click()
    sentence = gpt.get_by_label("the sentence begins with")
    sentence.fill("the queen reads")
    expect(gpt.locator("output[aria-live=polite]").first).to_contain_text("reads")
    gpt.get_by_role("button", name="Next word").click()
    expect(gpt.locator(".cl-words u")).to_have_count(1)
    assert gpt.locator("[data-word]").count() > 5


def test_sayings_are_shown_by_their_verdict(open_page, address):
    page = open_page(f"{address}/book/often_said.html")
    shown = 0
    for verdict in ("no", "half", "yes"):
        page.locator(f".verdict-filter [value={verdict}]").check()
        visible = page.locator(".said:visible").count()
        assert visible == page.locator(f".said.{verdict}").count() > 0
        shown += visible
    page.locator(".verdict-filter [value=all]").check()
    assert page.locator(".said:visible").count() == page.locator(".said").count() == shown


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("moe", "experts/experts"),
        ("gqa", "writing_with_a_cache/writing_with_a_cache"),
        ("lora", "small_change/small_change"),
        ("flashattention", "attention_in_tiles/attention_in_tiles"),
        ("alibi", "beyond_the_trained_length/beyond_the_trained_length"),
        ("license", "teaching"),
    ],
)
def test_a_search_for_what_the_field_calls_it_finds_its_chapter(open_page, address, words, name):
    assert name in results(open_page(f"{address}/search.html?q={words}"))[:2]


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("what is ZeRO", "many_machines/many_machines.html#nobody-keeps-everything-zero"),
        ("how many tokens per parameter", "budgets/budgets.html#twenty-tokens-for-each-parameter"),
        ("logit lens", "glossary.html#logit-lens"),
        ("NaN float16", "many_machines/many_machines.html#the-loss-becomes-nan-in-float16"),
        ("validation below training", "is_this_normal/is_this_normal.html#validation-below"),
        ("automatic grading", "teaching.html#homework-handed-out-and-graded-automatically"),
        ("hide solutions", "exercises.html#to-hide-the-solutions"),
    ],
)
def test_a_question_leads_to_its_section(open_page, address, words, place):
    page = open_page(f"{address}/search.html?q={words.replace(' ', '+')}")
    page.wait_for_selector("#search-results >> text=Search finished")
    links = page.locator("#search-results ul.search li > a").evaluate_all(
        "links => links.slice(0, 2).map((a) => a.getAttribute('href'))"
    )
    assert any(link.startswith(f"book/{place}") for link in links), links


def test_a_result_shows_text_of_its_page(open_page, http_address):
    page = open_page(f"{http_address}/search.html?q=sines+and+cosines+positions")
    page.wait_for_selector("#search-results >> text=Search finished")
    shown = page.locator("#search-results p.context").all_inner_texts()
    assert shown and not any("Colab" in text or "\\" in text for text in shown)


@pytest.mark.parametrize(
    ("place", "section"),
    [("small_change/small_change.html", "Two thin matrices"), ("teaching.html", "Homework")],
)
def test_on_a_phone_the_contents_make_way_for_the_section_that_was_chosen(
    open_page, address, place, section
):
    page = open_page(f"{address}/book/{place}", viewport={"width": 390, "height": 900})
    contents = page.locator("#pst-secondary-sidebar-modal")
    page.locator("button.secondary-toggle:visible").click()
    expect(contents).to_be_visible()
    contents.get_by_role("link", name=section).first.click()
    expect(contents).to_be_hidden()
    expect(page.get_by_role("heading", name=section).first).to_be_in_viewport()


@pytest.mark.parametrize(
    ("place", "width"),
    [
        ("attention_in_tiles/attention_in_tiles.html#what-is-held", 390),
        ("attention_in_tiles/attention_in_tiles.html#what-is-held", 1280),
        ("small_change/small_change.html#does-it-forget-less", 1280),
    ],
)
def test_a_link_from_another_page_arrives_at_its_section(open_page, address, place, width):
    page = open_page(f"{address}/index.html", viewport={"width": width, "height": 800})
    page.goto(f"{address}/book/{place}")
    page.wait_for_timeout(1500)  # a smooth way there would be over
    section = page.locator(f"#{place.partition('#')[2]}")
    assert section.bounding_box()["y"] == pytest.approx(64, abs=2)  # below the bar


def test_every_page_says_under_which_licence_it_is(desktop):
    assert desktop.locator("footer").get_by_text("CC BY 4.0").count() == 1


def test_every_figure_stands_in_the_book(site):
    text = "".join((site / name).read_text("utf8") for name in ARTICLES)
    assert {*re.findall(r'class="companion-live" data-figure="(\w+)"', text)} == {*EXAMPLES}


def test_figures_show_what_pytorch_computed(desktop, plain):
    """The tables that stand there without JavaScript come from PyTorch, in full precision."""
    for name in figures_of(desktop):
        if not EXAMPLES[name].numbers:
            continue
        host = f".companion-live[data-figure={name}]"
        cells = plain().locator(f"{host} {EXAMPLES[name].table}")
        expected = torch.tensor([float(cell) for cell in cells.all_text_contents()])
        live = desktop.locator(host)
        assert live.locator("output[aria-live=polite]").first.text_content()
        shown = numbers(live.locator(EXAMPLES[name].numbers))
        close(shown, expected[: len(shown)], 5e-3)  # weights travel in half precision


def test_no_page_breaks_one_on_a_phone(phone):
    assert broken_in(phone, "dark", "light", runOnly=ON_A_PHONE) == []


def test_nothing_is_wider_than_a_small_phone(phone):
    phone.set_viewport_size({"width": 360, "height": 640})
    sticking_out = phone.evaluate(STICKING_OUT)
    width = phone.evaluate("document.documentElement.scrollWidth")
    phone.set_viewport_size({"width": 390, "height": 900})
    assert sticking_out == []
    assert width <= 360


def test_letters_twice_as_large_widen_no_page(phone):
    phone.set_viewport_size({"width": 320, "height": 640})
    phone.evaluate("document.documentElement.style.fontSize = '200%'")
    phone.evaluate("() => new Promise((done) => setTimeout(done, 100))")  # figures are drawn anew
    sticking_out = phone.evaluate(STICKING_OUT)
    phone.evaluate("document.documentElement.style.fontSize = ''")
    phone.set_viewport_size({"width": 390, "height": 900})
    assert sticking_out == []


def test_a_finger_hits_every_control(phone):
    phone.evaluate(OPENED)
    small = phone.evaluate(SMALL)
    phone.evaluate(VEILED)
    assert small == []


def test_the_index_marks_the_chapters_that_were_read_to_their_end(open_page, address):
    page = open_page(f"{address}/book/index.html")
    card = page.locator("ul.chapters a[href='self_attention/self_attention.html']")
    expect(card).not_to_have_class("read")
    page.goto(f"{address}/book/self_attention/self_attention.html")
    page.wait_for_function("document.readyState === 'complete'")
    page.locator("#you-can-now").scroll_into_view_if_needed()
    page.wait_for_function("localStorage.getItem('chapters-read') !== null")
    page.goto(f"{address}/book/index.html")
    page.reload()  # on a busy machine the first page may come before what was stored
    expect(card).to_have_class("read")
    expect(page.locator("ul.chapters a.read")).to_have_count(1)


def test_a_chapter_says_on_a_phone_where_it_is(phone, open_page):
    options = {"viewport": phone.viewport_size, "java_script_enabled": False}
    check_strip(phone, "small", lambda: open_page(phone.url, **options))
