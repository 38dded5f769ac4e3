"""Live figures as a notebook and a page receive them; what they compute is tested in a browser."""

import base64
import json
import math
import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from book.beyond_recurrence import path_figure
from book.multi_head_attention import heads_figure
from book.page import live
from book.page.live import LiveFigure
from book.positional_encoding import rotation_figure
from book.self_attention import attention_figure, word_figure
from companion.data import Vocabulary
from companion.nn import (
    LearnedPositions,
    MultiHeadAttention,
    TokenEmbedding,
    scaled_dot_product_attention,
)

ROOT = Path(__file__).parents[3]
PATH = str(live.scripts()["path"])
WIDGET = "application/vnd.jupyter.widget-view+json"
TABLE = "<table></table>"


def state(figure: LiveFigure) -> dict:
    return json.loads(re.search(r"<script[^>]*>(.*?)</script>", figure.to_html(), re.S)[1])


def test_every_figure_has_a_script_a_function_and_a_test():
    for name, script in live.scripts().items():
        chapter = script.parts[-3]
        module = import_module(f"book.{chapter}.figures.{name}")
        function = name if name == "quiz" else f"{name}_figure"
        assert callable(getattr(module, function))
        if name not in {"translator", "begin", "five"}:  # these the press puts on pages
            package = import_module(f"book.{chapter}")
            assert getattr(package, function) is getattr(module, function)
            assert function in package.__all__
        assert (ROOT / "tests" / "book" / chapter / f"test_{name}_figure.py").exists()
    modules = [path.stem for path in ROOT.glob("book/*/figures/*.py")]
    assert sorted(modules) == [*live.scripts()], "two figures of one name, or one without a script"


def test_a_notebook_gets_widget_html_and_text():
    data, _ = path_figure()._repr_mimebundle_()
    assert set(data) == {WIDGET, "text/html", "text/plain"}
    assert data["text/plain"] == "<LiveFigure path>"


def test_colab_gets_no_html(monkeypatch):
    figure = path_figure()
    monkeypatch.setitem(sys.modules, "google.colab", object())
    data, _ = figure._repr_mimebundle_()
    assert set(data) == {WIDGET, "text/plain"}


def test_the_html_is_the_same_every_time_and_holds_data_only():
    first, second = path_figure().to_html(), path_figure().to_html()
    assert first == second
    assert re.findall(r"<script[^>]*>", first) == ['<script type="application/json">']
    assert state(path_figure())["value"]["distance"] == 17


def test_data_cannot_end_the_script_element():
    figure = path_figure("a </script><b> c", distance=1)
    assert figure.to_html().count("</script>") == 1
    assert state(figure)["data"]["words"] == ["a", "</script><b>", "c"]


def test_numbers_of_two_figures_are_written_once_on_a_page():
    shared, own = live.packed(torch.rand(5, 7)), live.packed(torch.rand(5, 7))
    small = live.packed(torch.rand(2))
    one = LiveFigure(PATH, {"a": shared, "b": small}, {}, TABLE).to_html()
    two = LiveFigure(PATH, {"c": own, "d": shared, "e": small}, {}, TABLE).to_html()
    page = live.without_repetition(one + two + two)
    assert page.count(shared["float16"]) == page.count(own["float16"]) == 1
    assert page.count(small["float16"]) == 3
    first, second, third = (
        json.loads(found)["data"] for found in re.findall(r"<script[^>]*>(.*?)</script>", page)
    )
    assert first["a"] == shared | {"once": 0} and second["c"] == own | {"once": 1}
    assert second["d"] == third["d"] == {"shape": [5, 7], "once": 0}
    assert third["c"] == {"shape": [5, 7], "once": 1}
    assert live.without_repetition(one) == one


def test_value_is_synchronised_with_the_page():
    figure = path_figure()
    assert {"_esm", "data", "value"} <= set(figure.get_state())
    seen = []
    figure.observe(lambda change: seen.append(change.new), "value")
    figure.set_state({"value": {"distance": 3}})
    assert seen == [{"distance": 3}]
    assert state(figure)["value"] == {"distance": 3}


