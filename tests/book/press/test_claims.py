"""Claims under other seeds, on a tiny chapter whose one claim holds for even seeds only."""

import json
import shutil

import nbformat
import pytest

from book._press import claims
from book._press.claims import at_seed, claimed, code_hash, main, problems, write_rows
from book._press.execute import chapters
from book.page.claims import MIMETYPE

PARITY = "claim('The seed is even.', seed % 2, below=1)\nprint('after')"
SIZE = "claim('The seed is large.', seed, above=100)"
CHAPTER, ROWS = "one/one.ipynb", "one/claims.json"  # one folder has both


@pytest.fixture
def book(tmp_path):
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: intro\nchapters: [file: one/one]\n")
    (tmp_path / "_config.yml").write_text("execute: {timeout: 60}\n")
    (tmp_path / "intro.md").write_text("# A book\n")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_code_cell(
            "from IPython.display import display\n"
            "def setup(seed):\n    return seed\n"
            "def claim(sentence, value, above=-1, below=10**9):\n"
            "    held = above < value < below\n"
            "    data = {'sentence': sentence, 'value': value, 'held': held}\n"
            f"    display({{'{MIMETYPE}': data}}, raw=True)\n"
            "    assert held\n"
        ),
        nbformat.v4.new_code_cell("seed = setup(seed=0)"),
        nbformat.v4.new_code_cell(PARITY),
        nbformat.v4.new_code_cell(SIZE),
        nbformat.v4.new_code_cell("print('no claim')"),
    ]
    (tmp_path / "one").mkdir()
    nbformat.write(notebook, tmp_path / CHAPTER)
    return tmp_path


def rows(book):
    return json.loads((book / ROWS).read_text("utf8"))


def add_cell(book, code):
    notebook = nbformat.read(book / CHAPTER, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(code))
    nbformat.write(notebook, book / CHAPTER)


def test_every_claim_of_every_seed_has_a_row(book, capsys):
    assert main(book, [102, 103]) == 1  # 103 is odd, and two seeds are too few
    code = code_hash(nbformat.read(book / CHAPTER, as_version=4))
    assert rows(book) == [
        {"claim": "The seed is even.", "seed": 102, "value": 0, "held": True, "code": code},
        {"claim": "The seed is even.", "seed": 103, "value": 1, "held": False, "code": code},
        {"claim": "The seed is large.", "seed": 102, "value": 102, "held": True, "code": code},
        {"claim": "The seed is large.", "seed": 103, "value": 103, "held": True, "code": code},
    ]
    assert "'The seed is even.': seed 103 gave 1" in capsys.readouterr().out
    main(book, [102, 103], "one")
    assert "102 to 103 (above 100): The seed is large.\n" in capsys.readouterr().out


def test_claims_keep_their_places_where_the_first_seed_does_not_reach_all(book):
    add_cell(book, PARITY.replace("even", "whole") + "\n" + SIZE.replace("large", "a number"))
    add_cell(book, "claim('The last.', seed, above=0)")
    assert main(book, [103, 104]) == 1  # under 103 the new cell ends before its second claim
    names = list(dict.fromkeys(row["claim"] for row in rows(book)))
    assert names[-3:] == ["The seed is whole.", "The seed is a number.", "The last."]


@pytest.mark.long
def test_what_is_measured_is_kept_until_the_code_changes(book, capsys):
    assert main(book, [102, 104, 106]) == 1
    assert main(book, [102, 104, 106, 108, 110], "one") == 0
    assert "one: 3 seeds kept, 2 to run" in capsys.readouterr().out
    path = chapters(book)[0]
    assert problems(path) == []
    add_cell(book, "1 + 1")
    stale, *missing = problems(path)
    assert stale == "10 rows were measured by other code: run `make claims CHAPTER=one`"
    assert [line.split(":")[1] for line in missing] == [" 0 seeds of 5"] * 2
    assert main(book, [112]) == 1
    assert {row["seed"] for row in rows(book)} == {112}


def test_another_error_is_told_and_measures_nothing(book, capsys):
    add_cell(book, "1 / (seed - 104)")
    assert main(book, [102, 104]) == 1
    assert {row["seed"] for row in rows(book)} == {102}
    error = capsys.readouterr().err
    assert "one.ipynb under seed 104" in error and "ZeroDivisionError" in error


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("claim(f'{1}', 1, above=0)", "no plain string"),
        ("claim(sentence, 1, above=0)", "no plain string"),
        ("claim('The seed ' 'is even.', 1, above=0)", "two claims have the sentence"),
        ("claim('It is.', 1, above=0, drawn=what)", "beside the claim 'It is.' is no constant"),
        ("claim('It is.', 1, above=bound)", "beside the claim 'It is.' is no constant"),
    ],
)
def test_a_sentence_is_plain_and_stands_once(book, code, message):
    add_cell(book, code)
    with pytest.raises(ValueError, match=message):
        claimed(nbformat.read(book / CHAPTER, as_version=4))


