from collections import Counter

import pytest

from book.contextual_embeddings.homonyms import cue_halves, homonym_sentences
from companion.data import corpus
from companion.data.lexicon import HOMONYMS, MATES


def test_six_homonyms_with_two_senses_of_eight_cue_words_and_two_mates():
    assert list(HOMONYMS) == ["bank", "bat", "crane", "seal", "mouse", "palm"] == list(MATES)
    cues = [cue for senses in HOMONYMS.values() for words in senses for cue in words]
    assert [len(words) for senses in HOMONYMS.values() for words in senses] == [8] * 12
    assert len(set(cues)) == 96


def test_the_cue_words_are_those_of_the_sense():
    seen = Counter()
    for sentence in homonym_sentences(3000, 0):
        senses = HOMONYMS[sentence.homonym]
        assert set(senses[sentence.sense]) & set(sentence.words), sentence
        assert not set(senses[1 - sentence.sense]) & set(sentence.words), sentence
        assert not set(MATES[sentence.homonym]) & set(sentence.words), sentence
        seen[sentence.homonym, sentence.sense] += 1
    assert len(seen) == 12 and min(seen.values()) > 200


@pytest.mark.parametrize("homonym", HOMONYMS)
def test_halves_have_no_cue_word_in_common(homonym):
    halves = cue_halves(homonym, 3)
    for sense in (0, 1):
        one, other = (set(half[sense]) for half in halves)
        assert len(one) == len(other) == 4
        assert one | other == set(HOMONYMS[homonym][sense])
    every_cue = {cue for words in HOMONYMS[homonym] for cue in words}
    for half, cues in enumerate(halves):
        for sentence in homonym_sentences(200, 3, homonym=homonym, half=half):
            assert sentence.homonym == homonym
            assert every_cue & set(sentence.words) <= set(cues[sentence.sense])


def test_a_seed_fixes_the_sentences_and_the_halves():
    assert homonym_sentences(30, 5, half=1) == homonym_sentences(30, 5, half=1)
    assert cue_halves("bank", 1) == cue_halves("bank", 1) != cue_halves("bank", 2)
    (first,) = homonym_sentences(1, 0)
    assert " ".join(first.words) == "this is a small bat behind the swing"


def test_a_mate_lives_among_the_cue_words_of_its_sense():
    sentences = [set(sentence) for sentence in corpus(20_000, seed=0)]
    for homonym, mates in MATES.items():
        for mate, own, other in zip(mates, HOMONYMS[homonym], HOMONYMS[homonym][::-1], strict=True):
            about_mate = [words for words in sentences if mate in words]
            assert len(about_mate) > 50
            assert all(words & set(own) and not words & set(other) for words in about_mate)


def test_a_wrong_choice_is_named():
    with pytest.raises(ValueError, match="homonym must be one of 'bank', 'bat'"):
        homonym_sentences(3, 0, homonym="dog", half=0)
    with pytest.raises(ValueError, match="homonym must be one of 'bank', 'bat'"):
        homonym_sentences(3, 0, homonym="dog")
    with pytest.raises(ValueError, match="half is 2; choose 0, 1, or None"):
        homonym_sentences(3, 0, half=2)
