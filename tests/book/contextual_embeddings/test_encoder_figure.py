"""A published encoder in the page: what Python read, and what the worker reads, is PyTorch's."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import Page, expect
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import nn

from book._press.encoder import in_eight_bits, write_encoder
from book.contextual_embeddings import encoder_figure
from book.contextual_embeddings.figures.encoder import SENTENCES, sentence_vectors
from book.page import live
from companion.models import BERT, BERTConfig
from companion.pretrained import PretrainedTokenizer, load, load_tokenizer
from tests.book.reading import PAGE, Example, close, numbers, press, randomised, select

pytestmark = pytest.mark.browser

FIRST, SECOND = "the river bank was old", "an old river"
OWN = "The bank raised prices."  # typed by the reader; "prices" is in two pieces
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = sorted(
    {word for text in (*SENTENCES, FIRST, SECOND, "bank raised . price") for word in text.split()}
)


def tiny() -> tuple[BERT, PretrainedTokenizer]:
    """A random encoder of these words, its matrices as 8 bits hold them."""
    vocabulary = {token: i for i, token in enumerate([*SPECIAL, *WORDS, "##s"])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    config = BERTConfig(
        vocab_size=len(vocabulary), d_model=12, num_layers=2, num_heads=3, d_ff=20, max_len=64,
        mlm_head=False,
    )  # fmt: skip
    model = randomised(BERT(config)).float().eval()
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.reset_parameters()  # else all vectors are nearly the same
    for block in model.blocks:
        block.self_attention.out_proj.weight.data *= 4  # and a word's own counts for too much
    for parameter in model.parameters():
        if parameter.dim() == 2:
            whole, scales = in_eight_bits(parameter)
            parameter.data = torch.from_numpy(whole * scales[:, None])
    return model, PretrainedTokenizer(tokenizer)


def figure():
    return encoder_figure(*tiny(), FIRST, SECOND)


@torch.no_grad()
def read(text: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Streams (layers + 1, T, d_model) and weights (layers, H, T, T) of the tiny encoder."""
    model, tokenizer = tiny()
    ids = torch.tensor([tokenizer.encode(text)])
    x = model.embedding_norm(
        model.positions(model.token_embedding(ids) + model.type_embedding.weight[0])
    )
    streams, weights = [x], []
    for block in model.blocks:
        x, looks = block(x, need_weights=True)
        streams.append(x)
        weights.append(looks)
    return torch.cat(streams), torch.cat(weights)


@pytest.fixture
def loaded(show, tmp_path) -> Page:
    """The figure on a page, with the tiny encoder loaded from the disk, in a worker."""
    write_encoder(tmp_path / "encoder", *tiny(), SENTENCES)
    page = show(figure(), reduced_motion="reduce")
    page.get_by_role("button", name="Load the encoder").click()
    expect(field(page, "sentence")).to_be_enabled()
    return page


def field(page: Page, name: str):
    return page.get_by_role("textbox", name=name, exact=True)


def weights_shown(page: Page) -> torch.Tensor:
    return numbers(page.locator("[data-name=weight]"))


def test_every_head_of_the_first_sentence_is_there_without_the_encoder(show):
    page = show(figure(), reduced_motion="reduce")
    _, weights = read(FIRST)
    expect(field(page, "sentence")).to_be_disabled()
    for layer in range(2):
        for head in range(3):
            for token, name in enumerate(["[CLS]", *FIRST.split(), "[SEP]"]):
                page.get_by_role("button", name=f"from {name}", exact=True).click()
                close(weights_shown(page), weights[layer, head, token], 1e-3)  # half precision
            if head < 2:
                press(page.get_by_role("slider", name="head"), "ArrowRight")
        press(page.get_by_role("slider", name="head"), "Home")
        press(page.get_by_role("slider", name="layer"), "ArrowRight")


