"""Decks of slides: of a small notebook, and of two chapters in a browser, from the disk."""

import re
from urllib.error import URLError

import pytest

from book._press.path import Chapter, chapters_of
from book._press.slides import LITTLE, REVEAL, slides_of, write_deck, write_reveal
from book.page import prediction_figure
from book.page.claims import MIMETYPE, Claim
from book.self_attention import attention_figure
from tests.book.press.test_site import STICKING_OUT, broken, in_scheme

SMALL = Chapter("small", "Small", "Is it small?", (), ())


def text(markdown):
    return {"cell_type": "markdown", "source": markdown}


def code(*shown):
    return {"cell_type": "code", "source": "", "outputs": [{"data": data} for data in shown]}


def html(figure):
    return {"text/html": figure.to_html()}


def claims(*sentences):
    made = [Claim(sentence, 0.95, {"above": 0.9}) for sentence in sentences]
    return code(*({MIMETYPE: claim._repr_mimebundle_()[MIMETYPE]} for claim in made))


GUESS = prediction_figure("How many?", 42, between=(0, 99), unit="%", because="It is so.")
FIGURE = attention_figure(["a", "b"], *([[1.0, 0], [0, 1]] for _ in range(3)))
CELLS = [
    text("# Small\n\nOnly a [test](../other/other.ipynb#place)."),
    code(html(FIGURE)),
    text("Look at it."),
    text(
        "One more line.\n\n## A guess\n\n<details><summary>Before</summary>\n\nHidden.\n\n$$h$$\n\n"
        "</details>\n\nA claim comes. Why not? Below stands this:\n\n$$a < b$$\n\n$$c$$"
    ),
    code({"text/plain": "3.14"}, html(GUESS)),
    claims("One.", "Two.", "Three.", "Four.", "Five."),
    text("Read [below](#a-list) and [there](https://example.org).\n\n## A list\n\nIt says:"),
    text("## Points\n\n- **First.** More of it.\n- Second $x$, too.\n\n```\n# no heading\n```"),
    text("## You can now\n\n- do it.\n\nFive minutes: do it.\n\n## Exercises\n\nTwelve."),
    code(html(GUESS)),
]


@pytest.fixture(scope="module")
def deck():
    return slides_of(CELLS, [{"claim": "Two.", "value": 0.92, "held": True}], SMALL)


def words(markup):
    return re.sub(r"<[^>]*>", "", markup).strip()


def test_a_section_has_a_slide_for_each_thing_that_it_shows(deck):
    assert [f"{slide.heading}: {slide.kind}" for slide in deck] == [
        "Small: title",
        "Small: text",
        "Small: figure",
        "A guess: section",
        "A guess: question",
        "A guess: answer",
        "A guess: claims",
        "Points: section",
        "You can now: last",
    ]
    assert words(deck[0].body) == "Is it small?"


def test_a_heading_has_its_first_sentences_and_its_first_formula(deck):
    opening = words(deck[3].body)
    assert opening == "A claim comes. Why not? Below stands this:\n\\[a &lt; b\\]"
    points = deck[7].body
    assert words(points).split("\n") == ["First. More of it.", r"Second \(x\), too."]
    assert '<span class="unbroken">' in points


def opened(*markdown):
    """The slides of a section, between a title and the last one."""
    cells = [
        text("# Small"),
        text("\n\n".join(["## Section", *markdown])),
        text("## You can now\n\nAll."),
    ]
    return slides_of(cells, [], SMALL)[1:-1]


LONG = " ".join(["This sentence is long enough to say something."] * 8)


def test_the_scene_that_opens_a_chapter_has_a_slide_up_to_its_question():
    opening = "> Dog bites man.\n\nThat is [no](https://example.org) news.\n\n**Is it?** Read:"
    title, scene, _ = slides_of(
        [text(f"# Small\n\n{opening}"), text("## You can now\n\nAll.")], [], SMALL
    )
    assert title.body == "<p>Is it small?</p>"
    assert words(scene.body).split() == "Dog bites man. That is no news.".split()
    assert "Is it?" in scene.notes


