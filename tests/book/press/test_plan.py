"""The times of a plan for teaching."""

import nbformat

from book._press.plan import with_times


def test_times_are_summed_from_chapters_and_cards(tmp_path):
    for name, words, cards in (("one", 3000, [(3, 10), (2, 25)]), ("two", 100, [(3, 35)])):
        folder = tmp_path / "book" / name
        folder.mkdir(parents=True)
        chapter = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("word " * words)])
        nbformat.write(chapter, folder / f"{name}.ipynb")
        text = "\n".join(
            f"**Coding** · difficulty 1 of 3 · importance {importance} of 3 · {minutes} minutes"
            for importance, minutes in cards
        )
        exercises = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
        nbformat.write(exercises, folder / f"{name}_exercises.ipynb")
    page = with_times("| <!-- times: one two --> | <!-- times: two --> |", tmp_path)
    assert page == "| 20 min · 45 min · 1:10 h | 5 min · 35 min · 35 min |"
    page = with_times("<!-- times: one two; hand out: two -->", tmp_path)
    assert page == "20 min · 35 min · 35 min"
    assert with_times("<!-- times: one two; hand out: -->", tmp_path) == "20 min"
