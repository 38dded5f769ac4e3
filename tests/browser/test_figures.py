"""Live figures in Chromium: every control is moved, and what the page computes is held to PyTorch.

Each figure stands alone on a small page from the disk, with the script that the book publishes; the
models have random weights, so that nothing is true by training.
"""

import copy
import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from companion.data import (
    ACTORS,
    BOS,
    EOS,
    TRANSITIVE_VERBS,
    WORDS,
    Vocabulary,
    lorenz,
    pronoun_sentence,
    split_series,
    translation_vocabulary,
)
from companion.models import GPT, Forecaster, GPTConfig, Transformer, TransformerConfig
from companion.nn import (
    LearnedPositions,
    MultiHeadAttention,
    RotaryEmbedding,
    TokenEmbedding,
    scaled_dot_product_attention,
    sinusoidal_encoding,
)
from companion.page import (
    attention_figure,
    digit_figure,
    embeddings_figure,
    file_figure,
    forecast_figure,
    heads_figure,
    path_figure,
    positions_figure,
    pronoun_figure,
    quiz,
    stream_figure,
    tiles_figure,
    translation_figure,
    writer_figure,
)
from companion.page.live import LiveFigure, bundle
from tests.browser.reading import PAGE, close, numbers, press, randomised, select
from tests.browser.test_digit_figure import LABELS, pictures, vit
from tests.browser.test_file_figure import small_gpt2
from tests.browser.test_forecast_figure import CONFIG as FORECASTER
from tests.browser.test_stream_figure import Encoder

pytestmark = pytest.mark.browser

VOCABULARY = Vocabulary()
TOKENS = ["cat", "sat", "mat"]
QUERY = [[1, 0, 1, 0.5], [0, 1, 0, 1], [1, -1, 0, 0]]
KEY = [[1, 0, 1, 0], [0, 2, 0, 0], [1, 0, 0, 1]]
VALUE = [[1, 0], [0, 1], [0.5, -0.5]]


class Detective(nn.Module):
    """The model of the chapter on self-attention."""

    def __init__(self, board: str = "words", num_heads: int = 1):
        super().__init__()
        self.embedding = TokenEmbedding(len(VOCABULARY), 16, scale=False)
        self.positions = LearnedPositions(20, 16)
        self.gather = MultiHeadAttention(16, num_heads)
        self.look_up = MultiHeadAttention(16, num_heads)
        self.window, self.board = 3, board

    def forward(self, ids, need_weights=False):
        place = torch.arange(ids.shape[1])
        near = (place[:, None] - place).abs() <= self.window
        words = self.positions(self.embedding(ids))
        attended, self.near_weights = self.gather(words, mask=near, need_weights=need_weights)
        clues = words + attended
        board = words if self.board == "words" else clues
        found, weights = self.look_up(clues, board, need_weights=need_weights)
        return (clues + found) @ self.embedding.weight.T, weights


class WhoDidIt(nn.Module):
    """The model of the chapter on multi-head attention."""

    def __init__(self, num_heads: int = 4, residual: bool = False):
        super().__init__()
        self.embedding = TokenEmbedding(len(VOCABULARY), 16)
        self.positions = LearnedPositions(5, 16)
        self.attention = MultiHeadAttention(16, num_heads)
        self.head = nn.Linear(16, 2 * len(VOCABULARY))
        self.residual = residual

    def forward(self, ids, need_weights=False):
        x = self.positions(self.embedding(ids))
        attended, weights = self.attention(x, need_weights=need_weights)
        x = x + attended if self.residual else attended
        return self.head(x[:, 2]).unflatten(1, (2, -1)), weights


# ---------------------------------------------------------------- the path between two words


def layers_needed(distance: int, strides: Iterator[int], kernel: int) -> int:
    """Layers until a word is within reach, found by walking every way there is."""
    reached = {0}
    for layers in itertools.count():
        if distance in reached:
            return layers
        stride = next(strides)
        reached = {place + tap * stride for place in reached for tap in range(kernel)}
    raise AssertionError("unreachable")


