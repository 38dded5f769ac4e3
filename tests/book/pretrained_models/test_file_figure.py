"""The live figure of a file of weights: its bytes, its numbers, what companion makes of them."""

import json
import re
from pathlib import Path
from tempfile import mkdtemp

import pytest
import torch
import transformers
from playwright.sync_api import Page, expect
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from book.pretrained_models import file_figure
from companion.pretrained import load
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

SIZES = {"vocab_size": 11, "n_embd": 6, "n_head": 3, "n_inner": 7, "n_positions": 5, "n_layer": 2}


def small_gpt2(folder):
    """The folder, with a GPT-2 of random numbers in it."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    theirs = GPT2LMHeadModel(GPT2Config(**SIZES, bos_token_id=1, eos_token_id=1))
    random = torch.Generator().manual_seed(7)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, generator=random)
    theirs.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_gpt2(tmp_path_factory.mktemp("gpt2"))


def offered(page: Page) -> list[str]:
    return select(page, "tensor").locator("option").all_inner_texts()


def test_every_parameter_is_read_from_its_place(show, folder):
    page = show(file_figure(folder))
    state = load(folder).state_dict()
    theirs = GPT2LMHeadModel.from_pretrained(folder).state_dict()
    found = set()
    names = offered(page)
    assert set(names) == theirs.keys() - {"lm_head.weight"}
    for name in names:
        select(page, "tensor").select_option(name)
        close(numbers(page.locator("[data-name=raw] [data-value]")), theirs[name].flatten()[:4])
        rows = page.locator("[data-name=ours] tr").all()
        for heading, row in zip(rows[::2], rows[1::2], strict=True):
            ours, about = heading.locator("th").inner_text().split("\n")
            assert about.startswith(" × ".join(map(str, state[ours].shape)))
            close(numbers(row.locator("[data-value]")), state[ours].flatten()[:4])
            found.add(ours)
            expect(page.get_by_role("status")).to_contain_text(ours)
    assert found == state.keys() - {"head.weight"}


def test_bytes_and_header_are_those_of_the_file(show, folder):
    name = "transformer.h.1.mlp.c_fc.weight"
    page = show(file_figure(folder, name))
    content = (folder / "model.safetensors").read_bytes()
    code = page.locator("code").first
    said = json.loads("{" + code.inner_text() + "}")[name]
    assert said == {"dtype": "F32", "shape": [6, 7], "data_offsets": said["data_offsets"]}
    start = 8 + int.from_bytes(content[:8], "little") + said["data_offsets"][0]
    rows = page.locator("[data-name=raw] tr")
    assert rows.locator("th").all_inner_texts() == [str(start + 4 * i) for i in range(4)]
    for i, text in enumerate(rows.locator("code").all_inner_texts()):
        assert bytes.fromhex(text) == content[start + 4 * i : start + 4 * i + 4]


def test_a_click_on_the_strip_chooses_the_tensor_that_lies_there(show, folder):
    page = show(file_figure(folder))
    content = (folder / "model.safetensors").read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    entries = json.loads(content[8:header])
    entries.pop("__metadata__", None)
    box = page.locator("svg").bounding_box()
    for name in ("transformer.wte.weight", "transformer.h.1.mlp.c_fc.weight"):
        middle = header + sum(entries[name]["data_offsets"]) / 2
        page.mouse.click(box["x"] + box["width"] * middle / len(content), box["y"] + 35)
        expect(page.get_by_role("status")).to_contain_text(f"{name} has")
    page.mouse.click(box["x"] + 2, box["y"] + 35)  # the header is no tensor
    expect(page.get_by_role("status")).to_contain_text("transformer.h.1.mlp.c_fc.weight has")


def test_a_file_that_is_cut_off_is_refused_here_and_there(show, folder, tmp_path):
    name = "transformer.wte.weight"
    page = show(file_figure(folder, name))
    content = (folder / "model.safetensors").read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    start, end = (header + at for at in json.loads(content[8:header])[name]["data_offsets"])
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    status, slider = page.get_by_role("status"), page.get_by_role("slider")
    for present, part in (
        (len(content) - 1, "promises 1 bytes"),
        (start + 6, f"promises {len(content) - start - 6} bytes"),
        (header, "28 of 28 tensors are cut off"),
        (header - 1, "no name can be read"),
        (3, "Not even the length"),
    ):
        slider.fill(str(present))
        expect(status).to_contain_text(part)
        expect(status).to_contain_text("refuses")
        (tmp_path / "model.safetensors").write_bytes(content[:present])
        with pytest.raises(ValueError, match="truncated"):
            load(tmp_path)
    slider.fill(str(start + 6))
    assert page.locator("[data-name=raw] [data-value]").count() == 1
    assert re.search(r"·· ··$", page.locator("[data-name=raw] code").nth(1).inner_text())
    slider.fill(str(len(content)))
    expect(status).to_contain_text(f"bytes {start} to {end}")
    press(slider, "ArrowLeft")
    expect(status).to_contain_text("refuses")


def test_both_goals_can_be_reached(show, folder):
    page = show(file_figure(folder, "transformer.h.0.attn.c_attn.weight"))
    reached = page.locator(".cl-reached")
    select(page, "tensor").select_option("transformer.h.0.ln_1.weight")  # a vector
    expect(page.get_by_role("status")).to_contain_text("ln_1.weight has 6 numbers")
    expect(reached).to_have_count(0)
    select(page, "tensor").select_option("transformer.wte.weight")
    expect(reached).to_contain_text("copied unchanged")
    content = (folder / "model.safetensors").read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    page.get_by_role("slider").fill(str(header - 1))
    expect(reached).to_have_count(1)
    page.get_by_role("slider").fill(str(header))
    expect(reached).to_have_count(2)


def test_files_that_cannot_be_shown(folder, tmp_path):
    load(folder)
    theirs = GPT2LMHeadModel.from_pretrained(folder)
    theirs.half().save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"in F32, got \d+ bytes in F16"):
        file_figure(tmp_path)
    with pytest.raises(KeyError):
        file_figure(folder, "no such tensor")


EXAMPLE = Example(
    lambda: file_figure(small_gpt2(Path(mkdtemp())), "transformer.h.0.attn.c_attn.weight"),
    "[data-name=ours] [data-value]",
)
