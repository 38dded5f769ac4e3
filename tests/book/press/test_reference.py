import importlib
import inspect
import re
from pathlib import Path

import pytest
import yaml

from book._press.reference import escape_docstring, public_names, with_reference
from companion import checks

ROOT = Path(__file__).parents[2]
PARTS = (
    "nn",
    "kernels",
    "models",
    "training",
    "generation",
    "forecasting",
    "pretrained",
    "data",
    "page",
)


def functions_and_classes():
    for part in PARTS:
        module = importlib.import_module(f"companion.{part}")
        for name in module.__all__:
            if callable(getattr(module, name)):
                yield f"{part}.{name}", getattr(module, name)


def described(thing, known=()) -> str:
    """The docstring, with those of what it refers to: "Arguments are those of `EncoderBlock`"."""
    text, known = thing.__doc__ or "", (*known, thing)
    if not getattr(thing, "__module__", "").startswith("companion."):
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
    unnamed = [
        name
        for name, parameter in inspect.signature(thing).parameters.items()
        if not re.search(rf"\b{name}\b", text)
    ]
    assert not unnamed, f"parameters that the docstring does not mention: {unnamed}"


@pytest.mark.parametrize("part", PARTS)
def test_a_page_of_the_book_lists_every_public_name_of_a_part_once(part):
    page = (ROOT / "book" / "api" / f"{part}.md").read_text("utf8")
    module = importlib.import_module(f"companion.{part}")
    shown = re.findall(
        r"^\.\. (?:autoclass|autofunction|py:data):: (\w+)$", with_reference(page), re.M
    )
    assert sorted(shown) == sorted(module.__all__)
    assert f"public contract of `companion.{part}`" in with_reference(page)


def test_the_pages_are_below_one_entry_of_the_table_of_contents():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    (reference,) = (part for part in toc["parts"] if part["caption"] == "Reference")
    (package,) = (page for page in reference["chapters"] if page["file"] == "book/api/index")
    pages = [f"book/api/{part}" for part in (*PARTS, "checks")]
    assert [page["file"] for page in package["sections"]] == pages
    linked = re.findall(r"\((\w+)\.md\)", (ROOT / "book" / "api" / "index.md").read_text("utf8"))
    assert [f"book/api/{name}" for name in linked] == pages


def test_the_page_of_the_checks_has_every_check_below_its_chapter():
    page = with_reference((ROOT / "book/api/checks.md").read_text("utf8"))
    shown = [
        f"{module.partition('checks.')[2]}.{name}"
        for module, names in re.findall(r"currentmodule:: (\S+)\n(.*?)```", page, re.S)
        for name in re.findall(r"^\.\. autofunction:: (\w+)$", names, re.M)
    ]
    chapters = [name for name in checks.__all__ if inspect.ismodule(getattr(checks, name))]
    assert shown == [
        f"{chapter}.{name}"
        for chapter in chapters
        for name, thing in vars(getattr(checks, chapter)).items()
        if hasattr(thing, "__wrapped__") and thing.__module__.endswith(f"checks.{chapter}")
    ]
    assert "embeddings.look_up" in shown and ".. autoclass:: Verdict" in page


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
