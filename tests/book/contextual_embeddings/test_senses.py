"""Sentences about words of two meanings: the word once in each, no sentence twice."""

from book.contextual_embeddings.senses import SENSES


def test_each_meaning_has_six_sentences_in_which_its_word_occurs_once():
    for word, both in SENSES.items():
        assert [len(sentences) for sentences in both] == [6, 6]
        for sentence in (*both[0], *both[1]):
            assert sentence.split().count(word) == 1, sentence
            assert sentence == sentence.lower().strip() and "  " not in sentence


def test_no_sentence_stands_there_twice():
    sentences = [text for both in SENSES.values() for side in both for text in side]
    assert len(set(sentences)) == len(sentences) == 96