def test_path_counts_every_step(show):
    page = show(path_figure())
    slider = page.get_by_role("slider", name="distance")
    for convolution, kernel in itertools.product(("stacked", "dilated"), (2, 3, 5)):
        select(page, "convolution").select_option(convolution)
        select(page, "kernel width k").select_option(str(kernel))
        press(slider, "End")
        for distance in range(18, 0, -1):
            strides = (
                itertools.repeat(1)
                if convolution == "stacked"
                else (kernel**i for i in itertools.count())
            )
            for name, count in (
                ("recurrent", distance),
                ("convolution", layers_needed(distance, strides, kernel)),
                ("attention", 1),
            ):
                assert numbers(page.locator(f"td[data-name={name}]")).item() == count
            press(slider, "ArrowLeft")


def test_the_path_is_drawn_from_word_to_word(show):
    page = show(path_figure())

    def ends(distance: int) -> None:
        rows = page.locator("svg rect").evaluate_all(
            "all => all.map((r) => +r.getAttribute('y') + 10.5)"
        )
        first, last = min(rows), max(rows)
        steps = page.locator("svg line[stroke='var(--first)']").evaluate_all(
            "all => all.map((l) => ['x1', 'y1', 'x2', 'y2'].map((name) => +l.getAttribute(name)))"
        )
        chain, layers = steps[:distance], steps[distance:]
        for path in (chain, layers):
            assert (path[0][1], path[-1][3]) == (first, last)
            assert all(a[2:] == b[:2] for a, b in itertools.pairwise(path))  # without a gap

    ends(17)
    press(page.get_by_role("slider"), "ArrowLeft", times=4)
    select(page, "kernel width k").select_option("2")
    ends(13)
    select(page, "convolution").select_option("stacked")
    ends(13)


def test_path_can_be_dragged(show):
    page = show(path_figure())
    expect(page.get_by_role("status")).to_contain_text("From “animal” to “it”: 17 steps")
    box = page.get_by_text("animal", exact=True).bounding_box()
    target = page.get_by_text("bridge", exact=True).bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(target["x"] + 5, target["y"] + 8, steps=5)
    page.mouse.up()
    expect(page.get_by_role("status")).to_contain_text("From “bridge” to “it”: 7 steps")
    assert page.get_by_role("slider").input_value() == "7"
    page.mouse.move(box["x"] + 5, box["y"] + 8)  # the button is up: nothing moves
    assert page.get_by_role("slider").input_value() == "7"
    page.get_by_role("slider").click(position={"x": 3, "y": 8})
    expect(page.get_by_role("status")).to_contain_text("From “because” to “it”: 1 step")


# ---------------------------------------------------------------- attention by hand


def test_attention_equals_pytorch(show):
    page = show(attention_figure(TOKENS, QUERY, KEY, VALUE))
    query, key, value = (torch.tensor(x, dtype=torch.float64) for x in (QUERY, KEY, VALUE))

    def check(temperature: float, divisor: float) -> None:
        scale = 1 / (temperature * divisor)
        output, weights = scaled_dot_product_attention(query, key, value, scale=scale)
        close(numbers(page.locator("[data-name=scores] td[data-value]")), scale * query @ key.T)
        close(numbers(page.locator("[data-name=weights] td[data-value]")), weights)
        close(numbers(page.locator("[data-name=output] td[data-value]")), output)

    check(1, 2)
    press(page.get_by_role("slider", name="temperature"), "ArrowRight", times=7)
    check(1.7, 2)
    press(page.get_by_role("checkbox"), "Space")
    check(1.7, 1)
    page.get_by_label("query of sat, entry 3").fill("-2.25")
    query[1, 2] = -2.25
    page.get_by_label("key of mat, entry 1").fill("3")
    key[2, 0] = 3
    page.get_by_label("value of cat, entry 2").press_sequentially("5")  # 0 becomes 05
    value[0, 1] = 5
    check(1.7, 1)
    page.get_by_label("value of cat, entry 2").fill("")  # unfinished: the last number counts
    check(1.7, 1)
    expect(page.get_by_label("value of cat, entry 2")).to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Start again").click()
    query, key, value = (torch.tensor(x, dtype=torch.float64) for x in (QUERY, KEY, VALUE))
    check(1, 2)
    assert page.get_by_label("query of sat, entry 3").input_value() == "0"


# ---------------------------------------------------------------- the model for "it"