def test_a_formula_stands_below_what_introduces_it_and_above_what_says_it_in_words():
    (near,) = opened("A scale:", "$$a$$", "In words: a scale. It is large.")
    assert re.sub(r"\s+", " ", words(near.body)) == r"A scale: \[a\]In words: a scale."
    (signs,) = opened("A scale:", "$$a$$", "In words: $a$ is a scale.")
    assert words(signs.body).endswith(r"In words: \(a\) is a scale.")
    (inside,) = opened("A scale is", "$$a$$", "where $a$ is large. So it is.")
    assert words(inside.body).endswith(r"where \(a\) is large.")
    opening, far = opened(LONG, f"{LONG} Here is its size:", "$$a$$", "It is large.")
    assert "math" not in opening.body
    assert words(far.body).endswith("Here is its size:\n\\[a\\]")
    assert "Here is its size:" in far.notes and "It is large." in far.notes


def test_what_stands_right_below_the_first_sentences_is_shown_with_them():
    for below in ("1. One\n2. Two", "|  | a |\n|--|--|\n| One | Two |"):
        (slide,) = opened("There are two:", below, LONG)
        assert words(slide.body).startswith("There are two:")
        assert slide.body.count("One") == slide.body.count("Two") == 1


def test_a_section_with_little_text_goes_on_or_leaves_its_heading_to_the_next_slide():
    (slide,) = opened("It is short.", "Then more.", "And this:", "Last.")
    assert words(slide.body).split("\n") == ["It is short. Then more. Last."]
    cells = [
        text("# Small\n\nA scene."),
        text("## Section\n\nLook:"),
        code(html(FIGURE)),
        text("## You can now\n\nAll."),
    ]
    deck = slides_of(cells, [], SMALL)
    assert [slide.kind for slide in deck] == ["title", "text", "figure", "last"]
    assert deck[2].heading == "Section" and words(deck[2].notes) == "Look:"
    assert all(slide.kind == "figure" or len(words(slide.body)) < LITTLE for slide in deck)


def test_sentences_are_whole_and_those_about_a_page_are_said_only():
    (slide,) = opened(
        "Since $q (W_K x) = (W_K q) X$, it is. If not, see [Is this normal?](a.md). **So? It is.** "
        + LONG
    )
    shown = words(slide.body)
    assert shown.startswith(r"Since \(q (W_K x) = (W_K q) X\), it is. So? It is. This")
    assert "normal" in slide.notes and "**" not in shown


def test_a_table_of_results_has_a_slide_and_what_is_printed_is_in_the_notes():
    table, listing = "|  | right |\n|--|--|\n| cat | 1/2 |", "```python\nx = 1\n```"
    cells = [
        text("# Small\n\nA scene.\n\n## Section\n\nHere is what came out, and it is a table:"),
        code({"text/markdown": table}, {"text/markdown": listing}, {"text/plain": "3 < 4"}),
        {**code(), "source": "print(5)", "outputs": [{"text": "torch 2"}, {"text": "5"}]},
        {**code(), "source": "hidden", "metadata": {"tags": ["hide-input"]}},
        text("## You can now\n\nAll."),
    ]
    *_, shown, _ = slides_of(cells, [], SMALL)
    assert (shown.kind, shown.heading) == ("table", "Section")
    assert words(shown.body).split() == ["right", "cat", "1/2"]
    for part in ("it is a table:", "x = 1", "3 &lt; 4", "print(5)", "<pre>5</pre>"):
        assert part in shown.notes
    assert "torch" not in shown.notes and "hidden" not in shown.notes


def test_a_question_comes_before_its_answer(deck):
    question, answer = deck[4:6]
    assert question.body == GUESS.to_html()
    assert "How many?" in answer.body and "It is so." in answer.body
    assert "<td>42</td>" in answer.body and 'scope="col">%' in answer.body
    assert "companion-live" not in answer.body


