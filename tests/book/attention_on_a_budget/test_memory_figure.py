"""Writing into a matrix: numbers, answers and goals are those of the package's rules."""

import pytest
import torch
from playwright.sync_api import expect

from book.attention_on_a_budget import memory_figure
from book.attention_on_a_budget.figures.memory import KEYS, RULES, keys_of, scores
from tests.book.reading import Example, close, numbers, select

pytestmark = pytest.mark.browser

ANIMALS = list(KEYS)
LABELS = {"add": "add", "fade": "fade, then add", "overwrite": "overwrite"}
FACTS = [("cat", 3), ("dog", 5), ("fox", 8), ("cat", 7), ("bee", 1), ("dog", 2), ("pig", 5)]

GOAL_OVERWRITE = [("cow", 5), ("fox", 2), ("cat", 8)]
GOAL_FADE = [("hen", 1), ("owl", 8), ("bee", 1)]


def figure():
    return memory_figure()


def choose(page, rule: str) -> None:
    page.get_by_role("radio", name=LABELS[rule], exact=True).click()


def write(page, animal: str, digit: int) -> None:
    select(page, "animal").select_option(label=animal)
    select(page, "number").select_option(label=str(digit))
    page.get_by_role("button", name="write", exact=True).click()


@pytest.mark.parametrize("rule", RULES)
def test_every_animal_gets_the_scores_of_the_rule(show, rule):
    page = show(memory_figure(FACTS, rule=rule))
    for animal in ANIMALS:
        select(page, "ask about").select_option(label=animal)
        close(numbers(page.locator("[data-name=score]")), scores(FACTS, animal, rule))
        close(numbers(page.locator("[data-name=key] text")), keys_of([animal]) * 8**0.5)


def test_the_matrix_is_the_sum_of_what_was_written(show):
    page = show(figure())
    facts = [("cat", 3), ("dog", 5), ("cat", 7)]
    S = torch.zeros(8, 8, dtype=torch.float64)
    for animal, digit in facts:
        S[digit - 1] += keys_of([animal])[0] * 8**0.5
    close(numbers(page.locator("[data-name=cell] text")), S)


def test_what_is_written_is_asked_kept_and_taken_back(show):
    page = show(figure())
    kept = page.locator("[data-name=kept] button:visible")
    expect(page.get_by_role("status")).to_have_text(
        "Asked about cat, the matrix says 3 or 7 (1.00), and 7 was written last. "
        "It still knows 1 of 2."
    )
    write(page, "owl", 6)
    expect(kept).to_have_text(["cat 3", "dog 5", "cat 7", "owl 6"])
    expect(page.get_by_text("64 numbers in the cache, 64 in the matrix")).to_be_visible()
    close(
        numbers(page.locator("[data-name=score]")),
        scores([("cat", 3), ("dog", 5), ("cat", 7), ("owl", 6)], "owl", "add"),
    )
    page.get_by_role("button", name="dog 5; ask about dog").click()
    expect(select(page, "ask about")).to_have_value("1")
    page.get_by_role("button", name="undo").click()
    expect(kept).to_have_count(3)
    page.get_by_role("button", name="empty").click()
    expect(kept).to_have_count(0)
    expect(page.get_by_role("button", name="undo")).to_be_disabled()
    expect(page.get_by_role("status")).to_contain_text("Nothing was written about dog.")
    for _ in range(12):
        page.get_by_role("button", name="write", exact=True).click()
    expect(page.get_by_role("button", name="write", exact=True)).to_be_disabled()


def test_the_goals_are_reached_and_not_before(show):
    page = show(figure())
    reached = page.locator(".cl-reached")
    expect(page.get_by_role("list", name="goals").locator("li")).to_have_count(3)
    expect(reached).to_have_count(0)
    choose(page, "overwrite")
    expect(reached).to_have_count(1)
    page.get_by_role("button", name="empty").click()
    for animal, digit in GOAL_OVERWRITE:
        write(page, animal, digit)
    expect(reached).to_have_count(2)
    choose(page, "fade")
    page.get_by_role("button", name="empty").click()
    for animal, digit in GOAL_FADE:
        write(page, animal, digit)
    expect(reached).to_have_count(3)


def known(facts, rule: str) -> set[str]:
    """The animals of which the matrix says what was written last, and nothing as loudly."""
    found = set()
    for animal, digit in dict(facts).items():
        of = scores(facts, animal, rule)
        if (of > of.max() - 1e-9).nonzero().flatten().tolist() == [digit - 1]:
            found.add(animal)
    return found


def test_the_facts_of_the_goals_are_what_the_goals_ask_for():
    for facts, rule in ((GOAL_OVERWRITE, "overwrite"), (GOAL_FADE, "fade")):
        assert known(facts, "add") == set(dict(facts)) != known(facts, rule)


def test_facts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="got yak 3"):
        memory_figure([("yak", 3)])
    with pytest.raises(ValueError, match="got cat 9"):
        memory_figure([("cat", 9)])
    with pytest.raises(ValueError, match="1 to 12 facts, got 13"):
        memory_figure([("cat", 1)] * 13)
    with pytest.raises(ValueError, match="got 'replace'"):
        memory_figure(rule="replace")


EXAMPLE = Example(figure, "[data-name=score]", "td:nth-of-type(1)")
