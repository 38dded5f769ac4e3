"""Plots: their text alternative, what they draw, and that nobody needs colours to read them."""

import itertools
import re

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from book.page import pictures, plots

TWO = {"scaled": ([1, 2, 4], [0.5, 0.6, 0.7]), "raw": ([1, 2, 4], [0.5, 0.2, 0.1])}


@pytest.fixture(autouse=True)
def style():
    plots.use_style()


def texts(fig: Figure) -> list[str]:
    fig.draw_without_rendering()
    return [t.get_text() for t in fig.findobj(lambda a: hasattr(a, "get_text")) if t.get_text()]


DRAWN = {
    "heatmap": lambda alt: plots.heatmap(torch.eye(3), alt=alt),
    "heatmaps": lambda alt: plots.heatmaps({"a": torch.eye(3), "b": -torch.eye(3)}, alt=alt),
    "lines": lambda alt: plots.lines(TWO, alt=alt, xlabel="n", ylabel="y"),
    "bars": lambda alt: plots.bars({"a": 1.0}, alt=alt, xlabel="x"),
    "figure": lambda alt: plots.figure(alt=alt)[0],
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_the_text_alternative_reaches_the_html(draw):
    html = pictures.to_html(draw('one row, "two" & <three>'))
    assert 'alt="one row, &quot;two&quot; &amp; &lt;three&gt;"' in html
    assert html.startswith('<img class="companion-figure"') and html.count("<") == 1
    with pytest.raises(ValueError, match="needs alt"):
        draw(" ")


def test_a_figure_made_elsewhere_without_alt_is_refused_when_shown():
    fig = Figure()
    with pytest.raises(ValueError, match=r"no text alternative.*plots\.figure\(alt=...\)"):
        pictures.to_html(fig)
    fig.alt = "An empty figure"
    assert 'alt="An empty figure"' in pictures.to_html(fig)


def test_a_plot_says_what_is_drawn_for_the_number_below_it():
    fig, axes = plots.figure(alt="a", ncols=3)
    for ax, title in zip(axes, ("plain", "plain", ""), strict=True):
        ax.set(title=title, xlabel="length of\na sentence", ylabel="share <right>")
    axes[2].set(xlabel="")
    caption = "plain: share &lt;right&gt; against length of a sentence; share &lt;right&gt;"
    assert f'data-caption="{caption}"' in pictures.to_html(fig)


def test_a_notebook_shows_one_picture(monkeypatch):
    formatter = InteractiveShell().display_formatter
    pictures.show_with_alt(formatter)
    data, _ = formatter.format(DRAWN["lines"]("two curves"))
    assert set(data) == {"text/html", "text/plain"}
    assert 'alt="two curves"' in data["text/html"]


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_the_same_plot_is_the_same_text(draw):
    assert pictures.to_html(draw("a")) == pictures.to_html(draw("a"))


def test_the_smaller_format_is_chosen():
    few = pictures.to_html(plots.lines(TWO, alt="a", xlabel="n", ylabel="y"))
    fig, ax = plots.figure(alt="many points")
    ax.scatter(*np.random.default_rng(0).random((2, 20_000)))
    assert "data:image/svg+xml" in few and "data:image/png" in pictures.to_html(fig)


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_text_is_10_pixels_high_in_a_column_of_a_phone(draw):
    fig = draw("a")
    column = 320 / (96 * fig.get_size_inches()[0])
    sizes = [t.get_fontsize() * 96 / 72 for t in fig.findobj(lambda a: hasattr(a, "get_fontsize"))]
    assert min(sizes) * column >= 10


def test_backgrounds_are_transparent():
    fig = DRAWN["bars"]("a")
    assert fig.get_facecolor()[3] == 0 and fig.axes[0].get_facecolor()[3] == 0


def test_heatmap_shows_names_and_numbers():
    fig = plots.heatmap(
        torch.tensor([[0.25, 0.75]]), alt="a", title="weights", rows=["it"], columns=["cat", "mat"]
    )
    assert {"0.25", "0.75", "it", "cat", "mat", "weights"} <= set(texts(fig))
    hidden = plots.heatmap(torch.tensor([[0.25, 0.75]]), alt="a", fmt=None)
    assert "0.25" not in texts(hidden)
    assert "−0.50" in texts(plots.heatmap([[-0.5]], alt="a"))


def test_numbers_stand_out_from_their_cells():
    fig = plots.heatmap(torch.linspace(0, 1, 21)[None], alt="a")
    fig.draw_without_rendering()
    cells = fig.axes[0].collections[0].get_facecolors()

    def luminance(color):
        rgb = np.array(to_rgb(color))
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [
            *(0.2126, 0.7152, 0.0722)
        ]

    for number, cell in zip(fig.axes[0].texts, cells, strict=True):
        low, high = sorted([luminance(number.get_color()), luminance(cell[:3])])
        assert (high + 0.05) / (low + 0.05) > 4.5


def test_heatmap_centres_signed_values_and_takes_limits():
    def limits(fig):
        return fig.axes[0].collections[0].get_clim()

    assert limits(plots.heatmap([[-1.0, 3.0]], alt="a")) == (-3, 3)
    assert limits(plots.heatmap([[1.0, 3.0]], alt="a")) == (0, 3)
    assert limits(plots.heatmap([[0.2, 0.3]], alt="a", limits=(0, 1))) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrices": {}}, "at least one matrix, got none"),
        ({"matrices": {"w": torch.ones(2, 2, 2)}}, r"'w' must be a matrix, got shape \(2, 2, 2\)"),
        ({"matrices": {"w": torch.ones(2, 3)}, "rows": ["a"]}, "'w' has 2 rows, but 1 names"),
        ({"matrices": {"w": torch.ones(2, 3)}, "columns": ["a"]}, "'w' has 3 columns, but 1 names"),
    ],
)
def test_heatmaps_refuse_what_does_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        plots.heatmaps(**arguments, alt="a")