@pytest.mark.parametrize(
    ("said", "values", "problem"),
    [
        ("drawn", (0.5, 0.5), "nothing is drawn anew"),
        ("drawn", (0.5, 0.25), None),
        ("drawn", (1, 1), None),  # all, under every draw
        ("drawn", (0, 0), None),
        ("stored", (0.5, 0.25), "it is not stored"),
        ("stored", (0.5, 0.5), None),
    ],
)
def test_what_is_said_to_be_repeated_agrees_with_the_numbers(book, said, values, problem):
    add_cell(book, f'claim("It is.", 1, above=-1, {said}="five runs")')
    path = chapters(book)[0]
    row = {"claim": "It is.", "held": True, "code": code_hash(nbformat.read(path, as_version=4))}
    write_rows(path, [row | {"seed": seed, "value": value} for seed, value in enumerate(values)])
    told = [line for line in problems(path) if line.startswith("'It is.'")]
    assert [line for line in told if "of 5" not in line] == [
        line for line in told if problem and problem in line
    ]
    assert (problem is None) == (len(told) == 1)


def test_one_chapter_alone_or_an_error_that_lists_them(book, monkeypatch):
    measured = []
    monkeypatch.setattr(claims, "measure", lambda root, path, seed: measured.append(path) or [])
    monkeypatch.setattr(claims, "write_rows", lambda path, rows: None)
    (book / "two").mkdir()
    shutil.copy(book / CHAPTER, book / "two" / "two.ipynb")
    (book / "_toc.yml").write_text(
        "format: jb-book\nroot: intro\nchapters: [file: one/one, file: two/two]\n"
    )
    main(book, [104, 106], "two")
    assert measured == [book / "two" / "two.ipynb"] * 2
    with pytest.raises(ValueError, match="no chapter 'three'; there are one, two"):
        main(book, [104], "three")


def test_a_chapter_without_the_seed_is_refused(book):
    notebook = nbformat.read(book / CHAPTER, as_version=4)
    notebook.cells.pop(1)
    with pytest.raises(ValueError, match="stands 0 times"):
        at_seed(notebook, 1)


def test_the_hash_of_code_is_the_same_in_every_python():
    # Python 3.12 and later write f-strings out with other quotes.
    cell = nbformat.v4.new_code_cell("print(f\"{a['b']:.{n}f} of {', '.join(c)!r}\", f'it is {d}')")
    assert code_hash(nbformat.v4.new_notebook(cells=[cell])) == "03cc4df57bc434fa"


def test_words_and_bounds_measure_nothing():
    def code(source):
        return code_hash(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)]))

    guess = code('prediction_figure("How many?", 3, x=[1, 2], because="So it is.")')
    assert guess == code(
        'prediction_figure("What number?", 3, x=[1, 2], because="It is.", along="heads",\n'
        "    computed=True)"
    )
    assert guess != code('prediction_figure("How many?", 4, x=[1, 2], because="So it is.")')
    assert guess != code('prediction_figure("How many?", 3, x=[1, 3], because="So it is.")')
    plot = code('import a\nlines(a.b, alt=f"It rises to {top}.")')
    assert plot == code('from a import c\nlines(a.b, alt="It rises.")')
    assert plot != code('lines(a.c, alt="It rises.")')
    made = code('claim("It is.", 1, above=0)')
    assert made == code('claim("So it is.", 1, below=3, drawn="starts")')
    assert made != code('claim("It is.", 2, above=0)')


@pytest.mark.long
def test_a_claim_put_in_other_words_or_bounds_keeps_its_numbers(book, capsys):
    main(book, [102, 104, 106, 108, 110])
    path = chapters(book)[0]
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[3].source = "claim('The seed is above 105.', seed, above=105)"
    nbformat.write(notebook, path)
    told, *failed = problems(path)
    assert "sentences or bounds have changed" in told
    assert failed == [f"'The seed is above 105.': seed {seed} gave {seed}" for seed in (102, 104)]
    capsys.readouterr()
    assert main(book, [102, 104, 106, 108, 110]) == 1
    assert "5 seeds kept, 0 to run" in capsys.readouterr().out
    assert problems(path) == failed and rows(book)[-1]["claim"] == "The seed is above 105."
