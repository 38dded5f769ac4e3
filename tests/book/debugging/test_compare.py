"""What is far off is marked; differences are drawn; each suspect is shown with its place."""

import pytest
import torch

from book.debugging import compare, language_model, the_model


@pytest.mark.parametrize(
    ("yours", "sound", "sign"),
    [
        *[(2.1, 1, "▲"), (1.9, 1, ""), (0.4, 1, "▼"), (0.6, 1, ""), (0, 0.3, "▼"), (0.3, 0, "▲")],
        *[(3e-6, 1e-6, ""), (-0.1, -0.3, "▲"), (-0.7, -0.3, "▼"), (-0.2, 0.3, "▼")],
    ],
)
def test_what_is_far_off_is_marked(yours, sound, sign):
    assert compare.mark(yours, sound) == sign
    own, _ = compare.marked(yours, sound)
    assert own.endswith(f"{sign}**") if sign else "*" not in own


def test_a_difference_is_drawn_below_the_curves():
    x, yours, sound = [1, 2, 3], [3.0, 2.0, 1.5], [3.0, 1.0, 1.0]
    fig = compare.curves({"": (x, yours, sound)}, alt="a", xlabel="x", ylabel="y")
    above, below = fig.axes
    drawn = [line.get_ydata().tolist() for line in above.lines if len(line.get_xdata())]
    assert drawn == [sound, yours]
    assert below.lines[1].get_ydata().tolist() == [0.0, 1.0, 0.5]


def test_maps_share_one_scale_and_the_difference_has_its_own():
    a, b = torch.eye(3), torch.full((3, 3), 0.25)
    fig = compare.maps({"one": (a, b), "same": (b, b)}, alt="a", xlabel="x", ylabel="y")
    images = [ax.images[0] for ax in fig.axes if ax.images]
    assert images[2].get_array().tolist() == (a - b).tolist()
    assert [image.get_clim() for image in images] == 2 * [(0, 1), (0, 1), (-0.75, 0.75)]


def test_a_suspect_is_shown_with_the_function_of_its_line(monkeypatch):
    shown = []
    monkeypatch.setattr(compare, "table", lambda columns, rows: shown.extend(rows))
    compare.suspects(language_model, the_model.FAULTS)
    places = {name: place for name, _, place in shown}
    assert places["no causal mask"] == "`Attention.forward`"
    assert places["softmax twice"] == "`mean_loss`"
    assert places["the learning rate is far too high"] == "`constants`"
    assert len(shown) == len(the_model.FAULTS) + 1
