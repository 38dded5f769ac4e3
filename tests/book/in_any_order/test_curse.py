"""Ten starts: who knows a fact backwards is told apart from who knows it forwards alone."""

import pytest
import torch

from book.in_any_order import curse, few

WORLD = curse.world_of(1)
SIZE = len(WORLD.library)
AUTHORS, BOOKS = (
    WORLD.library.encode([words])[0] for words in (WORLD.authors, WORLD.books)
)  # in the order of the facts


def model(name, *, forwards, backwards):
    """Names the other half of a pair where it is asked for it, or that of the next pair."""
    said = torch.zeros(SIZE, dtype=torch.long)
    said[AUTHORS] = BOOKS.roll(0 if forwards else -1)
    said[BOOKS] = AUTHORS.roll(0 if backwards else -1)

    def answer(ids):
        assert not torch.isin(ids[:, 2:], torch.cat([AUTHORS, BOOKS])).any()  # it cannot read it
        asked = ids == few.HIDDEN
        if name == "GPT":
            asked[:, -1] = True
        assert (asked.sum(1) == 1).all()
        logits = torch.zeros(*ids.shape, SIZE)
        logits[asked, said[ids[:, 1]]] = 9.0
        return logits

    return answer


@pytest.mark.parametrize("name", curse.MODELS)
def test_who_knows_one_way_is_told_from_who_knows_the_other(name):
    for ways in ((True, False), (False, True)):
        found = curse.known(name, model(name, forwards=ways[0], backwards=ways[1]), WORLD)
        assert found == [curse.ASKED * way for way in ways]


def test_asking_about_all_authors_finds_what_is_known_forwards_only():
    knows = model("GPT", forwards=True, backwards=False)
    assert curse.by_asking_all(knows, WORLD) == curse.ASKED
    other = model("GPT", forwards=False, backwards=True)
    assert curse.by_asking_all(other, WORLD) == 0


def test_the_last_of_the_words_is_hidden_and_nothing_else_is_asked():
    ids = curse.encoded("last words", WORLD, WORLD.told)
    seen, targets = curse.last_hidden(ids, torch.Generator())
    changed = seen != ids
    assert (changed.sum(1) == 1).all()
    words = [sentence[-1] for sentence in WORLD.told]
    assert torch.equal(targets[changed], WORLD.library.encode([words])[0])
    assert torch.equal(targets != few.PAD, changed)


def test_no_book_that_is_asked_about_is_told_backwards():
    asked = {*WORLD.books[: curse.ASKED]}
    assert len(asked) == curse.ASKED
    assert {said[2] for said in WORLD.told if said[1] == "wrote"} == {*WORLD.books}
    assert {said[0] for said in WORLD.told if said[1] == "was"} == {*WORLD.books} - asked


def test_the_library_begins_with_the_special_tokens_of_the_language():
    assert WORLD.library.words[: few.FIRST_WORD] == few.VOCABULARY.words[: few.FIRST_WORD]


def test_each_of_ten_starts_has_its_numbers():
    rows = curse.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for row in rows:
        counts = [row[curse.BAYES], *(n for name in curse.MODELS for n in row[name])]
        assert all(0 <= count <= curse.ASKED for count in counts)
        authors = curse.world_of(row["seed"]).authors[: curse.ASKED]
        right = sum(a == b for a, b in zip(row["named"], authors, strict=True))
        assert right == row["any order"][1]


@pytest.mark.long
def test_a_stored_start_is_found_again():
    # Where a processor rounds otherwise, it is as another start.
    found, row = curse.measure(5301), curse.stored()[0]
    for name in ("GPT", "last words"):
        assert found[name] == pytest.approx(row[name], abs=5)
    assert found[curse.BAYES] == pytest.approx(row[curse.BAYES], abs=5)
    assert found["any order"] == pytest.approx(row["any order"], abs=50)
