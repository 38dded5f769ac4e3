"""What every notebook must hold to, so that it reads the same wherever it is opened."""

import re
import subprocess
import sys
from pathlib import Path

import yaml

from book._press.claims import problems
from book._press.execute import chapters, notebooks
from book._press.publish import BRANCH

SET_UP = """\
try:
    import companion{module}
except ImportError:
    %pip install --quiet "transformer-companion{extra} @ git+{url}"
from book.page import setup; seed, device = setup(seed=0)"""

# MyST's block and inline syntax, which Colab, JupyterLab and GitHub show raw.
MYST = re.compile(r"^:::+\s*\{?\w|^```+\{|^\(\S+\)=\s*$|\{[a-z][\w:.-]*\}`", re.M)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


def test_the_table_of_contents_names_every_notebook(root):
    assert set(notebooks(root)) == set(root.glob("book/**/*.ipynb"))


def test_the_public_address_is_one_that_the_launch_buttons_understand(root):
    config = yaml.safe_load((root / "_config.yml").read_text("utf8"))
    repository = config["repository"]
    assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", repository["url"])
    assert repository["branch"] in ("main", BRANCH)
    # The notebooks' paths start at the repository's root, where _config.yml is.
    assert repository["path_to_book"] == ""
    assert config["launch_buttons"]["colab_url"] == "https://colab.research.google.com"


def test_the_first_code_cell_sets_the_notebook_up_from_the_public_address(root, notebook):
    url = yaml.safe_load((root / "_config.yml").read_text("utf8"))["repository"]["url"]
    source = re.sub(r"@[0-9a-f]{40}(?=\"$)", "", code_cells(notebook)[0].source, flags=re.M)
    extra = re.search(r"(?<=transformer-companion)\[(\w+)\]", source)  # named like its module
    named = {"module": f", {extra[1]}", "extra": extra[0]} if extra else {"module": "", "extra": ""}
    # Where it is published, a commit is named, too.
    assert source == SET_UP.format(url=url, **named)


def test_no_other_cell_installs_or_sets_up(notebook):
    for cell in code_cells(notebook)[1:]:
        assert "pip install" not in cell.source
        assert not re.search(r"\bsetup\(", cell.source), cell.source


def test_text_is_plain_commonmark(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            assert not MYST.findall(cell.source), cell.source


def test_outputs_are_stripped_unless_kept_on_purpose(notebook):
    for cell in code_cells(notebook):
        if "keep_output" in tags(cell):
            assert cell.outputs and cell.execution_count is not None, cell.source
        else:
            assert not cell.outputs, cell.source


def test_stripping_before_a_commit_leaves_every_notebook_as_it_is(root):
    hooks = yaml.safe_load((root / ".pre-commit-config.yaml").read_text("utf8"))["repos"][0][
        "hooks"
    ]
    words = next(hook["entry"] for hook in hooks if hook["id"] == "nbstripout").split()[1:]
    command = [Path(sys.executable).with_name("nbstripout"), *words, "--verify", *notebooks(root)]
    stripped = subprocess.run(command, capture_output=True, text=True)
    assert stripped.returncode == 0, stripped.stdout


def test_checked_outputs_are_there_to_be_checked(chapter):
    checked = [cell for cell in code_cells(chapter) if "nbval-check-output" in tags(cell)]
    assert len(checked) >= 2, "two cells need the tags keep_output and nbval-check-output"
    assert all("keep_output" in tags(cell) for cell in checked)


def test_a_claim_stands_in_a_cell_that_says_so(chapter):
    cells = code_cells(chapter)
    assert any("claim" in tags(cell) for cell in cells), "no cell has the tag claim"
    for cell in cells:
        makes_one = re.search(r"^\s*claim\(", cell.source, re.M) is not None
        assert makes_one == ("claim" in tags(cell)), cell.source


def test_every_claim_holds_for_other_seeds(root):
    assert [line for path in chapters(root) for line in problems(root, path)] == []


def test_no_cell_excuses_an_error(notebook):
    # nbval and nbclient let such a cell pass whether or not it raises.
    assert not [cell for cell in code_cells(notebook) if "raises-exception" in tags(cell)]


def test_every_cell_has_its_own_id(notebook):
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)


def test_cells_are_short(notebook):
    for cell in code_cells(notebook):
        assert len(cell.source.splitlines()) <= 30, cell.source


def test_a_chapter_is_read_in_one_sitting(chapter):
    """Counted strictly: the parts of a formula and of an address are words, too."""
    texts = [cell.source for cell in chapter.cells if cell.cell_type == "markdown"]
    assert sum(len(re.findall(r"\w+", text)) for text in texts) <= 3300


def test_the_kernel_is_any_python(notebook):
    assert notebook.metadata.kernelspec.name == "python3"
    assert set(notebook.metadata) <= {"kernelspec", "language_info"}