@pytest.mark.parametrize(
    ("data", "value", "message"),
    [
        (
            {"runs": [{"losses": (2.0, math.nan)}]},
            {},
            "nan, which is its data['runs'][0]['losses'][1]",
        ),
        ({"most": math.inf}, {}, "inf, which is its data['most']"),
        ({"most": None}, {"x": -math.inf}, "-inf, which is its value['x']"),
    ],
)
def test_a_number_that_json_lacks_is_refused_by_its_name(data, value, message):
    with pytest.raises(ValueError, match=re.escape(f"live figure 'path' cannot show {message}")):
        LiveFigure(PATH, data, value, TABLE)


def test_unknown_figure_and_missing_fallback_are_refused():
    with pytest.raises(FileNotFoundError, match=r"paths\.js"):
        LiveFigure("figures/paths.py", {}, {}, TABLE)
    with pytest.raises(ValueError, match="'path' needs a fallback"):
        LiveFigure(PATH, {}, {}, "")


# ---------------------------------------------------------------- the script


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "KIT", tmp_path)
    monkeypatch.setattr(live, "BOOK", tmp_path)
    figures = tmp_path / "chapter" / "figures"
    figures.mkdir(parents=True)
    (tmp_path / "dom.js").write_text("export const element = 1;\n")
    (tmp_path / "kit.js").write_text("export const stage = 1;\n")
    (tmp_path / "shim.js").write_text("export const start = 1;\n")
    figure = 'import { element } from "../../dom.js";\nexport default { render: element };\n'
    (figures / "one.js").write_text(figure)
    (figures / "two.js").write_text(figure.replace("dom", "kit").replace("element", "stage"))
    return figures


def modules_of(script: str) -> list[str]:
    return re.findall(r"(?m)^modules\['(.+)'\]", script)


def test_the_scripts_are_those_in_the_chapters_folders(folder):
    assert live.scripts() == {"one": folder / "one.js", "two": folder / "two.js"}


def test_a_page_has_the_scripts_of_its_figures_and_what_they_use(folder):
    assert modules_of(live.bundle()) == ["shim.js", "dom.js", "one.js", "kit.js", "two.js"]
    text = live.bundle(["two"])
    assert modules_of(text) == ["shim.js", "kit.js", "two.js"]
    assert not re.search(r"(?m)^\s*(import|export)\b", text)
    assert text.startswith("(function () {") and text.endswith("})();\n")


def test_a_widget_has_what_it_uses(folder):
    text = live.module(folder / "one.js")
    assert modules_of(text) == ["dom.js", "one.js"]
    assert text.endswith('export default load("one.js");\n')


CSS = re.compile(r"(?:STYLE = |css)`\n.*?\n`;", re.S)


def looks_of(text: str) -> set[str]:
    css = re.sub(r"/\*.*?\*/", "", "".join(CSS.findall(text)), flags=re.S)
    return set(re.findall(r"\.(cl-[\w-]+)", css)) | set(re.findall(r"(?m)^  (table) \{", css))


@pytest.mark.parametrize("name", live.scripts())
def test_a_figure_carries_the_looks_of_what_it_draws(name):
    files = [*live.scripts().values(), *live.KIT.glob("*.js")]
    scripts = "".join(file.read_text("utf8") for file in files)
    text = live.module(live.scripts()[name])
    code = CSS.sub("", text[text.index(f"modules['{name}.js']") :])
    drawn = re.findall(r"cl-[\w-]+(?!\$)\b", code) + re.findall(r'element\(\s*"(table)"', code)
    begun = re.findall(r"(cl-\w+)\$\{", code)  # `cl-crowd${i}` has a number there
    looks = {one for one in looks_of(scripts) if one in drawn or one.rstrip("0123456789") in begun}
    assert looks <= looks_of(text)


# ---------------------------------------------------------------- numbers


def test_numbers_travel_as_little_endian_half_precision():
    packed = live.packed(torch.tensor([[1.0, -2.5, 0.1]], requires_grad=True))
    numbers = np.frombuffer(base64.b64decode(packed["float16"]), "<f2")
    assert packed["shape"] == [1, 3]
    assert numbers.tolist() == [1.0, -2.5, np.float16(0.1)]