def test_every_claim_is_a_line_with_its_number_and_a_slide_has_four(deck):
    answer, more = deck[5:7]
    assert re.findall(r'"sentence">(\w+)', answer.body) == ["One", "Two", "Three", "Four"]
    assert re.findall(r'"sentence">(\w+)', more.body) == ["Five"]
    assert (answer.body + more.body).count('"number">0.95') == 5
    assert "above 0.9; 0.92, 1 of 1 seeds" in answer.body


def test_of_what_the_number_of_a_claim_is_stands_beside_its_bound():
    made = [
        Claim("It grows (share of the words).", 105_754_255_360.0, {"above": 1e6}, {}),
        Claim("It is one (difference).", 0.0, {"near": 0.0, "within": 1e-9}, {}),
    ]
    shown = code(*({MIMETYPE: claim._repr_mimebundle_()[MIMETYPE]} for claim in made))
    rows = [{"claim": claim.sentence, "value": claim.value, "held": True} for claim in made]
    deck = slides_of(
        [text("# Small\n\nA scene."), shown, text("## You can now\n\nAll.")], rows, SMALL
    )
    (slide,) = [slide for slide in deck if slide.kind == "claims"]
    first, second = (words(line) for line in re.findall("<summary>(.*?)</summary>", slide.body))
    assert first == "It grows. 1.06·10¹¹ ✓ share of the words: above 10⁶; checked"
    assert second == "It is one. ✓ checked"


def test_an_answer_has_the_digits_that_can_be_read():
    guess = prediction_figure("How many?", 53.4, between=(0.0, 99.0), because="So.")
    deck = slides_of(
        [text("# Small"), code(html(guess)), text("## You can now\n\nAll.")], [], SMALL
    )
    assert "<td>53.4</td>" in deck[2].body


def test_a_slide_without_text_repeats_the_paragraph_beside_it(deck):
    notes = {slide.kind: words(slide.notes) for slide in deck if slide.heading == "A guess"}
    assert notes["question"].startswith("A claim comes.")
    assert notes["answer"] == "Read below and there."
    assert all(slide.notes for slide in deck)


def test_all_text_is_said_up_to_the_last_slide(deck):
    notes = [words(slide.notes) for slide in deck]
    said = "\n".join(notes)
    for part in (
        "Look at it.",
        "One more line.",
        "Hidden",
        "More of it.",
        "Five",
    ):
        assert said.count(part) == 1
    assert "One more line." in notes[2]  # beside the figure that it follows
    assert "Twelve" not in said


def test_the_last_slide_says_what_one_can_do_and_leads_to_the_exercises(deck):
    last = deck[-1]
    assert words(last.body).split() == ["do", "it.", "The", "exercises"]
    assert 'href="small_exercises.html"' in last.body


def test_links_lead_to_the_pages_of_the_site(deck):
    notes = "".join(slide.notes for slide in deck)
    links = re.findall(r'href="([^"]*)"', notes)
    assert list(dict.fromkeys(links)) == [
        "../other/other.html#place",
        "small.html#a-list",
        "https://example.org",
    ]


def test_another_reveal_than_the_pinned_one_is_refused(tmp_path):
    kept = tmp_path / "reveal.tgz"
    kept.write_bytes(b"something else")
    with pytest.raises(ValueError, match="is pinned"):
        write_reveal(tmp_path, kept)
    assert not kept.exists()


@pytest.fixture(scope="module", params=["self_attention", "time_series"])
def address(request, root, site):
    """Of a deck in the built site, where it stays: another process may be reading it."""
    chapters = chapters_of((root / "book" / "index.md").read_text("utf8"), root)
    (chapter,) = [chapter for chapter in chapters if chapter.name == request.param]
    path = site / "book" / chapter.name / f"{chapter.name}_slides.html"
    try:
        write_reveal(site / "_static", site.parent / REVEAL.rpartition("/")[2])
    except URLError as error:
        pytest.skip(f"reveal.js is not here, and cannot be fetched: {error}")
    write_deck(root, chapter, chapters)
    return path.as_uri()


