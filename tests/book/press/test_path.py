"""The strip above a chapter and the cards of the index, against the table of contents."""

import json
import re
import shutil
import tomllib
from collections import Counter
from pathlib import Path
from xml.dom import minidom

import nbformat
import pytest
import yaml
from docutils.nodes import make_id

from book._press.execute import TO_DO, chapters
from book._press.path import (
    NAMES,
    Chapter,
    chapters_of,
    doors_of,
    here,
    reading_minutes,
    with_chapters,
    with_sections,
)
from book.page.figures.translator import STAGES

ROOT = Path(__file__).parents[3]
INDEX = (ROOT / "book" / "index.md").read_text("utf8")
LISTED = chapters_of(INDEX, ROOT)
DOORS = {*NAMES, "block", "block2"}
by_chapter = pytest.mark.parametrize("chapter", LISTED, ids=lambda chapter: chapter.name)
PAGE = """\
# A book

<!-- translator: full_model -->

<!-- figure: full_model/translation -->

### A part

{}

Text.
"""


def title_of(name: str) -> str:
    notebook = nbformat.read(ROOT / "book" / name / f"{name}.ipynb", as_version=4)
    return notebook.cells[0].source.partition("\n")[0].removeprefix("# ")


def test_the_index_has_the_parts_and_chapters_of_the_table_of_contents():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))["parts"]
    parts = [part for part in parts if part["caption"] not in ("Reference", "For instructors")]
    files = {
        part["caption"]: [
            c["file"] for c in part["chapters"] if not TO_DO.search(Path(c["file"]).name)
        ]
        for part in parts
    }
    _, *sections = re.split(r"(?m)^### (.+)$", INDEX)
    listed = {
        caption: [f"book/{chapter.name}/{chapter.name}" for chapter in chapters_of(rows, ROOT)]
        for caption, rows in zip(sections[::2], sections[1::2], strict=True)
    }
    assert [*listed] == [*files]
    assert listed == files, "book/index.md has other chapters, or another order, than _toc.yml"


def test_a_chapter_has_the_same_title_on_the_index():
    assert {chapter.name: chapter.title for chapter in LISTED} == {
        chapter.name: title_of(chapter.name).replace("'", "’") for chapter in LISTED
    }


def test_every_chapter_says_in_its_folder_what_it_asks_and_where_it_is():
    described = {path.parent.name: path for path in (ROOT / "book").glob("*/chapter.toml")}
    names = [path.stem for path in chapters(ROOT) if path.stem != "notation"]
    assert described.keys() == {*names}
    for path in described.values():
        said = tomllib.loads(path.read_text("utf8"))
        assert said.keys() == {"question", "stages", "doors"}, path
        assert said["question"].endswith("?"), f"{path}: {said['question']!r} is no question"
        assert said["stages"] and {*said["stages"]} <= NAMES.keys(), path
        assert {*said["doors"]} <= DOORS, path


def test_some_chapter_is_about_each_stage_and_each_leads_to_one():
    assert {stage for chapter in LISTED for stage in chapter.stages} == NAMES.keys()
    leading = Counter(stage for chapter in LISTED for stage in chapter.doors)
    assert leading == dict.fromkeys(DOORS, 1), "no stage leads to two chapters, or to none"
    assert doors_of(LISTED)["cross"].name == "full_model"


def test_every_stage_of_the_model_has_a_name_and_a_box_in_each_drawing():
    for stage, known in STAGES.items():
        assert known["name"], stage
        for size in ("strip", "card"):
            start, width = known[size]
            assert start >= 0 and width > 0, (stage, size)


@by_chapter
def test_the_strip_lights_what_the_chapter_is_about_and_links_to_the_stages_chapters(chapter):
    strip = minidom.parseString(here(chapter.name, LISTED))
    number = LISTED.index(chapter) + 1
    (said,) = strip.getElementsByTagName("p")
    assert said.firstChild.data == f"You are here, {number} of {len(LISTED)}: "
    lit = [NAMES[stage] for stage in chapter.stages if stage != "loop"]
    for drawing in strip.getElementsByTagName("svg"):
        links = drawing.getElementsByTagName("a")
        assert [link.getAttribute("href") for link in links] == [
            f"../{to.name}/{to.name}.html" for to in map(doors_of(LISTED).get, in_lanes())
        ]
        for link in links:
            assert (ROOT / "book" / "one" / link.getAttribute("href")).resolve().parent.is_dir()
        labels = [
            link.getAttribute("aria-label").partition(":")[0]
            for link in links
            if link.getAttribute("aria-current") == "true"
        ]
        assert sorted(labels) == sorted(lit)
        way_back = [path.getAttribute("class") for path in drawing.getElementsByTagName("path")]
        assert ("rail lit" in way_back) == ("loop" in chapter.stages)
        about = drawing.getAttribute("aria-label")
        assert all(word in about for word in lit)


