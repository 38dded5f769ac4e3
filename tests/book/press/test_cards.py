"""What the book shows of a claim."""

import json
import re

import nbformat
import pytest

from book._press import plain
from book._press.cards import (
    card,
    margin,
    with_cards,
    with_claims,
    with_measured,
    with_numbers,
    with_sayings,
)
from book._press.claims import code_hash, write_rows
from book.page.claims import MIMETYPE, Claim

MOST = Claim("Most are `right`.", 0.95, {"above": 0.9})


def seeds(*values, held=True):
    return [{"claim": MOST.sentence, "value": value, "held": held} for value in values]


def places(html, kind):
    found = re.findall(rf'class="{kind}"[^>]*?\b(?:cx|x1)="([\d.]+)%"', html)
    return [float(place) for place in found]


def test_a_claim_is_a_line_with_its_number_its_bound_and_the_range():
    html = card(MOST, seeds(0.97, 0.92, 1.0))
    line = html.partition("</summary>")[0]
    assert "Most are <code>right</code>." in line
    assert '<span class="number">0.95 <span class="held">✓</span></span>' in line
    assert '<span class="bound">above 0.9; 0.92 to 1, 3 of 3 seeds</span>' in line
    assert "<svg" in html and "<svg" not in line


def test_a_line_tells_where_a_claim_failed_and_where_nobody_looked():
    assert "0.5 to 0.97, 1 of 2 seeds" in card(MOST, seeds(0.97) + seeds(0.5, held=False))
    assert "above 0.9; not yet measured under other seeds" in card(MOST, [])


def test_what_the_number_is_stands_behind_the_line():
    claim = Claim("Most do (share of *all* (but one)).", 0.95, {"above": 0.9})
    line, behind = card(claim, []).split("</summary>")
    assert '<span class="sentence">Most do.</span>' in line
    assert behind.startswith("<p>Measured: share of <em>all</em> (but one): 0.95.</p>")


@pytest.mark.parametrize(
    ("value", "bound", "said", "shown"),
    [
        (0.0, {"below": 1e-5}, " checked on this page", None),
        (25.0, {"near": 25, "within": 0}, " checked on this page", None),
        (1.0, {"above": 0.9}, "above 0.9; checked on this page", "1"),
        (0.0, {"below": 0.2}, "below 0.2; checked on this page", "0"),
    ],
)
def test_what_no_seed_has_changed_has_no_range_and_no_strip(value, bound, said, shown):
    html = card(Claim("It is.", value, bound), seeds(value, value))
    assert f">{said}</span>" in html and html.count("✓") == 1 and "<svg" not in html
    assert re.findall('class="number">(.*?) <', html) == ([] if shown is None else [shown])
    assert "<svg" in card(Claim("It is.", value, bound), seeds(value, value + 1e-9))
    assert "not yet measured" in card(Claim("It is.", value, bound), [])


def test_a_line_says_what_was_drawn_anew_or_how_many_runs_are_stored():
    def bound(repeated, rows):
        html = card(Claim(MOST.sentence, 0.95, MOST.bound, repeated), rows)
        return re.search('class="bound">(.*?)<', html)[1]

    new = {"drawn": "starts and sentences"}
    assert bound(new, seeds(0.97, 0.92)) == (
        "above 0.9; 0.92 to 0.97, 2 of 2 with new starts and sentences"
    )
    assert bound(new, seeds(0.95)) == "above 0.9; 0.95, 1 of 1 with new starts and sentences"
    assert bound({"stored": "three runs"}, seeds(0.95)) == "above 0.9; stored: three runs"


def test_an_equality_up_to_rounding_has_no_number_in_its_line():
    html = card(Claim("They agree.", 2e-7, {"below": 1e-5}), seeds(1e-7, 3e-7))
    line, behind = html.split("</summary>")
    assert "checked on this page" in line and "10⁻⁷" not in line and "<svg" in behind


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 0.0, -2.0, 1e-9])
def test_every_number_has_a_strip(value):
    html = card(Claim("It ends.", value, {"near": 0, "within": 1e-3}), seeds(value, 1e-4))
    assert len(places(html, "limit")) == 2
    assert all(0 <= place <= 100 for place in places(html, "limit") + places(html, "other"))


def test_numbers_far_apart_are_drawn_by_their_size():
    html = card(Claim("They agree.", 1e-7, {"below": 1e-2}), seeds(1e-4))
    assert "1·10⁻⁷" in html and "e-07" not in html
    assert 55 < places(html, "other")[0] < 65 and places(html, "limit") == [94.0]


def test_a_number_below_zero_has_a_minus_and_no_hyphen():
    html = card(Claim("It loses.", -0.2, {"below": -0.1}), seeds(-0.3, -2e-9))
    assert '<span class="number">−0.2 ' in html and "below −0.1; " in html
    assert "−0.3 to −2·10⁻⁹, " in html