@pytest.mark.parametrize("number", [7e4, float("nan"), float("inf")])
@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_too_large_for_half_precision_are_refused(number):
    with pytest.raises(ValueError, match="up to 65504; got"):
        live.packed(torch.tensor([1.0, number]))


def test_table_escapes_and_rounds():
    text = live.table("a & b", ["", "<w>"], [("x", 0.12345), ("y", 3)])
    assert "<caption>a &amp; b</caption>" in text and "&lt;w&gt;" in text
    assert '<th scope="row">x</th><td>0.123</td>' in text and "<td>3</td>" in text


# ---------------------------------------------------------------- the figures


def test_path_figure_counts_the_layers_of_its_fallback():
    def layers(distance, kernel):
        html = path_figure("a " * 30, distance=distance, kernel=kernel).fallback
        return [int(n) for n in re.findall(r"<td>(\d+)</td>", html)]

    assert layers(1, 3) == [1, 1, 1]
    assert layers(2, 3) == [2, 1, 1]
    assert layers(3, 3) == [3, 2, 1]
    assert layers(8, 3) == [8, 2, 1]
    assert layers(9, 3) == [9, 3, 1]
    assert layers(15, 2) == [15, 4, 1]
    with pytest.raises(ValueError, match="distance = 2 must lie between 1 and 1"):
        path_figure("two words", distance=2)


def test_attention_figure_starts_from_the_weights_of_companion_nn():
    query, key, value = torch.randn(3, 3, 2).unbind()
    figure = attention_figure(["a", "b", "c"], query, key, value)
    _, weights = scaled_dot_product_attention(query, key, value)
    cells = [float(cell) for cell in re.findall(r"<td>(.*?)</td>", figure.fallback)]
    assert cells == pytest.approx(weights.flatten().tolist(), abs=6e-4)
    with pytest.raises(ValueError, match="2 tokens need as many queries and keys, got 3 and 3"):
        attention_figure(["a", "b"], query, key, value)


def test_rotation_figure_starts_from_the_rotary_product():
    assert '<th scope="row">turned</th><td>-0.849</td>' in rotation_figure().fallback


def test_heads_figure_ships_only_the_rows_it_needs():
    vocabulary = Vocabulary()

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = TokenEmbedding(len(vocabulary), 8)
            self.positions = LearnedPositions(5, 8)
            self.attention = MultiHeadAttention(8, 2)
            self.head = nn.Linear(8, 2 * len(vocabulary))

        def forward(self, ids, need_weights=False):
            x, weights = self.attention(self.positions(self.embedding(ids)), need_weights=True)
            return self.head(x), weights

    model = Model()
    figure = heads_figure(model, vocabulary)
    weights, nouns = figure.data["weights"], figure.data["nouns"]
    assert weights["embedding"]["shape"] == [len(figure.data["words"]), 8]
    assert weights["subject.weight"]["shape"] == [len(nouns), 8]
    start = base64.b64decode(weights["object.bias"]["float16"])
    expected = model.head.bias[len(vocabulary) + vocabulary.id(nouns[0])].item()
    assert np.frombuffer(start, "<f2")[0] == np.float16(expected)


def test_word_figure_starts_from_the_weights_of_companion_nn():
    x, W_q, W_k, W_v = torch.randn(3, 5), torch.randn(5, 4), torch.randn(5, 4), torch.randn(5, 2)
    figure = word_figure(["a", "b", "c"], x, W_q, W_k, W_v, follow=1)
    _, weights = scaled_dot_product_attention(x[1:2] @ W_q, x @ W_k, x @ W_v)
    cells = [float(cell) for cell in re.findall(r"<td>(.*?)</td>", figure.fallback)]
    assert cells[-3:] == pytest.approx(weights.flatten().tolist(), abs=6e-4)
    assert figure.value == {"step": 3, "word": 1, "guess": None}
    with pytest.raises(ValueError, match="two to four words need as many vectors, got 2 and 3"):
        word_figure(["a", "b"], x, W_q, W_k, W_v)
    with pytest.raises(ValueError, match=r"need \(T, d\), twice \(d, d_k\)"):
        word_figure(["a", "b", "c"], x, W_q, W_v, W_v)
