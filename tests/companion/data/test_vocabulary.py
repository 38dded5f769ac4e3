import pytest
import torch

from companion.data import SPECIAL_TOKENS, WORDS, Vocabulary, corpus


def test_special_tokens_come_first_and_ids_run_without_gaps():
    vocabulary = Vocabulary()
    assert vocabulary.words[:4] == SPECIAL_TOKENS == ("[PAD]", "[MASK]", "[CLS]", "[SEP]")
    assert [vocabulary.id(word) for word in vocabulary.words] == list(range(len(WORDS) + 4))
    ids = (vocabulary.pad_id, vocabulary.mask_id, vocabulary.cls_id, vocabulary.sep_id)
    assert ids == (0, 1, 2, 3)


def test_encode_pads_on_the_right_and_decode_undoes_it():
    vocabulary = Vocabulary(["dog", "sleeps", "the", "dog"])
    ids = vocabulary.encode([["[CLS]", "the", "dog", "sleeps"], ["dog"]])
    assert ids.dtype == torch.int64
    assert ids.tolist() == [[2, 6, 4, 5], [4, 0, 0, 0]]
    assert vocabulary.decode(ids) == [["[CLS]", "the", "dog", "sleeps"], ["dog"]]


def test_every_sentence_survives_the_round_trip():
    vocabulary, sentences = Vocabulary(), corpus(500, seed=1)
    ids = vocabulary.encode(sentences)
    assert ids.shape == (500, max(map(len, sentences)))
    assert vocabulary.decode(ids) == sentences


def test_nothing_gives_an_empty_tensor():
    assert Vocabulary().encode([]).shape == (0, 0)
    assert Vocabulary().encode([[], []]).shape == (2, 0)


def test_membership_and_length():
    vocabulary = Vocabulary(["dog", "dog", "cat"])
    assert len(vocabulary) == 6
    assert "dog" in vocabulary and "[MASK]" in vocabulary and "cow" not in vocabulary


def test_an_unknown_word_is_named_with_the_nearest_known_one():
    with pytest.raises(ValueError, match=r"unknown word 'emperror'; the nearest .* is 'emperor'"):
        Vocabulary().encode([["the", "emperror", "sleeps"]])


@pytest.mark.parametrize(
    "wrong, named", [("the dog", "the dog"), (["the dog"], "the dog"), (["the", "dog"], "the")]
)
def test_a_string_in_place_of_a_sentence_is_a_type_error(wrong, named):
    with pytest.raises(TypeError, match=rf"got the string '{named}' .*encode\(\[text.split"):
        Vocabulary().encode(wrong)


def test_sentences_in_place_of_words_are_a_type_error():
    with pytest.raises(TypeError, match=r"a word is a string, got .* `encode` takes sentences"):
        Vocabulary([["the", "dog"], ["sleeps"]])


def test_decode_names_a_wrong_shape_and_a_wrong_id():
    vocabulary = Vocabulary(["dog"])
    with pytest.raises(ValueError, match=r"shape \(3,\); expected \(B, T\)"):
        vocabulary.decode(torch.tensor([0, 1, 2]))
    for wrong in (5, -1):
        with pytest.raises(ValueError, match=f"token id {wrong} is outside .* 5 words"):
            vocabulary.decode(torch.tensor([[4, wrong]]))
