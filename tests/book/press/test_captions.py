"""The numbers below a page's plots."""

from book._press.captions import with_captions
from book.page import pictures, plots


def test_plots_are_numbered_down_the_page_and_can_be_linked_to():
    first, axes = plots.figure(alt="a")
    axes.set(xlabel="letters $n$", ylabel="share")
    nameless = plots.figure(alt="b")[0]
    outputs = [
        {"data": {"text/html": ["<table></table>", "\n"]}},
        {"data": {"text/html": pictures.to_html(first) + pictures.to_html(nameless)}},
        {"text": "printed"},
        {"data": {"text/html": [pictures.to_html(first)]}},
    ]
    with_captions([{"outputs": outputs[:3]}, {"outputs": []}, {"outputs": outputs[3:]}])
    table, two, printed, one = outputs
    assert table["data"]["text/html"] == "<table></table>\n" and printed == {"text": "printed"}
    two, one = (output["data"]["text/html"] for output in (two, one))
    assert two.count("<figure") == 2 and '<figure id="figure-1"><img ' in two
    assert (
        '<figcaption><a href="#figure-1">Figure 1</a>. share against letters <i>n</i></figcaption>'
        in two
    )
    assert '<figcaption><a href="#figure-2">Figure 2</a></figcaption>' in two
    assert '<figure id="figure-3">' in one
