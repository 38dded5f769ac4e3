"""In-context learning: what stands there is what the model said after just this prompt."""

import hashlib

import pytest
import torch
from playwright.sync_api import expect

from book.three_families import prompt_figure
from tests.book.reading import Example, close, numbers, press, select

pytestmark = pytest.mark.browser

TASKS = {
    "its past": ([("go", "went"), ("take", "took")], [("give", "gave"), ("see", "saw")]),
    "its -ing form": (
        [("go", "going"), ("take", "taking")],
        [("give", "giving"), ("see", "seeing")],
    ),
}


def answers(prompt: str) -> list[tuple[str, float]]:
    """Made of the prompt alone: right after two examples, otherwise a word that nobody wants."""
    number = int(hashlib.sha256(prompt.encode()).hexdigest()[:8], 16) / 2**32
    right = {"give": ("gave", "giving"), "see": ("saw", "seeing")}[prompt.split("\n")[-1][:-1]]
    done = prompt.count("\n") == 2
    return [(right["going" in prompt] if done else "the", 0.5 + number / 2), ("so", number / 3)]


def figure():
    return prompt_figure(TASKS, lambda prompts: [answers(prompt) for prompt in prompts])


EXAMPLE = Example(figure, "[data-name=answers] [data-value]")


@pytest.mark.parametrize("task", range(2))
@pytest.mark.parametrize("word", range(2))
def test_the_answers_are_those_to_the_prompt_that_is_shown(show, task, word):
    page = show(figure())
    select(page, "which show").select_option(str(task))
    select(page, "the word").select_option(str(word))
    examples, asked = list(TASKS.values())[task]
    shots = page.get_by_role("slider", name="examples")
    for count in range(3):
        lines = [f"{a}: {b}" for a, b in examples[:count]] + [f"{asked[word][0]}:"]
        expect(page.locator("[data-name=prompt]")).to_have_text("\n".join(lines))
        expected = answers("\n".join(lines))
        close(numbers(page.locator(EXAMPLE.numbers)), torch.tensor([p for _, p in expected]), 1e-6)
        first = expected[0][0]
        right = "the right one." if count == 2 else f"the right one is “{asked[word][1]}”."
        expect(page.get_by_role("status")).to_contain_text(f"puts “{first}” first")
        expect(page.get_by_role("status")).to_contain_text(right)
        press(shots, "ArrowRight")


def test_each_goal_needs_its_task_its_word_and_enough_examples(show):
    page = show(figure())
    shots = page.get_by_role("slider", name="examples")
    goals = page.get_by_role("list", name="goals").get_by_role("listitem")
    select(page, "the word").select_option("1")
    press(shots, "End")
    expect(page.get_by_role("status")).to_contain_text("saw")
    reached = [False, False]
    for task in range(2):
        expect(goals.nth(task)).not_to_contain_text("(reached)")
        press(shots, "Home")
        select(page, "which show").select_option(str(task))
        select(page, "the word").select_option("0")
        expect(goals.nth(task)).not_to_contain_text("(reached)")
        press(shots, "End")
        reached[task] = True
        for goal, done in zip(range(2), reached, strict=True):
            assert ("(reached)" in goals.nth(goal).inner_text()) == done


def test_white_space_is_made_visible(show):
    blanks = [("\n", 0.5), (" \n", 0.25), ("so", 0.125)]
    blank = prompt_figure(TASKS, lambda prompts: [blanks] * len(prompts))
    assert blank.to_html().count("↵") >= 2  # the table without JavaScript
    page = show(blank)
    answers = page.locator("[data-name=answers]")
    assert [answers.inner_text().count(text) for text in ("↵", "␣↵", "“so”", "“”")] == [2, 1, 1, 0]
    expect(page.get_by_role("status")).to_contain_text("puts ↵ first")


def test_tasks_that_cannot_be_compared_are_refused():
    past = TASKS["its past"]
    with pytest.raises(ValueError, match="two or more, got 1"):
        prompt_figure({"its past": past}, answers)
    with pytest.raises(ValueError, match="as many examples"):
        prompt_figure({"its past": past, "short": (past[0][:1], past[1])}, answers)
    with pytest.raises(ValueError, match="a word that is asked"):
        prompt_figure({"its past": past, "mute": (past[0], [])}, answers)
