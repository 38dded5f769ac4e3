"""What a module prints of its runs is what it reads."""

import sys

from book import runs


def test_the_rows_of_the_seeds_are_printed_and_read_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["measure", "701", "702"])
    runs.write(lambda seed: {"seed": seed, "twice": 2 * seed})
    table, progress = capsys.readouterr()
    (tmp_path / "rows.json").write_text(table, "utf8")
    rows = [{"seed": 701, "twice": 1402}, {"seed": 702, "twice": 1404}]
    assert runs.read(str(tmp_path / "measure.py"), "rows.json") == rows
    assert progress == "".join(f"{row}\n" for row in rows)