def test_the_code_of_a_cell_that_only_claims_opens_with_its_last_claim():
    def claims():
        return {"output_type": "display_data", "data": MOST._repr_mimebundle_(), "metadata": {}}

    printed = {"output_type": "stream", "name": "stdout", "text": "a table"}
    source = ["claim(f(1))\n", "claim(2)"]
    cells = [
        {"source": source, "outputs": outputs, "metadata": {"tags": ["claim"]}}
        for outputs in ([claims(), claims()], [printed, claims()])
    ]
    cells.append({"source": source, "outputs": [printed], "metadata": {}})
    with_cards(cells, seeds(0.97, 0.96))
    alone, mixed, other = cells
    assert MIMETYPE not in json.dumps(cells)
    first, last = (output["data"]["text/html"] for output in alone["outputs"])
    assert "0.96 to 0.97, 2 of 2 seeds" in first and "highlight" not in first
    assert re.sub("<[^>]+>", "", last).rstrip().endswith("claim(f(1))\nclaim(2)")
    assert alone["metadata"]["tags"] == ["claim", "remove-input"]
    assert mixed["metadata"]["tags"] == ["claim", "hide-input"]
    assert "highlight" not in mixed["outputs"][1]["data"]["text/html"]
    assert other == {"source": source, "outputs": [printed], "metadata": {}}


def test_the_table_of_all_claims_has_a_row_for_each(tmp_path):
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: intro\nchapters: [file: one]\n")
    (tmp_path / "intro.md").write_text("# A book\n")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_markdown_cell("# One\n\nText."),
        nbformat.v4.new_code_cell("claim('New.', 1, above=0)\nclaim('A | B.', 0.5, above=0)"),
    ]
    nbformat.write(notebook, tmp_path / "one.ipynb")
    row = {"claim": "A | B.", "held": True, "code": code_hash(notebook)}
    rows = [row | {"seed": 1, "value": 0.5}, row | {"seed": 2, "value": 0.25}]
    write_rows(tmp_path / "one.ipynb", rows)
    made = [{"sentence": "New.", "value": 1}, {"sentence": "A | B.", "value": 0.5}]
    said = {"bound": {"above": 0}, "repeated": {}}
    shown = [{"data": {MIMETYPE: one | said}} for one in made]
    (tmp_path / "kept.json").write_text(json.dumps({"outputs": [[], shown]}))
    outputs = {"one.ipynb": str(tmp_path / "kept.json")}
    page = with_claims("Before\n\n<!-- claims -->\n\nafter", tmp_path, outputs)
    assert "## One\n\n| claim | bound | repeated | least | most | margin |" in page
    assert (
        "| A &#124; B. | above 0 | 2 of 2 seeds | 0.25 | 0.5 | 50% |\n"
        "| New. | above 0 | not yet |  |  |  |"
    ) in page
    assert page.startswith("Before") and page.endswith("after")
    assert with_claims("nothing", tmp_path, {}) == "nothing"


@pytest.mark.parametrize(
    ("value", "others", "bound", "expected"),
    [
        (0.95, (0.97, 0.91, 0.95), {"above": 0.9}, 0.2),
        (0.2, (0.4, 0.3), {"below": 0.5}, 0.5),
        (0.5, (0.5, 0.2, 0.9), {"above": 0, "below": 1}, 0.2),
        (1.0, (1.08, 0.99), {"near": 1, "within": 0.1}, 0.2),
        (7.0, (7, 7), {"above": 1}, float("inf")),  # nothing was drawn
        (1e-7, (1e-7,), {"below": 1e-5}, float("inf")),
    ],
)
def test_the_margin_is_what_the_worst_seed_keeps(value, others, bound, expected):
    claim = Claim(MOST.sentence, value, bound)
    assert margin(claim, seeds(*others)) == pytest.approx(expected)