def test_a_click_on_the_map_of_all_heads_chooses_one(show):
    page = show(figure(), reduced_motion="reduce")
    maps = page.get_by_role("img", name="The weights of all 6 heads")
    box = maps.bounding_box()
    maps.click(position={"x": box["width"] * 0.9, "y": box["height"] * 0.7})
    _, weights = read(FIRST)
    expect(page.get_by_role("slider", name="layer 2")).to_have_value("2")
    expect(page.get_by_role("slider", name="head 3")).to_have_value("3")
    close(weights_shown(page), weights[1, 2, 1], 1e-3)


def test_nothing_is_fetched_before_the_click(show, tmp_path):
    write_encoder(tmp_path / "encoder", *tiny(), SENTENCES)
    page = show(figure())
    asked = []
    page.on("request", lambda request: asked.append(Path(request.url).name))
    page.reload()
    expect(page.get_by_role("button", name="Load the encoder")).to_be_visible()
    assert set(asked) == {"page.html", "figures.js"}
    page.get_by_role("button", name="Load the encoder").click()
    expect(field(page, "sentence")).to_be_enabled()
    assert {"index.js", "0.js"} <= set(asked)


def test_the_readers_own_sentence_is_read_by_the_encoder(loaded):
    field(loaded, "sentence").fill(OWN)
    expect(loaded.get_by_role("button", name="from ##s")).to_be_visible()
    _, weights = read(OWN)
    for token, name in enumerate(["[CLS]", "the", "bank", "raised", "price", "##s", ".", "[SEP]"]):
        loaded.get_by_role("button", name=f"from {name}", exact=True).click()
        close(weights_shown(loaded), weights[0, 0, token], 1e-5)


def test_the_nearest_sentences_are_those_of_pytorch(loaded):
    field(loaded, "sentence").fill(OWN)
    loaded.get_by_label("Nearest sentences").check()
    found = sentence_vectors(*tiny(), SENTENCES) @ sentence_vectors(*tiny(), [OWN])[0]
    best = found.argsort(descending=True)[:5]
    rows = loaded.locator("[data-name=nearest] > span")
    expect(rows.first).to_have_text(SENTENCES[best[0]])
    assert rows.all_inner_texts()[::2] == [SENTENCES[i] for i in best]
    close(numbers(loaded.locator("[data-name=nearest] [data-value]")), found[best], 2e-3)


@pytest.mark.parametrize("width", [360, 760])
def test_the_cosines_beside_long_sentences_are_in_the_figure(show, width):
    page = show(figure(), viewport={"width": width, "height": 800})
    page.get_by_role("radio", name="Nearest sentences").check()
    right = "node => node.getBoundingClientRect().right"
    ends = page.locator("[data-name=nearest] [data-value]").all()
    assert max(end.evaluate(right) for end in ends) < page.locator(".cl").evaluate(right)


def test_a_words_vectors_in_two_sentences_are_compared_block_by_block(loaded):
    loaded.get_by_label("A word in two sentences").check()
    field(loaded, "sentence").fill(OWN)
    field(loaded, "another sentence").fill("prices of the old bank")
    select(loaded, "word in both").select_option("prices")
    ours, theirs = read(OWN)[0], read("prices of the old bank")[0]
    expected = 1 - F.cosine_similarity(ours[:, 4:6].mean(1), theirs[:, 1:3].mean(1))
    expect(loaded.get_by_role("status")).to_contain_text("the two vectors of “prices”")
    close(numbers(loaded.locator("[data-name=senses] [data-value]")), expected, 1e-5)
    field(loaded, "another sentence").fill("reeds")
    expect(loaded.get_by_role("status")).to_have_text("The two sentences share no word.")


def test_every_view_fits_a_screen_with_its_goal(show):
    page = show(figure(), viewport={"width": 740, "height": 800}, reduced_motion="reduce")
    for view in ("Every head", "Nearest sentences", "A word in two sentences"):
        page.get_by_label(view).check()
        assert page.locator(".cl").bounding_box()["height"] <= 640
        assert page.locator(".cl-goals li:visible").count() == 1


