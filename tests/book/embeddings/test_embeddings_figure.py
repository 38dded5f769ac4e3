"""The live figure of word vectors: its cosines, its lists and its parallelogram against PyTorch."""

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import expect

from book.embeddings import embeddings_figure
from companion.data import SPECIAL_TOKENS, Vocabulary
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

VOCABULARY = Vocabulary()
WORDS = VOCABULARY.words[len(SPECIAL_TOKENS) :]
random = torch.Generator().manual_seed(3)
# Not centred, so that neither means nor lengths vanish from the tests.
VECTORS = torch.randn(len(VOCABULARY), 7, generator=random) + 0.3
UNIT = F.normalize(VECTORS[len(SPECIAL_TOKENS) :].half().double(), dim=1)


def unit(word: str) -> torch.Tensor:
    return UNIT[WORDS.index(word)]


def nearest(vector: torch.Tensor, without: tuple[str, ...], count: int):
    similarity = UNIT @ F.normalize(vector, dim=0)
    for word in without:
        similarity[WORDS.index(word)] = -2
    best = similarity.topk(count)
    return best.values, [WORDS[i] for i in best.indices]


def shown(page, name: str):
    found = page.locator(f"[data-name={name}] [data-value]")
    return numbers(found), found.evaluate_all("nodes => nodes.map((n) => n.dataset.word)")


def check(page, first: str, minus: str, plus: str, exclude: bool) -> None:
    given = (first, minus, plus) if exclude else ()
    query = unit(first) - unit(minus) + unit(plus)
    for name, vector, without, count in (
        ("answers", query, given, 5),
        ("alone", unit(first), given or (first,), 3),
    ):
        cosines, words = nearest(vector, without, count)
        found, names = shown(page, name)
        close(found, cosines)
        assert names == words
    answer = nearest(query, given, 1)[1][0]
    expect(page.get_by_role("status")).to_contain_text(f"the nearest word is “{answer}”")


def test_nearest_words_equal_pytorch(show):
    page = show(embeddings_figure(VECTORS, VOCABULARY))
    check(page, "king", "man", "woman", exclude=True)
    select(page, "start").select_option("cats")
    check(page, "cats", "man", "woman", exclude=True)
    select(page, "− minus").select_option("cat")
    select(page, "+ plus").select_option("dog")
    check(page, "cats", "cat", "dog", exclude=True)
    press(page.get_by_role("checkbox"), "Space")
    check(page, "cats", "cat", "dog", exclude=False)
    page.get_by_role("button", name="swims + (walked − walks)").click()
    check(page, "swims", "walks", "walked", exclude=False)


def points(page) -> dict[str, torch.Tensor]:
    """Where every word of the picture stands, y upwards."""
    rows = page.locator("svg circle").evaluate_all(
        "all => all.map((c) => [c.dataset.word, +c.getAttribute('cx'), -c.getAttribute('cy')])"
    )
    return {word: torch.tensor([x, y], dtype=torch.float64) for word, x, y in rows}


def corners(page) -> torch.Tensor:
    text = page.locator("svg polygon").get_attribute("points")
    pairs = [[float(x) for x in point.split(",")] for point in text.split()]
    return torch.tensor(pairs, dtype=torch.float64) * torch.tensor([1.0, -1.0])


def test_in_the_plane_of_the_three_words_distances_are_true(show):
    page = show(embeddings_figure(VECTORS, VOCABULARY))
    at = points(page)
    pairs = [("king", "man"), ("man", "woman"), ("king", "woman")]
    true = torch.stack([(unit(a) - unit(b)).norm() for a, b in pairs])
    drawn = torch.stack([(at[a] - at[b]).norm() for a, b in pairs])
    close(drawn / drawn.sum(), true / true.sum(), 1e-9)
    minus, first, fourth, plus = corners(page)
    for corner, word in ((minus, "man"), (first, "king"), (plus, "woman")):
        close(corner, at[word], 0.01)
    close(fourth, first - minus + plus, 0.02)


def test_a_step_that_is_too_short_reaches_both_goals(show):
    vectors = VECTORS.clone()
    cat, cats = VOCABULARY.id("cat"), VOCABULARY.id("cats")
    vectors[cats] = vectors[cat] + 0.01
    page = show(embeddings_figure(vectors, VOCABULARY))
    goals = page.get_by_role("listitem")
    expect(page.locator(".cl-reached")).to_have_count(0)
    page.get_by_role("button", name="dog + (cats − cat)").click()
    expect(goals.nth(0)).to_have_class("cl-reached")  # the nearest to the dog alone
    expect(goals.nth(1)).not_to_have_class("cl-reached")
    press(page.get_by_role("checkbox"), "Space")
    expect(goals.nth(1)).to_have_class("cl-reached")  # the dog itself


def test_equal_words_draw_and_answer(show):
    page = show(embeddings_figure(VECTORS, VOCABULARY))
    for label in ("start", "− minus", "+ plus"):
        select(page, label).select_option("dog")
    check(page, "dog", "dog", "dog", exclude=True)
    assert all(point.isfinite().all() for point in points(page).values())


def test_vectors_of_another_vocabulary_are_refused():
    with pytest.raises(ValueError, match=r"\(5, 7\).*expected one row for each of the 6"):
        embeddings_figure(VECTORS[:5], VOCABULARY)


EXAMPLE = Example(
    lambda: embeddings_figure(VECTORS, VOCABULARY), "[data-name=answers] [data-value]"
)
