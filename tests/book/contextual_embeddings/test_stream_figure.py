"""The live figure of a word's residual stream, held to PyTorch on random weights."""

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from book.contextual_embeddings import stream_figure
from book.contextual_embeddings.figures.stream import _coarse
from companion.data import Vocabulary
from companion.nn import EncoderBlock, LearnedPositions, TokenEmbedding
from tests.book.reading import Example, close, numbers, randomised, select

pytestmark = pytest.mark.browser

VOCABULARY = Vocabulary()
BANK = "the bank is near the river and the mud"


class Encoder(nn.Module):
    """The model of the chapter, with other sizes."""

    def __init__(self):
        super().__init__()
        self.token_embedding = TokenEmbedding(len(VOCABULARY), 21, scale=False)
        self.positions = LearnedPositions(11, 21)
        self.blocks = nn.ModuleList(
            EncoderBlock(21, 3, 13, norm_first=True, activation="gelu") for _ in range(2)
        )
        self.final_norm = nn.LayerNorm(21)


@pytest.fixture
def encoder() -> Encoder:
    return _coarse(randomised(Encoder()))  # what the figure rounds, it leaves as it is


@torch.no_grad()
def stages(model: Encoder, words: list[str], at: int) -> list[tuple]:
    """For the embedding and after every sub-layer: what came in, the stream, the chances."""
    seen = []
    for block in model.blocks:
        block.self_attention.register_forward_hook(lambda *call: seen.append(call[2][0]))
        block.feed_forward.register_forward_hook(lambda *call: seen.append(call[2]))
    x = model.positions(model.token_embedding(VOCABULARY.encode([words])))
    found = [(x[0, at], x[0, at])]
    for block in model.blocks:
        top = block(x)
        attended, fed = seen[-2:]
        found += [(attended[0, at], (x + attended)[0, at]), (fed[0, at], top[0, at])]
        x = top
    table = model.token_embedding.weight
    return [
        (added, stream, (model.final_norm(stream) @ table.T).softmax(-1)) for added, stream in found
    ]


def check(page, model: Encoder, sentence: str, at: int, *, hidden: bool = False) -> None:
    words = sentence.split()
    if hidden:
        words[at] = "[MASK]"
    expected = stages(model, words, at)
    start = expected[0][1]
    rows = [
        torch.stack([added.norm(), stream.norm(), torch.cosine_similarity(stream, start, dim=0)])
        for added, stream, _ in expected
    ]
    close(numbers(page.locator("[data-name=stages] td[data-value]")), torch.stack(rows))
    close(numbers(page.locator("svg [data-name=added]")), torch.stack(rows)[:, 0])
    best = torch.stack([chances.max() for *_, chances in expected])
    close(numbers(page.locator("svg [data-name=chance]")), best)
    top = VOCABULARY.words[expected[-1][2].argmax()]
    expect(page.get_by_role("status")).to_contain_text(
        f"“{words[at]}” leaves the last block as “{top}”"
    )


def test_every_stage_equals_pytorch(show, encoder):
    page = show(stream_figure(encoder, VOCABULARY))
    check(page, encoder, BANK, 1)
    select(page, "follow the word").select_option("5")
    check(page, encoder, BANK, 5)
    page.get_by_role("checkbox", name="hide it").press("Space")
    check(page, encoder, BANK, 5, hidden=True)
    select(page, "example").select_option("2")
    check(page, encoder, "these red dogs are near the kennel", 1, hidden=True)


def test_the_reader_writes_a_sentence(show, encoder):
    page = show(stream_figure(encoder, VOCABULARY))
    box, complaint = page.get_by_role("textbox"), page.get_by_role("alert")
    select(page, "follow the word").select_option("8")
    box.fill("the  dog sleeps ")  # shorter than the place of the word: the last word is followed
    check(page, encoder, "the dog sleeps", 2)
    for unfinished, message in (
        ("the dog slee", "Not in the language: slee."),
        ("", "Write a word."),
        (" ".join(["the"] * 12), "At most 11 words."),
    ):
        box.fill(unfinished)
        expect(complaint).to_have_text(message)
        expect(box).to_have_attribute("aria-invalid", "true")
        check(page, encoder, "the dog sleeps", 2)
    box.fill("a dog sleeps")
    expect(complaint).to_have_count(0)
    expect(box).to_have_attribute("aria-invalid", "false")
    check(page, encoder, "a dog sleeps", 2)


def test_the_three_likeliest_words_are_named(show, encoder):
    page = show(stream_figure(encoder, VOCABULARY))
    drawn = page.locator("svg").text_content()
    for *_, chances in stages(encoder, BANK.split(), 1):
        first, *others = (VOCABULARY.words[i] for i in chances.topk(3).indices)
        assert first in drawn and ", ".join(others) in drawn


def test_the_goals_are_reached(show, encoder):
    row = VOCABULARY.words.index("bank")
    bias = encoder.final_norm.bias
    bias.data = 100 * encoder.token_embedding.weight.data[row]  # says "bank", whatever it reads
    page = show(stream_figure(encoder, VOCABULARY))
    reached = page.locator(".cl-reached")
    expect(reached).to_have_count(0)
    page.get_by_role("checkbox", name="hide it").press("Space")
    expect(reached).to_have_count(1)
    expect(reached).to_contain_text("still names")
    select(page, "follow the word").select_option("5")
    expect(reached).to_have_count(2)


def test_what_stands_there_without_javascript_is_what_is_shown(show, encoder):
    figure = stream_figure(encoder, VOCABULARY)
    cells = show(figure, java_script_enabled=False).locator("td").all_inner_texts()
    shown = numbers(show(figure).locator("[data-name=stages] td[data-value]"))
    close(torch.tensor([float(cell) for cell in cells]).double(), shown, 6e-4)


EXAMPLE = Example(
    lambda: stream_figure(randomised(Encoder()), VOCABULARY), "[data-name=stages] td[data-value]"
)
