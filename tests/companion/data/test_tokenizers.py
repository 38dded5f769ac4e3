import copy
import json
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from book.embeddings.byte_pairs import apply_bpe, learn_bpe
from companion.data import BPETokenizer, CharTokenizer, corpus, standard_library_text

TEXT = standard_library_text(200_000)
BPE = BPETokenizer.train([TEXT], 400)


def library_bpe(words, num_merges):
    """Merges and a function that cuts a word, both from the `tokenizers` library."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    alphabet = len(set("".join(words)))
    trainer = trainers.BpeTrainer(vocab_size=alphabet + num_merges, show_progress=False)
    tokenizer.train_from_iterator([" ".join(words)], trainer)
    merges = [tuple(merge) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]
    return merges, lambda word: tokenizer.encode(word).tokens


def test_the_example_of_the_paper():
    """Sennrich, Haddow and Birch 2016, algorithm 1, whose words end in a mark of their own."""
    words = ["low·"] * 5 + ["lower·"] * 2 + ["newest·"] * 6 + ["widest·"] * 3
    merges = learn_bpe(words, 10)
    assert merges[:4] == [("e", "s"), ("t", "·"), ("es", "t·"), ("l", "o")]
    assert apply_bpe("lowest·", merges) == ["low", "est·"]


def test_ties_go_to_the_older_pieces():
    assert learn_bpe(["ba", "ab", "cd"], 3) == [("a", "b"), ("b", "a"), ("c", "d")]
    # "ab" is made first, and so newer than every character.
    assert learn_bpe(["ab"] * 9 + ["abz", "yz"], 3) == [("a", "b"), ("y", "z"), ("ab", "z")]


def test_merges_and_pieces_equal_the_library_on_real_text():
    words = TEXT[:40_000].split()
    merges, pieces = library_bpe(words, 150)
    assert len(merges) == 150
    assert learn_bpe(words, 150) == merges
    for word in sorted(set(words))[::7]:
        assert apply_bpe(word, merges) == pieces(word)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=30),
    st.integers(0, 25),
)
def test_merges_and_pieces_equal_the_library_where_ties_abound(words, num_merges):
    merges, pieces = library_bpe(words, num_merges)
    # The library counts different tokens, so it may go on after a token is found twice.
    assert learn_bpe(words, len(merges)) == merges
    for word in words:
        assert apply_bpe(word, merges) == pieces(word)


def test_learning_ends_when_every_word_is_one_piece():
    assert learn_bpe(["dog", "dog"], 9) == [("d", "o"), ("do", "g")]
    assert learn_bpe([], 9) == []
    assert learn_bpe(["dog"], 0) == []


def test_a_negative_number_of_merges_is_named():
    with pytest.raises(ValueError, match="num_merges must be at least 0, got -1"):
        learn_bpe(["dog"], -1)


def test_a_word_without_known_merges_falls_into_characters():
    assert apply_bpe("xyz", [("a", "b")]) == ["x", "y", "z"]
    assert apply_bpe("", [("a", "b")]) == []


@settings(deadline=None, max_examples=100)
@given(st.text())
def test_bpe_gives_every_text_back(text):
    assert BPE.decode(BPE.encode(text)) == text


@pytest.mark.parametrize("text", ["[PAD]", "a[BOS]b [EOS]", "naïve 😀\r\n\t\x00 end ", TEXT])
def test_bpe_gives_back_what_looks_special(text):
    ids = BPE.encode(text)
    assert BPE.decode(ids) == text
    assert not {BPE.pad_id, BPE.bos_id, BPE.eos_id} & set(ids)


def test_bpe_sizes_and_special_tokens():
    assert len(BPE) == 400
    assert (BPE.pad_id, BPE.bos_id, BPE.eos_id) == (0, 1, 2)
    assert BPE.decode([1, *BPE.encode("def"), 2, 0, 0]) == "def"
    assert len(BPE.encode(TEXT)) < 0.6 * len(TEXT)


def test_bpe_pieces_are_the_text_cut():
    assert "".join(BPE.pieces("def __init__(self, name):")) == "def __init__(self, name):"
    assert "self" in BPE.pieces("(self, name)")


def test_bpe_is_the_same_after_saving(tmp_path):
    BPE.save(tmp_path / "bpe.json")
    loaded = BPETokenizer.load(tmp_path / "bpe.json")
    text = "for [EOS] in naïve: 😀"
    assert len(loaded) == len(BPE) and loaded.encode(text) == BPE.encode(text)
    assert loaded.decode(loaded.encode(text)) == text
    assert json.loads((tmp_path / "bpe.json").read_text("utf8"))["model"]["type"] == "BPE"


def test_bpe_is_deterministic():
    again = BPETokenizer.train([TEXT], 400)
    assert again.encode(TEXT[:20_000]) == BPE.encode(TEXT[:20_000])


def test_copies_encode_alike():
    text = "[PAD] is no token here"
    for copied in (copy.deepcopy(BPE), pickle.loads(pickle.dumps(BPE))):
        assert copied.encode(text) == BPE.encode(text) and BPE.pad_id not in copied.encode(text)


def test_a_batch_of_texts_is_not_decoded():
    for tokenizer in (BPE, CharTokenizer("hello")):
        with pytest.raises(ValueError, match=r"shape \(1, 3\); expected \(T,\)"):
            tokenizer.decode(torch.tensor([[1, 2, 3]]))


def test_bpe_names_wrong_arguments():
    with pytest.raises(ValueError, match=r"vocab_size is 258; .* need 259"):
        BPETokenizer.train(["text"], 258)
    assert len(BPETokenizer.train(["text"], 259)) == 259
    with pytest.raises(TypeError, match=r"texts is a string; .* pass \[text\]"):
        BPETokenizer.train("text", 300)
    with pytest.raises(ValueError, match="token id 400 is outside the vocabulary of 400"):
        BPE.decode([5, 400])


def test_characters():
    tokenizer = CharTokenizer("hello")
    assert tokenizer.characters == ("e", "h", "l", "o") and len(tokenizer) == 4
    assert tokenizer.encode("hole") == [1, 3, 2, 0]
    assert tokenizer.decode(torch.tensor([1, 3, 2, 0])) == "hole"


def test_characters_give_every_known_text_back():
    text = " ".join(word for sentence in corpus(200, 0) for word in sentence)
    tokenizer = CharTokenizer(text)
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_an_unknown_character_and_a_wrong_id_are_named():
    tokenizer = CharTokenizer("hello")
    with pytest.raises(ValueError, match=r"unknown character 'X' at place 2: .* 4 different"):
        tokenizer.encode("heX")
    for wrong in (4, -1):
        with pytest.raises(ValueError, match=f"token id {wrong} is outside the vocabulary of 4"):
            tokenizer.decode([0, wrong])


def test_a_file_that_holds_no_tokenizer_is_named(tmp_path):
    foreign = tmp_path / "foreign.json"
    foreign.write_text('{"model": "none"}')
    with pytest.raises(ValueError, match=r"foreign\.json holds no tokenizer"):
        BPETokenizer.load(foreign)
    with pytest.raises(FileNotFoundError):
        BPETokenizer.load(tmp_path / "missing.json")


def test_the_tokenizer_of_another_model_is_refused(tmp_path):
    foreign = Tokenizer(models.BPE({"!": 0, "a": 1, "[PAD]": 2}, []))
    foreign.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ValueError, match=r"tokenizer\.json .* 0, 1 and 2; .*load_tokenizer"):
        BPETokenizer.load(tmp_path / "tokenizer.json")


def test_half_a_character_is_refused():
    tokenizer = BPETokenizer.train(["abc"], 259)
    with pytest.raises(ValueError, match=r"text has half of a character, .*udfff.*, at place 2"):
        tokenizer.encode("ab\udfff")
