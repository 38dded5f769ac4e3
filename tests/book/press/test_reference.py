import importlib
import inspect
import re
from pathlib import Path
from typing import is_typeddict

import pytest
import yaml

from book._press.reference import escape_docstring, public_names, with_reference

ROOT = Path(__file__).parents[3]
PARTS = {  # a page of book/api -> what it is about
    "nn": "companion.nn",
    "kernels": "companion.kernels",
    "models": "companion.models",
    "training": "companion.training",
    "train": "companion.train",
    "generation": "companion.generation",
    "forecasting": "companion.forecasting",
    "pretrained": "companion.pretrained",
    "data": "companion.data",
    "page": "book.page",
    "checks": "book.checking",
}
CHAPTERS = sorted(path.parent.name for path in (ROOT / "book").glob("*/chapter.toml"))


def functions_and_classes():
    for part in (*PARTS.values(), *(f"book.{chapter}" for chapter in CHAPTERS)):
        module = importlib.import_module(part)
        for name in module.__all__:
            if callable(getattr(module, name)):
                yield f"{part}.{name}", getattr(module, name)


def described(thing, known=()) -> str:
    """The docstring, with those of what it refers to: "Arguments are those of `EncoderBlock`"."""
    text, known = thing.__doc__ or "", (*known, thing)
    if not getattr(thing, "__module__", "").startswith(("companion.", "book.")):
        return text
    public = vars(importlib.import_module(thing.__module__))
    referred = [public[name] for name in re.findall(r"`(\w+)`", text) if name in public]
    return "\n".join([text, *(described(other, known) for other in referred if other not in known)])


@pytest.mark.parametrize(
    "thing", [pytest.param(thing, id=name) for name, thing in functions_and_classes()]
)
def test_every_public_name_is_documented_with_its_parameters(thing):
    own = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    assert own and not own.startswith(f"{thing.__name__}("), "no docstring of its own"
    text = described(thing)
    is_dict = is_typeddict(thing)
    names = thing.__annotations__ if is_dict else inspect.signature(thing).parameters
    unnamed = [name for name in names if not re.search(rf"\b{name}\b", text)]
    assert not unnamed, f"parameters that the docstring does not mention: {unnamed}"


def page_of(part: str) -> str:
    return with_reference((ROOT / "book" / "api" / f"{part}.md").read_text("utf8"))


def shown_on(page: str) -> list[tuple[str, str]]:
    """The module and the name of each entry of a page, in their order."""
    places = re.findall(r"currentmodule:: (\S+)\n(.*?)```", page, re.S)
    entry = re.compile(r"^\.\. (?:autoclass|autofunction|py:data):: (\w+)$", re.M)
    return [(module, name) for module, text in places for name in entry.findall(text)]


@pytest.mark.parametrize("part", PARTS)
def test_a_page_of_the_book_lists_every_public_name_of_a_part_once(part):
    shown = [name for module, name in shown_on(page_of(part)) if module == PARTS[part]]
    assert sorted(shown) == sorted(importlib.import_module(PARTS[part]).__all__)
    assert f"public contract of `{PARTS[part]}`" in page_of(part)


def test_no_name_is_described_twice():
    """Sphinx would warn of it; a link could lead to either."""
    shown = [entry for part in PARTS for entry in shown_on(page_of(part))]
    assert len(shown) == len({*shown}) > 200


def test_the_pages_are_below_one_entry_of_the_table_of_contents():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    (reference,) = (part for part in toc["parts"] if part["caption"] == "Reference")
    (package,) = (page for page in reference["chapters"] if page["file"] == "book/api/index")
    pages = [f"book/api/{name}" for name in ("ideas", *PARTS)]
    assert [page["file"] for page in package["sections"]] == pages
    linked = re.findall(r"\((\w+)\.md\)", (ROOT / "book" / "api" / "index.md").read_text("utf8"))
    assert [f"book/api/{name}" for name in linked] == pages


def test_the_page_of_the_figures_has_every_name_of_the_chapters():
    shown = [entry for entry in shown_on(page_of("page")) if entry[0] != "book.page"]
    assert shown == [
        (f"book.{chapter}", name)
        for chapter in CHAPTERS
        for name in importlib.import_module(f"book.{chapter}").__all__
    ]
    assert ("book.self_attention", "word_figure") in shown
    assert "## Self attention\n" in page_of("page")


def test_the_page_of_the_checks_has_every_check_below_its_chapter():
    shown = [entry for entry in shown_on(page_of("checks")) if entry[0] != "book.checking"]
    names = sorted(path.parent.name for path in (ROOT / "book").glob("*/checks.py"))
    modules = [importlib.import_module(f"book.{name}.checks") for name in names]
    assert [entry for entry in shown if entry[0] != "book.debugging.checks"] == [
        (module.__name__, name)
        for module in modules
        for name, thing in vars(module).items()
        if hasattr(thing, "__wrapped__") and thing.__module__ == module.__name__
    ]
    runs = [name for module, name in shown if module == "book.debugging.checks"]
    assert sorted(runs) == sorted(
        path.stem[6:] for path in (ROOT / "book/debugging").glob("debug_*.ipynb")
    )
    assert ("book.embeddings.checks", "look_up") in shown
    assert ".. autoclass:: Verdict" in page_of("checks")


def test_names_stand_under_the_module_that_defines_them():
    groups = public_names("companion.nn")
    assert groups["companion.nn.masks"] == ["causal_mask", "padding_mask"]
    assert public_names("companion.generation").keys() == {
        "companion.generation.sampling",
        "companion.generation.search",
    }
    for home, names in public_names("companion.data").items():
        module = importlib.import_module(home)
        assert all(hasattr(module, name) for name in names)


def test_a_page_without_a_place_for_names_is_left_alone():
    page = "# A page\n\nSee companion.nn, <!-- reference: companion.nn --> and so on.\n"
    assert with_reference(page) == page


def test_in_docstrings_backticks_mean_code_and_nothing_else_means_anything():
    lines = ["x * scale and `x * y` of |q|, H_ and d_k,", "``*args`` or `a", "b`: 2 ** n \\ 3"]
    assert escape_docstring(lines) == [
        r"x \* scale and ``x * y`` of \|q\|, H\_ and d_k,",
        "``*args`` or ``a",
        r"b``: 2 \*\* n \\ 3",
    ]
