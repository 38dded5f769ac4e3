"""Pairs of English words: as many in each relation, no word twice, each a whole word of MiniLM."""

import pytest

from book.embeddings.english_pairs import ENGLISH_PAIRS


def test_each_relation_has_twenty_pairs_of_different_words():
    assert len(ENGLISH_PAIRS) == 7
    for relation, pairs in ENGLISH_PAIRS.items():
        words = [word for pair in pairs for word in pair]
        assert [len(pair) for pair in pairs] == [2] * 20, relation
        assert len(set(words)) == 40, relation


@pytest.mark.weights
def test_every_word_is_one_token_of_minilm():
    from companion.pretrained import load_tokenizer

    tokenizer = load_tokenizer("all-MiniLM-L6-v2")
    words = {word for pairs in ENGLISH_PAIRS.values() for pair in pairs for word in pair}
    assert [word for word in words if tokenizer.pieces(word)[1:-1] != [word]] == []