def test_curves_differ_in_marker_and_dashes_and_are_named():
    many = {f"curve {i}": ([1, 2], [0.0, i]) for i in range(plots.LIMIT_OF_SERIES)}
    fig = plots.lines(many, alt="a", xlabel="n", ylabel="y")
    curves = fig.axes[0].lines[: len(many)]
    assert len({curve.get_marker() for curve in curves}) == len(many)
    assert len({(c.get_marker(), str(c.get_linestyle())) for c in curves[:4]}) == 4
    assert set(many) <= set(texts(fig))


@pytest.mark.parametrize("logy", [False, True])
def test_a_curve_is_named_at_the_height_of_its_end(logy):
    fig = plots.lines({"a": ([1, 2], [0.1, 0.7])}, alt="a", xlabel="x", ylabel="y", logy=logy)
    fig.draw_without_rendering()
    ax = fig.axes[0]
    end, (name,) = ax.transData.transform((2, 0.7)), ax.texts
    box = name.get_window_extent()
    assert (box.y0 + box.y1) / 2 == pytest.approx(end[1], abs=3)


def test_names_of_curves_do_not_overlap():
    ends = [0.0, 0.01, 0.02, 0.5, 0.98, 1.0]
    fig = plots.lines(
        {f"{i}": ([0, 1], [0, end]) for i, end in enumerate(ends)}, alt="a", xlabel="x", ylabel="y"
    )
    fig.draw_without_rendering()
    boxes = [t.get_window_extent() for t in fig.axes[0].texts]
    heights = sorted((box.y0, box.y1) for box in boxes)
    assert len(boxes) == 6
    assert all(low[1] <= high[0] for low, high in itertools.pairwise(heights))
    order = [t.get_text() for t in sorted(fig.axes[0].texts, key=lambda t: t.xy[1])]
    assert order == ["0", "1", "2", "3", "4", "5"]  # from bottom to top as the curves end