def in_lanes() -> list[str]:
    """The stages as they are drawn: the encoder's, then the decoder's."""
    return sorted(STAGES, key=lambda stage: STAGES[stage]["lane"] == "decoder")


def test_the_parts_have_names_from_the_chapter_on_that_puts_them_together():
    names = [chapter.name for chapter in LISTED]
    with_names = [name for name in names if "<text" in here(name, LISTED)]
    assert with_names == names[names.index("full_model") :]


def test_a_stage_of_the_strip_is_named_by_what_one_sees():
    strip = minidom.parseString(here("decoding", LISTED))
    texts = strip.getElementsByTagName("text")
    assert [text.firstChild.data for text in texts] == [NAMES[stage] for stage in in_lanes()]
    for text in texts:
        assert text.parentNode.getAttribute("aria-label").startswith(text.firstChild.data + ": ")


def test_a_stage_that_leads_nowhere_is_no_link_and_keeps_its_name():
    one = Chapter("one", "One", "Why?", ("self", "out"), ("out",))
    for drawing in minidom.parseString(here("one", [one])).getElementsByTagName("svg"):
        (link,) = drawing.getElementsByTagName("a")
        assert link.getAttribute("aria-label") == "next word: One"
        boxes = drawing.getElementsByTagName("g")
        assert [box.getAttribute("aria-label") for box in boxes] == [
            NAMES[stage] for stage in in_lanes() if stage != "out"
        ]
        assert {box.getAttribute("role") for box in boxes} == {"img"}
        lit = [box.getAttribute("aria-label") for box in boxes if box.getAttribute("class")]
        assert lit == ["self-attention"]


def test_reading_time_counts_words_open_code_and_what_is_touched_guessed_and_claimed():
    code, prose = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    cells = [prose("word " * 2000), code("x = 1\n" * 150)]
    assert reading_minutes(nbformat.v4.new_notebook(cells=cells)) == 20
    for tag in ("hide-input", "claim"):
        cells[1].metadata["tags"] = [tag]
        assert reading_minutes(nbformat.v4.new_notebook(cells=cells)) == 10
    for calls in ("stack_figure(x)\n" * 4, "prediction_figure(q, 1)\n" * 10, "claim(s, 1)\n" * 20):
        cells[1].source = calls
        assert reading_minutes(nbformat.v4.new_notebook(cells=cells)) == 15


def test_a_card_has_both_times_and_the_scene_the_chapters_own_weights(tmp_path):
    state = {"data": {"examples": ["a cat"], "num_layers": 2, "weights": 7}, "value": {}}
    figure = (
        '<div class="companion-live" data-figure="translation"><script type="application/json">'
        f"{json.dumps(state)}</script><table><td>1.0</td></table></div>"
    )
    outputs = {}
    for chapter in LISTED:
        name = chapter.name
        (tmp_path / "book" / name).mkdir(parents=True)
        shutil.copy(ROOT / "book" / name / "chapter.toml", tmp_path / "book" / name)
        cells = [nbformat.v4.new_markdown_cell("word " * 3000)]
        notebook = f"book/{name}/{name}.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / notebook)
        kept = {"outputs": [[{"data": {"text/html": figure}}]], "seconds": 130}
        (tmp_path / f"{name}.json").write_text(json.dumps(kept))
        outputs[notebook] = str(tmp_path / f"{name}.json")
    rows = "\n".join(f"- [{c.name}]({c.name}/{c.name}.ipynb)" for c in LISTED)
    page = with_chapters(PAGE.format(rows), tmp_path, outputs)
    assert page.count("<small>15 minutes to read</small>") == len(LISTED)
    assert page.startswith("# A book") and page.endswith("\n\nText.\n") and "- [" not in page
    for chapter in LISTED:
        assert f'<li><a href="{chapter.name}/{chapter.name}.html">' in page
    assert figure in page
    scene = re.search(r'data-figure="translator">.*?>(.*?)</script>(.*)</div>', page)
    data = json.loads(scene[1])["data"]
    assert data["weights"] == 7
    assert data["doors"].keys() == DOORS
    assert data["doors"]["self"] == {
        "href": "self_attention/self_attention.html",
        "title": "self_attention",
        "question": "How can a word fetch what it needs from another?",
    }
    assert scene[2] == "<table><td>1.0</td></table>"
    later = f"<!-- figure: {LISTED[0].name}/translation; Load & run it -->\n"
    page = with_chapters(f"{PAGE.format(rows)}\n{later}", tmp_path, outputs)
    offered = figure.replace(">", ' data-later="Load &amp; run it">', 1)
    assert page.endswith(f"\n{offered}\n")