@pytest.mark.parametrize(("board", "num_heads"), [("words", 1), ("clues", 2)])
def test_pronoun_model_equals_pytorch(show, board, num_heads):
    model = randomised(Detective(board, num_heads))
    page = show(pronoun_figure(model, VOCABULARY))
    sentences = select(page, "sentence")
    nouns = page.locator("select[name=animal] option, select[name=other] option")
    ids = VOCABULARY.encode([nouns.all_inner_texts()])[0]

    def check(sentence, round_: str, head: int) -> None:
        assert page.locator(".cl-word").all_inner_texts() == list(sentence.words)
        with torch.no_grad():
            logits, look = model(VOCABULARY.encode([sentence.words]), need_weights=True)
        weights = model.near_weights if round_ == "first" else look
        close(numbers(page.locator(".cl-number")), weights[0, head, sentence.it_position])
        probabilities, order = (
            logits[0, sentence.it_position, ids].softmax(-1).sort(descending=True)
        )
        close(numbers(page.locator("[data-name=answers] [data-value]")), probabilities[:3])
        best = VOCABULARY.words[ids[order[0]]]
        expect(page.get_by_role("status")).to_contain_text(f"the model says “{best}”")

    tired = pronoun_sentence("animal", "street", "tired")
    check(tired, "second", 0)
    page.get_by_role("button", name="Change “tired” to “wide”").press("Enter")
    check(pronoun_sentence("animal", "street", "wide"), "second", 0)
    select(page, "animal").select_option("dog")
    select(page, "other noun").select_option("piano")  # verb and adjective must follow
    check(pronoun_sentence("dog", "piano", "fragile", verb="carry"), "second", 0)
    select(page, "verb").select_option("push")
    select(page, "it was too …").select_option("bulky")
    for template, forms in (("because", (0, 1)), ("fronted", (2, 3)), ("near", (6, 7))):
        for option, animal_first in zip(forms, (True, False), strict=True):
            sentences.select_option(str(option))
            sentence = pronoun_sentence(
                "dog", "piano", "bulky", template=template, animal_first=animal_first, verb="push"
            )
            check(sentence, "second", 0)
    expect(select(page, "verb")).to_be_disabled()
    for head in range(num_heads):
        page.locator("select[name=head]").select_option(f"gather.{head}")
        check(sentence, "first", head)


# ---------------------------------------------------------------- heads side by side


@pytest.mark.parametrize("residual", [False, True])
def test_heads_equal_pytorch(show, residual):
    model = randomised(WhoDidIt(residual=residual))
    page = show(heads_figure(model, VOCABULARY, residual=residual))
    ids = VOCABULARY.encode([ACTORS])[0]

    def check(sentence: str, off: tuple[int, ...] = ()) -> None:
        ablated = copy.deepcopy(model)
        for head in off:
            ablated.attention.out_proj.weight.data[:, 4 * head : 4 * head + 4] = 0
        with torch.no_grad():
            logits, weights = ablated(VOCABULARY.encode([sentence.split()]), need_weights=True)
        close(numbers(page.locator("[data-name=rows] td[data-value]")), weights[0, :, 2])
        probabilities, best = logits[0][:, ids].softmax(-1).max(-1)
        close(numbers(page.locator("[data-name=subject], [data-name=object]")), probabilities)
        subject, object_ = (ACTORS[i] for i in best)
        expect(page.get_by_role("status")).to_contain_text(f"“{subject}” does it to “{object_}”")

    check("the dog bites the man")
    select(page, "who").select_option("queen")
    select(page, "does").select_option(TRANSITIVE_VERBS[-1])
    check(f"the queen {TRANSITIVE_VERBS[-1]} the man")
    page.get_by_role("button", name="Exchange").click()
    check(f"the man {TRANSITIVE_VERBS[-1]} the queen")
    select(page, "to whom").select_option("man")  # the same noun twice: they change places
    check(f"the queen {TRANSITIVE_VERBS[-1]} the man")
    press(page.get_by_role("checkbox", name="head 2"), "Space")
    check(f"the queen {TRANSITIVE_VERBS[-1]} the man", off=(1,))
    page.get_by_role("checkbox", name="head 4").uncheck()
    check(f"the queen {TRANSITIVE_VERBS[-1]} the man", off=(1, 3))
    expect(page.get_by_role("status")).to_contain_text("Without head 2 and 4")


# ---------------------------------------------------------------- positions