SIZES = """() => {
  const slide = Reveal.getCurrentSlide().querySelector(".slide");
  return [slide.className, slide.scrollHeight / slide.clientHeight];
}"""
DRAWN = "document.querySelectorAll('.companion-live > :is(script, [role=alert])').length === 0"


@pytest.mark.browser
@pytest.mark.parametrize("size", [(1280, 720), (844, 390)], ids=["desk", "phone"])
def test_the_arrow_key_leads_through_all_slides(open_page, address, size):
    page = open_page(address, viewport=dict(zip(("width", "height"), size, strict=True)))
    assert page.evaluate(DRAWN)
    seen = []
    while True:
        seen.append(page.evaluate(SIZES))
        assert page.evaluate(STICKING_OUT) == []
        if page.evaluate("Reveal.isLastSlide()"):
            break
        page.keyboard.press("ArrowRight")
    assert len(seen) == page.locator(".slide").count() > 20
    assert seen[0][0] == "slide title" and seen[-1][0] == "slide last"
    if size == (1280, 720):  # a small screen scrolls more
        assert [kind for kind, share in seen if share > 1.25] == []


@pytest.mark.browser
def test_no_kind_of_slide_breaks_a_rule_of_accessibility(open_page, address):
    page = open_page(address, color_scheme="light", viewport={"width": 1280, "height": 720})
    found = {}
    for _ in range(page.locator(".slide").count()):
        kind = page.evaluate(SIZES)[0]
        if kind not in found:
            found[kind] = broken(page)
            found[kind] += broken(in_scheme(page, "dark"), runOnly=["color-contrast"])
            in_scheme(page, "light")
        page.keyboard.press("ArrowRight")
    assert len(found) >= 8
    assert {kind: rules for kind, rules in found.items() if rules} == {}


@pytest.mark.browser
def test_keys_are_the_figures_once_it_was_reached_by_tab_and_the_decks_after_a_click(
    open_page, address
):
    page = open_page(address, viewport={"width": 1280, "height": 720})
    while not page.evaluate("Reveal.getCurrentSlide().querySelector('.question [type=range]')"):
        page.keyboard.press("ArrowRight")
    at = "Reveal.getIndices().h"
    here = page.evaluate(at)
    slider = page.locator(".present [type=range]")
    slider.focus()
    before = slider.input_value()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(at) == here and slider.input_value() != before
    slider.click()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(at) != here


def swipe(page, y):
    finger = page.context.new_cdp_session(page)
    for kind, x in (("Start", 700), ("Move", 600), ("Move", 400), ("End", None)):
        points = [] if x is None else [{"x": x, "y": y}]
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})


@pytest.mark.browser
def test_a_swipe_leads_on_but_in_a_figure(open_page, address):
    page = open_page(address, viewport={"width": 844, "height": 390}, has_touch=True)
    for at in (1, 2):
        swipe(page, 200)
        page.wait_for_function(f"Reveal.getIndices().h === {at}")
    assert page.evaluate("Reveal.getCurrentSlide().querySelector('.companion-live') !== null")
    swipe(page, 200)
    page.wait_for_timeout(300)
    assert page.evaluate("Reveal.getIndices().h") == 2


@pytest.mark.browser
def test_a_key_changes_between_light_and_dark(open_page, address):
    page = open_page(address, color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.keyboard.press("t")
    assert page.evaluate(ground) != light


@pytest.mark.browser
def test_the_notes_open_in_a_window_of_their_own(open_page, address):
    page = open_page(address)
    said = page.locator("aside.notes p").first.inner_text().split()[:4]
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    notes = popup.value.locator(".speaker-controls-notes .value")
    notes.get_by_text(" ".join(said)).wait_for()