def test_a_figure_that_a_chapter_does_not_show_cannot_be_lent(tmp_path):
    figures = [
        f'<div class="companion-live" data-figure="{name}"><script type="application/json">'
        f'{{"data": {{"of": "{name}"}}, "value": {{}}}}</script><table></table></div>'
        for name in ("translation", "arcs")
    ]
    outputs = [[{"data": {"text/html": figure}}] for figure in figures]
    (tmp_path / "one.json").write_text(json.dumps({"outputs": outputs}))
    page = "<!-- translator: one -->\n\n<!-- figure: one/{} -->\n"
    kept = {"book/one/one.ipynb": str(tmp_path / "one.json")}
    with pytest.raises(ValueError, match="lend its 'cells' to the index shows none"):
        with_chapters(page.format("cells"), tmp_path, kept)
    (tmp_path / "one.json").write_text(json.dumps({"outputs": [outputs[1]]}))
    with pytest.raises(ValueError, match="lend its 'translation'"):
        with_chapters(page.format("arcs"), tmp_path, kept)


def test_the_papers_page_opens_on_the_model_with_the_section_of_every_stage():
    page = with_sections((ROOT / "book" / "paper.md").read_text("utf8"), ROOT)
    titles = re.findall(r"(?m)^#+ (.+)$", page)
    nav = minidom.parseString(re.search(r"<nav.+</nav>", page)[0])
    assert page.index("<nav") < page.index("## ")
    for drawing in nav.getElementsByTagName("svg"):
        links = drawing.getElementsByTagName("a")
        boxes = [link for link in links if not link.getAttribute("class")]
        assert [link.getAttribute("href") for link in boxes] == [
            to.address for to in map(doors_of(LISTED).get, in_lanes())
        ]
        numbers = [link for link in links if link.getAttribute("class") == "section"]
        assert len(numbers) == len(in_lanes())
        for link in numbers:
            (number,) = link.getElementsByTagName("text")
            title = link.getAttribute("aria-label")
            assert title in titles and title.startswith(f"{number.firstChild.data} ")
            assert link.getAttribute("href") == f"#{make_id(title)}"


def test_a_stage_cannot_lead_to_a_section_that_the_page_has_not():
    with pytest.raises(ValueError, match=r"no section 3\.2, for 'self'"):
        with_sections("<!-- sections: self 3.2 -->\n\n## 3.1 One\n\n## Section 3.2\n", ROOT)


def test_another_page_stays_as_it_is(tmp_path):
    page = "- [x](x/x.ipynb)\n- [y](y/y.ipynb)\n"
    assert with_chapters(page, tmp_path, {}) == page


def test_a_chapter_without_a_translator_cannot_lend_it(tmp_path):
    (tmp_path / "one.json").write_text('{"outputs": [[]], "seconds": 1}')
    page = "<!-- translator: one -->\n"
    with pytest.raises(ValueError, match="shows none"):
        with_chapters(page, tmp_path, {"book/one/one.ipynb": str(tmp_path / "one.json")})


def test_the_index_is_read_row_by_row(tmp_path):
    (tmp_path / "book" / "a_b").mkdir(parents=True)
    (tmp_path / "book" / "a_b" / "chapter.toml").write_text(
        'question = "What, and why?"\nstages = ["self", "loop"]\ndoors = ["loop"]\n'
    )
    row = "- [A & B](a_b/a_b.ipynb)\n- [no chapter](a_b/c.ipynb)\n"
    expected = Chapter("a_b", "A & B", "What, and why?", ("self", "loop"), ("loop",))
    assert chapters_of(row, tmp_path) == [expected]
    assert expected.address == "a_b/a_b.html"