def test_a_fold_has_the_claims_of_the_cells_that_its_lines_lead_to(tmp_path):
    """Those of the section alone, each cell once, in the order of the lines."""
    cells = [
        nbformat.v4.new_code_cell(f'claim("{name}.", x, above=0)', id=f"of-{name.lower()}")
        for name in ("One", "Two", "Three")
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    for name in ("a/a", "notation"):
        path = tmp_path / "book" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
    row = {"held": True, "code": code_hash(notebook), "seed": 1}
    rows = [row | {"claim": "Two.", "value": 0.5}, row | {"claim": "Three.", "value": 1e-8}]
    write_rows(tmp_path / "book" / "a" / "a.ipynb", rows)
    page = (
        "[t](a/a.ipynb#cell-of-two), [o](a/a.ipynb#cell-of-one), [t](a/a.ipynb#cell-of-two)"
        "\n\n<!-- numbers -->\n\nnext [x](a/a.ipynb#cell-of-three) [n](notation.ipynb#cell-of-two)"
        "\n\n<!-- numbers -->\n\nend"
    )
    first, second, rest = with_numbers(page, tmp_path).split("</details>")
    assert first.count("| claim |") == second.count("| claim |") == 1
    rows = ["| Two. | checked on this page | 0.5 | 0.5 |", "| One. | not yet |  |  |"]
    assert first.splitlines()[-3:-1] == rows
    three = "| Three. | checked on this page | 1·10⁻⁸ | 1·10⁻⁸ |"
    assert f"{three}\n| Two. | not yet |  |  |\n" in second
    assert rest == "\n\nend"
    assert with_numbers("nothing", tmp_path) == "nothing"


def test_a_saying_has_the_range_of_the_claim_that_it_names(tmp_path):
    """The claim is counted in the cell that the last link leads to."""
    code = 'claim("One.", x, above=0)\nclaim("Two (KL, share of all).", x, above=0)'
    cell = nbformat.v4.new_code_cell(code, id="both")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    path = tmp_path / "book" / "a" / "a.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    row = {"claim": "Two (KL, share of all).", "held": True, "code": code_hash(notebook)}
    write_rows(path, [row | {"seed": seed, "value": seed / 4} for seed in (1, 2)])
    link = "[l](a/a.ipynb#cell-both)"

    def measured(comment: str) -> str:
        page = with_measured(f"[k](b/b.ipynb#cell-c) {link} {comment}", tmp_path)
        return page.partition(f'{link}\n\n<p class="measured">')[2]

    assert measured("<!-- measured 2: of words -->") == "<b>0.25 to 0.5</b> of words</p>"
    many = [row | {"seed": seed, "value": 1000 * (seed - 1.5)} for seed in (1, 2)]
    write_rows(path, many)
    assert measured("<!-- measured 2: words -->") == "<b>−500 to 500</b> words; 1 of 2 seeds</p>"
    write_rows(path, [row | {"seed": seed, "value": 0.25} for seed in (1, 2)])
    assert measured("<!-- measured 2: of all -->") == (
        "<b>0.25</b> of all; checked on this page</p>"
    )
    write_rows(path, [row | {"seed": seed, "value": 2 * seed} for seed in (1, 2)])
    for wrong, why in (
        (f"{link} <!-- measured 3: x -->", "has 2 claims"),
        (f"{link} <!-- measured 1: x -->", "not yet measured"),
        (f"<!-- measured 1: x --> {link}", "no link"),
        (f"{link} <!-- drawn share: 2 of all -->", "of all is 2 to 4"),
    ):
        with pytest.raises(ValueError, match=why):
            with_measured(wrong, tmp_path)
    write_rows(path, [row | {"seed": seed, "value": 0.25} for seed in (1, 2)])
    rows = with_measured(f"{link} <!-- drawn share *a*: 2 of *all*; 2 again -->", tmp_path)
    assert "<caption>share <em>a</em>, from 0 to 1</caption>" in rows
    assert rows.count('<circle cx="25.0%"') == 4
    heads = re.findall(r'<th scope="row">(.+?)</th>.+?<td>([^<]+)</td></tr>', rows)
    assert heads == [("of <em>all</em>", "0.25"), ("again", "0.25")]
    assert "circle" not in plain.reference(rows) and "again</th>" in plain.reference(rows)


def test_a_saying_is_a_fold_on_another_page(tmp_path):
    (tmp_path / "book").mkdir()
    found = "It [is](a/a.ipynb#cell-c). <!-- measured 1: of all -->"
    card = f':::{{{{div}}}} said {{}}\n"{{}}"\n\n**{{}}**\n\n{found}\n:::\n'
    cards = [
        card.format("half", "It `is` so.", "Half true"),
        card.format("no", "Always.", "Not so"),
    ]
    (tmp_path / "book/often_said.md").write_text("\n".join(["# Said", *cards]), "utf8")
    page = with_sayings("One\n\n<!-- said: Always. -->\n<!-- said: It `is` so. -->\n", tmp_path)
    assert page == (
        "One\n\n"
        '<details class="verdict no" open><summary>“Always.”</summary>\n\n'
        f"**Not so**\n\n{found}\n\n</details>\n"
        '<details class="verdict half"><summary>“It <code>is</code> so.”</summary>\n\n'
        f"**Half true**\n\n{found}\n\n</details>\n"
    )
    with pytest.raises(ValueError, match=r"no card on 'Never\.'"):
        with_sayings("<!-- said: Never. -->", tmp_path)