def test_waves_equal_the_encoding(show):
    page = show(positions_figure())
    table = sinusoidal_encoding(64, 16, dtype=torch.float64)
    close(numbers(page.locator("[data-name^=wave-]")), table[3])
    press(page.get_by_role("slider", name="position"), "ArrowRight", times=4)
    close(numbers(page.locator("[data-name^=wave-]")), table[7])
    press(page.get_by_role("slider", name="columns"), "End")
    wide = sinusoidal_encoding(64, 128, dtype=torch.float64)[7]
    for name in (0, 1, 18, 126, 127):
        close(numbers(page.locator(f"[data-name=wave-{name}]")), wide[name])
    press(page.get_by_role("slider", name="columns"), "Home")
    close(numbers(page.locator("[data-name^=wave-]")), sinusoidal_encoding(8, 4)[7], 1e-7)


def test_similarity_depends_on_distance_alone(show):
    page = show(positions_figure())
    page.get_by_role("radio", name="similarity").check()
    slider = page.get_by_role("slider", name="position")
    for position in (3, 4, 63):
        press(slider, "End") if position == 63 else None
        table = sinusoidal_encoding(100, 16, dtype=torch.float64)
        expected = torch.stack(
            [table[position] @ table[position + d] for d in (1, 2, 4, 8, 16, 32)]
        )
        close(numbers(page.locator("[data-name=similarity] td[data-value]")), expected)
        press(slider, "ArrowRight")


def test_rotation_equals_rotary_embedding(show):
    page = show(positions_figure())
    page.get_by_role("radio", name="waves").focus()
    page.keyboard.press("ArrowLeft")  # round to the last of the three
    rope = RotaryEmbedding(8)

    def check(i: int, j: int, pair: int) -> None:
        vectors = torch.zeros(2, 1, 1, 8, dtype=torch.float64)
        vectors[0, ..., 2 * pair : 2 * pair + 2] = torch.tensor([1, 0.25])
        vectors[1, ..., 2 * pair : 2 * pair + 2] = torch.tensor([0.75, 0.75])
        query, key = rope(vectors[:1], torch.tensor([i])), rope(vectors[1:], torch.tensor([j]))
        close(numbers(page.locator("[data-name=product]")), (query * key).sum())

    check(5, 2, 0)
    before = numbers(page.locator("[data-name=product]"))
    page.get_by_role("button", name="Both one place later").click(click_count=3)
    check(8, 5, 0)
    close(numbers(page.locator("[data-name=product]")), before)
    select(page, "pair of entries").select_option("1")
    check(8, 5, 1)
    press(page.get_by_role("slider", name="query"), "End")
    check(63, 5, 1)
    press(page.get_by_role("slider", name="key"), "Home")
    check(63, 0, 1)
    expect(page.get_by_role("button", name="Both one place later")).to_be_disabled()


# ---------------------------------------------------------------- all of them

WRITER = GPTConfig(
    vocab_size=len(VOCABULARY) + 2, d_model=16, num_layers=1, num_heads=2, d_ff=16, max_len=16
)
BOTH_LANGUAGES = translation_vocabulary()
TRANSLATOR = TransformerConfig(
    vocab_size=len(BOTH_LANGUAGES), d_model=12, num_layers=1, num_heads=2, d_ff=8, max_len=24
)
FIGURES = {
    "path": path_figure,
    "attention": lambda: attention_figure(TOKENS, QUERY, KEY, VALUE),
    "digit": lambda: digit_figure(vit(), pictures(), LABELS),
    "pronoun": lambda: pronoun_figure(randomised(Detective()), VOCABULARY),
    "heads": lambda: heads_figure(randomised(WhoDidIt()), VOCABULARY),
    "positions": positions_figure,
    "embeddings": lambda: embeddings_figure(
        torch.randn(len(VOCABULARY), 8, generator=torch.Generator().manual_seed(7)), VOCABULARY
    ),
    "file": lambda: file_figure(small_gpt2(Path(mkdtemp())), "transformer.h.0.attn.c_attn.weight"),
    "stream": lambda: stream_figure(randomised(Encoder()), VOCABULARY),
    "tiles": lambda: tiles_figure(QUERY, KEY, [10.0, 20.0, 30.0]),
    "writer": lambda: writer_figure(randomised(GPT(WRITER)), Vocabulary((BOS, EOS, *WORDS))),
    "translation": lambda: translation_figure(
        randomised(Transformer(TRANSLATOR)), BOTH_LANGUAGES, ["a", "cat"], ["a cat", "cat"], 5
    ),
    "forecast": lambda: forecast_figure(
        randomised(Forecaster(FORECASTER)), split_series(lorenz(200, seed=7)[0], gap=7), steps=70
    ),
    "quiz": lambda: quiz("self_attention"),  # no number in it
}


