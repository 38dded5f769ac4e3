"""The live figure of reading in order and all at once, held to graphs that autograd keeps."""

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from book.one_word_at_a_time import unrolled_figure
from tests.book.reading import Example, numbers, press, select

pytestmark = pytest.mark.browser

WORDS = "the animal did not cross the street because it".split()


def in_order(words: torch.Tensor) -> list[torch.Tensor]:
    """The states of a recurrent network."""
    torch.manual_seed(0)
    cell, states = nn.RNNCell(3, 3).double(), [torch.zeros(3, dtype=torch.float64)]
    for word in words:
        states.append(cell(word, states[-1]))
    return states[1:]


def at_once(words: torch.Tensor) -> list[torch.Tensor]:
    """Every word's weighted average of all words."""
    return list(torch.softmax(words @ words.T, dim=1) @ words)


def waits(state: torch.Tensor, others: list[torch.Tensor]) -> int:
    """How many states in a row, this one included, must be made before this one is there."""
    made = {other.grad_fn: other for other in others}
    longest, todo = {}, [state.grad_fn]
    while todo:
        node = todo[-1]
        behind = [before for before, _ in node.next_functions if before is not None]
        missing = [before for before in behind if before not in longest]
        if missing:
            todo += missing
        else:
            longest[todo.pop()] = max((longest[b] for b in behind), default=0) + (node in made)
    return longest[state.grad_fn]


def path(words: torch.Tensor, start: int, end: int) -> list[int]:
    """Steps between two words: in order, from the state that has read the first; and at once."""
    states, looks = in_order(words), at_once(words)
    for reader in (states, looks):
        assert torch.autograd.grad(reader[end].sum(), words, retain_graph=True)[0][start].any()
    return [waits(states[end], states) - waits(states[start], states), waits(looks[end], looks)]


@pytest.fixture
def vectors() -> torch.Tensor:
    return torch.randn(len(WORDS), 3, dtype=torch.float64, requires_grad=True)


def shown(page, name: str) -> list[float]:
    return numbers(page.locator(f"td[data-name={name}]")).tolist()


def test_the_clock_reads_as_many_words_as_the_graph_allows(show, vectors):
    page = show(unrolled_figure())
    clock = page.get_by_role("slider", name="step")
    due = [[waits(s, states) for s in states] for states in (in_order(vectors), at_once(vectors))]
    press(clock, "Home")
    for tick in range(len(WORDS) + 1):
        assert shown(page, "read") == [sum(t <= tick for t in reader) for reader in due]
        took = page.locator("td[data-name=ticks]").all_inner_texts()
        assert took == [str(max(reader)) if max(reader) <= tick else "…" for reader in due]
        press(clock, "ArrowRight")


def test_the_path_is_as_long_as_the_graph_says(show, vectors):
    page = show(unrolled_figure())
    for start, end in ((1, 8), (0, 1), (3, 7), (2, 3)):
        select(page, "to").select_option(str(len(WORDS) - 1))
        select(page, "the news of").select_option(str(start))
        select(page, "to").select_option(str(end))
        assert shown(page, "path") == path(vectors, start, end)


def test_the_news_comes_after_the_word_that_it_comes_from(show):
    page = show(unrolled_figure())
    select(page, "to").select_option("3")
    select(page, "the news of").select_option("5")  # later: the end moves on
    expect(select(page, "to")).to_have_value("6")
    select(page, "to").select_option("2")  # earlier: the start moves back
    expect(select(page, "the news of")).to_have_value("1")


def test_it_opens_in_the_middle_and_ends_when_all_is_read(show):
    page = show(unrolled_figure())
    status = page.get_by_role("status")
    expect(status).to_have_text(
        "In order, “did” is read, with the state after “animal”. "
        "The news of “animal” has come as far as “did”."
    )
    press(page.get_by_role("slider", name="step"), "End")
    expect(status).to_contain_text("9 ticks for 9 words")
    press(page.get_by_role("slider", name="step"), "Home")
    expect(status).to_have_text("The words are there. Nobody has read anything yet.")


def test_two_goals_are_reached_by_the_right_words(show):
    page = show(unrolled_figure())
    reached = page.locator(".cl-goals .cl-reached")
    expect(reached).to_have_count(0)
    select(page, "the news of").select_option("3")
    expect(reached).to_have_count(1)
    select(page, "the news of").select_option("7")
    expect(reached).to_have_count(2)
    select(page, "the news of").select_option("0")
    expect(reached).to_have_count(2)


def test_a_sentence_must_go_on_after_the_word_that_is_followed():
    with pytest.raises(ValueError, match="start = 1 must lie between 0 and 0 in a sentence of 2"):
        unrolled_figure("two words", start=1)


EXAMPLE = Example(unrolled_figure, "td[data-name=read], td[data-name=path]", "td:not(:last-child)")
