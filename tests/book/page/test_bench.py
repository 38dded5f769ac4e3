"""A bench: what its controls and its button do, and what a page without a kernel shows."""

import sys

import ipywidgets
import pytest
from markdown_it import MarkdownIt

from book.page import bench

WITH_BUNDLE = pytest.mark.skipif(
    not hasattr(ipywidgets.Widget, "_repr_mimebundle_"), reason="ipywidgets 7 shows itself"
)


def reversed_words(text, times, loud):
    if not text:
        raise ValueError("write a word first")
    return f"**{' '.join([text[::-1]] * times)}**" + "!" * loud


def made():
    return bench(
        "turn a word round",
        reversed_words,
        text=ipywidgets.Text("tab & co"),
        times=ipywidgets.IntSlider(2, 1, 3),
        loud=ipywidgets.Checkbox(False),
    )


def test_the_button_shows_what_the_function_returns_for_the_controls():
    one = made()
    for name, value in (("text", "ab"), ("times", 3), ("loud", True)):
        before = one.output.value
        one.controls[name].value = value
        assert one.output.value == before  # a long answer waits for the button
        one.button.click()
        expected = reversed_words(**{k: c.value for k, c in one.controls.items()})
        assert one.output.value == MarkdownIt().render(expected) != before
    assert one.output.value == "<p><strong>ba ba ba</strong>!</p>\n"
    assert [*one.children][1:] == [*one.controls.values(), one.button, one.output]


def test_bad_input_gets_a_sentence():
    one = made()
    one.controls["text"].value = ""
    one.button.click()
    assert one.output.value == "<p>write a word first</p>\n"


def test_a_page_without_a_kernel_shows_the_recorded_answer():
    page = made().to_html()
    assert "text: <b>tab &amp; co</b>, times: <b>2</b>, loud: <b>False</b>" in page
    assert "<strong>oc &amp; bat oc &amp; bat</strong>" in page
    assert "you set text, times and loud yourself" in page


@WITH_BUNDLE
def test_a_page_without_a_kernel_shows_what_a_notebook_has_stored():
    bundle, page = made()._repr_mimebundle_(), made().to_html()
    assert bundle["text/html"] == page and "0x" not in bundle["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


@WITH_BUNDLE
def test_in_colab_the_widget_is_shown_and_not_its_record(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    assert "text/html" not in made()._repr_mimebundle_()


def test_a_bench_without_controls_is_refused():
    with pytest.raises(ValueError, match="needs controls"):
        bench("nothing", lambda: "")
