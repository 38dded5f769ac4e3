"""What is stored is what the models give; the questions are as the chapter says."""

from collections import Counter
from copy import deepcopy

import pytest
import torch

from book.is_it_good import scores
from companion.pretrained import load, load_tokenizer

TOLERANCE = 0.02  # nats: another machine adds in another order


def test_the_key_is_balanced_and_no_question_comes_twice():
    questions = scores.questions()
    assert len(questions) == 160
    assert len({question for question, *_ in questions}) == 160
    assert all(len(set(options)) == 4 for _, options, _ in questions)
    assert set(Counter(right for *_, right in questions).values()) == {40}


def test_every_form_is_stored_for_every_copy():
    stored = scores.stored()
    assert list(stored["models"]) == list(scores.copies())
    for forms in stored["models"].values():
        assert list(forms) == list(scores.FORMS)
        for form, found in forms.items():
            assert ("letter" in found) == scores.FORMS[form][2]
            assert all(len(rows) == 160 for rows in found.values())
            assert all(len(row) == 4 for rows in found.values() for row in rows)


def test_prompts_that_share_their_beginning_share_its_cache():
    assert scores.alike([[1, 2], [3], [4, 5], [6, 7]], most=2) == [[0, 2], [3], [1]]


@pytest.fixture(scope="module")
def smollm2():
    """The model, and its tokenizer."""
    return load(scores.NAME, dtype=torch.float32).eval(), load_tokenizer(scores.NAME)


# Of the copies it matters how they are made, of the model as it is also how it is asked.
@pytest.mark.weights
@pytest.mark.parametrize(
    ("copy", "forms"),
    [
        ("whole", ("Question, Answer", "chat, briefly", "four examples")),
        ("rounded", ("options",)),
        ("block cut", ("options",)),
    ],
)
@torch.no_grad()
def test_some_of_what_is_stored_is_computed_again(smollm2, copy, forms):
    whole, tokenizer = smollm2
    model = whole if copy == "whole" else scores.copies()[copy](deepcopy(whole))
    for form in forms:
        found = scores.score_form(model, tokenizer, form, scores.questions()[:2])
        for name, rows in found.items():
            stored = torch.tensor(scores.stored()["models"][copy][form][name][:2])
            assert (torch.tensor(rows) - stored).abs().max() < TOLERANCE, (form, name)


@pytest.mark.long
@pytest.mark.weights
@torch.no_grad()
def test_free_answers_are_written_and_graded_again(smollm2):
    some, same = scores.questions()[:2], 0
    for form in scores.FREE:
        stored = scores.stored()["written"][form]
        assert len(stored) == 160
        same += sum(map(str.__eq__, scores.written(*smollm2, form, some), stored))
    assert same >= 3  # near ties may fall otherwise
    for name, answers in scores.of_the_key().items():
        stored = torch.tensor(scores.stored()["grades"][name]) / 1000
        again = torch.tensor(scores.grades(*smollm2, answers[:2], some))
        assert len(stored) == 160
        assert (again - stored[:2]).abs().max() < TOLERANCE, name


@pytest.mark.long
@pytest.mark.weights
@torch.no_grad()
def test_answers_side_by_side_score_as_each_does_alone(smollm2):
    model, tokenizer = smollm2
    asked = scores.questions()
    prompts = [scores.prompt_of(tokenizer, "options", question, o) for question, o, _ in asked]
    two = next(group for group in scores.alike(prompts, most=2) if len(group) == 2)
    found = scores.score_form(model, tokenizer, "options", [asked[i] for i in two])
    for i, text, letters in zip(two, found["text"], found["letter"], strict=True):
        for option, together in zip(asked[i][1], text, strict=True):
            answer = tokenizer.encode(" " + option)
            logp = model(torch.tensor([prompts[i] + answer]))[0].log_softmax(-1)
            at = range(len(prompts[i]) - 1, len(prompts[i]) + len(answer) - 1)
            assert abs(logp[at, answer].sum().item() - together) < 1e-3
        alone = logp[len(prompts[i]) - 1, [tokenizer.encode(f" {x}")[0] for x in "ABCD"]]
        assert torch.allclose(alone, torch.tensor(letters), atol=1e-3)


@pytest.mark.weights
@torch.no_grad()
def test_one_verdict_of_the_judge_is_computed_again(smollm2):
    model, tokenizer = smollm2
    question, right, wrong, _ = scores.pairs()[0]
    good, bad = scores.sentence(right), scores.sentence(wrong)
    a, b = (tokenizer.encode(letter)[0] for letter in "AB")
    for two, stored in zip(
        ((good, bad), (bad, good)), scores.stored()["judge"]["both short"][0], strict=True
    ):
        logits = model(torch.tensor([scores.judge_prompt(tokenizer, question, *two)]))[0, -1]
        assert abs((logits[a] - logits[b]).item() - stored / 1000) < TOLERANCE
