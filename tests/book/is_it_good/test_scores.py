"""What is stored is what the models give; the questions are as the chapter says."""

from collections import Counter

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


@pytest.mark.weights
@pytest.mark.parametrize("copy", ["whole", "rounded", "block cut"])
def test_some_of_what_is_stored_is_computed_again(copy):
    tokenizer = load_tokenizer(scores.NAME)
    some = scores.questions()[:3]
    with torch.no_grad():
        model = scores.copies()[copy](load(scores.NAME, dtype=torch.float32).eval())
        for form in ("Question, Answer", "chat, briefly", "four examples"):
            found = scores.score_form(model, tokenizer, form, some)
            for name, rows in found.items():
                stored = torch.tensor(scores.stored()["models"][copy][form][name][:3])
                assert (torch.tensor(rows) - stored).abs().max() < TOLERANCE, (form, name)


@pytest.mark.weights
def test_free_answers_are_written_and_graded_again():
    tokenizer = load_tokenizer(scores.NAME)
    some = scores.questions()[:4]
    with torch.no_grad():
        model = load(scores.NAME, dtype=torch.float32).eval()
        for form in scores.FREE:
            stored = scores.stored()["written"][form]
            assert len(stored) == 160
            again = scores.written(model, tokenizer, form, some)
            assert sum(map(str.__eq__, again, stored)) >= 3  # near ties may fall otherwise
        for name, answers in scores.of_the_key().items():
            stored = torch.tensor(scores.stored()["grades"][name]) / 1000
            again = torch.tensor(scores.grades(model, tokenizer, answers[:4], some))
            assert len(stored) == 160
            assert (again - stored[:4]).abs().max() < TOLERANCE, name


@pytest.mark.weights
def test_answers_side_by_side_score_as_each_does_alone():
    tokenizer = load_tokenizer(scores.NAME)
    some = scores.questions()[:4]
    with torch.no_grad():
        model = load(scores.NAME, dtype=torch.float32).eval()
        found = scores.score_form(model, tokenizer, "options", some)
        for i, (question, options, _) in enumerate(some):
            prompt = scores.prompt_of(tokenizer, "options", question, options)
            for option, together in zip(options, found["text"][i], strict=True):
                answer = tokenizer.encode(" " + option)
                logp = model(torch.tensor([prompt + answer]))[0].log_softmax(-1)
                at = range(len(prompt) - 1, len(prompt) + len(answer) - 1)
                assert abs(logp[at, answer].sum().item() - together) < 1e-3
            logp = model(torch.tensor([prompt]))[0, -1].log_softmax(-1)
            letters = logp[[tokenizer.encode(f" {letter}")[0] for letter in "ABCD"]]
            assert torch.allclose(letters, torch.tensor(found["letter"][i]), atol=1e-3)


@pytest.mark.weights
def test_one_verdict_of_the_judge_is_computed_again():
    tokenizer = load_tokenizer(scores.NAME)
    question, right, wrong, _ = scores.pairs()[0]
    good, bad = scores.sentence(right), scores.sentence(wrong)
    a, b = (tokenizer.encode(letter)[0] for letter in "AB")
    with torch.no_grad():
        model = load(scores.NAME, dtype=torch.float32).eval()
        for two, stored in zip(
            ((good, bad), (bad, good)), scores.stored()["judge"]["both short"][0], strict=True
        ):
            logits = model(torch.tensor([scores.judge_prompt(tokenizer, question, *two)]))[0, -1]
            assert abs((logits[a] - logits[b]).item() - stored / 1000) < TOLERANCE