@pytest.fixture(params=FIGURES)
def figure(request) -> LiveFigure:
    return FIGURES[request.param]()


@pytest.fixture(params=[name for name in FIGURES if name != "quiz"])
def figure_of_numbers(request) -> LiveFigure:
    return FIGURES[request.param]()


def test_every_control_has_a_name_and_changes_are_announced(show, figure):
    page = show(figure)
    unnamed = page.locator("input, select, button").evaluate_all(
        "nodes => nodes.filter((n) => !(n.labels?.length || n.ariaLabel || n.textContent))"
        ".map((n) => n.outerHTML)"
    )
    assert unnamed == []
    assert page.locator("output[aria-live=polite]").count() == 1
    assert page.get_by_role("status").inner_text()
    assert page.get_by_role("group").first.get_attribute("aria-label")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_and_nothing_overflows_a_phone(show, figure, scheme):
    page = show(figure, viewport={"width": 360, "height": 740})
    page.evaluate(
        "scheme => { document.documentElement.dataset.theme = scheme;"
        " const [ink, quiet, ground] = scheme === 'dark'"
        " ? ['#ced6dd', '#9ca4af', '#121212'] : ['#222832', '#48566b', '#ffffff'];"
        " const style = document.documentElement.style;"
        " style.setProperty('--pst-color-text-base', ink);"
        " style.setProperty('--pst-color-text-muted', quiet);"
        " style.setProperty('--pst-color-background', ground);"
        " style.background = ground; }",
        scheme,
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    # contrast of every text with its own background, the WCAG way, colours resolved on a canvas
    worst = page.evaluate(
        """ground => {
        const canvas = document.createElement('canvas');
        const context = canvas.getContext('2d', { willReadFrequently: true });
        const over = (colors) => {
          for (const color of colors) { context.fillStyle = color; context.fillRect(0, 0, 1, 1); }
          return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
        };
        const light = (rgb) => rgb.map((c) => c / 255)
          .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
          .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        let worst = [99, ''];
        for (const node of document.querySelectorAll('.cl *')) {
          const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
          if (!own || node.disabled || !node.getClientRects().length) continue;
          const style = getComputedStyle(node), layers = [];
          for (let at = node; at; at = at.parentElement) {
            layers.unshift(getComputedStyle(at).backgroundColor);
          }
          const color = node.namespaceURI.endsWith('svg') ? style.fill : style.color;
          const a = light(over([ground, ...layers])), b = light(over([ground, ...layers, color]));
          const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          if (ratio < worst[0]) worst = [ratio, node.outerHTML.slice(0, 200)];
        }
        return worst;
        }""",
        {"light": "#ffffff", "dark": "#121212"}[scheme],
    )
    assert worst[0] > 4.5, worst


def test_reduced_motion_is_respected(show):
    bar = ".cl-bar i"
    still = show(FIGURES["pronoun"](), reduced_motion="reduce")
    moving = show(FIGURES["pronoun"](), reduced_motion="no-preference")
    seconds = "node => getComputedStyle(node).transitionDuration"
    assert still.locator(bar).first.evaluate(seconds) == "0s"
    assert moving.locator(bar).first.evaluate(seconds) != "0s"


def test_without_javascript_the_first_numbers_stand_there(show, figure_of_numbers):
    live = show(figure_of_numbers)
    plain = show(figure_of_numbers, java_script_enabled=False)
    cells = plain.locator(".companion-live > table td").all_inner_texts()
    assert plain.locator("caption").count() == 1 and cells
    shown = live.locator("[data-value]").evaluate_all("nodes => nodes.map((n) => +n.dataset.value)")
    first = next(float(cell) for cell in cells if cell)
    assert any(math.isclose(first, number, abs_tol=6e-4) for number in shown)


def test_a_figure_that_fails_leaves_its_fallback(browser, tmp_path):
    broken = path_figure().to_html().replace('"words"', '"other"')
    (tmp_path / "figures.js").write_text(bundle(), "utf8")
    (tmp_path / "page.html").write_text(PAGE.format(broken + path_figure().to_html()), "utf8")
    page, errors = browser.new_page(), []
    page.on("console", lambda message: errors.append(message.text))
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".companion-live > table")).to_have_count(1)
    expect(page.locator(".cl")).to_have_count(1)  # the other figure is not drawn into it
    assert len(errors) == 1 and errors[0].startswith("live figure path:")
    page.close()


