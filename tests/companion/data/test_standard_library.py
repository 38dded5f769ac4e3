import sysconfig

import pytest

from companion.data import SPLITS, standard_library_text


def test_modules_follow_each_other_and_are_cut_where_asked():
    text = standard_library_text(50_000)
    assert len(text) == 50_000
    assert standard_library_text(300) == text[:300]
    assert standard_library_text(0) == ""
    assert "def " in text and "import " in text


def test_the_splits_are_different_modules_and_together_all():
    splits = {s: standard_library_text(split=s) for s in SPLITS}
    folder = sysconfig.get_path("stdlib")
    for module in ("ast", "base64", "csv", "heapq", "random", "string", "textwrap", "typing"):
        with open(f"{folder}/{module}.py", encoding="utf8") as file:
            source = file.read()
        assert sum(source in text for text in splits.values()) == 1, module
    sizes = [len(text) for text in splits.values()]
    assert sizes[0] > sizes[1] + sizes[2] and min(sizes) > 100_000


def test_docstrings_are_prose_of_the_same_modules():
    text = standard_library_text(20_000, kind="docstrings", split="validation")
    source = standard_library_text(split="validation")
    assert len(text) == 20_000
    lines = [line.strip() for line in text.splitlines() if len(line) > 20]
    known = {line.strip().strip("\"'").replace("\\\\", "\\") for line in source.splitlines()}
    found = sum(any(line in other for other in known) for line in lines[:60])
    assert found > 55


def test_a_python_without_sources_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"no \.py files .* zip"):
        standard_library_text(10)


def test_wrong_choices_are_named():
    with pytest.raises(ValueError, match="max_characters is -1"):
        standard_library_text(-1)
    with pytest.raises(ValueError, match="kind must be one of 'source', 'docstrings'"):
        standard_library_text(10, kind="prose")
    with pytest.raises(ValueError, match="split must be one of 'train', 'validation', 'test'"):
        standard_library_text(10, split="dev")


def test_a_module_without_docstrings_makes_the_text_no_shorter(monkeypatch, tmp_path):
    for module, text in (("ast", "a = 1\n"), ("calendar", '"dates"\n'), ("code", '"a shell"\n')):
        (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    whole = standard_library_text(kind="docstrings")
    assert whole == "dates\n\n\na shell\n\n"
    for length in range(len(whole) + 1):
        assert standard_library_text(length, kind="docstrings") == whole[:length]


def test_what_a_distributor_adds_changes_nothing(monkeypatch, tmp_path):
    """Debian's Python has a sitecustomize.py there, and every build a record of itself."""
    for module in ("ast", "csv", "heapq", "shutil", "string", "typing"):
        (tmp_path / f"{module}.py").write_text(f'"""{module}"""\n')
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    splits = {split: standard_library_text(split=split) for split in SPLITS}
    for added in ("sitecustomize", "_sysconfigdata__linux_x86_64-linux-gnu"):
        (tmp_path / f"{added}.py").write_text("a = 1\n")
    assert {split: standard_library_text(split=split) for split in SPLITS} == splits
    (tmp_path / "csv.py").unlink()  # as of another version
    for split, text in splits.items():
        left = standard_library_text(split=split)
        assert left == text or ('"""csv"""' in text and '"""csv"""' not in left)