def test_negative_values_have_colours_of_their_own():
    def colors(matrix, **options):
        return plots.heatmap(matrix, alt="a", **options).axes[0].collections[0].get_cmap().name

    assert colors([[0.0, 1.0]]) == colors([[0.2, 1.0]], limits=(0, 1)) == "Blues"
    assert colors([[-1.0, 1.0]]) == colors([[0.0, 1.0]], limits=(-1, 1)) == "vlag"


@pytest.mark.parametrize("n", [2, 6])
def test_a_title_keeps_clear_of_the_matrix_above(n):
    fig = plots.heatmaps(
        {"one": torch.rand(n, 6), "two": torch.rand(n, 6)}, alt="a", ncols=1, xlabel="below"
    )
    fig.draw_without_rendering()
    above, below = fig.axes
    gap = above.xaxis.label.get_window_extent().y0 - below.title.get_window_extent().y1
    assert gap > 10  # pixels


def test_the_number_of_a_bar_keeps_clear_of_its_spread():
    fig = plots.bars({"a": [0.2, 0.9], "b": 0.5}, alt="a", xlabel="x")
    fig.draw_without_rendering()
    ax = fig.axes[0]
    largest = ax.transData.transform((0.9, 0))[0]
    assert ax.texts[0].get_window_extent().x0 > largest


def test_a_long_label_stays_inside_the_picture():
    fig = plots.bars({"its neighbours (up to 3 away)": 0.5}, alt="a", xlabel="mean weight " * 4)
    fig.draw_without_rendering()
    box = fig.axes[0].xaxis.label.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= fig.bbox.x1


def test_every_run_is_drawn():
    fig = plots.lines({"a": ([1, 2], [[1, 2], [3, 6]])}, alt="a", xlabel="x", ylabel="y")
    *runs, key = fig.axes[0].lines
    assert [run.get_ydata().tolist() for run in runs] == [[1, 2], [3, 6]]
    assert len(key.get_xdata()) == 2  # a line beside its name, where no marker can be
    fig = plots.bars({"a": [1, 3]}, alt="a", xlabel="x")
    assert fig.axes[0].patches[0].get_width() == 2
    assert fig.axes[0].lines[0].get_xdata().tolist() == [1, 3]
    assert fig.axes[0].lines[0].get_marker() == "o"


def test_lines_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match=r"'a': x has shape \(2,\) and y \(1, 3\)"):
        plots.lines({"a": ([1, 2], [1, 2, 3])}, alt="a", xlabel="x", ylabel="y")
    nine = {str(i): ([1], [1]) for i in range(9)}
    with pytest.raises(ValueError, match=r"1 to 8 curves.*got 9"):
        plots.lines(nine, alt="a", xlabel="x", ylabel="y")
    with pytest.raises(ValueError, match="got 0"):
        plots.lines({}, alt="a", xlabel="x", ylabel="y")


def test_bars_carry_their_numbers():
    fig = plots.bars({"one head": 0.5, "four": 0.987}, alt="a", xlabel="both right")
    assert {"0.50", "0.99", "both right"} <= set(texts(fig))
    assert [t.get_text() for t in fig.axes[0].get_yticklabels()] == ["one head", "four"]
    assert fig.axes[0].yaxis_inverted()  # the first one on top
    with pytest.raises(ValueError, match="at least one value"):
        plots.bars({}, alt="a", xlabel="x")


def test_values_may_be_tensors_with_gradients_or_in_half_precision():
    weights = torch.tensor([[0.25, 0.75]], requires_grad=True)
    assert "0.75" in texts(plots.heatmap(weights, alt="a"))
    assert "0.75" in texts(plots.heatmap(weights.bfloat16(), alt="a"))


def test_pictures_hold_no_script_and_quote_nothing_raw():
    html = pictures.to_html(DRAWN["heatmap"]("a"))
    source = re.search(r'src="([^"]*)"', html)[1]
    assert "<script" not in source and '"' not in source and "#" not in source
