"""Names of a file and modules of companion: every line is what `load` works from."""

import pytest
from playwright.sync_api import Page, expect

from book.pretrained_models import names_figure
from companion.pretrained import load
from companion.pretrained.loading import FAMILIES, GGUF_FAMILIES
from tests.book.pretrained_models.test_file_figure import small_gpt2
from tests.book.reading import Example, press, select

pytestmark = pytest.mark.browser

FILES = {
    "BERT": FAMILIES["bert"],
    "GPT-2": FAMILIES["gpt2"],
    "Llama": FAMILIES["llama"],
    "ViT": FAMILIES["vit"],
    "Llama in GGUF": GGUF_FAMILIES["llama"],
}


def offered(page: Page) -> list[str]:
    return select(page, "our module").locator("option").all_inner_texts()


def short(name: str) -> str:
    return name.split("{i}.")[-1] if "{i}" in name else ".".join(name.split(".")[-2:])


@pytest.mark.parametrize("file", FILES)
def test_every_part_hangs_on_the_name_that_load_looks_for(show, file):
    page, family = show(names_figure(), reduced_motion="reduce"), FILES[file]
    page.get_by_role("radio", name=file, exact=True).check()
    names = {name.removesuffix(".weight"): entry for name, entry in family.names.items()}
    parts = offered(page)
    assert names.keys() < set(parts)
    for part in parts:
        select(page, "our module").select_option(part)
        if part not in names:
            expect(page.get_by_role("status")).to_have_text(f"{file} has no {part}.")
            continue
        is_parameter = part in family.names and part not in FAMILIES["vit"].names
        ours = part if is_parameter and part.endswith("bias") else f"{part}.weight"
        if part == "cls_token":
            ours = part
        theirs, layout = family.place(ours.replace("{i}", "7"))
        theirs = theirs.replace(".7.", ".{i}.").removesuffix(".weight")
        said = f"{theirs} becomes {part}: {layout.words}."
        expect(page.get_by_role("status")).to_have_text(said)
    shown = page.locator("[data-name=theirs]:visible").all_text_contents()
    theirs = [entry if isinstance(entry, str) else entry[0] for entry in names.values()]
    assert sorted(filter(None, shown)) == sorted({short(name) for name in theirs})


def test_the_parts_are_those_of_a_model(show, tmp_path):
    parts = set(offered(show(names_figure())))
    for name in load(small_gpt2(tmp_path)).state_dict():
        module = name.rpartition(".")[0].replace(".0.", ".{i}.").replace(".1.", ".{i}.")
        assert module in parts, name


def test_lines_end_at_their_names(show):
    page = show(names_figure(), reduced_motion="reduce")
    page.get_by_role("radio", name="GPT-2").check()
    paths = page.locator("path.cl-line").evaluate_all(
        "all => all.filter((p) => p.style.visibility !== 'hidden')"
        ".map((p) => p.getAttribute('d').match(/^M\\S+ (\\S+)C.* (\\S+)$/).slice(1).map(Number))"
    )
    starts = [start for start, _ in paths]
    assert len(paths) == len(FILES["GPT-2"].names)
    assert len({end for _, end in paths}) == len(paths)  # a module each
    assert len(set(starts)) == len(paths) - 2  # query, key and value come from one tensor
    (tag,) = page.locator("[data-name=theirs]", has_text="c_attn").locator("visible=true").all()
    y = tag.evaluate("text => text.parentNode.transform.baseVal[0].matrix.f")
    assert starts.count(y) == 3


def test_a_module_can_be_clicked(show):
    page = show(names_figure(), reduced_motion="reduce")
    page.locator("g", has_text="down_proj").last.click()
    expect(page.get_by_role("status")).to_contain_text("becomes blocks.{i}.feed_forward.down_proj")
    assert select(page, "our module").input_value().endswith("down_proj")


def test_goals_are_reached(show):
    page = show(names_figure(), reduced_motion="reduce")
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    page.get_by_role("radio", name="GPT-2").check()
    expect(reached).to_have_count(1)  # the tensor of three
    page.get_by_role("radio", name="Llama", exact=True).check()
    expect(reached).to_have_count(2)  # q_proj
    press(select(page, "our module"), "Home", 1)
    select(page, "our module").select_option("type_embedding")
    expect(reached).to_have_count(3)


def test_a_chosen_name_does_not_reach_into_the_modules_on_a_phone(show):
    page = show(names_figure(), viewport={"width": 390, "height": 800}, reduced_motion="reduce")
    page.get_by_role("radio", name="BERT", exact=True).check()
    for part in offered(page):
        select(page, "our module").select_option(part)
        ends = page.locator("[data-name=theirs]:visible").evaluate_all(
            "nodes => Math.max(...nodes.map((node) => node.getBoundingClientRect().right))"
        )
        boxes = page.locator(".cl-stage rect[rx='7']").first.bounding_box()
        assert ends < boxes["x"], part


EXAMPLE = Example(names_figure, None)
