"""The first cell of a chapter, remarks and tables."""

import random

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import Markdown
from matplotlib.figure import Figure

from book.page import note, notebook, setup, table


def draws() -> tuple:
    return random.random(), np.random.random(), torch.rand(()).item()  # noqa: NPY002


def test_setup_seeds_everything_and_says_so_in_one_line(capsys):
    seed, device = setup(seed=3)
    first = draws()
    assert (seed, device.type) == (3, "cuda" if torch.cuda.is_available() else "cpu")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    assert "seed 3" in lines[0] and torch.__version__ in lines[0]
    again = draws()
    setup(seed=3)
    repeated = draws()
    setup(seed=4)
    other = draws()
    assert first == repeated
    assert all(a != b for a, b in zip(first, again, strict=True))
    assert all(a != b for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_setup_names_the_range_of_seeds(seed):
    with pytest.raises(ValueError, match=f"seed = {seed} must lie between 0 and"):
        setup(seed=seed)


def test_setup_makes_a_notebook_show_figures_with_alt(monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr(notebook, "get_ipython", lambda: shell)
    setup()
    fig = Figure()
    fig.alt = "nothing"
    data, _ = shell.display_formatter.format(fig)
    assert 'alt="nothing"' in data["text/html"]


def test_note_is_one_markdown_box(monkeypatch):
    shown = []
    monkeypatch.setattr(notebook, "display", shown.append)
    note("Divide by $\\sqrt{d_k}$.\n\nThen **stop**.", title="Why")
    (markdown,) = shown
    assert isinstance(markdown, Markdown)
    assert markdown.data == ("> **Why**\n>\n> Divide by $\\sqrt{d_k}$.\n>\n> Then **stop**.")


def test_note_needs_a_text():
    with pytest.raises(ValueError, match="got an empty one"):
        note("  ")


def test_a_table_is_markdown_with_numbers_in_three_digits(monkeypatch):
    shown = []
    monkeypatch.setattr(notebook, "display", shown.append)
    table(["optimizer", "$p$"], [["SGD", 0.123456], ["a|b", "12.0 %"], ["Adam", 12345]])
    (markdown,) = shown
    assert isinstance(markdown, Markdown)
    assert markdown.data.splitlines() == [
        "| optimizer | $p$ |",
        "| :-- | --: |",
        "| SGD | 0.123 |",
        "| a\\|b | 12.0\u00a0% |",
        "| Adam | 12,345 |",
    ]


def test_a_column_of_words_is_read_from_the_left_and_one_of_numbers_from_the_right(monkeypatch):
    shown = []
    monkeypatch.setattr(notebook, "display", shown.append)
    table(["name", "what it means", "KL"], [["A", "A word looks ahead.", "∞"], ["B", "", 0.2]])
    assert shown[0].data.splitlines()[1] == "| :-- | :-- | --: |"


def test_sentences_with_a_number_in_them_stay_words_and_a_unit_stays_with_its_number(monkeypatch):
    shown = []
    monkeypatch.setattr(notebook, "display", shown.append)
    wrote = "To add 60 and 64, you simply add them together: 60 + 64 ="
    table(["asked", "what it wrote", "time"], [["60 + 64", wrote, "632 ms"]])
    assert shown[0].data.splitlines()[1:] == [
        "| :-- | :-- | --: |",
        f"| 60 + 64 | {wrote} | 632\u00a0ms |",
    ]


def test_numbers_in_a_table_are_written_as_people_write_them(monkeypatch):
    shown = []
    monkeypatch.setattr(notebook, "display", shown.append)
    table(["start", "gradient", "as"], [["a - 1", "2e-14", -3.5], ["b", "3e-02", "n^-1.01"]])
    assert shown[0].data.splitlines()[2:] == [
        "| a - 1 | 2·10⁻¹⁴ | −3.5 |",
        "| b | 0.03 | n^−1.01 |",
    ]


def test_a_table_names_a_row_that_does_not_fit():
    with pytest.raises(ValueError, match=r"\['SGD', '0.1'\] has 2 cells for 3 columns"):
        table(["optimizer", "scaled", "raw"], [["SGD", 0.1]])
    with pytest.raises(ValueError, match="needs rows to show under optimizer, scaled; got none"):
        table(["optimizer", "scaled"], [])
