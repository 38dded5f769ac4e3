"""The colours of the concepts: enough contrast, and the same in plots, figures and pages."""

import itertools
import re
from pathlib import Path

import pytest
import torch
from matplotlib.colors import to_hex, to_rgb

from book.page import bars, colour_legend, lines, live
from book.page.colours import COLOURS, UNDERLINES, properties, tone

PAGES = (Path(__file__).parents[3] / "book" / "_assets" / "book.css").read_text("utf8")
GROUNDS = {"light": "#ffffff", "dark": "#121212"}  # of the book's pages


def luminance(color: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return sum(c * share for c, share in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def contrast(a: str, b: str) -> float:
    dark, light = sorted(map(luminance, (a, b)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", GROUNDS)
@pytest.mark.parametrize("kind", COLOURS)
def test_shapes_and_words_stand_out_from_the_page(kind, scheme):
    tones = COLOURS[kind][scheme]
    assert contrast(tones["shape"], GROUNDS[scheme]) >= 3
    assert contrast(tones["word"], GROUNDS[scheme]) >= 4.5


@pytest.mark.parametrize("scheme", GROUNDS)
def test_no_two_concepts_look_alike(scheme):
    tones = [to_rgb(colour[scheme]["shape"]) for colour in COLOURS.values()]
    for a, b in itertools.combinations(tones, 2):
        assert max(abs(x - y) for x, y in zip(a, b, strict=True)) > 0.2


@pytest.mark.parametrize("scheme", GROUNDS)
def test_css_has_every_tone(scheme):
    found = dict(re.findall(r"--([\w-]+): (#\w{6});", properties()[scheme]))
    assert found == {
        name: colour[scheme][role]
        for kind, colour in COLOURS.items()
        for name, role in ((kind, "shape"), (f"{kind}-word", "word"))
    }


def test_a_plot_draws_a_concept_in_its_colour():
    assert tone("key") == COLOURS["k"]["light"]["shape"] and tone("keyring") is None
    x = torch.arange(3)
    axes = lines({"key": (x, x), "other": (x, -x)}, alt="a", xlabel="x", ylabel="y").axes[0]
    assert to_hex(axes.lines[0].get_color()) == tone("key")
    axes = bars({"value": 1, "other": 2}, alt="a", xlabel="x").axes[0]
    colors = [to_hex(patch.get_facecolor()) for patch in axes.patches]
    assert colors[0] == tone("value") != colors[1]


def test_the_legend_has_every_concept_with_its_colour_and_another_mark():
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", colour_legend().data)
    assert len(rows) == len(COLOURS)
    for (swatch, concept, _), (kind, colour) in zip(rows, COLOURS.items(), strict=True):
        assert f"var(--{kind}, {colour['light']['shape']})" in swatch
        assert f">{colour['concept']}<" in concept
    marks = [re.search(r"text-decoration: ([^;]+);", concept)[1] for _, concept, _ in rows]
    assert len(set(marks)) == len(marks)


@pytest.mark.parametrize("kind", UNDERLINES)
def test_the_legend_shows_the_underlines_of_figures_and_pages(kind):
    for rules, start in (
        (live.module(live.scripts()["attention"]), rf"\.cl-{kind}"),
        (PAGES, r"a\[href.*"),
    ):
        rule = re.search(rf"{start} \{{([^}}]*var\(--{kind}-word\)[^}}]*)\}}", rules)[1]
        assert f"--under: {UNDERLINES[kind]};" in rule