def test_what_cannot_be_fetched_is_said(browser, tmp_path):
    """Nothing lies beside the script."""
    (tmp_path / "figures.js").write_text(live.bundle(), "utf8")
    (tmp_path / "page.html").write_text(PAGE.format(figure().to_html()), "utf8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.get_by_role("button", name="Load the encoder").click()
    alert = page.get_by_role("alert").filter(has_text="The encoder cannot run here")
    expect(alert).to_contain_text("index.js did not arrive")
    expect(page.get_by_role("button", name="Load the encoder")).to_be_visible()
    page.close()


def test_in_a_notebook_it_says_where_other_sentences_are_read(browser):
    page = browser.new_page()
    page.route("**/*", lambda route: route.fulfill(content_type="text/html", body="<body></body>"))
    page.goto("http://notebook.test/")
    drawn = figure()
    page.evaluate(
        """async ([esm, traits]) => {
        const file = new Blob([esm], { type: 'text/javascript' });
        const { default: widget } = await import(URL.createObjectURL(file));
        const el = document.body.appendChild(document.createElement('div'));
        widget.render({ model: { get: (name) => traits[name], on() {} }, el });
        }""",
        [drawn._esm, {"data": drawn.data, "value": drawn.value}],
    )
    expect(page.get_by_text("make the figure again")).to_be_visible()
    expect(page.get_by_role("button", name="Load")).to_have_count(0)
    page.close()


def test_the_goal_of_the_head_is_reached_without_the_encoder(show):
    looks_back = figure()
    record = looks_back.data["records"][0]
    _, weights = read(FIRST)
    weights[1, 0] = torch.eye(len(record["tokens"])).roll(-1, 1)
    record["weights"] = live.packed(weights.flatten(0, 2))
    page = show(looks_back)
    expect(page.locator(".cl-reached")).to_have_count(0)
    press(page.get_by_role("slider", name="layer"), "ArrowRight")
    expect(page.locator(".cl-reached")).to_have_text(re.compile("every token looks most"))


def test_the_goal_of_the_neighbour_is_reached_by_a_sentence_with_other_words(loaded):
    texts = [f"{first} {second}" for first, second in zip(WORDS, WORDS[7:], strict=False)]
    near = sentence_vectors(*tiny(), texts) @ sentence_vectors(*tiny(), SENTENCES).T
    cosines, best = near.max(1)
    shares = [
        bool({*t.split()} & {*SENTENCES[i].split()}) for t, i in zip(texts, best, strict=True)
    ]
    alike = torch.tensor(shares)
    loaded.get_by_label("Nearest sentences").check()
    for wanted, reached in ((alike & (cosines > 0.55), 0), (~alike & (cosines > 0.55), 1)):
        text = texts[wanted.nonzero()[0].item()]
        field(loaded, "sentence").fill(text)
        expect(loaded.get_by_role("status")).to_contain_text(f"nearest to “{text}”")
        expect(loaded.locator(".cl-reached")).to_have_count(reached)


def test_the_goal_of_the_word_is_reached_by_two_sentences_that_differ(loaded):
    texts = [f"{word} old" for word in WORDS]
    ours = read("the bank was old")[0][-1][4]
    cosines = torch.stack([F.cosine_similarity(read(t)[0][-1][2], ours, dim=0) for t in texts])
    loaded.get_by_label("A word in two sentences").check()
    field(loaded, "sentence").fill("the bank was old")
    for number, reached in ((cosines.argmax(), 0), (cosines.argmin(), 1)):
        field(loaded, "another sentence").fill(texts[number])
        told = f"after the last block {1 - cosines[number]:.2f}"
        expect(loaded.get_by_role("status")).to_contain_text(told)
        expect(loaded.locator(".cl-reached")).to_have_count(reached)


# ---------------------------------------------------------------- the published weights


@pytest.fixture(scope="module")
def published() -> tuple[BERT, PretrainedTokenizer]:
    return load("all-MiniLM-L6-v2"), load_tokenizer("all-MiniLM-L6-v2")


@pytest.fixture
def answers(browser, tmp_path) -> Callable[..., Page]:
    """`answers(model, tokenizer)` -> a page where `answers` is the worker's, with its weights."""
    page = browser.new_page()

    def answers(model: BERT, tokenizer: PretrainedTokenizer) -> Page:
        write_encoder(tmp_path, model, tokenizer, SENTENCES[:1])
        page.evaluate(
            f"() => {{ {live.worker()}\n window.answers = load('worker.js').ANSWERS;"
            " window.delivered = [];"
            " window.companionDelivers = (content) => delivered.push(content); }"
        )
        parts = sorted(tmp_path.glob("[0-9]*.js"), key=lambda path: int(path.stem))
        for file in (tmp_path / "index.js", *parts):
            page.add_script_tag(path=file)
        page.evaluate(
            """() => {
            const [index, ...parts] = delivered;
            answers.begin(index);
            parts.forEach((base64, i) => answers.part({ at: index.parts[i], base64 }));
            answers.end(index);
            }"""
        )
        return page

    yield answers
    page.close()


@pytest.mark.weights
def test_the_published_encoder_gives_the_vectors_of_pytorch(answers, published):
    """Eight bits a number cost less than a thousandth of the cosine, for each sentence."""
    page = answers(*published)
    found = page.evaluate(
        """texts => texts.map((text) => {
        const rows = answers.encode({ text }).layers.at(-1);
        return Array.from(rows[0], (_, i) => rows.reduce((sum, row) => sum + row[i], 0));
        })""",
        SENTENCES,
    )
    cosines = F.cosine_similarity(torch.tensor(found), sentence_vectors(*published, SENTENCES))
    print(f"cosine: least {cosines.min():.5f}, mean {cosines.mean():.5f}")
    assert cosines.min() > 0.999


def test_the_site_has_the_encoder_and_no_page_loads_it(open_page, address, site):
    page = open_page(f"{address}/book/contextual_embeddings/contextual_embeddings.html")
    names = "performance.getEntriesByType('resource').map((entry) => entry.name)"
    assert not [name for name in page.evaluate(names) if "/encoder/" in name]
    index = (site / "_static" / "encoder" / "index.js").read_text("utf8")
    parts = json.loads(index.removeprefix(f"{live.DELIVER}(").removesuffix(");\n"))["parts"]
    assert all((site / "_static" / "encoder" / f"{i}.js").is_file() for i in range(len(parts)))
    page.get_by_role("button", name="Load the encoder").click()
    expect(field(page, "sentence")).to_be_enabled(timeout=60_000)
    field(page, "sentence").fill("the bank of the stream")
    expect(page.get_by_role("button", name="from stream")).to_be_visible(timeout=60_000)


def test_the_maps_follow_a_switch_of_the_pages_colours(show):
    page = show(figure(), color_scheme="light")
    lightest = """() => {
        const canvas = document.querySelector('canvas'), copy = new OffscreenCanvas(300, 150);
        const context = copy.getContext('2d', { willReadFrequently: true });
        context.drawImage(canvas, 0, 0, 300, 150);
        const { data } = context.getImageData(0, 0, 300, 150);
        const painted = [...Array(data.length / 4).keys()].filter((i) => data[4 * i + 3] === 255);
        const light = (i) => data[4 * i] + data[4 * i + 1] + data[4 * i + 2];
        const most = Math.max(...painted.map(light));
        return [painted.length, most];
    }"""
    canvas = page.locator("canvas")
    inks = "c => ['--attention', '--ink'].map((n) => getComputedStyle(c).getPropertyValue(n))"
    seen = {}
    for scheme in ("light", "dark", "light"):
        page.evaluate("scheme => { document.documentElement.dataset.theme = scheme; }", scheme)
        page.wait_for_timeout(100)
        now = canvas.evaluate(inks), page.evaluate(lightest)
        assert now[1][0] > 0
        assert seen.setdefault(scheme, now) == now
    assert seen["light"][0] != seen["dark"][0]
    assert seen["light"][1] != seen["dark"][1]  # painted anew, in the other ink


EXAMPLE = Example(figure, "[data-name=weight]", "tr td:last-child")