def test_as_a_widget_the_figure_follows_the_kernel_and_tells_it(browser, figure_of_numbers):
    """The anywidget module, imported as Jupyter does it, with a stand-in for the kernel's model."""
    figure = figure_of_numbers
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.route("**/*", lambda route: route.fulfill(content_type="text/html", body="<body></body>"))
    page.goto("http://notebook.test/")
    page.evaluate(
        """async ([esm, traits]) => {
        const file = new Blob([esm], { type: 'text/javascript' });
        const { default: widget } = await import(URL.createObjectURL(file));
        const listeners = [];
        window.saved = [];
        window.fromKernel = (value) => { traits.value = value; listeners.forEach((f) => f()); };
        const model = {
          get: (name) => traits[name],
          set: (name, content) => { traits[name] = content; listeners.forEach((f) => f()); },
          save_changes: () => saved.push(structuredClone(traits.value)),
          on: (event, f) => { if (event === 'change:value') listeners.push(f); },
          off: (event, f) => listeners.splice(listeners.indexOf(f), 1),
        };
        const el = document.body.appendChild(document.createElement('div'));
        window.close_ = widget.render({ model, el });
        window.listening = () => listeners.length;
        }""",
        [figure._esm, {"data": figure.data, "value": figure.value}],
    )
    control = page.locator("input[type=range], select").first
    before = control.input_value()
    press(control, "ArrowRight" if control.get_attribute("type") == "range" else "ArrowDown")
    after = control.input_value()
    key = control.get_attribute("name")
    assert after != before
    assert [str(saved[key]) for saved in page.evaluate("saved")] == [after]
    assert page.evaluate("saved")[0].keys() == figure.value.keys()
    assert page.locator(":is(input, select, button):not([data-lm-suppress-shortcuts])").count() == 0
    page.evaluate("value => fromKernel(value)", figure.value)
    assert control.input_value() == before
    page.evaluate("close_()")
    assert page.evaluate("listening()") == 0 and complaints == []
    page.close()


# ---------------------------------------------------------------- in the book

SITE = Path(__file__).parents[2] / "_build" / "html"
IN_THE_BOOK = [
    (page.relative_to(SITE).as_posix(), name)
    for page in sorted(SITE.glob("book/*.html"))
    for name in re.findall(r'class="companion-live" data-figure="(\w+)"', page.read_text("utf8"))
]


def test_every_figure_stands_in_the_book(site):
    assert {name for _, name in IN_THE_BOOK} == set(FIGURES)


# Where the live figure shows the numbers of its table; of "pronoun" the first column.
SAME_NUMBERS = {
    "path": "td[data-name=recurrent], td[data-name=convolution], td[data-name=attention]",
    "attention": "[data-name=weights] td[data-value]",
    "pronoun": ".cl-number",
    "heads": "[data-name=rows] td[data-value]",
    "positions": "[data-name^=wave-]",
    "embeddings": "[data-name=answers] [data-value]",
    "file": "[data-name=ours] [data-value]",
    "stream": "[data-name=stages] td[data-value]",
    "writer": "[data-name=next] [data-word]",
    "translation": "[data-name=cross] td[data-value]",
    "forecast": "[data-name=points] td[data-value]",
    "digit": "[data-name=answers] [data-value]",
    "tiles": "[data-name=running] td[data-name=exact]",
}


@pytest.mark.parametrize(("article", "name"), [pair for pair in IN_THE_BOOK if pair[1] != "quiz"])
def test_a_figure_in_the_book_shows_what_pytorch_computed(open_page, address, article, name):
    """The table that stands there without JavaScript comes from PyTorch, in full precision."""
    host = f".companion-live[data-figure={name}]"
    plain = open_page(f"{address}/{article}", java_script_enabled=False)
    cells = plain.locator(f"{host} td:nth-child(2)" if name == "pronoun" else f"{host} td")
    expected = torch.tensor([float(cell) for cell in cells.all_inner_texts()])
    live = open_page(f"{address}/{article}").locator(host)
    assert live.locator("output[aria-live=polite]").inner_text()
    shown = numbers(live.locator(SAME_NUMBERS[name]))
    close(shown, expected[: len(shown)], 5e-3)  # weights travel in half precision
